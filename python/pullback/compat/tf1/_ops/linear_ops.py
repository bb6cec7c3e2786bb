"""Norms, traces, diagonals, contractions and cumulative sums under TensorFlow's names."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.create import apply, cast, convert_to_tensor, known_dims, operation, row, scope_of
from .._graph.opdef import RowError, define, like
from ..dtypes import as_dtype, int64
from ..names import public_names
from .array_ops import range as numbers
from .array_ops import rank, zeros_like
from .indexing_ops import concat
from .math_ops import not_equal, reduce_sum


def _checked_norm(given: dict[str, Any]) -> None:
    axis, ord = given["axis"], given["ord"]
    given["ord"] = ord = ord.item() if isinstance(ord, np.generic) else ord
    given["keepdims"] = bool(given["keepdims"])
    given["axis"] = axis = None if axis is None else [axis] if isinstance(axis, int) else [*axis]
    if axis is not None and len(axis) not in (1, 2):
        raise ValueError(f"norm: expected None, an integer or two integers for axis, got {axis}")
    if ord == "fro" and axis is not None and len(axis) == 1:
        raise ValueError(f"norm: expected a pair of axes for ord 'fro', got {axis}")
    if ord not in ("euclidean", "fro") and not (isinstance(ord, (int, float)) and ord > 0):
        raise ValueError(
            f"norm: ord must be one of 'euclidean', 'fro' or a positive number; got {ord!r}"
        )
    if axis is not None and len(axis) == 2 and ord not in ("euclidean", "fro", 1, 2, inf):
        raise ValueError(
            "norm: ord must be one of 'euclidean', 'fro', 1, 2, inf for a pair of axes; got "
            f"{ord!r}"
        )


@row(
    "Norm", "tensor ord='euclidean' axis=None keepdims=None name=None",
    aliases={"keep_dims": "keepdims"}, prepare=_checked_norm, default_name="norm", domain="inexact",
    shape=lambda x, ord, axis, keepdims: shape_functions.reduced(
        x, shape_functions.ALL if axis is None else axis, keepdims
    ),
)  # fmt: skip
def norm(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    """Compute the norm of vectors over one axis or all, or of matrices over a pair of axes.

    `ord` is 'euclidean' (for matrices 'fro'), or 1, 2, a positive number or infinity. The gradient
    at a zero vector is 0.
    """
    if isinstance(axis, list) and len(axis) == 2 and ord not in ("euclidean", "fro"):
        return pb.linalg.norm(x, ord, tuple(axis), keepdims)
    if ord in ("euclidean", "fro", 2):
        axes = list(range(len(x.shape))) if axis is None else axis
        lengths = _core.abs(x) if x.dtype.kind == "c" else x
        return _core.cast(_core.euclidean_norm(lengths, axes, keepdims), x.dtype)
    return pb.linalg.vector_norm(x, axis=None if axis is None else tuple(axis), ord=ord,
                                 keepdims=keepdims)  # fmt: skip


@row("Trace", "x", domain="number", shape=lambda x: x.dims and x.dims[:-2])
def trace(x: Any) -> Any:
    """Sum the diagonal of the last two axes."""
    return _core.sum(pb.diagonal(x, 0, -2, -1), -1, False)


def _put_on_diagonal(x: Any) -> Any:
    n = x.shape[-1]
    return _core.where(_core.eye(n, n, 0, np.dtype("bool")), _core.expand_dims(x, -2), like(x, 0))


matrix_diag = operation(
    "MatrixDiag", _put_on_diagonal, "diagonal", "Return matrices with these vectors as diagonals.",
    "matrix_diag", domain="number", fresh=True,
    shape=lambda x: None if not x.dims else (*x.dims, x.dims[-1]),
)  # fmt: skip


@row("MatrixDiagPart", "input", domain="number")
def matrix_diag_part(x: Any) -> Any:
    """Return the diagonals of matrices."""
    return pb.diagonal(x, 0, -2, -1)


@row(
    "Diag", "diagonal", domain="number",
    shape=lambda x: None if not x.dims else (*x.dims, x.dims[-1]),
)  # fmt: skip
def diag(x: Any) -> Any:
    """Return the matrix with this vector as diagonal."""
    if len(x.shape) != 1:
        raise NotImplementedError(f"diag: expected a vector, got shape {x.shape}")
    return _put_on_diagonal(x)


@row("DiagPart", "input", domain="number")
def diag_part(x: Any) -> Any:
    """Return the diagonal of a square matrix."""
    if len(x.shape) != 2 or x.shape[0] != x.shape[1]:
        raise RowError(f"expected a square matrix, got shape {x.shape}")
    return pb.diagonal(x, 0, 0, 1)


def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Any:
    """Exchange the last two axes."""
    with scope_of(name, a) as scope:
        x = convert_to_tensor(a)
        dims = known_dims(x)
        if dims is not None and len(dims) < 2:
            raise ValueError(f"matrix_transpose: expected a tensor of rank 2 or more, got {x!r}")
        if dims is None:
            n = rank(x)
            order = concat([numbers(n - 2), [n - 1, n - 2]], 0)
        else:
            order = [*range(len(dims) - 2), len(dims) - 1, len(dims) - 2]
        return apply("Transpose", x, order, conjugate=conjugate, name=scope)


# --- contractions

define("Einsum", lambda *xs, equation: pb.einsum(equation, *xs), domain="number", same=True,
       fresh=True)  # fmt: skip


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sum products of the operands as `np.einsum`."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"einsum: expected only name as a keyword, got {', '.join(sorted(kwargs))}")
    return apply("Einsum", *inputs, equation=equation, name=name or "einsum")


def _axes(axes: Any) -> Any:
    value = np.asarray(axes).tolist()
    return value if isinstance(value, int) else [[a] if isinstance(a, int) else a for a in value]


define("Tensordot", lambda a, b, axes: pb.tensordot(a, b, axes), domain="number", same=True,
       fresh=True, labels=("a", "b"))  # fmt: skip


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Contract the last `axes` axes of a with the first of b, or the axes of a pair of lists."""
    return apply("Tensordot", a, b, axes=_axes(axes), name=name or "Tensordot")


