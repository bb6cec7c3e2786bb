"""The picture of a run: for each row, every library's time over that of the fastest peer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .case import OPENBLAS, PEERS
from .goals import best, of
from .harness import RATES

# Colours that are told apart without colour vision (Okabe and Ito), and a shape each.
LOOKS = {
    "pullback": ("#000000", "o"),
    "torch": ("#d55e00", "s"),
    "jax": ("#0072b2", "^"),
    "tensorflow": ("#e69f00", "D"),
    "autograd": ("#009e73", "v"),
    "C++": ("#cc79a7", "P"),
    "limit": ("#999999", "|"),
    OPENBLAS: ("#999999", "x"),
}
PLAIN = "pullback, plain code"


def points(content: dict[str, Any]) -> dict[str, dict[str, float]]:
    """By row and library, the time over the best peer's; rows without a peer are left out."""
    out = {}
    for name, row in content["rows"].items():
        same = [r for r in content["results"] if r["row"] == name and r["style"] != "value"]
        peer = best(same, PEERS)
        if not peer or row["unit"] in RATES:
            continue
        medians = {library: best(same, [library]) for library in LOOKS}
        medians[PLAIN] = of(same, "pullback", "lazy")
        out[name] = {library: m / peer for library, m in medians.items() if m is not None}
    return out


def draw(path: Path, content: dict[str, Any]) -> None:
    try:
        import matplotlib
    except ImportError:
        raise SystemExit('--png needs matplotlib: pip install ".[plot]"') from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rows = points(content)
    figure, axes = pyplot.subplots(figsize=(10, 1.8 + 0.34 * len(rows)), layout="constrained")
    names = list(rows)

    def scatter(key: str, **look: Any) -> None:
        here = [(rows[name][key], y) for y, name in enumerate(names) if key in rows[name]]
        if here:
            axes.scatter(*zip(*here, strict=True), s=46, label=key, **look)

    for library, (colour, marker) in LOOKS.items():
        scatter(library, c=colour, marker=marker, zorder=3 if library == "pullback" else 2)
    scatter(PLAIN, facecolors="none", edgecolors=LOOKS["pullback"][0], marker="o", zorder=3)
    axes.axvline(1, color="#444444", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", which="major", color="#dddddd")
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    about = content["machine"]
    axes.set_xlabel("time (or size) over that of the fastest peer; left of 1 is better")
    axes.set_title(
        f"pullback {about['pullback']}, {content['date'][:10]}, {about['cores']} cores of "
        f"{about['processor']}",
        fontsize=10,
    )
    figure.legend(loc="outside lower center", ncols=8, frameon=False, fontsize=9)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
