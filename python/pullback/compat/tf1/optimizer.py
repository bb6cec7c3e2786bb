"""What the optimizers share: compute_gradients, apply_gradients, minimize, and their slots.

In graph mode the update of a variable is one operation, whose inputs are the gradient and the
hyper-parameters; it reads and assigns the variable and its slots. In eager mode the same rule is
applied at once. The rules are the main namespace's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ... import _core
from ..._training.update_rules import Rule
from . import mode
from .array_ops import constant, fill
from .backprop import ancestors, gradients
from .create import add_outputs, cast, convert_to_tensor, is_tensor
from .dtypes import as_dtype
from .graph import Graph, GraphKeys
from .grouping import group
from .grouping import tuple as gated
from .opdef import OPS, define
from .operation import Operation
from .shapes import TensorShape
from .tape import GradientTape
from .tensor import SymbolicTensor as Tensor
from .variables import Variable

__all__ = ["Optimizer"]


class Optimizer:
    """The base of all optimizers; `hyper` are the numbers, tensors or functions of its rule.

    A class says what it needs: `slots`, for each name that TensorFlow has for a part of the rule's
    state the rule's own, the suffix of the variable's name and the initial number; and `powers`,
    variables that hold a power of a hyper-parameter.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2
    slots: Mapping[str, tuple[str, str, float]] = MappingProxyType({})
    powers: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        use_locking: bool,
        name: str,
        rule: Rule | None = None,
        **hyper: Any,
    ) -> None:
        if not name:
            raise ValueError("an optimizer needs a name that is not empty")
        self._rule = rule
        self._name = name
        self._hyper = hyper
        self._slots: dict[str, dict[Any, Any]] = {}
        self._powers: dict[tuple[Any, str], Any] = {}

    def get_name(self) -> str:
        return self._name

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = 1,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Any:
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
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = 1,
        aggregation_method: int | None = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:
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
        if callable(loss):
            with GradientTape() as tape:
                if var_list is not None:
                    tape.watch(_variables(var_list))
                value = loss()
            _check_loss(value)
            variables = tape.watched_variables() if var_list is None else _variables(var_list)
            answers = tape.gradient(value, list(variables), _weights(grad_loss))
            return list(zip(answers, variables, strict=True))
        if mode.executing_eagerly():
            raise RuntimeError("in eager mode the loss must be a function without arguments")
        loss = convert_to_tensor(loss)
        _check_loss(loss)
        trainable = loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = _variables(trainable if var_list is None else var_list)
        if not variables:
            raise ValueError("no variables to optimize: the graph has no trainable ones")
        weights = None if grad_loss is None else [grad_loss]
        answers = gradients(loss, variables, weights, aggregation_method=aggregation_method)
        if gate_gradients == self.GATE_GRAPH:
            answers = gated(answers)
        return list(zip(answers, variables, strict=True))

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        global_step: Any = None,
        name: str | None = None,
    ) -> Any:
        """An operation that updates each variable by its gradient; eager mode does it at once.

        Pairs with the gradient None are left out. `global_step` is counted up after the updates.
        """
        if self._rule is None:
            raise NotImplementedError("tf.train.Optimizer has no update rule; use one that has")
        pairs = [_checked_pair(pair) for pair in grads_and_vars]
        if not pairs:
            raise ValueError("apply_gradients: no variables provided")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            raise ValueError(_no_gradients([v for _, v in pairs], None))
        if mode.executing_eagerly():
            self._apply_eagerly(present, global_step)
            return None
        graph = present[0][1].graph
        with graph.as_default():
            for _, v in present:
                self._make_state(v)
            with graph.name_scope(name or self._name) as scope:
                return self._apply_in_graph(graph, present, global_step, scope)

    # --- slots

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
        for slot, (_, suffix, initial) in self.slots.items():
            made = self._slots.setdefault(slot, {})
            if v not in made:
                value = fill(v.shape, constant(initial, as_dtype(v.dtype)))
                name = f"{_base(v)}/{suffix}"
                made[v] = Variable(value, trainable=False, name=name)
        for power, base in self.powers.items():
            key = (v.graph if isinstance(v, Variable) else None, power)
            if key not in self._powers:
                initial = _as(self._numbers()[base], v.dtype, "initial_value")
                self._powers[key] = Variable(initial, trainable=False, name=power)

    def _numbers(self) -> dict[str, Any]:
        """The hyper-parameters now; functions are called."""
        return {
            key: value() if callable(value) and not is_tensor(value) else value
            for key, value in self._hyper.items()
        }

    def _slots_of(self, v: Any) -> dict[str, Any]:
        """The slots of a variable by the rule's names."""
        return {inner: self._slots[name][v] for name, (inner, _, _) in self.slots.items()}

    def _prepare(self, hyper: dict[str, Any]) -> dict[str, Any]:
        """What the rule wants besides; called with values."""
        return hyper

    def _apply_eagerly(self, pairs: list[tuple[Any, Any]], global_step: Any) -> None:
        assert self._rule is not None
        for _, v in pairs:
            self._make_state(v)
        powers = {name: self._powers[None, name] for name in self.powers}
        numbers = self._numbers()
        new: list[tuple[Any, Any]] = []  # nothing is assigned before everything is built
        latest: dict[Any, Any] = {}
        for g, v in pairs:
            hyper = {name: _number(x, v.dtype) for name, x in (numbers | powers).items()}
            slots = self._slots_of(v)
            state = {name: latest.get(slot, slot.read()) for name, slot in slots.items()}
            step, state = self._rule(g, state, self._prepare(hyper))
            value = latest.get(v, v.read()) - step
            if v.constraint is not None:
                value = v.constraint(value)
            new += [(slots[name], x) for name, x in state.items()] + [(v, value)]
            latest.update(new)
        for name, base in self.powers.items():
            new.append((powers[name], powers[name] * _number(numbers[base], powers[name].dtype)))
        for variable, value in new:
            variable.assign(value)
        if global_step is not None:
            global_step.assign_add(1)

    # --- graph mode

    def _apply_in_graph(
        self, graph: Graph, pairs: list[tuple[Any, Any]], global_step: Any, scope: str
    ) -> Operation:
        numbers = self._numbers()
        powers = {key: self._powers[graph, key] for key in self.powers}
        updates = []
        for g, v in pairs:
            slots = self._slots_of(v)
            with graph.name_scope(f"update_{v.op.name}"):
                hyper = {
                    key: value if isinstance(value, bool) else _as(value, v.dtype, key)
                    for key, value in (numbers | powers).items()
                }
                updates.append(_update(self, v, g, slots, hyper))
                if v.constraint is not None:
                    with graph.control_dependencies([updates[-1]]):
                        updates.append(v.assign(v.constraint(v.read_value())).op)
        with graph.control_dependencies(updates):
            after = [
                powers[key].assign(powers[key] * _as(numbers[base], powers[key].dtype, base)).op
                for key, base in self.powers.items()
            ]
        done = [*updates, *after]
        if global_step is None:
            train_op: Operation = group(*done, name=scope)
        else:
            with graph.control_dependencies(done):
                one = constant(1, as_dtype(global_step.dtype))
                train_op = global_step.assign_add(one, name=scope).op
        if train_op not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op


