"""Linear systems of implicit.py as functions of arrays.

`solved` uses LAPACK through NumPy; `solved_by_products` uses SciPy's iterative methods, which need
products with the matrix alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MOST_DENSE = 128  # unknowns

_ROUNDS = 20  # of as many steps as there are unknowns


def for_each(f: Callable[..., Any], rank: int = 1) -> Callable[..., Any]:
    """Return `f` applied to each entry of the batches that `vmap` makes of its arguments.

    `rank` is the rank of its first argument without a batch. The entries are computed one after the
    other.
    """

    def call(first: Any, *others: Any) -> Any:
        if np.ndim(first) == rank:
            return f(first, *others)
        if not len(first):
            return np.empty((0, *first.shape[1 : first.ndim - rank + 1]), first.dtype)
        return np.stack([call(*one) for one in zip(first, *others, strict=True)])

    return call


def solved(who: str, where: str) -> Callable[..., Any]:
    def solve(matrix: Any, v: Any) -> Any:
        try:
            return np.ascontiguousarray(np.linalg.solve(matrix, v))
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"{who}: {where}: {error}: at this solution the derivative by x cannot be "
                "inverted, so that the solution has none"
            ) from None

    return solve


def solved_by_products(
    on: Callable[..., Any], symmetric: bool, who: str, where: str
) -> Callable[..., Any]:
    """Return a solver of the linear system whose residual is `on(w, others)`."""

    def solve(v: Any, *others: Any) -> Any:
        try:
            from scipy.sparse.linalg import LinearOperator, cg, gmres
        except ImportError as error:
            raise ImportError(
                f"{who}: its gradient solves a linear system of {len(v)} unknowns, for which it "
                "needs scipy: install it"
            ) from error
        operator = LinearOperator(
            (len(v), len(v)),
            lambda w: on(w.astype(v.dtype).reshape(-1), others).numpy() + v,
            dtype=v.dtype,
        )
        limits = {
            "rtol": float(np.finfo(v.dtype).eps) ** 0.75,  # 2e-12 in float64, and within reach
            "atol": 0.0,
            "maxiter": _ROUNDS * len(v),
        }
        failed = True
        if symmetric:
            w, failed = cg(operator, v, **limits)
        if failed:  # rounding stops the short recurrence of the first earlier
            w, failed = gmres(operator, v, restart=min(len(v), 50), **limits)
        if failed:
            raise np.linalg.LinAlgError(
                f"{who}: {where}: gmres did not solve the linear system of the "
                f"gradient, of {len(v)} unknowns: at this solution the derivative by x may not "
                "be invertible"
            )
        return np.ascontiguousarray(w, v.dtype)

    return solve
