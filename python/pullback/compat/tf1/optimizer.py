"""What the optimizers share: compute_gradients, apply_gradients, minimize, and their slots.

In graph mode the update of a variable is one operation, whose inputs are the gradient and the
hyper-parameters; it reads and assigns the variable and its slots. In eager mode the same is done at
once. The rules are the main namespace's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from ... import _core
from ..._training.update_rules import Rule
from . import mode
from .array_ops import constant, fill
from .backprop import ancestors, as_list, gradients
from .create import cast, convert_to_tensor, is_tensor
from .dtypes import as_dtype
from .graph import Graph, GraphKeys
from .grouping import group
from .grouping import tuple as gated
from .names import bind, signature_of
from .opdef import define
from .operation import Operation
from .shapes import TensorShape
from .tape import GradientTape
from .tensor import SymbolicTensor as Tensor
from .variables import Variable

__all__ = ["Optimizer"]


class Optimizer:
    """The base of all optimizers.

    A class says what it needs: its `rule`; the `arguments` it is made with, of which the rule gets
    all but `use_locking` and `name`: numbers, tensors, functions or flags; `slots`, for each name
    that TensorFlow has for a part of the rule's state the rule's own and how it starts, as a number
    or the name of an argument; and `powers`, variables that hold a power of an argument.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2
    rule: Rule | None = None
    arguments = "use_locking name"
    slots: Mapping[str, tuple[str, float | str]] = MappingProxyType({})
    powers: Mapping[str, str] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        cls.__signature__ = signature_of(cls.arguments)

    __signature__ = signature_of(arguments)

    def __init__(self, *args: Any, **keywords: Any) -> None:
        given = bind(self.__signature__, type(self).__name__, args, keywords)
        del given["use_locking"]
        self._name = given.pop("name")
        if not self._name:
            raise ValueError("an optimizer needs a name that is not empty")
        defaults = self.__signature__.parameters
        self._hyper = {
            key: bool(x) if isinstance(defaults[key].default, bool) else x
            for key, x in given.items()
        }
        self._slots: dict[str, dict[Any, Any]] = {}
        self._powers: dict[tuple[Any, str], Any] = {}

    def get_name(self) -> str:
        return str(self._name)

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
        name: str | None = None, grad_loss: Any = None,
    ) -> Any:  # fmt: skip
        """An operation that makes one step: `compute_gradients`, then `apply_gradients`.

        ValueError if no variable has a gradient; it lists them all, and why.
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, grad_loss=grad_loss
        )
        if all(g is None for g, _ in pairs):
            raise ValueError(_no_gradients([v for _, v in pairs], loss))
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Pairs of gradient and variable; the gradient is None where there is no path to the loss.

        `loss` is a tensor, or a function without arguments that returns it (which eager mode
        needs). Without `var_list` the variables are the graph's trainable ones, or those that the
        function reads.
        """
        if gate_gradients not in (0, 1, 2):
            raise ValueError(
                f"gate_gradients must be Optimizer.GATE_NONE, GATE_OP or GATE_GRAPH, not "
                f"{gate_gradients!r}"
            )
        weights = None if grad_loss is None else [grad_loss]
        given = None if var_list is None else _variables(var_list)
        if callable(loss):
            with GradientTape() as tape:
                tape.watch(given or [])
                loss = _checked_loss(loss())
            variables = list(tape.watched_variables()) if given is None else given
            return list(zip(tape.gradient(loss, variables, weights), variables, strict=True))
        if mode.executing_eagerly():
            raise RuntimeError("in eager mode the loss must be a function without arguments")
        loss = _checked_loss(convert_to_tensor(loss))
        trainable = loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = trainable if given is None else given
        if not variables:
            raise ValueError("no variables to optimize: the graph has no trainable ones")
        answers = gradients(loss, variables, weights, aggregation_method=aggregation_method)
        if gate_gradients == self.GATE_GRAPH:
            answers = gated(answers)
        return list(zip(answers, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """An operation that updates each variable by its gradient; eager mode does it at once.

        Pairs with the gradient None are left out. `global_step` is counted up after the updates.
        """
        if self.rule is None:
            raise NotImplementedError("tf.train.Optimizer has no update rule; use one that has")
        if global_step is not None and not isinstance(global_step, (Variable, _core.Variable)):
            raise TypeError(
                f"apply_gradients: global_step: expected a variable, got {global_step!r:.60}"
            )
        pairs = [_checked_pair(pair) for pair in grads_and_vars]
        if not pairs:
            raise ValueError("apply_gradients: no variables provided")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            raise ValueError(_no_gradients([v for _, v in pairs], None))
        if mode.executing_eagerly():
            self._apply_eagerly(present)
            if global_step is not None:
                global_step.assign_add(1)
            return None
        graph = present[0][1].graph
        with graph.as_default():
            for _, v in present:
                self._make_state(v)
            with graph.name_scope(name or self._name) as scope:
                return self._apply_in_graph(graph, present, global_step, scope)

    # --- state

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot variable of this name for a variable, or None."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The slots and what else the optimizer keeps, by name."""
        own = [slot for slots in self._slots.values() for slot in slots.values()]
        return sorted([*own, *self._powers.values()], key=lambda v: v.name)

    def _make_state(self, v: Any) -> None:
        base, graph = v.name.partition(":")[0], getattr(v, "graph", None)
        for i, (slot, (_, start)) in enumerate(self.slots.items()):
            made = self._slots.setdefault(slot, {})
            if v not in made:
                initial = self._hyper[start] if isinstance(start, str) else start
                value = fill(v.shape, constant(initial, as_dtype(v.dtype)))
                name = self._slot_name(slot, i)
                made[v] = Variable(value, trainable=False, name=f"{base}/{name}")
        for power, number in self.powers.items():
            if (graph, power) not in self._powers:
                initial = _as(self._numbers()[number], v.dtype, "initial_value")
                self._powers[graph, power] = Variable(initial, trainable=False, name=power)

    def _slot_name(self, slot: str, i: int) -> str:
        """What follows the variable's name in that of its i-th slot."""
        return f"{self._name}_{i}" if i else self._name

    def _numbers(self) -> dict[str, Any]:
        """The hyper-parameters now; functions are called."""
        return {
            key: value() if callable(value) and not is_tensor(value) else value
            for key, value in self._hyper.items()
        }

    def _prepare(self, hyper: dict[str, Any]) -> dict[str, Any]:
        """What the rule wants besides; called with values."""
        return hyper

    def _check(self, name: str, wanted: str, holds: Callable[[Any], bool]) -> None:
        """ValueError for a number that is out of range; tensors and functions are not looked at."""
        number = self._hyper[name]
        if isinstance(number, (int, float, np.number)) and not holds(number):
            raise ValueError(f"{type(self).__name__}: {name} is {wanted}, got {number!r}")

    # --- steps

    def _update(self, run: Any, v: Any, g: Any, hyper: dict[str, Any]) -> None:
        """One step of a variable: reads and assigns it and its slots in a run."""
        for key, number in hyper.items():
            if not isinstance(number, bool) and number.shape != ():
                raise ValueError(f"{key} must be a scalar, got shape {number.shape}")
        assert self.rule is not None
        slots = {inner: self._slots[name][v] for name, (inner, _) in self.slots.items()}
        state = {name: run.current(slot) for name, slot in slots.items()}
        value, state = self.rule(run.current(v), g, state, self._prepare(hyper))
        for name, new in state.items():
            run.assign(slots[name], new)
        run.assign(v, value)

    def _apply_eagerly(self, pairs: list[tuple[Any, Any]]) -> None:
        for _, v in pairs:
            self._make_state(v)
        powers = {name: self._powers[None, name] for name in self.powers}
        numbers, run = self._numbers(), _AtOnce()
        for g, v in pairs:
            hyper = {
                key: x if isinstance(x, bool) else _core.cast(x, v.dtype)
                for key, x in (numbers | powers).items()
            }
            self._update(run, v, g, hyper)
            if v.constraint is not None:
                run.assign(v, v.constraint(run.current(v)))
        for name, number in self.powers.items():
            run.assign(powers[name], powers[name] * _core.cast(numbers[number], powers[name].dtype))
        for variable, value in run.new.items():
            if value.shape != variable.shape or value.dtype != variable.dtype:
                old, new = (as_dtype(x.dtype).name for x in (variable, value))
                raise ValueError(
                    f"apply_gradients: '{variable.name}' is {old} of shape {variable.shape}, its "
                    f"new value {new} of shape {value.shape}"
                )
        for variable, value in run.new.items():
            variable.assign(value)

    def _apply_in_graph(
        self, graph: Graph, pairs: list[tuple[Any, Any]], global_step: Any, scope: str
    ) -> Operation:
        numbers = self._numbers()
        powers = {key: self._powers[graph, key] for key in self.powers}
        updates: list[Operation] = []
        for g, v in pairs:
            with graph.name_scope(f"update_{v.op.name}"):
                updates.append(self._record(v, g, numbers | powers))
                if v.constraint is not None:
                    with graph.control_dependencies([updates[-1]]):
                        updates.append(v.assign(v.constraint(v.read_value())).op)
        with graph.control_dependencies(updates):
            for key, number in self.powers.items():
                power = powers[key]
                updates.append(power.assign(power * _as(numbers[number], power.dtype, number)).op)
        if global_step is None:
            train_op: Operation = group(*updates, name=scope)
        else:
            with graph.control_dependencies(updates):
                one = constant(1, as_dtype(global_step.dtype))
                train_op = global_step.assign_add(one, name=scope).op
        if train_op not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op

    def _record(self, v: Any, g: Any, hyper: dict[str, Any]) -> Operation:
        flags = {key: value for key, value in hyper.items() if isinstance(value, bool)}
        numbers = {key: _as(x, v.dtype, key) for key, x in hyper.items() if key not in flags}
        attrs = {"optimizer": self, "variable": v, "hyper": [*numbers], "flags": flags}
        inputs = [convert_to_tensor(g, v.dtype), *numbers.values()]
        type = "Apply" + self.__class__.__name__.removesuffix("Optimizer")
        op: Operation = v.graph.record("ApplyUpdate", inputs, attrs, type, kind=type)
        return op


class _AtOnce:
    """What a run is in eager mode; nothing is assigned before everything is computed."""

    def __init__(self) -> None:
        self.new: dict[Any, Any] = {}

    def current(self, variable: Any) -> Any:
        return self.new[variable] if variable in self.new else variable.read()

    def assign(self, variable: Any, value: Any) -> None:
        self.new[variable] = value


def _as(number: Any, dtype: Any, name: str) -> Any:
    """A hyper-parameter in the dtype of a variable."""
    if is_tensor(number):
        return cast(number, dtype)
    return convert_to_tensor(number, as_dtype(dtype), name)


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    optimizer, v = op.attrs["optimizer"], op.attrs["variable"]
    hyper = dict(zip(op.attrs["hyper"], inputs[1:], strict=True)) | op.attrs["flags"]
    optimizer._update(run, v, inputs[0], hyper)
    run.mark(op, [v, *(slots[v] for slots in optimizer._slots.values() if v in slots)])
    return []


define("ApplyUpdate", execute=_execute, flows=False)


# --- checks


def _variables(var_list: Any) -> list[Any]:
    variables = as_list(var_list)
    for i, v in enumerate(variables):
        if not is_tensor(v):
            raise TypeError(
                f"var_list[{i}] is a {type(v).__name__}, {v!r:.60}; expected a variable"
            )
    return variables


def _checked_loss(loss: Any) -> Any:
    if not is_tensor(loss):
        raise TypeError(f"the loss is a {type(loss).__name__}, {loss!r:.60}; expected a tensor")
    if not as_dtype(loss.dtype).is_floating:
        raise ValueError(
            f"invalid type {as_dtype(loss.dtype).name} for the loss {loss!r}: floats only"
        )
    return loss


def _checked_pair(pair: Any) -> tuple[Any, Any]:
    who = "apply_gradients"
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"{who}: expected pairs of gradient and variable, got {pair!r:.60}")
    g, v = pair
    if not isinstance(v, (Variable, _core.Variable)):
        kind = NotImplementedError if is_tensor(v) else TypeError
        raise kind(f"{who}: expected a variable to update, got {v!r:.60}")
    if g is None:
        return None, v
    try:
        g = convert_to_tensor(g, None if is_tensor(g) else as_dtype(v.dtype))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{who}: the gradient of '{v.name}' is not convertible: {error}") from None
    if as_dtype(g.dtype) != as_dtype(v.dtype):
        raise TypeError(f"{who}: '{v.name}' is {v.dtype}, its gradient {g.dtype}; use tf.cast")
    if not TensorShape(g.shape).is_compatible_with(v.shape):
        raise ValueError(f"{who}: '{v.name}' has shape {v.shape}, its gradient {g.shape}")
    return g, v


def _no_gradients(variables: list[Any], loss: Any) -> str:
    lines = [f"  {v.name}: {_reason(v, loss)}" for v in variables]
    about = "" if loss is None else f" by the loss {loss!r:.100}"
    return "No gradients provided for any variable" + about + ":\n" + "\n".join(lines)


def _reason(v: Any, loss: Any) -> str:
    if not as_dtype(v.dtype).is_floating:
        return f"{as_dtype(v.dtype).name} is not differentiable"
    if isinstance(loss, Tensor) and isinstance(v, Variable):
        if v.op not in ancestors([loss]):
            return "the loss does not depend on it"
        return "every path from the loss to it passes stop_gradient or what has no gradient"
    return "its gradient is None"
