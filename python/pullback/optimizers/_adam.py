"""Adam and what became of it: Adam, AdamW, Nadam, Lamb.

m is the decaying mean of the gradients g, s that of their squares; both start at 0. v is the
variable, r the learning rate, t the number of the step from 1.
"""

from __future__ import annotations

from typing import Any

from . import _update_rules as update_rules
from ._optimizer import Optimizer, in_range, kept


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

    _rule = staticmethod(update_rules.adam_by_steps)
    _hyper: tuple[str, ...] = ("beta1", "beta2", "epsilon")
    _state = kept(m=0.0, s=0.0)
    _counts = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        super().__init__(learning_rate)
        in_range(self, 0, 1, beta1=beta1, beta2=beta2)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon


class Nadam(Adam):
    """Adam that looks one step ahead, as Nesterov's momentum does, with the moments corrected for
    the start: v -= r (β₁ m / (1 - β₁ᵗ⁺¹) + (1 - β₁) g / (1 - β₁ᵗ)) / (√(s / (1 - β₂ᵗ)) + ε).

    Source: Dozat, Incorporating Nesterov momentum into Adam, 2016, with a constant β₁.

    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.Nadam(0.5, beta1=0.0).minimize(lambda: v * v)
    >>> float(v)
    0.5
    """

    _rule = staticmethod(update_rules.nadam)


class AdamW(Adam):
    """Adam with weight decay beside the gradient, λ the `weight_decay`:
    v -= r (m / (1 - β₁ᵗ) / (√(s / (1 - β₂ᵗ)) + ε) + λ v).

    Source: Loshchilov and Hutter, Decoupled weight decay regularization, 2019.

    >>> v = pb.Variable([1.0, 100.0], name="v")
    >>> pb.optimizers.AdamW(0.5, weight_decay=0.5).minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('v', [ 0.25, 74.5 ], dtype=float32)
    """

    _rule = staticmethod(update_rules.adam_w)
    _hyper = ("beta1", "beta2", "epsilon", "weight_decay")

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon)
        self.weight_decay = weight_decay


class Lamb(AdamW):
    """AdamW whose step u has, for each variable as a whole, the length of the variable:
    v -= r u ‖v‖ / ‖u‖, or v -= r u where one of them is 0.

    Source: You et al., Large batch optimization for deep learning, 2020.

    >>> v = pb.Variable([3.0, 4.0])
    >>> pb.optimizers.Lamb(0.5, weight_decay=0.0).minimize(lambda: pb.sum(v))
    >>> pb.round(v * 100)  # a step of length 2.5
    Tensor([123., 223.], dtype=float32)
    """

    _rule = staticmethod(update_rules.lamb)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, weight_decay)
