"""What a program's values and derivatives are: NumPy's values, and differences of them along a
random direction p in long double.

The slope is a central difference with a step so small that what it leaves out is no larger than the
rounding, and that few kinks lie within it. The curvature p·Hp needs larger steps: these halve, and
Richardson's scheme takes the lowest powers of the step out. What the last step changed is taken for
the error.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .program import Array, Program
from .reference import Reference

SMALL = np.longdouble("1e-6")
STEPS = [np.longdouble(text) for text in ("2e-3", "1e-3", "5e-4")]


@dataclass
class Number:
    value: Any
    error: float


@dataclass
class Expected:
    """`values` have their `noise`: what rounding does to them. The slope along p and p·Hp are None
    where differences can't tell: near a kink, or at a tie. `single`: some of it is float32; `half`:
    some is rounded to fewer digits still, on the way to results and of gradients."""

    values: list[Array]
    noise: list[float]
    single: bool
    half: bool
    products_are_finite: bool  # their operands
    beyond: bool  # squares of some values, or their inverses, are no numbers of the dtype
    cotangents: list[Array | None] = field(default_factory=list)  # one per result, None: no float
    p: list[Array] = field(default_factory=list)  # one per leaf with a gradient
    slope: Number | None = None
    curvature: Number | None = None


def judge(program: Program) -> Expected | None:
    """None where rounding alone decides what the program computes."""
    leaves = list(program.leaves.values())
    exact, rounded = Reference(exact=True), Reference(exact=False)
    values = program.on(exact, leaves)
    with np.errstate(all="ignore"):
        every = program.all_values(rounded)
        close = [every[i] for i in program.results]
        noise = [_difference(x, y) for x, y in zip(values, close, strict=True)]
    if exact.choices != rounded.choices or not np.isfinite(noise).all():
        return None
    single = any(x.dtype == np.float32 for x in every.values())
    half = "narrowed(" in program.source(exact=True)
    beyond = any(x.dtype == np.float32 and np.any(np.abs(x) > 1e18) for x in every.values())
    out = Expected(values, noise, single, half, rounded.products_are_finite, beyond)
    random = np.random.default_rng(program.seed)
    for y in close:
        weights = np.round(random.normal(size=y.shape), 2)
        out.cotangents.append(np.asarray(weights, y.dtype) if y.dtype.kind == "f" else None)
    for k in program.floats:
        fixed = np.isfinite(leaves[k])
        v = np.round(random.uniform(-1, 1, leaves[k].shape), 2)
        out.p.append(np.where(fixed, v, 0).astype(leaves[k].dtype))
    _differentiate(program, leaves, exact, out)
    return out


def _difference(x: Array, y: Array) -> float:
    """The largest; infinite where one is finite, or a NaN, and the other is not."""
    if x.dtype.kind != "f":
        return 0.0 if np.array_equal(x, y) else np.inf
    same = (x == y) | (np.isnan(x) & np.isnan(y))
    return float(np.max(np.where(same, 0, np.abs(x - y)), initial=0))


def _differentiate(program: Program, leaves: list[Array], exact: Reference, out: Expected) -> None:
    floats = program.floats
    function = program.function(exact=True)
    base = [np.asarray(x, np.longdouble) if x.dtype.kind == "f" else x for x in leaves]

    def at(step: Any) -> Any | None:
        moved = list(base)
        for k, v in zip(floats, direction, strict=True):
            moved[k] = base[k] + step * v
        reference = Reference(exact=True, frozen=exact.frozen)
        try:
            results = function(reference, *moved)
        except (ValueError, IndexError):  # a divisor or a position that was none a step before
            return None
        if reference.choices != exact.choices:
            return None
        total = np.longdouble(0)
        for y, c in zip(results, out.cotangents, strict=True):
            if c is not None:
                total += np.sum(y * c)
        return total

    def slope() -> Number | None:
        table = []
        for step in (2 * SMALL, SMALL):
            ahead, behind = at(step), at(-step)
            if ahead is None or behind is None:
                return None
            table.append((ahead - behind) / (2 * step))
        return Number(table[1], float(abs(table[1] - table[0]) + rounding / SMALL))

    def curvature() -> Number | None:
        table = []
        for step in STEPS:
            ahead, behind = at(step), at(-step)
            if ahead is None or behind is None:
                return None
            table.append((ahead - 2 * middle + behind) / step**2)
        limit = _limit(table)
        return Number(limit.value, limit.error + float(4 * rounding / STEPS[-1] ** 2))

    with np.errstate(all="ignore"):
        direction = [np.asarray(x, np.longdouble) for x in out.p]
        middle = at(np.longdouble(0))
        if middle is None or not np.isfinite(middle):
            return
        # Of a large sum nothing is left of what a small summand changes.
        rounding = np.finfo(np.longdouble).eps * np.abs(middle)
        out.slope = slope()
        if out.slope is not None and not (program.large or out.beyond):
            out.curvature = curvature()


def _limit(table: list[Any]) -> Number:
    power, error = 1, 0.0
    while len(table) > 1:
        power *= 4
        pairs = itertools.pairwise(table)
        table = [(power * fine - coarse) / (power - 1) for coarse, fine in pairs]
        if len(table) == 2:
            error = float(abs(table[1] - table[0]))
    return Number(table[0], error)
