"""Runs a program in some of the modes and says what is wrong, if anything."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

import pullback as pb

from . import helpers
from .modes import MODES, TRACED, Answer
from .oracle import Expected, judge
from .program import Array, Program

THREADS = (1, 2, 3, 8)
PLAIN = {"line_by_line", "by_jacobians"}
counts: Counter[str] = Counter()  # what was compared, and what could not be


class Failure(Exception):  # noqa: N818
    """What is wrong, and in which modes it can be seen."""

    def __init__(self, mode: str, text: str) -> None:
        super().__init__(f"{mode}: {text}")
        self.modes = [mode]
        self.kind = " ".join(text.split()[:2])


def check(program: Program, modes: list[str] | None = None) -> None:
    counts["programs"] += 1
    random = np.random.default_rng(program.seed)
    if modes is None:
        possible = [m for m in MODES if not (program.by_values and m in TRACED)]
        modes = [str(m) for m in random.permutation(possible)[:2]]
    expected = judge(program)
    if expected is None:
        counts["decided by rounding"] += 1
        return
    before = pb.num_threads()
    first = None
    try:
        for mode in modes:
            pb.set_num_threads(int(random.choice(THREADS)))
            with np.errstate(all="ignore"):
                try:
                    answer = MODES[mode](program, expected).arrays()
                except Exception as error:
                    raise Failure(mode, f"{type(error).__name__}: {error}") from error
                _compare(program, expected, answer, mode)
                if first is not None:
                    try:
                        plain = program.special and _has_plain_zeros(program, modes)
                        _compare_modes(first, answer, mode, expected, plain)
                    except Failure as failure:
                        failure.modes = modes
                        raise
            first = answer
        if program.large:
            _same_bits(program, expected, modes[0])
    finally:
        pb.set_num_threads(before)


def _has_plain_zeros(program: Program, modes: list[str]) -> bool:
    """Whether zeros are structural in one of the modes and not in the other."""
    if not PLAIN.isdisjoint(modes):
        return True
    text = program.source()
    return "by_tangents" in modes and any(name in text for name in helpers.TRANSPOSED)


def _compare(program: Program, expected: Expected, answer: Answer, mode: str) -> None:
    single = expected.single
    for k, (got, value) in enumerate(zip(answer.values, expected.values, strict=True)):
        problem = _value_problem(got, value, expected.noise[k], single)
        if problem:
            raise Failure(mode, f"result {k}: {problem}")
    for k, (g, h) in zip(program.floats, zip(answer.gradients, answer.products, strict=True),
                         strict=True):  # fmt: skip
        leaf = list(program.leaves.values())[k]
        for x in (g, h):
            if x is not None and (x.shape != leaf.shape or x.dtype != leaf.dtype):
                raise Failure(
                    mode, f"a gradient is {x.dtype}{x.shape}, not {leaf.dtype}{leaf.shape}"
                )
    loose = 5e-2 if expected.half else 1e-3 if single else 1e-9
    for name, number, parts in [
        ("slope", expected.slope, answer.gradients),
        ("curvature", expected.curvature, answer.products),
    ]:
        if number is None or not number.error < 1e-4 * (1 + abs(number.value)):
            counts[f"{name}: no differences"] += 1
            continue
        counts[name] += 1
        value = number.value
        total, scale = _dot(parts, expected.p)
        allowed = loose * (1 + scale + abs(value)) + 10 * number.error
        # Structural zeros that differ along a row end in the second product that they pass.
        if np.isnan(total) and (program.special or not expected.products_are_finite):
            counts[f"{name}: nan of infinities"] += 1
        elif not abs(total - value) <= allowed:
            raise Failure(mode, f"{name} is {total:.15g}, by differences {value:.15g}")


def _dot(parts: list[Any], directions: list[Array]) -> tuple[Any, Any]:
    """The sum of the products, and that of their absolute values. Where a direction is 0, since the
    leaf is infinite or NaN, its gradient may be anything."""
    total = scale = np.longdouble(0)
    for part, v in zip(parts, directions, strict=True):
        if part is not None:
            terms = np.where(v == 0, 0, part.astype(np.longdouble) * v)
            total += np.sum(terms)
            scale += np.sum(np.abs(terms))
    return total, scale


def _value_problem(got: Array, value: Array, noise: float, single: bool) -> str:
    if got.shape != value.shape:
        return f"has shape {got.shape}, not {value.shape}"
    if got.dtype.kind != "f" or value.dtype.kind != "f":
        if got.dtype != value.dtype or not np.array_equal(got, value):
            return f"is {got!r}, not {value!r}"
        return ""
    rounded = value.astype(got.dtype)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    scale = float(np.max(np.abs(rounded), initial=1, where=np.isfinite(rounded)))
    allowed = (1e-4 if single else 1e-10) * scale + 100 * noise
    bad = ~same & ~(np.abs(got - value) <= allowed)
    if bad.any():
        at = tuple(int(k) for k in np.argwhere(bad)[0])
        return f"at {at} is {got[at]!r}, not {value[at]!r}"
    return ""


def _compare_modes(
    first: Answer, second: Answer, mode: str, expected: Expected, plain: bool
) -> None:
    """Entry by entry. Zeros may stand for None in one of them. `plain`: one hands arrays on, or
    calls a rule with them, whose zeros are not structural: with infinities among the leaves they
    make NaN."""
    loose = 5e-2 if expected.half else 5e-3 if expected.single else 1e-8
    for name, xs, ys in zip(("result", "gradient", "Hessian product"), first.parts(),
                            second.parts(), strict=True):  # fmt: skip
        for k, (x, y) in enumerate(zip(xs, ys, strict=True)):
            if x is None or y is None:
                other = y if x is None else x
                if other is not None and np.any(other != 0):
                    raise Failure(mode, f"{name} {k} is {y}, another mode says {x}")
                continue
            if x.dtype.kind != "f":
                continue
            with np.errstate(all="ignore"):
                scale = float(np.max(np.abs(x), initial=1, where=np.isfinite(x)))
                same = (x == y) | (np.isnan(x) & np.isnan(y))
                fine = same | (np.abs(x - y) <= loose * scale)
                if plain and name != "result":
                    fine |= np.isnan(x) | np.isnan(y)
            if not fine.all():
                raise Failure(mode, f"{name} {k} is {y}, another mode says {x}")


def _same_bits(program: Program, expected: Expected, mode: str) -> None:
    def bits(threads: int) -> list[bytes | None]:
        pb.set_num_threads(threads)
        with np.errstate(all="ignore"):
            found = MODES[mode](program, expected).arrays().flat()
        return [None if x is None else x.tobytes() for x in found]

    if bits(1) != bits(3):
        raise Failure(mode, "other bits on three threads")


def check_bits(program: Program) -> None:
    """Compare the bits of runs that evaluate other values together: all as one plan, three times;
    the results before the gradients; each line by itself."""
    expected = judge(program)
    if expected is None:
        return
    before = pb.num_threads()
    try:
        _same_in_all(program, expected)
    finally:
        pb.set_num_threads(before)


def _same_in_all(program: Program, expected: Expected) -> None:
    alive, first = [], None
    for k, mode in enumerate(("lazy", "lazy", "in_steps", "line_by_line", "lazy")):
        pb.set_num_threads(THREADS[k % len(THREADS)])
        with np.errstate(all="ignore"):
            alive.append(MODES[mode](program, expected))
            found = [None if x is None else x.tobytes() for x in alive[-1].arrays().flat()]
        if first is None:
            first = found
        elif found != first:
            raise Failure(mode, "other bits than a lazy run")
