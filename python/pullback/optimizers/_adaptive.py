"""Optimizers with a step size for each entry, computed from its previous gradients: RMSProp,
Adagrad, Adadelta, Adafactor; Ftrl, ProximalAdagrad and AdagradDA with proximal terms.

In the formulas v is the variable, g its gradient, r the learning rate.
"""

from __future__ import annotations

from typing import Any

from .._base.checks import flag
from .._base.domains import NON_NEGATIVE, NON_POSITIVE, POSITIVE, PROBABILITY, check_numbers
from .._core import Variable
from . import _update_rules as update_rules
from ._optimizer import Optimizer, kept


class RMSProp(Optimizer):
    """Update variables by RMSProp.

    A step computes::

        s = decay s + (1 - decay) g²
        m = momentum m + r g / √(s + ε)
        v -= m

    Here v is the variable, g its gradient and r the learning rate. The state s starts at 1, m at 0.
    The ε is inside the root. With `centered` the root is of s - q² + ε, where q is the mean of g
    with the same decay, from 0.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    decay : float or Tensor, optional
        Decay of the mean of the squared gradients, in [0, 1]. Default: 0.9.
    momentum : float or Tensor, optional
        Decay of the accumulated steps, in [0, 1]. Default: 0.0.
    epsilon : float or Tensor, optional
        The ε of the root, at least 0. Default: 1e-10.
    centered : bool, optional
        Subtract the squared mean of the gradients. Default: False.

    Raises
    ------
    ValueError
        If `decay` or `momentum` is outside [0, 1], or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] G. Hinton, "Neural networks for machine learning", lecture 6e, 2012.
    .. [2] A. Graves, "Generating sequences with recurrent neural networks", arXiv:1308.0850, 2013.

    Examples
    --------
    >>> v = pb.Variable([1.0, 100.0], name="v")
    >>> pb.optimizers.RMSProp(0.5, decay=0.0, epsilon=0.0).minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('v', [ 0.5, 99.5], dtype=float32)
    """

    _rule = staticmethod(update_rules.rms_prop)
    _hyper = ("decay", "momentum", "epsilon")
    _state = kept(rms=1.0, momentum=0.0, mean=0.0)

    def __init__(
        self,
        learning_rate: Any,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        centered: bool = False,
    ) -> None:
        super().__init__(learning_rate)
        check_numbers(self._name, PROBABILITY, decay=decay, momentum=momentum)
        check_numbers(self._name, NON_NEGATIVE, epsilon=epsilon)
        self.decay = decay
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = flag(centered, self._name, "centered")

    def _slot_sets(self) -> tuple[tuple[str, ...], ...]:
        return (tuple(self._state)[: 2 + bool(self.centered)],)


class Adagrad(Optimizer):
    """Update variables by Adagrad.

    A step computes a = a + g² and v -= r g / √a. Here v is the variable, g its gradient and r the
    learning rate. If the gradient consists of a few rows, a step writes these rows only, like a
    step of `GradientDescent`.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    initial_accumulator_value : float, optional
        Initial value of the sum of squares, above 0. Default: 0.1.

    Raises
    ------
    ValueError
        If `initial_accumulator_value` is not above 0, or `learning_rate` is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", JMLR 12, 2011.

    Examples
    --------
    >>> v = pb.Variable(1.0)
    >>> optimizer = pb.optimizers.Adagrad(0.5, initial_accumulator_value=12.0)
    >>> optimizer.minimize(lambda: v * v)  # 0.5 · 2 / √(12 + 4)
    >>> float(v)
    0.75
    """

    _rule = staticmethod(update_rules.adagrad)
    _zero_stays = True
    _state = kept(accumulator="initial_accumulator_value")

    def __init__(self, learning_rate: Any, initial_accumulator_value: float = 0.1) -> None:
        super().__init__(learning_rate)
        check_numbers(self._name, POSITIVE, initial_accumulator_value=initial_accumulator_value)
        self.initial_accumulator_value = initial_accumulator_value


class Adadelta(Optimizer):
    """Update variables by Adadelta.

    A step computes::

        a = ρ a + (1 - ρ) g²
        d = g √(u + ε) / √(a + ε)
        u = ρ u + (1 - ρ) d²
        v -= r d

    Here v is the variable, g its gradient and r the learning rate. The states a and u start at 0.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.001.
    rho : float or Tensor, optional
        Decay ρ of both means, in [0, 1]. Default: 0.95.
    epsilon : float or Tensor, optional
        The ε of the roots, at least 0. Default: 1e-8.

    Raises
    ------
    ValueError
        If `rho` is outside [0, 1], or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] M. D. Zeiler, "ADADELTA: an adaptive learning rate method", arXiv:1212.5701, 2012.

    Examples
    --------
    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.Adadelta(1.0, rho=0.75, epsilon=1.0).minimize(lambda: 0.5 * v * v)
    >>> round(float(v), 4)  # 1 - √1 / √1.25
    0.1056
    """

    _rule = staticmethod(update_rules.adadelta)
    _hyper = ("rho", "epsilon")
    _state = kept(accumulator=0.0, updates=0.0)

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.95, epsilon: float = 1e-8
    ) -> None:
        super().__init__(learning_rate)
        check_numbers(self._name, PROBABILITY, rho=rho)
        check_numbers(self._name, NON_NEGATIVE, epsilon=epsilon)
        self.rho = rho
        self.epsilon = epsilon


