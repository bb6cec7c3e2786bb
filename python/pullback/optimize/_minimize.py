"""`minimize`: a limited-memory quasi-Newton method as a loop of the plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._base.hints import without
from .._control.loops import while_loop
from .._core import Tensor
from ._bounded import bounded_lbfgs, sides_of_bounds, with_bounds
from ._direction import (
    MEMORY,
    Iterate,
    direction_of,
    first_iterate,
    is_near,
    succeeded,
    with_slope,
)
from ._result import OptimizeResult, arguments, dot, largest, most, solve_on_plan, tolerance

_TRIALS = 60  # of a line search
_DECREASE, _CURVATURE = 1e-4, 0.9  # of the weak Wolfe conditions


@without(
    method="the method is L-BFGS",
    jac="derivatives are computed by automatic differentiation",
    hess="the method uses gradients alone",
    hessp="the method uses gradients alone",
    callback="the steps are a loop of the plan; use an optimizer of pb.optimizers to see each one",
    has_aux="return the value alone, and compute other results from the solution",
    constraints="substitute a function whose values meet them",
    options="pass tol and maxiter",
)
def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    *,
    bounds: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
) -> OptimizeResult:
    """Minimize a function of any number of variables by L-BFGS.

    The solver is a loop of the plan [1]_, with a line search by bisection [2]_. It needs only
    gradients. Derivatives of the minimum with respect to `args` are those of `implicit.minimum`.
    Within bounds, the steps are projected [3]_, and the derivatives are those of the free
    variables; a variable at a bound has the derivative of the bound. They are one-sided if the
    gradient by a variable at a bound is 0.

    Parameters
    ----------
    fun : callable
        Function `fun(x, *args)` of operations of this library that returns a floating tensor of
        shape (). Decisions that depend on values are made by `cond` or `where`.
    x0 : array_like or pytree of array_like
        Start; its leaves have a single dtype, float32 or float64. A list or tuple of numbers is a
        vector. Python numbers take the dtype that `fun` returns for them; `fun` is then called once
        more. An array of integers becomes the default floating dtype.
    args : tuple, optional
        Further arguments of `fun`, tensors or pytrees. A single argument needs no tuple.
    bounds : list of pairs, optional
        Pair (low, high) for each entry of x0, in the order of its leaves, with None for an absent
        bound. The entries may be tensors, and `scipy.optimize.Bounds` is accepted. A start outside
        is moved to the bounds, and equal bounds fix a variable. Default: None.
    tol : float, optional
        The solver ends when no entry of the gradient is larger than `tol`; within bounds, when no
        entry changes by more in a projected step along the gradient. Default: the square root
        of the machine precision. If rounding errors of `fun` prevent a further decrease, it is
        enough that the expected decrease is not larger than them and the gradient is below the cube
        root, times ``max(1, sqrt(abs(fun)))``.
    maxiter : int, optional
        Largest number of iterations. Default: 10,000.

    Returns
    -------
    OptimizeResult
        `x` has the structure of `x0`. If the solver fails, `success` is False, `message`
        states the reason, and gradients of the result are NaN.

    Raises
    ------
    TypeError
        If `x0` has another dtype, the result of `fun` is not a floating tensor of shape (), or
        `bounds` has another type.
    ValueError
        If `fun` does not depend on x, `tol` or `maxiter` is not positive, the number of bounds is
        wrong or a lower bound is larger than the upper one.

    See Also
    --------
    implicit.minimum, optimize.least_squares

    References
    ----------
    .. [1] D. C. Liu and J. Nocedal, On the limited memory BFGS method for large scale optimization,
       1989.
    .. [2] A. S. Lewis and M. L. Overton, Nonsmooth optimization via quasi-Newton methods, 2013.
    .. [3] D. P. Bertsekas, Projected Newton methods for optimization problems with simple
       constraints, 1982.

    Examples
    --------
    >>> import numpy as np
    >>> def rosenbrock(x, a):
    ...     return (a - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    >>> a = pb.Variable(np.float64(1.5))
    >>> result = pb.optimize.minimize(rosenbrock, np.zeros(2), a)
    >>> bool(result.success), pb.round(result.x, 6), pb.round(pb.gradients(result.x[1], a)[0], 6)
    (True, Tensor([1.5 , 2.25], dtype=float64), Tensor(3., dtype=float64))
    """
    who = "minimize"
    limit = most(maxiter, 10_000, who)

    def solver(f: Any, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        method = _lbfgs if bounds is None else bounded_lbfgs
        return method(f, start, tolerance(tol, start.dtype, 0.5, who), limit)

    if bounds is not None:
        theta = (*sides_of_bounds(bounds, who), *arguments(args))
        within = with_bounds(fun, who)
        return solve_on_plan(within, x0, theta, solver, limit, "bounded minimum", who)
    return solve_on_plan(fun, x0, args, solver, limit, "minimum", who)


class _State(NamedTuple):
    at: Iterate
    weights: Tensor  # 1 / (step · change); 0: unused
    rounded: Tensor  # the expected decrease was not larger than rounding errors of the value


class _Trial(NamedTuple):
    """A point of a line search, and the best one that decreases the value enough."""

    t: Tensor
    low: Tensor
    high: Tensor
    value: Tensor
    slope: Tensor
    low_value: Tensor
    low_slope: Tensor
    nit: Tensor
    done: Tensor


def _lbfgs(f: Any, start: Tensor, tol: float, limit: int) -> tuple[Tensor, Tensor, Tensor]:
    dtype = start.dtype

    def is_small(state: _State) -> Tensor:
        return _core.less_equal(largest(state.at.slope), tol)

    def goes_on(state: _State) -> Tensor:
        ended = _core.logical_or(is_small(state), state.at.stuck)
        return _core.logical_and(_core.less(state.at.nit, limit), _core.logical_not(ended))

    def step(state: _State) -> _State:
        at = state.at
        direction, scale = direction_of(at.slope, at.steps, at.changes, state.weights)
        noise = 100 * float(np.finfo(dtype).eps) * _core.maximum(_core.abs(at.value), 1)
        rounded = _core.less_equal(-dot(at.slope, direction), noise)
        trial = _line_search(f, at, direction, scale)
        moved = trial.t * direction
        change = trial.slope - at.slope
        curvature = dot(moved, change)
        fits = _core.greater(curvature, float(np.finfo(dtype).eps) * dot(change, change))
        weight = _core.where(fits, 1 / _core.where(fits, curvature, 1), 0)

        def pushed(old: Tensor, new: Tensor) -> Tensor:
            return _core.where(fits, _core.concat([old[1:], new[None]], 0), old)

        # Rounding errors may leave the value as it is: then the slope has to decrease.
        lower = _core.logical_or(
            _core.less(trial.value, at.value),
            _core.less(largest(trial.slope), largest(at.slope)),
        )
        better = _core.logical_and(_core.greater(trial.t, 0), lower)
        following = Iterate(
            _core.where(better, at.x + moved, at.x),
            _core.where(better, trial.value, at.value),
            _core.where(better, trial.slope, at.slope),
            pushed(at.steps, moved),
            pushed(at.changes, change),
            at.nit + 1,
            _core.logical_not(better),
        )
        return _State(following, pushed(state.weights, weight), rounded)

    state = _State(
        first_iterate(start, *with_slope(f, start)), _core.full((MEMORY,), 0, dtype),
        _core.full((), False, "bool"),
    )  # fmt: skip
    end: _State = while_loop(goes_on, step, state)
    enough = _core.logical_and(end.rounded, is_near(largest(end.at.slope), end.at.value))
    enough = _core.logical_and(end.at.stuck, enough)
    return end.at.x, succeeded(end.at.value, is_small(end), enough), end.at.nit


def _line_search(f: Any, state: Iterate, direction: Tensor, first: Tensor) -> _Trial:
    """Bisect until the weak Wolfe conditions are met; t is 0 if nothing decreases the value."""
    down = dot(state.slope, direction)
    noise = 4 * float(np.finfo(state.x.dtype).eps)

    def goes_on(trial: _Trial) -> Tensor:
        return _core.logical_and(_core.logical_not(trial.done), _core.less(trial.nit, _TRIALS))

    def step(trial: _Trial) -> _Trial:
        value, slope = with_slope(f, state.x + trial.t * direction)
        # False for NaN, so the step becomes smaller.
        lower = _core.less_equal(value, state.value + _DECREASE * trial.t * down)
        # Within rounding errors of the value, the slopes decide (Hager and Zhang, 2005).
        level = _core.less_equal(value, state.value + noise * _core.abs(state.value))
        falls = _core.less_equal(dot(slope, direction), (2 * _DECREASE - 1) * down)
        lower = _core.logical_or(lower, _core.logical_and(level, falls))
        finite = _core.isfinite(dot(slope, slope))
        lower = _core.logical_and(lower, finite)
        flat = _core.greater_equal(dot(slope, direction), _CURVATURE * down)
        done = _core.logical_and(lower, flat)
        low = _core.where(lower, trial.t, trial.low)
        high = _core.where(lower, trial.high, trial.t)
        bounded = _core.less(high, math.inf)
        middle = _core.where(bounded, 0.5 * (low + _core.where(bounded, high, 0)), 2 * trial.t)
        return _Trial(
            _core.where(done, trial.t, middle),
            low,
            high,
            value,
            slope,
            _core.where(lower, value, trial.low_value),
            _core.where(lower, slope, trial.low_slope),
            trial.nit + 1,
            done,
        )

    zero = _core.full((), 0, state.x.dtype)
    trial = _Trial(
        _core.cast(first, state.x.dtype), zero, zero + math.inf, state.value, state.slope,
        state.value, state.slope, _core.full((), 0, "int64"), _core.full((), False, "bool"),
    )  # fmt: skip
    end: _Trial = while_loop(goes_on, step, trial)
    # The last lower point is the accepted one, or the best one found.
    return end._replace(t=end.low, value=end.low_value, slope=end.low_slope)
