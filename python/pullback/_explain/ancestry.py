"""What a tensor was made from, step by step, as far as that is still known.

A step is an operation that was carried out. The core tells what it was made from, whether a
gradient passes it, and, while debugging is on, the line of the user's program; see
`cpp/grad/ancestry.h`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._core import Rule, Variable

if TYPE_CHECKING:
    from .finding import Finding

LEAVES = {"constant", "scalar", "argument", "read", ""}


class Place(NamedTuple):
    """A line of the user's program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        file = os.path.relpath(self.file) if os.path.isabs(self.file) else self.file
        file = self.file if file.startswith("..") else file
        where = "" if self.function == "<module>" else f" in {self.function}"
        return f"{file}:{self.line}{where}"

    @property
    def text(self) -> str:
        """The line itself, where the file can be read."""
        from linecache import checkcache, getline

        checkcache(self.file)
        return getline(self.file, self.line).strip()


class Inside(NamedTuple):
    """Where in a loop or a branch something was done."""

    operation: int  # the number of the loop or the branch
    kind: str
    function: str  # and its place
    first: int  # iteration; or which function a branch took
    length: int  # iterations
    of: int  # so many
    closed: bool  # it is what is left of the loop, with so many iterations
    place: Place | None

    def as_dict(self) -> dict[str, Any]:
        """For programs: plain values."""
        number = "iteration" if self.kind == "loop" else "branch"
        return {
            "kind": self.kind,
            number: self.first,
            "of": self.of,
            "function": self.function,
            "file": self.place.file if self.place else None,
            "line": self.place.line if self.place else None,
        }

    def __str__(self) -> str:
        of = f"the {self.kind}" + (f" at {self.place}" if self.place else "")
        if self.kind != "loop":
            return f"function {self.first} of {of}"
        to = (
            f"s {self.first} to {self.first + self.length - 1}" if self.closed else f" {self.first}"
        )
        return f"iteration{to} (of 0 to {self.of - 1}) of {of}"


class Ran(NamedTuple):
    """What a loop or a branch did."""

    step: Step
    kind: str
    function: str
    number: int  # of iterations; or which function a branch took


class Step:
    """An operation that was carried out, or a leaf."""

    label = ""  # what finds it again without a line, if anything does
    operation = 0  # of a loop or a branch its number, whichever of its results this is
    inside: tuple[Inside, ...] = ()  # the outermost first
    made_from = 0  # inside of a loop: the number of what it repeats

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.number: int = fields["number"]
        self.name: str = fields["name"]
        self.kind = self.name  # the operation, whatever the step itself is called
        self.dtype: Any = fields["dtype"]
        self.inputs: list[int] = fields["inputs"]
        self.passes: bool = fields["passes"]
        self.stopped: bool = fields["stopped"]
        self.recorded: bool = fields["recorded"]
        self.rule: str | None = None if fields["own_rule"] else fields["rule"]
        self.custom: bool = fields["custom"]
        self.scalar: float | None = fields["scalar"]
        self.variable: int = fields["variable"]
        self.variable_name: str = fields["variable_name"]
        self.place = Place(*fields["place"]) if fields["place"] else None
        self.tensor: Any = fields["tensor"]  # None: it is gone
        self.tracked: bool = fields["tracked"]
        self.traced: bool = fields["traced"]
        self.origin: str = fields["origin"]
        self.operation = fields["operation"]

    @property
    def shape(self) -> tuple[int, ...] | None:
        return None if self.tensor is None else self.tensor.shape

    @property
    def size(self) -> int | None:
        """How many elements it has; None where that is not known."""
        return None if self.tensor is None else self.tensor.size

    @property
    def is_float(self) -> bool:
        return self.dtype is None or bool(self.dtype.kind in "fc")

    @property
    def carries(self) -> bool:
        """Whether a gradient by it can be asked for."""
        return self.tensor is not None and self.is_float

    @property
    def is_leaf(self) -> bool:
        return not self.inputs

    def __str__(self) -> str:
        name = self.name or "something made before debugging was on"
        if self.name == "read":
            name = f"variable '{self.variable_name}'" if self.variable_name else "a variable"
        elif self.custom:
            name = f"custom_gradient with the rule {self.name}"
        return f"{name} {self.form}".rstrip()

    @property
    def form(self) -> str:
        """Its dtype and shape, where they are known."""
        return "" if self.tensor is None else f"{self.tensor.dtype}{list(self.tensor.shape)}"


