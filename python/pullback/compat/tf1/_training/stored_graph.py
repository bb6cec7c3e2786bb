"""A graph as plain data, for saved models and `.meta` files: JSON, no pickle.

`Stored` writes the operations of a graph in order, each with its attributes, the names of its
inputs and the static part of its outputs. `rebuilt` creates them again through `Graph.create`, so
that their rows compute them as before. Operations with a Python function (py_func, a dataset, a
user-defined optimizer) cannot be stored. They are left out with every operation that depends on
them, and `Stored.missing` has the reasons. A rule of `custom_gradient` is a function too: the
operation is stored without it, and a gradient that reaches it after loading is a LookupError.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .... import _core
from .._control.body import Subgraph
from .._control.recompute import outputs_like
from .._control.script_ops import _raw
from .._graph.create import core_constant
from .._graph.graph import Graph
from .._graph.opdef import OPS
from .._graph.operation import Operation
from .._graph.shapes import TensorShape, as_dims
from .._graph.strings import decoded, encoded
from .._graph.tensor import SymbolicTensor
from .._ops.indexing_ops import _Bound
from .._variables.variables import Variable
from ..data.iterators import Iterator, Spec, leaves_of
from ..dtypes import DType, as_dtype, string
from ..names import ROOT
from .optimizer import Optimizer


class NotStorableError(Exception):
    """An operation that cannot be stored, with the reason."""


class Stored:
    """The data of a graph, `document`; `missing` has the reason of each operation left out."""

    def __init__(self, graph: Graph) -> None:
        self._written: dict[Operation, None] = {}
        self.missing: dict[Operation, str] = {}
        operations = []
        for op in graph._operations:
            try:
                operations.append(self._operation(op))
                self._written[op] = None
            except NotStorableError as error:
                self.missing[op] = str(error)
        every = [op.attrs["variable"] for op in self._written if op.type == "VariableV2"]
        self.document = {
            "operations": operations,
            "variables": {v.op.name: self._variable(v) for v in every},
            "collections": {k: self._some(items) for k, items in graph._collections.items()},
            "names": graph._names,
            "seed": graph.seed,
            "op_seeds": graph._op_seeds,
        }

    def _operation(self, op: Operation) -> dict[str, Any]:
        for before in (*(x.op for x in op.inputs), *op.control_inputs):
            self._require(before)
        if op.definition.type in _raw:
            raise NotStorableError(f"'{op.name}' is a raw_op, a Python function")
        if op.type == "VariableV2":
            self._require(op.attrs["variable"].initial_value.op)
        override = f"the rule of '{op.name}', which was not stored" if op.rule else op.override
        row = {
            "name": op.name,
            "type": op.definition.type,
            "kind": op.type,
            "inputs": [x.name for x in op.inputs],
            "controls": [c.name for c in op.control_inputs],
            "override": override,
            "outputs": [[y.dtype.name, y.dims] for y in op.outputs],
        }
        attrs = dict(op.attrs)
        if op.type == "Const" and attrs["dtype"] == string:
            attrs["value"] = decoded(attrs["value"].numpy())
        try:
            return row | {"attrs": {k: self.encode(v) for k, v in attrs.items()}}
        except NotStorableError as error:
            raise NotStorableError(f"'{op.name}' ({op.type}) has {error}") from None

    def _variable(self, v: Variable) -> dict[str, Any]:
        return {
            "trainable": v.trainable, "validate_shape": v.validate_shape,
            "initial_value": v.initial_value.name, "initializer": v.initializer.name,
            "read": v._read.name,
        }  # fmt: skip

    def _some(self, items: list[Any]) -> list[Any]:
        found = []
        for item in items:
            try:
                found.append(self.encode(item))
            except NotStorableError:
                continue
        return found

    def _require(self, op: Operation) -> None:
        if op not in self._written:
            raise NotStorableError(self.missing.get(op, f"'{op.name}' is of another graph"))

    def encode(self, value: Any) -> Any:
        """Encode a value as JSON: itself, or a dict with one entry that names its kind."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.encode(x) for x in value]
        if isinstance(value, (SymbolicTensor, Operation)):
            self._require(value.op if isinstance(value, SymbolicTensor) else value)
        if isinstance(value, Variable) and (
            value.op.type != "VariableV2" or value.op in self.missing
        ):
            raise NotStorableError(f"the variable '{value.name}', which cannot be stored")
        for kind, (fits, data, _) in _KINDS.items():
            if fits(value):
                return {kind: data(self.encode, value)}
        name = getattr(value, "__qualname__", None)
        text = f"the function {name}" if name else f"an object of type {type(value).__name__}"
        raise NotStorableError(f"{text}, which cannot be stored")


