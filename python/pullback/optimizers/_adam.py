"""Adam and its variants: Adam, AdamW, Nadam, Lamb.

In the formulas m is the decaying mean of the gradients g and s the decaying mean of their squares;
both start at 0. v is the variable, r the learning rate, t the number of the step, from 1.
"""

from __future__ import annotations

from typing import Any

from .._base.domains import DECAY, NON_NEGATIVE, check_numbers
from . import _update_rules as update_rules
from ._optimizer import Optimizer, kept


class Adam(Optimizer):
    """Update variables by Adam.

    A step t = 1, 2, … computes::

        m = β₁ m + (1 - β₁) g
        s = β₂ s + (1 - β₂) g²
        v -= r √(1 - β₂ᵗ) / (1 - β₁ᵗ) · m / (√s + ε)

    Here v is the variable, g its gradient and r the learning rate. The states m and s start at 0.
    The ε is outside of the root and is not corrected for the start: the ε̂ form of [1]_, section 2.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.001.
    beta1 : float or Tensor, optional
        Decay β₁ of the mean of the gradients, in [0, 1). Default: 0.9.
    beta2 : float or Tensor, optional
        Decay β₂ of the mean of the squared gradients, in [0, 1). Default: 0.999.
    epsilon : float or Tensor, optional
        The ε of the denominator, at least 0. Default: 1e-8.

    Raises
    ------
    ValueError
        If `beta1` or `beta2` is outside [0, 1), or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", ICLR 2015.

    Examples
    --------
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
        check_numbers(self._name, DECAY, beta1=beta1, beta2=beta2)
        check_numbers(self._name, NON_NEGATIVE, epsilon=epsilon)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon


class Nadam(Adam):
    """Update variables by Adam with Nesterov's momentum.

    With m and s of `Adam`, a step t = 1, 2, … computes::

        v -= r (β₁ m / (1 - β₁ᵗ⁺¹) + (1 - β₁) g / (1 - β₁ᵗ)) / (√(s / (1 - β₂ᵗ)) + ε)

    Here v is the variable, g its gradient and r the learning rate. Unlike in [1]_, β₁ is constant.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.001.
    beta1 : float or Tensor, optional
        Decay β₁ of the mean of the gradients, in [0, 1). Default: 0.9.
    beta2 : float or Tensor, optional
        Decay β₂ of the mean of the squared gradients, in [0, 1). Default: 0.999.
    epsilon : float or Tensor, optional
        The ε of the denominator, at least 0. Default: 1e-8.

    Raises
    ------
    ValueError
        If `beta1` or `beta2` is outside [0, 1), or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] T. Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop 2016.

    Examples
    --------
    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.Nadam(0.5, beta1=0.0).minimize(lambda: v * v)
    >>> float(v)
    0.5
    """

    _rule = staticmethod(update_rules.nadam)


class AdamW(Adam):
    """Update variables by Adam with decoupled weight decay.

    With m and s of `Adam`, a step t = 1, 2, … computes::

        v -= r (m / (1 - β₁ᵗ) / (√(s / (1 - β₂ᵗ)) + ε) + λ v)

    Here v is the variable, g its gradient and r the learning rate. The decay λ is not part of the
    gradient.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.001.
    beta1 : float or Tensor, optional
        Decay β₁ of the mean of the gradients, in [0, 1). Default: 0.9.
    beta2 : float or Tensor, optional
        Decay β₂ of the mean of the squared gradients, in [0, 1). Default: 0.999.
    epsilon : float or Tensor, optional
        The ε of the denominator, at least 0. Default: 1e-8.
    weight_decay : float or Tensor, optional
        Weight decay λ, at least 0. Default: 0.01.

    Raises
    ------
    ValueError
        If `beta1` or `beta2` is outside [0, 1), or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] I. Loshchilov, F. Hutter, "Decoupled weight decay regularization", ICLR 2019.

    Examples
    --------
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
        check_numbers(self._name, NON_NEGATIVE, weight_decay=weight_decay)
        self.weight_decay = weight_decay


class Lamb(AdamW):
    """Update variables by AdamW with layerwise step sizes (LAMB).

    The step u of `AdamW` is scaled to the norm of the variable: v -= r u ‖v‖ / ‖u‖, or v -= r u if
    one of the norms is 0. The norms are over the whole variable. Here v is the variable, g its
    gradient and r the learning rate.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.001.
    beta1 : float or Tensor, optional
        Decay β₁ of the mean of the gradients, in [0, 1). Default: 0.9.
    beta2 : float or Tensor, optional
        Decay β₂ of the mean of the squared gradients, in [0, 1). Default: 0.999.
    epsilon : float or Tensor, optional
        The ε of the denominator, at least 0. Default: 1e-6.
    weight_decay : float or Tensor, optional
        Weight decay λ, at least 0. Default: 0.01.

    Raises
    ------
    ValueError
        If `beta1` or `beta2` is outside [0, 1), or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] Y. You et al., "Large batch optimization for deep learning: training BERT in 76 minutes",
       ICLR 2020.

    Examples
    --------
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
