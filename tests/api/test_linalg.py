"""Linear algebra: values beside NumPy and SciPy, derivatives to second order and in both directions
beside differences, batches, vmap, what is empty, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import pullback as pb
from pullback import _core

la = pb.linalg
DTYPES = ("float32", "float64", "complex64", "complex128")


def numbers(shape: Sequence[int], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([seed, *shape])
    x = rng.normal(size=tuple(shape))
    return (x + 1j * rng.normal(size=tuple(shape)) if dtype[0] == "c" else x).astype(dtype)


def adjoint(x: Any) -> Any:
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(x: Any) -> Any:
    return (x + adjoint(x)) / 2


def positive(shape: Sequence[int], dtype: str, seed: int = 0) -> Any:
    x = numbers(shape, dtype, seed)
    return x @ adjoint(x) + 3 * np.eye(shape[-1], dtype=dtype)


def close(ours: Any, theirs: Any, factor: float = 1.0) -> None:
    ours = ours.numpy() if hasattr(ours, "numpy") else np.asarray(ours)
    assert ours.shape == np.shape(theirs)
    eps = np.finfo(ours.dtype).eps if ours.dtype.kind in "fc" else 0.0
    largest = np.abs(theirs).max(initial=1.0)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=200 * factor * eps * largest)


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
    close(la.matrix_power(a, 3), a @ a @ a, 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
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
@pytest.mark.parametrize("trans", [0, "N", 1, "T", 2, "C"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles(dtype: str, trans: Any, lower: bool, unit: bool) -> None:
    a = numbers((4, 4), dtype) + 4 * np.eye(4, dtype=dtype)
    for b in (numbers((4, 3), dtype), numbers((4,), dtype)):
        expected = scipy.linalg.solve_triangular(a, b, trans, lower, unit)
        close(la.solve_triangular(a, b, trans, lower, unit), expected)


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


# --- derivatives

Function = Callable[..., Any]


def conj_t(x: Any) -> Any:
    return pb.conj(x.mT) if x.dtype.kind == "c" else x.mT


def projector(v: Any) -> Any:
    return v @ conj_t(v)


def scaled(v: Any, w: Any) -> Any:
    return v * _core.cast(w, v.dtype)[..., None, :]


# What a decomposition is free to choose, signs and phases, must not count.
FUNCTIONS: dict[str, tuple[Function, str]] = {
    "cholesky": (la.cholesky, "p"),
    "cholesky upper": (lambda a: la.cholesky(a, upper=True), "p"),
    "solve": (la.solve, "ab"),
    "inv": (la.inv, "a"),
    "det": (la.det, "a"),
    "slogdet": (lambda a: la.slogdet(a)[1], "a"),
    "lu": (lambda a: list(la.lu(a)[1:]), "a"),
    "matrix_power": (lambda a: la.matrix_power(a, -3), "p"),
    "qr square": (lambda a: [conj_t(la.qr(a)[1]) @ la.qr(a)[1]], "a"),
    "qr tall": (lambda a: [projector(la.qr(a)[0]), projector(conj_t(la.qr(a)[1]))], "t"),
    "qr wide": (lambda a: [projector(conj_t(la.qr(a)[1]))], "w"),
    "svdvals": (la.svdvals, "w"),
    "svd tall": (
        lambda a: (lambda u, s, vh: [s, scaled(u, pb.sin(s)) @ vh, projector(u[:, :1])])(
            *la.svd(a, full_matrices=False)
        ),
        "t",
    ),
    "svd wide": (
        lambda a: (lambda u, s, vh: [scaled(u, pb.exp(-s)) @ vh, projector(conj_t(vh[1:2]))])(
            *la.svd(a, full_matrices=False)
        ),
        "w",
    ),
    "svd square": (lambda a: (lambda u, s, vh: [u @ vh])(*la.svd(a)), "a"),
    "eigvalsh": (la.eigvalsh, "h"),
    "eigh": (
        lambda a: (lambda w, v: [scaled(v, pb.sin(w)) @ conj_t(v), projector(v[:, :1])])(
            *la.eigh(a)
        ),
        "h",
    ),
    "eigh upper": (lambda a: la.eigh(a, "U")[0], "h"),
    "norm": (la.norm, "t"),
    "nuclear": (lambda a: la.matrix_norm(a, ord="nuc"), "t"),
    "spectral": (lambda a: la.matrix_norm(a, ord=2), "w"),
    "vector_norm 3": (lambda a: la.vector_norm(a, ord=3, axis=0), "a"),
    "cond": (la.cond, "a"),
}  # fmt: skip
for _trans in "NTC":
    for _lower in (False, True):
        FUNCTIONS[f"solve_triangular {_trans} {_lower}"] = (
            lambda a, b, t=_trans, lower=_lower: la.solve_triangular(a, b, t, lower), "db",
        )  # fmt: skip


def arguments(kinds: str, dtype: str) -> list[Any]:
    made = {
        "a": lambda: numbers((3, 3), dtype),
        "b": lambda: numbers((3, 2), dtype),
        "d": lambda: numbers((3, 3), dtype) + 4 * np.eye(3),
        "p": lambda: positive((3, 3), dtype),
        "h": lambda: hermitian(numbers((3, 3), dtype)),
        "t": lambda: numbers((4, 2), dtype),
        "w": lambda: numbers((2, 4), dtype),
    }
    return [made[kind]() for kind in kinds]


def directions(kinds: str, xs: list[Any], seed: int) -> list[Any]:
    out = [numbers(x.shape, str(x.dtype), seed) for x in xs]
    return [hermitian(d) if k in "ph" else d for k, d in zip(kinds, out, strict=True)]


def loss_of(function: Function) -> Function:
    """A real number in which every entry of the results has a weight of its own."""

    def loss(*xs: Any) -> Any:
        results = function(*xs)
        total = 0.0
        for k, y in enumerate(results if isinstance(results, (list, tuple)) else [results]):
            weight = numbers(y.shape, str(y.dtype), 7 + k)
            total = total + pb.sum(
                pb.real(pb.conj(weight) * y) if y.dtype.kind == "c" else weight * y
            )
        return total

    return loss


def inner(a: Sequence[Any], b: Sequence[Any]) -> float:
    return sum(float(np.sum(np.real(np.conj(x) * y))) for x, y in zip(a, b, strict=True))


def slope(f: Callable[[float], float]) -> float:
    """By central differences of two steps, extrapolated."""
    h = 1e-3
    coarse, fine = ((f(s) - f(-s)) / (2 * s) for s in (h, h / 2))
    return (4 * fine - coarse) / 3


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str, dtype: str) -> None:
    function, kinds = FUNCTIONS[name]
    loss = loss_of(function)
    xs = arguments(kinds, dtype)
    d, e = (directions(kinds, xs, seed) for seed in (3, 4))

    def moved(by: list[Any], step: float) -> list[Any]:
        return [x + step * y for x, y in zip(xs, by, strict=True)]

    def gradient(at: list[Any]) -> list[Any]:
        variables = [pb.Variable(x) for x in at]
        return [g.numpy() for g in pb.gradients(loss(*variables), variables)]

    first = inner(gradient(xs), d)
    assert first == pytest.approx(slope(lambda s: float(loss(*moved(d, s)))), rel=1e-7, abs=1e-8)
    _, tangent = pb.jvp(loss, xs, d)
    assert float(tangent) == pytest.approx(first, rel=1e-9, abs=1e-10)

    variables = [pb.Variable(x) for x in xs]
    gs = pb.gradients(loss(*variables), variables)
    along = sum(pb.sum(pb.real(pb.conj(y) * g)) for g, y in zip(gs, d, strict=True))
    second = [
        np.zeros_like(x) if g is None else g.numpy()
        for g, x in zip(pb.gradients(along, variables), xs, strict=True)
    ]
    expected = slope(lambda s: inner(gradient(moved(e, s)), d))
    assert inner(second, e) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    "name", ["cholesky", "solve", "inv", "det", "slogdet", "qr tall", "svdvals", "eigh"]
)
def test_vmap_and_function_are_a_loop(name: str) -> None:
    function, kinds = FUNCTIONS[name]
    stacked = [
        np.stack([x, 1.5 * x, x + 0.5 * x.T @ x if x.shape[0] == x.shape[1] else 2 * x])
        for x in arguments(kinds, "float64")
    ]
    if "h" in kinds or "p" in kinds:
        stacked = [hermitian(x) for x in stacked]
    loss = loss_of(function)
    for f in (loss, pb.grad(loss)):
        rows = [f(*row).numpy() for row in zip(*stacked, strict=True)]
        close(pb.vmap(f)(*stacked), np.stack(rows), 50)
        close(pb.vmap(pb.function(f))(*stacked), np.stack(rows), 50)


def test_inside_of_a_loop_and_a_checkpoint() -> None:
    a, b = positive((3, 3), "float64") / 9, numbers((3,), "float64")

    def steps(a: Any) -> Any:
        return pb.scan(lambda x, _: (la.solve(a, x), None), b, length=3)[0]

    plain = la.solve(a, la.solve(a, la.solve(a, b)))
    close(steps(a), plain.numpy())
    expected = pb.grad(lambda a: pb.sum(la.solve(a, la.solve(a, la.solve(a, b)))))(a)
    close(pb.grad(lambda a: pb.sum(steps(a)))(a), expected.numpy())
    close(pb.grad(pb.checkpoint(lambda a: pb.sum(steps(a))))(a), expected.numpy())


def test_one_factorisation_serves_all() -> None:
    x, b = positive((3, 3), "float64"), numbers((3, 2), "float64")

    def factorised(f: Callable[[Any], Any]) -> int:
        a = pb.Variable(x)
        y = f(a)
        asked = [y, *pb.gradients(y, a)]
        steps = _core.recorded_steps(lambda: pb.evaluate(asked))
        return sum(name == "lu" for _, name, *_ in steps)

    assert factorised(lambda a: pb.sum(la.solve(a, b))) == 1
    assert factorised(lambda a: la.slogdet(a)[1]) == 1
    assert factorised(lambda a: pb.sum(la.solve(a, b)) + la.slogdet(a)[1]) == 1


def test_determinants_of_singular_matrices() -> None:
    x = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    v = pb.Variable(x)
    y = la.det(v)
    assert float(y) == pytest.approx(0, abs=1e-14)
    cofactors = np.array([
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1)) for j in range(3)]
        for i in range(3)
    ])  # fmt: skip
    close(pb.gradients(y, v)[0], cofactors)
    zero = pb.Variable(np.array([[0.0, 1.0], [0.0, 0.0]]))
    close(pb.gradients(la.det(zero), zero)[0], [[0.0, 0.0], [-1.0, 0.0]])


def test_equal_eigenvalues() -> None:
    x = pb.Variable(np.eye(3))
    w, v = la.eigh(x)
    close(pb.gradients(pb.sum(pb.exp(w)), x)[0], np.e * np.eye(3))
    assert np.isnan(pb.gradients(v[0, 0] + v[1, 0], x)[0].numpy()).any()
    close(pb.gradients(pb.sum(la.svdvals(x)), x)[0], np.eye(3))


# --- what goes wrong


def test_errors() -> None:
    error = np.linalg.LinAlgError
    for call, text in (
        (lambda: la.inv(np.ones(3)), r"inv: expected a matrix, .* got shape \(3,\)"),
        (lambda: la.cholesky(np.ones((2, 3))), r"cholesky: expected square matrices, .*\(2, 3\)"),
        (lambda: la.matrix_power(np.ones((2, 3)), 2), "matrix_power: expected square"),
        (lambda: la.cholesky(-np.eye(2)).numpy(), "cholesky: the matrix is not positive definite"),
        (lambda: la.cholesky([np.eye(2), -np.eye(2)]).numpy(), "place 1 of the batch"),
        (lambda: la.inv(np.zeros((2, 2))).numpy(), "^inv: the matrix is singular"),
        (lambda: la.solve(np.zeros((2, 2)), np.ones(2)).numpy(), "^solve: the matrix is singular"),
        (lambda: la.svdvals([[np.nan, 1.0], [1.0, 1.0]]).numpy(), "svd: .* NaN or infinity"),
        (lambda: la.eigvalsh([[np.inf, 1.0], [1.0, 1.0]]).numpy(), "eigh: .* NaN or infinity"),
    ):
        with pytest.raises(error, match=text):
            call()
    for wrong, text in (
        (lambda: la.solve(np.eye(3), np.ones(2)), r"solve: .*\(3, 3\).*\(2,\) do not go together"),
        (lambda: la.qr(np.eye(2), mode="raw"), "qr: mode: expected one of 'reduced', 'complete'"),  # type: ignore[arg-type]
        (lambda: la.eigh(np.eye(2), "X"), "eigh: UPLO"),  # type: ignore[arg-type]
        (lambda: la.solve_triangular(np.eye(2), np.ones(2), "H"), "solve_triangular: trans"),  # type: ignore[arg-type]
        (lambda: la.norm(np.ones((2, 2)), "max"), "norm: ord: expected 'fro'"),  # type: ignore[arg-type]
        (lambda: la.multi_dot([np.ones((2, 3)), np.ones((2, 3))]), r"arrays\[1\] has 2 rows"),
        (lambda: la.cross([1.0, 2.0], [1.0, 2.0]), "cross: expected 3 entries"),
    ):
        with pytest.raises(ValueError, match=text):
            wrong()
    x = pb.Variable(np.ones((3, 2)))
    for made in (la.qr(x, mode="complete")[0], la.svd(x)[0], la.lu(x)[1]):
        with pytest.raises(NotImplementedError):
            pb.gradients(made, x)
