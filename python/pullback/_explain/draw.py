"""`draw`: the graph of a tensor, or the steps of a plan, as SVG."""

from __future__ import annotations

import os.path
import re
from typing import Any

from .. import _core
from .._base.pytree import flatten
from .ancestry import Ancestry, Step, name_reads
from .query import Question
from .query_kinds import is_askable, question_of
from .svg import Box, Edge, svg_of
from .unconnected import cotangents_of
from .values import Numbers

__all__ = ["Drawing", "draw"]

MOST = 400  # operations; larger pictures are not readable


class Drawing:
    """Result of `draw`: an SVG picture. Notebooks show it.

    Attributes
    ----------
    svg : str
        The text of the picture.

    Examples
    --------
    >>> x = pb.Variable(3.0)
    >>> pb.draw(x * x)
    <Drawing of 2 operations; save('graph.svg') writes it>
    """

    def __init__(self, svg: str, what: str) -> None:
        self.svg = svg
        self._what = what

    def save(self, path: Any) -> None:
        """Write the SVG file.

        Parameters
        ----------
        path : str or Path
            File to write.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> x = pb.Variable(3.0)
        >>> with TemporaryDirectory() as folder:
        ...     pb.draw(x * x, x).save(f"{folder}/graph.svg")
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing of {self._what}; save('graph.svg') writes it>"


def draw(y: Any, xs: Any = None, *, session: Any = None, feed_dict: Any = None) -> Drawing:
    """Draw the operations that a tensor was computed from, and where its gradient flows.

    A box shows the operation, its dtype and shape, its cost (bytes of the result; for a product
    also its multiplications and additions) and, while `set_debug(True)` is set, the line that
    created it. Of more than 400 operations the 400 newest are drawn.

    Parameters
    ----------
    y : Tensor, Variable or str
        Tensor to draw; or the text of a plan, as `function(f).plan(*args)` returns it. Then each
        box is a step with its operations.
    xs : Tensor, Variable or pytree of them, optional
        Sources. The operations that depend on them are coloured by the gradient of `y`, which
        flows, is zero, is stopped or is not finite; values are evaluated for that. Without it, only
        the operations are drawn.
    session, feed_dict : optional
        Session and feeds that give values to a graph of `compat.tf1`. Without them, the drawing
        only shows where the gradient is stopped.

    Returns
    -------
    Drawing
        The picture; `save` writes it to a file.

    Raises
    ------
    TypeError
        If `y` is neither a tensor nor the text of a plan, or if an entry of `xs` is not a tensor.

    See Also
    --------
    explain, gradient_paths

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0], name="x")
    >>> drawing = pb.draw(pb.sum(pb.stop_gradient(x) * x), x)
    >>> drawing
    <Drawing of 4 operations; save('graph.svg') writes it>
    >>> drawing.svg.startswith("<svg")
    True
    """
    if isinstance(y, str) and y.startswith("plan:"):
        return _draw_plan(y)
    if not is_askable(y):
        raise TypeError(
            f"draw: expected a Tensor or the text of a plan for y, got {_core.shown(y)}"
        )
    sources = [] if xs is None else flatten(xs)[0]
    for x in sources:
        if not is_askable(x):
            raise TypeError(f"draw: expected a Tensor or a Variable in xs, got {_core.shown(x)}")
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
    steps = {n: s for n, s in steps.items() if s.kind != "scalar"}
    shown = {n: steps[n] for n in sorted(steps)[-MOST:]}
    boxes = {n: Box(_lines(s, shown), kinds.get(n, "apart")) for n, s in shown.items()}
    edges = [
        Edge(i, n, _edge(kinds.get(i, "apart"), kinds.get(n, "apart")))
        for n, s in shown.items()
        for i in dict.fromkeys(s.inputs)
    ]
    legend = [k for k in RANK if k in set(kinds.values())] if sources else []
    left = len(steps) - len(shown)
    what = f"{len(shown)} operations" + (f" of {len(steps)}" if left else "")
    return Drawing(svg_of(boxes, edges, legend), what)


RANK = {"apart": 0, "stopped": 1, "zero": 2, "flows": 3, "bad": 4}


def _kinds(question: Question) -> dict[int, str]:
    import numpy as np

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
        lines.append(f"{os.path.basename(step.place.file)}:{step.place.line}")
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


SLOT = r"\b(?:arg|out|tmp)\d+"


def _draw_plan(text: str) -> Drawing:
    """Draw the steps of a plan; an arrow is a buffer that one step writes and another reads."""
    blocks = re.split(r"^(?=\d+  )", text, flags=re.MULTILINE)[1:]
    boxes: dict[int, Box] = {}
    edges = []
    writers: dict[str, int] = {}
    for number, block in enumerate(blocks, start=1):
        lines = block.rstrip().split("\n")
        written = re.findall(rf"(?: to |store v\d+ )({SLOT})", block)
        read = [slot for slot in re.findall(SLOT, block) if slot not in written]
        read += [slot for slot in written if slot in writers]
        for slot in dict.fromkeys(read):
            if slot in writers:
                edges.append(Edge(writers[slot], number, "flows"))
        writers.update(dict.fromkeys(written, number))
        boxes[number] = Box(_step_lines(lines), "flows")
    return Drawing(svg_of(boxes, edges), f"a plan of {len(boxes)} steps")


def _step_lines(lines: list[str]) -> list[str]:
    fused = [re.sub(r"^\s*v\d+ = ", "", line) for line in lines[1:]]
    fused = [re.sub(r"^\s+", "", line) for line in fused]
    head = re.sub(r"^\d+  ", "", lines[0])
    return [head, *(line for line in fused if not line.startswith(("load", "epilogue")))]
