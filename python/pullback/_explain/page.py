"""An explanation as a self-contained HTML page."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from .ancestry import shortened
from .svg import Box, Edge, svg_of

if TYPE_CHECKING:
    from .explanation import Explanation

STYLE = (
    "font-family:sans-serif;font-size:14px;line-height:1.45;max-width:60em;color:#1f2937;"
    "background:#fff;padding:0.5em 1em"
)


def page(why: Explanation) -> str:
    """Return a page with the card of an explanation."""
    title = escape(f"{why.names[0]} by {why.names[1]}")
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body>{card(why)}</body></html>"
    )


def card(why: Explanation) -> str:
    """Return the text, the lines of the causes, and the path drawn from x down to y."""
    lines = str(why).split("\n")
    parts = [f"<h3>{escape(lines[0])}</h3>"]
    for finding in why.findings:
        parts.append(f"<p><b>{escape(finding.what)}</b><br/>")
        if finding.where:
            parts.append(f"<code>{escape(finding.where)}</code>")
        if finding.place and finding.place.text:
            parts.append(f"<pre>{escape(finding.place.text)}</pre>")
        parts.append(f"{escape(finding.advice)}</p>")
    parts += [f"<p>{escape(note)}</p>" for note in why.notes]
    if why.path:
        parts.append(_drawn(why))
    return f'<div style="{STYLE}">{"".join(parts)}</div>'


def _drawn(why: Explanation) -> str:
    color = {"zero": "zero", "tiny": "zero", "flows": "flows"}.get(why.status, "bad")
    shown = shortened(why.path, why.culprits)
    boxes: dict[int, Box] = {}
    kind = "flows"
    for at, step in enumerate(shown):  # from y on: steps below a culprit receive no gradient
        number = len(shown) - at  # x is drawn at the top
        if step is None:
            boxes[number] = Box(["…"], kind)
            continue
        lines = [str(step)]
        if step.place:
            lines.append(f"{Path(step.place.file).name}:{step.place.line}")
        culprit = step.number in why.culprits
        boxes[number] = Box(lines, color if culprit else kind)
        kind = "apart" if culprit else kind
    edges = [Edge(n, n + 1, "apart" if boxes[n].kind == "apart" else "flows") for n in boxes]
    return svg_of(boxes, edges)
