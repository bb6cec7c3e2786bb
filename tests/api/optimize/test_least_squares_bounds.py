"""`least_squares` and `curve_fit` within bounds beside SciPy; checked derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_optimize = pytest.importorskip("scipy.optimize")


def near(got: Any, want: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def valley(x: Any, xp: Any = pb) -> Any:
    return xp.concat([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])


def test_minima_are_those_of_scipy() -> None:
    random = np.random.default_rng(3)
    for n in (2, 3, 5, 8):
        low = random.normal(size=n) - 0.8
        high = low + random.uniform(0.1, 2, n)
        start = random.uniform(low, high)
        want = scipy_optimize.least_squares(
            valley, start, bounds=(low, high), args=(np,), xtol=1e-15, ftol=1e-15, gtol=1e-12
        )
        for bounds in ((low, high), scipy_optimize.Bounds(low, high), [low.tolist(), high]):
            got = pb.optimize.least_squares(valley, start, bounds=bounds, tol=1e-10)
            assert bool(got.success), n
            near(got.x, want.x, 1e-6)
            near(got.fun, want.fun, 1e-5)
            at_bound = np.isclose(want.x, low, atol=1e-9) | np.isclose(want.x, high, atol=1e-9)
            exact = (got.x.numpy() == low) | (got.x.numpy() == high)
            assert (at_bound == exact).all() and at_bound.any()
    boxed = pb.optimize.least_squares(valley, np.full(3, 9.0), bounds=(-np.inf, 0.5))
    near(boxed.x, [0.5, 0.25, 0.0625], 0.3)  # a start outside is moved inside
    assert bool(boxed.success) and float(boxed.x[0]) == 0.5
    free = pb.optimize.least_squares(valley, np.zeros(3), bounds=(-np.inf, np.inf))
    near(free.x, np.ones(3), 1e-6)
    fixed = pb.optimize.least_squares(valley, np.zeros(2), bounds=([0.5, -1.0], [0.5, 0.0]))
    assert (fixed.x.tolist(), bool(fixed.success)) == ([0.5, 0.0], True)
    single = pb.optimize.least_squares(valley, np.zeros(2, np.float32), bounds=(0, [0.5, 1.0]))
    assert single.x.dtype == np.float32
    near(single.x, [0.5, 0.25], 1e-3)
    tree = pb.optimize.least_squares(
        lambda p: {"a": p["a"] - 1.0, "b": 2.0 * (p["b"] + 2.0)},
        {"a": np.float64(0.0), "b": np.zeros(2)}, bounds=(-3.0, [0.5, -2.5, 9.0]),
    )  # fmt: skip
    near(tree.x["a"], 0.5)
    near(tree.x["b"], [-2.5, -2.0])
    assert tree.fun["b"].shape == (2,)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e9])
def test_a_variable_next_to_a_bound_is_free_at_every_scale(unit: float) -> None:
    def solution(a: Any) -> Any:
        residuals = lambda x, a: unit * pb.stack([x[0] - a, x[0] * x[1] - 1, x[1] - 3.0], 0)  # noqa: E731
        return pb.optimize.least_squares(residuals, np.ones(2), a, bounds=(0.0, 9.0), tol=1e-12).x

    def free(a: Any) -> Any:
        residuals = lambda x, a: pb.stack([x[0] - a, x[0] * x[1] - 1, x[1] - 3.0], 0)  # noqa: E731
        return pb.optimize.least_squares(residuals, np.ones(2), a, tol=1e-12).x

    a = np.float64(0.2)
    near(pb.jacobian(solution)(a), pb.jacobian(free)(a), 1e-6)


A, LOW, HIGH = np.array([-1.0, 2.0, 0.5]), np.float64(-0.25), np.float64(0.5)


def result(a: Any, low: Any, high: Any) -> Any:
    """Return a minimum with a free variable, one at each bound, and a coupling."""

    def residuals(x: Any, a: Any) -> Any:
        return pb.concat([x - a, 0.5 * (x - a) ** 2, (x[0] * x[2] + x[1] * x[2] + x[2])[None]], 0)

    bounds = ([low, -np.inf, -9.0], [np.inf, high, 9.0])
    return pb.optimize.least_squares(residuals, np.zeros(3), a, bounds=bounds, tol=1e-12)


def test_derivatives() -> None:
    x = result(A, LOW, HIGH).x.numpy()
    assert x[0] == LOW and x[1] == HIGH and -1 < x[2] < 1
    pb.testing.check_gradients(lambda *args: result(*args).x, A, LOW, HIGH, order=2)
    pb.testing.check_gradients(lambda *args: result(*args).fun, A, LOW, HIGH)
    rows = pb.jacobian(lambda a: result(a, LOW, HIGH).x)(A).numpy()
    assert (rows[:2] == 0).all()
    near(pb.jacobian(lambda low: result(A, low, HIGH).x)(LOW)[:2], [1.0, 0.0])
    many = np.stack([A, A + 0.1])
    got = pb.vmap(lambda a: result(a, LOW, HIGH).x)(many)
    near(got, np.stack([result(a, LOW, HIGH).x.numpy() for a in many]), 1e-9)
    lows = np.array([-0.25, -2.0])  # the second one is not reached
    slopes = pb.vmap(pb.grad(lambda low: result(A, low, HIGH).x[0]))(lows).numpy()
    near(slopes, [1.0, 0.0], 1e-12)
    near(pb.function(result)(A, LOW, HIGH).x, x, 1e-12)
    tangent = pb.jvp(lambda low: result(A, low, HIGH).x, (LOW,), (np.float64(1.0),))[1]
    near(tangent[2], pb.grad(lambda low: result(A, low, HIGH).x[2])(LOW), 1e-12)
    _, rows = pb.scan(lambda c, a: (c, result(a, LOW, HIGH).x), np.float64(0.0), many)
    near(rows, got, 1e-9)


def test_errors() -> None:
    solve, start = pb.optimize.least_squares, np.zeros(2)
    for error, words, bounds in (
        (TypeError, r"expected a pair \(low, high\)", 1.0),
        (TypeError, "an absent bound is infinite", (None, 1.0)),
        (TypeError, "an absent bound is infinite", ([0.0, None], 1.0)),
        (TypeError, "expected real bounds", (0, 1j)),
        (ValueError, "each of 2 entries of x0, got 3", (0, [1, 2, 3])),
        (ValueError, "expected low <= high", ([0, 1], [1, 0])),
    ):  # fmt: skip
        with pytest.raises(error, match=f"least_squares: .*{words}"):
            solve(valley, start, bounds=bounds)

    @pb.function
    def between(low: Any, high: Any) -> Any:  # a trace has no values to compare
        return solve(valley, start, bounds=(low, high)).success

    assert [bool(between(low, 1.0)) for low in (0.5, 3.0, np.nan)] == [True, False, False]
    assert not bool(solve(lambda x: x * np.nan, start, bounds=(0, 1)).success)


def test_curves_are_those_of_scipy() -> None:
    t = np.linspace(0.0, 4.0, 30)
    y = 3.0 * np.exp(-0.5 * t) + 0.05 * np.sin(9 * t) + 0.2
    f = lambda t, a, b, c: a * np.exp(-b * t) + c  # noqa: E731
    ours = lambda t, a, b, c: a * pb.exp(-b * t) + c  # noqa: E731
    for bounds in ((0, [2.8, 1.0, 0.5]), ([0, 0.1, 0], np.inf), (-np.inf, [3.0, 0.6, 0.1])):
        want = scipy_optimize.curve_fit(f, t, y, bounds=bounds, xtol=1e-14, ftol=1e-14, gtol=1e-14)
        got = pb.optimize.curve_fit(ours, t, y, bounds=bounds, tol=1e-11)
        near(got.popt, want[0], 1e-6)
        near(got.pcov, want[1], 1e-5)
    fit = lambda y, high: pb.optimize.curve_fit(  # noqa: E731
        ours, t, y, bounds=(0, [high, 1.0, 0.5]), tol=1e-12
    )
    pb.testing.check_gradients(lambda y, high: fit(y, high).popt, y, np.float64(2.8))
    pb.testing.check_gradients(lambda high: fit(y, high).pcov, np.float64(2.8))
    with pytest.raises(ValueError, match="each of 3 entries of x0, got 2"):
        pb.optimize.curve_fit(ours, t, y, bounds=(0, [1, 2]))
