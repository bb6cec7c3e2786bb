"""The operation that a built-in gradient is: the gradient of one operation for one of its inputs.

It is a record like any other, so gradients of gradients need nothing special. Its value comes from
the core: `_core.gradients` from the forward operation's outputs to one of its inputs, stopped at
the inputs, which costs the same in a graph of any size. There are two ways to get these tensors:

    linear      (rows with `needs`) the forward operation is built again on arguments that nothing
                reads; only what the gradient really uses is an input of the record
    otherwise   the very tensors of the forward operation in this run, so that exp(x) is computed
                once for the value and the gradient

Inputs are wrapped in identities that cost nothing, because one tensor may come in at two places.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ... import _core
from .create import add_outputs
from .opdef import OpDef, build_outputs
from .operation import Operation
from .tensor import Tensor, fresh_argument, same_shape

__all__ = ["GRADIENT", "gradient_record"]

Forward = tuple[list[Any], list[Any]]  # inputs and outputs of an operation, as core tensors


def gradient_record(
    op: Operation, index: int, cotangents: dict[int, Tensor], row: OpDef | None = None
) -> Tensor:
    """The gradient for input `index`, given cotangents by output; `row` replaces the op's own."""
    row = row or op.definition
    x = op.inputs[index]
    held = range(len(op.inputs))
    linear = row.needs is not None
    if row.needs is not None and all(t.is_static for t in (*op.inputs, *op.outputs)):
        static = {i % len(op.inputs) for i in row.static}
        held = sorted(static.union(row.needs.get(index, ())))  # type: ignore[assignment]
    present = sorted(cotangents)
    attrs = {
        "forward": op,
        "index": index,
        "held": tuple(held),
        "present": tuple(present),
        "linear": linear,
        "row": row,
    }
    inputs = [*(op.inputs[i] for i in held), *(cotangents[k] for k in present)]
    name = row.gradient_name(index)
    record = op.graph.create(GRADIENT, inputs, attrs, name, type=f"{op.type}Grad")
    record.flows = None
    add_outputs(record, [(x.dtype, x.dims, x.trials)])
    return record.outputs[0]


def compute(op: Operation, inputs: list[Any]) -> list[Any]:
    """The outputs of an operation as a function of core tensors."""
    if op.definition is GRADIENT:
        return [_gradient(op, inputs, None)]
    return build_outputs(op.definition, op.attrs, inputs)


def _gradient(record: Operation, inputs: list[Any], forward: Forward | None) -> Any:
    attrs = record.attrs
    op: Operation = attrs["forward"]
    row: OpDef = attrs["row"]
    index, held = attrs["index"], attrs["held"]
    cotangents = inputs[len(held) :]
    if forward is None:
        known = dict(zip(held, inputs, strict=False))
        ins = [_argument(x, known.get(i), attrs, i) for i, x in enumerate(op.inputs)]
        forward = ins, compute(op, ins)
    ins, outs = forward
    if row is not op.definition:  # an override that names another operation's rule
        if row.from_output is not None:
            return row.from_output(cotangents[0], outs[0])
        outs = build_outputs(row, op.attrs, ins)
    formula = row.formulas.get(index)
    if formula is not None:
        return _summed(formula(cotangents[0], ins, outs[0]), ins[index])
    ys = [outs[k] for k in attrs["present"]]
    answer = _core.gradients(ys, [ins[index]], cotangents, stop=ins, integers=True)[0]
    if answer is None:  # the path carries nothing
        return _core.full(ins[index].shape, _core.constant(0, ins[index].dtype))
    return answer


def fed_output(op: Operation, x: Any, value: Any) -> Any:
    """A fed value in the place of an output: its gradient is the rule's, taken at the fed value."""
    from_output = op.definition.from_output
    assert from_output is not None

    def rule(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> list[Any]:
        return [from_output(cotangents[0], outs[0])]

    return _core.custom([value], [x], _core.Rule(rule, op.type))[0]


def _summed(gradient: Any, x: Any) -> Any:
    """Summed over the axes along which x was broadcast."""
    if gradient.shape == x.shape:
        return gradient
    z = fresh_argument(x.dtype, x.shape)
    return _core.gradients([_core.broadcast_to(z, gradient.shape)], [z], [gradient])[0]


def _argument(x: Tensor, value: Any, attrs: dict[str, Any], i: int) -> Any:
    """An input of a forward operation that is built again."""
    row: OpDef = attrs["row"]
    count = len(attrs["forward"].inputs)
    if value is not None and i in {j % count for j in row.static}:
        return value
    used = not attrs["linear"] or (row.needs is not None and i in row.needs.get(attrs["index"], ()))
    if value is not None and used:
        return _core.identity(value)
    shape: Any = x.dims if value is None else value.shape
    return fresh_argument(x.dtype, shape)


def _execute(run: Any, record: Operation, inputs: list[Any]) -> list[Any]:
    held = record.attrs["held"]
    wrapped = [*inputs[: len(held)], *(_core.identity(g) for g in inputs[len(held) :])]
    forward: Forward | None = None
    if not record.attrs["linear"]:
        forward = run.forward(record.attrs["forward"])
        wrapped[: len(held)] = forward[0]
    elif record in run.differentiated:
        wrapped[: len(held)] = [_core.identity(x) for x in inputs[: len(held)]]
    outs = [_gradient(record, wrapped, forward)]
    run.forwards[record] = wrapped, outs
    return outs


GRADIENT = OpDef("Gradient", execute=_execute)


def is_elementwise(op: Operation) -> bool:
    """Whether an element of the output depends on the inputs' elements at its place only."""
    while op.definition is GRADIENT:
        forward: Operation = op.attrs["forward"]
        # A sum over broadcast axes would mix elements.
        if op.attrs["row"] is not forward.definition or not same_shape(
            op.outputs[0], forward.outputs[0]
        ):
            return False
        op = forward
    return op.definition.elementwise


def flows_of(record: Operation) -> tuple[int, ...]:
    """Which inputs of a gradient record its value depends on, found by trial.

    The gradient of a linear operation does not depend on the operation's input, so its own gradient
    is None there and not zeros.
    """
    if record.flows is None:
        record.flows = tuple(range(len(record.inputs)))
        if all(x.trials[0] is not None for x in record.inputs):
            with suppress(TypeError, ValueError, RuntimeError, IndexError):  # shapes unknown
                record.flows = _tried_flows(record)
    return record.flows


def _tried_flows(record: Operation) -> tuple[int, ...]:
    attrs = record.attrs
    op: Operation = attrs["forward"]
    static = {i % len(op.inputs) for i in attrs["row"].static}
    held = attrs["held"]
    fixed = {k for k, i in enumerate(held) if i in static}
    ins = [
        x.trials[0] if k in fixed else fresh_argument(x.dtype, x.trials[0].shape)
        for k, x in enumerate(record.inputs)
    ]
    forward: Forward | None = None
    if not attrs["linear"]:
        own = ins[: len(held)]
        forward = own, compute(op, own)
    out = _gradient(record, ins, forward)
    asked = [k for k in range(len(ins)) if k not in fixed]
    answers = _core.gradients(
        [out], [ins[k] for k in asked], stop=[ins[k] for k in asked], integers=True
    )
    return tuple(k for k, answer in zip(asked, answers, strict=True) if answer is not None)
