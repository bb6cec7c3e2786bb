"""Functions of matrices, Sylvester equations and pseudo-inverses: values beside SciPy, NumPy and
mpmath, derivatives to second order beside differences, what is empty, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.linalg
from support.each import each
from support.matrices import DTYPES, adjoint, close, numbers, shifted

import pullback as pb

la = pb.linalg


def of_each(f: Callable[[Any], Any], x: Any) -> Any:
    if x.size == 0:
        return x
    wide = x.reshape(-1, *x.shape[-2:]).astype("complex128" if x.dtype.kind == "c" else "float64")
    return np.stack([f(one) for one in wide]).reshape(x.shape)


SQUARE = ((3, 3), (1, 1), (0, 0), (2, 4, 4), (2, 2, 5, 5), (0, 3, 3))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_functions_of_matrices(shape: tuple[int, ...], dtype: str) -> None:
    a, p = numbers(shape, dtype), shifted(shape, dtype)
    for ours, theirs, x in (
        (la.expm, scipy.linalg.expm, a),
        (la.sqrtm, scipy.linalg.sqrtm, p),
        (la.logm, scipy.linalg.logm, p),
    ):
        y = ours(x)
        assert y.dtype == dtype
        close(y, of_each(theirs, x))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("size", [1e-8, 1e-3, 0.1, 0.6, 1.5, 5.0, 30.0, 1e3])
def test_exponentials_of_any_size(size: float, dtype: str) -> None:
    # Of eigenvalues to the left, so that nothing overflows.
    x = numbers((5, 5), dtype)
    x = x - x.T.conj() - np.diag([0.1, 0.2, 0.3, 0.0, 0.5])
    x = (size / np.linalg.norm(x, 1)) * x
    with mpmath.workdps(60):
        known = np.array(mpmath.expm(mpmath.matrix(x.tolist()), method="taylor").tolist())
    known = known.astype("complex128")
    ours = la.expm(x).numpy()
    assert np.abs(ours - known).max() <= 4e-15 * max(1, size) * np.abs(known).max()
    # What is no 1 of it, too.
    assert np.abs((ours - np.eye(5)) - (known - np.eye(5))).max() <= 3e-16 * max(10, 10 * size)


def test_exponentials_of_single_precision_and_of_what_is_far_from_normal() -> None:
    x = numbers((6, 6), "float32")
    for size in (1e-4, 0.3, 1.0, 3.0, 10.0):
        a = (x - x.T) * np.float32(size)
        close(la.expm(a), scipy.linalg.expm(a.astype("float64")), 1 + size)
    a = np.array([[1.0, 1e6], [0.0, -1.0]])  # its norm says nothing
    e = np.exp(1.0)
    known = [[e, 1e6 * np.sinh(1.0)], [0.0, 1 / e]]
    # A triangle stays one: what rounding puts into the zeros is 1e6 times as large in the squares.
    for x, y in ((a, known), (a.T, np.transpose(known))):
        np.testing.assert_allclose(la.expm(x), y, rtol=1e-14)
        np.testing.assert_allclose(la.expm(x.astype("float32")), y, rtol=1e-5)
    np.testing.assert_allclose(la.expm(-1e30 * np.eye(2)), np.zeros((2, 2)))
    assert not np.isfinite(la.expm(1e4 * np.ones((2, 2))).numpy()).any()
    for bad in (np.nan, np.inf):
        assert np.isnan(la.expm(np.array([[bad, 0.0], [0.0, 1.0]])).numpy()).all()


def test_logarithms_and_roots_of_what_is_hard() -> None:
    jordan = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 2.0]])
    close(la.logm(jordan), [[np.log(2), 0.5, -0.125], [0, np.log(2), 0.5], [0, 0, np.log(2)]])
    r = np.sqrt(2.0)
    close(la.sqrtm(jordan), [[r, r / 4, -r / 32], [0, r, r / 4], [0, 0, r]])
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])  # complex eigenvalues, a real logarithm
    close(la.logm(turn), np.pi / 2 * turn)
    close(la.sqrtm(turn), (turn + np.eye(2)) / np.sqrt(2))
    near = np.eye(3) + 1e-9 * numbers((3, 3), "float64")
    close(la.logm(near), near - np.eye(3), 1e9)
    a = numbers((8, 8), "float64")
    for scale in (1e-3, 1.0, 4.0):
        x = scale * (a - a.T) / np.linalg.norm(a, 2) / 2
        close(la.logm(la.expm(x)), x, 10 / min(scale, 1))
    wide = np.diag([1e-12, 1.0, 1e12]) + np.triu(np.ones((3, 3)), 1)
    close(la.sqrtm(wide) @ la.sqrtm(wide), wide)
    close(la.expm(la.logm(wide)), wide, 100)
    close(la.sqrtm(np.zeros((2, 2))), np.zeros((2, 2)))
    close(la.sqrtm(np.diag([0.0, 4.0])), np.diag([0.0, 2.0]))


def test_a_real_matrix_without_a_real_function() -> None:
    x = np.diag([-1.0, 4.0])
    for f in (la.logm, la.sqrtm):
        assert np.isnan(f(x).numpy()).all()
    close(la.sqrtm(x.astype("complex128")), np.diag([1j, 2.0]))
    close(la.logm(x.astype("complex64")), np.diag([1j * np.pi, np.log(4)]))


@each("dtype", DTYPES)
@each("sizes", [(3, 2), (2, 3), (1, 4), (5, 5), (0, 3), (3, 0)])
def test_sylvester(sizes: tuple[int, int], dtype: str) -> None:
    m, n = sizes
    a, b, q = shifted((m, m), dtype), shifted((n, n), dtype, 1), numbers((2, m, n), dtype)
    x = la.solve_sylvester(a, b, q)
    close(a @ x.numpy() + x.numpy() @ b, q)
    if m and n:
        close(x[1], scipy.linalg.solve_sylvester(a, b, q[1]))


@each("dtype", DTYPES)
@each("shape", [(3, 3), (5, 3), (3, 5), (2, 4, 2), (0, 3), (3, 0), (0, 2, 3)])
def test_least_squares(shape: tuple[int, ...], dtype: str) -> None:
    a = numbers(shape, dtype)
    *batch, m, n = shape
    close(la.pinv(a), np.linalg.pinv(a), 10)
    for tail in ((m, 2), (m,)):
        b = numbers(tail, dtype, 1)
        x, residuals, rank, s = la.lstsq(a, b)
        close(x, np.linalg.pinv(a) @ b, 10)
        columns = 2 if len(tail) == 2 else 1
        rest = b.reshape(m, columns) - a @ x.numpy().reshape((*batch, n, columns))
        rest = np.sum(np.abs(rest) ** 2, -2).reshape((*batch, *tail[1:]))
        np.testing.assert_allclose(residuals, rest, rtol=1e-5, atol=1e-10)
        assert rank.numpy().tolist() == np.full(batch, min(m, n)).tolist()
        close(s, np.linalg.svd(a, compute_uv=False) if a.size else np.zeros((*batch, min(m, n))))
        if len(shape) == 2 and m > n > 0 and len(tail) == 2:
            for ours, theirs in zip((x, residuals, rank, s), np.linalg.lstsq(a, b), strict=True):
                close(ours, theirs, 10)


@each("dtype", DTYPES)
@each("shape", [(40, 40), (90, 30), (30, 90), (3, 40, 20)])
def test_large_least_squares(shape: tuple[int, ...], dtype: str) -> None:
    """With full rank, with less, and with a tolerance that removes singular values."""
    full = numbers(shape, dtype)
    *batch, m, n = shape
    k = min(m, n) // 2
    low = numbers((*batch, m, k), dtype, 1) @ numbers((*batch, k, n), dtype, 2)
    s = np.linalg.svd(full, compute_uv=False)
    between = (s[..., k - 1] + s[..., k]) / (2 * s[..., 0])
    b = numbers((*batch, m, 2), dtype, 3)
    for a, rtol, rank in ((full, None, 2 * k), (low, 1e-4, k), (full, between, k)):
        expected = np.linalg.pinv(a, rtol=1e-10 if rtol is None else rtol)
        close(la.pinv(a, rtol=rtol), expected, 100)
        x, _, ranks, _ = la.lstsq(a, b, rtol)
        close(x, expected @ b, 100)
        assert (ranks.numpy() == rank).all()
        w = numbers(x.shape, dtype, 4)
        g = pb.grad(lambda b, a=a, w=w, rtol=rtol: pb.sum(pb.real(la.lstsq(a, b, rtol).x * w)))(b)
        close(g, adjoint(expected) @ np.conj(w), 100)


@each("dtype", ["float32", "float64"])
def test_least_squares_of_ill_conditioned_matrices(dtype: str) -> None:
    """No less accurate than by singular values: the error is at most that of the condition."""
    unit = np.finfo(dtype).eps
    for n in (3, 4, 5, 6):
        a = scipy.linalg.hilbert(n).astype(dtype)
        x = np.ones(n, dtype)
        b = (a.astype("longdouble") @ x).astype(dtype)
        solution = la.lstsq(a, b, rcond=0.0)[0].numpy()
        assert np.linalg.norm(solution - x) <= 10 * unit * np.linalg.cond(a.astype("float64")) * n
    assert np.isfinite(la.lstsq(np.diag([1e200, 1e-200]), np.ones(2), rcond=0.0)[0].numpy()).all()
    for size in (1e-300, 1e300):  # whose squares underflow or overflow
        a = size * np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 1.0]])
        close(la.pinv(a) * size, np.linalg.pinv(a / size))


def test_what_counts_as_no_rank() -> None:
    a = np.diag([1.0, 1e-3, 0.0]) @ np.ones((3, 1)) + np.diag([3.0, 1e-3, 0.0])
    close(la.pinv(a), np.linalg.pinv(a))
    close(la.pinv(np.diag([2.0, 1e-3]), rtol=1e-2), np.diag([0.5, 0.0]))
    batch = np.stack([np.diag([2.0, 1e-3])] * 2)
    close(la.pinv(batch, rtol=[1e-2, 1e-6])[1], np.diag([0.5, 1e3]))
    x, _, rank, _ = la.lstsq(np.diag([2.0, 1e-3]), np.ones(2), rcond=1e-2)
    close(x, [0.5, 0.0])
    assert int(rank) == 1
    close(la.pinv(np.zeros((2, 3))), np.zeros((3, 2)))


def test_tensors() -> None:
    a, b = numbers((4, 6, 8, 3), "float64"), numbers((4, 6), "float64")
    close(la.tensorinv(a), np.linalg.tensorinv(a), 100)
    close(la.tensorsolve(a, b), np.linalg.tensorsolve(a, b), 100)
    c = numbers((2, 3, 6), "complex128")
    close(la.tensorsolve(c, b[0], axes=(0, 1)), np.linalg.tensorsolve(c, b[0], axes=(0, 1)), 100)
    close(la.tensorinv(numbers((6, 2, 3), "float32"), ind=1).shape, (2, 3, 6))


def test_dtypes() -> None:
    assert la.expm([[1, 2], [3, 4]]).dtype == "float32"
    assert la.sqrtm(np.eye(2, dtype="float16")).dtype == "float16"
    assert la.pinv(np.eye(2, dtype="float16")).dtype == "float16"
    assert la.solve_sylvester(np.eye(2, dtype="float32"), np.eye(2), [[1j]] * 2 @ np.ones((1, 2))
                              ).dtype == "complex128"  # fmt: skip
    x, residuals, rank, s = la.lstsq(np.eye(2, dtype="complex64"), np.ones(2, "complex64"))
    assert [y.dtype.name for y in (x, residuals, rank, s)] == [
        "complex64", "float32", "int64", "float32",
    ]  # fmt: skip


# --- derivatives

rank_one = numbers((3, 1), "float64") @ numbers((1, 4), "float64")
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[str], list[Any]]]] = {
    "expm": (la.expm, lambda t: [numbers((3, 3), t)]),
    "expm small": (la.expm, lambda t: [1e-3 * numbers((2, 2), t)]),
    "expm large": (lambda x: la.expm(x) / 100, lambda t: [2 * numbers((3, 3), t)]),
    "logm": (la.logm, lambda t: [shifted((3, 3), t)]),
    "sqrtm": (la.sqrtm, lambda t: [shifted((3, 3), t)]),
    "batches": (lambda x: [la.logm(x), la.expm(x)], lambda t: [shifted((2, 2, 2), t)]),
    "sylvester": (
        la.solve_sylvester,
        lambda t: [shifted((3, 3), t), shifted((2, 2), t, 1), numbers((3, 2), t)],
    ),
    "pinv tall": (la.pinv, lambda t: [numbers((4, 2), t)]),
    "pinv wide": (la.pinv, lambda t: [numbers((2, 4), t)]),
    "pinv square": (la.pinv, lambda t: [shifted((3, 3), t)]),
    "lstsq tall": (lambda *x: la.lstsq(*x)[:2], lambda t: [numbers((4, 2), t), numbers((4,), t)]),
    "lstsq of its columns": (lambda *x: la.lstsq(*x)[:2], lambda t: [numbers((4, 2), t)] * 2),
    "lstsq wide": (lambda *x: la.lstsq(*x).x, lambda t: [numbers((2, 4), t), numbers((2,), t)]),
    "equal singular values": (la.pinv, lambda t: [np.eye(3, 2).astype(t)]),
    # Among matrices of its rank.
    "rank one": (
        lambda u, v, b: la.lstsq(u @ v, b, rcond=1e-8).x,
        lambda t: [numbers((3, 1), t), numbers((1, 4), t), numbers((3, 2), t)],
    ),
    "tensorinv": (
        lambda x: la.tensorinv(x, ind=1), lambda t: [shifted((4, 4), t).reshape(4, 2, 2)],
    ),
    "tensorsolve": (
        la.tensorsolve, lambda t: [shifted((4, 4), t).reshape(4, 2, 2), numbers((4,), t)],
    ),
}  # fmt: skip


def tensors(made: Any) -> list[Any]:
    return list(made) if isinstance(made, (list, tuple)) else [made]


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str, dtype: str) -> None:
    f, arguments = FUNCTIONS[name]
    xs = arguments(dtype)
    pb.testing.check_gradients(lambda *x: tensors(f(*x)), *xs)
    # Forwards: the other side of the same sum.
    ds = [numbers(x.shape, dtype, 5) for x in xs]
    ys, tangents = pb.jvp(lambda *x: tensors(f(*x)), xs, ds)
    ws = [numbers(y.shape, str(y.dtype), 6) for y in ys]
    _, pull = pb.vjp(lambda *x: tensors(f(*x)), *xs)
    gs = pull(ws)
    gs = gs if isinstance(gs, (list, tuple)) else [gs]

    def inner(a: Any, b: Any) -> float:
        return sum(
            float(np.sum(np.conj(x) * np.asarray(y)).real) for x, y in zip(a, b, strict=True)
        )

    assert inner(ws, tangents) == pytest.approx(inner(ds, gs), rel=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_under_vmap_and_inside_of_a_function(name: str) -> None:
    f, arguments = FUNCTIONS[name]

    def loss(*xs: Any) -> Any:
        return sum(pb.sum(pb.sin(y)) for y in tensors(f(*xs)))

    with_gradients = pb.value_and_grad(loss, argnums=tuple(range(len(arguments("float64")))))
    several = [
        [x + 1e-2 * seed * numbers(x.shape, "float64", seed) for x in arguments("float64")]
        for seed in range(3)
    ]
    rows = [with_gradients(*xs) for xs in several]
    stacked = [np.stack(xs) for xs in zip(*several, strict=True)]
    if name == "equal singular values":
        return
    for run in (pb.vmap(with_gradients), pb.function(pb.vmap(with_gradients))):
        value, gs = run(*stacked)
        close(value, [float(row[0]) for row in rows], 100)
        for k, g in enumerate(gs):
            close(g, np.stack([np.asarray(row[1][k]) for row in rows]), 1e3)


def test_gradients_in_other_dtypes_and_sizes() -> None:
    x = numbers((3, 3), "float32") / 2
    g = pb.grad(lambda x: pb.sum(la.expm(x)))(x)
    assert g.dtype == "float32"
    close(g, pb.grad(lambda x: pb.sum(la.expm(x)))(x.astype("float64")).numpy(), 3)
    for f in (la.expm, la.logm, la.sqrtm, la.pinv):
        assert pb.grad(lambda x, f=f: pb.sum(f(x)))(np.zeros((2, 0, 0))).shape == (2, 0, 0)
    zero = np.zeros((3, 3))
    close(pb.grad(lambda x: pb.sum(la.expm(x)))(zero), np.ones((3, 3)))
    # An upstream gradient of another size does not matter.
    for size in (1e-200, 1e-8, 1e8, 1e200):
        g = pb.grad(lambda x, size=size: size * pb.sum(la.expm(x)))(x.astype("float64"))
        close(g / size, pb.grad(lambda x: pb.sum(la.expm(x)))(x.astype("float64")).numpy())


# --- what goes wrong


def test_a_failed_decomposition_names_the_function_that_was_called() -> None:
    x = pb.constant([[np.nan, 1.0], [1.0, 2.0]])
    for who, call in (
        ("svd", lambda: la.svd(x)),
        ("svd", lambda: la.svd(x, compute_uv=False)),
        ("svdvals", lambda: la.svdvals(x)),
        ("eigh", lambda: la.eigh(x)),
        ("eigvalsh", lambda: la.eigvalsh(x)),
        ("eigvalsh", lambda: la.eigvalsh(x, b=np.eye(2))),
        ("eig", lambda: la.eig(x)),
        ("eigvals", lambda: la.eigvals(x)),
        ("cond", lambda: la.cond(x)),
        ("norm", lambda: la.norm(x, 2)),
        ("matrix_norm", lambda: la.matrix_norm(x, ord="nuc")),
        ("matrix_rank", lambda: la.matrix_rank(x)),
        ("polar", lambda: la.polar(x)),
    ):
        with pytest.raises(np.linalg.LinAlgError, match=f"^{who}: the decomposition"):
            pb.evaluate(call())


def test_errors() -> None:
    error = np.linalg.LinAlgError
    nilpotent = np.array([[0.0, 1.0], [0.0, 0.0]])
    x = pb.Variable(np.diag([0.0, 1.0]))
    for call, text in (
        (lambda: la.expm(np.ones(3)), r"expm: expected a matrix or .* got shape \(3,\)"),
        (lambda: la.logm(np.ones((2, 3))), r"logm: expected square matrices, .*\(2, 3\)"),
        (lambda: la.logm(np.diag([0.0, 1.0])).numpy(), "logm: the matrix is singular"),
        (lambda: la.sqrtm([np.eye(2), nilpotent]).numpy(), "sqrtm: the matrix at place 1 of the"),
        (
            lambda: la.sqrtm([[np.nan]]).numpy(),
            "sqrtm: the decomposition of the matrix did not converge",
        ),
        (lambda: pb.gradients(pb.sum(la.sqrtm(x * x)), x)[0].numpy(), "sqrtm: the equation has no"),
        (
            lambda: la.solve_sylvester(np.eye(2), -np.eye(2), np.ones((3, 2, 2))).numpy(),
            "solve_sylvester: the equation at place 0 of the batch has no unique solution",
        ),
        (lambda: la.pinv([[np.nan]]).numpy(), "NaN and infinity"),
        (lambda: la.tensorinv(np.zeros((2, 2)), ind=1).numpy(), "^tensorinv: the matrix is sing"),
        (lambda: la.tensorinv(np.ones((2, 3)), ind=1), r"tensorinv: expected as many .*\(2, 3\)"),
        (
            lambda: la.tensorsolve(np.ones((2, 3)), np.ones(2)),
            "tensorsolve: expected 2 × 2 elements for a",
        ),
    ):
        with pytest.raises(error, match=text):
            call()
    for wrong, text in (
        (
            lambda: la.solve_sylvester(np.eye(2), np.eye(3), np.eye(2)),
            r"expected shape .*2, 3\) for q",
        ),
        (lambda: la.lstsq(np.eye(2), np.ones(3)), "lstsq: expected 2 rows for b"),
        (
            lambda: la.lstsq(np.ones((2, 3, 3)), np.ones((4, 3, 1))),
            "lstsq: expected batches whose shapes broadcast",
        ),
        (lambda: la.tensorinv(np.eye(2), ind=0), "tensorinv: expected an integer > 0 for ind"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
