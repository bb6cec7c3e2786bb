"""A layered drawing of a small graph as SVG: boxes with lines of text, and arrows.

The layout is the method of Sugiyama in its simplest form: a box is one layer below the lowest of
its inputs, and the order within a layer is found by sweeps that move each box to the mean position
of its neighbours (Sugiyama, Tagawa, Toda 1981). Start reading at `svg_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

LINE, GAP_X, GAP_Y, MARGIN, LETTER = 15, 18, 34, 12, 6.7
COLORS = {
    "flows": ("#e9f6ec", "#2e8540"),
    "zero": ("#fff4d6", "#b7791f"),
    "bad": ("#fde2e2", "#c53030"),
    "stopped": ("#fde2e2", "#c53030"),
    "apart": ("#f3f4f6", "#9ca3af"),
}
MEANING = {
    "flows": "gradient flows",
    "zero": "gradient is zero",
    "bad": "NaN or infinite",
    "stopped": "gradient is stopped",
    "apart": "does not depend on x",
}


class Box(NamedTuple):
    """The drawing of one operation; `kind` is a key of COLORS."""

    lines: Sequence[str]
    kind: str


class Edge(NamedTuple):
    """An arrow from one box to another, by their numbers."""

    source: int
    target: int
    kind: str


def svg_of(boxes: dict[int, Box], edges: Iterable[Edge], legend: Iterable[str] = ()) -> str:
    """Return the drawing: boxes by number, sources above targets.

    Every edge goes from a lower to a higher number.
    """
    edges = [e for e in edges if e.source in boxes and e.target in boxes]
    layers = _layers(boxes, edges)
    order = _ordered(layers, edges)
    places, width, height = _placed(order, boxes)
    legend = list(legend)
    height += 22 if legend else 0
    width = max(width, MARGIN + sum(30 + LETTER * len(MEANING[kind]) for kind in legend))
    parts = [opening(width, height)]
    parts += [_arrow(places, boxes, edge) for edge in edges]
    parts += [_box(places[number], box) for number, box in boxes.items()]
    x = float(MARGIN)
    for kind in legend:
        fill, stroke = COLORS[kind]
        y = height - 18
        parts.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="10" height="10" fill="{fill}" '
            f'stroke="{stroke}"/><text x="{x + 14:.0f}" y="{y + 9:.0f}">{MEANING[kind]}</text>'
        )
        x += 30 + LETTER * len(MEANING[kind])
    return "".join(parts) + "</svg>"


def opening(width: float, height: float) -> str:
    """Return the first tag; the background is white on dark pages too, as the text is black."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11" '
        'style="background:#fff;max-width:none">'
    )


def _layers(boxes: dict[int, Box], edges: list[Edge]) -> list[list[int]]:
    depth = dict.fromkeys(sorted(boxes), 0)
    above: dict[int, list[int]] = {number: [] for number in boxes}
    below: dict[int, list[int]] = {number: [] for number in boxes}
    for edge in edges:
        above[edge.target].append(edge.source)
        below[edge.source].append(edge.target)
    for number in depth:
        depth[number] = max((depth[i] + 1 for i in above[number]), default=0)
    for number in depth:  # a leaf is drawn directly above its first user
        if not above[number] and below[number]:
            depth[number] = min(depth[i] for i in below[number]) - 1
    layers: list[list[int]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for number, at in depth.items():
        layers[at].append(number)
    return layers


def _ordered(layers: list[list[int]], edges: list[Edge]) -> list[list[int]]:
    neighbours: dict[int, list[int]] = {}
    for edge in edges:
        neighbours.setdefault(edge.source, []).append(edge.target)
        neighbours.setdefault(edge.target, []).append(edge.source)
    for sweep in range(6):
        place = {n: i - len(layer) / 2 for layer in layers for i, n in enumerate(layer)}
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            means = {
                n: sum(place[i] for i in near) / len(near)
                if (near := neighbours.get(n))
                else place[n]
                for n in layer
            }
            layer.sort(key=means.__getitem__)
            place.update((n, i - len(layer) / 2) for i, n in enumerate(layer))
    return layers


def _width(box: Box) -> float:
    return 12 + LETTER * max(map(len, box.lines))


def _placed(
    layers: list[list[int]], boxes: dict[int, Box]
) -> tuple[dict[int, tuple[float, float]], float, float]:
    """Return the middle of the upper edge of each box, and the size of the drawing."""
    widths = [sum(_width(boxes[n]) + GAP_X for n in layer) - GAP_X for layer in layers]
    whole = max(widths, default=0)
    places = {}
    y = float(MARGIN)
    for layer, width in zip(layers, widths, strict=True):
        x = MARGIN + (whole - width) / 2
        for number in layer:
            own = _width(boxes[number])
            places[number] = x + own / 2, y
            x += own + GAP_X
        y += max((len(boxes[n].lines) for n in layer), default=0) * LINE + 6 + GAP_Y
    return places, whole + 2 * MARGIN, y - GAP_Y + MARGIN


def _box(place: tuple[float, float], box: Box) -> str:
    from html import escape  # imported here, because the import is slow

    fill, stroke = COLORS[box.kind]
    x, y = place
    width, height = _width(box), len(box.lines) * LINE + 6
    text = "".join(
        f'<text x="{x:.1f}" y="{y + LINE * (i + 1) - 1:.1f}" text-anchor="middle" '
        f'font-weight="{"normal" if i else "bold"}">{escape(line)}</text>'
        for i, line in enumerate(box.lines)
    )
    return (
        f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="4" '
        f'fill="{fill}" stroke="{stroke}"/>{text}'
    )


def _arrow(places: dict[int, tuple[float, float]], boxes: dict[int, Box], edge: Edge) -> str:
    x1, y1 = places[edge.source]
    x2, y2 = places[edge.target]
    y1 += len(boxes[edge.source].lines) * LINE + 6
    middle = (y1 + y2) / 2
    color = COLORS[edge.kind][1]
    dashes = ' stroke-dasharray="4 3"' if edge.kind in ("stopped", "apart") else ""
    return (
        f'<path d="M{x1:.1f},{y1:.1f} C{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f} '
        f'{x2:.1f},{y2:.1f}" fill="none" stroke="{color}" stroke-width="1.4"{dashes}/>'
        f'<path d="M{x2 - 3:.1f},{y2 - 6:.1f} L{x2:.1f},{y2:.1f} L{x2 + 3:.1f},{y2 - 6:.1f} Z" '
        f'fill="{color}"/>'
    )
