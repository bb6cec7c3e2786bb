"""A profile as a flame graph, as a trace for chrome://tracing or Perfetto, and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._base.html import caption, table
from .._explain.draw import Drawing
from .._explain.svg import LETTER, MARGIN, opening

if TYPE_CHECKING:
    from .profile import Profile, ProfileStep

WIDTH, HEIGHT = 960, 18  # of the whole call, and of a bar, in pixels
BAR = {"call": "#e5e7eb", "line": "#fde4b8", "": "#f8b27c", "short": "#f7d08a"}
BAR |= {"memory": "#93c5fd", "compute": "#f49b9b"}
MEANING = {"memory": "limited by memory", "compute": "limited by computing", "short": "short"}


def flame_graph(profile: Profile) -> Drawing:
    """Return the picture: the call, the lines of the program, and their steps, from the top."""
    whole = max(profile.total, sum(step.seconds for step in profile.steps))
    scale = WIDTH / whole if whole else 0.0
    height = 3 * (HEIGHT + 2) + 2 * MARGIN + 22
    parts = [opening(WIDTH + 2 * MARGIN, height)]

    def bar(row: int, start: float, seconds: float, text: str, kind: str) -> None:
        x, y = MARGIN + scale * start, MARGIN + row * (HEIGHT + 2)
        parts.append(_bar(x, y, scale * seconds, f"{text}  {_microseconds(seconds)}", text, kind))

    bar(0, 0.0, profile.total, f"a call {_microseconds(profile.total)}", "call")
    start = 0.0
    for line, steps in _by_line(profile.steps):
        bar(1, start, sum(step.seconds for step in steps), line, "line")
        for step in steps:
            bar(2, start, step.seconds, ", ".join(step.names), step.limit)
            start += step.seconds
    if profile.outside:
        bar(1, start, profile.outside, "outside of the steps", "call")
    x, y = MARGIN, height - 20
    for kind, meaning in MEANING.items():
        parts.append(_bar(x, y, 12, meaning, "", kind))
        parts.append(f'<text x="{x + 16}" y="{y + 13}">{meaning}</text>')
        x += int(40 + LETTER * len(meaning))
    return Drawing("".join(parts) + "</svg>", f"a profile of {len(profile.steps)} steps")


def _by_line(steps: Sequence[ProfileStep]) -> list[tuple[str, list[ProfileStep]]]:
    """Return the steps by the lines of the program that made them, in the order of their start."""
    groups: dict[str, list[ProfileStep]] = {}
    for step in steps:
        groups.setdefault(", ".join(step.lines) or "no line", []).append(step)
    return list(groups.items())


def _bar(x: float, y: float, width: float, title: str, text: str, kind: str) -> str:
    from html import escape  # imported here, because the import is slow

    room = int((width - 6) / LETTER)
    shown = text if len(text) <= room else text[: room - 1] + "…" if room > 3 else ""
    label = f'<text x="{x + 3:.1f}" y="{y + 13:.1f}">{escape(shown)}</text>' if shown else ""
    return (
        f"<g><title>{escape(title)}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{HEIGHT}" rx="2" '
        f'fill="{BAR[kind]}" stroke="#fff" stroke-width="0.5"/>{label}</g>'
    )


def chrome_trace(profile: Profile) -> dict[str, Any]:
    """Return the events of the Trace Event Format; times in microseconds."""
    whole = max(profile.total, sum(step.seconds for step in profile.steps))
    common = {"ph": "X", "pid": 1, "tid": 1}
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "pullback"}},
        {"name": "a call", "cat": "call", "ts": 0.0, "dur": 1e6 * whole, **common},
    ]
    start = 0.0
    for i, step in enumerate(profile.steps):
        details = {
            "step": i, "kind": step.kind, "lines": list(step.lines), "bytes": step.bytes,
            "operations": step.operations, "elements": step.elements, "runs": step.runs,
            "dtype": step.dtype, "limit": step.limit,
        }  # fmt: skip
        times = {"ts": 1e6 * start, "dur": 1e6 * step.seconds}
        name = ", ".join(step.names)
        events.append({"name": name, "cat": step.kind, **times, **common, "args": details})
        start += step.seconds
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def profile_html(profile: Profile) -> str:
    """Return the table of a profile, its sentences and its flame graph."""
    head, rows = profile._rows()
    advice = "".join(map(caption, profile.advice))
    picture = flame_graph(profile)._repr_html_()
    return table(head, rows, left=(1, 2, 9, 10)) + advice + picture


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f} µs"
