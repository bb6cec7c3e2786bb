"""Schedules of the learning rate: functions of the number of finished steps.

They take a number or a tensor, and compute with tensors, so one plan serves all steps of a training
step in `pb.function`. An optimizer calls its schedule with the steps that it has finished: 0 for
the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import pi
from typing import Any, TypeAlias

from .. import _core
from .._core import Tensor, Variable

Schedule: TypeAlias = Callable[[Any], Any]


def constant(value: Any) -> Schedule:
    """value at every step.

    >>> float(pb.optimizers.constant(0.5)(10))
    0.5
    """
    return lambda step: _number(value)


def exponential(initial: Any, steps: int, factor: float, staircase: bool = False) -> Schedule:
    """initial · factor^(step / steps); with `staircase` the exponent is rounded down.

    >>> rate = pb.optimizers.exponential(1.0, steps=10, factor=0.25)
    >>> [float(rate(step)) for step in (0, 5, 10)]
    [1.0, 0.5, 0.25]
    """
    _check_steps(steps, "exponential: steps")

    def at(step: Any) -> Any:
        exponent = _number(step) / steps
        return initial * _number(factor) ** (_core.floor(exponent) if staircase else exponent)

    return at


def cosine(initial: Any, steps: int, final: Any = 0.0) -> Schedule:
    """From initial to final along half a wave: final + (initial - final) (1 + cos(π step / steps))
    / 2; after `steps` it stays at final.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2017.

    >>> rate = pb.optimizers.cosine(1.0, steps=10)
    >>> [float(pb.round(rate(step) * 100)) for step in (0, 5, 10, 11)]
    [100.0, 50.0, 0.0, 0.0]
    """
    _check_steps(steps, "cosine: steps")

    def at(step: Any) -> Any:
        share = _core.minimum(_number(step) / steps, 1)
        return final + (initial - final) * ((1 + _core.cos(share * pi)) / 2)

    return at


def linear(initial: Any, steps: int, final: Any) -> Schedule:
    """From initial to final in equal parts; after `steps` it stays at final.

    >>> rate = pb.optimizers.linear(1.0, steps=4, final=0.0)
    >>> [float(rate(step)) for step in (0, 1, 4, 5)]
    [1.0, 0.75, 0.0, 0.0]
    """
    _check_steps(steps, "linear: steps")
    return lambda step: initial + (final - initial) * _core.minimum(_number(step) / steps, 1)


def warm_up(steps: int, after: Any) -> Schedule:
    """From 0 up to after in `steps` equal parts, then `after`: a number, or a schedule that starts
    there with its step 0.

    >>> rate = pb.optimizers.warm_up(4, pb.optimizers.cosine(1.0, steps=10))
    >>> [float(pb.round(rate(step) * 100)) for step in (0, 1, 4, 9)]
    [0.0, 25.0, 100.0, 50.0]
    """
    _check_steps(steps, "warm_up: steps")
    then = after if callable(after) else constant(after)

    def at(step: Any) -> Any:
        step = _number(step)
        rising = then(0) * (step / steps)
        return _core.where(step < steps, rising, then(_core.maximum(step - steps, 0)))

    return at


def piecewise(boundaries: Sequence[int], values: Sequence[Any]) -> Schedule:
    """values[0] before step boundaries[0], values[1] from there on before boundaries[1], and so on;
    one value more than boundaries, else a ValueError.

    >>> rate = pb.optimizers.piecewise([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(step)) for step in (0, 9, 10, 20)]
    [1.0, 1.0, 0.5, 0.25]
    """
    if len(values) != len(boundaries) + 1:
        raise ValueError(
            f"piecewise: {len(values)} values for {len(boundaries)} boundaries; expected one more"
        )
    if any(b <= a for a, b in pairwise(boundaries)):
        raise ValueError(f"piecewise: the boundaries {list(boundaries)} do not increase")

    def at(step: Any) -> Any:
        out = _number(values[0])
        for boundary, value in zip(boundaries, values[1:], strict=True):
            out = _core.where(_number(step) < boundary, out, value)
        return out

    return at


def one_cycle(
    highest: Any, steps: int, rising: float = 0.3, start: float = 25.0, end: float = 1e4
) -> Schedule:
    """Up from highest / start to highest in the share `rising` of the steps, then down to
    highest / (start · end), both along half a wave of the cosine.

    Source: Smith and Topin, Super-convergence, 2018.

    >>> rate = pb.optimizers.one_cycle(1.0, steps=10, rising=0.5)
    >>> [float(pb.round(rate(step) * 100)) for step in (0, 5, 10)]
    [4.0, 100.0, 0.0]
    """
    _check_steps(steps, "one_cycle: steps")
    if not 0 < rising < 1:
        raise ValueError(f"one_cycle: rising is a share between 0 and 1, got {rising!r}")
    turn = rising * steps
    first = highest / start
    up, down = cosine(first, turn, highest), cosine(highest, steps - turn, first / end)  # type: ignore[arg-type]

    def at(step: Any) -> Any:
        step = _number(step)
        return _core.where(step < turn, up(step), down(_core.maximum(step - turn, 0)))

    return at


def _number(value: Any) -> Any:
    """A number or a tensor as float64; an optimizer casts the rate."""
    if isinstance(value, (Tensor, Variable)):
        return _core.cast(value, "float64")
    return _core.constant(value, "float64")


def _check_steps(steps: Any, who: str) -> None:
    if not steps > 0:
        raise ValueError(f"{who} is above 0, got {_core.shown(steps)}")
