"""Base class of the optimizers: compute_gradients, apply_gradients, minimize, and slots.

In graph mode the update of a variable is one operation, whose inputs are the gradient and the
hyper-parameters; it reads and assigns the variable and its slots. In eager mode the update is
immediate. The rules are the main namespace's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from .... import _core
from ...._base import last_query
from ....optimizers._row_updates import update_rows
from ....optimizers._update_rules import Rule
from .._gradients.backprop import gradients
from .._gradients.tape import GradientTape
from .._graph import mode
from .._graph.create import check_rank, convert_to_tensor, in_dtype, is_tensor
from .._graph.graph import Graph, GraphKeys, get_default_graph
from .._graph.opdef import RowError, define
from .._graph.operation import Operation, operation_of
from .._graph.tensor import as_core
from .._ops.array_ops import constant, fill
from .._ops.grouping import tuple as gated
from .._ops.indexed_slices import IndexedSlices
from .._variables.variables import Variable
from ..dtypes import as_dtype
from ..names import bind, signature_of
from . import optimizer_hooks as hooks
from .optimizer_hooks import OptimizerHooks


class Optimizer(OptimizerHooks):
    """Base class of all optimizers.

    A subclass defines its `rule`, and its `arguments`, all of which except `use_locking` and `name`
    are passed to the rule: numbers, tensors, functions or flags. `slots` maps TensorFlow's name of
    each part of the state to the rule's name and its initial value: a number, or the name of an
    argument. `powers` are variables with a power of an argument. A user-defined subclass has no
    rule; it defines `_apply_dense` and other methods of `OptimizerHooks`.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2
    rule: Rule | None = None
    arguments = "use_locking name"
    slots: Mapping[str, tuple[str, float | str]] = MappingProxyType({})
    _run: _EagerRun | None = None  # the step in eager mode
    positive = ""  # name of an argument that must be positive
    powers: Mapping[str, str] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        cls.__signature__ = signature_of(cls.arguments)

    __signature__ = signature_of(arguments)

    def __init__(self, *args: Any, **keywords: Any) -> None:
        given = bind(self.__signature__, type(self).__name__, args, keywords)
        del given["use_locking"]
        self._name = given.pop("name")
        if not self._name:
            raise ValueError(
                f"{type(self).__name__}: expected a name that is not empty, got {self._name!r}"
            )
        defaults = self.__signature__.parameters
        self._hyper = {
            key: bool(x) if isinstance(defaults[key].default, bool) else x
            for key, x in given.items()
        }
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slots = {}
        if self.positive:
            self._check(self.positive, "above 0", lambda x: x > 0)

    def get_name(self) -> str:
        return str(self._name)

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
        name: str | None = None, grad_loss: Any = None,
    ) -> Any:  # fmt: skip
        """Create the operation of one step: `compute_gradients`, then `apply_gradients`.

        Raises
        ------
        ValueError
            If no variable has a gradient; the message lists them with the reasons.
        """
        pairs = self.compute_gradients(  # by keywords: a user-defined class has its own order
            loss, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops, grad_loss=grad_loss,
        )  # fmt: skip
        if all(g is None for g, _ in pairs):
            raise ValueError(hooks.no_gradients([v for _, v in pairs], loss))
        return self.apply_gradients(pairs, global_step=global_step, name=name)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = 1,
        aggregation_method: int | None = None, colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Return pairs of gradient and variable; the gradient is None without a path to the loss.

        `loss` is a tensor, or a function without arguments that returns it (required in eager
        mode). Without `var_list` the variables are the graph's trainable ones, or those that the
        function reads.
        """
        if gate_gradients not in (0, 1, 2):
            raise ValueError(
                "compute_gradients: gate_gradients must be one of Optimizer.GATE_NONE, GATE_OP, "
                f"GATE_GRAPH; got {gate_gradients!r}"
            )
        weights = None if grad_loss is None else [grad_loss]
        given = None if var_list is None else hooks.checked_variables(var_list)
        if callable(loss):
            with GradientTape() as tape:
                tape.watch(given or [])
                loss = hooks.checked_loss(loss())
            variables = list(tape.watched_variables()) if given is None else given
            answers = tape.gradient(loss, variables, weights)
            last_query.also_asked_by(self)
            return list(zip(answers, variables, strict=True))
        if mode.executing_eagerly():
            raise RuntimeError(
                f"compute_gradients: expected a function for loss in eager mode, got {loss!r:.60}; "
                "minimize(lambda: loss)"
            )
        loss = hooks.checked_loss(convert_to_tensor(loss))
        trainable = loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)
        variables = trainable if given is None else given
        if not variables:
            raise ValueError(
                "compute_gradients: no variables to optimize; create trainable variables or give "
                "var_list"
            )
        answers = gradients(loss, variables, weights, aggregation_method=aggregation_method)
        last_query.also_asked_by(self)
        if gate_gradients == self.GATE_GRAPH:
            answers = gated(answers)
        return list(zip(answers, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """Create the operation that updates each variable; in eager mode update at once.

        Pairs with the gradient None are skipped. `global_step` is incremented after the updates.
        """
        if global_step is not None and not isinstance(global_step, (Variable, _core.Variable)):
            raise TypeError(
                f"apply_gradients: expected a variable for global_step, got {global_step!r:.60}"
            )
        pairs = [hooks.checked_pair(pair) for pair in grads_and_vars]
        if not pairs:
            raise ValueError(
                "apply_gradients: no variables provided: expected pairs, got an empty list"
            )
        present = [(g, v) for g, v in pairs if g is not None]
        if not present:
            raise ValueError(hooks.no_gradients([v for _, v in pairs], None))
        if mode.executing_eagerly():
            self._apply_eagerly(present, name or self._name)
            if global_step is not None:
                global_step.assign_add(1)
            return None
        graph = present[0][1].graph
        with graph.as_default():
            # Initializers do not wait for the step's control inputs.
            with graph.control_dependencies(None):
                self._create_slots([v for _, v in present])
            with graph.name_scope(name or self._name) as scope:
                self._prepare()
                return self._apply_in_graph(graph, present, global_step, scope)

    # --- state

    def get_slot(self, var: Any, name: str) -> Any:
        """Return the slot variable of this name for a variable, or None."""
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """Return the slots and other variables of the optimizer, by name."""
        own = [slot for slots in self._slots.values() for slot in slots.values()]
        return sorted([*own, *self._non_slots.values()], key=lambda v: v.name)

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for v in var_list:
            self._make_state(v)

    def _make_state(self, v: Any) -> None:
        graph = getattr(v, "graph", None)
        for power, number in self.powers.items():
            if self._get_non_slot_variable(power, graph) is None:
                initial = in_dtype(self._numbers()[number], v.dtype, "initial_value")
                self._create_non_slot_variable(initial, power, v)
        for slot, (_, start) in self.slots.items():
            if v not in self._slot_dict(slot):
                initial = self._hyper[start] if isinstance(start, str) else start
                value = fill(v.shape, constant(initial, as_dtype(v.dtype)))
                self._get_or_make_slot(v, value, slot, self._slot_name(slot))

    def _slot_name(self, slot: str) -> str:
        """Return the suffix of the name of a slot variable."""
        return str(self._name)

    def _numbers(self) -> dict[str, Any]:
        """Evaluate the hyper-parameters that are functions."""
        return {
            key: value() if callable(value) and not is_tensor(value) else value
            for key, value in self._hyper.items()
        }

    def _derived(self, hyper: dict[str, Any]) -> dict[str, Any]:
        """Compute further inputs of the rule from the values of the hyper-parameters."""
        return hyper

    def _check(self, name: str, wanted: str, holds: Callable[[Any], bool]) -> None:
        """Raise ValueError for a number out of range; tensors and functions are not checked."""
        number = self._hyper[name]
        if isinstance(number, (int, float, np.number)) and not holds(number):
            raise ValueError(f"{type(self).__name__}: expected {name} {wanted}, got {number!r}")

    # --- steps

    def _update(
        self, run: Any, v: Any, gradient: Any, hyper: dict[str, Any], slots: Mapping[str, Any]
    ) -> None:
        """Execute one step of a variable in a run: read and assign it and its slots.

        The gradient is one tensor, or rows and their indices.
        """
        for key, number in hyper.items():
            if not isinstance(number, bool) and number.shape != ():
                raise RowError(f"expected a scalar for {key}, got shape {number.shape}")
        assert self.rule is not None
        state = {name: run.current(slot) for name, slot in slots.items()}
        current, hyper = run.current(v), self._derived(hyper)
        if len(gradient) == 1:
            value, state = self.rule(current, gradient[0], state, hyper)
        else:
            value, state = self._update_rows(current, gradient[0], gradient[1], state, hyper)
        for name, new in state.items():
            run.assign(slots[name], new)
        run.assign(v, value)

    def _slots_of(self, v: Any) -> dict[str, Any]:
        return {inner: self._slots[name][v] for name, (inner, _) in self.slots.items()}

    def _update_rows(self, v: Any, values: Any, indices: Any, state: Any, hyper: Any) -> Any:
        """Apply the rule to the rows that have a gradient; other rows and their state stay."""
        assert self.rule is not None
        hooks.check_rows(v, values, indices)
        return update_rows(self.rule, v, values, indices, state, hyper)

    def _apply_eagerly(self, pairs: list[tuple[Any, Any]], name: str) -> None:
        run = _EagerRun()
        self._run = None if self._is_own() else run  # a program may read between its updates
        self._create_slots([v for _, v in pairs])
        self._prepare()
        updates = []
        for g, v in pairs:
            updates.append(self._applied(g, v))
            if v.constraint is not None:
                run.assign(v, v.constraint(run.current(v)))
        run.commit()
        self._run = None
        self._finish(updates, name)

    def _update_at_once(self, run: _EagerRun, v: Any, g: Any) -> None:
        hyper = {
            key: x if isinstance(x, bool) else _core.cast(x, v.dtype)
            for key, x in (self._now | self._powers_of(None)).items()
        }
        parts = [as_core(part) for part in _parts(g)]
        self._update(run, v, parts, hyper, self._slots_of(v))

    def _apply_in_graph(
        self, graph: Graph, pairs: list[tuple[Any, Any]], global_step: Any, scope: str
    ) -> Operation:
        updates: list[Operation] = []
        for g, v in pairs:
            with graph.name_scope(f"update_{v.op.name}"):
                updates.append(operation_of(self._applied(g, v), "apply_gradients"))
                if v.constraint is not None:
                    with graph.control_dependencies([updates[-1]]):
                        updates.append(v.assign(v.constraint(v.read_value())).op)
        done = self._finish(updates, scope if global_step is None else "update")
        train_op = operation_of(done, "apply_gradients")
        if global_step is not None:
            with graph.control_dependencies([train_op]):
                one = constant(1, as_dtype(global_step.dtype))
                train_op = global_step.assign_add(one, name=scope).op
        if train_op not in graph.get_collection_ref(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, train_op)
        return train_op

    def _prepare(self) -> None:
        self._now = self._numbers()

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        if self.rule is None or self._defines("_resource_apply_dense"):
            return super()._apply_dense(grad, var)
        return self._record(var, grad)

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        if self.rule is None or self._defines("_resource_apply_sparse"):
            return super()._apply_sparse(grad, var)
        return self._record(var, grad)

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        updates = [*update_ops]
        if mode.executing_eagerly():
            for key, power in self._powers_of(None).items():
                power.assign(power * _core.cast(self._now[self.powers[key]], power.dtype))
        elif self.powers:
            graph = get_default_graph()
            with graph.control_dependencies(updates):
                for key, power in self._powers_of(graph).items():
                    number = in_dtype(self._now[self.powers[key]], power.dtype, self.powers[key])
                    updates.append(power.assign(power * number).op)
        return super()._finish(updates, name_scope)

    def _powers_of(self, graph: Graph | None) -> dict[str, Any]:
        return {key: self._get_non_slot_variable(key, graph) for key in self.powers}

    @classmethod
    def _defines(cls, *hooks: str) -> bool:
        return any(getattr(cls, hook) is not getattr(Optimizer, hook) for hook in hooks)

    @classmethod
    def _sums_rows(cls) -> bool:
        return cls.rule is None or cls._defines("_apply_sparse", "_resource_apply_sparse")

    @classmethod
    def _is_own(cls) -> bool:
        """Test whether the updates are user-defined."""
        return cls.rule is None or cls._defines(
            "_create_slots", "_prepare", "_apply_dense", "_resource_apply_dense", "_apply_sparse",
            "_resource_apply_sparse", "_finish",
        )  # fmt: skip

    def _record(self, v: Any, g: Any) -> Operation | None:
        if mode.executing_eagerly():
            run = self._run or _EagerRun()
            self._update_at_once(run, v, g)
            if run is not self._run:
                run.commit()
            return None
        hyper = self._now | self._powers_of(v.graph)
        flags = {key: value for key, value in hyper.items() if isinstance(value, bool)}
        numbers = {key: in_dtype(x, v.dtype, key) for key, x in hyper.items() if key not in flags}
        for key, x in numbers.items():
            check_rank(x, 0, f"{self.__class__.__name__}: {key}")
        attrs = {"optimizer": self, "variable": v, "slots": self._slots_of(v), "hyper": [*numbers],
                 "flags": flags}  # fmt: skip
        parts = _parts(g)
        inputs = [*parts, *numbers.values()]
        kind = "Apply" if len(parts) == 1 else "SparseApply"
        type = kind + self.__class__.__name__.removesuffix("Optimizer")
        op: Operation = v.graph.record("ApplyUpdate", inputs, attrs, type, kind=type)
        return op


class _EagerRun:
    """The run in eager mode: all values are computed before the first assignment."""

    def __init__(self) -> None:
        self.new: dict[Any, Any] = {}

    def current(self, variable: Any) -> Any:
        return self.new[variable] if variable in self.new else variable.read()

    def assign(self, variable: Any, value: Any) -> None:
        self.new[variable] = value

    def commit(self) -> None:
        for variable, value in self.new.items():
            if value.shape != variable.shape or value.dtype != variable.dtype:
                old, new = (as_dtype(x.dtype).name for x in (variable, value))
                raise ValueError(
                    f"apply_gradients: expected a new value of {old} and shape {variable.shape} "
                    f"for '{variable.name}', got {new} of shape {value.shape}"
                )
        for variable, value in self.new.items():
            variable.assign(value)


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    v, slots, names = op.attrs["variable"], op.attrs["slots"], op.attrs["hyper"]
    parts, numbers = inputs[: len(inputs) - len(names)], inputs[len(inputs) - len(names) :]
    hyper = dict(zip(names, numbers, strict=True)) | op.attrs["flags"]
    op.attrs["optimizer"]._update(run, v, parts, hyper, slots)
    run.mark(op, [v, *slots.values()])
    return []


define("ApplyUpdate", execute=_execute, flows=False, public="apply_gradients")


def _parts(g: Any) -> list[Any]:
    return [g.values, g.indices] if isinstance(g, IndexedSlices) else [g]
