"""Measures, and writes docs/accuracy.md: `tools/accuracy --help`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from . import beside_scipy, measure
from .functions import FUNCTIONS

ROOT = Path(__file__).parents[2]
FIGURES = Path(__file__).with_name("figures.json")
PAGE = ROOT / "docs" / "accuracy.md"
HEAD = """# Accuracy

Largest errors found, in units in the last place (ulp) of the exact result. The reference is mpmath
with 60 digits. `tools/accuracy --write` writes this page; the table of functions is in
[`tests/accuracy/functions.py`](../tests/accuracy/functions.py). Functions that only select, round
to integers or change a sign are exact and not listed.

*float32, all* is the largest error of the value over all 2³² floats, as measured by
`tools/accuracy --exhaustive`, which also takes names of functions. All other columns are sampled:
the worst of points over the whole range of arguments, subnormal numbers included, and of hill
climbing from the worst of them. A larger error may exist. An empty cell has not been measured;
`inf` is an infinity or NaN in place of a number.

Derivatives of first (f′) and second order (f″) count if they are normal numbers. The targets are 1
ulp for elementary functions and 2 for special ones, 4 for f′ and 16 for f″. If terms of a
derivative cancel, near its roots, errors are in units of the size of these terms: 1/4 for `silu`,
`gelu` and `mish`, 1/10 for Bessel functions of the first and second kind and f′ of `i1e`, 1/100 and
1/1000 for `ive(2.5, x)` and `sinc`, 1/1000 for f″ of `rgamma`.

Values of `j0`, `j1`, `y0` and `y1` have absolute errors of at most 2e-18 next to their first root
and 1e-19 next to later ones. Their large numbers in the table come from points next to a root,
where the value itself is small; so do those of `jn` and `yn`. `logaddexp` cancels
likewise if its result is near 0. Next to the roots for negative arguments, which the table does not
cover, `gammaln`, `digamma` and f′ of `gamma` and `rgamma` have errors of 1/32 ulp of the terms that
cancel. `silu`, `gelu` and `mish` multiply a subnormal number with few
digits for very negative arguments, and so does f″ of `ndtr` and `log_ndtr` for large ones.

Special functions and families of `pb.stats` that the table does not list are checked in tests
beside mpmath. Those with the values of SciPy have its errors, rounded once; their derivatives of
first and second order agree with mpmath to 2e-12 of the largest term. Known larger errors, relative
to the result:

- f″ of `voigt_profile`: 1e-10, if |x + i gamma| is 3 to 10 times `sigma`;
- f″ of `ellipj` by `m`: 3e-11 at m = 1 and u = 7, growing as exp(2u);
- f″ of `beta(a, b)` by both arguments: 1e-16 / (a b (a + b)), if the arguments are small;
- f′ of `stdtr` and `stdtrit` by `df`, and with it of `stats.t`: 1e-6 at df = 2⁴¹, 1e-3 at 2⁵⁰, all
  digits from 1e17 on, where it is less than 1e-33;
- f′ of `stats.f.logcdf` and `logsf` by degrees of freedom of 1e10 to 1e12, in tails that underflow:
  1e-6.

"""


def read() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    return found


def row(name: str, figures: dict[str, Any]) -> str:
    def text(key: str) -> str:
        value = figures.get(key)
        return "" if value is None else f"{value:.2f}"

    function = FUNCTIONS[name]
    cells = [f"`{name}`", f"{function.low:g} … {function.high:g}".replace("inf", "∞"), text("all")]
    cells += [text(f"{dtype} {order}") for dtype in ("float32", "float64") for order in range(3)]
    return "| " + " | ".join(cells) + " |"


def page(figures: dict[str, dict[str, Any]]) -> str:
    lines = ["| function | arguments | float32, all | float32 | f′ | f″ | float64 | f′ | f″ |",
             "|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    lines += [row(name, figures.get(name, {})) for name in FUNCTIONS]
    return HEAD + "\n".join(lines) + "\n" + beside_scipy.section(figures)


def main() -> int:
    parser = argparse.ArgumentParser(prog="accuracy", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="functions; all without")
    parser.add_argument("--exhaustive", action="store_true", help="values of all 2³² floats")
    parser.add_argument("--scipy", action="store_true", help="values and times beside SciPy's")
    parser.add_argument("--points", type=int, default=300)
    parser.add_argument("--write", action="store_true", help="keep the figures, write the page")
    parser.add_argument("--check", action="store_true", help="fail if an error exceeds its figure")
    options = parser.parse_args()
    worse = []
    if unknown := set(options.names) - set(FUNCTIONS):
        parser.error(f"expected some of {', '.join(FUNCTIONS)}, got {', '.join(sorted(unknown))}")
    chosen = options.names or (beside_scipy.names() if options.scipy else FUNCTIONS)
    for name in chosen:
        function, start = FUNCTIONS[name], time.monotonic()
        found = {}
        if options.scipy:
            results = beside_scipy.measured(name, options.points)
        elif options.exhaustive:
            results = {"all": measure.worst_of_all(function)}
        else:
            results = {
                f"{dtype} {order}": measure.worst(function, dtype, order, options.points)
                for dtype in ("float32", "float64")
                for order in range(3)
            }
        for key, (error, at) in results.items():
            unit = "ns" if key.endswith("ns") else "ulp"
            print(f"{name:16} {key:10} {error:10.3f} {unit} at {at!r}", flush=True)
            found[key] = round(error, 3)
            figure = read().get(name, {}).get(key, float("inf"))
            if unit == "ulp" and found[key] > figure:
                worse.append(f"{name} {key}: {found[key]} ulp at {at!r}, the figure is {figure}")
        print(f"{name:16} {time.monotonic() - start:.0f} s", flush=True)
        if options.write:
            figures = read()
            figures.setdefault(name, {}).update(found)
            FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
            PAGE.write_text(page(figures))
    print(*worse, sep="\n")
    return bool(options.check and worse)


if __name__ == "__main__":
    sys.exit(main())
