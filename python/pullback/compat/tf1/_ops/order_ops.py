"""Sorting, searching, gathering and scattering under TensorFlow's names.

The number of positions is unknown before a run for `where` of a condition and `unique`. NumPy
computes these and the sorts, so a run that needs them computes eagerly.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.conversion import on_values
from .._graph.create import apply, cast, check_rank, convert_to_tensor, known_dims, row, scope_of
from .._graph.opdef import RowError, define, like
from ..dtypes import as_dtype, int32
from ..dtypes import bool as tf_bool
from ..names import public_names
from . import indexing_ops as choice_ops
from .array_ops import expand_dims, reshape, squeeze
from .array_ops import range as range_of
from .indexing_ops import concat, from_start, gather
from .math_ops import less, reduce_max

# --- computed by NumPy

define("Where", on_values(lambda c: np.argwhere(c).astype(np.int64)), flows=False, host=True,
       dtype=as_dtype("int64"), fresh=True, labels=("condition",),
       shape=lambda c: (None, None if c.dims is None else len(c.dims)))  # fmt: skip


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Select from x where the condition holds, else from y; alone, return the true positions.

    The gradient of the branch not taken is exactly 0. A condition that is a vector selects rows of
    x and y. Positions are rows of int64, one for each element that is not 0 or False.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([0.0, 1.0])
    ...     y = tf.where(x > 0, x * tf.log(x), tf.zeros_like(x))
    ...     session.run([tf.gradients(y, x)[0], tf.where(x > 0)])
    [array([0., 1.], dtype=float32), array([[1]])]
    """
    if x is None and y is None:
        return apply("Where", condition, name=name)
    return choice_ops.where(condition, x, y, name)


where_v2 = where


def _unique(x: Any, out_idx: Any) -> list[Any]:
    _, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # in order of appearance, not sorted
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    kind = out_idx.dtype
    return [x[np.sort(first)], place[inverse].astype(kind), counts[order].astype(kind)]


define("UniqueWithCounts", on_values(_unique), flows=False, host=True, fresh=True, public="unique")


def _found(x: Any, out_idx: Any, name: str | None) -> list[Any]:
    x, kind = convert_to_tensor(x), as_dtype(out_idx)
    check_rank(x, 1, "unique")
    if hasattr(x, "graph"):
        with scope_of(name or "Unique", x) as scope:
            outputs = ((x.dtype, (None,)), (kind, x.dims), (kind, (None,)))
            op = x.graph.record("UniqueWithCounts", [x], {"out_idx": kind}, scope, *outputs)
            return list(op.outputs)
    made: list[Any] = apply("UniqueWithCounts", x, out_idx=kind)
    return made


_Unique = namedtuple("_Unique", "y idx")
_Counted = namedtuple("_Counted", "y idx count")
_TopK = namedtuple("_TopK", "values indices")


def unique(x: Any, out_idx: Any = int32, name: str | None = None) -> _Unique:
    """Return the distinct values of a vector in order of appearance, and each entry's index."""
    return _Unique(*_found(x, out_idx, name)[:2])


def unique_with_counts(x: Any, out_idx: Any = int32, name: str | None = None) -> _Counted:
    """Return the results of `unique`, and the count of each value."""
    return _Counted(*_found(x, out_idx, name))


def _argsort(values: Any, axis: int, descending: bool) -> Any:
    return _core.cast(_core.argsort(values, axis, descending), np.dtype("int32"))


define("ArgSort", _argsort, flows=False, domain="number", dtype=int32,
       shape=shape_functions.unchanged, fresh=True, public="argsort")  # fmt: skip


def _along_axis(x: Any, i: Any, axis: int) -> Any:
    if len(x.shape) > 1:
        return pb.take_along_axis(x, i, axis=axis)
    # Along a second axis: the gradient of a sort is dense, not an IndexedSlices.
    row = pb.take_along_axis(_core.expand_dims(x, 0), _core.expand_dims(i, 0), axis=1)
    return _core.squeeze(row, (0,))


define("TakeAlongAxis", _along_axis, fresh=True, shape=lambda x, i, axis: i.dims, public="sort")


def _descending(direction: str, who: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"{who}: direction must be one of 'ASCENDING', 'DESCENDING'; got {direction!r}"
        )
    return direction == "DESCENDING"


