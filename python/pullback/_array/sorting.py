"""Sorting and searching in sorted numbers.

All sorts are stable: equal entries stay in their order, whichever way is sorted. NaN comes last,
whichever way. The axis is the last unless told otherwise; a bad one is a ValueError. Gradients go
back to where an entry came from.
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import along, axes_of, flag, integer, integers
from .index import along_axis, get
from .shape import listed


def sort(
    x: TensorLike, /, axis: SupportsIndex = -1, *, descending: bool = False, stable: bool = True
) -> Tensor:
    """The entries in order along an axis. `stable` asks for what is always so.

    >>> pb.sort([3.0, float("nan"), 1.0], descending=True)
    Tensor([ 3.,  1., nan], dtype=float32)
    """
    if stable is not True:
        stable = flag(stable, "sort", "stable")
    if descending is not False:
        descending = flag(descending, "sort", "descending")
    return _core.sort(x, axis, bool(descending))


def argsort(
    x: TensorLike, /, axis: SupportsIndex = -1, *, descending: bool = False, stable: bool = True
) -> Tensor:
    """The positions (int64) that put the entries in order along an axis.

    >>> pb.argsort([3.0, 1.0, 2.0])
    Tensor([1, 2, 0], dtype=int64)
    """
    if stable is not True:
        stable = flag(stable, "argsort", "stable")
    if descending is not False:
        descending = flag(descending, "argsort", "descending")
    return _core.argsort(x, axis, bool(descending))


def taken_along(x: Tensor, positions: Tensor, axis: int, who: str) -> Tensor:
    """Entries at each row's own positions, which are inside."""
    if len(x.shape) == 1:
        return _core.take(x, positions, 0, checked=True)
    return get(x, along_axis(x.shape, positions, axis), who)


def topk(
    x: TensorLike, k: SupportsIndex, /, *, axis: SupportsIndex = -1, largest: bool = True
) -> tuple[Tensor, Tensor]:
    """The k largest entries along an axis (or smallest), the first of them first, and their
    positions (int64). More than there are is a ValueError.

    >>> values, positions = pb.topk([3.0, 1.0, 4.0, 2.0], 2)
    >>> values, positions
    (Tensor([4., 3.], dtype=float32), Tensor([2, 0], dtype=int64))
    """
    if largest is not True:
        largest = flag(largest, "topk", "largest")
    x, count = _core.constant(x, who="topk"), integer(k, "topk")
    (at,) = axes_of([axis], len(x.shape), "topk")
    if not 0 <= count <= x.shape[at]:
        raise ValueError(f"topk: {count} of an axis of length {x.shape[at]}")
    positions = _core.argsort(x, at, bool(largest))[along(at, slice(None, count))]
    return taken_along(x, positions, at, "topk"), positions


def _check_kth(x: TensorLike, kth: SupportsIndex, axis: SupportsIndex, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    (at,) = axes_of([axis], len(x.shape), who)
    for k in integers(kth, who):
        if not -x.shape[at] <= k < x.shape[at]:
            raise ValueError(f"{who}: entry {k} of an axis of length {x.shape[at]}")
    return x


def partition(x: TensorLike, kth: SupportsIndex, /, axis: SupportsIndex = -1) -> Tensor:
    """The entries along an axis with the k-th (several: each of them) where a sort would put it,
    none larger before and none smaller behind. They are sorted.

    >>> pb.partition([3.0, 1.0, 2.0], 1)
    Tensor([1., 2., 3.], dtype=float32)
    """
    return _core.sort(_check_kth(x, kth, axis, "partition"), axis)


def argpartition(x: TensorLike, kth: SupportsIndex, /, axis: SupportsIndex = -1) -> Tensor:
    """The positions (int64) of the entries of `partition`.

    >>> pb.argpartition([3.0, 1.0, 2.0], 1)
    Tensor([1, 2, 0], dtype=int64)
    """
    return _core.argsort(_check_kth(x, kth, axis, "argpartition"), axis)


def lexsort(keys: TensorLike, /, *, axis: SupportsIndex = -1) -> Tensor:
    """The positions (int64) that sort by the last of several keys, where these are equal by the one
    before it, and so on.

    >>> pb.lexsort([[3, 1, 2], [0, 1, 0]])
    Tensor([2, 0, 1], dtype=int64)
    """
    rows = [_core.constant(key, who="lexsort") for key in listed(keys, "lexsort")]
    if not rows:
        raise ValueError("lexsort: expected at least one key")
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
    x1: TensorLike, x2: TensorLike, /, *, side: str = "left", sorter: TensorLike | None = None
) -> Tensor:
    """Where each entry of x2 would go among those of x1, of rank 1 and sorted (or put in order by
    the positions `sorter`): before those that are equal, or on the "right" behind them. int64.

    >>> pb.searchsorted([1.0, 2.0, 3.0], [0.0, 2.0, 9.0])
    Tensor([0, 1, 3], dtype=int64)
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected side 'left' or 'right', got {_core.shown(side)}")
    x1, x2 = _core.operands([x1, x2], "searchsorted")
    if sorter is not None:
        x1 = _core.take(x1, sorter, 0)
    return _core.searchsorted(x1, x2, side == "right")
