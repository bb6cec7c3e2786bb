"""Matrices made of few numbers, and equations with such.

Leading axes are a batch, and broadcast. Derivatives of every order exist in both directions.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import check_matrices, integers
from .matrices import one_dtype, right_sides, same_batch
from .products import of_one_dtype


def toeplitz(c: TensorLike, r: TensorLike | None = None, /) -> Tensor:
    """The matrices that are constant along their diagonals, as `scipy.linalg.toeplitz`.

    c: the first column, of shape (…, m). r: the first row, (…, n), whose first entry does not
    count; without it, c conjugated. Returns (…, m, n).

    >>> pb.linalg.toeplitz([1, 2, 3], [1, 4])
    Tensor([[1, 4],
            [2, 1],
            [3, 2]], dtype=int64)
    """
    column = _core.constant(c, who="toeplitz")
    column, row = of_one_dtype(column, _core.conj(column) if r is None else r, "toeplitz")
    for x in (column, row):
        if not x.shape:
            raise ValueError("toeplitz: expected vectors, got a number")
    column, row = same_batch([column, row], [1, 1], "toeplitz")
    m, n = column.shape[-1], row.shape[-1]
    last = len(row.shape) - 1
    if m == 0 or n == 0:
        return _core.full((*row.shape[:-1], m, n), 0, row.dtype)
    entries = _core.concat([column[..., ::-1], row[..., 1:]], last)
    down = _core.expand_dims(_core.arange(0, m, 1, "int64"), 1)
    across = _core.arange(m - 1, n, 1, "int64")
    return _core.take(entries, _core.subtract(across, down), last)


def block_diag(*arrs: TensorLike) -> Tensor:
    """The matrix with these on its diagonal and zeros elsewhere, as `scipy.linalg.block_diag`.

    arrs: matrices of any shapes (…, m, n); a vector counts as one row, a number as a matrix of one
    entry.

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


def khatri_rao(a: TensorLike, b: TensorLike, /) -> Tensor:
    """The Kronecker product of each column of a with that of b: (…, m, k) and (…, n, k) give
    (…, m n, k).

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
            f"khatri_rao: expected as many columns in b as in a, got shapes {x.shape} and {y.shape}"
        )
    x, y = same_batch([x, y], [2, 2], "khatri_rao")
    product = _core.multiply(_core.expand_dims(x, len(x.shape) - 1), _core.expand_dims(y, -3))
    return _core.reshape(product, (*x.shape[:-2], m * n, k))


def solve_banded(l_and_u: tuple[int, int], ab: TensorLike, b: TensorLike, /) -> Tensor:
    """x with a x = b for a matrix a of few diagonals, as `scipy.linalg.solve_banded`.

    l_and_u: how many diagonals a has below and above the main one.
    ab: the diagonals, of shape (…, l + u + 1, n): entry (i, j) of a is ab[u + i - j, j]; what lies
        outside of a does not count. b: of shape (…, n, k), or a vector of length n.

    LinAlgError where a is not found to be invertible, when it is computed.

    >>> pb.linalg.solve_banded((1, 0), [[2.0, 4.0], [1.0, 0.0]], [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    who = "solve_banded"
    counts = integers(l_and_u, who)
    if len(counts) != 2 or min(counts) < 0:
        raise ValueError(
            f"{who}: expected how many diagonals are below and above the main one, got "
            f"{_core.shown(l_and_u)}"
        )
    (bands, right), rounded = one_dtype([ab, b], who)
    check_matrices(bands, who)
    if bands.shape[-2] != sum(counts) + 1:
        raise ValueError(
            f"{who}: expected ab of {sum(counts) + 1} rows for {counts[0]} diagonals below and "
            f"{counts[1]} above, got shape {bands.shape}"
        )
    return rounded(_banded(bands, right, counts[0], who))


def tridiagonal_solve(dl: TensorLike, d: TensorLike, du: TensorLike, b: TensorLike, /) -> Tensor:
    """x with a x = b for a matrix a of three diagonals.

    dl, d, du: the entries of each row of a left of the diagonal, on it and right of it, of shape
        (…, n); dl[0] and du[n - 1] do not count. b: of shape (…, n, k), or a vector of length n.

    LinAlgError where a is not found to be invertible, when it is computed. By LAPACK's gtsv, with
    pivoting.

    >>> pb.linalg.tridiagonal_solve([0.0, 1.0], [2.0, 4.0], [0.0, 0.0], [2.0, 9.0])
    Tensor([1., 2.], dtype=float32)
    """
    who = "tridiagonal_solve"
    (low, middle, high, right), rounded = one_dtype([dl, d, du, b], who)
    for x in (low, middle, high):
        if not x.shape or x.shape[-1] != (middle.shape or (0,))[-1]:
            raise ValueError(
                f"{who}: expected three diagonals of one length, got shapes {low.shape}, "
                f"{middle.shape} and {high.shape}"
            )
    low, middle, high = same_batch([low, middle, high], [1, 1, 1], who)
    # Entries stand in the column of the matrix that they are in.
    shifted = [_shifted(high, -1), middle, _shifted(low, 1)]
    return rounded(_banded(_core.stack(shifted, -2), right, 1, who))


def _shifted(x: Tensor, by: int) -> Any:
    return _core.concat([x[..., by:], x[..., :by]], len(x.shape) - 1)


def _banded(bands: Tensor, b: Tensor, below: int, who: str) -> Tensor:
    sides, restored = right_sides(b, bands.shape[-1], who)
    bands, sides = same_batch([bands, sides], [2, 2], who)
    return restored(_core.banded_solve(bands, sides, below, who == "tridiagonal_solve"))
