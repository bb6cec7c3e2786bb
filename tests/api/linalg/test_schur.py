"""`schur` beside SciPy, with gradients beside finite differences and eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_linalg = pytest.importorskip("scipy.linalg")
random = np.random.default_rng(6)
N = 5
REAL = np.triu(random.normal(size=(N, N)), 1) + np.diag([1.0, -2.0, 3.0, 5.0, 0.2])
TURN = np.linalg.qr(random.normal(size=(N, N)))[0]
REAL = TURN @ REAL @ TURN.T  # of real eigenvalues
ANY = random.normal(size=(N, N))
COMPLEX = ANY + 1j * random.normal(size=(N, N))


def near(got: Any, want: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_values_are_those_of_scipy() -> None:
    for a in (REAL, ANY, COMPLEX):
        for output in ("real", "complex"):
            t, z = pb.linalg.schur(a, output)
            for one, other in zip((t, z), scipy_linalg.schur(a, output), strict=True):
                near(np.abs(one.numpy()), np.abs(other), 1e-9)
            near(z @ t @ pb.conj(z).mT, a)
            near(pb.conj(z).mT @ z, np.eye(N))
    near(pb.linalg.schur(np.stack([REAL, ANY])).T[1], pb.linalg.schur(ANY).T)
    assert pb.linalg.schur(ANY.astype(np.float32), "complex").T.dtype == np.complex64
    assert pb.linalg.schur(np.zeros((0, 0))).T.shape == (0, 0)


def test_gradients() -> None:
    assert np.isreal(np.linalg.eigvals(REAL)).all()
    for k in (0, 1):
        pb.testing.check_gradients(lambda a, k=k: pb.linalg.schur(a)[k], REAL, order=2)
    # Phases are free, so only absolute values are functions of a complex matrix.
    for a in (COMPLEX, REAL + 0j):
        for k in (0, 1):
            pb.testing.check_gradients(
                lambda a, k=k: pb.abs(pb.linalg.schur(a, "complex")[k]) ** 2, a, order=1
            )
    diagonal = lambda a: pb.sum(pb.linalg.diagonal(pb.linalg.schur(a, "complex").T) ** 3)  # noqa: E731
    want = pb.grad(lambda a: pb.linalg.trace(a @ a @ a))(ANY)
    near(pb.grad(lambda a: pb.real(diagonal(a)))(ANY), want, 1e-9)


def test_modes() -> None:
    f = lambda a: pb.linalg.schur(a).T  # noqa: E731
    many, weight = np.stack([REAL, 2 * REAL]), random.normal(size=(N, N))
    loss = lambda a: pb.sum(weight * f(a))  # noqa: E731
    near(pb.function(f)(REAL), f(REAL))
    near(pb.vmap(f)(many), np.stack([f(a).numpy() for a in many]))
    near(pb.vmap(pb.grad(loss))(many), np.stack([pb.grad(loss)(a).numpy() for a in many]))
    near(pb.scan(lambda c, a: (c, f(a)), np.float64(0), many)[1], pb.vmap(f)(many))
    tangent = pb.jvp(loss, (REAL,), (ANY,))[1]
    near(tangent, pb.sum(pb.grad(loss)(REAL) * ANY), 1e-9)


def test_without_derivative() -> None:
    assert (np.linalg.eigvals(ANY).imag != 0).any()
    loss = lambda a: pb.sum(pb.linalg.schur(a).T)  # noqa: E731
    with pytest.raises(np.linalg.LinAlgError, match=r"schur: .*output='complex'"):
        pb.grad(loss)(ANY).numpy()
    assert np.isnan(pb.grad(loss)(np.eye(3)).numpy()).any()
    with pytest.raises(np.linalg.LinAlgError, match="schur: expected finite"):
        pb.linalg.schur(np.full((2, 2), np.nan)).T.numpy()
    with pytest.raises(TypeError, match=r"schur: .*'sort'"):
        pb.linalg.schur(ANY, sort="lhp")
