"""The table of a run, and the machine it ran on; the same as JSON with every sample."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

from .harness import Report, Result
from .peers import PEERS

BUSY = 0.5  # load before the run
PREFIXES = ("PULLBACK_", "OMP_", "OPENBLAS_", "MKL_", "XLA_")


def machine(build_info: dict[str, Any]) -> dict[str, Any]:
    processor = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            processor = next(line.split(":")[1].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    return {
        "processor": processor,
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "pullback": build_info["version"],
        "cpu_level": build_info["cpu_level"],
        "threads": build_info["threads"],
        "blas": build_info["blas"]["corename"],
        "environment": {k: v for k, v in sorted(os.environ.items()) if k.startswith(PREFIXES)},
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }


def number(value: float | None) -> str:
    """Three digits that count, never an exponent."""
    if value is None:
        return ""
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"


def best(results: Iterable[Result], libraries: Iterable[str]) -> float | None:
    medians = [median(r.samples) for r in results if r.library in libraries]
    return min(medians, default=None)


def _lines(results: list[Result]) -> list[list[str]]:
    out = []
    for result in results:
        same = [r for r in results if r.row == result.row]
        middle = median(result.samples)
        peer, limit = best(same, PEERS), best(same, ["limit"])
        out.append(
            [
                result.row,
                f"{result.library} {result.version}".strip(),
                result.style,
                f"{number(middle)} {result.unit}",
                f"{number(min(result.samples))} to {number(max(result.samples))}",
                number(middle / peer) if peer else "",
                number(middle / limit) if limit else "",
                number(result.first_ms),
                number(result.peak_mb),
            ]
        )
    return out


HEAD = ["row", "library", "style", "median", "range", "× peer", "× limit", "first ms", "peak MB"]


def table(head: list[str], lines: list[list[str]]) -> str:
    """Markdown that also reads as plain text; columns with nothing in them are left out."""
    used = [i for i in range(len(head)) if any(line[i] for line in lines)]
    rows = [[line[i] for i in used] for line in [head, *lines]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(used))]

    def text(row: list[str]) -> str:
        cells = [
            cell.ljust(width) if used[i] < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "| " + " | ".join(cells) + " |"

    rule = ["-" * (w - 1) + ("-" if used[i] < 3 else ":") for i, w in enumerate(widths)]
    return "\n".join([text(rows[0]), text(rule), *map(text, rows[1:])])


def render(report: Report, about: dict[str, Any], smoke: bool) -> str:
    date = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    environment = [f"{k}={v}" for k, v in about["environment"].items()]
    parts = [
        f"{date}, pullback {about['pullback']}, {about['processor']}, {about['cores']} cores,\n"
        f"{about['system']}, Python {about['python']}, {about['cpu_level']} kernels, "
        f"BLAS {about['blas']}, {about['threads']} threads,\n"
        f"load {about['load']} at the start, environment {' '.join(environment) or 'plain'}"
    ]
    if smoke:
        parts.append("A smoke run: everything ran once, so the figures mean nothing.")
    if (about["load"] or 0) > BUSY:
        parts.append("Others were using the machine: the figures are not to be trusted.")
    ours = [r for r in report.results if r.library != "C++"]
    native = [r for r in report.results if r.library == "C++"]
    if ours:
        parts.append(table(HEAD, _lines(ours)))
        parts.append(
            f"× peer: over the fastest of {' and '.join(PEERS)} in the row; below 1 is better."
        )
    if native:
        head = ["native", "", "what", *HEAD[3:]]
        parts.append(table(head, [[line[0], "", *line[2:]] for line in _lines(native)]))
    if report.missing:
        parts.append("Not there: " + "; ".join(report.missing))
    if report.failures:
        parts.append("FAILED\n" + "\n".join(report.failures))
    return "\n\n".join(parts)


def write_json(path: Path, report: Report, about: dict[str, Any], smoke: bool) -> None:
    content = {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "machine": about,
        "smoke": smoke,
        **asdict(report),
    }
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
