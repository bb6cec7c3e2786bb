"""Learn a differential equation from a trajectory.

The right-hand side is a network, and the solver is differentiated by an adjoint equation, whose
memory does not grow with the number of steps (Chen et al., "Neural ordinary differential
equations", 2018).

python examples/neural_ode.py
"""

import numpy as np

import pullback as pb

TIMES = np.linspace(0.0, 10.0, 60)
START = np.array([2.0, 0.0])
WIDTH = 32


def true_field(y, t):
    """Return the derivative of a damped oscillator with a cubic force (Duffing)."""
    return pb.stack([y[1], y[0] - pb.power(y[0], 3) - 0.2 * y[1]])


def field(y, t, p):
    return pb.tanh(y @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"]


def solve(p, start, times):
    return pb.integrate.odeint(field, start, times, p, rtol=1e-4, atol=1e-6, adjoint="continuous")


def main(steps=3000, part=8):
    random = np.random.default_rng(0)
    data = pb.integrate.odeint(true_field, START, TIMES).numpy()
    p = {
        "w1": pb.Variable(random.normal(0, 1.0, (2, WIDTH))),
        "b1": pb.Variable(random.normal(0, 0.5, WIDTH)),
        "w2": pb.Variable(random.normal(0, 0.1, (WIDTH, 2))),
        "b2": pb.Variable(np.zeros(2)),
    }
    variables = list(p.values())
    optimizer = pb.optimizers.Adam(pb.optimizers.Cosine(0.02, steps))
    # Each part of the trajectory starts at a measurement, so errors do not add up.
    firsts = np.arange(0, len(TIMES) - part, 2)
    starts = data[firsts]
    targets = np.stack([data[i : i + part] for i in firsts], axis=1)

    @pb.function
    def step():
        loss = pb.mean(pb.square(solve(p, starts, TIMES[:part]) - targets))
        optimizer.apply_gradients(zip(pb.gradients(loss, variables), variables, strict=True))
        return loss

    losses = [float(step()) for _ in range(steps)]
    found = solve(p, START, TIMES).numpy()
    error = float(np.max(np.abs(found - data)))
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.1e}")
    print(f"largest error of the whole trajectory {error:.3f}")
    return losses, error, data, found


def plot(figure, result):
    losses, _, data, found = result
    left, right = figure.subplots(1, 2)
    for k, name in enumerate(("position", "velocity")):
        left.plot(TIMES, data[:, k], ".", color=f"C{k}", label=name)
        left.plot(TIMES, found[:, k], color=f"C{k}")
    left.set(xlabel="time", title="data (dots) and the learned equation")
    left.legend()
    right.semilogy(losses)
    right.set(xlabel="step", title="loss")


if __name__ == "__main__":
    main()
