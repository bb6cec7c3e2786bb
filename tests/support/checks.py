"""Gradients of a row of the case table, first and second ones, beside differences in long double:
of every call and every layout, with cotangents that lie in memory in the same ways.

`tools/gradient_checks` goes through the whole table, over other numbers with `--salt`, and says how
many gradients it has compared.
"""

from __future__ import annotations

import argparse
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

import pullback as pb

from .cases import NAMES, Case, tensor
from .check import Check
from .expected import stored
from .layouts import Layout, layouts
from .oracle import (
    FIRST_TOLERANCE,
    SECOND_STEPS,
    SECOND_TOLERANCE,
    along,
    jacobian,
    off,
)

Array = Any
PLAIN = Layout("contiguous", lambda x: x, lambda t, x: t)
LARGEST = 60  # elements of an argument of which second derivatives are taken by differences
counts: Counter[str] = Counter()


def small_shapes(case: Case, most: int) -> list[Any]:
    """The calls whose arguments have no more elements; where there are none, the smallest."""
    sizes = [max(int(np.prod(shape)) for shape in shapes) for shapes in case.shapes]
    most = max(most, min(sizes))
    return [shapes for shapes, size in zip(case.shapes, sizes, strict=True) if size <= most]


def coarse_uniform(rng: np.random.Generator, shape: Any) -> Any:
    """Random numbers in [-1, 1] that every floating dtype represents."""
    return np.round(rng.uniform(-1, 1, shape) * 128) / 128


class Program:
    """One call of a case with fixed random cotangents, its arguments and they in a layout.

    loss = <f(x), c>, slopes = d loss / dx, and <slopes, d> for the second order. The cotangent c is
    a variable too: the second order with respect to it is f'(x) d, forward mode by reverse twice.
    """

    def __init__(
        self, case: Case, shapes: Any, dtype: str = "d", salt: str = "", layout: Layout = PLAIN
    ) -> None:
        self.case = case
        self.layout = layout
        self.xs = case.arrays(shapes, dtype, salt)
        rng = np.random.default_rng(zlib.crc32(f"{case.id} {shapes} {salt} cotangent".encode()))

        own = [domain.dtype or dtype for domain in case.domains]
        self.inputs = [self.placed(x, own[k], k in case.wrt) for k, x in enumerate(self.xs)]
        self.wrt = [self.inputs[k] for k in case.wrt]
        self.y = case.run(*self.inputs)
        self.c = coarse_uniform(rng, self.y.shape)
        self.directions = [coarse_uniform(rng, self.xs[k].shape) for k in case.wrt]
        self.cotangent = self.placed(np.asarray(self.c, NAMES.get(dtype, "d")), dtype, True)
        self.slopes = pb.gradients(self.y, self.wrt, grad_ys=self.cotangent)

    def placed(self, x: Array, dtype: str, tracked: bool) -> Any:
        layout = self.layout if self.layout.name in {one.name for one in layouts(x)} else PLAIN
        stored = tensor(layout.store(x), dtype)
        return layout.view(pb.Variable(stored) if tracked else stored, x)

    def second(self) -> list[Any]:
        """Gradients of <slopes, d> with respect to the inputs, then to the cotangent."""
        assert None not in self.slopes
        pairs = zip(self.slopes, self.directions, strict=True)
        total = sum(pb.sum(slope * pb.cast(d, slope.dtype)) for slope, d in pairs)
        return pb.gradients(total, [*self.wrt, self.cotangent], unconnected_gradients="zero")

    # --- the same by finite differences, stored

    def expected(self) -> tuple[list[Any], list[Any]]:
        """The gradients along the cotangent, and along one of ones."""
        shapes = [self.xs[k].shape for k in self.case.wrt]
        found = self.stored("derivative", 2 * shapes, self.compute_expected)
        return found[: len(shapes)], found[len(shapes) :]

    def stored(self, name: str, shapes: list[Any], compute: Any) -> list[Any]:
        arguments = [*self.xs, self.c, *self.directions]
        return stored(f"{self.case} {name}", arguments, shapes, compute)

    def compute_expected(self) -> list[Any]:
        case, exact = self.case, self.case.exact(self.xs)
        jacobians = [jacobian(case.reference, exact, k, case.elementwise) for k in case.wrt]
        return [j.pull(c) for c in (self.c, np.ones_like(self.c)) for j in jacobians]

    def expected_second(self) -> list[Any]:
        """What `second` returns."""
        shapes = [*(self.xs[k].shape for k in self.case.wrt), self.c.shape]
        return self.stored("second derivative", shapes, self.compute_expected_second)

    def compute_expected_second(self) -> list[Any]:
        case, directions = self.case, [None] * len(self.xs)
        for k, d in zip(case.wrt, self.directions, strict=True):
            directions[k] = d.astype(np.longdouble)

        def slope(*xs: Any) -> Any:
            return along(case.reference, xs, directions, SECOND_STEPS)

        exact = case.exact(self.xs)
        backward = [
            jacobian(slope, exact, k, case.elementwise, SECOND_STEPS).pull(self.c) for k in case.wrt
        ]
        if not any(d.size for d in self.directions):  # nothing moves, be the value NaN or not
            return [*backward, np.zeros_like(self.c)]
        return [*backward, along(case.reference, exact, directions)]


