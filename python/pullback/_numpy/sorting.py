"""Sorting, and searching in sorted vectors.

All sorts are stable in both directions: equal elements keep their order. NaN comes last in both
directions. Gradients flow back to the position of each element.
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, choice, flag, integer, integers
from .._base.composite import composite
from .._core import Tensor
from .._typing import Side, TensorLike
from .advanced_index import along_axis
from .arranging import ravel
from .indexing import get
from .shape import listed

__all__ = ["argpartition", "argsort", "lexsort", "partition", "searchsorted", "sort", "topk"]


def sort(
    x: TensorLike,
    /,
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
) -> Tensor:
    """Sort the elements along an axis.

    The sort is stable in both directions: equal elements keep their order. NaN comes last in both
    directions. Differentiable in `x`: each gradient flows back to the position of its element.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    axis : int or None, default -1
        Axis to sort along; negative values count from the last axis. None: sort the flattened
        input.
    descending : bool, default False
        Sort from the largest to the smallest element.
    stable : bool, default True
        Accepted for compatibility with the Array API; every sort is stable.

    Returns
    -------
    Tensor
        Shape and dtype of `x`, one axis if `axis` is None.

    Raises
    ------
    ValueError
        If `axis` is out of range.
    TypeError
        If `x` is complex or `axis` is not an integer or None.

    Examples
    --------
    >>> pb.sort([3.0, float("nan"), 1.0], descending=True)
    Tensor([ 3.,  1., nan], dtype=float32)
    """
    if stable is not True:
        stable = flag(stable, "sort", "stable")
    if descending is not False:
        descending = flag(descending, "sort", "descending")
    if axis is None:
        x, axis = ravel(x), 0
    return _core.sort(x, axis, bool(descending))


def argsort(
    x: TensorLike,
    /,
    axis: SupportsIndex | None = -1,
    *,
    descending: bool = False,
    stable: bool = True,
) -> Tensor:
    """Return the indices that sort the elements along an axis.

    The sort is stable in both directions: equal elements keep their order. NaN comes last in both
    directions.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    axis : int or None, default -1
        Axis to sort along; negative values count from the last axis. None: sort the flattened
        input.
    descending : bool, default False
        Sort from the largest to the smallest element.
    stable : bool, default True
        Accepted for compatibility with the Array API; every sort is stable.

    Returns
    -------
    Tensor
        Shape of `x`, one axis if `axis` is None; dtype int64.

    Raises
    ------
    ValueError
        If `axis` is out of range.
    TypeError
        If `x` is complex or `axis` is not an integer or None.

    Examples
    --------
    >>> pb.argsort([3.0, 1.0, 2.0])
    Tensor([1, 2, 0], dtype=int64)
    """
    if stable is not True:
        stable = flag(stable, "argsort", "stable")
    if descending is not False:
        descending = flag(descending, "argsort", "descending")
    if axis is None:
        x, axis = ravel(x), 0
    return _core.argsort(x, axis, bool(descending))


def taken_along(x: Tensor, positions: Tensor, axis: int, who: str) -> Tensor:
    """Return the elements at valid indices that differ for each row."""
    if len(x.shape) == 1:
        return _core.take(x, positions, 0, checked=True)
    return get(x, along_axis(x.shape, positions, axis), who)


@composite
def topk(
    x: TensorLike, k: SupportsIndex, /, *, axis: SupportsIndex = -1, largest: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the k largest elements along an axis and their indices.

    The elements come in sorted order, the largest first. Equal elements keep their order; NaN comes
    after all numbers. Differentiable in `x`: each gradient flows back to the position of its
    element.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    k : int
        Number of elements, from 0 to the size of the axis.
    axis : int, default -1
        Axis to select along; negative values count from the last axis.
    largest : bool, default True
        If False, return the smallest elements, the smallest first.

    Returns
    -------
    values : Tensor
        Shape of `x` with size `k` along the axis; the dtype of `x`.
    indices : Tensor
        Positions of `values` along the axis; the shape of `values`, dtype int64.

    Raises
    ------
    ValueError
        If `k` is negative or exceeds the size of the axis, or if `axis` is out of range.
    TypeError
        If `x` is complex or `k` is not an integer.

    Examples
    --------
    >>> values, positions = pb.topk([3.0, 1.0, 4.0, 2.0], 2)
    >>> values, positions
    (Tensor([4., 3.], dtype=float32), Tensor([2, 0], dtype=int64))
    """
    if largest is not True:
        largest = flag(largest, "topk", "largest")
    x, count = _core.constant(x, who="topk"), integer(k, "topk", "k")
    (at,) = axes_of([axis], len(x.shape), "topk")
    if not 0 <= count <= x.shape[at]:
        raise ValueError(
            f"topk: expected k from 0 to {x.shape[at]}, the size of axis {at}, got {count}"
        )
    positions = _core.argsort(x, at, bool(largest))[along(at, slice(None, count))]
    return taken_along(x, positions, at, "topk"), positions


