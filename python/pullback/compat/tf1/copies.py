"""Operations of a graph once more, on what stands for their inputs."""

from __future__ import annotations

from typing import Any

from ... import _core
from .bodies import outputs_of, pieces
from .inference import infer
from .operation import Operation
from .registry import Rule
from .tensor import SymbolicTensor as Tensor
from .tensor import opaque

__all__ = ["LEAVES", "Copies", "copied", "only_computes"]

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
    outputs: Any
    if op.type in LEAVES:
        outputs = [(y.dtype, y.dims, _core.identity(y.stand_in), y.known) for y in op.outputs]
    elif pieces(op):
        outputs = outputs_of(made, [(y.dtype, y.dims) for y in op.outputs])
    elif op.definition.execute is None and op.rule is None:
        outputs = infer(made)
    else:
        stand_ins = [x.stand_in for x in inputs]
        outputs = [(y.dtype, y.dims, opaque(stand_ins, y.dtype, y.dims)) for y in op.outputs]
    return op.graph.complete(made, outputs).outputs
