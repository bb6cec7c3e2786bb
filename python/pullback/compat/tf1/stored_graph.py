"""A graph as plain data, for saved models and `.meta` files: JSON, no pickle.

`Stored` writes the operations of a graph in order, each with its attributes, its inputs by name and
what is known of its outputs; `rebuilt` makes them again through `Graph.create`, so that their rows
compute them as before. What holds a Python function (py_func, a dataset, an optimizer of the
program) cannot be written; it is left out with everything made from it, and `Stored.missing` says
why. A gradient rule of `custom_gradient` is a function too: the operation is written without it,
and a gradient that reaches it after loading is a LookupError.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import _core
from .bodies import Piece
from .choice_ops import _Bound
from .copies import outputs_like
from .create import core_constant
from .dtypes import DType, as_dtype, string
from .graph import Graph
from .iterators import Iterator, Spec, leaves_of
from .opdef import OPS
from .operation import Operation
from .optimizer import Optimizer
from .script_ops import _raw
from .shapes import TensorShape, as_dims
from .tensor import SymbolicTensor
from .texts import decoded, encoded
from .variables import Variable

__all__ = ["Stored", "rebuilt"]


class NotStorableError(Exception):
    """What cannot be written, and why."""


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
        """A value as JSON: itself, or one entry that says what it is."""
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, list):
            return [self.encode(x) for x in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(x) for x in value]}
        if isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
            return {"dict": {k: self.encode(x) for k, x in value.items()}}
        if isinstance(value, slice):
            return {"slice": [self.encode(x) for x in (value.start, value.stop, value.step)]}
        if type(value) in _optimizers():
            return {"optimizer": type(value).__name__}  # its rule; the state is in variables
        if isinstance(value, Iterator):  # without its dataset: its elements can be fed
            specs = [[s.dtype.name, s.dims] for s in leaves_of(value._element)]
            return {"iterator": [specs, self.encode(value._handle)]}
        if isinstance(value, _Bound):
            return {"bound": value.at}
        if value is Ellipsis:
            return {"ellipsis": True}
        if isinstance(value, (DType, np.dtype)):
            return {"dtype": value.name}
        if isinstance(value, TensorShape):
            return {"shape": value._dims}
        if isinstance(value, _core.Tensor):
            return {"constant": self.encode(value.numpy())}
        if isinstance(value, bytes) or (isinstance(value, np.ndarray) and value.dtype == object):
            texts = np.vectorize(lambda b: b.decode("latin-1"), otypes=[object])(value)
            return {"texts": texts.tolist()}
        if isinstance(value, (np.ndarray, np.generic)):
            data = base64.b64encode(value.tobytes()).decode()
            return {"array": [value.dtype.str, np.shape(value), data]}
        if isinstance(value, SymbolicTensor):
            self._require(value.op)
            return {"tensor": value.name}
        if isinstance(value, Variable):
            if value.op.type != "VariableV2" or value.op in self.missing:
                raise NotStorableError(f"the variable '{value.name}', which cannot be stored")
            return {"variable": value.op.name}
        if isinstance(value, Operation):
            self._require(value)
            return {"operation": value.name}
        if isinstance(value, Piece):
            parts = (value.arguments, value.results, value.ops, value.captured, value.controls)
            return {"body": [self.encode(part) for part in parts]}
        text = (
            f"the function {value.__qualname__}"
            if hasattr(value, "__qualname__")
            else (f"an object of type {type(value).__name__}")
        )
        raise NotStorableError(f"{text}, which cannot be stored")


def _optimizers(kind: type[Optimizer] = Optimizer) -> list[type[Optimizer]]:
    """The optimizers of this package."""
    found = [c for sub in kind.__subclasses__() for c in (sub, *_optimizers(sub))]
    return [c for c in found if c.__module__ == f"{__package__}.train"]


def _made(name: str) -> Optimizer:
    kind = next(c for c in _optimizers() if c.__name__ == name)
    return kind.__new__(kind)  # the updates use its rule alone


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


class _Builder:
    """Makes the operations of a document in a graph, their names under a prefix."""

    def __init__(self, document: Mapping[str, Any], graph: Graph, scope: str) -> None:
        self.document, self.graph, self.scope = document, graph, scope
        self.variables: dict[str, Variable] = {}
        for name, data in document["variables"].items():
            v = self.variables[name] = object.__new__(Variable)
            v.trainable, v.validate_shape = data["trainable"], data["validate_shape"]
            v.constraint = None

    def all(self) -> None:
        graph = self.graph
        for data in self.document["operations"]:
            self._operation(data)
        for name, data in self.document["variables"].items():
            v = self.variables[name]
            v.initial_value, v._read = map(self._tensor, (data["initial_value"], data["read"]))
            v.initializer = self._op(data["initializer"])
        for name, items in self.document["collections"].items():
            graph.get_collection_ref(name).extend(map(self._decode, items))
        for name, count in self.document["names"].items():
            full = (self.scope + name).lower()
            graph._names[full] = max(count, graph._names.get(full, 0))
        graph.seed = self.document["seed"] if graph.seed is None else graph.seed
        graph._op_seeds.extend(self.document["op_seeds"])

    def _operation(self, data: Mapping[str, Any]) -> None:
        if data["type"] not in OPS:
            raise ValueError(f"there is no operation type '{data['type']}' in this version")
        attrs = {k: self._decode(v) for k, v in data["attrs"].items()}
        inputs, controls = map(self._tensor, data["inputs"]), map(self._op, data["controls"])
        name = f"{self.scope}{data['name']}/"  # as it is
        op = self.graph.create(OPS[data["type"]], [*inputs], attrs, name, data["kind"], controls)
        op.override = data["override"]
        kinds = [(as_dtype(d), None if s is None else tuple(s)) for d, s in data["outputs"]]
        self.graph.complete(op, outputs_like(op, kinds))
        for y, (_, dims) in zip(op.outputs, kinds, strict=True):
            if y.dims != dims:
                y.set_shape(dims)  # as the program has said
        if op.type == "VariableV2":
            attrs["variable"].handle = op.outputs[0]

    def _op(self, name: str) -> Operation:
        return self.graph.get_operation_by_name(self.scope + name)

    def _iterator(self, specs: Any, handle: Any) -> Iterator:
        made = Iterator(tuple(Spec(as_dtype(d), as_dims(s)) for d, s in specs))
        made._handle = self._decode(handle)
        return made

    def _tensor(self, name: str) -> SymbolicTensor:
        return self.graph.get_tensor_by_name(self.scope + name)

    def _decode(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._decode(x) for x in value]
        if not isinstance(value, dict):
            return value
        ((kind, data),) = value.items()
        if kind == "dict":
            return {k: self._decode(x) for k, x in data.items()}
        make: Any = {
            "array": lambda: np.frombuffer(base64.b64decode(data[2]), data[0]).reshape(data[1]),
            "constant": lambda: core_constant(self._decode(data)),
            "texts": lambda: core_constant(encoded(np.vectorize(_bytes, otypes=[object])(data))),
            "tuple": lambda: tuple(map(self._decode, data)),
            "slice": lambda: slice(*map(self._decode, data)),
            "ellipsis": lambda: Ellipsis,
            "iterator": lambda: self._iterator(*data),
            "optimizer": lambda: _made(data),
            "bound": lambda: _Bound(data),
            "dtype": lambda: as_dtype(data),
            "shape": lambda: TensorShape(data),
            "tensor": lambda: self._tensor(data),
            "operation": lambda: self._op(data),
            "variable": lambda: self.variables[data],
            "body": lambda: Piece(*map(self._decode, data)),
        }[kind]
        return make()


def rebuilt(
    document: Mapping[str, Any], graph: Graph, scope: str | None, who: str
) -> dict[str, Variable]:
    """Makes the operations of a document in a graph, under the names that they had; gives its
    variables by name."""
    prefix = f"{scope}/" if scope else ""
    taken = [d["name"] for d in document["operations"] if prefix + d["name"] in graph._by_name]
    if taken:
        raise ValueError(
            f"{who}: expected a graph without these names, got one that has '{taken[0]}'; load "
            "into an empty tf.Graph(), or give import_scope"
        )
    builder = _Builder(document, graph, prefix)
    with graph.as_default(), graph.control_dependencies(None):
        builder.all()
    return builder.variables
