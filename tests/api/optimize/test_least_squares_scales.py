"""`least_squares` beside SciPy: badly scaled, dependent and vanishing columns of the Jacobian."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_optimize = pytest.importorskip("scipy.optimize")

t = np.linspace(0.0, 4.0, 15)
decay = 3 * np.exp(-0.5 * t) + 0.05 * np.cos(9 * t)
random = np.random.default_rng(0)
matrix, side = random.normal(size=(8, 3)), random.normal(size=8)
deficient = np.column_stack([matrix, matrix[:, 0] + matrix[:, 1]])


def of(function: Any) -> Any:
    """Return residuals `f(x, xp)` of a function that returns them as a list."""
    return lambda x, xp: xp.stack(function(x, xp))


ROSENBROCK = of(lambda x, xp: [10 * (x[1] - x[0] ** 2), 1 - x[0]])
# name: residuals, start, whether the minimum is unique
PROBLEMS: dict[str, tuple[Any, list[float], bool]] = {
    "Rosenbrock": (ROSENBROCK, [-1.2, 1.0], True),
    "Powell, singular": (of(lambda x, xp: [
        x[0] + 10 * x[1], 5**0.5 * (x[2] - x[3]), (x[1] - 2 * x[2]) ** 2,
        10**0.5 * (x[0] - x[3]) ** 2]), [3.0, -1.0, 0.0, 1.0], True),
    "Powell, badly scaled": (of(lambda x, xp: [
        1e4 * x[0] * x[1] - 1, xp.exp(-x[0]) + xp.exp(-x[1]) - 1.0001]), [0.0, 1.0], True),
    "Brown, badly scaled": (of(lambda x, xp: [
        x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2]), [1.0, 1.0], True),
    "Beale": (of(lambda x, xp: [
        c - x[0] * (1 - x[1] ** k) for k, c in ((1, 1.5), (2, 2.25), (3, 2.625))]),
        [1.0, 1.0], True),
    "helical valley": (of(lambda x, xp: [
        10 * (x[2] - 5 / np.pi * xp.arctan2(x[1], x[0])),
        10 * (xp.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]]), [-1.0, 0.5, 0.0], True),
    "Freudenstein and Roth": (of(lambda x, xp: [
        -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1],
        -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]]), [0.5, -2.0], True),
    "exponential": (lambda x, xp: x[0] * xp.exp(-x[1] * t) + x[2] - decay, [1.0, 1.0, 0.0], True),
    "exponential, columns 1e8 apart": (
        lambda x, xp: 1e-4 * x[0] * xp.exp(-1e4 * x[1] * t) + x[2] - decay,
        [1e4, 1e-4, 0.0], True),
    "Rosenbrock, units 1e24 apart": (
        lambda x, xp: ROSENBROCK([x[0] * 1e-12, x[1] * 1e12], xp), [-1.2e12, 1e-12], True),
    "columns 1e20 apart": (of(lambda x, xp: [1e10 * (x[0] - 1), 1e-10 * (x[1] - 2)]),
                           [3.0, 7.0], True),
    "next to a saddle": (of(lambda x, xp: [x[0] - 1, x[1] ** 2 - 1]), [3.0, 1e-9], True),
    "rank deficient": (lambda x, xp: xp.matmul(deficient, x) - side, [1.0, 1.0, 1.0, 5.0], False),
    "rank deficient, exponential": (
        lambda x, xp: (x[0] + x[1]) * xp.exp(-x[2] * t) - decay, [1.0, 2.0, 1.0], False),
    "zero column": (of(lambda x, xp: [x[0] ** 2 - 2, x[0] - 1, 0 * x[1]]), [3.0, 1.0], True),
    "column is zero at the start": (of(lambda x, xp: [x[0] * x[1] - 1, x[0] - 2]),
                                    [1.0, 0.0], True),
    "column vanishes, residuals 0": (of(lambda x, xp: [x[0] - 1, x[1] ** 3]), [3.0, 2.0], False),
    "column vanishes": (of(lambda x, xp: [x[0] - 1, x[1] ** 2 + 1]), [3.0, 2.0], True),
    "only column vanishes": (of(lambda x, xp: [xp.cos(x[0]) + 2]), [2.5], True),
    "column vanishes, coupled": (of(lambda x, xp: [
        x[0] - 1, x[1] ** 2 + 1, x[0] * x[1] - 0.5 * x[1]]), [3.0, 2.0], True),
}  # fmt: skip


@pytest.mark.parametrize("name", PROBLEMS)
def test_minima_are_those_of_scipy(name: str) -> None:
    f, start, is_unique = PROBLEMS[name]
    tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 2000}
    units = np.ones(len(start))  # finite differences of SciPy are relative to them
    if "apart" in name:
        units = np.where(np.array(start) == 0, 1, np.abs(start))
    want = scipy_optimize.least_squares(
        lambda x: f(x * units, np), start / units, jac="3-point", x_scale="jac", **tight
    )  # fmt: skip
    assert want.success
    for bounds in (None, (-np.inf, np.inf)):
        got = pb.optimize.least_squares(lambda x: f(x, pb), np.array(start), bounds=bounds)
        assert (bool(got.success), int(got.status)) == (True, 0)
        cost = 0.5 * np.sum(got.fun.numpy() ** 2)
        assert cost <= want.cost * (1 + 1e-7) + 1e-14 * np.sum(f(np.array(start), np) ** 2)
        if is_unique:
            slow = 1e-4 if "vanish" in name or "singular" in name else 1e-9
            near = 1e-4 * np.abs(want.x * units) + slow
            assert (np.abs(got.x.numpy() - want.x * units) <= near).all(), (got.x, want.x)


def test_success_is_not_claimed_far_from_a_minimum() -> None:
    """SciPy, started at the result with variables in units of the start, finds no better point."""
    claimed = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        n = int(random.integers(1, 5))
        m = n + int(random.integers(0, 4))
        units = 10.0 ** random.uniform(-8, 8, n)
        weights = 10.0 ** random.uniform(-4, 4, m) if seed % 3 == 0 else np.ones(m)
        a, b, c = (random.normal(size=shape) for shape in ((m, n), (m, n), m))
        a[:, 0] *= seed % 4 > 0

        def residuals(x: Any, xp: Any) -> Any:
            u, v = (xp.matmul(one, x / units) for one in (a, b))  # noqa: B023
            kinds = (u + 0.3 * v**2, xp.tanh(v) + u, xp.cos(v) + 1.5 + 0.2 * u, 0.1 * u + v**3)
            return weights * (kinds[seed % 4] - c)  # noqa: B023

        start = 3 * units * random.normal(size=n)
        dtype = (np.float64, np.float32)[seed % 2]
        got = pb.optimize.least_squares(
            lambda x: pb.astype(residuals(x, pb), x.dtype), start.astype(dtype)
        )  # fmt: skip
        if not bool(got.success):
            continue
        claimed += 1
        x = got.x.numpy().astype(np.float64)
        size = np.abs(x) + np.abs(start)
        tight = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "max_nfev": 300}
        best = scipy_optimize.least_squares(
            lambda z: residuals(z * size, np), x / size, **tight  # noqa: B023
        )  # fmt: skip
        cost, first = (0.5 * np.sum(residuals(at, np) ** 2) for at in (x, start))
        loose = (1e-6, 1e-3)[seed % 2]
        assert cost <= best.cost * (1 + loose) + 1e-10 * first, seed
    assert claimed > 45


def test_failures() -> None:
    # The second column is 0 within rounding errors of the first; its variable is far from 0.
    flat = of(lambda x, xp: [x[0] - 1, 1 / (1 + xp.exp(-x[1])) - 0.5])
    got = pb.optimize.least_squares(lambda x: flat(x, pb), np.array([3.0, 30.0]))
    assert not bool(got.success)
    np.testing.assert_allclose(got.x.numpy()[0], 1.0)


def test_derivatives_at_a_column_that_vanishes() -> None:
    residuals = lambda x, a: pb.stack([pb.cos(x[0] - a) + 2, x[1] - a])  # noqa: E731

    def solved(a: Any, bounds: Any = None) -> Any:
        return pb.optimize.least_squares(residuals, np.array([2.5, 0.0]), a, bounds=bounds)

    a = np.array([0.2, 0.3])
    for bounds in (None, ([-9.0, -9.0], [9.0, 9.0])):
        batch = pb.vmap(lambda a, bounds=bounds: solved(a, bounds)[::2])(a)
        assert batch[1].numpy().all()
        np.testing.assert_allclose(batch[0], np.stack([a + np.pi, a], 1), atol=1e-7)
    slopes = pb.jacobian(lambda a: solved(a).x)(a[0]).numpy()
    np.testing.assert_allclose(slopes, [1.0, 1.0], atol=1e-6)
