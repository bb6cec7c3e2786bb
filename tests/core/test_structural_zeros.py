"""Zeros of branches not taken never meet an infinity: `where` and its kin at points where the other
branch has no slope. Masks narrower than the value, masks that meet, sums, slices and gathers on the
way, to second order, in every style."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb

INF = np.inf


# --- the cases that are hard to get right, with answers by hand


def first(f: Callable[..., Any], *xs: Any) -> list[Any]:
    """The gradients of sum(f), lazily and inside a function."""
    tensors = [pb.Variable(np.asarray(x, float)) for x in xs]
    lazy = [g.numpy() for g in pb.gradients(pb.sum(f(*tensors)), tensors)]
    traced = pb.function(
        lambda *a: pb.gradients(pb.sum(f(*a)), list(a), unconnected_gradients="zero")
    )
    for a, b in zip(lazy, traced(*(np.asarray(x, float) for x in xs)), strict=True):
        np.testing.assert_array_equal(a, b.numpy())
    with pb.GradientTape() as tape:
        y = pb.sum(f(*tensors))
    for a, b in zip(lazy, tape.gradient(y, tensors), strict=True):
        np.testing.assert_array_equal(a, b.numpy())
    return lazy


def second(f: Callable[..., Any], x: Any, v: Any) -> Any:
    t = pb.Variable(np.asarray(x, float))
    (g,) = pb.gradients(pb.sum(f(t)), [t])
    (h,) = pb.gradients(pb.sum(g * np.asarray(v, float)), [t], unconnected_gradients="zero")
    return h.numpy()


X = [0.0, 2.0, -1.0, 4.0]
FIRST = {
    "a scalar flag": (lambda x: pb.where(False, pb.log(x), 0.0), X, [0, 0, 0, 0]),
    "a scalar flag that holds": (
        lambda x: pb.where(pb.sum(x) > 100, pb.log(x), x * 3),
        X,
        [3, 3, 3, 3],
    ),
    "a sum inside the branch": (
        lambda x: pb.where(x[0] > 0, pb.sum(pb.log(x)), 0.0),
        X,
        [0, 0, 0, 0],
    ),
    "a mean inside the branch": (
        lambda x: pb.where(x[0] > 0, pb.mean(pb.sqrt(x)), x[1]),
        X,
        [0, 1, 0, 0],
    ),
    "a product inside the branch": (
        lambda x: pb.where(x[0] > 0, pb.sum(pb.log(x) @ np.ones((4, 2))), 0.0),
        X,
        [0, 0, 0, 0],
    ),
    "two masks that are the same": (
        lambda x: twice(x, lambda u: pb.where(x > 0, u, 0.0) + pb.where(x > 0, 2 * u, 0.0)),
        X,
        [0, 1.5, 0, 0.75],
    ),
    "two masks that differ": (
        lambda x: twice(x, lambda u: pb.where(x > 0, u, 0.0) + pb.where(x > 3, 2 * u, 0.0)),
        X,
        [0, 0.5, 0, 0.75],
    ),
    "three masks": (
        lambda x: twice(
            x,
            lambda u: (
                pb.where(x > 0, u, 0.0) + pb.where(x > 3, 2 * u, 0.0) - pb.where(x > 1, u, 1.0)
            ),
        ),
        X,
        [0, 0, 0, 0.5],
    ),
    "a mask and its negation": (
        lambda x: pb.where(x > 0, pb.log(x), pb.sqrt(-x)),
        [2.0, -4.0],
        [0.5, -0.25],
    ),
    "slices that overlap": (
        lambda x: twice(x, lambda u: pb.sum(u[1:]) + pb.sum(u[2:])),
        [0.0, 2.0, 4.0],
        [0, 0.5, 0.5],
    ),
    "a slice and a gather": (
        lambda x: twice(x, lambda u: pb.sum(u[2:]) + pb.sum(pb.take(u, [1, 1, 3]))),
        [0.0, 2.0, 4.0, 8.0],
        [0, 1.0, 0.25, 0.25],
    ),
    "a gather of one entry, often": (
        lambda x: pb.sum(pb.take(pb.log(x), np.ones(256, int))),
        [0.0, 2.0],
        [0, 128.0],
    ),
    "parts of a concat": (
        lambda x: pb.sum(pb.concat([pb.log(x), pb.sqrt(x)], axis=0)[1:4]),
        [0.0, 4.0, 1.0],
        [INF, 0.25, 1.0],
    ),
    "parts of a stack": (lambda x: pb.sum(pb.stack([pb.log(x), x], axis=0)[1]), [0.0, 4.0], [1, 1]),
    "a mask around what was set": (lambda x: pb.log(x).at[0].set(1.0), [0.0, 4.0], [0, 0.25]),
    "set by positions": (
        lambda x: pb.log(x).at[np.array([0, 2])].set(1.0) * 2,
        [0.0, 4.0, -1.0],
        [0, 0.5, 0],
    ),
    "a maximum over rows that are not taken": (
        lambda x: pb.where(
            np.array([False, True]), pb.max(pb.log(pb.reshape(x, (2, 2))), axis=1), 0.0
        ),
        [0.0, 0.0, 2.0, 4.0],
        [0, 0, 0, 0.25],
    ),
    "a broadcast number that nobody takes": (
        lambda x: pb.where(np.zeros(3, bool), pb.log(x), 1.0),
        0.0,
        0.0,
    ),
    "a broadcast number that somebody takes": (
        lambda x: pb.where(np.array([True, False, True]), pb.log(x), 1.0),
        2.0,
        1.0,
    ),
}


def twice(x: Any, f: Callable[[Any], Any]) -> Any:
    return f(pb.log(x))


@pytest.mark.parametrize("name", FIRST)
def test_first_order(name: str) -> None:
    f, x, expected = FIRST[name]
    np.testing.assert_allclose(first(f, x)[0], expected, rtol=1e-15)


def test_rows_that_are_not_taken() -> None:
    keep = np.array([[True], [False]])
    x = np.array([[1.0, 2.0], [0.0, -1.0]])
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    (g,) = first(lambda a: pb.where(keep, pb.log(a), 0.0), x)
    np.testing.assert_array_equal(g, [[1.0, 0.5], [0, 0]])
    (g,) = first(lambda a: pb.where(keep, pb.log(a) @ w, 0.0), x)  # a padded batch
    np.testing.assert_array_equal(g, [[6.0, 7.5], [0, 0]])
    (g,) = first(lambda a: pb.where(keep.T, w.T @ pb.log(pb.transpose(a)), 0.0), x)
    np.testing.assert_array_equal(g, [[6.0, 7.5], [0, 0]])
    (g,) = first(lambda a: pb.where(keep, pb.transpose(pb.log(pb.transpose(a))), 0.0), x)
    np.testing.assert_array_equal(g, [[1.0, 0.5], [0, 0]])
    (g,) = first(lambda a: pb.where(keep[:, 0], pb.sum(pb.log(a), axis=1), 0.0), x)
    np.testing.assert_array_equal(g, [[1.0, 0.5], [0, 0]])
    (g,) = first(lambda a: pb.where(keep, pb.reshape(pb.log(pb.reshape(a, (4,))), (2, 2)), 0.0), x)
    np.testing.assert_array_equal(g, [[1.0, 0.5], [0, 0]])
    # A row's number, spread over the row.
    p = np.array([[2.0], [0.0]])
    (g,) = first(lambda a: pb.where(keep, pb.log(a) * w[:, :2], 0.0), p)
    np.testing.assert_array_equal(g, [[1.5], [0]])


def test_rows_above_a_product() -> None:
    """Whatever lies between the mask and the product: the rows that are left out are zeros, the
    others are as they are alone."""
    keep = np.array([[True], [False], [True], [False]])
    x = np.where(keep, [[1.0, 2.0, 0.5]], [[0.0, -1.0, np.inf]])
    x[3] = np.nan
    some = np.array([0, 2])
    w = np.array([[1.0, 2.0, -0.5], [-1.5, 0.5, 1.0], [0.3, 1.0, 2.0]])
    wide = np.broadcast_to(keep, (4, 3))
    cases: dict[str, Callable[[Any], Any]] = {
        "a full mask": lambda h: pb.where(wide, h, 0),
        "some entries of rows": lambda h: pb.where(wide & (np.arange(3) < 2), h, 0),
        "relu": lambda h: pb.where(keep, pb.relu(h), 0),
        "clip": lambda h: pb.where(keep, pb.clip(h, -1, 1), 0),
        "columns": lambda h: pb.where(keep, h[:, :2], 0),
        "columns from last to first": lambda h: pb.where(keep & (np.arange(3) < 1), h[:, ::-1], 0),
        "rows from last to first": lambda h: pb.where(keep[::-1], h[::-1], 0),
        "max": lambda h: pb.where(keep, pb.max(h, axis=1, keepdims=True), 0),
        "take": lambda h: pb.where(keep, pb.take(h, [2, 0, 0], axis=1), 0),
        "rows taken": lambda h: pb.take(pb.relu(h), some, axis=0),
        "rows sliced": lambda h: h[::2],
        "rows set": lambda h: h.at[1].set(0).at[3].set(0),
        "concat": lambda h: pb.where(keep, pb.concat([h, pb.square(h)], axis=1), 0),
        "reshape": lambda h: pb.where(keep[:, :, None], pb.reshape(h, (4, 1, 3)), 0),
        "a flat reshape": lambda h: pb.where(wide.reshape(-1), pb.reshape(h, (-1,)), 0),
        "another product": lambda h: pb.where(keep, pb.relu(h) @ w, 0),
        "einsum": lambda h: pb.where(keep[None, :, 0], pb.einsum("ij,jk->ki", pb.relu(h), w), 0),
        "softmax": lambda h: pb.where(keep, pb.softmax(h), 0),
        "log_softmax": lambda h: pb.where(wide, pb.log_softmax(h), 0),
        "logsumexp": lambda h: pb.where(keep[:, 0], pb.logsumexp(h, axis=1), 0),
        "cross entropy": lambda h: pb.where(
            keep[:, 0], pb.sparse_softmax_cross_entropy(h, [0, 1, 2, 0]), 0
        ),
        "norm": lambda h: pb.where(keep, pb.sqrt(pb.sum(h * h, axis=1, keepdims=True)), 0),
        "mean": lambda h: pb.where(keep, h - pb.mean(h, axis=1, keepdims=True), 0),
    }
    with np.errstate(all="ignore"):
        for name, f in cases.items():
            for below in (pb.log, lambda x: 1.0 / x, lambda x: pb.sqrt(x) * 2):
                gx, gw = first(lambda a, b, f=f, u=below: f(u(a) @ b), x, w)
                alone = [np.where(keep, x, 1.0), w]
                hx, hw = first(lambda a, b, f=f, u=below: f(u(a) @ b), *alone)
                np.testing.assert_allclose(gx, np.where(keep, hx, 0), rtol=1e-13, err_msg=name)
                np.testing.assert_allclose(gw, hw, rtol=1e-13, err_msg=name)


def test_composites_under_masks_of_rows() -> None:
    keep = np.array([[True], [False]])
    x = np.array([[1.0, 2.0], [0.0, 0.0]])
    safe = np.array([[1.0, 2.0], [1.0, 1.0]])
    for f in (pb.softmax, pb.log_softmax, lambda u: pb.logsumexp(u, axis=1, keepdims=True)):
        for below in (pb.log, pb.sqrt):
            (g,) = first(lambda a, f=f, u=below: pb.where(keep, f(u(a)), 0) * [3.0, 1.0], x)
            (h,) = first(lambda a, f=f, u=below: pb.where(keep, f(u(a)), 0) * [3.0, 1.0], safe)
            np.testing.assert_allclose(g, np.where(keep, h, 0), rtol=1e-14)


def test_rows_that_are_missing_leave_the_weights_alone() -> None:
    """Nobody differentiates by the data; a mask of its rows is enough."""
    data = np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, 4.0]])
    keep = np.array([True, False, True])
    (g,) = first(lambda w: pb.where(keep, data @ w, 0), [0.5, 1.0])
    np.testing.assert_array_equal(g, [4.0, 6.0])
    (g,) = first(lambda w: pb.where(keep[:, None], pb.tanh(data @ w), 0), np.zeros((2, 3)))
    np.testing.assert_array_equal(g, [[4.0] * 3, [6.0] * 3])


def test_a_numeric_zero_is_no_structural_one() -> None:
    """sqrt(x)² at 0: inf · 0 stays NaN; nothing was chosen there."""
    assert np.isnan(first(lambda x: pb.sqrt(x) ** 2, 0.0)[0])
    assert np.isnan(first(lambda x: 0.0 * pb.log(x), 0.0)[0])


def test_powers_of_zero_exponent_to_third_order() -> None:
    for n in (0, 1, 2, 3):
        for exponent in (float(n), np.full(3, float(n))):
            x = pb.Variable(np.array([0.0, 2.0, -1.0]))
            y = pb.pow(x, exponent)
            for _ in range(3):
                (y,) = pb.gradients(pb.sum(y), [x], unconnected_gradients="zero")
            expected = 6.0 if n == 3 else 0.0
            np.testing.assert_array_equal(y.numpy(), [expected] * 3)


def test_hessian_vector_products_under_minimum() -> None:
    a = np.array([0.0, 4.0, 1.0, 9.0])
    b = np.array([5.0, 1.0, 2.0, 9.5])
    t = np.array([0.0, 1.0, 3.0, 5.0])

    def f(x: Any) -> Any:
        m = pb.minimum(x, b)
        return pb.where(m > t, pb.sqrt(m - t), 0.0)

    np.testing.assert_allclose(first(f, a)[0], [0, 0, 0, 0.25])
    np.testing.assert_allclose(second(f, a, np.ones(4)), [0, 0, 0, -0.25 * 4.0**-1.5])


def test_second_order_of_masks_that_meet() -> None:
    def f(x: Any) -> Any:
        u = pb.log(x)
        return pb.where(x > 0, u, 0.0) + pb.where(x > 3, 2 * u, 0.0) + pb.where(False, u, 0.0)

    np.testing.assert_allclose(second(f, X, np.ones(4)), [0, -0.25, 0, -3 / 16])
    np.testing.assert_allclose(
        second(lambda x: pb.sum(pb.log(x)[1:]) + pb.sum(pb.log(x)[2:]), [0.0, 2.0, 4.0], [1, 1, 1]),
        [0, -0.25, -2 / 16],
    )


def test_windows_that_cover_their_tensor_leave_no_mask() -> None:
    """What is known when the gradient is built costs nothing: the plan knows no selection."""

    def f(x: Any) -> Any:
        y = pb.tanh(x)
        return pb.sum(y[1:] * y[:-1]) + pb.sum(y[::2]) + pb.sum(y[1::2])

    x = np.linspace(0.0, 1.0, 64)
    g = pb.function(lambda x: pb.gradients(f(x), [x])[0])
    assert "where" not in g.plan(x)
    np.testing.assert_allclose(g(x).numpy(), first(f, x)[0])


@pytest.mark.parametrize("n", [40, 300])
def test_many_slices_of_one_tensor(n: int) -> None:
    """Covered or not, few or more than a set of bits holds."""
    at = np.linspace(0.0, 1.0, n)
    for first_row in (0, 1):
        x = pb.Variable(at)
        y = pb.sqrt(x)
        rows = [y[i] for i in range(first_row, n)]
        (g,) = pb.gradients(pb.sum(pb.stack(rows, axis=0)), [x])
        np.testing.assert_allclose(g.numpy()[1:], 0.5 / np.sqrt(at[1:]), rtol=1e-14)
        assert g.numpy()[0] == (INF if first_row == 0 else 0.0)


# --- random programs against the gradient of the safe rewrite


@dataclass
class Part:
    """A tensor, whether each of its entries depends on an unsafe one, and how to make it of x."""

    taint: np.ndarray
    make: Callable[[Any], Any]


UNSAFE: list[Callable[[Any], Any]] = [
    pb.log,
    pb.sqrt,
    lambda x: 1.0 / x,
    lambda x: x**0.5,
    lambda x: x**-1.5,
    lambda x: pb.log(x) * pb.sqrt(x),
    lambda x: 1.0 / pb.sqrt(x),
]
SMOOTH: list[Callable[[Any], Any]] = [
    pb.tanh,
    pb.sin,
    lambda x: 0.5 * x,
    lambda x: -x,
    lambda x: x * x,
    lambda x: pb.sigmoid(x) + x,
]
KINKS: list[Callable[[Any], Any]] = [
    pb.relu,
    pb.abs,
    lambda x: pb.clip(x, -0.5, 1.0),
    lambda x: pb.maximum(x, 0.1),
]


class Maker:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = tuple(self.rng.integers(2, 5, size=self.rng.integers(1, 4)))
        bad = self.rng.random(shape) < 0.4
        self.x = np.where(
            bad,
            self.rng.choice([0.0, -1.0, -INF, np.nan], shape),
            self.rng.uniform(0.5, 2.0, shape),
        )
        self.bad = bad
        self.safe = np.where(bad, 1.0, self.x)
        self.start = [Part(bad, lambda x, f=f: f(x)) for f in self.choose(UNSAFE, 2)]

    def choose(self, items: list[Any], n: int) -> list[Any]:
        return [items[i] for i in self.rng.integers(0, len(items), n)]

    def weights(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.rng.uniform(-1.0, 1.0, shape)

    def step(self, p: Part) -> Part:
        shape = p.taint.shape
        kinds = ["smooth", "weigh", "choose", "flag", "reshape", "kink"]
        if shape:
            kinds += ["sum", "slice", "take", "transpose", "concat", "set", "maximum", "spread"]
            kinds += ["product", "product", "square product", "softmax", "logsumexp"]
        kind = self.rng.choice(kinds)
        make, taint = p.make, p.taint
        if "product" in kind:
            return self.product(p, kind)
        if kind == "kink":
            f = self.choose(KINKS, 1)[0]
            return Part(taint, lambda x: f(make(x)))
        if kind == "smooth":
            f = self.choose(SMOOTH, 1)[0]
            return Part(taint, lambda x: f(make(x)))
        if kind == "weigh":
            w = self.weights(shape)
            return Part(taint, lambda x: make(x) * w)
        if kind == "choose":
            m = self.mask(shape)
            other = self.weights(shape)
            return Part(taint & m, lambda x: pb.where(m, make(x), other))
        if kind == "flag":
            flag = bool(self.rng.random() < 0.7)
            return Part(taint & flag, lambda x: pb.where(flag, make(x), 0.25))
        if kind == "reshape":
            return Part(taint.reshape(-1), lambda x: pb.reshape(make(x), (-1,)))
        axis = int(self.rng.integers(0, len(shape)))
        n = shape[axis]
        if kind == "sum":
            keep = bool(self.rng.random() < 0.5)
            return Part(
                taint.any(axis=axis, keepdims=keep),
                lambda x: pb.sum(make(x), axis=axis, keepdims=keep),
            )
        if kind == "maximum":
            return Part(taint.any(axis=axis), lambda x: pb.max(make(x), axis=axis))
        if kind == "logsumexp":
            return Part(taint.any(axis=axis), lambda x: pb.logsumexp(make(x), axis=axis))
        if kind == "softmax":
            rows = np.broadcast_to(taint.any(axis=axis, keepdims=True), shape)
            f = self.choose([pb.softmax, pb.log_softmax], 1)[0]
            return Part(rows, lambda x: f(make(x), axis=axis))
        if kind == "slice":
            low = int(self.rng.integers(0, n))
            at = (slice(None),) * axis + (slice(low, None, int(self.rng.integers(1, 3))),)
            return Part(taint[at], lambda x: make(x)[at])
        if kind == "take":
            rows = self.rng.integers(0, n, self.rng.integers(1, 4))
            return Part(np.take(taint, rows, axis), lambda x: pb.take(make(x), rows, axis=axis))
        if kind == "transpose":
            return Part(taint.T, lambda x: pb.transpose(make(x)))
        if kind == "concat":
            return Part(
                np.concatenate([taint, taint], axis),
                lambda x: pb.concat([make(x), 2.0 * make(x)], axis=axis),
            )
        if kind == "set":
            at = (slice(None),) * axis + (0,)
            left = taint.copy()
            left[at] = False
            return Part(left, lambda x: make(x).at[at].set(0.5))
        rows = taint.any(axis=axis, keepdims=True)  # spread
        w = self.weights(shape)
        return Part(
            np.broadcast_to(rows, shape), lambda x: pb.sum(make(x), axis=axis, keepdims=True) + w
        )

    def product(self, p: Part, kind: str) -> Part:
        """With weights on either side, or with itself turned."""
        make, taint = p.make, p.taint
        if kind == "square product" and taint.ndim > 1:
            a, b = taint[..., :, :, None], np.swapaxes(taint, -1, -2)[..., None, :, :]
            return Part(
                (a | b).any(axis=-2),
                lambda x: (lambda u: u @ pb.matrix_transpose(pb.tanh(u)))(make(x)),
            )
        n = taint.shape[-1]
        w = self.weights((n, 3))
        if taint.ndim > 1 and self.rng.random() < 0.5:
            w = self.weights((2, taint.shape[-2]))
            rows = taint.any(axis=-2, keepdims=True)
            return Part(np.repeat(rows, 2, axis=-2), lambda x: w @ make(x))
        rows = taint.any(axis=-1)
        return Part(np.stack([rows] * 3, axis=-1), lambda x: make(x) @ w)

    def mask(self, shape: tuple[int, ...]) -> np.ndarray:
        narrow = tuple(1 if self.rng.random() < 0.3 else n for n in shape)
        return np.broadcast_to(self.rng.random(narrow) < 0.6, shape)

    def program(self) -> Callable[[Any], Any]:
        """A sum of branches, each chosen only where no unsafe entry is behind it."""
        terms = []
        for _ in range(int(self.rng.integers(1, 4))):
            part = self.choose(self.start, 1)[0]
            for _ in range(int(self.rng.integers(0, 4))):
                part = self.step(part)
            mask = self.mask(part.taint.shape) & ~part.taint
            w = self.weights(part.taint.shape)
            terms.append((part, mask, w, self.rng.random() < 0.5))

        def run(x: Any) -> Any:
            total: Any = 0.0
            for part, mask, w, outside in terms:
                y = pb.where(mask, part.make(x), 0.0)
                total = total + (pb.sum(y * w) if outside else pb.sum(y * y))
            return total

        return run


@pytest.mark.parametrize("block", range(8))
def test_random_branches(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        maker = Maker(seed)
        f = maker.program()
        v = maker.weights(maker.x.shape)

        def both(x: Any, f: Any = f, v: Any = v) -> Any:
            (g,) = pb.gradients(f(x), [x], unconnected_gradients="zero")
            (h,) = pb.gradients(pb.sum(g * v), [x], unconnected_gradients="zero")
            return g, h

        expected = [
            np.where(maker.bad, 0.0, part.numpy()) for part in both(pb.Variable(maker.safe))
        ]
        for style in (both, pb.function(both)):
            for got, want in zip(style(pb.Variable(maker.x)), expected, strict=True):
                np.testing.assert_allclose(
                    got.numpy(), want, rtol=1e-12, atol=1e-13, err_msg=f"seed {seed}"
                )


def test_masks_of_several_shapes_above_entries_that_are_taken_twice() -> None:
    """Any of A and any of B are more than any of A and B."""
    table, twice = pb.constant([[0.0, 0.0], [1.0, 2.0]]), np.array([0, 1, 0])
    rows = np.array([[True], [True], [False]])
    entries = np.array([[False, False], [True, True], [True, True]])

    def slope(guard: Callable[[Any], Any]) -> Any:
        return pb.grad(lambda t: pb.sum(guard(pb.log(t)[twice])))(table).numpy().tolist()

    for guard in (
        lambda x: pb.where(rows & entries, x, 0.0),
        lambda x: pb.where(rows, pb.where(entries, x, 0.0), 0.0),
        lambda x: pb.where(entries, pb.where(rows, x, 0.0), 0.0),
    ):
        assert slope(guard) == [[0.0, 0.0], [1.0, 0.5]]
    assert slope(lambda x: pb.where(entries, x, 0.0)[0]) == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("wide", [False, True])
def test_a_row_mask_that_was_made_wide(wide):
    """Rows of data that are not finite take no part where no column of them counts."""
    data = np.array([[1.0, 2.0], [np.nan, np.inf], [3.0, -1.0]])
    w = pb.Variable(np.array([[0.5, -0.25], [1.0, 2.0]]))
    rows = pb.constant(np.array([[True], [False], [True]]))
    out = pb.matmul(data, w)
    mask = pb.broadcast_to(rows, (3, 2)) if wide else rows
    mask = pb.logical_and(mask, pb.less(out, 10.0))
    g = pb.gradients(pb.sum(pb.where(mask, pb.tanh(out), 0.0)), w)[0]
    kept = data[[0, 2]]
    np.testing.assert_allclose(g, kept.T @ (1 - np.tanh(kept @ w.numpy()) ** 2), rtol=1e-13)


@pytest.mark.parametrize("empty", [
    lambda y: pb.matmul(y, pb.zeros((2, 0), "float64")),
    lambda y: pb.broadcast_to(y[:, None], (2, 0)),
    lambda y: y[:, None] + pb.zeros((2, 0), "float64"),
    lambda y: pb.where(pb.zeros((2, 0), "bool"), y[:, None], 0.0),
    lambda y: pb.einsum("a,ab->b", y, pb.zeros((2, 0), "float64")),
    lambda y: pb.take(y, np.zeros(0, np.int64)),
    lambda y: pb.softmax(pb.broadcast_to(y, (0, 2))),
])  # fmt: skip
def test_a_result_without_elements_has_no_slope(empty: Callable[[Any], Any]) -> None:
    """A sum of none is 0, whatever it is multiplied by; to second order, too, and others count."""
    x = pb.Variable(np.array([0.0, 4.0]))
    (g,) = pb.gradients(pb.sum(empty(pb.sqrt(x))), [x])
    (h,) = pb.gradients(g, [x])
    assert g.numpy().tolist() == [0, 0]
    assert h is None or h.numpy().tolist() == [0, 0]
    (g,) = pb.gradients([pb.sum(empty(pb.sqrt(x))), pb.sqrt(x[1])], [x])
    assert g.numpy().tolist() == [0, 0.25]
