"""Norms of vectors and matrices, and what they say of a matrix.

Sums of powers are formed in a wider dtype or of numbers that are scaled by the largest, so a norm
overflows only if it is itself too large. Where a norm has a kink, at 0, its gradient is 0.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import axes_of, check_matrices, flag, made_floating

Order = int | float | Literal["fro", "nuc"] | None
Axis = SupportsIndex | tuple[SupportsIndex, ...] | None


def vector_norm(
    x: TensorLike, /, *, axis: Axis = None, keepdims: bool = False, ord: int | float = 2
) -> Tensor:
    """The norm of all entries along `axis`: (sum |x|^ord)^(1/ord).

    ord: 2, 1, inf (the largest size), -inf (the smallest), 0 (how many are not zero), or any other
        number.

    >>> pb.linalg.vector_norm([3.0, 4.0]), pb.linalg.vector_norm([3.0, -4.0], ord=pb.inf)
    (Tensor(5., dtype=float32), Tensor(4., dtype=float32))
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "vector_norm", "keepdims")
    x = made_floating(x, "vector_norm", "fc")
    rank = len(x.shape)
    axes = list(range(rank)) if axis is None else axes_of(axis, rank, "vector_norm")
    return _vector_norm(x, axes, keepdims, _number(ord, "vector_norm"))


def _number(ord: Any, who: str) -> float:
    if isinstance(ord, (int, float)) and ord == ord:
        return float(ord)
    raise ValueError(f"{who}: ord: expected a number, got {_core.shown(ord)}")


def _vector_norm(x: Tensor, axes: list[int], keepdims: bool, p: float) -> Tensor:
    size = _core.abs(x)
    if p == inf:
        return _core.max(size, axes, keepdims)
    if p == -inf:
        return _core.min(size, axes, keepdims)
    if p == 0:
        return _core.sum(_core.cast(_core.not_equal(size, 0.0), size.dtype), axes, keepdims)
    if p == 1:
        return _core.sum(size, axes, keepdims)
    if not axes or 0 in x.shape:
        if p < 0 and 0 in [x.shape[k] for k in axes]:
            raise ValueError("vector_norm: no entries have no norm of a negative ord")
        return _core.sum(size, axes, keepdims)
    if p == 2:
        return euclidean_norm(size, axes, keepdims)
    scale = _scale_of(size, axes)
    scaled = _core.divide(size, scale)
    live = _core.not_equal(scaled, 0.0)
    powers = _core.pow(_core.where(live, scaled, 1.0), p)
    gone = 0.0 if p > 0 else inf
    total = _core.sum(_core.where(live, powers, gone), axes, True)
    some = _core.not_equal(total, 0.0)
    out = _core.where(some, _core.pow(_core.where(some, total, 1.0), 1 / p), 0.0)
    out = _core.multiply(out, scale)
    return out if keepdims else _core.squeeze(out, axes)


# Dtypes in which no square of one of these overflows or is lost.
_WIDER = {"float16": "float32", "bfloat16": "float64", "float32": "float64"}


def euclidean_norm(x: Tensor, axes: Any = None, keepdims: bool = False) -> Tensor:
    """Return the Euclidean norm of a real tensor along some axes, all by default.

    It is finite if it can be represented, and its gradient at 0 is 0.
    """
    wide = _WIDER.get(str(x.dtype))
    if wide is not None:
        total = _core.sum(_core.square(_core.cast(x, wide)), axes, keepdims)
        return _core.cast(_root(total), x.dtype)
    if x.size == 0:
        return _core.sum(x, axes, keepdims)
    scale = _scale_of(_core.abs(x), axes)
    total = _core.sum(_core.square(_core.divide(x, scale)), axes, True)
    out = _core.multiply(_root(total), scale)
    if keepdims:
        return out
    return _core.reshape(out, ()) if axes is None else _core.squeeze(out, axes)