class Adafactor(Optimizer):
    """Update variables by Adafactor, with sublinear memory.

    The rule resembles `Adam` without the mean of the gradients. A step t = 1, 2, … computes::

        b = 1 - t^beta2_decay
        s = b s + (1 - b) (g² + ε₁)
        u = g / √s
        v -= α u / max(1, rms(u) / clip_threshold)

    with α = max(ε₂, rms(v)) min(r, 1 / √t), or max(ε₂, rms(v)) r if `relative_step` is False. Here
    v is the variable, g its gradient and r the learning rate. The state s starts at 0.

    For a matrix s is stored as one number for each row and each column, so the state of an n × m
    matrix has n + m numbers. If a variable has more than two axes, the last two form the matrix.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
        Default: 0.001.
    beta2_decay : float or Tensor, optional
        Exponent of the decay of s, at most 0. Default: -0.8.
    epsilon1 : float or Tensor, optional
        The ε₁ that is added to g², at least 0. Default: 1e-30.
    epsilon2 : float or Tensor, optional
        Lower bound ε₂ of the scale of a variable, at least 0. Default: 1e-3.
    clip_threshold : float or Tensor, optional
        Largest root mean square of u, above 0. Default: 1.0.
    relative_step : bool, optional
        Limit the learning rate to 1 / √t. Default: True.

    Raises
    ------
    ValueError
        If `beta2_decay` is positive, `clip_threshold` is not above 0, or another number is
        negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] N. Shazeer, M. Stern, "Adafactor: adaptive learning rates with sublinear memory cost",
       ICML 2018.

    Examples
    --------
    >>> v = pb.Variable(pb.ones((2, 3)), name="v")
    >>> optimizer = pb.optimizers.Adafactor(0.25)
    >>> optimizer.minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('v', [[0.75, 0.75, 0.75],
                   [0.75, 0.75, 0.75]], dtype=float32)
    >>> [(slot.name, slot.shape) for slot in optimizer.variables()][:2]
    [('v/rows', (2,)), ('v/columns', (3,))]
    """

    _rule = staticmethod(update_rules.adafactor)
    _hyper = ("beta2_decay", "epsilon1", "epsilon2", "clip_threshold", "relative_step")
    _state = kept(rows=0.0, columns=0.0, s=0.0)
    _counts = True

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta2_decay: float = -0.8,
        epsilon1: float = 1e-30,
        epsilon2: float = 1e-3,
        clip_threshold: float = 1.0,
        relative_step: bool = True,
    ) -> None:
        super().__init__(learning_rate)
        check_numbers(self._name, NON_POSITIVE, beta2_decay=beta2_decay)
        check_numbers(self._name, NON_NEGATIVE, epsilon1=epsilon1, epsilon2=epsilon2)
        check_numbers(self._name, POSITIVE, clip_threshold=clip_threshold)
        self.beta2_decay = beta2_decay
        self.epsilon1 = epsilon1
        self.epsilon2 = epsilon2
        self.clip_threshold = clip_threshold
        self.relative_step = flag(relative_step, self._name, "relative_step")

    def _slot_sets(self) -> tuple[tuple[str, ...], ...]:
        return ("rows", "columns"), ("s",)

    def _slots_of(self, v: Variable) -> tuple[str, ...]:
        return self._slot_sets()[v.ndim < 2]

    def _slot_shape(self, v: Variable, name: str) -> tuple[int, ...]:
        if name == "rows":
            return v.shape[:-1]
        return (*v.shape[:-2], v.shape[-1]) if name == "columns" else v.shape


