"""vmap and vectorize: axes, nests, rules, random numbers, what they refuse; beside loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.random.default_rng(0).normal(size=(4, 3))


def loop(f: Any, *arrays: Any) -> Any:
    return np.stack([np.asarray(f(*row)) for row in zip(*arrays, strict=True)])


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, atol=1e-14)


# --- axes and nests


@each("axis", [0, 1, 2, -1, -3])
@each("out", [0, 1, -1])
def test_axes(axis: int, out: int) -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 4))
    f = lambda x: x * 2 + x[0]  # noqa: E731
    want = np.stack([f(row) for row in np.moveaxis(x, axis, 0)], out)
    same(pb.vmap(f, in_axes=axis, out_axes=out)(x), want)


def test_nests_of_axes() -> None:
    def f(p: Any, n: Any) -> Any:
        return {"y": p["a"] * p["b"][0] + n, "z": (p["b"][1], 1.0)}

    nest = {"a": X, "b": [2.0, X.T]}
    got = pb.vmap(f, in_axes=({"a": 0, "b": (None, 1)}, None))(nest, 5)
    same(got["y"], 2 * X + 5)
    same(got["z"][0], X)
    same(got["z"][1], np.ones(4))
    got = pb.vmap(f, in_axes=({"a": 0, "b": (None, 1)}, None), out_axes={"y": 1, "z": (0, None)})(
        nest, 5
    )
    same(got["y"], (2 * X + 5).T)
    assert got["z"][1].shape == ()


def test_keywords_have_axis_0_and_others_pass() -> None:
    same(pb.vmap(lambda x, y: x + y, in_axes=None)(1.0, y=X[:, 0]), X[:, 0] + 1)
    same(pb.vmap(lambda x, how: x * len(how), in_axes=(0, None))(X, "abc"), X * 3)


def test_nests_of_vmaps() -> None:
    outer = pb.vmap(pb.vmap(lambda x, y: x * y, in_axes=(None, 0)), in_axes=(0, None))
    same(outer(X[:, 0], X[:, 1]), np.outer(X[:, 0], X[:, 1]))
    same(pb.vmap(pb.vmap(pb.vmap(lambda x: pb.exp(x))))(X[None]), np.exp(X[None]))


def test_a_batch_of_none_and_of_one() -> None:
    assert pb.vmap(lambda x: pb.sum(x, axis=0))(np.ones((0, 3, 2))).shape == (0, 2)
    same(pb.vmap(lambda x: x @ x.T)(X[:1, :, None]), (X[0][:, None] @ X[0][None])[None])


def test_what_does_not_depend_on_an_entry() -> None:
    same(pb.vmap(lambda x: pb.constant(2.0), size=4)(X), np.full(4, 2.0))
    same(pb.vmap(lambda: pb.ones(2), size=3)(), np.ones((3, 2)))


# --- derivatives


def cube(x: Any) -> Any:
    return pb.sum(x**3 * pb.sin(x[0]))


def test_gradients_inside_and_outside() -> None:
    want = loop(pb.grad(cube), X)
    same(pb.vmap(pb.grad(cube))(X), want)
    same(pb.grad(lambda x: pb.sum(pb.vmap(cube)(x)))(X), want)
    same(pb.function(pb.vmap(pb.grad(cube)))(X), want)
    same(pb.vmap(pb.function(pb.grad(cube)))(X), want)
    hessian = pb.vmap(lambda u, x: pb.jvp(pb.grad(cube), (x,), (u,))[1], in_axes=(0, None))
    one = pb.vmap(lambda u: pb.grad(lambda x: pb.sum(pb.grad(cube)(x) * u))(X[0]))
    same(hessian(np.eye(3), X[0]), one(np.eye(3)))
    same(
        pb.vmap(lambda x, u: pb.jvp(cube, (x,), (u,))[1])(X, X),
        loop(lambda x: pb.sum(pb.grad(cube)(x) * x), X),
    )


def test_variables_outside_get_their_gradients() -> None:
    w = pb.Variable(X[0])
    loss = pb.sum(pb.vmap(lambda x: pb.sum(pb.tanh(x * w)))(X))
    want = pb.gradients(pb.sum(pb.tanh(X * w)), w)[0]
    same(pb.gradients(loss, w)[0], want)
    with pb.GradientTape() as tape:
        loss = pb.sum(pb.vmap(lambda x: pb.sum(pb.tanh(x * w)))(X))
    same(tape.gradient(loss, w), want)


def test_stop_gradient() -> None:
    same(pb.vmap(pb.grad(lambda x: pb.sum(x * pb.stop_gradient(x))))(X), X)


# --- rules


def reversed_rule(scale: float) -> Any:
    @pb.custom_gradient
    def f(x: Any, y: Any) -> Any:
        inner = pb.sin(x) * y
        return inner, lambda g: (scale * g * inner, g * x - scale)

    return f


@pytest.mark.parametrize("shared", [False, True])
def test_custom_gradients(shared: bool) -> None:
    """The rule holds what was computed inside, and answers for one entry; where an argument is the
    same for all entries, its gradient is their sum."""
    f = reversed_rule(-3.0)
    y = X[0] if shared else X + 1

    def loss(x: Any, y: Any) -> Any:
        total = pb.vmap(f, in_axes=(0, None if shared else 0))(x, y)
        return pb.sum(total * np.arange(12.0).reshape(4, 3))

    dx, dy = pb.grad(loss, (0, 1))(X, y)
    ys = np.broadcast_to(y, X.shape)
    weights = np.arange(12.0).reshape(4, 3)
    same(dx, -3 * weights * np.sin(X) * ys)
    want = weights * X + 3
    same(dy, want.sum(0) if shared else want)
    (second,) = pb.vmap(
        lambda x: (pb.grad(lambda x: pb.sum(pb.grad(lambda x: pb.sum(f(x, x)))(x)))(x),)
    )(X)
    same(
        second,
        loop(lambda x: pb.grad(lambda x: pb.sum(pb.grad(lambda x: pb.sum(f(x, x)))(x)))(x), X),
    )


def test_custom_gradients_of_several_results() -> None:
    @pb.custom_gradient
    def f(x: Any) -> Any:
        return (x * 2, pb.exp(x)), lambda g, h: 10 * g + 100 * h * x

    def loss(x: Any) -> Any:
        a, b = f(x)
        return pb.sum(a * b)

    want = loop(pb.grad(loss), X)
    same(pb.vmap(pb.grad(loss))(X), want)
    same(pb.grad(lambda x: pb.sum(pb.vmap(loss)(x)))(X), want)
    outside = pb.grad(lambda w: pb.sum(pb.vmap(lambda x: x * f(w)[1])(X)))(X[0])
    same(outside, X.sum(0) * 100 * X[0])


def test_a_rule_that_closes_over_the_entry() -> None:
    """No argument of the custom function has a batch, what it computes has."""

    def one(x: Any) -> Any:
        f = pb.custom_gradient(lambda w: (w * x, lambda g: g * x * 7))
        g = pb.custom_gradient(lambda w: ((w * x, w + x), lambda g, h: g * x + h * x))
        return pb.sum(f(w) + g(w)[0] + g(w)[1])

    w = pb.Variable(X[1])
    (got,) = pb.gradients(pb.sum(pb.vmap(one)(X)), w)
    same(got, 7 * X.sum(0) + 2 * X.sum(0))


def test_overrides() -> None:
    def rule(op: Any, g: Any) -> Any:
        return g * op.inputs[0] * pb.sum(op.outputs[0])

    def products(op: Any, g: Any) -> Any:
        return g * 2.0, pb.sum(g, axis=0, keepdims=True) * 3.0

    def f(x: Any) -> Any:
        with pb.gradient_override_map({"sin": rule, "matmul": products}):
            return pb.sum(pb.sin(x)) + pb.sum(pb.reshape(x, (3, 1)) @ pb.reshape(x[:1], (1, 1)))

    want = X * np.sin(X).sum(1, keepdims=True) + 2
    want[:, 0] += 9
    same(pb.grad(lambda x: pb.sum(pb.vmap(f)(x)))(X), want)
    same(pb.vmap(pb.grad(f))(X), want)
    y = pb.vmap(lambda x: pb.exp(x))(w := pb.Variable(X))
    same(pb.gradients(y, w, overrides={"exp": lambda op, g: g * 5})[0], np.full((4, 3), 5.0))


def test_checkpoints() -> None:
    block = pb.checkpoint(lambda x, w: pb.tanh(x * w) * pb.random.uniform(3, dtype="float64"))
    w = pb.Variable(X[0])
    pb.random.seed(3)
    y = pb.vmap(lambda x: block(x, w))(X)
    (got,) = pb.gradients(y, w)
    drawn = y.numpy() / np.tanh(X * X[0])
    same(got, (drawn * X / np.cosh(X * X[0]) ** 2).sum(0))


def test_composites_keep_their_names() -> None:
    labels = np.array([0, 2, 1, 1])
    w = pb.Variable(X)
    y = pb.vmap(pb.sparse_softmax_cross_entropy)(w, labels)
    same(y, pb.sparse_softmax_cross_entropy(X, labels))
    same(pb.gradients(y, w)[0], pb.gradients(pb.sparse_softmax_cross_entropy(w, labels), w)[0])
    seen = []

    def rule(op: Any, g: Any) -> Any:
        seen.append(op.type)
        return pb.zeros_like(op.inputs[0])

    pb.gradients(y, w, overrides={"sparse_softmax_cross_entropy": rule})[0].numpy()
    assert seen == ["sparse_softmax_cross_entropy"]


# --- random numbers


def test_random_numbers_are_drawn_for_each_entry() -> None:
    pb.random.seed(1)
    got = pb.vmap(lambda x: x + pb.random.normal((5,), dtype="float64"))(np.zeros(1000)).numpy()
    assert got.shape == (1000, 5) and len(np.unique(got)) == got.size
    assert abs(got.mean()) < 0.05 and abs(got.std() - 1) < 0.05
    pb.random.seed(1)
    same(pb.vmap(lambda x: x + pb.random.normal((5,), dtype="float64"))(np.zeros(1000)), got)
    alone = pb.vmap(lambda: pb.random.uniform((2,)), size=3)().numpy()
    assert len(np.unique(alone)) == 6
    traced = pb.function(pb.vmap(lambda x: x * pb.random.uniform()))
    a, b = (traced(np.ones(4)).numpy() for _ in range(2))
    assert len(np.unique([a, b])) == 8
    outside = pb.random.uniform((3,))
    same(pb.vmap(lambda x: x * 0 + outside)(X.astype("f")), np.broadcast_to(outside, (4, 3)))


def test_permutations_of_each_entry() -> None:
    got = pb.vmap(lambda x: pb.random.permutation(6) + x)(np.zeros(50, int)).numpy()
    assert (np.sort(got, axis=1) == np.arange(6)).all() and len({tuple(row) for row in got}) > 30


# --- positions


def test_positions_that_differ_between_entries() -> None:
    x = np.random.default_rng(2).normal(size=(4, 5, 3))
    at = np.array([[0, -1], [4, 4], [2, -5], [1, 0]])
    same(
        pb.vmap(lambda x, i: pb.take(x, i, axis=0))(x, at),
        np.stack([a[i] for a, i in zip(x, at, strict=True)]),
    )
    same(pb.vmap(lambda i: pb.take(x, i, axis=1))(at), np.moveaxis(x[:, at], 1, 0))
    same(
        pb.grad(lambda x: pb.sum(pb.vmap(lambda x, i: pb.take(x, i, axis=0))(x, at) ** 2))(x),
        pb.grad(lambda x: sum(pb.sum(pb.take(x[k], at[k], axis=0) ** 2) for k in range(4)))(x),
    )
    for bad in (5, -6):
        wrong = at.copy()
        wrong[1, 1] = bad
        with pytest.raises(IndexError):
            pb.vmap(lambda x, i: pb.take(x, i, axis=0))(x, wrong).numpy()
    same(
        pb.vmap(lambda x, i, v: x.at[i].add(v))(x, at, x[:, :2]),
        np.stack([_added(x[k], at[k], x[k, :2]) for k in range(4)]),
    )
    got = pb.vmap(lambda s, v: pb.searchsorted(s, v))(np.sort(X), X + 0.1)
    same(got, np.stack([np.searchsorted(np.sort(row), row + 0.1) for row in X]))


def _added(x: Any, at: Any, v: Any) -> Any:
    out = x.copy()
    np.add.at(out, at, v)
    return out


# --- refusals


def test_errors() -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: pb.vmap(3), TypeError, "vmap: expected a function"),
        (lambda: pb.vmap(pb.exp, size="a"), TypeError, "vmap: .* for size"),
        (
            lambda: pb.vmap(pb.exp)(1.0),
            ValueError,
            r"in_axes=0 is out of range for argument 0 of shape \(\)",
        ),
        (
            lambda: pb.vmap(pb.exp)("x"),
            TypeError,
            "array for argument 0, got 'x', which has no axes",
        ),
        (lambda: pb.vmap(pb.exp, in_axes=2)(X), ValueError, "in_axes=2 is out of range"),
        (
            lambda: pb.vmap(pb.add)(X, X[:2]),
            ValueError,
            "expected size 4 for axis 0 of argument 1, given by argument 0",
        ),
        (lambda: pb.vmap(pb.exp, size=5)(X), ValueError, "expected size 5 .*, given by size"),
        (lambda: pb.vmap(pb.exp, in_axes=None)(X), ValueError, "pass size"),
        (
            lambda: pb.vmap(pb.add, in_axes=(0,))(X, X),
            ValueError,
            "expected 2 entries for in_axes, .* got 1",
        ),
        (lambda: pb.vmap(pb.exp, in_axes="a")(X), ValueError, "in_axes of argument 0: expected"),
        (lambda: pb.vmap(pb.exp, out_axes=None)(X), ValueError, "for out_axes .* got None"),
        (lambda: pb.vmap(pb.exp, out_axes=5)(X), ValueError, "out_axes=5 is out of range"),
        (
            lambda: pb.vmap(lambda x: float(x))(X[0]),
            RuntimeError,
            r"no value while .*vmap of .*<lambda>",
        ),
        (
            lambda: pb.vmap(lambda x: pb.numpy_function(np.sin, x)(x))(X),
            NotImplementedError,
            "vmap: numpy_function cannot be computed for a batch",
        ),
    ]
    for call, error, text in cases:
        with pytest.raises(error, match=text):
            call()
    v = pb.Variable(1.0)
    with pytest.raises(RuntimeError, match="assign"):
        pb.vmap(lambda x: v.assign(x))(X[0].astype("f"))


# --- vectorize


def test_vectorize_broadcasts() -> None:
    a = np.random.default_rng(0).normal(size=(5, 1, 2, 3))
    b = np.random.default_rng(1).normal(size=(4, 3, 2))
    matmul = pb.vectorize(lambda x, y: x @ y, signature="(m,n),(n,p)->(m,p)")
    same(matmul(a, b), a @ b)
    same(pb.vectorize(lambda x, y: x + y)(a, b[0, 0, 0]), a + b[0, 0, 0])

    @pb.vectorize(signature="(n)->(),(n)")
    def parts(x: Any) -> Any:
        return pb.sum(x), x * 2

    total, twice = parts(a)
    same(total, a.sum(-1))
    same(twice, 2 * a)
    scaled = pb.vectorize(lambda s, x: x * len(s), signature="(3)->(3)", excluded={0})
    same(scaled("ab", a), 2 * a)
    same(pb.grad(lambda a: pb.sum(matmul(a, b)))(a), np.broadcast_to(b.sum((0, 2)), a.shape) * 1.0)


@each(
    "call, text",
    [
        (lambda: pb.vectorize(pb.exp, signature="n->n"), "a string like .* for signature, got"),
        (
            lambda: pb.vectorize(pb.exp, signature="(n)->()")(1.0),
            "expected at least 1 axis for argument 0",
        ),
        (
            lambda: pb.vectorize(pb.exp, signature="(3)->(3)")(X.T),
            "expected size 3 for axis 3 of argument 0, got 4",
        ),
        (
            lambda: pb.vectorize(pb.exp, signature="(n)->()")(X),
            "expected 0 axes for result 0 of .*, got shape",
        ),
        (
            lambda: pb.vectorize(pb.add, signature="(n)->(n)")(X, X),
            "expected 1 array for .*, got 2",
        ),
        (
            lambda: pb.vectorize(pb.add, signature="(n),(n)->(n)")(X, X[:, :2]),
            "axis n of argument 1",
        ),
        (lambda: pb.vectorize(pb.add)(X, X[:, :2]), "expected leading axes that broadcast"),
        (
            lambda: pb.vectorize(pb.exp, signature="(n)->(n),(n)")(X),
            "expected 2 results of .*, got 1",
        ),
    ],
)
def test_errors_of_vectorize(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_searching_for_nan_in_tables_of_a_batch() -> None:
    sorted_rows = np.array([[1.0, 2.0, np.nan], [1.0, np.nan, np.nan]])
    x = np.array([[np.nan, 1.5], [np.nan, 0.0]])
    for side in ("left", "right"):
        found = pb.vmap(lambda a, v, side=side: pb.searchsorted(a, v, side=side))(sorted_rows, x)
        expected = [np.searchsorted(a, v, side=side) for a, v in zip(sorted_rows, x, strict=True)]
        np.testing.assert_array_equal(found, expected)


def test_axes_of_a_dict_go_by_its_keys() -> None:
    nest = {"b": np.arange(6.0).reshape(2, 3), "a": np.arange(8.0).reshape(4, 2)}
    found = pb.vmap(lambda d: pb.sum(d["a"]) + 10 * pb.sum(d["b"]), in_axes=({"b": 0, "a": 1},))
    expected = nest["a"].sum(0) + 10 * nest["b"].sum(1)
    np.testing.assert_allclose(found(nest), expected)


@each("columns", [1, 3, 5])
@each("length", [8, 40])
def test_one_matrix_times_a_thin_matrix_per_entry(columns, length):
    """A few columns of all entries are the rows of one product."""
    random = np.random.default_rng(0)
    a, b = random.normal(size=(6, length)), random.normal(size=(4, length, columns))
    f = lambda b: pb.matmul(a, pb.sin(b))  # noqa: E731
    np.testing.assert_allclose(pb.vmap(f)(b), a @ np.sin(b), rtol=1e-13, atol=1e-14)
    got = pb.grad(lambda b: pb.sum(pb.vmap(f)(b) ** 2))(b)
    np.testing.assert_allclose(got, 2 * np.cos(b) * (a.T @ a @ np.sin(b)), rtol=1e-12, atol=1e-12)
    by_a = pb.grad(lambda a: pb.sum(pb.vmap(lambda b: a @ b)(b) ** 2))(a)
    expected = 2 * np.einsum("bik,bjk->ij", a @ b, b)
    np.testing.assert_allclose(by_a, expected, rtol=1e-12, atol=1e-12)
    empty = pb.vmap(lambda b: pb.matmul(np.zeros((0, length)), b))(b)
    assert empty.shape == (4, 0, columns)
