"""Second derivatives inside a loss: a small network learns the solution of u'' = -sin(x),
u(0) = u(π) = 0 from the equation alone. The solution is sin(x).

python examples/physics_informed.py
"""

import numpy as np

import pullback as pb

WIDTH = 16


def network(p, x):
    return pb.tanh(x[:, None] * p["w1"] + p["b1"]) @ p["w2"]


def residual(p, x):
    """Return u'' + sin(x). An entry of u depends only on its own x, so grad of the sum is u'."""
    slope = pb.grad(lambda x: pb.sum(network(p, x)))
    return pb.grad(lambda x: pb.sum(slope(x)))(x) + pb.sin(x)


def main(steps=1500):
    random = np.random.default_rng(0)
    x = np.linspace(0, np.pi, 40)
    ends = np.array([0, np.pi])
    start = {
        "w1": random.normal(size=WIDTH),
        "b1": random.normal(size=WIDTH),
        "w2": random.normal(0, 0.3, WIDTH),
    }
    p = {name: pb.Variable(value, name=name) for name, value in start.items()}
    optimizer = pb.optimizers.Adam(0.02)

    @pb.function
    def step():
        with pb.GradientTape() as tape:
            loss = pb.mean(pb.square(residual(p, x))) + pb.sum(pb.square(network(p, ends)))
        gradients = tape.gradient(loss, list(p.values()))
        optimizer.apply_gradients(zip(gradients, p.values(), strict=True))
        return loss

    for _ in range(steps):
        loss = step()
    error = float(pb.max(pb.abs(network(p, x) - np.sin(x))))
    print(f"loss {float(loss):.1e}, largest error of u {error:.1e}")
    return error, x, network(p, x).numpy(), residual(p, pb.constant(x)).numpy()


def plot(figure, result):
    _, x, u, rest = result
    left, right = figure.subplots(1, 2)
    left.plot(x, np.sin(x), color="lightgray", linewidth=6, label="sin(x)")
    left.plot(x, u, label="network")
    left.legend()
    right.plot(x, rest, label="u'' + sin(x)")
    right.plot(x, u - np.sin(x), label="error of u")
    right.legend()


if __name__ == "__main__":
    main()
