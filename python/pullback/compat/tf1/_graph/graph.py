"""Graph: the records that a program builds before any session runs them.

A Graph is an append-only list of Operations. An operation's number is larger than those of its
inputs, so creation order is a topological order and every pass over a graph is a loop. The graph
also has the names in use, and the stacks of the settings of `with` blocks: name scope, control
dependencies, gradient overrides.

Start reading at `Graph.create`.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from types import SimpleNamespace
from typing import Any

from .... import _core
from ...._base.hints import did_you_mean
from ..names import public_names, taking
from .opdef import ALIASES, OPS, OpDef
from .operation import Operation, operation_of
from .tensor import SymbolicTensor as Tensor

_VALID_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/]*")


class GraphKeys:
    """Names of the standard collections."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    GLOBAL_STEP = "global_step"
    TRAIN_OP = "train_op"
    LOSSES = "losses"
    SUMMARIES = "summaries"
    UPDATE_OPS = "update_ops"
    REGULARIZATION_LOSSES = "regularization_losses"
    MODEL_VARIABLES = "model_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    TABLE_INITIALIZERS = "table_initializer"


_OTHERS = """ACTIVATIONS ASSET_FILEPATHS BIASES CONCATENATED_VARIABLES COND_CONTEXT EVAL_STEP
INIT_OP LOCAL_INIT_OP LOCAL_RESOURCES QUEUE_RUNNERS READY_FOR_LOCAL_INIT_OP
READY_OP RESOURCES SAVEABLE_OBJECTS SAVERS SUMMARY_OP TRAINABLE_RESOURCE_VARIABLES
WEIGHTS WHILE_CONTEXT"""
for _key in _OTHERS.split():
    setattr(GraphKeys, _key, _key.lower())


