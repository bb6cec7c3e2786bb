"""Slices by begin and size, grids, rolls and bands under TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import mode, shape_functions
from .._graph.conversion import as_static
from .._graph.create import (
    apply,
    cast,
    convert_to_tensor,
    is_tensor,
    known_dims,
    operation,
    row,
    scope_of,
)
from .._graph.opdef import RowError, define
from .._graph.shapes import Dims, TensorShape
from ..dtypes import as_dtype, int32
from ..names import public_names, taking
from .array_ops import range as range_of
from .array_ops import reshape
from .indexing_ops import from_start, gather
from .math_ops import argmax, argmin, matmul

_Bounds: Any = type(np.s_[:])  # the builtin that `slice` below hides


def _check_bounds(n: int | None, axis: int, begin: int | None, size: int | None) -> None:
    """Raise RowError for bounds outside of an axis; None is unknown."""
    first, count = begin or 0, 0 if size is None else max(size, 0)
    if first < 0 or (size or 0) < -1 or (n is not None and first + count > n):
        raise RowError(
            f"expected 0 <= begin <= begin + size <= {'the size' if n is None else n} for axis "
            f"{axis}, got begin {begin} and size {size}"
        )


def _sliced(x: Any, begin: list[int], size: list[int]) -> Any:
    if not len(x.shape) == len(begin) == len(size):
        raise RowError(
            f"expected {len(x.shape)} entries for begin and size, got {begin} and {size}"
        )
    for axis, (n, first, count) in enumerate(zip(x.shape, begin, size, strict=True)):
        _check_bounds(n, axis, first, count)
    return x[
        tuple(_Bounds(b, None if n == -1 else b + n) for b, n in zip(begin, size, strict=True))
    ]


def _sliced_shape(x: Any, begin: Any, size: Any) -> Dims:
    if begin is None and size is None:
        return shape_functions.unknown(x.dims)
    rank = len(begin if size is None else size)
    dims, begin, size = ([None] * rank if v is None else v for v in (x.dims, begin, size))
    if not len(dims) == len(begin) == len(size):
        raise RowError(f"expected {len(dims)} entries for begin and size, got {begin} and {size}")
    out: list[int | None] = []
    for axis, (n, first, count) in enumerate(zip(dims, begin, size, strict=True)):
        _check_bounds(n, axis, first, count)
        rest = None if None in (n, first) else n - first
        out.append(rest if count == -1 else count)
    return tuple(out)


define(
    "Slice", _sliced, static=(1, 2), labels=("input", "begin", "size"), shape=_sliced_shape,
    value=_sliced,
)  # fmt: skip


def _from_position(x: Any, first: Any, axis: int, count: int) -> Any:
    along = np.arange(count, dtype=first.dtype)
    at = from_start(first + _core.constant(along), x.shape[axis])
    # After a new axis: a take along the first axis has a sparse gradient.
    return _core.take(_core.expand_dims(x, 0), at, axis + 1)[0]


# A position is not part of a shape, so it may differ in each run.
define(
    "SliceFrom", _from_position, labels=("input", "begin"), fresh=True, public="slice",
    shape=lambda x, first, axis, count: x.dims and (*x.dims[:axis], count, *x.dims[axis + 1 :]),
)  # fmt: skip


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return `size` entries from `begin` along each axis; -1 stands for all up to the end.

    Bounds outside of an axis raise InvalidArgumentError, in the run if they are unknown before.
    """
    x = convert_to_tensor(input_)
    starts, counts = _entries(begin, "begin"), _entries(size, "size")
    lengths = {_length(starts), _length(counts), x.shape.ndims} - {None}
    fit = len(lengths) < 2  # otherwise the row "Slice" raises
    with scope_of(name or "Slice", x) as scope:
        for axis, count in enumerate(counts if fit and not is_tensor(counts) else []):
            if is_tensor(count) or count < 0 or _is_known(starts, axis):
                continue
            x = apply("SliceFrom", x, starts[axis], axis=axis, count=count)
            starts = [*(starts[k] for k in np.arange(len(counts)).tolist())]
            starts[axis] = 0
        return apply("Slice", x, starts, counts, name=scope)


def _entries(bounds: Any, argument: str) -> Any:
    """Return a tensor, or a list of integers and tensors."""
    if is_tensor(bounds):
        return convert_to_tensor(bounds)
    if not np.iterable(bounds) or any(np.iterable(b) for b in bounds if not is_tensor(b)):
        raise ValueError(f"slice: expected a list of integers for {argument}, got {bounds!r:.80}")
    if not any(map(is_tensor, bounds)):
        return as_static(bounds, "slice", argument)
    entries = [convert_to_tensor(b) if is_tensor(b) else b for b in bounds]
    return as_static(entries) if mode.executing_eagerly() else entries


def _length(entries: Any) -> int | None:
    """Return the number of entries; None if it is unknown before the run."""
    if isinstance(entries, list):
        return len(entries)
    dims: Dims = known_dims(entries)
    return dims[0] if dims else None