def norm_of_all(xs: list[Tensor]) -> Tensor:
    """Return the Euclidean norm of all entries of real tensors of one dtype, as that of one."""
    wide = _WIDER.get(str(xs[0].dtype))
    xs = [x for x in xs if x.size] or xs[:1]
    if len(xs) == 1:
        return euclidean_norm(xs[0])
    if wide is not None:
        squares = [_core.sum(_core.square(_core.cast(x, wide))) for x in xs]
        return _core.cast(_root(sum(squares[1:], squares[0])), xs[0].dtype)
    scale = _scale_of(_core.stack([_core.max(_core.abs(x)) for x in xs], 0), None)
    scale = _core.reshape(scale, ())
    squares = [_core.sum(_core.square(_core.divide(x, scale))) for x in xs]
    return _core.multiply(_root(sum(squares[1:], squares[0])), scale)


def _scale_of(size: Tensor, axes: Any) -> Tensor:
    """The power of two next to the largest entry, by which a division is exact."""
    top = _core.stop_gradient(_core.max(size, axes, True))
    usable = _core.logical_and(_core.greater(top, 0.0), _core.less(top, inf))
    return _core.exp2(_core.floor(_core.log2(_core.where(usable, top, 1.0))))


def _root(total: Tensor) -> Tensor:
    """Its slope at 0, which is infinite, becomes 0."""
    live = _core.not_equal(total, 0.0)
    return _core.where(live, _core.sqrt(_core.where(live, total, 1.0)), 0.0)


