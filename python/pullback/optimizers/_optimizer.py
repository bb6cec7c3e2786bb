"""What the optimizers share: steps, their checks, and the state.

An optimizer holds the rule and the state it needs for each variable (slots), which is made when the
variable is first updated. `minimize(f)` is `apply_gradients(compute_gradients(f))`; between the two
the gradients may be changed. A step is whole: what is wrong with it is found before anything is
assigned. Updates are as lazy as everything else, though, so what only computing can find out, such
as a position outside in a gradient, is found when a variable is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf, isfinite
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._base import last_query, settings
from .._base.pytree import flatten, leaves_like
from .._core import Tensor, Variable
from ._row_updates import update_rows
from ._slots import Slots

New: TypeAlias = dict[Variable, Any]  # what a step assigns, to slots and variables
Pair: TypeAlias = tuple[Tensor, Variable]


def kept(**start: float | str) -> Mapping[str, float | str]:
    """What a rule keeps for each variable, by name, and how it starts: a number, or the name of an
    attribute that has it."""
    return MappingProxyType(start)


class Optimizer:
    """What the optimizers share. `learning_rate` is a number, a tensor or variable of shape (), a
    schedule, or a function without arguments that is called in every step. A schedule is a function
    of the number of finished steps, such as `optimizers.Cosine(…)` or any with a first parameter
    that has no default or is called `step`; it gets a float64 tensor.

    Inside of `pb.function` a step is traced once: there the function is called once, a schedule
    with a tensor that counts on; and what is later assigned to `optimizer.learning_rate` is not
    seen. Let a rate that changes from outside be a Variable (`rate.assign(…)`).

    Threads may share an optimizer: their steps come one after the other."""

    _hyper: tuple[str, ...] = ()  # names of attributes that are numbers
    _state = kept()
    _counts = False  # whether the rule depends on the number of the step
    _zero_stays = False  # whether what has the gradient 0 stays as it is, and so does its state

    def __init__(self, learning_rate: Any) -> None:
        self._slots = Slots(self._name)
        self.learning_rate = learning_rate

    @property
    def learning_rate(self) -> Any:
        return self._rate[0]

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if isinstance(value, (str, type(None), list, tuple, dict, set)):
            raise TypeError(
                f"{self._name}: learning_rate is a number, a tensor, a variable or a function, "
                f"got {_core.shown(value)}; variables are arguments of minimize and apply_gradients"
            )
        # Both at once: another thread may be stepping.
        self._rate = value, callable(value) and _takes_step(value)

    def __repr__(self) -> str:
        given = {"learning_rate": self.learning_rate, **vars(self)}
        shown = ", ".join(f"{k}={v!r}" for k, v in given.items() if not k.startswith("_"))
        return f"<{self._name} at {id(self):#x}: {shown}>"

    def minimize(self, loss: Callable[[], Any], var_list: Any = None) -> None:
        """One step: calls loss(), differentiates, updates.

        The variables are those in `var_list` (one, or a nest of them), or the trainable ones that
        loss() reads. Raises what `compute_gradients` and `apply_gradients` raise; where no variable
        has a gradient, the ValueError lists them all and says why.

        >>> v = pb.Variable([1.0, 2.0], name="v")
        >>> pb.optimizers.GradientDescent(0.25).minimize(lambda: pb.sum(v * v))
        >>> v
        Variable('v', [0.5, 1. ], dtype=float32)
        """
        pairs, value = self._gradients(loss, var_list, "minimize")
        if all(g is None for g, _ in pairs):
            from .._explain.explain import why_none_of

            reasons = why_none_of(value, [v for _, v in pairs])
            raise ValueError(_no_gradients(f"{self._name}.minimize", reasons))
        self.apply_gradients(pairs)

    def compute_gradients(
        self, loss: Callable[[], Any], var_list: Any = None
    ) -> list[tuple[Tensor | None, Variable]]:
        """Pairs of gradient and variable, None where the loss does not depend on the variable.

        loss() returns a tensor, of which all elements are summed: TypeError for another result,
        ValueError for a dtype that is not floating, and where there are no variables.

        >>> v = pb.Variable(3.0, name="v")
        >>> pb.optimizers.GradientDescent(0.1).compute_gradients(lambda: v * v)
        [(Tensor(6., dtype=float32), Variable('v', 3., dtype=float32))]
        """
        return self._gradients(loss, var_list, "compute_gradients")[0]

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Variable]] | Any, variables: Any = None
    ) -> None:
        """Updates each variable by its gradient: a tensor of its dtype and shape, or an array or
        number; a variable whose gradient is None stays as it is.

        Takes pairs (gradient, variable); or the gradients as a tensor or a nest of them, such as
        `value_and_grad` gives for a dict of variables, and the `variables` in the same structure.

        Everything is checked before anything is assigned: ValueError for a wrong shape, for a
        learning rate that is no scalar, for no variables and where all gradients are None;
        TypeError for a wrong dtype, for a variable that is not floating and for what is not a
        Variable. Gradients that fail when they are computed do so after the step.

        >>> v = pb.Variable([1.0, 2.0], name="v")
        >>> pb.optimizers.GradientDescent(0.5).apply_gradients([([2.0, 2.0], v)])
        >>> v
        Variable('v', [0., 1.], dtype=float32)
        >>> parameters = {"v": v}
        >>> loss, slopes = pb.value_and_grad(lambda p: pb.sum(p["v"]))(parameters)
        >>> pb.optimizers.GradientDescent(0.5).apply_gradients(slopes, parameters)
        >>> v
        Variable('v', [-0.5,  0.5], dtype=float32)
        """
        who = f"{self._name}.apply_gradients"
        if variables is not None:
            owners = flatten(variables)[0]
            gradients = leaves_like(variables, grads_and_vars, f"{who}: gradients")
            grads_and_vars = zip(gradients, owners, strict=True)
        pairs = [_checked_pair(pair, i, who) for i, pair in enumerate(grads_and_vars)]
        if not pairs:
            raise ValueError(f"{who}: no variables provided")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            reasons = [(v, _unknown_reason(v)) for _, v in pairs]
            raise ValueError(_no_gradients(who, reasons))
        new: New = {}
        rate = self._current_rate()  # not under the lock: it may wait for another thread's step
        with self._slots.whole():
            self._step(present, rate, new)
            for variable, value in new.items():
                _check_fits(value, variable, who)
            for variable, value in new.items():
                variable.assign(value)

    def variables(self) -> list[Variable]:
        """The optimizer's own variables, which hold its state: those that were made so far for the
        variables that it updates, and those of all steps. The updated ones are not among them.

        >>> v = pb.Variable(1.0, name="v")
        >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
        >>> optimizer.minimize(lambda: v * v)
        >>> optimizer.variables()
        [Variable('v/momentum', 2., dtype=float32)]
        """
        return self._slots.variables()

    def state_dict(self) -> dict[str, Any]:
        """The state as read-only NumPy arrays, by names such as 'v/momentum'. A second variable of
        the name 'v' is 'v_1' there, in the order of the first updates. What was loaded for a
        variable that was not updated yet is there too.

        >>> v = pb.Variable(1.0, name="v")
        >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
        >>> optimizer.minimize(lambda: v * v)
        >>> optimizer.state_dict()
        {'v/momentum': array(2., dtype=float32)}
        """
        return self._slots.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Takes over the state of another optimizer of this kind, for variables of the same names,
        which may be updated here for the first time later. Give variables names for that: the
        default ones count through a process.

        ValueError for what another kind of optimizer has, for entries that are missing, and for a
        shape that is not that of the variable, once it is known. A variable that is updated, and of
        which the state has nothing, gets a RuntimeWarning.

        >>> v = pb.Variable(1.0, name="v")
        >>> optimizer = pb.optimizers.Momentum(0.25, 0.5)
        >>> optimizer.load_state_dict({"v/momentum": 2.0})
        >>> optimizer.minimize(lambda: v * v)
        >>> optimizer.state_dict()
        {'v/momentum': array(3., dtype=float32)}
        """
        self._slots.load(state, self._slot_sets(), {"steps": self._counts})

    @property
    def _name(self) -> str:
        return type(self).__name__

    @property
    def steps(self) -> int:
        """How many steps were finished, those of a state that was loaded included, since something
        depends on it: the rule, as Adam's, or a schedule. A schedule that is set later starts with
        its step 0 unless the rule has counted."""
        count = self._slots.shared("steps")
        return 0 if count is None else int(count)

    @staticmethod
    def _rule(v: Any, g: Any, state: Mapping[str, Any], hyper: Mapping[str, Any]) -> Any:
        raise NotImplementedError("an optimizer has a _rule(value, gradient, state, hyper)")

    def _current_rate(self) -> Any:
        """The learning rate of a step; a schedule, for the step that it turns out to be."""
        rate, scheduled = self._rate
        return rate() if callable(rate) and not scheduled else rate

    def _step(self, pairs: list[Pair], rate: Any, new: New) -> None:
        """Puts what the step assigns into `new`."""
        step = None
        if self._counts or callable(rate):
            finished = self._slots.get(None, "steps")
            if callable(rate):
                rate = rate(_core.cast(finished, "float64"))
            new[finished] = step = finished + 1  # last: in the memory of what was read before
        for g, v in pairs:
            self._update(v, g, rate, step, new)

    def _update(self, v: Variable, g: Tensor, rate: Any, step: Any, new: New) -> None:
        """Puts the new values of v and its slots into `new`, which has those that the same step
        gave them already."""
        hyper = {name: self._scalar(getattr(self, name), v, name) for name in self._hyper}
        hyper["learning_rate"] = self._scalar(rate, v, "learning_rate")
        if self._counts:
            hyper["step"] = _core.cast(step, v.dtype)
        slots = {name: self._slot(v, name) for name in self._slots_of(v)}
        state = {name: new.get(slot, slot) for name, slot in slots.items()}
        if (rows := self._few_rows(g, hyper)) is not None:
            new[v], values = update_rows(self._rule, new.get(v, v), rows[0], rows[1], state, hyper)
        else:
            new[v], values = self._rule(new.get(v, v), g, state, hyper)
        new.update({slots[name]: value for name, value in values.items()})

    def _few_rows(self, g: Tensor, hyper: Mapping[str, Any]) -> Any:
        """The rows that a gradient consists of and their positions, where to update them alone is
        the same and less work. (A rate that is not finite makes NaN of a 0.)"""
        rate = hyper["learning_rate"]
        if not self._zero_stays or (isinstance(rate, (int, float)) and not isfinite(rate)):
            return None
        rows = _core.rows_of(g, as_added=True)
        return rows if rows is not None and 2 * rows[1].shape[0] <= g.shape[0] else None

    def _slot(self, v: Variable, name: str) -> Variable:
        start = self._state[name]
        initial = getattr(self, start) if isinstance(start, str) else start
        return self._slots.get(v, name, initial, self._slot_shape(v, name))

    def _slot_sets(self) -> tuple[tuple[str, ...], ...]:
        """The names of what is kept for a variable; several where that depends on the variable."""
        return (tuple(self._state),)

    def _slots_of(self, v: Variable) -> tuple[str, ...]:
        return self._slot_sets()[0]

    def _slot_shape(self, v: Variable, name: str) -> tuple[int, ...]:
        return v.shape

    def _scalar(self, value: Any, v: Variable, name: str) -> Any:
        """A hyper-parameter as the rules take it: a Python number, or a tensor of v's dtype."""
        if isinstance(value, (bool, int, float, np.number)):
            return value.item() if isinstance(value, np.number) else value
        tensor = _core.constant(value, v.dtype, f"{self._name}: {name}")
        if tensor.shape != ():
            raise ValueError(f"{self._name}: {name} has shape {tensor.shape}; expected a scalar")
        return tensor

    def _gradients(
        self, loss: Callable[[], Any], var_list: Any, method: str
    ) -> tuple[list[tuple[Tensor | None, Variable]], Tensor]:
        """Pairs of gradient and variable; and the loss."""
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
            if isinstance(value, Variable):
                value = value.read()  # the tape shall see it
        finally:
            tape.stop()
        if not isinstance(value, Tensor):
            raise TypeError(f"{who}: loss() returned a {type(value).__name__}; expected a Tensor")
        if value.dtype.kind != "f":
            raise ValueError(f"{who}: the loss is {value.dtype}; only floats have gradients")
        variables = tape.watched_variables() if var_list is None else flatten(var_list)[0]
        if not variables:
            raise ValueError(f"{who}: no variables to optimize: the loss reads no trainable one")
        for i, v in enumerate(variables):
            if not isinstance(v, Variable):
                raise TypeError(f"{who}: var_list[{i}] is a {type(v).__name__}, not a Variable")
        if settings.debugging:
            last_query.note((self,), [value], variables)
        return list(zip(_core.gradients([value], variables), variables, strict=True)), value


