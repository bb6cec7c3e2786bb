"""Rearrangements made of views, joins and gathers: axes moved, reversed, rolled and repeated.

All are differentiable to any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, SupportsIndex

import numpy

from .. import _core
from .._core import Tensor
from .._typing import Axis, Shape, TensorLike
from .arguments import along, axes_of, integer, integers, offset_of


def moveaxis(x: TensorLike, source: Axis, destination: Axis, /) -> Tensor:
    """Move axes to other positions.

    The other axes keep their order. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    source : int or sequence of int
        Axes to move; negative values count from the last axis.
    destination : int or sequence of int
        Positions of these axes in the result, as many as in `source`.

    Returns
    -------
    Tensor
        Permuted shape of `x`; the dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is out of range or given twice, or if the numbers of sources and destinations
        differ.

    Examples
    --------
    >>> pb.moveaxis(pb.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = _core.constant(x, who="moveaxis")
    rank = len(x.shape)
    source, destination = (axes_of(a, rank, "moveaxis") for a in (source, destination))
    if len(source) != len(destination):
        raise ValueError(
            f"moveaxis: expected as many destinations as sources, got {len(source)} sources and "
            f"{len(destination)} destinations"
        )
    order = [k for k in range(rank) if k not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return _core.transpose(x, order)


def swapaxes(x: TensorLike, axis1: SupportsIndex, axis2: SupportsIndex, /) -> Tensor:
    """Exchange two axes.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis1, axis2 : int
        Axes to exchange; negative values count from the last axis.

    Returns
    -------
    Tensor
        Shape of `x` with the two sizes exchanged; the dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is out of range.

    Examples
    --------
    >>> pb.swapaxes(pb.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = _core.constant(x, who="swapaxes")
    order = list(range(len(x.shape)))
    first, second = (axes_of([a], len(order), "swapaxes")[0] for a in (axis1, axis2))
    order[first], order[second] = order[second], order[first]
    return _core.transpose(x, order)


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
        flat = roll(_core.reshape(x, (-1,)), sum(integers(shift, "roll")), axis=0)
        return _core.reshape(flat, x.shape)
    axes, shifts = integers(axis, "roll"), integers(shift, "roll")
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: expected a shift for each axis, got {len(shifts)} for {len(axes)}")
    for by, a in zip(shifts, axes, strict=True):
        k = axes_of([a], len(x.shape), "roll")[0]
        length = x.shape[k]
        cut = -by % length if length else 0
        if cut:
            head, tail = (along(k, piece) for piece in (slice(cut), slice(cut, None)))
            x = _core.concat([x[tail], x[head]], k)
    return x


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
        raise ValueError(f"rot90: expected two axes, got {len(found)}")
    first, second = found
    if turns == 2:
        return flip(x, axis=(first, second))
    if turns == 1:
        return swapaxes(flip(x, axis=second), first, second)
    return flip(swapaxes(x, first, second), axis=second) if turns else x


def tile(x: TensorLike, repetitions: Shape, /) -> Tensor:
    """Repeat an array along each axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    repetitions : int or sequence of int
        Number of copies along each axis, aligned at the last axis: `x` or `repetitions` is extended
        by leading ones.

    Returns
    -------
    Tensor
        Shape of `x` multiplied by `repetitions`; the dtype of `x`.

    Raises
    ------
    ValueError
        If a number of copies is negative.
    TypeError
        If `repetitions` is not made of integers.

    Examples
    --------
    >>> pb.tile([1, 2], (2, 2))
    Tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]], dtype=int64)
    """
    x = _core.constant(x, who="tile")
    counts = integers(repetitions, "tile")
    if any(n < 0 for n in counts):
        raise ValueError(f"tile: repetitions must not be negative, got {counts}")
    rank = max(len(counts), len(x.shape))
    shape = (1,) * (rank - len(x.shape)) + tuple(x.shape)
    counts = [1] * (rank - len(counts)) + counts
    pairs = tuple(n for k in range(rank) for n in (1, shape[k]))
    wide = tuple(n for k in range(rank) for n in (counts[k], shape[k]))
    whole = _core.broadcast_to(_core.reshape(x, pairs), wide)
    return _core.reshape(whole, tuple(n * m for n, m in zip(counts, shape, strict=True)))


def repeat(x: TensorLike, repeats: TensorLike, /, axis: SupportsIndex | None = None) -> Tensor:
    """Repeat each element along an axis.

    Differentiable in `x`. The shape of the result depends on `repeats`, so its values are evaluated
    at the call.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    repeats : array_like, int
        Number of copies: one for all elements, or one for each position along the axis.
    axis : int, optional
        Axis to repeat along; negative values count from the last axis. Default: the flattened
        input.

    Returns
    -------
    Tensor
        Shape of `x` with the sum of the copies as the size of the axis; the dtype of `x`.

    Raises
    ------
    ValueError
        If a number of copies is negative, if their count is neither one nor the size of the axis,
        or if `axis` is out of range.
    TypeError
        If `repeats` is not made of integers.
    RuntimeError
        If `repeats` has no value because a function is being traced.

    Examples
    --------
    >>> pb.repeat([1, 2, 3], 2)
    Tensor([1, 1, 2, 2, 3, 3], dtype=int64)
    """
    x = _core.constant(x, who="repeat")
    if axis is None:
        x, axis = _core.reshape(x, (-1,)), 0
    k = axes_of([axis], len(x.shape), "repeat")[0]
    counts = _core.constant(repeats, who="repeat")
    if counts.dtype.kind not in "iu":
        raise TypeError(f"repeat: expected integers, got {counts.dtype}")
    found = counts.numpy()
    length = x.shape[k]
    if found.ndim > 1 or (found.ndim and found.shape not in ((1,), (length,))):
        raise ValueError(
            f"repeat: expected one number or {length} for the axis, got shape {found.shape}"
        )
    if (found < 0).any():
        raise ValueError(f"repeat: expected counts from 0 on, got {found.min()}")
    if found.size == 1:
        times = int(found.reshape(()))
        wide = _core.broadcast_to(
            _core.expand_dims(x, k + 1), (*x.shape[: k + 1], times, *x.shape[k + 1 :])
        )
        return _core.reshape(wide, (*x.shape[:k], length * times, *x.shape[k + 1 :]))
    return _core.take(x, _core.constant(numpy.repeat(numpy.arange(length), found)), k)


def ravel(x: TensorLike, /) -> Tensor:
    """Flatten an array.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        The elements of `x` in row-major order, shape (size of `x`,); the dtype of `x`.

    Examples
    --------
    >>> pb.ravel([[1, 2], [3, 4]])
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    x = _core.constant(x, who="ravel")
    return _core.reshape(x, (prod(x.shape),))


