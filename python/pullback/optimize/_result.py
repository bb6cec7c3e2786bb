"""`OptimizeResult` and the parts that the solvers share."""

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._base.checks import integer, number
from .._core import Tensor


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
