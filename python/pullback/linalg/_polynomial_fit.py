"""`polyfit`: the least-squares fit of a polynomial, a function of the main namespace."""

from __future__ import annotations

import warnings
from functools import reduce
from typing import Any, Literal, SupportsIndex

from numpy import finfo
from numpy.exceptions import RankWarning

from .. import _core
from .._base.checks import choice, flag, integer, number
from .._base.composite import composite
from .._core import Tensor
from .._numpy.polynomials import vander
from .._typing import TensorLike
from ._least_squares import lstsq

_WHO = "polyfit"


@composite
def polyfit(
    x: TensorLike,
    y: TensorLike,
    deg: SupportsIndex,
    rcond: float | None = None,
    full: bool = False,
    w: TensorLike | None = None,
    cov: bool | Literal["unscaled"] = False,
) -> Any:
    """Fit a polynomial to points by least squares.

    Differentiable in `x`, `y` and `w`.

    Parameters
    ----------
    x : array_like, real
        Positions of the points, a vector of length m.
    y : array_like, real
        Values of shape (m,), or (m, k) for k polynomials.
    deg : int
        Degree of the polynomial.
    rcond : float, optional
        Singular values of the scaled powers up to `rcond` times the largest count as 0. Default: m
        times the rounding unit of the dtype.
    full : bool, default False
        Return also the residuals, the rank, the singular values and `rcond`.
    w : array_like, real, optional
        Weights of the residuals before they are squared, a vector of length m.
    cov : bool or "unscaled", default False
        Return also the covariance of the coefficients: True for one that is scaled by the residuals
        over the degrees of freedom, "unscaled" for weights that are reciprocal standard deviations.

    Returns
    -------
    Tensor or tuple
        Coefficients of shape (deg + 1,) or (deg + 1, k), the highest power first. With `full`, the
        coefficients, sums of squared residuals, rank, singular values and `rcond`. With `cov`, the
        coefficients and their covariance of shape (deg + 1, deg + 1) or (deg + 1, deg + 1, k); k is
        1 if it is "unscaled".

    Raises
    ------
    ValueError
        If `deg` or `rcond` is negative, the shapes do not match, or there are too few points for
        `cov`.
    TypeError
        If `deg` is not an integer, or an input is complex.

    Warns
    -----
    numpy.exceptions.RankWarning
        If the powers of `x` are linearly dependent up to `rcond`.

    See Also
    --------
    polyval, vander

    Examples
    --------
    >>> pb.round(pb.polyfit([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 7.0], 1), 3)
    Tensor([2., 1.], dtype=float32)
    """
    degree = integer(deg, _WHO, "deg")
    everything = flag(full, _WHO, "full")
    if not isinstance(cov, bool):
        choice(cov, ("unscaled",), _WHO, "cov")
    if degree < 0:
        raise ValueError(f"{_WHO}: expected deg >= 0, got {degree}")
    given = [x, y] if w is None else [x, y, w]
    points, values, *weights = _floats(given)
    count = points.shape[0] if points.shape else 0
    if len(points.shape) != 1 or count == 0:
        raise ValueError(f"{_WHO}: expected a non-empty vector for x, got shape {points.shape}")
    if len(values.shape) not in (1, 2) or values.shape[0] != count:
        raise ValueError(
            f"{_WHO}: expected shape ({count},) or ({count}, k) for y, got {values.shape}"
        )
    powers = vander(points, degree + 1)
    if weights:
        (weight,) = weights
        if weight.shape != (count,):
            raise ValueError(f"{_WHO}: expected shape ({count},) for w, got {weight.shape}")
        column = _core.reshape(weight, (count, 1))
        powers = _core.multiply(powers, column)
        values = _core.multiply(values, column if len(values.shape) == 2 else weight)
    if rcond is None:
        cutoff = count * float(finfo(points.dtype).eps)
    else:
        cutoff = number(rcond, _WHO, "rcond")
        if not cutoff >= 0:
            raise ValueError(f"{_WHO}: expected rcond >= 0, got {rcond}")
    scale = _core.sqrt(_core.sum(_core.square(powers), 0, True))
    powers = _core.divide(powers, scale)
    solution, residuals, rank, singular = lstsq(powers, values, cutoff)
    by_power = _core.reshape(scale, (degree + 1, *(1,) * (len(values.shape) - 1)))
    coefficients = _core.divide(solution, by_power)
    if everything:  # also one residual is a vector, as in NumPy
        residuals = _core.reshape(residuals, (-1,))
        return coefficients, residuals, rank, singular, cutoff
    if not _core.is_traced(rank) and int(rank) != degree + 1:
        warnings.warn("polyfit: the powers of x are linearly dependent", RankWarning, stacklevel=2)
    if cov is False:
        return coefficients
    inverse = _core.inv(_core.matmul(_core.transpose(powers, None), powers), _WHO)
    inverse = _core.divide(inverse, _core.multiply(scale, _core.transpose(scale, None)))
    if len(values.shape) == 2:
        inverse = _core.expand_dims(inverse, 2)
    if cov is True:
        if count <= degree + 1:
            raise ValueError(
                f"{_WHO}: expected more than {degree + 1} points for cov, got {count}; pass "
                "cov='unscaled'"
            )
        inverse = _core.multiply(inverse, _core.divide(residuals, count - degree - 1))
    return coefficients, inverse


def _floats(values: list[Any]) -> list[Tensor]:
    """Return real values in their common floating dtype."""
    found = _core.operands(values, _WHO)
    dtype = reduce(_core.promote, [one.dtype for one in found])
    if dtype.kind == "c":
        raise TypeError(f"{_WHO}: expected real numbers, got {dtype}")
    if dtype.kind in "biu":
        dtype = _core.default_float()
    return [_core.cast(one, dtype) for one in found]
