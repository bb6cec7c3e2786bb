"""Joining, splitting, slicing and choosing under TensorFlow's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .... import _core
from .._graph import shape_functions
from .._graph.conversion import as_array, as_static
from .._graph.create import (
    apply,
    convert_to_tensor,
    dtype_of,
    is_tensor,
    known_dims,
    scope_of,
    together,
)
from .._graph.opdef import RowError, define
from .._graph.tensor import Operators
from ..dtypes import as_dtype, float32
from ..dtypes import bool as tf_bool
from ..names import public_names
from .array_ops import identity

# --- joining and splitting


def _parts(values: Any, who: str) -> list[Any]:
    parts = list(values) if isinstance(values, (list, tuple)) else [values]
    if not parts:
        raise ValueError(f"{who}: expected at least one tensor, got an empty list")
    return parts


define("Pack", lambda *xs, axis: _core.stack(list(xs), axis), same=True,
       shape=shape_functions.packed, labels=(), public="stack",
       value=lambda *xs, axis: np.stack(xs, axis))  # fmt: skip


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Join tensors of one shape along a new axis."""
    if is_tensor(values):
        values = unstack(values)
    return apply("Pack", *_parts(values, "stack"), name=name, axis=axis)


def _unpack(x: Any, axis: int, num: int) -> list[Any]:
    at = axis % max(len(x.shape), 1)
    if at >= len(x.shape) or x.shape[at] != num:
        raise RowError(f"expected an axis of size {num} for axis {axis}, got shape {x.shape}")
    return [x[(slice(None),) * at + (i,)] for i in np.arange(num).tolist()]


define("Unpack", _unpack, shape=shape_functions.taken_apart, public="unstack")


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """Return the slices along an axis."""
    x = convert_to_tensor(value)
    if num is None:
        dims = known_dims(x)
        num = None if dims is None or not -len(dims) <= axis < len(dims) else dims[axis]
        if num is None:
            raise ValueError(f"unstack: expected a known size of axis {axis}, got {x!r}; give num")
    out = apply("Unpack", x, name=name, axis=axis, num=num)
    return out if isinstance(out, list) else [out]


