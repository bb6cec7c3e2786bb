"""NumPy's further functions that split arrays."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, given_once, integer, integers, is_integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import Sections, TensorLike

__all__ = ["array_split", "dsplit", "hsplit", "vsplit"]


@composite
def array_split(
    x: TensorLike,
    /,
    indices_or_sections: Sections | None = None,
    axis: SupportsIndex = 0,
    *,
    parts: Sections | None = None,
) -> list[Tensor]:
    """Split an array into parts of nearly equal size along an axis.

    As `split`, but the size need not be divisible: the first parts can be longer by one element.
    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts, or positions along the axis at which a new part begins. Positions are
        clipped as in slices, and negative ones count from the end.
    axis : int, default 0
        Axis to split; negative values count from the last axis.
    parts : int or sequence of int, optional
        Alias of `indices_or_sections`. Give one of the two.

    Returns
    -------
    list of Tensor
        The parts in order, each with the dtype of `x`. They can be empty.

    Raises
    ------
    ValueError
        If the number of parts is below 1 or above 2**24, or `axis` is out of range.
    TypeError
        If `indices_or_sections` is not made of integers, or `parts` is given too.

    Examples
    --------
    >>> pb.array_split([1, 2, 3], 2)
    [Tensor([1, 2], dtype=int64), Tensor([3], dtype=int64)]
    """
    return _split(x, indices_or_sections, parts, axis, False, "array_split")


@composite
def hsplit(
    x: TensorLike,
    /,
    indices_or_sections: Sections | None = None,
    *,
    parts: Sections | None = None,
) -> list[Tensor]:
    """Split an array along the second axis, or along the only axis of a vector.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts of equal size, or positions at which a new part begins. Positions are
        clipped as in slices, and negative ones count from the end.
    parts : int or sequence of int, optional
        Alias of `indices_or_sections`. Give one of the two.

    Returns
    -------
    list of Tensor
        The parts in order, each with the dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has rank 0 or the axis is not divisible into that many equal parts.
    TypeError
        If `indices_or_sections` is not made of integers, or `parts` is given too.

    Examples
    --------
    >>> [part.shape for part in pb.hsplit(pb.zeros((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = _ranked(x, 1, "hsplit")
    axis = 1 if len(x.shape) > 1 else 0
    return _split(x, indices_or_sections, parts, axis, True, "hsplit")


@composite
def vsplit(
    x: TensorLike,
    /,
    indices_or_sections: Sections | None = None,
    *,
    parts: Sections | None = None,
) -> list[Tensor]:
    """Split an array along the first axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts of equal size, or positions at which a new part begins. Positions are
        clipped as in slices, and negative ones count from the end.
    parts : int or sequence of int, optional
        Alias of `indices_or_sections`. Give one of the two.

    Returns
    -------
    list of Tensor
        The parts in order, each with the dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2 or the axis is not divisible into that many equal parts.
    TypeError
        If `indices_or_sections` is not made of integers, or `parts` is given too.

    Examples
    --------
    >>> [part.shape for part in pb.vsplit(pb.zeros((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    return _split(_ranked(x, 2, "vsplit"), indices_or_sections, parts, 0, True, "vsplit")


@composite
def dsplit(
    x: TensorLike,
    /,
    indices_or_sections: Sections | None = None,
    *,
    parts: Sections | None = None,
) -> list[Tensor]:
    """Split an array along the third axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 3 or higher, of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts of equal size, or positions at which a new part begins. Positions are
        clipped as in slices, and negative ones count from the end.
    parts : int or sequence of int, optional
        Alias of `indices_or_sections`. Give one of the two.

    Returns
    -------
    list of Tensor
        The parts in order, each with the dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 3 or the axis is not divisible into that many equal parts.
    TypeError
        If `indices_or_sections` is not made of integers, or `parts` is given too.

    Examples
    --------
    >>> [part.shape for part in pb.dsplit(pb.zeros((1, 2, 4)), [1])]
    [(1, 2, 1), (1, 2, 3)]
    """
    return _split(_ranked(x, 3, "dsplit"), indices_or_sections, parts, 2, True, "dsplit")


def _ranked(x: TensorLike, rank: int, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    if len(x.shape) < rank:
        raise ValueError(f"{who}: expected at least {rank} axes for x, got shape {x.shape}")
    return x


def _split(
    x: TensorLike,
    indices_or_sections: Any,
    parts: Any,
    axis: SupportsIndex,
    equal: bool,
    who: str,
) -> list[Tensor]:
    x = _core.constant(x, who=who)
    (k,) = axes_of([axis], len(x.shape), who)
    length = x.shape[k]
    sections = given_once({"indices_or_sections": indices_or_sections, "parts": parts}, who)
    if is_integer(sections):
        count = integer(sections, who, "indices_or_sections")
        if not 0 < count <= 1 << 24 or (equal and length % count):
            what = f"a divisor of {length}, the size of axis {k}," if equal else "from 1 to 2**24"
            raise ValueError(f"{who}: expected {what} for indices_or_sections, got {count}")
        size, longer = divmod(length, count)
        cuts = [i * size + min(i, longer) for i in range(count + 1)]
    else:
        cuts = [
            0,
            *(slice(c).indices(length)[1] for c in integers(sections, who, "indices_or_sections")),
            length,
        ]
    return [x[along(k, slice(begin, end))] for begin, end in pairwise(cuts)]
