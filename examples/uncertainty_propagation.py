"""Propagate the uncertainty of measurements through a fit.

An exponential decay is fitted to noisy measurements. The solver is differentiable by the implicit
function theorem, so the Jacobian J of the parameters by the measurements exists, and the covariance
of the parameters is J C Jᵀ to first order. Refits of a thousand simulated measurements confirm it.

python examples/uncertainty_propagation.py
"""

import numpy as np

import pullback as pb

TIMES = np.linspace(0.0, 5.0, 40)
TRUE = np.array([2.0, 0.7, 0.5])  # amplitude, rate, background
NOISE = 0.05


def model(p, t):
    return p[0] * pb.exp(-p[1] * t) + p[2]


def fit(y):
    """Return the parameters with the least sum of squares."""
    start = np.array([1.0, 1.0, 0.0])
    return pb.optimize.least_squares(lambda p, y: model(p, TIMES) - y, start, (y,)).x


def main(simulations=1000):
    random = np.random.default_rng(0)
    truth = model(TRUE, TIMES).numpy()
    y = truth + random.normal(0, NOISE, TIMES.shape)
    found = fit(pb.constant(y))
    jacobian = pb.jacobian(fit)(pb.constant(y))
    covariance = (NOISE**2 * jacobian @ jacobian.T).numpy()

    # The same for predictions, from the parameters.
    later = np.linspace(0.0, 8.0, 81)
    to_prediction = pb.jacobian(lambda p: model(p, later))(found).numpy()
    band = np.sqrt(np.einsum("ti,ij,tj->t", to_prediction, covariance, to_prediction))

    refit = pb.function(fit)
    samples = [refit(truth + random.normal(0, NOISE, TIMES.shape)) for _ in range(simulations)]
    simulated = np.cov(np.stack([sample.numpy() for sample in samples]).T)
    deviations = np.sqrt(np.diag(covariance)), np.sqrt(np.diag(simulated))
    for name, value, first, second in zip(
        ("amplitude", "rate", "background"), found.numpy(), *deviations, strict=True
    ):
        print(f"{name:10} {value:.3f} ± {first:.4f}, by simulation ± {second:.4f}")
    return found.numpy(), covariance, simulated, (y, later, band)


def plot(figure, result):
    found, covariance, simulated, (y, later, band) = result
    left, right = figure.subplots(1, 2, width_ratios=(2, 1))
    curve = model(found, later).numpy()
    left.plot(TIMES, y, ".", label="measurements")
    left.plot(later, curve, label="fit")
    left.fill_between(later, curve - 2 * band, curve + 2 * band, alpha=0.3, label="± 2 deviations")
    left.legend()
    left.set(xlabel="time")
    both = np.sqrt([np.diag(covariance), np.diag(simulated)])
    for k, (label, heights) in enumerate(zip(("J C Jᵀ", "simulation"), both, strict=True)):
        right.bar(np.arange(3) + 0.4 * k, heights, 0.4, label=label)
    right.set_xticks(np.arange(3) + 0.2, ("amplitude", "rate", "background"))
    right.set(title="standard deviation", ylim=(0, 0.045))
    right.legend(loc="upper right")


if __name__ == "__main__":
    main()