cross = operation(
    "Cross", pb.linalg.cross, "a b", "Compute the vector product over the last axis, of size 3.",
    domain="number", same=True, fresh=True, shape=shape_functions.unchanged,
)  # fmt: skip


# --- cumulative sums


def _cumulated(type: str, cumulate: Any, start: int, doc: str) -> Any:
    def function(x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
        if not -len(x.shape) <= axis < len(x.shape):
            raise RowError(f"axis {axis} is out of range for a tensor of rank {len(x.shape)}")
        at = axis % len(x.shape)
        n, kind = x.shape[at], x.dtype

        if exclusive and n:  # without the last entry, and `start` before the first
            edge = _core.full((*x.shape[:at], 1, *x.shape[at + 1 :]), like(x, start))
            whole = (*(slice(None),) * at, slice(1, None) if reverse else slice(0, n - 1))
            x = _core.concat([x[whole], edge] if reverse else [edge, x[whole]], at)
        return _core.cast(cumulate(x, at, reverse), kind)

    public = type.lower()
    return operation(
        type, function, "x #axis=0 exclusive=False reverse=False", doc, public, domain="number",
        shape=shape_functions.unchanged, fresh=True,
    )  # fmt: skip


cumsum = _cumulated(
    "Cumsum", _core.cumulative_sum, 0, "Compute cumulative sums along an axis; `exclusive` "
    "without the entry itself, `reverse` from the end.",
)  # fmt: skip
cumprod = _cumulated(
    "Cumprod", _core.cumulative_prod, 1, "Compute cumulative products along an axis; "
    "`exclusive` without the entry itself, `reverse` from the end.",
)  # fmt: skip


def count_nonzero(
    input_tensor: Any = None, axis: Any = None, keepdims: bool | None = None, dtype: Any = int64,
    name: str | None = None, reduction_indices: Any = None, keep_dims: bool | None = None,
    input: Any = None,
) -> Any:  # fmt: skip
    """Count the elements that are not 0, over all or some axes."""
    x = convert_to_tensor(input_tensor if input is None else input)
    with scope_of(name or "count_nonzero", x) as scope:
        counted = x if as_dtype(x.dtype).is_bool else not_equal(x, zeros_like(x))
        axis = reduction_indices if axis is None else axis
        keep = keepdims if keep_dims is None else keep_dims
        return reduce_sum(cast(counted, dtype), axis, keep, name=scope)


__all__ = public_names(globals())
