"""Zeros of branches not taken never meet an infinity: `where` and its kin at points where the other
branch has no slope. Masks narrower than the value, masks that meet, sums, slices and gathers on the
way, to second order, in every style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.check import Check
from support.each import each

import pullback as pb
from pullback import _core

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


@each("name", FIRST)
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
    others are as they are alone, whether the slope before the product is infinite or an operand
    of it is NaN."""
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
            for below in (
                pb.log,
                lambda x: 1.0 / x,
                lambda x: pb.sqrt(x) * 2,
                lambda x: x * np.where(keep, 2.0, np.nan),
                pb.tanh,
            ):
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


KEPT = np.array([True, False, True])
WEIGHTS = np.array([[1.0, 2.0], [INF, np.nan], [4.0, 5.0]])
PRODUCTS: dict[str, Callable[[Any], Any]] = {
    "on the left": lambda x: pb.where(KEPT, x, 1.0) @ WEIGHTS,
    "on the right": lambda x: WEIGHTS.T @ pb.where(KEPT[:, None], x.T, 1.0),
    "a vector": lambda x: pb.where(KEPT, x[1], 1.0) @ WEIGHTS,
    "scaled": lambda x: (pb.where(KEPT, x, 1.0) * 2.0) @ WEIGHTS,
    "a branch without a slope": lambda x: pb.where(KEPT, pb.log(x), 1.0) @ WEIGHTS,
    "a slope above": lambda x: pb.sqrt(pb.where(KEPT, x, 1.0) @ WEIGHTS[:, :1]),
    "a batch": lambda x: pb.where(KEPT, x[:, None], 1.0) @ WEIGHTS,
    "a batch of both": lambda x: (
        pb.where(np.array([KEPT, [True, True, True]])[:, None], x[:, None], 1.0)
        @ np.stack([WEIGHTS, np.ones((3, 2))])
    ),
    "einsum": lambda x: pb.einsum("ij,jk->ki", pb.where(KEPT, x, 1.0), pb.constant(WEIGHTS)),
}


@each("name", PRODUCTS)
def test_products_with_tangents_are_as_with_cotangents(name: str) -> None:
    f = PRODUCTS[name]
    x = np.array([[0.5, 0.0, 2.0], [3.0, 0.0, 0.25]])
    by_columns, by_rows = [], []
    for k in range(x.size):
        one = np.eye(x.size)[k].reshape(x.shape)
        by_columns.append(pb.jvp(f, (pb.constant(x),), (one,))[1].numpy().ravel())
    t = pb.Variable(x)
    y = f(t)
    for k in range(y.size):
        one = np.eye(y.size)[k].reshape(y.shape)
        by_rows.append(pb.gradients(y, t, grad_ys=[one])[0].numpy().ravel())
    found = np.stack(by_columns, 1)
    np.testing.assert_allclose(found, np.stack(by_rows), rtol=1e-14)
    assert np.isfinite(found).all()


def test_tangents_of_selections_keep_structural_zeros() -> None:
    chosen = np.array([True, False, True, True, False, True])
    x = np.array([1.0, 0.0, 4.0, 2.0, 0.0, 3.0])
    pair = np.array([0, 1])
    factors = pb.constant(np.array([2.0, -1.0, 0.0, 1.0, 1.0, 0.5]))
    functions = {
        "sort": pb.sort,
        "sort descending": lambda r: pb.sort(r, descending=True),
        "max": lambda r: pb.max(r.reshape(2, 3), axis=0),
        "min": lambda r: pb.min(r.reshape(3, 2), axis=1),
        "median": lambda r: pb.median(r.reshape(2, 3), axis=0),
        "cumulative_max": pb.cumulative_max,
        "cumulative_min": lambda r: pb.cumulative_min(r[1:]),
        "cumulative_prod": lambda r: pb.cumulative_prod(r[1:2]),
        "update of some": lambda r: pb.ones(3, dtype=r.dtype).at[pair].multiply(r[:2]),
        "update by some": lambda r: r.at[pair].multiply(2.0),
        "maximum of some": lambda r: r.at[pair].max(r[1:3]),
        "recurrence": lambda r: _core.linear_recurrence(factors, r, 0)[:2],
        "recurrence by factors": lambda r: _core.linear_recurrence(
            r[1:3], pb.constant(factors[:2]), 0
        )[:1],
    }
    check = Check()
    for name, f in functions.items():

        def g(x, f=f):
            # The slopes of cbrt and sqrt are infinite at the entries that are not chosen.
            return pb.cbrt(f(pb.sqrt(pb.where(chosen, x, 0.0))))

        forward = pb.jacobian(g, mode="forward")(pb.constant(x)).numpy()
        reverse = pb.jacobian(g, mode="reverse")(pb.constant(x)).numpy()
        check.that(np.isfinite(reverse).all(), f"{name}: reverse mode gives {reverse}")
        check.that(np.allclose(forward, reverse, rtol=1e-13), f"{name}: {forward}, {reverse}")
    check.done()


def test_the_limit_in_sums_of_products() -> None:
    """The last paragraph on structural zeros in docs/conventions.md."""
    x, w = np.ones((2, 2)), np.array([[1.0, INF], [2.0, 3.0]])
    columns, rows = np.array([[True, False]]), np.array([[False], [True]])
    full, taps = np.broadcast_to(columns, (2, 2)).copy(), np.array([INF, 1.0]).reshape(2, 1, 1)
    cases = [
        (lambda x: pb.where(columns, x @ w, 0), [[1, 2], [1, 2]]),
        (lambda x: pb.where(columns, pb.einsum("ij,jk->ik", x, w), 0), [[1, 2], [1, 2]]),
        (lambda x: pb.where(rows, x @ w, 0), [[0, 0], [INF, 5]]),
        (lambda x: pb.where(False, x @ w, 0), [[0, 0], [0, 0]]),
        (lambda x: pb.where(full, x @ pb.abs(w), 0), [[np.nan, 2], [np.nan, 2]]),
        (lambda x: pb.where(full, x @ w, 0), [[np.nan, 2], [np.nan, 2]]),
        (lambda x: pb.where(columns | rows, x @ w, 0), [[np.nan, 2], [INF, 5]]),
        # The cotangents for a kernel of the size of x are products of matrices.
        (lambda x: pb.where(rows, pb.nn.conv1d(x[..., None], taps)[..., 0], 0),
         [[np.nan, 0], [INF, 1]]),
    ]  # fmt: skip
    for k, (f, expected) in enumerate(cases):
        np.testing.assert_array_equal(first(f, x)[0], expected, err_msg=str(k))
    (slope,) = first(lambda x: pb.where(rows, pb.nn.conv1d(x, taps)[..., 0], 0), np.ones((2, 3, 1)))
    np.testing.assert_array_equal(slope[..., 0], [[np.nan] * 3, [INF, INF, np.nan]])
    (_, slope) = first(lambda x, w: pb.where(full, x @ pb.abs(w), 0), x, w)
    np.testing.assert_array_equal(slope, [[2, 0], [2, 0]])
    (slope, _) = first(lambda x, w: pb.where(full, x @ pb.abs(w), 0), x, w)
    np.testing.assert_array_equal(slope, [[1, 2], [1, 2]])
