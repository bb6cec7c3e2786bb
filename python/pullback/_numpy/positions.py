"""Arrays of positions: grids of indices, and indices of the flattened array.

The results are integers, so they have no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Literal

import numpy as np

from .. import _core
from .._base.checks import choice, flag, integer_tensor, integers, known_values
from .._core import Tensor
from .._typing import Shape, TensorLike
from .shape import listed

__all__ = ["indices", "ix_", "ravel_multi_index", "unravel_index"]

_MODES = ("raise", "wrap", "clip")
_ORDERS = ("C", "F")


def _sizes(shape: Any, who: str, name: str) -> tuple[int, ...]:
    sizes = tuple(integers(shape, who, name))
    if any(n < 0 for n in sizes):
        raise ValueError(f"{who}: expected sizes >= 0 for {name}, got {sizes}")
    if prod(n for n in sizes if n) >= 2**63:
        raise ValueError(f"{who}: expected fewer than 2**63 elements for {name}, got {sizes}")
    return sizes


def indices(dimensions: Shape, dtype: Any = np.int64, sparse: bool = False) -> Any:
    """Return the index of each element of an array of some shape, one array for each axis.

    Parameters
    ----------
    dimensions : int or sequence of int
        Shape of the array.
    dtype : dtype, default int64
        Dtype of the result.
    sparse : bool, default False
        Return a tuple of arrays that broadcast to the shape, in place of one array.

    Returns
    -------
    Tensor or tuple of Tensor
        Shape `(number of axes, *dimensions)`; with `sparse`, one tensor for each axis, whose other
        axes have size 1.

    Raises
    ------
    ValueError
        If a size is negative.
    TypeError
        If `dimensions` is not made of integers, or `sparse` is not a bool.

    See Also
    --------
    meshgrid

    Examples
    --------
    >>> pb.indices((2, 3))
    Tensor([[[0, 0, 0],
             [1, 1, 1]],
    <BLANKLINE>
            [[0, 1, 2],
             [0, 1, 2]]], dtype=int64)
    """
    shape = _sizes(dimensions, "indices", "dimensions")
    apart = flag(sparse, "indices", "sparse")
    axes = tuple(
        _core.reshape(_core.arange(0, n, 1, dtype), (1,) * k + (n,) + (1,) * (len(shape) - k - 1))
        for k, n in enumerate(shape)
    )
    if apart:
        return axes
    if not axes:
        return _core.full((0,), 0, dtype)
    return _core.stack([_core.broadcast_to(axis, shape) for axis in axes], 0)


def ix_(*args: TensorLike) -> tuple[Tensor, ...]:
    """Return index arrays that select the product of several vectors of positions.

    ``x[pb.ix_(rows, columns)]`` is the submatrix of these rows and columns.

    Parameters
    ----------
    *args : array_like, int or bool
        Vectors of positions. A vector of bool counts as the positions where it is True.

    Returns
    -------
    tuple of Tensor
        One tensor of integers for each vector, with its elements along an axis of its own.

    Raises
    ------
    ValueError
        If an argument is not a vector.
    TypeError
        If an argument is neither made of integers nor of bool.
    RuntimeError
        If a vector of bool has no value because a function is being traced.

    Examples
    --------
    >>> x = pb.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> x[pb.ix_([0, 1], [0, 2])]
    Tensor([[1., 3.],
            [4., 6.]], dtype=float32)
    """
    out = []
    for k, vector in enumerate(args):
        found = _core.constant(vector, who="ix_")
        if len(found.shape) != 1:
            raise ValueError(f"ix_: expected vectors, got shape {found.shape}")
        if found.dtype.kind == "b":
            found = _core.constant(np.flatnonzero(known_values(found, "ix_")))
        elif found.dtype.kind not in "iu":  # an error, unless it is empty
            found = integer_tensor(found, "ix_", "each vector")
        out.append(_core.reshape(found, (1,) * k + found.shape + (1,) * (len(args) - k - 1)))
    return tuple(out)


def unravel_index(
    indices: TensorLike, shape: Shape, order: Literal["C", "F"] = "C"
) -> tuple[Tensor, ...]:
    """Convert indices of the flattened array to indices along its axes.

    Parameters
    ----------
    indices : array_like, int
        Indices of the flattened array, of any shape.
    shape : int or tuple of int
        Shape of the array.
    order : {"C", "F"}, default "C"
        Order in which the array is flattened: the last axis varies fastest ("C"), or the first
        ("F").

    Returns
    -------
    tuple of Tensor
        One tensor for each axis, in the shape of `indices`; dtype int64.

    Raises
    ------
    ValueError
        If an index is out of range, if a size is negative, or if `order` is unknown. In a traced
        function, an index out of range raises an IndexError when the result is computed.
    TypeError
        If `indices` or `shape` is not made of integers.

    See Also
    --------
    ravel_multi_index

    Examples
    --------
    >>> pb.unravel_index([1, 5], (2, 3))
    (Tensor([0, 1], dtype=int64), Tensor([1, 2], dtype=int64))
    """
    who = "unravel_index"
    sizes = _sizes(shape, who, "shape")
    choice(order, _ORDERS, who, "order")
    flat = integer_tensor(indices, who, "indices")
    flat = _in_range(flat, prod(sizes), who)
    out: list[Tensor] = []
    for n in sizes if order == "F" else reversed(sizes):
        out.append(_core.remainder(flat, max(n, 1)))
        flat = _core.floor_divide(flat, max(n, 1))
    return tuple(out if order == "F" else reversed(out))


def _in_range(positions: Tensor, size: int, who: str) -> Tensor:
    """Return positions that are known to be in range, or raise an error when they are computed."""
    if _core.is_traced(positions):
        outside = _core.logical_or(_core.less(positions, 0), _core.greater_equal(positions, size))
        # A gather of one element raises the IndexError at the evaluation.
        checked = _core.take(_core.full((1,), 0, "int64"), _core.cast(outside, "int64"), 0)
        return _core.add(positions, checked)
    values = positions.numpy()
    wrong = values[(values < 0) | (values >= size)]
    if wrong.size:
        raise ValueError(f"{who}: index {wrong[0]} is out of range for {size} elements")
    return positions


def ravel_multi_index(
    multi_index: Sequence[TensorLike],
    dims: Shape,
    mode: str | list[str] | tuple[str, ...] = "raise",
    order: Literal["C", "F"] = "C",
) -> Tensor:
    """Convert indices along the axes of an array to indices of the flattened array.

    Parameters
    ----------
    multi_index : sequence of array_like, int
        Indices along each axis. Their shapes broadcast.
    dims : int or tuple of int
        Shape of the array.
    mode : {"raise", "wrap", "clip"} or tuple of these, default "raise"
        Treatment of an index out of range, for all axes or for each: raise an error, take it modulo
        the size of the axis, or clip it to the nearest valid index.
    order : {"C", "F"}, default "C"
        Order in which the array is flattened: the last axis varies fastest ("C"), or the first
        ("F").

    Returns
    -------
    Tensor
        Broadcast shape of the indices; dtype int64.

    Raises
    ------
    ValueError
        If an index is out of range in mode "raise", if the numbers of indices and axes differ, or
        if `mode` or `order` is unknown. In a traced function, an index out of range raises an
        IndexError when the result is computed.
    TypeError
        If `multi_index` or `dims` is not made of integers.

    See Also
    --------
    unravel_index

    Examples
    --------
    >>> pb.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
    Tensor([1, 5], dtype=int64)
    """
    who = "ravel_multi_index"
    sizes = _sizes(dims, who, "dims")
    choice(order, _ORDERS, who, "order")
    along = [integer_tensor(i, who, "multi_index") for i in listed(multi_index, who)]
    modes = list(mode) if isinstance(mode, (tuple, list)) else [mode] * len(sizes)
    if len(along) != len(sizes) or len(modes) != len(sizes):
        raise ValueError(
            f"{who}: expected {len(sizes)} indices and modes, one for each axis, got "
            f"{len(along)} indices and {len(modes)} modes"
        )
    flat = _core.full((), 0, "int64")
    axes = list(zip(along, sizes, modes, strict=True))
    for at, n, treatment in axes if order == "C" else reversed(axes):
        choice(treatment, _MODES, who, "mode")
        if treatment == "wrap" and n:
            at = _core.remainder(at, n)
        elif treatment == "clip" and n:
            at = _core.minimum(_core.maximum(at, 0), n - 1)
        flat = _core.add(_core.multiply(flat, n), _in_range(at, n, who))
    return flat