def _is_known(starts: Any, axis: int) -> bool:
    """Test whether a position is a number that is known before the run."""
    if mode.executing_eagerly():
        return True
    if is_tensor(starts):
        return starts.known is not None and not np.isnan(starts.known[axis])
    start: Any = starts[axis] if axis < len(starts) else 0
    return not is_tensor(start) or (start.known is not None and not np.isnan(start.known))


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return `input_[begin:end:strides]` along each axis; the bits of a mask are axes."""
    first, last = (as_static(v, "strided_slice") for v in (begin, end))
    steps = [1] * len(first) if strides is None else as_static(strides, "strided_slice", "strides")
    key: list[Any] = []
    for i, (a, b, step) in enumerate(zip(first, last, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(a)
        else:
            bounds = (None if begin_mask & bit else a, None if end_mask & bit else b, step)
            key.append(_Bounds(*bounds))
    with scope_of(name or "StridedSlice", input_):
        return convert_to_tensor(input_)[tuple(key)]


define("Meshgrid", lambda *xs, indexing: list(pb.meshgrid(*xs, indexing=indexing)), fresh=True,
       shape=lambda *xs, indexing: [(None,) * len(xs)] * len(xs), labels=())  # fmt: skip


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """Return grids of the coordinates of vectors; `indexing` 'xy' (the default) or 'ij'."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(
            "meshgrid: expected only indexing and name as keywords, got "
            f"{', '.join(sorted(kwargs))}"
        )
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be one of 'xy', 'ij'; got {indexing!r}")
    with scope_of(name, *args):
        xs = [reshape(convert_to_tensor(x), [-1]) for x in args]
        made = apply("Meshgrid", *xs, indexing=indexing)
        return made if isinstance(made, list) else [made]


@row("Roll", "input #shift #axis", shape=shape_functions.unchanged)
def roll(x: Any, shift: Any, axis: Any) -> Any:
    """Move the entries cyclically along axes."""
    return pb.roll(x, shift, axis)


@row(
    "MatrixBandPart", "input #num_lower #num_upper", domain="number",
    shape=shape_functions.unchanged, fresh=False,
)  # fmt: skip
def matrix_band_part(x: Any, num_lower: int, num_upper: int) -> Any:
    """Set entries outside a band around the diagonal to zero; -1 keeps a whole triangle."""
    for count, n in ((num_lower, x.shape[-2]), (num_upper, x.shape[-1])):
        if count > n:
            raise ValueError(
                f"matrix_band_part: expected a band of at most {n} diagonals, got {count}"
            )
    x = x if num_lower < 0 else pb.triu(x, k=-num_lower)
    return x if num_upper < 0 else pb.tril(x, k=num_upper)


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return the tensor with a static shape; ValueError if it differs, also in a run."""
    wish = TensorShape(shape)
    return apply("EnsureShape", x, name=name, shape=tuple(wish.as_list()))


def _ensured(x: Any, shape: Any) -> Any:
    if not TensorShape(x.shape).is_compatible_with(shape):
        raise ValueError(f"ensure_shape: expected shape {TensorShape(shape)}, got {tuple(x.shape)}")
    return _core.identity(x)


operation(
    "EnsureShape", _ensured, "x shape=None", "", "ensure_shape", fresh=True,
    shape=lambda x, shape: TensorShape(x.dims).merge_with(shape)._dims,
)  # fmt: skip


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """Broadcast two static shapes; ValueError if they are incompatible."""
    pair = [TensorShape(s) for s in (shape_x, shape_y)]
    return TensorShape(shape_functions.broadcast_dims(*(s._dims for s in pair)))


def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Any]:
    """Return the shapes of several tensors."""
    with scope_of(name or "ShapeN", *input):
        return [apply("Shape", x, out_type=out_type) for x in input]


def _older(public: str, function: Any) -> Any:
    def position(input: Any, dimension: Any, **given: Any) -> Any:
        return function(input, dimension, **given)

    arguments = "input dimension output_type='int64' name=None"
    return taking(arguments, public, f"Alias of `{function.__name__}`.")(position)


arg_max, arg_min = _older("arg_max", argmax), _older("arg_min", argmin)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = int32,
    name: str | None = None, weights: Any = None,
) -> Any:  # fmt: skip
    """Count, or sum the weights of, each pair of label (row) and predicted class (column)."""
    if num_classes is None:
        raise NotImplementedError("confusion_matrix: expected an integer for num_classes, got None")
    with scope_of(name or "confusion_matrix", labels, predictions):
        kind = as_dtype("float64")
        rows = apply("OneHot", range_of(num_classes), num_classes, convert_to_tensor(1.0, kind),
                     convert_to_tensor(0.0, kind), axis=-1)  # fmt: skip
        truth, guess = (gather(rows, reshape(v, [-1])) for v in (labels, predictions))
        if weights is not None:
            truth = truth * reshape(cast(convert_to_tensor(weights), kind), [-1, 1])
        counted = matmul(truth, guess, transpose_a=True)
        return cast(apply("Round", counted), dtype) if weights is None else cast(counted, dtype)


__all__ = public_names(globals())
