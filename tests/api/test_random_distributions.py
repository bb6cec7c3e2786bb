"""What is drawn has the distribution that its name says (Kolmogorov-Smirnov and chi-square tests
with fixed seeds, which cannot fail by bad luck, only by a change), and gradients are those of the
quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy import special, stats

import pullback as pb
from pullback import _core

N = 20_000
R = pb.random


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    R.seed(3)
    yield
    R.seed(0)


CONTINUOUS: dict[str, tuple[Callable[..., Any], Any]] = {
    "normal": (lambda **k: R.normal(loc=2.0, scale=3.0, **k), stats.norm(2, 3)),
    "uniform": (lambda **k: R.uniform(low=-2.0, high=5.0, **k), stats.uniform(-2, 7)),
    "exponential": (lambda **k: R.exponential(scale=0.2, **k), stats.expon(scale=0.2)),
    "laplace": (lambda **k: R.laplace(loc=1.0, scale=2.0, **k), stats.laplace(1, 2)),
    "logistic": (lambda **k: R.logistic(loc=1.0, scale=2.0, **k), stats.logistic(1, 2)),
    "gumbel": (lambda **k: R.gumbel(loc=-1.0, scale=2.0, **k), stats.gumbel_r(-1, 2)),
    "cauchy": (lambda **k: R.cauchy(loc=1.0, scale=2.0, **k), stats.cauchy(1, 2)),
    "lognormal": (lambda **k: R.lognormal(mean=0.5, sigma=0.3, **k),
                  stats.lognorm(0.3, scale=np.exp(0.5))),
    "weibull, 0.5": (lambda **k: R.weibull(0.5, scale=2.0, **k), stats.weibull_min(0.5, scale=2)),
    "weibull, 7": (lambda **k: R.weibull(7.0, **k), stats.weibull_min(7)),
    "gamma, 0.03": (lambda **k: R.gamma(0.03, **k), stats.gamma(0.03)),
    "gamma, 0.7": (lambda **k: R.gamma(0.7, scale=3.0, **k), stats.gamma(0.7, scale=3)),
    "gamma, 1": (lambda **k: R.gamma(1.0, **k), stats.gamma(1)),
    "gamma, 4": (lambda **k: R.gamma(4.0, **k), stats.gamma(4)),
    "gamma, 1e4": (lambda **k: R.gamma(1e4, **k), stats.gamma(1e4)),
    "gamma, 1e9": (lambda **k: (R.gamma(1e9, dtype="float64", shape=k["shape"]) - 1e9) / 1e9**0.5,
                   stats.norm()),
    "beta, 0.1 and 0.2": (lambda **k: R.beta(0.1, 0.2, **k), stats.beta(0.1, 0.2)),
    "beta, 2 and 30": (lambda **k: R.beta(2.0, 30.0, **k), stats.beta(2, 30)),
    "student_t, 0.7": (lambda **k: R.student_t(0.7, **k), stats.t(0.7)),
    "student_t, 5": (lambda **k: R.student_t(5.0, loc=1.0, scale=2.0, **k), stats.t(5, 1, 2)),
    "truncated_normal": (lambda **k: R.truncated_normal(-0.5, 2.0, **k),
                         stats.truncnorm(-0.5, 2)),
    "truncated_normal, one side": (lambda **k: R.truncated_normal(-np.inf, -1.0, **k),
                                   stats.truncnorm(-np.inf, -1)),
    "truncated_normal, other side": (lambda **k: R.truncated_normal(0.5, np.inf, **k),
                                     stats.truncnorm(0.5, np.inf)),
    "truncated_normal, everywhere": (lambda **k: R.truncated_normal(-np.inf, np.inf, **k),
                                     stats.norm()),
    "truncated_normal, far out": (lambda **k: R.truncated_normal(12.0, 13.0, **k),
                                  stats.truncnorm(12, 13)),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name: str, dtype: str) -> None:
    draw, expected = CONTINUOUS[name]
    x = draw(shape=(N,), dtype=dtype)
    assert x.dtype == dtype or name == "gamma, 1e9"
    values = x.numpy().astype(np.float64)
    assert np.isfinite(values).all() or "cauchy" in name
    if name == "gamma, 0.03":  # of which float32 cannot tell every 20th from 0
        values = values[values > 1e-37]
        below = expected.cdf(1e-37)
        share = (expected.cdf(values) - below) / (1 - below)
        assert stats.kstest(share, "uniform").pvalue > 0.01
        return
    assert stats.kstest(values, expected.cdf).pvalue > 0.01


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_normal_numbers_as_far_out_as_floats_go(dtype: str) -> None:
    """40 deviations out no share is a float, but the logarithms are."""
    x = R.truncated_normal(-np.inf, -40.0, N, dtype).numpy().astype(np.float64)
    assert (x <= -40).all()
    share = np.exp(special.log_ndtr(x) - special.log_ndtr(-40))
    assert stats.kstest(share, "uniform").pvalue > (0.01 if dtype == "float64" else 1e-9)


def test_logarithms_of_small_gammas_have_their_distribution() -> None:
    """beta and dirichlet are made of them: shares of 0 and 1 come from rounding alone."""
    x = R.beta(1e-3, 1e-3, N, "float64").numpy()
    inside = x[(x > 0) & (x < 1)]
    assert 0.2 < len(inside) / N < 1
    assert abs((x > 0.5).mean() - 0.5) < 0.02
    y = R.dirichlet([1e-3, 1e-3, 1e-3], N, "float64").numpy()
    assert np.isfinite(y).all() and np.allclose(y.sum(-1), 1)
    assert np.abs(y.mean(0) - 1 / 3).max() < 0.02


def test_dirichlet_and_multivariate_normal() -> None:
    alpha = np.array([0.5, 1.0, 4.0])
    x = R.dirichlet(alpha, N, "float64").numpy()
    np.testing.assert_allclose(x.sum(-1), 1)
    for k in range(3):
        rest = alpha.sum() - alpha[k]
        assert stats.kstest(x[:, k], stats.beta(alpha[k], rest).cdf).pvalue > 0.01
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    y = R.multivariate_normal(mean, cov, (100, 200)).numpy().reshape(-1, 2) - mean
    white = np.linalg.solve(np.linalg.cholesky(cov), y.T)
    assert stats.kstest(white.ravel(), "norm").pvalue > 0.01
    assert abs(np.corrcoef(white)[0, 1]) < 0.02


DISCRETE: dict[str, tuple[Callable[..., Any], Any]] = {
    "poisson, 0.3": (lambda: R.poisson(0.3, N), stats.poisson(0.3)),
    "poisson, 9.9": (lambda: R.poisson(9.9, N), stats.poisson(9.9)),
    "poisson, 10.1": (lambda: R.poisson(10.1, N), stats.poisson(10.1)),
    "poisson, 400": (lambda: R.poisson(400.0, N), stats.poisson(400)),
    "binomial, 5": (lambda: R.binomial(5, 0.9, N), stats.binom(5, 0.9)),
    "binomial, 40": (lambda: R.binomial(40, 0.2, N), stats.binom(40, 0.2)),
    "binomial, 40 and 0.5": (lambda: R.binomial(40, 0.5, N), stats.binom(40, 0.5)),
    "binomial, 1000": (lambda: R.binomial(1000, 0.7, N), stats.binom(1000, 0.7)),
    "binomial, rare": (lambda: R.binomial(10**9, 3e-9, N), stats.binom(10**9, 3e-9)),
    "integers": (lambda: R.integers(-3, 9, N), stats.randint(-3, 9)),
    "bernoulli": (lambda: R.bernoulli(0.3, N, "int64"), stats.bernoulli(0.3)),
    "rademacher": (lambda: (R.rademacher(N) + 1) / 2, stats.bernoulli(0.5)),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name: str) -> None:
    draw, expected = DISCRETE[name]
    _chi_square(draw().numpy(), expected.pmf)


def _chi_square(drawn: np.ndarray, pmf: Callable[[Any], Any]) -> None:
    values = drawn.astype(np.int64)
    ks = np.arange(values.min(), values.max() + 1)
    counts = np.bincount(values - ks[0], minlength=len(ks))
    expected = len(values) * np.asarray(pmf(ks))
    assert not counts[expected == 0].any()
    common = expected > 5
    counts = np.append(counts[common], counts[~common].sum())
    rest = len(values) - expected[common].sum()
    expected = np.append(expected[common], rest)
    keep = expected > 1e-6
    assert stats.chisquare(counts[keep], expected[keep] * counts[keep].sum()
                           / expected[keep].sum()).pvalue > 0.01  # fmt: skip


@pytest.mark.parametrize("mean", [1e6, 1e12, 1e17])
def test_huge_means(mean: float) -> None:
    z = (R.poisson(mean, N).numpy().astype(np.longdouble) - mean) / np.sqrt(mean)
    assert stats.kstest(z.astype(float), "norm").pvalue > 0.01
    n = int(2 * mean) if mean < 1e16 else 2**52
    z = (R.binomial(n, 0.25, N).numpy() - n * 0.25) / np.sqrt(n * 0.25 * 0.75)
    assert stats.kstest(z, "norm").pvalue > 0.01


def test_integers_of_all_ranges() -> None:
    low, high = -(2**63), 2**63 - 1
    x = R.integers(low, high, N, endpoint=True).numpy()
    assert stats.kstest(x / 2.0**64 + 0.5, "uniform").pvalue > 0.01
    # Two thirds of all words: taken as a remainder or a product some would come twice as often.
    x = R.integers(0, 2**62 + 2**61, N).numpy()
    assert x.min() >= 0 and stats.kstest(x / (2.0**62 + 2.0**61), "uniform").pvalue > 0.01
    assert R.integers(5, 6, 3).numpy().tolist() == [5, 5, 5]
    assert R.integers(4).numpy().shape == () and R.integers(4, dtype="int8").dtype == "int8"
    table = R.integers([0, 100], [10, 200], (N, 2)).numpy()
    assert (table.min(0) == [0, 100]).all() and (table.max(0) == [9, 199]).all()


def test_choice_of_what_has_no_probability() -> None:
    with pytest.raises(ValueError, match="only 1 have a probability"):
        pb.random.choice(3, 2, replace=False, p=[1.0, 0.0, 0.0])
    drawn = pb.random.choice(4, 2, replace=False, p=[0.5, 0.0, 0.5, 0.0]).numpy()
    assert sorted(drawn.tolist()) == [0, 2]


def test_categorical_and_choice() -> None:
    p = np.array([0.1, 0.0, 0.6, 0.3])
    with np.errstate(divide="ignore"):
        logits = np.log(p) + 5
    pmf = p.__getitem__
    _chi_square(R.categorical(logits, N).numpy(), pmf)
    _chi_square(R.categorical(np.stack([logits, logits[::-1]]), (N, 2)).numpy()[:, 0], pmf)
    _chi_square(R.categorical(np.stack([logits] * N, 1), axis=0).numpy(), pmf)
    _chi_square(R.choice(4, N, p=p).numpy(), pmf)
    _chi_square(R.choice(4, N, p=pb.constant(3 * p)).numpy(), pmf)
    _chi_square(R.choice([10, 11, 12, 13], N).numpy() - 10, lambda k: np.full(len(k), 0.25))
    pairs = np.stack([R.choice(4, 2, replace=False, p=p).numpy() for _ in range(2000)])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    numbers = pairs @ [4, 1]
    # The first by p, the second by what is left of it.
    both = np.array([[p[i] * p[j] / (1 - p[i]) * (i != j) for j in range(4)] for i in range(4)])
    _chi_square(numbers, both.ravel().__getitem__)
    rows = R.choice(np.arange(12.0).reshape(3, 4), 2, replace=False, axis=1).numpy()
    assert rows.shape == (3, 2) and (rows[1] - rows[0] == 4).all()
    assert sorted(R.choice(6, 6, replace=False).numpy()) == list(range(6))


def test_permutation_and_shuffle_along_an_axis() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    y = R.shuffle(x, axis=1).numpy()
    assert sorted(y[0, :, 0]) == [0, 4, 8] and (y[1] - y[0] == 12).all()
    assert sorted(R.permutation(x, axis=-1).numpy()[0, 0]) == [0, 1, 2, 3]


# --- gradients: those of the quantile with its share of the distribution held


def _slopes(draw: Callable[..., Any], *values: float) -> tuple[np.ndarray, list[np.ndarray]]:
    """200 draws, and of each its gradient by the parameters."""
    at = [pb.Variable(np.full(200, v)) for v in values]
    x = draw(*at)
    return x.numpy(), [g.numpy() for g in pb.gradients(pb.sum(x), at)]


IMPLICIT: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[float, ...]]] = {
    "gamma": (lambda a, s: R.gamma(a, scale=s), lambda a, s: stats.gamma(a, scale=s), (0.4, 2.0)),
    "gamma, 30": (lambda a, s: R.gamma(a, scale=s), lambda a, s: stats.gamma(a, scale=s),
                  (30.0, 0.5)),
    "weibull": (lambda a, s: R.weibull(a, scale=s), lambda a, s: stats.weibull_min(a, scale=s),
                (1.5, 2.0)),
    "normal": (lambda m, s: R.normal(loc=m, scale=s), stats.norm, (1.0, 2.0)),
    "uniform": (lambda m, s: R.uniform(low=m, high=s), lambda m, s: stats.uniform(m, s - m),
                (1.0, 2.0)),
    "exponential": (lambda s: R.exponential(scale=s), lambda s: stats.expon(scale=s), (2.0,)),
    "laplace": (lambda m, s: R.laplace(loc=m, scale=s), stats.laplace, (1.0, 2.0)),
    "logistic": (lambda m, s: R.logistic(loc=m, scale=s), stats.logistic, (1.0, 2.0)),
    "gumbel": (lambda m, s: R.gumbel(loc=m, scale=s), stats.gumbel_r, (1.0, 2.0)),
    "cauchy": (lambda m, s: R.cauchy(loc=m, scale=s), stats.cauchy, (1.0, 2.0)),
    "lognormal": (lambda m, s: R.lognormal(mean=m, sigma=s),
                  lambda m, s: stats.lognorm(s, scale=np.exp(m)), (0.3, 0.5)),
    "truncated_normal": (R.truncated_normal, stats.truncnorm, (-0.5, 1.5)),
    "truncated_normal, out": (R.truncated_normal, stats.truncnorm, (3.0, 4.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", IMPLICIT)
def test_gradients_are_those_of_quantiles(name: str) -> None:
    draw, law, values = IMPLICIT[name]
    x, slopes = _slopes(draw, *values)
    share = law(*values).cdf(x)
    middle = (share > 1e-4) & (share < 1 - 1e-4)  # where SciPy's quantiles have their digits
    for k, slope in enumerate(slopes):
        h = 1e-4 * max(abs(values[k]), 1)
        ends = []
        for step in (-2, -1, 1, 2):
            moved = list(values)
            moved[k] += step * h
            ends.append(law(*moved).ppf(share))
        expected = (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12 * h)
        np.testing.assert_allclose(slope[middle], expected[middle], rtol=2e-5, atol=1e-8)


def test_slopes_of_gamma_beside_mpmath() -> None:
    """From nearly 0 to where the core uses an expansion for large concentrations, in both tails."""
    with mp.workdps(50):
        for a in (1e-6, 0.05, 1.0, 11.9, 12.1, 300.0, 1999.0, 2001.0):
            for z in (-6.0, -1.0, 0.3, 2.9, 3.1, 6.0):
                x = a + z * math.sqrt(a)
                y = math.log(x) if x > 0 else z / a
                got = [float(_core.log_gamma_path(np.array(a, t), y)) for t in ("d", "f")]
                expected = float(_path(mp.mpf(a), mp.mpf(y)))
                assert abs(got[0] - expected) < 1e-14 * abs(expected), (a, z)
                single = float(_path(mp.mpf(float(np.float32(a))), mp.mpf(float(np.float32(y)))))
                assert abs(got[1] - single) < 1e-6 * abs(single), (a, z)


def _path(a: Any, y: Any) -> Any:
    x = mp.exp(y)

    def share(s: Any) -> Any:
        if x < a:
            return x**s * mp.exp(-x) / mp.gamma(s + 1) * mp.hyp1f1(1, s + 1, x)
        return -mp.gammainc(s, x, mp.inf, regularized=True)

    h = a * mp.mpf(10) ** -12
    return -(share(a + h) - share(a - h)) / (2 * h) / mp.exp(a * y - x - mp.loggamma(a))


@pytest.mark.parametrize("a", [1e-4, 0.3, 1.0, 3.0, 200.0, 1e5])
def test_gradient_of_gamma_moves_moments(a: float) -> None:
    """d E[x] / d a = 1 and d E[log x] / d a = trigamma(a)."""
    _, (slope,) = _slopes(lambda c: R.gamma(pb.broadcast_to(c[:1], (N,)), dtype="float64"), a)
    assert abs(slope.sum() / N - 1) < 0.1 * max(1, a**-0.5)
    v = pb.Variable(np.float64(a))
    logs = pb.log(R.gamma(v, N)) if a > 0.01 else None
    if logs is not None:
        [g] = pb.gradients(pb.mean(logs), [v])
        np.testing.assert_allclose(float(g), special.polygamma(1, a), rtol=0.05)


def test_composites_of_gammas() -> None:
    """By the gammas that they are made of, drawn once more."""
    a, b = pb.Variable(np.float64(0.3)), pb.Variable(np.float64(2.0))
    R.seed(9)
    x = R.beta(a, b, 50)
    got = [g.numpy() for g in pb.gradients(pb.sum(x * x), [a, b])]
    R.seed(9)
    first, second = R.gamma(a, 50), R.gamma(b, 50)
    y = first / (first + second)
    np.testing.assert_allclose(x.numpy(), y.numpy(), rtol=1e-12)
    for one, other in zip(got, pb.gradients(pb.sum(y * y), [a, b]), strict=True):
        np.testing.assert_allclose(one, other.numpy(), rtol=1e-9)
    n = pb.Variable(np.float64(3.0))
    R.seed(9)
    t = R.student_t(n, 50)
    [g] = pb.gradients(pb.sum(pb.abs(t)), [n])
    R.seed(9)
    chi = R.gamma(n / 2, 50)
    u = R.normal(50, "float64") / pb.sqrt(chi / (n / 2))
    np.testing.assert_allclose(t.numpy(), u.numpy(), rtol=1e-12)
    np.testing.assert_allclose(
        g.numpy(), pb.gradients(pb.sum(pb.abs(u)), [n])[0].numpy(), rtol=1e-9
    )
    alpha = pb.Variable(np.array([0.5, 2.0]))
    [g] = pb.gradients(R.dirichlet(alpha, 4000)[:, 0], [alpha])
    # d E / d alpha of alpha_0 / (alpha_0 + alpha_1)
    np.testing.assert_allclose(g.numpy() / 4000, [2 / 2.5**2, -0.5 / 2.5**2], rtol=0.1)


def test_second_order_and_forward_mode() -> None:
    def f(a: Any) -> Any:
        R.seed(4)
        return R.gamma(a)

    def total(a: Any) -> Any:
        return pb.sum(f(a))

    at = np.repeat([0.3, 1.5, 40.0], 100)
    x = f(at).numpy()
    share = stats.gamma(at).cdf(x)
    middle = (share > 1e-3) & (share < 1 - 1e-3)

    def slope(a: Any) -> Any:
        """At the quantile that has the same share below it."""
        y = np.log(stats.gamma(a).ppf(share))
        return (_core.log_gamma_path(a, y) * np.exp(y)).numpy()

    h = 1e-3 * at
    second = (slope(at + h) - slope(at - h)) / (2 * h)
    got = pb.grad(lambda a: pb.sum(pb.grad(total)(a)))(at).numpy()
    np.testing.assert_allclose(got[middle], second[middle], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(pb.grad(total)(at).numpy()[middle], slope(at)[middle], rtol=1e-8)
    _, tangent = pb.jvp(f, (at,), (np.ones(300),))
    np.testing.assert_allclose(tangent.numpy(), pb.grad(total)(at).numpy(), rtol=1e-12)
    with pytest.raises(NotImplementedError, match="a draw of gamma has derivatives by its conc"):
        pb.grad(lambda a: pb.sum(pb.grad(lambda b: pb.sum(pb.grad(total)(b)))(a)))(at)


# --- parameters without meaning, sizes of 0

NUMBERS: list[Callable[[Any], Any]] = [
    lambda v: R.normal(scale=v),
    lambda v: R.exponential(scale=v),
    lambda v: R.laplace(scale=v),
    lambda v: R.lognormal(sigma=v),
    lambda v: R.gamma(v),
    lambda v: R.beta(v, 1.0),
    lambda v: R.beta(1.0, v),
    lambda v: R.student_t(v),
    lambda v: R.weibull(v),
    lambda v: R.poisson(v, dtype="float32"),
    lambda v: R.binomial(3, v, dtype="float32"),
    lambda v: R.bernoulli(v, dtype="float32"),
]


@pytest.mark.parametrize("k", range(len(NUMBERS)))
def test_parameters_without_meaning(k: int) -> None:
    draw = NUMBERS[k]
    for bad in (-1.0, np.nan):
        with pytest.raises(ValueError, match="expected a number"):
            draw(bad)
    x = draw(np.array([-1.0, np.nan, 0.5])).numpy()
    assert np.isnan(x[:2]).all() and not np.isnan(x[2])
    assert draw(np.zeros((0, 3))).numpy().shape == (0, 3)


def test_errors() -> None:
    for wrong, match in (
        (lambda: R.gamma([1.0, 2.0], 3), r"gamma: parameters of shape \(2,\) do not broadcast to"),
        (lambda: R.beta([1.0, 2.0], [1.0] * 3), "do not broadcast"),
        (lambda: R.integers(3, 3), "integers: expected low < high"),
        (lambda: R.integers(0, 300, dtype="uint8"), "do not fit in uint8"),
        (lambda: R.truncated_normal(1.0, 1.0), "expected lower below upper"),
        (lambda: R.multivariate_normal([0.0], [[1.0, 0.0]]), "square matrices of one length"),
        (lambda: R.dirichlet(1.0), "at least one axis"),
        (lambda: R.categorical(1.0), "at least one class"),
        (lambda: R.choice(3, 4, replace=False), "4 of 3 entries"),
        (lambda: R.choice(3, p=[0.5, 0.5]), "expected 3 probabilities"),
        (lambda: R.choice(2, p=[0.5, 0.6]), "add up to 1"),
        (lambda: R.choice(0), "something to choose from"),
        (lambda: R.binomial(2.5, 0.5), "expected a whole number"),
        (lambda: R.poisson(1e30), "at most 9.2e18"),
        (lambda: R.Generator(-1), "expected an integer from 0"),
        (lambda: R.Generator(1).spawn(-1), "negative"),
    ):
        with pytest.raises(ValueError, match=match):
            wrong()
    with pytest.raises(TypeError, match="expected integers"):
        R.integers(1.5)
    with pytest.raises(TypeError, match="real numbers"):
        R.gamma(1j)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        R.multivariate_normal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]]).numpy()
    x = R.truncated_normal(np.array([0.0, 2.0]), np.array([1.0, 1.0])).numpy()
    assert 0 <= x[0] <= 1 and np.isnan(x[1])
    assert R.poisson(np.array([-1.0])).numpy() == -1


def test_edges() -> None:
    assert (R.gamma(0.0, 3).numpy() == 0).all()
    assert np.isinf(R.gamma(np.inf, 3).numpy()).all()
    assert R.binomial(7, [0.0, 1.0]).numpy().tolist() == [0, 7]
    assert (R.poisson(0.0, 5).numpy() == 0).all()
    assert not R.bernoulli(0.0, 100).numpy().any() and R.bernoulli(1.0, 100).numpy().all()
    a = pb.Variable(np.full(500, 1e-3, np.float32))
    x = R.gamma(a)
    assert (x.numpy() == 0).any()
    assert np.isfinite(pb.gradients(x, [a])[0].numpy()).all(), "draws that are 0 do not move"
    for dtype in ("float16", "bfloat16"):
        assert R.gamma(2.0, 4, dtype).dtype == dtype and R.normal(4, dtype, loc=1.0).dtype == dtype
