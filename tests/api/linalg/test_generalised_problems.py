"""Polar factors and generalised eigenvalues: values of SciPy, derivatives beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from support.matrices import DTYPES, adjoint, close, hermitian, numbers, positive

import pullback as pb

la = pb.linalg


def part(x: Any) -> Any:
    return (x + pb.conj(x).mT) / 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_polar_values(dtype: str) -> None:
    for shape in ((3, 3), (4, 2), (2, 4), (1, 1)):
        many = numbers((2, *shape), dtype)
        for side in ("right", "left"):
            u, p = la.polar(many, side)
            theirs = scipy.linalg.polar(many[1], side)
            assert u.dtype == p.dtype == dtype
            close(u[1], theirs[0], 10)
            close(p[1], theirs[1], 10)
            close(pb.vmap(lambda x, s=side: la.polar(x, s).u)(pb.constant(many)), u.numpy(), 10)
    assert la.polar(np.ones((0, 2))).p.shape == (2, 2)
    assert la.polar(np.eye(2, dtype="float16")).u.dtype == "float16"


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_polar_derivatives(shape: tuple[int, ...], dtype: str) -> None:
    a = numbers(shape, dtype)
    pb.testing.check_gradients(lambda a: list(la.polar(a)), a, order=2)
    pb.testing.check_gradients(lambda a: list(la.polar(a, "left")), a)
    d = numbers(shape, dtype, 5)
    slope = (scipy.linalg.polar(a + 1e-6 * d)[1] - scipy.linalg.polar(a - 1e-6 * d)[1]) / 2e-6
    moved = pb.jvp(lambda a: la.polar(a).p, (a,), (d,))[1]
    np.testing.assert_allclose(moved, slope, atol=1e-8)


def test_polar_of_equal_singular_values() -> None:
    pb.testing.check_gradients(lambda a: list(la.polar(a)), np.eye(3, 2), order=2)
    with pytest.raises(np.linalg.LinAlgError, match="no unique solution"):
        pb.grad(lambda a: pb.sum(la.polar(a).u))(np.ones((2, 2))).numpy()
    with pytest.raises(np.linalg.LinAlgError, match="polar: "):
        la.polar(np.full((2, 2), np.nan)).u.numpy()
    with pytest.raises(ValueError, match="polar: side must be one of"):
        la.polar(np.eye(2), "up")


@pytest.mark.parametrize("dtype", DTYPES)
def test_generalised_eigenvalues(dtype: str) -> None:
    a = hermitian(numbers((2, 3, 3), dtype))
    b = positive((3, 3), dtype, 2).astype(dtype)
    w, v = la.eigh(a, b=b)
    known = scipy.linalg.eigh(a[1], b, eigvals_only=True)
    assert v.dtype == dtype
    close(w[1], known)
    v = v.numpy()[1]
    close(adjoint(v) @ b @ v, np.eye(3), 10)
    close(a[1] @ v, b @ v * w[1].numpy(), 10)
    # Only one triangle is read.
    for which, keep in (("L", np.tril), ("U", np.triu)):
        close(la.eigvalsh(keep(a), which, b=keep(b)), w)
    close(pb.vmap(lambda x: la.eigvalsh(x, b=b))(pb.constant(a)), w)
    assert la.eigh(np.eye(2, dtype="float16"), b=np.eye(2)).eigenvalues.dtype == "float64"
    assert la.eigvalsh(np.eye(2, dtype="float16"), b=[[2, 0], [0, 1]]).dtype == "float16"


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_generalised_derivatives(dtype: str) -> None:
    a, b = hermitian(numbers((3, 3), dtype)), positive((3, 3), dtype, 2)
    pb.testing.check_gradients(lambda a, b: la.eigvalsh(part(a), b=part(b)), a, b, order=2)
    pb.testing.check_gradients(
        lambda a, b: pb.abs(la.eigh(part(a), "U", b=part(b)).eigenvectors), a, b, order=2
    )
    for x, f in ((a, lambda x: la.eigvalsh(x, b=b)), (b, lambda x: la.eigvalsh(a, "U", b=x))):
        g = pb.grad(lambda x, f=f: f(x)[0])(x)
        close(g, hermitian(g.numpy()), 10)
        close(g, pb.grad(lambda x, f=f: f(part(x))[0])(x).numpy(), 10)


def test_generalised_errors() -> None:
    with pytest.raises(ValueError, match="eigh: expected matrices of one size for x and b"):
        la.eigh(np.eye(2), b=np.eye(3))
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        la.eigvalsh(np.eye(2), b=-np.eye(2)).numpy()
    with pytest.raises(np.linalg.LinAlgError, match="equal"):
        f = pb.grad(lambda a: pb.sum(la.eigh(a, b=pb.eye(2), degenerate="error").eigenvectors))
        f(np.eye(2, dtype="float32")).numpy()
