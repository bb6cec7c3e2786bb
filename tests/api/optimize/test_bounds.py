"""`minimize` within bounds beside SciPy's L-BFGS-B; derivatives beside finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_optimize = pytest.importorskip("scipy.optimize")
random = np.random.default_rng(5)


def rosenbrock(x: Any, xp: Any = pb) -> Any:
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def near(got: Any, want: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_minima_are_those_of_scipy() -> None:
    slope = pb.function(pb.grad(rosenbrock))
    for n, start in ((2, 0.5), (5, -1.0), (30, 0.2)):
        low = np.linspace(-0.5, 0.9, n)
        high = low + np.linspace(1.0, 0.05, n)
        want = scipy_optimize.minimize(
            rosenbrock, np.full(n, start), (np,), "L-BFGS-B", lambda x, _: slope(x).numpy(),
            bounds=list(zip(low, high, strict=True)), options={"ftol": 1e-15, "gtol": 1e-9},
        )  # fmt: skip
        for bounds in (list(zip(low, high, strict=True)), scipy_optimize.Bounds(low, high)):
            got = pb.optimize.minimize(rosenbrock, np.full(n, start), bounds=bounds)
            assert bool(got.success), n
            near(got.x, want.x, 1e-6)
            near(got.fun, want.fun, 1e-10)
            assert (got.x.numpy() >= low).all() and (got.x.numpy() <= high).all()
    boxed = pb.optimize.minimize(rosenbrock, np.zeros(3), bounds=scipy_optimize.Bounds(0, 0.5))
    assert (boxed.x[0], bool(boxed.success)) == (0.5, True)
    near(slope(boxed.x)[1:], [0.0, 0.0], 1e-6)
    # None is no bound; all entries may be fixed; a start outside is moved inside.
    free = pb.optimize.minimize(rosenbrock, np.zeros(3), bounds=[(None, None)] * 3)
    near(free.x, np.ones(3), 1e-6)
    fixed = pb.optimize.minimize(rosenbrock, np.full(2, 9.0), bounds=[(0.5, 0.5), (2.0, 2.0)])
    assert (fixed.x.tolist(), bool(fixed.success)) == ([0.5, 2.0], True)
    single = pb.optimize.minimize(rosenbrock, np.zeros(2, np.float32), bounds=[(0, 0.5), (None, 1)])
    assert single.x.dtype == np.float32
    near(single.x, [0.5, 0.25], 1e-3)
    tree = pb.optimize.minimize(
        lambda p: (p["a"] - 1.0) ** 2 + pb.sum((p["b"] + 2.0) ** 2),
        {"a": np.float64(0.0), "b": np.zeros(2)}, bounds=[(None, 0.5), (-1, 0), (-3, 0)],
    )  # fmt: skip
    near(tree.x["a"], 0.5)
    near(tree.x["b"], [-1.0, -2.0])


def test_a_function_that_fails() -> None:
    steep = pb.optimize.minimize(lambda x: -pb.sum(x**3), np.ones(1), bounds=[(0, None)], maxiter=5)
    assert not bool(steep.success)
    assert np.isnan(pb.optimize.minimize(
        lambda x: pb.sum(x * np.nan), np.ones(2), bounds=[(0, 1)] * 2
    ).fun.numpy())  # fmt: skip


def solution(a: Any, low: Any, high: Any) -> Any:
    """Return a minimum with a free variable, one at each bound, and a coupling."""
    bounds = [(low, None), (None, high), (-9.0, 9.0)]
    energy = lambda x, a: pb.sum((x - a) ** 4 + (x - a) ** 2) + 0.5 * x[0] * x[2] + x[1] * x[2]  # noqa: E731
    return pb.optimize.minimize(energy, np.zeros(3), a, bounds=bounds, tol=1e-11)


A, LOW, HIGH = np.array([-1.0, 2.0, 0.5]), np.float64(-0.25), np.float64(0.5)


def test_derivatives() -> None:
    x = solution(A, LOW, HIGH).x.numpy()
    assert x[0] == LOW and x[1] == HIGH and -1 < x[2] < 1
    pb.testing.check_gradients(lambda *args: solution(*args).x, A, LOW, HIGH, order=2)
    pb.testing.check_gradients(lambda *args: solution(*args).fun, A, LOW, HIGH)
    rows = pb.jacobian(lambda a: solution(a, LOW, HIGH).x)(A).numpy()
    assert (rows[:2] == 0).all()
    near(pb.jacobian(lambda low: solution(A, low, HIGH).x)(LOW)[:2], [1.0, 0.0])
    many = np.stack([A, A + 0.1])
    got = pb.vmap(lambda a: solution(a, LOW, HIGH).x)(many)
    near(got, np.stack([solution(a, LOW, HIGH).x.numpy() for a in many]), 1e-9)
    lows = np.array([-0.25, -2.0])  # the second one is not reached
    got = pb.vmap(lambda low: solution(A, low, HIGH).x)(lows)
    near(got, np.stack([solution(A, low, HIGH).x.numpy() for low in lows]), 1e-9)
    slopes = pb.vmap(pb.grad(lambda low: solution(A, low, HIGH).x[0]))(lows).numpy()
    near(slopes, [1.0, 0.0], 1e-12)
    near(pb.function(solution)(A, LOW, HIGH).x, x, 1e-12)
    tangent = pb.jvp(lambda low: solution(A, low, HIGH).x, (LOW,), (np.float64(1.0),))[1]
    near(tangent[2], pb.grad(lambda low: solution(A, low, HIGH).x[2])(LOW), 1e-12)


def test_errors() -> None:
    minimize, start = pb.optimize.minimize, np.zeros(2)
    for error, words, bounds in (
        (TypeError, "expected a list of pairs", (0, 1)),
        (TypeError, "expected real bounds", [(0, 1j), (0, 1)]),
        (ValueError, "each of 2 entries of x0, got 1", [(0, 1)]),
        (ValueError, "expected low <= high", [(1, 0), (0, 1)]),
    ):  # fmt: skip
        with pytest.raises(error, match=f"minimize: .*{words}"):
            minimize(rosenbrock, start, bounds=bounds)


def test_no_success_without_a_finite_value_or_a_range() -> None:
    falls = lambda x: pb.sum(-pb.log(x) + x)  # noqa: E731
    for bounds in ([(0, None)], None):
        found = pb.optimize.minimize(falls, np.zeros(1), bounds=bounds)
        assert np.isinf(float(found.fun)) and not found.success
    square = lambda x: pb.sum((x - 2) ** 2)  # noqa: E731

    @pb.function
    def between(low: Any, high: Any) -> Any:  # a trace has no values to compare
        return pb.optimize.minimize(square, np.zeros(1), bounds=[(low, high)]).success

    assert [bool(between(low, 1.0)) for low in (0.5, 3.0, np.nan)] == [True, False, False]
    with pytest.raises(ValueError, match="low <= high"):
        pb.optimize.minimize(square, np.zeros(1), bounds=[(np.nan, 1.0)])


def test_arrays_of_bounds() -> None:
    far = lambda x: pb.sum((x - 3) ** 2)  # noqa: E731
    for bounds in (np.array([[0.0, 1.0], [0.0, 2.0]]), zip([0, 0], [1, 2], strict=True)):
        found = pb.optimize.minimize(far, np.zeros(2), bounds=bounds)
        assert found.x.numpy().tolist() == [1.0, 2.0]
