"""A straight-through estimator: rounded weights that learn as if they were not rounded.

python examples/straight_through.py
"""

import numpy as np

import pullback as pb


@pb.custom_gradient
def round_through(x):
    return pb.round(x), lambda upstream: upstream


def train(rounding, steps=200):
    """Learn an integer matrix; return the losses and the weights."""
    random = np.random.default_rng(0)
    wanted = np.array([[3.0, -1.0], [0.0, 2.0], [-2.0, 1.0]], np.float32)
    x = random.normal(size=(64, 3)).astype(np.float32)
    w = pb.Variable(random.normal(size=wanted.shape).astype(np.float32), name="w")
    optimizer = pb.optimizers.Adam(0.05)

    @pb.function
    def step():
        with pb.GradientTape() as tape:
            loss = pb.mean(pb.square(x @ rounding(w) - x @ wanted))
        optimizer.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    losses = [float(step()) for _ in range(steps)]
    return losses, pb.round(w).numpy()


def main():
    losses, weights = train(round_through)
    print(f"loss {losses[0]:.2f} -> {losses[-1]:.2f}, weights {weights.tolist()}")
    w = pb.Variable([0.4, 1.6])
    plain = pb.gradients(pb.sum(pb.square(pb.round(w))), w)[0]
    print("the slope of round itself:", plain.numpy().tolist())
    return {"straight-through": losses, "derivative of round": train(pb.round)[0]}


def plot(figure, losses):
    axis = figure.subplots()
    for name, values in losses.items():
        axis.semilogy(np.maximum(values, 1e-4), label=name)
    axis.set(xlabel="step", title="loss")
    axis.legend()


if __name__ == "__main__":
    main()
