"""The drawing of a plan: a box for each step, and arrows for the buffers between them."""

from __future__ import annotations

import re

from .svg import Box, Edge, svg_of

SLOT = r"\b(?:arg|out|tmp)\d+"


def draw_plan(text: str) -> tuple[str, str, int]:
    """Return the SVG of a plan, a description of it, and the number of its steps.

    An arrow is a buffer that one step writes and another reads.
    """
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
    return svg_of(boxes, edges), f"a plan of {len(boxes)} steps", len(boxes)


def _step_lines(lines: list[str]) -> list[str]:
    fused = [re.sub(r"^\s*v\d+ = ", "", line) for line in lines[1:]]
    fused = [re.sub(r"^\s+", "", line) for line in fused]
    head = re.sub(r"^\d+  ", "", lines[0])
    return [head, *(line for line in fused if not line.startswith(("load", "epilogue")))]
