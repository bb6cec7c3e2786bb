"""The truncated normal distribution beside mpmath: far, narrow and one-sided limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import pullback as pb


def near(got: Any, want: Any, rtol: float = 2e-12, atol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)


def test_moments_of_narrow_and_far_truncnorm() -> None:
    def exact(a: float, b: float) -> list[float]:
        if a + b < 0:
            mean, *rest = exact(-b, -a)
            return [-mean, *rest]
        low, high = (
            max(mp.mpf(a), -14),
            min(mp.mpf(b), max(a, 0) + (14 if a < 5 else 60 / mp.mpf(a))),
        )
        points = mp.linspace(low, high, 9)

        def over(f: Callable[[Any], Any]) -> Any:
            return mp.quad(lambda x: f(x) * mp.exp((low - x) * (low + x) / 2), points)

        mass = over(lambda x: 1)
        mean = over(lambda x: x) / mass
        variance = over(lambda x: (x - mean) ** 2) / mass
        entropy = mp.log(mass) + over(lambda x: (x - low) * (x + low) / 2) / mass
        return [float(mean), float(variance), float(entropy)]

    family = pb.stats.truncnorm
    with mp.workdps(40):
        for a, b in [(0, 1e-9), (-8, -7.5), (30, np.inf), (1e4, np.inf), (5, 5.001), (-3, np.inf)]:
            limits = np.float64(a), np.float64(b)
            got = [float(f(*limits)) for f in (family.mean, family.var, family.entropy)]
            np.testing.assert_allclose(got, exact(a, b), rtol=1e-12)


def test_slopes_of_moments_of_truncnorm_by_far_limits() -> None:
    """By a limit with the density p, that of the mean m is p times the distance from m."""

    def exact(a: float, b: float) -> dict[str, list[float]]:
        near = 0 if a < 0 < b else min(a, b, key=abs)
        step = 1 / (1 + abs(mp.mpf(near)))
        points = [mp.mpf(near) + sign * k * step for k in (0, 3, 9, 30) for sign in (-1, 1)]
        points = sorted({mp.mpf(a), *(t for t in points if a < t < b), mp.mpf(b)})

        def density(x: Any) -> Any:
            return mp.exp((near - x) * (near + x) / 2)

        mass = mp.quad(density, points)
        mean = mp.quad(lambda x: x * density(x), points) / mass
        variance = mp.quad(lambda x: (x - mean) ** 2 * density(x), points) / mass
        entropy = -mp.quad(lambda x: mp.log(density(x) / mass) * density(x), points) / mass
        slopes: dict[str, list[float]] = {"mean": [], "var": [], "entropy": []}
        for sign, x in ((-1, a), (1, b)):
            p = sign * density(x) / mass
            slopes["mean"].append(float(p * (x - mean)))
            slopes["var"].append(float(p * ((x - mean) ** 2 - variance)))
            slopes["entropy"].append(float(p * (1 - entropy - mp.log(abs(p)))))
        return slopes

    with mp.workdps(40):
        for limits in (
            (-2.0, 9.0), (-8.5, 1.0), (-10.0, 9.0), (0.5, 0.51), (0.0, 1.0), (5.0, 14.0),
            (30.0, 31.0), (-30.0, -29.9), (1000.0, 1001.0), (-39.0, -38.0), (-20.0, 25.0),
        ):  # fmt: skip
            want = exact(*limits)
            for what, slopes in want.items():
                moment = getattr(pb.stats.truncnorm, what)
                made = [float(pb.grad(moment, k)(*map(np.float64, limits))) for k in (0, 1)]
                np.testing.assert_allclose(made, slopes, 3e-12, err_msg=f"{what}, {limits}")
    by_b = pb.grad(pb.stats.truncnorm.mean, 1)
    at = np.float64(-2.0), np.float64(9.0)
    # The density at b falls with the slope -b, and the distance of b from the mean rises with 1.
    want = float(by_b(*at)) * (1 / (9.0 - float(pb.stats.truncnorm.mean(*at))) - 9.0)
    assert float(pb.grad(by_b, 1)(*at)) == pytest.approx(want, rel=1e-12)
    assert float(by_b(at[0], np.float64(np.inf))) == 0


def test_very_far_truncnorm() -> None:
    """Beyond a, it is a shifted exponential distribution of scale 1 / a."""
    family = pb.stats.truncnorm
    for a in (1e9, 1e12):
        near(family.var(np.float64(a), np.inf) * a**2, 1.0, 1e-6)
        for what, slope in (("mean", 1.0), ("var", -2 / a**3), ("entropy", -1 / a)):
            got = pb.grad(lambda t, what=what: getattr(family, what)(t, np.inf))(np.float64(a))
            near(got / slope, 1.0, 1e-6)


def test_quantiles_of_far_truncnorm() -> None:
    def above(x: Any, a: float, b: float) -> Any:
        tail = [mp.erfc(mp.mpf(float(t)) / mp.sqrt(2)) for t in (x, a, b)]
        return (tail[0] - tail[2]) / (tail[1] - tail[2])

    family = pb.stats.truncnorm
    with mp.workdps(40):
        for a, b in [(40.0, np.inf), (100.0, 101.0), (30.0, 50.0)]:
            for q in (1e-3, 0.4, 0.95):
                x, y = (float(f(np.float64(q), a, b)) for f in (family.isf, family.ppf))
                mirrored = float(family.ppf(np.float64(q), -b, -a))
                assert float(above(x, a, b)) == pytest.approx(q, rel=1e-11)
                assert float(1 - above(y, a, b)) == pytest.approx(q, rel=1e-9)
                assert mirrored == pytest.approx(-x, rel=1e-14)


def test_narrow_truncnorm() -> None:
    """The probabilities of narrow intervals do not cancel, nor do quantiles next to a limit."""

    def mass(x: Any, y: Any) -> Any:
        sign = 1 if x > 0 else -1
        ends = [mp.erfc(sign * mp.mpf(float(t)) / mp.sqrt(2)) for t in (x, y)]
        return sign * (ends[0] - ends[1]) / 2

    family = pb.stats.truncnorm
    with mp.workdps(50):
        for a, b, x in [
            (0, 1e-9, 3e-10), (3, 3.000001, 3.0000003), (-8, -7.5, -7.9999), (0, 2, 1e-9),
            (10, 10.3, 10.1), (-1e5, 0, -1e-7), (50, 51, 50.9),
        ]:  # fmt: skip
            whole, lower, upper = mass(a, b), mass(a, x), mass(x, b)
            want = [lower / whole, upper / whole, mp.npdf(x) / whole]
            got = [float(f(np.float64(x), a, b)) for f in (family.cdf, family.sf, family.pdf)]
            np.testing.assert_allclose(got, [float(v) for v in want], rtol=2e-13)
            logs = [float(f(np.float64(x), a, b)) for f in (family.logcdf, family.logsf)]
            np.testing.assert_allclose(logs, [float(mp.log(v)) for v in want[:2]], rtol=3e-13)
            for q in (1e-12, 0.3):
                low, high = (float(f(np.float64(q), a, b)) for f in (family.ppf, family.isf))
                for t, off in ((low, mass(a, low) - q * whole), (high, mass(high, b) - q * whole)):
                    assert abs(off) < 5 * np.spacing(abs(t)) * mp.npdf(t)
    assert float(family.cdf(-1e300, -np.inf, 0.5)) == 0
    pb.testing.check_gradients(lambda q: family.ppf(q, 0.2, 0.9), np.array([0.1, 0.6]))
