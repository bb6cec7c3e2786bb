"""`least_squares`: the method of Levenberg and Marquardt as a loop of the plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._autodiff.jacobian_blocks import JacobianBlocks
from .._base.hints import without
from .._control.branches import cond
from .._control.loops import while_loop
from .._core import Tensor
from .._numpy.diagonals import diag
from ..linalg import lstsq
from ._bounded import two_sides, with_bounds
from ._curvature import is_at_minimum
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
        vector. Python numbers take the dtype that `fun` returns for them; `fun` is then called once
        more. An array of integers becomes the default floating dtype.
    args : tuple, optional
        Further arguments of `fun`, tensors or pytrees. A single argument needs no tuple.
    bounds : pair of array_like, optional
        Lower and upper bounds as in SciPy: each is a number or has an entry for each one of x0, in
        the order of its leaves; an absent bound is infinite. `scipy.optimize.Bounds` is accepted.
        A start outside is moved to the bounds, and equal bounds fix a variable. Default: None.
    tol : float, optional
        The solver ends when a step without damping changes each variable by less than `tol` of its
        size, or the residuals by less than `tol` of their norm, or when rounding errors prevent a
        decrease next to the minimum. Columns of the Jacobian for variables at a bound, which the
        gradient leads beyond, do not count.
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
    scale: Tensor  # of each column: its largest norm so far, 0 if all were 0
    reach: Tensor  # of each variable: its largest distance from the start so far
    damping: Tensor
    growth: Tensor  # of the damping after a step that is not taken
    nit: Tensor
    converged: Tensor
    stuck: Tensor  # a short step did not reduce the residuals


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
    smallest, no = float(np.finfo(dtype).tiny), _core.full((), False, "bool")
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

    def is_orthogonal(x: Tensor, residuals: Tensor, matrix: Tensor) -> Tensor:
        size = _core.sqrt(dot(residuals, residuals))
        slope = slope_of(residuals, matrix)
        if bounds is not None:
            slope = _core.where(_is_fixed(x, slope, bounds), 0, slope)
        return _core.less_equal(largest(slope / (norms(matrix) + smallest)), tol * size)

    def goes_on(state: _State) -> Tensor:
        ended = _core.logical_or(state.converged, state.stuck)
        return _core.logical_and(_core.less(state.nit, limit), _core.logical_not(ended))

    def moved(x: Tensor, residuals: Tensor, matrix: Tensor, below: Tensor, scale: Tensor) -> Tensor:
        """Return x after a step; the rows `below` are those of the damping."""
        # Not finite only in vmap, for an entry that has ended.
        valid = is_finite(residuals, matrix)
        left = _core.concat([_core.where(valid, matrix, 0), below], 0)
        left = _core.where(valid, left, 0)
        right = _core.concat([_core.where(valid, -residuals, 0), 0 * below[:, 0]], 0)
        # Columns of equal norms: the rank does not depend on the units of the variables.
        scale = _core.where(_core.greater(scale, 0), scale, 1)
        if bounds is None:
            return x + lstsq(left / scale, right)[0] / scale
        fixed = _is_fixed(x, slope_of(residuals, matrix), bounds)
        return _bounded_step(x, left, right, fixed, bounds, scale)

    def is_short(move: Tensor, x: Tensor, reach: Tensor, tol: float = tol) -> Tensor:
        size = _core.abs(x) + tol * reach
        return _core.all(_core.less_equal(_core.abs(move), tol * size))

    def has_converged(
        x: Tensor, residuals: Tensor, matrix: Tensor, reach: Tensor, tol: float = tol
    ) -> Tensor:
        """Test whether a step without damping is short, or hardly changes the residuals."""
        none = _core.full((0, start.shape[0]), 0, dtype)
        move = moved(x, residuals, matrix, none, norms(matrix)) - x
        change = _core.sum(matrix * move, [1])
        small = _core.less_equal(dot(change, change), tol * tol * dot(residuals, residuals))
        return _core.logical_or(small, is_short(move, x, reach, tol))

    def step(state: _State) -> _State:
        scale = _core.where(_core.greater(state.scale, 0), state.scale, 1)
        below = diag(_core.sqrt(state.damping) * scale)
        x = moved(state.x, state.residuals, state.matrix, below, scale)
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
        short = is_short(move, state.x, state.reach)
        x, residuals, matrix = (
            _core.where(better, new, old)
            for new, old in zip((x, residuals, matrix), state[:3], strict=True)
        )
        reach = _core.maximum(state.reach, _core.abs(x - start))
        # A step may be short only because of the damping, and columns may be almost parallel.
        orthogonal = is_orthogonal(x, residuals, matrix)
        ended = _core.logical_or(_core.logical_and(short, better), orthogonal)
        converged = cond(ended, has_converged, lambda *_: no, x, residuals, matrix, reach)
        return _State(
            x,
            residuals,
            matrix,
            _core.maximum(norms(matrix), state.scale),
            reach,
            _core.where(better, state.damping * shrink, state.damping * state.growth),
            _core.where(better, 2, 2 * state.growth),
            state.nit + 1,
            converged,
            _core.logical_and(short, _core.logical_not(better)),
        )

    # Residuals in units of the largest one at the start: their squares stay in the range of floats.
    size = largest(f(start))
    sized = _core.logical_and(_core.greater(size, smallest), _core.isfinite(size))
    unit = _core.exp2(-_core.floor(_core.log2(_core.where(sized, size, 1))))
    residuals, matrix = with_jacobian(scaled, start, who)
    state = _State(
        start, residuals, matrix, norms(matrix), 0 * start,
        _core.full((), 1e-3, dtype), _core.full((), 2, dtype), _core.full((), 0, "int64"),
        has_converged(start, residuals, matrix, 0 * start),
        _core.logical_not(is_finite(residuals, matrix)),
    )  # fmt: skip
    end: _State = while_loop(goes_on, step, state)
    finite = is_finite(end.residuals, end.matrix)
    # Rounding errors, of the residuals or of x, may prevent a decrease next to the minimum.
    eps = float(np.finfo(dtype).eps)
    loose = cond(
        end.stuck,
        partial(has_converged, tol=eps ** (1 / 3)),
        lambda *_: no,
        end.x, end.residuals, end.matrix, end.reach,
    )  # fmt: skip
    rounding = eps * _core.sum(norms(end.matrix) * _core.abs(end.x))
    zero = _core.less_equal(_core.sqrt(dot(end.residuals, end.residuals)), rounding)
    enough = _core.logical_or(loose, _core.logical_and(end.stuck, zero))
    # A column that vanishes at the minimum may remain parallel to the residuals next to it.
    doubtful = _core.logical_and(end.stuck, _core.logical_and(finite, _core.logical_not(enough)))
    far = 8 * eps**0.5 * (_core.abs(end.x) + end.reach)
    below, beyond = end.x - far, end.x + far
    fixed = _core.broadcast_to(no, start.shape)
    if bounds is not None:
        below, beyond = _core.maximum(below, bounds[0]), _core.minimum(beyond, bounds[1])
        fixed = _is_fixed(end.x, slope_of(end.residuals, end.matrix), bounds)

    def checked(state: Any) -> Any:
        _, _, *ends = state
        square = lambda x: _core.sum(_core.square(scaled(x)))  # noqa: E731
        return no, is_at_minimum(square, *ends), *ends

    # A loop of at most one iteration.
    begin = (doubtful, no, end.x, fixed, below, beyond)
    flat = while_loop(lambda state: state[0], checked, begin)[1]
    good = _core.logical_or(end.converged, _core.logical_or(enough, flat))
    return end.x, _core.logical_and(good, finite), end.nit


def _is_fixed(x: Tensor, slope: Tensor, bounds: tuple[Tensor, Tensor]) -> Tensor:
    """Return True for variables at a bound that a step downhill leads beyond."""
    low, high = bounds
    at_low = _core.logical_and(_core.less_equal(x, low), _core.greater(slope, 0))
    at_high = _core.logical_and(_core.greater_equal(x, high), _core.less(slope, 0))
    return _core.logical_or(at_low, at_high)


def _bounded_step(
    x: Tensor,
    left: Tensor,
    right: Tensor,
    fixed: Tensor,
    bounds: tuple[Tensor, Tensor],
    scale: Tensor,
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
        move = lstsq(_core.where(held, 0, left / scale), right - _core.sum(left * known, [1]))[0]
        move = _core.where(held, known, move / scale)
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
