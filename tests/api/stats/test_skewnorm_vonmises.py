"""The skew-normal and the von Mises distribution beside SciPy and mpmath, with their gradients."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import pullback as pb

scipy_stats = pytest.importorskip("scipy.stats")

SHAPES = {"skewnorm": [0.0, 0.3, -1.0, 2.5, -40.0], "vonmises": [0.0, 0.2, 1.0, 4.0, 60.0, 1e6]}
METHODS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf")


def near(got: Any, want: Any, rtol: float = 1e-12, atol: float = 1e-15) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", SHAPES)
def test_values_are_those_of_scipy(name: str) -> None:
    ours, theirs = getattr(pb.stats, name), getattr(scipy_stats, name)
    place = {"loc": np.float64(0.25), "scale": np.float64(1.5)}
    q = np.array([1e-3, 0.2, 0.5, 0.75, 0.999])
    for shape in map(np.float64, SHAPES[name]):
        width = min(1.0, 2 / np.sqrt(shape)) if name == "vonmises" and shape else 1.0
        x = np.array([-3.0, -1.2, -0.1, 0.25, 0.3, 2.0, 3.1]) * width
        for what in ("pdf", "logpdf"):
            near(getattr(ours, what)(x, shape, **place), getattr(theirs, what)(x, shape, **place))
        for what in ("cdf", "sf"):  # SciPy's von Mises distribution is normal from 50 on
            rtol = 1e-2 if shape >= 50 else 1e-9
            got, want = (getattr(one, what)(x, shape, **place) for one in (ours, theirs))
            near(got, want, rtol, 1e-12)
        for what, inverse in (("ppf", "cdf"), ("isf", "sf")):
            at = getattr(ours, what)(q, shape, **place)
            near(getattr(ours, inverse)(at, shape, **place), q)
            assert getattr(ours, what)(np.array([0.0, 1.0]), shape).tolist() == (
                [-np.inf, np.inf] if what == "ppf" else [np.inf, -np.inf]
            )
        for what in ("mean", "var", "std", "median", "entropy"):
            rtol = 1e-4 if shape >= 50 else 1e-7
            near(getattr(ours, what)(shape, **place), getattr(theirs, what)(shape, **place), rtol)
    invalid = [np.inf, np.nan] if name == "skewnorm" else [-1.0, np.inf, np.nan]
    for what in METHODS:
        assert np.isnan(getattr(ours, what)(0.5, np.array(invalid)).numpy()).all()
        assert np.isnan(float(getattr(ours, what)(np.float64(np.nan), 1.0)))
    assert np.isnan(ours.ppf(np.array([-0.1, np.nan]), 1.0).numpy()).all()


def test_turns_of_vonmises_are_those_of_scipy() -> None:
    x = np.array([-40.0, -9.0, -np.pi, 3.2, 7.0, 100.0])
    for what in ("pdf", "cdf", "sf"):
        got = getattr(pb.stats.vonmises, what)(x, np.float64(1.5))
        near(got, getattr(scipy_stats.vonmises, what)(x, 1.5), 1e-11)


def skewed(x: Any, a: float) -> Any:
    """Return the probability below x < 0."""
    f = lambda t: mp.npdf(t) * mp.ncdf(a * t)  # noqa: E731
    steps = (60, 20, 8, 4, 2, 1, 0.6, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0)
    # mpmath stops at an absolute error.
    return 2 * f(x) * mp.quad(lambda t: f(t) / f(x), [x - mp.mpf(step) for step in steps])


def turned(x: Any, kappa: Any) -> Any:
    """Return the probability of angles from -π to x <= 0."""
    kappa, x = mp.mpf(kappa), mp.mpf(x)
    points = [-mp.pi, *(max(-mp.pi, x - step / mp.sqrt(kappa + 1)) for step in (20, 8, 4, 2, 1)), x]
    area = mp.quad(lambda t: mp.exp(kappa * (mp.cos(t) - mp.cos(x))), points)
    return area * mp.exp(kappa * mp.cos(x)) / (2 * mp.pi * mp.besseli(0, kappa))


def test_tails_have_all_digits() -> None:
    mp.mp.dps = 30
    for a in (0.5, 3.0, 40.0):
        for x in (-9.0, -2.0, -0.01):
            want = skewed(mp.mpf(x), a)
            for got in (pb.stats.skewnorm.logcdf(np.float64(x), a),
                        pb.stats.skewnorm.logsf(np.float64(-x), -a)):  # fmt: skip
                near(got, float(mp.log(want)), 1e-12)
            if want > 1e-300:
                near(pb.stats.skewnorm.cdf(np.float64(x), a), float(want), 1e-11, 0.0)
                near(pb.stats.skewnorm.ppf(np.float64(want), a), x, 1e-11)
                near(pb.stats.skewnorm.isf(np.float64(want), -a), -x, 1e-11)
    for a in (1.5, 300.0):  # next to 0, where Φ(x) - 2 T(x, a) cancels
        want = skewed(mp.mpf(0), a) + mp.quad(lambda t: 2 * mp.npdf(t) * mp.ncdf(a * t), [0, 0.01])  # noqa: B023
        near(pb.stats.skewnorm.cdf(np.float64(0.01), a), float(want), 1e-11, 0.0)
    near(pb.stats.skewnorm.logsf(np.float64(50.0), 0.0), scipy_stats.norm.logsf(50.0))
    for kappa in (0.0, 2.0, 90.0, 1e5):
        for x in (-3.0, -1.0, -0.1):
            x *= min(1.0, 10 / np.sqrt(kappa + 1))
            want = turned(x, kappa)
            near(pb.stats.vonmises.logcdf(np.float64(x), kappa), float(mp.log(want)), 1e-12)
            near(pb.stats.vonmises.cdf(np.float64(x), kappa), float(want), 1e-11, 0.0)
            near(pb.stats.vonmises.sf(np.float64(-x), kappa), float(want), 1e-11, 0.0)
            near(pb.stats.vonmises.ppf(np.float64(want), kappa), x, 1e-11)
        points = [step / mp.sqrt(kappa + 1) for step in (0, 1, 3, 9) if step**2 < 9 * (kappa + 1)]
        weight = lambda t: mp.exp(kappa * (mp.cos(t) - 1))  # noqa: E731, B023
        parts = [mp.quad(lambda t: t**n * weight(t), [*points, mp.pi]) for n in (0, 2)]  # noqa: B023
        near(pb.stats.vonmises.var(np.float64(kappa)), float(parts[1] / parts[0]), 1e-12)
    assert np.isfinite(float(pb.stats.vonmises.logcdf(np.float64(-3.0), 1e5)))


@pytest.mark.parametrize("name", SHAPES)
def test_gradients(name: str) -> None:
    family = getattr(pb.stats, name)
    x, q = np.array([-1.3, -0.2, 0.4, 1.7]), np.array([0.03, 0.4, 0.6, 0.97])
    for shape in (0.5, 2.5, *((-0.7,) if name == "skewnorm" else ())):
        parameters = tuple(map(np.float64, (shape, 0.1, 1.3)))
        for what in METHODS:
            method = getattr(family, what)
            pb.testing.check_gradients(method, x, *parameters, order=2)
        for what in ("ppf", "isf"):
            pb.testing.check_gradients(getattr(family, what), q, *parameters, order=2)
        for what in ("mean", "var", "entropy"):
            pb.testing.check_gradients(getattr(family, what), *parameters, order=2)
    # At the value of symmetry the branches have one derivative.
    for what in ("cdf", "logsf"):
        slope = pb.grad(lambda s, what=what: pb.sum(getattr(family, what)(x, s)))
        near(slope(np.float64(0.0)), slope(np.float64(1e-9)), 1e-6)


@pytest.mark.parametrize("name", SHAPES)
def test_inside_of_transforms(name: str) -> None:
    family, shape = getattr(pb.stats, name), np.float64(1.5)
    x, q = np.array([-0.7, 0.1, 2.0]), np.array([0.1, 0.5, 0.8])
    for method, at in ((family.cdf, x), (family.logsf, x), (family.ppf, q)):
        want = method(at, shape)
        near(pb.function(method)(at, shape), want)
        near(pb.vmap(lambda v, method=method: method(v, shape))(at), want)
        near(pb.scan(lambda c, v, method=method: (c, method(v, c)), shape, at)[1], want)
        tangent = pb.jvp(lambda s, method=method, at=at: method(at, s), (shape,), (shape,))[1]
        near(tangent, shape * pb.jacobian(lambda s, method=method, at=at: method(at, s))(shape))
    assert family.cdf(np.float32(0.3), np.float32(1.5)).dtype == np.float32
    near(family.cdf(np.float32(0.3), np.float32(1.5)), family.cdf(0.3, np.float64(1.5)), 1e-6)