class Ftrl(Optimizer):
    """Update variables by the follow-the-regularized-leader rule (FTRL).

    A step computes::

        n' = n + g²
        z += g + 2 s v - (n'^-p - n^-p) / r v
        v = (l₁ sign(z) - z) / ((n'^-p + β) / r + 2 l₂)   if |z| > l₁, else 0

    with the `learning_rate_power` p and the `l2_shrinkage` s. Here v is the variable, g its
    gradient and r the learning rate. The state n starts at `initial_accumulator_value`, z at 0.
    Each step computes v from sums of the gradients. A learning rate of 0 leaves the variable and
    its state unchanged.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    learning_rate_power : float, optional
        Exponent p of the accumulator, at most 0. Default: -0.5.
    initial_accumulator_value : float, optional
        Initial value of n, at least 0. Default: 0.1.
    l1 : float or Tensor, optional
        Weight l₁ of |v|, at least 0. Default: 0.0.
    l2 : float or Tensor, optional
        Weight l₂ of v², at least 0. Default: 0.0.
    l2_shrinkage : float or Tensor, optional
        Weight s of v², applied to the gradient, at least 0. Default: 0.0.
    beta : float or Tensor, optional
        The β of the denominator, at least 0. Default: 0.0.

    Raises
    ------
    ValueError
        If `learning_rate_power` is positive, or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] H. B. McMahan et al., "Ad click prediction: a view from the trenches", KDD 2013.

    Examples
    --------
    >>> v = pb.Variable(0.0)
    >>> optimizer = pb.optimizers.Ftrl(0.5, initial_accumulator_value=3.0)
    >>> optimizer.minimize(lambda: 1 * v)  # z = 1, n = 4: -1 / (2 / 0.5)
    >>> float(v)
    -0.25
    """

    _rule = staticmethod(update_rules.ftrl)
    _hyper = ("learning_rate_power", "l1", "l2", "l2_shrinkage", "beta")
    _state = kept(accumulator="initial_accumulator_value", linear=0.0)

    def __init__(
        self,
        learning_rate: Any,
        learning_rate_power: float = -0.5,
        initial_accumulator_value: float = 0.1,
        l1: float = 0.0,
        l2: float = 0.0,
        l2_shrinkage: float = 0.0,
        beta: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        check_numbers(self._name, NON_POSITIVE, learning_rate_power=learning_rate_power)
        check_numbers(
            self._name,
            NON_NEGATIVE,
            initial_accumulator_value=initial_accumulator_value,
            l1=l1,
            l2=l2,
            l2_shrinkage=l2_shrinkage,
            beta=beta,
        )
        self.initial_accumulator_value = initial_accumulator_value
        self.learning_rate_power = learning_rate_power
        self.l1 = l1
        self.l2 = l2
        self.l2_shrinkage = l2_shrinkage
        self.beta = beta


class ProximalAdagrad(Optimizer):
    """Update variables by Adagrad and a proximal step.

    A step computes a = a + g², e = r / √a, p = v - e g and v = sign(p) max(|p| - e l₁, 0) / (1 + e
    l₂), the proximal step of l₁ |v| + ½ l₂ v². Here v is the variable, g its gradient and r the
    learning rate.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    initial_accumulator_value : float, optional
        Initial value of the sum of squares, above 0. Default: 0.1.
    l1 : float or Tensor, optional
        Weight l₁ of |v|, at least 0. Default: 0.0.
    l2 : float or Tensor, optional
        Weight l₂ of ½ v², at least 0. Default: 0.0.

    Raises
    ------
    ValueError
        If `initial_accumulator_value` is not above 0, or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", JMLR 12, 2011.

    Examples
    --------
    >>> v = pb.Variable(1.0)
    >>> optimizer = pb.optimizers.ProximalAdagrad(0.5, initial_accumulator_value=12.0, l1=1.0)
    >>> optimizer.minimize(lambda: v * v)  # 0.75, less 0.5 / 4
    >>> float(v)
    0.625
    """

    _rule = staticmethod(update_rules.proximal_adagrad)
    _hyper = ("l1", "l2")
    _state = kept(accumulator="initial_accumulator_value")

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        l1: float = 0.0,
        l2: float = 0.0,
    ) -> None:
        super().__init__(learning_rate)
        check_numbers(self._name, POSITIVE, initial_accumulator_value=initial_accumulator_value)
        check_numbers(self._name, NON_NEGATIVE, l1=l1, l2=l2)
        self.initial_accumulator_value = initial_accumulator_value
        self.l1 = l1
        self.l2 = l2


class AdagradDA(ProximalAdagrad):
    """Update variables by Adagrad with dual averaging.

    A step t = 1, 2, … computes G = G + g, N = N + g² and v = -r sign(G) max(|G| - l₁ t, 0) / (l₂ t
    r + √N). Here v is the variable, g its gradient and r the learning rate. The state G starts at
    0, N at `initial_accumulator_value`. Since v is computed from G and N, its initial value has no
    effect on the updated value.

    Parameters
    ----------
    learning_rate : float, Tensor, Variable or callable
        Learning rate r: a scalar, a schedule, or a function without arguments, as in `Optimizer`.
    initial_accumulator_value : float, optional
        Initial value of the sum of squares, above 0. Default: 0.1.
    l1 : float or Tensor, optional
        Weight l₁ of |v|, at least 0. Default: 0.0.
    l2 : float or Tensor, optional
        Weight l₂ of ½ v², at least 0. Default: 0.0.

    Raises
    ------
    ValueError
        If `initial_accumulator_value` is not above 0, or another number is negative.
    TypeError
        If `learning_rate` is a string, a list, a tuple, a dict, a set or None, or another argument
        has an invalid type.

    References
    ----------
    .. [1] J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and
       stochastic optimization", JMLR 12, 2011.

    Examples
    --------
    >>> v = pb.Variable(7.0)
    >>> pb.optimizers.AdagradDA(0.5, initial_accumulator_value=3.0).minimize(lambda: 1 * v)
    >>> float(v)  # -0.5 · 1 / √(3 + 1)
    -0.25
    """

    _rule = staticmethod(update_rules.adagrad_da)
    _state = kept(gradients=0.0, squares="initial_accumulator_value")
    _counts = True
