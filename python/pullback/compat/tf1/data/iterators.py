"""`data.Iterator`: the elements of a dataset as inputs of a run or of an eager program.

The values of `get_next` are taken before a run and fed to it, like the draws of candidates, so the
run is traced as any other. A session stores the position of an iterator in a slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from weakref import WeakValueDictionary

import numpy as np

from .... import _core
from .._graph import mode
from .._graph.create import convert_to_tensor
from .._graph.graph import get_default_graph
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.shapes import Dims, TensorShape, as_dims
from .._graph.strings import decoded, encoded
from .._graph.tensor import Tensor, ancestors, as_eager
from ..dtypes import DType, as_dtype, string
from ..errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError


@dataclass(frozen=True)
class Spec:
    """Dtype and static dimensions of one component of the elements."""

    dtype: DType
    dims: Dims


def each(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to each leaf of nested tuples and dicts, whose keys are sorted.

    Lists are leaves.
    """
    if isinstance(tree, Mapping):
        kind: Any = type(tree)
        return kind((key, each(function, tree[key])) for key in sorted(tree))
    if isinstance(tree, tuple):
        entries = [each(function, entry) for entry in tree]
        return type(tree)(*entries) if hasattr(tree, "_fields") else tuple(entries)
    return function(tree)


def leaves_of(tree: Any) -> list[Any]:
    """Return the leaves in the order of `each`."""
    found: list[Any] = []
    each(found.append, tree)
    return found


def packed(tree: Any, leaves: Iterable[Any]) -> Any:
    """Return the same structure with other leaves."""
    left = iter(leaves)
    return each(lambda _: next(left), tree)


class Elements:
    """Base class of datasets and iterators; `_element` is a pytree of Specs."""

    _element: Any
    output_types: Any = property(lambda self: each(lambda s: s.dtype, self._element))
    output_shapes: Any = property(lambda self: each(lambda s: TensorShape(s.dims), self._element))
    output_classes: Any = property(lambda self: each(lambda s: Tensor, self._element))

    def _check_like(self, other: Elements, who: str) -> None:
        if self.output_types != other.output_types:
            raise TypeError(
                f"{who}: expected a dataset of types {self.output_types}, got one of "
                f"{other.output_types}"
            )

    def _check_shapes(self, other: Elements, who: str) -> None:
        pairs = zip(leaves_of(self.output_shapes), leaves_of(other.output_shapes), strict=True)
        if not all(a.is_compatible_with(b) for a, b in pairs):
            raise TypeError(
                f"{who}: expected a dataset of shapes {self.output_shapes}, got one of "
                f"{other.output_shapes}"
            )


def specs_of(types: Any, shapes: Any) -> Any:
    """Combine a pytree of dtypes and one of shapes, which may be None, to a pytree of Specs."""
    count = len(leaves_of(types))
    known = [None] * count if shapes is None else leaves_of(_shaped(types, shapes))
    left = iter(known)
    return each(lambda t: Spec(as_dtype(t), as_dims(next(left))), types)


def _shaped(types: Any, shapes: Any) -> Any:
    """Return the shapes in the structure of the types, in which a shape is a leaf."""
    if isinstance(types, Mapping):
        return {key: _shaped(t, shapes[key]) for key, t in types.items()}
    if isinstance(types, tuple):
        return tuple(_shaped(t, s) for t, s in zip(types, shapes, strict=True))
    return TensorShape(shapes)


def parts_of(element: Any, given: Any) -> list[Any]:
    """Convert the components that a generator yields to arrays that fit the Specs."""
    if isinstance(element, Spec):
        return [_fitting(given, element)]
    keyed, many = isinstance(element, Mapping), isinstance(given, (tuple, list))
    if keyed and isinstance(given, Mapping) and element.keys() <= given.keys():
        return [p for key, e in element.items() for p in parts_of(e, given[key])]
    if not keyed and many and len(element) == len(given):
        return [p for e, x in zip(element, given, strict=True) for p in parts_of(e, x)]
    raise InvalidArgumentError(
        None, f"from_generator: expected elements like {element!r:.120}, got {given!r:.60}"
    )


def _fitting(value: Any, spec: Spec) -> Any:
    try:
        text = spec.dtype == string
        array = encoded(value) if text else np.array(value, spec.dtype.dtype)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            None, f"from_generator: expected {spec.dtype.name}, got {value!r:.60}: {error}"
        ) from None
    if not TensorShape(spec.dims).is_compatible_with(array.shape):
        raise InvalidArgumentError(
            None, f"from_generator: expected shape {TensorShape(spec.dims)}, got {array.shape}"
        )
    return array


