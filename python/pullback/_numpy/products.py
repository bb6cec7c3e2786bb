"""Products of vectors, matrices and arrays; `einsum` has a module of its own.

Dtypes promote as in all operations; two bool operands raise a TypeError. Each product is made of
views and one matrix product, or of an elementwise product and its sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import index
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import integer, is_integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .contraction import Labels, Pair, common_dtype, plan_pair, run_pair, sum_like_matmul
from .sparse_products import is_sparse
from .sparse_products import product as sparse_product

__all__ = [
    "dot",
    "inner",
    "matmul",
    "matrix_transpose",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
]


def matmul(a: TensorLike, b: TensorLike) -> Tensor:
    """Compute the matrix product, also written ``a @ b``.

    A vector on the left counts as a row, one on the right as a column; its axis is dropped from the
    result. Differentiable in `a` and `b`. One operand may be a sparse array or matrix of SciPy. Its
    entries are constants, and the other operand has rank 1 or 2.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, n, k), or a vector of shape (k,).
    b : array_like
        Matrices of shape (…, k, m), or a vector of shape (k,). The leading axes broadcast with
        those of `a`.

    Returns
    -------
    Tensor
        Shape (…, n, m), without the axis of a vector; the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If the inner sizes differ, if the leading axes do not broadcast, or if an operand has rank
        0.
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    Tensor([21., 43.], dtype=float32)
    """
    try:
        return _core.matmul(a, b)
    except TypeError:
        if not (is_sparse(a) or is_sparse(b)):
            raise
    return sparse_product(a, b)


@composite
def tensordot(
    a: TensorLike,
    b: TensorLike,
    axes: SupportsIndex | Sequence[SupportsIndex | Sequence[SupportsIndex]] = 2,
) -> Tensor:
    """Compute products of elements, summed over pairs of axes.

    Differentiable in `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Operands, not both bool.
    axes : int or pair of (int or sequence of int), default 2
        A number n pairs the last n axes of `a` with the first n of `b`, in order. A pair lists axes
        of `a` and as many axes of `b`; negative values count from the last axis.

    Returns
    -------
    Tensor
        Remaining axes of `a`, then those of `b`; the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If paired axes differ in size, if their numbers differ, or if an axis is out of range or
        given twice.
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.tensordot(pb.ones((2, 3, 4)), pb.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
    (2, 5)
    """
    x, y = of_one_dtype(a, b, "tensordot")
    return _tensordot(x, y, *_axes_of(axes, len(x.shape), len(y.shape)), "tensordot")


@composite
def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """Compute the dot product, with the axes of ``np.dot``.

    Sum products over the last axis of `a` and the second-to-last axis of `b` (the only axis of a
    vector). Unlike in `matmul`, leading axes do not broadcast. A scalar operand multiplies all
    elements. Differentiable in `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Operands, not both bool.

    Returns
    -------
    Tensor
        Remaining axes of `a`, then those of `b`; the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If the sizes of the two axes differ.
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.dot([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    Tensor(32., dtype=float32)
    >>> pb.dot(pb.ones((2, 3)), pb.ones((4, 3, 5))).shape
    (2, 4, 5)
    """
    x, y = common_dtype([a, b], "dot")
    if _is_number(x) or _is_number(y):
        return _core.multiply(x, y)
    return _tensordot(x, y, (-1,), (-1 if len(y.shape) == 1 else -2,), "dot")


@composite
def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """Compute products summed over the last axis of both operands.

    A scalar operand multiplies all elements. Differentiable in `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Operands, not both bool.

    Returns
    -------
    Tensor
        Remaining axes of `a`, then those of `b`; the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If the sizes of the last axes differ.
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.inner([[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0])
    Tensor([12., 34.], dtype=float32)
    """
    x, y = common_dtype([a, b], "inner")
    if _is_number(x) or _is_number(y):
        return _core.multiply(x, y)
    return _tensordot(x, y, (-1,), (-1,), "inner")


@composite
def outer(a: TensorLike, b: TensorLike) -> Tensor:
    """Compute the product of each element of `a` with each of `b`.

    Both operands are flattened. Differentiable in `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Operands, not both bool.

    Returns
    -------
    Tensor
        Shape (size of `a`, size of `b`); the dtype to which `a` and `b` promote.

    Raises
    ------
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.outer([1.0, 2.0], [1.0, 10.0, 100.0])
    Tensor([[  1.,  10., 100.],
            [  2.,  20., 200.]], dtype=float32)
    """
    x, y = of_one_dtype(a, b, "outer")
    return _core.multiply(_core.reshape(x, (x.size, 1)), _core.reshape(y, (y.size,)))


@composite
def vdot(a: TensorLike, b: TensorLike) -> Tensor:
    """Compute the inner product of all elements, with `a` conjugated.

    Both operands are read in row-major order. Differentiable in `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Operands, not both bool.
        Their sizes are equal; their shapes can differ.

    Returns
    -------
    Tensor
        Scalar; the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.vdot([[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0, 1.0, 1.0])
    Tensor(10., dtype=float32)
    """
    x, y = of_one_dtype(a, b, "vdot")
    if x.size != y.size:
        raise ValueError(
            f"vdot: expected one number of elements for a and b, got shapes {x.shape} and {y.shape}"
        )
    left = _core.reshape(_core.conj(x), (x.size,))
    product = _core.multiply(left, _core.reshape(y, (y.size,)))
    return sum_like_matmul(product, (0,))


@composite
def vecdot(a: TensorLike, b: TensorLike, *, axis: SupportsIndex = -1) -> Tensor:
    """Compute inner products of vectors along an axis, with `a` conjugated.

    Differentiable in `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Operands, not both bool.
        Of rank 1 or higher and of one size along `axis`; the other axes broadcast.
    axis : int, default -1
        Axis of the vectors, counted from the last: a negative value.

    Returns
    -------
    Tensor
        Broadcast shape without `axis`; the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If `axis` is not negative or out of range, if the sizes along it differ, or if the other
        axes do not broadcast.
    TypeError
        If both operands are bool.

    Examples
    --------
    >>> pb.vecdot([[1.0, 2.0], [3.0, 4.0]], [10.0, 1.0])
    Tensor([12., 34.], dtype=float32)
    """
    axis = integer(axis, "vecdot", "axis")
    x, y = of_one_dtype(a, b, "vecdot")
    last = min(len(x.shape), len(y.shape))
    if not -last <= axis <= -1:
        raise ValueError(
            f"vecdot: expected an axis from -{last} to -1 for shapes {x.shape} and {y.shape}, "
            f"got {axis}"
        )
    if x.shape[axis] != y.shape[axis]:
        raise ValueError(
            f"vecdot: expected one size of axis {axis} for a and b, got shapes {x.shape} and "
            f"{y.shape}"
        )
    left, right = (axes_last(z, [axis + len(z.shape)]) for z in (x, y))
    return sum_like_matmul(_core.multiply(_core.conj(left), right), (-1,))


@composite
def matrix_transpose(x: TensorLike, /) -> Tensor:
    """Exchange the last two axes.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n), of any dtype.

    Returns
    -------
    Tensor
        Shape (…, n, m); the dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2.

    Examples
    --------
    >>> pb.matrix_transpose(pb.ones((5, 2, 3))).shape
    (5, 3, 2)
    """
    tensor = _core.constant(x, who="matrix_transpose")
    rank = len(tensor.shape)
    if rank < 2:
        raise ValueError(f"matrix_transpose: expected at least two axes, got shape {tensor.shape}")
    return _core.transpose(tensor, (*range(rank - 2), rank - 1, rank - 2))


# --- helpers


def of_one_dtype(a: TensorLike, b: TensorLike, who: str) -> list[Any]:
    """Return both operands as tensors of the dtype of their product."""
    both = common_dtype([a, b], who)
    if all(isinstance(x, Tensor) for x in both):
        return both
    dtype = _core.multiply(*both).dtype
    return [_core.constant(x, dtype, who) for x in both]


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) or x.shape == ()


def checked_axis(axis: int, rank: int, who: str, shape: tuple[int, ...]) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{who}: axis {axis} is out of range for shape {shape}")
    return axis % rank


def axes_last(x: Any, axes: list[int]) -> Any:
    others = [k for k in range(len(x.shape)) if k not in axes]
    return _core.transpose(x, (*others, *axes))


def _axes_of(axes: Any, rank_a: int, rank_b: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if is_integer(axes):
        axes = integer(axes, "tensordot", "axes")
        if not 0 <= axes <= min(rank_a, rank_b):
            raise ValueError(
                f"tensordot: expected an integer from 0 to {min(rank_a, rank_b)} for axes, "
                f"got {axes}"
            )
        return tuple(range(rank_a - axes, rank_a)), tuple(range(axes))
    try:
        of_a, of_b = (tuple(map(index, [x] if is_integer(x) else x)) for x in axes)
    except (TypeError, ValueError):
        raise ValueError(
            "tensordot: expected an integer or a pair (axes of a, axes of b) for axes, "
            f"got {_core.shown(axes)}"
        ) from None
    if len(of_a) != len(of_b):
        raise ValueError(
            f"tensordot: expected one number of axes for a and b, got {len(of_a)} of a and "
            f"{len(of_b)} of b"
        )
    return of_a, of_b


def _tensordot(
    a: Any, b: Any, axes_a: tuple[int, ...], axes_b: tuple[int, ...], who: str
) -> Tensor:
    plan, order = _tensordot_plan(axes_a, axes_b, a.shape, b.shape, who)
    out = run_pair(plan, a, b)
    return out if order is None else _core.transpose(out, order)


@lru_cache(maxsize=1024)
def _tensordot_plan(
    axes_a: tuple[int, ...],
    axes_b: tuple[int, ...],
    shape_a: tuple[int, ...],
    shape_b: tuple[int, ...],
    who: str,
) -> tuple[Pair, tuple[int, ...] | None]:
    axes_a = tuple(checked_axis(axis, len(shape_a), who, shape_a) for axis in axes_a)
    axes_b = tuple(checked_axis(axis, len(shape_b), who, shape_b) for axis in axes_b)
    for axes, shape in ((axes_a, shape_a), (axes_b, shape_b)):
        if len(set(axes)) < len(axes):
            raise ValueError(
                f"{who}: expected distinct axes for shape {shape}, got {_core.shown(axes)}"
            )
    for i, j in zip(axes_a, axes_b, strict=True):
        if shape_a[i] != shape_b[j]:
            raise ValueError(
                f"{who}: expected one size for axis {i} of a and axis {j} of b, got {shape_a[i]} "
                f"in shape {shape_a} and {shape_b[j]} in {shape_b}"
            )
    a: Labels = tuple(range(len(shape_a)))
    pair_of = dict(zip(axes_b, axes_a, strict=True))
    b: Labels = tuple(pair_of.get(k, len(shape_a) + k) for k in range(len(shape_b)))
    size = {**dict(zip(b, shape_b, strict=True)), **dict(zip(a, shape_a, strict=True))}
    wish = (*(x for x in a if x not in axes_a), *(x for x in b if x not in axes_a))
    plan, result = plan_pair(a, b, wish, wish, size)
    order = tuple(result.index(x) for x in wish)
    return plan, None if order == tuple(range(len(order))) else order
