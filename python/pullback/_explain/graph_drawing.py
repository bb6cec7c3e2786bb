"""The drawing of a graph: a box for each operation, coloured by the gradient that reaches it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._base.locations import location
from .ancestry import Ancestry, Step, name_reads
from .query import Question
from .query_kinds import question_of
from .svg import Box, Edge, svg_of
from .unconnected import cotangents_of
from .values import Numbers

MOST = 400  # operations; larger pictures are not readable
RANK = {"apart": 0, "stopped": 1, "zero": 2, "flows": 3, "bad": 4}


def draw_graph(y: Any, sources: list[Any], session: Any, feed_dict: Any) -> tuple[str, str]:
    """Return the SVG of the operations that lead to y, and a description of it."""
    steps: dict[int, Step] = {}
    kinds: dict[int, str] = {}
    for x in sources or [y]:
        question = question_of("draw", y, x, session=session, feed_dict=feed_dict)
        steps = question.ancestry.steps
        if not sources:
            break
        with question.asking():
            found = _kinds(question)
        for number, kind in found.items():
            if RANK[kind] > RANK[kinds.get(number, "apart")]:
                kinds[number] = kind
    name_reads(steps, sources)
    steps = {n: s for n, s in _visible(steps).items() if s.kind != "scalar"}
    shown = {n: steps[n] for n in sorted(steps)[-MOST:]}
    boxes = {n: Box(_lines(s, shown), kinds.get(n, "apart")) for n, s in shown.items()}
    edges = [
        Edge(i, n, _edge(kinds.get(i, "apart"), kinds.get(n, "apart")))
        for n, s in shown.items()
        for i in dict.fromkeys(_drawn_inputs(s))
    ]
    legend = [k for k in RANK if k in set(kinds.values())] if sources else []
    left = len(steps) - len(shown)
    what = f"{len(shown)} operations" + (f" of {len(steps)}" if left else "")
    return svg_of(boxes, edges, legend), what


def _visible(steps: dict[int, Step]) -> dict[int, Step]:
    """Return the steps that a drawing shows: not those inside composites."""
    inside = {n for n, s in steps.items() if s.composite}
    shown = {i for s in steps.values() if not s.composite for i in _drawn_inputs(s)}
    below = {i for n in inside for i in steps[n].inputs}
    return {n: s for n, s in steps.items() if n not in inside and (n in shown or n not in below)}


def _drawn_inputs(step: Step) -> Iterable[int]:
    return step.given or step.inputs


def _kinds(question: Question) -> dict[int, str]:
    ancestry: Ancestry = question.ancestry
    if not ancestry.connected:
        return {}
    if ancestry.top.traced:  # no values are known
        between = ancestry.descending()
        try:
            known = cotangents_of(question, between)
        except LookupError:  # an operation of a tf1 graph has no rule
            known = {}
        return {s.number: "flows" if s.number in known else "stopped" for s in between}
    numbers = Numbers(question, ancestry)
    out = {}
    for step in numbers.between:
        cotangent = numbers.cotangent(step)
        if cotangent is None:
            out[step.number] = "stopped"
        elif not np.isfinite(cotangent).all():
            out[step.number] = "bad"
        else:
            out[step.number] = "flows" if np.any(cotangent) else "zero"
    return out


def _edge(source: str, target: str) -> str:
    """Return the colour of an edge: that of its source, if both ends depend on x."""
    return "apart" if "apart" in (source, target) else source


def _lines(step: Step, steps: dict[int, Step]) -> list[str]:
    lines = [step.variable_name or "variable"] if step.kind == "read" else [step.name or "?"]
    if step.tensor is not None:
        lines.append(f"{step.form} {_cost(step, steps)}".strip())
    if step.rule and not step.custom:
        lines.append(f"rule {step.rule.split(' (')[0]}")
    if step.place and not step.is_leaf:
        lines.append(location(step.place.file, step.place.line, brief=True))
    return lines


def _cost(step: Step, steps: dict[int, Step]) -> str:
    if step.size is None or (step.is_leaf and step.kind != "read"):
        return ""
    size = step.size * step.dtype.itemsize
    if step.kind == "matmul" and (left := steps.get(step.inputs[0])) and left.shape:
        return f"{_short(size)}B, {_short(2 * step.size * left.shape[-1])}flop"
    return f"{_short(size)}B"


def _short(count: float) -> str:
    for unit in ("", "k", "M", "G", "T"):
        if count < 1000 or unit == "T":
            return f"{count:.3g} {unit}"
        count /= 1000
    raise AssertionError
