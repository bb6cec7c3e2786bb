"""Learning rates that decrease with the global step, such as `tf.train.exponential_decay`.

Each is one operation in graph mode. In eager mode, where the step is a number that changes, it is a
function without arguments, which the optimizers call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

from .... import _core
from .._graph import mode, shape_functions
from .._graph.create import apply, convert_to_tensor, dtype_of, scope_of
from .._graph.opdef import define
from .._ops.indexing_ops import where
from .._ops.math_ops import less_equal
from ..dtypes import as_dtype
from ..names import public_names, taking


def _decay(type: str, arguments: str) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the formula of a rate, a step, numbers and flags.

    The numbers have the dtype of the rate; flags are keywords.
    """

    def decorate(formula: Callable[..., Any]) -> Any:
        def compute(rate: Any, *numbers: Any, **flags: Any) -> Any:
            return formula(rate, *(_core.cast(x, rate.dtype) for x in numbers), **flags)

        labels = tuple(entry.partition("=")[0] for entry in arguments.split())
        define(
            type, compute, labels=labels, shape=shape_functions.unchanged, public=formula.__name__
        )

        @taking(f"{arguments} name=None", formula.__name__, formula.__doc__)
        def decay(name: str | None, **given: Any) -> Any:
            flags = {k: bool(given.pop(k)) for k in ("staircase", "cycle") if k in given}
            if given["global_step"] is None:
                raise ValueError(f"{formula.__name__}: expected a step for global_step, got None")

            def at() -> Any:
                return apply(type, *given.values(), name=name, **flags)

            return at if mode.executing_eagerly() else at()

        return decay

    return decorate


def _share(step: Any, steps: Any, staircase: bool) -> Any:
    return _core.floor(step / steps) if staircase else step / steps


def _wave(share: Any) -> Any:
    return (1 + _core.cos(pi * share)) / 2


_STEPS = "learning_rate global_step decay_steps"


@_decay("ExponentialDecay", f"{_STEPS} decay_rate staircase=False")
def exponential_decay(rate: Any, step: Any, steps: Any, factor: Any, staircase: bool) -> Any:
    """Compute learning_rate · decay_rate^(global_step / decay_steps).

    `staircase` floors the exponent.
    """
    return rate * _core.pow(factor, _share(step, steps, staircase))


@_decay("NaturalExpDecay", f"{_STEPS} decay_rate staircase=False")
def natural_exp_decay(rate: Any, step: Any, steps: Any, factor: Any, staircase: bool) -> Any:
    """Compute learning_rate · exp(-decay_rate · global_step / decay_steps)."""
    return rate * _core.exp(-factor * _share(step, steps, staircase))


@_decay("InverseTimeDecay", f"{_STEPS} decay_rate staircase=False")
def inverse_time_decay(rate: Any, step: Any, steps: Any, factor: Any, staircase: bool) -> Any:
    """Compute learning_rate / (1 + decay_rate · global_step / decay_steps)."""
    return rate / (1 + factor * _share(step, steps, staircase))


@_decay("PolynomialDecay", f"{_STEPS} end_learning_rate=0.0001 power=1.0 cycle=False")
def polynomial_decay(rate: Any, step: Any, steps: Any, end: Any, power: Any, cycle: bool) -> Any:
    """Compute (learning_rate - end) (1 - step / decay_steps)^power + end, up to decay_steps.

    With `cycle` decay_steps is multiplied by the smallest sufficient integer.
    """
    if cycle:
        times = _core.ceil(step / steps)
        steps = steps * _core.where(step == 0, 1, times)
    else:
        step = _core.minimum(step, steps)
    return (rate - end) * _core.pow(1 - step / steps, power) + end


@_decay("CosineDecay", f"{_STEPS} alpha=0.0")
def cosine_decay(rate: Any, step: Any, steps: Any, low: Any) -> Any:
    """Compute learning_rate ((1 - alpha) (1 + cos(π step / decay_steps)) / 2 + alpha).

    The rate stays at its end after decay_steps.

    Source: Loshchilov and Hutter, SGDR, 2017.
    """
    return rate * ((1 - low) * _wave(_core.minimum(step, steps) / steps) + low)


@_decay("SGDRDecay", "learning_rate global_step first_decay_steps t_mul=2.0 m_mul=1.0 alpha=0.0")
def cosine_decay_restarts(
    rate: Any, step: Any, steps: Any, ratio: Any, lower: Any, low: Any
) -> Any:
    """Repeat `cosine_decay`: each period is `t_mul` times longer and starts `m_mul` times higher.

    Source: Loshchilov and Hutter, SGDR, 2017.
    """
    share, equal = step / steps, ratio == 1
    other = _core.where(equal, 2, ratio)
    long = _core.floor(_core.log(1 - share * (1 - other)) / _core.log(other))
    period = _core.where(equal, _core.floor(share), long)
    length = _core.pow(other, period)
    share = _core.where(equal, share - period, (share - (1 - length) / (1 - other)) / length)
    return rate * ((1 - low) * _wave(share) * _core.pow(lower, period) + low)


def piecewise_constant(
    x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None
) -> Any:
    """Return values[i] for the first i with x <= boundaries[i], or the last value.

    There is one value more than boundaries, else a ValueError.
    """
    if len(boundaries) != len(values) - 1:
        raise ValueError(
            f"piecewise_constant: {len(values)} values for {len(boundaries)} boundaries; expected "
            "one more"
        )

    def at() -> Any:
        with scope_of(name or "PiecewiseConstant", x):
            place, dtype = convert_to_tensor(x), dtype_of(*values)
            *levels, out = (convert_to_tensor(value, dtype) for value in values)
            for boundary, level in reversed(list(zip(boundaries, levels, strict=True))):
                limit = convert_to_tensor(boundary, as_dtype(place.dtype))
                out = where(less_equal(place, limit), level, out)
            return out

    return at if mode.executing_eagerly() else at()


piecewise_constant_decay = piecewise_constant
__all__ = public_names(globals())