class Question:
    """What a gradient was asked about: of which tensor, by which source, and how.

    One about tensors of another kind overrides what differs for them; see asking.py.
    """

    unknown = "a function is being traced"  # why there are no values, if there are none

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
        self.inside: dict[int, tuple[Inside, ...]] = {}  # of steps by number; see opened()
        self.made_from: dict[int, int] = {}

    def gradients(
        self, xs: list[Any], y: Any = None, seed: Any = None, stops: Iterable[Any] = ()
    ) -> list[Any]:
        """As the question was asked; or those of another y, with its own seed."""
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
        """All that is asked is asked inside."""
        resting = _core.rest_checks(True)  # check_numerics: what is looked into may be at fault
        _core.records_aside(True)
        try:
            yield
        finally:
            _core.rest_checks(resting)
            _core.records_aside(False)

    def arrays_of(self, tensors: list[Any]) -> list[Any]:
        """The values of tensors."""
        return _core.arrays_of(tensors)

    def ones(self) -> Any:
        """The cotangent of y where the question has none."""
        return _core.full(self.y.shape, 1, self.y.dtype)

    def opened(self, steps: list[Step]) -> tuple[Question, list[Ran]]:
        """The question about a y that is made of what these loops and branches did, and what that
        was of each which could be divided."""
        by_operation = {step.operation: step for step in steps}
        y, ran, parts, copies = self._opened_below(steps)
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
            Ran(by_operation[number], kind, function, count)
            for number, (kind, count, function) in ran.items()
        ]

    def _opened_below(self, steps: list[Step]) -> Any:
        ends = [end for end in (self.x, *self.stops) if not isinstance(end, Variable)]
        paused = None if self.tape is None or self.tape.recording else self.tape
        if paused:
            paused.start()  # what is made again counts as what it is made of
        try:
            return _core.opened_below(self.y, [s.tensor for s in steps], ends)
        finally:
            if paused:
                paused.stop()

    def locate(self, steps: Mapping[int, Step]) -> None:
        """Tells the steps where in loops and branches they are."""
        for number, place in self.inside.items():
            if number in steps:
                steps[number].inside = place
                steps[number].made_from = self.made_from.get(number, 0)

    @property
    def x_dtype(self) -> Any:
        return self.x.dtype

    def x_title(self) -> str:
        """What x is called."""
        if isinstance(self.x, Variable):
            return f"Variable '{self.x.name}'"
        found = self.ancestry.steps.get(self.ancestry.x)
        return str(found) if found else f"a tensor {self.x.dtype}{list(self.x.shape)}"

    def x_place(self) -> Place | None:
        """Where x was made."""
        return place_of(self.x)

    # What another kind of question knows itself; None leaves it to what is asked of all.

    def why_failed(self, error: Exception) -> Finding | None:
        """Why the gradient cannot be asked for."""
        return None

    def why_unseen(self) -> Finding | None:
        """Why a path does not count."""
        return None

    def why_apart(self) -> Finding | None:
        """Why y was not made from x."""
        return None

    def why_cut(self, step: Step) -> Finding | None:
        """Why no gradient comes through a step."""
        return None


def name_reads(steps: dict[int, Step], xs: Iterable[Any]) -> None:
    """Tells the reads of some variables their names, which are else known while debugging."""
    names = {_core.identity_of(x, None)[1]: x.name for x in xs if isinstance(x, Variable)}
    for step in steps.values():
        step.variable_name = names.get(step.variable, step.variable_name)


