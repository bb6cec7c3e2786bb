"""Times of the events of `solve_ivp`: roots of a function along the solution.

Bisection finds the part of a step at which the function is 0. Two Newton steps give it the
derivatives of the implicit function theorem, up to the third order.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.forward import jvp
from .._autodiff.vmap import vmap
from .._base.domains import nan_unless
from .._control.loops import fori_loop
from .._core import Tensor
from .._numpy.scans import cumsum
from ._mesh import Event, Rows, between

_HALVINGS = 60


def compact(mask: Tensor, *parts: Tensor) -> list[Tensor]:
    """Return the entries of a mask; NaN follow them if the values of the mask are not known."""
    if not _core.is_traced(mask):
        kept = np.flatnonzero(mask.numpy())
        return [_core.take(part, kept, 0) for part in parts]
    size = mask.shape[0]
    number = _core.arange(0, size, 1, "int64")
    order = _core.argsort(_core.where(mask, number, size + number), 0)
    made = []
    for part in parts:
        shape = (size, *(1,) * (len(part.shape) - 1))
        made.append(_core.take(nan_unless(_core.reshape(mask, shape), part), order, 0))
    return made


def event_times(events: list[Event], rows: Rows) -> tuple[list[Any], Any]:
    """Return the masks of rows with events, their times and solutions, and the time of the end.

    That is the time of the first event that ends the solution, or infinity.
    """
    found, end = [], _core.full((), inf, rows.t.dtype)
    for k, event in enumerate(events):
        active = rows.active[:, k]
        if _core.is_traced(active):
            at, part = active, rows
        else:
            kept = np.flatnonzero(active.numpy())
            part = Rows(*(_core.take(one, kept, 0) for one in rows))
            at = _core.full((len(kept),), True, "bool")
        x = _roots(event, part, at)
        t = part.t + x * part.width
        if event.occurrences and at.size:
            number = cumsum(_core.cast(at, "int64"), axis=0)
            ends = _core.logical_and(at, _core.equal(number, event.occurrences))
            end = _core.minimum(end, _core.min(_core.where(ends, t, inf)))
        found.append((at, t, between(part, None, x)))
    return found, end


def _roots(event: Event, rows: Rows, active: Tensor) -> Tensor:
    """Return the part of each step at which the function of an event is 0."""

    def values(x: Tensor) -> Tensor:
        if not x.size:
            return x
        made: Tensor = vmap(event.f)(rows.t + x * rows.width, between(rows, None, x))
        return made

    zero = _core.full(rows.t.shape, 0, rows.t.dtype)
    if not zero.size:
        return zero
    before = _core.sign(values(zero))

    def halved(_: Any, state: Any) -> Any:
        low, high = state
        middle = 0.5 * (low + high)
        same = _core.greater(_core.sign(values(middle)) * before, 0)
        return _core.where(same, middle, low), _core.where(same, high, middle)

    low, high = fori_loop(0, _HALVINGS, halved, (zero, zero + 1))
    x = _core.where(_core.equal(before, 0), 0, 0.5 * (low + high))
    x = _core.stop_gradient(x)
    for _ in range(2):
        value, slope = jvp(values, (x,), (zero + 1,))
        usable = _core.logical_and(active, _core.not_equal(slope, 0))
        x = x - _core.where(usable, value / _core.where(usable, slope, 1), 0)
    return x
