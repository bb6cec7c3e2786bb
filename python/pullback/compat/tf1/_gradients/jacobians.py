"""Jacobians in a graph, and `hessians`: the gradient for a cotangent that is not known yet, and an
operation that puts all rows in its place when it runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from .... import _core
from ...._autodiff.jacobian import entry_first, units, unknown_unit
from .._graph.ancestry import ancestors
from .._graph.create import convert_to_tensor, graph_of
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import argument, opaque
from .._ops.array_ops import constant, fill, ones_like, reshape, shape, zeros_like
from .._ops.indexing_ops import concat, one_hot, stack
from ..dtypes import as_dtype
from .backprop import _rules_between, _source, as_list, gradients, pull_back

__all__ = ["hessians"]


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: int | None = None,
) -> list[Any]:  # fmt: skip
    """The second derivatives of the sum of ys by each x, of shape x.shape + x.shape.

    There are no entries for pairs of different xs. A function that does not depend on an x, or is
    linear in it, has zeros.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([1.0, 2.0])
    ...     session.run(tf.hessians(x[0] ** 2 * x[1], x))
    [array([[4., 2.],
           [2., 0.]], dtype=float32)]
    """
    slopes = gradients(ys, xs, name=f"{name}_gradients", aggregation_method=aggregation_method)
    slopes = [None if g is None else convert_to_tensor(g) for g in slopes]
    sources = [_source(x, "xs", i) for i, x in enumerate(as_list(xs))]
    with graph_of(sources).as_default() as graph, graph.name_scope(name):
        blocks = [
            None if g is None else jacobians(g, [x], [])[0]
            for g, x in zip(slopes, sources, strict=True)
        ]
        return [
            zero_block(x, x) if block is None else block
            for block, x in zip(blocks, sources, strict=True)
        ]


def zero_block(y: Any, x: Any, batched: bool = False) -> Any:
    """What stands for the jacobian where there is no path."""
    y, x = convert_to_tensor(y), convert_to_tensor(x)
    dims = _dims(y, x, batched)
    if dims is not None and None not in dims:
        return fill(list(dims), constant(0, x.dtype))
    return fill(concat([shape(y), shape(x)[int(batched) :]], 0), constant(0, x.dtype))


def jacobians(
    y: Tensor, xs: Sequence[Tensor], stops: Sequence[Tensor], batched: bool = False
) -> list[Any]:
    """The derivative of y by each x, of shape y.shape + x.shape, with `stops` as constants; or,
    batched, of each entry of the first axis by the same entry of x. None where there is no path."""
    unit = y.graph.record(
        "UnitCotangent", [y], {}, None,
        (y.dtype, y.dims, argument(y.dtype, y.stand_in.shape)),
        (as_dtype("bool"), y.dims, argument("bool", y.stand_in.shape)),
    )  # fmt: skip
    answers = pull_back([y], [unit.outputs[0]], list(xs), stops)
    found: list[Any] = []
    for x, g in zip(xs, answers, strict=True):
        if g is None:
            found.append(None)
            continue
        g = convert_to_tensor(g)
        if _rules_between(ancestors([g]), [unit.outputs[0]], []):
            found.append(_one_by_one(y, x, stops, batched))
            continue
        dims = _dims(y, x, batched)
        made = (x.dtype, dims, opaque([g.stand_in], x.dtype, dims))
        inputs, attrs = [g, unit.outputs[1]], {"batched": batched}
        found.append(y.graph.record("Jacobian", inputs, attrs, None, made).outputs[0])
    return found


def _one_by_one(y: Tensor, x: Tensor, stops: Sequence[Tensor], batched: bool) -> Any:
    """The same where a rule of the program has to see the cotangents, which it does one at a
    time."""
    entry = [n for n in y.dims[batched:] if n is not None] if y.dims is not None else None
    if entry is None or y.dims is None or len(entry) < len(y.dims[batched:]):
        raise ValueError(f"jacobian: the shape of {y!r} must be known behind rules of programs")
    size, rows = prod(entry), []
    for i in range(size):
        weight = reshape(one_hot(i, size, dtype=y.dtype), entry)
        (row,) = pull_back([y], [weight * ones_like(y)], [x], stops)
        rows.append(zeros_like(x) if row is None else convert_to_tensor(row))
    if not rows:
        return zero_block(y, x, batched)
    block = stack(rows, 1 if batched else 0)
    ending = shape(x)[1:] if batched else shape(x)
    return reshape(block, concat([shape(y), ending], 0))


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    g, where = inputs
    batched = op.attrs["batched"]
    chosen = units(where.shape, batched)
    found = _core.batched_or_each([g], [where], [chosen], chosen.shape[0])
    if found is None:
        raise NotImplementedError("jacobian: a rule in the way has to see the cotangents")
    batch = entry_first(found[0], batched)
    return [_core.reshape(batch, (*where.shape, *g.shape[int(batched) :]))]


define("UnitCotangent", execute=lambda run, op, inputs: list(unknown_unit(inputs[0])))
define("Jacobian", execute=_execute)


def _dims(y: Tensor, x: Tensor, batched: bool) -> Any:
    return None if y.dims is None or x.dims is None else (*y.dims, *x.dims[batched:])
