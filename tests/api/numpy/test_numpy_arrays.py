"""NumPy's functions that insert, assemble, index and split arrays: values, errors, gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.check import Check
from support.each import each

import pullback as pb

RNG = np.random.default_rng(1)
V = RNG.normal(size=5)
X = RNG.normal(size=(3, 4))
CUBE = RNG.normal(size=(2, 3, 4))
BITS = RNG.integers(0, 2, (8, 3))
# Signed zeros, infinities, halves, the ends of the exponents, and numbers beside powers of two.
FLOATS = np.array(
    [1.5, -1.5, 2.0, -2.0, 0.0, -0.0, 1 - 2**-53, -(1 + 2**-52), 5e-324, 3 * 2.0**-1074,
     2.0**-1022, 1.7e308, -1e-300, 0.49999999999999994, 123456.75, 2.0**1023]
)  # fmt: skip


def same(got: Any, want: Any) -> None:
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape and got.dtype.kind == want.dtype.kind
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def check_calls(calls: list[Callable[[Any], Any]]) -> None:
    """Compare each call of pullback with that of NumPy: the value, or the class of the error."""
    check = Check()
    for k, call in enumerate(calls):
        try:
            want = call(np)
        except Exception as error:
            with check.during(f"call {k} raises {error!r}"), pytest.raises(type(error)):
                call(pb)
        else:
            with check.during(f"call {k}"):
                same(call(pb), want)
    check.done()


def test_insert_and_delete() -> None:
    mask = np.array([True, False, True, False, False])
    places: list[Any] = [0, -1, 5, [0], [1, 1], [0, 2, 5], [-1, 0], slice(0, 4, 2), mask, [], 6]
    calls: list[Callable[[Any], Any]] = []
    for at in [*places, slice(4, 0, -2), -6, [0, 9]]:
        for values in (7.0, [1.0, 2.0], [1.0, 2.0, 3.0], [[1.0]]):
            calls.append(lambda m, at=at, values=values: m.insert(V, at, values))
        calls.append(lambda m, at=at: m.delete(V, at))
    for axis in (0, 1, -1, None, 2):
        for at in (0, -1, [0], [1, 1], [0, 2, 3], slice(None, 2)):
            for values in (7.0, [1.0, 2.0, 3.0], [[1.0], [2.0], [3.0]], X, X.T):
                calls.append(
                    lambda m, at=at, values=values, axis=axis: m.insert(X, at, values, axis)
                )
            calls.append(lambda m, at=at, axis=axis: m.delete(X, at, axis))
    calls.append(lambda m: m.insert([1, 2, 3], 1, 2.7))
    check_calls(calls)


def test_blocks_and_positions() -> None:
    corner = RNG.normal(size=(3, 1))
    calls: list[Callable[[Any], Any]] = [
        lambda m: m.block([[m.asarray(X), corner], [m.zeros((1, 4)), 2.0]]),
        lambda m: m.block(1.0),
        lambda m: m.block([1.0, V]),
        lambda m: m.block([[[X, X]], [[X, X]]]),
        lambda m: m.block([V, [V]]),
        lambda m: m.block([]),
        lambda m: m.block((V, V)),
        lambda m: m.block([X, X.T]),
        lambda m: m.indices((2, 3)),
        lambda m: m.indices((2, 3), "float64"),
        lambda m: m.indices((2, 0, 3), sparse=True),
        lambda m: m.indices(()),
        lambda m: m.indices((2, -1)),
        lambda m: m.ix_([0, 1], [2, 3]),
        lambda m: m.ix_([True, False, True], [1], []),
        lambda m: m.ix_([[1]]),
        lambda m: m.unravel_index([[1, 23], [3, 4]], (2, 3, 4)),
        lambda m: m.unravel_index([1, 23], (2, 3, 4), "F"),
        lambda m: m.unravel_index(24, (2, 3, 4)),
        lambda m: m.unravel_index(-1, (2, 3, 4)),
        lambda m: m.unravel_index([1.0], (2, 3, 4)),
        lambda m: m.unravel_index(1, 4, "A"),
        lambda m: m.ravel_multi_index(([0, 1], [1, 2]), (2, 3)),
        lambda m: m.ravel_multi_index(([[0], [1]], [1, 2]), (2, 3), order="F"),
        lambda m: m.ravel_multi_index(([0, 5], [-1, 2]), (2, 3), ("wrap", "clip")),
        lambda m: m.ravel_multi_index(([0, 5], [1, 2]), (2, 3)),
        lambda m: m.ravel_multi_index(([0], [1], [1]), (2, 3)),
        lambda m: m.where(X > 0),
        lambda m: m.where(True),
        lambda m: (m.shape(X), m.ndim(X), m.size(X), m.size(X, 0), m.size(X, (0, 1)), m.size(3)),
        lambda m: m.copy(X),
        lambda m: m.array([[1.0, 2.0]], "float64", ndmin=3),
        lambda m: m.array(X, copy=None),
    ]
    check_calls(calls)
    x = pb.Variable(X)
    same(x[pb.ix_([2, 0], [1, 3])], X[np.ix_([2, 0], [1, 3])])
    traced = pb.function(lambda i: pb.unravel_index(i, (2, 3)))
    same(traced(np.array([1, 5])), np.unravel_index([1, 5], (2, 3)))
    with pytest.raises(IndexError):
        pb.evaluate(traced(np.array([1, 6])))
    with pytest.raises(IndexError):
        pb.evaluate(traced(np.array([-1, 5])))


@each("dtype", ["float16", "float32", "float64"])
def test_parts_of_floats(dtype: str) -> None:
    with np.errstate(over="ignore", under="ignore"):
        x = np.concatenate([FLOATS, RNG.normal(size=300) * 10.0 ** RNG.integers(-300, 300, 300)])
        x = x.astype(dtype)
        powers = np.array([-3000, -1100, -1075, -1022, -150, -24, -3, 0, 5, 128, 1024, 2100, 3000])
        for name in ("frexp", "modf"):
            finite = x[np.isfinite(x)]
            got, want = getattr(pb, name)(finite), getattr(np, name)(finite)
            for one, other in zip(got, want, strict=True):
                np.testing.assert_array_equal(np.signbit(one.numpy()), np.signbit(other))
                np.testing.assert_array_equal(one.numpy(), other)
                assert one.dtype == other.dtype
        got, want = pb.ldexp(x[:, None], powers), np.ldexp(x[:, None], powers)
        np.testing.assert_array_equal(got.numpy(), want)
    assert got.dtype == want.dtype
    inf = np.array([np.inf, -np.inf, np.nan], dtype)
    same(pb.modf(inf), np.modf(inf))
    assert pb.frexp(inf)[1].tolist() == [0, 0, 0]
    with pytest.raises(TypeError, match=r"^ldexp: expected integers for y, got float64"):
        pb.ldexp(x, np.array(1.5))


def test_divisors() -> None:
    for dtype in ("int8", "uint8", "int32", "int64"):
        i, j = (RNG.integers(-60, 60, shape).astype(dtype) for shape in ((4, 1), 5))
        for name in ("gcd", "lcm"):
            got, want = getattr(pb, name)(i, j), getattr(np, name)(i, j)
            np.testing.assert_array_equal(got.numpy(), want)
            assert got.dtype == want.dtype
            rows = pb.vmap(getattr(pb, name), (0, None))(i, j)
            np.testing.assert_array_equal(rows.numpy(), want)
            np.testing.assert_array_equal(pb.function(getattr(pb, name))(i, j).numpy(), want)
    mixed = np.uint8(200), np.array([-100, 24], np.int8)
    same(pb.gcd(*mixed), np.gcd(*mixed))
    assert pb.gcd(*mixed).dtype == np.gcd(*mixed).dtype == "int16"
    with pytest.raises(TypeError, match=r"^lcm: expected integers of a common dtype, got float"):
        pb.lcm(np.uint64(1), np.int64(1))
    assert pb.gcd(0, 0).item() == 0
    assert np.lcm(pb.constant([4, 6]), 10).tolist() == [20, 30]
    for bad in (1.5, True):
        with pytest.raises(TypeError, match=r"^gcd: expected integers"):
            pb.gcd(bad, bad)


def test_functions_of_the_program_along_axes() -> None:
    check_calls(
        [
            *(lambda m, k=k: m.apply_along_axis(lambda v: m.sum(v * v), k, CUBE) for k in range(4)),
            *(lambda m, k=k: m.apply_along_axis(lambda v: m.outer(v, v), k, CUBE) for k in (0, -2)),
            lambda m: m.apply_along_axis(lambda v, a, b: v[:1] * a + b, 1, CUBE, 2.0, b=3.0),
            lambda m: m.apply_along_axis(m.sum, 0, np.zeros((3, 0))),
            lambda m: m.apply_over_axes(m.sum, CUBE, [0, 2]),
            lambda m: m.apply_over_axes(m.cumsum, CUBE, -1),
            lambda m: m.apply_over_axes(m.sum, CUBE, 5),
        ]
    )


def test_equal_arrays() -> None:
    nan = np.array([1.0, np.nan])
    pairs: list[Any] = [
        ([1, 2], [1.0, 2.0]), ([1], [1, 1]), (nan, nan), ([True], [1]), ([1j], [1j]), ([], []),
        ([[]], []), (1, [1, 1]), ([1, 2], [[1, 2], [1, 2]]), ([1], [2]), ([1, 2, 3], [1, 2]),
    ]  # fmt: skip
    calls: list[Callable[[Any], Any]] = []
    for pair in pairs:
        calls.append(lambda m, pair=pair: m.array_equal(*pair))
        calls.append(lambda m, pair=pair: m.array_equal(*pair, equal_nan=True))
        calls.append(lambda m, pair=pair: m.array_equiv(*pair))
    check_calls(calls)


def test_distinct_slices() -> None:
    arrays = [BITS, BITS[:, :2].reshape(2, 4, 2), np.zeros((0, 3)), np.zeros((3, 0)), -0.0 * BITS]
    check_calls(
        [
            lambda m, x=x, k=k: m.unique(x, True, True, True, k)
            for x in arrays
            for k in (0, 1, -1, 3)
        ]
    )
    rows = np.array([[1.0, np.nan], [0.0, 2.0], [1.0, np.nan]])
    assert pb.unique(rows, axis=0).shape == (2, 2)
    assert pb.unique(rows, axis=0, equal_nan=False).shape == (3, 2)
    x = np.array([[1.0, 2.0], [0.0, 5.0], [1.0, 2.0]])
    slopes = pb.grad(lambda x: pb.sum(pb.unique(x, axis=0) ** 2))(x)
    same(slopes, [[2.0, 4.0], [0.0, 10.0], [0.0, 0.0]])
    with pytest.raises(TypeError, match=r"^unique: expected real numbers"):
        pb.unique([[1j]], axis=0)


@each("rule", ["auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt", "other"])
@pytest.mark.filterwarnings("ignore:The number of bins estimated:RuntimeWarning")
def test_rules_for_bins(rule: str) -> None:
    samples = [RNG.normal(size=200), RNG.integers(0, 10, 100), np.ones(3), np.array([1.0, np.nan])]
    calls: list[Callable[[Any], Any]] = [
        lambda m, x=x: m.histogram(m.asarray(x, "float64"), bins=rule) for x in samples
    ]
    check_calls([*calls, lambda m: m.histogram(V, rule, (0.0, 1.0))])
    with pytest.raises(TypeError, match=r"^histogram: .* with weights"):
        pb.histogram(V, rule, weights=V)


def test_polyfit() -> None:
    x = np.linspace(-1.0, 2.0, 9)
    y = np.stack([np.sin(x), np.exp(x)], 1)
    options: list[dict[str, Any]] = [
        {}, {"w": 1 + x * x}, {"full": True}, {"cov": True}, {"cov": "unscaled", "w": 2 + x},
    ]  # fmt: skip
    check_calls(
        [
            lambda m, y=y, degree=degree, extra=extra: m.polyfit(x, y, degree, **extra)
            for y in (y, y[:, 0])
            for degree in (0, 1, 3)
            for extra in options
        ]
    )
    assert pb.polyfit([0, 1, 2], y[:3, 0], 1).dtype == "float64"
    assert pb.polyfit([0, 1, 2], [1, 2, 4], 1).dtype == "float32"
    pb.testing.check_gradients(lambda x, y, w: pb.polyfit(x, y, 2, w=w), x, y[:, 1], 2 + x)
    pb.testing.check_gradients(lambda y: pb.polyfit(x, y, 1, cov=True)[1], y)
    with pytest.warns(np.exceptions.RankWarning, match="^polyfit: ") as caught:
        pb.polyfit([1.0, 1.0], [1.0, 2.0], 1)
    assert caught[0].filename == __file__
    for bad in (([1.0], [1.0], -1), ([1.0], [1.0, 2.0], 1), ([], [], 1)):
        with pytest.raises(ValueError, match=r"^polyfit: "):
            pb.polyfit(*bad)


SLOPES: list[Callable[[Any], Any]] = [
    lambda x: pb.insert(x, [1, 3], x[0] * x[1]),
    lambda x: pb.insert(x, 2, x[:2] ** 2),
    lambda x: pb.delete(x, [0, -1]),
    lambda x: pb.block([[x * x, 1.0], [3.0, x]]),
    lambda x: pb.apply_along_axis(lambda v: v * pb.sum(v), 1, pb.outer(x, x)),
    lambda x: pb.apply_over_axes(pb.sum, pb.outer(x, x), (0, 1)),
    lambda x: pb.ldexp(x, [1, 0, -2, 5, 3]),
    lambda x: pb.frexp(x)[0],
    lambda x: pb.modf(3.0 * x)[0],
    lambda x: pb.unique(pb.outer(x, x), axis=0),
    lambda x: pb.copy(x),
    lambda x: pb.array([[x[0], x[1] * x[2]], [1.0, x[3]]], ndmin=3),
    lambda x: x[pb.where(x > 0)],
]


@each("call", SLOPES)
def test_gradients(call: Callable[[Any], Any]) -> None:
    pb.testing.check_gradients(lambda x: call(x) * pb.sum(x), V)
