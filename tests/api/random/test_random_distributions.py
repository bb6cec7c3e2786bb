"""What is drawn has the distribution that its name says (Kolmogorov-Smirnov and chi-square tests
with fixed seeds, which cannot fail by bad luck, only by a change)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy import special, stats
from support.each import each

import pullback as pb

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
    with pytest.raises(ValueError, match=r"at most 1 draw .* with a probability, got 2"):
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
    for bad in (-1.0, np.nan, np.float32(-1), np.int64(-1)):
        with pytest.raises(ValueError, match="expected a number"):
            draw(bad)
    x = draw(np.array([-1.0, np.nan, 0.5])).numpy()
    assert np.isnan(x[:2]).all() and not np.isnan(x[2])
    assert draw(np.zeros((0, 3))).numpy().shape == (0, 3)


FURTHER: list[Callable[[Any], Any]] = [
    lambda v: R.normal(loc=v),
    lambda v: R.laplace(loc=v),
    lambda v: R.lognormal(mean=v),
    lambda v: R.student_t(3.0, loc=v),
    lambda v: R.uniform(low=v),
    lambda v: R.uniform(low=-1.0, high=v),
    lambda v: R.truncated_normal(v, 2.0),
    lambda v: R.truncated_normal(-1.0, v, scale=v),
]


@each("draw", NUMBERS + FURTHER)
def test_a_number_of_numpy_is_no_array(draw: Callable[[Any], Any]) -> None:
    results = []
    for v in (0.5, np.float64(0.5), np.float32(0.5), np.float16(0.5)):
        R.seed(5)
        results.append(draw(v))
    assert [x.dtype.name for x in results] == ["float32"] * 4
    assert all(x.numpy() == results[0].numpy() for x in results)


def test_errors() -> None:
    for wrong, match in (
        (
            lambda: R.gamma([1.0, 2.0], 3),
            r"gamma: expected .* broadcast to shape \(3,\), got shape \(2,\)",
        ),
        (
            lambda: R.beta([1.0, 2.0], [1.0] * 3),
            r"expected parameters whose shapes broadcast, got \(2,\), \(3,\)",
        ),
        (lambda: R.integers(3, 3), "integers: expected low < high"),
        (
            lambda: R.integers(0, 300, dtype="uint8"),
            "expected low and high in the range of uint8, got 0 and 300",
        ),
        (lambda: R.uniform(low=2.0, high=1.0), "expected low <= high, got 2.0 and 1.0"),
        (lambda: R.truncated_normal(1.0, 1.0), "expected lower < upper, got 1.0 and 1.0"),
        (
            lambda: R.multivariate_normal([0.0], [[1.0, 0.0]]),
            r"\(…, n, n\) for cov, got \(1,\) and \(1, 2\)",
        ),
        (lambda: R.dirichlet(1.0), "at least one axis"),
        (lambda: R.categorical(1.0), "at least one class"),
        (lambda: R.choice(3, 4, replace=False), "at most 3 draws without replacement, got 4"),
        (lambda: R.choice(3, p=[0.5, 0.5]), "expected 3 probabilities"),
        (lambda: R.choice(2, p=[0.5, 0.6]), "sum to 1 for p, got a sum of 1.1"),
        (lambda: R.choice(0), "at least one entry in a, got 0"),
        (lambda: R.binomial(2.5, 0.5), "expected an integer for n, got 2.5"),
        (lambda: R.poisson(1e30), "<= 9.2e18 for lam"),
        (lambda: R.Generator(-1), "expected an integer from 0"),
        (lambda: R.Generator(1).spawn(-1), "expected an integer >= 0 for n, got -1"),
    ):
        with pytest.raises(ValueError, match=match):
            wrong()
    with pytest.raises(TypeError, match="expected integers"):
        R.integers(1.5)
    with pytest.raises(TypeError, match=r"is normal\(size, loc=loc, scale=scale\)$"):
        R.normal(0.0, 1.0, (2, 3))
    with pytest.raises(
        TypeError, match=r"^uniform: .*, got 3; .* uniform\(size, low=low, high=high"
    ):
        R.Generator(1).uniform(0.0, 1.0, 3)
    with pytest.raises(
        TypeError, match=r"^normal: .*pass parameters such as loc and scale by name"
    ):
        R.normal(0, 1)
    with pytest.raises(TypeError, match=r"^exponential: expected an integer .* for shape"):
        R.exponential(1.0, (2,))
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
