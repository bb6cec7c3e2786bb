"""Roots of piecewise polynomials: values of SciPy, derivatives of implicit functions."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.shaping import with_gradient
from .._core import Tensor

_JUMP = 1e-6  # a larger residual at a breakpoint, in units of the largest value, is a jump


def roots_of(polynomial: Any, y: Tensor, discontinuity: bool, extrapolate: Any, who: str) -> Tensor:
    """Return the points at which a piecewise polynomial is `y`.

    Two steps of Newton's method from the values of SciPy give them the derivatives up to the third
    order. A root at which the slope is 0 has none, and its gradient is NaN.
    """
    c, x = polynomial.c, polynomial.x
    if any(map(_core.is_traced, (c, x, y))):
        raise TypeError(
            f"{who}: the number of roots depends on values, which are not known while a function "
            "is traced; call it outside, or use optimize.bisect between two points"
        )
    if len(c.shape) != 2 or c.dtype.kind == "c":
        raise ValueError(
            f"{who}: expected real coefficients of shape (k + 1, n - 1), got {c.dtype} and shape "
            f"{c.shape}; solve for each polynomial"
        )
    import scipy.interpolate

    wide = [np.asarray(one.numpy(), "float64") for one in (c, x, y)]
    plain = scipy.interpolate.PPoly(wide[0], wide[1], extrapolate=extrapolate)
    found = np.asarray(plain.solve(float(wide[2]), discontinuity, extrapolate), "float64")
    number = np.clip(np.searchsorted(wide[1], found), 0, len(wide[1]) - 1)
    residual = np.abs(plain(found, extrapolate=True) - wide[2])
    size = np.abs(wide[0]).max(initial=0.0) + abs(wide[2])
    jumps = (wide[1][number] == found) & (residual > _JUMP * size)
    zeros = np.isnan(found)  # in intervals of zeros, which SciPy marks by NaN
    at = _core.cast(_core.constant(np.where(zeros, wide[1][0], found)), x.dtype)
    for _ in range(2):
        rest = polynomial(at, 0, True) - y
        slope = polynomial(at, 1, True)
        is_flat = _core.equal(slope, 0)
        move = rest / _core.where(is_flat, 1, slope)
        undefined = _without_slope(rest - _core.stop_gradient(rest), is_flat)
        at = at - _core.where(is_flat, undefined, move)
    at = _core.where(jumps, _core.take(x, number, 0), at)
    return _core.where(zeros, nan, at)


def _without_slope(x: Tensor, mask: Tensor) -> Tensor:
    """Return `x`, with gradients of NaN for entries of a mask that are used."""

    def gradient(g: Tensor) -> Any:
        return _core.where(_core.logical_and(mask, _core.not_equal(g, 0)), nan, 0.0 * g)

    return with_gradient(x, gradient)
