"""jacobian, hessian, hvp, vhp, divergence, Gauss-Newton and Fisher products, per-example gradients:
against differences, closed forms and one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

RNG = np.random.default_rng(0)
X, W, A = RNG.normal(size=3), RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2))


def same(a: Any, b: Any, rtol: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=rtol, atol=1e-13)


def differences(f: Any, x: Any, step: float = 1e-6) -> Any:
    units = np.eye(x.size).reshape(x.size, *x.shape) * step
    columns = [(np.asarray(f(x + u)) - np.asarray(f(x - u))) / (2 * step) for u in units]
    return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)


def f(x: Any) -> Any:
    return pb.tanh(x @ W) * pb.sum(x**2)


MODES = ["auto", "forward", "reverse"]


# --- jacobians


@each("mode", MODES)
@each("chunk", ["auto", 1, 2, 100])
def test_all_modes_and_chunks_agree(mode: Any, chunk: Any) -> None:
    got = pb.jacobian(f, mode=mode, chunk=chunk)(X)
    assert got.shape == (4, 3)
    same(got, differences(f, X), 1e-8)
    same(pb.function(pb.jacobian(f, mode=mode, chunk=chunk))(X), got)


@pytest.mark.parametrize("mode", MODES)
def test_nests_and_argnums(mode: Any) -> None:
    def g(p: Any, n: Any, z: Any) -> Any:
        return {"y": p["a"] * z, "s": (pb.sum(p["b"][0]), 0.0 * z)}

    nest = {"a": X, "b": [W]}
    both = pb.jacobian(g, (0, 2), mode=mode)(nest, "name", 2.0)
    same(both["y"][0]["a"], 2 * np.eye(3))
    assert both["y"][0]["b"][0].shape == (3, 3, 4) and not np.any(both["y"][0]["b"][0].numpy())
    same(both["y"][1], X, 1e-6)  # the float is a float32
    same(both["s"][0][0]["b"][0], np.ones((3, 4)))
    same(both["s"][1][1], 0.0)
    same(pb.jacobian(g, -1, mode=mode)(nest, 0, np.float64(2.0))["y"], X)


def test_auto_takes_the_shorter_side() -> None:
    """Of 2 results by 500 arguments no column is pushed, of 500 by 2 no row pulled."""
    wide = RNG.normal(size=(2, 500))
    for m, limit in ((wide, 5), (wide.T, 5)):
        plan = pb.function(pb.jacobian(lambda x, m=m: pb.sin(pb.constant(m) @ x)))
        x = np.ones(m.shape[1])
        same(plan(x), np.cos(m @ x)[:, None] * m)
        assert sum(s.kind == "gemm" for s in pb.profile(plan, x).steps) <= limit


def test_structural_zeros_of_the_units() -> None:
    for mode in MODES:
        got = pb.jacobian(lambda x: pb.sqrt(x), mode=mode)(np.array([0.0, 4.0])).numpy()
        assert got.tolist() == [[np.inf, 0.0], [0.0, 0.25]]
        got = pb.jacobian(lambda x: pb.where(x > 0, pb.log(x), 0), mode=mode)(np.array([0.0, 2.0]))
        assert got.numpy().tolist() == [[0.0, 0.0], [0.0, 0.5]]


@pytest.mark.parametrize("mode", MODES)
def test_rules_of_users(mode: Any) -> None:
    plain = pb.custom_gradient(lambda x: (pb.sin(x), lambda g: 10 * g))
    same(pb.jacobian(plain, mode=mode)(X), 10 * np.eye(3))
    by_numpy = pb.custom_gradient(lambda x: (pb.sin(x), lambda g: pb.constant(10 * g.numpy())))
    if mode == "forward":
        with pytest.raises(RuntimeError, match="transposed for forward mode"):
            pb.jacobian(by_numpy, mode=mode)(X)
    else:
        same(pb.jacobian(by_numpy, mode=mode)(X), 10 * np.eye(3))
        wide = lambda x: by_numpy(pb.concat([x, x]))  # noqa: E731
        same(pb.jacobian(wide, mode=mode)(X), 10 * np.concatenate([np.eye(3)] * 2))
    twice = pb.jacobian(pb.jacobian(lambda x: plain(x) * x, mode=mode), mode=mode)(X)
    slopes = np.zeros((3, 3, 3))
    slopes[range(3), range(3), range(3)] = 20
    same(twice, slopes)


def test_empty_and_scalar() -> None:
    assert pb.jacobian(lambda x: x[:0])(X).shape == (0, 3)
    assert pb.jacobian(lambda x: pb.sum(x) + pb.ones(2, dtype="float64"))(X[:0]).shape == (2, 0)
    assert float(pb.jacobian(lambda x: x * x)(3.0)) == 6.0
    same(pb.jacobian(lambda x: x.astype("float64"))(np.ones(2, "f")), np.eye(2))
    assert pb.jacobian(lambda x: x * 1)(np.ones(2, "f")).dtype == "float32"


def test_jacobians_are_differentiable() -> None:
    loss = lambda x: pb.sum(pb.jacobian(f)(x) ** 2)  # noqa: E731
    same(pb.grad(loss)(X), differences(loss, X), 1e-7)
    same(pb.jvp(loss, (X,), (X,))[1], np.sum(differences(loss, X) * X), 1e-7)
    w = pb.Variable(W)
    (g,) = pb.gradients(pb.sum(pb.jacobian(lambda x: pb.tanh(x @ w))(X)), w)
    same(g, differences(lambda w: pb.sum(pb.jacobian(lambda x: pb.tanh(x @ w))(X)), W), 1e-7)


def test_errors_of_jacobians() -> None:
    z = np.ones(2) * 1j
    for call, error, text in (
        (lambda: pb.jacobian(3), TypeError, "jacobian: expected a function for f"),
        (
            lambda: pb.jacobian(f, mode="both"),
            ValueError,
            "mode must be one of 'auto', 'forward', 'reverse'; got 'both'",
        ),
        (lambda: pb.jacobian(f, chunk=0), ValueError, "a positive integer for chunk, got 0"),
        (lambda: pb.hessian(f, chunk=0), ValueError, "hessian: .* integer for chunk, got 0"),
        (
            lambda: pb.jacobian(f, 1)(X),
            TypeError,
            "argnums=1 is out of range .* 1 positional arguments",
        ),
        (
            lambda: pb.jacobian(f)(np.arange(3)),
            TypeError,
            "expected a floating dtype, got int64",
        ),
        (lambda: pb.jacobian(pb.exp)(z), TypeError, "expected a real argument .* got complex128"),
        (
            lambda: pb.jacobian(lambda x: x * 1j)(X),
            TypeError,
            "expected a real result .* got complex128",
        ),
        (lambda: pb.jacobian(lambda x: 1.0)(X), TypeError, "expected a Tensor .* got 1.0"),
        (lambda: pb.jacobian(pb.argmax)(X), TypeError, "expected floating dtypes .* got int64"),
        (
            lambda: pb.jacobian(lambda x: x)(np.ones((1,) * 9)),
            ValueError,
            "expected at most 16 axes .* got 18",
        ),
        (
            lambda: pb.per_example_gradients(lambda w, x: pb.sum(w * x), X, 1.0),
            ValueError,
            "^per_example_gradients: expected at least one axis, .* for batch, got 1.0",
        ),
        (lambda: pb.hessian(pb.exp)(X), ValueError, r"^hessian: expected shape \(\) .* got \(3,\)"),
    ):
        with pytest.raises(error, match=text):
            call()


# --- second derivatives


def scalar(x: Any) -> Any:
    return pb.sum(pb.sin(x @ W) ** 2) * pb.exp(pb.mean(x))


def test_hessians_and_their_products() -> None:
    hessian = pb.hessian(scalar)(X)
    same(hessian, differences(pb.grad(scalar), X), 1e-7)
    u = RNG.normal(size=3)
    same(pb.hvp(scalar, (X,), (u,))[0], hessian.numpy() @ u)
    same(pb.vhp(scalar, (X,), (u,))[0], hessian.numpy() @ u)
    same(pb.hessian(scalar, chunk=2)(X), hessian)
    traced = pb.function(lambda x, u: pb.hvp(scalar, (x,), (u,))[0])
    same(traced(X, u), hessian.numpy() @ u)


def test_hessians_of_nests() -> None:
    g = lambda p, z: pb.sum(p["a"] * p["b"]) * z**2  # noqa: E731
    h = pb.hessian(g, (0, 1))({"a": X, "b": X + 1}, 3.0)
    same(h[0]["a"][0]["b"], 9 * np.eye(3))
    same(h[1][1], 2 * np.sum(X * (X + 1)), 1e-6)
    moved = pb.hvp(g, ({"a": X, "b": X + 1}, 3.0), ({"a": X, "b": None}, 1.0))
    assert moved[0]["b"] is None
    same(moved[0]["a"], 6 * (X + 1))
    same(moved[1], 2 * np.sum(X * (X + 1)) + 6 * np.sum(X * (X + 1)), 1e-6)


def test_of_linear_and_constant_functions() -> None:
    same(pb.hessian(lambda x: pb.sum(x))(X), np.zeros((3, 3)))
    same(pb.hvp(lambda x: pb.constant(1.0), (X,), (X,))[0], np.zeros(3))
    same(pb.vhp(lambda x: pb.sum(x), (X,), (X,))[0], np.zeros(3))


def test_divergence() -> None:
    g = lambda x: pb.sin(x) * pb.sum(x)  # noqa: E731
    same(pb.divergence(g)(X), np.trace(differences(g, X)), 1e-8)
    same(pb.divergence(lambda x: pb.sqrt(x))(np.array([[4.0], [1.0]])), 0.75)
    with pytest.raises(ValueError, match=r"expected shape \(3,\) .* got \(\)"):
        pb.divergence(pb.sum)(X)


def test_gauss_newton_and_fisher() -> None:
    j = differences(f, X)
    u = RNG.normal(size=3)
    same(pb.gauss_newton_product(f, (X,), (u,))[0], j.T @ j @ u, 1e-7)
    loss = lambda y: pb.sum(y**4)  # noqa: E731
    h = np.diag(12 * np.asarray(f(X)) ** 2)
    same(pb.gauss_newton_product(f, (X,), (u,), loss)[0], j.T @ h @ j @ u, 1e-7)
    logits = lambda x: pb.reshape(x, (3, 1)) * X  # noqa: E731
    p = np.asarray(pb.softmax(logits(X), axis=1))
    jl = differences(logits, X)
    blocks = np.stack([np.diag(row) - np.outer(row, row) for row in p])
    want = np.einsum("nki,nkl,nlj,j->i", jl, blocks, jl, u)
    same(pb.fisher_product(lambda x: pb.log_softmax(logits(x), axis=1), (X,), (u,))[0], want, 1e-7)


# --- per example


def network(params: Any, example: Any) -> Any:
    x, label = example
    hidden = pb.nn.relu(x @ params["w"] + params["b"])
    logits = hidden @ params["v"]
    return pb.sparse_softmax_cross_entropy(logits, label) + 0.1 * pb.sum(params["b"] ** 2)


PARAMS = {"w": W, "b": RNG.normal(size=4), "v": A}
BATCH = (RNG.normal(size=(5, 3)), np.array([0, 1, 1, 0, 1]))


def test_per_example_gradients() -> None:
    got = pb.per_example_gradients(network, PARAMS, BATCH)
    for i in range(5):
        one = pb.grad(network)(PARAMS, (BATCH[0][i], BATCH[1][i]))
        for name in PARAMS:
            same(got[name][i], one[name])


def test_norms_of_per_example_gradients() -> None:
    got = pb.per_example_gradients(network, PARAMS, BATCH)
    want = np.sqrt(sum(np.sum(g.numpy().reshape(5, -1) ** 2, 1) for g in got.values()))
    norms = pb.function(lambda p, b: pb.per_example_gradient_norms(network, p, b))
    same(norms(PARAMS, BATCH), want)
    # Sequences: products of more than one row for each example, and weights that are used twice.
    rows = RNG.normal(size=(5, 6, 40))
    p = {"w": RNG.normal(size=(40, 30))}
    for sequence in (
        lambda p, x: pb.sum(pb.tanh(x @ p["w"]) ** 2),
        lambda p, x: pb.sum(pb.tanh(x @ p["w"]) @ p["w"].T),
        lambda p, x: pb.sum(pb.tanh(x[::2] @ p["w"][:, 1:])),
    ):
        got = pb.per_example_gradients(sequence, p, rows)["w"].numpy()
        want = np.sqrt(np.sum(got.reshape(5, -1) ** 2, 1))
        same(pb.per_example_gradient_norms(sequence, p, rows), want)


def test_norms_where_terms_cancel() -> None:
    """Two rows for each example that differ by little, and pull in opposite directions."""
    x = np.repeat(RNG.normal(size=(8, 1, 30)), 2, axis=1).astype(np.float32)
    x[:, 1] += 1e-5
    w = np.ones((30, 20), np.float32) / 30
    loss = lambda w, x: pb.sum(pb.sin(x @ w)[0]) - pb.sum(pb.sin(x @ w)[1])  # noqa: E731
    got = pb.per_example_gradient_norms(loss, w, x)
    want = np.sqrt(np.sum(pb.per_example_gradients(loss, w, x).numpy().reshape(8, -1) ** 2, 1))
    same(got, want, 1e-5)


def test_norms_of_complex_gradients() -> None:
    z = RNG.normal(size=3) + 1j * RNG.normal(size=3)
    x = RNG.normal(size=(4, 3))
    loss = lambda z, x: pb.sum(pb.abs(z * x) ** 2)  # noqa: E731
    want = pb.per_example_gradients(loss, z, x).numpy()
    got = pb.per_example_gradient_norms(loss, z, x)
    assert got.dtype == "float64"
    same(got, np.linalg.norm(want, axis=1))


def test_norms_do_not_make_the_gradients() -> None:
    """1000 gradients of 100 × 100 would take 40 MB."""
    w, x = np.ones((100, 100), np.float32), np.ones((1000, 100), np.float32)
    norms = pb.function(
        lambda w, x: pb.per_example_gradient_norms(lambda w, x: pb.sum(pb.tanh(x @ w)), w, x)
    )
    norms(w, x)
    assert max(step.bytes for step in pb.profile(norms, w, x).steps) < 4_000_000
