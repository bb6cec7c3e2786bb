"""Diagonals of derivatives, and covariances: beside whole Jacobians and Hessians."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import pullback as pb
from pullback._autodiff import diagonals

RNG = np.random.default_rng(0)
X = RNG.normal(size=7)
W = RNG.normal(size=(7, 7))

FUNCTIONS: dict[str, tuple[Callable[[Any], Any], int]] = {  # and the number of products
    "elementwise": (lambda x: pb.sin(x) * x, 1),
    "neighbours": (lambda x: pb.concat([x[:1], x[1:] * x[:-1]]) + x**2, 2),
    "reversed": (lambda x: x[::-1] ** 2, 2),
    "one entry for all": (lambda x: x * x[2], 2),
    "sums of entries before": (lambda x: pb.cumulative_sum(x**2), 7),
    "dense": (lambda x: pb.tanh(pb.constant(W) @ x), 7),
    "no path": (lambda x: pb.ones_like(x), 0),
}


@pytest.fixture
def colours(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seen: list[int] = []
    known = diagonals._colours

    def noted(*args: Any) -> Any:
        found = known(*args)
        seen.append(0 if found is None else int(found.max()) + 1)
        return found

    monkeypatch.setattr(diagonals, "_colours", noted)
    return seen


def diagonal(matrix: Any, x: Any) -> Any:
    return np.diag(np.reshape(matrix, (x.size, x.size))).reshape(x.shape)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_diagonals(name: str, colours: list[int]) -> None:
    f, products = FUNCTIONS[name]
    for x in (X, np.float32(X)):
        known = diagonal(pb.jacobian(f)(x), x)
        ours = pb.jacobian_diagonal(f)(x)
        assert ours.dtype == x.dtype
        np.testing.assert_allclose(ours, known, rtol=1e-5 if x.dtype == "float32" else 1e-13)
    assert colours == [products] * 2
    np.testing.assert_allclose(
        pb.function(pb.jacobian_diagonal(f))(X), diagonal(pb.jacobian(f)(X), X)
    )

    def total(x: Any) -> Any:
        return pb.sum(f(x) ** 2 + x**2)

    known = diagonal(pb.hessian(total)(X), X)
    np.testing.assert_allclose(pb.hessian_diagonal(total)(X), known, rtol=1e-12)
    many = pb.vmap(pb.hessian_diagonal(total))(pb.constant(np.stack([X, 2 * X])))
    np.testing.assert_allclose(many[0], known, rtol=1e-12)
    np.testing.assert_allclose(many[1], diagonal(pb.hessian(total)(2 * X), X), rtol=1e-12)
    pb.testing.check_gradients(pb.hessian_diagonal(total), X)


def test_pytrees_and_shapes() -> None:
    p = {"w": W[:3, :2], "b": X[:2], "none": None}

    def loss(p: Any) -> Any:
        return pb.sum(pb.tanh(pb.constant(W[:4, :3]) @ p["w"] + p["b"]) ** 2)

    found, h = pb.hessian_diagonal(loss)(p), pb.hessian(loss)(p)
    assert found["none"] is None
    for name in ("w", "b"):
        np.testing.assert_allclose(found[name], diagonal(h[name][name], p[name]), rtol=1e-12)
    moved = pb.jacobian_diagonal(lambda p: {**p, "b": p["b"] * p["w"][0]})(p)
    np.testing.assert_allclose(moved["b"], p["w"][0])
    np.testing.assert_array_equal(moved["w"], np.ones((3, 2)))
    assert pb.jacobian_diagonal(pb.sin)(np.ones((0, 3))).shape == (0, 3)
    assert float(pb.hessian_diagonal(pb.exp)(0.0)) == 1.0


def test_zeros_are_structural() -> None:
    # The infinite slope at 0 does not meet the zeros of another colour.
    f = lambda x: pb.sqrt(x) + pb.roll(x, 1)  # noqa: E731
    np.testing.assert_array_equal(pb.jacobian_diagonal(f)(np.array([0.0, 4.0])), [np.inf, 0.25])


def test_rules_that_read_their_cotangent() -> None:
    @pb.custom_gradient
    def double(x: Any) -> Any:
        return 2 * x, lambda g: 2 * g if float(pb.sum(g)) else g

    np.testing.assert_allclose(pb.jacobian_diagonal(lambda x: double(x) * x)(X), 4 * X)
    calls = pb.numpy_function(np.sin, lambda x: x, vjp="fd")
    np.testing.assert_allclose(pb.jacobian_diagonal(calls)(X), np.cos(X), rtol=1e-8)


def test_covariances() -> None:
    c = W @ W.T
    f = lambda x: pb.stack([x[0] * x[1], pb.sum(x**2)])  # noqa: E731
    j = np.asarray(pb.jacobian(f)(X))
    known = j @ c @ j.T
    np.testing.assert_allclose(pb.propagate_covariance(f, X, c), known)
    np.testing.assert_allclose(pb.propagate_covariance(f, X, scipy.sparse.csc_array(c)), known)
    only = j @ np.diag(np.diag(c)) @ j.T
    np.testing.assert_allclose(pb.propagate_covariance(f, X, np.diag(c)), only)
    traced = pb.function(lambda x, c: pb.propagate_covariance(f, x, c))
    np.testing.assert_allclose(traced(X, c), known)
    many = pb.vmap(lambda x: pb.propagate_covariance(f, x, c))(pb.constant(np.stack([X, X])))
    np.testing.assert_allclose(many[1], known)
    pb.testing.check_gradients(lambda x, c: pb.propagate_covariance(f, x, c), X, c)
    # Several inputs, and a result with two axes.
    p = {"w": W[:2, :2], "b": X[:2]}
    g = lambda p: p["w"] * p["b"]  # noqa: E731
    parts = pb.jacobian(g)(p)
    j = np.concatenate([np.reshape(parts[k], (4, -1)) for k in ("b", "w")], 1)  # sorted keys
    full = pb.propagate_covariance(g, p, c[:6, :6])
    assert full.shape == (2, 2, 2, 2)
    np.testing.assert_allclose(np.reshape(full, (4, 4)), j @ c[:6, :6] @ j.T)
    v = {"w": np.abs(W[:2, :2]), "b": [0.5, 0.0]}
    single = np.concatenate([[0.5, 0.0], v["w"].ravel()])
    ours = np.reshape(pb.propagate_covariance(g, p, v), (4, 4))
    np.testing.assert_allclose(ours, j @ np.diag(single) @ j.T)
    # A linear function of integers' covariances takes the dtype of x.
    assert pb.propagate_covariance(pb.sum, np.float64([1, 2]), [1, 4]).dtype == "float64"
    assert (
        pb.propagate_covariance(pb.sum, np.float32([1, 2]), np.eye(2, dtype=int)).dtype == "float32"
    )


def test_errors() -> None:
    f = pb.sum
    for call, error, text in (
        (lambda: pb.jacobian_diagonal(3), TypeError, "jacobian_diagonal: expected a function"),
        (lambda: pb.jacobian_diagonal(lambda x: x[1:])(X), ValueError, r"argument, \(7,\), from"),
        (lambda: pb.jacobian_diagonal(lambda x: (x,))(X), TypeError, "expected real floating ten"),
        (lambda: pb.jacobian_diagonal(lambda p: [p["a"]])({"a": X}), ValueError, "the result of"),
        (lambda: pb.jacobian_diagonal(pb.argsort)(X), TypeError, "expected real floating ten"),
        (lambda: pb.jacobian_diagonal(pb.sin)(1j * X), TypeError, "expected a real argument of"),
        (lambda: pb.hessian_diagonal(pb.sin)(X), ValueError, r"hessian_diagonal: expected shape"),
        (lambda: pb.propagate_covariance(f, X, np.eye(3)), ValueError, r"\(7, 7\), or variances"),
        (lambda: pb.propagate_covariance(f, X, scipy.sparse.eye_array(3)), ValueError, "got .3, 3"),
        (lambda: pb.propagate_covariance(f, X, 1j * W), TypeError, "real numbers for covariance"),
        (lambda: pb.propagate_covariance(lambda x: (x, x), X, W), TypeError, "join several resul"),
        (
            lambda: pb.propagate_covariance(lambda p: p["a"], {"a": X}, {"b": X}),
            ValueError,
            "expected the keys",
        ),
        (lambda: pb.propagate_covariance(f, 1j * X, W), TypeError, "real floating dtype for x"),
    ):
        with pytest.raises(error, match=text):
            call()
