"""Random scans, some with a scan inside, that run as small programs: beside plain Python on NumPy.

Each program is written once, for a namespace and its `scan`. New carries and outputs are any of the
values of the body: old carries and entries too, unchanged, exchanged or repeated.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pullback as pb

Random = Any
Shape = tuple[int, ...]
LENGTH = 4
# Of the vectors of a program.
WIDTHS = [(2, 3), (2, 3), (9, 14), (5, 33), (70, 1)]


def _scan_of_numpy(step: Any, carry: Any, xs: Any, reverse: bool) -> Any:
    rows = []
    order = range(LENGTH)
    for i in reversed(order) if reverse else order:
        carry, row = step(carry, tuple(x[i] for x in xs))
        rows.append(row)
    if reverse:
        rows.reverse()
    return carry, tuple(np.stack([row[k] for row in rows]) for k in range(len(rows[0])))


def _scan_of_pullback(step: Any, carry: Any, xs: Any, reverse: bool) -> Any:
    return pb.scan(step, carry, xs, reverse=reverse)


def _chosen(random: Random, values: list[Any], shape: tuple[int, ...]) -> int:
    return int(random.choice([i for i, v in enumerate(values) if v == shape]))


def _any_shape(random: Random, widths: tuple[int, int]) -> Shape:
    number = int(random.integers(3))
    return (widths[number - 1],) if number else ()


Line = Callable[[Any, Any, list[Any]], Any]


def _line(
    random: Random, shapes: list[Any], widths: tuple[int, int], depth: int
) -> tuple[Line, Shape]:
    """An operation on some of the values, and the shape of its result."""
    kind = random.integers(8 if depth else 7)
    shape = _any_shape(random, widths)
    a, b, c = (_chosen(random, shapes, shape) for _ in range(3))
    if kind == 0:
        return lambda xp, scan, v: v[a] + v[b], shape
    if kind == 1:
        return lambda xp, scan, v: v[a] * v[b] * 0.5, shape
    if kind == 2:
        return lambda xp, scan, v: xp.where(v[a] > v[b], v[c], v[a] - v[b]), shape
    if kind == 3 and shape:
        return lambda xp, scan, v: v[a][::-1], shape
    if kind == 4 and shape:
        return lambda xp, scan, v: xp.sum(v[a]), ()
    if kind == 5:
        one, width = _chosen(random, shapes, ()), widths[random.integers(2)]
        return lambda xp, scan, v: xp.stack([v[one]] * width), (width,)
    if kind == 6 and shape:
        entry = int(random.integers(shape[0]))
        return lambda xp, scan, v: v[a][entry], ()
    if kind == 7:
        inner = _Program(random, depth - 1, shapes, widths)
        carries = [_chosen(random, shapes, s) for s in inner.carries]
        rows = [_chosen(random, shapes, s) for s in inner.entries]
        at = int(random.integers(LENGTH))

        def run(xp: Any, scan: Any, v: list[Any]) -> Any:
            xs = tuple(xp.stack([v[i], v[i] * 2, v[i] - 1, v[i] * 3]) for i in rows)
            end, ys = scan(partial(inner.step, xp, scan, v), tuple(v[i] for i in carries), xs)
            return ys[0][at] + end[0]

        return run, inner.carries[0]
    return lambda xp, scan, v: v[a] - 0.25, shape


class _Program:
    """A random body: the shapes of its carries and entries, and `step`."""

    def __init__(
        self, random: Random, depth: int, around: list[Any], widths: tuple[int, int]
    ) -> None:
        self.widths = widths
        self.carries = [_any_shape(random, widths) for _ in range(random.integers(1, 4))]
        self.entries = [_any_shape(random, widths) for _ in range(random.integers(1, 3))]
        shapes = [*around, (), (widths[0],), (widths[1],), *self.carries, *self.entries]
        self.lines = []
        for _ in range(random.integers(5)):
            line, shape = _line(random, shapes, widths, depth)
            self.lines.append(line)
            shapes.append(shape)
        self.ends = [_chosen(random, shapes, s) for s in self.carries]
        # The first output has the shape of the first carry.
        self.rows = [_chosen(random, shapes, self.carries[0]), int(random.integers(len(shapes)))]

    def step(self, xp: Any, scan: Any, around: list[Any], carry: Any, entries: Any) -> Any:
        numbers = (0.5, *(np.cos(np.arange(width)) for width in self.widths))
        constants = [xp.asarray(v, dtype=carry[0].dtype) for v in numbers]
        values = [*around, *constants, *carry, *entries]
        for line in self.lines:
            values.append(line(xp, scan, values))
        return tuple(values[i] for i in self.ends), tuple(values[i] for i in self.rows)

    def run(self, xp: Any, scan: Any, carry: Any, xs: Any) -> Any:
        return scan(partial(self.step, xp, scan, []), carry, xs)


def test_random_scans_have_the_values_of_numpy() -> None:
    for seed in range(400):
        random = np.random.default_rng(seed)
        program = _Program(random, int(seed % 3 == 0), [], WIDTHS[seed % len(WIDTHS)])
        reverse, dtype = bool(seed % 2), np.float32 if seed % 7 == 0 else np.float64

        def normal(*shape: int, random: Random = random, dtype: Any = dtype) -> Any:
            return np.asarray(random.standard_normal(shape), dtype)

        carry = tuple(normal(*s) for s in program.carries)
        xs = tuple(normal(LENGTH, *s) for s in program.entries)
        expected = program.run(np, partial(_scan_of_numpy, reverse=reverse), carry, xs)
        run = partial(program.run, pb, partial(_scan_of_pullback, reverse=reverse))
        for which, f in (("plain", run), ("function", pb.function(run))):
            made = f(tuple(map(pb.constant, carry)), tuple(map(pb.constant, xs)))
            for got, want in zip((*made[0], *made[1]), (*expected[0], *expected[1]), strict=True):
                np.testing.assert_allclose(
                    got.numpy(),
                    want,
                    rtol=1e-13 if dtype == np.float64 else 1e-5,
                    atol=0 if dtype == np.float64 else 1e-5,
                    err_msg=f"seed {seed}, {which}",
                )
