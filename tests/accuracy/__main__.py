"""Measures, and writes docs/accuracy.md: `tools/accuracy --help`."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

from . import measure
from .functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
FIGURES = Path(__file__).with_name("figures.json")
PAGE = ROOT / "docs" / "accuracy.md"
HEAD = """# Accuracy

The largest errors found, in units of the last place (ulp) of the exact result, which is mpmath's
with 60 digits. Written by `tools/accuracy --write`.

*Value of float32, all*: over every one of the 2³² floats (`tools/accuracy --exhaustive NAME`),
where that has been run. The other columns are the worst of points all over the domain,
subnormal numbers included, and of hill climbing from the worst of them: somewhere there may be a
larger one.
Derivatives count where they are normal numbers, of the first order (f′) and of the second (f″).

"""


def read() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    return found


def row(name: str, figures: dict[str, Any]) -> str:
    def text(key: str) -> str:
        value = figures.get(key)
        return "" if value is None else f"{value:.2f}"

    cells = [name, text("all"), *(text(f"float32 {k}") for k in range(3)),
             *(text(f"float64 {k}") for k in range(3))]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def page(figures: dict[str, dict[str, Any]]) -> str:
    lines = ["| function | float32, all | float32 | f′ | f″ | float64 | f′ | f″ |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    lines += [row(name, figures[name]) for name in FUNCTIONS if name in figures]
    return HEAD + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(prog="accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="functions; all without")
    parser.add_argument("--exhaustive", action="store_true", help="values of all 2³² floats")
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--write", action="store_true", help="keep the figures, write the page")
    options = parser.parse_args()
    if unknown := set(options.names) - set(FUNCTIONS):
        parser.error(f"expected some of {', '.join(FUNCTIONS)}, got {', '.join(sorted(unknown))}")
    figures = read()
    for name in options.names or FUNCTIONS:
        function, start = FUNCTIONS[name], time.monotonic()
        found = figures.setdefault(name, {})
        if options.exhaustive:
            results = {"all": measure.worst_of_all(function)}
        else:
            results = {
                f"{dtype} {order}": measure.worst(function, dtype, order, options.points)
                for dtype in ("float32", "float64")
                for order in range(3)
            }
        for key, (error, at) in results.items():
            print(f"{name:16} {key:10} {error:10.3f} ulp at {at!r}", flush=True)
            found[key] = round(error, 3) if math.isfinite(error) else None
        print(f"{name:16} {time.monotonic() - start:.0f} s", flush=True)
        if options.write:
            FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
            PAGE.write_text(page(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
