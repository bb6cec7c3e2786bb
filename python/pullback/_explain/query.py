"""A question about a gradient: its target, source and options.

`Question.opened` repeats it for a target in which loops are unrolled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._core import Rule, Variable
from .ancestry import Ancestry, Inside, Place, Step, place_of

if TYPE_CHECKING:
    from .finding import Finding


class ControlRecord(NamedTuple):
    """The record of a loop or a branch that was evaluated."""

    step: Step
    kind: str
    function: str
    number: int  # iterations of a loop, or index of the function that a branch took


class Question:
    """The target, the source and the options of a gradient.

    Subclasses for other kinds of tensors override what differs for them; see query_kinds.py.
    """

    unknown = "a function is being traced"  # why there are no values

    def __init__(
        self,
        y: Any,
        x: Any,
        *,
        seed: Any = None,
        tape: _core.Tape | None = None,
        stops: Iterable[Any] = (),
        overrides: dict[str, Rule] | None = None,
    ) -> None:
        self.y: Any = y.read() if isinstance(y, Variable) else y
        self.x = x
        self.seed = seed
        self.tape = tape
        self.stops = list(stops)
        self.overrides = overrides
        # Positions of steps in loops and branches, by their numbers; see opened().
        self.inside: dict[int, tuple[Inside, ...]] = {}
        self.made_from: dict[int, int] = {}

    def gradients(
        self, xs: list[Any], y: Any = None, seed: Any = None, stops: Iterable[Any] = ()
    ) -> list[Any]:
        """Return gradients with the options of the question, by default of its y."""
        return _core.gradients(
            [self.y if y is None else y],
            xs,
            [self.seed if y is None else seed],
            [*self.stops, *stops],
            self.overrides,
            self.tape,
        )

    @cached_property
    def ancestry(self) -> Ancestry:
        return Ancestry(self)

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Return the context manager inside which the question is evaluated."""
        resting = _core.rest_checks(True)  # check_numerics must not stop the analysis
        _core.records_aside(True)
        try:
            yield
        finally:
            _core.rest_checks(resting)
            _core.records_aside(False)

    def arrays_of(self, tensors: list[Any]) -> list[Any]:
        """Return the values of tensors."""
        return _core.arrays_of(tensors)

    def ones(self) -> Any:
        """Return the cotangent of y if the question has none."""
        return _core.full(self.y.shape, 1, self.y.dtype)

    def opened(self, steps: list[Step]) -> tuple[Question, list[ControlRecord]]:
        """Return the question for a y that is rebuilt from the insides of these loops and branches.

        The second result describes each loop or branch that could be divided.
        """
        by_operation = {step.operation: step for step in steps}
        y, records, parts, copies = self._opened_below(steps)
        inner = copy(self)
        inner.__dict__.pop("ancestry", None)
        inner.y = y
        inner.inside = self.inside | {new: self.inside.get(old, ()) for new, old in copies}
        inner.made_from = self.made_from | {new: self.made_from.get(old, 0) for new, old in copies}
        for part in parts:
            number = part["operation"]
            outer, first, of = self.inside.get(number, ()), part["first"], part["of"]
            origin, place = number, by_operation[number].place
            if outer and outer[-1].closed:
                origin, of, first = outer[-1].operation, outer[-1].of, outer[-1].first + first
                outer = outer[:-1]
            here = Inside(
                origin, part["kind"], part["function"], first, part["count"], of, part["closed"],
                place,
            )  # fmt: skip
            inner.inside.update(dict.fromkeys(part["numbers"], (*outer, here)))
            inner.made_from.update(part["copies"])
        return inner, [
            ControlRecord(by_operation[number], kind, function, count)
            for number, (kind, count, function) in records.items()
        ]

    def _opened_below(self, steps: list[Step]) -> Any:
        ends = [end for end in (self.x, *self.stops) if not isinstance(end, Variable)]
        stopped_tape = None if self.tape is None or self.tape.recording else self.tape
        if stopped_tape:
            stopped_tape.start()  # rebuilt operations count like the original ones
        try:
            return _core.unrolled_below(self.y, [s.tensor for s in steps], ends)
        finally:
            if stopped_tape:
                stopped_tape.stop()

    def locate(self, steps: Mapping[int, Step]) -> None:
        """Set the positions of the steps in loops and branches."""
        for number, place in self.inside.items():
            if number in steps:
                steps[number].inside = place
                steps[number].made_from = self.made_from.get(number, 0)

    @property
    def x_dtype(self) -> Any:
        return self.x.dtype

    def x_title(self) -> str:
        """Return the description of x."""
        if isinstance(self.x, Variable):
            return f"Variable '{self.x.name}'"
        found = self.ancestry.steps.get(self.ancestry.x)
        return str(found) if found else f"a tensor {self.x.dtype}{list(self.x.shape)}"

    def x_place(self) -> Place | None:
        """Return the line that created x."""
        return place_of(self.x)

    # Hooks for other kinds of questions. None continues with the general analysis.

    def why_failed(self, error: Exception) -> Finding | None:
        """Return why the gradient cannot be computed."""
        return None

    def why_unseen(self) -> Finding | None:
        """Return why a path does not count."""
        return None

    def why_apart(self) -> Finding | None:
        """Return why y does not depend on x."""
        return None

    def why_cut(self, step: Step) -> Finding | None:
        """Return why no gradient passes a step."""
        return None


def ancestors_of(x: Any) -> dict[int, Step]:
    """Return x and the steps that it was computed from."""
    return Ancestry(Question(x, x)).steps
