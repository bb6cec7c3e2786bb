"""Hamiltonian Monte Carlo (R. Neal, "MCMC using Hamiltonian dynamics", 2011). Many chains run at
once in one traced function, whose leapfrog steps are one loop of its plan.

python examples/hamiltonian_monte_carlo.py
"""

import numpy as np

import pullback as pb

MEAN = np.array([1.0, -2.0])
COVARIANCE = np.array([[2.0, 1.2], [1.2, 1.0]])


def log_density(q):
    """Return the log density of a normal distribution, up to a constant, for each row."""
    apart = q - MEAN
    return -0.5 * pb.sum(apart * pb.linalg.solve(COVARIANCE, apart.T).T, axis=1)


@pb.function
def transition(q, size, steps=10):
    """Return the next state of each chain, and a mask of the chains that moved."""
    force = pb.grad(lambda q: pb.sum(log_density(q)))

    def leap(state, _):
        q, p = state
        p = p + 0.5 * size * force(q)
        q = q + size * p
        return (q, p + 0.5 * size * force(q)), None

    def energy(q, p):
        return 0.5 * pb.sum(p * p, axis=1) - log_density(q)

    p = pb.random.normal(q.shape, q.dtype)
    (new, end), _ = pb.scan(leap, (q, p), length=steps)
    chance = pb.exp(pb.minimum(energy(q, p) - energy(new, end), 0.0))
    moved = pb.random.uniform(q.shape[:1], q.dtype) < chance
    return pb.where(moved[:, None], new, q), moved


def main(chains=500, transitions=200):
    pb.random.seed(0)
    q = pb.zeros((chains, 2), dtype="float64")
    samples, moved = [], []
    for i in range(transitions):
        q, new = transition(q, 0.3)
        if i >= transitions // 4:
            samples.append(q)
            moved.append(pb.mean(new))
    found = pb.concat(samples).numpy()
    mean, covariance = found.mean(axis=0), np.cov(found.T)
    print(f"{len(found)} samples, {float(pb.mean(pb.stack(moved))):.0%} of the proposals taken")
    print(f"mean {np.round(mean, 2)}, covariance {np.round(covariance, 2).tolist()}")
    return mean, covariance, found


def plot(figure, result):
    found = result[2]
    left, right = figure.subplots(1, 2)
    left.plot(*found[::20].T, ".", markersize=1)
    values, vectors = np.linalg.eigh(COVARIANCE)
    angle = np.linspace(0, 2 * np.pi, 100)
    circle = np.sqrt(values)[:, None] * [np.cos(angle), np.sin(angle)]
    for radius in (1, 2, 3):
        left.plot(*(MEAN[:, None] + radius * vectors @ circle), color="C1")
    left.set(title="samples; known contours")
    x = np.linspace(-4, 6, 200)
    right.hist(found[:, 0], 60, density=True)
    spread = COVARIANCE[0, 0]
    right.plot(x, np.exp(-((x - MEAN[0]) ** 2) / (2 * spread)) / np.sqrt(2 * np.pi * spread))
    right.set(title="first coordinate")


if __name__ == "__main__":
    main()
