"""The accepted steps of `solve_ivp`, as rows of a scan, and the solution between them.

An iteration of the scan tries one step. A row of a rejected step, or of one after the end, has no
width; the number of rows is a limit of the number of steps. If values are known, the scan runs in
parts until the end is reached; otherwise in blocks, which are skipped after the end. Sizes of steps
are constants for the gradient, except the last one, which reaches the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._control.branches import cond
from .._control.loops import scan
from .._core import Tensor
from ._attempts import DEGREES, METHODS, Attempt
from ._dormand_prince import Field, Tolerance, first_size

RUNNING, FINISHED, EVENT, FAILED = 2, 0, 1, -1  # status; all but the first are those of SciPy
_FIRST_PART = 128  # rows of the first scan if values are known
_BLOCK = 64  # rows of a scan that is skipped if the solution has ended


class Event(NamedTuple):
    f: Callable[[Tensor, Tensor], Tensor]  # of t and y
    direction: float
    occurrences: int  # after which the solution ends; 0: never


class Rows(NamedTuple):
    """Store the tried steps. All fields but `accepted` and `active` have derivatives."""

    t: Tensor  # at the start
    width: Tensor  # 1 if it was not accepted
    y: Tensor  # (rows, n)
    powers: Tensor  # (rows, degree, n)
    end: Tensor  # the time that is reached
    last: Tensor  # the solution there
    accepted: Tensor
    active: Tensor  # (rows, events): the sign of the event function changed


class _State(NamedTuple):
    t: Tensor
    y: Tensor
    slope: Tensor
    size: Tensor
    rejected: Tensor  # the last step was
    values: Tensor  # of the event functions
    counts: Tensor  # of events
    status: Tensor


class Problem(NamedTuple):
    """An equation in increasing time."""

    f: Field
    start: Tensor
    end: Tensor
    y: Tensor
    method: str
    events: Sequence[Event]
    tolerance: Tolerance
    max_step: float
    first_step: float | None


def solve_mesh(problem: Problem) -> tuple[Rows, Tensor]:
    """Return the rows and the status."""
    f, y, tolerance = problem.f, problem.y, problem.tolerance
    slope = f(y, problem.start)
    if problem.first_step is None:
        ends = _core.stack([problem.start, problem.end], 0)
        size = first_size(f, y, slope, ends, tolerance)
    else:
        size = _core.full((), problem.first_step, y.dtype)
    none = _core.less_equal(_core.stop_gradient(problem.end - problem.start), 0)
    state = _State(
        problem.start, y, slope, size, _core.full((), False, "bool"),
        event_values(problem.events, problem.start, y),
        _core.full((len(problem.events),), 0, "int64"),
        _core.where(none, _core.constant(FINISHED), _core.constant(RUNNING)),
    )  # fmt: skip
    parts, done, length = [], 0, _FIRST_PART
    # The slope is traced if `f` reads a traced tensor.
    known = not any(map(_core.is_traced, state))
    length = min(_FIRST_PART, tolerance.max_steps) if known else tolerance.max_steps
    while True:
        sizes = ((1, length),) if known else ((length // _BLOCK, _BLOCK), (1, length % _BLOCK))
        for count, each in sizes:
            if count and each:
                state, rows = _tries(problem, state, count, each)
                parts.append(rows)
        done = done + length
        known = known and not _core.is_traced(state.status)
        if not known or int(state.status) != RUNNING or done >= tolerance.max_steps:
            break
        length = min(done, tolerance.max_steps - done)
    rows = Rows(*(_core.concat(list(part), 0) for part in zip(*parts, strict=True)))
    if known:  # the first row remains if there is no other
        accepted = np.flatnonzero(rows.accepted.numpy())
        kept = _core.constant(accepted if len(accepted) else np.zeros(1, np.int64))
        rows = Rows(*(_core.take(part, kept, 0) for part in rows))
    return rows, _core.where(_core.equal(state.status, RUNNING), FAILED, state.status)


def event_values(events: Sequence[Event], t: Tensor, y: Tensor) -> Tensor:
    if not events:
        return _core.full((0,), 0, y.dtype)
    return _core.stack([event.f(t, y) for event in events], 0)


def _tries(problem: Problem, state: _State, count: int, each: int) -> tuple[_State, Rows]:
    """Return the rows of `count` blocks; one of a solution that has ended is filled at once."""

    @wraps(problem.f)
    def tried(*state: Any) -> Any:
        return _tried(problem, _State(*state))

    def ended(*state: Any) -> Any:
        s = _State(*state)
        width = _core.full((), 1, s.y.dtype)
        powers = _core.full((DEGREES[problem.method], *s.y.shape), 0, s.y.dtype)
        active = _core.full(s.values.shape, False, "bool")
        accepted = _core.full((), False, "bool")
        return state, tuple(Rows(s.t, width, s.y, powers, s.t, s.y, accepted, active))

    @wraps(problem.f)
    def row(state: Any, _: Any) -> Any:
        return cond(_core.equal(_State(*state).status, RUNNING), tried, ended, *state)

    @wraps(problem.f)
    def all_tried(*state: Any) -> Any:
        return scan(row, state, None, each)

    def all_ended(*state: Any) -> Any:
        state, made = ended(*state)
        return state, tuple(_core.broadcast_to(x[None], (each, *x.shape)) for x in made)

    @wraps(problem.f)
    def block(state: Any, _: Any) -> Any:
        return cond(_core.equal(_State(*state).status, RUNNING), all_tried, all_ended, *state)

    if count == 1:
        after, rows = all_tried(*state)
    else:
        after, rows = scan(block, tuple(state), None, count)
        rows = tuple(_core.reshape(x, (count * each, *x.shape[2:])) for x in rows)
    return _State(*after), Rows(*rows)


def _tried(problem: Problem, s: _State) -> tuple[Any, Any]:
    stop = _core.stop_gradient
    left = problem.end - s.t
    size = stop(_core.minimum(s.size, problem.max_step))
    last = _core.less_equal(stop(left), size)
    size = _core.where(last, left, size)
    step: Attempt = METHODS[problem.method](problem.f, s.t, s.y, s.slope, size, problem.tolerance)
    finite = _core.isfinite(_core.sum(step.slope)) & _core.isfinite(step.error)
    good = _core.logical_and(_core.less_equal(step.error, 1), finite)
    t = _core.where(last, problem.end, s.t + size)
    values = event_values(problem.events, stop(t), stop(step.y))
    active = _active(problem.events, s.values, values) & good
    counts = s.counts + _core.cast(active, "int64")
    limits = _core.constant(np.array([e.occurrences or 2**62 for e in problem.events], np.int64))
    stops = _core.any(_core.greater_equal(counts, limits) & active)
    grow = _core.where(s.rejected, 1.0, 10.0)  # no larger step after a rejected one
    known = _core.where(_core.isfinite(step.factor), step.factor, 0.2)
    factor = _core.where(
        good, _core.minimum(_core.maximum(known, 0.2), grow),
        _core.minimum(_core.maximum(known, 0.2), 0.9),
    )  # fmt: skip
    following = stop(size * factor)
    info = np.finfo(s.y.dtype)
    least = 10 * float(info.eps) * _core.abs(stop(s.t)) + float(info.tiny)
    # `>=` and not: a size of NaN counts as too small.
    stuck = _core.logical_not(good) & _core.logical_not(_core.greater_equal(following, least))
    status = _core.where(good & last, FINISHED, _core.where(stuck, FAILED, RUNNING))
    status = _core.where(stops, EVENT, status)
    one = _core.full((), 1, s.y.dtype)
    after = _State(
        _core.where(good, t, s.t), _core.where(good, step.y, s.y),
        _core.where(good, step.slope, s.slope), following, _core.logical_not(good),
        _core.where(good, values, s.values), _core.where(good, counts, s.counts),
        _core.cast(status, s.status.dtype.name),
    )  # fmt: skip
    row = Rows(
        s.t, _core.where(good, size, one), s.y, _core.where(good, step.powers, 0), after.t,
        after.y, good, active,
    )  # fmt: skip
    return tuple(after), tuple(row)


def _active(events: Sequence[Event], before: Tensor, after: Tensor) -> Tensor:
    """Return the events whose function changes its sign in their direction."""
    up = _core.less_equal(before, 0) & _core.greater_equal(after, 0)
    down = _core.greater_equal(before, 0) & _core.less_equal(after, 0)
    directions = np.array([event.direction for event in events])
    return (up & _core.constant(directions >= 0)) | (down & _core.constant(directions <= 0))


def between(rows: Rows, at: Any, x: Tensor) -> Tensor:
    """Return the solutions in rows `at` at parts x of their steps, of shape (*x.shape, n)."""
    y, powers = (part if at is None else _core.take(part, at, 0) for part in (rows.y, rows.powers))
    part = x[..., None]
    value: Any = powers[..., -1, :]
    for j in range(powers.shape[-2] - 2, -1, -1):
        value = value * part + powers[..., j, :]
    return y + part * value  # type: ignore[no-any-return]


def at_times(rows: Rows, t: Tensor) -> Tensor:
    """Return the solution at times, of shape (*t.shape, n)."""
    stop = _core.stop_gradient
    number = _core.searchsorted(stop(rows.end), stop(t), False)
    number = _core.minimum(number, rows.end.shape[0] - 1)
    x = (t - _core.take(rows.t, number, 0)) / _core.take(rows.width, number, 0)
    return between(rows, number, x)
