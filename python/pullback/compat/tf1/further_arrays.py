"""Slices by begin and size, grids, rolls and bands under TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from . import shape_functions
from .array_ops import reshape
from .arrays import as_static
from .create import apply, cast, convert_to_tensor, is_tensor, known_dims, operation, scope_of
from .dtypes import as_dtype, int32, int64
from .math_ops import argmax, argmin, matmul
from .names import public_names
from .opdef import like
from .shapes import TensorShape

_Bounds: Any = type(np.s_[:])  # the builtin that `slice` below hides


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """So many entries from `begin` along each axis; -1 for all that are left."""
    x = convert_to_tensor(input_)
    dims = known_dims(x)
    if dims is None:
        raise ValueError(f"slice: the rank of {x!r} must be known")
    starts, counts = (
        v if is_tensor(v) or any(map(is_tensor, v)) else as_static(v) for v in (begin, size)
    )
    key = []
    for axis in np.arange(len(dims)).tolist():
        first, count = starts[axis], counts[axis]
        rest = not is_tensor(count) and count == -1
        key.append(_Bounds(first, None if rest else first + count))
    with scope_of(name or "Slice", x):
        return x[tuple(key)]


def strided_slice(
    input_: Any, begin: Any, end: Any, strides: Any = None, begin_mask: int = 0, end_mask: int = 0,
    ellipsis_mask: int = 0, new_axis_mask: int = 0, shrink_axis_mask: int = 0, var: Any = None,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`input_[begin:end:strides]` along each axis; the bits of a mask are the axes it is about."""
    first, last = as_static(begin), as_static(end)
    steps = [1] * len(first) if strides is None else as_static(strides)
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


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """Grids of the coordinates of vectors; `indexing` 'xy' (the default) or 'ij'."""
    indexing, name = kwargs.pop("indexing", "xy"), kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"meshgrid: unknown argument {', '.join(sorted(kwargs))}")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', got {indexing!r}")
    with scope_of(name, *args):
        xs = [reshape(convert_to_tensor(x), [-1]) for x in args]
        axes = [*range(len(xs))]
        if indexing == "xy" and len(xs) > 1:
            axes[:2] = [1, 0]
        sizes = [apply("Size", x, out_type="int32") for x in xs]
        target = apply("Pack", *(sizes[a] for a in axes), axis=0)
        grids = []
        for i, x in enumerate(xs):
            dims = [-1 if axes[k] == i else 1 for k in range(len(xs))]
            grids.append(apply("BroadcastTo", reshape(x, dims), target))
        return grids


def _rolled(x: Any, shift: Any, axis: Any) -> Any:
    pairs = zip(np.ravel(shift).tolist(), np.ravel(axis).tolist(), strict=True)
    for count, a in pairs:
        n = x.shape[a]
        if n:
            # Never along the first axis: the gradient is dense, not an IndexedSlices.
            places, axis = np.roll(np.arange(n), count), a + 1 if a >= 0 else a
            x = _core.squeeze(_core.take(_core.expand_dims(x, 0), places, axis), (0,))
    return x


roll = operation(
    "Roll", _rolled, "input #shift #axis", "The entries moved along axes, round the end.",
    shape=lambda x, *_: x.dims, fresh=True,
)  # fmt: skip


def _band(x: Any, num_lower: int, num_upper: int) -> Any:
    rows, columns = np.indices(x.shape[-2:])
    inside = ((num_lower < 0) | (rows - columns <= num_lower)) & (
        (num_upper < 0) | (columns - rows <= num_upper)
    )
    return _core.where(_core.constant(inside), x, like(x, 0))


matrix_band_part = operation(
    "MatrixBandPart", _band, "input #num_lower #num_upper",
    "Matrices with zeros outside a band around the diagonal; -1 for a whole triangle.",
    "matrix_band_part", domain="number", shape=lambda x, *_: x.dims, fresh=True,
)  # fmt: skip


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor, of which a shape is known; ValueError if it has another, also in a run."""
    wish = TensorShape(shape)
    return apply("EnsureShape", x, name=name, shape=tuple(wish.as_list()))


def _ensured(x: Any, shape: Any) -> Any:
    if not TensorShape(x.shape).is_compatible_with(shape):
        raise ValueError(f"expected shape {TensorShape(shape)}, got {tuple(x.shape)}")
    return _core.identity(x)


operation(
    "EnsureShape", _ensured, "x shape=None", "", fresh=True,
    shape=lambda x, shape: TensorShape(x.dims).merge_with(shape)._dims,
)  # fmt: skip


def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape of what two tensors of these shapes give; ValueError if they do not fit."""
    pair = [TensorShape(s) for s in (shape_x, shape_y)]
    return TensorShape(shape_functions._broadcast(*(s._dims for s in pair)))


def shape_n(input: Any, out_type: Any = int32, name: str | None = None) -> list[Any]:
    """The shapes of several tensors."""
    with scope_of(name or "ShapeN", *input):
        return [apply("Shape", x, out_type=out_type) for x in input]


def arg_max(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Any:
    """`argmax`."""
    return argmax(input, dimension, name=name, output_type=output_type)


def arg_min(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Any:
    """`argmin`."""
    return argmin(input, dimension, name=name, output_type=output_type)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = int32,
    name: str | None = None, weights: Any = None,
) -> Any:  # fmt: skip
    """How often, or with which weight, each label (a row) was predicted as each class."""
    if num_classes is None:
        raise NotImplementedError("confusion_matrix: give num_classes")
    with scope_of(name or "confusion_matrix", labels, predictions):
        kind = as_dtype("float64")
        truth, guess = (
            apply("OneHot", reshape(convert_to_tensor(v), [-1]), num_classes,
                  convert_to_tensor(1.0, kind), convert_to_tensor(0.0, kind), axis=-1)
            for v in (labels, predictions)
        )  # fmt: skip
        if weights is not None:
            truth = truth * reshape(cast(convert_to_tensor(weights), kind), [-1, 1])
        counted = matmul(truth, guess, transpose_a=True)
        return cast(apply("Round", counted), dtype) if weights is None else cast(counted, dtype)


__all__ = public_names(globals())
