"""Norms, traces, diagonals, contractions and cumulated sums under TensorFlow's names."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

import pullback as pb

from ... import _core
from ..._array.norms import euclidean_norm
from . import shape_functions
from .array_ops import zeros_like
from .complex_ops import abs as absolute
from .create import apply, cast, convert_to_tensor, known_dims, operation, scope_of
from .dtypes import as_dtype, int64
from .math_ops import _all_axes, not_equal, reduce_max, reduce_sum
from .math_ops import pow as power
from .names import public_names
from .opdef import define, like

define("EuclideanNorm", euclidean_norm, static=(1,), domain="float", fresh=True,
       shape=shape_functions.reduced, labels=("input", "reduction_indices"))  # fmt: skip


def norm(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool | None = None,
    name: str | None = None, keep_dims: bool | None = None,
) -> Any:  # fmt: skip
    """The norm of a vector, over one axis or all, or of matrices, over a pair of axes.

    `ord` is 'euclidean' (of a matrix: 'fro'), or 1, 2, a positive number or infinity. The gradient
    at a zero vector is 0.
    """
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with scope_of(name or "norm", tensor) as scope:
        x = convert_to_tensor(tensor)
        matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
        if isinstance(axis, (list, tuple)) and len(axis) not in (1, 2):
            raise ValueError(f"norm: axis is None, an integer or two of them, got {axis}")
        given = {"axis": [axis] if isinstance(axis, int) else axis, "input_tensor": x}
        _all_axes(given)
        axes = given["axis"]
        if ord in ("euclidean", "fro") or (ord == 2 and not matrix):
            if ord == "fro" and not matrix and axis is not None:
                raise ValueError("norm: 'fro' is a norm of matrices: axis is a pair")
            return apply("EuclideanNorm", x, axes, keepdims=keep, name=scope)
        if not isinstance(ord, (int, float)) or ord <= 0:
            raise ValueError(f"norm: ord is 'euclidean', 'fro' or a positive number, got {ord!r}")
        if matrix:
            if ord not in (1, inf):
                raise ValueError(f"norm: ord {ord} of matrices is not part of pullback")
            rank = len(known_dims(x))
            rows, columns = (a % rank for a in axis)
            inner, outer = (rows, columns) if ord == 1 else (columns, rows)
            sums = reduce_sum(absolute(x), inner, keepdims=True)
            out = reduce_max(sums, outer, keepdims=True)
            return out if keep else apply("Squeeze", out, axis=[rows, columns], name=scope)
        if ord == inf:
            return reduce_max(absolute(x), axes, keep, name=scope)
        if ord == 1:
            return reduce_sum(absolute(x), axes, keep, name=scope)
        return power(reduce_sum(power(absolute(x), ord), axes, keep), 1 / ord, name=scope)


trace = operation(
    "Trace", lambda x: _core.sum(pb.diagonal(x, 0, -2, -1), -1, False), "x",
    "The sum of the diagonal of the last two axes.", domain="number", fresh=True,
    shape=lambda x: x.dims and x.dims[:-2],
)  # fmt: skip


def _put_on_diagonal(x: Any) -> Any:
    n = x.shape[-1]
    return _core.where(_core.eye(n, n, 0, np.dtype("bool")), _core.expand_dims(x, -2), like(x, 0))


matrix_diag = operation(
    "MatrixDiag", _put_on_diagonal, "diagonal", "Matrices with these vectors as diagonals.",
    "matrix_diag", domain="number", fresh=True,
    shape=lambda x: None if not x.dims else (*x.dims, x.dims[-1]),
)  # fmt: skip
matrix_diag_part = operation(
    "MatrixDiagPart", lambda x: pb.diagonal(x, 0, -2, -1), "input", "The diagonals of matrices.",
    "matrix_diag_part", domain="number", fresh=True,
)  # fmt: skip


def _only_vector(x: Any) -> Any:
    if len(x.shape) != 1:
        raise NotImplementedError(f"diag: expected a vector, got shape {x.shape}")
    return _put_on_diagonal(x)


diag = operation(
    "Diag", _only_vector, "diagonal", "The matrix with this vector as diagonal.", domain="number",
    fresh=True, shape=lambda x: None if not x.dims else (*x.dims, x.dims[-1]),
)  # fmt: skip
diag_part = operation(
    "DiagPart", lambda x: pb.diagonal(x, 0, 0, 1), "input", "The diagonal of a matrix.",
    "diag_part", domain="number", fresh=True,
)  # fmt: skip


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """The last two axes exchanged."""
    with scope_of(name, a) as scope:
        x = convert_to_tensor(a)
        dims = known_dims(x)
        if dims is None or len(dims) < 2:
            raise ValueError(f"matrix_transpose: expected a tensor of rank 2 or more, got {x!r}")
        order = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
        return apply("Transpose", x, order, conjugate=conjugate, name=scope)


# --- contractions

define("Einsum", lambda *xs, equation: pb.einsum(equation, *xs), domain="number", same=True,
       fresh=True)  # fmt: skip


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Products summed as `np.einsum` says."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"einsum: unknown argument {', '.join(sorted(kwargs))}")
    return apply("Einsum", *inputs, equation=equation, name=name or "einsum")


def _axes(axes: Any) -> Any:
    value = np.asarray(axes).tolist()
    return value if isinstance(value, int) else [[a] if isinstance(a, int) else a for a in value]


define("Tensordot", lambda a, b, axes: pb.tensordot(a, b, axes), domain="number", same=True,
       fresh=True, labels=("a", "b"))  # fmt: skip


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Products summed over axes: the last `axes` of a and first of b, or a pair of lists."""
    return apply("Tensordot", a, b, axes=_axes(axes), name=name or "Tensordot")


