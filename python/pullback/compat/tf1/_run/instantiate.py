"""Conversion of records to core tensors: one run of some fetches, traced once and replayed.

The records that the fetches need are instantiated in order of creation inside a core Trace. Fed
tensors are arguments, so constants, intermediates and gradients can be fed. Variables have their
values from before the run; a read that depends on an assignment of the run has the new value, and
so has a variable that is fetched itself. In a loop that assigns a variable, other reads have the
value at the start of the iteration.
Effects in Python (printing) are executed after the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Any

from .... import _core
from .._graph.conversion import as_static
from .._graph.opdef import build, error_text, pull_through
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors, argument, opaque
from ..errors import FailedPreconditionError, InvalidArgumentError, OpError


class Unwritten(ValueError):
    """An element was read before it was written."""


class WantsValues(Exception):
    """An operation cannot be traced, since its shape or its trip count depends on values."""


@dataclass(eq=False)
class Slot:
    """A variable's value in one session."""

    core: Any = None  # a core Variable after the first assignment
    initialized: bool = False
    lock: Any = field(default_factory=RLock, repr=False)  # for the position of an iterator


@dataclass(frozen=True)
class Feed:
    """Dtype and static shape or value of a feed, for a new program."""

    tensor: Tensor
    shape: tuple[int, ...]
    value: Any = None  # if the program depends on the value: axes, shapes


@dataclass(eq=False)
class Program:
    """Some fetches under one feed signature, ready to run repeatedly."""

    trace: Any
    fetched: int
    reads: list[tuple[Slot, Any]]  # must have this core variable at the start of the run
    assigned: list[tuple[Slot, Any]]
    effects: list[tuple[Callable[..., None], int]]  # with the number of their trailing outputs
    arguments: list[bool]  # which feeds are arguments

    def is_valid(self) -> bool:
        """Test whether the session's variables are still those that were traced."""
        return all(slot.core is core and slot.initialized for slot, core in self.reads)

    def run(self, values: Sequence[Any]) -> list[Any]:
        arguments = [value for value, used in zip(values, self.arguments, strict=True) if used]
        try:
            results = self.trace.replay(arguments)
        except (IndexError, ZeroDivisionError, ValueError) as error:
            raise InvalidArgumentError(None, str(error)) from None
        for slot, core in self.assigned:
            slot.core, slot.initialized = core, True
        start = self.fetched
        for effect, count in self.effects:
            effect(*results[start : start + count])
            start += count
        return list(results[: self.fetched])


def needed_operations(
    fetches: Iterable[Any], fed: set[Tensor]
) -> tuple[list[Operation], set[Operation]]:
    """Return the operations to build for the fetches, oldest first, and those that need a value.

    The others are only differentiated, and the gradient may not depend on their values. Therefore
    their control inputs are not among those that need a value.
    """
    strict: set[Operation] = set()
    pending = [
        item if isinstance(item, Operation) else item.op
        for item in fetches
        if isinstance(item, Operation) or item not in fed
    ]
    lazy: list[Operation] = []
    while pending:
        op = pending.pop()
        if op in strict:
            continue
        strict.add(op)
        seen = op.inputs
        if op.type == "SymbolicGradient":
            differentiated = op.attrs["ys"] + op.attrs["xs"]
            lazy.extend(x.op for x in seen[:differentiated] if x not in fed)
            lazy.extend(x.op for x in _below_feeds(op, fed))
            seen = seen[differentiated:]
        pending.extend(x.op for x in seen if x not in fed)
        pending.extend(op.control_inputs)
    every = set(strict)
    while lazy:
        op = lazy.pop()
        if op not in every:
            every.add(op)
            lazy.extend(x.op for x in op.inputs if x not in fed)
            if op.type == "SymbolicGradient":
                lazy.extend(x.op for x in _below_feeds(op, fed))
    return sorted(every, key=lambda op: op.number), strict