def _check_kth(x: TensorLike, kth: SupportsIndex, axis: SupportsIndex, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    (at,) = axes_of([axis], len(x.shape), who)
    for k in integers(kth, who, "kth"):
        if not -x.shape[at] <= k < x.shape[at]:
            n = x.shape[at]
            raise ValueError(f"{who}: expected kth from {-n} to {n - 1} for axis {at}, got {k}")
    return x


@composite
def partition(x: TensorLike, /, kth: SupportsIndex, axis: SupportsIndex = -1) -> Tensor:
    """Partition the elements along an axis around the k-th smallest.

    The element at `kth` is the one that a sort puts there; no larger element precedes it and no
    smaller one follows. The result is fully sorted. Differentiable in `x`.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    kth : int or sequence of int
        Positions along the axis to partition around; negative values count from the end.
    axis : int, default -1
        Axis to sort along; negative values count from the last axis.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `kth` or `axis` is out of range.
    TypeError
        If `x` is complex or `kth` is not made of integers.

    Examples
    --------
    >>> pb.partition([3.0, 1.0, 2.0], 1)
    Tensor([1., 2., 3.], dtype=float32)
    """
    return _core.sort(_check_kth(x, kth, axis, "partition"), axis)


def argpartition(x: TensorLike, /, kth: SupportsIndex, axis: SupportsIndex = -1) -> Tensor:
    """Return the indices that partition the elements along an axis.

    The indices of the elements of `partition`; they sort the axis fully.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    kth : int or sequence of int
        Positions along the axis to partition around; negative values count from the end.
    axis : int, default -1
        Axis to sort along; negative values count from the last axis.

    Returns
    -------
    Tensor
        Shape of `x`; dtype int64.

    Raises
    ------
    ValueError
        If `kth` or `axis` is out of range.
    TypeError
        If `x` is complex or `kth` is not made of integers.

    Examples
    --------
    >>> pb.argpartition([3.0, 1.0, 2.0], 1)
    Tensor([1, 2, 0], dtype=int64)
    """
    return _core.argsort(_check_kth(x, kth, axis, "argpartition"), axis)


def lexsort(keys: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """Return the indices that sort by several keys.

    The last key is the primary one. Ties are resolved by the key before it, and so on; the sort is
    stable.

    Parameters
    ----------
    keys : sequence of array_like, or array_like of rank 2 or higher
        Real keys of one shape, of rank 1 or higher. An array is a sequence along its first axis.
    axis : int, default -1
        Axis to sort along; negative values count from the last axis.

    Returns
    -------
    Tensor
        Shape of one key; dtype int64.

    Raises
    ------
    ValueError
        If there are no keys, if their shapes differ, or if `axis` is out of range.
    TypeError
        If `keys` is not a sequence or a key is complex.

    Examples
    --------
    >>> pb.lexsort([[3, 1, 2], [0, 1, 0]])
    Tensor([2, 0, 1], dtype=int64)
    """
    rows = [_core.constant(key, who="lexsort") for key in listed(keys, "lexsort")]
    if not rows:
        raise ValueError("lexsort: expected at least one key, got none")
    if any(row.shape != rows[0].shape for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows)
        raise ValueError(f"lexsort: expected keys of one shape, got {shapes}")
    (at,) = axes_of([axis], len(rows[0].shape), "lexsort")
    order = _core.argsort(rows[0], at)
    for row in rows[1:]:
        by_this = _core.argsort(taken_along(row, order, at, "lexsort"), at)
        order = taken_along(order, by_this, at, "lexsort")
    return order


def searchsorted(
    a: TensorLike, v: TensorLike, side: Side = "left", sorter: TensorLike | None = None
) -> Tensor:
    """Return the indices at which elements can be inserted into a sorted vector.

    Both inputs are cast to a common dtype.

    Parameters
    ----------
    a : array_like, real
        Vector of shape (n,), in ascending order unless `sorter` is given.
    v : array_like, real
        Elements to insert, of any shape.
    side : {"left", "right"}, default "left"
        Insert before or after the elements of `a` that are equal.
    sorter : array_like, int, optional
        Indices that sort `a`, as `argsort` returns them.

    Returns
    -------
    Tensor
        Indices in [0, n]; the shape of `v`, dtype int64.

    Raises
    ------
    ValueError
        If `a` is not a vector or `side` is unknown.
    IndexError
        If `sorter` holds an index outside `a`.
    TypeError
        If an input is complex or `sorter` is not made of integers.

    Examples
    --------
    >>> pb.searchsorted([1.0, 2.0, 3.0], [0.0, 2.0, 9.0])
    Tensor([0, 1, 3], dtype=int64)
    """
    choice(side, ("left", "right"), "searchsorted", "side")
    a, v = _core.operands([a, v], "searchsorted")
    if sorter is not None:
        a = _core.take(a, sorter, 0)
    return _core.searchsorted(a, v, side == "right")
