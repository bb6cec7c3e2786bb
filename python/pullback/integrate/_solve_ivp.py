"""`solve_ivp`: its arguments, results and documentation. Start of the solution: `_mesh.py`."""

from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import in_result_dtype
from .._autodiff.rules import called, parameter_names, place
from .._base.checks import (
    choice,
    entries_stacked,
    floating,
    integer,
    number,
    start_of,
)
from .._base.hints import without
from .._core import Tensor
from .._numpy.display import result_text

_MESSAGES = {
    0: "The solver successfully reached the end of the integration interval.",
    1: "A termination event occurred.",
    -1: "The step size became too small, or max_steps were not enough: the solution or fun is "
    "infinite or not smooth there, the tolerances are too small, or the equation is stiff, for "
    "which method='Radau' is made.",
}


class OdeSolution:
    """Evaluate a solution of `solve_ivp` at any time; `sol` of its result.

    Attributes
    ----------
    t_min, t_max : Tensor
        Ends of the interval.

    Examples
    --------
    >>> result = pb.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True)
    >>> pb.round(result.sol([0.0, 0.5, 1.0]), 2)
    Tensor([[1.  , 0.61, 0.37]], dtype=float32)
    """

    def __init__(self, rows: Any, sign: Tensor, t_min: Tensor, t_max: Tensor) -> None:
        self._rows, self._sign = rows, sign
        self.t_min, self.t_max = t_min, t_max

    def __call__(self, t: Any) -> Tensor:
        """Return the solution at times.

        Parameters
        ----------
        t : array_like, real
            One time or a vector of times. Outside the interval the polynomials are extrapolated.

        Returns
        -------
        Tensor
            Solution of shape (n,) or (n, size of t).

        Examples
        --------
        >>> result = pb.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0], dense_output=True)
        >>> result.sol(0.0)
        Tensor([1.], dtype=float32)
        """
        from ._mesh import at_times

        times = _core.cast(_core.constant(t, who="OdeSolution"), self._sign.dtype.name)
        if len(times.shape) > 1:
            raise ValueError(f"OdeSolution: expected a time or a vector, got shape {times.shape}")
        value = at_times(self._rows, self._sign * times)
        return _core.transpose(value, [1, 0]) if times.shape else value


class OdeResult(NamedTuple):
    """Store the result of `solve_ivp`.

    Attributes
    ----------
    t : Tensor
        Times of shape (m,).
    y : Tensor
        Solution at the times, of shape (n, m).
    sol : OdeSolution or None
        The solution as a function of time, if `dense_output` is True.
    t_events, y_events : list of Tensor or None
        Times of each kind of event, and the solutions there.
    status : Tensor
        0: the end was reached. 1: an event ended the solution. -1: the solver failed.
    success : Tensor
        True unless the solver failed.
    message : str
        The status in words; reading it evaluates the result.

    Examples
    --------
    >>> result = pb.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0])
    >>> bool(result.success), result.message
    (True, 'The solver successfully reached the end of the integration interval.')
    """

    t: Tensor
    y: Tensor
    sol: Any
    t_events: Any
    y_events: Any
    status: Tensor
    success: Tensor

    @property
    def message(self) -> str:
        """Return the status in words."""
        if _core.is_traced(self.status):
            return "The status is not known while a function is traced."
        return _MESSAGES[int(np.min(self.status.numpy()))]

    def __repr__(self) -> str:
        names = ("message", "success", "status", "t", "y", "sol", "t_events", "y_events")
        return result_text(self, *names)


