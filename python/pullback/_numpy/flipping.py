"""Reversals, rotations and cyclic shifts of axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, integer, integers
from .._base.composite import composite
from .._core import Tensor
from .._typing import Axis, Shape, TensorLike
from .arranging import swapaxes

__all__ = ["flip", "fliplr", "flipud", "roll", "rot90"]


@composite
def flip(x: TensorLike, /, axis: Axis = None) -> Tensor:
    """Reverse the order of the elements along axes.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to reverse; negative values count from the last axis. Default: all axes.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.

    Examples
    --------
    >>> pb.flip([[1, 2], [3, 4]], axis=1)
    Tensor([[2, 1],
            [4, 3]], dtype=int64)
    """
    x = _core.constant(x, who="flip")
    rank = len(x.shape)
    axes = range(rank) if axis is None else axes_of(axis, rank, "flip")
    return x[tuple(slice(None, None, -1) if k in axes else slice(None) for k in range(rank))]


@composite
def flipud(x: TensorLike, /) -> Tensor:
    """Reverse the order of the elements along the first axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has rank 0.

    See Also
    --------
    flip : Reverse the order along any axes.

    Examples
    --------
    >>> pb.flipud([[1, 2], [3, 4]])
    Tensor([[3, 4],
            [1, 2]], dtype=int64)
    """
    x = _core.constant(x, who="flipud")
    axes_of([0], len(x.shape), "flipud")
    return flip(x, axis=0)


@composite
def fliplr(x: TensorLike, /) -> Tensor:
    """Reverse the order of the elements along the second axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2.

    See Also
    --------
    flip : Reverse the order along any axes.

    Examples
    --------
    >>> pb.fliplr([[1, 2], [3, 4]])
    Tensor([[2, 1],
            [4, 3]], dtype=int64)
    """
    x = _core.constant(x, who="fliplr")
    axes_of([1], len(x.shape), "fliplr")
    return flip(x, axis=1)


@composite
def roll(x: TensorLike, /, shift: Shape, axis: Axis = None) -> Tensor:
    """Roll the elements along axes.

    Elements move by `shift` positions; those that pass the end of the axis reappear at its start.
    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    shift : int or sequence of int
        Number of positions, one for all axes or one for each; negative values roll backwards.
    axis : int or sequence of int, optional
        Axes to roll; negative values count from the last axis. An axis that is named several times
        is rolled by the sum of its shifts. Default: the flattened input, rolled by the sum of
        `shift`.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If the numbers of shifts and axes differ or an axis is out of range.
    TypeError
        If `shift` is not made of integers.

    Examples
    --------
    >>> pb.roll([1, 2, 3, 4], 1)
    Tensor([4, 1, 2, 3], dtype=int64)
    """
    x = _core.constant(x, who="roll")
    if axis is None:
        flat = roll(_core.reshape(x, (-1,)), sum(integers(shift, "roll", "shift")), axis=0)
        return _core.reshape(flat, x.shape)
    axes, shifts = integers(axis, "roll", "axis"), integers(shift, "roll", "shift")
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: expected {len(axes)} shifts, one for each axis, got {len(shifts)}")
    for by, a in zip(shifts, axes, strict=True):
        k = axes_of([a], len(x.shape), "roll")[0]
        length = x.shape[k]
        cut = -by % length if length else 0
        if cut:
            head, tail = (along(k, piece) for piece in (slice(cut), slice(cut, None)))
            x = _core.concat([x[tail], x[head]], k)
    return x


@composite
def rot90(x: TensorLike, /, k: SupportsIndex = 1, axes: Sequence[SupportsIndex] = (0, 1)) -> Tensor:
    """Rotate an array by multiples of 90 degrees in the plane of two axes.

    The rotation goes from the first axis towards the second. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
    k : int, default 1
        Number of rotations by 90 degrees; negative values rotate in the other direction.
    axes : sequence of two int, default (0, 1)
        Axes that span the plane; negative values count from the last axis.

    Returns
    -------
    Tensor
        Shape of `x`, with the sizes of the two axes exchanged if `k` is odd; the dtype of `x`.

    Raises
    ------
    ValueError
        If `axes` does not name two different axes of `x`.
    TypeError
        If `k` is not an integer.

    Examples
    --------
    >>> pb.rot90([[1, 2], [3, 4]])
    Tensor([[2, 4],
            [1, 3]], dtype=int64)
    """
    x = _core.constant(x, who="rot90")
    turns = integer(k, "rot90", "k") % 4
    found = axes_of(axes, len(x.shape), "rot90")
    if len(found) != 2:
        raise ValueError(f"rot90: expected two integers for axes, got {len(found)}")
    first, second = found
    if turns == 2:
        return flip(x, axis=(first, second))
    if turns == 1:
        return swapaxes(flip(x, axis=second), first, second)
    return flip(swapaxes(x, first, second), axis=second) if turns else x
