"""From records to core tensors: one run of some fetches, traced once and replayed.

The records that the fetches need are instantiated in order of creation inside a core Trace. Fed
tensors are arguments wherever they are, so constants, intermediates and gradients can be fed.
Variables are read as they were before the run; a read that depends on an assignment of the run sees
the new value. What must happen in Python (printing) is kept for after the replay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import _core
from .errors import FailedPreconditionError, InvalidArgumentError
from .gradient_record import GRADIENT, compute, fed_output
from .opdef import build_outputs
from .operation import Operation
from .tensor import Tensor

__all__ = ["Feed", "Program", "Slot", "make_program"]


@dataclass(eq=False)
class Slot:
    """A variable's value in one session."""

    core: Any = None  # a core Variable, once anything was assigned
    initialized: bool = False


@dataclass(frozen=True)
class Feed:
    """What is known about a fed value when a program is made."""

    tensor: Tensor
    shape: tuple[int, ...]
    value: Any = None  # where the program depends on the value itself: axes, shapes


@dataclass(eq=False)
class Program:
    """Some fetches under one feed signature, ready to run again and again."""

    trace: Any
    fetched: int
    reads: list[tuple[Slot, Any]]  # must hold this core variable when the run begins
    assigned: list[tuple[Slot, Any]]
    effects: list[tuple[Callable[..., None], int]]  # with how many of the trailing outputs
    arguments: list[bool]  # which feeds are arguments

    def is_valid(self) -> bool:
        """Whether the session's variables are still those that were traced."""
        return all(slot.core is core and slot.initialized for slot, core in self.reads)

    def run(self, values: Sequence[Any]) -> list[Any]:
        results = self.trace.replay(
            [value for value, used in zip(values, self.arguments, strict=True) if used]
        )
        for slot, core in self.assigned:
            slot.core, slot.initialized = core, True
        start = self.fetched
        for effect, count in self.effects:
            effect(*results[start : start + count])
            start += count
        return list(results[: self.fetched])


def needed_operations(fetches: Iterable[Any], fed: set[Tensor]) -> list[Operation]:
    """What must run for these fetches, in order of creation."""
    seen: set[Operation] = set()
    pending = [
        item if isinstance(item, Operation) else item.op
        for item in fetches
        if isinstance(item, Operation) or item not in fed
    ]
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        pending.extend(x.op for x in op.inputs if x not in fed)
        pending.extend(op.control_inputs)
    return sorted(seen, key=lambda op: op.number)


def static_feeds(ops: Sequence[Operation], feeds: Iterable[Tensor]) -> set[Tensor]:
    """The fed tensors whose values are read while building: axes and shapes depend on them."""
    fed = set(feeds)
    wanted: set[Tensor] = set()
    for op in reversed(ops):
        row = op.definition
        if row is GRADIENT:
            forward, held = op.attrs["forward"], op.attrs["held"]
            static = {i % len(forward.inputs) for i in op.attrs["row"].static}
            wanted.update(x for x, i in zip(op.inputs, held, strict=False) if i in static)
        for i in row.static:
            wanted.add(op.inputs[i % len(op.inputs)])
        reads_values = row.type not in ("Shape", "Size", "Rank", "AllAxes")
        if reads_values and any(out in wanted for out in op.outputs):
            wanted.update(op.inputs)
    return wanted & fed


def make_program(
    fetches: Sequence[Any], feeds: Sequence[Feed], slot_of: Callable[[Any], Slot]
) -> Program:
    """Traces the fetches, a list of tensors and operations of one graph."""
    run = Run(slot_of)
    run.trace.open()
    run.watcher.start()
    try:
        outputs = run.all(fetches, feeds)
    except BaseException:
        run.trace.abandon()
        raise
    finally:
        run.watcher.stop()
    run.trace.close(outputs)
    reads = [(slot_of(variable), core) for variable, core in run.snapshots_of.items()]
    assigned = [(slot_of(variable), core) for variable, core in run.assigned.items()]
    effects = [(function, len(inputs)) for function, inputs in run.effects]
    arguments = [feed.value is None for feed in feeds]
    return Program(run.trace, len(fetches), reads, assigned, effects, arguments)


