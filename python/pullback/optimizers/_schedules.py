"""Schedules of the learning rate: functions of the number of finished steps, 0 for the first.

The step is a number or a tensor. A schedule computes with float64 tensors, so one plan serves all
steps of a training step in `pb.function`.
"""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import counted, flag, not_a_number
from .._base.domains import INSIDE, NON_NEGATIVE, POSITIVE, check_numbers
from .._core import Tensor, Variable


class _Schedule:
    """Check the step and show the arguments in the representation of a schedule."""

    def _step(self, step: Any) -> Tensor:
        check_numbers(type(self).__name__, NON_NEGATIVE, step=step)
        return _number(step)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class Constant(_Schedule):
    """Return the same learning rate at each step.

    Parameters
    ----------
    value : float, Tensor or Variable
        Learning rate, a scalar of at least 0.

    Raises
    ------
    ValueError
        If `value` is a negative number.
    TypeError
        If `value` has an invalid type.

    Examples
    --------
    >>> float(pb.optimizers.Constant(0.5)(10))
    0.5
    """

    def __init__(self, value: Any) -> None:
        check_numbers("Constant", NON_NEGATIVE, value=value)
        self.value = value

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        self._step(step)
        return _number(self.value)


class Exponential(_Schedule):
    """Multiply the learning rate by a constant factor every `steps` steps.

    The rate is initial · factor^(step / steps).

    Parameters
    ----------
    initial : float, Tensor or Variable
        Learning rate of the first step.
    steps : int or float
        Number of steps for one factor, above 0.
    factor : float
        Factor, at least 0.
    staircase : bool, optional
        Round the exponent down. Default: False.

    Raises
    ------
    ValueError
        If `steps` is not above 0, or another number is negative.
    TypeError
        If an argument has an invalid type.

    Examples
    --------
    >>> rate = pb.optimizers.Exponential(1.0, steps=10, factor=0.25)
    >>> [float(rate(step)) for step in (0, 5, 10)]
    [1.0, 0.5, 0.25]
    """

    def __init__(self, initial: Any, steps: int, factor: float, staircase: bool = False) -> None:
        _check_steps(steps, "Exponential")
        check_numbers("Exponential", NON_NEGATIVE, initial=initial, factor=factor)
        self.initial = initial
        self.steps = steps
        self.factor = factor
        self.staircase = flag(staircase, "Exponential", "staircase")

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        exponent = self._step(step) / self.steps
        if self.staircase:
            exponent = _core.floor(exponent)
        return _number(self.initial) * _number(self.factor) ** exponent


class Cosine(_Schedule):
    """Decrease the learning rate along half a period of the cosine.

    The rate is final + (initial - final) (1 + cos(π step / steps)) / 2, and `final` after `steps`
    steps.

    Parameters
    ----------
    initial : float, Tensor or Variable
        Learning rate of the first step.
    steps : int or float
        Number of steps of the decay, above 0.
    final : float, Tensor or Variable, optional
        Learning rate after the decay. Default: 0.0.

    Raises
    ------
    ValueError
        If `steps` is not above 0, or another number is negative.
    TypeError
        If an argument has an invalid type.

    References
    ----------
    .. [1] I. Loshchilov, F. Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR
       2017.

    Examples
    --------
    >>> rate = pb.optimizers.Cosine(1.0, steps=10)
    >>> [float(pb.round(rate(step) * 100)) for step in (0, 5, 10, 11)]
    [100.0, 50.0, 0.0, 0.0]
    """

    def __init__(self, initial: Any, steps: int, final: Any = 0.0) -> None:
        _check_steps(steps, "Cosine")
        check_numbers("Cosine", NON_NEGATIVE, initial=initial, final=final)
        self.initial = initial
        self.steps = steps
        self.final = final

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        initial, final = _number(self.initial), _number(self.final)
        rate: Tensor = initial + (final - initial) * _half_wave(self._step(step) / self.steps)
        return rate


