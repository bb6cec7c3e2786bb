"""Optimizers: GradientDescent, Momentum, RMSProp, Adam.

One holds the rule and the state it needs for each variable (slots), which is made when the variable
is first updated. `minimize(f)` is `apply_gradients(compute_gradients(f))`; between the two the
gradients may be changed. Updates are as lazy as everything else. In the formulas v is the variable,
g its gradient, r the learning rate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, log
from typing import Any

from .. import _core
from .._core import Tensor, Variable


class Optimizer:
    """What the optimizers share. `learning_rate` is a number, a tensor or variable of shape (), or
    a function without arguments that is called in every step."""

    def __init__(self, learning_rate: Any) -> None:
        if isinstance(learning_rate, (str, type(None))):
            raise TypeError(
                f"{self._name}: learning_rate is a number, a tensor, a variable or a function, "
                f"got {learning_rate!r}"
            )
        self.learning_rate = learning_rate
        self._slots: dict[tuple[Variable, str], Variable] = {}

    def minimize(
        self, loss: Callable[[], Any], var_list: Variable | Sequence[Variable] | None = None
    ) -> None:
        """One step: calls loss(), differentiates, updates.

        The variables are those in `var_list`, or the trainable ones that loss() reads. Raises what
        `compute_gradients` and `apply_gradients` raise; where no variable has a gradient, the
        ValueError lists them all and says why.

        >>> v = pb.Variable([1.0, 2.0])
        >>> pb.optimizers.GradientDescent(0.25).minimize(lambda: pb.sum(v * v))
        >>> v
        Variable('Variable', [0.5, 1. ], dtype=float32)
        """
        pairs, read = self._gradients(loss, var_list, "minimize")
        if all(g is None for g, _ in pairs):
            raise ValueError(_no_gradients(f"{self._name}.minimize", [v for _, v in pairs], read))
        self.apply_gradients(pairs)

    def compute_gradients(
        self, loss: Callable[[], Any], var_list: Variable | Sequence[Variable] | None = None
    ) -> list[tuple[Tensor | None, Variable]]:
        """Pairs of gradient and variable, None where the loss does not depend on the variable.

        loss() returns a tensor, of which all elements are summed: TypeError for another result,
        ValueError for a dtype that is not floating, and where there are no variables.

        >>> v = pb.Variable(3.0, name="v")
        >>> pb.optimizers.GradientDescent(0.1).compute_gradients(lambda: v * v)
        [(Tensor(6., dtype=float32), Variable('v', 3., dtype=float32))]
        """
        return self._gradients(loss, var_list, "compute_gradients")[0]

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]]) -> None:
        """Updates each variable by its gradient: a tensor of its dtype and shape, or an array or
        number; a variable whose gradient is None stays as it is.

        All pairs are checked before anything changes: ValueError for a wrong shape, for no pairs
        and where all gradients are None; TypeError for a wrong dtype and for what is not a
        Variable.

        >>> v = pb.Variable([1.0, 2.0])
        >>> pb.optimizers.GradientDescent(0.5).apply_gradients([([2.0, 2.0], v)])
        >>> v
        Variable('Variable', [0., 1.], dtype=float32)
        """
        who = f"{self._name}.apply_gradients"
        pairs = [_checked_pair(pair, i, who) for i, pair in enumerate(grads_and_vars)]
        if not pairs:
            raise ValueError(f"{who}: no variables provided")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            raise ValueError(_no_gradients(who, [v for _, v in pairs], None))
        self._begin()
        rate = self.learning_rate() if callable(self.learning_rate) else self.learning_rate
        for g, v in present:
            r = rate if isinstance(rate, (int, float)) else _core.cast(rate, v.dtype)
            self._update(v, g, r)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def _begin(self) -> None:
        """Called once before the updates of a step."""

    def _update(self, v: Variable, g: Tensor, r: Any) -> None:
        raise NotImplementedError(f"{self._name}: an optimizer defines _update(variable, g, rate)")

    def _slot(self, v: Variable, name: str, initial: float = 0.0) -> Variable:
        """The state of this name that belongs to v."""
        slot = self._slots.get((v, name))
        if slot is None:
            value = _core.full(v.shape, initial, v.dtype)
            slot = self._slots[v, name] = _core.slot_variable(value, f"{v.name}/{name}")
        return slot

    def _gradients(
        self, loss: Callable[[], Any], var_list: Any, method: str
    ) -> tuple[list[tuple[Tensor | None, Variable]], list[Variable]]:
        """Pairs of gradient and variable; and the variables that the loss reads."""
        who = f"{self._name}.{method}"
        if not callable(loss):
            raise TypeError(
                f"{who}: loss is a function without arguments that returns the loss, "
                f"got a {type(loss).__name__}; for a tensor use gradients() and apply_gradients()"
            )
        tape = _core.Tape(True)
        tape.start()
        try:
            value = loss()
        finally:
            tape.stop()
        if not isinstance(value, (Tensor, Variable)):
            raise TypeError(f"{who}: loss() returned a {type(value).__name__}; expected a Tensor")
        if value.dtype.kind != "f":
            raise ValueError(f"{who}: the loss is {value.dtype}; only floats have gradients")
        read = tape.watched_variables()
        if var_list is None:
            variables = read
        else:
            variables = list(var_list) if isinstance(var_list, (list, tuple)) else [var_list]
        if not variables:
            raise ValueError(f"{who}: no variables to optimize: the loss reads no trainable one")
        for i, v in enumerate(variables):
            if not isinstance(v, Variable):
                raise TypeError(f"{who}: var_list[{i}] is a {type(v).__name__}, not a Variable")
        return list(zip(_core.gradients([value], variables), variables, strict=True)), read


class GradientDescent(Optimizer):
    """v -= r g.

    >>> v = pb.Variable(1.0)
    >>> pb.optimizers.GradientDescent(0.125).minimize(lambda: v * v)
    >>> float(v)
    0.75
    """

    def _update(self, v: Variable, g: Tensor, r: Any) -> None:
        v.assign_sub(r * g)


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

    def __init__(self, learning_rate: Any, momentum: float, use_nesterov: bool = False) -> None:
        super().__init__(learning_rate)
        self.momentum = momentum
        self.use_nesterov = use_nesterov

    def _update(self, v: Variable, g: Tensor, r: Any) -> None:
        slot = self._slot(v, "momentum")
        m = self.momentum * slot + g
        slot.assign(m)
        v.assign_sub(r * (g + self.momentum * m) if self.use_nesterov else r * m)


class RMSProp(Optimizer):
    """s = decay s + (1 - decay) g², from s = 1; m = momentum m + r g / √(s + ε); v -= m.

    The ε is inside the root. `centered` subtracts q² from s there, where q is the mean of g that
    decays in the same way. Source: Hinton, Neural networks for machine learning, lecture 6e;
    Graves, Generating sequences with recurrent neural networks, 2013.

    >>> v = pb.Variable([1.0, 100.0])
    >>> pb.optimizers.RMSProp(0.5, decay=0.0, epsilon=0.0).minimize(lambda: pb.sum(v * v))
    >>> v
    Variable('Variable', [ 0.5, 99.5], dtype=float32)
    """

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

    def _update(self, v: Variable, g: Tensor, r: Any) -> None:
        rms, momentum = self._slot(v, "rms", 1.0), self._slot(v, "momentum")
        s = self.decay * rms + (1 - self.decay) * (g * g)
        rms.assign(s)
        if self.centered:
            mean = self._slot(v, "mean")
            q = self.decay * mean + (1 - self.decay) * g
            mean.assign(q)
            s = s - q * q
        m = self.momentum * momentum + r * g / _core.sqrt(s + self.epsilon)
        momentum.assign(m)
        v.assign_sub(m)


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
                raise ValueError(f"Adam: {name} is from 0 to below 1, got {beta!r}")
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self._steps: Variable | None = None

    def _begin(self) -> None:
        if self._steps is None:
            self._steps = _core.slot_variable(_core.constant(0), "Adam/steps")
        self._steps.assign_add(1)

    def _update(self, v: Variable, g: Tensor, r: Any) -> None:
        t = _core.cast(self._steps, v.dtype)
        mean, square = self._slot(v, "m"), self._slot(v, "s")
        m = self.beta1 * mean + (1 - self.beta1) * g
        s = self.beta2 * square + (1 - self.beta2) * (g * g)
        mean.assign(m)
        square.assign(s)
        rate = r * _core.sqrt(_one_minus_power(self.beta2, t)) / _one_minus_power(self.beta1, t)
        v.assign_sub(rate * m / (_core.sqrt(s) + self.epsilon))


def _one_minus_power(beta: float, t: Tensor) -> Tensor:
    """1 - βᵗ, without the cancellation that float32 would suffer in the first steps."""
    return -_core.expm1(t * (log(beta) if beta else -inf))


def _checked_pair(pair: Any, i: int, who: str) -> tuple[Tensor | None, Variable]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"{who}: expected pairs (gradient, variable), got {pair!r}")
    g, v = pair
    if not isinstance(v, Variable):
        raise TypeError(f"{who}: pair {i} has a {type(v).__name__} where its Variable should be")
    if g is None:
        return None, v
    if not isinstance(g, (Tensor, Variable)):
        g = _core.constant(g, v.dtype, f"{who}: the gradient of '{v.name}'")
    if g.dtype != v.dtype:
        raise TypeError(f"{who}: variable '{v.name}' is {v.dtype}, its gradient {g.dtype}; cast it")
    if g.shape != v.shape:
        raise ValueError(f"{who}: variable '{v.name}' has shape {v.shape}, its gradient {g.shape}")
    return (g.read() if isinstance(g, Variable) else g), v


def _no_gradients(who: str, variables: list[Variable], read: list[Variable] | None) -> str:
    """The message where every gradient is None; `read` are those that the loss reads, if known."""
    lines = [f"{who}: No gradients provided for any variable:"]
    for v in variables:
        if v.dtype.kind != "f":
            why = f"it is {v.dtype}, and only floats have gradients"
        elif read is not None and v.trainable and not any(v is other for other in read):
            why = "the loss does not read it"
        elif read is None:
            why = "its gradient is None: no differentiable path leads from it to the loss"
        else:
            why = (
                "every path from it to the loss passes stop_gradient, an integer or bool result, "
                "or a value that was taken out with numpy(), float() or item()"
            )
        lines.append(f"  '{v.name}' of shape {v.shape}: {why}")
    return "\n".join(lines)
