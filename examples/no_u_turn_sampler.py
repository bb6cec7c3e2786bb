"""Sample a curved distribution with the No-U-Turn sampler.

The sampler of Hamiltonian dynamics that chooses its own number of steps (Hoffman and Gelman, "The
No-U-Turn sampler", 2014, algorithm 3). The tree of steps is Python. A step of the integrator with
its gradient is a `pb.function`, which is traced once and takes microseconds.

python examples/no_u_turn_sampler.py
"""

import numpy as np

import pullback as pb

LARGEST_ERROR = 1000.0
DEPTH = 8


def log_density(q):
    """Return the log density of x ~ N(0, 1), y ~ N(x², 0.5²), up to a constant."""
    return -0.5 * pb.square(q[0]) - 0.5 * pb.square((q[1] - pb.square(q[0])) / 0.5)


@pb.function
def leapfrog(q, p, size):
    """Return the state after one step, its log joint density, and the position's log density."""
    p = p + 0.5 * size * pb.grad(log_density)(q)
    q = q + size * p
    value, force = pb.value_and_grad(log_density)(q)
    p = p + 0.5 * size * force
    return q, p, value - 0.5 * pb.sum(p * p)


class Sampler:
    def __init__(self, size, seed):
        self.size, self.random, self.steps = size, np.random.default_rng(seed), 0

    def turns(self, first, last):
        """Test whether the ends of a path approach each other."""
        apart = last[0] - first[0]
        return apart @ first[1] < 0 or apart @ last[1] < 0

    def tree(self, state, slice_at, direction, depth):
        """Return both ends of 2**depth more steps, a proposal, its weight, and if to stop."""
        if depth == 0:
            q, p = state
            q, p, joint = leapfrog(q, p, direction * self.size)
            self.steps += 1
            new, joint = (q.numpy(), p.numpy()), float(joint)
            return new, new, new[0], int(slice_at <= joint), slice_at > joint + LARGEST_ERROR
        first, last, found, count, stop = self.tree(state, slice_at, direction, depth - 1)
        if stop:
            return first, last, found, count, stop
        edge = last if direction > 0 else first
        low, high, other, more, stop = self.tree(edge, slice_at, direction, depth - 1)
        first, last = (first, high) if direction > 0 else (low, last)
        if more and self.random.uniform() < more / (count + more):
            found = other
        return first, last, found, count + more, stop or self.turns(first, last)

    def transition(self, q):
        p = self.random.normal(size=q.shape)
        joint = float(log_density(pb.constant(q))) - 0.5 * p @ p
        slice_at = joint + np.log(self.random.uniform())
        first = last = (q, p)
        count = 1
        for depth in range(DEPTH):
            direction = self.random.choice([-1.0, 1.0])
            edge = last if direction > 0 else first
            low, high, found, more, stop = self.tree(edge, slice_at, direction, depth)
            first, last = (first, high) if direction > 0 else (low, last)
            if stop:
                break
            if self.random.uniform() < more / count:
                q = found
            count += more
            if self.turns(first, last):
                break
        return q


def main(samples=4000, size=0.1):
    sampler = Sampler(size, seed=0)
    q = np.zeros(2)
    path = []
    for _ in range(samples):
        q = sampler.transition(q)
        path.append(q)
    found = np.array(path)
    # Known: E x = 0, var x = 1, E y = 1, var y = 2 + 0.25.
    mean, variance = found.mean(axis=0), found.var(axis=0)
    print(f"{sampler.steps / samples:.1f} steps for each sample")
    print(f"mean {np.round(mean, 2).tolist()}, known: [0, 1]")
    print(f"variance {np.round(variance, 2).tolist()}, known: [1, 2.25]")
    return mean, variance, found


def plot(figure, result):
    found = result[2]
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    left.plot(*found.T, ".", markersize=2)
    left.plot(*found[:25].T, linewidth=1)
    left.set(title="samples, and the first 25 as a path")
    right.hist(found[:, 0], 40, density=True)
    x = np.linspace(-3, 3, 100)
    right.plot(x, np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi))
    right.set(title="marginal of x")


if __name__ == "__main__":
    main()