def argsort(values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False,
            name: str | None = None) -> Any:  # fmt: skip
    """Return the positions that sort along an axis; equal entries keep their order."""
    down = _descending(direction, "argsort")
    return apply("ArgSort", values, axis=axis, descending=down, name=name or "argsort")


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Sort along an axis; the gradient is permuted back."""
    with scope_of(name or "sort", values) as scope:
        x = convert_to_tensor(values)
        down = _descending(direction, "sort")
        order = apply("ArgSort", x, axis=axis, descending=down, name="argsort")
        return apply("TakeAlongAxis", x, order, axis=axis, name=scope)


def _top(x: Any, k: int) -> Any:
    if not x.shape or not 0 <= k <= x.shape[-1]:
        raise RowError(f"expected 0 <= k <= the size of the last axis of {x.shape}, got {k}")
    return _argsort(x, -1, True)[..., :k]


define("TopKV2", _top, static=(1,), labels=("input", "k"), flows=False, domain="number",
       dtype=int32, shape=lambda x, k: x.dims and (*x.dims[:-1], k), public="top_k")  # fmt: skip


def top_k(input: Any, k: int = 1, sorted: bool = True, name: str | None = None) -> _TopK:
    """Return the k largest entries along the last axis in decreasing order, and their positions."""
    with scope_of(name or "TopKV2", input):
        x = convert_to_tensor(input)
        last = (known_dims(x) or (None,))[-1]
        if isinstance(k, int) and not 0 <= k <= (k if last is None else last):
            raise ValueError(
                f"top_k: expected 0 <= k <= the size of the last axis, got k = {k} and {x!r}"
            )
        order = apply("TopKV2", x, k, name="indices")
        return _TopK(apply("TakeAlongAxis", x, order, axis=-1), order)


def _in_top(predictions: Any, targets: Any, k: int) -> Any:
    if len(predictions.shape) != 2 or predictions.shape[:1] != targets.shape:
        raise RowError(
            f"expected predictions of shape (batch, classes) and targets of shape (batch,), got "
            f"{predictions.shape} and {targets.shape}"
        )
    rows = _core.expand_dims(_core.cast(targets, np.dtype("int64")), -1)
    inside = _core.clip(rows, 0, predictions.shape[-1] - 1)
    own = pb.take_along_axis(predictions, inside, axis=-1)
    above = _core.sum(_core.cast(predictions > own, np.dtype("int32")), -1, False)
    valid = _core.logical_and(rows == inside, _core.isfinite(own))
    return _core.logical_and(above < k, _core.squeeze(valid, (-1,)))


define("InTopK", _in_top, flows=False, dtype=tf_bool, fresh=True, labels=("predictions", "targets"),
       shape=shape_functions.without_last)  # fmt: skip


def in_top_k(predictions: Any, targets: Any, k: int, name: str | None = None) -> Any:
    """Test for each row whether fewer than k predictions are larger than the target's.

    The result is False if the target is not a class or its prediction is not finite.
    """
    return apply("InTopK", predictions, targets, k=k, name=name)


# --- gathering and scattering


def places(indices: Any, dims: Any) -> tuple[Any, ...]:
    """Convert rows of positions to an index of axes; negative positions are out of range."""
    depth = indices.shape[-1] if indices.shape else 0
    if depth > len(dims) or not indices.shape:
        raise RowError(
            f"expected rows of at most {len(dims)} positions for shape {tuple(dims)}, got indices "
            f"of shape {indices.shape}"
        )
    return tuple(from_start(indices[..., k], dims[k]) for k in np.arange(depth).tolist())


def _gather_nd(params: Any, indices: Any) -> Any:
    at = places(indices, params.shape)
    return params[at] if at else _core.broadcast_to(params, indices.shape[:-1] + params.shape)


def _gathered_shape(params: Any, indices: Any) -> Any:
    if params.dims is None or not indices.dims or indices.dims[-1] is None:
        return None
    return (*indices.dims[:-1], *params.dims[indices.dims[-1] :])


define("GatherNd", _gather_nd, labels=("params", "indices"), fresh=True, shape=_gathered_shape)


def gather_nd(params: Any, indices: Any, name: str | None = None, batch_dims: int = 0) -> Any:
    """Return the elements or slices of params at rows of positions."""
    if batch_dims:
        raise NotImplementedError(f"gather_nd: expected 0 for batch_dims, got {batch_dims!r}")
    return apply("GatherNd", params, indices, name=name)


def _scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    empty = _core.full(tuple(shape), _core.constant(0, updates.dtype))
    return empty.at[places(indices, shape)].add(updates)


define("ScatterNd", _scatter_nd, static=(2,), labels=("indices", "updates", "shape"), fresh=True,
       dtype=1, domain="integer", shape=lambda i, u, s: shape_functions.of_value(s))  # fmt: skip


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Add the updates to zeros of a shape at rows of positions."""
    return apply("ScatterNd", indices, updates, shape, name=name)


