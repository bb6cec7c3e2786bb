"""Products with the sparse arrays and matrices of SciPy, for `matmul`, `@` and `*`."""

from __future__ import annotations

import sys
from typing import Any

from .. import _core
from .._core import Tensor


def is_sparse(x: Any) -> bool:
    """Return whether `x` is an array or matrix of scipy.sparse."""
    module = sys.modules.get("scipy.sparse")
    return module is not None and bool(module.issparse(x))


def entries_of(a: Any, who: str, ordered: bool = False) -> tuple[Any, Any, Any]:
    """Return the rows, columns and values of the stored entries of a sparse matrix.

    If `ordered`, they have the order of ``a.data``.
    """
    if ordered and a.format not in ("csr", "csc", "coo"):
        raise TypeError(
            f"{who}: expected a sparse matrix in CSR, CSC or COO format for values in the order of "
            f"its data, got {a.format.upper()}; convert it with tocsr()"
        )
    entries = a.tocoo(copy=True)  # the caller may modify it in place
    return entries.row, entries.col, entries.data


def product(left: Any, right: Any) -> Tensor:
    """Return left @ right, of which one is sparse and the other array_like.

    Differentiable in the tensor; the sparse values are constants.
    """
    sparse_left = is_sparse(left)
    if sparse_left and is_sparse(right):
        raise TypeError(
            "matmul: expected a tensor or array beside a sparse matrix, got two sparse ones; "
            "multiply them by a @ b of SciPy"
        )
    if sparse_left:
        right = _core.constant(right, who="matmul")
    else:
        left = _core.constant(left, who="matmul")
    ranks = (left.ndim, right.ndim)
    if ranks not in ((1, 2), (2, 1), (2, 2)) or left.shape[-1] != right.shape[0]:
        raise ValueError(
            "matmul: expected a sparse matrix and a tensor of rank 1 or 2 with matching sizes, "
            f"got shapes {left.shape} and {right.shape}"
        )
    if sparse_left:
        return _on_rows(left, right)
    if left.ndim == 1:
        return _on_rows(right.T, left)
    return _core.transpose(_on_rows(right.T, _core.transpose(left)))


def _on_rows(a: Any, x: Any) -> Tensor:
    """Return a @ x: each entry of `a` adds a multiple of a row of x to a row of the result."""
    rows, columns, values = entries_of(a, "matmul")
    values = _core.constant(values, who="matmul")
    if x.ndim == 2:
        values = _core.expand_dims(values, 1)
    terms = _core.multiply(values, _core.take(x, _core.constant(columns), 0))
    return _core.scatter_add(terms, _core.constant(rows), 0, a.shape[0])