def matrix_norm(x: TensorLike, /, *, keepdims: bool = False, ord: Order = "fro") -> Tensor:
    """The norm of matrices, the last two axes.

    ord: "fro" (the root of the sum of squares), "nuc" (the sum of the singular values), 2 and -2
        (the largest and the smallest of them), 1 and -1 (the largest and the smallest sum of sizes
        of a column), inf and -inf (of a row).

    >>> pb.linalg.matrix_norm([[1.0, 2.0], [2.0, 4.0]]), pb.linalg.matrix_norm([[1.0, 2.0]], ord=1)
    (Tensor(5., dtype=float32), Tensor(2., dtype=float32))
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "matrix_norm", "keepdims")
    x = made_floating(x, "matrix_norm", "fc")
    check_matrices(x, "matrix_norm")
    rank = len(x.shape)
    return _matrix_norm(x, [rank - 2, rank - 1], keepdims, ord, "matrix_norm")


def _matrix_norm(x: Tensor, axes: list[int], keepdims: bool, ord: Order, who: str) -> Tensor:
    if ord == "fro":
        return _vector_norm(x, axes, keepdims, 2.0)
    row, column = axes
    if ord in (1, -1, inf, -inf):
        summed, chosen = (row, column) if abs(ord) == 1 else (column, row)
        sums = _core.sum(_core.abs(x), [summed], True)
        pick = _core.max if ord > 0 else _core.min
        out = pick(sums, [chosen], True)
        return out if keepdims else _core.squeeze(out, axes)
    if ord in ("nuc", 2, -2):
        others = [k for k in range(len(x.shape)) if k not in axes]
        values = _core.svd(_core.transpose(x, [*others, row, column]), False)[1]
        last = [len(others)]
        made = {"nuc": _core.sum, 2: _core.max, -2: _core.min}[ord](values, last, False)
        if not keepdims:
            return made
        return _core.reshape(made, [1 if k in axes else n for k, n in enumerate(x.shape)])
    raise ValueError(
        f"{who}: ord: expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf for matrices, got "
        f"{_core.shown(ord)}"
    )


def norm(x: TensorLike, /, ord: Order = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors or matrices, as `np.linalg.norm`.

    axis: one for vectors, two for matrices. Without axis and ord it is the root of the sum of all
        squares; with ord alone, that of a tensor of rank 1 or 2.
    ord: as of `vector_norm` and `matrix_norm`.

    >>> pb.linalg.norm([[3.0, 4.0], [6.0, 8.0]], axis=1)
    Tensor([ 5., 10.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "norm", "keepdims")
    x = made_floating(x, "norm", "fc")
    rank = len(x.shape)
    if axis is None:
        if ord is not None and rank not in (1, 2):
            raise ValueError(f"norm: ord={ord!r} needs an axis for a tensor of shape {x.shape}")
        axes = list(range(rank))
    else:
        axes = axes_of(axis, rank, "norm")
    if ord is None:
        return _vector_norm(x, axes, keepdims, 2.0)
    if len(axes) == 1:
        return _vector_norm(x, axes, keepdims, _number(ord, "norm"))
    if len(axes) == 2:
        return _matrix_norm(x, axes, keepdims, ord, "norm")
    raise ValueError(f"norm: axis: expected one or two axes, got {_core.shown(axis)}")


def cond(x: TensorLike, /, p: Order = None) -> Tensor:
    """The condition number of matrices, |x| |x⁻¹|: (…, m, n) gives (…).

    p: which norm, as of `matrix_norm`; by default 2, the largest singular value by the smallest,
        for matrices of any shape.

    >>> pb.round(pb.linalg.cond([[2.0, 0.0], [0.0, 8.0]]), 3)
    Tensor(4., dtype=float32)
    """
    x = made_floating(x, "cond", "fc")
    check_matrices(x, "cond")
    if p in (None, 2, -2):
        values = _core.svd(x, False)[1]
        last = [len(values.shape) - 1]
        high, low = _core.max(values, last, False), _core.min(values, last, False)
        above, below = (low, high) if p == -2 else (high, low)
        zero = _core.equal(below, 0.0)  # of a matrix of zeros both are
        return _core.where(zero, inf, _core.divide(above, _core.where(zero, 1.0, below)))
    axes = [len(x.shape) - 2, len(x.shape) - 1]
    return _core.multiply(
        _matrix_norm(x, axes, False, p, "cond"), _matrix_norm(_core.inv(x), axes, False, p, "cond")
    )


def matrix_rank(x: TensorLike, /, *, rtol: TensorLike | None = None) -> Tensor:
    """How many singular values of matrices are larger than rtol times the largest: int64, (…, m, n)
    gives (…).

    rtol: by default max(m, n) times the rounding of the dtype.

    >>> pb.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]])
    Tensor(1, dtype=int64)
    """
    from .dtypes import finfo

    x = made_floating(x, "matrix_rank", "fc")
    check_matrices(x, "matrix_rank")
    values = _core.svd(x, False)[1]
    if values.shape[-1] == 0:
        return _core.full(values.shape[:-1], 0, "int64")
    if rtol is None:
        factor = _core.constant(max(x.shape[-2:]) * float(finfo(values.dtype).eps), values.dtype)
    else:
        factor = _core.expand_dims(_core.constant(rtol, values.dtype, who="matrix_rank"), -1)
    last = [len(values.shape) - 1]
    bound = _core.multiply(_core.max(values, last, True), factor)
    return _core.sum(_core.cast(_core.greater(values, bound), "int64"), last, False)


def cross(x1: TensorLike, x2: TensorLike, /, *, axis: SupportsIndex = -1) -> Tensor:
    """The cross product of vectors of three entries along an axis; the other axes broadcast.

    >>> pb.linalg.cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    Tensor([0., 0., 1.], dtype=float32)
    """
    a, b = _core.operands([x1, x2], "cross")
    parts = []
    for x in (a, b):
        [k] = axes_of([axis], len(x.shape), "cross")
        if x.shape[k] != 3:
            raise ValueError(f"cross: expected 3 entries along the axis, got shape {x.shape}")
        parts.append([_core.squeeze(part, k) for part in _core.split(x, [1, 1, 1], k)])
    (a0, a1, a2), (b0, b1, b2) = parts
    made = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    [k] = axes_of([axis], len(made[0].shape) + 1, "cross")
    return _core.stack(made, k)