def _below_feeds(record: Operation, fed: set[Tensor]) -> list[Tensor]:
    """Return the operations that a gradient passes below fed tensors: a feed never cuts a path."""
    if not any(x.op.inputs for x in fed):
        return []
    n, m = record.attrs["ys"], record.attrs["xs"]
    reached = set(record.inputs[n : n + m])
    below: list[Tensor] = []
    for op in ancestors(record.inputs[:n]):
        if any(x in reached for x in op.inputs):
            reached.update(op.outputs)
            if any(out in fed for out in op.outputs):
                below.extend([op.outputs[0], *(x for x in op.inputs if x not in fed)])
    return below


def static_feeds(ops: Sequence[Operation], feeds: Iterable[Tensor]) -> set[Tensor]:
    """Return the fed tensors whose values determine axes and shapes."""
    fed = set(feeds)
    wanted: set[Tensor] = set()
    pending = list(ops)
    while pending:
        op = pending.pop()
        for subgraph in op.attrs.get("bodies", ()):
            pending.extend(subgraph.ops)
        row = op.definition
        static = row.which_static(op.inputs)
        wanted.update(x for x, fixed in zip(op.inputs, static, strict=True) if fixed)
        reads_values = row.type not in ("Shape", "Size", "Rank", "AllAxes")
        if reads_values and any(out in wanted for out in op.outputs):
            wanted.update(op.inputs)
    return wanted & fed


def make_program(
    fetches: Sequence[Any], feeds: Sequence[Feed], make_run: Callable[[], Run]
) -> Program | None:
    """Trace the fetches, tensors and operations of one graph.

    Returns None if they need a Python function that reads values.
    """
    used: list[Operation] = []
    while True:
        run = make_run()
        run.trace.open()
        run.watcher.start()
        try:
            outputs = run.all(fetches, feeds, used)
            late = run.used_after_all(outputs)
        except WantsValues:
            run.trace.abandon()
            return None
        except BaseException:
            run.trace.abandon()
            raise
        finally:
            run.watcher.stop()
        if not late:
            break
        run.trace.abandon()
        used += late
    try:
        run.trace.close(outputs)
    except RuntimeError:
        if run.hollow:  # the gradient depends on it
            raise run.hollow[0] from None
        raise
    slot_of = run.slot_of
    reads = [(slot_of(variable), core) for variable, (core, _) in run.snapshots.items()]
    assigned = [(slot_of(variable), core) for variable, core in run.assigned.items()]
    effects = [(function, len(inputs)) for function, inputs in run.effects]
    arguments = [feed.value is None for feed in feeds]
    return Program(run.trace, len(fetches), reads, assigned, effects, arguments)


def identity_rule(op: Operation) -> Any:
    """Return the rule that passes the cotangents of the outputs to the inputs."""
    return _core.Rule(lambda name, ins, outs, cotangents: cotangents, op.type)


