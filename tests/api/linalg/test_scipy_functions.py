"""`expm_multiply`, `funm`, `ldl` and `lsqr` beside SciPy, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_linalg = pytest.importorskip("scipy.linalg")
sparse = pytest.importorskip("scipy.sparse")
sparse_linalg = pytest.importorskip("scipy.sparse.linalg")
random = np.random.default_rng(11)
N = 5
MATRIX = random.normal(size=(N, N))
COMPLEX = MATRIX + 1j * random.normal(size=(N, N))
VECTOR = random.normal(size=N)


def near(got: Any, want: Any, tolerance: float = 1e-11) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def in_all_modes(f: Any, *args: Any, tolerance: float = 1e-11) -> None:
    """Compare a function of arrays in a trace, a batch, a scan and in forward mode."""
    want = f(*args).numpy()
    near(pb.function(f)(*args), want, tolerance)
    stacks = [np.stack([x, 0.5 * x]) for x in args]
    rows = np.stack([want, f(*(0.5 * x for x in args)).numpy()])
    near(pb.vmap(f)(*stacks), rows, tolerance)
    near(pb.scan(lambda c, xs: (c, f(*xs)), np.float64(0), tuple(stacks))[1], rows, tolerance)
    tangents = tuple(random.normal(size=x.shape) for x in args)
    along = pb.jvp(f, args, tangents)[1]
    weight = random.normal(size=want.shape)
    slopes = pb.vjp(f, *args)[1](weight)
    total = sum(float(pb.sum(s * t)) for s, t in zip(slopes, tangents, strict=True))
    near(float(pb.sum(weight * along)), total, 1e-7)
    slope = pb.grad(lambda *xs: pb.sum(weight * f(*xs)))
    near(pb.vmap(slope)(*stacks), np.stack([slope(*(x[k] for x in stacks)) for k in (0, 1)]), 1e-7)


def test_expm_multiply() -> None:
    for a in (MATRIX, 20 * MATRIX, COMPLEX, -30 * np.eye(N) + MATRIX, np.zeros((N, N))):
        for b in (VECTOR, random.normal(size=(N, 2))):
            want = scipy_linalg.expm(a) @ b
            scale = np.abs(want).max()
            near(np.asarray(pb.linalg.expm_multiply(a, b)) / scale, want / scale, 1e-11)
    banded = sparse.diags([VECTOR, VECTOR[:-1], VECTOR[1:]], [0, 1, -1]).tocsr() * 9
    near(
        pb.linalg.expm_multiply(banded, VECTOR) / 1e4,
        scipy_linalg.expm(banded.toarray()) @ VECTOR / 1e4,
    )
    for options in ({"num": 4}, {"num": 3, "endpoint": False}, {}):
        got = pb.linalg.expm_multiply(MATRIX, VECTOR, 0.5, 2.0, **options)
        near(got, sparse_linalg.expm_multiply(MATRIX, VECTOR, 0.5, 2.0, **options))
    single = pb.linalg.expm_multiply(MATRIX.astype(np.float32), VECTOR.astype(np.float32))
    assert single.dtype == np.float32
    near(single, scipy_linalg.expm(MATRIX) @ VECTOR, 1e-4)
    in_all_modes(pb.linalg.expm_multiply, MATRIX, VECTOR)
    pb.testing.check_gradients(pb.linalg.expm_multiply, MATRIX, VECTOR, order=2)
    pb.testing.check_gradients(pb.linalg.expm_multiply, COMPLEX, VECTOR)
    pb.testing.check_gradients(
        lambda a, b, t: pb.linalg.expm_multiply(a, b, 0.0, t, 3), MATRIX, VECTOR, np.float64(1.5)
    )
    near(pb.grad(lambda b: pb.sum(pb.linalg.expm_multiply(banded, b)))(VECTOR),
         scipy_linalg.expm(banded.toarray()).sum(0), 1e-8)  # fmt: skip
    with pytest.raises(TypeError, match=r"expm_multiply: .*both start and stop"):
        pb.linalg.expm_multiply(MATRIX, VECTOR, 0.0)
    with pytest.raises(ValueError, match=r"expm_multiply: .*5 entries for B"):
        pb.linalg.expm_multiply(MATRIX, VECTOR[:3])
    with pytest.raises(TypeError, match="traceA"):
        pb.linalg.expm_multiply(MATRIX, VECTOR, traceA=1.0)


def test_funm() -> None:
    for a in (MATRIX, COMPLEX, np.stack([MATRIX, MATRIX.T])):
        near(pb.linalg.funm(a, pb.exp), pb.linalg.expm(a))
        near(pb.linalg.funm(a, lambda z: z**3 - z), pb.linalg.matrix_power(a, 3) - a, 1e-10)
    near(pb.linalg.funm(MATRIX, pb.sin), scipy_linalg.sinm(MATRIX))
    in_all_modes(lambda a: pb.linalg.funm(a, pb.sin), MATRIX)
    pb.testing.check_gradients(lambda a: pb.linalg.funm(a, pb.sin), MATRIX, order=2)
    pb.testing.check_gradients(lambda a: pb.linalg.funm(a, pb.exp), COMPLEX)
    # Equal eigenvalues with a basis of eigenvectors.
    symmetric = np.diag([1.0, 1.0, 2.0]) + 0.0
    cube = lambda a: pb.linalg.funm(a, lambda z: z**3)  # noqa: E731
    without_basis = [[[1.0, 1], [0, 1]], [[1, 1e-6], [0, 1]], [[0, 1], [0, 0]], [[2.0, 1], [1, 3]]]
    made = cube(np.array(without_basis)).numpy()
    assert np.isnan(made[:3]).all()
    near(made[3], np.linalg.matrix_power(without_basis[3], 3))
    assert np.isnan(pb.grad(lambda a: pb.sum(cube(a)))(np.array(without_basis))[:3]).all()
    near(pb.jacobian(cube)(symmetric), pb.jacobian(lambda a: a @ a @ a)(symmetric), 1e-9)
    with pytest.raises(ValueError, match="funm: expected shape"):
        pb.linalg.funm(MATRIX, pb.sum)


def test_ldl() -> None:
    indefinite = MATRIX + MATRIX.T
    indefinite[0, 0] = 0.0
    for a in (indefinite, COMPLEX + COMPLEX.conj().T, MATRIX @ MATRIX.T):
        for lower in (True, False):
            want = scipy_linalg.ldl(a, lower)
            got = pb.linalg.ldl(a, lower)
            for one, other in zip(got, want, strict=True):
                near(one, other)
            near(got.lu @ got.d @ pb.conj(got.lu).mT, a)
    assert np.abs(np.diag(scipy_linalg.ldl(indefinite)[1], -1)).max() > 0  # a block of two rows
    for lower in (True, False):
        part = lambda a, lower=lower: pb.linalg.ldl(a + a.mT, lower)  # noqa: E731
        both = lambda a, part=part: pb.concat(part(a)[:2], 0)  # noqa: E731
        pb.testing.check_gradients(both, indefinite / 2, order=2)
        in_all_modes(both, indefinite / 2)
    singular = np.diag([1.0, 0.0, 2.0])
    near(pb.grad(lambda a: pb.sum(pb.linalg.ldl(a).d))(singular), np.eye(3))
    complex_part = lambda a: pb.concat(pb.linalg.ldl(a + pb.conj(a).mT)[:2], 0)  # noqa: E731
    pb.testing.check_gradients(complex_part, COMPLEX)
    batch = pb.linalg.ldl(np.stack([indefinite, MATRIX @ MATRIX.T]))
    near(batch.d[1], pb.linalg.ldl(MATRIX @ MATRIX.T).d)
    with pytest.raises(NotImplementedError, match="hermitian=False"):
        pb.linalg.ldl(COMPLEX, hermitian=False)
    with pytest.raises(np.linalg.LinAlgError, match="ldl"):
        pb.linalg.ldl(np.full((2, 2), np.nan)).d.numpy()


def test_lsqr_of_nan_is_no_success() -> None:
    for a, b in (
        (np.eye(2), [np.nan, 1.0]),
        (np.eye(2), [np.inf, 1]),
        (np.eye(2) * np.nan, [1, 2]),
    ):
        got = pb.linalg.lsqr(a, np.array(b, float))
        assert int(got.istop) == 7 and np.isnan(got.x).any()


def test_lsqr() -> None:
    tall, b = random.normal(size=(8, 4)), random.normal(size=8)
    wide = tall.T.copy()
    tight = {"atol": 1e-14, "btol": 1e-14}
    for a, right, damp in ((tall, b, 0.0), (tall, b, 0.7), (wide, b[:4], 0.0), (wide, b[:4], 0.3)):
        want = sparse_linalg.lsqr(a, right, damp, **tight)
        got = pb.linalg.lsqr(a, right, damp, **tight)
        near(got.x, want[0], 1e-10)
        assert int(got.istop) in (1, 2) and len(got) == 9
        near(got.r1norm, want[3], 1e-9)
        near(got.r2norm, want[4], 1e-9)
    usual, want = pb.linalg.lsqr(tall, b), sparse_linalg.lsqr(tall, b)
    near(usual.x, want[0], 1e-9)
    assert (int(usual.istop), int(usual.itn)) == want[1:3]
    for one, other in zip(usual[3:], want[3:9], strict=True):
        near(one, other, 1e-6)
    near(pb.linalg.lsqr(sparse.csr_array(tall), b, **tight).x, np.linalg.lstsq(tall, b)[0], 1e-10)
    start = random.normal(size=4)
    got = pb.linalg.lsqr(lambda x: pb.constant(tall) @ x, b, 0.7, x0=start, **tight)
    near(got.x, sparse_linalg.lsqr(tall, b, 0.7, x0=start, **tight)[0], 1e-10)
    assert int(pb.linalg.lsqr(tall, np.zeros(8)).istop) == 0
    assert int(pb.linalg.lsqr(tall, b, iter_lim=1).istop) == 7
    z = tall + 1j * random.normal(size=(8, 4))
    near(pb.linalg.lsqr(z, b + 0j, **tight).x, np.linalg.lstsq(z, b + 0j)[0], 1e-10)


def test_derivatives_of_lsqr() -> None:
    tall, b, start = random.normal(size=(8, 4)), random.normal(size=8), random.normal(size=4)

    def f(a: Any, b: Any) -> Any:
        return pb.linalg.lsqr(a, b, atol=1e-15, btol=1e-15).x

    def damped(a: Any, b: Any, damp: Any, x0: Any) -> Any:
        return pb.linalg.lsqr(a, b, damp, atol=1e-15, btol=1e-15, x0=x0).x

    pb.testing.check_gradients(f, tall, b, order=2)
    pb.testing.check_gradients(damped, tall, b, np.float64(0.7), start, order=2)
    pb.testing.check_gradients(damped, tall.T.copy(), b[:4], np.float64(0.7), b)
    exact = lambda a, b: pb.linalg.lstsq(a, b)[0]  # noqa: E731
    near(pb.jacobian(f)(tall, b), pb.jacobian(exact)(tall, b), 1e-8)
    in_all_modes(f, tall, b, tolerance=1e-9)
    scale = np.array([1.0, 2.0, 3.0, 4.0])
    on = lambda s: pb.linalg.lsqr(lambda x: pb.constant(tall) @ (s * x), b, x0=np.zeros(4)).x  # noqa: E731
    pb.testing.check_gradients(on, scale)
    # The solution of least norm, next to x0 if it is given, of more unknowns than equations.
    wide, some = tall.T.copy(), b[:4]
    near(pb.jacobian(f)(wide, some), pb.jacobian(exact)(wide, some), 1e-8)
    tangents = random.normal(size=wide.shape), random.normal(size=4)
    near(*(pb.jvp(g, (wide, some), tangents)[1] for g in (f, exact)), 1e-8)
    nearest = lambda a, b, x0: damped(a, b, 0.0, x0)  # noqa: E731
    pb.testing.check_gradients(nearest, wide, some, b, order=2)
    # Without full column rank there is no derivative.
    flat = np.concatenate([tall, tall[:, :1]], 1)
    assert np.isnan(pb.grad(lambda b: f(flat, b)[0])(b).numpy()).all()


def test_errors_of_lsqr() -> None:
    for error, words, args, options in (
        (ValueError, "a vector of its rows", (MATRIX, VECTOR[:2]), {}),
        (TypeError, "expected an initial guess for x0", (lambda x: x, VECTOR), {}),
        (ValueError, "positive integer for iter_lim", (MATRIX, VECTOR), {"iter_lim": 0}),
        (ValueError, "non-negative", (MATRIX, VECTOR), {"atol": -1.0}),
        (TypeError, "calc_var", (MATRIX, VECTOR), {"calc_var": True}),
        (ValueError, "expected dtype float64 and shape", (lambda x: x[:2], VECTOR), {"x0": VECTOR}),
    ):  # fmt: skip
        with pytest.raises(error, match=f"lsqr: .*{words}"):
            pb.linalg.lsqr(*args, **options)