@without(
    jac="the Jacobian is computed by automatic differentiation",
    jac_sparsity="the Jacobian is computed by automatic differentiation",
    vectorized="fun receives one state",
    min_step="the smallest step follows from the precision",
)
def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    args: Any = (),
    *,
    rtol: float = 1e-3,
    atol: float = 1e-6,
    max_step: float = inf,
    first_step: float | None = None,
    max_steps: int = 10_000,
) -> OdeResult:
    """Solve a system of ordinary differential equations, y' = fun(t, y), with events.

    The solver is a loop of the plan. Results are differentiable in `y0`, both ends of `t_span`,
    `t_eval`, `args` and all tensors that the functions use. The derivatives are those of the
    accepted steps, with their sizes as constants, up to the end; derivatives of the times of events
    follow from the implicit function theorem, up to the third order. See `odeint` for pytrees and
    for the continuous adjoint.

    Parameters
    ----------
    fun : callable
        Function `fun(t, y, *args)` of operations of this library. It returns the derivative of y,
        of the shape of y, or a list of its entries. Decisions that depend on values are made by
        `cond` or `where`.
    t_span : pair of array_like, scalar
        First and last time; the last may be the smaller one.
    y0 : array_like
        Initial value of shape (n,), float32 or float64. A list of numbers is a vector, of the dtype
        that `fun` returns for it; `fun` is then called once more. An array of integers becomes the
        default floating dtype.
    method : {"RK45", "Radau"}, optional
        "RK45": method of Dormand and Prince of order 5(4) [1]_. "Radau": implicit method Radau IIA
        of order 5 for stiff equations [2]_; it forms matrices of 3n rows. Default: "RK45".
    t_eval : array_like, optional
        Times of the result, in the order of `t_span`. Default: the ends of the steps.
    dense_output : bool, optional
        If True, the result has `sol`. Default: False.
    events : callable or list of callable, optional
        Functions `event(t, y, *args)` that return a scalar. An event is a change of its sign
        within a step. The attribute `direction` of a function, if positive or negative, restricts
        events to changes to positive or negative values. The attribute `terminal`, True or a
        number of occurrences, ends the solution.
    args : tuple, optional
        Further arguments of the functions. A single argument needs no tuple.
    rtol, atol : float, optional
        Tolerances of a step: the root mean square of the errors of the entries, each divided by
        atol + rtol * |y|, is at most 1. Defaults: 1e-3 and 1e-6.
    max_step : float, optional
        Largest size of a step. Default: no limit.
    first_step : float, optional
        Size of the first step. Default: an estimate.
    max_steps : int, optional
        Largest number of steps, including rejected ones. Default: 10,000.

    Returns
    -------
    OdeResult
        If the solver fails, `success` is False, `message` states the reason, and the result ends
        at the last step. Inside a traced function, where values are not known, arrays of unknown
        size have `max_steps` entries, at the end of which NaN take the place of absent ones; NaN
        also replaces the solution at times of `t_eval` that were not reached. Pass a small
        `max_steps` there, since it determines the memory.

    Raises
    ------
    TypeError
        If `fun` is not callable, or a dtype is unsuitable.
    ValueError
        If a shape, an option, or an order of times is invalid.

    See Also
    --------
    odeint

    References
    ----------
    .. [1] J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comput.
       Appl. Math. 6, 1980.
    .. [2] E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section IV.8.

    Examples
    --------
    >>> import numpy as np
    >>> def fall(t, y):
    ...     return [y[1], -9.81]
    >>> def ground(t, y):
    ...     return y[0]
    >>> ground.terminal, ground.direction = True, -1
    >>> def time_of_impact(height):
    ...     start = pb.stack([height, 0.0])
    ...     return pb.integrate.solve_ivp(fall, (0, 10), start, events=ground).t_events[0][0]
    >>> height = np.float64(10.0)
    >>> pb.round(time_of_impact(height), 6), pb.round(pb.grad(time_of_impact)(height), 6)
    (Tensor(1.427843, dtype=float64), Tensor(0.071392, dtype=float64))
    """
    from ._dormand_prince import Tolerance
    from ._events import compact, event_times  # imported at the first use
    from ._mesh import EVENT, FAILED, Problem, at_times, solve_mesh

    who = "solve_ivp"
    choice(method, ("RK45", "Radau"), who, "method")
    if not callable(fun):
        raise TypeError(f"{who}: expected a function for fun, got {_core.shown(fun)}")
    if parameter_names(fun)[:2] == ["y", "t"]:
        raise TypeError(
            f"{who}: expected a function of (t, y, *args), got {place(fun)} of (y, t); exchange "
            "its parameters, or use integrate.odeint"
        )
    y = start_of(y0, who)
    y = floating(y, f"{who}: y0", "fc")
    if len(y.shape) != 1 or not y.size:
        raise ValueError(f"{who}: expected a vector with entries for y0, got shape {y.shape}")
    if y.dtype.name not in ("float32", "float64"):
        raise TypeError(
            f"{who}: expected float32 or float64 for y0, got {y.dtype}; integrate.odeint takes "
            "complex values"
        )
    theta = args if isinstance(args, tuple) else (args,)
    first, last = _span(t_span, y.dtype.name, who)
    y = in_result_dtype(
        y, y0, lambda at: called(fun, who, "(t, y, *args)", first, at, *theta),
        f"{who} of {place(fun)}",
    )  # fmt: skip
    real = y.dtype.name
    first, last = _span(t_span, real, who)
    one = _core.full((), 1, real)
    sign = _core.where(_core.less(_core.stop_gradient(last), _core.stop_gradient(first)), -one, one)

    @wraps(fun)  # so errors name fun
    def field(y: Tensor, t: Tensor) -> Tensor:
        made = entries_stacked(called(fun, who, "(t, y, *args)", sign * t, y, *theta), who)
        slope = _core.constant(made, None if hasattr(made, "dtype") else real, who)
        if slope.shape != y.shape:
            raise ValueError(
                f"{who}: expected shape {y.shape}, that of y0, from {place(fun)}, got {slope.shape}"
            )
        if slope.dtype != y.dtype:
            raise TypeError(
                f"{who}: expected dtype {real}, that of y0, from {place(fun)}, got {slope.dtype}; "
                "cast it"
            )
        return sign * slope

    eps = float(np.finfo(real).eps)
    tolerance = Tolerance(
        max(_positive(rtol, who, "rtol"), 100 * eps), number(atol, who, "atol"),
        integer(max_steps, who, "max_steps"),
    )  # fmt: skip
    if not tolerance.atol >= 0 or tolerance.max_steps < 1:
        raise ValueError(
            f"{who}: expected atol >= 0 and max_steps >= 1, got {atol} and {max_steps}"
        )
    given = (
        [] if events is None else list(events) if isinstance(events, (list, tuple)) else [events]
    )
    known = [_event(event, theta, sign, real, who) for event in given]
    rows, status = solve_mesh(Problem(
        field, sign * first, sign * last, y, method, known, tolerance,
        _positive(max_step, who, "max_step"),
        None if first_step is None else _positive(first_step, who, "first_step"),
    ))  # fmt: skip
    found, end = event_times(known, rows)
    ended = _core.equal(status, EVENT)
    end = _core.where(ended, end, rows.end[-1])
    if t_eval is None:
        # The last step may go beyond the event that ends the solution.
        beyond = _core.greater(rows.end, end)
        times = _core.where(beyond, end, rows.end)
        values = _core.where(beyond[:, None], at_times(rows, end), rows.last)
        kept = _core.concat([_core.full((1,), True, "bool"), rows.accepted], 0)
        t, ys = compact(
            kept,
            _core.concat([(sign * first)[None], times], 0),
            _core.concat([y[None], values], 0),
        )
    else:
        wanted = sign * _times(t_eval, first, last, real, who)
        t, ys = compact(_core.less_equal(wanted, end), wanted, at_times(rows, wanted))
    t_events, y_events = [], []
    for active, t_event, y_event in found:
        kept = _core.logical_and(active, _core.less_equal(t_event, end))
        at, state = compact(kept, t_event, y_event)
        t_events.append(sign * at)
        y_events.append(state)
    sol = OdeSolution(rows, sign, first, sign * end) if dense_output else None
    return OdeResult(
        sign * t, _core.transpose(ys, [1, 0]), sol, None if events is None else t_events,
        None if events is None else y_events, status, _core.not_equal(status, FAILED),
    )  # fmt: skip