def placements(case: Case, shapes: Any) -> Iterator[Layout]:
    """The layouts that make a difference to one of the arguments."""
    found = {one.name: one for shape in shapes for one in layouts(np.zeros(shape))}
    yield PLAIN
    yield from found.values()


def count(order: str, shapes: Any, layout: str) -> None:
    counts[order] += 1
    if any(0 in shape for shape in shapes):
        counts[f"{order}, without elements"] += 1
    if () in shapes:
        counts[f"{order}, 0-d"] += 1
    counts[f"{order}, {layout}"] += 1


def first_order(case: Case, check: Check, salt: str = "") -> None:
    floor = 0.001 if case.elementwise else 0.01  # what rounds in a difference is larger in sums
    for shapes in case.shapes:
        programs = [Program(case, shapes, "d", salt, one) for one in placements(case, shapes)]
        plain = programs[0]
        # A cotangent of stride 0 as well: the gradient of a sum.
        ones = pb.gradients(pb.sum(plain.y), plain.wrt)
        pb.evaluate([g for p in programs for g in p.slopes if g is not None], ones)
        wanted, wanted_of_ones = plain.expected()
        found = [(p.layout.name, p.slopes, wanted) for p in programs]
        found.append(("stride 0", ones, wanted_of_ones))
        for layout, slopes, expected in found:
            for k, got, want in zip(case.wrt, slopes, expected, strict=True):
                count("first order", shapes, layout)
                label = f"{layout}, argument {k} of {shapes}"
                compare(check, label, got, want, FIRST_TOLERANCE, floor)


def second_order(case: Case, check: Check, salt: str = "") -> None:
    for shapes in case.shapes:
        if not has_second_order(shapes):
            continue  # the first order has seen it
        programs = [Program(case, shapes, "d", salt, one) for one in placements(case, shapes)]
        expected = programs[0].expected_second()
        found = [p.second() for p in programs]
        pb.evaluate(found)
        for program, products in zip(programs, found, strict=True):
            for k, (got, want) in enumerate(zip(products, expected, strict=True)):
                count("second order", shapes, program.layout.name)
                label = f"{program.layout.name}, argument {k} of {shapes}"
                compare(check, label, got, want, SECOND_TOLERANCE, 0.1)


def has_second_order(shapes: Any) -> bool:
    return max(int(np.prod(shape)) for shape in shapes) <= LARGEST


def expect_all(case: Case) -> None:
    """Evaluate every stored derivative."""
    for shapes in case.shapes:
        program = Program(case, shapes)
        program.expected()
        if has_second_order(shapes):
            program.expected_second()


def compare(
    check: Check, label: str, got: Any, want: Array, tolerance: float, floor: float
) -> None:
    if got is None:
        check.that(False, f"{label}: no gradient")
        return
    value = got.numpy()
    if value.dtype != np.float64:
        check.that(False, f"{label}: dtype {value.dtype}")
    error = off(value, want, floor)
    if not error <= tolerance:
        check.that(False, f"{label}: {error:.2g} off: {value}, expected {want}")


def main() -> int:
    from .table import CASES

    parser = argparse.ArgumentParser(prog="gradient_checks", description=__doc__.splitlines()[0])
    parser.add_argument("--salt", default="", help="other numbers than those of the tests")
    salt = parser.parse_args().salt
    failures = 0
    for case in CASES:
        check = Check()
        for holds in (first_order, second_order) if case.wrt else ():
            with check.during(holds.__name__):
                holds(case, check, salt)
        for problem in check.problems:
            failures += 1
            print(f"--- {case}: {problem}", flush=True)
    for name, number in sorted(counts.items()):
        print(f"{name}: {number}")
    print(f"{failures} failures")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