def in_range(
    who: Optimizer, low: float, high: float = inf, *, closed: bool = False, **values: Any
) -> None:
    """ValueError for a number that is not from low to below high, or to high where the range is
    closed; tensors are not looked at."""
    for name, value in values.items():
        if not isinstance(value, (int, float, np.number)) or (closed and value == high):
            continue
        if not low <= value < high:
            wanted = f"at least {low}" if high == inf else f"from {low} to below {high}"
            wanted = wanted.replace("below ", "") if closed else wanted
            raise ValueError(f"{who._name}: {name} is {wanted}, got {_core.shown(value)}")


def _takes_step(rate: Callable[..., Any]) -> bool:
    """Whether a learning rate is a function of the step."""
    from inspect import Parameter, signature

    try:
        first = next(iter(signature(rate).parameters.values()), None)
    except ValueError:  # some functions written in C do not say
        return False
    if first is None or first.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD):
        return False
    variadic = first.kind is Parameter.VAR_POSITIONAL
    return first.name == "step" or (first.default is Parameter.empty and not variadic)


def _checked_pair(pair: Any, i: int, who: str) -> tuple[Tensor | None, Variable]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"{who}: expected pairs (gradient, variable), got {_core.shown(pair)}")
    g, v = pair
    if not isinstance(v, Variable):
        raise TypeError(f"{who}: pair {i} has a {type(v).__name__} where its Variable should be")
    if g is None:
        return None, v
    if v.dtype.kind != "f":
        raise TypeError(f"{who}: variable '{v.name}' is {v.dtype}; only floats are updated")
    if not isinstance(g, (Tensor, Variable)):
        g = _core.constant(g, v.dtype, f"{who}: the gradient of '{v.name}'")
    if g.dtype != v.dtype:
        raise TypeError(f"{who}: variable '{v.name}' is {v.dtype}, its gradient {g.dtype}; cast it")
    if g.shape != v.shape:
        raise ValueError(f"{who}: variable '{v.name}' has shape {v.shape}, its gradient {g.shape}")
    return (g.read() if isinstance(g, Variable) else g), v


def _check_fits(value: Any, variable: Variable, who: str) -> None:
    """Assigning must not fail halfway through a step."""
    if not isinstance(value, (Tensor, Variable)):
        value = _core.constant(value, variable.dtype, who)
    if (value.dtype, value.shape) != (variable.dtype, variable.shape):
        raise TypeError(
            f"{who}: the rule makes a {value.dtype} of shape {value.shape} for '{variable.name}', "
            f"a {variable.dtype} of shape {variable.shape}"
        )


def _unknown_reason(v: Variable) -> str:
    if v.dtype.kind != "f":
        return f"it is {v.dtype}, and only floats have gradients"
    return (
        "its gradient is None: no differentiable path leads from it to the loss, or the operations "
        "between them were made while the tape did not record; explain(loss, variable) says which"
    )


def _no_gradients(who: str, reasons: list[tuple[Variable, str]]) -> str:
    """The message where every gradient is None."""
    lines = [f"{who}: No gradients provided for any variable:"]
    lines += [f"  '{v.name}' of shape {v.shape}: {why}" for v, why in reasons]
    return "\n".join(lines)
