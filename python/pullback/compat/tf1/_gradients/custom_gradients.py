"""custom_gradient: the value of one computation with a user-defined gradient.

In a graph it is one IdentityN operation around the results. Its inputs are the results, the
arguments and the variables read, and it stores the rule itself, so no global table keeps the rule
alive. In eager mode it is the main namespace's.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

import pullback

from .... import _core
from ...._autodiff.custom import Decoration, undecorated
from ...._autodiff.custom_rule import NUMBER, OTHER, TENSOR, CustomRule
from ...._base.pytree import flatten_with_none as flatten
from ...._core import unflatten
from .._graph import mode, shape_functions
from .._graph.create import convert_to_tensor, graph_of, is_tensor
from .._graph.graph import GraphKeys
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.registry import Rule
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors, argument, as_eager, mapped
from .._ops.indexed_slices import total_of
from .backprop import pull_back

__all__ = ["custom_gradient", "grad_pass_through"]


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate `f(*args) -> (result, grad_fn)`: the result with the gradient of grad_fn.

    `grad_fn(*upstreams)` receives one upstream gradient for each tensor of the result. It returns
    one gradient (or None) for each tensor among the arguments, keywords included; the entries of
    other arguments are None or left out. If f reads trainable variables that are not arguments,
    grad_fn may take `variables=None` and then returns a pair, whose second entry has one gradient
    for each of these variables, by name. Otherwise these variables have their ordinary gradients.

    >>> from pullback.compat import tf1 as tf
    >>> @tf.custom_gradient
    ... def reversed(x):
    ...     return tf.identity(x), lambda upstream: -upstream
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(2.0)
    ...     session.run(tf.gradients(reversed(x), x))
    [np.float32(-1.0)]
    """
    if f is None:
        return custom_gradient
    if not callable(f):
        raise TypeError(f"custom_gradient: expected a function, got {f!r}")
    in_eager = None

    @functools.wraps(f)
    def decorated(*args: Any, **keywords: Any) -> Any:
        nonlocal in_eager
        if mode.executing_eagerly():
            in_eager = in_eager or pullback.custom_gradient(f)
            return mapped(as_eager, in_eager(*args, **keywords))
        return _call(f, args, keywords)

    # As in the main namespace: the value of an argument that is itself a rule.
    def plain(*args: Any, **keywords: Any) -> Any:
        return f(*args, **keywords)[0]

    decorated._decoration = Decoration(weakref.ref(decorated), plain)  # type: ignore[attr-defined]
    return decorated


def _call(f: Callable[..., Any], args: Any, keywords: Any) -> Any:
    bound = inspect.signature(f).bind(*args, **keywords)
    leaves, structure = flatten(list(bound.arguments.values()))
    given: list[Any] = []  # tensors and variables among the arguments
    inside: list[Any] = []
    graph = graph_of(leaves)
    with graph.as_default(), graph.name_scope(_scope_name(f)):
        for leaf in leaves:
            if is_tensor(leaf):
                x = convert_to_tensor(leaf)
                given.append(x)
                output = (x.dtype, x.dims, _core.identity(x.abstract), x.known)
                wrapped = graph.record("Identity", [x], {}, "input", output)
                wrapped.override = None
                inside.extend(wrapped.outputs)
            else:
                inside.append(leaf)
        first = len(graph._operations)
        bound.arguments.update(zip(bound.arguments, unflatten(structure, inside), strict=True))
        answer = f(*bound.args, **bound.kwargs)
        if not isinstance(answer, (tuple, list)) or len(answer) != 2 or not callable(answer[1]):
            raise TypeError(
                "custom_gradient: expected a pair, the result and a function of its upstream "
                f"gradients, from {Rule(f, '')}, got {answer!r:.60}"
            )
        result, grad_fn = answer
        outputs, result_structure = flatten(result)
        results = [convert_to_tensor(y) for y in outputs]
        variables = _variables_read(graph, first, results, leaves)
        kinds = [_kind(leaf) for leaf in leaves]
        own = [x for x in inside if is_tensor(x)]
        op = custom_operation(f, grad_fn, results, (given, own), kinds, variables)
        return unflatten(result_structure, list(op.outputs))