def boolean_mask(
    tensor: Any, mask: Any, name: str = "boolean_mask", axis: int | None = None
) -> Any:
    """Select the entries at which the mask holds, along its axes, as one axis."""
    with scope_of(name, tensor, mask):
        x, m = convert_to_tensor(tensor), convert_to_tensor(mask, tf_bool)
        dims, shape = known_dims(x), known_dims(m)
        if shape is None or dims is None or not shape:
            raise ValueError(
                f"boolean_mask: expected known ranks, from 1 on for the mask, got {x!r} and {m!r}"
            )
        at = (axis or 0) % len(dims)
        own = dims[at : at + len(shape)]
        if any(None not in pair and pair[0] != pair[1] for pair in zip(own, shape, strict=True)):
            raise ValueError(f"boolean_mask: expected a mask of shape {own}, got {shape}")
        if len(shape) > 1:
            lengths = apply("Shape", x, out_type=int32)
            x = reshape(x, concat([lengths[:at], [-1], lengths[at + len(shape) :]], 0))
            m = reshape(m, [-1])
        # Along a second axis: the gradient is dense, not an IndexedSlices.
        chosen = gather(expand_dims(x, 0), reshape(where(m), [-1]), axis=at + 1)
        return squeeze(chosen, [0])


def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Any]:
    """Split data by the number in `partitions` for each entry."""
    if num_partitions < 1:
        raise ValueError(
            f"dynamic_partition: expected 1 or more for num_partitions, got {num_partitions}"
        )
    with scope_of(name or "DynamicPartition", data, partitions):
        which = gather(range_of(num_partitions), partitions)  # raises for a number out of range
        numbers = np.arange(num_partitions).tolist()
        return [boolean_mask(data, apply("Equal", which, i)) for i in numbers]


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = tf_bool,
                  name: str | None = None) -> Any:  # fmt: skip
    """Return for each length a row that starts with this number of True, or 1."""
    with scope_of(name or "SequenceMask", lengths):
        n = convert_to_tensor(lengths)
        longest = reduce_max(n) if maxlen is None else maxlen
        places = cast(range_of(longest), as_dtype(n.dtype))
        return cast(less(places, apply("ExpandDims", n, -1)), dtype)


@row("ReverseV2", "tensor #axis", shape=lambda x, axis: x.dims)
def reverse(x: Any, axis: Any) -> Any:
    """Reverse the order of the entries along axes."""
    if np.ndim(axis) != 1:
        raise ValueError(f"reverse: expected a list of axes for axis, got {axis}")
    return pb.flip(x, axis)


reverse_v2 = reverse


@row(
    "ReverseSequence", "input seq_lengths seq_axis=None batch_axis=None",
    aliases={"seq_dim": "seq_axis", "batch_dim": "batch_axis"}, shape=shape_functions.unchanged,
)  # fmt: skip
def reverse_sequence(x: Any, seq_lengths: Any, seq_axis: Any, batch_axis: Any) -> Any:
    """Reverse the first `seq_lengths[i]` entries along `seq_axis` of each entry i of the batch."""
    rank, batch = len(x.shape), batch_axis or 0
    if seq_axis is None or not (0 <= seq_axis < rank and 0 <= batch < rank) or seq_axis == batch:
        raise RowError(
            f"expected two different axes below {rank} for seq_axis and batch_axis, got "
            f"{seq_axis} and {batch_axis}"
        )
    if seq_lengths.shape != (x.shape[batch],):
        raise RowError(f"expected {x.shape[batch]} seq_lengths, got shape {seq_lengths.shape}")
    too_long = like(seq_lengths, x.shape[seq_axis] + 1)  # which `take_along_axis` rejects
    seq_lengths = _core.where(seq_lengths < like(seq_lengths, 0), too_long, seq_lengths)
    lengths = _core.reshape(seq_lengths, [-1 if i == batch else 1 for i in np.arange(rank)])
    count = [-1 if i == seq_axis else 1 for i in np.arange(rank)]
    along = _core.constant(np.arange(x.shape[seq_axis]).reshape(count), seq_lengths.dtype)
    places = _core.where(along < lengths, lengths - 1 - along, along)
    return pb.take_along_axis(x, places, axis=seq_axis)


@row("InvertPermutation", "x", domain="integer", flows=False, shape=shape_functions.unchanged)
def invert_permutation(x: Any) -> Any:
    """Return the inverse permutation; InvalidArgumentError if x is not one of 0 to n - 1."""
    if len(x.shape) != 1:
        raise RowError(f"expected a vector, got shape {x.shape}")
    count = x.shape[0]
    along = _core.constant(np.arange(count), x.dtype)
    wrong = _core.sort(x, 0) != along
    if _core.is_computed(wrong) and wrong.numpy().any():
        raise RowError(f"expected a permutation of 0 to {count - 1}, got {x.numpy().tolist()}")
    # In a trace an entry that is wrong becomes an index out of range.
    at = _core.where(wrong, along + count, _core.argsort(x, 0, False))
    return _core.cast(_core.take(along, at, 0), x.dtype)


__all__ = [name for name in public_names(globals()) if name != "places"]