@dataclass(eq=False)
class Run:
    """The state of one instantiation, the argument of a row's `execute`."""

    slot_of: Callable[[Any], Slot]
    has_values: bool = field(default=False, kw_only=True)  # whether values can be read
    trace: Any = field(default_factory=_core.Trace)
    # Watched constants are tracked, so that gradients by them exist.
    watcher: Any = field(default_factory=lambda: _core.Tape(False))
    values: MutableMapping[Tensor, Any] = field(default_factory=dict)
    fed: dict[Tensor, Any] = field(default_factory=dict)
    strict: set[Operation] = field(default_factory=set)
    hollow: list[Exception] = field(default_factory=list)  # for each value that is missing
    snapshots: dict[Any, Any] = field(default_factory=dict)  # variable -> value before the run
    assigned: dict[Any, Any] = field(default_factory=dict)  # variable -> core variable
    behind: MutableMapping[Operation, frozenset[Any]] = field(default_factory=dict)
    effects: list[tuple[Callable[..., None], list[Any]]] = field(default_factory=list)
    cut: list[Any] = field(default_factory=list)  # tensors at which gradients inside a body stop
    kind: Any = None  # of the runs of bodies; see body.py

    def all(
        self, fetches: Sequence[Any], feeds: Sequence[Feed], used: Sequence[Operation]
    ) -> list[Any]:
        for feed in feeds:
            if feed.value is None:
                core = self.trace.argument(feed.tensor.dtype, feed.shape, False)
            else:
                core = _core.constant(feed.value, feed.tensor.dtype)
                self.watcher.watch(core)
            self.fed[feed.tensor] = self.values[feed.tensor] = core
        ops, self.strict = needed_operations([*fetches, *used], set(self.fed))
        for op in ops:
            self._instantiate(op)
        outputs = [self._fetched(item) for item in fetches]
        return outputs + [x for _, inputs in self.effects for x in inputs]

    def used_after_all(self, outputs: list[Any]) -> list[Operation]:
        """Return differentiated operations whose values, and so control inputs, the run uses."""
        waiting = (op for op in self.behind if op not in self.strict and op.control_inputs)
        values = [x for op in waiting for x in op.outputs]
        results = outputs + [self._latest(variable) for variable in self.assigned]
        under = _core.computed_from(results, [self.values[x] for x in values])
        return [*dict.fromkeys(x.op for x, is_used in zip(values, under, strict=True) if is_used)]

    def _fetched(self, item: Any) -> Any:
        if isinstance(item, Operation):
            return _core.constant(0)  # its value is None
        variable = item.op.attrs.get("variable")
        own = variable in self.assigned and {variable.handle, variable._graph_element}
        if own and item in own and own.isdisjoint(self.fed):
            return self._latest(variable)  # the memory of the variable, after the run
        value = self.values[item]
        if value is None:
            raise self._uninitialized(item.op.attrs["variable"])
        return value

    def _instantiate(self, op: Operation) -> None:
        self.behind[op] = self._behind(op)
        inputs = [self.values[x] for x in op.inputs]
        try:
            outs = self._outputs(op, inputs)
        except (ValueError, IndexError, RuntimeError) as error:
            idle = op.definition.host and op not in self.strict
            if idle or isinstance(error, OpError):
                if op in self.strict or not op.outputs or not op.outputs[0].is_static:
                    raise
                # The gradient may not depend on it: a tensor without a value
                # and without derivatives.
                self.hollow.append(error)
                under = [x for x in inputs if x is not None]
                outs = [opaque(under, x.dtype, x.dims or ()) for x in op.outputs]
            else:
                shapes = ", ".join(f"'{x.name}' {self.values[x].shape}" for x in op.inputs)
                text = error_text(op.definition, op.type, error, shapes, op.name)
                raise InvalidArgumentError(op, text) from None
        for tensor, value in zip(op.outputs, outs, strict=True):
            if tensor in self.fed:
                value = self._in_place_of(op, tensor, value, self.fed[tensor], inputs)
            if value is not None and not _core.is_tracked(value):
                self.watcher.watch(value)
            self.values[tensor] = value

    def _outputs(self, op: Operation, inputs: list[Any]) -> list[Any]:
        row = op.definition
        if row.host and not self.has_values:
            raise WantsValues
        if row.execute is not None:
            outs: list[Any] = row.execute(self, op, inputs)
            return outs
        outs = build(row, self._arguments(op, inputs), op.attrs)
        # The core must not differentiate these; backprop.py calls user-defined rules.
        own = op.has_own_rule or not row.flows
        return [_core.stop_gradient(out) for out in outs] if own else outs

    def _arguments(self, op: Operation, inputs: list[Any]) -> list[Any]:
        pairs = list(zip(inputs, op.definition.which_static(inputs), strict=True))
        if not self.has_values and any(fixed and _core.is_traced(x) for x, fixed in pairs):
            raise WantsValues  # a shape or an axis that a variable or a draw determines
        return [as_static(x) if fixed else x for x, fixed in pairs]

    def _in_place_of(
        self, op: Operation, out: Tensor, value: Any, fed: Any, inputs: list[Any]
    ) -> Any:  # fmt: skip
        """Replace the value of an output by the fed one, with the gradient of the operation."""
        row = op.definition
        if not row.flows or op.has_own_rule or value is None:
            return fed
        if row.execute is not None:  # a loop, a branch or a read: the gradient of its own value
            source = inputs[0] if op.type == "ReadVariableOp" else value
            return _core.custom([fed], [source], identity_rule(op))[0]
        args = self._arguments(op, inputs)
        tensors = row.tensors(args)
        if not tensors or any(x is None for x in tensors):
            return fed

        def rule(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> list[Any]:
            mixed = row.with_tensors(args, ins)
            answers = pull_through(row, op.attrs, mixed, outs, cotangents, out.index)
            return answers + [None] * (len(ins) - len(answers))

        return _core.custom([fed], tensors, _core.Rule(rule, op.type))[0]

    # --- variables

    def _behind(self, op: Operation) -> frozenset[Any]:
        """Return the variables whose assignments in this run precede an operation."""
        sets = {self.behind[x.op] for x in op.inputs if x.op in self.behind}
        sets.update(self.behind[c] for c in op.control_inputs if c in self.behind)
        sets.discard(frozenset())
        return frozenset().union(*sets) if len(sets) != 1 else next(iter(sets))

    def peek(self, variable: Any) -> Any:
        """Return the value before the run, or None if there is none."""
        slot = self.slot_of(variable)
        if variable not in self.snapshots and slot.initialized:
            # Before the first assignment of this run the trace has the outer value.
            self.snapshots[variable] = (slot.core, slot.core.read())
        return self.snapshots.get(variable, (None, None))[1]

    def read(self, variable: Any, op: Operation) -> Any:
        """Return the value of a read operation."""
        handle = self.values[variable.handle]
        before = self.at_start(variable)
        if variable in self.behind[op]:
            value = self._latest(variable)
        elif before is not None and variable.handle not in self.fed:
            value = before
        elif self.peek(variable) is None and variable.handle not in self.fed:
            if op in self.strict:
                raise self._uninitialized(variable)
            self.hollow.append(self._uninitialized(variable))
            value = argument(handle.dtype, handle.shape)
        else:
            return _core.identity(handle)
        # Another value, or none; the gradient is still the variable's.
        return _core.custom([value], [handle], identity_rule(op))[0]

    def at_start(self, variable: Any) -> Any:
        """Return the value of a variable that an earlier iteration assigned, or None."""
        return None

    def current(self, variable: Any) -> Any:
        """Return the value after the assignments so far."""
        if variable in self.assigned:
            return self._latest(variable)
        value = self.peek(variable)
        if value is None:
            raise self._uninitialized(variable)
        return value

    def _latest(self, variable: Any) -> Any:
        """Return the value that this run has assigned."""
        return self.assigned[variable].read()

    def assign(self, variable: Any, value: Any) -> Any:
        """Assign when the run succeeds; returns the new value."""
        self.peek(variable)
        core = self.assigned.get(variable, self.slot_of(variable).core)
        if core is None or core.shape != value.shape:
            zero = _core.full(value.shape, _core.constant(0, value.dtype))
            core = _core.slot_variable(zero, variable.op.name)
        core.assign(value)
        self.assigned[variable] = core
        return value

    def mark(self, op: Operation, variables: Iterable[Any]) -> None:
        """Record that an operation has assigned these variables, for later reads."""
        self.behind[op] = self.behind[op].union(variables)

    def _uninitialized(self, variable: Any) -> FailedPreconditionError:
        text = (
            f"Attempting to use uninitialized value {variable.op.name}: the variable has no value "
            "in this session; run tf.global_variables_initializer() first, made after the variable"
        )
        return FailedPreconditionError(variable.op, text)