def cross(a: Any, b: Any, name: str | None = None) -> Any:
    """The vector product over the last axis, which has length 3."""
    with scope_of(name or "Cross", a, b):
        x, y = convert_to_tensor(a), convert_to_tensor(b)
        before, after = [1, 2, 0], [2, 0, 1]

        def turned(t: Any, order: list[int]) -> Any:
            return apply("GatherV2", t, order, -1)

        return turned(x, before) * turned(y, after) - turned(x, after) * turned(y, before)


# --- cumulated


def _cumulated(type: str, cumulate: Any, start: int, doc: str) -> Any:
    def function(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
        if not -len(x.shape) <= axis < len(x.shape):
            raise ValueError(f"axis {axis} of a tensor of rank {len(x.shape)}")
        at = axis % len(x.shape)
        n = x.shape[at]

        if exclusive and n:  # without the last entry of the way, and `start` before the first
            edge = _core.full((*x.shape[:at], 1, *x.shape[at + 1 :]), like(x, start))
            whole = (*(slice(None),) * at, slice(1, None) if reverse else slice(0, n - 1))
            x = _core.concat([x[whole], edge] if reverse else [edge, x[whole]], at)
        return cumulate(x, at, reverse)

    public = type.lower()
    return operation(
        type, function, "x #axis=0 exclusive=False reverse=False", doc, public, domain="number",
        shape=shape_functions.unchanged, fresh=True,
    )  # fmt: skip


cumsum = _cumulated(
    "Cumsum", _core.cumulative_sum, 0, "Sums of all entries up to each along an axis; `exclusive` "
    "without itself, `reverse` from the end.",
)  # fmt: skip
cumprod = _cumulated(
    "Cumprod", _core.cumulative_prod, 1, "Products of all entries up to each along an axis; "
    "`exclusive` without itself, `reverse` from the end.",
)  # fmt: skip


def count_nonzero(
    input_tensor: Any = None, axis: Any = None, keepdims: bool | None = None, dtype: Any = int64,
    name: str | None = None, reduction_indices: Any = None, keep_dims: bool | None = None,
    input: Any = None,
) -> Any:  # fmt: skip
    """How many elements are not 0, over all axes or some."""
    x = convert_to_tensor(input_tensor if input is None else input)
    with scope_of(name or "count_nonzero", x) as scope:
        counted = x if as_dtype(x.dtype).is_bool else not_equal(x, zeros_like(x))
        axis = reduction_indices if axis is None else axis
        keep = keepdims if keep_dims is None else keep_dims
        return reduce_sum(cast(counted, dtype), axis, keep, name=scope)


__all__ = public_names(globals())
