"""Linear systems of _equation.py.

Dense systems are solved by LAPACK; larger ones by the loops of linalg/_krylov.py, which need only
products with the matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._control.checks import evaluated_check
from .._core import Tensor
from ..linalg._krylov import bicgstab, conjugate_gradients, gmres, norm

MOST_DENSE = 128  # unknowns

_ROUNDS = 20  # limit of iterations, in multiples of the number of unknowns
_MOST_STEPS = 100  # of BiCGSTAB, which has converged by then or does not
_RESTART = 50  # products in a cycle of GMRES


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


def iterative_solution(on: Callable[[Any], Any], v: Tensor, symmetric: bool, where: str) -> Tensor:
    """Return the solution w of the linear system `on(w) = v`, which has no derivative.

    A short recurrence comes first. By rounding it may stagnate early, so GMRES makes the remaining
    steps, if any.
    """
    entries = v.shape[0]
    rtol = float(np.finfo(v.dtype).eps) ** 0.75  # 2e-12 in float64, which is attainable
    size = norm(v)
    bound = _core.multiply(size, rtol)
    zeros = _core.full(v.shape, 0, v.dtype)
    if symmetric:
        w = conjugate_gradients(on, _core.identity, zeros, v, bound, _ROUNDS * entries).x
    else:
        w = bicgstab(on, zeros, v, bound, _MOST_STEPS).x
    r = _core.subtract(v, on(w))
    better = _core.less(norm(r), size)
    w, r = _core.where(better, w, 0.0), _core.where(better, r, v)
    restart = min(entries, _RESTART)
    found = gmres(on, _core.identity, v, w, r, bound, restart, _ROUNDS * entries)

    def fail(*_: Any) -> None:
        raise np.linalg.LinAlgError(
            f"{where}: gmres did not solve the linear system of the gradient, of {entries} "
            "unknowns; the derivative by x may be singular at this solution"
        )

    good = evaluated_check(_core.less_equal(found.size, bound), fail, [])
    solution: Tensor = _core.where(good, found.x, 0.0)
    return solution
