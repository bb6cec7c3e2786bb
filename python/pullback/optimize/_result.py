"""`OptimizeResult` and the parts that the solvers share."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import in_result_dtype
from .._autodiff.rules import place
from .._base.checks import integer, number, start_of
from .._core import Tensor
from .._numpy.display import result_text
from ..implicit._equation import solution_on_plan


class OptimizeResult(NamedTuple):
    """Store the result of a solver.

    Attributes
    ----------
    x : Tensor or pytree of Tensor
        The solution, or the last iterate if the solver failed.
    fun : Tensor or pytree of Tensor
        Value of the function at `x`.
    success : Tensor
        True if the solver converged.
    nit : Tensor
        Number of iterations.
    status : Tensor
        Reason of the end: 0 if the solver converged, 1 after `maxiter` iterations, 2 if no step
        improves the last iterate.
    message : str
        The reason in words; reading it evaluates the result.

    Examples
    --------
    >>> import numpy as np
    >>> result = pb.optimize.root(lambda x: x**2 - 4.0, np.array([1.0]))
    >>> pb.round(result.x, 6), bool(result.success)
    (Tensor([2.], dtype=float64), True)
    """

    x: Any
    fun: Any
    success: Tensor
    nit: Tensor
    status: Tensor

    @property
    def message(self) -> str:
        """Return the reason of the end in words."""
        if _core.is_traced(self.status):
            return "The reason is not known while a function is traced."
        status = np.atleast_1d(self.status.numpy())
        return _MESSAGES[int(status.max())]

    def __repr__(self) -> str:
        return result_text(self, "message", "success", "status", "fun", "x", "nit")


_MESSAGES = (
    "The solver converged.",
    "The number of iterations reached maxiter.",
    "No step improves the last iterate: the function has no solution near it, is not smooth or not "
    "finite there, or tol is below its rounding errors.",
)

Solver = Callable[[Any, Tensor], tuple[Tensor, Tensor, Tensor]]


def solve_on_plan(
    fun: Any, x0: Any, args: Any, solver: Solver, limit: int, kind: str, who: str
) -> OptimizeResult:
    """Return the result of `solver(f, start)`, which returns x, success, and the iterations.

    `kind` is a key of RESIDUALS in implicit/_equation.py.
    """
    counts: list[Tensor] = []
    args = arguments(args)
    start = in_result_dtype(
        start_of(x0, who), x0, lambda x: fun(x, *args), f"{who} of {place(fun)}"
    )

    def solve(f: Any, start: Tensor) -> tuple[Tensor, Tensor]:
        x, success, nit = solver(f, start)
        counts.append(nit)
        return x, success

    x, value, success = solution_on_plan(fun, start, args, solve, kind, who)
    failed = _core.where(_core.less(counts[0], limit), 2, 1)
    status = _core.where(success, 0, failed)
    return OptimizeResult(x, value, success, counts[0], status)


def arguments(args: Any) -> tuple[Any, ...]:
    """Return the further arguments of the function; a single argument needs no tuple."""
    return args if isinstance(args, tuple) else (args,)


def tolerance(tol: Any, dtype: Any, power: float, who: str) -> float:
    """Return a tolerance; the default is a power of the machine precision."""
    if tol is None:
        return float(np.finfo(dtype).eps ** power)
    made = number(tol, who, "tol")
    if not made > 0:
        raise ValueError(f"{who}: expected tol > 0, got {made}")
    return made


def most(maxiter: Any, default: int, who: str) -> int:
    made = default if maxiter is None else integer(maxiter, who, "maxiter")
    if made < 1:
        raise ValueError(f"{who}: expected maxiter >= 1, got {made}")
    return made


def largest(x: Tensor) -> Tensor:
    """Return the largest absolute value, 0 of an empty vector; NaN if there is a NaN."""
    return _core.max(_core.abs(x)) if x.size else _core.full((), 0, x.dtype)


def dot(x: Tensor, y: Tensor) -> Tensor:
    return _core.sum(x * y)
