"""HTML for notebooks: tables and preformatted text that are readable on light and dark pages.

Colours are those of the page, and lines a transparent grey. All texts are escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

LINE = "1px solid rgba(128,128,128,0.4)"
CELL = "padding:2px 8px;white-space:pre;color:inherit;background:transparent"


def caption(text: str) -> str:
    """Return a paragraph of text above or below a table."""
    return f'<div style="font-family:monospace;padding:2px 0">{escape(text)}</div>'


def preformatted(text: str) -> str:
    """Return text as it stands, with its line breaks."""
    # Pages that notebooks are exported to have another font for `pre` in an output.
    style = "color:inherit;background:transparent;font-family:monospace;margin:0"
    return f'<pre style="{style}">{escape(text)}</pre>'


def scrolled(html: str) -> str:
    """Return what may be wider than the page, in a frame that scrolls."""
    return f'<div style="overflow-x:auto">{html}</div>'


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = ()) -> str:
    """Return a table. Cells are aligned on the right, except those of the columns in `left`."""
    # Pages without a doctype do not let tables inherit colours by themselves.
    style = "border-collapse:collapse;font-family:monospace;color:inherit;background:transparent"
    parts = [f'<table style="{style}">']
    for name, cells in [("th", head)] * bool(head) + [("td", row) for row in rows]:
        parts.append("<tr>")
        for i, cell in enumerate(cells):
            side = "left" if i in left else "right"
            line = f";border-bottom:{LINE}" if name == "th" else ""
            parts.append(f'<{name} style="{CELL};text-align:{side}{line}">{escape(cell)}</{name}>')
        parts.append("</tr>")
    return scrolled("".join([*parts, "</table>"]))
