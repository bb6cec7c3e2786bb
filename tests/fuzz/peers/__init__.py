"""torch and jax, where they are installed, as further oracles: a program runs with one of them in
the place of `pb`, in double precision, and its values, gradients and Hessian-vector product are
compared with those of pullback, entry by entry.

`by_torch` and `by_jax` say what our functions are called there. A program with a line that they do
not have is not compared, nor one with float32, kinks, ties or infinities, where each has its own
rules. jax takes a second for a program: it gets few of them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from .. import helpers, modes
from ..oracle import Expected, judge
from ..program import Program
from .both import Peer

EVERY = {"torch": 4, "jax": 32}  # of so many programs, one
PEERS = tuple(name for name in EVERY if find_spec(name))


def of(program: Program) -> list[str]:
    """Those that it is compared with."""
    return [name for name in PEERS if program.seed % EVERY[name] == 0]


class Different(Exception):  # noqa: N818
    """The peer says something else."""


def compare(program: Program, name: str) -> str:
    """Whether it was compared; raises Different."""
    expected = judge(program)
    if expected is None or expected.single or expected.half or program.special:
        return "not comparable"
    if expected.slope is None or expected.curvature is None:
        return "not comparable"
    try:
        with np.errstate(all="ignore"):
            theirs = _answer(program, expected, name)
    except Exception:  # a line that is written otherwise there: a negative step, a list, no axes
        return "refused there"
    if theirs is None:
        return "not there"
    if not all(np.isfinite(x).all() for x in theirs.flat() if x is not None):
        return "not finite there"  # a branch that is not taken leaks
    ours = modes.lazy(program, expected).arrays()
    noise = 1000 * max(expected.noise, default=0)
    for what, loose, xs, ys in zip(("result", "gradient", "Hessian product"), (1e-10, 1e-8, 1e-7),
                                   ours.parts(), theirs.parts(), strict=True):  # fmt: skip
        size = max((float(np.max(np.abs(x), initial=1)) for x in xs if x is not None), default=1)
        for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if x is None or y is None:
                x, y = (0 if z is None else z for z in (x, y))
            elif x.shape != y.shape:
                raise Different(f"{what} {k} has shape {x.shape}, that of {name} {y.shape}")
            if not np.all(np.abs(np.subtract(x, y, dtype=float)) <= loose * size + noise):
                raise Different(f"{what} {k} is\n{x}, that of {name}\n{y}")
    return "compared"


def _answer(program: Program, expected: Expected, name: str) -> modes.Answer | None:
    there = import_module(f".by_{name}", __name__)
    text = source(program, there.PEER)
    if text is None:
        return None
    space: dict[str, Any] = {"np": np, "inf": np.inf, "nan": np.nan, "helpers": helpers}
    exec(text, space)

    def run(*xs: Any) -> list[Any]:
        return list(space["program"](there.PEER, *xs))

    leaves = list(program.leaves.values())
    weighed = [k for k, c in enumerate(expected.cotangents) if c is not None]
    found: modes.Answer = there.answer(run, leaves, program.floats, weighed, expected)
    return found


def source(program: Program, peer: Peer) -> str | None:
    """Its lines, each as we call it or else as the reference does; None where it has neither."""
    lines = []
    for line in program.lines:
        ours, meaning = line.source(), line.source(exact=True)
        if peer.has(ours) and "**" not in ours:
            lines.append(ours)
        elif peer.has(meaning) and "np." not in meaning:
            lines.append(meaning)
        else:
            return None
    names = ", ".join(f"v{i}" for i in program.leaves)
    results = ", ".join(f"v{i}" for i in program.results)
    body = "\n    ".join([*lines, f"return [{results}]"])
    return f"def program(pb, {names}):\n    {body}\n"
