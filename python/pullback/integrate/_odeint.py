"""odeint: what it takes and returns, what its errors are, and its two gradients."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite, prod
from operator import index
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.rules import place
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
    adjoint: str = "discrete",
) -> Any:
    """The solution of y' = f(y, t, *args) with y(t[0]) = y0, at each of the times t.

    f: takes y, like y0, and a time, a tensor of shape (), and returns the derivative of each part
        of y in its place. It is called some times, with stand-ins, and may use what it likes from
        outside; it is computed seven times in a step, six where the step before was taken.
    y0: a float32, float64 or complex tensor, or a nest of them of one dtype. Numbers of Python
        take that dtype.
    t: times of shape (n,) that increase, or that decrease; equal ones are fine. They are cast to
        the precision of y0.
    rtol, atol: what is tolerated in a step: the root mean square of the errors of the entries of y,
        each in units of atol + rtol * |y|, is at most 1.
    max_steps: how many steps may be taken between the first and the last time.
    adjoint: how it has a gradient, by y0, t, args and all that f uses. "discrete": that of the
        steps that were taken, with their sizes as constants; exact for these numbers, and its
        memory grows with the number of steps. "continuous": another equation, solved
        backwards from the ys with the same tolerances, at which it is as exact; it keeps no steps,
        but a stiff or chaotic solution cannot be gone back along, and its gradient is then wrong or
        an error.

    Returns a nest like y0, each part with an axis of length n in front; the first entries are y0.

    The method is that of Dormand and Prince, of order 5(4), with an interpolating polynomial of
    order 4, so steps do not depend on the times that are asked for; none goes beyond the last one.
    It is one operation, whose number of steps is found out when it is computed. Gradients are
    differentiable again; forward mode goes through the steps.

    Raises TypeError or ValueError for what does not fit, when it is called; where no step is small
    enough, or max_steps are too few, as for a stiff equation, RuntimeError with the time it came
    to, when the solution is computed.

    >>> from pullback.integrate import odeint
    >>> ys = odeint(lambda y, t: -y, 1.0, [0.0, 1.0, 2.0])
    >>> pb.round(ys, 4)
    Tensor([1.    , 0.3679, 0.1353], dtype=float32)
    >>> end = lambda rate: odeint(lambda y, t: rate * y, 1.0, [0.0, 1.0])[1]
    >>> round(float(pb.grad(end)(0.5)), 4)  # of exp(rate)
    1.6487
    """
    if not callable(f):
        raise TypeError(f"{WHO}: f: expected a function, got {_core.shown(f)}")
    if adjoint not in ("discrete", "continuous"):
        raise ValueError(
            f"{WHO}: adjoint: expected 'discrete' or 'continuous', got {_core.shown(adjoint)}"
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
    """The solution as a vector for each time. sign: of the direction of time, where it is known."""
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
    """A nest of floats as one vector, and f of it."""

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
            raise ValueError(f"{WHO}: y0 has no elements")

    def joined(self, tensors: list[Tensor]) -> Tensor:
        flat = [_core.reshape(x, (-1,)) for x in tensors]
        return flat[0] if len(flat) == 1 else _core.concat(flat, 0)

    def apart(self, y: Tensor, front: tuple[int, ...] = ()) -> Any:
        parts = [y] if len(self.sizes) == 1 else _core.split(y, self.sizes, len(front))
        pairs = zip(parts, self.shapes, strict=True)
        return self.nest.like(_core.reshape(part, (*front, *shape)) for part, shape in pairs)

    def field(self, y: Tensor, t: Tensor) -> Tensor:
        slope = Nest(self.f(self.apart(y), t, *self.args), f"{WHO}: the result of {place(self.f)}")
        if not slope.same_structure(self.nest):
            raise ValueError(
                f"{WHO}: {place(self.f)} returned a nest of another structure than y0: expected "
                "the derivative of each part in its place"
            )
        for k, (path, shape) in enumerate(zip(self.nest.names(), self.shapes, strict=True)):
            x = slope.tensors[k]
            if x.shape != shape:
                raise ValueError(
                    f"{WHO}: {place(self.f)} returned shape {x.shape} for y0{path}, which has "
                    f"shape {shape}"
                )
            if x.dtype.name != self.dtype:
                if not slope.numbers[k] and not _holds(self.dtype, x.dtype.name):
                    raise TypeError(
                        f"{WHO}: {place(self.f)} returned {x.dtype} for y0{path}, which is "
                        f"{self.dtype}: cast it"
                    )
                slope.tensors[k] = _core.cast(x, self.dtype)
        return self.joined(slope.tensors)


def _holds(dtype: str, other: str) -> bool:
    return bool(np.can_cast(other, dtype, "safe")) if other in REAL else False


def _dtype_of(nest: Nest) -> str:
    """The one of all arrays in it, which numbers take too."""
    if not nest.tensors:
        raise ValueError(f"{WHO}: y0 is empty: expected a tensor, or a nest of them")
    found: dict[str, str] = {}
    numbers = []
    for path, x, number in zip(nest.names(), nest.tensors, nest.numbers, strict=True):
        if number:
            numbers.append(_core.constant(0.0).dtype.name if x.dtype.kind == "i" else x.dtype.name)
        elif x.dtype.name not in REAL:
            raise TypeError(
                f"{WHO}: y0{path} is {x.dtype}: expected float32, float64 or a complex dtype; "
                "cast it"
            )
        else:
            found.setdefault(x.dtype.name, path)
    if len(found) > 1:
        (a, at_a), (b, at_b) = list(found.items())[:2]
        raise TypeError(f"{WHO}: y0{at_a} is {a} and y0{at_b} is {b}: cast them to one dtype")
    if found:
        return next(iter(found))
    return str(np.result_type(*numbers))


def _times(t: Any, real: str) -> tuple[Tensor, int | None]:
    """The times, and 1 where they increase, else -1; None where that is not known yet."""
    known = not isinstance(t, (Tensor, Variable))
    if isinstance(t, (list, tuple)):  # of numbers, as they are written
        t = np.asarray(t)
    ts = _core.constant(t, who=f"{WHO}: t")
    if ts.dtype.kind not in "iuf":
        raise TypeError(f"{WHO}: t: expected real numbers, got {ts.dtype}")
    if len(ts.shape) != 1 or not ts.shape[0]:
        raise ValueError(
            f"{WHO}: t: expected times along one axis, one at least, got shape {ts.shape}"
        )
    ts = _core.cast(ts, real)
    if not known:
        return ts, None
    steps = np.diff(ts.numpy())
    if not (np.all(steps >= 0) or np.all(steps <= 0)):
        raise ValueError(f"{WHO}: t: expected times that increase, or that decrease")
    return ts, 1 if np.all(steps >= 0) else -1


def _tolerance(rtol: Any, atol: Any, max_steps: Any) -> Tolerance:
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, (int, float, np.number)) or isinstance(value, bool):
            raise TypeError(f"{WHO}: {name}: expected a number, got {_core.shown(value)}")
        if not (value >= 0 and isfinite(value)):
            raise ValueError(f"{WHO}: {name}: expected a number above 0, got {value}")
    if rtol == 0 and atol == 0:
        raise ValueError(f"{WHO}: rtol and atol are 0: no step is exact")
    if (steps := index(max_steps)) < 1:
        raise ValueError(f"{WHO}: max_steps: expected 1 or more, got {max_steps}")
    return Tolerance(float(rtol), float(atol), steps)


def _checked(solution: Solution, ts: Tensor, sign: Any, tolerance: Tolerance, where: str) -> Tensor:
    """The ys, of which a look raises where the solution did not get to the end."""

    def check(status: Any, t: Any, count: Any, ordered: Any) -> Any:  # of a batch as well
        if not np.all(ordered):
            raise ValueError(f"{WHO}: t: expected times that increase, or that decrease")
        for one, at, steps in np.nditer([status, t, count]):
            if one != GOOD:
                raise RuntimeError(_failure(int(one), float(at), int(steps), where, tolerance))
        return np.asarray(status == GOOD)

    ordered = _core.all(ts[1:] >= ts[:-1])
    inputs = [solution.status, sign * solution.t, solution.tried, ordered]
    good = _core.host_call(check, [_core.stop_gradient(x) for x in inputs], "bool", (), True)
    return _core.where(good, solution.ys, 0.0)


def _failure(status: int, t: float, count: int, where: str, tolerance: Tolerance) -> str:
    if status == TOO_MANY:
        return (
            f"{WHO}: {where}: at t = {t:.6g} after {count} steps, as many as max_steps allows. "
            "Where the equation is stiff, its fastest part keeps steps small however smooth the "
            "solution: an implicit method is for such; else raise max_steps, rtol or atol"
        )
    return (
        f"{WHO}: {where}: stuck at t = {t:.6g} after {count} steps: no step is small enough for "
        f"rtol={tolerance.rtol:g} and atol={tolerance.atol:g}. The solution or f is infinite, NaN "
        "or not smooth there, or the dtype has not the digits that are asked for"
    )
