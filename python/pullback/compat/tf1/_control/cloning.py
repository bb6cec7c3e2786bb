"""Operations of a graph once more, on what stands for their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .... import _core
from .._graph.inference import infer, known_of
from .._graph.operation import Operation
from .._graph.registry import Rule
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import opaque
from .body import outputs_of, pieces

LEAVES = frozenset({"Const", "ReadVariableOp"})
# Rows without a function that compute nevertheless.
_COMPUTED = frozenset({"GradientOutput", "Jacobian", "SymbolicGradient", "UnitCotangent"})

Copies = dict[Tensor, Tensor]


def only_computes(op: Operation, also: frozenset[str] = frozenset()) -> bool:
    """Whether it may be carried out twice, to the same effect and with the same values. `also` says
    which further rows without a function may."""
    row = op.definition
    computes = row.execute is None or op.type in _COMPUTED or op.type in also
    return computes and not (row.draws or row.host)


def copied(
    op: Operation, copies: Copies, rule: Rule | None, as_original: bool = False
) -> tuple[Tensor, ...]:
    """The outputs of an operation like `op`, with this rule, on the copies of its inputs; perhaps
    of the same name and line."""
    inputs = [copies.get(x, x) for x in op.inputs]
    made = op.graph.create(op.definition, inputs, op.attrs, op.name, op.type)
    made.override, made.rule = op.override, rule
    if as_original:
        made.name, made.place = op.name, op.place
    if op.type in LEAVES:
        kept = ((y.dtype, y.dims, _core.identity(y.stand_in), y.known) for y in op.outputs)
        return op.graph.complete(made, kept).outputs
    outputs = outputs_like(made, [(y.dtype, y.dims) for y in op.outputs], op.rule)
    return op.graph.complete(made, outputs).outputs


def outputs_like(
    op: Operation, kinds: Sequence[tuple[Any, Any]], rule: Rule | None = None
) -> list[Any]:
    """What is known of the outputs of an operation that is made again, of these dtypes and
    dimensions; `rule` is that of the first one."""
    if op.type == "Const":
        array = op.attrs["value"].numpy()
        return [(op.attrs["dtype"], array.shape, None, known_of(array, op.attrs["dtype"]))]
    if op.type == "ReadVariableOp":
        return [(*kinds[0], _core.identity(op.inputs[0].stand_in))]
    if op.definition.host:
        return list(kinds)
    if pieces(op):
        return outputs_of(op, kinds)
    if op.definition.execute is None and rule is None:
        return infer(op)
    stand_ins = [x.stand_in for x in op.inputs]
    return [(dtype, dims, opaque(stand_ins, dtype, dims)) for dtype, dims in kinds]
