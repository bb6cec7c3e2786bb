"""`gradients`: one record that the core executes.

A run computes a graph of core tensors, which the core differentiates. A gradient is therefore one
operation, SymbolicGradient, of ys, xs and cotangents. The connectivity of an x is evaluated on the
abstract values, which are such a graph as well. The results are the abstract values of the
gradient, so gradients of gradients need no special case.

The gradient of a tensor that only `gather` reads is an IndexedSlices: two outputs of the record.

An operation with a user-defined gradient (an override, custom_gradient), or with an undefined one,
ends the paths of the core. The pass is cut there: a first record gives the cotangents of its
outputs, the rule computes the cotangents of its inputs, and another record continues from these,
newest operation first.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

import numpy as np

import pullback

from .... import _core
from ...._autodiff.gradients import with_zeros
from ...._base import last_query
from .._graph import mode
from .._graph.create import apply, convert_to_tensor, graph_of
from .._graph.graph import _stack as stack
from .._graph.inference import FAILURES
from .._graph.opdef import OpDef, define
from .._graph.operation import Operation
from .._graph.registry import checked_results, find_rule
from .._graph.shapes import TensorShape
from .._graph.tensor import (
    UNKNOWN,
    SymbolicTensor,
    ancestors,
    as_core,
    as_eager,
    check_outside,
    opaque,
)
from .._ops.array_ops import squeeze
from .._ops.indexed_slices import IndexedSlices, dense_shape_of, total_of
from ..dtypes import as_dtype, string
from .builtin_rules import built_in

__all__ = ["AggregationMethod", "UnconnectedGradients", "gradients", "set_integer_gradients"]

Tensor = SymbolicTensor


class UnconnectedGradients(Enum):
    """The gradient without a differentiable path: None, or zeros."""

    NONE = "none"
    ZERO = "zero"


class AggregationMethod:
    """Methods of summation, accepted without effect on the values."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


_integer_gradients = True


def set_integer_gradients(on: bool) -> None:
    """Differentiate integers through ring operations (the default, as until TF 1.8), or not.

    With False they are constants, as since TF 1.9, and gradients with respect to them are None.
    """
    global _integer_gradients
    _integer_gradients = bool(on)


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients",
    colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
    aggregation_method: int | None = None, stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:  # fmt: skip
    """Compute the sum over ys of their derivatives with respect to each x, as a list.

    An entry is an `IndexedSlices` if x is only read by `gather` and `embedding_lookup`; the rows of
    all reads are concatenated. It is None without a differentiable path, or zeros with
    `unconnected_gradients=UnconnectedGradients.ZERO`.

    Colocation, gating and the aggregation method change no value here.

    Parameters
    ----------
    ys, xs : tensor, variable or list
        Outputs and sources.
    grad_ys : list, optional
        Cotangents of the ys, which may be IndexedSlices; None stands for ones.
    stop_gradients : list, optional
        Tensors that are constants with respect to every x.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([1.0, 2.0])
    ...     print(session.run(tf.gradients(x * x, [x])))
    [array([2., 4.], dtype=float32)]
    """
    choice = unconnected(unconnected_gradients)
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            "gradients: aggregation_method must be one of None, AggregationMethod.ADD_N, "
            f"EXPERIMENTAL_TREE, EXPERIMENTAL_ACCUMULATE_N; got {aggregation_method!r}"
        )
    if ys is None or xs is None:
        which = "ys" if ys is None else "xs"
        raise TypeError(f"gradients: expected tensors or variables for {which}, got None")
    if mode.executing_eagerly():
        return _in_function(ys, xs, grad_ys, stop_gradients, choice)
    targets = [_target(y, i) for i, y in enumerate(as_list(ys))]
    sources = [_source(x, "xs", i) for i, x in enumerate(as_list(xs))]
    stops = [_source(x, "stop_gradients", i) for i, x in enumerate(as_list(stop_gradients))]
    check_outside(targets, sources)
    with graph_of([*targets, *sources]).as_default() as graph, graph.name_scope(name):
        seeds = checked_seeds(targets, grad_ys)
        answers = pull_back(targets, seeds, sources, stops)
        if choice is UnconnectedGradients.ZERO:
            for i in [i for i, g in enumerate(answers) if g is None]:
                answers[i] = apply("ZerosLike", sources[i], name="zeros_like")
    if last_query.noted:
        last_query.note((answers,), targets, as_list(xs), seeds, None, stops, answers=answers)
    return answers


