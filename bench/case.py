"""Case: one thing that is timed. Row: the same work as done by several libraries. Goal: what is
wanted of pullback in a row.

A new row is an entry in the ROWS of its family's file; a new family is a file in FAMILIES. The
module by_LIBRARY.py of a library imports it, so rows reach it by name only (`by`): the table is
read in every environment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

FAMILIES = [
    "classifiers",
    "formulas",
    "everyday",
    "networks",
    "vocabulary",
    "error_functions",
    "matrices",
    "draws",
    "recompute",
    "attention",
    "transforms",
    "loops",
    "short_rows",
    "small_loops",
    "descents",
    "gradbench",
    "bundle_adjustment",
    "hand_tracking",
    "sparse",
    "training_programs",
    "science_programs",
    "fitting_programs",
    "overhead",
    "package",
    "machine",
]


@dataclass(frozen=True)
class Case:
    """A call without arguments, or a statement over `names` where a call would cost too much."""

    run: Callable[[], Any] | str
    names: dict[str, Any] = field(default_factory=dict)
    # Numbers from the result of the first call, the same whatever library made them.
    check: Callable[[Any], list[float]] | None = None
    work: float = 0.0  # bytes or operations of a call, where the row's unit is a rate


@dataclass(frozen=True)
class Goal:
    """At most this, of one style of pullback: times the fastest library of `over`, or where that is
    empty a figure in the row's unit."""

    most: float
    over: tuple[str, ...] = ()
    style: str = "function"


OPENBLAS = "OpenBLAS"
PEERS = ("torch", "jax", "tensorflow", "autograd")
CPP_MOST = 1.2  # see Row.cpp_most

Make = Callable[[bool], "Case | float"]


@dataclass(frozen=True)
class Row:
    """`make` by (library, style): a function of `small` (inputs for a smoke run) that sets the case
    up.

    Where each repetition needs a new process, or only one is wanted, it returns the figure itself.
    The library "limit" is what no library can beat, measured in the same run; OPENBLAS is the row's
    matrix products by that library and nothing else, which better kernels can beat; the style
    "value" of pullback is the value without its gradient.
    """

    about: str
    unit: str  # "µs": the figure is a time; "GB/s", "GFLOP/s": a rate; else what `make` returns
    make: dict[tuple[str, str], Make]
    repeat: str = "call"  # or "process", or "once"
    slow: frozenset[tuple[str, str]] = frozenset()  # takes seconds to set up: not for --smoke
    goal: Goal | None = None
    lazy_most: float | None = None  # what plain code may take, in times of the function
    cpp_most: float | None = None  # what the goal's style may take, in times of C++ by hand
    tolerance: float = 1e-3  # between libraries; float32 sums in another order
    unrolled: bool = False  # thousands of operations: what the first call costs is worth a line


def by(library: str, style: str, *given: Any) -> Make:
    """The function `style` of by_LIBRARY.py, which is imported when it is called."""

    def make(small: bool) -> Case | float:
        module = import_module(f"bench.by_{library}")
        made: Case | float = getattr(module, style)(*given, small)
        return made

    return make


def all_rows() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for family in FAMILIES:
        rows |= import_module(f"bench.{family}").ROWS
    return rows
