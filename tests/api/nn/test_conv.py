"""Convolutions against sums over taps in long double, and their derivatives against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.windows import numbers, padded, same_both_ways

import pullback as pb
from pullback import _core, nn


def reference(
    x: Any, w: Any, stride: Any, padding: Any = "VALID", dilation: Any = None, groups: int = 1
) -> Any:
    rank = x.ndim - 2
    x, w = np.asarray(x, np.longdouble), np.asarray(w, np.longdouble)
    dilation = dilation or (1,) * rank
    wide, out = padded(x, w.shape[:rank], stride, padding, dilation)
    inner, outer = w.shape[-2], w.shape[-1] // groups
    y = np.zeros((x.shape[0], *out, w.shape[-1]), np.longdouble)
    for tap in np.ndindex(w.shape[:rank]):
        where = tuple(
            slice(k * d, k * d + (o - 1) * s + 1, s) if o else slice(0, 0)
            for k, d, o, s in zip(tap, dilation, out, stride, strict=True)
        )
        seen = wide[(slice(None), *where)]
        for g in range(groups):
            a, b = slice(g * inner, (g + 1) * inner), slice(g * outer, (g + 1) * outer)
            y[..., b] += seen[..., a] @ w[tap][:, b]
    return y


CASES = [
    # axes, channels, outputs, taps, stride, padding, dilation, groups
    ((9, 11), 3, 5, (3, 3), (1, 1), "SAME", (1, 1), 1),
    ((9, 11), 3, 5, (3, 3), (2, 2), "SAME", (1, 1), 1),
    ((10, 7), 4, 6, (2, 3), (2, 1), "VALID", (1, 2), 2),
    ((10, 7), 4, 6, (3, 2), (3, 2), ((2, 1), (0, 3)), (2, 1), 1),
    ((8, 8), 20, 33, (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((8, 8), 20, 33, (1, 1), (1, 1), "VALID", (1, 1), 1),
    ((8, 8), 20, 3, (1, 1), (2, 2), "VALID", (1, 1), 1),
    ((12, 13), 10, 10, (3, 3), (1, 1), "SAME", (1, 1), 10),
    ((12, 13), 40, 80, (3, 2), (2, 1), "SAME", (1, 2), 40),
    ((6, 70), 24, 24, (3, 3), (1, 1), "SAME", (1, 1), 8),
    ((6, 6), 32, 64, (2, 2), (1, 1), "SAME", (1, 1), 4),
    # fewer products for patches of 4 x 4
    ((13, 15), 32, 48, (3, 3), (1, 1), "SAME", (1, 1), 1),
    ((14, 13), 72, 70, (3, 3), (1, 1), ((2, 0), (1, 3)), (1, 1), 2),
    ((4, 140), 33, 40, (3, 3), (1, 1), "SAME", (1, 1), 1),
    ((2, 12, 12), 32, 32, (1, 3, 3), (1, 1, 1), "SAME", (1, 1, 1), 1),
    ((5, 5), 3, 40, (5, 5), (1, 1), "VALID", (1, 1), 1),
    ((5, 5), 8, 4, (5, 5), (1, 1), "SAME", (1, 1), 1),
    ((17,), 3, 4, (5,), (2,), "SAME", (2,), 1),
    ((200,), 1, 20, (3,), (1,), "SAME", (1,), 1),
    ((4, 5, 6), 3, 4, (2, 3, 2), (1, 2, 2), "SAME", (1, 1, 1), 1),
    ((4, 5, 6), 4, 8, (3, 2, 2), (2, 1, 1), ((1, 0), (2, 1), (0, 0)), (1, 1, 2), 4),
    # windows of which all is padding; columns in groups
    ((7, 5), 3, 70, (3, 2), (2, 1), ((9, 4), (1, 2)), (2, 1), 1),
    ((3, 4, 5), 3, 6, (3, 2, 2), (1, 1, 1), ((4, 5), (0, 3), (0, 1)), (1, 1, 1), 1),
    ((20, 12), 40, 100, (5, 5), (1, 1), "SAME", (1, 1), 1),
    # windows that cover an axis, axes of size 1
    ((9, 11), 3, 5, (3, 11), (2, 4), "VALID", (2, 1), 1),
    ((9, 11), 3, 5, (9, 3), (1, 2), "VALID", (1, 1), 1),
    ((9, 1), 3, 5, (3, 1), (2, 1), "SAME", (1, 1), 1),
    ((6, 1, 1), 3, 5, (3, 1, 1), (1, 2, 1), ((1, 2), (0, 0), (0, 0)), (2, 1, 1), 1),
    ((4, 5, 6), 3, 4, (2, 5, 6), (1, 1, 1), "VALID", (1, 1, 1), 1),
    ((4, 5), 4, 6, (4, 5), (1, 1), "VALID", (1, 1), 2),
    ((4, 5), 4, 6, (4, 5), (1, 1), ((0, 0), (0, 1)), (1, 1), 1),
    ((1, 1), 3, 4, (1, 1), (3, 3), ((1, 1), (1, 1)), (1, 1), 1),
    ((3, 1), 3, 4, (1, 1), (2, 3), ((1, 2), (1, 0)), (1, 1), 1),
    # as many windows of one tap as entries, the last ones in the padding
    ((2,), 3, 4, (1,), (4,), ((0, 3),), (1,), 1),
    ((3, 4), 3, 4, (1, 1), (1, 2), ((0, 0), (0, 3)), (1, 1), 1),
]
FUNCTIONS = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def first(x: Any) -> Any:
    return np.moveaxis(x, -1, 1)


@pytest.mark.parametrize("axes, inner, outer, taps, stride, padding, dilation, groups", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_and_gradients(
    axes: Any, inner: int, outer: int, taps: Any, stride: Any, padding: Any, dilation: Any,
    groups: int, dtype: str,
) -> None:  # fmt: skip
    x, w = (
        numbers(3, *axes, inner).astype(dtype),
        numbers(*taps, inner // groups, outer).astype(dtype),
    )
    expected = reference(x, w, stride, padding, dilation, groups)
    # <g, dy> = <dx, da> for every direction is enough: it is linear in each.
    g = numbers(*expected.shape, seed=1).astype(dtype)
    along = []
    for k in range(2):
        u, v = numbers(*x.shape, seed=2 + k), numbers(*w.shape, seed=4 + k)
        by_x = (reference(u, w, stride, padding, dilation, groups) * g).sum()
        by_w = (reference(x, v, stride, padding, dilation, groups) * g).sum()
        along.append((u, v, float(by_x), float(by_w)))
    for channels_first in (False, True):
        a = pb.Variable(np.ascontiguousarray(first(x)) if channels_first else x)
        b = pb.Variable(w)
        layout = {"data_format": FIRST[len(axes)]} if channels_first else {}
        y = FUNCTIONS[len(axes)](
            a, b, stride=stride, padding=padding, dilation=dilation, groups=groups, **layout
        )
        tolerance = 4 * np.sqrt(np.prod(taps) * inner) * np.finfo(dtype).eps
        found = np.moveaxis(y.numpy(), 1, -1) if channels_first else y.numpy()
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected.astype(dtype), rtol=0, atol=16 * tolerance)
        sent = np.ascontiguousarray(first(g)) if channels_first else g
        da, db = (t.numpy() for t in pb.gradients(pb.sum(y * sent), [a, b]))
        da = np.moveaxis(da, 1, -1) if channels_first else da
        size = np.sqrt(g.size * np.prod(taps) * inner) * 64 * np.finfo(dtype).eps
        for u, v, by_x, by_w in along:
            np.testing.assert_allclose((u * da).sum(), by_x, rtol=1e-5, atol=size)
            np.testing.assert_allclose((v * db).sum(), by_w, rtol=1e-5, atol=size)


@each("axes, inner, outer, taps, stride, padding, dilation, groups", CASES[:14])
def test_transposed_is_the_gradient(
    axes: Any,
    inner: int,
    outer: int,
    taps: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> None:
    """Of a convolution from what it makes: the same numbers as its gradient by x."""
    rank = len(axes)
    w = numbers(*taps, inner // groups, outer)
    x = pb.Variable(numbers(2, *axes, inner))
    y = FUNCTIONS[rank](x, w, stride=stride, padding=padding, dilation=dilation, groups=groups)
    g = numbers(*y.shape)
    (expected,) = pb.gradients(pb.sum(y * g), [x])
    # Channels in and out of each group change places.
    turned = w.reshape(*taps, inner // groups, groups, outer // groups)
    turned = np.swapaxes(turned, -1, rank).reshape(*taps, outer // groups, inner)
    _, wide = padded(np.zeros((1, *axes, 1)), taps, stride, padding, dilation)
    spans = [(k - 1) * d + 1 for k, d in zip(taps, dilation, strict=True)]
    if padding == "SAME":
        pads = [
            max((o - 1) * s + span - n, 0)
            for o, s, span, n in zip(wide, stride, spans, axes, strict=True)
        ]
        pairs = [(p // 2, p - p // 2) for p in pads]
    else:
        pairs = [(0, 0)] * rank if padding == "VALID" else list(padding)
    more = [
        n + sum(p) - ((o - 1) * s + span)
        for n, p, o, s, span in zip(axes, pairs, wide, stride, spans, strict=True)
    ]
    found = nn.conv_transpose(
        g, turned, stride=stride, padding=pairs, dilation=dilation, groups=groups,
        output_padding=tuple(more),
    )  # fmt: skip
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-12, atol=1e-12)


def test_transposed_same() -> None:
    x, w = numbers(1, 4, 5, 2), numbers(3, 3, 2, 3)
    assert nn.conv_transpose(x, w, stride=2, padding="SAME").shape == (1, 8, 10, 3)
    y = np.zeros((1, 9, 11, 3))
    for i, j, a, b in np.ndindex(4, 5, 3, 3):
        y[:, 2 * i + a, 2 * j + b] += x[:, i, j] @ w[a, b]
    np.testing.assert_allclose(nn.conv_transpose(x, w, stride=2).numpy(), y, rtol=1e-12, atol=1e-12)
    same = nn.conv_transpose(x, w, np.ones(3), stride=2, padding="SAME").numpy()
    np.testing.assert_allclose(same, y[:, :8, :10] + 1, rtol=1e-12, atol=1e-12)


SMALL = [
    {"stride": 1, "padding": "SAME"},
    {"stride": 2, "padding": ((1, 0), (2, 1)), "dilation": (1, 2)},
    {"stride": (1, 2), "groups": 2},
]


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("settings", SMALL)
@pytest.mark.parametrize("f", [nn.conv2d, nn.conv_transpose])
def test_derivatives(f: Any, settings: Any) -> None:
    x, w = numbers(2, 4, 5, 4), numbers(2, 3, 4 // settings.get("groups", 1), 2)
    pb.testing.check_gradients(lambda a, b: pb.tanh(f(a, b, **settings)), x, w)
    same_both_ways(lambda a, b: pb.tanh(f(a, b, **settings)), x, w)


@pytest.mark.parametrize("groups", [1, 2])
def test_batches(groups: int) -> None:
    """vmap over either operand and over both, with gradients."""
    x, w = numbers(3, 2, 5, 6, 4), numbers(3, 2, 3, 4 // groups, 6)

    def f(a: Any, b: Any) -> Any:
        return nn.conv2d(a, b, stride=(1, 2), padding="SAME", groups=groups)

    def slope(a: Any, b: Any) -> Any:
        return pb.grad(lambda a, b: pb.sum(pb.tanh(f(a, b))), argnums=(0, 1))(a, b)

    for axes in [(0, 0), (0, None), (None, 0)]:
        xs = [x if axes[0] == 0 else x[0]] * 1
        a, b = xs[0], w if axes[1] == 0 else w[0]
        pick = lambda t, axis, i: t[i] if axis == 0 else t  # noqa: E731
        for g in (f, slope):
            whole = pb.vmap(g, in_axes=axes)(a, b)
            for i in range(3):
                one = g(pb.constant(pick(a, axes[0], i)), pb.constant(pick(b, axes[1], i)))
                pairs = zip(whole, one, strict=True) if isinstance(one, tuple) else [(whole, one)]
                for many, single in pairs:
                    np.testing.assert_allclose(
                        many[i].numpy(), single.numpy(), rtol=1e-12, atol=1e-12
                    )


def test_in_functions_and_loops() -> None:
    w = pb.Variable(numbers(3, 3, 2, 2))
    x = numbers(4, 6, 6, 2)

    @pb.function
    def step(x: Any) -> Any:
        return nn.conv2d(x, w, padding="SAME")

    expected = reference(reference(x, w.numpy(), (1, 1), "SAME"), w.numpy(), (1, 1), "SAME")
    np.testing.assert_allclose(
        step(step(x)).numpy(), expected.astype(float), rtol=1e-12, atol=1e-12
    )
    last, _ = pb.scan(
        lambda c, _: (nn.conv2d(c, w, padding="SAME"), None), pb.constant(x), None, length=2
    )
    np.testing.assert_allclose(last.numpy(), expected.astype(float), rtol=1e-12, atol=1e-12)


def test_bias_and_activation_are_an_epilogue() -> None:
    x, w, bias = numbers(2, 6, 6, 3), numbers(3, 3, 3, 20), numbers(20)
    before = _core.status()["steps"]
    y = pb.relu(nn.conv2d(x, w, bias)).numpy()
    after = _core.status()["steps"]
    ran = {kind: n - before[kind] for kind, n in after.items() if n != before[kind]}
    assert ran == {"convolution": 1}
    expected = np.maximum(reference(x, w, (1, 1)) + bias, 0)
    np.testing.assert_allclose(y, expected.astype(float), rtol=1e-12, atol=1e-12)


def test_threads_change_no_bits() -> None:
    x, w = numbers(5, 20, 20, 24).astype("f"), numbers(3, 3, 24, 40).astype("f")
    a, b = pb.Variable(x), pb.Variable(w)

    def run() -> list[bytes]:
        y = nn.conv2d(a, b, stride=2, padding="SAME")
        return [t.numpy().tobytes() for t in (y, *pb.gradients(pb.sum(y * y), [a, b]))]

    threads = pb.num_threads()
    try:
        found = []
        for n in (1, 2, 3, 8):
            pb.set_num_threads(n)
            found.append(run())
    finally:
        pb.set_num_threads(threads)
    assert all(one == found[0] for one in found)


def test_dtypes() -> None:
    x, w = numbers(1, 5, 5, 2), numbers(2, 2, 2, 3)
    z = nn.conv2d(x + 1j * x[::-1, ::-1], w * (1 + 2j))
    parts = reference(x, w, (1, 1)), reference(x[::-1, ::-1], w, (1, 1))
    expected = (parts[0] + 1j * parts[1]) * (1 + 2j)
    np.testing.assert_allclose(z.numpy(), expected.astype(complex), rtol=1e-12)
    assert nn.conv2d(np.ones((1, 3, 3, 1), int), np.ones((2, 2, 1, 1), int)).dtype == pb.float32
    assert nn.conv2d(x.astype("f"), w).dtype == pb.float64
    half = nn.conv2d(pb.cast(x, pb.bfloat16), pb.cast(w, pb.bfloat16))
    assert half.dtype == pb.bfloat16
    np.testing.assert_allclose(pb.cast(half, pb.float32).numpy(), parts[0].astype("f"), atol=0.1)


def test_nothing_to_do() -> None:
    assert nn.conv2d(np.ones((0, 5, 5, 2)), np.ones((3, 3, 2, 4))).shape == (0, 3, 3, 4)
    assert nn.conv2d(np.ones((2, 5, 5, 2)), np.ones((3, 3, 2, 0))).shape == (2, 3, 3, 0)
    np.testing.assert_array_equal(
        nn.conv2d(np.ones((1, 3, 3, 0)), np.ones((2, 2, 0, 1))).numpy(), 0
    )
    w = pb.Variable(np.ones((3, 3, 2, 4)))
    (g,) = pb.gradients(pb.sum(nn.conv2d(np.ones((0, 5, 5, 2)), w)), [w])
    np.testing.assert_array_equal(g.numpy(), np.zeros((3, 3, 2, 4)))


ERRORS = [
    (lambda: nn.conv2d(np.ones((4, 4, 1)), np.ones((2, 2, 1, 1))), "conv2d: expected rank 4"),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 1, 1))),
        "conv2d: expected rank 4 .* for weights",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 3)), np.ones((2, 2, 2, 1))),
        "x has 3 channels in 1 group, got",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 3)), np.ones((2, 2, 1, 3)), groups=2),
        "a divisor of 3",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((5, 2, 1, 1))),
        "an axis of at least 5, the size of a window, got 4",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((0, 2, 1, 1))),
        "at least one tap for weights",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), stride=0),
        "expected integers from 1 to .* for stride",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), stride=(1, 1, 1)),
        "expected an integer or 2 integers for stride",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), padding="FULL"),
        "expected 'SAME', .* for padding, got",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), padding=-1),
        "expected 'SAME', .* for padding, got",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), data_format="HWC"),
        "data_format must be one of 'NHWC'",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 3)), np.ones(2)),
        r"shape \(3,\) for bias",
    ),
    (
        lambda: nn.conv_transpose(np.ones((1, 4, 1)), np.ones((2, 1, 3)), padding=9),
        "a result of size >= 0, got 9 for padding",
    ),
    (
        lambda: nn.conv2d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), stride=2**40),
        r"to 2\*\*31 - 1 for stride",
    ),
]


@each("call, message", ERRORS)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("channels", [32, 128])
def test_patches_are_as_exact_as_sums(channels: int) -> None:
    """Within 4 √k ulp of what a result of k products is like, also beside much larger entries."""
    x, w = numbers(1, 30, 30, channels), numbers(3, 3, channels, 32)
    x[:, :, :13] *= 1e-3
    x[:, :9] = np.maximum(x[:, :9], 0)
    x, w = x.astype("f"), w.astype("f")
    expected = reference(x, w, (1, 1))
    size = np.sqrt(reference(x.astype(np.longdouble) ** 2, w.astype(np.longdouble) ** 2, (1, 1)))
    error = np.abs(nn.conv2d(x, w).numpy() - expected)
    assert (error <= 4 * np.sqrt(9 * channels) * np.finfo("f").eps * size).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_single_taps_are_exact(dtype: str) -> None:
    """Nothing of a large neighbour on which the weight is zero comes into a result."""
    x = numbers(2, 16, 16, 32).astype(dtype)
    x[0, 5, 6] = 1e9
    for tap in np.ndindex(3, 3):
        w = np.zeros((3, 3, 32, 32), dtype)
        w[tap] = np.eye(32)
        expected = x[:, tap[0] : tap[0] + 14, tap[1] : tap[1] + 14]
        np.testing.assert_array_equal(nn.conv2d(x, w).numpy(), expected)


def test_an_image_is_the_same_in_any_batch() -> None:
    x, w = numbers(9, 16, 16, 32).astype("f"), numbers(3, 3, 32, 40).astype("f")
    together = nn.conv2d(x, w).numpy()
    for i in (0, 8):
        assert nn.conv2d(x[i : i + 1], w).numpy().tobytes() == together[i : i + 1].tobytes()


def test_patches_keep_to_their_windows() -> None:
    """Zeros are exact, and what is not finite is met by just the windows that see it."""
    x, w = numbers(2, 20, 24, 32).astype("f"), numbers(3, 3, 32, 40).astype("f")
    x[0, :, :10] = 0
    assert (nn.conv2d(x, w)[0, :, :8].numpy() == 0).all()
    for strange, at in [(np.inf, (0, 3, 4, 5)), (-np.inf, (1, 19, 23, 0)), (np.nan, (1, 8, 9, 31))]:
        x[at] = strange
    x[0, 11, 12, 3], x[0, 12, 12, 3] = np.inf, -np.inf
    x[1, 2, 2, 6] = 4e37  # sums of a patch overflow
    bias = numbers(40).astype("f")
    with np.errstate(all="ignore"):
        expected = (reference(x, w, (1, 1)) + bias).astype("f")
    plain = pb.function(lambda x, w: nn.conv2d(x, w) + bias)
    found = plain(x, w).numpy()
    finite, huge = np.isfinite(expected), np.abs(expected) > 1e30
    np.testing.assert_array_equal(found[~finite], expected[~finite])
    np.testing.assert_allclose(found[huge & finite], expected[huge & finite], rtol=1e-5, atol=4e31)
    size = 4 * np.sqrt(9 * 32) * np.finfo("f").eps * 20
    np.testing.assert_allclose(found[~huge & finite], expected[~huge & finite], rtol=0, atol=size)
    threads = pb.num_threads()
    try:
        for n in (1, 2, 3, 8):
            pb.set_num_threads(n)
            assert found.tobytes() == plain(x, w).numpy().tobytes()
    finally:
        pb.set_num_threads(threads)