def _in_function(
    ys: Any, xs: Any, weights: Any, stops: Any, choice: UnconnectedGradients
) -> list[Any]:
    """Differentiate in a `tf.function` of eager mode, whose tensors are the main namespace's."""
    if not stack.in_function:
        raise RuntimeError("gradients: not possible in eager mode; use tf.GradientTape")
    targets, sources, cuts, given = (
        [as_core(x) for x in as_list(group)] for group in (ys, xs, stops, weights)
    )
    answers = pullback.gradients(
        targets, sources, None if weights is None else given, stop_gradients=cuts,
        unconnected_gradients="zero" if choice is UnconnectedGradients.ZERO else "none",
    )  # fmt: skip
    return [None if g is None else as_eager(g) for g in answers]


def unconnected(value: Any) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(
            f"gradients: unconnected_gradients must be one of 'none', 'zero'; got {value!r}"
        ) from None


def as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _target(y: Any, position: int) -> Tensor:
    if y is None or isinstance(y, (str, dict, list, tuple)):
        raise TypeError(f"gradients: expected a tensor or a variable for ys[{position}], got {y!r}")
    tensor: Tensor = convert_to_tensor(y)
    if tensor.dtype == string:
        raise TypeError(f"gradients: expected numbers for ys[{position}], got strings: {y!r:.80}")
    return tensor


def _source(x: Any, what: str, position: int) -> Tensor:
    """Return the handle of a variable, whose gradient is the sum over all reads."""
    handle = getattr(x, "handle", x)
    if not isinstance(handle, Tensor):
        raise TypeError(
            f"gradients: expected a tensor or a variable for {what}[{position}], got {x!r:.60} of "
            f"type {type(x).__name__}"
        )
    return handle


def checked_seeds(targets: list[Tensor], grad_ys: Any) -> list[Tensor | None]:
    """Check the cotangent of each y; None for ones."""
    if grad_ys is None:
        return [None] * len(targets)
    given = as_list(grad_ys)
    if len(given) != len(targets):
        raise ValueError(
            f"gradients: expected {len(targets)} grad_ys for {len(targets)} ys, got {len(given)}"
        )
    seeds: list[Tensor | None] = []
    for i, (y, g) in enumerate(zip(targets, given, strict=True)):
        if g is None:
            seeds.append(None)
            continue
        if isinstance(g, IndexedSlices) and g.dense_shape is None:
            g = IndexedSlices(g.values, g.indices, dense_shape_of(y))
        seed = convert_to_tensor(g, y.dtype, name=f"grad_ys_{i}")
        if y.dims is not None:  # axes of size 1 in front, as TensorFlow allows
            extra = (seed.dims or ())[: max(0, len(seed.dims or ()) - len(y.dims))]
            seed = squeeze(seed, [*range(len(extra))]) if {*extra} == {1} else seed
        shape = TensorShape(seed.dims)
        if shape.ndims != 0 and not shape.is_compatible_with(y.dims):
            raise ValueError(
                f"gradients: expected shape {y.shape} of ys[{i}] '{y.name}' for grad_ys[{i}], got "
                f"{shape}"
            )
        seeds.append(seed)
    return seeds


def pull_back(
    targets: list[Tensor], seeds: list[Any], sources: list[Tensor], stops: Sequence[Tensor]
) -> list[Any]:
    """Return the gradient of the targets for each source, with `stops` as constants.

    An entry is a tensor, an IndexedSlices or None.
    """
    ops = ancestors(targets)
    cuts = _rules_between(ops, sources, stops)
    users = _users(ops)
    found: dict[Tensor, list[Any]] = {}
    pairs = list(zip(targets, seeds, strict=True))
    while pairs:
        wanted = [*dict.fromkeys([*sources, *(out for op in cuts for out in op.outputs)])]
        for x, g in _record(pairs, wanted, stops, users):
            found.setdefault(x, []).append(g)
        pairs = []
        while cuts and not pairs:
            op = cuts.pop()
            if any(out in found and out not in stops for out in op.outputs):
                pairs = _by_rule(op, {out: _dense(_total(found.get(out))) for out in op.outputs})
    return [_total(found.get(x)) for x in sources]


