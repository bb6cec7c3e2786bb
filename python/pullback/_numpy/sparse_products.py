"""Products with the sparse arrays and matrices of SciPy, for the operators `@` and `*`."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Tensor, Variable


def product(left: Any, right: Any) -> Tensor:
    """Return left @ right, of which one is sparse and the other a tensor or variable.

    Differentiable in the tensor; the sparse values are constants.
    """
    ranks = (left.ndim, right.ndim)
    if ranks not in ((1, 2), (2, 1), (2, 2)) or left.shape[-1] != right.shape[0]:
        raise ValueError(
            "matmul: expected a sparse matrix and a tensor of rank 1 or 2 with matching sizes, "
            f"got shapes {left.shape} and {right.shape}"
        )
    if not isinstance(left, (Tensor, Variable)):
        return _on_rows(left, right)
    if left.ndim == 1:
        return _on_rows(right.T, left)
    return _core.transpose(_on_rows(right.T, _core.transpose(left)))


def _on_rows(a: Any, x: Any) -> Tensor:
    """Return a @ x: each entry of `a` adds a multiple of a row of x to a row of the result."""
    entries = a.tocoo()
    values = _core.constant(entries.data, who="matmul")
    if x.ndim == 2:
        values = _core.expand_dims(values, 1)
    terms = _core.multiply(values, _core.take(x, _core.constant(entries.col), 0))
    return _core.scatter_add(terms, _core.constant(entries.row), 0, a.shape[0])
