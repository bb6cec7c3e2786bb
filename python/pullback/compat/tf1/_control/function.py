"""`tf.function`: in eager mode `pullback.function`; in a graph the operations of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pullback

from ...._core import flatten, unflatten
from .._graph import mode
from .._graph.create import convert_to_tensor, is_tensor
from .._graph.graph import _stack as stack
from .._graph.graph import get_default_graph
from .._graph.shapes import TensorShape
from .._graph.tensor import as_core, as_eager
from .._ops.indexed_slices import IndexedSlices

__all__ = ["function"]


def function(
    func: Callable[..., Any] | None = None, input_signature: Sequence[Any] | None = None,
    autograph: bool = True, experimental_implements: Any = None,
    experimental_autograph_options: Any = None, experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:  # fmt: skip
    """Decorates a function that is traced once for each signature, then replayed.

    In eager mode this is `pullback.function`, in which `tf.gradients` works too; overrides of the
    block around a call do not reach inside, those of a block inside it count. In a graph, a call
    adds the function's operations.
    Python's `if` and `while` are not rewritten: they run while the function is traced. With an
    `input_signature` the arguments must be tensors of these shapes and dtypes.
    """
    if func is None:
        return functools.partial(function, input_signature=input_signature)
    if not callable(func):
        raise TypeError(f"function: expected a function, got {func!r}")
    inner = func

    def body(*args: Any, **keywords: Any) -> Any:
        leaves, structure = flatten((args, keywords))
        args, keywords = unflatten(structure, [as_eager(x) for x in leaves])
        graph = get_default_graph()
        outside, graph._overrides = graph._overrides, []
        around, stack.in_function = stack.in_function, True
        try:
            results, form = flatten(inner(*args, **keywords))
        finally:
            graph._overrides, stack.in_function = outside, around
        dense = (convert_to_tensor(y) if isinstance(y, IndexedSlices) else y for y in results)
        return unflatten(form, [as_core(y) for y in dense])

    traced = pullback.function(functools.wraps(inner)(body))

    @functools.wraps(inner)
    def call(*args: Any, **keywords: Any) -> Any:
        if input_signature is not None:
            args = _checked(args, input_signature)
        if not mode.executing_eagerly():
            return inner(*args, **keywords)
        leaves, structure = flatten((args, keywords))
        args, keywords = unflatten(structure, [as_core(x) for x in leaves])
        results, form = flatten(traced(*args, **keywords))
        return unflatten(form, [as_eager(y) for y in results])

    call.python_function = inner  # type: ignore[attr-defined]
    return call


def _checked(args: tuple[Any, ...], wanted: Sequence[Any]) -> tuple[Any, ...]:
    if len(args) != len(wanted):
        raise ValueError(f"function: {len(args)} arguments, input_signature has {len(wanted)}")
    made = []
    for i, (x, spec) in enumerate(zip(args, wanted, strict=True)):
        x = convert_to_tensor(x, None if is_tensor(x) else spec.dtype)
        fits = TensorShape(x.shape).is_compatible_with(spec.shape)
        if x.dtype != spec.dtype or not fits:
            raise ValueError(f"function: argument {i} is {x!r}, input_signature says {spec!r}")
        made.append(x)
    return tuple(made)
