"""Minimal residuals, and iterative methods on sparse matrices: values, derivatives, failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from support.matrices import DTYPES, close, hermitian, numbers

import pullback as pb

la = pb.linalg


def indefinite(n: int, dtype: str) -> Any:
    return (hermitian(numbers((n, n), dtype)) + 0.5 * np.diag((-1.0) ** np.arange(n))).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values(dtype: str) -> None:
    single = np.finfo(dtype).eps > 1e-10
    for n in (1, 5, 40):
        a, b = indefinite(n, dtype), numbers((n,), dtype, 1)
        rtol = 1e-5 if single else 1e-12
        for given in (a, scipy.sparse.csr_array(a), lambda x, a=a: pb.constant(a) @ x):
            x, info = la.minres(given, b, rtol=rtol, shift=0.25)
            assert x.dtype == dtype
            assert int(info) == 0
            rest = np.linalg.norm((a - 0.25 * np.eye(n)) @ x.numpy() - b)
            assert rest <= 1.2 * rtol * np.linalg.norm(b)
    near = la.minres(a, b, x0=x, rtol=rtol, shift=0.25)
    assert int(near.info) == 0


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives(dtype: str) -> None:
    def solution(a: Any, b: Any, shift: Any) -> Any:
        return la.minres((a + pb.conj(a).mT) / 2, b, rtol=1e-14, shift=pb.real(shift)).x

    a, b = indefinite(5, dtype), numbers((5,), dtype, 1)
    pb.testing.check_gradients(solution, a, b, np.float64(0.25), order=2)
    g = pb.grad(lambda b: pb.sum(pb.abs(solution(a, b, 0.25))))
    known = pb.grad(lambda b: pb.sum(pb.abs(la.solve(a - 0.25 * np.eye(5), b))))
    close(g(b), known(b).numpy(), 100)
    close(pb.function(g)(b), known(b).numpy(), 100)
    close(pb.vmap(g)(pb.constant(np.stack([b, 2 * b])))[1], known(2 * b).numpy(), 100)


def test_singular_equations() -> None:
    x, info = la.minres(np.diag([1.0, 0.0]), np.array([1.0, 1.0]))
    assert int(info) > 0
    close(x[:1], [1.0], 10)
    assert abs(x.numpy()[1]) < 10
    x, info = la.minres(np.zeros((2, 2)), np.ones(2))
    assert int(info) > 0
    close(x, np.zeros(2))
    x, info = la.minres(np.diag([1.0, 0.0, 2.0]), np.array([1.0, 0.0, 1.0]), rtol=1e-12)
    assert int(info) == 0
    close(x, [1.0, 0.0, 0.5])
    x, info = la.minres(np.eye(2), np.array([np.nan, 1.0]))
    assert int(info) > 0
    assert np.isnan(x.numpy()).all()


def test_sparse_matrices() -> None:
    a = scipy.sparse.csr_array(indefinite(6, "float64"))
    positive = scipy.sparse.csc_array((a @ a) + 1e-2 * scipy.sparse.eye_array(6))
    b = numbers((6,), "float64", 1)
    for method, matrix in ((la.cg, positive), (la.gmres, a), (la.minres, a)):
        x, info = method(matrix, b, rtol=1e-12)
        assert int(info) == 0
        close(x, np.linalg.solve(matrix.toarray(), b), 1e4)
        g = pb.grad(lambda b, f=method, m=matrix: pb.sum(f(m, b, rtol=1e-13).x))(b)
        close(g, np.linalg.solve(matrix.toarray().T, np.ones(6)), 1e5)
        with pytest.raises(ValueError, match="expected a square matrix for A and a vector"):
            method(matrix, b[:3])


def test_errors() -> None:
    a, b = np.eye(2), np.ones(2)
    for call, error, text in (
        (lambda: la.minres(a, b, shift=1j), TypeError, "minres: expected a real number for shift"),
        (lambda: la.minres(a, b, shift=b), ValueError, "minres: expected a scalar for shift"),
        (lambda: la.minres(a, b, maxiter=0), ValueError, "minres: .* for maxiter, got 0"),
        (lambda: la.minres(a, b, rtol=-1.0), ValueError, "minres: .* for rtol"),
    ):
        with pytest.raises(error, match=text):
            call()
