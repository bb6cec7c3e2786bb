"""Sorts, searches, sets, quantiles and counts against NumPy; stability, NaN, ties; gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

nan, inf = np.nan, np.inf
DTYPES = ["bool", "int32", "int64", "float32", "float64"]


def slope(f: Any, x: Any) -> Any:
    v = pb.Variable(np.asarray(x, np.float64))
    return pb.gradients(f(v), v)[0].numpy()


@pytest.mark.parametrize("dtype", DTYPES)
def test_against_numpy(dtype: str) -> None:
    rng = np.random.default_rng(0)
    shapes = ((1,), (9,), (0,), (3, 5), (2, 0, 3), (300,), (2, 1500), (3000, 3), (5000,), (140000,))
    for shape in shapes:
        for scale in (2, 1e6):
            x = (rng.normal(size=shape) * scale).astype(dtype)
            for axis in range(len(shape)):
                np.testing.assert_array_equal(pb.sort(x, axis=axis).numpy(), np.sort(x, axis))
                want = np.argsort(x, axis, kind="stable")
                np.testing.assert_array_equal(pb.argsort(x, axis=axis).numpy(), want)
                down = pb.sort(x, axis=axis, descending=True).numpy()
                np.testing.assert_array_equal(down, np.flip(np.sort(x, axis), axis))
                negated = ~x if dtype == "bool" else -x
                want = np.argsort(negated, axis, kind="stable")
                got = pb.argsort(x, axis=axis, descending=True).numpy()
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", [10, 3000])
def test_zeros_and_nan(dtype: str, length: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice(np.array([0.0, -0.0, 1.0, -1.0, inf, -inf, nan], dtype), length)
    for descending in (False, True):
        order = pb.argsort(x, descending=descending).numpy()
        got = pb.sort(x, descending=descending).numpy()
        np.testing.assert_array_equal(got, x[order])
        numbers = ~np.isnan(x[order])
        assert (np.signbit(got) == np.signbit(x[order]))[numbers].all()
        assert np.isnan(got[numbers.sum() :]).all()
        key = -x if descending else x
        np.testing.assert_array_equal(order, np.argsort(key, kind="stable"))


def test_extreme_integers() -> None:
    limits = np.iinfo(np.int64)
    x = np.array([5, limits.max, limits.min, -1, 0, limits.max])
    np.testing.assert_array_equal(pb.sort(x).numpy(), np.sort(x))
    np.testing.assert_array_equal(pb.argsort(x, descending=True).numpy(), [1, 5, 0, 4, 3, 2])


def test_threads_do_not_matter() -> None:
    x = np.random.default_rng(0).integers(0, 1000, 300_000).astype(np.float64)
    before = pb.num_threads()
    try:
        for threads in (1, 4):
            pb.set_num_threads(threads)
            np.testing.assert_array_equal(pb.argsort(x).numpy(), np.argsort(x, kind="stable"))
            np.testing.assert_array_equal(pb.sort(x).numpy(), np.sort(x))
    finally:
        pb.set_num_threads(before)


def test_a_sort_gives_back_what_it_took() -> None:
    x = np.array([[3.0, 1.0, 2.0], [5.0, 5.0, 4.0]])
    weights = np.array([[1.0, 10.0, 100.0], [1.0, 10.0, 100.0]])
    got = slope(lambda v: pb.sort(v) * weights, x)
    np.testing.assert_array_equal(got, [[100, 1, 10], [10, 100, 1]])
    got = slope(lambda v: pb.sort(v, axis=0, descending=True)[0], x)
    np.testing.assert_array_equal(got, [[0, 0, 0], [1, 1, 1]])
    with pb.GradientTape() as tape:
        v = pb.constant(x)
        tape.watch(v)
        y = pb.sort(v) ** 2
    assert tape.jacobian(y, v).shape == (2, 3, 2, 3)


def test_what_was_not_chosen_is_a_structural_zero() -> None:
    x = [0.0, 4.0, 9.0]
    for f in (lambda v: pb.median(pb.sqrt(v)), lambda v: pb.topk(pb.sqrt(v), 2)[0]):
        assert np.isfinite(slope(f, x)).all()
    np.testing.assert_array_equal(slope(lambda v: pb.sort(pb.sqrt(v))[1:], x)[0], 0.0)


def test_topk_and_partition() -> None:
    x = np.array([[3.0, 1.0, nan, 2.0], [1.0, 1.0, 5.0, 0.0]])
    values, positions = pb.topk(x, 2)
    np.testing.assert_array_equal(values.numpy(), [[3, 2], [5, 1]])
    np.testing.assert_array_equal(positions.numpy(), [[0, 3], [2, 0]])
    values, positions = pb.topk(x, 2, axis=0, largest=False)
    np.testing.assert_array_equal(positions.numpy()[0], [1, 0, 1, 1])
    for k in (0, -1, [1, 2]):
        assert pb.partition(x, k).shape == x.shape
        assert pb.argpartition(x, k, axis=1).dtype == "int64"
    with pytest.raises(ValueError, match="topk: expected k from 0 to 4, the size of axis 1, got 5"):
        pb.topk(x, 5)
    with pytest.raises(ValueError, match="partition: expected kth from -4 to 3 for axis 1, got 4"):
        pb.partition(x, 4)


def test_lexsort() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 3, (3, 50))
    np.testing.assert_array_equal(pb.lexsort(keys).numpy(), np.lexsort(keys))
    wide = rng.integers(0, 3, (2, 4, 6))
    for axis in (0, 1):
        np.testing.assert_array_equal(pb.lexsort(wide, axis=axis).numpy(), np.lexsort(wide, axis))


@each("dtype", DTYPES)
@each("side", ["left", "right"])
def test_searchsorted(dtype: str, side: Any) -> None:
    rng = np.random.default_rng(0)
    for length in (0, 1, 2, 7, 100):
        a = np.sort((rng.normal(size=length) * 9).astype(dtype))
        x = (rng.normal(size=(3, 7)) * 9).astype(dtype)
        np.testing.assert_array_equal(
            pb.searchsorted(a, x, side=side).numpy(), np.searchsorted(a, x, side)
        )
    a = np.array([-inf, 0.0, 1.0, inf, nan, nan])
    np.testing.assert_array_equal(
        pb.searchsorted(a, a, side=side).numpy(), np.searchsorted(a, a, side)
    )
    order = np.array([2, 0, 1])
    got = pb.searchsorted([2.0, 3.0, 1.0], 2.5, side=side, sorter=order).numpy()
    assert got == np.searchsorted([2.0, 3.0, 1.0], 2.5, side, order)
    with pytest.raises(ValueError, match="searchsorted: side must be one of"):
        pb.searchsorted(a, a, side="middle")


def test_positions_and_choices() -> None:
    x = np.array([[0.0, 2.0, nan], [3.0, 0.0, 0.0]])
    for ours, theirs in zip(pb.nonzero(x), np.nonzero(x), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    np.testing.assert_array_equal(pb.argwhere(x).numpy(), np.argwhere(x))
    np.testing.assert_array_equal(pb.flatnonzero(x).numpy(), np.flatnonzero(x))
    np.testing.assert_array_equal(pb.extract(x > 1, x).numpy(), np.extract(x > 1, x))
    for axis in (None, 0, 1):
        want = np.compress([False, True], x, axis)
        np.testing.assert_array_equal(pb.compress([False, True], x, axis=axis).numpy(), want)
    which = np.array([[1], [-4]])
    for mode in ("wrap", "clip"):
        want = np.choose(which, [x, -x], mode=mode)
        np.testing.assert_array_equal(pb.choose(which, [x, -x], mode=mode).numpy(), want)
    with pytest.raises(IndexError):
        pb.choose([2], [x, x]).numpy()
    conditions = [x < 1, x < 3]
    want = np.select(conditions, [x, 2 * x], -1.0)
    np.testing.assert_array_equal(pb.select(conditions, [x, 2 * x], -1.0).numpy(), want)
    want = np.piecewise(x, conditions, [lambda v: v + 1, 7.0, 9.0])
    got = pb.piecewise(x, conditions, [lambda v: v + 1, 7.0, 9.0]).numpy()
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="nonzero"):
        pb.nonzero(1.0)


def test_sets() -> None:
    rng = np.random.default_rng(0)
    for x in (
        rng.integers(0, 5, (4, 6)),
        rng.integers(0, 3, 7) / 2,
        np.zeros(0),
        np.array([nan, 1.0, nan]),
    ):
        got = pb.unique_all(x)
        want = np.unique_all(x)
        for ours, theirs in zip(got, want, strict=True):
            np.testing.assert_array_equal(ours.numpy(), theirs)
        for ours, theirs in zip(
            pb.unique(x, return_index=True, return_inverse=True, return_counts=True),
            np.unique(x, return_index=True, return_inverse=True, return_counts=True),
            strict=True,
        ):
            np.testing.assert_array_equal(ours.numpy(), theirs)
        np.testing.assert_array_equal(pb.unique_values(x).numpy(), want.values)
        np.testing.assert_array_equal(pb.unique_counts(x).counts.numpy(), want.counts)
        inverse = pb.unique_inverse(x).inverse_indices.numpy()
        np.testing.assert_array_equal(inverse, want.inverse_indices)
    a, b = rng.integers(0, 9, (3, 4)), rng.integers(4, 12, 6)
    np.testing.assert_array_equal(pb.isin(a, b).numpy(), np.isin(a, b))
    np.testing.assert_array_equal(pb.isin(a, b, invert=True).numpy(), ~np.isin(a, b))
    assert not pb.isin(a, []).numpy().any()
    np.testing.assert_array_equal(pb.intersect1d(a, b).numpy(), np.intersect1d(a, b))
    np.testing.assert_array_equal(pb.union1d(a, b).numpy(), np.union1d(a, b))
    np.testing.assert_array_equal(slope(pb.unique_values, [2.0, 1.0, 2.0]), [1, 1, 0])


def test_sizes_that_values_decide_need_values() -> None:
    for f in (
        lambda v: pb.nonzero(v)[0],
        pb.argwhere,
        pb.flatnonzero,
        lambda v: pb.extract(v > 0, v),
        lambda v: pb.compress(v > 0, v),
        pb.unique,
        pb.unique_values,
        lambda v: pb.bincount(pb.cast(v, "int64")),
        lambda v: pb.intersect1d(v, v),
    ):
        with pytest.raises(RuntimeError, match="depends on values"):
            pb.function(f)(np.ones(3))
    ask = pb.function(lambda v: (pb.isin(v, [1.0]), pb.digitize(v, [0.0, 2.0]), pb.median(v)))
    assert [y.numpy().tolist() for y in ask(np.ones(2))] == [[True, True], [1, 1], 1.0]


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), ()])
def test_quantiles(axis: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    for keepdims in (False, True):
        want = np.median(x, axis, keepdims=keepdims) if axis != () else x
        got = pb.median(x, axis, keepdims=keepdims).numpy()
        np.testing.assert_allclose(got, want, rtol=1e-14)
    if axis == ():
        return
    methods: Any = (
        *("linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull"),
        *("median_unbiased", "normal_unbiased"),
    )
    for method in methods:
        for q in (0.0, 0.3, 0.5, [0.1, 1.0], [[0.2], [0.9]]):
            want = np.quantile(x, q, axis, method=method)
            got = pb.quantile(x, q, axis, method=method).numpy()
            np.testing.assert_allclose(got, want, rtol=1e-12, err_msg=f"{method} {q}")
    want = np.percentile(x, [25, 75], axis, keepdims=True)
    got = pb.percentile(x, [25, 75], axis, keepdims=True).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-13)
    holes = np.where(x > 1, nan, x)
    np.testing.assert_allclose(
        pb.nanquantile(holes, [0.3, 0.8], axis).numpy(), np.nanquantile(holes, [0.3, 0.8], axis)
    )
    np.testing.assert_allclose(pb.nanmedian(holes, axis).numpy(), np.nanmedian(holes, axis))
    np.testing.assert_array_equal(
        np.isnan(pb.median(holes, axis).numpy()), np.isnan(np.median(holes, axis))
    )


def test_ends_of_quantiles() -> None:
    assert pb.quantile([1.0, inf], 0.0).item() == 1.0
    assert pb.median([inf, inf]).item() == inf
    assert np.isnan(pb.median(np.zeros(0)).item())
    assert pb.median([3, 1, 2]).item() == 2.0
    np.testing.assert_array_equal(slope(pb.median, [4.0, 1.0, 2.0, 9.0]), [0.5, 0, 0.5, 0])
    np.testing.assert_allclose(
        slope(lambda q: pb.quantile([1.0, 2.0, 4.0], q), 0.7), 4.0, rtol=1e-6
    )
    for q in (-0.1, 1.1, nan):
        with pytest.raises(ValueError, match="quantile: expected q from 0 to 1, got"):
            pb.quantile([1.0], q)
    with pytest.raises(ValueError, match="percentile: method must be one of"):
        pb.percentile([1.0], 5, method="best")


def test_counts() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    weights = rng.normal(size=1000)
    for bins in (10, 1, np.array([-1.0, 0.0, 0.1, 2.0])):
        for density in (False, True):
            for w in (None, weights):
                counts, edges = pb.histogram(x, bins, weights=w, density=density)
                want, want_edges = np.histogram(x, bins, weights=w, density=density)
                np.testing.assert_allclose(counts.numpy(), want, rtol=1e-6 if density else 1e-12)
                np.testing.assert_allclose(edges.numpy(), want_edges, rtol=1e-13)
    counts, edges = pb.histogram([1, 1, 2], 2, range=(0, 4))
    np.testing.assert_array_equal(counts.numpy(), [2, 1])
    counts, edges = pb.histogram([3.0, 3.0])
    want, want_edges = np.histogram([3.0, 3.0])
    np.testing.assert_array_equal(counts.numpy(), want)
    k = rng.integers(0, 7, 100)
    np.testing.assert_array_equal(pb.bincount(k).numpy(), np.bincount(k))
    np.testing.assert_array_equal(
        pb.bincount(k, minlength=10).numpy(), np.bincount(k, minlength=10)
    )
    np.testing.assert_allclose(pb.bincount(k, x[:100]).numpy(), np.bincount(k, x[:100]))
    np.testing.assert_array_equal(
        slope(lambda w: pb.bincount([1, 0, 1], w)[1], np.ones(3)), [1, 0, 1]
    )
    for bins in ([-1.0, 0.0, 1.0], [1.0, 0.0, -1.0], [0.5]):
        for right in (False, True):
            want = np.digitize(np.append(x, bins), bins, right)
            got = pb.digitize(np.append(x, bins), bins, right=right).numpy()
            np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="bincount: expected integers >= 0 for x"):
        pb.bincount([-1])


def test_interp() -> None:
    rng = np.random.default_rng(0)
    xp, fp = np.sort(rng.normal(size=9)), rng.normal(size=9)
    x = np.concatenate([rng.normal(size=50) * 2, xp, [nan]])
    for more in ({}, {"left": -7.0, "right": 9.0}, {"period": 1.5}):
        np.testing.assert_allclose(
            pb.interp(x, xp, fp, **more).numpy(),
            np.interp(x, xp, fp, **more),
            rtol=1e-9,
            atol=1e-12,
        )
    np.testing.assert_array_equal(pb.interp([0.0, 2.0], [1.0], [5.0]).numpy(), [5, 5])
    assert np.isfinite(slope(lambda v: pb.interp([0.5, 1.5], v, [0.0, 1.0, 4.0]), [0, 1, 2])).all()


def test_searching_floats_among_integers() -> None:
    table, x = np.array([1, 2, 3], np.int32), np.array([0.5, 1.5, 2.0, 2.5, 3.5])
    for side in ("left", "right"):
        found = pb.searchsorted(pb.constant(table), pb.constant(x), side=side)
        np.testing.assert_array_equal(found.numpy(), np.searchsorted(table, x, side=side))


def test_a_nan_anywhere_makes_every_quantile_nan():
    x = np.array([[1.0, np.nan, 3.0], [1.0, 2.0, 3.0]])
    for q in (0.0, 0.25, 1.0):
        np.testing.assert_array_equal(pb.quantile(x, q, axis=1), np.quantile(x, q, axis=1))
    np.testing.assert_array_equal(pb.percentile(x, [0, 50], axis=1), np.percentile(x, [0, 50], 1))
    for f in (pb.median, lambda x: pb.quantile(x, 0.25)):
        assert np.isnan(pb.grad(f)(x[0])).any()  # not 0, as if NaN were a minimum
