"""Distributions beside SciPy: values over wide grids, tails, ends of supports, what is not valid,
gradients by every argument."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.each import each

import pullback as pb

scipy = pytest.importorskip("scipy")
scipy_stats = pytest.importorskip("scipy.stats")

X = np.array([-40.0, -3.0, -0.7, 0.0, 1e-8, 0.2, 0.5, 0.9, 1.0, 1.7, 4.0, 30.0])
K = np.array([-2.0, 0.0, 0.5, 1.0, 2.0, 5.0, 9.0, 10.0, 11.0, 60.0])
Q = np.array([0.0, 1e-12, 1e-3, 0.2, 0.5, 0.75, 0.999, 1.0])
CONTINUOUS: dict[str, list[tuple[float, ...]]] = {
    "norm": [()],
    "t": [(0.7,), (3.0,), (40.0,), (np.inf,)],
    "chi2": [(0.5,), (2.0,), (9.0,)],
    "beta": [(0.5, 0.5), (1.0, 1.0), (1.0, 3.0), (2.5, 1.0), (40.0, 7.0)],
    "gamma": [(0.3,), (1.0,), (2.0,), (60.0,)],
    "expon": [()],
    "laplace": [()],
    "logistic": [()],
    "cauchy": [()],
    "lognorm": [(0.4,), (1.5,)],
    "uniform": [()],
    "gumbel_r": [()],
    "gumbel_l": [()],
    "weibull_min": [(0.5,), (1.0,), (3.5,)],
    "rayleigh": [()],
    "pareto": [(0.7,), (1.5,), (6.0,)],
    "halfnorm": [()],
    "halfcauchy": [()],
    "invgamma": [(0.6,), (1.5,), (8.0,)],
    "f": [(1.0, 1.5), (2.0, 3.0), (5.0, 30.0)],
    "truncnorm": [(-1.0, 2.0), (-np.inf, 0.5), (0.4, np.inf), (2.0, 6.0), (-6.0, -2.0)],
}
DISCRETE: dict[str, list[tuple[float, ...]]] = {
    "poisson": [(0.0,), (0.3,), (4.0,), (50.0,)],
    "binom": [(10.0, 0.3), (10.0, 0.0), (10.0, 1.0), (0.0, 0.4), (60.0, 0.9)],
    "bernoulli": [(0.0,), (0.2,), (1.0,)],
    "nbinom": [(0.5, 0.3), (3.0, 0.6), (20.0, 1.0)],
    "geom": [(0.05,), (0.5,), (0.99,)],
}
FAMILIES = [(name, shapes) for name, many in CONTINUOUS.items() for shapes in many]
COUNTS = [(name, shapes) for name, many in DISCRETE.items() for shapes in many]


def both(name: str) -> tuple[Any, Any]:
    return getattr(pb.stats, name), getattr(scipy_stats, name)


def near(got: Any, want: Any, rtol: float = 2e-12, atol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)


@pytest.mark.parametrize(("name", "shapes"), FAMILIES)
@pytest.mark.parametrize("place", [{}, {"loc": -0.25, "scale": 2.0}])
def test_continuous_values(name: str, shapes: tuple[float, ...], place: dict[str, float]) -> None:
    ours, theirs = both(name)
    shapes = tuple(map(np.float64, shapes))
    place = {key: np.float64(value) for key, value in place.items()}
    with np.errstate(all="ignore"):
        for what in ("pdf", "logpdf", "cdf", "sf"):
            got = getattr(ours, what)(X, *shapes, **place)
            # The logarithm of an F density is a difference of terms, also in SciPy.
            atol = 1e-15 if (name, what) == ("f", "logpdf") else 1e-300
            near(got, getattr(theirs, what)(X, *shapes, **place), atol=atol)
        for what, plain in (("logcdf", "cdf"), ("logsf", "sf")):
            want = np.log(getattr(theirs, plain)(X, *shapes, **place))
            got = np.asarray(getattr(ours, what)(X, *shapes, **place))
            usual = (want < -1e-3) & (want > -600)
            near(got[usual], want[usual], 1e-11)
            assert not np.isnan(got).any()
        for what in ("ppf", "isf"):
            got = getattr(ours, what)(Q, *shapes, **place)
            if what == "isf" and name in ("f", "truncnorm"):  # SciPy's have few digits in the tail
                # Next to a finite limit, the last bit of the quantile is some 1e-4 of 1e-12.
                rtol = 1e-3 if name == "truncnorm" else 1e-9
                near(theirs.sf(got.numpy(), *shapes, **place), Q, rtol)
                continue
            near(
                got,
                getattr(theirs, what)(Q, *shapes, **place),
                1e-11 if name not in ("t", "cauchy") else 1e-9,
                1e-15,
            )
        for what in ("mean", "var", "std", "median", "entropy"):
            got, want = (
                getattr(ours, what)(*shapes, **place),
                getattr(theirs, what)(*shapes, **place),
            )
            if (name, what) == ("truncnorm", "entropy"):  # NaN in SciPy for an infinite limit
                terms = lambda x: scipy.special.entr(theirs.pdf(x, *shapes, **place))  # noqa: E731
                ends = np.clip(theirs.support(*shapes, **place), -40, 40)
                want = scipy.integrate.quad(terms, *ends)[0]
            near(got, want, 1e-6, 1e-6)


@pytest.mark.parametrize(("name", "shapes"), COUNTS)
@pytest.mark.parametrize("place", [{}, {"loc": 1.0}])
def test_discrete_values(name: str, shapes: tuple[float, ...], place: dict[str, float]) -> None:
    ours, theirs = both(name)
    shapes = tuple(map(np.float64, shapes))
    with np.errstate(all="ignore"):
        for what in ("pmf", "logpmf", "cdf", "sf"):
            got = getattr(ours, what)(K, *shapes, **place)
            near(got, getattr(theirs, what)(K, *shapes, **place), 1e-11, 1e-300)
        q = Q[(Q > 0) & (Q < 1)]
        near(ours.ppf(q, *shapes, **place), theirs.ppf(q, *shapes, **place))
        near(ours.isf(q, *shapes, **place), theirs.isf(q, *shapes, **place))
        near(ours.ppf(0.0, *shapes, **place), theirs.ppf(0.0, *shapes, **place))
        for what in ("mean", "var", "std", "entropy"):
            got, want = (
                getattr(ours, what)(*shapes, **place),
                getattr(theirs, what)(*shapes, **place),
            )
            near(got, want, 1e-6, 1e-6)


@pytest.mark.parametrize(
    ("name", "shapes", "what", "x"),
    [
        ("norm", (), "logsf", 40.0),
        ("norm", (), "logcdf", 9.0),
        ("gamma", (2.5,), "logsf", 5e4),
        ("gamma", (2500.0,), "logcdf", 3.0),
        ("gamma", (0.4,), "logcdf", 30.0),
        ("t", (3.0,), "logsf", 1e40),
        ("poisson", (2000.0,), "logcdf", 3.0),
        ("laplace", (), "logsf", 900.0),
        ("logistic", (), "logsf", 900.0),
        ("expon", (), "logcdf", 50.0),
        ("cauchy", (), "sf", 1e30),
        ("binom", (400.0, 0.05), "logsf", 200.0),
    ],
)
def test_far_tails(name: str, shapes: tuple[float, ...], what: str, x: float) -> None:
    def exact() -> Any:
        s = [mp.mpf(v) for v in (*shapes, x)]
        z = s[-1]
        lower = what == "logcdf"
        if name == "norm":
            return mp.log(mp.ncdf(z if lower else -z))
        if name == "gamma":
            ends = (0, z) if lower else (z, mp.inf)
            return mp.log(mp.gammainc(s[0], *ends, regularized=True))
        if name == "poisson":
            return mp.log(mp.fsum(s[0] ** k / mp.factorial(k) for k in range(4))) - s[0]
        if name == "t":
            n = s[0]
            return mp.log(mp.betainc(n / 2, 0.5, 0, n / (n + z * z), regularized=True) / 2)
        if name == "laplace":
            return -z - mp.log(2)
        if name == "logistic":
            return -mp.log1p(mp.exp(z))
        if name == "expon":
            return mp.log1p(-mp.exp(-z))
        if name == "cauchy":
            return mp.atan(1 / z) / mp.pi
        n, p = s[0], s[1]
        tail = (
            mp.binomial(n, k) * p**k * (1 - p) ** (n - k) for k in range(int(z) + 1, int(n) + 1)
        )
        return mp.log(mp.fsum(tail))

    with mp.workdps(60):
        near(getattr(getattr(pb.stats, name), what)(np.float64(x), *shapes), float(exact()), 2e-13)


POINTS = {"beta": 0.3, "uniform": 0.4, "cauchy": -1.2, "laplace": -0.8, "t": -1.4}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_gradients_by_all_arguments(name: str) -> None:
    """Reverse and forward mode, first and second order, against finite differences."""
    family, shapes = getattr(pb.stats, name), list(CONTINUOUS[name][0])
    shapes = [s + 1.3 for s in shapes]
    x, place = POINTS.get(name, 1.6), [0.05, 1.3]
    arguments = [np.array([v]) for v in (x, *shapes, *place)]

    def all_of(*names: str) -> Callable[..., Any]:  # their sum with random weights is checked
        return lambda *arguments: [getattr(family, name)(*arguments) for name in names]

    check = pb.testing.check_gradients
    check(all_of("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"), *arguments)
    check(all_of("ppf", "isf"), np.array([0.3]), *arguments[1:])
    check(family.entropy, *arguments[1:])


@pytest.mark.parametrize(
    ("name", "shapes"), [("poisson", (2.3,)), ("bernoulli", (0.3,)), ("nbinom", (2.2, 0.4))]
)
def test_gradients_of_discrete_ones(name: str, shapes: tuple[float, ...]) -> None:
    family = getattr(pb.stats, name)
    for what in ("pmf", "logpmf", "cdf", "logcdf", "sf", "logsf"):
        f = partial(getattr(family, what), np.array([1.0]) if name != "bernoulli" else np.zeros(1))
        pb.testing.check_gradients(f, *[np.array([s]) for s in shapes])
    x = pb.Variable(np.array([1.0, 0.0]))
    (slope,) = pb.gradients(family.logpmf(x, *shapes), [x])
    np.testing.assert_array_equal(slope, 0.0)
    pb.testing.check_gradients(family.entropy, *[np.array([s]) for s in shapes])


def test_binom_by_p() -> None:
    for what in ("pmf", "logpmf", "cdf", "logsf", "entropy"):
        arguments = [] if what == "entropy" else [np.array([2.0, 7.0])]
        f = partial(getattr(pb.stats.binom, what), *arguments, 9.0)
        pb.testing.check_gradients(f, np.array([0.3, 0.6]))


@pytest.mark.parametrize(
    ("name", "shapes", "x"),
    [("gamma", (2.0,), -1.0), ("beta", (2.0, 2.0), 1.5), ("lognorm", (1.0,), 0.0),
     ("expon", (), -2.0), ("uniform", (), 3.0), ("chi2", (3.0,), -1.0)],
)  # fmt: skip
def test_outside_of_the_support(name: str, shapes: tuple[float, ...], x: float) -> None:
    family = getattr(pb.stats, name)
    value, *parameters = (pb.Variable(np.float64(v)) for v in (x, *shapes, 0.0, 1.0))
    for what, want in (("pdf", 0.0), ("logpdf", -np.inf)):
        y = getattr(family, what)(value, *parameters)
        assert float(y) == want
        for slope in pb.gradients(y, [value, *parameters]):
            assert float(slope) == 0.0


@each("name", [*CONTINUOUS, *DISCRETE])
def test_what_is_not_valid_is_nan(name: str) -> None:
    family = getattr(pb.stats, name)
    shapes = {**CONTINUOUS, **DISCRETE}[name][0]
    bad: list[tuple[tuple[float, ...], dict[str, float]]] = []
    for k in range(len(shapes)):
        bad += [((*shapes[:k], v, *shapes[k + 1 :]), {}) for v in (-1.0, np.nan)]
    if name == "truncnorm":
        bad = [((2.0, 1.0), {}), ((1.0, 1.0), {}), ((np.nan, 1.0), {}), ((1.0, np.nan), {})]
    if name in CONTINUOUS:
        bad += [(shapes, {"scale": v}) for v in (-1.0, 0.0, np.nan)]
    for given_shapes, place in bad:
        for what in ("cdf", "sf", "logcdf", "pdf" if name in CONTINUOUS else "pmf"):
            assert np.isnan(float(getattr(family, what)(np.float64(0.5), *given_shapes, **place)))
        assert np.isnan(float(family.ppf(np.float64(0.5), *given_shapes, **place)))
        # The gradient of a NaN is not 0.
        for what in ("cdf", "logsf", "logpdf") if name in CONTINUOUS else ():
            x = pb.Variable(np.float64(1.5 if name == "pareto" else 0.5))
            loc = pb.Variable(np.float64(0.0))
            y = getattr(family, what)(x, *given_shapes, loc=loc, **place)
            assert all(np.isnan(float(slope)) for slope in pb.gradients(y, [x, loc])), what
    for what in ("cdf", "logsf", "pdf" if name in CONTINUOUS else "pmf", "ppf"):
        assert np.isnan(float(getattr(family, what)(np.float64(np.nan), *shapes)))
    assert np.isnan(float(family.ppf(np.float64(1.5), *shapes)))


@settings(deadline=None, max_examples=25)
@given(
    st.sampled_from(["gamma", "beta", "t", "chi2", "norm", "logistic", "lognorm"]),
    st.lists(st.floats(0.2, 50), min_size=2, max_size=2),
    st.floats(1e-9, 0.5),
)
def test_round_trip(name: str, shapes: list[float], q: float) -> None:
    family = getattr(pb.stats, name)
    given_shapes = shapes[: len(family.shapes)]
    for there, back in ((family.ppf, family.cdf), (family.isf, family.sf)):
        x = float(there(np.float64(q), *given_shapes))
        beside = np.array([np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
        of_rounding = np.ptp(back(beside, *given_shapes).numpy())  # no x in between has less
        near(back(np.float64(x), *given_shapes), q, 1e-12, of_rounding)


def test_broadcasting_dtypes_and_integers() -> None:
    a = np.array([1.0, 2.0, 3.0], np.float32)[:, None]
    got = pb.stats.gamma.cdf(np.arange(4), a)
    assert got.shape == (3, 4)
    assert got.dtype == np.float32
    near(got, scipy_stats.gamma.cdf(np.arange(4), a), 1e-6)
    assert pb.stats.gamma.logpdf(np.float64(2.0), 2).dtype == np.float64
    assert pb.stats.norm.cdf(np.zeros((0, 3))).shape == (0, 3)
    assert pb.stats.poisson.pmf([1, 2], 3).dtype == np.float32


def test_inside_of_transforms() -> None:
    x = np.linspace(0.1, 2.0, 5)
    want = scipy_stats.gamma.logpdf(x, 2.0, 0, 1.5)
    near(pb.function(lambda v: pb.stats.gamma.logpdf(v, 2.0, scale=1.5))(x), want)
    near(pb.vmap(lambda v: pb.stats.gamma.logpdf(v, 2.0, scale=1.5))(x), want)
    near(pb.vmap(lambda v: pb.stats.poisson.ppf(v, 4.0))(x / 3), scipy_stats.poisson.ppf(x / 3, 4))


def test_dirichlet() -> None:
    alpha = np.array([0.7, 2.0, 3.5])
    x = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    near(pb.stats.dirichlet.logpdf(x, alpha), scipy_stats.dirichlet.logpdf(x.T, alpha))
    near(pb.stats.dirichlet.pdf(x, alpha), scipy_stats.dirichlet.pdf(x.T, alpha))
    near(pb.stats.dirichlet.entropy(alpha), scipy_stats.dirichlet.entropy(alpha))
    pb.testing.check_gradients(lambda a: pb.stats.dirichlet.logpdf(x, a), alpha)
    pb.testing.check_gradients(pb.stats.dirichlet.entropy, alpha)
    assert float(pb.stats.dirichlet.logpdf([0.5, 0.6, 0.1], alpha)) == -np.inf
    assert np.isnan(float(pb.stats.dirichlet.logpdf(x[0], -alpha)))
    with pytest.raises(ValueError, match="one size of the last axis for x and alpha"):
        pb.stats.dirichlet.pdf(x, alpha[:2])


def test_multivariate_normal() -> None:
    a = np.random.default_rng(0).standard_normal((2, 3, 3))
    cov, mean = a @ a.swapaxes(-1, -2) + np.eye(3), np.array([0.5, -1.0, 2.0])
    x = a[0]
    ours, theirs = both("multivariate_normal")
    near(ours.logpdf(x, mean, cov[0]), theirs.logpdf(x, mean, cov[0]))
    near(ours.pdf(x[0], mean, cov[0]), theirs.pdf(x[0], mean, cov[0]))
    near(ours.logpdf(x[0], cov=2.0), theirs.logpdf(x[0], np.zeros(3), 2.0))
    near(ours.entropy(mean, cov[0]), theirs.entropy(mean, cov[0]))
    batch = [theirs.logpdf(x[0], mean, c) for c in cov]
    near(ours.logpdf(x[0], mean, cov), batch)
    near(pb.vmap(lambda c: ours.logpdf(x[0], mean, c))(cov), batch)
    pb.testing.check_gradients(lambda v, m: ours.logpdf(v, m, cov[0]), x, mean)
    pb.testing.check_gradients(lambda v, m, b: ours.logpdf(v, m, pb.matmul(b, b.mT)), x[0], mean, a)
    assert ours.logpdf(np.zeros((0, 3))).shape == (0,)
    with pytest.raises(np.linalg.LinAlgError):
        float(ours.logpdf(x[0], mean, -np.eye(3)))
    with pytest.raises(ValueError, match=r"expected shape .* for cov, got \(2, 2\)"):
        ours.logpdf(x[0], mean, np.eye(2))


def test_errors() -> None:
    with pytest.raises(TypeError, match=r"gamma\.pdf: expected a value for a, got none"):
        pb.stats.gamma.pdf(1.0)
    with pytest.raises(
        TypeError, match=r"gamma\.pdf: expected the parameters a, loc, scale, got 'b'"
    ):
        pb.stats.gamma.pdf(1.0, 2.0, b=1.0)
    with pytest.raises(
        TypeError, match=r"norm\.cdf: expected at most the parameters loc, scale, got 3"
    ):
        pb.stats.norm.cdf(1.0, 0.0, 1.0, 2.0)
    with pytest.raises(TypeError, match=r"norm\.cdf: expected one value for loc, got two"):
        pb.stats.norm.cdf(1.0, 0.0, loc=1.0)
    with pytest.raises(TypeError, match=r"norm\.pdf: expected real numbers"):
        pb.stats.norm.pdf(1j)
    with pytest.raises(
        TypeError, match=r"poisson\.pmf: expected the parameters mu, loc, got 'scale'"
    ):
        pb.stats.poisson.pmf(1, 2.0, scale=1.0)


@each(
    "call",
    [
        lambda s, f: s.poisson.logpmf(f(1e6), f(1e6)),
        lambda s, f: s.gamma.logpdf(f(1e6), f(1e6)),
        lambda s, f: s.gamma.entropy(f(1e6)),
        lambda s, f: s.beta.entropy(f(1e6), f(1e6)),
        lambda s, f: s.binom.logpmf(f(5e6), f(1e7), f(0.5)),
        lambda s, f: s.nbinom.logpmf(f(1e6), f(1e6), f(0.5)),
        lambda s, f: s.t.logpdf(f(1e18), f(3)),
        lambda s, f: s.beta.logcdf(f(1e-20), f(3), f(0.5)),
        lambda s, f: s.dirichlet.logpdf(np.array([0.5, 0.5], f), np.array([1e6, 1e6], f)),
    ],
)
def test_float32_of_large_parameters(call: Any) -> None:
    """Differences of large terms are made in float64 and rounded once."""
    got = call(pb.stats, np.float32)
    assert got.dtype == np.float32
    near(got, call(scipy_stats, np.float64), 1e-6)


@pytest.mark.parametrize("family", ["norm", "expon"])
@pytest.mark.parametrize("what", ["pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf"])
def test_float32_without_parameters(family: str, what: str) -> None:
    """Computed in float32, to the digits of float32, in both tails."""
    x = np.concatenate([np.linspace(-9, 9, 301), [-np.inf, np.inf, np.nan, 20.0]])
    if what in ("ppf", "isf"):
        x = np.concatenate([np.linspace(0, 1, 97), [-0.1, 1.1, np.nan, 1e-30]])
    x = x.astype(np.float32)
    got = getattr(getattr(pb.stats, family), what)(x)
    want = getattr(getattr(scipy_stats, family), what)(x.astype(np.float64))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.numpy(), want.astype(np.float32), 3e-7, 1e-45)


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


def test_logarithms_at_infinity() -> None:
    for name, shapes in FAMILIES:
        family = getattr(pb.stats, name)
        for x, logs in ((-np.inf, (-np.inf, 0.0)), (np.inf, (0.0, -np.inf))):
            got = [float(f(np.float64(x), *shapes)) for f in (family.logcdf, family.logsf)]
            assert got == list(logs), (name, shapes, x)


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


def _matrices() -> tuple[Any, Any]:
    a = np.random.default_rng(1).standard_normal((2, 3, 3))
    return a, a @ a.swapaxes(-1, -2) + np.eye(3)


def test_multivariate_t() -> None:
    a, scale = _matrices()
    loc, x = np.array([0.5, -1.0, 2.0]), a[0]
    ours, theirs = both("multivariate_t")
    for df in (0.7, 3.0, 1e6):
        near(ours.logpdf(x, loc, scale[0], df), theirs.logpdf(x, loc, scale[0], df), 1e-9)
        near(ours.pdf(x[0], loc, scale[0], df), theirs.pdf(x[0], loc, scale[0], df), 1e-9)
    near(ours.entropy(loc, scale[0], 3.0), theirs.entropy(loc, scale[0], 3.0))
    normal = pb.stats.multivariate_normal
    for df in (1e15, np.inf):
        near(ours.entropy(loc, scale[0], df), normal.entropy(loc, scale[0]))
        near(ours.logpdf(x, loc, scale[0], df), normal.logpdf(x, loc, scale[0]))
    near(ours.logpdf(x[0], loc, scale, 2.0), [theirs.logpdf(x[0], loc, s, 2.0) for s in scale])
    assert np.isnan(float(ours.logpdf(x[0], df=-1.0)))
    check = pb.testing.check_gradients
    check(lambda v, m, n: ours.logpdf(v, m, scale[0], n), x, loc, np.array(2.5))
    check(lambda b, n: ours.entropy(None, pb.matmul(b, b.mT), n), a[0], np.array(2.5))
    with pytest.raises(ValueError, match=r"multivariate_t.logpdf: .* for shape, got \(2, 2\)"):
        ours.logpdf(x[0], loc, np.eye(2))


def test_wishart() -> None:
    a, x = _matrices()
    scale = x[1] + np.eye(3)
    ours, theirs = both("wishart")
    for df in (2.5, 7.0):
        near(ours.logpdf(x[0], df, scale), theirs.logpdf(x[0], df, scale))
        near(ours.pdf(x[0], df, scale), theirs.pdf(x[0], df, scale))
        near(ours.entropy(df, scale), theirs.entropy(df, scale))
    near(ours.logpdf(x, 4.0, scale), theirs.logpdf(np.moveaxis(x, 0, -1), 4.0, scale))
    near(ours.logpdf(x[0], 4.0, 2.0), theirs.logpdf(x[0], 4.0, 2 * np.eye(3)))
    assert np.isnan(float(ours.logpdf(x[0], 2.0, scale)))
    check = pb.testing.check_gradients
    check(lambda b, n: ours.logpdf(pb.matmul(b, b.mT) + np.eye(3), n, scale), a[0], np.array(4.5))
    check(lambda b, n: ours.logpdf(x[0], n, pb.matmul(b, b.mT) + np.eye(3)), a[0], np.array(4.5))
    check(lambda n: ours.entropy(n, scale), np.array(4.5))
    with pytest.raises(ValueError, match=r"wishart\.pdf: expected square matrices for x"):
        ours.pdf(np.ones(3), 4.0, scale)


def test_multinomial() -> None:
    ours, theirs = both("multinomial")
    p = np.array([[0.2, 0.3, 0.5], [0.0, 0.9, 0.1]])
    x = np.array([[1, 2, 4], [0, 7, 0], [3, 3, 3], [8, -1, 0]])
    for chances in p:
        near(ours.logpmf(x, 7, chances), theirs.logpmf(x, 7, chances))
        near(ours.pmf(x, 7.0, chances), theirs.pmf(x, 7, chances))
        near(ours.entropy(7, chances), theirs.entropy(7, chances))
    near(
        ours.entropy(np.array([3.0, 7.0]), p),
        [theirs.entropy(n, q) for n, q in zip((3, 7), p, strict=True)],
    )
    near(ours.pmf([2.5, 0.5, 4.0], 7, p[0]), 0.0)
    assert np.isnan(float(ours.pmf(x[0], 7, [0.5, 0.6, 0.1])))
    assert np.isnan(float(ours.pmf(x[0], 7, [-0.5, 0.5, 1.0])))
    assert np.isnan(float(ours.pmf(x[0], 7.5, p[0])))
    slope = pb.grad(lambda q: ours.logpmf(x[0], 7, q))(p[0])
    near(slope, x[0] / p[0])
    slope = pb.grad(lambda q: ours.logpmf(x[1], 7, q))(p[1])  # no term of a count of 0
    near(slope, [0.0, 7 / 0.9, 0.0])
    pb.testing.check_gradients(lambda q: ours.entropy(5, q / pb.sum(q)), p[0])
    with pytest.raises(ValueError, match="one size of the last axis for x and p"):
        ours.pmf(x[0], 7, p[0][:2])