define("ConcatV2", lambda *xs: _core.concat(list(xs[:-1]), xs[-1]), static=(-1,), same=True,
       shape=shape_functions.joined, labels=(),
       value=lambda *xs: np.concatenate([np.atleast_1d(x) for x in xs[:-1]], xs[-1]))  # fmt: skip


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join tensors along an axis; the other axes must agree."""
    parts = _parts(values, "concat")
    if len(parts) == 1:
        if not is_tensor(axis) and np.ndim(as_static(axis)):
            raise ValueError(f"concat: axis must be an integer, got {axis!r:.60}")
        return identity(parts[0], name)
    return apply("ConcatV2", *parts, axis, name=name)


def _split(axis: int, value: Any, num_split: int) -> Any:
    dims = value.shape
    length = dims[axis] if -len(dims) <= axis < len(dims) else 0
    if not length or length % num_split:
        raise RowError(
            f"expected an axis that splits into {num_split} equal parts, got axis {axis} of shape "
            f"{dims}"
        )
    return _core.split(value, [length // num_split] * num_split, axis)


def _split_by_sizes(value: Any, sizes: list[int], axis: int, num: int) -> Any:
    if sizes.count(-1) == 1:
        rest = value.shape[axis] - (sum(sizes) + 1)
        sizes = [rest if n == -1 else n for n in sizes]
    return _core.split(value, sizes, axis)


define("Split", _split, static=(0,), labels=("split_dim", "value"), shape=shape_functions.split)
define("SplitV", _split_by_sizes, static=(1, 2), labels=("value", "size_splits", "split_dim"),
       shape=shape_functions.split_by_sizes, public="split")  # fmt: skip


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Any]:
    """Split the tensor along an axis into equal parts, or into parts of the given sizes."""
    sizes = num_or_size_splits
    if isinstance(sizes, (int, np.integer)):
        if sizes < 1:
            raise ValueError(
                "split: expected 1 or more, or a list of sizes, for num_or_size_splits, got "
                f"{sizes}"
            )
        out = apply("Split", axis, value, name=name, num_split=int(sizes))
    else:
        if num is None:
            num = len(sizes) if not is_tensor(sizes) else (sizes.shape.as_list() or [None])[0]
        if num is None:
            raise ValueError(
                f"split: expected a known number of sizes, got {sizes!r:.80}; give num"
            )
        out = apply("SplitV", value, sizes, axis, name=name, num=num)
    return out if isinstance(out, list) else [out]


# --- indexing


def from_start(indices: Any, size: int) -> Any:
    """Make negative positions out of range: TensorFlow does not count from the end."""
    if not _core.is_computed(indices):
        return _core.where(_core.less(indices, 0), indices - size, indices)
    bad = indices.numpy()
    if (bad < 0).any():
        raise RowError(f"index {bad[bad < 0][0]} is out of range for an axis of size {size}")
    return indices


def _gathered(x: Any, indices: Any, axis: int) -> Any:
    return _core.take(x, from_start(indices, x.shape[axis]), axis)


define("GatherV2", _gathered, static=(2,),
       labels=("params", "indices", "axis"), shape=shape_functions.gathered,
       value=lambda x, indices, axis: None if np.isnan(indices).any() else
       np.take(x, indices.astype(int), axis))  # fmt: skip


def gather(params: Any, indices: Any, validate_indices: Any = None, name: str | None = None,
           axis: Any = None, batch_dims: int = 0) -> Any:  # fmt: skip
    """Return the slices of `params` at positions along an axis.

    The gradient is an `IndexedSlices` for the first axis.
    """
    if batch_dims:
        raise NotImplementedError(f"gather: expected 0 for batch_dims, got {batch_dims!r}")
    if axis is None:
        axis = validate_indices if isinstance(validate_indices, int) else 0
    return apply("GatherV2", params, indices, axis, name=name)


@dataclass
class _Bound:
    """A tensor as a bound of a slice or as an index: the number of the input."""

    at: int


def _by_entry(function: Any, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Apply a function to each index and each bound of a slice in the key."""
    return tuple(
        slice(*map(function, (e.start, e.stop, e.step))) if isinstance(e, slice) else function(e)
        for e in key
    )


def _strided_slice(x: Any, *bounds: Any, key: Any) -> Any:
    return x[_by_entry(lambda e: bounds[e.at] if isinstance(e, _Bound) else e, key)]


define("StridedSlice", _strided_slice, static=tuple(np.arange(1, 64).tolist()),
       shape=shape_functions.sliced, value=_strided_slice, labels=("input",))  # fmt: skip


def _slice(x: Any, key: Any) -> Any:
    """Return x[key] with integers, slices, None and Ellipsis; integers may be tensors."""
    if is_tensor(key) and not _is_position(key):
        if as_dtype(key.dtype).is_bool:
            raise NotImplementedError(
                f"strided_slice: expected integers as an index, got the mask {key!r:.80}; use "
                "tf.boolean_mask"
            )
        return apply("GatherV2", x, key, 0, name="strided_slice")
    bounds: list[Any] = []

    def entry(value: Any) -> Any:
        if is_tensor(value):
            bounds.append(value)
            return _Bound(len(bounds) - 1)
        if value is None or value is Ellipsis:
            return value
        if isinstance(value, (bool, float, list, np.ndarray)) or not hasattr(value, "__index__"):
            raise TypeError(
                "strided_slice: expected integers, slices, ... or None as indices of a tensor, got "
                f"{value!r:.60}"
            )
        return value.__index__()

    key, taken = _without_positions(key if isinstance(key, tuple) else (key,))
    entries = _by_entry(entry, key)
    if not taken or any(e != slice(None) for e in key):
        x = apply("StridedSlice", x, *bounds, name="strided_slice", key=entries)
    for axis, position in taken:
        x = apply("Entry", x, position, axis, name="strided_slice")
    return x


# A negative position counts from the end, unlike in GatherV2.
define("Entry", lambda x, index, axis: _core.take(x, index, axis), static=(2,),
       labels=("input", "index", "axis"), shape=shape_functions.gathered, public="strided_slice",
       value=lambda x, index, axis: None if np.isnan(index).any() else
       np.take(x, index.astype(int), axis))  # fmt: skip