def _as(number: Any, dtype: Any, name: str) -> Any:
    """A hyper-parameter in the dtype of a variable."""
    if is_tensor(number):
        return cast(number, dtype)
    return convert_to_tensor(number, as_dtype(dtype), name)


def _number(value: Any, dtype: Any) -> Any:
    """The same in eager mode, where flags stay flags."""
    return value if isinstance(value, bool) else _core.cast(value, dtype)


def _update(
    optimizer: Optimizer, v: Any, g: Any, slots: dict[str, Any], hyper: dict[str, Any]
) -> Operation:
    flags = {key: value for key, value in hyper.items() if isinstance(value, bool)}
    names = [key for key in hyper if key not in flags]
    attrs = {"optimizer": optimizer, "variable": v, "slots": slots, "hyper": names, "flags": flags}
    inputs = [convert_to_tensor(g, v.dtype), *(hyper[key] for key in names)]
    graph: Graph = v.graph
    type = "Apply" + optimizer.__class__.__name__.removesuffix("Optimizer")
    op = graph.create(OPS["ApplyUpdate"], inputs, attrs, type, type=type)
    add_outputs(op, [])
    return op


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    attrs = op.attrs
    v, slots, optimizer = attrs["variable"], attrs["slots"], attrs["optimizer"]
    hyper = dict(zip(attrs["hyper"], inputs[1:], strict=True)) | attrs["flags"]
    for key, number in hyper.items():
        if not isinstance(number, bool) and number.shape != ():
            raise ValueError(f"{key} must be a scalar, got shape {number.shape}")
    state = {name: run.current(slot) for name, slot in slots.items()}
    step, state = optimizer._rule(inputs[0], state, optimizer._prepare(hyper))
    for name, new in state.items():
        run.assign(slots[name], new)
    run.assign(v, run.current(v) - step)
    run.mark(op, [v, *slots.values()])
    return []


