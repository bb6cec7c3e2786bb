"""Tails of a density by quadrature, and the quantiles that belong to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._control.loops import while_loop
from .._core import Tensor

# An integrand that falls by exp(-EXPONENT) has an error of 2e-14 with so many nodes on [0, 1].
EXPONENT = 40.0
_ends, _parts = numpy.polynomial.legendre.leggauss(60)
NODES, WEIGHTS = 0.5 * (_ends + 1), 0.5 * _parts
_MOST = 100  # steps of Newton's method


def with_nodes(x: Tensor) -> Tensor:
    """Append the axis of the nodes."""
    return _core.expand_dims(x, -1)


def integral(width: Tensor, integrand: Callable[[Tensor], Any]) -> Tensor:
    """Integrate from 0 to `width` by Gauss-Legendre quadrature; nodes are the last axis."""
    values = integrand(with_nodes(width) * _core.constant(NODES, width.dtype))
    return width * _core.sum(_core.constant(WEIGHTS, width.dtype) * values, -1)


def tail_quantile(
    log_tail: Callable[..., tuple[Tensor, Tensor]], log_p: Tensor, start: Tensor,
    shapes: tuple[Tensor, ...], least: float, most: float,
) -> Tensor:  # fmt: skip
    """Return the y from `least` to `most` at which the logarithm of an upper tail is `log_p`.

    ``log_tail(y, *shapes)`` returns that logarithm and the one of the density. Two steps of
    Newton's method from the solution give it the derivatives up to the third order.
    """
    fixed = [_core.stop_gradient(one) for one in shapes]
    aim = _core.stop_gradient(log_p)

    def change(y: Tensor, log_p: Tensor, shapes: Any) -> Tensor:
        log, log_density = log_tail(y, *shapes)
        return (log - log_p) * _core.exp(log - log_density)

    def goes_on(state: Any) -> Tensor:
        return _core.logical_and(_core.any(state[3]), _core.less(state[4], _MOST))

    def step(state: Any) -> Any:
        y, low, high, _, count = state
        move = change(y, aim, fixed)
        low = _core.where(_core.greater(move, 0), y, low)
        high = _core.where(_core.less(move, 0), y, high)
        trial = y + move
        inside = _core.logical_and(_core.greater(trial, low), _core.less(trial, high))
        middle = 0.5 * (low + high)
        other = _core.where(_core.isfinite(middle), middle, y)
        trial = _core.where(_core.logical_or(inside, _core.equal(move, 0)), trial, other)
        is_far = _core.greater(_core.abs(trial - y), 4e-16 * _core.abs(y))
        return trial, low, high, is_far, count + 1

    start = _core.stop_gradient(start)
    low, high = start * 0 + least, start * 0 + most
    state = (start, low, high, _core.isfinite(start), _core.full((), 0, "int64"))
    y = _core.stop_gradient(while_loop(goes_on, step, state)[0])
    for _ in range(2):
        y = y + change(y, log_p, shapes)
    return y