class Graph:
    """An append-only list of operations with unique names.

    >>> from pullback.compat import tf1 as tf
    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     y = tf.constant(2.0, name="c") * 3.0
    >>> [op.name for op in graph.get_operations()], y
    (['c', 'mul/y', 'mul'], <tf.Tensor 'mul:0' shape=() dtype=float32>)
    """

    def __init__(self) -> None:
        self.seed: int | None = None
        self.finalized = False
        self._op_seeds: list[int] = []
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names: dict[str, int] = {}  # lower-case name -> number of uses
        self._scope = ""  # "" or "a/b/"
        self._controls: list[tuple[Operation, ...]] = []
        self.reads_wait = False  # whether a variable is to be read after control inputs
        self._overrides: list[dict[str, str]] = []
        self._collections: dict[str, list[Any]] = {}
        self.variable_store: dict[str, Any] = {}
        self.variable_scopes: list[Any] = []
        self.variable_scope_names: set[str] = set()
        self.results: list[Any] = []  # while debugging: results of runs; see fetches.py
        self.fed_results: dict[Any, list[Any]] = {}

    # --- operations

    def create(
        self, definition: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str,
        type: str | None = None, controls: Iterable[Operation] = (),
    ) -> Operation:  # fmt: skip
        """Create an operation whose outputs are set by `complete`."""
        if self.finalized:
            raise RuntimeError("Graph: the graph is finalized: no operation can be added")
        for tensor in inputs:
            if tensor.op.graph is not self:
                raise ValueError(
                    f"Graph: {tensor!r} is not of the same graph as the operation '{name}'; build "
                    "both inside one `with graph.as_default()`"
                )
        held = tuple(dict.fromkeys([*(op for ops in self._controls for op in ops), *controls]))
        kind = type or definition.type
        definition.check_strings(kind, inputs)
        full = self.unique_name(name)
        if full in self._by_name:
            raise ValueError(
                f"Graph: duplicate node name in the graph: '{full}'; give another name"
            )
        override = self.override_of(kind)
        op = Operation(self, definition, kind, full, tuple(inputs), attrs, held, override)
        op.place = _core.current_site()
        return op

    def complete(self, op: Operation, outputs: Iterable[Any]) -> Operation:
        """Append an operation with (dtype, dimensions, …) of each output."""
        op.outputs = tuple(Tensor(op, i, *output) for i, output in enumerate(outputs))
        op.number = len(self._operations)
        self._operations.append(op)
        self._by_name[op.name] = op
        return op

    def record(
        self, type: str, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None,
        *outputs: Any, kind: str | None = None, controls: Iterable[Operation] = (),
    ) -> Operation:  # fmt: skip
        """Create and append an operation with known outputs."""
        op = self.create(OPS[type], inputs, attrs, name or type, kind, controls)
        return self.complete(op, outputs)

    def override_of(self, type: str) -> str | None:
        """Return the rule of the innermost gradient_override_map for a type, or None."""
        return next((m[type] for m in reversed(self._overrides) if type in m), None)

    def get_operations(self) -> list[Operation]:
        return list(self._operations)

    def as_graph_def(self, from_version: Any = None, add_shapes: bool = False) -> Any:
        """Return the `node_def` of each operation as `node`; importers ignore it."""
        return SimpleNamespace(node=[op.node_def for op in self.get_operations()])

    def get_operation_by_name(self, name: str) -> Operation:
        found = self._by_name.get(name) if isinstance(name, str) else None
        if found is None:
            hint = did_you_mean(name, self._by_name, 0.6)  # names can have one or two letters
            raise (KeyError if isinstance(name, str) else TypeError)(
                f"get_operation_by_name: no operation named {name!r} in this graph{hint}"
            )
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str) or not re.fullmatch(r".+:\d+", name):
            raise ValueError(
                f"get_tensor_by_name: expected a tensor name such as 'op:0', got {name!r}"
            )
        op_name, _, index = name.rpartition(":")
        op = self.get_operation_by_name(op_name)
        if int(index) >= len(op.outputs):
            raise KeyError(
                f"get_tensor_by_name: expected an output of operation '{op_name}', which has "
                f"{len(op.outputs)}, got {name!r}"
            )
        return op.outputs[int(index)]

    def _random_seed(self) -> int | None:
        """The seed of the random numbers of a session; None: not repeatable."""
        if self.seed is None and not self._op_seeds:
            return None
        seed = 0 if self.seed is None else self.seed
        for op_seed in self._op_seeds:
            seed = seed * 1000003 + op_seed
        return seed % 2**64

    def get_name_scope(self) -> str:
        """Return the current name scope without the final slash."""
        return self._scope.rstrip("/")

    def device(self, device_name_or_function: Any) -> AbstractContextManager[Any]:
        """Accept a device; everything is computed on the CPU."""
        return nullcontext()

    def finalize(self) -> None:
        """Make the graph read-only."""
        self.finalized = True

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Remove the operations created inside at exit; outer settings do not apply inside."""
        kept = dict(vars(self))
        vars(self).update((name, copy(value)) for name, value in kept.items())
        self._collections = {name: list(items) for name, items in self._collections.items()}
        self._scope, self._controls, self._overrides, self.finalized = "", [], [], False
        self.reads_wait = False
        try:
            yield
        finally:
            vars(self).update(kept)

    # --- names

    def unique_name(self, name: str) -> str:
        """Return `name` in the current scope, with _1, _2, … if it is taken in any case."""
        if name.endswith("/"):  # a full name: a reopened scope
            return name[:-1]
        if not _VALID_NAME.fullmatch(self._scope + name):
            raise ValueError(
                "Graph: expected a name of letters, digits and _ . - / that starts with a letter, "
                f"digit or ., got '{name}', which is not a valid name"
            )
        full = self._scope + name
        unique = full
        while unique.lower() in self._names:
            self._names[full.lower()] += 1
            unique = f"{full}_{self._names[full.lower()]}"
        self._names[unique.lower()] = 0
        return unique

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of operations created inside; yields the prefix."""
        outer = self._scope
        self._scope = inner = self.unique_name(name) + "/" if name else ""
        try:
            yield inner
        finally:
            self._scope = outer

    # --- state of `with` blocks

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Make this graph the default graph of the thread."""
        _stack.graphs.append(self)
        try:
            yield self
        finally:
            _stack.graphs.pop()

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Run the operations created inside after these; None removes outer dependencies."""
        outer, held = (self._controls, self.reads_wait), control_inputs
        if held is not None and (isinstance(held, (str, Tensor)) or not isinstance(held, Iterable)):
            raise TypeError(
                f"control_dependencies: expected a list of operations and tensors, got {held!r:.60}"
            )
        ops = None if held is None else tuple(map(operation_of, held))
        for op in ops or ():
            if op.graph is not self:
                raise ValueError(
                    f"control_dependencies: expected operations of the same graph, got {op!r} of "
                    "another"
                )
        self._controls = [] if ops is None else [*self._controls, ops]
        self.reads_wait = bool(ops) or (self.reads_wait and ops is not None)
        try:
            yield
        finally:
            self._controls, self.reads_wait = outer

    @contextmanager
    def body(self) -> Iterator[None]:
        """Record a body: its operations do not wait for the control inputs of outer blocks."""
        outer, self._controls = self._controls, []
        try:
            yield
        finally:
            self._controls = outer

    @contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Use the registered rule of a name for operations of these types created inside.

        `gradients` finds the rule when it runs. Raises TypeError unless the map is a dict of str to
        str, and warns of an operation type that does not exist.
        """
        if not isinstance(op_type_map, dict):
            raise TypeError(
                "gradient_override_map: expected a dict of op type to rule name, got "
                f"{type(op_type_map).__name__}"
            )
        for key, rule in op_type_map.items():
            if not isinstance(key, str) or not isinstance(rule, str):
                raise TypeError(
                    f"gradient_override_map: expected names of op types and rules, got "
                    f"{key!r}: {rule!r}"
                )
        entries = {str(ALIASES.get(key, key)): rule for key, rule in op_type_map.items()}
        for key in entries:
            if key not in OPS and not key.endswith("Grad"):
                text = f"gradient_override_map: there is no op type '{key}'{did_you_mean(key, OPS)}"
                warnings.warn(text, stacklevel=3)
        self._overrides.append(entries)
        try:
            yield
        finally:
            self._overrides.pop()

    # --- collections

    def add_to_collection(self, name: str, value: Any) -> None:
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add a value to each of several collections, once each; one name is accepted too."""
        for name in [names] if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_all_collection_keys(self) -> list[str]:
        """Return the names of the collections that are not empty."""
        return [name for name, items in self._collections.items() if items]

    def clear_collection(self, name: str) -> None:
        """Empty a collection."""
        self._collections.pop(name, None)

    def get_collection_ref(self, name: str) -> list[Any]:
        return self._collections.setdefault(name, [])

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """Return a copy; with `scope`, of the items whose name this regular expression matches."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        return [x for x in items if hasattr(x, "name") and re.match(scope, x.name)]

    # --- fetches and feeds

    def as_graph_element(self, item: Any) -> Any:
        """Return the Tensor or Operation of an object or name; ValueError for another graph."""
        if isinstance(item, str):
            try:
                if ":" in item:
                    return self.get_tensor_by_name(item)
                return self.get_operation_by_name(item)
            except KeyError as error:
                _, _, reason = error.args[0].partition(": ")
                raise ValueError(
                    f"as_graph_element: the name {item!r} is not an element of this graph: {reason}"
                ) from None
        element = getattr(item, "_graph_element", item)
        graph = getattr(element, "graph", None)
        if not isinstance(graph, Graph):
            raise TypeError(
                f"as_graph_element: expected a tensor, an operation or a name, got {item!r}"
            )
        if graph is not self:
            raise ValueError(f"as_graph_element: {item!r} is not an element of this graph")
        return element


class _Stack(threading.local):
    """The default graphs of this thread, innermost last."""

    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.eager = False
        self.in_function = False  # a `tf.function` is being traced in eager mode


_stack = _Stack()
_global_graph = Graph()


def get_default_graph() -> Graph:
    """Return the graph to which new operations are appended."""
    return _stack.graphs[-1] if _stack.graphs else _global_graph


def reset_default_graph() -> None:
    """Replace the default graph by an empty one; invalid inside `with graph.as_default()`."""
    global _global_graph
    if _stack.graphs:
        raise AssertionError("reset_default_graph: not possible inside `with graph.as_default()`")
    _global_graph = Graph()


@contextmanager
def name_scope(
    name: str | None, default_name: str | None = None, values: Sequence[Any] | None = None
) -> Iterator[str]:
    """Prefix the names of operations created inside; `default_name` is used if `name` is None.

    The scope belongs to the graph of the tensors among `values`, which becomes the default graph.
    """
    for part in (name, default_name):
        if part is not None and not isinstance(part, str):
            raise TypeError(f"name_scope: expected a str for name, got {part!r}")
    if name is None and default_name is None and values is not None:
        raise ValueError("name_scope: expected name or default_name, got None for both")
    graphs = {x.graph for x in values or () if isinstance(getattr(x, "graph", None), Graph)}
    if len(graphs) > 1:
        raise ValueError("name_scope: expected values of the same graph, got values of several")
    inside = graphs.pop().as_default() if graphs else nullcontext(get_default_graph())
    with inside as graph, graph.name_scope(default_name if name is None else name) as scope:
        yield scope


def _of_default(name: str, arguments: str) -> Any:
    def function(**given: Any) -> Any:
        return getattr(get_default_graph(), name)(*given.values())

    return taking(arguments, name, f"Call `Graph.{name}` of the default graph.")(function)


add_to_collection = _of_default("add_to_collection", "name value")
add_to_collections = _of_default("add_to_collections", "names value")
get_collection = _of_default("get_collection", "key scope=None")
get_collection_ref = _of_default("get_collection_ref", "key")
__all__ = public_names(globals())
