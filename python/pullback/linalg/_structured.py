"""Structured matrices and linear equations with them.

Leading axes are a batch and broadcast. Derivatives of every order exist in forward and reverse
mode.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from .. import _core
from .._base.checks import check_matrices, integers
from .._base.composite import composite
from .._core import Tensor
from .._numpy.products import of_one_dtype
from .._typing import TensorLike
from ._matrices import one_dtype, right_sides, same_batch


@composite
def toeplitz(c: TensorLike, r: TensorLike | None = None, /) -> Tensor:
    """Create Toeplitz matrices, as ``scipy.linalg.toeplitz``.

    The matrices are constant along their diagonals. Differentiable in `c` and `r`. Batches
    broadcast.

    Parameters
    ----------
    c : array_like
        First columns of shape (…, m).
    r : array_like, optional
        First rows of shape (…, n); their first element is ignored. Default: `c` conjugated.

    Returns
    -------
    Tensor
        Shape (…, m, n); the dtype to which `c` and `r` promote.

    Raises
    ------
    ValueError
        If an input has rank 0 or the batches do not broadcast.

    Examples
    --------
    >>> pb.linalg.toeplitz([1, 2, 3], [1, 4])
    Tensor([[1, 4],
            [2, 1],
            [3, 2]], dtype=int64)
    """
    column = _core.constant(c, who="toeplitz")
    column, row = of_one_dtype(column, _core.conj(column) if r is None else r, "toeplitz")
    for x in (column, row):
        if not x.shape:
            raise ValueError("toeplitz: expected vectors for c and r, got a scalar")
    column, row = same_batch([column, row], [1, 1], "toeplitz")
    m, n = column.shape[-1], row.shape[-1]
    last = len(row.shape) - 1
    if m == 0 or n == 0:
        return _core.full((*row.shape[:-1], m, n), 0, row.dtype)
    entries = _core.concat([column[..., ::-1], row[..., 1:]], last)
    down = _core.expand_dims(_core.arange(0, m, 1, "int64"), 1)
    across = _core.arange(m - 1, n, 1, "int64")
    return _core.take(entries, _core.subtract(across, down), last)


@composite
def block_diag(*arrs: TensorLike) -> Tensor:
    """Create block diagonal matrices, as ``scipy.linalg.block_diag``.

    Elements outside the blocks are 0. Differentiable in all blocks. Batches broadcast.

    Parameters
    ----------
    *arrs : array_like
        Blocks of shapes (…, m, n); a vector counts as one row, a scalar as a matrix of one element.

    Returns
    -------
    Tensor
        Shape (…, sum of the m, sum of the n), (1, 0) without arguments; the dtype to which the
        blocks promote.

    Raises
    ------
    ValueError
        If the batches do not broadcast.

    Examples
    --------
    >>> pb.linalg.block_diag([[1, 2]], 3)
    Tensor([[1, 2, 0],
            [0, 0, 3]], dtype=int64)
    """
    given = _core.operands(arrs or [[[]]], "block_diag")
    dtype = reduce(_core.promote, [x.dtype for x in given])
    blocks = [
        _core.cast(x if len(x.shape) > 1 else _core.reshape(x, (1, x.size)), dtype) for x in given
    ]
    blocks = same_batch(blocks, [2] * len(blocks), "block_diag")
    *batch, _, _ = blocks[0].shape
    width = sum(x.shape[-1] for x in blocks)
    rows, before = [], 0
    for x in blocks:
        m, n = x.shape[-2:]
        left, right = (_core.full((*batch, m, k), 0, dtype) for k in (before, width - before - n))
        rows.append(_core.concat([left, x, right], len(batch) + 1))
        before += n
    return _core.concat(rows, len(batch))


@composite
def khatri_rao(a: TensorLike, b: TensorLike, /) -> Tensor:
    """Compute the Kronecker product of each column of `a` with that of `b`.

    Differentiable in `a` and `b`. Batches broadcast.

    Parameters
    ----------
    a, b : array_like
        Matrices of shapes (…, m, k) and (…, n, k), not both bool.

    Returns
    -------
    Tensor
        Shape (…, m n, k); the dtype to which `a` and `b` promote.

    Raises
    ------
    ValueError
        If the numbers of columns differ or the batches do not broadcast.
    LinAlgError
        If an input has a rank below 2.
    TypeError
        If both inputs are bool.

    Examples
    --------
    >>> pb.linalg.khatri_rao([[1, 2], [3, 4]], [[1, 10]])
    Tensor([[ 1, 20],
            [ 3, 40]], dtype=int64)
    """
    x, y = _core.operands([a, b], "khatri_rao")
    for one in (x, y):
        check_matrices(one, "khatri_rao")
    (m, k), (n, columns) = x.shape[-2:], y.shape[-2:]
    if k != columns:
        raise ValueError(
            f"khatri_rao: expected one number of columns for a and b, got shapes {x.shape} and "
            f"{y.shape}"
        )
    x, y = same_batch([x, y], [2, 2], "khatri_rao")
    product = _core.multiply(_core.expand_dims(x, len(x.shape) - 1), _core.expand_dims(y, -3))
    return _core.reshape(product, (*x.shape[:-2], m * n, k))


@composite
def solve_banded(l_and_u: tuple[int, int], ab: TensorLike, b: TensorLike, /) -> Tensor:
    """Solve linear equations with a banded matrix, as ``scipy.linalg.solve_banded``.

    Differentiable in `ab` and `b`. Batches broadcast.

    Parameters
    ----------
    l_and_u : tuple of (int, int)
        Numbers l and u of diagonals below and above the main one.
    ab : array_like
        Diagonals of shape (…, l + u + 1, n): element (i, j) of the matrix is ``ab[u + i - j, j]``;
        elements outside the matrix are ignored. Integers become the default floating dtype; float16
        and bfloat16 are computed in float32.
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of shape (n,).

    Returns
    -------
    Tensor
        Shape (…, n, k), or (…, n) if `b` is a vector; the floating or complex dtype to which the
        inputs promote.

    Raises
    ------
    LinAlgError
        If `ab` has a rank below 2, or if the matrix is found to be singular (raised when the result
        is computed).
    ValueError
        If `l_and_u` is not a pair of nonnegative integers or the shapes do not match.

    Examples
    --------
    >>> pb.linalg.solve_banded((1, 0), [[2.0, 4.0], [1.0, 0.0]], [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    who = "solve_banded"
    counts = integers(l_and_u, who, "l_and_u")
    if len(counts) != 2 or min(counts) < 0:
        raise ValueError(
            f"{who}: expected a pair of integers >= 0, the numbers of lower and upper diagonals, "
            f"for l_and_u, got {_core.shown(l_and_u)}"
        )
    (bands, right), rounded = one_dtype([ab, b], who)
    check_matrices(bands, who)
    if bands.shape[-2] != sum(counts) + 1:
        raise ValueError(
            f"{who}: expected {sum(counts) + 1} rows for ab with {counts[0]} lower and "
            f"{counts[1]} upper diagonals, got shape {bands.shape}"
        )
    return rounded(_banded(bands, right, counts[0], who))


@composite
def tridiagonal_solve(dl: TensorLike, d: TensorLike, du: TensorLike, b: TensorLike, /) -> Tensor:
    """Solve linear equations with a tridiagonal matrix.

    LAPACK's gtsv, with partial pivoting. Differentiable in all inputs. Batches broadcast.

    Parameters
    ----------
    dl, d, du : array_like
        Elements of each row left of the diagonal, on it and right of it, of shape (…, n); ``dl[...,
        0]`` and ``du[..., n - 1]`` are ignored. Integers become the default floating dtype; float16
        and bfloat16 are computed in float32.
    b : array_like
        Right-hand sides of shape (…, n, k), or a vector of shape (n,).

    Returns
    -------
    Tensor
        Shape (…, n, k), or (…, n) if `b` is a vector; the floating or complex dtype to which the
        inputs promote.

    Raises
    ------
    LinAlgError
        If the matrix is found to be singular (raised when the result is computed).
    ValueError
        If the shapes do not match.

    Examples
    --------
    >>> pb.linalg.tridiagonal_solve([0.0, 1.0], [2.0, 4.0], [0.0, 0.0], [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    who = "tridiagonal_solve"
    (low, middle, high, right), rounded = one_dtype([dl, d, du, b], who)
    for x in (low, middle, high):
        if not x.shape or x.shape[-1] != (middle.shape or (0,))[-1]:
            raise ValueError(
                f"{who}: expected three diagonals of one size, got shapes {low.shape}, "
                f"{middle.shape} and {high.shape}"
            )
    low, middle, high = same_batch([low, middle, high], [1, 1, 1], who)
    # Each element is stored in its column of the matrix.
    shifted = [_shifted(high, -1), middle, _shifted(low, 1)]
    return rounded(_banded(_core.stack(shifted, -2), right, 1, who))


def _shifted(x: Tensor, by: int) -> Any:
    return _core.concat([x[..., by:], x[..., :by]], len(x.shape) - 1)


def _banded(bands: Tensor, b: Tensor, below: int, who: str) -> Tensor:
    sides, restored = right_sides(b, bands.shape[-1], who)
    bands, sides = same_batch([bands, sides], [2, 2], who)
    return restored(_core.banded_solve(bands, sides, below, who == "tridiagonal_solve"))
