"""A program: arrays to start from, lines of Python, and which of their values are results.

A line is text with the names of earlier values in it. It runs with `pb` as it stands, and with a
`Reference` in its place, where `ref` is another spelling for what NumPy's arrays do not have
(`x.at[…]`, operators). Printed, a program is Python that anybody can run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import helpers
from .reference import Reference

Array = Any


@dataclass(frozen=True)
class Line:
    """`outputs` of `inputs`, which are numbers of values; {0}, {1}, … in the texts are the inputs.

    flows: whether a derivative passes. unsafe: it may be infinite or NaN where a later mask hides
    it, so it is no result.
    """

    text: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    ref: str | None = None
    flows: bool = True
    unsafe: bool = False

    def source(self, exact: bool = False) -> str:
        text = self.ref if exact and self.ref is not None else self.text
        return f"{', '.join(f'v{i}' for i in self.outputs)} = " + text.format(
            *(f"v{i}" for i in self.inputs)
        )


@dataclass(frozen=True)
class Program:
    seed: int
    leaves: dict[int, Array]  # by the number of the value
    lines: tuple[Line, ...] = ()
    results: tuple[int, ...] = ()
    special: bool = False  # NaN and infinities among the leaves
    large: bool = False  # too large for differences
    looks: frozenset[int] = field(default_factory=frozenset)  # values that a run with looks reads
    by_values: bool = False  # shapes may depend on values, which no traced function has
    _made: dict[tuple[bool, bool], Callable[..., list[Any]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def source(self, exact: bool = False, looks: bool = False) -> str:
        """The body of the function of all leaves."""
        out = []
        for line in self.lines:
            out.append(line.source(exact))
            if looks:
                out += [f"v{i}.numpy()" for i in line.outputs if i in self.looks]
        out.append(f"return [{', '.join(f'v{i}' for i in self.results)}]")
        return "\n".join("    " + line for line in out)

    def function(self, exact: bool = False, looks: bool = False) -> Callable[..., list[Any]]:
        """program(pb, leaves in order) -> results."""
        key = exact, looks
        if key in self._made:
            return self._made[key]
        names = ", ".join(f"v{i}" for i in self.leaves)
        space: dict[str, Any] = {"np": np, "inf": np.inf, "nan": np.nan, "helpers": helpers}
        text = f"def program(pb, {names}):\n{self.source(exact, looks)}\n"
        exec(compile(text, f"<program {self.seed}>", "exec"), space)
        self._made[key] = space["program"]
        return self._made[key]

    @property
    def floats(self) -> list[int]:
        """Positions, among the leaves, of those with a gradient."""
        return [k for k, x in enumerate(self.leaves.values()) if x.dtype.kind == "f"]

    def on(self, reference: Reference, leaves: Sequence[Array]) -> list[Array]:
        """The results by NumPy; floats become those of the reference."""
        values = [
            np.asarray(x, reference.floating(x.dtype)) if x.dtype.kind == "f" else x for x in leaves
        ]
        with np.errstate(all="ignore"):
            results = self.function(exact=True)(reference, *values)
        return [np.asarray(x) for x in results]

    def all_values(self, reference: Reference) -> dict[int, Array]:
        """By their numbers, leaves included."""
        every = tuple(i for line in self.lines for i in line.outputs)
        found = replace(self, results=every).on(reference, list(self.leaves.values()))
        return dict(zip(every, found, strict=True)) | self.leaves

    def trimmed(self) -> Program:
        """Without lines and leaves that no result needs."""
        needed = set(self.results)
        lines = []
        for line in reversed(self.lines):
            if needed.intersection(line.outputs):
                needed.update(line.inputs)
                lines.append(line)
        leaves = {i: x for i, x in self.leaves.items() if i in needed}
        return replace(self, leaves=leaves, lines=tuple(reversed(lines)))

    def __str__(self) -> str:
        text = self.source(looks=bool(self.looks))
        used = [f for name, f in helpers.ALL.items() if f"helpers.{name}(" in text]
        out = ["import numpy as np", "import pullback as pb", "from numpy import inf, nan", ""]
        if used:
            out += [helpers.source_of(f) for f in used]
            text = text.replace("helpers.", "")
        out.append(f"def program({', '.join(f'v{i}' for i in self.leaves)}):")
        out += [text.replace("(pb, ", "("), ""]
        for i, x in self.leaves.items():
            kind = "Variable" if x.dtype.kind == "f" else "constant"
            out.append(f"v{i} = pb.{kind}({listed(x)})")
        out.append(f"results = program({', '.join(f'v{i}' for i in self.leaves)})")
        return "\n".join(out)


def listed(x: Any) -> str:
    """An array as text."""
    x = np.asarray(x)
    shaped = f".reshape({x.shape})" if x.size == 0 else ""
    return f"np.array({x.tolist()}, np.{x.dtype.name}){shaped}"