def _is_position(value: Any) -> bool:
    """Test whether a value is an integer tensor unknown before the run."""
    if not is_tensor(value) or not as_dtype(value.dtype).is_integer:
        return False
    return getattr(value, "dims", None) == () and value.known is None


def _without_positions(key: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[tuple[int, Any]]]:
    """Replace unknown integers in a key by full slices; return the key and the gathers.

    The integers come with their axes, in an order in which no gather moves another axis. A position
    is not part of a shape, so it may differ in each run and in each iteration of a loop.
    """
    places = [k for k, value in enumerate(key) if _is_position(value)]
    plain = tuple(slice(None) if k in places else value for k, value in enumerate(key))
    middle = next((k for k, value in enumerate(key) if value is Ellipsis), len(key))

    def axes(values: tuple[Any, ...]) -> int:
        return sum(value is None or isinstance(value, slice) for value in values)

    before = [(axes(plain[:k]), key[k]) for k in places if k < middle]
    after = [(-axes(plain[k:]), key[k]) for k in places if k > middle]
    return plain, [*reversed(before), *after]


newaxis = None
setattr(Operators, "__getitem__", _slice)  # noqa: B010


def _select(condition: Any, x: Any, y: Any) -> Any:
    if len(condition.shape) == 1 and len(x.shape) > 1:  # a vector chooses rows
        if condition.shape[0] != x.shape[0]:
            raise RowError(
                f"expected a condition of shape ({x.shape[0]},) for {x.shape[0]} rows, got "
                f"{condition.shape}"
            )
        rows = _core.reshape(condition, (-1, *(1 for _ in x.shape[1:])))
        condition = _core.broadcast_to(rows, x.shape)
    return _core.where(condition, x, y)


def _select_shape(condition: Any, x: Any, y: Any) -> Any:
    dims = shape_functions.broadcast(x, y)
    rows = condition.dims is None or (len(condition.dims) == 1 and (dims is None or len(dims) > 1))
    return dims if rows else shape_functions.broadcast(condition, x, y)


define("Select", _select, domain="bool", labels=("condition", "t", "e"), shape=_select_shape,
       dtype=1, fresh=True, public="where")  # fmt: skip


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Select from x where the condition holds, else from y; see `where` of order_ops.py."""
    if x is None or y is None:
        raise ValueError("where: expected both x and y or neither, got one of them")
    with scope_of(name or "Select", condition, x, y) as scope:
        test = convert_to_tensor(condition, tf_bool, "condition")
        x, y = together(x, y, "t e")
        if as_dtype(x.dtype) != as_dtype(y.dtype):
            raise TypeError(f"where: expected branches of one dtype, got {x!r} and {y!r}")
        return apply("Select", test, x, y, name=scope)


def _one_hot(indices: Any, depth: int, on: Any, off: Any, axis: int) -> Any:
    return _core.where(_core.one_hot(indices, depth, np.dtype("bool"), axis), on, off)


define("OneHot", _one_hot, domain="integer", static=(1,), shape=shape_functions.hot,
       labels=("indices", "depth", "on_value", "off_value"), dtype=2, fresh=True)  # fmt: skip


def one_hot(indices: Any, depth: Any, on_value: Any = None, off_value: Any = None,
            axis: int | None = None, dtype: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Return `on_value` (1) at each index of a new axis of size `depth`, else `off_value` (0)."""
    wish = dtype_of(on_value, off_value) if dtype is None else as_dtype(dtype)
    given = on_value if on_value is not None else off_value
    if wish is None:
        wish = float32 if given is None else as_dtype(as_array(given, None)[1])
    with scope_of(name or "one_hot", indices) as scope:
        on, off = (
            convert_to_tensor(wish.dtype.type(default) if given is None else given, wish)
            for given, default in ((on_value, 1), (off_value, 0))
        )
        at = -1 if axis is None else axis
        return apply("OneHot", indices, depth, on, off, name=scope, axis=at)


__all__ = [*(n for n in public_names(globals()) if n != "where"), "newaxis"]
