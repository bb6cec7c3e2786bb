"""The operations that a tensor was computed from, as far as they are still known.

A `Step` is an operation that was carried out, or a leaf. The core reports its inputs, whether a
gradient passes it and, while debugging is on, the line of the program; see
`cpp/explain/ancestry.h`. `Ancestry` is the graph of the steps that lead to y.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.locations import location
from .._core import Variable

if TYPE_CHECKING:
    from .query import Question

LEAVES = {"constant", "scalar", "argument", "read", ""}


class Place(NamedTuple):
    """A line of the program."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        file = os.path.relpath(self.file) if os.path.isabs(self.file) else self.file
        inside = not file.startswith("..")
        where = "" if self.function == "<module>" else f" in {self.function}"
        return location(file if inside else self.file, self.line) + where

    @property
    def text(self) -> str:
        """Return the source line, or an empty string if the file cannot be read."""
        from linecache import checkcache, getline

        checkcache(self.file)
        return getline(self.file, self.line).strip()


class Inside(NamedTuple):
    """The position of a step in a loop or a branch."""

    operation: int  # number of the loop or branch
    kind: str
    function: str  # its function and the location of that
    first: int  # first iteration, or index of the function that a branch took
    length: int  # number of iterations
    of: int  # number of iterations of the whole loop, or of functions
    closed: bool  # whether it is a rest of the loop that is not unrolled
    place: Place | None

    def as_dict(self) -> dict[str, Any]:
        """Return the position as plain values."""
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


class Step:
    """An operation that was carried out, or a leaf."""

    label = ""  # a name that identifies it if it has no line
    operation = 0  # number of the loop or branch that this step is a result of
    inside: tuple[Inside, ...] = ()  # positions in loops and branches, outermost first
    given: tuple[int, ...] = ()  # of a composite that has no other rule: the inputs of the function
    # The outermost composite that computes it among other operations; None if the program does.
    composite: Step | None = None
    # The name of that, or of another library function; empty if the program does.
    inside_of = ""
    made_from = 0  # inside a loop: number of the operation that it is an instance of

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.number: int = fields["number"]
        self.name: str = fields["name"]
        self.kind = self.name  # name of the operation; `name` may differ
        self.dtype: Any = fields["dtype"]
        self.inputs: list[int] = fields["inputs"]
        self.given = tuple(fields["given"])
        self.passes: bool = fields["passes"]
        self.stopped: bool = fields["stopped"]
        self.recorded: bool = fields["recorded"]
        self.rule: str | None = None if fields["own_rule"] else fields["rule"]
        self.custom: bool = fields["custom"]
        self.scalar: float | None = fields["scalar"]
        self.variable: int = fields["variable"]
        self.variable_name: str = fields["variable_name"]
        self.place = Place(*fields["place"]) if fields["place"] else None
        if fields["through"] != self.name:
            self.inside_of = fields["through"]
        self.tensor: Any = fields["tensor"]  # None if it was released
        self.tracked: bool = fields["tracked"]
        self.traced: bool = fields["traced"]
        self.origin: str = fields["origin"]
        self.operation = fields["operation"]

    @property
    def shape(self) -> tuple[int, ...] | None:
        return None if self.tensor is None else self.tensor.shape

    @property
    def size(self) -> int | None:
        """Return the number of elements; None if it is not known."""
        return None if self.tensor is None else self.tensor.size

    @property
    def is_float(self) -> bool:
        return self.dtype is None or bool(self.dtype.kind in "fc")

    @property
    def carries(self) -> bool:
        """Return whether a gradient with respect to it can be requested."""
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
        """Return the dtype and shape, if they are known."""
        return "" if self.tensor is None else f"{self.tensor.dtype}{list(self.tensor.shape)}"


def name_reads(steps: dict[int, Step], xs: Iterable[Any]) -> None:
    """Set the names of variables on their reads, which are otherwise known only while debugging."""
    names = {_core.identity_of(x, None)[1]: x.name for x in xs if isinstance(x, Variable)}
    for step in steps.values():
        step.variable_name = names.get(step.variable, step.variable_name)


class Ancestry:
    """The steps that lead to y, and those among them that depend on x."""

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
        find_composites(self.steps)
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
        """Return the numbers of x and of the steps that were computed from it."""
        out: set[int] = set()
        for number, step in self.steps.items():  # by creation: inputs come first
            if self.is_x(step) or any(i in out for i in step.inputs):
                out.add(number)
        return out

    def inputs(self, step: Step) -> list[Step]:
        """Return the inputs of a step that depend on x; none for x itself."""
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
        """Return the steps between y and x, y first."""
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
        """Return the shortest path from y to x through a step, if possible `among` some numbers."""
        floats = {n for n in self.depends if self.steps[n].is_float}  # no conditions or indices
        choices = [floats if among is None else among, floats, self.depends]
        if through is None:
            return self._first_path(self.y, self.is_x, choices)
        head = self._first_path(self.y, lambda step: step is through, choices)
        return head + self._first_path(through.number, self.is_x, choices[1:])[1:]

    def _first_path(self, start: int, ends: Any, choices: list[Collection[int]]) -> list[Step]:
        paths = (self._shortest_path(start, ends, allowed) for allowed in choices)
        return next((path for path in paths if path), [])

    def _shortest_path(self, start: int, ends: Any, allowed: Collection[int]) -> list[Step]:
        if start not in allowed:
            return []
        previous: dict[int, int | None] = {start: None}
        queue = [start]
        for number in queue:
            step = self.steps[number]
            if ends(step):
                path = []
                at: int | None = number
                while at is not None:
                    path.append(self.steps[at])
                    at = previous[at]
                return path[::-1]
            for below in self.inputs(step):
                if below.number not in previous and below.number in allowed:
                    previous[below.number] = number
                    queue.append(below.number)
        return []


def find_composites(steps: dict[int, Step]) -> None:
    """Set for each step the outermost composite that it is inside of, and name it after that.

    The steps inside lead to the result of a composite, but not through its inputs. Those that the
    program makes on a line of its own, in a function that it passes, are the program's.
    """
    for composite in reversed(steps.values()):  # by creation: the outermost first
        if not composite.given or composite.composite:
            continue
        outside = set(composite.given)
        pending = list(composite.inputs)
        while pending:
            number = pending.pop()
            step = steps.get(number)
            if step is None or number in outside or step.is_leaf:
                continue
            outside.add(number)
            if step.place and composite.place and step.place != composite.place:
                continue
            step.composite = composite
            step.name = step.inside_of = composite.name
            pending += step.inputs


def maker_of(steps: dict[int, Step], x: Any) -> Step:
    """Return the step that created x."""
    return steps[_core.identity_of(x, None)[0]]


def place_of(x: Any) -> Place | None:
    """Return the line that created a tensor."""
    if isinstance(x, Variable):
        return None
    place = _core.place_of(x)
    return Place(*place) if place else None


def shortened(path: list[Step], culprits: set[int]) -> list[Step | None]:
    """Return the ends of a long path and the steps near culprits; None for omitted steps."""
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
