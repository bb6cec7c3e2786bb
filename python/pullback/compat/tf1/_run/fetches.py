"""Fetches and feeds of `Session.run`: pytrees of fetches, and feeds that are checked one by one.

While debugging, fetched values that may be fed back are stored for pb.explain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .... import _core
from ...._explain.ancestry import Place
from .._graph.graph import Graph
from .._graph.operation import Operation
from .._graph.strings import decoded, encoded
from .._graph.tensor import SymbolicTensor as Tensor
from .._ops.indexed_slices import IndexedSlices, IndexedSlicesValue, mapped
from ..dtypes import string


def flat_fetches(graph: Graph, fetches: Any) -> list[Tensor | Operation]:
    """Return the tensors and operations in a pytree."""
    leaves: list[Tensor | Operation] = []
    mapped(lambda fetch: leaves.append(_element(graph, fetch)), fetches)
    return leaves


def _element(graph: Graph, fetch: Any) -> Any:
    if fetch is None:
        raise TypeError(
            "run: expected tensors or operations as fetches, got None; a gradient is None if there "
            "is no differentiable path"
        )
    try:
        return graph.as_graph_element(fetch)
    except TypeError:
        raise TypeError(
            "run: expected tensors, operations, variables, names, or a list, tuple or dict of "
            f"these as fetches, got {fetch!r:.60} of type {type(fetch).__name__}"
        ) from None


def as_value(element: Tensor | Operation, result: Any) -> Any:
    """Convert a result: scalars to NumPy scalars, arrays to writable copies."""
    if isinstance(element, Operation):
        return None
    array = result.numpy()
    if element.dtype == string:
        return decoded(array)
    return array[()] if array.ndim == 0 else array.copy()


def _entries(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Return the fed values tensor by tensor; a key may be a nested tuple."""
    if isinstance(key, IndexedSlices):
        key = tuple(x for x in (key.values, key.indices, key.dense_shape) if x is not None)
        value = value[: len(key)] if isinstance(value, IndexedSlicesValue) else value
    if not isinstance(key, tuple):
        yield key, value
    elif isinstance(value, (tuple, list)) and len(value) == len(key):
        for inner in zip(key, value, strict=True):
            yield from _entries(*inner)
    else:
        raise ValueError(
            f"run: expected {len(key)} values in feed_dict for a key of {len(key)} tensors, got "
            f"{value!r:.60}"
        )


def feed_pairs(graph: Graph, feed_dict: Any) -> list[tuple[Tensor, np.ndarray[Any, Any]]]:
    """Return the fed tensors and their values as arrays of the right dtype, in order."""
    if feed_dict is None:
        return []
    if not isinstance(feed_dict, Mapping):
        raise TypeError(
            f"run: expected a dict of tensor to value for feed_dict, got {feed_dict!r:.60}"
        )
    entries = [e for item in feed_dict.items() for e in _entries(*item)]
    tensors = [fed_tensor(graph, key) for key, _ in entries]
    arrays = (feed_array(x, value) for x, (_, value) in zip(tensors, entries, strict=True))
    return list(dict(zip(tensors, arrays, strict=True)).items())


def fed_tensor(graph: Graph, key: Any) -> Tensor:
    try:
        # The handle of a variable, so that all its reads have the fed value.
        tensor = graph.as_graph_element(getattr(key, "handle", key))
        if isinstance(tensor, Tensor):
            return tensor
        reason = "it is an operation"
    except (TypeError, ValueError) as error:
        reason = str(error).removeprefix("as_graph_element: ")
    raise TypeError(f"run: cannot interpret feed_dict key {key!r:.60} as a tensor: {reason}")


def feed_array(tensor: Tensor, value: Any) -> np.ndarray[Any, Any]:
    """Convert a fed value to an array; TypeError and ValueError as in TensorFlow."""
    if isinstance(value, (Tensor, _core.Tensor, _core.Variable)) or hasattr(value, "_as_tensor"):
        raise TypeError(
            f"run: expected a value for '{tensor.name}' in feed_dict, got the tensor "
            f"{value!r:.60}; run it and feed the result"
        )
    wish = tensor.dtype.dtype
    if tensor.dtype == string:
        value = encoded(value, "run")
    if isinstance(value, np.ndarray) and value.dtype == wish:
        array = value
    else:
        try:
            array = np.asarray(value, dtype=wish)
        except (ValueError, TypeError, OverflowError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(
                f"run: cannot feed '{tensor.name}', which is {tensor.dtype.name} of shape "
                f"{tensor.shape}: {error}"
            ) from None
        if isinstance(value, int) and array != value:
            raise TypeError(
                f"run: expected a {tensor.dtype.name} for '{tensor.name}', got {value}, which it "
                "cannot represent"
            )
    dims = tensor.dims
    if dims is None or array.shape == dims:
        return array
    fits = (d is None or d == n for d, n in zip(dims, array.shape, strict=False))
    if len(dims) != array.ndim or not all(fits):
        raise ValueError(
            f"run: cannot feed value of shape {array.shape} for tensor '{tensor.name}', which has "
            f"shape {tensor.shape}"
        )
    return array


_MOST, _LARGEST = 256, 10_000  # numbers of stored results, and of elements of one


class Fetch(NamedTuple):
    """A fetched tensor with its value, source line and the number of operations at that time."""

    tensor: Tensor
    value: Any
    place: Place | None
    operations: int


def note_run(graph: Any, feeds: Iterable[Any], elements: Iterable[Any], values: list[Any]) -> None:
    """Store the results of a run, and which of its feeds were earlier results."""
    for tensor, array in feeds:
        graph.fed_results[tensor] = [fetch for fetch in graph.results if _same(fetch.value, array)]
    site = _core.current_site()
    place = None if site is None else Place(*site)
    for element, value in zip(elements, values, strict=True):
        if isinstance(element, Tensor) and np.size(value) <= _LARGEST:
            fetch = Fetch(element, np.array(value), place, len(graph.get_operations()))
            graph.results = [*graph.results[1 - _MOST :], fetch]


def _same(fetched: Any, array: Any) -> bool:
    """Test whether a value is a fetched array; 0 and 1 are too frequent to count."""
    if fetched.shape != array.shape or fetched.dtype.kind != array.dtype.kind:
        return False
    telling = fetched.size > 1 or (fetched.size == 1 and fetched.item() not in (0, 1))
    return telling and bool((fetched == array).all())


def fetched_results(x: Tensor) -> list[Fetch]:
    """Return the fetched values that were fed to a placeholder last, or that a constant may be."""
    if x.op.type != "Const":
        return list(x.graph.fed_results.get(x, []))
    array = x.op.attrs["value"].numpy()
    seen = (fetch for fetch in x.graph.results if fetch.operations <= x.op.number)
    return [fetch for fetch in seen if _same(fetch.value, array)]
