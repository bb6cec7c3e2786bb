"""Makes a failing program small: fewer results, fewer lines, simpler numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .program import Array, Line, Program
from .reference import Reference


def shrink(program: Program, fails: Callable[[Program], bool], tries: int = 2000) -> Program:
    """The smallest program found that still fails."""
    changed = True
    while changed:
        changed = False
        for candidate in _smaller(program):
            tries -= 1
            if tries < 0:
                return program
            if candidate.results and candidate.floats and _runs(candidate) and fails(candidate):
                program, changed = candidate, True
                break
    return program


def _runs(program: Program) -> bool:
    try:
        program.on(Reference(exact=False), list(program.leaves.values()))
    except (ValueError, IndexError, TypeError):
        return False
    return True


def _smaller(program: Program) -> Iterator[Program]:
    if len(program.results) > 1:
        for i in program.results:
            yield replace(program, results=(i,)).trimmed()
        for i in program.results:
            yield replace(program, results=tuple(j for j in program.results if j != i)).trimmed()
    made_by = {i: line for line in program.lines for i in line.outputs}
    for i in program.results:
        for j in dict.fromkeys(made_by[i].inputs):
            if j in made_by and not made_by[j].unsafe:
                rest = [k for k in program.results if k not in (i, j)]
                yield replace(program, results=(*rest, j)).trimmed()
    if program.looks:
        yield replace(program, looks=frozenset())
        for i in program.looks:
            yield replace(program, looks=program.looks - {i})
    made = program.all_values(Reference(exact=False))
    for line in program.lines:
        yield from _without(program, line, made)
    for i, x in program.leaves.items():
        for simple in _simpler(x):
            yield replace(program, leaves={**program.leaves, i: simple})


def _without(program: Program, line: Line, made: dict[int, Array]) -> Iterator[Program]:
    """Its values as leaves, or one of its inputs in its place."""
    lines = tuple(other for other in program.lines if other is not line)
    if not any(i in program.results for i in line.outputs):
        leaves = program.leaves | {i: made[i] for i in line.outputs}
        yield replace(program, lines=lines, leaves=dict(sorted(leaves.items()))).trimmed()
    if len(line.outputs) == 1 and not line.text.startswith("pb.add(pb."):  # keeps a domain
        (old,) = line.outputs
        for new in dict.fromkeys(line.inputs):
            if made[new].shape != made[old].shape or made[new].dtype != made[old].dtype:
                continue
            if old in program.results and new in program.leaves:
                continue

            def other(i: int, old: int = old, new: int = new) -> int:
                return new if i == old else i

            renamed = tuple(
                replace(x, inputs=tuple(map(other, x.inputs))) if old in x.inputs else x
                for x in lines
            )
            results = tuple(dict.fromkeys(map(other, program.results)))
            yield replace(program, lines=renamed, results=results).trimmed()


def _simpler(x: Array) -> Iterator[Array]:
    if x.dtype.kind == "f":
        for simple in (np.ones_like(x), np.round(x), np.round(x, 1), np.round(x, 2)):
            if not np.array_equal(simple, x, equal_nan=True):
                yield simple
    elif x.dtype.kind == "i" and np.any(x):
        yield np.zeros_like(x)
