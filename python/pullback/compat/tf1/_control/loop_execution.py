"""Execution of While, Scan and If, the loops and branches of a graph.

Each becomes a loop or branch of the core. If that is impossible (see body.py), the run computes
eagerly and Python executes the same steps.

A TensorArray is one tensor with its elements along the first axis. Before the first write it has
shape (size, 0), since the shape of the elements is unknown: a loop that writes starts with zeros of
the shape that its body returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from .... import _core
from ...._control import branches, loops
from .._graph.conversion import as_static
from .._graph.opdef import RowError, define
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors
from .._run.instantiate import Run, WantsValues
from ..errors import InvalidArgumentError
from .body import BodyRun, Subgraph


@dataclass(frozen=True)
class Counter:
    """The loop variable that counts, its start, and the number of iterations."""

    at: int
    start: int
    trips: int


def counter_of(
    run: Run, op: Operation, state: list[Any], condition_inputs: list[Any]
) -> Counter | None:
    """Return the counter, or None if the trip count is unknown.

    The condition uses the tensors in `condition_inputs`.
    """
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
    first, last = _integer(state[at]), _integer(_limit(run, op, test.inputs[1], condition_inputs))
    if first is None or last is None:
        return None
    return Counter(at, first, max(last - first, 0))


def _limit(run: Run, op: Operation, x: Tensor, condition_inputs: list[Any]) -> Any:
    """Return the value of a loop-invariant tensor of the condition, else None."""
    condition = op.attrs["bodies"][1]
    under = set(ancestors([x]))
    if any(inner.type == "ReadVariableOp" for inner in under):
        return None  # the body may assign it
    if x in condition.captured:
        return condition_inputs[condition.captured.index(x)]
    if any(argument.op in under for argument in condition.arguments):
        return None
    ops = [inner for inner in condition.ops if inner in under]
    if any(inner.definition.draws or inner.definition.host for inner in ops):
        return None
    subgraph = Subgraph([], [x], ops, condition.captured, [])
    return BodyRun.within(run, op, subgraph, False).on(subgraph, [], condition_inputs)[0]


def _integer(value: Any) -> int | None:
    """Return the value of a constant; None if it is known only in the run."""
    if value is None or value.dtype.kind not in "iu" or value.shape != ():
        return None
    try:
        return int(np.asarray(as_static(value)))
    except RuntimeError:
        return None


def written_in_turn(
    body: Subgraph, condition: Subgraph, state: list[Any], counter: Counter
) -> dict[int, Operation]:
    """Return the arrays of which iteration i writes element i once, with the writing operation.

    The last write has to reach the last element.
    """
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


def _used(subgraph: Subgraph, x: Tensor, by: Operation | None) -> bool:
    """Test whether an operation inside, except one, uses a tensor."""
    return any(x in op.inputs for op in subgraph.ops if op is not by)


def without(body: Subgraph, arrays: dict[int, Operation]) -> Subgraph:
    """Return the body with the values written to arrays as results, in place of the arrays."""
    kept = [k for k in range(len(body.arguments)) if k not in arrays]
    writes = set(arrays.values())
    return Subgraph(
        [body.arguments[k] for k in kept],
        [body.results[k] for k in kept] + [op.inputs[2] for op in arrays.values()],
        [op for op in body.ops if op not in writes],
        body.captured, body.controls, body.rules,
    )  # fmt: skip


def is_blank(flow: Any) -> bool:
    """Test whether a TensorArray of unknown element shape has no written element."""
    return len(flow.shape) == 2 and flow.shape[1] == 0


def blank(flow: Any, shape: Any) -> Any:
    """Return zeros for an array without written elements."""
    return _core.full(tuple(shape), _core.constant(0, flow.dtype))


class Again(Exception):
    """The body has to be rebuilt, because more is known."""


Step = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]


def _looped(
    run: Run, op: Operation, body: Subgraph, arrays: Sequence[bool], state: Sequence[Any],
    captured: Sequence[Any],
    make: Callable[[list[Any], Step, list[Any]], tuple[Sequence[Any], Sequence[Any]]],
) -> tuple[list[Any], list[Any]]:  # fmt: skip
    """Run a loop of the core; return the last state and the stacked results.

    `make` creates the loop from a state, a step and the variables in which the state ends.
    """
    n, start, variables = len(state), list(state), list[Any]()

    def step(carried: Sequence[Any], entries: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        inner = BodyRun.within(run, op, body, False)
        before = dict(zip(variables, carried[n:], strict=True))
        results = inner.on(body, [*carried[:n], *entries], captured, before)
        for k, (old, new) in enumerate(zip(carried[:n], results[:n], strict=True)):
            if old.shape == new.shape:
                continue
            if not (arrays[k] and is_blank(start[k])):
                raise WantsValues
            start[k] = blank(start[k], new.shape)
            raise Again
        if len(inner.assigned) > len(variables):
            variables.extend(v for v in inner.assigned if v not in variables)
            raise Again
        return [*results[:n], *(inner.assigned[v] for v in variables)], results[n:]

    while True:
        try:
            outs, stacked = make([*start, *map(run.current, variables)], step, variables)
            break
        except Again:
            continue
    _assign(run, op, dict(zip(variables, outs[n:], strict=True)))
    return list(outs[:n]), list(stacked)


def _assign(run: Run, op: Operation, values: dict[Any, Any]) -> None:
    for variable, value in values.items():
        run.assign(variable, value)
    run.mark(op, values)


def _either(
    run: Run, op: Operation, traced: Callable[[], list[Any]], eagerly: Callable[[], list[Any]]
) -> list[Any]:
    """Run the core's version, or Python's if it needs values."""
    if not run.has_values:
        return traced()
    if not any(subgraph.host for subgraph in op.attrs["bodies"]):
        try:
            return traced()
        except WantsValues:
            pass
    return eagerly()


class _Steps:
    """A body called from Python, once per iteration."""

    def __init__(self, run: Run, op: Operation) -> None:
        self.run, self.op, self.assigned = run, op, dict[Any, Any]()

    def __call__(
        self, subgraph: Subgraph, arguments: Sequence[Any], captured: Sequence[Any]
    ) -> Any:
        inner = BodyRun.within(self.run, self.op, subgraph, True)
        results = inner.on(subgraph, arguments, captured, self.assigned)
        self.assigned = inner.assigned
        return results

    def done(self) -> None:
        _assign(self.run, self.op, self.assigned)


# --- while


def _execute_while(run: Run, op: Operation, inputs: list[Any]) -> list[Any]:
    body, condition = op.attrs["bodies"]
    n = len(body.arguments)
    m = n + len(body.captured)
    state, captured, condition_inputs = inputs[:n], inputs[n:m], inputs[m:]

    def make(start: list[Any], step: Step, variables: list[Any]) -> Any:
        def holds(carried: Any) -> Any:
            inner = BodyRun.within(run, op, condition, False)
            assigned = zip(variables, carried[n:], strict=True)
            return inner.on(condition, carried[:n], condition_inputs, assigned)[0]

        return loops.while_loop(holds, lambda carried: step(carried, [])[0], start), []

    def eagerly() -> list[Any]:
        steps, present = _Steps(run, op), list(state)
        while bool(steps(condition, present, condition_inputs)[0].numpy()):
            present = steps(body, present, captured)
        steps.done()
        return present

    def traced() -> list[Any]:
        counter = counter_of(run, op, state, condition_inputs)
        if counter is None:
            return _looped(run, op, body, op.attrs["arrays"], state, captured, make)[0]
        return _counted(run, op, state, captured, counter)

    return _either(run, op, traced, eagerly)


def _counted(
    run: Run, op: Operation, state: list[Any], captured: Sequence[Any], counter: Counter
) -> list[Any]:
    """Run a loop with a known number of iterations."""
    body, condition = op.attrs["bodies"]
    written = written_in_turn(body, condition, state, counter)
    kept = [k for k in range(len(state)) if k not in written]

    def make(start: list[Any], step: Step, variables: list[Any]) -> Any:
        return loops.scan(lambda carried, _: step(carried, []), start, None, counter.trips)

    last, elements = _looped(
        run, op, without(body, written), [op.attrs["arrays"][k] for k in kept],
        [state[k] for k in kept], captured, make,
    )  # fmt: skip
    outs = dict(zip(kept, last, strict=True))
    for k, rows in zip(written, elements, strict=True):
        outs[k] = _all_written(state[k], rows)
    return [outs[k] for k in range(len(state))]


def _all_written(flow: Any, rows: Any) -> Any:
    """Build an array from all of its written elements."""
    if not is_blank(flow) and flow.shape != rows.shape:
        raise RowError(
            f"expected elements of shape {flow.shape[1:]} for a TensorArray, got {rows.shape[1:]}"
        )
    return rows


define("While", execute=_execute_while, public="while_loop")

# --- along tensors


def _execute_scan(run: Run, op: Operation, inputs: list[Any]) -> list[Any]:
    (body,), n = op.attrs["bodies"], op.attrs["carried"]
    m, reverse = len(body.arguments), op.attrs["reverse"]
    state, along, captured = inputs[:n], inputs[n:m], inputs[m:]
    lengths = {x.shape[0] if x.shape else None for x in along}
    if len(lengths) != 1 or None in lengths:
        shapes = ", ".join(str(x.shape) for x in along)
        raise RowError(f"expected elems with one size of the first axis, got shapes {shapes}")

    def make(start: list[Any], step: Step, variables: list[Any]) -> Any:
        return loops.scan(step, start, list(along), None, reverse)

    def eagerly() -> list[Any]:
        steps, present, each = _Steps(run, op), list(state), list[list[Any]]()
        places = range(along[0].shape[0])
        for i in reversed(places) if reverse else places:
            results = steps(body, [*present, *(x[i] for x in along)], captured)
            present = results[:n]
            each.append(results[n:])
        if not each:
            raise RowError(
                "expected elems with an entry or more, got none, so that the shape of the results "
                "is unknown"
            )
        steps.done()
        ordered = each[::-1] if reverse else each
        return [*present, *(_core.stack(list(ys), 0) for ys in zip(*ordered, strict=True))]

    def traced() -> list[Any]:
        last, stacked = _looped(run, op, body, op.attrs["arrays"], state, captured, make)
        return [*last, *stacked]

    return _either(run, op, traced, eagerly)


define("Scan", execute=_execute_scan)

# --- branches


def _execute_branch(run: Run, op: Operation, inputs: list[Any]) -> list[Any]:
    subgraphs, arrays, index = op.attrs["bodies"], op.attrs["arrays"], inputs[0]
    captured, at = list[list[Any]](), 1
    for subgraph in subgraphs:
        captured.append(inputs[at : at + len(subgraph.captured)])
        at += len(subgraph.captured)
    variables, shapes = list[Any](), list[Any]([None] * len(arrays))

    def branch(subgraph: Subgraph, used: list[Any], before: list[Any]) -> list[Any]:
        inner = BodyRun.within(run, op, subgraph, False)
        results = inner.on(subgraph, [], used)
        for k, y in enumerate(results):
            if shapes[k] is None or (arrays[k] and len(shapes[k]) == 2 and shapes[k][1] == 0):
                known, shapes[k] = shapes[k], y.shape
                if known is not None and known != y.shape:
                    raise Again
            elif arrays[k] and is_blank(y):
                results[k] = blank(y, shapes[k])
            elif y.shape != shapes[k]:
                raise WantsValues
        if any(v not in variables for v in inner.assigned):
            variables.extend(v for v in inner.assigned if v not in variables)
            raise Again
        values = (inner.assigned.get(v, old) for v, old in zip(variables, before, strict=True))
        return [*results, *values]

    def traced() -> list[Any]:
        while True:
            before = [run.current(v) for v in variables]
            functions = tuple(
                partial(branch, subgraph, used, before)
                for subgraph, used in zip(subgraphs, captured, strict=True)
            )
            try:
                outs = branches.switch(index, functions)
                break
            except Again:
                continue
            except InvalidArgumentError:  # perhaps of a branch that the run does not take
                raise WantsValues from None
        _assign(run, op, dict(zip(variables, outs[len(arrays) :], strict=True)))
        return list(outs[: len(arrays)])

    def eagerly() -> list[Any]:
        chosen = min(max(int(index.numpy()), 0), len(subgraphs) - 1)
        steps = _Steps(run, op)
        outs: list[Any] = steps(subgraphs[chosen], [], captured[chosen])
        _assign(run, op, steps.assigned)
        return outs

    return _either(run, op, traced, eagerly)


define("If", execute=_execute_branch, public="cond")
