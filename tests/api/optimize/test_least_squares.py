"""`least_squares` and `curve_fit` beside SciPy; derivatives beside finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import _core

scipy_optimize = pytest.importorskip("scipy.optimize")
random = np.random.default_rng(5)


def near(got: Any, want: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_least_squares() -> None:
    t = np.linspace(0.0, 4.0, 12)
    data = 3 * np.exp(-0.5 * t) + 0.05 * np.cos(9 * t)

    def residuals(x: Any, data: Any) -> Any:
        return x[0] * pb.exp(-x[1] * t) + x[2] - data

    for start in ([1.0, 1.0, 0.0], [10.0, 0.01, 5.0]):
        result = pb.optimize.least_squares(residuals, np.array(start), data)
        numpy = lambda x: x[0] * np.exp(-x[1] * t) + x[2] - data  # noqa: E731
        tight = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}
        expected = scipy_optimize.least_squares(numpy, [1.0, 1.0, 0.0], **tight)
        assert bool(result.success)
        near(result.x, expected.x, 1e-6)
        near(result.fun, expected.fun, 1e-6)

    def x_of(data: Any) -> Any:
        start = np.array([1.0, 1.0, 0.0])
        return pb.optimize.least_squares(residuals, start, data, tol=1e-12).x

    pb.testing.check_gradients(x_of, data, order=2)
    near(pb.vmap(x_of)(np.stack([data, data * 2]))[1], x_of(data * 2), 1e-6)
    # Rosenbrock's function as residuals, a fit with a singular matrix, residuals of a pytree.
    curved = pb.optimize.least_squares(
        lambda x: pb.stack([10 * (x[1] - x[0] ** 2), 1 - x[0]]), np.array([-1.2, 1.0])
    )
    near(curved.x, [1.0, 1.0])
    flat = pb.optimize.least_squares(lambda x: {"r": x[:1] + x[1:] - 2.0}, np.array([5.0, 0.0]))
    near(flat.x[0] + flat.x[1], 2.0)


def test_curve_fit() -> None:
    x = np.linspace(0.0, 4.0, 15)
    y = 3 * np.exp(-0.7 * x) + 0.5 + 0.05 * np.cos(7 * x)
    model = lambda x, a, b, c: a * pb.exp(-b * x) + c  # noqa: E731
    numpy = lambda x, a, b, c: a * np.exp(-b * x) + c  # noqa: E731
    deviations = random.uniform(0.5, 2.0, 15)
    root = random.normal(size=(15, 15))
    covariance = root @ root.T + 15 * np.eye(15)
    for sigma in (None, 0.3, deviations, covariance):
        for absolute in (False, True):
            options = {"sigma": sigma, "absolute_sigma": absolute}
            got = pb.optimize.curve_fit(model, x, y, **options, tol=1e-12)
            want = scipy_optimize.curve_fit(numpy, x, y, **options, xtol=1e-14, ftol=1e-14)
            near(got[0], want[0], 1e-6)
            near(got.pcov / want[1], np.ones((3, 3)), 1e-4)
    start = [2.0, 1.0, 0.0]
    near(pb.optimize.curve_fit(lambda x, *p: model(x, *p), x, y, start).popt, want[0], 0.2)
    fit = lambda y, s: tuple(pb.optimize.curve_fit(model, x, y, sigma=s, tol=1e-12))  # noqa: E731
    pb.testing.check_gradients(fit, y, deviations, rtol=1e-4)
    both = pb.vmap(lambda y: pb.optimize.curve_fit(model, x, y).popt)(np.stack([y, 2 * y]))
    near(both[0], pb.optimize.curve_fit(model, x, y).popt, 1e-6)
    failed = pb.optimize.curve_fit(model, x, y * np.nan)
    assert np.isnan(np.asarray(failed.pcov)).all()
    line = lambda x, a, b: a + b * x  # noqa: E731
    for f, points, absolute in (
        (line, 1, True), (line, 2, False), (lambda x, a, b: a + b + 0 * x, 15, False)
    ):  # fmt: skip
        few = pb.optimize.curve_fit(f, x[:points], y[:points], absolute_sigma=absolute)
        with pytest.warns(scipy_optimize.OptimizeWarning, match="curve_fit: .*<lambda>") as caught:
            assert np.isinf(few.pcov.numpy()).all()
        assert {one.filename for one in caught} == {__file__}
    exact = pb.optimize.curve_fit(line, x[:2], y[:2], absolute_sigma=True)
    near(exact.pcov, scipy_optimize.curve_fit(line, x[:2], y[:2], absolute_sigma=True)[1], 1e-6)
    for words, call in (
        ("pass p0, since", lambda: pb.optimize.curve_fit(lambda x, *p: x, x, y)),
        (r"expected values of shape \(15,\)", lambda: pb.optimize.curve_fit(
            lambda x, a: a * x[:2], x, y)),
        ("for sigma, got", lambda: pb.optimize.curve_fit(model, x, y, sigma=np.ones(2))),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"curve_fit: .*{words}"):
            call()


def test_few_unknowns_of_many_residuals() -> None:
    """The Jacobian has a column for each unknown; a row for each residual takes 8 MB."""
    t = np.linspace(0, 4, 1024)
    residuals = lambda x: x[0] * pb.exp(-x[1] * t) + x[2] - np.cos(t)  # noqa: E731
    _core.reset_peak_bytes()
    before = _core.status()["peak_bytes"]
    pb.optimize.least_squares(residuals, np.ones(3)).x.numpy()
    assert _core.status()["peak_bytes"] - before < 1_000_000


def test_residuals_of_any_size() -> None:
    for scale in (1e-170, 1e-300, 1e170):
        fit = pb.optimize.least_squares(
            lambda x, scale=scale: (pb.exp(x) - 2.0) * scale, np.zeros(2)
        )
        assert bool(fit.success)
        near(fit.x, np.full(2, np.log(2)))
    missing = pb.optimize.least_squares(lambda x: x * np.nan, np.ones(2))
    assert not bool(missing.success)
    mixed = lambda a: pb.optimize.least_squares(lambda x: x**3 - a, np.ones(2))  # noqa: E731
    result = pb.vmap(mixed)(np.array([8.0, np.nan, 27.0]))
    assert result.success.numpy().tolist() == [True, False, True]
    near(result.x[2], [3.0, 3.0])
