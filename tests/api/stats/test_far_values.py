"""Distributions at far arguments and far parameters beside mpmath: logarithms and slopes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import pullback as pb

scipy_stats = pytest.importorskip("scipy.stats")


def near(got: Any, want: Any, rtol: float = 2e-12, atol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)


def test_log_densities_of_far_numbers() -> None:
    """No square overflows before the log density, its slope or its second slope does."""
    stats = pb.stats
    for family, shapes, dtype, x in (
        ("norm", (), np.float32, [1.9e19, -2.5e19]),
        ("norm", (), np.float64, [1.4e154, -1.8e154]),
        ("t", (3.0,), np.float64, [1.4e154, -1.7e308, 4e9, 1e9, 1.0]),
        ("t", (1e300,), np.float64, [1e120, 1.0]),
        ("t", (np.inf,), np.float64, [1.4e154]),
    ):
        call = partial(lambda who, own, v: who.logpdf(v, *own), getattr(stats, family), shapes)
        slope = pb.grad(lambda v, call=call: pb.sum(call(v)))
        bend = pb.grad(lambda v, slope=slope: pb.sum(slope(v)))
        at, single = pb.constant(np.array(x, dtype)), 4e-7 * (dtype == np.float32)
        for k, value in enumerate(x):
            v, n = mp.mpf(float(dtype(value))), mp.mpf(shapes[0]) if shapes else mp.inf
            near(call(at).numpy()[k], float(_log_student(v, n)), single or 1e-13)
            with mp.workdps(60):
                first = -v if n == mp.inf else -(n + 1) * v / (n + v * v)
                second = mp.mpf(-1) if n == mp.inf else -(n + 1) * (n - v * v) / (n + v * v) ** 2
            near(slope(at).numpy()[k], float(first), single or 1e-13)
            near(bend(at).numpy()[k], float(second), single or 1e-13, 1e-307)
    x = pb.constant(np.array([3e38, -1.8e38], np.float32))
    slope = pb.grad(lambda v: pb.sum(stats.norm.logpdf(v)))
    np.testing.assert_array_equal(slope(x).numpy(), -x.numpy())


def _log_student(x: Any, n: Any) -> Any:
    with mp.workdps(340):
        if n == mp.inf:
            return -x * x / 2 - mp.log(2 * mp.pi) / 2
        beta = mp.loggamma(n / 2) + mp.loggamma(mp.mpf(1) / 2) - mp.loggamma((n + 1) / 2)
        return -(n + 1) / 2 * mp.log1p(x * x / n) - mp.log(n) / 2 - beta


def test_log_cdf_of_expon_to_one_ulp() -> None:
    """Float32 is rounded once."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(0, 3, 2000), np.exp(rng.uniform(-20, 4, 2000))]).astype("f")
    got, d = pb.stats.expon.logcdf(x).numpy(), x.astype(np.float64)
    want = np.where(d < 0.7, np.log(-np.expm1(-d)), np.log1p(-np.exp(-d)))
    assert np.max(np.abs(got - want) / np.spacing(np.abs(want.astype("f")))) < 0.51


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ValueError, match=r"^norm\.logpdf: .*x \(3,\), loc \(2,\)"):
        pb.stats.norm.logpdf(np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match=r"^multivariate_normal\.pdf: .*x \(3,\), mean \(2,\)"):
        pb.stats.multivariate_normal.pdf(np.ones(3), np.ones(2))


def test_slopes_of_far_quantiles_of_f() -> None:
    """There, the quantile is a power of q: x = n / m (q n B(m, n))^(-1 / n), with half degrees."""

    def exact(q: Any, dfn: Any, dfd: Any) -> Any:
        m, n = dfn / 2, dfd / 2
        return n / m * (q * n * mp.beta(m, n)) ** (-1 / n)

    for point in ((1e-300, 10.0, 3.0), (1e-305, 5.0, 4.0), (1e-200, 3.0, 2.5)):
        with mp.workdps(40):
            at = tuple(map(mp.mpf, point))
            by_q = -exact(*at) / (at[2] / 2 * at[0])
            want = [float(by_q), *(float(mp.diff(exact, at, (0, 1 - k, k))) for k in (0, 1))]
        made = [float(pb.grad(pb.stats.f.isf, k)(*map(np.float64, point))) for k in range(3)]
        np.testing.assert_allclose(made, want, rtol=1e-10)