def unstack(x: TensorLike, /, *, axis: SupportsIndex = 0) -> tuple[Tensor, ...]:
    """Split an array into its slices along an axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    axis : int, default 0
        Axis to remove; negative values count from the last axis.

    Returns
    -------
    tuple of Tensor
        One tensor for each position along the axis, with the shape of `x` without the axis; the
        dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.unstack([[1, 2], [3, 4]])
    (Tensor([1, 2], dtype=int64), Tensor([3, 4], dtype=int64))
    """
    x = _core.constant(x, who="unstack")
    k = axes_of([axis], len(x.shape), "unstack")[0]
    return tuple(x[along(k, i)] for i in range(x.shape[k]))


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Return the shape to which shapes broadcast.

    Parameters
    ----------
    *shapes : int or tuple of int
        Shapes to broadcast.

    Returns
    -------
    tuple of int
        The common shape; () without arguments.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    TypeError
        If a shape is not made of integers.

    Examples
    --------
    >>> pb.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return common_shape(
        [tuple(integers(shape, "broadcast_shapes")) for shape in shapes], "broadcast_shapes"
    )


def broadcast_arrays(*arrays: TensorLike) -> tuple[Tensor, ...]:
    """Broadcast arrays to their common shape.

    Differentiable in all arrays.

    Parameters
    ----------
    *arrays : array_like
        Arrays with shapes that broadcast, of any dtype.

    Returns
    -------
    tuple of Tensor
        The arrays in the common shape, each with its own dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> [x.shape for x in pb.broadcast_arrays([[1], [2]], [1, 2, 3])]
    [(2, 3), (2, 3)]
    """
    tensors = [_core.constant(x, who="broadcast_arrays") for x in arrays]
    shape = common_shape([x.shape for x in tensors], "broadcast_arrays")
    return tuple(_core.broadcast_to(x, shape) for x in tensors)


def common_shape(shapes: list[tuple[int, ...]], who: str) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, shapes))
        raise ValueError(f"{who}: shapes {text} do not broadcast") from None


def tril(x: TensorLike, /, *, k: SupportsIndex = 0) -> Tensor:
    """Return the lower triangle of matrices.

    Elements above the k-th diagonal become 0; they receive no gradient. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n), of any dtype.
    k : int, default 0
        Last diagonal to keep: 0 is the main diagonal, positive values lie above it, negative ones
        below.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2.
    TypeError
        If `k` is not an integer.

    Examples
    --------
    >>> pb.tril([[1, 2], [3, 4]])
    Tensor([[1, 0],
            [3, 4]], dtype=int64)
    """
    return _triangle(x, k, True, "tril")


def triu(x: TensorLike, /, *, k: SupportsIndex = 0) -> Tensor:
    """Return the upper triangle of matrices.

    Elements below the k-th diagonal become 0; they receive no gradient. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n), of any dtype.
    k : int, default 0
        First diagonal to keep: 0 is the main diagonal, positive values lie above it, negative ones
        below.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2.
    TypeError
        If `k` is not an integer.

    Examples
    --------
    >>> pb.triu([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [0, 4]], dtype=int64)
    """
    return _triangle(x, k, False, "triu")


def _triangle(x: TensorLike, k: Any, lower: bool, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    if len(x.shape) < 2:
        raise ValueError(f"{who}: expected matrices, got shape {x.shape}")
    rows, columns = x.shape[-2:]
    diagonal = offset_of(k, who)
    kept = numpy.tri(rows, columns, diagonal if lower else diagonal - 1, bool)
    return _core.where(_core.constant(kept if lower else ~kept), x, _core.full((), 0, x.dtype))
