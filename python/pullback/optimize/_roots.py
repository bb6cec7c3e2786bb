"""`root` by Newton's method and `bisect`, as loops of the plan."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._autodiff.forward import jvp
from .._autodiff.jacobian import jacobian
from .._autodiff.rules import place
from .._base.checks import made_floating
from .._base.hints import without
from .._control.loops import while_loop
from .._core import Tensor
from .._typing import TensorLike
from ..implicit._equation import has_dtype, solution_on_plan
from ..implicit._linear_solve import MOST_DENSE
from ..linalg import gmres, lstsq
from ._result import (
    OptimizeResult,
    arguments,
    dot,
    largest,
    most,
    solve_on_plan,
    tolerance,
)

_HALVINGS = 30  # of a step
_KRYLOV_TOLERANCE = 1e-4
_KRYLOV_CYCLES = 4
_MOST_FORMED = 1024  # unknowns of a Jacobian that is formed if GMRES stagnates


@without(
    method="the method is that of Newton",
    jac="derivatives are computed by automatic differentiation",
    options="pass tol and maxiter",
    callback="the steps are a loop of the plan",
)
def root(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    *,
    tol: float | None = None,
    maxiter: int | None = None,
) -> OptimizeResult:
    """Solve a system of equations by Newton's method.

    The solver is a loop of the plan. For up to 128 unknowns it forms the Jacobian; for more it
    solves for the steps by GMRES from products with the Jacobian [1]_; if GMRES stagnates, the
    Jacobian of up to 1024 unknowns is formed. A step is halved until the norm of `fun` decreases.
    Derivatives of the root with respect to `args` are those of `implicit.root`.

    Parameters
    ----------
    fun : callable
        Function `fun(x, *args)` of operations of this library. It returns a result of the
        structure, shapes and dtype of x. Decisions that depend on values are made by `cond` or
        `where`.
    x0 : array_like or pytree of array_like
        Start; its leaves have a single dtype, float32 or float64. A list or tuple of numbers is a
        vector. Python numbers take the dtype that `fun` returns for them; `fun` is then called once
        more. An array of integers becomes the default floating dtype.
    args : tuple, optional
        Further arguments of `fun`, tensors or pytrees. A single argument needs no tuple.
    tol : float, optional
        The solver ends when a whole step changes `x` by less than `tol` of its size, and reduces
        `fun` or is followed by another such step. Default: the square root of the machine
        precision.
    maxiter : int, optional
        Largest number of steps. Default: 100.

    Returns
    -------
    OptimizeResult
        `x` and `fun` have the structure of `x0`. If the solver fails, `success` is False, `message`
        states the reason, and gradients of the result are NaN.

    Raises
    ------
    TypeError
        If `x0` or the result of `fun` has another dtype.
    ValueError
        If `fun` returns another shape or does not depend on x, or `tol` or `maxiter` is not
        positive.
    numpy.linalg.LinAlgError
        When the result is evaluated: if a Jacobian of up to 128 unknowns is singular.

    See Also
    --------
    implicit.root, optimize.bisect

    References
    ----------
    .. [1] D. A. Knoll and D. E. Keyes, Jacobian-free Newton-Krylov methods: a survey of approaches
       and applications, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> a = pb.Variable(np.array([2.0, 10.0]))
    >>> result = pb.optimize.root(lambda x, a: x**3 + x - a, np.ones(2), a)
    >>> pb.round(result.x, 6), pb.round(pb.gradients(result.x, a)[0], 6)
    (Tensor([1., 2.], dtype=float64), Tensor([0.25    , 0.076923], dtype=float64))
    """
    who = "root"
    limit = most(maxiter, 100, who)

    def solver(f: Any, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _newton(f, start, tolerance(tol, start.dtype, 0.5, who), limit)

    return solve_on_plan(fun, x0, args, solver, limit, "root", who)


class _State(NamedTuple):
    x: Tensor
    value: Tensor
    nit: Tensor
    converged: Tensor
    stuck: Tensor
    short: Tensor  # the last step was whole and short


class _Halving(NamedTuple):
    t: Tensor
    value: Tensor
    nit: Tensor
    lower: Tensor


def _newton(f: Any, start: Tensor, tol: float, limit: int) -> tuple[Tensor, Tensor, Tensor]:
    tiny = float(np.finfo(start.dtype).eps) ** 0.75

    def goes_on(state: _State) -> Tensor:
        ended = _core.logical_or(state.converged, state.stuck)
        return _core.logical_and(_core.less(state.nit, limit), _core.logical_not(ended))

    def step(state: _State) -> _State:
        move, solved = _newton_step(f, state.x, state.value)
        before = _core.sqrt(dot(state.value, state.value))

        def too_long(trial: _Halving) -> Tensor:
            return _core.logical_and(
                _core.logical_not(trial.lower), _core.less(trial.nit, _HALVINGS)
            )

        def halved(trial: _Halving) -> _Halving:
            t = _core.where(_core.equal(trial.nit, 0), 1, 0.5 * trial.t)
            value = f(state.x + t * move)
            # False for NaN, so the step becomes smaller.
            lower = _core.less_equal(_core.sqrt(dot(value, value)), (1 - 1e-4 * t) * before)
            return _Halving(t, value, trial.nit + 1, lower)

        first = _Halving(
            _core.full((), 1, start.dtype), state.value, _core.full((), 0, "int64"),
            _core.full((), False, "bool"),
        )  # fmt: skip
        end: _Halving = while_loop(too_long, halved, first)
        x = _core.where(end.lower, state.x + end.t * move, state.x)
        value = _core.where(end.lower, end.value, state.value)
        distance, size = largest(move), largest(state.x) + tol
        whole = _core.logical_and(solved, _core.logical_or(_core.equal(end.t, 1), ~end.lower))
        short = _core.logical_and(whole, _core.less_equal(distance, tol * size))
        # A jump has short steps too. Next to a root the step reduces the value much or the next one
        # is short as well, unless rounding errors of f prevent a decrease.
        rounded = _core.less_equal(distance, min(tol, tiny) * size)
        much = _core.less_equal(dot(value, value), 1e-6 * before * before)
        sure = _core.logical_or(_core.logical_or(much, rounded), state.short)
        zero = _core.equal(largest(value), 0)
        return _State(
            x, value, state.nit + 1, _core.logical_or(_core.logical_and(short, sure), zero),
            _core.logical_not(end.lower), short,
        )  # fmt: skip

    value = f(start)
    finite = _core.isfinite(largest(value))
    state = _State(
        start, value, _core.full((), 0, "int64"), _core.equal(largest(value), 0),
        _core.logical_not(finite), _core.full((), False, "bool"),
    )  # fmt: skip
    last: _State = while_loop(goes_on, step, state)
    return last.x, last.converged, last.nit


def _newton_step(f: Any, x: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    """Return a step, and whether it solves the linear system."""
    at = _core.identity(x)
    if x.shape[0] <= MOST_DENSE:
        with recorded_from([at]):
            (matrix,) = jacobian(f(at), [at], None, True)
        assert matrix is not None  # zeros in place of None
        return _core.equation(matrix, -value, "root"), _core.full((), True, "bool")

    def product(v: Tensor) -> Tensor:
        tangent: Tensor = jvp(f, (x,), (v,))[1]
        return tangent

    found: Tensor = gmres(product, -value, rtol=_KRYLOV_TOLERANCE, maxiter=_KRYLOV_CYCLES)[0]
    size = 10 * _KRYLOV_TOLERANCE * _core.sqrt(dot(value, value))

    def is_solution(found: Tensor) -> Tensor:
        rest = product(found) + value
        return _core.less_equal(_core.sqrt(dot(rest, rest)), size)

    solved = is_solution(found)
    if x.shape[0] <= _MOST_FORMED:
        # A loop, unlike a branch, is skipped in vmap if no entry of the batch needs it.
        def formed(state: Any) -> Any:
            at = _core.where(state[1], x, x)  # computed in the loop, not before it
            with recorded_from([at]):
                (matrix,) = jacobian(f(at), [at], None, True)
            assert matrix is not None  # zeros in place of None
            return lstsq(matrix, -value)[0], False

        found = while_loop(lambda state: state[1], formed, (found, _core.logical_not(solved)))[0]
        solved = is_solution(found)
    return found, solved


@without(
    full_output="the roots are the result alone; a root that was not found is NaN",
    disp="a root that was not found is NaN",
)
def bisect(
    f: Callable[..., Any],
    a: TensorLike,
    b: TensorLike,
    args: Any = (),
    *,
    xtol: float = 2e-12,
    rtol: float | None = None,
    maxiter: int = 100,
) -> Tensor:
    """Find roots between two points by bisection, elementwise.

    The solver is a loop of the plan. Derivatives with respect to `args` follow from the implicit
    function theorem; an entry costs one division.

    Parameters
    ----------
    f : callable
        Function `f(x, *args)` of operations of this library. Each entry of its result depends on
        the entry of x at the same place.
    a, b : array_like, real
        Ends of the intervals; they broadcast to the shape of the result of `f`. The values of `f`
        at both have different signs.
    args : tuple, optional
        Further arguments of `f`, tensors or pytrees. A single argument needs no tuple.
    xtol, rtol : float, optional
        The solver ends when each interval is shorter than ``xtol + rtol * abs(x)``. Default of
        `rtol`: 4 times the machine precision.
    maxiter : int, optional
        Largest number of halvings. Default: 100.

    Returns
    -------
    Tensor
        The roots, of the dtype to which `a` and `b` promote, or of the result of `f` if both are
        Python numbers. NaN if the signs at both ends are
        equal, or the interval is too long after `maxiter` halvings.

    Raises
    ------
    TypeError
        If `a` and `b` are not real or the result of `f` has another dtype.
    ValueError
        If the shapes do not broadcast, `f` returns another shape, or `maxiter` is not positive. If
        the values are known, that is, outside of a traced function: if the signs at both ends are
        equal.

    See Also
    --------
    optimize.root

    Examples
    --------
    >>> import numpy as np
    >>> a = pb.Variable(np.array([4.0, 9.0]))
    >>> x = pb.optimize.bisect(lambda x, a: x**2 - a, np.zeros(2), np.full(2, 10.0), a)
    >>> pb.round(x, 6), pb.round(pb.gradients(x, a)[0], 6)
    (Tensor([2., 3.], dtype=float64), Tensor([0.25    , 0.166667], dtype=float64))
    """
    who = "bisect"
    theta, limit = arguments(args), most(maxiter, 100, who)
    low, high = (_core.stop_gradient(made_floating(x, who)) for x in _core.operands([a, b], who))
    dtypes = [low.dtype, high.dtype]
    if not (has_dtype(a) or has_dtype(b)):  # numbers take the dtype of the result
        dtypes.append(made_floating(f(low, *theta), who).dtype)
    dtype = np.result_type(*dtypes).name
    low, high = _core.cast(low, dtype), _core.cast(high, dtype)
    shape = np.broadcast_shapes(low.shape, high.shape)
    low, high = _core.broadcast_to(low, shape), _core.broadcast_to(high, shape)
    relative = 4 * float(np.finfo(low.dtype).eps) if rtol is None else rtol
    brackets: list[Tensor] = []

    def solver(f: Any, start: Tensor) -> tuple[Tensor, Tensor]:
        end = _core.reshape(high, (-1,))
        first, last = f(start), f(end)
        valid = _core.less_equal(_core.sign(first) * _core.sign(last), 0)
        brackets.append(valid)

        def goes_on(state: _Interval) -> Tensor:
            width = _core.abs(state.high - state.low)
            wide = _core.greater(width, xtol + relative * _core.abs(state.high))
            return _core.logical_and(
                _core.less(state.nit, limit), _core.any(_core.logical_and(wide, valid))
            )

        def halve(state: _Interval) -> _Interval:
            middle = 0.5 * state.low + 0.5 * state.high
            same = _core.greater(_core.sign(f(middle)) * _core.sign(first), 0)
            return _Interval(
                _core.where(same, middle, state.low), _core.where(same, state.high, middle),
                state.nit + 1,
            )  # fmt: skip

        count = _core.full((), 0, "int64")
        made: _Interval = while_loop(goes_on, halve, _Interval(start, end, count))
        root_at_start = _core.equal(first, 0)
        x = _core.where(root_at_start, start, 0.5 * made.low + 0.5 * made.high)
        # False for NaN, and for an interval that is still too long.
        width = _core.abs(made.high - made.low)
        found = _core.less_equal(width, xtol + relative * _core.abs(made.high))
        found = _core.logical_or(_core.logical_and(valid, found), root_at_start)
        found = _core.logical_and(found, _core.logical_not(_core.isnan(f(x))))
        return _core.where(found, x, math.nan), found

    x = solution_on_plan(f, low, theta, solver, "elementwise root", who)[0]
    valid = brackets[0]
    if not _core.is_traced(valid) and not bool(_core.all(valid)):
        raise ValueError(
            f"{who}: expected values of {place(f)} with different signs at a and b; choose other "
            "ends"
        )
    return x  # type: ignore[no-any-return]


class _Interval(NamedTuple):
    low: Tensor
    high: Tensor
    nit: Tensor