def test_certain_success_of_geom() -> None:
    geom = pb.stats.geom
    assert [float(geom.ppf(q, 1.0)) for q in (0.0, 1e-9, 0.5, 1.0)] == [0, 1, 1, 1]
    assert float(geom.isf(0.5, 1.0)) == 1
    for k, slope in ((1, 1.0), (2, -1.0), (3, 0.0)):
        assert float(pb.grad(geom.pmf, 1)(k, 1.0)) == slope
    assert float(pb.grad(geom.logpmf, 1)(1, 1.0)) == 1
    assert float(pb.grad(geom.cdf, 1)(1, 1.0)) == 1 and float(pb.grad(geom.sf, 1)(2, 1.0)) == 0
    for p in (1e-18, 1e-3, 0.3, 0.7, 1.0):
        with mp.workdps(40):
            exact = mp.mpf(p)
            want = -mp.log(exact) - ((1 - exact) * mp.log(1 - exact) / exact if p < 1 else 0)
        assert float(geom.entropy(np.float64(p))) == pytest.approx(float(want), rel=1e-14)
    assert float(pb.grad(geom.entropy)(np.float64(1.0))) == -np.inf


def _log_beta(a: Any, b: Any, x: Any, rest: Any) -> Any:
    front = a * mp.log(x) + b * mp.log(rest) - mp.log(a)
    beta = mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)
    return front - beta + mp.log(mp.hyp2f1(a + b, 1, a + 1, x))


def _log_t(x: Any, df: Any) -> Any:
    ratio = x * x / df
    value = _log_beta(df / 2, mp.mpf(1) / 2, 1 / (1 + ratio), ratio / (1 + ratio))
    return value - mp.log(2)


def _log_f(x: Any, dfn: Any, dfd: Any) -> Any:
    ratio = x * dfn / dfd
    return _log_beta(dfn / 2, dfd / 2, ratio / (1 + ratio), 1 / (1 + ratio))


@pytest.mark.parametrize(
    ("name", "what", "x", "shapes", "exact"),
    [
        ("t", "logcdf", -1e200, (3.0,), _log_t),
        ("t", "logsf", 45.0, (1e5,), lambda x, n: _log_t(-x, n)),
        ("t", "logcdf", -1e6, (100.0,), _log_t),
        ("f", "logcdf", 1e-300, (5.0, 30.0), _log_f),
        ("f", "logsf", 1e300, (5.0, 30.0), lambda x, m, n: _log_f(1 / x, n, m)),
        ("f", "logsf", 400.0, (5.0, 1e6), lambda x, m, n: _log_f(1 / x, n, m)),
        ("beta", "logcdf", 1e-300, (4.0, 7.0), lambda x, a, b: _log_beta(a, b, x, 1 - x)),
        ("beta", "logsf", 0.5, (30.0, 2000.0), lambda x, a, b: _log_beta(b, a, 1 - x, x)),
        ("nbinom", "logcdf", 100, (2000.5, 0.4), lambda k, n, p: _log_beta(n, k + 1, p, 1 - p)),
        ("nbinom", "logsf", 3000, (3.5, 0.4), lambda k, n, p: _log_beta(k + 1, n, 1 - p, p)),
        ("gumbel_r", "logsf", 800.0, (), lambda x: mp.log(-mp.expm1(-mp.exp(-x)))),
        ("gumbel_l", "logcdf", -800.0, (), lambda x: mp.log(-mp.expm1(-mp.exp(x)))),
        ("weibull_min", "logcdf", 1e-200, (3.5,), lambda x, c: mp.log(-mp.expm1(-(x**c)))),
        ("rayleigh", "logcdf", 1e-200, (), lambda x: mp.log(-mp.expm1(-x * x / 2))),
    ],
)
def test_logarithms_of_tails_that_underflow(
    name: str, what: str, x: float, shapes: tuple[float, ...], exact: Callable[..., Any]
) -> None:
    """The logarithm and its slopes are those of mpmath."""

    def value(*arguments: Any) -> Any:
        return getattr(getattr(pb.stats, name), what)(*arguments)

    points = (x, *shapes)
    variables = [pb.constant(np.float64(v)) for v in points]
    with mp.workdps(400):
        near(value(*variables), float(exact(*map(mp.mpf, points))), 1e-13)
    with mp.workdps(60):
        for k in range(1 if name == "nbinom" else 0, len(points)):
            exactly = [mp.mpf(v) for v in points]
            step = abs(exactly[k]) * mp.mpf(10) ** -20
            ends = [exact(*exactly[:k], v, *exactly[k + 1 :])
                    for v in (exactly[k] + step, exactly[k] - step)]  # fmt: skip
            slope = pb.grad(value, k)(*variables)
            near(slope, float((ends[0] - ends[1]) / (2 * step)), 1e-11)