def _optimizers(kind: type[Optimizer] = Optimizer) -> list[type[Optimizer]]:
    """Return the optimizers of this package."""
    found = [c for sub in kind.__subclasses__() for c in (sub, *_optimizers(sub))]
    return [c for c in found if c.__module__ == f"{ROOT}.train"]


def _made(name: str) -> Optimizer:
    kind = next(c for c in _optimizers() if c.__name__ == name)
    return kind.__new__(kind)  # the updates use its rule alone


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


class _Builder:
    """Create the operations of a document in a graph, with a prefix of their names."""

    def __init__(self, document: Mapping[str, Any], graph: Graph, scope: str, who: str) -> None:
        self.document, self.graph, self.scope, self.who = document, graph, scope, who
        self.variables: dict[str, Variable] = {}
        for name, data in document["variables"].items():
            v = self.variables[name] = object.__new__(Variable)
            v.trainable, v.validate_shape = data["trainable"], data["validate_shape"]
            v.constraint = None

    def all(self) -> None:
        graph = self.graph
        for data in self.document["operations"]:
            self._add(data)
        for name, data in self.document["variables"].items():
            v = self.variables[name]
            v.initial_value, v._read = map(self.tensor, (data["initial_value"], data["read"]))
            v.initializer = self.operation(data["initializer"])
        for name, items in self.document["collections"].items():
            graph.get_collection_ref(name).extend(map(self.decode, items))
        for name, count in self.document["names"].items():
            full = (self.scope + name).lower()
            graph._names[full] = max(count, graph._names.get(full, 0))
        graph.seed = self.document["seed"] if graph.seed is None else graph.seed
        graph._op_seeds.extend(self.document["op_seeds"])

    def _add(self, data: Mapping[str, Any]) -> None:
        if data["type"] not in OPS:
            raise ValueError(
                f"{self.who}: expected operations of this version, got one of type "
                f"'{data['type']}', which it does not have; save the graph with this version"
            )
        attrs = {k: self.decode(v) for k, v in data["attrs"].items()}
        inputs, controls = map(self.tensor, data["inputs"]), map(self.operation, data["controls"])
        name = f"{self.scope}{data['name']}/"  # as it is
        op = self.graph.create(OPS[data["type"]], [*inputs], attrs, name, data["kind"], controls)
        op.override = data["override"]
        kinds = [(as_dtype(d), None if s is None else tuple(s)) for d, s in data["outputs"]]
        self.graph.complete(op, outputs_like(op, kinds))
        for y, (_, dims) in zip(op.outputs, kinds, strict=True):
            if y.dims != dims:
                y.set_shape(dims)  # as set by the program
        if op.type == "VariableV2":
            attrs["variable"].handle = op.outputs[0]

    def operation(self, name: str) -> Operation:
        return self.graph.get_operation_by_name(self.scope + name)

    def iterator(self, specs: Any, handle: Any) -> Iterator:
        made = Iterator(tuple(Spec(as_dtype(d), as_dims(s)) for d, s in specs))
        made._handle = self.decode(handle)
        return made

    def tensor(self, name: str) -> SymbolicTensor:
        return self.graph.get_tensor_by_name(self.scope + name)

    def decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.decode(x) for x in value]
        if not isinstance(value, dict):
            return value
        ((kind, data),) = value.items()
        return _KINDS[kind][2](self, data)


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds)


