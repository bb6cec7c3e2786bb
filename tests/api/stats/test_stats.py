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


def test_logarithms_at_infinity() -> None:
    for name, shapes in FAMILIES:
        family = getattr(pb.stats, name)
        for x, logs in ((-np.inf, (-np.inf, 0.0)), (np.inf, (0.0, -np.inf))):
            got = [float(f(np.float64(x), *shapes)) for f in (family.logcdf, family.logsf)]
            assert got == list(logs), (name, shapes, x)
