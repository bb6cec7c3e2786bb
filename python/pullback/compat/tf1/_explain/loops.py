"""Loops and branches of a graph, unrolled for `pb.explain`.

y is rebuilt: iterations in sequence, each of copies of the body's records on the results of the one
before. Of a long loop fewer iterations are built. The copies have the names and the source lines of
the originals, and are removed with the trial of the query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._control import body as bodies
from .._control.recompute import LEAVES, Copies, copied, only_computes
from .._graph.create import convert_to_tensor
from .._graph.operation import Operation
from .._graph.registry import Rule
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors
from .._ops.indexing_ops import concat, stack
from ..dtypes import int32
from .steps import assigns, number_of

# Limit of the records of an unrolled loop; more iterations become several shorter loops.
_RECORDS, _LOOPS = 1024, 16
_CONTROL = ("While", "Scan", "If")
_REPEATABLE = LEAVES.union(_CONTROL, {"BuiltInGradient", "TensorArrayWrite"})


class UnrolledTarget(NamedTuple):
    """A y rebuilt without some loops and branches, the result of `_core.unrolled_below`."""

    y: Tensor
    ran: dict[int, tuple[str, int, str]]  # kind, and number of iterations or branch, of each
    parts: list[dict[str, Any]]
    copies: list[tuple[int, int]]


def unrolled_below(
    y: Tensor, ops: Iterable[Operation], ends: Sequence[Tensor],
    arrays_of: Callable[[list[Any]], list[Any]] | None,
) -> UnrolledTarget:  # fmt: skip
    """Rebuild y with `ops` unrolled, if y depends on them after `ends`.

    `arrays_of` returns values, if there are any; they give the trip counts and the branches taken.
    """
    numbers = _numbers_of([op for op in ops if _divisible(op)], arrays_of)
    below = UnrolledTarget(y, {}, [], [])
    copies: Copies = {}
    for op in ancestors([y]):
        if not any(x in copies for x in op.inputs) and op not in numbers:
            continue
        made: Sequence[Tensor]
        if op in numbers:
            made = _Unrolling(op, [copies.get(x, x) for x in op.inputs], below).run(numbers[op])
            copies.update(zip(op.outputs, made, strict=True))
        elif _repeatable(op):
            made = _copied(op, copies)
            copies.update(zip(op.outputs, made, strict=True))
            below.copies.extend(zip(map(number_of, made), map(number_of, op.outputs), strict=True))
        for end in ends:
            copies.pop(end, None)
    return below._replace(y=copies.get(y, y))


def _repeatable(op: Operation) -> bool:
    """Test whether an operation may run twice. Its control inputs would have to be copied too."""
    alone = not (assigns(op) or op.control_inputs)
    return alone and only_computes(op, _REPEATABLE) and _divisible(op)


def _divisible(op: Operation) -> bool:
    return all(_repeatable(inner) for subgraph in bodies.bodies_of(op) for inner in subgraph.ops)


def _numbers_of(
    ops: list[Operation], arrays_of: Callable[[list[Any]], list[Any]] | None
) -> dict[Operation, int]:
    """Return the numbers of iterations, or the branches taken.

    Without values the query is why there is no gradient. A gradient then exists after as many
    iterations as the loop has tensors, or never.
    """
    if arrays_of is None:
        return {op: len(bodies.bodies_of(op)[0].arguments) for op in ops if op.type != "If"}
    queried = []
    for op in ops:
        if op.type == "While":
            queried.append(_counted(op, op.inputs)[-1])
        else:
            queried.append(op.inputs[0 if op.type == "If" else op.attrs["carried"]])
    found = dict(zip(ops, arrays_of(queried) if queried else [], strict=True))
    out = {op: len(x) if op.type == "Scan" else int(x) for op, x in found.items()}
    last = {op: len(bodies.bodies_of(op)) - 1 for op in ops if op.type == "If"}
    return out | {op: min(max(out[op], 0), n) for op, n in last.items()}


def _counted(op: Operation, inputs: Sequence[Tensor], trips: int | None = None) -> list[Tensor]:
    """Record a while loop like `op` that also counts its iterations, or runs `trips` times."""
    graph, (body, condition) = op.graph, bodies.bodies_of(op)
    n = len(body.arguments)
    first = len(graph._operations)
    at = bodies.argument_of(graph, int32, (), "Counter")
    more = bodies.subgraph_of(first, [at], [at + 1])
    longer = bodies.Subgraph(
        [*body.arguments, at], [*body.results, *more.results], [*body.ops, *more.ops],
        body.captured, body.controls, body.rules,
    )  # fmt: skip
    first = len(graph._operations)
    at = bodies.argument_of(graph, int32, (), "Counter")
    test = bodies.Subgraph(
        [], condition.results, condition.ops, condition.captured, condition.controls
    )
    if trips is not None:
        test = bodies.subgraph_of(first, [at], [at < trips])
    test.arguments = [*condition.arguments, at]
    attrs = {"bodies": (longer, test), "arrays": (*op.attrs["arrays"], False)}
    end = n + len(body.captured) + len(test.captured)
    given = [*inputs[:n], convert_to_tensor(0, int32), *inputs[n:end]]
    kinds = [(x.dtype, x.dims) for x in (*op.outputs, at)]
    return bodies.recorded(graph, "While", given, attrs, op.name, kinds, op.control_inputs)


class _Unrolling:
    """One loop or branch to unroll, on copies of its inputs."""

    def __init__(self, op: Operation, inputs: list[Tensor], below: UnrolledTarget) -> None:
        self.op, self.inputs, self.below = op, inputs, below
        self.graph = op.graph
        self.kind = "branch" if op.type == "If" else "loop"
        self.first = len(self.graph._operations)
        self.copies: list[tuple[Operation, Operation]] = []

    def run(self, number: int) -> list[Tensor]:
        op = self.op
        if op.type == "If":
            chosen = bodies.bodies_of(op)[number]
            before = sum(len(subgraph.captured) for subgraph in bodies.bodies_of(op)[:number])
            outs = self._inside(chosen, [], self.inputs[1 + before :])
            self._end_part(number, 1, len(bodies.bodies_of(op)), False)
        else:
            outs = self._loop(number)
        self.below.ran[number_of(op.outputs[0])] = self.kind, number, ""
        return outs

    def _loop(self, trips: int) -> list[Tensor]:
        op, body = self.op, bodies.bodies_of(self.op)[0]
        n = op.attrs["carried"] if op.type == "Scan" else len(body.arguments)
        m = len(body.arguments)
        reverse = op.attrs.get("reverse", False)
        state, along, captured = self.inputs[:n], self.inputs[n:m], self.inputs[m:]
        closed = trips > max(_RECORDS // (len(body.ops) + 1), 1)
        count = min(_LOOPS, trips) if closed else trips
        stacked: list[list[Tensor]] = [[] for _ in body.results[n:]]
        for p in range(count):
            first = trips // count * p + min(p, trips % count)
            size = trips // count + (p < trips % count)
            entry = trips - first - size if reverse else first
            if closed:
                entries = [x[entry : entry + size] for x in along]
                results = self._shorter([*state, *entries, *captured], size)
            else:
                entries = [x[entry] for x in along]
                results = self._inside(body, [*state, *entries], captured)
            state = results[:n]
            for rows, y in zip(stacked, results[n:], strict=True):
                rows.append(y)
            self._end_part(first, size, trips, closed)
        outs = [*state, *(self._joined(rows, reverse, closed) for rows in stacked)]
        if not trips:
            outs[n:] = [self._empty(y) for y in op.outputs[n:]]
        if self.below.parts and trips:
            self._extend(self.below.parts[-1])
        return outs

    def _joined(self, rows: list[Tensor], reverse: bool, closed: bool) -> Any:
        if not rows:
            return None
        rows = rows[::-1] if reverse else rows
        return concat(rows, 0) if closed else stack(rows, 0)

    def _empty(self, y: Tensor) -> Tensor:
        if y.dims is None or None in y.dims[1:]:
            raise ValueError(
                "scan: expected an iteration or more, got none, so that the shape is unknown"
            )
        made: Tensor = convert_to_tensor(np.zeros((0, *y.dims[1:]), y.dtype.as_numpy_dtype))
        return made

    def _shorter(self, inputs: list[Tensor], trips: int) -> list[Tensor]:
        op = self.op
        if op.type == "While":
            return _counted(op, inputs, trips)[:-1]
        n = op.attrs["carried"]
        kinds: list[Any] = [(x.dtype, x.dims) for x in op.outputs[:n]]
        for y in op.outputs[n:]:
            kinds.append((y.dtype, None if y.dims is None else (trips, *y.dims[1:])))
        return bodies.recorded(
            op.graph, "Scan", inputs, op.attrs, op.name, kinds, op.control_inputs
        )

    def _inside(
        self, subgraph: bodies.Subgraph, arguments: Sequence[Tensor], captured: Sequence[Tensor]
    ) -> list[Tensor]:
        copies: Copies = dict(zip(subgraph.captured, captured, strict=False))
        copies.update(zip(subgraph.arguments, arguments, strict=True))
        with self.graph.control_dependencies(self.op.control_inputs):
            for op in subgraph.ops:
                made = _copied(op, copies)
                copies.update(zip(op.outputs, made, strict=True))
                self.copies.append((made[0].op, op))
        return [copies.get(y, y) for y in subgraph.results]

    def _end_part(self, first: int, count: int, of: int, closed: bool) -> None:
        part: dict[str, Any] = {
            "operation": number_of(self.op.outputs[0]), "kind": self.kind, "function": "",
            "first": first, "count": count, "of": of, "closed": closed, "numbers": [],
            "copies": [],
        }  # fmt: skip
        self.below.parts.append(part)
        self._extend(part)

    def _extend(self, part: dict[str, Any]) -> None:
        """Add the operations created around the copies to those of the original."""
        copies, self.copies = dict(self.copies), []
        for made in self.graph._operations[self.first :]:
            original = copies.get(made)
            made.place = (original or self.op).place
            if made.type == self.op.type:  # a shorter loop
                made.name = (original or self.op).name
            numbers = [number_of(y) for y in made.outputs]
            part["numbers"] += numbers
            if original:
                part["copies"] += zip(numbers, map(number_of, original.outputs), strict=True)
        self.first = len(self.graph._operations)


def _copied(op: Operation, copies: Copies) -> tuple[Tensor, ...]:
    rule = op.rule if op.rule is None else _rule_in_copy(op, copies)
    return copied(op, copies, rule, as_original=True)


def _rule_in_copy(op: Operation, copies: Copies) -> Rule:
    """Copy the results of a custom_gradient rule, which may use tensors of the body."""

    def rule(made: Operation, *upstream: Any) -> list[Any]:
        own = bodies.own_rule_of(op)
        if isinstance(own, Exception):
            raise own
        answers: list[Any] = [None] * len(op.inputs)
        if isinstance(own, bodies.OwnRule):
            given = copies | dict(zip(own.subgraph.arguments, upstream, strict=True))
            given.update(zip([*op.inputs, *op.outputs], [*made.inputs, *made.outputs], strict=True))
            for used in ancestors(x for x in own.subgraph.captured if x not in given):
                if used.outputs[0] not in given and any(x in given for x in used.inputs):
                    given.update(zip(used.outputs, _copied(used, given), strict=True))
            for inner in own.subgraph.ops:
                given.update(zip(inner.outputs, _copied(inner, given), strict=True))
            for i, y in zip(own.answered, own.subgraph.results, strict=True):
                answers[i] = given.get(y, y)
        return answers

    found = Rule(rule, op.rule.name)
    found.own, found.where = op.rule.own, op.rule.where
    return found
