"""Replacing rows of variables and tensors, or combining them with others; segment sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import _core
from .._graph import mode, shape_functions
from .._graph.create import apply, convert_to_tensor, known_dims, operation, scope_of
from .._graph.opdef import RowError, define, like
from .._graph.operation import Operation
from .._graph.shapes import TensorShape, shape_text
from .._graph.tensor import as_core
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..names import named, public_names
from .indexing_ops import from_start
from .order_ops import places


def _at(x: Any, indices: Any, updates: Any, method: str, nd: bool) -> Any:
    """Combine rows of x, or entries at rows of positions, with updates."""
    shape = indices.shape
    wanted = (*shape[:-1], *x.shape[shape[-1] :]) if nd and shape else (*shape, *x.shape[1:])
    if updates.shape != wanted and (nd or updates.shape != ()):
        raise RowError(f"expected updates of shape {wanted}, got {updates.shape}")
    indices = places(indices, x.shape) if nd else from_start(indices, x.shape[0])
    if method == "subtract":
        updates, method = -updates, "add"
    elif method == "divide":
        updates, method = _core.constant(1, updates.dtype) / updates, "multiply"
    return getattr(x.at[indices], method)(updates)


def _run_scatter(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    variable, method = op.attrs["variable"], op.attrs["method"]
    new = run.assign(
        variable, _at(run.current(variable), inputs[0], inputs[1], method, op.attrs["nd"])
    )
    run.mark(op, [variable])
    return [_core.stop_gradient(new)]


define("Scatter", execute=_run_scatter, flows=False)


def _check_updates(who: str, dims: Any, indices: Any, updates: Any, nd: bool) -> None:
    if not as_dtype(indices.dtype).is_integer:
        raise TypeError(f"{who}: expected integers for indices, got {indices!r:.80}")
    rows, given = known_dims(indices), known_dims(updates)
    if None in (dims, rows, given) or (nd and (not rows or rows[-1] is None)):
        return
    if given == () and not nd:
        return
    wanted = (*rows[:-1], *dims[rows[-1] :]) if nd else (*rows, *dims[1:])
    if not TensorShape(wanted).is_compatible_with(given):
        raise ValueError(
            f"{who}: expected updates of shape {shape_text(wanted)}, got {shape_text(given)}"
        )


def _scattering(name: str, method: str, text: str, nd: bool = False) -> Callable[..., Any]:
    def function(
        ref: Any, indices: Any, updates: Any, use_locking: Any = name == "update",
        name: str | None = None,
    ) -> Any:  # fmt: skip
        dtype = as_dtype(ref.dtype)
        if mode.executing_eagerly():
            rows, given = convert_to_tensor(indices), convert_to_tensor(updates, dtype)
            _check_updates(public, ref.shape, rows, given, nd)
            try:
                new = _at(ref.read(), as_core(rows), as_core(given), method, nd)
            except RowError as error:
                raise InvalidArgumentError(None, f"{public}: {error}") from None
            return ref.assign(new)
        with scope_of(name or public, ref) as scope:
            inputs = [convert_to_tensor(indices), convert_to_tensor(updates, dtype)]
            _check_updates(public, ref.handle.dims, inputs[0], inputs[1], nd)
            attrs = {"variable": ref, "method": method, "nd": nd}
            output = (dtype, ref.handle.dims)
            record = ref.graph.record("Scatter", inputs, attrs, scope, output, kind=kind)
            return record.outputs[0]

    public = f"scatter_nd_{name}" if nd else f"scatter_{name}"
    kind = f"Scatter{'Nd' * nd}{name.capitalize()}"
    where = "the entries at rows of positions" if nd else "rows"
    doc = f"Create an operation that {text} {where} of a variable; its output is the new value."
    return named(function, public, doc)


scatter_update = _scattering("update", "set", "replaces")
scatter_add = _scattering("add", "add", "adds to")
scatter_sub = _scattering("sub", "subtract", "subtracts from")
scatter_mul = _scattering("mul", "multiply", "multiplies")
scatter_div = _scattering("div", "divide", "divides")
scatter_nd_update = _scattering("update", "set", "replaces", nd=True)
scatter_nd_add = _scattering("add", "add", "adds to", nd=True)
scatter_nd_sub = _scattering("sub", "subtract", "subtracts from", nd=True)
scatter_max = _scattering("max", "max", "takes the larger of new ones and")
scatter_min = _scattering("min", "min", "takes the smaller of new ones and")


def _tensor_scattering(name: str, method: str, text: str) -> Callable[..., Any]:
    return operation(
        f"TensorScatter{name.capitalize()}",
        lambda x, indices, updates: _at(x, indices, updates, method, True),
        "tensor indices updates", f"Return a tensor with updates {text} at rows of positions.",
        f"tensor_scatter_{name}", shape=lambda x, *rest: x.dims, fresh=True,
    )  # fmt: skip


tensor_scatter_update = _tensor_scattering("update", "set", "put")
tensor_scatter_add = _tensor_scattering("add", "add", "added")
tensor_scatter_sub = _tensor_scattering("sub", "subtract", "subtracted")
tensor_scatter_nd_update = tensor_scatter_update
tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub


def _segments(name: str, function: Callable[..., Any], text: str) -> Callable[..., Any]:
    def compute(data: Any, segment_ids: Any, num_segments: int) -> Any:
        rest = data.shape[len(segment_ids.shape) :]
        if data.shape[: len(segment_ids.shape)] != segment_ids.shape:
            raise RowError(
                "expected segment_ids whose shape begins the shape of data, got "
                f"{segment_ids.shape} and {data.shape}"
            )
        rows = _core.reshape(segment_ids, (-1,))
        return function(_core.reshape(data, (-1, *rest)), rows, num_segments, rest)

    return operation(
        f"UnsortedSegment{name.capitalize()}", compute, "data segment_ids #num_segments",
        f"{text} of the entries that have the same segment.", f"unsorted_segment_{name}",
        domain="number", fresh=True,
        shape=lambda data, ids, count: None if None in (data.dims, ids.dims) else
        (count, *data.dims[len(ids.dims) :]),
    )  # fmt: skip


def _without_dropped(data: Any, rows: Any, neutral: Any) -> tuple[Any, Any]:
    """Replace the entries of negative segments, which TensorFlow drops, by a neutral element."""
    dropped = _core.less(rows, like(rows, 0))
    along = _core.reshape(dropped, (-1, *(1 for _ in data.shape[1:])))
    return _core.where(along, like(data, neutral), data), _core.where(dropped, like(rows, 0), rows)


def _sums(data: Any, rows: Any, count: int, rest: Any) -> Any:
    data, rows = _without_dropped(data, rows, 0)
    return _core.full((count, *rest), _core.constant(0, data.dtype)).at[rows].add(data)


def _means(data: Any, rows: Any, count: int, rest: Any) -> Any:
    one = _core.constant(1, data.dtype)
    ones = _core.full((rows.shape[0], *(1 for _ in rest)), one)
    sizes = _sums(ones, rows, count, tuple(1 for _ in rest))
    return _sums(data, rows, count, rest) / _core.maximum(sizes, one)


def _extremes(method: str) -> Callable[..., Any]:
    def extremes(data: Any, rows: Any, count: int, rest: Any) -> Any:
        limits = np.iinfo(data.dtype) if data.dtype.kind in "iu" else np.finfo(data.dtype)
        edge = limits.min if method == "max" else limits.max  # where a segment is empty
        data, rows = _without_dropped(data, rows, edge)
        return getattr(_core.full((count, *rest), like(data, edge)).at[rows], method)(data)

    return extremes


unsorted_segment_max = _segments("max", _extremes("max"), "Compute the largest")
unsorted_segment_min = _segments("min", _extremes("min"), "Compute the smallest")
unsorted_segment_sum = _segments("sum", _sums, "Compute the sum")
unsorted_segment_mean = _segments("mean", _means, "Compute the mean")


def _sorted(ids: Any) -> Any:
    """Make ids below 0, or below the previous one, out of range."""
    before = _core.concat([_core.constant(np.zeros(1, ids.dtype)), ids[:-1]], 0)
    bad = _core.less(ids, before)
    if _core.is_computed(ids) and bad.numpy().any():
        raise RowError(
            "expected segment_ids that are sorted and not negative, got "
            f"{ids.numpy().tolist()!s:.80}"
        )
    return _core.where(bad, like(ids, np.iinfo(ids.dtype).max - 1), ids)


define("SortedSegments", _sorted, flows=False, domain="integer", labels=("segment_ids",),
       shape=shape_functions.unchanged, fresh=True, public="segment_sum")  # fmt: skip


def _sorted_segments(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def segments(data: Any, segment_ids: Any, name: str | None = None) -> Any:
        with scope_of(name or public, data, segment_ids) as scope:
            ids = apply("SortedSegments", segment_ids)
            last = apply("StridedSlice", ids, key=(-1,))
            return function(data, ids, apply("AddV2", last, 1), name=scope)

    public = f"segment_{name}"
    doc = f"Compute `unsorted_segment_{name}` of segments that are sorted."
    return named(segments, public, doc)


segment_sum = _sorted_segments("sum", unsorted_segment_sum)
segment_mean = _sorted_segments("mean", unsorted_segment_mean)

__all__ = public_names(globals())
