"""Trees as JSON: `Writer` and `Reader`, which mirror each other.

Arrays are collected beside the JSON, which contains their numbers. Reading runs no code: a class is
taken from pullback or from the caller, never from its name in the file.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any

import numpy as np

from .. import _core, optimizers
from .._core import Tensor, Variable
from ..optimizers import Optimizer
from ..random import Generator

_NAMES = frozenset(optimizers.__all__)
_KINDS = frozenset(
    [
        "float",
        "complex",
        "tuple",
        "dict",
        "OrderedDict",
        "namedtuple",
        "registered",
        "fields",
        "variable",
        "tensor",
        "scalar",
        "array",
        "generator",
        "schedule",
        "optimizer",
    ]
)


def _field_names(cls: type) -> list[str]:
    """Return the names of all fields of a dataclass or a class of attrs, else an empty list."""
    own = getattr(cls, "__attrs_attrs__", None)
    own = getattr(cls, "__dataclass_fields__", {}).values() if own is None else own
    return [one.name for one in own]


class Writer:
    """Values as JSON. Arrays are collected in a list; the JSON contains their numbers."""

    def __init__(self) -> None:
        self.arrays: list[tuple[Any, str]] = []  # with the dtypes of the tensors
        self.paths: list[str] = []
        self._numbers: dict[int, int] = {}  # of objects that are saved once, by id
        self._classes: dict[str, type] = {}

    def written(self, x: Any, path: str) -> Any:
        if x is None or type(x) in (str, int, bool):
            return x
        if type(x) is float:
            return x if isfinite(x) else {"type": "float", "value": str(x)}
        if type(x) is complex:
            return {"type": "complex", "value": [str(x.real), str(x.imag)]}
        if type(x) is list:
            return self._entries(x, path)
        if isinstance(x, (Variable, Optimizer, Generator)):
            if id(x) in self._numbers:
                return {"type": "same", "number": self._numbers[id(x)]}
            number = self._numbers[id(x)] = len(self._numbers)
            return {"number": number, **self._object(x, path)}
        if isinstance(x, Tensor):
            return {"type": "tensor", **self._array(x, path)}
        if isinstance(x, np.generic):
            return {"type": "scalar", "array": self._stored(np.asarray(x), path)}
        if isinstance(x, np.ndarray):
            return {"type": "array", "array": self._stored(x, path)}
        return self._container(x, path)

    def _entries(self, entries: Iterable[Any], path: str) -> list[Any]:
        return [self.written(entry, f"{path}[{i}]") for i, entry in enumerate(entries)]

    def _container(self, x: Any, path: str) -> dict[str, Any]:
        cls = type(x)
        if cls is tuple:
            return {"type": "tuple", "entries": self._entries(x, path)}
        if cls in (dict, OrderedDict):
            pairs = [
                [self.written(key, path), self.written(value, f"{path}[{key!r}]")]
                for key, value in x.items()
            ]
            return {"type": cls.__name__, "entries": pairs}
        parts = _core.children_of(x)
        if parts is not None:
            children = self._entries(parts[0], path)
            extra = self.written(parts[1], f"{path}: extra")
            return {"type": "registered", **self._class(x), "entries": children, "extra": extra}
        if isinstance(x, tuple) and hasattr(cls, "_fields"):
            entries = self._entries(x, path)
            return {"type": "namedtuple", **self._class(x), "entries": entries}
        names = _field_names(cls)
        if names:
            fields = {name: self.written(getattr(x, name), f"{path}.{name}") for name in names}
            return {"type": "fields", **self._class(x), "entries": fields}
        raise TypeError(
            f"save: expected arrays, numbers, strings, None or containers of them at {path}, got "
            f"{_core.shown(x)}"
        )

    def _object(self, x: Any, path: str) -> dict[str, Any]:
        if isinstance(x, Variable):
            text = {"name": x.name, "trainable": x.trainable}
            return {"type": "variable", **text, **self._array(x.read(), path)}
        if isinstance(x, Generator):
            return {"type": "generator", "state": x.state_dict()}
        state = self.written(x.state_dict(), f"{path}: state")
        return {"type": "optimizer", **self._call(x, path), "state": state}

    def _call(self, x: Any, path: str) -> dict[str, Any]:
        """Return the call that makes an optimizer or a schedule."""
        from inspect import signature

        arguments = {}
        for name in signature(type(x)).parameters:
            value, where = getattr(x, name), f"{path}.{name}"
            schedule = callable(value) and type(value).__name__ in _NAMES
            arguments[name] = (
                {"type": "schedule", **self._call(value, where)}
                if schedule and not isinstance(value, Optimizer)
                else self.written(value, where)
            )
        return {**self._class(x), "arguments": arguments}

    def _class(self, x: Any) -> dict[str, str]:
        cls = type(x)
        if self._classes.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(
                f"save: expected classes of distinct names, got two classes {cls.__name__!r}"
            )
        return {"class": cls.__name__}

    def _array(self, x: Tensor, path: str) -> dict[str, Any]:
        wide = _core.cast(x, "float32") if x.dtype == "bfloat16" else x  # NumPy has no bfloat16
        dtype = str(x.dtype)
        return {"dtype": dtype, "array": self._stored(wide.numpy(), path, dtype)}

    def _stored(self, array: Any, path: str, dtype: str = "") -> int:
        if array.dtype.hasobject:
            raise ValueError(f"save: expected numbers at {path}, got an array of Python objects")
        self.arrays.append((array, dtype or str(array.dtype)))
        self.paths.append(path)
        return len(self.arrays) - 1


class Reader:
    """The values of the JSON of a Writer."""

    def __init__(self, name: str, array: Callable[[int], Any], classes: dict[str, type]) -> None:
        self._name = name
        self._stored = array
        self._classes = classes
        self._objects: dict[int, Any] = {}

    def read(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.read(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        if node["type"] == "same":
            return self._objects[node["number"]]
        if node["type"] not in _KINDS:
            raise ValueError(
                f"load: {self._name!r}: expected a structure written by save, got an entry of type "
                f"{node['type']!r}"
            )
        made = getattr(self, f"_{node['type']}")(node)
        if "number" in node:
            self._objects[node["number"]] = made
        return made

    def _float(self, node: Any) -> float:
        return float(node["value"])

    def _complex(self, node: Any) -> complex:
        real, imaginary = map(float, node["value"])
        return complex(real, imaginary)

    def _tuple(self, node: Any) -> tuple[Any, ...]:
        return tuple(self.read(node["entries"]))

    def _dict(self, node: Any) -> dict[Any, Any]:
        return {self.read(key): self.read(value) for key, value in node["entries"]}

    def _OrderedDict(self, node: Any) -> OrderedDict[Any, Any]:  # noqa: N802
        return OrderedDict(self._dict(node))

    def _namedtuple(self, node: Any) -> Any:
        return self._class(node)(*self.read(node["entries"]))

    def _registered(self, node: Any) -> Any:
        children, extra = tuple(self.read(node["entries"])), self.read(node["extra"])
        return _core.object_of_children(self._class(node), children, extra)

    def _fields(self, node: Any) -> Any:
        cls = self._class(node)
        names = _field_names(cls)
        if sorted(names) != sorted(node["entries"]):
            raise ValueError(
                f"load: {self._name!r}: expected the fields {', '.join(node['entries'])} of "
                f"{cls.__name__}, got a class with {', '.join(names) or 'none'}"
            )
        made = cls.__new__(cls)
        for name in names:
            object.__setattr__(made, name, self.read(node["entries"][name]))
        return made

    def _variable(self, node: Any) -> Variable:
        return Variable(self._tensor(node), trainable=node["trainable"], name=node["name"])

    def _tensor(self, node: Any) -> Tensor:
        return _core.cast(_core.constant(self._array(node)), node["dtype"])

    def _scalar(self, node: Any) -> Any:
        return self._array(node)[()]

    def _array(self, node: Any) -> Any:
        return self._stored(node["array"])

    def _generator(self, node: Any) -> Generator:
        made = Generator(0)
        made.load_state_dict(node["state"])
        return made

    def _schedule(self, node: Any) -> Any:
        arguments = {name: self.read(value) for name, value in node["arguments"].items()}
        return self._class(node)(**arguments)

    def _optimizer(self, node: Any) -> Any:
        made = self._schedule(node)
        made.load_state_dict(self.read(node["state"]))
        return made

    def _class(self, node: Any) -> Any:
        name = node["class"]
        own = getattr(optimizers, name) if name in _NAMES else None
        cls = own if node["type"] in ("optimizer", "schedule") and own else self._classes.get(name)
        if cls is None:
            raise ValueError(
                f"load: {self._name!r}: expected the class {name} of an object in the file among "
                f"classes, got {', '.join(self._classes) or 'none'}; pass classes=[{name}]"
            )
        return cls