def _total(parts: list[Any] | None) -> Any:
    return total_of(parts) if parts else None


def _dense(g: Any) -> Any:
    """Return a cotangent as an argument of a rule. (It becomes dense if the rule reads it.)"""
    return convert_to_tensor(g) if isinstance(g, IndexedSlices) else g


def _rules_between(
    ops: list[Operation], sources: list[Tensor], stops: Sequence[Tensor]
) -> list[Operation]:
    """Return the operations with their own rule that depend on a source, oldest first."""
    cuts: list[Operation] = []
    reached = list(sources)
    for op in ops:
        if not op.has_own_rule:
            continue
        inputs = [op.inputs[i] for i in differentiable_inputs(op)]
        if inputs and any(g is not None for g in _abstract_gradients(inputs, None, reached, stops)):
            cuts.append(op)
            reached.extend(out for out in op.outputs if out not in stops)
    return cuts


def differentiable_inputs(op: Operation) -> list[int]:
    """Return the inputs of an operation with its own rule that may have a gradient."""
    first = op.attrs.get("results", 0) if op.rule is not None else 0
    return [i for i, x in enumerate(op.inputs) if i >= first and carries(x)]


def carries(x: Tensor) -> bool:
    return x.dtype.is_inexact or (_integer_gradients and x.dtype.is_integer)


def _abstract_gradients(
    ys: Sequence[Tensor], seeds: Sequence[Any] | None, xs: Sequence[Tensor], stops: Sequence[Tensor]
) -> list[Any]:
    """Differentiate the abstract values; None without a path."""
    tensors, ins, cut = ([x.abstract for x in group] for group in (ys, xs, stops))
    given = [None if g is None else g.abstract for g in seeds or [None] * len(tensors)]

    def differentiated(weights: list[Any] | None) -> list[Any]:
        return _core.gradients(tensors, ins, weights, cut, integers=_integer_gradients, rows=True)

    try:
        return differentiated(_broadcast_seeds(given, tensors))
    except FAILURES:  # a cotangent of unknown shape
        inputs = [*tensors, *(w for w in given if w is not None)]
        return [
            None if g is None else opaque(inputs, x.dtype, x.dims)
            for g, x in zip(differentiated(None), xs, strict=True)
        ]


def _broadcast_seeds(weights: list[Any], ys: list[Any]) -> list[Any]:
    """Broadcast cotangents to the shapes of the ys; None stands for ones."""
    return [
        w if w is None or w.shape == y.shape else _core.broadcast_to(w, y.shape)
        for w, y in zip(weights, ys, strict=True)
    ]


def _record(
    pairs: list[tuple[Tensor, Any]], xs: list[Tensor], stops: Sequence[Tensor],
    users: dict[Tensor, list[tuple[Operation, int]]],
) -> list[tuple[Tensor, Any]]:  # fmt: skip
    """Record one SymbolicGradient; return pairs of x and its gradient for connected xs."""
    ys, seeds = [y for y, _ in pairs], [g for _, g in pairs]
    answers = _abstract_gradients(ys, seeds, xs, stops)
    live = [(x, g) for x, g in zip(xs, answers, strict=True) if g is not None]
    if not live:
        return []
    graph = ys[0].graph
    given = [g for g in seeds if g is not None]
    rows = [_core.rows_of(g) for _, g in live]
    attrs = {
        "ys": len(ys), "xs": len(live), "seeded": tuple(g is not None for g in seeds),
        "integers": _integer_gradients,
        "rows": tuple(None if r is None else as_dtype(r[1].dtype) for r in rows),
    }  # fmt: skip
    inputs = [*ys, *(x for x, _ in live), *stops, *given]
    made = []
    for (x, g), parts in zip(live, rows, strict=True):
        made.append((x.dtype, x.dims, g) if parts is None else _output(x.dtype, parts[0], x.dims))
        if parts is not None:
            made.append(_output(as_dtype(parts[1].dtype), parts[1], (None,)))
    record = graph.record("SymbolicGradient", inputs, attrs, None, *made)
    outs = iter(record.outputs)

    def named(name: str) -> Tensor:
        out = next(outs)
        output = (out.dtype, out.dims, _core.identity(out.abstract))
        answer: Tensor = graph.record("GradientOutput", [out], {}, name, output).outputs[0]
        return answer

    results: list[tuple[Tensor, Any]] = []
    for (x, _), parts in zip(live, rows, strict=True):
        name = _name(users.get(x, []))
        if parts is None:
            results.append((x, named(name)))
        else:
            scope = name.rpartition("/")[0]
            kind = f"{scope}/Reshape" if scope else "concat"
            values, indices = named(kind), named(f"{kind}_1")
            results.append((x, IndexedSlices(values, indices, dense_shape_of(x))))
    return results


