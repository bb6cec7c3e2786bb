"""L-BFGS within bounds, for `minimize`: steps of the free variables, projected onto the bounds.

A variable is fixed in an iteration if it is at a bound and the gradient leads beyond it. The others
move along the direction of L-BFGS in their subspace (D. P. Bertsekas, Projected Newton methods for
optimization problems with simple constraints, 1982).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import inf
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._base.checks import entries_stacked
from .._base.pytree import flatten
from .._control.loops import while_loop
from .._core import Tensor
from ..implicit._equation import has_dtype
from ._direction import Iterate, direction_of, first_iterate, is_near, succeeded, with_slope
from ._result import dot, largest

_HALVINGS = 60  # of a step
_DECREASE = 1e-4  # of the value, in units of that along the gradient


def sides_of_bounds(bounds: Any, who: str) -> list[Tensor]:
    """Return the lower and the upper bounds as tensors of float64.

    `bounds` is a pair for each entry, as in SciPy, with None for an absent bound, or an object with
    the attributes `lb` and `ub`, such as `scipy.optimize.Bounds`.
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return two_sides(bounds, who)
    if isinstance(bounds, (np.ndarray, zip)):
        bounds = [tuple(pair) if np.ndim(pair) else pair for pair in bounds]
    if isinstance(bounds, (list, tuple)) and bounds and all(map(_is_pair, bounds)):
        sides = [
            _core.stack([_wide(end if pair[k] is None else pair[k], who) for pair in bounds], 0)
            for k, end in enumerate((-inf, inf))
        ]
        return _checked(sides, who)
    raise TypeError(
        f"{who}: expected a list of pairs (low, high) or scipy.optimize.Bounds for bounds, got "
        f"{_core.shown(bounds)}"
    )


