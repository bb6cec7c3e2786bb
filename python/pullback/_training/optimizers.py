"""Optimizers: GradientDescent, Momentum, RMSProp, Adam.

Each is a rule, the numbers it takes and the state it keeps; optimizer.py does the rest. In the
formulas v is the variable, g its gradient, r the learning rate.
"""

from __future__ import annotations

from math import inf, log
from typing import Any

from .. import _core
from .._core import Tensor, Variable
from . import update_rules
from .optimizer import New, Optimizer

__all__ = ["Adam", "GradientDescent", "Momentum", "Optimizer", "RMSProp"]


class GradientDescent(Optimizer):
    """v -= r g.

    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.GradientDescent(0.125).minimize(lambda: v * v)
    >>> float(v)
    0.75
    """

    _rule = staticmethod(update_rules.gradient_descent)


class Momentum(Optimizer):
    """m = momentum m + g, from m = 0; v -= r m. With Nesterov's form v -= r (g + momentum m).

    Source: Sutskever et al., On the importance of initialization and momentum, 2013.

    >>> v = pb.Variable(1.0)
    >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
    >>> for _ in range(2):
    ...     optimizer.minimize(lambda: v * v)
    >>> float(v)
    0.0
    """

    _rule = staticmethod(update_rules.momentum)
    _hyper = ("momentum", "use_nesterov")
    _slot_names = ("momentum",)

    def __init__(self, learning_rate: Any, momentum: float, use_nesterov: bool = False) -> None:
        super().__init__(learning_rate)
        self.momentum = momentum
        self.use_nesterov = use_nesterov


class RMSProp(Optimizer):
    """s = decay s + (1 - decay) g², from s = 1; m = momentum m + r g / √(s + ε); v -= m.

    The ε is inside the root. `centered` subtracts q² from s there, where q is the mean of g that
    decays in the same way. Source: Hinton, Neural networks for machine learning, lecture 6e;
    Graves, Generating sequences with recurrent neural networks, 2013.

    >>> v = pb.Variable([1.0, 100.0], name="v")
    >>> pb.optimizers.RMSProp(0.5, decay=0.0, epsilon=0.0).minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('v', [ 0.5, 99.5], dtype=float32)
    """

    _rule = staticmethod(update_rules.rms_prop)
    _hyper = ("decay", "momentum", "epsilon")

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        centered: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        self.decay = decay
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered
        self._slot_names = ("rms", "momentum", "mean") if centered else ("rms", "momentum")

    def _initial(self, name: str) -> float:
        return 1.0 if name == "rms" else 0.0


class Adam(Optimizer):
    """m = β₁ m + (1 - β₁) g; s = β₂ s + (1 - β₂) g²; v -= r √(1 - β₂ᵗ) / (1 - β₁ᵗ) · m / (√s + ε),
    where t counts the steps from 1, and m and s start at 0.

    The ε is outside of the root and not corrected for the start. Source: Kingma and Ba, Adam, 2015
    (its ε̂ form, section 2).

    >>> v = pb.Variable([1.0, 100.0])
    >>> pb.optimizers.Adam(0.5, epsilon=0.0).minimize(lambda: pb.sum(v * v))
    >>> pb.round(2 * v)  # half a unit each, whatever the gradient
    Tensor([  1., 199.], dtype=float32)
    """

    _rule = staticmethod(update_rules.adam)
    _hyper = ("beta1", "beta2", "epsilon")
    _slot_names = ("m", "s")
    _shared_names = ("steps",)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate)
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= beta < 1:
                raise ValueError(f"Adam: {name} is from 0 to below 1, got {_core.shown(beta)}")
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    @property
    def steps(self) -> int:
        """How many steps were finished, those of a state that was loaded included."""
        count = self._slots.shared("steps")
        return 0 if count is None else int(count)

    def _correct(self, hyper: dict[str, Any], v: Variable, new: New) -> None:
        if (None, "steps") not in new:
            new[None, "steps"] = self._slots.get(None, "steps") + 1
        t = _core.cast(new[None, "steps"], v.dtype)
        start = _core.sqrt(_one_minus_power(hyper["beta2"], t))
        rate = hyper["learning_rate"] * start
        hyper["learning_rate"] = rate / _one_minus_power(hyper["beta1"], t)


def _one_minus_power(beta: Any, t: Tensor) -> Tensor:
    """1 - βᵗ, without the cancellation that float32 would suffer in the first steps."""
    if isinstance(beta, (int, float)):
        return -_core.expm1(t * (log(beta) if beta else -inf))
    return -_core.expm1(t * _core.log(beta))
