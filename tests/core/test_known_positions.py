"""Positions that a traced function has as constants: entries are moved as slices, with the values,
gradients and errors of any other positions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback import _core

X = np.random.default_rng(7).standard_normal((4, 5, 3))
LISTS: dict[str, Any] = {
    "one": 3,
    "last": -1,
    "steps": [0, 2, 4],
    "backwards": [4, 2, 0],
    "from_the_end": [-1, -2, -3],
    "across_the_end": [-1, 0, 1],
    "permuted": [2, 0, 1, 4, 3],
    "two_runs": [0, 1, 3, 4],
    "equal": [2, 2, 2],
    "repeated": [3, 1, 3],
    "matrix": [[0, 1], [3, 4]],
    "unsorted_matrix": [[4, 0], [1, 2]],
}


def added(at: np.ndarray, values: np.ndarray, into: np.ndarray) -> np.ndarray:
    out = into.copy()
    np.add.at(out, (slice(None), at), values)
    return out


@each("name", LISTS)
def test_values_and_gradients_are_those_of_numpy(name: str) -> None:
    at = np.array(LISTS[name])
    taken = np.take(X, at, 1)
    w = np.random.default_rng(8).standard_normal(taken.shape)

    def both(x: Any, w: Any) -> Any:
        def loss(x: Any) -> Any:
            return pb.sum(pb.take(x, LISTS[name], axis=1) ** 2 * w)

        return pb.take(x, at, axis=1), pb.grad(loss)(x)

    for f in (both, pb.function(both)):
        value, gradient = f(pb.constant(X), pb.constant(w))
        assert np.array_equal(value.numpy(), taken)
        np.testing.assert_allclose(
            gradient.numpy(), added(at, 2 * taken * w, np.zeros_like(X)), rtol=1e-14
        )


@each("name", LISTS)
def test_updates_are_those_of_numpy(name: str) -> None:
    at = np.array(LISTS[name])
    w = np.random.default_rng(9).standard_normal(np.take(X, at, 1).shape)

    def updates(x: Any, w: Any) -> Any:
        return x.at[:, at].set(w), x.at[:, at].add(w), (x * 2).at[:, at].set(w)

    expected = X.copy()
    expected[:, at] = w
    doubled = X * 2
    doubled[:, at] = w
    for f in (updates, pb.function(updates)):
        wanted = (expected, added(at, w, X), doubled)
        for got, want in zip(f(pb.constant(X), w), wanted, strict=True):
            np.testing.assert_allclose(got.numpy(), want, rtol=1e-15)


def test_a_constant_step_is_a_view() -> None:
    f = pb.function(lambda x: pb.take(x, [0, 2, 4], axis=1) * 2.0 + x[:, np.arange(4, 1, -1)])
    np.testing.assert_array_equal(f(X).numpy(), X[:, [0, 2, 4]] * 2 + X[:, 4:1:-1])
    text = f.plan(X)
    assert "tiles" in text and "gather" not in text and "copy" not in text


def test_many_short_runs_are_one_gather() -> None:
    x = np.random.default_rng(12).standard_normal(20)
    at = [0, 5, 3, 9, 1, 8, 2]
    f = pb.function(lambda x: (pb.take(x, at), pb.grad(lambda x: pb.sum(x[at] ** 3))(x)))
    taken, gradient = f(x)
    assert np.array_equal(taken.numpy(), x[at])
    np.testing.assert_allclose(
        gradient.numpy(), added(at, 3 * x[at] ** 2, np.zeros((1, 20)))[0], rtol=1e-14
    )
    text = f.plan(x)
    assert "gather" in text and "copy" not in text
    rows = np.random.default_rng(13).standard_normal((20, 50))
    g = pb.function(lambda x: pb.take(x, at, axis=0))
    assert np.array_equal(g(rows).numpy(), rows[at])
    assert g.plan(rows).count("copy") > 4  # seven copies of 50 entries


def test_distinct_positions_need_no_zeros() -> None:
    f = pb.function(lambda g: pb.grad(lambda x: pb.sum(x[:, [2, 0, 1, 4, 3]] * g))(pb.ones_like(X)))
    text = re.sub("  in .*", "", f.plan(X))  # the names of the operations
    assert "copy" in text and "scatter" not in text and "embed" not in text and "add" not in text


def test_each_list_has_a_plan_of_its_own() -> None:
    functions = [
        (at, pb.function(lambda x, at=at: pb.take(x, at, axis=1)))
        for at in ([0, 1], [1, 2], [2, 1], [0, 2, 4], [3, 0, 1])
    ]
    for at, f in functions:
        assert np.array_equal(f(X).numpy(), X[:, at])


def test_positions_that_are_arguments_are_read_by_each_call() -> None:
    f = pb.function(lambda x, at: pb.take(x, at, axis=1))
    v = pb.Variable(np.array([0, 1]), trainable=False)
    g = pb.function(lambda x: pb.take(x, v, axis=1))
    for at in ([0, 1], [4, 2], [1, 1]):
        v.assign(np.array(at))
        for got in (f(X, np.array(at)), g(X)):
            assert np.array_equal(got.numpy(), X[:, at])


def test_outside_of_functions_positions_need_no_plans() -> None:
    x = pb.constant(X[0])
    before = None
    for k in range(5):
        at = np.array([k, (2 * k) % 5])
        assert np.array_equal((pb.take(x, at, axis=0) + 1).numpy(), X[0][at] + 1)
        assert np.array_equal((pb.take(x, k, axis=0) + 1).numpy(), X[0][k] + 1)
        before = before or _core.status()["plan_misses"]
    assert _core.status()["plan_misses"] == before


def test_positions_outside_are_an_error() -> None:
    for at in ([0, 5], [-6, 0], 5):
        with pytest.raises(IndexError, match="out of range"):
            pb.function(lambda x, at=at: pb.take(x, at, axis=1))(X)


def test_complex_entries() -> None:
    z = X + 1j * X[::-1]
    for at in ([0, 2, 4], [3, 0, 1]):
        f = pb.function(lambda z, at=at: (pb.take(z, at, axis=1), z.at[:, at].set(1j)))
        taken, written = f(z)
        expected = z.copy()
        expected[:, at] = 1j
        assert np.array_equal(taken.numpy(), z[:, at])
        assert np.array_equal(written.numpy(), expected)


@each("update", ["set", "add", "multiply", "max"])
def test_a_few_columns_of_many_rows(update: str) -> None:
    """The rows are done together, also for positions that a call brings."""
    rng = np.random.default_rng(10)
    x = rng.standard_normal((5000, 6)).astype(np.float32)
    at = np.array([4, -6, 4, 1])
    w = rng.standard_normal((5000, 4)).astype(np.float32)
    expected = x.copy()
    for k, column in enumerate(at):
        old, new = expected[:, column], w[:, k]
        by = {"set": new, "add": old + new, "multiply": old * new, "max": np.maximum(old, new)}
        expected[:, column] = by[update]
    got = getattr(pb.constant(x).at[:, pb.constant(at)], update)(w)
    assert np.array_equal(got.numpy(), expected)
    assert np.array_equal(pb.take(x, pb.constant(at), axis=1).numpy(), x[:, at])


def test_copies_of_columns_are_one_step() -> None:
    x = np.random.default_rng(11).standard_normal((3000, 4)).astype(np.float32)
    for at in ([1, 0], [2, 0, 1], [3, 1, 2, 0], [3, 1, 3]):

        def both(x: Any, at: Any = at) -> Any:
            return pb.take(x, at, axis=1), pb.stack([x[:, k] for k in at[::-1]], axis=1)

        f = pb.function(both)
        for got, want in zip(f(x), (x[:, at], x[:, at[::-1]]), strict=True):
            assert np.array_equal(got.numpy(), want)
        text = f.plan(x)
        assert text.count("tiles") == 1 + (at != [1, 0]) and text.count("copy") == (at == [1, 0])
    exact = x.astype(np.float64)
    g = pb.function(lambda x: pb.grad(lambda x: pb.sum(x[:, [2, 0, 3, 1]] ** 3))(x))
    np.testing.assert_allclose(g(exact).numpy(), 3 * exact**2, rtol=1e-14)
