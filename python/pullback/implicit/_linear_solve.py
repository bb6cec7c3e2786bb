"""Linear systems of _equation.py.

Small systems are solved by LAPACK; larger ones by the loops of linalg/_krylov.py, which need only
products with the matrix. See `iterative_solution`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.closed_graph import recorded_from
from .._autodiff.jacobian import jacobian
from .._control.checks import evaluated_check
from .._control.loops import while_loop
from .._core import ClosedGraph, Tensor
from ..linalg._krylov import bicgstab, conjugate_gradients, gmres, norm

MOST_DENSE = 128  # unknowns

_ROUNDS = 20  # limit of products, in multiples of the number of unknowns
_MOST_STEPS = 100  # of BiCGSTAB, which has converged by then or does not
_RESTART = 50  # products in a cycle of GMRES
_FEW_CYCLES = 4  # of GMRES, if the matrix can be formed
_MOST_FORMED = 2048  # unknowns


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

    def singular(reason: object) -> Any:
        return np.linalg.LinAlgError(
            f"{who}: {where}: {reason}: the derivative by x is singular at this solution, which "
            "has no derivative"
        )

    def solve(matrix: Any, v: Any) -> Any:
        try:
            w = np.linalg.solve(matrix, v)
        except np.linalg.LinAlgError as error:
            raise singular(error) from None
        # A matrix that is singular but for rounding has a solution of huge entries. Values that are
        # not finite stay in the result.
        with np.errstate(all="ignore"):
            rest = np.abs(matrix @ w - v).max(initial=0)
            allowed = float(np.finfo(w.dtype).eps) ** 0.5 * np.abs(v).max(initial=0)
        if np.isfinite(rest) and rest > allowed:
            raise singular("a pivot is zero but for rounding")
        return np.ascontiguousarray(w)

    return solve


def iterative_solution(
    products: ClosedGraph, v: Tensor, symmetric: bool, who: str, where: str
) -> Tensor:
    """Return the solution w of a linear system, which has no derivative.

    `products` computes the products of the matrix with its input. A short recurrence comes first.
    By rounding it may stagnate early, so GMRES makes the remaining steps, if any. A matrix of
    moderate size on which GMRES stagnates is formed.
    """
    others = [_core.stop_gradient(one) for one in products.others]
    entries = v.shape[0]

    def on(w: Any) -> Any:
        return products.copy([w, *others], False)[0]

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
    cycles = _FEW_CYCLES if entries <= _MOST_FORMED else _ROUNDS * entries // restart
    found = gmres(on, _core.identity, v, w, r, bound, restart, cycles)
    good = _core.logical_and(_core.isfinite(found.size), _core.less_equal(found.size, bound))
    if entries <= _MOST_FORMED:
        failed = _core.logical_not(good)
        return _solve_if(failed, products, others, found.x, v, dense_solver(who, where))

    def fail(*_: Any) -> None:
        raise np.linalg.LinAlgError(
            f"{who}: {where}: gmres did not solve the linear system of the gradient, of {entries} "
            "unknowns; the derivative by x may be singular at this solution"
        )

    solution: Tensor = _core.where(evaluated_check(good, fail, []), found.x, 0.0)
    return solution


def _solve_if(
    failed: Tensor, products: ClosedGraph, others: list[Any], w: Tensor, v: Tensor, solver: Any
) -> Tensor:
    """Return w, or the solution by the matrix if `failed`.

    A loop, unlike a branch, is skipped in `vmap` if no entry of the batch needs it.
    """

    def step(state: Any) -> Any:
        # What depends on the state is computed in the loop, not before it.
        given = [_core.where(state[1], one, one) for one in others]
        at = _core.identity(_core.full(v.shape, 0, v.dtype))
        with recorded_from([at]):
            product = products.copy([at, *given], False)[0]
        (matrix,) = jacobian(product, [at], None, True)
        assert matrix is not None  # zeros in place of None
        return callback_operation(for_each(solver, 2), [matrix, v], v.dtype, v.shape, True), False

    solution: Tensor = while_loop(lambda state: state[1], step, (w, failed))[0]
    return solution
