"""Checks of optimizers, and the methods that a user-defined optimizer defines and calls.

The names are those of TensorFlow's base class. A class defines `_apply_dense` (or
`_resource_apply_dense`), `_apply_sparse` for rows, and optionally `_create_slots`, `_prepare` and
`_finish`; it calls the other methods.
"""

from __future__ import annotations

from collections.abc import KeysView, Mapping, Sequence, ValuesView
from types import MappingProxyType
from typing import Any

from .... import _core
from ...._base import last_query
from ...._explain.explain import why_none_of
from .._gradients.backprop import as_list
from .._graph import mode
from .._graph.create import convert_to_tensor, is_tensor
from .._graph.opdef import RowError
from .._graph.shapes import TensorShape, as_dims, shape_text
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
    """Create a variable named after another variable or tensor.

    As in TensorFlow, variable scopes prefix its name and determine reuse; name scopes do not.
    """
    full = f"{x.name.partition(':')[0]}/{name}"
    if mode.executing_eagerly():
        return Variable(value, trainable=False, name=full)
    with variable_scope(None, full):
        return get_variable("", initializer=value, trainable=False)


def slots_of(text: str) -> Mapping[str, tuple[str, float | str]]:
    """Parse slots such as `v:s=1`: TensorFlow's name, the rule's name, the initial value (0)."""
    slots: dict[str, tuple[str, float | str]] = {}
    for entry in text.split():
        names, _, start = entry.partition("=")
        name, _, inner = names.partition(":")
        slots[name] = inner or name, start if start.isidentifier() else float(start or 0)
    return MappingProxyType(slots)


class OptimizerHooks:
    """Methods called in each step.

    The order is `_create_slots`, `_prepare`, for each variable `_apply_dense` or `_apply_sparse`,
    and `_finish`.
    """

    _slots: dict[str, dict[Any, Any]]
    _non_slots: dict[tuple[Any, str], Any]

    # --- methods that a program may define

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Create the missing slots of these variables."""

    def _prepare(self) -> None:
        """Create shared inputs of the updates, such as hyper-parameters as tensors."""

    def _apply_dense(self, grad: Any, var: Any) -> Any:
        """Create the operation that updates a variable by its gradient."""
        return self._resource_apply_dense(grad, var)

    def _resource_apply_dense(self, grad: Any, handle: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: expected an update rule, got none; define "
            "_apply_dense(self, grad, var)"
        )

    def _apply_sparse(self, grad: Any, var: Any) -> Any:
        """Update by an IndexedSlices, in which no row occurs twice."""
        return self._resource_apply_sparse(grad.values, var, grad.indices)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__}: expected an update rule for rows, got none; define "
            "_apply_sparse(self, grad, var), or use tf.convert_to_tensor(grad)"
        )

    def _finish(self, update_ops: Sequence[Any], name_scope: str) -> Any:
        """Create the operation of the whole step."""
        return None if mode.executing_eagerly() else group(*update_ops, name=name_scope)

    # --- methods that it calls

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        """Return the slot of a variable, created with this initial value."""
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
        """Create a variable of the optimizer in the graph of another variable."""
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
        """Test whether the update of rows is user-defined, so that each row must occur once."""
        return True


def checked_variables(var_list: Any) -> list[Any]:
    views = isinstance(var_list, (KeysView, ValuesView))  # of a dict
    variables = as_list(list(var_list) if views else var_list)
    for i, v in enumerate(variables):
        if not is_tensor(v):
            raise TypeError(
                f"compute_gradients: expected a variable for var_list[{i}], got {v!r:.60} of type "
                f"{type(v).__name__}"
            )
    return variables


def checked_loss(loss: Any) -> Any:
    if not is_tensor(loss):
        raise TypeError(
            f"compute_gradients: expected a tensor for loss, got {loss!r:.60} of type "
            f"{type(loss).__name__}"
        )
    if not as_dtype(loss.dtype).is_floating:
        raise ValueError(
            f"compute_gradients: expected floats for loss, got {loss!r} of type "
            f"{as_dtype(loss.dtype).name}"
        )
    return loss


def checked_pair(pair: Any) -> tuple[Any, Any]:
    who = "apply_gradients"
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"{who}: expected pairs of gradient and variable, got {pair!r:.60}")
    g, v = pair
    if not isinstance(v, (Variable, _core.Variable)):
        kind = NotImplementedError if is_tensor(v) else TypeError
        raise kind(f"{who}: expected a variable to update, got {v!r:.60}")
    if g is None:
        return None, v
    if isinstance(g, IndexedSlices):
        return checked_slices(g, v), v
    try:
        g = convert_to_tensor(g, None if is_tensor(g) else as_dtype(v.dtype))
    except (TypeError, ValueError) as error:
        text = str(error).removeprefix("convert_to_tensor: ")
        raise TypeError(f"{who}: the gradient of '{v.name}' is not convertible: {text}") from None
    if as_dtype(g.dtype) != as_dtype(v.dtype):
        raise TypeError(
            f"{who}: expected a gradient of {as_dtype(v.dtype).name} for '{v.name}', got "
            f"{as_dtype(g.dtype).name}; use tf.cast"
        )
    if not TensorShape(g.shape).is_compatible_with(v.shape):
        raise ValueError(
            f"{who}: expected a gradient of shape {v.shape} for '{v.name}', got {g.shape}"
        )
    return g, v


def checked_slices(g: IndexedSlices, v: Any) -> IndexedSlices:
    who = "apply_gradients: expected a gradient of"
    if v.constraint is not None:
        raise RuntimeError(
            f"apply_gradients: expected a dense gradient for '{v.name}', which has a constraint, "
            f"got {g}; use tf.convert_to_tensor"
        )
    if as_dtype(g.dtype) != as_dtype(v.dtype):
        raise TypeError(
            f"{who} {as_dtype(v.dtype).name} for '{v.name}', got {as_dtype(g.dtype).name}; use "
            "tf.cast"
        )
    rows, dims = as_dims(g.values.shape), as_dims(v.shape)
    wanted = None if dims is None else (None, *dims[1:])
    if not TensorShape(rows).is_compatible_with(wanted):
        raise ValueError(
            f"{who} rows of shape {shape_text(wanted)} for '{v.name}', got {g.values.shape}"
        )
    return g


def no_gradients(variables: list[Any], loss: Any) -> str:
    about = "" if loss is None else f" by the loss {loss!r:.100}"
    lines = [f"  {v.name}: {_reason(v, loss)}" for v in variables]
    return "No gradients provided for any variable" + about + ":\n" + "\n".join(lines)


def _reason(v: Any, loss: Any) -> str:
    if not as_dtype(v.dtype).is_floating:
        return f"{as_dtype(v.dtype).name} is not differentiable"
    ys = [loss] if is_tensor(loss) else last_query.last_about(v)
    if not ys:
        return "its gradient is None; call pb.explain(loss, variable) for the reason"
    [(_, why)] = why_none_of(ys[0], [v])
    return why


def check_rows(v: Any, values: Any, indices: Any) -> None:
    """Raise RowError for a gradient of rows that do not match v."""
    if values.shape != (*indices.shape, *tuple(v.shape)[1:]) or len(indices.shape) != 1:
        raise RowError(
            f"expected rows of a gradient for a variable of shape {tuple(v.shape)}, got values of "
            f"shape {values.shape} at indices of shape {indices.shape}"
        )
