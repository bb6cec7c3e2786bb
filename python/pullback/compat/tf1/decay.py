"""Learning rates that fall with the global step: `tf.train.exponential_decay` and its like.

Each is a tensor in graph mode. In eager mode, where the step is a number that changes, it is a
function without arguments, as the optimizers take it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import numpy as np

from . import mode
from .array_ops import ones_like
from .choice_ops import where
from .create import cast, convert_to_tensor, dtype_of, scope_of
from .dtypes import as_dtype
from .math_ops import ceil, cos, equal, exp, floor, less_equal, log, minimum, pow
from .names import public_names


def _decaying(
    who: str, name: str | None, rate: Any, step: Any, formula: Callable[[Any, Any], Any]
) -> Any:
    if step is None:
        raise ValueError(f"{who}: global_step is required")

    def at() -> Any:
        with scope_of(name or who, rate, step):
            first = convert_to_tensor(rate, name="learning_rate")
            return formula(first, cast(convert_to_tensor(step), as_dtype(first.dtype)))

    return at if mode.executing_eagerly() else at()


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate · decay_rate^(global_step / decay_steps), the exponent rounded down where it is
    a `staircase`."""

    def formula(rate: Any, step: Any) -> Any:
        exponent = step / _as(decay_steps, rate)
        return rate * pow(_as(decay_rate, rate), floor(exponent) if staircase else exponent)

    return _decaying("exponential_decay", name, learning_rate, global_step, formula)


def natural_exp_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate · exp(-decay_rate · global_step / decay_steps)."""

    def formula(rate: Any, step: Any) -> Any:
        exponent = step / _as(decay_steps, rate)
        return rate * exp(-_as(decay_rate, rate) * (floor(exponent) if staircase else exponent))

    return _decaying("natural_exp_decay", name, learning_rate, global_step, formula)


def inverse_time_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any,
    staircase: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate / (1 + decay_rate · global_step / decay_steps)."""

    def formula(rate: Any, step: Any) -> Any:
        share = step / _as(decay_steps, rate)
        return rate / (1 + _as(decay_rate, rate) * (floor(share) if staircase else share))

    return _decaying("inverse_time_decay", name, learning_rate, global_step, formula)


def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001,
    power: Any = 1.0, cycle: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """(learning_rate - end) (1 - step / decay_steps)^power + end, with a step of at most
    `decay_steps`; or, in a `cycle`, with decay_steps times as often as needed."""

    def formula(rate: Any, step: Any) -> Any:
        steps, end = _as(decay_steps, rate), _as(end_learning_rate, rate)
        if cycle:
            times = ceil(step / steps)
            steps = steps * where(equal(step, _as(0, rate)), ones_like(times), times)
        else:
            step = minimum(step, steps)
        return (rate - end) * pow(1 - step / steps, _as(power, rate)) + end

    return _decaying("polynomial_decay", name, learning_rate, global_step, formula)


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: Any = 0.0,
    name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate ((1 - alpha) (1 + cos(π step / decay_steps)) / 2 + alpha), with a step of at
    most `decay_steps`. Source: Loshchilov and Hutter, SGDR, 2017."""

    def formula(rate: Any, step: Any) -> Any:
        steps, low = _as(decay_steps, rate), _as(alpha, rate)
        wave = (1 + cos(pi * (minimum(step, steps) / steps))) / 2
        return rate * ((1 - low) * wave + low)

    return _decaying("cosine_decay", name, learning_rate, global_step, formula)


def cosine_decay_restarts(
    learning_rate: Any, global_step: Any, first_decay_steps: Any, t_mul: float = 2.0,
    m_mul: float = 1.0, alpha: Any = 0.0, name: str | None = None,
) -> Any:  # fmt: skip
    """`cosine_decay` again and again: each period is `t_mul` times as long as the one before, and
    begins `m_mul` times as high. Source: Loshchilov and Hutter, SGDR, 2017."""

    def formula(rate: Any, step: Any) -> Any:
        share, low = step / _as(first_decay_steps, rate), _as(alpha, rate)
        if t_mul == 1.0:
            period = floor(share)
            share = share - period
        else:
            ratio = _as(t_mul, rate)
            period = floor(log(1 - share * (1 - ratio)) / log(ratio))
            length = pow(ratio, period)
            share = (share - (1 - length) / (1 - ratio)) / length
        wave = (1 + cos(pi * share)) / 2 * pow(_as(m_mul, rate), period)
        return rate * ((1 - low) * wave + low)

    return _decaying("SGDRDecay", name, learning_rate, global_step, formula)


def linear_cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, num_periods: float = 0.5,
    alpha: Any = 0.0, beta: Any = 0.001, name: str | None = None,
) -> Any:  # fmt: skip
    """learning_rate ((alpha + 1 - share) (1 + cos(2π periods share)) / 2 + beta), where share is
    that of `decay_steps` which has passed, at most 1. Source: Bello et al., Neural optimizer
    search, 2017."""

    def formula(rate: Any, step: Any) -> Any:
        steps = _as(decay_steps, rate)
        share = minimum(step, steps) / steps
        wave = (1 + cos(2 * pi * num_periods * share)) / 2
        return rate * ((_as(alpha, rate) + 1 - share) * wave + _as(beta, rate))

    return _decaying("LinearCosineDecay", name, learning_rate, global_step, formula)


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Any:
    """values[0] where x <= boundaries[0], values[1] where it is above and x <= boundaries[1], and
    so on; the last one above all. One value more than boundaries, else a ValueError."""
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            f"piecewise_constant: {len(values)} values for {len(boundaries)} boundaries; expected "
            "one more"
        )

    def at() -> Any:
        with scope_of(name or "PiecewiseConstant", x):
            place = convert_to_tensor(x)
            dtype = dtype_of(*values)
            levels = [convert_to_tensor(value, dtype) for value in values]
            out = levels[-1]
            pairs = list(zip(boundaries, levels[:-1], strict=True))
            for boundary, level in reversed(pairs):
                limit = convert_to_tensor(boundary, as_dtype(place.dtype))
                out = where(less_equal(place, limit), level, out)
            return out

    return at if mode.executing_eagerly() else at()


piecewise_constant_decay = piecewise_constant


def _as(number: Any, like: Any) -> Any:
    """A number or a tensor in the dtype of another."""
    if isinstance(number, (int, float, np.number)):
        return convert_to_tensor(number, as_dtype(like.dtype))
    return cast(number, as_dtype(like.dtype))


__all__ = public_names(globals())
