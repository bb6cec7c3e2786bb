"""Save pytrees to files and load them: `save` and `load`.

A file is a .npz archive: an array in NumPy's format for each tensor, and `tree.json` with the
structure. Reading it runs no code: a class is taken from pullback or from the caller, never from
its name in the file. `_Writer` and `_Reader` mirror each other; start there.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable
from io import BytesIO
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from .. import _core, optimizers
from .._core import Tensor, Variable
from ..optimizers import Optimizer
from ..random import Generator

__all__ = ["load", "save"]

Path: TypeAlias = str | os.PathLike[str]

_FORMAT = "pullback.save"
_VERSION = 1
_STRUCTURE = "tree.json"
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


def save(path: Path, tree: Any) -> None:
    """Save a pytree to a file that `load` reads.

    The file is a .npz archive with the structure as JSON; nothing is pickled. It is written under
    another name first and then renamed, so that `path` is complete at any time.

    Parameters
    ----------
    path : str or path-like
        Name of the file, which is replaced if it exists. No suffix is added.
    tree : pytree
        Tensors, variables, NumPy arrays, numbers, strings, None, optimizers and generators of
        `pb.random`, in dicts, lists, tuples, namedtuples, dataclasses, classes of attrs and
        registered classes. An object that occurs twice is saved once, if it is a variable, an
        optimizer or a generator.

    Raises
    ------
    TypeError
        If the tree contains another object, or an optimizer whose learning rate is a function. The
        message names its path in the tree.
    ValueError
        If two classes in the tree have the same name, or an array contains Python objects.
    OSError
        If the file cannot be written.

    See Also
    --------
    load, optimizers.Optimizer.state_dict

    Examples
    --------
    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> pb.save(path, {"w": pb.constant([1.0, 2.0]), "layers": (3, None)})
    >>> pb.load(path)
    {'w': Tensor([1., 2.], dtype=float32), 'layers': (3, None)}
    """
    import json  # these are slow to import
    from secrets import token_hex
    from zipfile import ZipFile

    writer = _Writer()
    structure = {"format": _FORMAT, "version": _VERSION, "tree": writer.written(tree, "tree")}
    name = os.fspath(path)
    temporary = f"{name}.{token_hex(4)}.tmp"
    try:
        with open(temporary, "xb") as file:
            with ZipFile(file, "w") as archive:
                archive.writestr(_STRUCTURE, json.dumps(structure, allow_nan=False))
                for i, array in enumerate(writer.arrays):
                    with archive.open(f"{i}.npy", "w", force_zip64=True) as entry:
                        np.lib.format.write_array(entry, array, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, name)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def load(path: Path, classes: Iterable[type] = ()) -> Any:
    """Load a pytree from a file that `save` has written.

    Parameters
    ----------
    path : str or path-like
        Name of the file.
    classes : iterable of type, optional
        Classes of the namedtuples, dataclasses and other objects in the tree, and of optimizers
        that are not in `pb.optimizers`. They are identified by `__name__`. Default: ().

    Returns
    -------
    pytree
        The saved tree. Variables, optimizers and generators are new objects. An optimizer finds its
        state by the names of the variables that it updates.

    Raises
    ------
    ValueError
        If the file is truncated or damaged, was not written by `save`, or contains a class that is
        not among `classes`. The message names the file.
    TypeError
        If an entry of `classes` is not a class.
    OSError
        If the file cannot be read.

    See Also
    --------
    save

    Examples
    --------
    >>> import tempfile, os
    >>> from typing import NamedTuple
    >>> class Layer(NamedTuple):
    ...     w: pb.Tensor
    ...     b: pb.Tensor | None
    >>> path = os.path.join(tempfile.mkdtemp(), "model.npz")
    >>> pb.save(path, [Layer(pb.ones(2), None)])
    >>> pb.load(path, classes=[Layer])
    [Layer(w=Tensor([1., 1.], dtype=float32), b=None)]
    """
    import json
    from zipfile import BadZipFile, ZipFile

    known: dict[str, type] = {}
    for cls in classes:
        if not isinstance(cls, type):
            raise TypeError(f"load: expected classes for classes, got {_core.shown(cls)}")
        if known.setdefault(cls.__name__, cls) is not cls:
            raise ValueError(f"load: expected classes of distinct names, got two {cls.__name__!r}")
    name = os.fspath(path)
    try:
        with ZipFile(name) as archive:
            contents = {entry: archive.read(entry) for entry in archive.namelist()}
    except (BadZipFile, EOFError, NotImplementedError) as error:
        raise ValueError(
            f"load: {name!r}: expected a file written by save, got one that is truncated, damaged "
            f"or of another format ({error})"
        ) from None
    try:
        structure = json.loads(contents[_STRUCTURE])
        if structure["format"] != _FORMAT:
            raise KeyError
    except (KeyError, TypeError, ValueError):
        raise ValueError(
            f"load: {name!r}: expected a file written by save, got an archive of "
            f"{', '.join(map(repr, sorted(contents)[:3])) or 'nothing'}; numpy.load reads archives "
            "of NumPy"
        ) from None
    if structure["version"] != _VERSION:
        raise ValueError(
            f"load: {name!r}: expected version {_VERSION} of the format, got "
            f"{structure['version']}; it was written by another version of pullback"
        )
    try:
        return _Reader(name, contents, known).read(structure["tree"])
    except KeyError as error:
        raise ValueError(
            f"load: {name!r}: expected a structure written by save, got one without {error}"
        ) from None


def _field_names(cls: type) -> list[str]:
    """Return the names of all fields of a dataclass or a class of attrs, else an empty list."""
    own = getattr(cls, "__attrs_attrs__", None)
    own = getattr(cls, "__dataclass_fields__", {}).values() if own is None else own
    return [one.name for one in own]


class _Writer:
    """Values as JSON. Arrays are collected in a list; the JSON contains their numbers."""

    def __init__(self) -> None:
        self.arrays: list[Any] = []
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
            return {"type": "tensor", **self._array(x)}
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
            return {"type": "variable", **text, **self._array(x.read())}
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

    def _array(self, x: Tensor) -> dict[str, Any]:
        wide = _core.cast(x, "float32") if x.dtype == "bfloat16" else x  # NumPy has no bfloat16
        return {"dtype": str(x.dtype), "array": self._stored(wide.numpy(), "tree")}

    def _stored(self, array: Any, path: str) -> int:
        if array.dtype.hasobject:
            raise ValueError(f"save: expected numbers at {path}, got an array of Python objects")
        self.arrays.append(array)
        return len(self.arrays) - 1


class _Reader:
    """The values of the JSON of a _Writer."""

    def __init__(self, name: str, contents: dict[str, bytes], classes: dict[str, type]) -> None:
        self._name = name
        self._contents = contents
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
        entry = f"{node['array']}.npy"
        try:
            return np.lib.format.read_array(BytesIO(self._contents[entry]), allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(
                f"load: {self._name!r}: expected an array in {entry!r}, got damaged data ({error})"
            ) from None

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
