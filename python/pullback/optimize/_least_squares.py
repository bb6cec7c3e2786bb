"""`least_squares`: the method of Levenberg and Marquardt as a loop of the plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._autodiff.jacobian_blocks import JacobianBlocks
from .._base.hints import without
from .._control.loops import while_loop
from .._core import Tensor
from .._numpy.diagonals import diag
from ..linalg import lstsq
from ._bounded import two_sides, with_bounds
from ._result import OptimizeResult, arguments, dot, largest, most, solve_on_plan, tolerance

_ROUNDS = 10  # of the search for the bounds of a step, in addition to one for each variable


@without(
    jac="derivatives are computed by automatic differentiation",
    xtol="pass tol",
    ftol="pass tol",
    gtol="pass tol",
    max_nfev="pass maxiter",
    method="the method is that of Levenberg and Marquardt",
    x_scale="the columns of the Jacobian are scaled by their norms",
    loss="apply the square root of the loss to the residuals",
    f_scale="divide the residuals",
    diff_step="derivatives are computed by automatic differentiation",
    tr_solver="each step is a QR factorisation",
    tr_options="each step is a QR factorisation",
    jac_sparsity="derivatives are computed by automatic differentiation",
    verbose="the result has nit, status and message",
    kwargs="pass args, or a function that has them",
    callback="the steps are a loop of the plan",
    workers="derivatives are computed by automatic differentiation",
)
def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    *,
    bounds: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
) -> OptimizeResult:
    """Minimize the sum of squares of residuals by the method of Levenberg and Marquardt.

    The solver is a loop of the plan. It forms the Jacobian, and solves each damped system [1]_ by a
    QR factorisation; the damping follows [2]_. Derivatives of the minimum with respect to `args`
    are those of `implicit.minimum`: the second derivatives of the residuals are part of them.
    Within bounds, a step ends at the bounds that it reaches, and the derivatives are those of the
    free variables; a variable at a bound has the derivative of the bound. They are one-sided if the
    gradient by a variable at a bound is 0.

    Parameters
    ----------
    fun : callable
        Function `fun(x, *args)` of operations of this library that returns the residuals, a tensor
        or a pytree of tensors of the dtype of `x0`. Decisions that depend on values are made by
        `cond` or `where`.
    x0 : array_like or pytree of array_like
        Start; its leaves have a single dtype, float32 or float64. A list or tuple of numbers is a
        vector; an array of integers becomes the default floating dtype.
    args : tuple, optional
        Further arguments of `fun`, tensors or pytrees. A single argument needs no tuple.
    bounds : pair of array_like, optional
        Lower and upper bounds as in SciPy: each is a number or has an entry for each one of x0, in
        the order of its leaves; an absent bound is infinite. `scipy.optimize.Bounds` is accepted.
        A start outside is moved to the bounds, and equal bounds fix a variable. Default: None.
    tol : float, optional
        The solver ends when a step changes `x` by less than ``tol`` of its size, or when the
        residuals are orthogonal to the columns of the Jacobian within `tol` (the cosine of the
        angle). Columns of variables at a bound, which the gradient leads beyond, do not count.
        Default: the square root of the machine precision.
    maxiter : int, optional
        Largest number of steps. Default: 200.

    Returns
    -------
    OptimizeResult
        `x` has the structure of `x0`; `fun` has the residuals. If the solver fails, `success` is
        False, `message` states the reason, and gradients of the result are NaN.

    Raises
    ------
    TypeError
        If `x0` has another dtype, the residuals have another dtype than `x0`, or `bounds` has
        another type.
    ValueError
        If `fun` does not depend on x, `tol` or `maxiter` is not positive, the number of bounds is
        wrong or a lower bound is larger than the upper one.

    See Also
    --------
    optimize.minimize, linalg.lstsq

    References
    ----------
    .. [1] J. J. More, The Levenberg-Marquardt algorithm: implementation and theory, 1978.
    .. [2] H. B. Nielsen, Damping parameter in Marquardt's method, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0.0, 4.0, 9)
    >>> data = pb.Variable(3.0 * np.exp(-0.5 * t))
    >>> residuals = lambda x, data: x[0] * pb.exp(-x[1] * t) - data
    >>> result = pb.optimize.least_squares(residuals, np.array([1.0, 1.0]), data)
    >>> bool(result.success), pb.round(result.x, 6)
    (True, Tensor([3. , 0.5], dtype=float64))
    """
    who = "least_squares"
    limit = most(maxiter, 200, who)

    def solver(f: Any, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        made = tolerance(tol, start.dtype, 0.5, who)
        if bounds is None:
            return _levenberg(f, start, None, made, limit, who)
        n = start.shape[0]
        low, high = f(start)[-2 * n : -n], f(start)[-n:]
        x, success, nit = _levenberg(
            wraps(fun)(lambda x: f(x)[: -2 * n]), start, (low, high), made, limit, who
        )
        # Bounds of a trace are checked here.
        return x, _core.logical_and(success, _core.all(_core.less_equal(low, high))), nit

    if bounds is not None:
        theta = (*two_sides(bounds, who), *arguments(args))
        within = with_bounds(fun, who)
        return solve_on_plan(within, x0, theta, solver, limit, "bounded least_squares", who)
    return solve_on_plan(fun, x0, args, solver, limit, "least_squares", who)


class _State(NamedTuple):
    x: Tensor
    residuals: Tensor
    matrix: Tensor  # the Jacobian
    scale: Tensor  # of each column: its largest norm so far
    damping: Tensor
    growth: Tensor  # of the damping after a step that is not taken
    nit: Tensor
    converged: Tensor
    stuck: Tensor  # a step that is short because of the damping did not reduce the residuals


def with_jacobian(f: Any, x: Tensor, who: str) -> tuple[Tensor, Tensor]:
    """Return the residuals and their Jacobian, by columns if it has fewer of them than rows."""
    at = _core.identity(x)
    with recorded_from([at]):
        residuals = f(at)
        ((matrix,),) = JacobianBlocks([residuals], [at], "auto", "auto", who).all()
    return residuals, matrix


def _levenberg(
    f: Any, start: Tensor, bounds: tuple[Tensor, Tensor] | None, tol: float, limit: int, who: str
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = start.dtype
    smallest = float(np.finfo(dtype).tiny)
    if bounds is not None:
        start = _core.minimum(_core.maximum(start, bounds[0]), bounds[1])

    def norms(matrix: Tensor) -> Tensor:
        return _core.sqrt(_core.sum(matrix * matrix, [0]))

    def scaled(x: Tensor) -> Tensor:
        return f(x) * unit  # type: ignore[no-any-return]

    def is_finite(residuals: Tensor, matrix: Tensor) -> Tensor:
        return _core.isfinite(dot(residuals, residuals) + _core.sum(matrix * matrix))

    def slope_of(residuals: Tensor, matrix: Tensor) -> Tensor:
        return _core.sum(matrix * residuals[:, None], [0])

    def is_orthogonal(x: Tensor, residuals: Tensor, matrix: Tensor, tol: float = tol) -> Tensor:
        size = _core.sqrt(dot(residuals, residuals))
        slope = slope_of(residuals, matrix)
        if bounds is not None:
            slope = _core.where(_is_fixed(x, slope, bounds), 0, slope)
        return _core.less_equal(largest(slope / (norms(matrix) + smallest)), tol * size)

    def goes_on(state: _State) -> Tensor:
        ended = _core.logical_or(state.converged, state.stuck)
        return _core.logical_and(_core.less(state.nit, limit), _core.logical_not(ended))

    def step(state: _State) -> _State:
        below = diag(_core.sqrt(state.damping) * state.scale)
        # Not finite only in vmap, for an entry that has ended.
        valid = is_finite(state.residuals, state.matrix)
        left = _core.concat([_core.where(valid, state.matrix, 0), below], 0)
        left = _core.where(valid, left, 0)
        right = _core.concat([_core.where(valid, -state.residuals, 0), 0 * state.x], 0)
        if bounds is None:
            x = state.x + lstsq(left, right)[0]
        else:
            slope = slope_of(state.residuals, state.matrix)
            x = _bounded_step(state.x, left, right, _is_fixed(state.x, slope, bounds), bounds)
        move = x - state.x
        residuals, matrix = with_jacobian(scaled, x, who)
        before = dot(state.residuals, state.residuals)
        gain = before - dot(residuals, residuals)
        linear = state.residuals + _core.sum(state.matrix * move, [1])
        expected = before - dot(linear, linear)
        # False for NaN, so the step becomes smaller.
        better = _core.logical_and(_core.greater(gain, 0), is_finite(residuals, matrix))
        # At bounds the expected gain may be negative.
        usable = _core.logical_and(better, _core.greater(expected, 0))
        ratio = _core.where(usable, gain / _core.where(usable, expected, 1), 0)
        shrink = _core.maximum(1 - _core.pow(2 * ratio - 1, 3), 1 / 3)
        short = _core.less_equal(largest(move), tol * (largest(state.x) + tol))
        x, residuals, matrix = (
            _core.where(better, new, old)
            for new, old in zip((x, residuals, matrix), state[:3], strict=True)
        )
        orthogonal = is_orthogonal(x, residuals, matrix)
        return _State(
            x,
            residuals,
            matrix,
            _core.maximum(norms(matrix), state.scale),
            _core.where(better, state.damping * shrink, state.damping * state.growth),
            _core.where(better, 2, 2 * state.growth),
            state.nit + 1,
            _core.logical_or(_core.logical_and(short, better), orthogonal),
            _core.logical_and(short, _core.logical_not(better)),
        )

    # Residuals in units of the largest one at the start: their squares stay in the range of floats.
    size = largest(f(start))
    sized = _core.logical_and(_core.greater(size, smallest), _core.isfinite(size))
    unit = _core.exp2(-_core.floor(_core.log2(_core.where(sized, size, 1))))
    residuals, matrix = with_jacobian(scaled, start, who)
    scale = norms(matrix)
    state = _State(
        start, residuals, matrix, _core.where(_core.greater(scale, 0), scale, 1),
        _core.full((), 1e-3, dtype), _core.full((), 2, dtype), _core.full((), 0, "int64"),
        is_orthogonal(start, residuals, matrix), _core.logical_not(is_finite(residuals, matrix)),
    )  # fmt: skip
    end: _State = while_loop(goes_on, step, state)
    finite = is_finite(end.residuals, end.matrix)
    # Rounding errors may prevent a decrease next to the minimum.
    loose = float(np.finfo(dtype).eps ** (1 / 3))
    enough = _core.logical_and(end.stuck, is_orthogonal(end.x, end.residuals, end.matrix, loose))
    good = _core.logical_or(end.converged, enough)
    return end.x, _core.logical_and(good, finite), end.nit


def _is_fixed(x: Tensor, slope: Tensor, bounds: tuple[Tensor, Tensor]) -> Tensor:
    """Return True for variables at a bound that a step downhill leads beyond."""
    low, high = bounds
    at_low = _core.logical_and(_core.less_equal(x, low), _core.greater(slope, 0))
    at_high = _core.logical_and(_core.greater_equal(x, high), _core.less(slope, 0))
    return _core.logical_or(at_low, at_high)


def _bounded_step(
    x: Tensor, left: Tensor, right: Tensor, fixed: Tensor, bounds: tuple[Tensor, Tensor]
) -> Tensor:
    """Return x after the step that minimizes the norm of ``left @ step - right`` within bounds.

    This is the primal-dual active set method of M. Hintermüller, K. Ito and K. Kunisch (2002). It
    may cycle, unless the damping is large; then the last iterate is projected.
    """
    low, high = bounds
    n = x.shape[0]

    def goes_on(state: Any) -> Tensor:
        return _core.logical_and(state[3], _core.less(state[4], n + _ROUNDS))

    def solved(state: Any) -> Any:
        held, goal, _, _, count = state
        known = _core.where(held, goal - x, 0)
        move = lstsq(_core.where(held, 0, left), right - _core.sum(left * known, [1]))[0]
        move = _core.where(held, known, move)
        trial = _core.where(held, goal, x + move)
        slope = _core.sum(left * (_core.sum(left * move, [1]) - right)[:, None], [0])
        stays = _core.logical_and(held, _is_fixed(goal, slope, bounds))
        below = _core.less(trial, low)
        beyond = _core.logical_or(below, _core.greater(trial, high))
        goal = _core.where(beyond, _core.where(below, low, high), goal)
        holds = _core.logical_or(stays, beyond)
        changed = _core.any(_core.not_equal(held, holds))
        return holds, goal, trial, changed, count + 1

    start = (fixed, x, x, _core.full((), True, "bool"), _core.full((), 0, "int64"))
    trial = while_loop(goes_on, solved, start)[2]
    return _core.minimum(_core.maximum(trial, low), high)
