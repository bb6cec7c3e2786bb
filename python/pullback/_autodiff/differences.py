"""Derivatives by differences of values, to check the others by."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Scalar = Callable[[float], float]


class Difference(NamedTuple):
    """A derivative, and how far off it may be."""

    value: float
    error: float


def derivative(f: Scalar, scale: float = 1.0) -> Difference:
    """f'(0) by central differences of ever smaller steps, extrapolated to none.

    Each column of the table has an order of error more than the last; the entry that differs least
    from its neighbours is the answer, and by how much it differs the error. NaN where f is finite
    at no step. Source: Ridders, Accurate computation of F'(x) and F'(x)F''(x), 1982.
    """
    shrink, levels = 2.0, 12
    best = Difference(np.nan, np.inf)
    above: list[float] = []
    h = 0.125 * scale
    for _ in range(levels):
        high, low = f(h), f(-h)
        row = [(high - low) / (2 * h)]
        factor = 1.0
        # Where values cannot tell more, neither can extrapolation: noise is part of the error.
        noise = 4 * np.finfo(np.float64).eps * max(abs(high), abs(low)) / h
        for column, old in enumerate(above):
            factor *= shrink**2
            row.append((factor * row[column] - old) / (factor - 1))
            error = max(abs(row[-1] - row[column]), abs(row[-1] - old)) + noise
            if error < best.error:
                best = Difference(row[-1], error)
        above = row if np.isfinite(row[0]) else []
        if (
            above
            and best.error < np.inf
            and len(row) > 3
            and abs(row[-1] - row[-2]) > 64 * best.error
        ):
            break
        h /= shrink
    return best
