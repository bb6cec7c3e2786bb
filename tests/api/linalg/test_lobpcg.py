"""`lobpcg`: values beside SciPy, derivatives beside `eigh`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg
from support.matrices import hermitian, numbers

import pullback as pb

la = pb.linalg
N, K = 24, 3
OPTIONS = {"tol": 1e-12, "maxiter": 300}


def near(got: Any, want: Any, tolerance: float = 1e-8) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def part(x: Any) -> Any:
    return (x + pb.conj(x).mT) / 2


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("largest", [True, False])
def test_values_and_derivatives(largest: bool, dtype: str) -> None:
    a = hermitian(numbers((N, N), dtype)) + np.diag(np.arange(N))
    start = numbers((N, K), dtype, 1)
    known = scipy.sparse.linalg.lobpcg(a, start, largest=largest, **OPTIONS)[0]
    for given in (a, scipy.sparse.csr_array(a), lambda x: pb.constant(a) @ x):
        w, v = la.lobpcg(given, start, largest=largest, **OPTIONS)
        assert (v.dtype, w.shape) == (dtype, (K,))
        near(w, known)
        near(a @ v.numpy(), v.numpy() * w.numpy())
    weights = numbers((N, K), "float64", 2)
    chosen = slice(N - 1, N - K - 1, -1) if largest else slice(0, K)

    def loss(w: Any, v: Any) -> Any:
        return pb.sum(weights * pb.abs(v) ** 2) + pb.sum(pb.sin(w))

    def ours(a: Any) -> Any:
        return loss(*la.lobpcg(part(a), start, largest=largest, **OPTIONS))

    def theirs(a: Any) -> Any:
        w, v = la.eigh(part(a))
        return loss(w[chosen], v[:, chosen])

    want = pb.grad(theirs)(a).numpy()
    near(pb.grad(ours)(a), want, 1e-6)
    near(pb.function(pb.grad(ours))(a), want, 1e-6)
    batch = pb.vmap(lambda a: la.lobpcg(a, start, largest=largest, **OPTIONS)[0])
    near(batch(np.stack([a, 2 * a])), np.stack([known, 2 * known]))


def test_second_derivatives() -> None:
    a = hermitian(numbers((N, N), "float64")) + np.diag(np.arange(N))
    d = hermitian(numbers((N, N), "float64", 1))
    start = numbers((N, 1), "float64", 2)
    ours = lambda t: la.lobpcg(a + t * d, start, **OPTIONS)[0][0]  # noqa: E731
    theirs = lambda t: la.eigvalsh(a + t * d)[-1]  # noqa: E731
    for order in (1, 2):
        want = pb.derivative(theirs, order)(np.float64(0.1))
        near(pb.derivative(ours, order)(np.float64(0.1)), want, 1e-6)


def test_errors() -> None:
    a, x = np.eye(6), np.ones((6, 1))
    for error, words, call in (
        (ValueError, "fewer columns than rows", lambda: la.lobpcg(a, np.eye(6))),
        (ValueError, "non-negative number for tol", lambda: la.lobpcg(a, x, tol=-1.0)),
        (ValueError, "positive integer for maxiter", lambda: la.lobpcg(a, x, maxiter=0)),
        (ValueError, r"expected shape \(5,\)", lambda: la.lobpcg(np.eye(5), x)),
        (TypeError, "'M'; the iteration has no preconditioner", lambda: la.lobpcg(a, x, M=a)),
    ):  # fmt: skip
        with pytest.raises(error, match=f"lobpcg: .*{words}"):
            call()
