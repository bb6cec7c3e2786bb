"""Operations that differ in one detail only: they are neither merged within a plan nor mistaken for
each other between two plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.array([[3.0, -1.0, 2.0], [0.5, 4.0, -2.0], [7.0, 2.5, 1.5]])
AT = np.array([2, 0, 1])
WIDE = np.arange(12.0).reshape(3, 4)[:, ::-1] ** 2 % 7

# Functions of one square matrix of which each pair differs in an attribute, a window or a dtype.
PAIRS: dict[str, list[Callable[[Any, Any], Any]]] = {
    "sum": [lambda np, x: np.sum(x, 0), lambda np, x: np.sum(x, 1)],
    "max": [lambda np, x: np.max(x, 0), lambda np, x: np.max(x, 1)],
    "argmax": [lambda np, x: np.argmax(x, 0), lambda np, x: np.argmax(x, 1)],
    "cumsum": [lambda np, x: np.cumsum(x, 0), lambda np, x: np.cumsum(x, 1)],
    "sort": [lambda np, x: np.sort(x, axis=0), lambda np, x: np.sort(x, axis=1)],
    "transpose": [lambda np, x: x.T + 1, lambda np, x: x + 1],
    "slice": [lambda np, x: x[:2] + 1, lambda np, x: x[1:] + 1],
    "step": [lambda np, x: x[0:2] * 2, lambda np, x: x[0:3:2] * 2],
    "reversed": [lambda np, x: x[::-1] * 2, lambda np, x: x[:, ::-1] * 2],
    "number": [lambda np, x: x + 1, lambda np, x: x + 2],
    "pad": [lambda np, x: np.pad(x, ((0, 1), (0, 0))), lambda np, x: np.pad(x, ((1, 0), (0, 0)))],
    "take": [lambda np, x: np.take(x, AT, axis=0), lambda np, x: np.take(x, AT, axis=1)],
    "diff": [lambda np, x: np.diff(x, axis=0)[:, :2], lambda np, x: np.diff(x, axis=1)[:2]],
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("traced", [False, True])
def test_pairs(name: str, traced: bool) -> None:
    first, second = PAIRS[name]
    one, other = first(np, X), second(np, X)
    assert one.shape == other.shape and not np.array_equal(one, other)

    def values(f: Callable[[Any], Any]) -> Any:
        return (pb.function(f) if traced else f)(pb.constant(X))

    together = values(lambda x: (first(pb, x), second(pb, x)))
    np.testing.assert_allclose(together[0].numpy(), one)
    np.testing.assert_allclose(together[1].numpy(), other)
    for f, expected in ((first, one), (second, other)):
        np.testing.assert_allclose(values(lambda x, f=f: f(pb, x)).numpy(), expected)


@pytest.mark.parametrize("traced", [False, True])
def test_dtypes(traced: bool) -> None:
    x = pb.constant([1 / 3, 1e10])

    def both(x: Any) -> Any:
        return pb.cast(x, "float64") * 3, pb.cast(x, "int64") * 3, pb.cast(x, "float32") * 3

    found = (pb.function(both) if traced else both)(x)
    assert [str(y.dtype) for y in found] == ["float64", "int64", "float32"]
    assert [y.numpy()[0] for y in found] == [np.float64(np.float32(1 / 3)) * 3, 0, 1.0]


def test_pieces_in_other_places() -> None:
    """Cotangents of two slices of one shape, of which each is put in its own place."""
    x = pb.Variable(np.arange(5.0))
    y = pb.sum(x[:2] * x[:2]) + pb.sum(x[0:4:2] * x[2:4]) * 10 + pb.sum(x[::-1][:2] * x[:2]) * 100
    expected = np.zeros(5)
    a = np.arange(5.0)
    expected[:2] += 2 * a[:2]
    expected[0:4:2] += 10 * a[2:4]
    expected[2:4] += 10 * a[0:4:2]
    expected[[4, 3]] += 100 * a[:2]
    expected[:2] += 100 * a[[4, 3]]
    np.testing.assert_allclose(pb.gradients(y, x)[0].numpy(), expected)


def test_windows_that_are_set_to_the_same() -> None:
    def both(x: Any, v: Any) -> Any:
        return x.at[0:2].set(v), x.at[1:3].set(v), x.at[0:3:2].set(v)

    found = pb.function(both)(np.zeros((3, 2)), np.ones((2, 2)))
    columns = [y.numpy()[:, 0].tolist() for y in found]
    assert columns == [[1, 1, 0], [0, 1, 1], [1, 0, 1]]


def test_taken_along_two_axes_at_the_same_positions() -> None:
    x = pb.Variable(X)
    at = pb.constant([2, 0, 2])
    y = pb.sum(pb.take(x, at, axis=0) * X) + pb.sum(pb.take(x, at, axis=1) * WIDE[:, :3])
    expected = np.zeros((3, 3))
    np.add.at(expected, [2, 0, 2], X)
    np.add.at(expected.T, [2, 0, 2], WIDE[:, :3].T)
    np.testing.assert_allclose(pb.gradients(y, x)[0].numpy(), expected)


def test_zeros_of_either_sign() -> None:
    z = pb.constant([-0.0, 1.0])
    sums = pb.function(lambda z: (z + 0.0, 0.0 + z, z - (-0.0), z + (-0.0), z - 0.0))(z)
    assert [bool(np.signbit(y.numpy()[0])) for y in sums] == [False, False, False, True, True]


def test_operations_that_read_dense_memory_get_slices() -> None:
    x = pb.constant(WIDE)
    for piece, own in ((x[:, :2], WIDE[:, :2]), (x[:, 1:3], WIDE[:, 1:3]), (x.T, WIDE.T)):
        np.testing.assert_array_equal(pb.argmax(piece, 1).numpy(), np.argmax(own, 1))
        np.testing.assert_array_equal(pb.argmin(piece, 0).numpy(), np.argmin(own, 0))
        found = pb.searchsorted(pb.constant([1.0, 3.0, 5.0]), piece)
        np.testing.assert_array_equal(found.numpy(), np.searchsorted([1.0, 3.0, 5.0], own))


@pytest.mark.parametrize("order", [1, 2, 3])
def test_series_of_functions_along_two_axes(order: int) -> None:
    """Terms of higher order look for equal operations: along which axis is a part of that."""

    def f(t: Any) -> Any:
        x = X * t + 0.25 * WIDE[:, :3]
        both = pb.softmax(x, 0) * pb.softmax(x, 1) + pb.logsumexp(x, 0) - pb.logsumexp(x, 1)
        return pb.sum(both * X)

    derivative = f
    for _ in range(order):
        derivative = pb.grad(derivative)
    t = pb.constant(0.5, "float64")
    terms = pb.jet(f, (t,), ([1.0, *(order - 1) * [0.0]],))[1]
    np.testing.assert_allclose(float(terms[order - 1]), float(derivative(t)), rtol=1e-9)


def summed_from_the_end(t: Any, axis: int) -> Any:
    return np.flip(np.cumsum(np.flip(t, axis), axis), axis)


NINE = np.arange(9.0)

# Rules that are linear in g, and their transposes.
ALIKE: dict[str, Any] = {
    "attributes": (
        lambda g: pb.cumulative_sum(g, axis=0) + pb.cumulative_sum(g, axis=1),
        lambda t: summed_from_the_end(t, 0) + summed_from_the_end(t, 1),
    ),
    "shapes": (
        lambda g: (
            pb.reshape(pb.cumulative_sum(pb.reshape(g, (1, 9)), axis=1), (3, 3))
            + pb.reshape(pb.reshape(g, (9, 1)) * NINE[:, None], (3, 3))
        ),
        lambda t: (summed_from_the_end(t.reshape(9), 0) + t.reshape(9) * NINE).reshape(3, 3),
    ),
    "dtypes": (
        lambda g: (
            pb.cast(pb.cast(g, "float16"), "float64") + pb.cast(pb.cast(g, "float32"), g.dtype)
        ),
        lambda t: t.astype(np.float16).astype(float) + t.astype(np.float32).astype(float),
    ),
}


@each("name", ALIKE)
def test_operations_that_differ_in_one_detail_keep_their_terms(name: str) -> None:
    """Terms of higher order look for equal operations. Those of a rule have the same operands here
    and differ in an axis, a shape or a dtype."""
    rule, transposed = ALIKE[name]
    f = pb.custom_gradient(lambda x: (x * 1.0, rule))
    given = np.random.default_rng(0).standard_normal((3, 3, 3))
    terms = pb.jet(f, (NINE.reshape(3, 3),), (list(given),))[1]
    for term, t in zip(terms, given, strict=True):
        np.testing.assert_allclose(term.numpy(), transposed(t), rtol=1e-12)