def _strings(_: Any, value: Any) -> Any:
    return np.vectorize(lambda b: b.decode("latin-1"), otypes=[object])(value).tolist()


# By entry name: the test of a value, (encode, value) -> data, and (builder, data)
# -> value. The first kind that fits is used.
_KINDS: dict[str, tuple[Callable[..., bool], Callable[..., Any], Callable[..., Any]]] = {
    "tuple": (_is(tuple), lambda encode, x: [*map(encode, x)],
              lambda b, data: tuple(map(b.decode, data))),
    "dict": (lambda x: isinstance(x, Mapping) and all(isinstance(k, str) for k in x),
             lambda encode, x: {k: encode(v) for k, v in x.items()},
             lambda b, data: {k: b.decode(v) for k, v in data.items()}),
    "slice": (_is(slice), lambda encode, x: [*map(encode, (x.start, x.stop, x.step))],
              lambda b, data: slice(*map(b.decode, data))),
    # The rule; the state is in variables.
    "optimizer": (lambda x: type(x) in _optimizers(), lambda _, x: type(x).__name__,
                  lambda b, data: _made(data)),
    # Without the dataset: the elements can be fed.
    "iterator": (_is(Iterator), lambda encode, x: [
        [[s.dtype.name, s.dims] for s in leaves_of(x._element)], encode(x._handle)
    ], lambda b, data: b.iterator(*data)),
    "bound": (_is(_Bound), lambda _, x: x.at, lambda b, data: _Bound(data)),
    "ellipsis": (lambda x: x is Ellipsis, lambda _, x: True, lambda b, data: Ellipsis),
    "dtype": (_is(DType, np.dtype), lambda _, x: x.name, lambda b, data: as_dtype(data)),
    "shape": (_is(TensorShape), lambda _, x: x._dims, lambda b, data: TensorShape(data)),
    "constant": (_is(_core.Tensor), lambda encode, x: encode(x.numpy()),
                 lambda b, data: core_constant(b.decode(data))),
    "texts": (lambda x: isinstance(x, bytes) or (isinstance(x, np.ndarray) and x.dtype == object),
              _strings,
              lambda b, data: core_constant(encoded(np.vectorize(_bytes, otypes=[object])(data)))),
    "array": (_is(np.ndarray, np.generic),
              lambda _, x: [x.dtype.str, np.shape(x), base64.b64encode(x.tobytes()).decode()],
              lambda b, data: np.frombuffer(base64.b64decode(data[2]), data[0]).reshape(data[1])),
    "tensor": (_is(SymbolicTensor), lambda _, x: x.name, lambda b, data: b.tensor(data)),
    "variable": (_is(Variable), lambda _, x: x.op.name, lambda b, data: b.variables[data]),
    "operation": (_is(Operation), lambda _, x: x.name, lambda b, data: b.operation(data)),
    "body": (_is(Subgraph), lambda encode, x: [
        encode(part) for part in (x.arguments, x.results, x.ops, x.captured, x.controls)
    ], lambda b, data: Subgraph(*map(b.decode, data))),
}  # fmt: skip


def rebuilt(
    document: Mapping[str, Any], graph: Graph, scope: str | None, who: str
) -> dict[str, Variable]:
    """Create the operations of a document under their names; return the variables by name."""
    prefix = f"{scope}/" if scope else ""
    taken = [d["name"] for d in document["operations"] if prefix + d["name"] in graph._by_name]
    if taken:
        raise ValueError(
            f"{who}: expected a graph without these names, got one that has '{taken[0]}'; load "
            "into an empty tf.Graph(), or give import_scope"
        )
    builder = _Builder(document, graph, prefix, who)
    with graph.as_default(), graph.control_dependencies(None):
        builder.all()
    return builder.variables
