"""What `Session.run` is asked for and given: nests of fetches, and feeds checked one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import _core
from .graph import Graph
from .operation import Operation
from .tensor import SymbolicTensor as Tensor

__all__ = ["feed_array", "feed_pairs", "flatten_fetches"]

Rebuild = Callable[[Sequence[Any]], Any]


def flatten_fetches(graph: Graph, fetches: Any) -> tuple[list[Tensor | Operation], Rebuild]:
    """The tensors and operations in a nest, and a function that puts values in their places."""
    leaves: list[Tensor | Operation] = []

    def visit(item: Any) -> Rebuild:
        if item is None:
            raise TypeError(
                "a fetch is None, which has no value; a gradient is None where there is no "
                "differentiable path"
            )
        if isinstance(item, Mapping):
            keys, parts = list(item), [visit(item[key]) for key in item]
            kind = type(item)
            return lambda values: kind(  # type: ignore[call-arg]
                (key, part(values)) for key, part in zip(keys, parts, strict=True)
            )
        if isinstance(item, (list, tuple)):
            entries = [visit(entry) for entry in item]
            if hasattr(item, "_fields"):
                return lambda values: type(item)(*(entry(values) for entry in entries))
            return lambda values: type(item)(entry(values) for entry in entries)
        try:
            element = graph.as_graph_element(item)
        except TypeError:
            raise TypeError(
                f"a fetch is a {type(item).__name__}, {item!r:.60}; expected tensors, operations, "
                "variables, names, or a list, tuple or dict of these"
            ) from None
        index = len(leaves)
        leaves.append(element)
        return lambda values: values[index]

    return leaves, visit(fetches)


def as_value(element: Tensor | Operation, result: Any) -> Any:
    """A result as NumPy gives it: scalars as NumPy scalars, arrays as writable copies."""
    if isinstance(element, Operation):
        return None
    array = result.numpy()
    return array[()] if array.ndim == 0 else array.copy()


def feed_pairs(graph: Graph, feed_dict: Any) -> list[tuple[Tensor, np.ndarray[Any, Any]]]:
    """The fed tensors and their values as arrays of the right dtype, in the order given."""
    if feed_dict is None:
        return []
    if not isinstance(feed_dict, Mapping):
        raise TypeError(f"feed_dict must be a dict of tensor to value, got {feed_dict!r:.60}")
    pairs: dict[Tensor, np.ndarray[Any, Any]] = {}
    for key, value in feed_dict.items():
        if isinstance(key, tuple):
            if not isinstance(value, (tuple, list)) or len(value) != len(key):
                raise ValueError(
                    f"feed_dict: {len(key)} tensors in a key, but the value is {value!r:.60}"
                )
            for tensor, entry in zip(key, value, strict=True):
                _add(graph, pairs, tensor, entry)
        else:
            _add(graph, pairs, key, value)
    return list(pairs.items())


def _add(graph: Graph, pairs: dict[Tensor, np.ndarray[Any, Any]], key: Any, value: Any) -> None:
    try:
        # A variable stands for its handle, so that all its reads see what is fed.
        tensor = graph.as_graph_element(getattr(key, "handle", key))
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"cannot interpret feed_dict key {key!r:.60} as a tensor: {error}"
        ) from None
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"cannot interpret feed_dict key {key!r:.60} as a tensor: it is an operation"
        )
    pairs[tensor] = feed_array(tensor, value)


def feed_array(tensor: Tensor, value: Any) -> np.ndarray[Any, Any]:
    """A fed value as an array; TypeError and ValueError as TensorFlow raises them."""
    if isinstance(value, (Tensor, _core.Tensor, _core.Variable)) or hasattr(value, "_as_tensor"):
        raise TypeError(
            f"the value of a feed cannot be a tensor: '{tensor.name}' was fed {value!r:.60}; "
            "run it and feed the result"
        )
    wish = tensor.dtype.dtype
    if isinstance(value, np.ndarray) and value.dtype == wish:
        array = value
    else:
        try:
            array = np.asarray(value, dtype=wish)
        except (ValueError, TypeError, OverflowError) as error:
            kind = ValueError if isinstance(error, ValueError) else TypeError
            raise kind(
                f"cannot feed '{tensor.name}', which is {tensor.dtype.name} of shape "
                f"{tensor.shape}: {error}"
            ) from None
    dims = tensor.dims
    if dims is None or array.shape == dims:
        return array
    fits = (d is None or d == n for d, n in zip(dims, array.shape, strict=False))
    if len(dims) != array.ndim or not all(fits):
        raise ValueError(
            f"cannot feed value of shape {array.shape} for tensor '{tensor.name}', which has "
            f"shape {tensor.shape}"
        )
    return array
