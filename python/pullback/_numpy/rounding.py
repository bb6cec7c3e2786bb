"""Rounding, elementwise. The gradient is 0; `pb.straight_through` passes it on."""

from __future__ import annotations

from typing import SupportsIndex

import numpy

from .. import _core
from .._base.checks import integer
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["ceil", "fix", "floor", "round", "trunc"]


def round(x: TensorLike, /, decimals: SupportsIndex = 0) -> Tensor:
    """Round `x` to a number of decimals; ties are rounded to even.

    The gradient is 0. For a straight-through gradient see `custom_gradient`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype. The parts of a complex input are rounded separately.
    decimals : int, optional
        Number of decimals, between -400 and 400. A negative number rounds to tens (-1), hundreds
        (-2) and so on. Default: 0.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `decimals` is not an integer, or if `x` is of dtype bool.
    ValueError
        If `decimals` is not between -400 and 400.

    Examples
    --------
    >>> pb.round([0.5, 1.5, -1.2])
    Tensor([ 0.,  2., -1.], dtype=float32)
    >>> pb.round([3.14159, 2.71828], 2)
    Tensor([3.14, 2.72], dtype=float32)
    """
    return rounded_to(x, decimals, "round")


def rounded_to(x: TensorLike, decimals: SupportsIndex, who: str) -> Tensor:
    """Return `x` rounded for the public function `who`: see `round`."""
    digits = integer(decimals, who, "decimals")
    if not -400 < digits < 400:
        raise ValueError(
            f"{who}: expected an integer from -399 to 399 for decimals, got {_core.shown(decimals)}"
        )
    if digits == 0:
        return _core.round(x)
    x = _core.constant(x, who=who)
    if x.dtype.kind == "c":
        parts = (rounded_to(part, digits, who) for part in (_core.real(x), _core.imag(x)))
        return _core.make_complex(*parts)
    if x.dtype.kind == "f":
        power = float(f"1e{digits if digits > 0 else -digits}")
        if digits < 0:
            return _core.multiply(_core.round(_core.divide(x, power)), power)
        scaled = _core.multiply(x, power)
        rounded = _core.divide(_core.round(scaled), power)
        # A number that overflows when scaled has no decimals to round.
        return _core.where(_core.isinf(scaled), x, rounded)
    if digits > 0 or x.dtype.kind == "b":
        return _core.round(x)
    power = 10**-digits
    if power > numpy.iinfo(x.dtype).max:
        return _core.multiply(x, 0)
    rest = _core.remainder(x, power)
    down = _core.subtract(x, rest)
    odd = _core.equal(_core.remainder(_core.floor_divide(x, power), 2), 1)
    up = _core.logical_or(
        _core.greater(rest, power // 2), _core.logical_and(_core.equal(rest, power // 2), odd)
    )
    return _core.add(down, _core.multiply(_core.cast(up, x.dtype), power))


def floor(x: TensorLike, /) -> Tensor:
    """Return the largest integer that does not exceed `x`.

    The gradient is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.floor([1.7, -1.2])
    Tensor([ 1., -2.], dtype=float32)
    """
    return _core.floor(x)


def ceil(x: TensorLike, /) -> Tensor:
    """Return the smallest integer that is not less than `x`.

    The gradient is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.ceil([1.2, -1.7])
    Tensor([ 2., -1.], dtype=float32)
    """
    return _core.ceil(x)


def trunc(x: TensorLike, /) -> Tensor:
    """Round `x` towards 0.

    The gradient is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.trunc([1.7, -1.7])
    Tensor([ 1., -1.], dtype=float32)
    """
    return _core.trunc(x)


def fix(x: TensorLike, /) -> Tensor:
    """Alias of `trunc`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.fix([1.7, -1.7])
    Tensor([ 1., -1.], dtype=float32)
    """
    return _core.trunc(x)
