"""recompute_grad: recompute the body of a function for its gradient.

In a graph the operations of the function that only compute are copied when a gradient is built.
Operations that draw random numbers, read variables or print run once: their results are inputs of
the recomputation, as are the arguments and the captured tensors.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pullback

from .... import _core
from ...._autodiff.checkpoint import one_after, times
from ...._autodiff.custom_rule import TENSOR
from ...._base.pytree import flatten_with_none as flatten
from ...._core import unflatten
from .._gradients.backprop import pull_back
from .._gradients.custom_gradients import custom_operation
from .._graph import mode
from .._graph.create import apply, convert_to_tensor, graph_of, is_tensor
from .._graph.inference import infer, known_of
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.registry import Rule
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors, as_core, as_eager, mapped, opaque
from .body import bodies_of, outputs_of

LEAVES = frozenset({"Const", "ReadVariableOp"})
# Rows without a function that only compute.
_COMPUTED = frozenset({"GradientOutput", "Jacobian", "SymbolicGradient", "UnitCotangent"})

Copies = dict[Tensor, Tensor]


def only_computes(op: Operation, also: frozenset[str] = frozenset()) -> bool:
    """Test whether an operation may run twice with the same effect and values.

    `also` tests further rows without a function.
    """
    row = op.definition
    computes = row.execute is None or op.type in _COMPUTED or op.type in also
    return computes and not (row.draws or row.host)


def copied(
    op: Operation, copies: Copies, rule: Rule | None, as_original: bool = False
) -> tuple[Tensor, ...]:
    """Return the outputs of a copy of `op` with this rule, on the copies of its inputs.

    With `as_original` the copy has the same name and source line.
    """
    inputs = [copies.get(x, x) for x in op.inputs]
    made = op.graph.create(op.definition, inputs, op.attrs, op.name, op.type)
    made.override, made.rule = op.override, rule
    if as_original:
        made.name, made.place = op.name, op.place
    if op.type in LEAVES:
        kept = ((y.dtype, y.dims, _core.identity(y.abstract), y.known) for y in op.outputs)
        return op.graph.complete(made, kept).outputs
    outputs = outputs_like(made, [(y.dtype, y.dims) for y in op.outputs], op.rule)
    return op.graph.complete(made, outputs).outputs


def outputs_like(
    op: Operation, kinds: Sequence[tuple[Any, Any]], rule: Rule | None = None
) -> list[Any]:
    """Return dtype and dimensions of a rebuilt operation's outputs; `rule` is its first rule."""
    if op.type == "Const":
        array = op.attrs["value"].numpy()
        return [(op.attrs["dtype"], array.shape, None, known_of(array, op.attrs["dtype"]))]
    if op.type == "ReadVariableOp":
        return [(*kinds[0], _core.identity(op.inputs[0].abstract))]
    if op.definition.host:
        return list(kinds)
    if bodies_of(op):
        return outputs_of(op, kinds)
    if op.definition.execute is None and rule is None:
        return infer(op)
    abstracts = [x.abstract for x in op.inputs]
    return [(dtype, dims, opaque(abstracts, dtype, dims)) for dtype, dims in kinds]


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that its intermediate results are recomputed in the backward pass.

    Values and gradients are those of `f`, with respect to its arguments (keywords and pytrees
    included) and to every outer variable or tensor that it reads. `f` is called once; random
    numbers are the same in the backward pass. In eager mode this is `pullback.checkpoint`.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(2.0)
    ...     session.run(tf.gradients(tf.recompute_grad(lambda x: x * x * x)(x), x))
    [np.float32(12.0)]
    """
    if not callable(f):
        raise TypeError(f"recompute_grad: expected a function, got {f!r}")

    def on_core(*args: Any, **keywords: Any) -> Any:
        args, keywords = mapped(as_eager, (args, keywords))
        return mapped(as_core, f(*args, **keywords))

    eager = pullback.checkpoint(functools.wraps(f)(on_core))

    @functools.wraps(f)
    def call(*args: Any, **keywords: Any) -> Any:
        if not mode.executing_eagerly():
            return _in_graph(f, args, keywords)
        args, keywords = mapped(as_core, (args, keywords))
        return mapped(as_eager, eager(*args, **keywords))

    return call


def _in_graph(f: Callable[..., Any], args: Any, keywords: Any) -> Any:
    graph = graph_of(flatten((args, keywords))[0])
    with graph.as_default():
        first = len(graph._operations)
        leaves, structure = flatten(f(*args, **keywords))
        own = [i for i, y in enumerate(leaves) if is_tensor(y)]
        results = [convert_to_tensor(leaves[i]) for i in own]
        subgraph = [
            op
            for op in ancestors(results)
            if op.number >= first and op.inputs and only_computes(op)
        ]
        inside = {y for op in subgraph for y in op.outputs}
        given = [*dict.fromkeys(x for op in subgraph for x in op.inputs if x not in inside)]
        if not any(x.dtype.is_floating for x in given):
            return unflatten(structure, leaves)

        def again(*upstream: Any) -> list[Any]:
            # The copies depend on a cotangent, so that they are computed in the backward pass.
            copies = {x: apply("After", x, upstream[0]) for x in given}
            for op in subgraph:
                copies.update(zip(op.outputs, copied(op, copies, op.rule), strict=True))
            made = [copies.get(y, y) for y in results]
            return pull_back(made, list(upstream), [copies[x] for x in given], [])

        op = custom_operation(f, again, results, (given, given), [TENSOR] * len(given), [])
        for i, y in zip(own, op.outputs, strict=True):
            leaves[i] = y
    return unflatten(structure, leaves)


define(
    "After", lambda x, g: times(x, one_after([g])) if x.dtype.kind == "f" else x,
    shape=lambda x, g: x.dims, public="recompute_grad",
)  # fmt: skip


__all__ = ["recompute_grad"]
