"""Arrays rearranged by views, joins and gathers: moved axes, repetitions, rows of an axis.

All functions are differentiable to any order.
"""

from __future__ import annotations

from math import prod
from typing import SupportsIndex

import numpy

from .. import _core
from .._base.checks import along, axes_of, integers
from .._base.composite import composite
from .._core import Tensor
from .._typing import Axis, Shape, TensorLike

__all__ = ["moveaxis", "ravel", "repeat", "swapaxes", "tile", "unstack"]


@composite
def moveaxis(x: TensorLike, /, source: Axis, destination: Axis) -> Tensor:
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


@composite
def swapaxes(x: TensorLike, /, axis1: SupportsIndex, axis2: SupportsIndex) -> Tensor:
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


@composite
def tile(x: TensorLike, /, reps: Shape) -> Tensor:
    """Repeat an array along each axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    reps : int or sequence of int
        Number of copies along each axis, aligned at the last axis: `x` or `reps` is extended by
        leading ones.

    Returns
    -------
    Tensor
        Shape of `x` multiplied by `reps`; the dtype of `x`.

    Raises
    ------
    ValueError
        If a number of copies is negative.
    TypeError
        If `reps` is not made of integers.

    Examples
    --------
    >>> pb.tile([1, 2], (2, 2))
    Tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]], dtype=int64)
    """
    x = _core.constant(x, who="tile")
    counts = integers(reps, "tile", "reps")
    if any(n < 0 for n in counts):
        raise ValueError(f"tile: expected integers >= 0 for reps, got {counts}")
    rank = max(len(counts), len(x.shape))
    shape = (1,) * (rank - len(x.shape)) + tuple(x.shape)
    counts = [1] * (rank - len(counts)) + counts
    pairs = tuple(n for k in range(rank) for n in (1, shape[k]))
    wide = tuple(n for k in range(rank) for n in (counts[k], shape[k]))
    whole = _core.broadcast_to(_core.reshape(x, pairs), wide)
    return _core.reshape(whole, tuple(n * m for n, m in zip(counts, shape, strict=True)))


@composite
def repeat(x: TensorLike, /, repeats: TensorLike, axis: SupportsIndex | None = None) -> Tensor:
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
    if type(repeats) is int:
        found = numpy.asarray(repeats)
    else:
        counts = _core.constant(repeats, who="repeat")
        found = counts.numpy()
        if not found.size:
            found = found.astype(int)  # an empty list has the default floating dtype
        if found.dtype.kind not in "iu":
            raise TypeError(f"repeat: expected integers for repeats, got {counts.dtype}")
    length = x.shape[k]
    if found.ndim > 1 or (found.ndim and found.shape not in ((1,), (length,))):
        raise ValueError(
            f"repeat: expected a number or {length} numbers, the size of axis {k}, for repeats, "
            f"got shape {found.shape}"
        )
    if (found < 0).any():
        raise ValueError(f"repeat: expected integers >= 0 for repeats, got {found.min()}")
    if found.size == 1:
        times = int(found.reshape(()))
        wide = _core.broadcast_to(
            _core.expand_dims(x, k + 1), (*x.shape[: k + 1], times, *x.shape[k + 1 :])
        )
        return _core.reshape(wide, (*x.shape[:k], length * times, *x.shape[k + 1 :]))
    return _core.take(x, _core.constant(numpy.repeat(numpy.arange(length), found)), k)


@composite
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


@composite
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
