"""Train a layer whose output is the solution of an equation.

The layer returns the z with z = tanh(W z + U x + b). The derivative of the solution follows from
the equation alone (the implicit function theorem), so the steps of the solver are not stored (Bai,
Kolter and Koltun, "Deep equilibrium models", 2019). Here a layer learns the parity of three signs.

python examples/implicit_layer.py
"""

import itertools

import numpy as np

import pullback as pb

WIDTH = 12


def equation(z, p, x):
    return pb.tanh(z @ p["w"] + x @ p["u"] + p["b"])


def iterate(f, z, *theta):
    """Return a fixed point of `f` by iteration."""

    def apart(state):
        return pb.max(pb.abs(state[0] - state[1])) > 1e-10

    new, _ = pb.while_loop(apart, lambda state: (f(state[0], *theta), state[0]), (f(z, *theta), z))
    return new


LAYER = pb.implicit.fixed_point(equation, iterate)


def output(p, x):
    z = LAYER(pb.zeros((len(x), WIDTH), dtype="float64"), p, x)
    return z @ p["v"]


def main(steps=400):
    random = np.random.default_rng(1)
    x = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    y = np.prod(x, axis=1)
    p = {
        "w": pb.Variable(random.normal(0, 0.3 / np.sqrt(WIDTH), (WIDTH, WIDTH))),
        "u": pb.Variable(random.normal(0, 0.7, (3, WIDTH))),
        "b": pb.Variable(random.normal(0, 0.3, WIDTH)),
        "v": pb.Variable(random.normal(0, 0.3, WIDTH)),
    }
    variables = list(p.values())
    optimizer = pb.optimizers.Adam(0.02)

    @pb.function
    def step():
        loss = pb.mean(pb.square(output(p, x) - y))
        optimizer.apply_gradients(zip(pb.gradients(loss, variables), variables, strict=True))
        return loss

    losses = [float(step()) for _ in range(steps)]

    # The same gradient through two hundred stored iterations.
    def unrolled(w):
        z = pb.zeros((len(x), WIDTH), dtype="float64")
        for _ in range(200):
            z = equation(z, p | {"w": w}, x)
        return pb.sum(z @ p["v"])

    implicit = pb.grad(lambda w: pb.sum(output(p | {"w": w}, x)))(p["w"])
    difference = float(pb.max(pb.abs(implicit - pb.grad(unrolled)(p["w"]))))
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.1e}")
    print(f"signs {np.round(output(p, x).numpy(), 2).tolist()}")
    print(f"largest difference from the gradient through the iterations {difference:.1e}")
    return losses, difference, output(p, x).numpy(), y


def plot(figure, result):
    losses, _, found, y = result
    left, right = figure.subplots(1, 2)
    left.semilogy(losses)
    left.set(xlabel="step", title="loss")
    right.plot(y, "o", label="parity")
    right.plot(found, "x", label="output of the layer")
    right.set(xlabel="input")
    right.legend()


if __name__ == "__main__":
    main()
