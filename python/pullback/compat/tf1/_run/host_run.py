"""Runs in which a Python function needs values (`host` in the row of its operation).

A trace needs the shapes of all results, which are unknown until the function has returned. The
first run therefore computes eagerly (`run_now`): the same records are instantiated on tensors that
are computed when the function reads them. Assignments are stored until everything has succeeded, as
in a traced run. `HostProgram` stores the shapes; later runs are traced, with the calls of Python
functions as steps of the plan (`Steps`). A run whose functions return other shapes, or which fails,
is repeated by `run_now` with the results that its functions have returned so far: each function is
called once, and errors are those of `run_now`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .... import _core
from .._graph.opdef import RowError
from .._graph.operation import Operation
from ..errors import InvalidArgumentError, OpError
from .instantiate import Feed, Program, Run, Slot, WantsValues

_MOST_PROGRAMS = 64
# The dtypes and shapes of the results of each operation.
Kinds = tuple[tuple[Operation, Any], ...]


@dataclass(eq=False)
class HostRun(Run):
    """The state of one run; `assigned` has values."""

    has_values: bool = field(default=True, kw_only=True)
    # One entry, the generator of Python functions: not that of the run, whose numbers may be
    # drawn again.
    outside: list[Any] = field(default_factory=list)
    # Results of Python functions, each called once; or the exception raised in a plan.
    called: dict[Operation, Any] = field(default_factory=dict)
    # The arguments of the calls of a plan.
    given: dict[Operation, list[Any]] = field(default_factory=dict)
    # Variables as the plan read them, for the run that repeats it.
    before: dict[int, tuple[Any, Any]] = field(default_factory=dict)  # by id(slot)
    # Records of py_function: a tape, its arguments and its results.
    recorded: dict[Operation, tuple[Any, list[Any], list[Any]]] = field(default_factory=dict)

    def _outputs(self, op: Operation, inputs: list[Any]) -> list[Any]:
        if not op.definition.host:
            return super()._outputs(op, inputs)
        if op not in self.called:
            if not self.outside:  # a traced body, which calls no function
                return super()._outputs(op, inputs)
            own = _core.exchange_thread_draws(self.outside.pop())
            try:
                self.called[op] = super()._outputs(op, inputs)
            finally:
                self.outside.append(_core.exchange_thread_draws(own))
        answer: list[Any] = self.called[op]
        try:
            if isinstance(answer, Exception):
                raise answer
            return answer
        finally:
            del answer  # an exception refers to this frame

    def peek(self, variable: Any) -> Any:
        if found := self.before.get(id(self.slot_of(variable))):
            self.snapshots.setdefault(variable, found)
        return super().peek(variable)

    def _latest(self, variable: Any) -> Any:
        return self.assigned[variable]

    def assign(self, variable: Any, value: Any) -> Any:
        self.peek(variable)
        self.assigned[variable] = _core.stop_gradient(value)
        return value


def run_now(
    run: HostRun, fetches: Sequence[Any], feeds: Sequence[Feed], draws: tuple[int, int]
) -> list[Any]:
    """Compute the fetches eagerly from valued feeds, with the random numbers of `draws`.

    `run` has the results of functions called before, and nothing else.
    """
    slot_of, used = run.slot_of, list[Operation]()
    while True:
        _core.exchange_random_state(*draws)
        run.watcher.start()
        try:
            outputs = run.all(fetches, feeds, used)
        finally:
            run.watcher.stop()
        late = run.used_after_all(outputs)
        if not late:
            break
        used += late
        kept = {key: getattr(run, key) for key in ("outside", "called", "before", "recorded")}
        run = HostRun(slot_of, **kept)
    values = [*outputs, *run.assigned.values()]
    try:
        _core.evaluate([x for x in values if x is not None])
    except (IndexError, ZeroDivisionError, ValueError) as error:
        raise InvalidArgumentError(None, str(error)) from None
    except RuntimeError:
        if run.hollow:  # the gradient depends on it
            raise run.hollow[0] from None
        raise
    for variable, value in run.assigned.items():
        slot = slot_of(variable)
        if slot.core is None or slot.core.shape != value.shape:
            slot.core = _core.slot_variable(value, variable.op.name)
        slot.core.assign(value)
        slot.initialized = True
    rest = iter(outputs[len(fetches) :])
    for effect, inputs in run.effects:
        effect(*(next(rest) for _ in inputs))
    return outputs[: len(fetches)]


# --- as steps of a plan


class _Current(threading.local):
    run: HostRun | None = None  # of the program that this thread runs


_current = _Current()


def _kinds(outs: Any) -> Any:
    return tuple((y.dtype, y.shape) for y in outs)


def _kinds_of(called: Iterable[tuple[Operation, Any]]) -> Kinds:
    """Return the kinds of results, if these are not given; an exception has no kind."""
    ordered = sorted(called, key=lambda pair: pair[0].number)
    return tuple((op, _kinds(y) if isinstance(y, list) else y) for op, y in ordered)


@dataclass(eq=False)
class Steps(Run):
    """A traced run with the calls of Python functions, whose results have these kinds."""

    kinds: dict[Operation, Any] = field(default_factory=dict, kw_only=True)
    last: list[Any] = field(default_factory=list)  # the call before; they run in this order

    def all(self, *args: Any) -> list[Any]:
        return super().all(*args) + self.last

    def _outputs(self, op: Operation, inputs: list[Any]) -> list[Any]:
        if not op.definition.host:
            return super()._outputs(op, inputs)
        if op not in self.kinds and op not in self.strict:
            raise RowError("the function was not called")
        kinds = self.kinds.get(op)
        if kinds is None or any(kind[0].kind == "c" for kind in (*_kinds(inputs), *kinds)):
            raise WantsValues
        # A weak reference, since the garbage collector does not see the plan.
        call = _call(weakref.ref(op), self.behind[op], kinds)
        done = _core.callback(call, [*inputs, *self.last], np.dtype(bool), ())
        if op in self.strict:
            self.last = [done]
        return [
            _core.stop_gradient(_core.callback(_result(weakref.ref(op), k), [done], *kind))
            for k, kind in enumerate(kinds)
        ]


def _call(of: Callable[[], Any], behind: frozenset[Any], kinds: Any) -> Callable[..., Any]:
    def call(*arrays: Any) -> Any:
        op, run = of(), _current.run
        assert run is not None
        run.behind[op] = behind
        inputs = [_core.constant(a, a.dtype) for a in arrays[: len(op.inputs)]]
        known = run.given.setdefault(op, inputs)
        if known is not inputs and not all(map(_equal, known, inputs)):
            # The plan was restarted because a variable was assigned: the result is outdated.
            raise ValueError(f"{op.type} '{op.name}': this run has to be repeated")
        made = None
        try:
            made = run._outputs(op, inputs)
        except Exception as error:
            run.called[op] = error
        if made is None or _kinds(made) != kinds:
            raise ValueError(f"{op.type} '{op.name}': this run has to be repeated")
        return np.array(True)

    return call


def _equal(a: Any, b: Any) -> Any:
    return a.shape == b.shape and a.numpy().tobytes() == b.numpy().tobytes()


def _result(of: Callable[[], Any], k: int) -> Callable[..., Any]:
    def result(done: Any) -> Any:
        assert _current.run is not None
        return np.ascontiguousarray(_current.run.called[of()][k].numpy())

    return result


@dataclass(eq=False)
class HostProgram:
    """Some fetches under one feed signature, for which Python functions are called.

    Plans are built for the first results and for kinds that repeat. A run starts with the last
    plan. If a function returns another kind, it continues with the plan of that kind, or eagerly.
    """

    fetches: Sequence[Any]
    feeds: Sequence[Feed]
    slot_of: Callable[[Any], Slot]
    make: Callable[[Kinds], Program | None] | None  # None: the run cannot be traced
    last: Kinds | None = None
    seen: dict[Kinds, None] = field(default_factory=dict)
    programs: dict[Kinds, Program | None] = field(default_factory=dict)  # None: not built yet

    def is_valid(self) -> bool:
        return True

    def _program(self, kinds: Kinds | None) -> Program | None:
        if self.make is None or kinds is None or kinds not in self.programs:
            return None
        program = self.programs.get(kinds)
        if program is None or not program.is_valid():
            program = None
            with suppress(OpError, RuntimeError):  # a shape depends on the result of a function
                program = self.programs[kinds] = self.make(kinds)
            if program is None:
                self.make = None
        return program

    @staticmethod
    def _have_moved(run: HostRun) -> bool:
        """Test whether a variable was assigned after the previous plan read it."""
        return any(
            _core.identity_of(core.read()) != _core.identity_of(value)
            for core, value in run.before.values()
        )

    def run(self, values: Sequence[Any]) -> list[Any]:
        draws = (_core.fork_random_state(), 0)
        run, outer, kinds = HostRun(self.slot_of), _current.run, self.last
        run.outside.append(_core.exchange_thread_draws(draws))
        _current.run = run
        try:
            while program := self._program(kinds):
                if self._have_moved(run):
                    break
                run.before = {id(slot): (core, core.read()) for slot, core in program.reads}
                _core.exchange_random_state(*draws)
                try:
                    outputs = program.run(values)
                except InvalidArgumentError:
                    if any(isinstance(y, Exception) for y in run.called.values()):
                        break
                    found = [(op, run.called.get(op, kind)) for op, kind in kinds or ()]
                    before, kinds = kinds, _kinds_of(found)
                    if kinds == before:
                        break  # `run_now` raises the error
                else:
                    self.last = kinds
                    return outputs
            feeds = [replace(f, value=v) for f, v in zip(self.feeds, values, strict=True)]
            outputs = run_now(run, self.fetches, feeds, draws)
            self.last = kinds = _kinds_of(run.called.items())
        finally:
            _current.run = outer
            _core.exchange_thread_draws(run.outside.pop())
            run.called.clear()
        if kinds in self.seen or not self.seen:
            self.programs.setdefault(kinds, None)
        self.seen[kinds] = None
        for known in (self.seen, self.programs):
            if len(known) > _MOST_PROGRAMS:
                known.pop(next(iter(known)), None)
        return outputs
