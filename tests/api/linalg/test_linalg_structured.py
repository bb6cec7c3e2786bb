"""Matrices made of few numbers, equations with few diagonals, by factors that are there, and by
products with the matrix alone: values beside SciPy, derivatives, and what goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse.linalg
from support.matrices import DTYPES, adjoint, close, numbers, shifted

import pullback as pb

la = pb.linalg


# --- matrices made of few numbers


@pytest.mark.parametrize("dtype", [*DTYPES, "int64"])
def test_toeplitz(dtype: str) -> None:
    c, r = (10 * numbers((n,), "float64").astype(dtype) for n in (4, 3))
    for args in ((c,), (c, r), (r, c), (c[:1], r), (c, r[:0])):
        ours = la.toeplitz(*args)
        assert ours.dtype == dtype
        np.testing.assert_array_equal(ours, scipy.linalg.toeplitz(*args))
    both = la.toeplitz(np.stack([c, c + 1]), r)
    np.testing.assert_array_equal(both[1], scipy.linalg.toeplitz(c + 1, r))


def test_blocks() -> None:
    a, b = numbers((2, 3), "float64"), numbers((4, 1), "complex128")
    np.testing.assert_array_equal(
        la.block_diag(a, 2, b, [1, 2]), scipy.linalg.block_diag(a, 2, b, [1, 2])
    )
    np.testing.assert_array_equal(la.block_diag(), scipy.linalg.block_diag())
    np.testing.assert_array_equal(
        la.block_diag(a, np.zeros((0, 2))), scipy.linalg.block_diag(a, np.zeros((0, 2)))
    )
    several = numbers((5, 2, 2), "float64")
    np.testing.assert_array_equal(
        la.block_diag(several, a)[3], scipy.linalg.block_diag(several[3], a)
    )


def test_products() -> None:
    a, b = numbers((3, 4), "float64"), numbers((2, 4), "complex128")
    close(la.khatri_rao(a, b), scipy.linalg.khatri_rao(a, b))
    several = numbers((5, 1, 3, 4), "float64")
    close(la.khatri_rao(several, a)[2, 0], scipy.linalg.khatri_rao(several[2, 0], a))
    assert la.kron is pb.kron


# --- equations with few diagonals


def dense(bands: Any, below: int, n: int) -> Any:
    count = bands.shape[-2]
    out = np.zeros((*bands.shape[:-2], n, n), bands.dtype)
    for i in range(n):
        for j in range(n):
            row = count - 1 - below + i - j
            if 0 <= row < count:
                out[..., i, j] = bands[..., row, j]
    return out


def diagonals(shape: tuple[int, ...], above: int, dtype: str) -> Any:
    bands = numbers(shape, dtype)
    bands[..., above, :] += 4
    return bands


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (0, 2), (1, 1), (2, 1), (1, 3), (3, 3)])
def test_few_diagonals(counts: tuple[int, int], dtype: str) -> None:
    count = sum(counts) + 1
    for n in (6, 4, 1):
        bands = diagonals((2, count, n), counts[1], dtype)
        a = dense(bands, counts[0], n)
        for b in (numbers((n, 3), dtype), numbers((n,), dtype)):
            x = la.solve_banded(counts, bands, b)
            sides = b if b.ndim > 1 else b[:, None]
            found = x.numpy().reshape(2, *sides.shape)
            close(a @ found, np.broadcast_to(sides, found.shape))
            if n > max(counts):
                close(x[1], scipy.linalg.solve_banded(counts, bands[1], b))
    assert la.solve_banded(counts, np.ones((count, 0), dtype), np.ones((0, 2))).shape == (0, 2)


@pytest.mark.parametrize("dtype", DTYPES)
def test_three_diagonals(dtype: str) -> None:
    for n in (1, 2, 7):
        low, middle, high = (numbers((3, n), dtype, seed) for seed in range(3))
        b = numbers((n, 2), dtype)
        a = np.zeros((3, n, n), dtype)
        for i in range(n):
            a[:, i, i] = middle[:, i]
            if i:
                a[:, i, i - 1] = low[:, i]
                a[:, i - 1, i] = high[:, i - 1]
        x = la.tridiagonal_solve(low, middle, high, b)
        close(x, np.linalg.solve(a, np.broadcast_to(b, (3, n, 2))), 100)
        close(la.tridiagonal_solve(low[0], middle[0], high[0], b[:, 0]), x[0, :, 0].numpy(), 10)
    # What needs pivoting.
    close(la.tridiagonal_solve([0.0, 2.0], [0.0, 1.0], [4.0, 0.0], [8.0, 7.0]), [2.5, 2.0])


# --- by factors


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_serve_further_equations(dtype: str) -> None:
    a, b = numbers((2, 5, 5), dtype), numbers((5, 3), dtype)
    factors = la.lu_factor(a)
    for place in range(2):
        lu, piv = scipy.linalg.lu_factor(a[place])
        close(factors.lu[place], lu, 10)
        assert factors.piv.numpy()[place].tolist() == piv.tolist()
    for trans, matrix in (
        (0, a),
        ("N", a),
        (1, a.mT),
        ("T", a.mT),
        (2, adjoint(a)),
        ("C", adjoint(a)),
    ):
        known = np.linalg.solve(matrix, np.broadcast_to(b, (2, 5, 3)))
        close(la.lu_solve(factors, b, trans), known, 100)  # type: ignore[arg-type]
        theirs = scipy.linalg.lu_factor(a[0])
        close(la.lu_solve(theirs, b[:, 0], trans), known[0, :, 0], 100)  # type: ignore[arg-type]
    assert la.lu_factor(np.ones((4, 2))).piv.shape == (2,)
    assert la.lu_solve(la.lu_factor(np.ones((0, 0))), np.ones((0, 2))).shape == (0, 2)


# --- derivatives


def factored(trans: int) -> Callable[..., Any]:
    return lambda a, b: la.lu_solve(la.lu_factor(a), b, trans)


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[str], list[Any]]]] = {
    "toeplitz": (la.toeplitz, lambda t: [numbers((3,), t), numbers((2,), t)]),
    "hermitian toeplitz": (la.toeplitz, lambda t: [numbers((3,), t)]),
    "block_diag": (la.block_diag, lambda t: [numbers((2, 1), t), numbers((2,), t)]),
    "khatri_rao": (la.khatri_rao, lambda t: [numbers((2, 2), t), numbers((3, 2), t)]),
    "solve_banded": (
        lambda ab, b: la.solve_banded((1, 2), ab, b),
        lambda t: [diagonals((4, 4), 2, t), numbers((4, 2), t)],
    ),
    "solve_banded of several": (
        lambda ab, b: la.solve_banded((1, 1), ab, b),
        lambda t: [diagonals((2, 3, 3), 1, t), numbers((3,), t)],
    ),
    "tridiagonal_solve": (
        lambda dl, d, du, b: la.tridiagonal_solve(dl, d + 4, du, b),
        lambda t: [numbers((4,), t, seed) for seed in range(4)],
    ),
    **{
        f"lu_solve {trans}": (factored(trans), lambda t: [shifted((3, 3), t), numbers((3, 2), t)])
        for trans in range(3)
    },
}


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str, dtype: str) -> None:
    f, arguments = FUNCTIONS[name]
    xs = arguments(dtype)
    pb.testing.check_gradients(f, *xs)
    y, tangent = pb.jvp(f, xs, [numbers(x.shape, dtype, 5) for x in xs])
    _, pull = pb.vjp(f, *xs)
    w = numbers(y.shape, dtype, 6)
    gs = pull(w)
    forwards = np.sum(np.conj(w) * tangent.numpy()).real
    backwards = sum(
        np.sum(np.conj(numbers(x.shape, dtype, 5)) * np.asarray(g)).real
        for x, g in zip(xs, gs if isinstance(gs, (list, tuple)) else [gs], strict=True)
    )
    assert forwards == pytest.approx(backwards, rel=1e-10)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_under_vmap(name: str) -> None:
    f, arguments = FUNCTIONS[name]
    several = [[x + seed / 8 for x in arguments("float64")] for seed in range(3)]
    stacked = [np.stack(xs) for xs in zip(*several, strict=True)]

    def loss(*xs: Any) -> Any:
        return pb.sum(pb.sin(f(*xs)))

    grads = pb.grad(loss, argnums=tuple(range(len(stacked))))
    found = pb.function(pb.vmap(grads))(*stacked)
    for k, g in enumerate(found):
        close(g, np.stack([np.asarray(grads(*xs)[k]) for xs in several]), 10)


# --- by products with the matrix alone


def spd(n: int, dtype: str) -> Any:
    a = numbers((n, n), dtype)
    return (a @ adjoint(a) / n + np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["cg", "gmres"])
def test_iterative(name: str, dtype: str) -> None:
    method = getattr(la, name)
    n = 30
    a = spd(n, dtype) if name == "cg" else shifted((n, n), dtype)
    b = numbers((n,), dtype)
    tolerance = 1e-5 if dtype in ("float32", "complex64") else 1e-10
    known = np.linalg.solve(a, b)
    for operator in (a, lambda x: pb.constant(a) @ x):
        for more in ({}, {"x0": known + 1}, {"M": np.diag(1 / np.diag(a))}, {"maxiter": 200}):
            x, info = method(operator, b, rtol=tolerance, **more)
            assert (x.dtype, info.dtype, int(info)) == (dtype, "int64", 0)
            assert np.linalg.norm(b - a @ x.numpy()) <= 3 * tolerance * np.linalg.norm(b)
    x, info = method(a, b, maxiter=1, **({"restart": 2} if name == "gmres" else {}))
    assert int(info) == 1
    x, info = method(a, np.zeros(n, dtype))
    assert int(info) == 0
    assert not x.numpy().any()


@pytest.mark.parametrize("name", ["cg", "gmres"])
def test_iterative_of_nothing_and_of_what_is_no_number(name: str) -> None:
    method = getattr(la, name)
    for x, info in (method(np.eye(0), np.ones(0)), method(lambda x: 2 * x, np.ones((2, 0)))):
        assert (x.size, int(info)) == (0, 0)
    x, info = method(np.eye(2), [np.nan, 1.0])
    assert np.isnan(x.numpy()).all()
    assert int(info) > 0
    assert int(method(np.zeros((2, 2)), np.ones(2)).info) > 0


def test_steps_of_conjugate_gradients_are_those_of_scipy() -> None:
    a, b = spd(12, "float64"), numbers((12,), "float64")
    for steps in (1, 3, 7):
        theirs = scipy.sparse.linalg.cg(a, b, maxiter=steps, rtol=1e-12)
        ours = la.cg(a, b, maxiter=steps, rtol=1e-12)
        close(ours.x, theirs[0], 100)
        assert int(ours.info) == theirs[1]


def test_gmres_stops_where_the_span_holds_the_solution() -> None:
    a = np.diag([1.0, 1.0, 2.0, 2.0, 2.0])
    x, info = la.gmres(a, np.ones(5), rtol=1e-12)
    close(x, [1, 1, 0.5, 0.5, 0.5], 10)
    assert int(info) == 0
    assert int(la.gmres(np.diag([0.0, 1.0]), np.ones(2)).info) > 0


def test_products_of_gmres() -> None:
    """A cycle ends as soon as its residual is small enough; stalled cycles end the iteration."""
    calls = 0

    def product(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return np.array([1.0, 1.0, 2.0, 2.0, 3.0]) * x

    a = pb.numpy_function(product, lambda x: x, vjp=lambda primals, upstream: upstream[0])
    x, info = la.gmres(a, np.ones(5), rtol=1e-12)
    pb.evaluate([x, info])
    close(x, [1, 1, 0.5, 0.5, 1 / 3], 10)
    assert (int(info), calls) == (0, 4)  # one for the residual
    shift = np.roll(np.eye(6), 1, 0)  # no cycle of fewer than 6 products reduces the residual
    assert int(la.gmres(shift, np.eye(6)[0], restart=5).info) == 3
    assert int(la.gmres(shift, np.eye(6)[0], restart=6, rtol=1e-12).info) == 0


@pytest.mark.usefixtures("along_directions")
def test_derivatives_of_iterative_solutions() -> None:
    n = 4
    a, b, d = spd(n, "float64"), numbers((n,), "float64"), numbers((n,), "float64", 1)

    def by_cg(a: Any, b: Any, d: Any) -> Any:
        matrix = (a + a.mT) / 2
        return la.cg(lambda x: matrix @ x + d**2 * x, b, rtol=1e-14).x

    def by_gmres(a: Any, b: Any) -> Any:
        return la.gmres(a, b, rtol=1e-14).x

    def exact(a: Any, b: Any, d: Any) -> Any:
        return la.solve((a + a.mT) / 2 + pb.diag(d**2), b)

    pb.testing.check_gradients(by_cg, a, b, d)
    pb.testing.check_gradients(by_gmres, shifted((4, 4), "float64"), b[:4])
    ours, theirs = (
        pb.grad(lambda *x, f=f: pb.sum(pb.sin(f(*x))), argnums=(0, 1, 2))(a, b, d)
        for f in (by_cg, exact)
    )
    for one, other in zip(ours, theirs, strict=True):
        close(one, other.numpy(), 1e3)
    ours, theirs = (pb.jvp(f, (a, b, d), (a, d, b))[1] for f in (by_cg, exact))
    close(ours, theirs.numpy(), 1e3)
    c = shifted((4, 4), "complex128")
    z = numbers((4,), "complex128")
    ours, theirs = (
        pb.grad(lambda c, z, f=f: pb.sum(pb.abs(f(c, z))), argnums=(0, 1))(c, z)
        for f in (by_gmres, la.solve)
    )
    for one, other in zip(ours, theirs, strict=True):
        close(one, other.numpy(), 1e3)


def test_iterative_solutions_for_several_and_of_what_is_read() -> None:
    a, bs = spd(5, "float64"), numbers((3, 5), "float64")
    w = pb.Variable(2.0, dtype="float64")

    def scaled(x: Any) -> Any:
        return w * (pb.constant(a) @ x)

    for method in (la.cg, la.gmres):

        def solved(b: Any, method: Any = method) -> Any:
            return method(scaled, b, rtol=1e-13).x

        many = pb.vmap(solved)(bs)
        close(many, np.linalg.solve(2 * a, bs.T).T, 100)
        close(pb.function(solved)(bs[0]), many[0].numpy(), 100)
        x = solved(bs[0])
        close(pb.gradients(pb.sum(x), w)[0], -np.sum(x.numpy()) / 2, 100)
        grads = pb.vmap(pb.grad(lambda b, solved=solved: pb.sum(solved(b) ** 2)))(bs)
        one = pb.grad(lambda b, solved=solved: pb.sum(solved(b) ** 2))(bs[1])
        close(grads[1], one.numpy(), 100)
    image = numbers((4, 4), "float64")
    x, info = la.cg(
        lambda x: 3 * x - pb.roll(x, 1, axis=0) - pb.roll(x, -1, axis=0), image, rtol=1e-12
    )
    assert (x.shape, int(info)) == ((4, 4), 0)


# --- what goes wrong


def test_errors() -> None:
    error = np.linalg.LinAlgError
    for call, text in (
        (
            lambda: la.solve_banded((1, 1), np.zeros((4, 3, 3)), np.ones(3)).numpy(),
            "solve_banded: the matrix at place 0 of the batch is singular",
        ),
        (
            lambda: la.tridiagonal_solve(*np.zeros((3, 3)), np.ones(3)).numpy(),
            "tridiagonal_solve: the matrix is singular",
        ),
        (
            lambda: la.lu_solve(la.lu_factor(np.zeros((2, 2))), np.ones(2)).numpy(),
            "lu_solve: the matrix is singular",
        ),
        (lambda: la.khatri_rao(np.ones(3), np.ones((3, 3))), "khatri_rao: expected a matrix"),
        (lambda: la.lu_factor(np.ones(3)), "lu_factor: expected a matrix"),
    ):
        with pytest.raises(error, match=text):
            call()
    factor = la.lu_factor(np.eye(2))
    for kind, wrong, text in (
        (
            ValueError,
            lambda: la.solve_banded((1, 1), np.ones((2, 3)), np.ones(3)),
            "expected 3 rows for ab",
        ),
        (
            ValueError,
            lambda: la.solve_banded((1, -1), np.ones((1, 3)), np.ones(3)),
            "for l_and_u, got",
        ),
        (ValueError, lambda: la.solve_banded((1, 1), np.ones((3, 3)), np.ones(4)), "3 rows for b"),
        (
            ValueError,
            lambda: la.tridiagonal_solve(np.ones(2), np.ones(3), np.ones(2), np.ones(3)),
            "tridiagonal_solve: expected three diagonals of one size",
        ),
        (
            ValueError,
            lambda: la.khatri_rao(np.ones((2, 3)), np.ones((2, 2))),
            "one number of columns",
        ),
        (ValueError, lambda: la.lu_solve(factor, np.ones(3)), "lu_solve: expected 2 rows for b"),
        (
            ValueError,
            lambda: la.lu_solve((np.eye(2), [0]), np.ones(2)),
            "2 pivots for piv, got shape",
        ),
        (TypeError, lambda: la.lu_solve((np.eye(2), [0.0, 1.0]), np.ones(2)), "integers for piv"),
        (
            IndexError,
            lambda: la.lu_solve((np.eye(2), [0, 5]), np.ones(2)).numpy(),
            "lu_solve: index 5 is out of range for an axis of size 2",
        ),
        (
            ValueError,
            lambda: la.cg(np.eye(3), np.ones(2)),
            r"cg: expected a square matrix for A .* shapes \(3, 3\) and \(2,\)",
        ),
        (
            ValueError,
            lambda: la.cg(lambda x: x[:1], np.ones(2)),
            r"cg: expected shape \(2,\), .* from .* got \(1,\)",
        ),
        (
            TypeError,
            lambda: la.cg(lambda x: 1.0, np.ones(2)),
            "cg: expected dtype float64, .* from .* got 1.0",
        ),
        (ValueError, lambda: la.cg(pb.zeros_like, np.ones(2)), "a result that depends on x"),
        (
            ValueError,
            lambda: la.gmres(np.eye(2), np.ones(2), restart=0),
            "gmres: .* for restart, got 0",
        ),
        (ValueError, lambda: la.cg(np.eye(2), np.ones(2), rtol=-1), "cg: .* for rtol, got -1"),
        (ValueError, lambda: la.cg(np.eye(2), np.ones(2), np.ones(3)), "cg: .* that of b, for x0"),
    ):
        with pytest.raises(kind, match=text):
            wrong()
