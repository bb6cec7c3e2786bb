"""What tensors of a graph are made from."""

from __future__ import annotations

from collections.abc import Iterable

from .operation import Operation
from .tensor import SymbolicTensor as Tensor


def ancestors(ys: Iterable[Tensor]) -> list[Operation]:
    """The operations that these tensors are made from, oldest first."""
    seen: set[Operation] = set()
    pending = [y.op for y in ys]
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending.extend(x.op for x in op.inputs)
    return sorted(seen, key=lambda op: op.number)


def check_outside(targets: list[Tensor], sources: list[Tensor]) -> None:
    """Inside of a loop's body, what a loop variable begins with says nothing of its value."""
    arguments = (op for op in ancestors(targets) if op.type == "LoopArgument")
    initial = [x for op in arguments if (x := op.attrs["initial"]) is not None]
    before = {*ancestors(initial)} if initial else set()
    for x in sources:
        if x.op in before:
            raise ValueError(
                f"gradients: cannot compute the gradient inside while loop with respect to "
                f"'{x.name}', through the initial value of a loop variable; take it by the loop "
                "variable, or outside of the loop"
            )