class Linear(_Schedule):
    """Change the learning rate linearly.

    The rate changes from `initial` to `final` in equal parts, and is `final` after `steps` steps.

    Parameters
    ----------
    initial : float, Tensor or Variable
        Learning rate of the first step.
    steps : int or float
        Number of steps of the change, above 0.
    final : float, Tensor or Variable
        Learning rate after the change.

    Raises
    ------
    ValueError
        If `steps` is not above 0, or another number is negative.
    TypeError
        If an argument has an invalid type.

    Examples
    --------
    >>> rate = pb.optimizers.Linear(1.0, steps=4, final=0.0)
    >>> [float(rate(step)) for step in (0, 1, 4, 5)]
    [1.0, 0.75, 0.0, 0.0]
    """

    def __init__(self, initial: Any, steps: int, final: Any) -> None:
        _check_steps(steps, "Linear")
        check_numbers("Linear", NON_NEGATIVE, initial=initial, final=final)
        self.initial = initial
        self.steps = steps
        self.final = final

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        initial, final = _number(self.initial), _number(self.final)
        return initial + (final - initial) * _core.minimum(self._step(step) / self.steps, 1)


class WarmUp(_Schedule):
    """Increase the learning rate linearly from 0, then follow another schedule.

    Parameters
    ----------
    steps : int or float
        Number of steps of the increase, at least 1.
    after : float, Tensor or Variable or callable
        Learning rate at the end of the increase and after it: a number, or a schedule that starts
        there with its step 0.

    Raises
    ------
    ValueError
        If `steps` is below 1, or another number is negative.
    TypeError
        If an argument has an invalid type.

    Examples
    --------
    >>> rate = pb.optimizers.WarmUp(4, pb.optimizers.Cosine(1.0, steps=10))
    >>> [float(pb.round(rate(step) * 100)) for step in (0, 1, 4, 9)]
    [0.0, 25.0, 100.0, 50.0]
    """

    def __init__(self, steps: int, after: Any) -> None:
        _check_steps(steps, "WarmUp")
        if steps < 1:
            text = (
                f"WarmUp: expected at least 1 step, got {steps}; the arguments are the number of "
                "steps and then the learning rate after them"
            )
            raise ValueError(text)
        if not callable(after):
            check_numbers("WarmUp", NON_NEGATIVE, after=after)
        self.steps = steps
        self.after = after

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        step = self._step(step)
        after = self.after if callable(self.after) else Constant(self.after)
        rising = _number(after(_number(0))) * (step / self.steps)
        then = _number(after(_core.maximum(step - self.steps, 0)))
        return _core.where(step < self.steps, rising, then)


class Piecewise(_Schedule):
    """Use a constant learning rate in each interval of steps.

    The rate is `values[0]` before step `boundaries[0]`, then `values[1]` before step
    `boundaries[1]`, and so on.

    Parameters
    ----------
    boundaries : list or tuple of int
        Steps at which the rate changes, strictly increasing.
    values : list or tuple of float, Tensor or Variable
        Learning rates, one more than boundaries.

    Raises
    ------
    TypeError
        If `boundaries` or `values` is neither a list nor a tuple of numbers.
    ValueError
        If the number of values is not the number of boundaries plus 1, if the boundaries do not
        increase, or if a number is negative.

    Examples
    --------
    >>> rate = pb.optimizers.Piecewise([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(step)) for step in (0, 9, 10, 20)]
    [1.0, 1.0, 0.5, 0.25]
    """

    def __init__(
        self, boundaries: list[int] | tuple[int, ...], values: list[Any] | tuple[Any, ...]
    ) -> None:
        for name, given in (("boundaries", boundaries), ("values", values)):
            if not isinstance(given, (list, tuple)):
                raise TypeError(
                    f"Piecewise: expected a list or tuple for {name}, got {_core.shown(given)}"
                )
        if len(values) != len(boundaries) + 1:
            raise ValueError(
                f"Piecewise: expected {counted(len(boundaries) + 1, 'value')} for "
                f"{counted(len(boundaries), 'boundary')}, got {len(values)}"
            )
        for i, boundary in enumerate(boundaries):
            check_numbers("Piecewise", NON_NEGATIVE, **{f"boundaries[{i}]": boundary})
        for i, value in enumerate(values):
            check_numbers("Piecewise", NON_NEGATIVE, **{f"values[{i}]": value})
        if any(b <= a for a, b in pairwise(boundaries)):
            raise ValueError(f"Piecewise: expected increasing boundaries, got {list(boundaries)}")
        self.boundaries = boundaries
        self.values = values

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        step, out = self._step(step), _number(self.values[0])
        for boundary, value in zip(self.boundaries, self.values[1:], strict=True):
            out = _core.where(step < boundary, out, _number(value))
        return out


