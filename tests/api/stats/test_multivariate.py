"""Distributions of vectors and matrices beside SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_stats = pytest.importorskip("scipy.stats")


def both(name: str) -> tuple[Any, Any]:
    return getattr(pb.stats, name), getattr(scipy_stats, name)


def near(got: Any, want: Any, rtol: float = 2e-12, atol: float = 0.0) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=rtol, atol=atol)


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