def test_logarithm_of_a_far_binom_tail() -> None:
    logcdf = partial(pb.stats.binom.logcdf, 3000, 10000)
    with mp.workdps(40):
        want = _log_beta(mp.mpf(7000), mp.mpf(3001), mp.mpf("0.5"), mp.mpf("0.5"))
    near(logcdf(np.float64(0.5)), float(want), 1e-14)
    assert float(pb.stats.binom.logcdf(0, 10000, np.float64(0.5))) == 10000 * np.log(0.5)


def test_infinite_degrees_of_freedom() -> None:
    x = np.array([0.0, 0.2, 1.0, 3.0, 40.0])
    for what in ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf"):
        with np.errstate(all="ignore"):
            want = getattr(scipy_stats.chi2, what)(x, 5.0, 0, 1 / 5.0)
            near(getattr(pb.stats.f, what)(x, 5.0, np.inf), want, 1e-11)
            want = getattr(scipy_stats.invgamma, what)(x, 3.5, 0, 3.5)
            near(getattr(pb.stats.f, what)(x, np.inf, 7.0)[1:], want[1:], 1e-11)
    q = np.array([0.0, 1e-3, 0.5, 1.0])
    near(pb.stats.f.ppf(q, 5.0, np.inf), scipy_stats.chi2.ppf(q, 5.0) / 5)
    near(pb.stats.f.isf(q, np.inf, 7.0), scipy_stats.invgamma.isf(q, 3.5, scale=3.5))
    near(pb.stats.f.entropy(5.0, np.float64(np.inf)), scipy_stats.chi2.entropy(5.0, scale=0.2))
    near(pb.stats.f.var(np.float64(5.0), np.inf), 0.4)
    assert np.isnan(float(pb.stats.f.cdf(1.0, np.inf, np.inf)))
    for argument, want in ((0, -0.5 * scipy_stats.norm.pdf(0.5)), (1, 0.0)):
        near(pb.grad(pb.stats.t.pdf, argument)(np.float64(0.5), np.float64(np.inf)), want)
    near(pb.stats.t.logsf(np.float64(50.0), np.inf), scipy_stats.norm.logsf(50.0))


def test_slopes_at_the_ends() -> None:
    """No infinity meets a slope of 0 at the ends of a support, far out, or at q = 0 and 1."""
    stats, zero = pb.stats, np.float64(0.0)
    of_f = float((mp.mpf(4) / 3) ** 2 / mp.beta(2, 1.5))  # x^(m - 1) (dfn / dfd)^m / B(m, n)
    for family, shapes, slope in (
        (stats.rayleigh, (), 1.0), (stats.weibull_min, (2.0,), 2.0), (stats.f, (4.0, 3.0), of_f),
        (stats.weibull_min, (1.0,), -1.0), (stats.weibull_min, (3.5,), 0.0),
        (stats.f, (5.0, 3.0), 0.0),
    ):  # fmt: skip
        near(pb.grad(family.pdf)(zero, *shapes), slope)
    for x in (-800.0, -1e300):
        for what in ("pdf", "cdf", "sf", "logsf"):
            assert float(pb.grad(getattr(stats.gumbel_r, what))(np.float64(x))) == 0
        assert float(pb.grad(stats.gumbel_l.pdf)(np.float64(-x))) == 0
    families = stats.gumbel_r, stats.lognorm, stats.invgamma, stats.f
    for family, shapes in zip(families, ((), (0.4,), (3.0,), (4.0, 3.0)), strict=True):
        for q in (0.0, 1.0):
            assert float(pb.grad(family.ppf)(np.float64(q), *shapes)) == np.inf
            assert float(pb.grad(family.isf)(np.float64(q), *shapes)) == -np.inf
            for k in range(len(shapes)):
                parameters = [np.float64(s) for s in shapes]
                assert float(pb.grad(family.ppf, k + 1)(np.float64(q), *parameters)) == 0
    assert float(pb.grad(stats.f.ppf)(zero, 2.0, 3.0)) == pytest.approx(1.0)
