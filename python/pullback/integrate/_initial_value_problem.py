"""An initial value problem of `odeint`: checks of its arguments, its solution and its errors.

The state is a pytree of tensors; the methods of _dormand_prince.py and _adjoint.py solve for one
vector, which `FlatState` makes of it. Start reading at `solve_problem`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import isfinite, prod
from operator import index
from typing import Any, Literal

import numpy as np

from .. import _core
from .._autodiff.rules import called, parameter_names, place
from .._base.checks import floats_of_integers
from .._control.bodies import Pytree
from .._control.checks import evaluated_check
from .._core import Tensor, Variable
from ._adjoint import with_adjoint
from ._dormand_prince import GOOD, TOO_MANY, Solution, Tolerance, solve

WHO = "odeint"
REAL = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}


def solve_problem(
    f: Callable[..., Any],
    y0: Any,
    t: Any,
    args: tuple[Any, ...],
    rtol: float,
    atol: float,
    max_steps: int,
    adjoint: Literal["discrete", "continuous"],
) -> Any:
    """Implement `odeint`."""
    if not callable(f):
        raise TypeError(f"{WHO}: expected a function for f, got {_core.shown(f)}")
    if parameter_names(f)[:2] == ["t", "y"]:
        raise TypeError(
            f"{WHO}: expected a function of (y, t, *args), got {place(f)} of (t, y); exchange its "
            "parameters, or use integrate.solve_ivp"
        )
    if adjoint not in ("discrete", "continuous"):
        raise ValueError(
            f"{WHO}: adjoint must be one of 'discrete', 'continuous'; got {_core.shown(adjoint)}"
        )
    tolerance = _tolerance(rtol, atol, max_steps)
    state = FlatState(f, y0, args)
    ts, sign = _times(t, state.real)
    y = state.flatten(state.tree.tensors)
    if adjoint == "discrete":
        ys = _solve_flat(state, ts, sign, tolerance, place(f))
    else:

        def solved(g: Any, y: Any, ts: Tensor) -> Any:
            inner = FlatState(g, y, ())
            return inner.unflatten(_solve_flat(inner, ts, None, tolerance, place(f)), ts.shape)

        ys = with_adjoint(state.field, y, ts, place(f), solved)
    return state.unflatten(ys, ts.shape)


def _solve_flat(
    state: FlatState, ts: Tensor, sign: int | None, tolerance: Tolerance, where: str
) -> Tensor:
    """Return the solution as a vector for each time.

    `sign` is the sign of the direction of time, or None if it is unknown.
    """
    direction: Any = sign
    if sign is None:
        real = ts.dtype.name
        forward = _core.stop_gradient(ts[-1] - ts[0]) >= 0
        direction = _core.where(forward, _core.constant(1, real), _core.constant(-1, real))

    @wraps(state.f)  # so errors name f
    def field(y: Tensor, t: Tensor) -> Tensor:
        return state.field(y, t) if sign == 1 else direction * state.field(y, direction * t)

    rising = ts if sign == 1 else direction * ts
    solution = solve(field, state.flatten(state.tree.tensors), rising, tolerance)
    return _checked(solution, rising, direction, tolerance, where)


class FlatState:
    """Represent a pytree of floating tensors as one vector, and `f` as a function of it."""

    def __init__(self, f: Callable[..., Any], y0: Any, args: tuple[Any, ...]) -> None:
        self.f = f
        self.args = args
        y0 = floats_of_integers(y0, WHO)
        self.tree = Pytree(y0, f"{WHO}: y0")
        numbers = isinstance(y0, list) and not any(x.shape for x in self.tree.tensors)
        self.hint = "; pass np.array(y0) if y is a vector" if numbers else ""
        self.dtype = _dtype_of(self.tree)
        self.real = REAL[self.dtype]
        self.tree.tensors = [_core.cast(x, self.dtype) for x in self.tree.tensors]
        self.shapes = [x.shape for x in self.tree.tensors]
        self.sizes = [prod(shape) for shape in self.shapes]
        if not sum(self.sizes):
            raise ValueError(
                f"{WHO}: expected at least one element in y0, got shapes {self.shapes}"
            )

    def flatten(self, tensors: list[Tensor]) -> Tensor:
        """Return the parts of a state as one vector."""
        flat = [_core.reshape(x, (-1,)) for x in tensors]
        return flat[0] if len(flat) == 1 else _core.concat(flat, 0)

    def unflatten(self, y: Tensor, front: tuple[int, ...] = ()) -> Any:
        """Return a vector as a state; `front` are further axes before the one of the vector."""
        parts = [y] if len(self.sizes) == 1 else _core.split(y, self.sizes, len(front))
        pairs = zip(parts, self.shapes, strict=True)
        return self.tree.like(_core.reshape(part, (*front, *shape)) for part, shape in pairs)

    def field(self, y: Tensor, t: Tensor) -> Tensor:
        """Evaluate `f` and check its result."""
        state = self.unflatten(y)
        try:
            result = called(self.f, WHO, "(y, t, *args)", state, t, *self.args)
        except TypeError as error:
            if self.hint:
                text = f"{WHO}: y0 is a list, so {place(self.f)} receives a list: {error}"
                raise TypeError(text + self.hint) from error
            raise
        slope = Pytree(result, f"{WHO}: the result of {place(self.f)}")
        if not slope.same_structure(self.tree):
            raise ValueError(
                f"{WHO}: expected the structure of y0 from {place(self.f)}, got another one; "
                f"return the derivative of each part in its place{self.hint}"
            )
        for k, (path, shape) in enumerate(zip(self.tree.tensor_paths(), self.shapes, strict=True)):
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
        return self.flatten(slope.tensors)


def _holds(dtype: str, other: str) -> bool:
    return bool(np.can_cast(other, dtype, "safe")) if other in REAL else False


def _dtype_of(tree: Pytree) -> str:
    """Return the dtype of all arrays, which Python numbers take too."""
    if not tree.tensors:
        raise ValueError(
            f"{WHO}: expected a tensor or a pytree of tensors for y0, got an empty one"
        )
    found: dict[str, str] = {}
    numbers = []
    for path, x, number in zip(tree.tensor_paths(), tree.tensors, tree.numbers, strict=True):
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

    def fail(_: Any, status: Any, t: Any, count: Any, ordered: Any) -> None:  # also of a batch
        if not np.all(ordered):
            raise ValueError(f"{WHO}: expected increasing or decreasing times for t")
        for one, at, steps in np.nditer([status, t, count]):
            if one != GOOD:
                raise RuntimeError(_failure(int(one), float(at), int(steps), where, tolerance))

    ordered = _core.all(ts[1:] >= ts[:-1])
    good = _core.logical_and(_core.equal(solution.status, GOOD), ordered)
    inputs = [solution.status, sign * solution.t, solution.tried, ordered]
    return _core.where(evaluated_check(good, fail, inputs), solution.ys, 0.0)


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
