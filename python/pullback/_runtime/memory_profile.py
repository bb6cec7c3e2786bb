"""`profile_memory`: the memory of a computation at its peak, by lines of the program.

The plan of a function lists the buffers that each step reads and writes. A temporary buffer lives
from the first to the last step that names it, a result until the end of the call.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.function import function

__all__ = ["MemoryLine", "MemoryProfile", "profile_memory"]

_BUFFER = (  # compiled at its first use, not when the package is imported
    r"\b((?:arg|out|tmp)\d+):(\w+)\(([\d, ]*)\)(?: strides\(([-\d, ]*)\))?"
)
_IN_PLACE = r"(?m)^in place: (out\d+) of"
_ARGUMENTS = "arguments and variables"


class MemoryLine(NamedTuple):
    """The memory of the buffers that a line of the program fills.

    Attributes
    ----------
    line : str
        Line, such as "train.py:12", several of them for a fused step, "arguments and variables", or
        "" for steps without a line.
    bytes : int
        Bytes at the peak.
    buffers : int
        Number of buffers.

    Examples
    --------
    >>> pb.profile_memory(pb.exp, pb.ones(1000)).lines[0]
    MemoryLine(line='arguments and variables', bytes=4000, buffers=1)
    """

    line: str
    bytes: int
    buffers: int


class MemoryProfile(NamedTuple):
    """Result of `profile_memory`. Its string is a table with the largest line first.

    Attributes
    ----------
    lines : tuple of MemoryLine
        The lines that hold memory at the peak, the largest first.
    step : int
        Number of the step of the plan at which the peak occurs.
    steps : int
        Number of steps of the plan.
    reserved : int
        Bytes that a call reserves: arguments, results and the arena of the temporary buffers. It
        exceeds `peak` by the gaps in the arena. Buffers that a step needs inside are not counted.

    Examples
    --------
    >>> print(pb.profile_memory(lambda x: pb.sum(pb.sort(x)), pb.ones(1000)))
    0.008 MB at the peak, in step ...
    """

    lines: tuple[MemoryLine, ...]
    step: int
    steps: int
    reserved: int

    @property
    def peak(self) -> int:
        """Return the bytes that are live at the peak."""
        return sum(line.bytes for line in self.lines)

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the cells of the table."""
        return [
            (f"{line.bytes / 1e6:.3f}", f"{line.bytes / (self.peak or 1):.1%}", str(line.buffers),
             line.line or "no line")
            for line in self.lines
        ]  # fmt: skip

    @property
    def summary(self) -> str:
        """Return the peak in a sentence."""
        return (
            f"{self.peak / 1e6:.3f} MB at the peak, in step {self.step} of {self.steps}; "
            f"{self.reserved / 1e6:.3f} MB reserved"
        )

    def __str__(self) -> str:
        head = f"{'MB':>10}  {'share':>6}  {'buffers':>7}  line"
        cells = [f"{r[0]:>10}  {r[1]:>6}  {r[2]:>7}  {r[3]}" for r in self._rows()]
        return "\n".join([self.summary, head, *cells])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from .._base.html import caption, table

        return caption(self.summary) + table(_HEAD, self._rows(), left=(3,))


_HEAD = ("MB", "share", "buffers", "line")