class OneCycle(_Schedule):
    """Increase the learning rate to a maximum, then decrease it below its start.

    The rate increases from highest / start to highest in the first `rising · steps` steps. Then it
    decreases to highest / (start · end) and remains there. Both parts follow half a period of the
    cosine.

    Parameters
    ----------
    highest : float, Tensor or Variable
        Maximum of the learning rate.
    steps : int or float
        Number of steps of the cycle, above 0.
    rising : float, optional
        Fraction of the steps with an increasing rate, between 0 and 1. Default: 0.3.
    start : float, optional
        Ratio of the maximum to the first rate, above 0. Default: 25.0.
    end : float, optional
        Ratio of the first rate to the last rate, above 0. Default: 1e4.

    Raises
    ------
    ValueError
        If `steps`, `start` or `end` is not above 0, `highest` is negative, or `rising` is not
        between 0 and 1.
    TypeError
        If an argument has an invalid type.

    References
    ----------
    .. [1] L. N. Smith, N. Topin, "Super-convergence: very fast training of neural networks using
       large learning rates", arXiv:1708.07120, 2018.

    Examples
    --------
    >>> rate = pb.optimizers.OneCycle(1.0, steps=10, rising=0.5)
    >>> [float(pb.round(rate(step) * 100)) for step in (0, 5, 10)]
    [4.0, 100.0, 0.0]
    """

    def __init__(
        self,
        highest: Any,
        steps: int,
        rising: float = 0.3,
        start: float = 25.0,
        end: float = 1e4,
    ) -> None:
        _check_steps(steps, "OneCycle")
        check_numbers("OneCycle", NON_NEGATIVE, highest=highest)
        check_numbers("OneCycle", INSIDE, rising=rising)
        check_numbers("OneCycle", POSITIVE, start=start, end=end)
        self.highest = highest
        self.steps = steps
        self.rising = rising
        self.start = start
        self.end = end

    def __call__(self, step: Any) -> Tensor:
        """Return the learning rate of a step.

        Parameters
        ----------
        step : float, Tensor or Variable
            Number of finished steps, 0 for the first step.

        Returns
        -------
        Tensor
            A scalar of dtype float64.

        Raises
        ------
        ValueError
            If `step` is a negative number.
        """
        step = self._step(step)
        turn = self.rising * self.steps
        highest = _number(self.highest)
        first = highest / self.start
        up = first + (highest - first) * _half_wave(step / turn)
        last = first / self.end
        down = highest + (last - highest) * _half_wave((step - turn) / (self.steps - turn))
        return _core.where(step < turn, up, down)


def _half_wave(share: Any) -> Any:
    """Increase from 0 to 1 along half a period of the cosine; constant outside of [0, 1]."""
    return (1 - _core.cos(_core.clip(share, 0, 1) * pi)) / 2


def _number(value: Any) -> Tensor:
    """Convert a number or a tensor to float64; an optimizer casts the rate."""
    if isinstance(value, (Tensor, Variable)):
        return _core.cast(value, "float64")
    return _core.constant(value, "float64")


def _check_steps(steps: Any, who: str) -> None:
    if not isinstance(steps, (int, float, np.number)):
        raise not_a_number(steps, who, "steps")
    if not steps > 0:
        raise ValueError(f"{who}: expected a number > 0 for steps, got {_core.shown(steps)}")
