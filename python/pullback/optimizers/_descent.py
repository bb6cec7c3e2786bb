"""Optimizers that follow the gradient or its mean: GradientDescent, Momentum, Lion,
ProximalGradientDescent.

Each optimizer is a rule, the numbers it takes and the state it keeps; optimizer.py does the rest.
In the formulas v is the variable, g its gradient, r the learning rate.
"""

from __future__ import annotations

from typing import Any

from . import _update_rules as update_rules
from ._optimizer import Optimizer, in_range, kept


class GradientDescent(Optimizer):
    """v -= r g.

    Of a variable of which only few rows were taken, by `pb.take(v, rows, axis=0)` or `v[rows]`, a
    step writes these rows alone, with the same numbers; in place inside of a `function`, and
    outside where nobody holds the loss or another result that was made from the old value.

    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.GradientDescent(0.125).minimize(lambda: v * v)
    >>> float(v)
    0.75
    """

    _rule = staticmethod(update_rules.gradient_descent)
    _zero_stays = True


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
    _state = kept(momentum=0.0)

    def __init__(self, learning_rate: Any, momentum: float, use_nesterov: bool = False) -> None:
        super().__init__(learning_rate)
        self.momentum = momentum
        self.use_nesterov = use_nesterov


class Lion(Optimizer):
    """v -= r (sign(β₁ m + (1 - β₁) g) + λ v); then m = β₂ m + (1 - β₂) g, from m = 0, where λ is
    the `weight_decay`.

    Its steps are as long as the rate, whatever the gradient: it takes a third to a tenth of Adam's.
    Source: Chen et al., Symbolic discovery of optimization algorithms, 2023.

    >>> v = pb.Variable([1.0, 100.0], name="v")
    >>> pb.optimizers.Lion(0.5).minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('v', [ 0.5, 99.5], dtype=float32)
    """

    _rule = staticmethod(update_rules.lion)
    _hyper = ("beta1", "beta2", "weight_decay")
    _state = kept(m=0.0)

    def __init__(
        self,
        learning_rate: Any = 0.0001,
        beta1: float = 0.9,
        beta2: float = 0.99,
        weight_decay: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        in_range(self, 0, 1, beta1=beta1, beta2=beta2)
        self.beta1 = beta1
        self.beta2 = beta2
        self.weight_decay = weight_decay


class ProximalGradientDescent(Optimizer):
    """p = v - r g; v = sign(p) max(|p| - r l₁, 0) / (1 + r l₂): descent, then the proximal step of
    l₁ |v| + ½ l₂ v². With l₁ > 0 entries become exactly 0.

    Source: Duchi and Singer, Efficient online and batch learning using forward backward splitting,
    2009.

    >>> v = pb.Variable([1.0, 0.1], name="v")
    >>> optimizer = pb.optimizers.ProximalGradientDescent(0.25, l1=1.0)
    >>> optimizer.minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('v', [0.25, 0.  ], dtype=float32)
    """

    _rule = staticmethod(update_rules.proximal_gradient_descent)
    _hyper = ("l1", "l2")

    def __init__(self, learning_rate: Any, l1: float = 0.0, l2: float = 0.0) -> None:
        super().__init__(learning_rate)
        in_range(self, 0, l1=l1, l2=l2)
        self.l1 = l1
        self.l2 = l2
