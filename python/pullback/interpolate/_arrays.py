"""Checks of the points and values of interpolation, and the order of their axes."""

from __future__ import annotations

from math import nan
from typing import Any, Literal

import numpy as np

from .. import _core
from .._base.checks import axes_of, made_floating
from .._core import Tensor

Extrapolate = bool | Literal["periodic"]


def points_of(made: Tensor, who: str, name: str = "x", least: int = 2) -> Tensor:
    """Check breakpoints: a vector whose entries increase, else a ValueError.

    While a function is traced, those that do not increase become NaN.
    """
    if len(made.shape) != 1 or made.shape[0] < least:
        raise ValueError(
            f"{who}: expected a vector of at least {least} points for {name}, got shape "
            f"{made.shape}"
        )
    increasing = _core.all(_core.greater(made[1:], made[:-1]))
    if _core.is_traced(made):  # its values are not known
        return _core.where(increasing, made, nan)
    if not bool(increasing):
        raise ValueError(f"{who}: expected increasing points for {name}")
    return made


def reals(who: str, *values: Any) -> list[Tensor]:
    """Return real floating tensors of a common dtype; Python numbers take that of the others."""
    made = _core.operands(list(values), who)
    for one in made:
        if one.dtype.kind == "c":
            raise TypeError(f"{who}: expected real points and values, got {one.dtype}")
    floats = [one.dtype for one in made if one.dtype.kind == "f"]
    dtype = max(floats, key=lambda one: one.itemsize) if floats else _core.default_float()
    return [one if one.dtype.kind == "f" else _core.cast(one, dtype) for one in made]


def beside(who: str, values: Any, *points: Any) -> list[Tensor]:
    """Return values, which may be complex, and real points."""
    first = made_floating(values, who, "fc")
    if first.dtype.kind != "c":
        return reals(who, values, *points)
    return [first, *reals(who, *points, _core.real(first))[:-1]]


def with_axes(x: Tensor, count: int) -> Tensor:
    """Append axes of size 1."""
    return _core.reshape(x, (*x.shape, *(1,) * count))


def extrapolate_of(value: Any, default: Extrapolate, who: str) -> Extrapolate:
    if value is None:
        return default
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if value == "periodic":
        return "periodic"
    raise ValueError(f"{who}: expected True, False or 'periodic' for extrapolate, got {value!r}")


def vectors(y: Tensor, axis: int, points: int, who: str) -> tuple[Tensor, int]:
    """Return values with the interpolated axis first, and that axis."""
    if not y.shape:
        raise ValueError(f"{who}: expected values of shape ({points}, ...) for y, got a scalar")
    at = axes_of(axis, len(y.shape), who)[0]
    if y.shape[at] != points:
        raise ValueError(
            f"{who}: expected {points} values along axis {at} of y, one for each point, got shape "
            f"{y.shape}"
        )
    order = [at, *(k for k in range(len(y.shape)) if k != at)]
    return (y if at == 0 else _core.transpose(y, order)), at
