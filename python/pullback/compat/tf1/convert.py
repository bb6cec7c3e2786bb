"""From what a program writes (numbers, lists, arrays, variables) to tensors.

Python floats are float32 and ints int32, arrays keep their dtype, and beside a tensor everything
takes the tensor's dtype. Nothing is cast in silence where information would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ... import _core
from . import mode
from .dtypes import DType, as_dtype, float32, int32
from .dtypes import bool as tf_bool
from .graph import Graph, get_default_graph
from .opdef import OPS
from .shapes import Dimension, TensorShape
from .tensor import Tensor, stand_in

__all__ = ["convert_to_tensor"]


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor or a variable of the present mode already."""
    return isinstance(value, (Tensor, _core.Tensor, _core.Variable)) or hasattr(value, "_as_tensor")


def dtype_of(value: Any) -> DType | None:
    """The dtype of a tensor or variable; None for anything else."""
    return as_dtype(value.dtype) if is_tensor(value) else None


@contextmanager
def scope_of(name: str, *values: Any) -> Iterator[str]:
    """A name scope for one operation, in the graph of its inputs; nothing in eager mode."""
    if mode.executing_eagerly():
        yield name
        return
    graph = graph_of(values)
    with graph.as_default(), graph.name_scope(name) as scope:
        yield scope


def graph_of(values: Any) -> Graph:
    """The graph of the first tensor among these values, or the default graph."""
    for value in values:
        graph = getattr(value, "graph", None)
        if isinstance(graph, Graph):
            return graph
        if isinstance(value, (list, tuple)):
            for entry in value:
                graph = getattr(entry, "graph", None)
                if isinstance(graph, Graph):
                    return graph
    return get_default_graph()


def convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:
    """A tensor for a tensor, variable, number, list or array; with `dtype`, of that dtype.

    TypeError where the dtype would have to change or the value is not numbers, ValueError for None
    and for ragged lists.
    """
    wish = None if dtype is None else as_dtype(dtype)
    hint = dtype_hint if preferred_dtype is None else preferred_dtype
    if wish is None and hint is not None and not is_tensor(value):
        try:
            return convert_to_tensor(value, hint, name)
        except TypeError:
            pass
    if mode.executing_eagerly():
        return _eager(value, wish)
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if isinstance(value, Tensor):
        if wish is not None and value.dtype != wish:
            raise TypeError(f"expected a tensor of dtype {wish.name}, got {value!r}; use tf.cast")
        return value
    if isinstance(value, (list, tuple)) and _contains_tensor(value):
        return _stack(value, wish, name)
    array, found = as_array(value, wish)
    return constant_operation(array, found, name or "Const")


def _eager(value: Any, wish: DType | None) -> Any:
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        raise RuntimeError(f"{value!r} belongs to a graph and has no value in eager mode")
    if isinstance(value, _core.Variable):
        value = value.read()
    if isinstance(value, _core.Tensor):
        if wish is not None and value.dtype != wish.dtype:
            raise TypeError(
                f"expected a tensor of dtype {wish.name}, got one of {value.dtype}; use tf.cast"
            )
        return value
    if isinstance(value, (list, tuple)) and _contains_tensor(value):
        return _stack(value, wish, None)
    return core_constant(*as_array(value, wish))


def core_constant(array: np.ndarray[Any, Any], dtype: DType) -> Any:
    """A core tensor; a single number becomes an argument of the plan, no part of its structure."""
    return _core.constant(array.item() if array.ndim == 0 else array, dtype.dtype)


def constant_operation(array: np.ndarray[Any, Any], dtype: DType, name: str) -> Tensor:
    from .create import add_outputs

    core = core_constant(array, dtype)
    op = get_default_graph().create(OPS["Const"], (), {"core": core, "dtype": dtype}, name)
    # Integers may be axes or shapes: their trial is the value. Others are only looked at.
    trial = core if dtype.is_integer else stand_in(dtype, array.shape)
    add_outputs(op, [(dtype, array.shape, (trial, trial, trial))])
    return op.outputs[0]


def _contains_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(_contains_tensor(entry) for entry in value)
    return is_tensor(value)


def _stack(values: Any, wish: DType | None, name: str | None) -> Any:
    from .create import apply

    if wish is None:
        wish = next((d for d in map(_leaf_dtype, values) if d is not None), None)
    parts = [convert_to_tensor(entry, wish) for entry in values]
    return apply("Pack", parts, {"axis": 0, "N": len(parts)}, name or "packed")


def _leaf_dtype(value: Any) -> DType | None:
    if isinstance(value, (list, tuple)):
        return next((d for d in map(_leaf_dtype, value) if d is not None), None)
    return dtype_of(value)


def as_array(value: Any, wish: DType | None) -> tuple[np.ndarray[Any, Any], DType]:
    """A value as an array of a supported dtype."""
    if value is None:
        raise ValueError("None is not a tensor: expected a number, a list or an array")
    if isinstance(value, TensorShape):
        value = [int(d) for d in value]
    elif isinstance(value, Dimension):
        value = int(value)
    elif isinstance(value, (list, tuple)):
        value = [int(d) if isinstance(d, Dimension) else d for d in value]
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError("the nested lists are ragged: every level must have one length") from None
    if array.dtype.kind not in "biuf":
        raise TypeError(f"expected numbers, got {_described(value, array)}")
    natural = _natural_dtype(value, array)
    dtype = natural if wish is None else wish
    loses = natural.is_bool != dtype.is_bool or (natural.is_floating and dtype.is_integer)
    if loses and array.size:  # an empty list has no dtype of its own
        raise TypeError(f"expected {dtype.name}, got {_described(value, array)}")
    if dtype.is_integer and array.size and array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if low < dtype.min or high > dtype.max:
            raise ValueError(f"{low if low < dtype.min else high} does not fit in {dtype.name}")
    return array.astype(dtype.dtype), dtype


def _natural_dtype(value: Any, array: np.ndarray[Any, Any]) -> DType:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b":
        return tf_bool
    if kind == "f":
        own = size == 8 and _is_numpy(value)
        return as_dtype("float64") if own else float32
    fits = not array.size or (abs(int(array.min())) < 2**31 and abs(int(array.max())) < 2**31)
    wide = size == 8 if _is_numpy(value) else not fits
    return as_dtype("int64") if wide or not fits else int32


def _is_numpy(value: Any) -> bool:
    """Whether the dtype is the program's choice: that of an array or NumPy scalar."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return hasattr(value, "dtype") and not isinstance(value, (list, tuple))


def _described(value: Any, array: np.ndarray[Any, Any]) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of dtype {array.dtype}"
    if array.ndim == 0:
        return f"{value!r} of type '{type(value).__name__}'"
    return f"{value!r:.60}"
