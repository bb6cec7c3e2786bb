"""Checks and conversions around the one transform of the core, along one or more axes.

`complex_to_complex`, `real_to_half` and `half_to_real` are the transforms of all public functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._base.checks import axes_of, choice, integer, integers
from .._core import Tensor
from .._numpy.creation import zeros

Norm = Literal["backward", "ortho", "forward"] | None
Axes = Sequence[SupportsIndex] | None
Lengths = Sequence[SupportsIndex] | None
# Complex numbers whose size in bytes fits in 64 bits.
_MOST = 1 << 56


def points_of_one(n: Any, who: str) -> Any:
    return None if n is None else [points_of(n, who)]


def points_of(n: Any, who: str) -> int:
    count = integer(n, who, "n")
    if count < 1:
        raise ValueError(f"{who}: expected an integer >= 1 for n, got {count}")
    return count


def real_or_complex(x: Any, who: str) -> Tensor:
    """Return `x` in a dtype that is transformed directly."""
    x = _core.constant(x, who=who)
    if x.dtype.kind not in "fc":
        return _core.cast(x, _core.default_float())
    # bfloat16 has kind "f" too.
    return _core.cast(x, "float32") if x.dtype.itemsize == 2 else x


def as_complex(x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return x
    x = real_or_complex(x, "fft")
    return _core.cast(x, "complex128" if x.dtype.itemsize == 8 else "complex64")


def _plan(
    x: Tensor, s: Any, axes: Any, who: str, from_half: bool = False
) -> tuple[list[int], list[int]]:
    """Return the axes and the number of points along each."""
    rank = len(x.shape)
    points: list[int | None] | None = None
    if s is not None:
        if isinstance(s, (str, bytes)) or not hasattr(s, "__iter__"):
            raise TypeError(f"{who}: expected a sequence of integers for s, got {_core.shown(s)}")
        points = [None if n is None or integer(n, who, "s") == -1 else points_of(n, who) for n in s]
    if axes is None:
        along = list(range(rank if points is None else len(points)))
        if points is not None:
            along = [k - len(along) for k in along]
    else:
        along = integers(axes, who, "axes")
    # An axis can be repeated, as in NumPy.
    found = [axes_of(k, rank, who)[0] for k in along]
    if points is None:
        points = [None] * len(found)
    if len(points) != len(found):
        raise ValueError(
            f"{who}: expected {len(found)} integers, one for each axis, for s, got {len(points)}"
        )
    shown = [x.shape[k] if n is None else n for k, n in zip(found, points, strict=True)]
    if from_half and points and points[-1] is None:
        shown[-1] = 2 * (shown[-1] - 1)
    return found, shown


def resized(x: Tensor, axis: int, n: int) -> Tensor:
    """Return the first n elements along an axis, extended by zeros."""
    length = x.shape[axis]
    if n == length:
        return x
    if n < length:
        return x[(slice(None),) * axis + (slice(0, n),)]
    gap = (*x.shape[:axis], n - length, *x.shape[axis + 1 :])
    return _core.concat([x, zeros(gap, x.dtype)], axis)


def factor_of(norm: Any, n: int, inverse: bool, who: str) -> float:
    """Return the factor that gives a transform of n points the norm `norm`."""
    norm = "backward" if norm is None else norm
    choice(norm, ("backward", "ortho", "forward"), who, "norm")
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "backward") == inverse else 1.0


def _made(x: Tensor, axis: int, kind: str, n: int, inverse: bool, norm: Any, who: str) -> Tensor:
    """Transform one axis: kind "c" is complex, "r" real to the first half, "i" the half to real."""
    if n < 1:
        raise ValueError(
            f"{who}: expected at least one element along axis {axis}, got shape {x.shape}"
        )
    if n * prod((*x.shape[:axis], *x.shape[axis + 1 :])) > _MOST:
        raise ValueError(
            f"{who}: expected at most {_MOST} elements, got {n} points along axis {axis} of shape "
            f"{x.shape}"
        )
    x = resized(x, axis, n // 2 + 1 if kind == "i" else n)
    backward = kind == "i" or (kind == "c" and inverse)
    out: Tensor = _core.fourier(x, axis, kind, n, backward, factor_of(norm, n, inverse, who), who)
    return out


def complex_to_complex(x: Any, s: Any, axes: Any, norm: Any, who: str, inverse: bool) -> Tensor:
    z = as_complex(_core.constant(x, who=who))
    along, points = _plan(z, s, axes, who)
    for axis, n in reversed(list(zip(along, points, strict=True))):
        z = _made(z, axis, "c", n, inverse, norm, who)
    return z


def real_to_half(x: Any, s: Any, axes: Any, norm: Any, who: str, divided: str) -> Tensor:
    real = real_or_complex(x, who)
    if real.dtype.kind == "c":
        raise TypeError(f"{who}: expected real numbers, got {real.dtype}; use real(x) or {who[1:]}")
    along, points = _plan(real, s, axes, who)
    if not along:
        raise ValueError(f"{who}: expected at least one axis in axes, got none")
    inverse = divided == "forward"
    z = _made(real, along[-1], "r", points[-1], inverse, norm, who)
    for axis, n in reversed(list(zip(along[:-1], points[:-1], strict=True))):
        z = _made(z, axis, "c", n, inverse, norm, who)
    return z


def half_to_real(x: Any, s: Any, axes: Any, norm: Any, who: str, divided: str) -> Tensor:
    z = as_complex(_core.constant(x, who=who))
    along, points = _plan(z, s, axes, who, from_half=True)
    if not along:
        raise ValueError(f"{who}: expected at least one axis in axes, got none")
    inverse = divided == "backward"
    for axis, n in zip(along[:-1], points[:-1], strict=True):
        z = _made(z, axis, "c", n, inverse, norm, who)
    return _made(z, along[-1], "i", points[-1], inverse, norm, who)
