"""What a program's own optimizer defines and calls, under the names of TensorFlow's base class.

A class defines `_apply_dense` (or `_resource_apply_dense`), for rows `_apply_sparse`, and if it
wants `_create_slots`, `_prepare` and `_finish`; the other methods here it calls.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from .._graph import mode
from .._graph.create import convert_to_tensor
from .._ops.array_ops import shape as shape_of
from .._ops.array_ops import zeros
from .._ops.grouping import group
from .._ops.indexed_slices import IndexedSlices
from .._ops.order_ops import unique
from .._ops.scatter_ops import unsorted_segment_sum
from .._variables.variable_scope import get_variable, variable_scope
from .._variables.variables import Variable
from ..dtypes import as_dtype


def slot_variable(x: Any, value: Any, name: str) -> Any:
    """A variable named after another variable or tensor. As in TensorFlow, variable scopes prefix
    its name and say whether it exists already; name scopes do not."""
    full = f"{x.name.partition(':')[0]}/{name}"
    if mode.executing_eagerly():
        return Variable(value, trainable=False, name=full)
    with variable_scope(None, full):
        return get_variable("", initializer=value, trainable=False)


def slots_of(text: str) -> Mapping[str, tuple[str, float | str]]:
    """The slots that `v:s=1` describes: TensorFlow's name, the rule's where it differs, and the
    start, 0 unless given."""
    slots: dict[str, tuple[str, float | str]] = {}
    for entry in text.split():
        names, _, start = entry.partition("=")
        name, _, inner = names.partition(":")
        slots[name] = inner or name, start if start.isidentifier() else float(start or 0)
    return MappingProxyType(slots)


class OptimizerHooks:
    """Called for each step in this order: `_create_slots`, `_prepare`, for each variable one of
    `_apply_dense` and `_apply_sparse`, and `_finish`."""

    _slots: dict[str, dict[Any, Any]]
    _non_slots: dict[tuple[Any, str], Any]

    # --- what a program may define

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Makes the slots of these variables that are not there yet."""

    def _prepare(self) -> None:
        """Makes what the updates have in common, such as hyper-parameters as tensors."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """An operation that updates a variable by its gradient."""
        return self._resource_apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no update rule: define _apply_dense(self, grad, var)"
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """The same for a gradient of rows, an IndexedSlices in which no row is twice."""
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no update rule for rows: define _apply_sparse(self, grad, "
            "var), or use tf.convert_to_tensor(grad)"
        )

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        """The operation of the whole step."""
        return None if mode.executing_eagerly() else group(*update_ops, name=name_scope)

    # --- what it calls

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """The slot of a variable, with this value at first."""
        slots = self._slot_dict(slot_name)
        if var not in slots:
            slots[var] = slot_variable(var, val, op_name)
        return slots[var]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        value = initializer(shape, dtype=dtype) if callable(initializer) else initializer
        return self._get_or_make_slot(var, value, slot_name, op_name)

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._get_or_make_slot(
            var, zeros(var.shape, as_dtype(var.dtype)), slot_name, op_name
        )

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer alone, in the graph of that one."""
        key = getattr(colocate_with, "graph", None), name
        if key not in self._non_slots:
            self._non_slots[key] = Variable(initial_value, trainable=False, name=name)
        return self._non_slots[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        return self._non_slots.get((None if mode.executing_eagerly() else graph, name))

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    # --- one update

    def _applied(self, grad: Any, var: Any) -> Any:
        if not isinstance(grad, IndexedSlices):
            return self._apply_dense(grad, var)
        if type(self)._sums_rows():
            rows, places = unique(convert_to_tensor(grad.indices))
            values = unsorted_segment_sum(grad.values, places, shape_of(rows)[0])
            grad = IndexedSlices(values, rows, grad.dense_shape)
        return self._apply_sparse(grad, var)

    @classmethod
    def _sums_rows(cls) -> bool:
        """Whether the update of rows is a program's own, which expects each row once."""
        return True

    def _applied_at_once(self, pairs: Sequence[tuple[Any, Any]], name: str) -> None:
        """A step in eager mode."""
        assert mode.executing_eagerly()
        self._create_slots([v for _, v in pairs])
        self._prepare()
        updates = []
        for g, v in pairs:
            updates.append(self._applied(g, v))
            if v.constraint is not None:
                v.assign(v.constraint(v))
        self._finish(updates, name)
