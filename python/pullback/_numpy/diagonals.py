"""Diagonals and the Kronecker product."""

from __future__ import annotations

from math import prod
from typing import SupportsIndex

import numpy

from .. import _core
from .._base.checks import flag, given_once, integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import DType, TensorLike
from . import reductions
from .products import axes_last, checked_axis

__all__ = [
    "diag",
    "diag_indices",
    "diagflat",
    "diagonal",
    "fill_diagonal",
    "kron",
    "trace",
]


@composite
def diag(x: TensorLike, /, k: SupportsIndex = 0) -> Tensor:
    """Extract a diagonal of a matrix, or make a matrix with a vector on a diagonal.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        A vector or a matrix of any dtype.
    k : int, optional
        Diagonal, above the main one if positive. Default: 0, the main diagonal.

    Returns
    -------
    Tensor
        For a matrix its diagonal, which is empty if `k` is out of range. For a vector of size n a
        square matrix with n + abs(k) rows and zeros elsewhere. The dtype of `x`.

    Raises
    ------
    TypeError
        If `k` is not an integer.
    ValueError
        If `x` is neither a vector nor a matrix.

    See Also
    --------
    diagflat

    Examples
    --------
    >>> pb.diag([1, 2])
    Tensor([[1, 0],
            [0, 2]], dtype=int64)
    >>> pb.diag([[1, 2], [3, 4]], 1)
    Tensor([2], dtype=int64)
    """
    x, by = _core.constant(x, who="diag"), integer(k, "diag", "k")
    if len(x.shape) == 2:
        rows, columns = x.shape
        if not -rows < by < columns:
            return x[:0, 0] if columns else _core.reshape(x, (-1,))
        return diagonal(x, offset=by)
    if len(x.shape) != 1:
        raise ValueError(f"diag: expected a vector or a matrix for x, got shape {x.shape}")
    return _on_diagonal(x, by)


@composite
def diagflat(x: TensorLike, /, k: SupportsIndex = 0) -> Tensor:
    """Make a matrix with the flattened entries of `x` on a diagonal.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    k : int, optional
        Diagonal, above the main one if positive. Default: 0, the main diagonal.

    Returns
    -------
    Tensor
        A square matrix with x.size + abs(k) rows and zeros elsewhere; dtype of `x`.

    Raises
    ------
    TypeError
        If `k` is not an integer.

    See Also
    --------
    diag

    Examples
    --------
    >>> pb.diagflat([[1, 2]], 1).shape
    (3, 3)
    """
    x, by = _core.constant(x, who="diagflat"), integer(k, "diagflat", "k")
    return _on_diagonal(_core.reshape(x, (x.size,)), by)


def _on_diagonal(x: Tensor, k: int) -> Tensor:
    n = x.size + abs(k)
    start = k if k >= 0 else -k * n
    zeros = _core.full((n * n,), 0, x.dtype)
    flat = zeros.at[start : start + x.size * (n + 1) : n + 1].set(x) if x.size else zeros
    return _core.reshape(flat, (n, n))