def _output(dtype: Any, abstract: Any, dims: Any) -> Any:
    """Return rows or their indices as an output; their number is known if all inputs are."""
    count = abstract.shape[0]
    return dtype, (count if count < UNKNOWN else None, *(dims or (None,))[1:]), abstract


def _users(ops: list[Operation]) -> dict[Tensor, list[tuple[Operation, int]]]:
    """Map tensors to the operations that use them; a variable's handle stands for all reads."""
    users: dict[Tensor, list[tuple[Operation, int]]] = {}
    for op in ops:
        for i, x in enumerate(op.inputs if op.type != "ReadVariableOp" else ()):
            users.setdefault(x, []).append((op, i))
            if x.op.type == "ReadVariableOp":
                users.setdefault(x.op.inputs[0], []).append((op, i))
    return users


def _name(users: list[tuple[Operation, int]]) -> str:
    """Return TensorFlow's name of the gradient of a tensor: that of the operation that uses it."""
    if len(users) != 1:
        return "AddN" if users else "grad_ys_0"
    op, i = users[0]
    kind = "mul" if len(op.inputs) == 1 else f"Reshape_{i}" if i else "Reshape"
    return f"{op.name}_grad/{kind}"


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    n, m = op.attrs["ys"], op.attrs["xs"]
    ys, xs, rest = inputs[:n], inputs[n : n + m], inputs[n + m :]
    stops, given = rest[: -sum(op.attrs["seeded"]) or None], iter(rest[-sum(op.attrs["seeded"]) :])
    seeds = _broadcast_seeds([next(given) if seeded else None for seeded in op.attrs["seeded"]], ys)
    # For a structural zero among the cotangents of a jacobian: its other output.
    units = [x.op for x in op.inputs[n + m + len(stops) :] if x.op.type == "UnitCotangent"]
    masks = [run.values[unit.outputs[1]] for unit in units] if len(units) == n else []
    stops = [*stops, *run.cut]
    answers = _core.gradients(ys, xs, seeds, stops, None, None, op.attrs["integers"], True, masks)
    outs: list[Any] = []  # None: a path without a cotangent
    for g, kind in zip(with_zeros(answers, xs), op.attrs["rows"], strict=True):
        outs.extend([g] if kind is None else _rows(g, kind.dtype))
    return outs


def _rows(g: Any, dtype: Any) -> tuple[Any, Any]:
    """Create rows and their indices; all rows if a run requires them."""
    values, indices = _core.rows_of(g) or (g, _core.constant(np.arange(g.shape[0]), dtype))
    return values, _core.cast(indices, dtype)


define("SymbolicGradient", execute=_execute, public="gradients")
define("GradientOutput", lambda x: _core.identity(x), fresh=True, public="gradients")

# --- operations with rules of their own


def _by_rule(op: Operation, cotangents: dict[Tensor, Any]) -> list[tuple[Tensor, Tensor]]:
    """Return the inputs of an operation and the cotangents that its rule computes."""
    answers = answers_of(op, list(cotangents.values()))
    live = set(differentiable_inputs(op))
    return [
        (x, g)
        for i, (x, g) in enumerate(zip(op.inputs, answers, strict=True))
        if g is not None and i in live
    ]


def answers_of(op: Operation, upstream: list[Any]) -> list[Any]:
    """Return the result of an operation's rule for each input."""
    with op.graph.name_scope(f"{op.name}_grad"):
        upstream = [
            apply("ZerosLike", y) if g is None and carries(y) else g
            for y, g in zip(op.outputs, upstream, strict=True)
        ]
        rule = op.rule or find_rule(op.type, op.name, op.override)
        if rule is None:
            return [None] * len(op.inputs)
        if isinstance(rule, OpDef):
            return built_in(op, rule, upstream, differentiable_inputs(op))
        answer = rule.function(op, *upstream)
        return list(checked_results(answer, op.inputs, rule, op.type, op.name))
