"""Selected eigenvalues: values beside SciPy, derivatives beside `eigh` and differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from support.matrices import DTYPES, adjoint, close, hermitian, numbers

import pullback as pb

la = pb.linalg
N, K = 9, 3


def part(x: Any) -> Any:
    return (x + pb.conj(x).mT) / 2


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", ["LM", "LA", "SA", "BE"])
def test_values(which: Any, dtype: str) -> None:
    a = hermitian(numbers((N, N), dtype))
    if dtype[0] == "c" and which == "BE":
        with pytest.raises(ValueError, match="eigsh: expected a real map for which='BE'"):
            la.eigsh(a, K, which=which)
        return
    known = np.sort(scipy.sparse.linalg.eigsh(a.astype("complex128"), K, which=which)[0]
                    if dtype[0] == "c" else
                    scipy.sparse.linalg.eigsh(a.astype("float64"), K, which=which)[0])  # fmt: skip
    for given in (a, scipy.sparse.csr_array(a), lambda x: pb.constant(a) @ x):
        w, v = la.eigsh(given, K, which=which, v0=np.ones(N, dtype))
        assert v.dtype == dtype
        close(w, known, 10)
        close(a @ v.numpy(), v.numpy() * w.numpy(), 10)
        close(adjoint(v.numpy()) @ v.numpy(), np.eye(K), 10)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("which", ["LA", "SA"])
def test_derivatives_are_those_of_eigh(which: Any, dtype: str) -> None:
    a, d = hermitian(numbers((N, N), dtype)), hermitian(numbers((N, N), dtype, 1))
    weights = numbers((N, K), "float64", 2)
    chosen = slice(N - K, N) if which == "LA" else slice(0, K)

    def loss(w: Any, v: Any) -> Any:
        return pb.sum(weights * pb.abs(v) ** 2) + pb.sum(pb.sin(w))

    def ours(a: Any) -> Any:
        return loss(*la.eigsh(part(a), K, which=which))

    def theirs(a: Any) -> Any:
        w, v = la.eigh(part(a))
        return loss(w[chosen], v[:, chosen])

    close(pb.grad(ours)(a), pb.grad(theirs)(a).numpy(), 100)
    close(pb.jvp(ours, (a,), (d,))[1], pb.jvp(theirs, (a,), (d,))[1].numpy(), 100)
    close(pb.function(pb.grad(ours))(a), pb.grad(theirs)(a).numpy(), 100)
    if dtype == "float64":
        close(pb.hvp(ours, (a,), (d,))[0], pb.hvp(theirs, (a,), (d,))[0].numpy(), 1000)


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("which", ["LM", "BE"])
def test_derivatives_of_other_choices(which: Any) -> None:
    a = hermitian(numbers((N, N), "float64"))
    assert (la.eigsh(a, K, which=which).eigenvalues.numpy() < 0).any()
    pb.testing.check_gradients(lambda a: list(la.eigsh(part(a), K, which=which)), a, order=2)


def test_functions_with_parameters() -> None:
    n = 150
    t = np.arange(1.0, n + 1) + 0.1 * numbers((n,), "float64")

    def total(t: Any) -> Any:
        def on(x: Any) -> Any:
            return t * x + 0.3 * (pb.roll(x, 1) + pb.roll(x, -1))

        w, v = la.eigsh(on, 2, which="LA", v0=np.ones(n))
        return pb.sum(w) + pb.sum(v[:, 0] ** 4)

    g = pb.grad(total)(t).numpy()
    for at in (149, 148):
        d = np.zeros(n)
        d[at] = 1e-4
        slope = (total(t + d) - total(t - d)).numpy() / 2e-4
        np.testing.assert_allclose(g[at], slope, rtol=1e-6, atol=1e-9)
    many = pb.vmap(lambda s: la.eigsh(lambda x: s * t * x, 2, v0=np.ones(n)).eigenvalues)
    close(many(pb.constant([1.0, 2.0], "float64"))[1], 2 * np.sort(t)[-2:], 100)
    _, ys = pb.scan(lambda c, s: (c, la.eigsh(lambda x: s * t * x, 1, v0=np.ones(n))[0]),
                    pb.constant(0.0), np.array([1.0, 3.0]))  # fmt: skip
    close(ys[1], 3 * t.max(keepdims=True), 100)


def test_multiple_eigenvalues() -> None:
    a = np.diag([1.0, 2.0, 3.0, 5.0, 5.0])
    # The sum of both values has a gradient, the projector on their vectors for k = 2.
    g = pb.grad(lambda a: pb.sum(la.eigsh(a, 2).eigenvalues))(a)
    close(g, np.diag([0.0, 0, 0, 1, 1]), 10)
    weights = numbers((5,), "float64")
    for k in (1, 2):  # the other one is computed, or is not
        g = pb.grad(lambda a, k=k: pb.sum(weights * la.eigsh(a, k).eigenvectors[:, 0]))(a)
        assert np.isnan(g.numpy()).any()


def test_errors() -> None:
    a = np.eye(4)
    for call, error, text in (
        (lambda: la.eigsh(a, 4), ValueError, "expected k from 1 to 3 for 4 rows, got 4"),
        (lambda: la.eigsh(a, 1, which="SM"), ValueError, "eigsh: which must be one of"),  # type: ignore[arg-type]
        (lambda: la.eigsh(lambda x: x, 1), TypeError, "expected a vector for v0 if A is a func"),
        (lambda: la.eigsh(a, 2, ncv=2), ValueError, "expected ncv from 3 to 4, got 2"),
        (lambda: la.eigsh(a, 2, maxiter=0), ValueError, "positive integer for maxiter, got 0"),
        (lambda: la.eigsh(a, 2, tol=-1.0), ValueError, "non-negative number for tol"),
        (lambda: la.eigsh(a[:3], 1), np.linalg.LinAlgError, "expected a square matrix"),
        (lambda: la.eigsh(a, 1, v0=np.ones(3)), ValueError, "expected shape .4,. for v0"),
        (
            lambda: la.eigsh(lambda x: x[:2], 1, v0=np.ones(3)),
            ValueError,
            "expected shape .3,., that of v0",
        ),
        (
            lambda: la.eigsh(np.nan * a, 1).eigenvalues.numpy(),
            np.linalg.LinAlgError,
            "eigsh: A returned NaN or infinity",
        ),
    ):
        with pytest.raises(error, match=text):
            call()


def test_rules_in_copied_graphs() -> None:
    many = np.stack([hermitian(numbers((N, N), "float64", k)) for k in range(3)])
    weights = np.arange(float(N))

    def loss(a: Any) -> Any:
        w, v = la.eigsh(part(a), 2, which="LA")
        return pb.sum(v[:, 0] ** 2 * weights) + pb.sum(w**2)

    def theirs(a: Any) -> Any:
        w, v = la.eigh(part(a))
        return pb.sum(v[:, -2] ** 2 * weights) + pb.sum(w[-2:] ** 2)

    known = np.stack([pb.grad(theirs)(a).numpy() for a in many])
    close(pb.vmap(pb.grad(loss))(many), known, 1000)
    close(pb.grad(lambda many: pb.sum(pb.vmap(loss)(many)))(many), known, 1000)

    def by_scan(many: Any) -> Any:
        return pb.scan(lambda c, a: (c + loss(a), 0.0), pb.constant(0.0, "float64"), many)[0]

    close(pb.function(pb.grad(by_scan))(many), known, 1000)
    second = pb.vmap(pb.hessian(loss))(many[:1])[0]
    np.testing.assert_allclose(second, pb.hessian(theirs)(many[0]), atol=1e-8)
