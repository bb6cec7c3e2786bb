"""Pools, windows as such and resizing against plain loops."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.each import each
from support.windows import numbers, same_both_ways

import pullback as pb
from pullback import nn

CASES = [
    # axes, size, stride, padding, dilation
    ((7, 8), (2, 3), (2, 3), "VALID", (1, 1)),
    ((7, 8), (3, 3), (2, 2), "SAME", (1, 1)),
    ((7, 8), (3, 2), (1, 2), ((1, 1), (0, 1)), (2, 1)),
    ((11,), (3,), (1,), "SAME", (2,)),
    ((4, 5, 6), (2, 2, 3), (1, 2, 2), "SAME", (1, 1, 1)),
    # each entry in one window; many taps
    ((7, 8), (2, 4), (2, 4), "SAME", (1, 1)),
    ((9, 11), (5, 6), (5, 6), "SAME", (1, 1)),
    ((9, 11), (5, 4), (3, 4), "SAME", (1, 1)),
]


def windows(lengths: Any, size: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    """For each window the places inside that it sees, as a list."""
    along, counts = [], []
    for axis, (n, k, s, d) in enumerate(zip(lengths, size, stride, dilation, strict=True)):
        span = (k - 1) * d + 1
        before, behind = (0, 0) if isinstance(padding, str) else padding[axis]
        if padding == "SAME":
            missing = max((-(-n // s) - 1) * s + span - n, 0)
            before, behind = missing // 2, missing - missing // 2
        out = (n + before + behind - span) // s + 1
        counts.append(out)
        along.append([[i * s + t * d - before for t in range(k)] for i in range(out)])
    found = {}
    for where in product(*(range(n) for n in counts)):
        seen = product(*(along[axis][i] for axis, i in enumerate(where)))
        found[where] = [p for p in seen if all(0 <= i < n for i, n in zip(p, lengths, strict=True))]
    return found, counts


def by_loops(x: Any, found: Any, counts: Any, combine: Any) -> Any:
    y = np.zeros((x.shape[0], *counts, x.shape[-1]), x.dtype)
    for where, places in found.items():
        seen = np.stack([x[(slice(None), *p)] for p in places])
        y[(slice(None), *where)] = combine(seen)
    return y


@pytest.mark.parametrize("axes, size, stride, padding, dilation", CASES)
@each("dtype", ["float32", "float64", "int32", "int64"])
@each("channels", [1, 3, 70])
def test_max(
    axes: Any, size: Any, stride: Any, padding: Any, dilation: Any, dtype: str, channels: int
) -> None:
    x = (numbers(2, *axes, channels) * 9).astype(dtype)
    found, counts = windows(axes, size, stride, padding, dilation)
    settings = {"stride": stride, "padding": padding, "dilation": dilation}
    expected = by_loops(x, found, counts, lambda seen: seen.max(0))
    y = nn.max_pool(x, size, **settings)
    np.testing.assert_array_equal(y.numpy(), expected)
    last = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[len(axes)]
    turned = nn.max_pool(np.moveaxis(x, -1, 1), size, data_format=last, **settings)
    np.testing.assert_array_equal(turned.numpy(), np.moveaxis(expected, -1, 1))
    if dtype[0] == "i":
        return
    v = pb.Variable(x)
    g = numbers(*expected.shape, seed=1).astype(dtype)
    (dx,) = pb.gradients(pb.sum(nn.max_pool(v, size, **settings) * g), [v])
    sent = np.zeros_like(x)
    for where, places in found.items():
        first = np.stack([x[(slice(None), *p)] for p in places]).argmax(0)
        for n, c in np.ndindex(first.shape):
            sent[(n, *places[first[n, c]], c)] += g[(n, *where, c)]
    np.testing.assert_allclose(dx.numpy(), sent, rtol=1e-5, atol=1e-6)


@each("channels", [1, 70])
def test_max_of_equals_and_nan(channels: int) -> None:
    x = pb.Variable(np.repeat([[[1.0], [1.0], [0.0], [np.nan], [2.0], [np.nan]]], channels, -1))
    y = nn.max_pool(x, 3)
    assert (np.isnan(y.numpy()) == [[[False], [True]]]).all() and (y.numpy()[0, 0] == 1).all()
    (g,) = pb.gradients(pb.sum(y), [x])
    expected = np.repeat([[[1], [0], [0], [1], [0], [0]]], channels, -1)
    np.testing.assert_array_equal(g.numpy(), expected)
    low = nn.max_pool(np.full((1, 3, 1), -np.inf), 2, padding="SAME")
    np.testing.assert_array_equal(low.numpy(), np.full((1, 2, 1), -np.inf))


@pytest.mark.parametrize(
    "axes, size, stride, padding, dilation", [c for c in CASES if max(c[4]) == 1]
)
def test_avg(axes: Any, size: Any, stride: Any, padding: Any, dilation: Any) -> None:
    x = numbers(2, *axes, 20)
    found, counts = windows(axes, size, stride, padding, dilation)
    settings = {"stride": stride, "padding": padding}
    expected = by_loops(x, found, counts, lambda seen: seen.mean(0))
    np.testing.assert_allclose(nn.avg_pool(x, size, **settings).numpy(), expected, rtol=1e-12)
    with_zeros = by_loops(x, found, counts, lambda seen: seen.sum(0) / np.prod(size))
    found_ones = nn.avg_pool(x, size, count_include_pad=True, **settings).numpy()
    np.testing.assert_allclose(found_ones, with_zeros, rtol=1e-12, atol=1e-14)
    third = by_loops(x, found, counts, lambda seen: (np.abs(seen) ** 3).sum(0) ** (1 / 3))
    np.testing.assert_allclose(nn.lp_pool(x, 3, size, **settings).numpy(), third, rtol=1e-12)


def test_lp_at_zero_has_slope_zero() -> None:
    x = pb.Variable(np.zeros((1, 4, 1)))
    y = nn.lp_pool(x, 2, 2)
    np.testing.assert_array_equal(y.numpy(), np.zeros((1, 2, 1)))
    np.testing.assert_array_equal(pb.gradients(pb.sum(y), [x])[0].numpy(), np.zeros((1, 4, 1)))


@pytest.mark.parametrize("n, m", [(6, 3), (7, 3), (5, 5), (3, 5), (7, 1)])
def test_adaptive(n: int, m: int) -> None:
    x = numbers(2, n, 6, 3)
    bins = [
        [slice(i * k // o, -(-(i + 1) * k // o)) for i in range(o)] for k, o in ((n, m), (6, 4))
    ]
    for f, g in ((nn.adaptive_avg_pool, np.mean), (nn.adaptive_max_pool, np.max)):
        expected = np.array(
            [[[g(x[b, p, q], axis=(0, 1)) for q in bins[1]] for p in bins[0]] for b in range(2)]
        )
        np.testing.assert_allclose(f(x, (m, 4)).numpy(), expected, rtol=1e-12)
        turned = f(np.moveaxis(x, -1, 1), (m, 4), data_format="NCHW").numpy()
        np.testing.assert_allclose(turned, np.moveaxis(expected, -1, 1), rtol=1e-12)


@each("axes, size, stride, padding, dilation", CASES)
@each("channels_first", [False, True])
def test_unfold_and_fold(
    axes: Any, size: Any, stride: Any, padding: Any, dilation: Any, channels_first: bool
) -> None:
    rank = len(axes)
    settings: Any = {"stride": stride, "padding": padding, "dilation": dilation}
    x, w = numbers(2, *axes, 3), numbers(*size, 3, 4)
    conv = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}[rank]
    expected = conv(x, w, **settings).numpy()
    if channels_first:
        settings["data_format"] = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]
        x = np.moveaxis(x, -1, 1)
    y = nn.unfold(x, size, **settings).numpy()
    if channels_first:  # channels before taps
        flat = np.moveaxis(w, -2, 0).reshape(-1, 4)
        found = np.tensordot(np.moveaxis(y, 1, -1), flat, 1)
    else:
        found = y @ w.reshape(-1, 4)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    g = numbers(*y.shape, seed=1)
    back = nn.fold(g, axes, size, **settings).numpy()
    assert back.shape == x.shape
    np.testing.assert_allclose((back * x).sum(), (g * y).sum(), rtol=1e-11)
    v = pb.Variable(x)
    (dx,) = pb.gradients(pb.sum(nn.unfold(v, size, **settings) * g), [v])
    np.testing.assert_allclose(dx.numpy(), back, rtol=1e-12, atol=1e-12)


def interpolated(x: Any, m: int, axis: int, method: str) -> Any:
    n = x.shape[axis]
    if method == "nearest":
        return np.take(x, ((np.arange(m) + 0.5) * n / m).astype(int), axis)
    at = np.clip((np.arange(m) + 0.5) * n / m - 0.5, 0, n - 1)
    return np.apply_along_axis(lambda line: np.interp(at, np.arange(n), line), axis, x)


@each("method", ["nearest", "bilinear"])
@each("size", [(10, 12), (7, 3), (5, 4), (1, 9), (2, 2)])
def test_resize(method: str, size: Any) -> None:
    x = numbers(2, 5, 4, 3)
    expected = interpolated(interpolated(x, size[0], 1, method), size[1], 2, method)
    np.testing.assert_allclose(
        nn.resize(x, size, method=method).numpy(), expected, rtol=1e-12, atol=1e-14
    )
    turned = nn.resize(np.moveaxis(x, -1, 1), size, method=method, data_format="NCHW").numpy()
    np.testing.assert_allclose(turned, np.moveaxis(expected, -1, 1), rtol=1e-12, atol=1e-14)
    if size == (10, 12):
        np.testing.assert_allclose(
            nn.upsample(x, (2, 3), method=method).numpy(), expected, rtol=1e-12, atol=1e-14
        )


FUNCTIONS = [
    lambda x: nn.max_pool(x, 3, stride=2, padding="SAME"),
    lambda x: nn.avg_pool(x, (3, 2), stride=2, padding="SAME"),
    lambda x: nn.lp_pool(x, 3, 2),
    lambda x: nn.adaptive_avg_pool(x, (3, 2)),
    lambda x: nn.adaptive_max_pool(x, (3, 2)),
    lambda x: nn.resize(x, (3, 8)),
    lambda x: nn.unfold(x, 2, padding=1),
    lambda x: nn.fold(nn.unfold(x, 2), (5, 4), 2),
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f: Any) -> None:
    x = np.random.default_rng(3).permutation(np.arange(80.0)).reshape(2, 5, 4, 2) / 40 + 0.1
    pb.testing.check_gradients(lambda v: pb.tanh(f(v)), x)
    same_both_ways(lambda v: pb.tanh(f(v)), x)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_batches(f: Any) -> None:
    x = numbers(3, 2, 5, 4, 2)

    def slope(v: Any) -> Any:
        return pb.grad(lambda v: pb.sum(pb.tanh(f(v))))(v)

    for g in (f, slope, pb.function(f)):
        whole = pb.vmap(g)(x)
        for i in range(3):
            np.testing.assert_allclose(
                whole[i].numpy(), g(pb.constant(x[i])).numpy(), rtol=1e-12, atol=1e-13
            )


def test_nothing_to_do() -> None:
    assert nn.max_pool(np.ones((0, 4, 4, 2)), 2).shape == (0, 2, 2, 2)
    assert nn.max_pool(np.ones((1, 4, 4, 0)), 2).shape == (1, 2, 2, 0)
    assert nn.avg_pool(np.ones((0, 4, 4, 2)), 2).shape == (0, 2, 2, 2)


ERRORS = [
    (
        lambda: nn.max_pool(np.ones((1, 4, 1)), 5),
        ValueError,
        "an axis of at least 5, the size of a window, got 4",
    ),
    (
        lambda: nn.max_pool(np.ones((1, 4, 1)), 2, padding=2),
        ValueError,
        "a window of padding only",
    ),
    (lambda: nn.max_pool(np.ones((1, 4, 1), bool), 2), TypeError, "expected floats or integers"),
    (lambda: nn.max_pool(np.ones((1, 4, 1), complex), 2), TypeError, "max_pool"),
    (lambda: nn.max_pool(np.ones((4, 1)), 2), ValueError, "expected rank 3 to 5"),
    (
        lambda: nn.avg_pool(np.ones((1, 4, 1)), (2, 2)),
        ValueError,
        "expected an integer or 1 integers for size",
    ),
    (lambda: nn.lp_pool(np.ones((1, 4, 1)), 0, 2), ValueError, "expected a number > 0 for p"),
    (lambda: nn.adaptive_avg_pool(np.ones((1, 0, 1)), 2), ValueError, "non-empty axes for x"),
    (
        lambda: nn.resize(np.ones((1, 4, 1)), 2, method="cubic"),
        ValueError,
        "method must be one of",
    ),
    (lambda: nn.resize(np.ones((1, 0, 1)), 2), ValueError, "non-empty axes for x"),
    (
        lambda: nn.upsample(np.ones((1, 4, 1)), 0),
        ValueError,
        "expected integers from 1 to .* for factor",
    ),
    (
        lambda: nn.fold(np.ones((1, 4, 6)), 4, 2),
        ValueError,
        r"expected \(3,\) windows of a multiple of 2",
    ),
]


@each("call, kind, message", ERRORS)
def test_errors(call: Any, kind: Any, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_windows_of_padding_alone_in_the_middle() -> None:
    x = np.full((1, 1, 1), 5.0)
    with pytest.raises(ValueError, match="a window of padding only"):
        pb.nn.max_pool(x, 2, stride=1, dilation=3, padding=[(3, 3)])
    with pytest.raises(ValueError, match="a window of padding only"):
        pb.nn.avg_pool(np.ones((1, 2, 1)), 1, padding=1)


def test_just_windows_of_padding_alone_are_refused() -> None:
    length = st.integers(1, 6)
    number = st.integers(1, 7)
    low = st.integers(0, 9)

    @given(length, number, number, number, low, low)
    def check(length: int, size: int, stride: int, dilation: int, low: int, high: int) -> None:
        room = length + low + high - (size - 1) * dilation
        if room < 1:
            return
        starts = range(-low, room - low, stride)
        seen = [{s + k * dilation for k in range(size)} & set(range(length)) for s in starts]
        x = np.arange(float(length)).reshape(1, -1, 1)

        def pooled() -> Any:
            return nn.max_pool(x, size, stride=stride, dilation=dilation, padding=[(low, high)])

        if all(seen):
            assert pooled().numpy().ravel().tolist() == [max(entries) for entries in seen]
        else:
            with pytest.raises(ValueError, match="a window of padding only"):
                pooled()

    check()


def test_huge_windows_are_refused_at_once() -> None:
    x = pb.zeros((1, 4, 1))
    with pytest.raises(ValueError, match="a window of padding only"):
        nn.max_pool(x, 3, stride=1, dilation=2**30, padding=[(2**31 - 2, 2**31 - 2)])


def test_windows_far_larger_than_what_they_see() -> None:
    x = np.arange(4096.0).reshape(1, 16, 16, 16, 1)
    sizes = (2**22, 2**21, 2**21)  # more taps than there are numbers
    padding = [(k // 2, k // 2 - 14) for k in sizes]
    y = nn.max_pool(x, sizes, stride=1, padding=padding).numpy()
    assert (y == 4095).all()
    flat = nn.max_pool(np.ones((1, 4, 4, 1)), 2**20, stride=1, padding=[(2**19, 2**19 - 4)] * 2)
    assert float(flat.numpy().max()) == 1
