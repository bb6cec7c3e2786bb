"""What the optimizers share: compute_gradients, apply_gradients, minimize, and their slots.

In graph mode the update of a variable is one operation, whose inputs are the gradient and the
hyper-parameters; it reads and assigns the variable and its slots. In eager mode the same rule is
applied at once. The rules are in update_rules.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import _core
from . import mode
from .array_ops import constant, fill
from .backprop import gradients
from .convert import convert_to_tensor, is_tensor
from .create import add_outputs, cast
from .dtypes import as_dtype
from .eager_optimizer import EagerOptimizer
from .graph import Graph, GraphKeys
from .grouping import group
from .grouping import tuple as gated
from .opdef import OPS, define
from .operation import Operation
from .tape import GradientTape
from .tensor import Tensor
from .update_rules import RULES
from .variables import Variable

__all__ = ["Optimizer"]


class Optimizer(EagerOptimizer):
    """The base of all optimizers; `hyper` are the numbers, tensors or functions of its rule."""

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(
        self,
        use_locking: bool,
        name: str,
        rule: str = "",
        hyper: dict[str, Any] | None = None,
        flags: dict[str, Any] | None = None,
    ) -> None:
        if not name:
            raise ValueError("an optimizer needs a name that is not empty")
        self._rule = rule
        self._name = name
        self._hyper = hyper or {}
        self._flags = flags or {}
        self._slots_wanted: dict[str, tuple[str, float]] = {}  # name -> suffix, initial value
        self._powers_wanted: dict[str, str] = {}  # name -> the hyper-parameter it is a power of
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
            loss,
            var_list,
            gate_gradients,
            aggregation_method,
            colocate_gradients_with_ops,
            grad_loss,
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
        variables = _variables(
            loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
            if var_list is None
            else var_list
        )
        if not variables:
            raise ValueError("no variables to optimize: the graph has no trainable ones")
        answers = gradients(
            loss,
            variables,
            None if grad_loss is None else [grad_loss],
            aggregation_method=aggregation_method,
        )
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
        if not self._rule:
            raise NotImplementedError("tf.train.Optimizer has no update rule; use one that has")
        pairs = [_checked_pair(pair) for pair in grads_and_vars]
        if not pairs:
            raise ValueError("apply_gradients: no variables provided")
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            raise ValueError(_no_gradients([v for _, v in pairs], None))
        if mode.executing_eagerly():
            return self._apply_eagerly(present, global_step)
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
        for slot, (suffix, initial) in self._slots_wanted.items():
            slots = self._slots.setdefault(slot, {})
            if v not in slots:
                value = fill(list(v.shape), constant(initial, as_dtype(v.dtype)))
                slots[v] = Variable(value, trainable=False, name=f"{_base(v)}/{suffix}")
        for power, base in self._powers_wanted.items():
            key = (v.graph if isinstance(v, Variable) else None, power)
            if key not in self._powers:
                initial = self._hyper[base]
                initial = initial() if callable(initial) else initial
                self._powers[key] = Variable(
                    _as(initial, v.dtype, "initial_value"), trainable=False, name=power
                )

    # --- graph mode

    def _apply_in_graph(
        self, graph: Graph, pairs: list[tuple[Any, Any]], global_step: Any, scope: str
    ) -> Operation:
        numbers = {key: value() if callable(value) else value for key, value in self._hyper.items()}
        powers = {key: self._powers[graph, key] for key in self._powers_wanted}
        updates = []
        for g, v in pairs:
            slots = {name: self._slots[name][v] for name in self._slots_wanted}
            with graph.name_scope(f"update_{v.op.name}"):
                hyper = {key: _as(value, v.dtype, key) for key, value in numbers.items()}
                hyper |= {key: _as(power, v.dtype, key) for key, power in powers.items()}
                updates.append(_update(self._rule, v, g, slots, hyper, self._flags))
                if v.constraint is not None:
                    with graph.control_dependencies([updates[-1]]):
                        updates.append(v.assign(v.constraint(v.read_value())).op)
        with graph.control_dependencies(updates):
            after = [
                powers[key].assign(powers[key] * _as(numbers[base], powers[key].dtype, base)).op
                for key, base in self._powers_wanted.items()
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


def _update(
    rule: str, v: Any, g: Any, slots: dict[str, Any], hyper: dict[str, Any], flags: dict[str, Any]
) -> Operation:
    attrs = {
        "rule": rule,
        "variable": v,
        "slots": slots,
        "hyper": tuple(hyper),
        "flags": flags,
    }
    inputs = [convert_to_tensor(g, v.dtype), *hyper.values()]
    graph: Graph = v.graph
    op = graph.create(OPS["ApplyUpdate"], inputs, attrs, f"Apply{rule}", type=f"Apply{rule}")
    add_outputs(op, [])
    return op


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    attrs = op.attrs
    v, slots = attrs["variable"], attrs["slots"]
    hyper = dict(zip(attrs["hyper"], inputs[1:], strict=True)) | attrs["flags"]
    state = {name: run.current(slot) for name, slot in slots.items()}
    value, state = RULES[attrs["rule"]](run.current(v), inputs[0], state, hyper)
    for name, new in state.items():
        run.assign(slots[name], new)
    run.assign(v, value)
    run.mark(op, [v, *slots.values()])
    return []


define("ApplyUpdate", execute=_execute, flows=())


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
    shapes_fit = (
        g.shape.is_compatible_with(v.shape)
        if isinstance(g, Tensor)
        else tuple(g.shape) == tuple(v.shape)
    )
    if not shapes_fit:
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
        if not _depends(loss, v):
            return "the loss does not depend on it"
        return "every path from the loss to it passes stop_gradient or what has no gradient"
    return "its gradient is None"


def _depends(loss: Tensor, v: Variable) -> bool:
    seen: set[Operation] = set()
    pending = [loss.op]
    while pending:
        op = pending.pop()
        if op is v.op:
            return True
        if op not in seen:
            seen.add(op)
            pending.extend(x.op for x in op.inputs)
    return False
