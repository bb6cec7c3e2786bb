"""Optimizers that divide by the size of the gradients so far, each entry by its own: RMSProp,
Adagrad, Adadelta, Adafactor; Ftrl, ProximalAdagrad and AdagradDA with proximal terms.

v is the variable, g its gradient, r the learning rate.
"""

from __future__ import annotations

from typing import Any

from .._core import Variable
from . import _update_rules as update_rules
from ._optimizer import Optimizer, in_range, kept


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
        in_range(self, 0, 1, closed=True, decay=decay)
        self.decay = decay
        self.momentum = momentum
        self.epsilon = epsilon
        self.centered = centered

    def _slot_sets(self) -> tuple[tuple[str, ...], ...]:
        return (tuple(self._state)[: 2 + bool(self.centered)],)


class Adagrad(Optimizer):
    """a = a + g², from a = `initial_accumulator_value`; v -= r g / √a. Where only few rows were
    taken, a step writes these alone, as one of `GradientDescent` does.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

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
        _check_initial(self, initial_accumulator_value)
        self.initial_accumulator_value = initial_accumulator_value


class Adadelta(Optimizer):
    """a = ρ a + (1 - ρ) g²; d = g √(u + ε) / √(a + ε); u = ρ u + (1 - ρ) d²; v -= r d; a and u
    start at 0.

    Source: Zeiler, ADADELTA: an adaptive learning rate method, 2012.

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
        in_range(self, 0, 1, closed=True, rho=rho)
        in_range(self, 0, epsilon=epsilon)
        self.rho = rho
        self.epsilon = epsilon


class Adafactor(Optimizer):
    """Adam without the mean of the gradients, whose mean of squares is kept, for a matrix, as one
    number for each row and each column: the state of an n × m matrix is n + m numbers.

    With b = 1 - t^`beta2_decay`, s = b s + (1 - b) (g² + ε₁) and u = g / √s:
    v -= α u / max(1, rms(u) / clip_threshold), where α = max(ε₂, rms(v)) min(r, 1 / √t); with
    `relative_step=False` it is r as it is in place of the minimum. Of more than two axes the last
    two are the matrix.

    Source: Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost, 2018.

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
        in_range(self, 0, epsilon1=epsilon1, epsilon2=epsilon2)
        if not clip_threshold > 0:
            raise ValueError(f"Adafactor: clip_threshold is above 0, got {clip_threshold!r}")
        self.beta2_decay = beta2_decay
        self.epsilon1 = epsilon1
        self.epsilon2 = epsilon2
        self.clip_threshold = clip_threshold
        self.relative_step = relative_step

    def _slot_sets(self) -> tuple[tuple[str, ...], ...]:
        return ("rows", "columns"), ("s",)

    def _slots_of(self, v: Variable) -> tuple[str, ...]:
        return self._slot_sets()[v.ndim < 2]

    def _slot_shape(self, v: Variable, name: str) -> tuple[int, ...]:
        if name == "rows":
            return v.shape[:-1]
        return (*v.shape[:-2], v.shape[-1]) if name == "columns" else v.shape


class Ftrl(Optimizer):
    """Follow the regularized leader: v is made anew from sums of the gradients in each step, so its
    first value does not matter.

    n' = n + g², from n = `initial_accumulator_value`; z += g + 2 s v - (n'^-p - n^-p) / r v;
    v = (l₁ sign(z) - z) / ((n'^-p + β) / r + 2 l₂) where |z| > l₁, else 0, with p the
    `learning_rate_power` and s the `l2_shrinkage`.

    Source: McMahan et al., Ad click prediction: a view from the trenches, 2013.

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
        in_range(self, 0, initial_accumulator_value=initial_accumulator_value)
        in_range(self, 0, l1=l1, l2=l2, l2_shrinkage=l2_shrinkage, beta=beta)
        if learning_rate_power > 0:
            raise ValueError(f"Ftrl: learning_rate_power is at most 0, got {learning_rate_power}")
        self.initial_accumulator_value = initial_accumulator_value
        self.learning_rate_power = learning_rate_power
        self.l1 = l1
        self.l2 = l2
        self.l2_shrinkage = l2_shrinkage
        self.beta = beta


class ProximalAdagrad(Optimizer):
    """Adagrad, then the proximal step of l₁ |v| + ½ l₂ v²: a = a + g²; e = r / √a; p = v - e g;
    v = sign(p) max(|p| - e l₁, 0) / (1 + e l₂).

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

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
        _check_initial(self, initial_accumulator_value)
        in_range(self, 0, l1=l1, l2=l2)
        self.initial_accumulator_value = initial_accumulator_value
        self.l1 = l1
        self.l2 = l2


class AdagradDA(ProximalAdagrad):
    """Adagrad with dual averaging: v is made anew from the sums G of g and N of g² in each step, so
    its first value does not matter: v = -r sign(G) max(|G| - l₁ t, 0) / (l₂ t r + √N), where t
    counts the steps from 1.

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

    >>> v = pb.Variable(7.0)
    >>> pb.optimizers.AdagradDA(0.5, initial_accumulator_value=3.0).minimize(lambda: 1 * v)
    >>> float(v)  # -0.5 · 1 / √(3 + 1)
    -0.25
    """

    _rule = staticmethod(update_rules.adagrad_da)
    _state = kept(gradients=0.0, squares="initial_accumulator_value")
    _counts = True


def _check_initial(who: Optimizer, value: float) -> None:
    """What is divided by the root of a sum of squares needs one above 0."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__gt__") or not value > 0:
        raise ValueError(
            f"{type(who).__name__}: initial_accumulator_value is above 0, got {value!r}"
        )
