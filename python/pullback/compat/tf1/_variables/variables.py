"""Variable in graph mode: a handle, one shared read, and an initializer.

    v           VariableV2: the handle; gradients with respect to a variable are taken by it
    v/read      the variable in expressions: its value before the run; inside a loop that assigns
                the variable, its value at the start of the iteration
    v/Assign    the initializer
    v/read_1, … reads inside `control_dependencies`, and the results of `read_value`

The value is stored in a Session. A later read has the value of an assignment of the same run if it
depends on it by a control dependency or an input; see instantiate.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from inspect import signature
from operator import attrgetter
from typing import Any

import numpy as np

from .... import _core
from .._graph import mode
from .._graph.create import convert_to_tensor
from .._graph.graph import GraphKeys, get_default_graph
from .._graph.opdef import define
from .._graph.operation import Operation, session_for
from .._graph.shapes import as_dims, shape_text
from .._graph.strings import encoded
from .._graph.tensor import Operators, as_core, as_eager
from .._graph.tensor import SymbolicTensor as Tensor
from .._ops.grouping import group
from ..dtypes import as_dtype, string
from ..errors import InvalidArgumentError
from ..names import public_names, snake_case, taking


def _assigning(type: str, verb: str) -> Callable[..., Any]:
    def method(
        self: Variable, value: Any, use_locking: Any = None, name: str | None = None,
        read_value: bool = True,
    ) -> Any:  # fmt: skip
        new = _assign(self, type, value, name)
        return new if read_value else new.op

    method.__doc__ = f"Create an operation that {verb} the value; its output is the new value."
    return method


# Accepted without effect: a variable has one replica.
VariableSynchronization = Enum(
    "VariableSynchronization", "AUTO NONE ON_WRITE ON_READ", start=0, module=__name__
)
VariableAggregation = Enum(
    "VariableAggregation", "NONE SUM MEAN ONLY_FIRST_REPLICA", start=0, module=__name__
)


class Variable(Operators):
    """A value that a session stores between runs.

    `initial_value` is a tensor, a value or a function without arguments. Optimizers update
    trainable variables. In eager mode this creates an eager variable.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     v = tf.Variable(2.0, name="v")
    ...     session.run(v.initializer)
    ...     session.run(v.assign_add(1.0)), v
    (np.float32(3.0), <tf.Variable 'v:0' shape=() dtype=float32>)
    """

    __hash__ = object.__hash__

    def __new__(cls, *args: Any, **keywords: Any) -> Any:
        if not mode.executing_eagerly():
            return super().__new__(cls)
        bound = _SIGNATURE.bind(None, *args, **keywords)
        bound.apply_defaults()
        return EagerVariable(bound.arguments)

    def __init__(
        self, initial_value: Any = None, trainable: bool | None = None,
        collections: Sequence[str] | None = None, validate_shape: bool = True,
        caching_device: Any = None, name: str | None = None, variable_def: Any = None,
        dtype: Any = None, expected_shape: Any = None, import_scope: str | None = None,
        constraint: Any = None, use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE, shape: Any = None,
    ) -> None:  # fmt: skip
        if initial_value is None:
            raise ValueError("Variable: expected a value for initial_value, got None")
        if isinstance(collections, str):
            raise ValueError(
                f"Variable: expected a list of keys for collections, got {collections!r}"
            )
        graph = get_default_graph()
        self.trainable = trainable = trainable is not False
        self.constraint = constraint
        self.validate_shape = validate_shape
        with graph.control_dependencies(None), graph.name_scope(name or "Variable") as scope:
            if callable(initial_value):
                with graph.name_scope("Initializer"):
                    initial_value = initial_value()
            initial = convert_to_tensor(initial_value, dtype, name="initial_value")
            wish = expected_shape if shape is None else shape
            dims = as_dims(wish) if wish is not None else initial.dims
            if validate_shape and (dims is None or None in dims):
                raise ValueError(
                    f"Variable: expected a known shape for the initial_value of '{scope[:-1]}', "
                    f"got {initial!r}; give validate_shape=False"
                )
            self.initial_value: Tensor = initial
            attrs = {"variable": self, "dtype": initial.dtype}
            output = (initial.dtype, dims if validate_shape else None)
            self.handle = graph.record("VariableV2", (), attrs, scope, output).outputs[0]
            self.initializer = _assign(self, "Assign", initial, "Assign").op
            self._read = _read(self, "read")
        names = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
        if trainable and GraphKeys.TRAINABLE_VARIABLES not in names:
            names.append(GraphKeys.TRAINABLE_VARIABLES)
        for collection in names:
            graph.add_to_collection(collection, self)

    name: Any = property(attrgetter("handle.name"))
    op: Any = property(attrgetter("handle.op"))
    graph: Any = property(attrgetter("handle.graph"))
    dtype: Any = property(attrgetter("handle.dtype"))
    shape: Any = property(attrgetter("handle.shape"))
    device: Any = property(attrgetter("handle.device"))
    _graph_element: Any = property(attrgetter("_read"))

    def get_shape(self) -> Any:
        return self.shape

    def _as_tensor(self) -> Tensor:
        if not self.graph.reads_wait:
            return self._read
        with self.graph.name_scope(None):
            return _read(self, f"{self.op.name}/read")

    def value(self) -> Tensor:
        """Return the value before the run, or after the assignments among control inputs."""
        return self._as_tensor()

    def initialized_value(self) -> Tensor:
        """Return the initial value, for the initial values of other variables."""
        return self.initial_value

    def read_value(self) -> Tensor:
        """Create a separate read, which returns the values of assignments on which it depends."""
        return _read(self, "read")

    def eval(self, session: Any = None) -> Any:
        """Return the value in `session`, or in the default session."""
        return self._read.eval(session=session)

    assign = _assigning("Assign", "replaces")
    assign_add = _assigning("AssignAdd", "adds to")
    assign_sub = _assigning("AssignSub", "subtracts from")

    def load(self, value: Any, session: Any = None) -> None:
        """Set the value in `session`, or in the default session, without a new operation."""
        session_for(self.graph, session, "load").run(
            self.initializer, {self.initializer.inputs[0]: value}
        )

    def __iter__(self) -> Any:
        raise TypeError(f"Variable: '{self.name}' is not iterable; use tf.unstack")

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={shape_text(self.handle.dims)} "
            f"dtype={self.dtype.name}>"
        )


def _read(variable: Variable, name: str) -> Tensor:
    handle = variable.handle
    output = (handle.dtype, handle.dims, _core.identity(handle.abstract))
    attrs = {"variable": variable}
    read: Tensor = handle.graph.record("ReadVariableOp", [handle], attrs, name, output).outputs[0]
    return read


def _assign(variable: Variable, type: str, value: Any, name: str | None) -> Tensor:
    handle = variable.handle
    with handle.graph.as_default():
        tensor = convert_to_tensor(value, handle.dtype, name="value")
    if not tensor.shape.is_compatible_with(handle.dims):
        raise ValueError(
            f"{snake_case(type)}: expected a value of shape {handle.shape} for variable "
            f"'{variable.name}', got '{tensor.name}' of shape {tensor.shape}"
        )
    output = (handle.dtype, tensor.dims if handle.dims is None else handle.dims)
    attrs = {"variable": variable}
    new: Tensor = handle.graph.record(type, [tensor], attrs, name, output).outputs[0]
    return new


# --- in eager mode


_SIGNATURE = signature(Variable.__init__)
Variable.__signature__ = _SIGNATURE.replace(  # type: ignore[attr-defined]
    parameters=[*_SIGNATURE.parameters.values()][1:]
)


class EagerVariable(Operators, _core.Variable):
    """A value that assignments replace; in expressions it is its current value."""

    __hash__ = _core.Variable.__hash__

    def __init__(self, given: Mapping[str, Any]) -> None:
        value, name = given["initial_value"], given["name"] or "Variable"
        if value is None:
            raise ValueError("Variable: expected a value for initial_value, got None")
        value = convert_to_tensor(value() if callable(value) else value, given["dtype"])
        super().__init__(
            as_core(value), trainable=given["trainable"] is not False, name=f"{name}:0"
        )
        self.constraint = given["constraint"]
        if GraphKeys.GLOBAL_STEP in (given["collections"] or ()):  # it joins no other collection
            get_default_graph().add_to_collection(GraphKeys.GLOBAL_STEP, self)

    def assign(self, value: Any, *_: Any, **__: Any) -> EagerVariable:
        super().assign(self._fitting(value))
        return self

    def assign_add(self, value: Any, *_: Any, **__: Any) -> EagerVariable:
        super().assign_add(self._fitting(value))
        return self

    def assign_sub(self, value: Any, *_: Any, **__: Any) -> EagerVariable:
        super().assign_sub(self._fitting(value))
        return self

    def _fitting(self, value: Any) -> Any:
        tensor = convert_to_tensor(value, self.dtype)
        if tensor.shape != self.shape:
            raise ValueError(
                f"assign: expected a value of shape {self.shape} for variable '{self.name}', got "
                f"{tensor.shape}"
            )
        return as_core(tensor)

    def value(self) -> Any:
        """Return the current value as a separate tensor: as a tape's source, this read alone."""
        return as_eager(_core.identity(self.read()))

    read_value = value

    def __repr__(self) -> str:
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype}, "
            f"numpy={self.numpy()!s}>"
        )


