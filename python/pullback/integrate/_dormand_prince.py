"""The method of Dormand and Prince: steps of order 5 with an error estimate of order 4, adaptive
step sizes, and an interpolating polynomial in each step.

Tableau: Dormand and Prince, "A family of embedded Runge-Kutta formulae", 1980. The polynomial, the
first step and the choice of the next are those of Hairer, Nørsett and Wanner, Solving Ordinary
Differential Equations I (1993), sections II.4 to II.6.

A solution is a scan over the requested times, and for each a while_loop of steps until one has
passed that time. Step sizes are constants for the gradient, so the gradient is that of the accepted
steps; a rejected step has none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._control.loops import scan, while_loop
from .._core import Tensor

Field = Callable[[Tensor, Tensor], Tensor]

TIMES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
MIDDLE = (
    -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
    701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
)  # fmt: skip

# Status of a solution.
GOOD, NO_STEP, TOO_MANY = 0, 1, 2


class Tolerance(NamedTuple):
    rtol: float
    atol: float
    max_steps: int


class Steps(NamedTuple):
    """Store the state of the steps, and the data of the polynomial of the last step."""

    t: Any
    y: Any
    slope: Any
    size: Any  # of the next step
    t_before: Any
    y_before: Any
    slope_before: Any
    last_size: Any
    middle: Any
    tried: Any
    status: Any


class Solution(NamedTuple):
    ys: Tensor  # a row for each time
    status: Tensor
    t: Tensor  # the time that was reached
    tried: Tensor  # number of steps, including rejected ones


def solve(f: Field, y: Tensor, ts: Tensor, tolerance: Tolerance) -> Solution:
    """Solve y' = f(y, t) with the value y at ts[0], at times that do not decrease.

    All floats have the same precision; y is a vector with at least one entry.
    """
    constant = _core.constant
    slope = f(y, ts[0])
    start = Steps(
        t=ts[0],
        y=y,
        slope=slope,
        size=first_size(f, y, slope, ts, tolerance),
        t_before=ts[0],
        y_before=y,
        slope_before=slope,
        last_size=_core.full((), 1, ts.dtype),
        middle=_core.full(y.shape, 0, y.dtype),
        tried=constant(0),
        status=constant(GOOD),
    )
    if ts.shape[0] == 1:
        return Solution(y[None], start.status, start.t, start.tried)
    end = ts[-1]

    def next_time(steps: Steps, t: Tensor) -> tuple[Steps, Tensor]:
        aim = _core.minimum(t, end)  # a while_loop of unordered times must end too
        steps = Steps(*while_loop(
            lambda s: (s[0] < aim) & (s[-1] == GOOD),
            wraps(f)(lambda s: tuple(_step(f, Steps(*s), end, tolerance))),
            tuple(steps),
        ))  # fmt: skip
        return steps, _between(steps, t)

    last, ys = scan(lambda s, t: _pair(next_time(Steps(*s), t)), tuple(start), ts[1:])
    steps = Steps(*last)
    return Solution(_core.concat([y[None], ys], 0), steps.status, steps.t, steps.tried)


def _pair(result: tuple[Steps, Tensor]) -> tuple[Any, Tensor]:
    return tuple(result[0]), result[1]


def _step(f: Field, s: Steps, end: Tensor, tolerance: Tolerance) -> Steps:
    """Take a step, or reject it and reduce its size."""
    size = _core.stop_gradient(_core.minimum(s.size, end - s.t))
    slopes = [s.slope]
    for c, row in zip(TIMES[1:], STAGES[1:], strict=True):
        y = s.y + size * combined(row, slopes)
        slopes.append(f(y, s.t + c * size))
    error = weighted_norm(size * combined(ERROR, slopes), larger(s.y, y), tolerance)
    good = error <= 1
    factor = _core.clip(0.9 * error**-0.2, 0.2, 10.0)
    following = size * _core.where(_core.isfinite(error), factor, 0.2)
    tried = s.tried + 1
    t = s.t + size
    info = np.finfo(s.t.dtype)
    least = 16 * float(info.eps) * _core.abs(s.t) + float(info.tiny)
    # `>=` and not: a size of NaN counts as too small.
    stuck = _core.logical_not(good) & _core.logical_not(following >= least)
    many = (tried >= tolerance.max_steps) & ~(good & (t >= end))
    accepted = Steps(
        t=t,
        y=y,
        slope=slopes[-1],
        size=following,
        t_before=s.t,
        y_before=s.y,
        slope_before=s.slope,
        last_size=size,
        middle=size * combined(MIDDLE, slopes),
        tried=tried,
        status=s.status,
    )
    rejected = s._replace(size=following, tried=tried)
    after = Steps(*(a if a is b else _core.where(good, a, b)
                    for a, b in zip(accepted, rejected, strict=True)))  # fmt: skip
    status = _core.where(stuck, NO_STEP, _core.where(many, TOO_MANY, s.status))
    return after._replace(status=status)


def _between(s: Steps, t: Tensor) -> Any:
    """Evaluate the polynomial of the last step at a time."""
    x = (t - s.t_before) / s.last_size
    rise = s.y - s.y_before
    first = s.last_size * s.slope_before - rise
    last = rise - s.last_size * s.slope - first
    return s.y_before + x * (rise + (1 - x) * (first + x * (last + (1 - x) * s.middle)))


def first_size(f: Field, y: Tensor, slope: Tensor, ts: Tensor, tolerance: Tolerance) -> Tensor:
    stop = _core.stop_gradient
    y, slope, t = stop(y), stop(slope), stop(ts[0])
    span = stop(ts[-1]) - t
    a, b = weighted_norm(y, y, tolerance), weighted_norm(slope, y, tolerance)
    flat = (a < 1e-5) | (b < 1e-5)
    trial = _core.minimum(_core.where(flat, 1e-6, 0.01 * a / b), span)
    bend = weighted_norm(f(y + trial * slope, t + trial) - slope, y, tolerance) / trial
    most = _core.maximum(b, bend)
    guess = _core.where(most <= 1e-15, _core.maximum(1e-6, trial * 1e-3), (0.01 / most) ** 0.2)
    size = _core.minimum(100 * trial, guess)
    # A size that is not finite is replaced by the trial size, which the first step may reduce.
    return stop(_core.where(_core.isfinite(size) & (size > 0), size, trial))


def combined(weights: tuple[float, ...], slopes: list[Tensor]) -> Any:
    terms = [w * k for w, k in zip(weights, slopes, strict=False) if w]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def larger(a: Tensor, b: Tensor) -> Tensor:
    return _core.maximum(_core.abs(a), _core.abs(b))


def weighted_norm(x: Tensor, size: Tensor, tolerance: Tolerance) -> Any:
    """Return the root mean square of `x` in units of the tolerance, as a constant."""
    unit = tolerance.atol + tolerance.rtol * _core.abs(size)
    parts = _core.abs(_core.stop_gradient(x)) / _core.stop_gradient(unit)
    return _core.sqrt(_core.mean(parts * parts))
