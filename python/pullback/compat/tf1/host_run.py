"""A run that computes as it goes, for graphs in which a Python function wants values.

A trace has no values, so a run that needs such an operation (`host` in its row) is not traced: the
same records are instantiated on tensors that are computed when the function looks. What they assign
is kept until everything has succeeded, as in a traced run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import _core
from .errors import InvalidArgumentError
from .instantiate import Feed, Run, Slot
from .operation import Operation

__all__ = ["HostRun", "run_now"]


@dataclass(eq=False)
class HostRun(Run):
    """The state of one run; `assigned` holds values."""

    looks: bool = field(default=True, kw_only=True)
    # What Python functions have answered, each of which is called once.
    called: dict[Operation, list[Any]] = field(default_factory=dict)
    # What py_function has recorded: a tape, its arguments and its results.
    recorded: dict[Operation, tuple[Any, list[Any], list[Any]]] = field(default_factory=dict)

    def _outputs(self, op: Operation, inputs: list[Any]) -> list[Any]:
        if not op.definition.host:
            return super()._outputs(op, inputs)
        if op not in self.called:
            self.called[op] = super()._outputs(op, inputs)
        return self.called[op]

    def _latest(self, variable: Any) -> Any:
        return self.assigned[variable]

    def assign(self, variable: Any, value: Any) -> Any:
        self.peek(variable)
        self.assigned[variable] = _core.stop_gradient(value)
        return value


def run_now(
    fetches: Sequence[Any], feeds: Sequence[Feed], slot_of: Callable[[Any], Slot]
) -> list[Any]:
    """The values of the fetches, all feeds of which have values."""
    run, used = HostRun(slot_of), list[Operation]()
    draws = _core.exchange_random_state(0, 0)
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
        run = HostRun(slot_of, called=run.called, recorded=run.recorded)
    values = [*outputs, *run.assigned.values()]
    try:
        _core.evaluate([x for x in values if x is not None])
    except (IndexError, ZeroDivisionError, ValueError) as error:
        raise InvalidArgumentError(None, str(error)) from None
    except RuntimeError:
        if run.hollow:  # the gradient depends on it after all
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
