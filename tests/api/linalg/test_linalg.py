"""Linear algebra: values beside NumPy and SciPy, batches, what is empty, and what goes wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from support.each import each
from support.matrices import DTYPES, adjoint, close, hermitian, numbers, positive

import pullback as pb
from pullback import _core

la = pb.linalg


# --- values

SQUARE = ((3, 3), (1, 1), (0, 0), (2, 3, 3), (2, 2, 4, 4), (0, 3, 3))
SHAPES = (*SQUARE, (5, 3), (3, 5), (2, 4, 2), (0, 3), (3, 0), (2, 0, 3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_square(shape: tuple[int, ...], dtype: str) -> None:
    a, p = numbers(shape, dtype), positive(shape, dtype)
    b = numbers((*shape[:-1], 2), dtype, 1)
    close(la.cholesky(p), np.linalg.cholesky(p))
    close(la.cholesky(p, upper=True), adjoint(np.linalg.cholesky(p)))
    close(la.solve(p, b), np.linalg.solve(p, b))
    close(la.inv(p), np.linalg.inv(p))
    close(la.det(a), np.linalg.det(a), 10)
    sign, size = la.slogdet(a)
    close(sign, np.linalg.slogdet(a)[0])
    close(size, np.linalg.slogdet(a)[1], 10)
    w, v = la.eigh(hermitian(a))
    close(w, np.linalg.eigvalsh(hermitian(a)))
    close(la.eigvalsh(hermitian(a)), np.linalg.eigvalsh(hermitian(a)))
    close((v * _core.cast(w, v.dtype)[..., None, :]) @ pb.conj(v.mT), hermitian(a))
    w, v = la.eig(a)
    assert v.dtype == np.result_type(dtype, "complex64")
    close(v * w[..., None, :], (a + 0 * v.numpy()) @ v.numpy(), 10)
    close(la.vector_norm(v, axis=-2), np.ones(shape[:-1], pb.real(v).numpy().dtype))
    theirs = np.linalg.eigvals(a)
    for ours in (w, la.eigvals(a)):
        distance = np.abs(ours.numpy()[..., None] - theirs[..., None, :])
        close(distance.min(-1, initial=9.0), np.zeros(shape[:-1]), 10)
    close(la.matrix_power(a, 3), a @ a @ a, 10)


@each("dtype", DTYPES)
@each("shape", SHAPES)
def test_any_shape(shape: tuple[int, ...], dtype: str) -> None:
    a = numbers(shape, dtype)
    m, n = shape[-2:]
    k = min(m, n)
    for mode in ("reduced", "complete"):
        q, r = la.qr(a, mode=mode)  # type: ignore[arg-type]
        assert (q.shape[-1], r.shape[-2]) == ((k, k) if mode == "reduced" else (m, m))
        close(q @ r, a)
        close(
            pb.conj(q.mT) @ q,
            np.broadcast_to(np.eye(q.shape[-1]), (*shape[:-2], *q.shape[-1:] * 2)),
        )
        close(r, np.triu(r.numpy()))
    for full in (False, True):
        u, s, vh = la.svd(a, full_matrices=full)
        assert (u.shape[-1], vh.shape[-2]) == ((m, n) if full else (k, k))
        close((u[..., :k] * _core.cast(s, u.dtype)[..., None, :]) @ vh[..., :k, :], a)
        close(
            pb.conj(u.mT) @ u,
            np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], *u.shape[-1:] * 2)),
        )
    if k:
        close(la.svdvals(a), np.linalg.svd(a, compute_uv=False))
        close(la.cond(a), np.linalg.cond(a), 1e4)
        assert la.matrix_rank(a).numpy().tolist() == np.linalg.matrix_rank(a).tolist()
    p, lower, upper = la.lu(a)
    close(p @ lower @ upper, a)
    close(lower, np.tril(lower.numpy()))
    if len(shape) == 2 and k:
        for ours, theirs in zip((p, lower, upper), scipy.linalg.lu(a), strict=True):
            close(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@each("trans", [0, "N", 1, "T", 2, "C"])
@each("lower", [False, True])
@each("unit", [False, True])
def test_triangles(dtype: str, trans: Any, lower: bool, unit: bool) -> None:
    a = numbers((4, 4), dtype) + 4 * np.eye(4, dtype=dtype)
    for b in (numbers((4, 3), dtype), numbers((4,), dtype)):
        expected = scipy.linalg.solve_triangular(a, b, trans, lower, unit)
        close(la.solve_triangular(a, b, trans, lower, unit), expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_triangles_of_many_right_hand_sides(dtype: str) -> None:
    """They are cut into pieces, the same for any number of threads."""
    a = (numbers((2, 70, 70), dtype) / 70 + np.eye(70)).astype(dtype)
    b = numbers((2, 70, 150), dtype)
    before = pb.num_threads()
    found = []
    for threads in (1, 2, 3):
        pb.set_num_threads(threads)
        found.append(la.solve_triangular(a, b, lower=True).numpy())
    pb.set_num_threads(before)
    expected = [scipy.linalg.solve_triangular(x, y, lower=True) for x, y in zip(a, b, strict=True)]
    close(found[0], np.stack(expected))
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    a[1, 3, 3] = 0
    with pytest.raises(np.linalg.LinAlgError, match="place 1 of the batch is singular"):
        la.solve_triangular(a, b).numpy()


def test_factors_serve_further_equations() -> None:
    a, b = positive((2, 3, 3), "float64"), numbers((3, 2), "float64")
    for upper in (False, True):
        c = la.cholesky(a, upper=upper)
        close(la.cho_solve((c, not upper), b), np.linalg.solve(a, np.broadcast_to(b, (2, 3, 2))))


def test_batches_broadcast_and_views_are_taken_as_they_are() -> None:
    a, b = numbers((3, 1, 4, 4), "float64"), numbers((2, 4, 3), "float64")
    close(la.solve(a, b), np.linalg.solve(a, np.broadcast_to(b, (3, 2, 4, 3))))
    close(la.solve(a[0, 0], b[0, :, 0]), np.linalg.solve(a[0, 0], b[0, :, 0]))
    x = pb.constant(a)
    close(la.inv(x[::-1, 0].mT), np.linalg.inv(np.swapaxes(a[::-1, 0], -1, -2)))


def test_dtypes() -> None:
    assert la.inv([[2, 0], [0, 4]]).dtype == "float32"
    assert la.det(np.eye(2, dtype="float16")).dtype == "float16"
    assert la.solve(np.eye(2), np.ones(2, "complex64")).dtype == "complex128"
    assert la.svdvals(np.eye(2, dtype="complex64")).dtype == "float32"
    w, v = la.eigh(np.eye(2, dtype="complex128"))
    assert (w.dtype, v.dtype) == ("float64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms(dtype: str) -> None:
    x, m = numbers((3, 4), dtype), numbers((2, 3, 4), dtype)
    for order in (0, 1, 2, 3, 0.5, -1, -2, np.inf, -np.inf):
        close(la.vector_norm(x, ord=order), np.linalg.vector_norm(x, ord=order), 10)
        for axis in (0, -1):
            close(la.norm(x, order, axis), np.linalg.norm(x, order, axis), 10)
            close(
                la.vector_norm(x, axis=axis, keepdims=True, ord=order),
                np.linalg.vector_norm(x, axis=axis, keepdims=True, ord=order), 10,
            )  # fmt: skip
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        for keepdims in (False, True):
            close(
                la.matrix_norm(m, ord=order, keepdims=keepdims),
                np.linalg.matrix_norm(m, ord=order, keepdims=keepdims),
            )
        close(la.norm(m, order, (2, 0)), np.linalg.norm(m, order, (2, 0)))
        if order != "nuc":
            close(la.cond(m[..., :3], order), np.linalg.cond(m[..., :3], order), 1e4)
    close(la.norm(m), np.linalg.norm(m))


def test_a_norm_overflows_only_where_it_is_too_large() -> None:
    x = pb.Variable(np.array([3e300, 4e300]))
    y = la.vector_norm(x)
    close(y / 1e300, 5.0)
    close(pb.gradients(y, x)[0], [0.6, 0.8])
    close(la.vector_norm(np.array([3e-300, 4e-300])) * 1e300, 5.0)
    for least in (5e-324, 1e-310):  # subnormal numbers
        v = pb.Variable(np.array([3 * least, -4 * least, 0.0]))
        close(la.vector_norm(v) / least, 5.0)
        close(pb.gradients(la.vector_norm(v), v)[0], [0.6, -0.8, 0.0])
    most = np.finfo("float64").max
    v = pb.Variable(np.array([most / 2, -most / 2]))
    close(la.vector_norm(v) / most, 0.5**0.5)
    close(pb.gradients(la.vector_norm(v), v)[0], [0.5**0.5, -(0.5**0.5)])
    for dtype in ("float32", "float64"):
        most = np.finfo(dtype).max
        for order in (2, 3, 0.5):
            norm = la.vector_norm(np.array([most, 0], dtype), ord=order)
            assert 1 - float(norm) / float(most) <= 2 * np.finfo(dtype).eps
    zero = pb.Variable(np.zeros(3))
    for order in (1, 2, 3, np.inf):
        assert not pb.gradients(la.vector_norm(zero, ord=order), zero)[0].numpy().any()


def test_products() -> None:
    a, b, c = (numbers(s, "float64") for s in ((2, 7), (7, 3), (3,)))
    close(la.multi_dot([a, b, c]), np.linalg.multi_dot([a, b, c]))
    close(
        la.matrix_power(positive((3, 3), "float64"), -2),
        np.linalg.matrix_power(positive((3, 3), "float64"), -2),
    )
    assert la.matrix_power(np.ones((2, 3, 3)), 0).numpy().tolist() == [np.eye(3).tolist()] * 2
    x, y = numbers((2, 3, 4), "float64"), numbers((2, 3, 4), "float64", 1)
    close(la.cross(x, y, axis=1), np.cross(x, y, axis=1))
    close(la.cross(x[0, :, 0], y[..., 0]), np.cross(x[0, :, 0], y[..., 0]))


# --- what goes wrong


def test_errors() -> None:
    error = np.linalg.LinAlgError
    for call, text in (
        (lambda: la.inv(np.ones(3)), r"inv: expected a matrix or .* got shape \(3,\)"),
        (lambda: la.cholesky(np.ones((2, 3))), r"cholesky: expected square matrices, .*\(2, 3\)"),
        (lambda: la.matrix_power(np.ones((2, 3)), 2), "matrix_power: expected square"),
        (lambda: la.cholesky(-np.eye(2)).numpy(), "cholesky: the matrix is not positive definite"),
        (lambda: la.cholesky([np.eye(2), -np.eye(2)]).numpy(), "place 1 of the batch"),
        (lambda: la.inv(np.zeros((2, 2))).numpy(), "^inv: the matrix is singular"),
        (lambda: la.solve(np.zeros((2, 2)), np.ones(2)).numpy(), "^solve: the matrix is singular"),
        (
            lambda: pb.grad(lambda a: la.slogdet(a)[1])(np.ones((2, 2))).numpy(),
            "^slogdet: the matrix is singular",
        ),
        (lambda: la.svdvals([[np.nan, 1.0], [1.0, 1.0]]).numpy(), "^svdvals: .* NaN and infinity"),
        (
            lambda: la.eigvalsh([[np.inf, 1.0], [1.0, 1.0]]).numpy(),
            "^eigvalsh: .* NaN and infinity",
        ),
    ):
        with pytest.raises(error, match=text):
            call()
    # Plans are found again by what they compute, and by what their errors say.
    for _ in range(2):
        for call in (lambda: la.solve(np.ones((3, 3)), np.eye(3)), lambda: la.inv(np.ones((3, 3)))):
            name = "solve" if "solve" in call.__code__.co_names else "inv"
            with pytest.raises(error, match=f"^{name}: the matrix is singular"):
                call().numpy()
    for wrong, text in (
        (
            lambda: la.solve(np.eye(3), np.ones(2)),
            r"solve: expected .* 3 rows .*\(3, 3\), got shape \(2,\)",
        ),
        (lambda: la.qr(np.eye(2), mode="raw"), "qr: mode must be one of 'reduced', 'complete'"),  # type: ignore[arg-type]
        (lambda: la.eigh(np.eye(2), "X"), "eigh: UPLO"),  # type: ignore[arg-type]
        (lambda: la.solve_triangular(np.eye(2), np.ones(2), "H"), "solve_triangular: trans"),  # type: ignore[arg-type]
        (lambda: la.norm(np.ones((2, 2)), "max"), "norm: ord must be one of 'fro'"),  # type: ignore[arg-type]
        (
            lambda: la.multi_dot([np.ones((2, 3)), np.ones((2, 3))]),
            r"expected 3 rows for arrays\[1\]",
        ),
        (lambda: la.cross([1.0, 2.0], [1.0, 2.0]), "cross: expected size 3 along axis"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
    x = pb.Variable(np.ones((3, 2)))
    for made in (la.qr(x, mode="complete")[0], la.svd(x)[0]):
        with pytest.raises(NotImplementedError):
            pb.gradients(made, x)


# --- small matrices, which have kernels of their own


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_values_alone_come_in_the_order_of_the_vectors(dtype: str) -> None:
    random = np.random.default_rng(0)
    a = random.normal(size=(3, 150, 150)).astype(dtype)
    w, v = pb.linalg.eig(a)
    w, v = w.numpy(), v.numpy()  # one after the other
    assert np.abs(a @ v - v * w[:, None, :]).max() < 150 * np.finfo(dtype).eps * 150
    np.testing.assert_array_equal(pb.linalg.eigvals(a).numpy(), w)


# --- large ones


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [256, 300])
def test_large_cholesky(n: int, dtype: str) -> None:
    """Rows at a time, which threads share: the same bits for any number, and a zero triangle."""
    p = positive((2, n, n), dtype)
    found = la.cholesky(p).numpy()
    assert (np.triu(found, 1) == 0).all()
    close(found @ adjoint(found), p)
    threads = pb.num_threads()
    try:
        for count in (1, 2, 5):
            pb.set_num_threads(count)
            assert la.cholesky(p[1]).numpy().tobytes() == found[1].tobytes()
    finally:
        pb.set_num_threads(threads)
    p[1, n - 2, n - 2] = -1
    with pytest.raises(np.linalg.LinAlgError, match="at place 1 of the batch is not positive"):
        la.cholesky(p).numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("full", [False, True])
def test_svd_of_what_is_tall(dtype: str, full: bool) -> None:
    for shape in ((22, 12), (11, 6), (12, 7), (2, 40, 3), (5, 1)):
        x = numbers(shape, dtype)
        u, s, vh = (t.numpy() for t in la.svd(x, full_matrices=full))
        close(s, np.linalg.svd(x, compute_uv=False))
        close(la.svdvals(x), s)
        close((u[..., : shape[-1]] * s[..., None, :]) @ vh, x)
        close(
            adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (*shape[:-2], *(u.shape[-1],) * 2))
        )


def test_memory_of_tall_and_wide_matrices() -> None:
    """No square matrix of the larger size (8 MB) is needed."""
    for shape in ((1000, 3), (3, 1000)):
        x = pb.constant(np.random.default_rng(1).normal(size=shape))
        for f in (
            lambda x: pb.linalg.svd(x, full_matrices=False)[0],
            lambda x: pb.linalg.svd(x, full_matrices=False)[2],
            pb.linalg.svdvals,
            lambda x: pb.linalg.lstsq(x, pb.ones(x.shape[0]))[0],
        ):
            _core.reset_peak_bytes()
            before = _core.status()["peak_bytes"]
            f(x).numpy()
            assert _core.status()["peak_bytes"] - before < 1_000_000
