"""while_loop.

In a graph cond and body are called once, and what they record becomes the body of one operation
(bodies.py). In eager mode the loop is Python's, but inside of a `tf.function`, where tensors have
no value yet, it is the main namespace's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...._control import loops
from ...._core import flatten
from .._graph import mode
from .._graph.create import convert_to_tensor, graph_of
from .._graph.graph import _stack as modes
from .._graph.shapes import TensorShape, as_dims
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import as_core, as_eager
from .._ops.array_ops import stop_gradient
from .._ops.math_ops import less, logical_and
from ..dtypes import bool as tf_bool
from ..dtypes import int32
from .body import argument_of, piece_of, recorded
from .loop_execution import Again, blank, is_blank
from .structure import Nest, callable_or_raise

__all__ = ["while_loop"]


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any,
    shape_invariants: Any = None, parallel_iterations: int = 10, back_prop: bool = True,
    swap_memory: bool = False, name: str | None = None, maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:  # fmt: skip
    """loop_vars = body(*loop_vars) as long as cond(*loop_vars) holds.

    loop_vars: a list of tensors, values, TensorArrays and nests of them. body returns the same
        structure with the same dtypes and shapes; what has an entry in `shape_invariants`, in the
        same structure, may have any shape that it allows, and then the loop computes as it goes.
    back_prop: with False the gradient by everything is None.
    maximum_iterations: an integer or a tensor; the loop ends after so many.

    Returns the last loop_vars; a single one without its list, unless `return_same_structure`. In a
    graph cond and body are called once, and the loop is one operation, which has gradients of every
    order: by the initial values and by what the body uses from outside. What the body assigns to a
    variable is carried to the next iteration, where reads that depend on an assignment see it.
    The other arguments change nothing.

    TypeError where cond or body is no function; ValueError without loop_vars, where the structure,
    a dtype or a shape changes.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.placeholder(tf.float32, [])
    ...     y = tf.while_loop(lambda y: y < 100.0, lambda y: y * x, [x])
    ...     session.run([y, tf.gradients(y, x)[0]], {x: 2.0})
    [np.float32(128.0), np.float32(448.0)]
    """
    callable_or_raise(cond, "while_loop", "cond")
    callable_or_raise(body, "while_loop", "body")
    if parallel_iterations < 1:
        raise TypeError("while_loop: parallel_iterations must be a positive integer")
    if not isinstance(loop_vars, (list, tuple)):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("while_loop: No loop variables provided")
    if maximum_iterations is not None:
        limit, test, step = maximum_iterations, cond, body
        result = while_loop(
            lambda i, values: logical_and(less(i, limit), test(*values)),
            lambda i, values: (i + 1, _sequence(step(*values), values)),
            [convert_to_tensor(0, int32), loop_vars],
            None if shape_invariants is None else [TensorShape([]), shape_invariants],
            back_prop=back_prop, name=name,
        )[1]  # fmt: skip
    elif mode.executing_eagerly():
        result = _eager_loop(cond, body, loop_vars)
    else:
        result = _loop(cond, body, loop_vars, shape_invariants, back_prop, name)
    return result[0] if len(result) == 1 and not return_same_structure else result


def _sequence(result: Any, like: Any) -> Any:
    """What a body returned as a sequence of the kind that it was given."""
    if not isinstance(result, (list, tuple)):
        result = [result]
    elif hasattr(result, "_fields"):
        result = result if len(like) > 1 else [result]
    return type(like)(result) if type(like) in (list, tuple) else result


def _loop(
    cond: Any, body: Any, loop_vars: Any, invariants: Any, back_prop: bool, name: str | None
) -> Any:
    graph = graph_of(flatten(loop_vars)[0])
    with graph.as_default(), graph.name_scope(name or "while"):
        start = Nest(loop_vars)
        dims = _invariants(start, invariants)
        kinds = [(x.dtype, d) for x, d in zip(start.tensors, dims, strict=True)]
        with graph.body():

            def given(label: str) -> list[Tensor]:
                return [
                    argument_of(graph, dtype, d, label, x)
                    for (dtype, d), x in zip(kinds, start.tensors, strict=True)
                ]

            first = len(graph._operations)
            seen = given("Merge")
            test = convert_to_tensor(cond(*start.like(seen)), tf_bool)
            condition = piece_of(first, seen, [test])
            first = len(graph._operations)
            inside = given("Identity")
            after = Nest(_sequence(body(*start.like(inside)), loop_vars))
            start.check_like(after, "while_loop", "what body returned and loop_vars")
            for x, d, y, array in zip(
                start.tensors, dims, after.tensors, start.arrays, strict=True
            ):
                if not array and not TensorShape(d).is_compatible_with(y.dims):
                    raise ValueError(
                        f"while_loop: '{x.name}' enters the loop with shape {TensorShape(d)}, but "
                        f"has shape {y.shape} after one iteration. To allow the shape to vary "
                        "across iterations, use the `shape_invariants` argument of tf.while_loop"
                    )
            piece = piece_of(first, inside, after.tensors)
        attrs = {"bodies": (piece, condition), "arrays": tuple(start.arrays)}
        inputs = [*start.tensors, *piece.captured, *condition.captured]
        controls = [*piece.controls, *condition.controls]
        outs = recorded(graph, "While", inputs, attrs, "Exit", kinds, controls)
        if not back_prop:
            outs = [stop_gradient(y) for y in outs]
        return start.like(outs, after)


def _invariants(start: Nest, invariants: Any) -> list[Any]:
    if invariants is None:
        # How long an array will be, and what is in it, is the body's to say.
        return [
            None if array else x.dims for x, array in zip(start.tensors, start.arrays, strict=True)
        ]
    given = _shapes(invariants)
    if len(given) != len(start.tensors):
        raise ValueError("while_loop: shape_invariants must have the structure of loop_vars")
    for x, shape, array in zip(start.tensors, given, start.arrays, strict=True):
        if not array and not TensorShape(shape).is_compatible_with(x.dims):
            raise ValueError(
                f"while_loop: the shape invariant {shape} of '{x.name}' is not compatible with its "
                f"initial shape {x.shape}"
            )
    return [None if a else as_dims(s) for s, a in zip(given, start.arrays, strict=True)]


def _shapes(nest: Any) -> list[Any]:
    if isinstance(nest, TensorShape) or nest is None:
        return [nest]
    entries = nest.values() if isinstance(nest, Mapping) else nest
    return [shape for entry in entries for shape in _shapes(entry)]


def _eager_loop(cond: Any, body: Any, loop_vars: Any) -> Any:
    if not modes.in_function:
        present = loop_vars
        while bool(cond(*present)):
            after = _sequence(body(*present), loop_vars)
            Nest(present).check_like(Nest(after), "while_loop", "what body returned and loop_vars")
            present = after
        return Nest(present).like(Nest(present).tensors)
    start = Nest(loop_vars)
    state = [as_core(x) for x in start.tensors]

    def step(tensors: Any) -> Any:
        after = Nest(_sequence(body(*start.like(map(as_eager, tensors))), loop_vars))
        start.check_like(after, "while_loop", "what body returned and loop_vars")
        results = [as_core(y) for y in after.tensors]
        for k, y in enumerate(results):
            if start.arrays[k] and is_blank(state[k]) and y.shape != state[k].shape:
                state[k] = blank(state[k], y.shape)
                raise Again
        return results

    def holds(tensors: Any) -> Any:
        return as_core(convert_to_tensor(cond(*start.like(map(as_eager, tensors)))))

    while True:
        try:
            last = loops.while_loop(holds, step, state)
            return start.like([as_eager(x) for x in last])
        except Again:
            continue
