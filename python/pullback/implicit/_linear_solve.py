"""Linear systems of _equation.py, on NumPy arrays.

Dense systems are solved by LAPACK; larger ones by SciPy's iterative methods, which need only
products with the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

MOST_DENSE = 128  # unknowns

_ROUNDS = 20  # limit of iterations, in multiples of the number of unknowns


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


def dense_solver(who: str, where: str) -> Callable[..., Any]:
    """Return a solver of the linear system of a matrix."""

    def solve(matrix: Any, v: Any) -> Any:
        try:
            return np.ascontiguousarray(np.linalg.solve(matrix, v))
        except np.linalg.LinAlgError as error:
            raise np.linalg.LinAlgError(
                f"{who}: {where}: {error}: the derivative by x is singular at this solution, which "
                "has no derivative"
            ) from None

    return solve


def iterative_solver(
    on: Callable[..., Any], symmetric: bool, who: str, where: str
) -> Callable[..., Any]:
    """Return a solver of the linear system whose residual is `on(w, others)`."""

    def solve(v: Any, *others: Any) -> Any:
        try:
            from scipy.sparse.linalg import LinearOperator, cg, gmres
        except ImportError as error:
            raise ImportError(
                f"{who}: the gradient, a linear system of {len(v)} unknowns, requires SciPy; "
                "install scipy"
            ) from error
        operator = LinearOperator(
            (len(v), len(v)),
            lambda w: on(w.astype(v.dtype).reshape(-1), others).numpy() + v,
            dtype=v.dtype,
        )
        limits = {
            "rtol": float(np.finfo(v.dtype).eps) ** 0.75,  # 2e-12 in float64, which is attainable
            "atol": 0.0,
            "maxiter": _ROUNDS * len(v),
        }
        failed = True
        if symmetric:
            w, failed = cg(operator, v, **limits)
        if failed:  # cg, a short recurrence, stagnates earlier by rounding
            w, failed = gmres(operator, v, restart=min(len(v), 50), **limits)
        if failed:
            raise np.linalg.LinAlgError(
                f"{who}: {where}: gmres did not solve the linear system of the gradient, of "
                f"{len(v)} unknowns; the derivative by x may be singular at this solution"
            )
        return np.ascontiguousarray(w, v.dtype)

    return solve
