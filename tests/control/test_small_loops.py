"""Loops over a few numbers, which run as one program: against NumPy, and their limits."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback import _core


def lorenz(s: Any, p: Any) -> Any:
    x, y, z = s
    return (
        x + 0.005 * (p[0] * (y - x)),
        y + 0.005 * (x * (p[1] - z) - y),
        z + 0.005 * (x * y - p[2] * z),
    )


def end_of(p: Any, start: Any, steps: int) -> Any:
    s = pb.fori_loop(0, steps, lambda i, s: lorenz(s, p), start)
    return s[0] + 2 * s[1] + 3 * s[2]


P, START = (10.0, 28.0, 8 / 3), (1.0, 1.5, 0.5)


def lorenz_by_numpy(p: Any, dtype: Any) -> Any:
    s = [dtype(v) for v in START]
    for _ in range(300):
        s = lorenz(s, p)
    return s[0] + dtype(2) * s[1] + dtype(3) * s[2]


@each("dtype", [np.float64, np.float32])
def test_a_trajectory_has_the_bits_of_numpy(dtype: Any) -> None:
    f = pb.function(lambda p, s: end_of(p, s, 300))
    y = f([pb.constant(v, dtype=dtype) for v in P], [pb.constant(v, dtype=dtype) for v in START])
    with np.errstate(all="ignore"):
        assert y.numpy() == lorenz_by_numpy([dtype(v) for v in P], lambda v: dtype(v))


def test_the_gradient_of_a_trajectory() -> None:
    start = [pb.constant(v, dtype="float64") for v in START]
    f = pb.function(pb.grad(lambda p: end_of(p, start, 300)))
    g = [float(v) for v in f([pb.constant(v, dtype="float64") for v in P])]
    for k, h in enumerate((1e-6, 1e-6, 1e-6)):
        ends = []
        for sign in (1, -1):
            p = [np.float64(v) for v in P]
            p[k] += sign * h
            ends.append(lorenz_by_numpy(p, np.float64))
        assert g[k] == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4)


def test_carries_that_exchange_their_values() -> None:
    f = pb.function(
        lambda a, b: pb.fori_loop(0, 9, lambda i, s: (s[1], s[0] + i, s[0], s[3]), (a, b, a, b))
    )
    got = [float(v) for v in f(pb.constant(2.0), pb.constant(5.0))]
    a, b, c = 2.0, 5.0, 2.0
    for i in range(9):
        a, b, c = b, a + i, a
    assert got == [a, b, c, 5.0]


@each("reverse", [False, True])
def test_scanned_inputs_and_stacked_outputs(reverse: bool) -> None:
    xs = np.random.default_rng(0).standard_normal((20, 3))

    def step(s: Any, x: Any) -> Any:
        s = pb.where(s > pb.max(x), s * 0.5, s + pb.sum(x))
        return s, (s * x[::-1], x > 0, pb.cast(s, "int32"))

    end, ys = pb.function(lambda s, xs: pb.scan(step, s, xs, reverse=reverse))(
        pb.constant(0.25, dtype="float64"), pb.constant(xs)
    )
    s, want = 0.25, []
    for x in xs[::-1] if reverse else xs:
        s = s * 0.5 if s > x.max() else s + ((x[0] + x[1]) + x[2])
        want.append((s * x[::-1], x > 0, np.int32(s)))
    if reverse:
        want.reverse()
    assert float(end) == pytest.approx(s, rel=1e-14)
    for y, w in zip(ys, zip(*want, strict=True), strict=True):
        np.testing.assert_allclose(y.numpy(), np.array(w), rtol=1e-13)


def root(a: Any) -> Any:
    return pb.while_loop(lambda x: pb.abs(x * x - a) > 1e-13 * a, lambda x: (x + a / x) / 2, a)


def test_loops_inside_of_loops_and_their_gradient() -> None:
    def f(a: Any) -> Any:
        return pb.fori_loop(0, 5, lambda i, x: root(x) + root(a) * i, a)

    a = 7.0
    value, slope = pb.function(pb.value_and_grad(f))(pb.constant(a, dtype="float64"))

    def by_numpy(a: float) -> float:
        x = a
        for i in range(5):
            x = np.sqrt(x) + np.sqrt(a) * i
        return x

    assert float(value) == pytest.approx(by_numpy(a), rel=1e-12)
    h = 1e-5
    assert float(slope) == pytest.approx((by_numpy(a + h) - by_numpy(a - h)) / (2 * h), rel=1e-8)


@each("dtype", [np.float64, np.float32])
def test_a_gradient_of_an_inner_loop_with_a_condition(dtype: Any) -> None:
    """Descents whose slope is the gradient of a loop of 0 to some 200 iterations: y0 xⁿ."""

    def power(x: Any, start: Any, bound: Any) -> Any:
        def step(s: Any) -> Any:
            y, odd, n, z = s
            return y * x, pb.logical_not(odd), n + 1, z * 0.5 + y

        y, odd, n, z = pb.while_loop(
            lambda s: s[0] < bound, step, (start, start < 0, 0 * pb.cast(start, "int64"), start)
        )
        return y + pb.where(odd, y, 0 * y) + 0 * pb.cast(n, y.dtype), z

    def descend(xs: Any, bounds: Any) -> Any:
        def one(start: Any, at: Any) -> Any:
            x, bound = at
            (y, z), (dx, dy) = pb.value_and_grad(
                lambda x, y: power(x, y, bound), (0, 1), has_aux=True
            )(x, start)
            return start - 1e-6 * dx, (y, z, dx, dy)

        return pb.scan(one, pb.constant(0.75, dtype=dtype), (xs, bounds))

    random = np.random.default_rng(3)
    xs = random.uniform(1.01, 1.1, 12).astype(dtype)
    bounds = np.array([5, 0.5, 2, 1.1, 5, 0.1, 3, 4, 5, 1, 2, 3], dtype)
    end, rows = pb.function(descend)(pb.constant(xs), pb.constant(bounds))

    start = dtype(0.75)
    for i, (x, bound) in enumerate(zip(xs, bounds, strict=True)):
        y, z, n = start, start, 0
        while y < bound:
            y, z, n = y * x, z * dtype(0.5) + y, n + 1
        factor = 1 + n % 2
        assert (rows[0][i].numpy(), rows[1][i].numpy()) == (factor * y, z)
        of_start = factor * np.float64(x) ** n
        of_x = start * n * of_start / np.float64(x)
        rtol = 1e-13 if dtype == np.float64 else 1e-4
        np.testing.assert_allclose(rows[2][i].numpy(), of_x, rtol)
        np.testing.assert_allclose(rows[3][i].numpy(), of_start, rtol)
        start = start - dtype(1e-6) * rows[2][i].numpy()
    assert end.numpy() == start


def test_branches_inside() -> None:
    def step(s: Any) -> Any:
        x, n = s
        return pb.cond(x % 2 == 0, lambda x: x // 2, lambda x: 3 * x + 1, x), n + 1

    collatz = pb.function(lambda x: pb.while_loop(lambda s: s[0] != 1, step, (x, x * 0)))
    x, n = collatz(pb.constant(27))
    assert (int(x), int(n)) == (1, 111)

    def chosen(i: Any, x: Any) -> Any:
        choices = [lambda x: x * x, pb.sin, lambda x: 1 - x]
        return pb.switch(i % 5 - 1, choices, x)  # -1 … 3: the first and the last one twice

    f = pb.function(pb.value_and_grad(lambda x: pb.fori_loop(0, 10, chosen, x)))
    value, slope = f(pb.constant(0.8, dtype="float64"))
    want, want_slope = 0.8, 1.0
    for i in range(10):
        k = min(max(i % 5 - 1, 0), 2)
        want_slope *= [2 * want, np.cos(want), -1.0][k]
        want = [want * want, np.sin(want), 1 - want][k]
    assert float(value) == pytest.approx(want, rel=1e-14)
    assert float(slope) == pytest.approx(want_slope, rel=1e-13)


@each("trips", [-3, 0, 1, 7])
def test_a_number_of_iterations_that_is_computed(trips: int) -> None:
    f = pb.function(pb.value_and_grad(lambda x, n: pb.fori_loop(0, n, lambda i, x: x * x, x)))
    value, slope = f(pb.constant(0.9, dtype="float64"), pb.constant(trips))
    power = 2 ** max(trips, 0)
    assert float(value) == pytest.approx(0.9**power, rel=1e-12)
    assert float(slope) == pytest.approx(power * 0.9 ** (power - 1), rel=1e-12)


def test_an_error_inside_names_the_operation() -> None:
    f = pb.function(lambda a: pb.fori_loop(0, 4, lambda i, s: s // (2 - i), a))
    with pytest.raises(ZeroDivisionError, match="floor_divide: integer division by zero"):
        f(pb.constant(5)).numpy()


def test_a_profile_and_the_counts_of_steps_have_every_iteration() -> None:
    f = pb.function(lambda x: pb.fori_loop(0, 50, lambda i, x: pb.fori_loop(0, 3, halve, x), x))

    def halve(i: Any, x: Any) -> Any:
        return x * 0.5 + 1.0

    def tiles() -> int:
        return int(_core.status()["steps"]["tiles"])

    x = pb.constant(3.0)
    plain = f(x).numpy()
    before = tiles()
    assert f(x).numpy() == plain
    between = tiles()
    profile = pb.profile(lambda: f(x))
    assert between - before >= 150
    assert tiles() - between == 10 * (between - before)  # a profile runs f ten times
    assert "tiles" in str(profile)


def random_walk(x: Any) -> Any:
    table = pb.constant(np.arange(7.0))

    def step(i: Any, x: Any) -> Any:
        jump = table[pb.cast(pb.abs(x), "int64") % 7] * pb.random.normal((), dtype="float64")
        return 0.9 * x + jump

    def inner(i: Any, x: Any) -> Any:
        return pb.fori_loop(0, 4, step, x + pb.random.uniform((), dtype="float64"))

    return pb.fori_loop(0, 5, inner, x)


def up_to_a_draw(x: Any) -> Any:
    return pb.while_loop(
        lambda s: s < 4 + pb.random.uniform((), dtype="float64"),
        lambda s: 1.1 * s + x * pb.exp(pb.random.normal((), dtype="float64")) / 9,
        x,
    )


@each("f", [random_walk, up_to_a_draw])
def test_draws_and_their_gradient_are_those_of_single_steps(f: Any) -> None:
    """A profile runs the steps of the bodies one by one."""
    compiled = pb.function(pb.value_and_grad(f))
    x = pb.constant(1.5, dtype="float64")
    pb.random.seed(3)
    want: list[Any] = []

    def record() -> Any:
        want.append(compiled(x))
        return want[-1]

    with contextlib.suppress(ValueError):  # the number of iterations differs between calls
        pb.profile(record)
    assert len(want) == 10
    pb.random.seed(3)
    got = [compiled(x) for _ in want]
    pairs = [[[float(v) for v in pair] for pair in pairs] for pairs in (got, want)]
    assert pairs[0] == pairs[1]
    assert len({value for value, _ in pairs[0]}) == len(got)


@each("reverse", [False, True])
def test_a_carry_that_becomes_the_scanned_entry(reverse: bool) -> None:
    xs = pb.constant(np.array([1.0, 4.0, 9.0, 16.0]))
    zero = pb.constant(0.0, dtype="float64")

    def differences(xs: Any) -> Any:
        return pb.scan(lambda before, x: (x, x - before), zero, xs, reverse=reverse)

    ordered = xs.numpy()[::-1] if reverse else xs.numpy()
    steps = np.diff(ordered, prepend=0.0)
    for f in (differences, pb.function(differences)):
        end, ys = f(xs)
        assert float(end) == ordered[-1]
        np.testing.assert_array_equal(ys.numpy(), steps[::-1] if reverse else steps)

    loss = pb.function(pb.grad(lambda xs: pb.sum(differences(xs)[1] ** 2)))
    slope = 2 * (steps - np.append(steps[1:], 0.0))
    np.testing.assert_array_equal(loss(xs).numpy(), slope[::-1] if reverse else slope)


def test_an_inner_scan_over_a_part_of_a_carry_that_is_replaced() -> None:
    zero = pb.constant(0.0, dtype="float64")

    def body(i: Any, c: Any) -> Any:
        pairs = pb.scan(lambda s, x: (s + x, pb.stack([x, x])), zero, c[:3])[1]
        return pb.reshape(pairs, (6,))

    c = np.arange(1.0, 7.0)
    for trips in (1, 2):
        got = pb.function(lambda c, n=trips: pb.fori_loop(0, n, body, c))(pb.constant(c))
        want = c
        for _ in range(trips):
            want = np.repeat(want[:3], 2)
        np.testing.assert_array_equal(got.numpy(), want)