@composite
def fill_diagonal(
    x: TensorLike,
    /,
    val: TensorLike | None = None,
    wrap: bool = False,
    *,
    value: TensorLike | None = None,
) -> Tensor:
    """Return `x` with other values on its main diagonal.

    The result is a new tensor. Differentiable in `x` and `val`; replaced entries receive the
    gradient 0.

    Parameters
    ----------
    x : array_like
        A matrix, or an array with three or more axes, all of the same size.
    val : array_like
        A number, or a vector with one entry for each replaced entry. It is cast to the dtype of
        `x`.
    wrap : bool, optional
        If True, the diagonal of a tall matrix starts again below its end, after one row without.
        Default: False.
    value : array_like, optional
        Alias of `val`. Give one of the two.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `wrap` is not a bool, `val` is complex and `x` is not, or both `val` and `value` are
        given.
    ValueError
        If `x` has fewer than two axes, or three or more of different sizes, or `val` has the wrong
        shape.

    Examples
    --------
    >>> pb.fill_diagonal(pb.zeros((2, 2)), [1, 2])
    Tensor([[1., 0.],
            [0., 2.]], dtype=float32)
    """
    if wrap is not False:
        wrap = flag(wrap, "fill_diagonal", "wrap")
    val = given_once({"val": val, "value": value}, "fill_diagonal")
    x = _core.constant(x, who="fill_diagonal")
    rank = len(x.shape)
    if rank < 2 or (rank > 2 and len(set(x.shape)) > 1):
        raise ValueError(
            f"fill_diagonal: expected a matrix or axes of equal size for x, got shape {x.shape}"
        )
    columns = x.shape[-1]
    step = columns + 1 if rank == 2 else 1 + sum(columns**k for k in range(1, rank))
    end = columns * columns if rank == 2 and not wrap else x.size
    end = min(end, x.size)
    filled = _core.cast(_core.operands([x, val], "fill_diagonal")[1], x.dtype)
    count = -(-end // step)
    if filled.shape not in ((), (count,)):
        raise ValueError(
            f"fill_diagonal: expected shape () or ({count},) for value, got {filled.shape}"
        )
    if not count:
        return x
    flat = _core.reshape(x, (x.size,)).at[0:end:step].set(filled)
    return _core.reshape(flat, x.shape)


def diag_indices(n: SupportsIndex, ndim: SupportsIndex = 2) -> tuple[Tensor, ...]:
    """Return the indices of the main diagonal of an array with axes of equal size.

    Parameters
    ----------
    n : int
        Size of each axis.
    ndim : int, optional
        Number of axes, at most 64. Default: 2.

    Returns
    -------
    tuple of Tensor
        One index array of shape (n,) and dtype int64 for each axis.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is negative, or `ndim` is more than 64.

    Examples
    --------
    >>> pb.diag_indices(2)
    (Tensor([0, 1], dtype=int64), Tensor([0, 1], dtype=int64))
    """
    length, count = axis_size(n, "diag_indices", "n"), axis_size(ndim, "diag_indices", "ndim")
    if count > 64:
        raise ValueError(f"diag_indices: expected at most 64 for ndim, got {count}")
    return (_core.arange(0, length, 1, numpy.dtype("int64")),) * count


def axis_size(value: SupportsIndex, who: str, name: str) -> int:
    n = integer(value, who, name)
    if not 0 <= n < 1 << 62:
        raise ValueError(
            f"{who}: expected an integer from 0 to 2**62 - 1 for {name}, got {_core.shown(value)}"
        )
    return n


@composite
def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """Compute the Kronecker product of `a` and `b`.

    Every entry of `a` is multiplied by all of `b`, and the product takes the place of the entry.
    Differentiable in both arguments.

    Parameters
    ----------
    a, b : array_like
        Arrays of numeric dtypes. The one with fewer axes is extended by leading axes of size 1.

    Returns
    -------
    Tensor
        The size of each axis is the product of the two sizes; the promoted dtype.

    Raises
    ------
    TypeError
        If both arguments are of dtype bool.
    ValueError
        If the result has too many entries.

    Examples
    --------
    >>> pb.kron([1, 10], [1, 2, 3])
    Tensor([ 1,  2,  3, 10, 20, 30], dtype=int64)
    """
    x, y = _core.operands([a, b], "kron")
    rank = max(len(x.shape), len(y.shape))
    ours, theirs = ((1,) * (rank - len(v.shape)) + tuple(v.shape) for v in (x, y))
    left = _core.reshape(x, tuple(n for k in range(rank) for n in (ours[k], 1)))
    right = _core.reshape(y, tuple(n for k in range(rank) for n in (1, theirs[k])))
    shape = tuple(n * m for n, m in zip(ours, theirs, strict=True))
    if prod(max(n, 1) for n in shape) > 1 << 61:
        raise ValueError(f"kron: expected a result of at most 2**61 elements, got shape {shape}")
    return _core.reshape(_core.multiply(left, right), shape)


@composite
def diagonal(
    x: TensorLike, /, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1
) -> Tensor:
    """Extract a diagonal of two axes.

    The elements whose position along `axis2` minus that along `axis1` is `offset`. Differentiable
    in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
    offset : int, default 0
        Diagonal to extract: 0 is the main diagonal, positive values lie above it, negative ones
        below.
    axis1, axis2 : int, default 0 and 1
        Axes that form the matrices; negative values count from the last axis.

    Returns
    -------
    Tensor
        Shape of `x` without both axes, followed by the length of the diagonal, which can be 0; the
        dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is out of range or both are the same.
    TypeError
        If `offset` or an axis is not an integer.

    Examples
    --------
    >>> pb.diagonal([[1.0, 2.0], [3.0, 4.0]]), pb.diagonal([[1.0, 2.0], [3.0, 4.0]], 1)
    (Tensor([1., 4.], dtype=float32), Tensor([2.], dtype=float32))
    """
    return _diagonal(x, offset, axis1, axis2, "diagonal")


def _diagonal(
    x: TensorLike, offset: SupportsIndex, axis1: SupportsIndex, axis2: SupportsIndex, who: str
) -> Tensor:
    tensor = _core.constant(x, who=who)
    offset = integer(offset, who, "offset")
    first, second = (
        checked_axis(integer(axis, who, name), len(tensor.shape), who, tensor.shape)
        for name, axis in (("axis1", axis1), ("axis2", axis2))
    )
    if first == second:
        raise ValueError(
            f"{who}: expected distinct axes for axis1 and axis2, got {axis1} and {axis2} for shape "
            f"{tensor.shape}"
        )
    last = axes_last(tensor, [first, second])
    *lead, rows, columns = last.shape
    start = offset if offset >= 0 else -offset * columns
    length = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    flat = _core.reshape(last, (*lead, rows * columns))
    if length == 0:
        return flat[..., :0]
    # In row-major order the next diagonal element is columns + 1 positions further.
    return flat[..., start : start + (length - 1) * (columns + 1) + 1 : columns + 1]


@composite
def trace(
    x: TensorLike,
    /,
    offset: SupportsIndex = 0,
    axis1: SupportsIndex = 0,
    axis2: SupportsIndex = 1,
    dtype: DType = None,
) -> Tensor:
    """Compute the sum of a diagonal.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
    offset : int, default 0
        Diagonal to sum: 0 is the main diagonal, positive values lie above it, negative ones below.
    axis1, axis2 : int, default 0 and 1
        Axes that form the matrices; negative values count from the last axis.
    dtype : dtype, optional
        Dtype to which the elements are cast first, and dtype of the result.

    Returns
    -------
    Tensor
        Shape of `x` without both axes; `dtype`, or the dtype of `sum`.

    Raises
    ------
    ValueError
        If an axis is out of range or both are the same.
    TypeError
        If `offset` or an axis is not an integer.

    See Also
    --------
    diagonal : Extract a diagonal.
    sum : Compute the sum over axes.

    Examples
    --------
    >>> pb.trace([[1.0, 2.0], [3.0, 4.0]])
    Tensor(5., dtype=float32)
    """
    return reductions.sum(_diagonal(x, offset, axis1, axis2, "trace"), -1, dtype=dtype)