def two_sides(bounds: Any, who: str) -> list[Tensor]:
    """Return the lower and the upper bounds as tensors of float64, of a pair of arrays or numbers.

    `bounds` may also be an object with the attributes `lb` and `ub`.
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        bounds = bounds.lb, bounds.ub
    if not _is_pair(bounds) or any(map(_has_none, bounds)):
        raise TypeError(
            f"{who}: expected a pair (low, high) of numbers or arrays, or scipy.optimize.Bounds, "
            f"for bounds, got {_core.shown(bounds)}; an absent bound is infinite"
        )
    sides = [_wide(side, who) for side in bounds]
    return _checked([_core.reshape(x, ()) if x.shape == (1,) else x for x in sides], who)


def _has_none(side: Any) -> bool:
    return side is None or (isinstance(side, (list, tuple)) and any(map(_has_none, side)))


def _checked(sides: list[Tensor], who: str) -> list[Tensor]:
    if not any(map(_core.is_traced, sides)) and not np.all(sides[0].numpy() <= sides[1].numpy()):
        raise ValueError(f"{who}: expected low <= high for each pair of bounds")
    return sides


def _is_pair(one: Any) -> bool:
    return isinstance(one, (list, tuple)) and len(one) == 2


def _wide(value: Any, who: str) -> Tensor:
    value = entries_stacked(value, f"{who}: bounds")
    if isinstance(value, (list, tuple)):
        value = np.asarray(value)  # Python numbers keep their digits
    dtype = "float64" if isinstance(value, (int, float)) and not has_dtype(value) else None
    wide = _core.constant(value, dtype, f"{who}: bounds")
    if wide.dtype.kind == "c":
        raise TypeError(f"{who}: expected real bounds, got {wide.dtype}")
    return _core.cast(wide, "float64")


def with_bounds(f: Callable[..., Any], who: str) -> Callable[..., Any]:
    """Return the function of x and both bounds that returns its value and vectors of them."""

    @wraps(f)
    def both(x: Any, low: Tensor, high: Tensor, *theta: Any) -> Any:
        leaves = flatten(x)[0]
        size = sum(leaf.size for leaf in leaves)
        for side in (low, high):
            if side.shape not in ((), (size,)):
                raise ValueError(
                    f"{who}: expected a pair of bounds for each of {size} entries of x0, got "
                    f"{side.size}"
                )
        dtype = leaves[0].dtype
        ends = [_core.broadcast_to(_core.cast(side, dtype), (size,)) for side in (low, high)]
        return (f(x, *theta), *ends)

    return both


class _Trial(NamedTuple):
    t: Tensor
    x: Tensor
    value: Tensor
    slope: Tensor
    nit: Tensor
    lower: Tensor


def bounded_lbfgs(f: Any, start: Tensor, tol: float, limit: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return x, success and the iterations; `f` returns the value and both bounds as a vector."""
    dtype, n = start.dtype, start.shape[0]
    eps = float(np.finfo(dtype).eps)
    ends = f(start)
    low, high = ends[1 : n + 1], ends[n + 1 :]

    def projected(x: Tensor) -> Tensor:
        return _core.minimum(_core.maximum(x, low), high)

    def rest(x: Tensor, slope: Tensor) -> Tensor:
        """Return the largest change of a projected step along the gradient, 0 at a minimum."""
        return largest(projected(x - slope) - x)

    def value_of(x: Tensor) -> Any:
        return f(x)[0]

    def goes_on(state: Iterate) -> Tensor:
        wide = _core.greater(rest(state.x, state.slope), tol)
        more = _core.logical_and(_core.less(state.nit, limit), _core.logical_not(state.stuck))
        return _core.logical_and(more, wide)

    def search(state: Iterate, direction: Tensor, first: Tensor) -> _Trial:
        before = rest(state.x, state.slope)

        def too_long(trial: _Trial) -> Tensor:
            more = _core.less(trial.nit, _HALVINGS)
            return _core.logical_and(_core.logical_not(trial.lower), more)

        def halved(trial: _Trial) -> _Trial:
            t = _core.where(_core.equal(trial.nit, 0), trial.t, 0.5 * trial.t)
            x = projected(state.x + t * direction)
            value, slope = with_slope(value_of, x)
            # False for NaN, so the step becomes smaller.
            expected = _DECREASE * dot(state.slope, x - state.x)
            lower = _core.logical_and(
                _core.less_equal(value, state.value + expected), _core.less(expected, 0)
            )
            # Within rounding errors of the value, the slopes decide.
            level = _core.less_equal(value, state.value + 4 * eps * _core.abs(state.value))
            flatter = _core.logical_and(level, _core.less(rest(x, slope), before))
            lower = _core.logical_or(lower, flatter)
            lower = _core.logical_and(lower, _core.isfinite(dot(slope, slope)))
            return _Trial(t, x, value, slope, trial.nit + 1, lower)

        none = _Trial(
            _core.cast(first, dtype), state.x, state.value, state.slope,
            _core.full((), 0, "int64"), _core.full((), False, "bool"),
        )  # fmt: skip
        found: _Trial = while_loop(too_long, halved, none)
        return found

    def step(state: Iterate) -> Iterate:
        at_low = _core.logical_and(_core.less_equal(state.x, low), _core.greater(state.slope, 0))
        at_high = _core.logical_and(_core.greater_equal(state.x, high), _core.less(state.slope, 0))
        is_fixed = _core.logical_or(at_low, at_high)
        slope, steps, changes = (
            _core.where(is_fixed, 0, part) for part in (state.slope, state.steps, state.changes)
        )
        curvature = _core.sum(steps * changes, [1])
        fits = _core.greater(curvature, eps * _core.sum(changes * changes, [1]))
        weights = _core.where(fits, 1 / _core.where(fits, curvature, 1), 0)
        direction, first = direction_of(slope, steps, changes, weights)
        trial = search(state, _core.where(is_fixed, 0, direction), first)

        def moved(old: Tensor, new: Tensor) -> Tensor:
            return _core.where(trial.lower, new, old)

        def pushed(old: Tensor, new: Tensor) -> Tensor:
            return moved(old, _core.concat([old[1:], new[None]], 0))

        return Iterate(
            moved(state.x, trial.x),
            moved(state.value, trial.value),
            moved(state.slope, trial.slope),
            pushed(state.steps, trial.x - state.x),
            pushed(state.changes, trial.slope - state.slope),
            state.nit + 1,
            _core.logical_not(trial.lower),
        )

    x = projected(start)
    end: Iterate = while_loop(goes_on, step, first_iterate(x, *with_slope(value_of, x)))
    left = rest(end.x, end.slope)
    enough = _core.logical_and(end.stuck, is_near(left, end.value))
    success = succeeded(end.value, _core.less_equal(left, tol), enough)
    # Bounds of a trace are checked here.
    return end.x, _core.logical_and(success, _core.all(_core.less_equal(low, high))), end.nit
