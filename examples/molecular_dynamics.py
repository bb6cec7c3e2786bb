"""Simulate a drop of a fluid of Lennard-Jones particles.

The energy is a formula, and the forces are its negative gradient. A whole run of the integrator
(velocity Verlet) is one `scan`, whose body contains the gradient.

python examples/molecular_dynamics.py
"""

import numpy as np

import pullback as pb

SIDE = 6
PAIRS = np.triu_indices(SIDE * SIDE, k=1)


def potential(x):
    """Return the energy: the sum of 4 (r⁻¹² - r⁻⁶) over all pairs."""
    apart = pb.take(x, PAIRS[0], axis=0) - pb.take(x, PAIRS[1], axis=0)
    inverse = 1 / pb.power(pb.sum(pb.square(apart), axis=1), 3)
    return pb.sum(4 * (pb.square(inverse) - inverse))


def force(x):
    return -pb.grad(potential)(x)


@pb.function(static_argnums=3)
def simulate(x, v, time_step, steps):
    """Return the last state, and the energies and the positions of all steps."""

    def verlet(state, _):
        x, v, f = state
        v = v + 0.5 * time_step * f
        x = x + time_step * v
        f = force(x)
        v = v + 0.5 * time_step * f
        kinetic = 0.5 * pb.sum(pb.square(v))
        return (x, v, f), (potential(x), kinetic, x)

    (x, v, _), path = pb.scan(verlet, (x, v, force(x)), length=steps)
    return x, v, *path


def main(steps=4000, time_step=0.004):
    random = np.random.default_rng(0)
    spacing = 2 ** (1 / 6)
    x = spacing * np.stack(np.meshgrid(*[np.arange(float(SIDE))] * 2), axis=-1).reshape(-1, 2)
    v = random.normal(0, 0.6, x.shape)
    v -= v.mean(axis=0)
    _, v, potentials, kinetics, path = (r.numpy() for r in simulate(x, v, time_step, steps))
    total = potentials + kinetics
    drift = float(np.max(np.abs(total - total[0])) / np.std(kinetics))
    momentum = float(np.max(np.abs(v.sum(axis=0))))
    print(f"{len(PAIRS[0])} pairs, {steps} steps")
    print(f"energy {total[0]:.4f} -> {total[-1]:.4f}; momentum {momentum:.1e}")
    return drift, momentum, (time_step * np.arange(steps), potentials, kinetics, path)


def plot(figure, result):
    time, potentials, kinetics, path = result[2]
    left, right = figure.subplots(1, 2)
    left.plot(time, potentials, label="potential")
    left.plot(time, kinetics, label="kinetic")
    left.plot(time, potentials + kinetics, label="total")
    left.set(xlabel="time", title="energy")
    left.legend()
    right.plot(*path[0].T, "o", alpha=0.3, label="first")
    for k in range(path.shape[1]):
        right.plot(*path[::20, k].T, color="gray", linewidth=0.4)
    right.plot(*path[-1].T, "o", label="last")
    right.set(aspect="equal", title="positions")
    right.legend()


if __name__ == "__main__":
    main()
