"""odeint: arguments and results, errors, and the two gradients."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from operator import index
from typing import Any, Literal

import numpy as np

from .. import _core
from .._autodiff.rules import called, place
from .._control.bodies import Nest
from .._core import Tensor, Variable
from ._adjoint import with_adjoint
from ._dormand_prince import GOOD, TOO_MANY, Solution, Tolerance, solve

WHO = "odeint"
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}


def odeint(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1e-6,
    atol: float = 1e-9,
    max_steps: int = 100_000,
    adjoint: Literal["discrete", "continuous"] = "discrete",
) -> Any:
    """Solve the ordinary differential equation y' = f(y, t, *args) with y(t[0]) = y0.

    The method is Dormand–Prince of order 5(4) with an interpolant of order 4 [1]_, so the steps do
    not depend on the requested times; no step goes beyond the last one. The solution is one
    operation, whose number of steps is determined when it is evaluated.

    Differentiable in `y0`, `t`, `args` and all tensors that `f` uses, any number of times. Forward
    mode differentiates the steps.

    Parameters
    ----------
    f : callable
        Function of y, in the structure of `y0`, a time, a tensor of shape (), and `args`. It
        returns the derivative of each part of y in its place. It is traced a few times and may use
        tensors from outside. A step evaluates it seven times, or six times if the previous step was
        accepted.
    y0 : array_like or pytree of array_like, floating or complex
        Initial value, of one dtype. Python numbers take that dtype.
    t : array_like, real
        Times of shape (n,), increasing or decreasing; equal times are permitted. They are cast to
        the precision of `y0`.
    *args : any
        Further arguments of `f`.
    rtol, atol : float, optional
        Tolerances of a step: the root mean square of the errors of the entries, each divided by
        atol + rtol * |y|, is at most 1. Defaults: 1e-6 and 1e-9.
    max_steps : int, optional
        Largest number of steps between the first and the last time. Default: 100000.
    adjoint : {"discrete", "continuous"}, optional
        Method of the gradient. "discrete" differentiates the accepted steps with their sizes as
        constants. It is exact for the computed numbers, and its memory grows with the number of
        steps. "continuous" solves the adjoint equation [2]_ backwards from the solution with the
        same tolerances, which determine its accuracy. It stores no steps. A stiff or chaotic
        solution cannot be integrated backwards; its gradient is then inaccurate or raises an error.
        Default: "discrete".

    Returns
    -------
    Tensor or pytree of Tensor
        The structure and dtype of `y0`; each part has an additional first axis of size n. The first
        entries are `y0`.

    Raises
    ------
    TypeError
        If `f` is not callable, a dtype is unsuitable, a tolerance is not a number, or `max_steps`
        is not an integer.
    ValueError
        If `t`, a tolerance, `max_steps`, `adjoint` or the result of `f` is invalid.
    RuntimeError
        If the step size becomes too small or `max_steps` are insufficient, as for a stiff equation.
        It is raised when the solution is evaluated, and names the time that was reached.

    References
    ----------
    .. [1] J. R. Dormand, P. J. Prince, "A family of embedded Runge-Kutta formulae", J. Comput.
       Appl. Math. 6, 1980.
    .. [2] R. T. Q. Chen, Y. Rubanova, J. Bettencourt, D. Duvenaud, "Neural ordinary differential
       equations", NeurIPS 2018.

    Examples
    --------
    >>> from pullback.integrate import odeint
    >>> ys = odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0])
    >>> pb.round(ys, 4)
    Tensor([1.    , 0.3679, 0.1353], dtype=float32)
    >>> end = lambda rate: odeint(lambda y, t: rate * y, 1.0, [0.0, 1.0])[1]
    >>> round(float(pb.grad(end)(0.5)), 4)  # of exp(rate)
    1.6487
    """
    if not callable(f):
        raise TypeError(f"{WHO}: expected a function for f, got {_core.shown(f)}")
    if adjoint not in ("discrete", "continuous"):
        raise ValueError(
            f"{WHO}: adjoint must be one of 'discrete', 'continuous'; got {_core.shown(adjoint)}"
        )
    tolerance = _tolerance(rtol, atol, max_steps)
    state = _State(f, y0, args)
    ts, sign = _times(t, state.real)
    y = state.joined(state.nest.tensors)
    if adjoint == "discrete":
        ys = _flat(state, ts, sign, tolerance, place(f))
    else:

        def solved(g: Any, y: Any, ts: Tensor) -> Any:
            inner = _State(g, y, ())
            return inner.apart(_flat(inner, ts, None, tolerance, place(f)), ts.shape)

        ys = with_adjoint(state.field, y, ts, place(f), solved)
    return state.apart(ys, ts.shape)


def _flat(state: _State, ts: Tensor, sign: int | None, tolerance: Tolerance, where: str) -> Tensor:
    """Return the solution as a vector for each time.

    `sign` is the sign of the direction of time, or None if it is unknown.
    """
    way: Any = sign
    if sign is None:
        real = ts.dtype.name
        forward = _core.stop_gradient(ts[-1] - ts[0]) >= 0
        way = _core.where(forward, _core.constant(1, real), _core.constant(-1, real))

    def field(y: Tensor, t: Tensor) -> Tensor:
        return state.field(y, t) if sign == 1 else way * state.field(y, way * t)

    rising = ts if sign == 1 else way * ts
    solution = solve(field, state.joined(state.nest.tensors), rising, tolerance)
    return _checked(solution, rising, way, tolerance, where)


class _State:
    """Represent a pytree of floating tensors as one vector, and `f` as a function of it."""

    def __init__(self, f: Callable[..., Any], y0: Any, args: tuple[Any, ...]) -> None:
        self.f = f
        self.args = args
        self.nest = Nest(y0, f"{WHO}: y0")
        self.dtype = _dtype_of(self.nest)
        self.real = REAL[self.dtype]
        self.nest.tensors = [_core.cast(x, self.dtype) for x in self.nest.tensors]
        self.shapes = [x.shape for x in self.nest.tensors]
        self.sizes = [prod(shape) for shape in self.shapes]
        if not sum(self.sizes):
            raise ValueError(
                f"{WHO}: expected at least one element in y0, got shapes {self.shapes}"
            )

    def joined(self, tensors: list[Tensor]) -> Tensor:
        flat = [_core.reshape(x, (-1,)) for x in tensors]
        return flat[0] if len(flat) == 1 else _core.concat(flat, 0)

    def apart(self, y: Tensor, front: tuple[int, ...] = ()) -> Any:
        parts = [y] if len(self.sizes) == 1 else _core.split(y, self.sizes, len(front))
        pairs = zip(parts, self.shapes, strict=True)
        return self.nest.like(_core.reshape(part, (*front, *shape)) for part, shape in pairs)

    def field(self, y: Tensor, t: Tensor) -> Tensor:
        result = called(self.f, WHO, "(y, t, *args)", self.apart(y), t, *self.args)
        slope = Nest(result, f"{WHO}: the result of {place(self.f)}")
        if not slope.same_structure(self.nest):
            raise ValueError(
                f"{WHO}: expected the structure of y0 from {place(self.f)}, got another one; "
                "return the derivative of each part in its place"
            )
        for k, (path, shape) in enumerate(zip(self.nest.names(), self.shapes, strict=True)):
            x = slope.tensors[k]
            if x.shape != shape:
                raise ValueError(
                    f"{WHO}: expected shape {shape}, that of y0{path}, from {place(self.f)}, got "
                    f"{x.shape}"
                )
            if x.dtype.name != self.dtype:
                if not slope.numbers[k] and not _holds(self.dtype, x.dtype.name):
                    raise TypeError(
                        f"{WHO}: expected {self.dtype}, the dtype of y0{path}, from "
                        f"{place(self.f)}, got {x.dtype}; cast it"
                    )
                slope.tensors[k] = _core.cast(x, self.dtype)
        return self.joined(slope.tensors)


def _holds(dtype: str, other: str) -> bool:
    return bool(np.can_cast(other, dtype, "safe")) if other in REAL else False


def _dtype_of(nest: Nest) -> str:
    """Return the dtype of all arrays, which Python numbers take too."""
    if not nest.tensors:
        raise ValueError(
            f"{WHO}: expected a tensor or a pytree of tensors for y0, got an empty one"
        )
    found: dict[str, str] = {}
    numbers = []
    for path, x, number in zip(nest.names(), nest.tensors, nest.numbers, strict=True):
        if number:
            numbers.append(_core.constant(0.0).dtype.name if x.dtype.kind == "i" else x.dtype.name)
        elif x.dtype.name not in REAL:
            raise TypeError(
                f"{WHO}: expected float32, float64 or a complex dtype for y0{path}, got {x.dtype}; "
                "cast it"
            )
        else:
            found.setdefault(x.dtype.name, path)
    if len(found) > 1:
        (a, at_a), (b, at_b) = list(found.items())[:2]
        raise TypeError(
            f"{WHO}: expected one dtype, got {a} for y0{at_a} and {b} for y0{at_b}; cast one"
        )
    if found:
        return next(iter(found))
    return str(np.result_type(*numbers))


def _times(t: Any, real: str) -> tuple[Tensor, int | None]:
    """Return the times, and 1 if they increase, -1 if they decrease, None if it is unknown."""
    known = not isinstance(t, (Tensor, Variable))
    if isinstance(t, (list, tuple)):  # Python numbers, at full precision
        t = np.asarray(t)
    ts = _core.constant(t, who=f"{WHO}: t")
    if ts.dtype.kind not in "iuf":
        raise TypeError(f"{WHO}: expected real numbers for t, got {ts.dtype}")
    if len(ts.shape) != 1 or not ts.shape[0]:
        raise ValueError(
            f"{WHO}: expected a vector with at least one time for t, got shape {ts.shape}"
        )
    ts = _core.cast(ts, real)
    if not known:
        return ts, None
    steps = np.diff(ts.numpy())
    if not (np.all(steps >= 0) or np.all(steps <= 0)):
        raise ValueError(
            f"{WHO}: expected increasing or decreasing times for t, got {_core.shown(t)}"
        )
    return ts, 1 if np.all(steps >= 0) else -1


def _tolerance(rtol: Any, atol: Any, max_steps: Any) -> Tolerance:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
            raise TypeError(f"{WHO}: expected a number for {name}, got {_core.shown(value)}")
        if not (value >= 0 and isfinite(value)):
            raise ValueError(f"{WHO}: expected a finite number >= 0 for {name}, got {value}")
    if rtol == 0 and atol == 0:
        raise ValueError(f"{WHO}: expected rtol or atol > 0, got 0 for both")
    if (steps := index(max_steps)) < 1:
        raise ValueError(f"{WHO}: expected an integer >= 1 for max_steps, got {max_steps}")
    return Tolerance(float(rtol), float(atol), steps)


def _checked(solution: Solution, ts: Tensor, sign: Any, tolerance: Tolerance, where: str) -> Tensor:
    """Return the solution, whose evaluation raises an error if it did not reach the end."""

    def check(status: Any, t: Any, count: Any, ordered: Any) -> Any:  # also of a batch
        if not np.all(ordered):
            raise ValueError(f"{WHO}: expected increasing or decreasing times for t")
        for one, at, steps in np.nditer([status, t, count]):
            if one != GOOD:
                raise RuntimeError(_failure(int(one), float(at), int(steps), where, tolerance))
        return np.asarray(status == GOOD)

    ordered = _core.all(ts[1:] >= ts[:-1])
    inputs = [solution.status, sign * solution.t, solution.tried, ordered]
    good = _core.callback(check, [_core.stop_gradient(x) for x in inputs], "bool", (), True)
    return _core.where(good, solution.ys, 0.0)


def _failure(status: int, t: float, count: int, where: str, tolerance: Tolerance) -> str:
    if status == TOO_MANY:
        return (
            f"{WHO}: {where}: reached t = {t:.6g} after {count} steps, the limit max_steps; "
            "increase max_steps, rtol or atol. A stiff equation requires small steps even if the "
            "solution is smooth; an implicit method suits it"
        )
    return (
        f"{WHO}: {where}: stuck at t = {t:.6g} after {count} steps: the step size became too "
        f"small for rtol={tolerance.rtol:g} and atol={tolerance.atol:g}. The solution or f is "
        "infinite, NaN or not smooth there, or the tolerances exceed the precision of the dtype"
    )
