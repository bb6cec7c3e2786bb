"""`Finding`: one cause of the value of a gradient."""

from __future__ import annotations

from typing import Any

from .._autodiff.override_names import SHAPED
from .ancestry import Place, Step

# Operations that library functions use internally, where a program cannot change them.
_INTERNAL = {"stop_gradient", "where"}


class Finding:
    """A cause: its kind, the operation and line, a description, and an advice.

    The texts contain {y} and {x} as placeholders for the names of the tensors.
    """

    def __init__(
        self,
        reason: str,
        what: str,
        advice: str,
        step: Step | None = None,
        place: Place | None = None,
        **figures: Any,
    ) -> None:
        self.reason = reason
        self._what = what
        self._advice = advice
        self.step = step
        self.place = place or (step.place if step else None)
        self.figures = figures

    def add(self, text: str, **figures: Any) -> None:
        """Append to the description."""
        self._what += text
        self.figures |= figures

    @property
    def what(self) -> str:
        return self.about("y", "x")

    @property
    def advice(self) -> str:
        return self._advice.replace("{y}", "y").replace("{x}", "x")

    @property
    def where(self) -> str:
        """Return the location: a name in a graph, the line of the program, the iteration of a loop.

        It is empty if none is known.
        """
        label = self.step.label if self.step else ""
        inside = self.step.inside[::-1] if self.step else ()
        return ", ".join(filter(None, (label, str(self.place or ""), *map(str, inside))))

    def about(self, y: str, x: str) -> str:
        """Return the description with other words for y and x."""
        return self._what.replace("{y}", y).replace("{x}", x)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain values."""
        return {
            "reason": self.reason,
            "what": self.what,
            "advice": self.advice,
            "operation": self.step.name if self.step else None,
            "file": self.place.file if self.place else None,
            "line": self.place.line if self.place else None,
            "function": self.place.function if self.place else None,
            "inside": [place.as_dict() for place in self.step.inside] if self.step else [],
            **self.figures,
        }


def of_program(findings: list[Finding]) -> list[Finding]:
    """Return the findings that a program can act on.

    Findings about operations that a library function such as `std` uses internally are left out if
    there are others; otherwise they name that function.
    """
    inside = [f for f in findings if f.step and _is_internal(f.step)]
    if len(inside) < len(findings):
        return [f for f in findings if f not in inside]
    return [
        Finding(
            "composite",
            f"{f.step.inside_of}, a function of several operations, passes no gradient to {{x}} "
            "here",
            "its slope is zero or undefined at these values: check its input",
            f.step,
        )
        for f in inside
        if f.step
    ] or findings


def _is_internal(step: Step) -> bool:
    return bool(step.inside_of) and step.kind in _INTERNAL and step.inside_of not in SHAPED


def shown(finding: Finding) -> Finding:
    """Return the finding; one about an operation inside a composite is about the composite."""
    if finding.step and finding.step.composite:
        finding.step = finding.step.composite
        finding.place = finding.step.place or finding.place
    return finding