def _positive(value: Any, who: str, name: str) -> float:
    made = number(value, who, name)
    if not made > 0:
        raise ValueError(f"{who}: expected {name} > 0, got {made}")
    return made


def _span(t_span: Any, real: str, who: str) -> list[Tensor]:
    pair = isinstance(t_span, (list, tuple)) or getattr(t_span, "shape", ()) == (2,)
    if not pair or len(t_span) != 2:
        raise ValueError(f"{who}: expected two times for t_span, got {_core.shown(t_span)}")
    made = [_core.constant(t_span[k], who=f"{who}: t_span") for k in range(2)]
    for t in made:
        if t.shape != () or t.dtype.kind not in "iuf":
            raise ValueError(
                f"{who}: expected two real numbers for t_span, got {t.dtype} of shape {t.shape}"
            )
    return [
        _core.cast(t, real) if hasattr(given, "dtype") else _core.constant(float(given), real)
        for t, given in zip(made, t_span, strict=True)
    ]


def _times(t_eval: Any, first: Tensor, last: Tensor, real: str, who: str) -> Tensor:
    given = np.asarray(t_eval) if isinstance(t_eval, (list, tuple)) else t_eval
    t = _core.cast(_core.constant(given, who=f"{who}: t_eval"), real)
    if len(t.shape) != 1:
        raise ValueError(f"{who}: expected a vector for t_eval, got shape {t.shape}")
    if _core.is_traced(t) or _core.is_traced(first) or _core.is_traced(last):
        return t
    values, ends = t.numpy(), (first.numpy(), last.numpy())
    if np.any(values < min(ends)) or np.any(values > max(ends)):
        raise ValueError(f"{who}: expected times inside t_span for t_eval")
    if np.any(np.diff(values) * (-1 if ends[1] < ends[0] else 1) <= 0):
        raise ValueError(f"{who}: expected times in the order of t_span for t_eval")
    return t


def _event(event: Any, theta: Any, sign: Tensor, real: str, who: str) -> Any:
    from ._mesh import Event

    if not callable(event):
        raise TypeError(f"{who}: expected functions for events, got {_core.shown(event)}")

    def f(t: Tensor, y: Tensor) -> Tensor:
        made = called(event, who, "(t, y, *args)", sign * t, y, *theta)
        value = _core.constant(made, None if hasattr(made, "dtype") else real, who)
        if value.size != 1 or value.dtype.kind != "f":
            raise ValueError(
                f"{who}: expected a real scalar from the event {place(event)}, got {value.dtype} "
                f"of shape {value.shape}"
            )
        return _core.cast(_core.reshape(value, ()), real)

    occurrences = int(getattr(event, "terminal", 0) or 0)
    return Event(f, float(getattr(event, "direction", 0)), occurrences)