class Ancestry:
    """The steps that lead to y, and which of them depend on x."""

    def __init__(
        self, question: Question, also: Iterable[int] = (), assignments: bool = False
    ) -> None:
        found = _core.ancestors(
            [question.y],
            [question.x],
            question.stops,
            question.overrides,
            question.tape,
            list(also),
            assignments,
        )
        self.steps = {entry["number"]: Step(entry) for entry in found}
        question.locate(self.steps)
        if isinstance(question.x, Variable):
            name_reads(self.steps, [question.x])
        identity = _core.identity_of(question.x, question.tape)
        self.x: int  # its number; 0 for a variable
        self.variable: int
        self.x_tracked: bool
        self.x_since: int | None  # when the tape watched it
        self.x, self.variable, self.x_tracked, self.x_since = identity
        self.y: int = _core.identity_of(question.y, None)[0]
        self.depends = self._dependents()

    def is_x(self, step: Step) -> bool:
        if self.x:
            return step.number == self.x
        return bool(self.variable) and step.variable == self.variable

    def _dependents(self) -> set[int]:
        """The steps that were made from x, and x itself."""
        out: set[int] = set()
        for number, step in self.steps.items():  # by creation: inputs come first
            if self.is_x(step) or any(i in out for i in step.inputs):
                out.add(number)
        return out

    def inputs(self, step: Step) -> list[Step]:
        """Those of a step that depend on x; none of x itself."""
        if self.is_x(step):
            return []
        return [self.steps[i] for i in dict.fromkeys(step.inputs) if i in self.depends]

    @property
    def top(self) -> Step:
        return self.steps[self.y]

    @property
    def connected(self) -> bool:
        return self.y in self.depends

    def descending(self) -> list[Step]:
        """The steps between y and x, y first."""
        below = {self.y}
        out = []
        for number in sorted(self.depends, reverse=True):
            if number not in below:
                continue
            step = self.steps[number]
            out.append(step)
            below.update(i.number for i in self.inputs(step))
        return out

    def path(self, through: Step | None = None, among: Collection[int] | None = None) -> list[Step]:
        """The shortest way from y to x, through a step of it; `among` some numbers, if it can."""
        allowed = self.depends if among is None else among
        if through is not None:
            head = self._way(self.y, lambda step: step is through, allowed)
            return head + self._way(through.number, self.is_x, self.depends)[1:]
        found = self._way(self.y, self.is_x, allowed)
        return found or self._way(self.y, self.is_x, self.depends)

    def _way(self, start: int, ends: Any, allowed: Collection[int]) -> list[Step]:
        if start not in allowed:
            return []
        came: dict[int, int | None] = {start: None}
        queue = [start]
        for number in queue:
            step = self.steps[number]
            if ends(step):
                way = []
                at: int | None = number
                while at is not None:
                    way.append(self.steps[at])
                    at = came[at]
                return way[::-1]
            for below in self.inputs(step):
                if below.number not in came and below.number in allowed:
                    came[below.number] = number
                    queue.append(below.number)
        return []


def ancestors_of(x: Any) -> dict[int, Step]:
    """What x was made from, and x."""
    return Ancestry(Question(x, x)).steps


def maker_of(steps: dict[int, Step], x: Any) -> Step:
    """The step among these that made x."""
    return steps[_core.identity_of(x, None)[0]]


def place_of(x: Any) -> Place | None:
    """Where a tensor was made."""
    if isinstance(x, Variable):
        return None
    place = _core.place_of(x)
    return Place(*place) if place else None


def shortened(path: list[Step], culprits: set[int]) -> list[Step | None]:
    """Of a long path both ends, and what is near a culprit; None for what is left out."""
    near = {i for i, step in enumerate(path) if step.number in culprits}
    shown = {i for at in near for i in range(at - 3, at + 4)}
    shown |= set(range(8)) | set(range(len(path) - 8, len(path)))
    out: list[Step | None] = []
    for i, step in enumerate(path):
        if i in shown:
            out.append(step)
        elif out[-1] is not None:
            out.append(None)
    return out