@dataclass(eq=False)
class Run:
    """The state of one instantiation; what `execute` of a row gets."""

    slot_of: Callable[[Any], Slot]
    trace: Any = field(default_factory=_core.Trace)
    # Watched constants are tracked, so that gradients can be asked about them.
    watcher: Any = field(default_factory=lambda: _core.Tape(False))
    values: dict[Tensor, Any] = field(default_factory=dict)
    fed: dict[Tensor, Any] = field(default_factory=dict)
    differentiated: set[Operation] = field(default_factory=set)
    forwards: dict[Operation, tuple[list[Any], list[Any]]] = field(default_factory=dict)
    snapshots: dict[Any, Any] = field(default_factory=dict)  # variable -> value before the run
    snapshots_of: dict[Any, Any] = field(default_factory=dict)  # variable -> core variable
    assigned: dict[Any, Any] = field(default_factory=dict)  # variable -> core variable
    behind: dict[Operation, frozenset[Any]] = field(default_factory=dict)
    effects: list[tuple[Callable[..., None], list[Any]]] = field(default_factory=list)

    def all(self, fetches: Sequence[Any], feeds: Sequence[Feed]) -> list[Any]:
        for feed in feeds:
            if feed.value is None:
                core = self.trace.argument(feed.tensor.dtype, feed.shape, False)
            else:
                core = _core.constant(feed.value, feed.tensor.dtype)
                self.watcher.watch(core)
            self.fed[feed.tensor] = self.values[feed.tensor] = core
        ops = needed_operations(fetches, set(self.fed))
        for op in ops:
            if op.definition is GRADIENT and not op.attrs["linear"]:
                self.differentiated.add(op.attrs["forward"])
        for op in ops:
            self._instantiate(op)
        outputs = [self._fetched(item) for item in fetches]
        return outputs + [x for _, inputs in self.effects for x in inputs]

    def _fetched(self, item: Any) -> Any:
        if isinstance(item, Operation):
            return _core.constant(0)  # its value is None
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
            if isinstance(error, (FailedPreconditionError, InvalidArgumentError)):
                raise
            shapes = ", ".join(f"'{x.name}' {self.values[x].shape}" for x in op.inputs)
            raise InvalidArgumentError(
                op, f"{op.type} '{op.name}': {error}; inputs: {shapes or 'none'}"
            ) from None
        for tensor, value in zip(op.outputs, outs, strict=True):
            if tensor in self.fed:
                continue
            if value is not None and not _core.is_tracked(value):
                self.watcher.watch(value)
            self.values[tensor] = value

    def _outputs(self, op: Operation, inputs: list[Any]) -> list[Any]:
        row = op.definition
        if row.execute is not None:
            outs: list[Any] = row.execute(self, op, inputs)
            return outs
        if op in self.differentiated:
            return self._wrapped(op, inputs)[1]
        return build_outputs(row, op.attrs, inputs)

    def _wrapped(self, op: Operation, inputs: list[Any]) -> tuple[list[Any], list[Any]]:
        """Builds an operation on identities of its inputs, for its gradient."""
        count = len(inputs)
        static = {i % count for i in op.definition.static}
        ins = [x if i in static else _core.identity(x) for i, x in enumerate(inputs)]
        outs = compute(op, ins)
        if op.definition.from_output and op.outputs[0] in self.fed:
            outs = [fed_output(op, ins[0], self.fed[op.outputs[0]])]
        self.forwards[op] = ins, outs
        return self.forwards[op]

    def forward(self, op: Operation) -> tuple[list[Any], list[Any]]:
        """The tensors of a forward operation, for its gradient; built now if it did not run."""
        if op not in self.forwards:
            inputs = [self.values[x] for x in op.inputs]
            if op.definition is GRADIENT:
                self._outputs(op, inputs)
            else:
                self._wrapped(op, inputs)
        return self.forwards[op]

    # --- variables

    def _behind(self, op: Operation) -> frozenset[Any]:
        """The variables whose assignments in this run come before an operation."""
        sets = {self.behind[x.op] for x in op.inputs if x.op in self.behind}
        sets.update(self.behind[control] for control in op.control_inputs)
        sets.discard(frozenset())
        return frozenset().union(*sets) if len(sets) != 1 else next(iter(sets))

    def peek(self, variable: Any) -> Any:
        """The value before the run, or None if there is none."""
        slot = self.slot_of(variable)
        if variable not in self.snapshots and slot.initialized:
            # Before any assignment of this run: the trace gives the value from outside.
            self.snapshots[variable] = slot.core.read()
            self.snapshots_of[variable] = slot.core
        return self.snapshots.get(variable)

    def read(self, variable: Any, op: Operation) -> Any:
        """What a read operation sees."""
        if variable in self.behind[op]:
            return self.assigned[variable].read()
        value = self.peek(variable)
        if value is None:
            raise self._uninitialized(variable)
        return value

    def current(self, variable: Any) -> Any:
        """The value after the assignments so far."""
        if variable in self.assigned:
            return self.assigned[variable].read()
        value = self.peek(variable)
        if value is None:
            raise self._uninitialized(variable)
        return value

    def assign(self, variable: Any, value: Any) -> Any:
        """Assigns when the run succeeds; gives the new value."""
        self.peek(variable)
        core = self.assigned.get(variable, self.slot_of(variable).core)
        if core is None or core.shape != value.shape:
            zero = _core.full(value.shape, _core.constant(0, value.dtype))
            core = _core.slot_variable(zero, variable.op.name)
        core.assign(value)
        self.assigned[variable] = core
        return value

    def mark(self, op: Operation, variables: Iterable[Any]) -> None:
        """Says that an operation has assigned these, for what comes after it."""
        self.behind[op] = self.behind[op].union(variables)

    def _uninitialized(self, variable: Any) -> FailedPreconditionError:
        name = variable.op.name
        return FailedPreconditionError(
            variable.op,
            f"Attempting to use uninitialized value {name}: the variable '{name}' has no value in "
            "this session; run tf.global_variables_initializer() first, made after the variable",
        )