define("ApplyUpdate", execute=_execute, flows=False)


# --- checks


def _base(v: Any) -> str:
    name: str = v.op.name if isinstance(v, Variable) else v.name.partition(":")[0]
    return name


def _variables(var_list: Any) -> list[Any]:
    variables = list(var_list) if isinstance(var_list, (list, tuple)) else [var_list]
    for i, v in enumerate(variables):
        if not is_tensor(v):
            raise TypeError(
                f"var_list[{i}] is a {type(v).__name__}, {v!r:.60}; expected a variable"
            )
    return variables


def _weights(grad_loss: Any) -> Any:
    return None if grad_loss is None else [grad_loss]


def _check_loss(loss: Any) -> None:
    if not is_tensor(loss):
        raise TypeError(f"the loss is a {type(loss).__name__}, {loss!r:.60}; expected a tensor")
    if not as_dtype(loss.dtype).is_floating:
        raise ValueError(
            f"invalid type {as_dtype(loss.dtype).name} for the loss {loss!r}: floats only"
        )


def _checked_pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(
            f"apply_gradients: expected pairs of gradient and variable, got {pair!r:.60}"
        )
    g, v = pair
    if not isinstance(v, (Variable, _core.Variable)):
        if is_tensor(v):
            raise NotImplementedError(f"apply_gradients: trying to update a Tensor, {v!r}")
        raise TypeError(f"apply_gradients: expected a variable, got {v!r:.60}")
    if g is None:
        return None, v
    try:
        g = convert_to_tensor(g, None if is_tensor(g) else as_dtype(v.dtype))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"apply_gradients: the gradient of '{v.name}' must be convertible to a tensor: {error}"
        ) from None
    if as_dtype(g.dtype) != as_dtype(v.dtype):
        raise TypeError(
            f"apply_gradients: '{v.name}' is {v.dtype}, its gradient {g.dtype}; use tf.cast"
        )
    if not TensorShape(g.shape).is_compatible_with(v.shape):
        raise ValueError(
            f"apply_gradients: '{v.name}' has shape {v.shape}, its gradient has shape {g.shape}"
        )
    return g, v


def _no_gradients(variables: list[Any], loss: Any) -> str:
    lines = [f"  {v.name}: {_reason(v, loss)}" for v in variables]
    about = "" if loss is None else f" by the loss {loss!r:.100}"
    return "No gradients provided for any variable" + about + ":\n" + "\n".join(lines)


def _reason(v: Any, loss: Any) -> str:
    if as_dtype(v.dtype).is_integer or as_dtype(v.dtype).is_bool:
        return f"{as_dtype(v.dtype).name} is not differentiable"
    if isinstance(loss, Tensor) and isinstance(v, Variable):
        if v.op not in ancestors([loss]):
            return "the loss does not depend on it"
        return "every path from the loss to it passes stop_gradient or what has no gradient"
    return "its gradient is None"
