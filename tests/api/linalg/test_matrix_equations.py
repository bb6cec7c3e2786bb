"""Lyapunov and Riccati equations: values beside SciPy, derivatives beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from support.matrices import DTYPES, adjoint, close, hermitian, numbers, positive, shifted

import pullback as pb

la = pb.linalg
NAMES = "abqres"


def riccati(dtype: str, all_of: bool = True, m: int = 3, n: int = 2) -> dict[str, Any]:
    given = {
        "a": numbers((m, m), dtype) / 3,
        "b": numbers((m, n), dtype),
        "q": positive((m, m), dtype),
        "r": positive((n, n), dtype),
    }
    if all_of:
        given |= {"e": shifted((m, m), dtype, 3) / 3, "s": 0.1 * numbers((m, n), dtype, 4)}
    return {name: x.astype(dtype) for name, x in given.items()}


def theirs(name: str, given: dict[str, Any]) -> Any:
    wide = {k: x.astype(np.promote_types(x.dtype, "float64")) for k, x in given.items()}
    for k in "qr":
        wide[k] = hermitian(wide[k])
    # Its balancing fails if there is an e.
    return getattr(scipy.linalg, name)(**wide, balanced=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_lyapunov_equations(dtype: str) -> None:
    for n in (1, 3, 12):
        a, q = shifted((2, n, n), dtype), numbers((2, n, n), dtype, 1)
        x = la.solve_continuous_lyapunov(a, q)
        assert x.dtype == dtype
        close(x[1], scipy.linalg.solve_continuous_lyapunov(a[1], q[1]), 10)
        for method in (None, "direct", "bilinear"):
            x = la.solve_discrete_lyapunov(a / 5, q, method)
            close(x[1], scipy.linalg.solve_discrete_lyapunov(a[1] / 5, q[1]), 10)


@pytest.mark.parametrize("all_of", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_values_of_riccati_equations(dtype: str, all_of: bool) -> None:
    given = riccati(dtype, all_of)
    for name in ("solve_continuous_are", "solve_discrete_are"):
        f = getattr(la, name)
        x = f(**given)
        assert x.dtype == dtype
        close(x, theirs(name, given), 10)
        many = {**given, "a": np.stack([given["a"], given["a"].T])}
        close(f(**many)[0], x, 10)
        close(pb.vmap(lambda a, f=f: f(**{**given, "a": a}))(many["a"]), f(**many), 10)
        skew = given["q"] + numbers((3, 3), dtype) - adjoint(numbers((3, 3), dtype))
        close(f(**{**given, "q": skew}), x, 100)


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_lyapunov_equations(dtype: str) -> None:
    a, q = shifted((3, 3), dtype), numbers((3, 3), dtype, 1)
    pb.testing.check_gradients(la.solve_continuous_lyapunov, a, q, order=2)
    for method in ("direct", "bilinear"):
        pb.testing.check_gradients(
            lambda a, q, m=method: la.solve_discrete_lyapunov(a, q, m), a / 5, q, order=2
        )


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("name", ["solve_continuous_are", "solve_discrete_are"])
def test_derivatives_of_riccati_equations(name: str, dtype: str) -> None:
    f, given = getattr(la, name), riccati(dtype, True, 2, 1)
    pb.testing.check_gradients(f, *(given[n] for n in NAMES), order=2)
    # Forward mode and a traced function: a finite difference of SciPy's solution.
    given, d = riccati(dtype), numbers((3, 3), dtype, 7)
    sides = [theirs(name, {**given, "a": given["a"] + t * d}) for t in (1e-5, -1e-5)]
    slope = (sides[0] - sides[1]) / 2e-5
    moved = pb.jvp(lambda a: f(**{**given, "a": a}), (given["a"],), (d,))[1]
    np.testing.assert_allclose(moved, slope, atol=1e-7 * np.abs(slope).max())
    g = pb.grad(lambda q: pb.sum(pb.real(f(**{**given, "q": q}))))
    close(pb.function(g)(given["q"]), g(given["q"]))
    close(g(given["q"]), hermitian(np.asarray(g(given["q"]))))


def test_the_gain_of_a_regulator() -> None:
    # The gradient of the cost trace(x) along q is that of the closed loop: a Lyapunov equation.
    given = riccati("float64", False)
    x = la.solve_continuous_are(**given).numpy()
    loop = given["a"] - given["b"] @ np.linalg.solve(given["r"], given["b"].T @ x)
    known = scipy.linalg.solve_continuous_lyapunov(loop, -np.eye(3))
    g = pb.grad(lambda q: pb.trace(la.solve_continuous_are(**{**given, "q": q})))(given["q"])
    close(g, known, 10)


def test_edges() -> None:
    empty = np.ones((0, 0))
    assert la.solve_continuous_lyapunov(empty, empty).shape == (0, 0)
    assert la.solve_discrete_lyapunov(np.ones((0, 2, 2)), np.eye(2)).shape == (0, 2, 2)
    one = np.ones((1, 1))
    assert np.isnan(la.solve_continuous_are(one * np.nan, one, one, one).numpy()).all()
    assert la.solve_discrete_are([[2]], [[1]], [[0]], [[1]]).dtype == "float32"


def test_errors() -> None:
    one, two = np.ones((1, 1)), np.eye(2)
    for call, error, text in (
        (lambda: la.solve_continuous_lyapunov(two, one), ValueError, "of one size for a and q"),
        (lambda: la.solve_continuous_lyapunov(np.ones((1, 2)), one), np.linalg.LinAlgError, "squ"),
        (lambda: la.solve_continuous_lyapunov(0 * two, two).numpy(), np.linalg.LinAlgError, "uni"),
        (lambda: la.solve_discrete_lyapunov(two, two).numpy(), np.linalg.LinAlgError, "singular"),
        (lambda: la.solve_discrete_lyapunov(two, two, "other"), ValueError, "method must be one"),
        (lambda: la.solve_continuous_are(two, two, one, two), ValueError, "shape .2, 2. for q"),
        (lambda: la.solve_continuous_are(two, two, two, two, balanced=1), TypeError, "balanced"),
        (
            lambda: la.solve_continuous_are(one, 0 * one, one, one).numpy(),
            np.linalg.LinAlgError,
            "solve_continuous_are: ",
        ),
        (
            lambda: la.solve_continuous_are(two, two, two, 0 * two).numpy(),
            np.linalg.LinAlgError,
            "solve_continuous_are: .* singular",
        ),
        (
            lambda: la.solve_discrete_are(2 * one, 0 * one, one, one).numpy(),
            np.linalg.LinAlgError,
            "solve_discrete_are: ",
        ),
    ):
        with pytest.raises(error, match=text):
            call()


def test_rules_in_copied_graphs() -> None:
    many, unit = numbers((2, 3, 3), "float64"), np.eye(3)

    def loss(a: Any) -> Any:
        continuous = la.solve_continuous_are(a, unit[:, :2], unit, unit[:2, :2])
        return pb.sum(continuous) + pb.sum(la.solve_discrete_are(a, unit, unit, unit))

    known = np.stack([pb.grad(loss)(a).numpy() for a in many])
    close(pb.vmap(pb.grad(loss))(many), known, 100)

    def by_scan(many: Any) -> Any:
        return pb.scan(lambda c, a: (c + loss(a), 0.0), pb.constant(0.0, "float64"), many)[0]

    close(pb.grad(by_scan)(many), known, 100)
    second = pb.vmap(pb.hessian(loss))(many)[1]
    np.testing.assert_allclose(second, pb.hessian(loss)(many[1]), rtol=1e-7, atol=1e-9)
