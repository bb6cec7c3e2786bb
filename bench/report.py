"""The table of a run, and the machine it ran on; the same as JSON with every sample.

python -m bench.report FILE                              the table of a JSON file
python -m bench.report FILE --page docs/benchmarks.md    writes the table into the page
python -m bench.report FILE --png PICTURE                the picture of plot.py
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .case import OPENBLAS, PEERS, Row
from .goals import best, middle, of, verdicts
from .harness import RATES, Report

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


def content_of(
    report: Report, rows: dict[str, Row], about: dict[str, Any], smoke: bool
) -> dict[str, Any]:
    """Everything that is known about a run, as it goes to JSON."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": about,
        "smoke": smoke,
        "rows": {
            name: {
                "about": row.about,
                "unit": row.unit,
                "goal": asdict(row.goal) if row.goal else None,
                "lazy_most": row.lazy_most,
                "cpp_most": row.cpp_most,
                "unrolled": row.unrolled,
            }
            for name, row in rows.items()
        },
        **asdict(report),
    }


def write_json(path: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def number(value: float | None) -> str:
    """Three digits that count, never an exponent."""
    if value is None:
        return ""
    digits = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{digits}f}" if abs(value) >= 0.1 or value == 0 else f"{value:.2g}"


def over(value: float, other: float | None) -> str:
    return number(value / other) if other else ""


HEAD = ["row", "library", "style", "median", "range"]
HEAD += ["× peer", "× limit", "× value", "first ms", "peak MB", "goal"]


def line(content: dict[str, Any], result: dict[str, Any]) -> list[str]:
    same = [r for r in content["results"] if r["row"] == result["row"]]
    value, samples, rate = middle(result), result["samples"], result["unit"] in RATES
    is_gradient = result["library"] == "pullback" and result["style"] in {"lazy", "function"}
    return [
        result["row"],
        f"{result['library']} {result['version']}".strip(),
        result["style"],
        f"{number(value)} {result['unit']}",
        f"{number(min(samples))} to {number(max(samples))}",
        "" if rate or result["style"] == "value" else over(value, best(same, PEERS)),
        "" if rate else over(value, best(same, ["limit", OPENBLAS])),
        over(value, of(same, "pullback", "value")) if is_gradient else "",
        number(result["first_ms"]),
        number(result["peak_mb"]),
        ", ".join(map(str, verdicts(content, result))),
    ]


def table(head: list[str], lines: list[list[str]]) -> str:
    """Markdown that also reads as plain text; columns with nothing in them are left out."""
    used = [i for i in range(len(head)) if any(line[i] for line in lines)]
    rows = [[line[i] for i in used] for line in [head, *lines]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(used))]
    is_text = [i == 0 or head[i] in {"library", "style", "what", "goal"} for i in used]

    def text(row: list[str]) -> str:
        cells = [
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_text, strict=True)
        ]
        return "| " + " | ".join(cells) + " |"

    rule = ["-" * (w - 1) + ("-" if left else ":") for w, left in zip(widths, is_text, strict=True)]
    return "\n".join([text(rows[0]), text(rule), *map(text, rows[1:])])


def growth_table(growth: list[dict[str, Any]]) -> str:
    """Times and memory by length, and between two lengths by how much they grew."""
    names = [name for name in growth[0] if name not in {"length", "planned again"}]
    head = ["operations"] + [f"{name} {'MB' if name == 'memory' else 'ms'}" for name in names]
    lines = []
    for i, figures in enumerate(growth):
        if i:
            ratios = [over(figures[name], growth[i - 1][name]) for name in names]
            lines.append(["", *(f"× {ratio}" for ratio in ratios)])
        lines.append([str(figures["length"]), *(number(figures[name]) for name in names)])
    return table(head, lines)


def render(content: dict[str, Any]) -> str:
    about = content["machine"]
    environment = [f"{k}={v}" for k, v in about["environment"].items()]
    parts = [
        f"{content['date']}, pullback {about['pullback']}, {about['processor']}, "
        f"{about['cores']} cores,\n"
        f"{about['system']}, Python {about['python']}, {about['cpu_level']} kernels, "
        f"BLAS {about['blas']}, {about['threads']} threads,\n"
        f"load {about['load']} at the start, environment {' '.join(environment) or 'plain'}"
    ]
    if content["smoke"]:
        parts.append("A smoke run: everything ran once, small, so the figures mean nothing.")
    if (about["load"] or 0) > BUSY:
        parts.append("Others were using the machine: the figures are not to be trusted.")
    ours = [line(content, r) for r in content["results"] if r["library"] != "native"]
    native = [line(content, r) for r in content["results"] if r["library"] == "native"]
    if ours:
        parts.append(table(HEAD, ours))
        parts.append(
            f"× peer: over the fastest of {', '.join(PEERS)} in the row; below 1 is better.\n"
            "× limit: over reading and writing the row's arrays, which no library can beat,\n"
            "or over its matrix products by OpenBLAS alone, which better kernels can.\n"
            "× value: over the value alone."
        )
    if content["growth"]:
        parts.append(growth_table(content["growth"]))
    if native:
        head = ["native", "what", *HEAD[3:5]]
        parts.append(table(head, [[cells[0], cells[2], *cells[3:5]] for cells in native]))
    if content["missing"]:
        parts.append("Not there: " + "; ".join(content["missing"]))
    if content["failures"]:
        parts.append("FAILED\n" + "\n".join(content["failures"]))
    return "\n\n".join(parts)


def main() -> None:
    from . import page, plot

    parser = argparse.ArgumentParser(prog="python -m bench.report", description="A run, again.")
    parser.add_argument("file", type=Path, help="what python -m bench --json wrote")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table into FILE")
    parser.add_argument(
        "--part", default="", metavar="NAME", help="the part of the page that holds the table"
    )
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the picture")
    options = parser.parse_args()
    content = json.loads(options.file.read_text(encoding="utf-8"))
    if options.page:
        page.write(options.page, content, options.part)
    if options.png:
        plot.draw(options.png, content)
    if not options.page and not options.png:
        print(render(content))


if __name__ == "__main__":
    main()
