"""Fit the length scale, height and noise of a Gaussian process by its marginal likelihood
(Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 2.30).

python examples/gaussian_process.py   (needs scipy)
"""

import numpy as np
from scipy.optimize import minimize

import pullback as pb


def kernel(p, x, z):
    """Return exp(p[1])² exp(-(x - z)² / (2 exp(p[0])²).)"""
    return pb.exp(2 * p[1] - 0.5 * pb.square((x[:, None] - z) * pb.exp(-p[0])))


def factor(p, x):
    """Return the Cholesky factor of the covariance of the observations."""
    return pb.linalg.cholesky(kernel(p, x, x) + pb.exp(2 * p[2]) * pb.eye(len(x), dtype=x.dtype))


def negative_log_likelihood(p, x, y):
    lower = factor(p, x)
    alpha = pb.linalg.cho_solve((lower, True), y)
    return (
        0.5 * pb.vecdot(y, alpha)
        + pb.sum(pb.log(pb.linalg.diagonal(lower)))
        + 0.5 * len(x) * np.log(2 * np.pi)
    )


def predict(p, x, y, new):
    """Return the mean and standard deviation of the function at new points."""
    lower = factor(p, x)
    across = kernel(p, x, new)
    mean = across.T @ pb.linalg.cho_solve((lower, True), y)
    half = pb.linalg.solve_triangular(lower, across, lower=True)
    return mean, pb.sqrt(pb.exp(2 * p[1]) - pb.sum(half * half, axis=0))


def main(n=200):
    random = np.random.default_rng(0)
    x = np.sort(random.uniform(0, 10, n))
    y = np.sin(x) + random.normal(0, 0.2, n)
    loss = pb.function(pb.value_and_grad(negative_log_likelihood))

    def fun(p):
        value, gradient = loss(p, x, y)
        return float(value), gradient.numpy()

    start = np.zeros(3)
    found = minimize(fun, start, jac=True, method="L-BFGS-B")
    length, height, noise = np.exp(found.x)
    print(f"{found.nit} iterations: length {length:.2f}, height {height:.2f}, noise {noise:.3f}")
    new = np.linspace(0.5, 9.5, 50)
    mean, deviation = predict(found.x, pb.constant(x), y, new)
    error = float(pb.max(pb.abs(mean - np.sin(new))))
    print(f"largest error {error:.3f}, largest deviation {float(pb.max(deviation)):.3f}")
    return found, error, (x, y, new, mean.numpy(), deviation.numpy())


def plot(figure, result):
    x, y, new, mean, deviation = result[2]
    axis = figure.subplots()
    axis.plot(x, y, ".", label="observations")
    axis.plot(new, mean, label="mean")
    band = mean - 2 * deviation, mean + 2 * deviation
    axis.fill_between(new, *band, alpha=0.3, color="C1", label="± 2 deviations")
    axis.plot(new, np.sin(new), "k--", linewidth=1, label="sine")
    axis.legend(ncols=4, loc="upper center")
    axis.set(ylim=(-1.7, 2.2))


if __name__ == "__main__":
    main()