class Iterator(Elements):
    """An iterator over the elements of a dataset.

    It is created by a dataset's methods `make_…_iterator`, or by `from_structure` with
    `make_initializer` for datasets of one structure in turn.
    """

    def __init__(self, element: Any, dataset: Any = None, one_shot: bool = False) -> None:
        self._element, self._dataset, self._one_shot = element, dataset, one_shot
        self._initializer: Any = None
        self._handle: Any = None
        if dataset is None or mode.executing_eagerly():
            self._rows = dataset and dataset._start({})
        elif one_shot:
            held = (op for op in ancestors(dataset._sources))
            bad = next((op for op in held if op.type in ("Placeholder", "VariableV2")), None)
            if bad is not None:
                raise ValueError(
                    f"make_one_shot_iterator: cannot capture a placeholder or variable, got "
                    f"'{bad.name}' ({bad.type}); use make_initializable_iterator"
                )
        else:
            self._initializer = self.make_initializer(dataset, "MakeIterator")

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:  # fmt: skip
        """Create an iterator without a dataset; `make_initializer` assigns one."""
        return Iterator(specs_of(output_types, output_shapes))

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Iterator:
        """Create an iterator that in each run is the one whose handle is fed."""
        made = Iterator(specs_of(output_types, output_shapes))
        made._handle = convert_to_tensor(string_handle, string)
        return made

    def string_handle(self, name: str | None = None) -> Any:
        """Return the string that identifies this iterator, as a tensor."""
        text = f"iterator {id(self)}".encode()
        _by_handle[text] = self
        attrs = {"value": _core.constant(encoded(text)), "dtype": string, "iterator": self}
        record = get_default_graph().record("Const", (), attrs, name or "Handle", (string, ()))
        return record.outputs[0]

    @property
    def initializer(self) -> Operation:
        """The operation that restarts the dataset."""
        if self._initializer is None:
            raise ValueError(
                "Iterator.initializer: expected an iterator of make_initializable_iterator, got "
                "one that does not have an initializer; run the operation of make_initializer"
            )
        initializer: Operation = self._initializer
        return initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """Create an operation that starts a dataset of the iterator's types."""
        self._check_like(dataset, "Iterator.make_initializer")
        self._check_shapes(dataset, "Iterator.make_initializer")
        attrs = {"iterator": self, "dataset": dataset}
        record = get_default_graph().record
        return record("MakeIterator", dataset._sources, attrs, name or "make_initializer")

    def get_next(self, name: str | None = None) -> Any:
        """Return the next element as tensors, new in every run; OutOfRangeError at the end."""
        if mode.executing_eagerly():
            try:
                return next(self)
            except StopIteration:
                return _ended()
        outputs = ((s.dtype, s.dims) for s in leaves_of(self._element))
        attrs = {"iterator": self}
        op = get_default_graph().record("IteratorGetNext", (), attrs, name, *outputs)
        return packed(self._element, op.outputs)

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        if any(s.dtype == string for s in leaves_of(self._element)):
            raise TypeError("Iterator: expected elements of numbers in eager mode, got strings")
        return packed(self._element, (as_eager(_core.constant(a)) for a in next(self._rows)))

    next = __next__


_by_handle: WeakValueDictionary[bytes, Iterator] = WeakValueDictionary()


def _ended() -> NoReturn:
    raise OutOfRangeError(None, "get_next: End of sequence: the iterator has no more elements")


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    slot, dataset = run.slot_of(op.attrs["iterator"]), op.attrs["dataset"]

    def begin(*values: Any) -> None:
        arrays = (v.numpy() for v in values)
        slot.core = dataset._start(dict(zip(op.inputs, arrays, strict=True)))

    run.effects.append((begin, list(inputs)))
    return []


def _next(session: Any, feeds: Any, generator: Any, iterator: Iterator) -> list[Any]:
    if iterator._handle is not None:
        text = decoded(session._results([iterator._handle], feeds)[0].numpy())
        if text not in _by_handle:
            raise InvalidArgumentError(
                None,
                f"get_next: expected the string_handle of an iterator of this graph, got {text!r}",
            )
        iterator = _by_handle[text]
    slot = session._slot(iterator)
    with slot.lock:  # one thread at a time
        if slot.core is None:
            if not iterator._one_shot:
                raise FailedPreconditionError(
                    None,
                    "get_next: the iterator has not been initialized in this session; run its "
                    "initializer",
                )
            sources = iterator._dataset._sources
            values = (x.numpy() for x in (session._results(sources, []) if sources else ()))
            slot.core = iterator._dataset._start(dict(zip(sources, values, strict=True)))
        for element in slot.core:
            found: list[Any] = element
            return found
    return _ended()


define("MakeIterator", execute=_execute, flows=False, public="Iterator.make_initializer")
define("IteratorGetNext", execute=lambda run, op, inputs: [], flows=False, sampled=_next,
       public="Iterator.get_next")  # fmt: skip