def profile_memory(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> MemoryProfile:
    """Return the memory of a computation at its peak, by lines of the program.

    `f` is traced as by `function` and not run. Its arguments and variables are counted as long as
    the call lasts; a variable that is updated in place is counted once. A buffer belongs to the
    lines of the operations of the step that fills it; buffers of a gradient belong to the line that
    requested it. The buffers in the body of a loop count for one iteration.

    Parameters
    ----------
    f : callable
        Function of tensors, such as a training step; it may be a `function`.
    *args, **kwargs
        Arguments of `f`.

    Returns
    -------
    MemoryProfile
        The lines with their bytes.

    Raises
    ------
    TypeError
        If `f` is not callable. Exceptions of `f` while it is traced are raised as well.

    See Also
    --------
    profile

    Examples
    --------
    >>> def f(x):
    ...     y = pb.sort(x)
    ...     return pb.cumsum(y) * pb.sum(y * x)
    >>> report = pb.profile_memory(f, pb.ones(1000))
    >>> report.peak, [(line.bytes, line.buffers) for line in report.lines]
    (12000, [(4000, 1), (4000, 1), (4000, 1)])
    """
    if not callable(f):
        raise TypeError(f"profile_memory: expected a function for f, got {_core.shown(f)}")
    traced: Any = f if isinstance(f, _core.Function) else function(f)
    text = traced.plan(*args, **kwargs)
    sizes = _sizes(_without_bodies(text))
    arguments = {name: size for name, size in sizes.items() if name.startswith("arg")}
    updated = _updated(text, traced.graph(*args, **kwargs), sizes)
    found, step, steps = _peak(text, updated)
    lines = [MemoryLine(_ARGUMENTS, sum(arguments.values()), len(arguments))] * bool(arguments)
    lines += [MemoryLine(line, sum(held), len(held)) for line, held in found.items()]
    lines.sort(key=lambda entry: -entry.bytes)
    arena = re.match(r"plan: .* arena (\d+) bytes", text)
    results = sum(n for name, n in sizes.items() if name.startswith("out") and name not in updated)
    reserved = sum(arguments.values()) + results + (int(arena[1]) if arena else 0)
    peak = sum(line.bytes for line in lines)  # of a body too, which has an arena of its own
    return MemoryProfile(tuple(lines), step, steps, max(reserved, peak))


def _updated(plan: str, graph: str, sizes: dict[str, int]) -> set[str]:
    """Return the results that overwrite a variable.

    A plan can also overwrite an argument that the caller does not keep, which counts as kept here.
    """
    forms = dict(re.findall(r"^%(\d+) .* (\w+ \([\d, ]*\))$", graph, re.MULTILINE))
    counts: dict[int, int] = {}
    for number in re.findall(r"^variable .* = %(\d+)$", graph, re.MULTILINE):
        dtype, _, shape = forms[number].partition(" ")
        size = np.dtype(dtype).itemsize * prod(_integers(shape[1:-1]))
        counts[size] = counts.get(size, 0) + 1
    found = set()
    for name in re.findall(_IN_PLACE, plan):
        if counts.get(sizes[name]):
            counts[sizes[name]] -= 1
            found.add(name)
    return found


def _peak(text: str, updated: set[str]) -> tuple[dict[str, list[int]], int, int]:
    """Return the sizes of live buffers by line, the step of the peak, and the number of steps.

    Arguments and the results that overwrite them, `updated`, are left out.
    """
    blocks = re.split(r"^(?=\d+  )", text, flags=re.MULTILINE)[1:]
    sizes = _sizes(_without_bodies(text))
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, block in enumerate(blocks):
        for name, *_ in re.findall(_BUFFER, _without_bodies(block)):
            if not name.startswith("arg") and name not in updated:
                first.setdefault(name, at)
                last[name] = len(blocks) if name.startswith("out") else at
    best: dict[str, list[int]] = {}
    most, step = -1, 0
    for at, block in enumerate(blocks):
        live: dict[str, list[int]] = {}
        for name in first:
            if first[name] <= at <= last[name]:
                live.setdefault(_line(blocks[first[name]]), []).append(sizes[name])
        # The results of a branch are those of its step.
        results = r"\bout\d+" if re.match(r"\d+  branch", block) else _IN_PLACE
        bodies = [_peak(body, set(re.findall(results, body)))[0] for body in _bodies(block)]
        for line, held in max(bodies, key=_total, default={}).items():
            live.setdefault(line, []).extend(held)
        if _total(live) > most:
            best, most, step = live, _total(live), at
    return best, step, len(blocks)


def _total(live: dict[str, list[int]]) -> int:
    return sum(map(sum, live.values()))


def _line(block: str) -> str:
    """Return the lines of the program of a step, from the first line of its text."""
    found = re.search(r"  at (\S.*)$", block.partition("\n")[0])
    return found[1] if found else ""


def _bodies(block: str) -> list[str]:
    """Return the plans of the bodies of a loop or a branch."""
    inner = re.sub(r"^    ", "", block.partition("\n")[2], flags=re.MULTILINE)
    return re.split(r"^(?=plan: )", inner, flags=re.MULTILINE)[1:]


def _without_bodies(text: str) -> str:
    """Return the text without the plans of bodies, whose buffers have names of their own."""
    kept = []
    depth = None
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip())
        if depth is not None and indent < depth:
            depth = None
        if indent and line.lstrip().startswith("plan: "):
            depth = indent
        if depth is None:
            kept.append(line)
    return "\n".join(kept)


def _sizes(text: str) -> dict[str, int]:
    """Return the bytes of each buffer: of the largest view, without axes that are broadcast."""
    sizes: dict[str, int] = {}
    for name, dtype, shape, strides in re.findall(_BUFFER, text):
        lengths = _integers(shape)
        steps = _integers(strides) or [1] * len(lengths)
        count = 1
        for length, stride in zip(lengths, steps, strict=True):
            count *= length if stride else 1
        sizes[name] = max(sizes.get(name, 0), count * np.dtype(dtype).itemsize)
    return sizes


def _integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part.strip()]