# --- in a run


def _run_handle(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    value = run.peek(op.attrs["variable"])
    if value is None:  # for gradients with respect to it; no read returns these zeros
        handle = op.outputs[0]
        dims = tuple(n or 0 for n in handle.dims or ())
        value = _core.full(dims, _core.constant(0, handle.dtype))
        run.watcher.watch(value)
    return [value]


def _run_read(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    return [run.read(op.attrs["variable"], op)]


def _run_assign(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    variable, value = op.attrs["variable"], inputs[0]
    if op.type != "Assign":
        function = _core.add if op.type == "AssignAdd" else _core.subtract
        value = function(run.current(variable), value)
    dims = variable.handle.dims
    if dims is not None and tuple(value.shape) != dims:
        raise InvalidArgumentError(
            op,
            f"{snake_case(op.type)}: expected a value of shape {dims} for variable "
            f"'{variable.name}', got {value.shape}; operation {op.type} '{op.name}'",
        )
    new = run.assign(variable, value)
    run.mark(op, [variable])
    return [_core.stop_gradient(new)]


def _which(run: Any, op: Operation) -> np.ndarray[Any, Any]:
    """Return the variables that have no value when this operation runs."""
    variables = op.attrs["variables"]
    return np.array(
        [not (run.slot_of(v).initialized or v in run.behind[op]) for v in variables], bool
    )


def _run_report(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    names = encoded([v.op.name for v in op.attrs["variables"]])
    return [_core.constant(names[_which(run, op)])]


define("ReportUninitializedVariables", execute=_run_report, flows=False, host=True)
define("IsVariableInitialized", execute=lambda run, op, inputs: [
    _core.constant(np.bool_(not _which(run, op)[0]))
], flows=False, host=True)  # fmt: skip
define("VariableV2", execute=_run_handle, flows=False)
define("ReadVariableOp", execute=_run_read)
for _type in ("Assign", "AssignAdd", "AssignSub"):
    define(_type, execute=_run_assign, flows=False)


# --- functions


def _assigned(method: str, arguments: str = "") -> Any:
    def function(ref: Any, value: Any, name: Any, **_: Any) -> Any:
        return getattr(ref, method)(value, name=name)

    arguments = f"ref value {arguments} use_locking=None name=None"
    return taking(arguments, method, f"Call `ref.{method}(value)`.")(function)


assign = _assigned("assign", "validate_shape=None")
assign_add, assign_sub = _assigned("assign_add"), _assigned("assign_sub")


def _collected(key: str, which: str) -> Callable[..., list[Any]]:
    def function(scope: str | None = None) -> list[Any]:
        return get_default_graph().get_collection(key, scope)

    function.__doc__ = (
        f"Return the {which}; with `scope` those whose name starts with this regular expression: "
        "'main' also matches 'main2/w', 'main/' does not."
    )
    return function


global_variables = _collected(GraphKeys.GLOBAL_VARIABLES, "variables of the graph")
trainable_variables = _collected(GraphKeys.TRAINABLE_VARIABLES, "trainable variables")
local_variables = _collected(GraphKeys.LOCAL_VARIABLES, "variables of GraphKeys.LOCAL_VARIABLES")


def variables_initializer(var_list: Sequence[Any], name: str = "init") -> Any:
    """Create the operation that initializes these variables."""
    return group(*(v.initializer for v in var_list), name=name)


def global_variables_initializer() -> Any:
    """Create the operation that initializes the variables that the graph has now."""
    return variables_initializer(global_variables(), "init")


def local_variables_initializer() -> Any:
    """Create the operation that initializes the local variables."""
    return variables_initializer(local_variables(), "init_local")


def tables_initializer(name: str = "init_all_tables") -> Any:
    """Create the operation that runs the collection TABLE_INITIALIZERS.

    The initializers of iterators may be in it.
    """
    return group(*get_default_graph().get_collection(GraphKeys.TABLE_INITIALIZERS), name=name)


moving_average_variables = _collected(
    GraphKeys.MOVING_AVERAGE_VARIABLES, "variables that have a moving average"
)
model_variables = _collected(GraphKeys.MODEL_VARIABLES, "variables of GraphKeys.MODEL_VARIABLES")


def all_variables() -> list[Any]:
    """Alias of `global_variables`."""
    return global_variables()


def report_uninitialized_variables(
    var_list: Sequence[Any] | None = None, name: str = "report_uninitialized_variables"
) -> Any:
    """Return a tensor of the names of variables without a value in the session.

    By default it tests all global and local variables.
    """
    chosen = global_variables() + local_variables() if var_list is None else list(var_list)
    attrs, output = {"variables": chosen}, (string, (None,))
    kind = "ReportUninitializedVariables"
    return get_default_graph().record(kind, (), attrs, name, output).outputs[0]


def is_variable_initialized(variable: Any) -> Any:
    """Return a bool tensor: whether a variable has a value in the session."""
    attrs, output = {"variables": [variable]}, (as_dtype("bool"), ())
    record = variable.graph.record("IsVariableInitialized", (), attrs, None, output)
    return record.outputs[0]


initialize_all_tables = tables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer
initialize_variables = variables_initializer
__all__ = public_names(globals())
