"""Derivatives by finite differences of values, as a reference for gradients."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

Scalar = Callable[[float], float]


class Difference(NamedTuple):
    """A derivative and a bound of its error."""

    value: float
    error: float


def derivative(f: Scalar, scale: float = 1.0, precision: float = 2.0**-52) -> Difference:
    """Return f'(0) by central differences of decreasing steps, extrapolated to step zero.

    Each column of the table has a higher order of error than the previous one [1]_. The entry that
    differs least from its neighbours is the result, and the difference is its error. The error also
    includes the noise of the values, which are exact to `precision` at best, and the difference of
    the one-sided slopes at the smallest steps, which is large at a kink. The result is NaN if `f`
    is finite at no step.

    References
    ----------
    .. [1] C. J. F. Ridders, "Accurate computation of F'(x) and F'(x) F''(x)", Adv. Eng. Softw. 4,
       1982.
    """
    shrink = 1.7  # not 2, so that steps do not share a period with the function
    steps = [0.1 * scale / shrink**k for k in range(18)]
    middle, ends = f(0.0), [(f(h), f(-h)) for h in steps]
    gaps = [abs(high - low) for high, low in ends]
    # The quantum of a step function: the last gap before the values do not change any more.
    quantum = max((a for a, b in pairwise(gaps) if b == 0 and a < 1e-4 * abs(middle)), default=0.0)
    noise = 4 * max(_noise(f, scale), precision * abs(middle), quantum)
    best, bend = Difference(np.nan, np.inf), np.inf
    previous: list[float] = []
    for h, (high, low) in zip(steps, ends, strict=True):
        row = [(high - low) / (2 * h)]
        if np.isfinite(row[0]):
            bend = min(bend, abs(high - 2 * middle + low) / h + noise / h)
        factor = 1.0
        for column, old in enumerate(previous):
            factor *= shrink**2
            row.append((factor * row[column] - old) / (factor - 1))
            error = max(abs(row[-1] - row[column]), abs(row[-1] - old)) + noise / h
            # Smaller steps refute an accidental agreement of larger ones.
            refuted = abs(row[-1] - best.value) > 8 * (error + best.error)
            if error < best.error or refuted:
                best = Difference(row[-1], error)
        previous = row if np.isfinite(row[0]) else []
    if not bend < np.inf:
        return best
    # Except for noise the smallest steps are the most accurate: if they are still far off, there is
    # no convergence.
    last = abs((ends[-1][0] - ends[-1][1]) / (2 * steps[-1]) - best.value) - noise / steps[-1]
    return Difference(best.value, best.error + bend + (last if last > 0 else 0.0))


def _noise(f: Scalar, scale: float) -> float:
    """Return the error of the values.

    It is the residual of a fit by a polynomial of degree 4 near 0, at positions that are not
    equally spaced, because roundings may be.
    """
    places = np.random.default_rng(0).uniform(-1, 1, 16)
    values = np.array([f(3e-5 * scale * x) for x in places])
    if not np.isfinite(values).all():
        return 0.0
    powers = np.vander(places, 5)
    residual = values - powers @ np.linalg.lstsq(powers, values, rcond=None)[0]
    return float(np.sqrt(np.sum(residual**2) / (places.size - powers.shape[1])))