define(
    "IdentityN", lambda *xs, results: [_core.identity(x) for x in xs[:results]], fresh=True,
    shape=lambda *xs, results: [shape_functions.unchanged(x) for x in xs[:results]],
)  # fmt: skip


def _scope_name(f: Callable[..., Any]) -> str:
    name = getattr(f, "__name__", "custom_gradient")
    return name.strip("<>_") or "custom_gradient"


def _variables_read(graph: Any, first: int, results: list[Any], leaves: list[Any]) -> list[Any]:
    """Return the trainable variables that f reads, by name."""
    handles = {leaf.handle for leaf in leaves if hasattr(leaf, "handle")}
    trainable = {v.handle: v for v in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    found: dict[Tensor, Any] = {}
    used = [x for op in graph._operations[first:] for x in op.inputs]
    for x in [*used, *results]:
        handle = x.op.inputs[0] if x.op.type == "ReadVariableOp" else x
        if handle in trainable and handle not in handles:
            found[handle] = trainable[handle]
    return sorted(found.values(), key=lambda v: str(v.name))


def _kind(leaf: Any) -> int:
    if is_tensor(leaf):
        return TENSOR
    return NUMBER if isinstance(leaf, (int, float, np.ndarray, np.generic)) else OTHER


def custom_operation(
    f: Callable[..., Any], grad_fn: Any, results: list[Any], arguments: tuple[list[Any], list[Any]],
    kinds: list[int], variables: list[Any],
) -> Operation:  # fmt: skip
    """Record the operation of a user-defined gradient.

    Its outputs are the results; grad_fn returns the gradients of the arguments. These are given
    twice: outside, and as f sees them.
    """
    given, inside = arguments
    graph = graph_of([*results, *given])
    inputs = [*results, *given, *(v.value() for v in variables)]
    # A gradient reaches the arguments and the variables, never tensors inside f.
    outputs = ((y.dtype, y.dims, argument(y.dtype, y.abstract.shape)) for y in results)
    op = graph.record("IdentityN", inputs, {"results": len(results)}, None, *outputs)
    plain = undecorated(grad_fn)  # its own operations are differentiated
    # By their reads: inside a loop their ancestors are unknown.
    reads = [op.outputs[0] for op in ancestors(results) if op.type == "ReadVariableOp"]

    def of_variables(gs: list[Any], _: list[Any]) -> list[Any]:
        found = zip(reads, pull_back(results, gs, reads, inside), strict=True)
        parts = [(x.op.inputs[0], g) for x, g in found if g is not None]
        mine = ([g for handle, g in parts if handle is v.handle] for v in variables)
        return [total_of(gs) if gs else None for gs in mine]

    own = CustomRule(
        f,
        plain,
        kinds,
        variables,
        of_variables,  # variables that f reads, without its arguments
    )
    op.rule = Rule(grad_fn, "")

    def function(op: Operation, *gs: Any) -> list[Any]:
        cotangents = list(gs)
        return [None] * len(results) + own.answers(cotangents, list(op.inputs))

    op.rule.function = function
    return op


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap f with the gradient of the identity; it returns as many results as arguments."""

    @custom_gradient
    @functools.wraps(f)
    def through(*args: Any, **keywords: Any) -> Any:
        result = f(*args, **keywords)
        count = len(flatten(result)[0])
        expected = len([x for x in flatten((args, keywords))[0] if is_tensor(x)])
        if count != expected:
            raise ValueError(
                f"grad_pass_through: {Rule(f, '')} returned {count} tensors, expected {expected}, "
                "one for each argument"
            )

        def straight(*upstreams: Any, variables: Any = None) -> Any:
            own = list(upstreams)
            return (own, [None] * len(variables)) if variables else own

        return result, straight

    return through  # type: ignore[no-any-return]
