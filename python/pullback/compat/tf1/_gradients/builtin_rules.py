"""Overrides by the name of a built-in type: the rule of one operation type for another."""

from __future__ import annotations

from typing import Any

from ...._autodiff.gradients import with_zeros
from .._graph.conversion import as_static
from .._graph.opdef import OpDef, define, pull_through
from .._graph.operation import Operation
from .._graph.tensor import argument, opaque


def built_in(op: Operation, row: OpDef, upstream: list[Any], live: list[int]) -> list[Any]:
    """Record the core's rule of another type; only the inputs in `live` may have a gradient."""
    count = len(op.inputs)
    attrs = {"row": row, "of": op, "inputs": count, "outputs": len(op.outputs)}
    inputs = [*op.inputs, *op.outputs, *upstream]
    abstracts = [x.abstract for x in inputs]
    outputs = (
        (x.dtype, x.dims, opaque(abstracts, x.dtype, x.dims) if i in live else
         argument(x.dtype, x.abstract.shape))
        for i, x in enumerate(op.inputs)
    )  # fmt: skip
    record = op.graph.record("BuiltInGradient", inputs, attrs, f"{row.type}Grad", *outputs)
    return [out if i in live else None for i, out in enumerate(record.outputs)]


def _execute_built_in(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    n = op.attrs["inputs"]
    m = n + op.attrs["outputs"]
    row, ins = op.attrs["row"], inputs[:n]
    forward = op.attrs["of"]
    attrs = {} if row.from_output is not None else forward.attrs
    static = forward.definition.which_static(ins)
    args = [as_static(x) if fixed else x for x, fixed in zip(ins, static, strict=True)]
    answers = iter(pull_through(row, attrs, args, inputs[n:m], inputs[m:]))
    return with_zeros([None if fixed else next(answers, None) for fixed in static], ins)


define("BuiltInGradient", execute=_execute_built_in, public="gradients")
