"""Clip a gradient at a cliff of the loss.

One neuron is applied to its own result fifty times. Its loss has a cliff, where a step by the plain
gradient throws the parameters far away. A limit on the norm of the gradient keeps the direction
(Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks", 2013).

python examples/gradient_clipping.py
"""

import numpy as np

import pullback as pb

START = np.array([4.9, -2.45])  # the weight and the bias


def loss_of(w, b, steps=50):
    """Return the squared error of the last state; `w` and `b` may be arrays."""
    first = 0.5 + 0.0 * w
    last, _ = pb.scan(lambda x, _: (w * pb.sigmoid(x) + b, None), first, length=steps)
    return pb.square(pb.sigmoid(last) - 0.3)


def descend(limit, steps=200, rate=0.05):
    """Return the losses and the parameters of all steps of gradient descent."""
    p = pb.Variable(START)

    @pb.function
    def step():
        loss = loss_of(p[0], p[1])
        (gradient,) = pb.gradients(loss, [p])
        clipped, norm = pb.clip_by_global_norm([gradient], limit)
        p.assign_sub(rate * clipped[0])
        return loss, norm

    path, losses, norms = [START], [], []
    for _ in range(steps):
        loss, norm = step()
        losses.append(float(loss))
        norms.append(float(norm))
        path.append(p.numpy().copy())
    return np.array(losses), np.array(path), np.array(norms)


def main():
    results = {"plain": descend(1e6), "clipped": descend(1.0)}
    for name, (losses, path, norms) in results.items():
        print(
            f"{name}: loss {losses[0]:.3f} -> {losses[-1]:.2e}, largest norm {norms.max():.1f}, "
            f"last parameters {np.round(path[-1], 2).tolist()}"
        )
    return results


def plot(figure, results):
    left, right = figure.subplots(1, 2)
    w, b = np.meshgrid(np.linspace(4.2, 6.2, 200), np.linspace(-3.2, -2.0, 200))
    left.pcolormesh(w, b, loss_of(pb.constant(w), pb.constant(b)).numpy(), cmap="Blues")
    for name, (losses, path, _) in results.items():
        left.plot(*path.T, ".-", label=name)
        right.semilogy(losses, label=name)
    left.set(xlabel="weight", ylabel="bias", xlim=(4.2, 6.2), ylim=(-3.2, -2.0), title="loss")
    right.set(xlabel="step", title="loss")
    right.legend(loc="upper right")


if __name__ == "__main__":
    main()
