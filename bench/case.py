"""Case: one thing that is timed. Row: the same work as done by several libraries.

A new row is an entry in the ROWS of its family's file; a new family is a file in FAMILIES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

FAMILIES = ("overhead", "models", "package")


@dataclass(frozen=True)
class Case:
    """A call without arguments, or a statement over `names` where a call would cost too much."""

    run: Callable[[], Any] | str
    names: dict[str, Any] = field(default_factory=dict)
    # Numbers from the result of the first call, the same whatever library made them.
    check: Callable[[Any], list[float]] | None = None


@dataclass(frozen=True)
class Row:
    """`make` by (library, style): a function that imports the library and sets the case up.

    Where each repetition needs a new process, or only one is wanted, it returns the figure itself.
    The library "limit" is what no library can beat, measured in the same run.
    """

    about: str
    unit: str  # "µs": the figure is a time; else what the functions return
    make: dict[tuple[str, str], Callable[[], Case | float]]
    repeat: str = "call"  # or "process", or "once"
    slow: frozenset[tuple[str, str]] = frozenset()  # takes seconds to set up: not for --smoke


def all_rows() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for family in FAMILIES:
        rows |= import_module(f"bench.{family}").ROWS
    return rows
