"""Loops that count: `i < n` with `i + 1`, as most do, are seen to run a known number of times.

Then the reverse need not find out the states of the loop by running it once more. And a TensorArray
of which iteration i writes element i, and nothing else is asked, is what the iterations give,
stacked: it is not carried, so that no iteration copies it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._graph.ancestry import ancestors
from .._graph.conversion import as_static
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._run.instantiate import Run
from .body import BodyRun, Piece


@dataclass(frozen=True)
class Counter:
    """Which of the loop variables counts, from where, and how often the loop runs."""

    at: int
    start: int
    trips: int


def counter_of(run: Run, op: Operation, state: list[Any], asked: list[Any]) -> Counter | None:
    """None where it is not seen how often a loop runs; `asked` is what the condition uses."""
    body, condition = op.attrs["bodies"]
    test = condition.results[0].op
    if test.type != "Less" or test.inputs[0] not in condition.arguments:
        return None
    at = condition.arguments.index(test.inputs[0])
    step, counter = body.results[at].op, body.arguments[at]
    if step.type != "AddV2" or counter not in step.inputs:
        return None
    by = step.inputs[step.inputs[0] is counter].known
    if by is None or by.shape != () or by != 1:
        return None
    first, last = _integer(state[at]), _integer(_limit(run, op, test.inputs[1], asked))
    if first is None or last is None:
        return None
    return Counter(at, first, max(last - first, 0))


def _limit(run: Run, op: Operation, x: Tensor, asked: list[Any]) -> Any:
    """The value of a tensor of the condition that is the same in all iterations, else None."""
    condition = op.attrs["bodies"][1]
    if x in condition.captured:
        return asked[condition.captured.index(x)]
    under = set(ancestors([x]))
    if any(argument.op in under for argument in condition.arguments):
        return None
    ops = [inner for inner in condition.ops if inner in under]
    if any(inner.definition.draws or inner.definition.host for inner in ops):
        return None
    piece = Piece([], [x], ops, condition.captured, [])
    return BodyRun.within(run, op, piece, False).on(piece, [], asked)[0]


def _integer(value: Any) -> int | None:
    """The value of a constant; None for what is known only when the run is carried out."""
    if value is None or value.dtype.kind not in "iu" or value.shape != ():
        return None
    try:
        return int(np.asarray(as_static(value)))
    except RuntimeError:
        return None


def written_in_turn(
    body: Piece, condition: Piece, state: list[Any], counter: Counter
) -> dict[int, Operation]:
    """The loop variables that are arrays of which iteration i writes element i, the last time the
    last one, and how they do so."""
    found: dict[int, Operation] = {}
    for k, (argument, result) in enumerate(zip(body.arguments, body.results, strict=True)):
        op = result.op
        if (
            op.type == "TensorArrayWrite"
            and not (op.attrs["rows"] or op.attrs["dynamic"])
            and op.inputs[:2] == (argument, body.arguments[counter.at])
            and op.inputs[2] is not argument
            and (counter.start, counter.trips) == (0, state[k].shape[0])
            and counter.trips > 0
            and not _used(body, argument, op)
            and not _used(body, result, None)
            and body.results.count(result) == 1
            and argument not in body.results
            and condition.results[0] is not condition.arguments[k]
            and not _used(condition, condition.arguments[k], None)
        ):
            found[k] = op
    return found


def _used(piece: Piece, x: Tensor, by: Operation | None) -> bool:
    """Whether any operation inside uses a tensor, but for one."""
    return any(x in op.inputs for op in piece.ops if op is not by)


def without(body: Piece, arrays: dict[int, Operation]) -> Piece:
    """The body that gives what it would write to arrays instead."""
    kept = [k for k in range(len(body.arguments)) if k not in arrays]
    writes = set(arrays.values())
    return Piece(
        [body.arguments[k] for k in kept],
        [body.results[k] for k in kept] + [op.inputs[2] for op in arrays.values()],
        [op for op in body.ops if op not in writes],
        body.captured, body.controls, body.rules,
    )  # fmt: skip
