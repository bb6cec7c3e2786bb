"""Errors and times of special functions in float64 beside those of SciPy with the same name."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

import pullback as pb

from . import measure
from .functions import FUNCTIONS

SIZE = 10_000
REPEATS = 30
KEYS = ("here ulp", "scipy ulp", "here ns", "scipy ns")

HEAD = """
## Beside SciPy

Values in float64 of the functions that `scipy.special` has too: the largest error found by the same
search in both libraries, in ulp, and the time for an element, the least of {repeats} calls for
{size} arguments between -10 and 10 within the domain, by one thread. `inf` is an infinity, a zero
or NaN in place of a number, at some argument. Times are rough: of a machine with other work on it.
`tools/accuracy --scipy --write` measures them.

| function | ulp | SciPy | ns | SciPy |
|---|---|---|---|---|
"""


def by_scipy(name: str) -> Callable[[Any], Any]:
    """Return SciPy's function of x for a name of the table, such as "gammainc(2.5, x)"."""
    call = name if "(" in name else f"{name}(x)"
    return lambda x: eval(call, {**vars(special), "x": x})


def names() -> list[str]:
    return [name for name in FUNCTIONS if hasattr(special, name.split("(")[0])
            and hasattr(pb.special, name.split("(")[0])]  # fmt: skip


def measured(name: str, points: int) -> dict[str, tuple[float, float]]:
    """Return the worst errors with their arguments, and times in nanoseconds."""
    function = FUNCTIONS[name]
    theirs = by_scipy(name)
    random = np.random.default_rng(2)
    x = random.uniform(max(function.low, -10.0), min(function.high, 10.0), SIZE)
    ours = pb.function(function.ours)
    before = pb.get_num_threads()
    pb.set_num_threads(1)
    with np.errstate(all="ignore"):
        found = [
            measure.worst(function, "float64", 0, points),
            measure.worst(replace(function, ours=theirs), "float64", 0, points),
            (_least_time(lambda: ours(x).numpy()), SIZE),
            (_least_time(lambda: theirs(x)), SIZE),
        ]
    pb.set_num_threads(before)
    return dict(zip(KEYS, found, strict=True))


def _least_time(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) / SIZE * 1e9


def section(figures: dict[str, dict[str, Any]]) -> str:
    lines = [HEAD.format(repeats=REPEATS, size=SIZE)]
    for name in names():
        found = figures.get(name, {})
        if all(key in found for key in KEYS):
            errors = [f"{found[key]:.3g}" for key in KEYS[:2]]
            times = [f"{found[key]:.1f}" for key in KEYS[2:]]
            lines.append("| " + " | ".join([f"`{name}`", *errors, *times]) + " |\n")
    return "".join(lines)
