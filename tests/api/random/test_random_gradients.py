"""Gradients of draws by their parameters are those of the quantiles."""

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
    with pytest.raises(
        NotImplementedError,
        match="a draw of gamma: expected at most second derivatives by its conc",
    ):
        pb.grad(lambda a: pb.sum(pb.grad(lambda b: pb.sum(pb.grad(total)(b)))(a)))(at)


# --- parameters without meaning, sizes of 0
