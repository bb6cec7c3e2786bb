"""Arrays with slices inserted or removed.

The positions determine the shape of the result, so they are evaluated at the call. The results are
gathers from the input, so both functions are differentiable to any order.
"""

from __future__ import annotations

from math import prod
from typing import Any, SupportsIndex

import numpy as np

from .. import _core
from .._base.checks import axes_of, broadcasts_to, known_values
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["delete", "insert"]


def _flattened(x: TensorLike, axis: SupportsIndex | None, who: str) -> tuple[Tensor, int]:
    """Return `x` and an axis of it; without an axis, the flattened `x`."""
    x = _core.constant(x, who=who)
    if axis is None:
        return _core.reshape(x, (prod(x.shape),)), 0
    return x, axes_of([axis], len(x.shape), who)[0]


def _positions(obj: Any, size: int, who: str) -> Any:
    """Return the positions of an argument `obj` as an array of integers of rank 0 or 1."""
    if isinstance(obj, slice):
        return np.arange(size)[obj]
    found = known_values(obj, who)
    if not found.size:
        found = found.astype(np.int64)  # an empty list has the default floating dtype
    if found.dtype.kind not in "biu" or found.ndim > 1:
        raise TypeError(
            f"{who}: expected an integer, a slice, or a vector of integers or bool for obj, got "
            f"{_core.shown(obj)}"
        )
    return found if found.dtype.kind == "b" else found.astype(np.int64)


def _check_range(positions: Any, low: int, high: int, axis: int, who: str) -> None:
    outside = positions[(positions < low) | (positions > high)]
    if outside.size:
        raise IndexError(
            f"{who}: index {outside.flat[0]} is out of range for axis {axis} (valid: {low} to "
            f"{high})"
        )


@composite
def insert(
    arr: TensorLike, obj: Any, values: TensorLike, axis: SupportsIndex | None = None
) -> Tensor:
    """Insert values before positions along an axis.

    Differentiable in `arr` and `values`.

    Parameters
    ----------
    arr : array_like
        Input of any shape and dtype.
    obj : int, slice or array_like
        Positions in `arr` before which values are inserted. A mask of bool selects the positions
        that are True.
    values : array_like
        Values to insert, converted to the dtype of `arr`. They broadcast to one slice for each
        position. For an integer `obj`, the first axis of `values` counts the inserted slices if
        `values` has the rank of `arr`.
    axis : int, optional
        Axis to insert along; negative values count from the last axis. Default: the flattened
        input.

    Returns
    -------
    Tensor
        Shape of `arr` with a larger axis; the dtype of `arr`.

    Raises
    ------
    IndexError
        If a position is out of range.
    ValueError
        If `values` do not broadcast to the inserted slices, or `axis` is out of range.
    TypeError
        If `obj` is not made of integers or bool.
    RuntimeError
        If `obj` has no value because a function is being traced.

    See Also
    --------
    append, delete

    Examples
    --------
    >>> pb.insert([1.0, 2.0, 3.0], 1, 9.0)
    Tensor([1., 9., 2., 3.], dtype=float32)
    >>> pb.insert([[1, 2], [3, 4]], [0, 2], 0, axis=1)
    Tensor([[0, 1, 2, 0],
            [0, 3, 4, 0]], dtype=int64)
    """
    x, at = _flattened(arr, axis, "insert")
    size = x.shape[at]
    positions = _positions(obj, size, "insert")
    if positions.dtype.kind == "b":
        if positions.ndim == 0:
            raise TypeError("insert: expected a vector of bool for obj, got a single bool")
        positions = np.flatnonzero(positions)
    added = _core.cast(_core.constant(values, who="insert"), x.dtype)
    _check_range(positions, -size, size, at, "insert")
    if positions.size == 1:
        added = _core.reshape(added, (1,) * (len(x.shape) - len(added.shape)) + added.shape)
        if positions.ndim == 0:
            added = _first_axis_to(added, at)
        positions = np.broadcast_to(positions.reshape(()), (added.shape[at],))
    while len(added.shape) > len(x.shape) and added.shape[0] == 1:
        added = _core.reshape(added, added.shape[1:])
    positions = np.where(positions < 0, positions + size, positions)
    shape = (*x.shape[:at], len(positions), *x.shape[at + 1 :])
    if not broadcasts_to(added.shape, shape):
        raise ValueError(
            f"insert: expected values that broadcast to shape {shape}, got shape {added.shape}"
        )
    both = _core.concat([x, _core.broadcast_to(added, shape)], at)
    before = np.concatenate([np.arange(size), positions])
    inserted_first = np.concatenate([np.ones(size, int), np.zeros(len(positions), int)])
    order = np.lexsort((inserted_first, before))
    return _core.take(both, order, at, checked=True)


def _first_axis_to(x: Tensor, axis: int) -> Tensor:
    order = list(range(1, len(x.shape)))
    order.insert(axis, 0)
    return _core.transpose(x, order)


@composite
def delete(arr: TensorLike, obj: Any, axis: SupportsIndex | None = None) -> Tensor:
    """Remove the slices at positions along an axis.

    Differentiable in `arr`; removed elements receive a zero gradient.

    Parameters
    ----------
    arr : array_like
        Input of any shape and dtype.
    obj : int, slice or array_like
        Positions to remove. A mask of bool, as long as the axis, removes where it is True.
    axis : int, optional
        Axis to remove from; negative values count from the last axis. Default: the flattened
        input.

    Returns
    -------
    Tensor
        Shape of `arr` with a smaller axis; the dtype of `arr`.

    Raises
    ------
    IndexError
        If a position is out of range.
    ValueError
        If a mask has another length than the axis, or `axis` is out of range.
    TypeError
        If `obj` is not made of integers or bool.
    RuntimeError
        If `obj` has no value because a function is being traced.

    See Also
    --------
    insert

    Examples
    --------
    >>> pb.delete([1.0, 2.0, 3.0, 4.0], [0, -1])
    Tensor([2., 3.], dtype=float32)
    """
    x, at = _flattened(arr, axis, "delete")
    size = x.shape[at]
    positions = _positions(obj, size, "delete")
    if positions.dtype.kind == "b":
        if positions.shape != (size,):
            raise ValueError(
                f"delete: expected {size} bool for obj, the size of axis {at}, got shape "
                f"{positions.shape}"
            )
        kept = ~positions
    else:
        _check_range(positions, -size, size - 1, at, "delete")
        kept = np.ones(size, bool)
        kept[positions] = False
    return _core.take(x, np.flatnonzero(kept), at, checked=True)
