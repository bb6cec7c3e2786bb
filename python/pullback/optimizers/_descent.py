"""Optimizers that follow the gradient or its mean: GradientDescent, Momentum, Lion,
ProximalGradientDescent.

A class names its update rule, the numbers that the rule takes and its state; optimizer.py
implements the steps. In the formulas v is the variable, g its gradient, r the learning rate.
"""

from __future__ import annotations

from typing import Any

from .._base.checks import flag
from .._base.domains import DECAY, NON_NEGATIVE, PROBABILITY, check_numbers
from . import _update_rules as update_rules
from ._optimizer import Optimizer, kept


class GradientDescent(Optimizer):
    """Update variables by gradient descent: v -= r g.

    Here v is the variable, g its gradient and r the learning rate.

    If the gradient consists of a few rows, from `pb.take(v, rows, axis=0)` or `v[rows]`, a step
    writes these rows only, with the same numbers. It writes in place inside a `function`; outside,
    it does so if no live result was computed from the old value, such as the loss.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.

    Raises
    ------
    ValueError
        If `learning_rate` is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None.

    Examples
    --------
    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.GradientDescent(0.125).minimize(lambda: v * v)
    >>> float(v)
    0.75
    """

    _rule = staticmethod(update_rules.gradient_descent)
    _zero_stays = True


class Momentum(Optimizer):
    """Update variables by gradient descent with momentum.

    A step computes m = μ m + g and v -= r m; in Nesterov's form v -= r (g + μ m). Here v is the
    variable, g its gradient and r the learning rate. The state m starts at 0.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    momentum : float or Tensor
        Decay μ of the accumulated gradients, in [0, 1].
    use_nesterov : bool, optional
        Use Nesterov's form. Default: False.

    Raises
    ------
    ValueError
        If `momentum` is outside [0, 1], or `learning_rate` is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] I. Sutskever, J. Martens, G. Dahl, G. Hinton, "On the importance of initialization and
       momentum in deep learning", ICML 2013.

    Examples
    --------
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
        check_numbers(self._name, PROBABILITY, momentum=momentum)
        self.momentum = momentum
        self.use_nesterov = flag(use_nesterov, self._name, "use_nesterov")


class Lion(Optimizer):
    """Update variables by the sign of a mean of the gradients (Lion).

    A step computes v -= r (sign(β₁ m + (1 - β₁) g) + λ v) and then m = β₂ m + (1 - β₂) g. Here v is
    the variable, g its gradient and r the learning rate. The state m starts at 0. The size of a
    step is the learning rate, independent of the size of the gradient. A suitable rate is a third
    to a tenth of that for `Adam`.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.0001.
    beta1 : float or Tensor, optional
        Weight β₁ of the mean in the step, in [0, 1). Default: 0.9.
    beta2 : float or Tensor, optional
        Decay β₂ of the mean of the gradients, in [0, 1). Default: 0.99.
    weight_decay : float or Tensor, optional
        Weight decay λ, at least 0. Default: 0.0.

    Raises
    ------
    ValueError
        If `beta1` or `beta2` is outside [0, 1), or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] X. Chen et al., "Symbolic discovery of optimization algorithms", NeurIPS 2023.

    Examples
    --------
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
        check_numbers(self._name, DECAY, beta1=beta1, beta2=beta2)
        check_numbers(self._name, NON_NEGATIVE, weight_decay=weight_decay)
        self.beta1 = beta1
        self.beta2 = beta2
        self.weight_decay = weight_decay


class ProximalGradientDescent(Optimizer):
    """Update variables by gradient descent and a proximal step.

    A step computes p = v - r g and v = sign(p) max(|p| - r l₁, 0) / (1 + r l₂), the proximal step
    of l₁ |v| + ½ l₂ v². With l₁ > 0 entries become exactly 0. Here v is the variable, g its
    gradient and r the learning rate.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    l1 : float or Tensor, optional
        Weight l₁ of |v|, at least 0. Default: 0.0.
    l2 : float or Tensor, optional
        Weight l₂ of ½ v², at least 0. Default: 0.0.

    Raises
    ------
    ValueError
        If a number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] J. Duchi, Y. Singer, "Efficient online and batch learning using forward backward
       splitting", JMLR 10, 2009.

    Examples
    --------
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
        check_numbers(self._name, NON_NEGATIVE, l1=l1, l2=l2)
        self.l1 = l1
        self.l2 = l2
