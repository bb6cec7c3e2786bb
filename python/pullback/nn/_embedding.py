"""`embedding_bag`: rows of a table, reduced over bags of indices."""

from __future__ import annotations

from math import inf
from typing import Literal, SupportsIndex

from .. import _core
from .._base.checks import choice, integer, integer_tensor, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._numpy.indexing import At
from .._numpy.ranges import arange
from .._typing import TensorLike

__all__ = ["embedding_bag"]


@composite
def embedding_bag(
    table: TensorLike,
    indices: TensorLike,
    offsets: TensorLike | None = None,
    *,
    mode: Literal["sum", "mean", "max"] = "mean",
    per_sample_weights: TensorLike | None = None,
    padding_idx: SupportsIndex | None = None,
) -> Tensor:
    """Reduce the table rows of each bag of indices to their sum, mean or maximum.

    Differentiable in `table` and `per_sample_weights`: gradients are added to the rows that were
    taken. A bag without entries gives 0.

    Parameters
    ----------
    table : array_like, real
        Table of shape (entries, features); integers become the default floating dtype.
    indices : array_like, int
        Indices of shape (bags, n), or (n,) with `offsets`; negative values count from the end.
    offsets : array_like, int, optional
        First position of each bag in `indices`, of shape (bags,), ascending from 0. Default: None.
    mode : {"sum", "mean", "max"}, optional
        Reduction, for each feature. Default: "mean".
    per_sample_weights : array_like, optional
        Factors of the rows, of the shape of `indices`; only for "sum". Default: None.
    padding_idx : int, optional
        Index that is ignored. Default: None.

    Returns
    -------
    Tensor
        Shape (bags, features); the floating dtype of `table`.

    Raises
    ------
    ValueError
        If the shapes do not match, `offsets` does not ascend from 0, `mode` is unknown, or
        `per_sample_weights` is given and `mode` is not "sum".
    TypeError
        If `table` is complex, or `indices` or `offsets` is not made of integers.
    IndexError
        If an index is out of range: at the call, or at the evaluation if the indices are traced.

    Examples
    --------
    >>> table = pb.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> pb.nn.embedding_bag(table, [[0, 1], [2, 2]])
    Tensor([[2., 3.],
            [5., 6.]], dtype=float32)
    >>> pb.nn.embedding_bag(table, [0, 1, 2], [0, 1], mode="sum")
    Tensor([[ 1.,  2.],
            [ 8., 10.]], dtype=float32)
    """
    who = "embedding_bag"
    rows = made_floating(table, who)
    which = integer_tensor(indices, who, "indices")
    how = choice(mode, ("sum", "mean", "max"), who, "mode")
    if len(rows.shape) != 2:
        raise ValueError(f"{who}: expected shape (entries, features) for table, got {rows.shape}")
    if len(which.shape) != (2 if offsets is None else 1):
        raise ValueError(
            f"{who}: expected shape {'(bags, n)' if offsets is None else '(n,)'} for indices "
            f"with{'out' if offsets is None else ''} offsets, got {which.shape}"
        )
    taken = _core.take(rows, which, 0)
    counted = None
    if padding_idx is not None:
        empty, entries = integer(padding_idx, who, "padding_idx"), rows.shape[0]
        if not -entries <= empty < entries:
            raise IndexError(f"{who}: padding_idx={empty} is out of range for {entries} entries")
        place = empty % entries
        counted = _core.logical_and(
            _core.not_equal(which, place), _core.not_equal(which, place - entries)
        )
    if per_sample_weights is not None:
        weights = _core.constant(per_sample_weights, who=who)
        if how != "sum":
            raise ValueError(f"{who}: expected mode='sum' with per_sample_weights, got {mode!r}")
        if weights.shape != which.shape:
            raise ValueError(
                f"{who}: expected shape {which.shape} for per_sample_weights, got {weights.shape}"
            )
        taken = _core.multiply(taken, _core.expand_dims(weights, -1))
    if counted is not None:
        fill = -inf if how == "max" else 0
        taken = _core.where(_core.expand_dims(counted, -1), taken, fill)
    else:
        counted = _core.full(which.shape, True, "bool")
    number = _core.cast(counted, taken.dtype)
    if offsets is None:
        return _of_rows(taken, number, how)
    return _of_parts(taken, number, integer_tensor(offsets, who, "offsets"), how)


def _of_rows(taken: Tensor, number: Tensor, how: str) -> Tensor:
    counts = _core.expand_dims(_core.sum(number, 1), -1)
    if how != "max":
        return _averaged(_core.sum(taken, 1), counts, how)
    if taken.shape[1] == 0:
        return _core.sum(taken, 1)
    return _core.where(_core.greater(counts, 0), _core.max(taken, 1), 0)


def _of_parts(taken: Tensor, number: Tensor, offsets: Tensor, how: str) -> Tensor:
    who = "embedding_bag"
    if len(offsets.shape) != 1:
        raise ValueError(f"{who}: expected shape (bags,) for offsets, got {offsets.shape}")
    if not _core.is_traced(offsets) and offsets.size:
        known = offsets.numpy()
        if known[0] != 0 or (known[1:] < known[:-1]).any() or known[-1] > taken.shape[0]:
            raise ValueError(
                f"{who}: expected increasing integers from 0 to {taken.shape[0]} for offsets, got "
                f"{known.tolist()}"
            )
    bags = offsets.shape[0]
    if bags == 0:
        if taken.shape[0]:
            raise ValueError(
                f"{who}: expected at least one of offsets for {taken.shape[0]} indices, got none"
            )
        return _core.reshape(taken, (0, taken.shape[1]))
    positions = arange(taken.shape[0])
    bag = _core.subtract(_core.searchsorted(offsets, positions, True), 1)
    if _core.is_traced(offsets):  # invalid offsets of a traced call give an index outside the bags
        falls = _core.any(_core.less(offsets[1:], offsets[:-1]))
        ends = _core.greater(offsets[-1], taken.shape[0])
        wrong = _core.logical_or(_core.logical_or(falls, ends), _core.not_equal(offsets[0], 0))
        bag = _core.where(wrong, bags, bag)
    counts = _core.expand_dims(_core.scatter_add(number, bag, 0, bags), -1)
    if how != "max":
        return _averaged(_core.scatter_add(taken, bag, 0, bags), counts, how)
    lowest = _core.full((bags, taken.shape[1]), -inf, taken.dtype)
    return _core.where(_core.greater(counts, 0), At(lowest)[bag].max(taken), 0)


def _averaged(total: Tensor, counts: Tensor, how: str) -> Tensor:
    return _core.divide(total, _core.maximum(counts, 1)) if how == "mean" else total
