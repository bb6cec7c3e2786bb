"""Convolutions and pooling against loops over windows, their slopes against differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run, slope  # noqa: F401

import pullback.compat.tf1 as tf

X = np.random.default_rng(1).normal(size=(2, 7, 6, 3))


def around(n, k, stride, padding):
    if padding == "VALID":
        return 0, 0
    missing = max((-(-n // stride) - 1) * stride + k - n, 0)
    return missing // 2, missing - missing // 2


def windows(x, size, strides, padding, rate=(1, 1), filling=0.0):
    """(image, row, column) of each result and its window of (height, width, channels)."""
    spans = [(k - 1) * r + 1 for k, r in zip(size, rate, strict=True)]
    pads = [around(x.shape[1 + a], spans[a], strides[a], padding) for a in (0, 1)]
    x = np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=filling)
    counts = [(x.shape[1 + a] - spans[a]) // strides[a] + 1 for a in (0, 1)]
    for n, i, j in itertools.product(range(x.shape[0]), *map(range, counts)):
        top, left = i * strides[0], j * strides[1]
        rows, columns = slice(top, top + spans[0], rate[0]), slice(left, left + spans[1], rate[1])
        yield (n, i, j), x[n, rows, columns]


def collected(pairs):
    """The results at their places as one array."""
    pairs = list(pairs)
    shape = np.max([place for place, _ in pairs], 0) + 1
    out = np.empty((*shape, len(pairs[0][1])))
    for place, value in pairs:
        out[place] = value
    return out


def convolution(x, w, strides, padding, rate=(1, 1)):
    return collected(
        (at, np.einsum("hwc,hwco->o", part, w))
        for at, part in windows(x, w.shape[:2], strides, padding, rate)
    )


def differences(f, x, weights):
    out = np.empty_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-5
        out[at] = np.sum(weights * (f(x + step) - f(x - step))) / 2e-5
    return out


CASES = [
    ((3, 3), (1, 1), "SAME", (1, 1)), ((3, 2), (2, 1), "SAME", (1, 1)),
    ((3, 3), (1, 1), "VALID", (1, 1)), ((2, 3), (2, 3), "VALID", (1, 1)),
    ((3, 2), (1, 1), "SAME", (2, 2)), ((1, 1), (3, 3), "SAME", (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("size", "strides", "padding", "rate"), CASES)
def test_conv2d(size, strides, padding, rate):
    w = np.random.default_rng(2).normal(size=(*size, 3, 4))
    x, f = tf.constant(X), tf.constant(w)
    y = tf.nn.conv2d(x, f, [1, *strides, 1], padding, dilations=[1, *rate, 1])
    expected = convolution(X, w, strides, padding, rate)
    assert y.op.type == "Conv2D" and y.shape.as_list() == list(expected.shape)
    weights = np.random.default_rng(3).normal(size=expected.shape)
    value, by_x, by_f = run([y, *tf.gradients(y, [x, f], weights)])
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    for got, at, function in (
        (by_x, X, lambda a: convolution(a, w, strides, padding, rate)),
        (by_f, w, lambda a: convolution(X, a, strides, padding, rate)),
    ):
        step = np.random.default_rng(4).normal(size=at.shape)
        line = np.sum(weights * (function(at + step) - function(at - step))) / 2  # linear in each
        assert np.sum(got * step) == pytest.approx(line, rel=1e-9)


def test_channels_first_and_shapes_that_are_not_known():
    w = np.random.default_rng(2).normal(size=(3, 3, 3, 2))
    x = tf.placeholder(tf.float64, [None, 3, None, 6])
    y = tf.nn.conv2d(x, w, [1, 1, 2, 2], "SAME", data_format="NCHW")
    assert y.shape.as_list() == [None, 2, None, 3]
    got = run(y, {x: X.transpose(0, 3, 1, 2)})
    np.testing.assert_allclose(got.transpose(0, 2, 3, 1), convolution(X, w, (2, 2), "SAME"))
    pooled = tf.nn.max_pool(x, 2, 2, "VALID", data_format="NCHW")
    assert pooled.shape.as_list() == [None, 3, None, 3]
    biased = tf.nn.bias_add(y, tf.constant(np.array([1.0, 10.0])), data_format="NCHW")
    np.testing.assert_allclose(
        run(biased, {x: X.transpose(0, 3, 1, 2)}) - got, np.array([1.0, 10.0]).reshape(1, 2, 1, 1)
        + np.zeros_like(got),
    )  # fmt: skip


def test_second_order():
    w = tf.constant(np.random.default_rng(5).normal(size=(2, 2, 3, 1)))
    x = tf.constant(X[:1, :3, :3])
    y = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "VALID") ** 3)
    (g,) = tf.gradients(y, w)
    (h,) = tf.gradients(tf.reduce_sum(g**2), x)

    def penalty(a):
        def f(b):
            return np.sum(convolution(a, b, (1, 1), "VALID") ** 3)

        base = run(w)
        out = np.empty_like(base)
        for at in np.ndindex(base.shape):
            step = np.zeros_like(base)
            step[at] = 1e-5
            out[at] = (f(base + step) - f(base - step)) / 2e-5
        return np.sum(out**2)

    step = np.random.default_rng(6).normal(size=(1, 3, 3, 3))
    at = X[:1, :3, :3]
    line = (penalty(at + 1e-5 * step) - penalty(at - 1e-5 * step)) / 2e-5
    assert np.sum(run(h) * step) == pytest.approx(line, rel=1e-4)


def test_conv2d_transpose_is_the_adjoint():
    random = np.random.default_rng(7)
    w, v = random.normal(size=(3, 2, 3, 4)), random.normal(size=(2, 4, 3, 4))
    y = tf.nn.conv2d_transpose(v, w, [2, 7, 6, 3], [1, 2, 2, 1])
    assert y.shape.as_list() == [2, 7, 6, 3]
    for_adjoint = convolution(X, w, (2, 2), "SAME")
    assert np.sum(run(y) * X) == pytest.approx(np.sum(for_adjoint * v), rel=1e-10)
    value, f = tf.constant(v), tf.constant(w)
    out = tf.nn.conv2d_transpose(value, f, [2, 7, 6, 3], 2)
    by_v, by_f = run(tf.gradients(out, [value, f], X))
    np.testing.assert_allclose(by_v, for_adjoint, rtol=1e-9, atol=1e-12)
    step = random.normal(size=w.shape)
    assert np.sum(by_f * step) == pytest.approx(
        np.sum(convolution(X, step, (2, 2), "SAME") * v), rel=1e-9
    )
    with pytest.raises(ValueError, match="expected a value of shape"):
        tf.nn.conv2d_transpose(v, w, [2, 9, 6, 3], 2)


def test_depthwise_and_separable():
    random = np.random.default_rng(8)
    w, p = random.normal(size=(3, 3, 3, 2)), random.normal(size=(1, 1, 6, 4))
    expected = collected(
        (at, np.einsum("hwc,hwcm->cm", part, w).ravel())
        for at, part in windows(X, (3, 3), (1, 1), "SAME")
    )
    y = tf.nn.depthwise_conv2d(X, w, [1, 1, 1, 1], "SAME")
    assert y.shape.as_list() == [2, 7, 6, 6]
    np.testing.assert_allclose(run(y), expected, atol=1e-12)
    both = tf.nn.separable_conv2d(X, w, p, [1, 1, 1, 1], "SAME")
    np.testing.assert_allclose(run(both), expected @ p[0, 0], atol=1e-12)


def test_conv1d():
    x, w = X[:, :, 0], np.random.default_rng(9).normal(size=(3, 3, 2))
    expected = convolution(x[:, None], w[None], (1, 2), "SAME")[:, 0]
    np.testing.assert_allclose(run(tf.nn.conv1d(x, w, 2, "SAME")), expected, atol=1e-12)


# --- pooling


@pytest.mark.parametrize(("size", "strides", "padding", "rate"), CASES[:4])
def test_pooling(size, strides, padding, rate):
    x = tf.constant(X)
    for function, fill, reference in (
        (tf.nn.max_pool, -np.inf, lambda part: part.max((0, 1))),
        (
            tf.nn.avg_pool,
            np.nan,
            lambda part: np.nansum(part, (0, 1)) / np.sum(part[..., 0] == part[..., 0]),
        ),
    ):

        def expected(a, fill=fill, reference=reference):
            return collected(
                (at, reference(part))
                for at, part in windows(a, size, strides, padding, filling=fill)
            )

        y = function(x, [1, *size, 1], [1, *strides, 1], padding)
        wanted = expected(X)
        weights = np.random.default_rng(3).normal(size=wanted.shape)
        value, by_x = run([y, tf.gradients(y, x, weights)[0]])
        np.testing.assert_allclose(value, wanted, atol=1e-12)
        assert y.shape.as_list() == list(wanted.shape)
        np.testing.assert_allclose(by_x, differences(expected, X, weights), atol=1e-8)


def test_the_first_of_equals_has_the_gradient():
    x = tf.constant(np.full((1, 2, 2, 1), 3.0))
    y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    assert np.ravel(slope(y, x)).tolist() == [1.0, 0.0, 0.0, 0.0]
    integers = tf.nn.max_pool(tf.constant([[[[-5], [-7]]]]), 2, 2, "SAME")
    assert run(integers).ravel().tolist() == [-5]


def test_errors():
    x, w = tf.constant(X), tf.constant(np.ones((3, 3, 3, 4)))
    with pytest.raises(ValueError, match="strides"):
        tf.nn.conv2d(x, w, [2, 1, 1, 1], "SAME")
    with pytest.raises(ValueError, match="padding"):
        tf.nn.conv2d(x, w, 1, "full")
    with pytest.raises(ValueError, match="expected strides and padding"):
        tf.nn.conv2d(x, w)
    with pytest.raises(ValueError, match="data_format"):
        tf.nn.conv2d(x, w, 1, "SAME", data_format="HWNC")
    with pytest.raises(ValueError, match=r"x has 3 channels .* got \(3, 3, 5, 4\)"):
        tf.nn.conv2d(x, np.ones((3, 3, 5, 4)), 1, "SAME")
    with pytest.raises(ValueError, match="at least 9, the size of a window"):
        tf.nn.conv2d(x, np.ones((9, 9, 3, 4)), 1, "VALID")
    with pytest.raises(ValueError, match="rank 4"):
        tf.nn.max_pool(x[0], 2, 2, "SAME")
    with pytest.raises(ValueError, match="ksize"):
        tf.nn.max_pool(x, 0, 2, "SAME")


# --- layers


def test_layers_of_windows():
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    y = tf.layers.conv2d(x, 4, [3, 3], 2, "same", activation=tf.nn.relu, name="c")
    z = tf.layers.average_pooling2d(tf.layers.max_pooling2d(y, 2, 1, "same"), 2, 2)
    assert y.shape.as_list() == [None, 4, 4, 4] and z.shape.as_list() == [None, 2, 2, 4]
    up = tf.layers.conv2d_transpose(z, 5, 3, 2, "same", name="up")
    assert [v.shape.as_list() for v in tf.trainable_variables()] == [
        [3, 3, 3, 4], [4], [3, 3, 5, 4], [5]
    ]  # fmt: skip
    got_y, got_up, kernel = run([y, up, tf.trainable_variables()[0]], {x: np.ones((2, 8, 8, 3))})
    reference = convolution(np.ones((2, 8, 8, 3)), kernel.astype(float), (2, 2), "SAME")
    np.testing.assert_allclose(got_y, np.maximum(reference, 0), rtol=1e-5, atol=1e-6)
    assert got_up.shape == (2, 4, 4, 5)
    shared = tf.layers.conv2d(x, 4, [3, 3], 2, "same", name="c", reuse=True)
    assert len(tf.trainable_variables()) == 4 and shared.shape.as_list() == [None, 4, 4, 4]


def test_layers_along_one_axis():
    x = tf.constant(X[:, :, 0])
    y = tf.layers.conv1d(x, 5, 3, padding="same", name="c")
    z = tf.layers.max_pooling1d(y, 2, 2)
    w = tf.layers.average_pooling1d(y, 7, 1)
    assert z.shape.as_list() == [2, 3, 5]
    a, b, c = run([y, z, w])
    np.testing.assert_allclose(b[:, 0], a[:, :2].max(1))
    np.testing.assert_allclose(c[:, 0], a.mean(1))


def test_layer_regularizers_and_errors():
    x = tf.ones([1, 4, 4, 2])
    square = tf.nn.l2_loss
    tf.layers.conv2d(x, 2, 3, kernel_regularizer=square, bias_regularizer=square,
                     activity_regularizer=square)  # fmt: skip
    assert len(tf.losses.get_regularization_losses()) == 3
    with pytest.raises(ValueError, match="channels"):
        tf.layers.conv2d(tf.placeholder(tf.float32, [1, 4, 4, None]), 2, 3)
    with pytest.raises(ValueError, match="rank 4"):
        tf.layers.conv2d(x[0], 2, 3)
    with pytest.raises(ValueError, match="kernel_size"):
        tf.layers.conv2d(x, 2, (3, 3, 3))
    with pytest.raises(ValueError, match="data_format"):
        tf.layers.conv2d(x, 2, 3, data_format="NHWC")


@pytest.mark.usefixtures("eager")
def test_in_eager_mode():
    w = np.random.default_rng(2).normal(size=(3, 3, 3, 2))
    y = tf.nn.conv2d(tf.constant(X), tf.constant(w), 1, "SAME")
    np.testing.assert_allclose(y.numpy(), convolution(X, w, (1, 1), "SAME"), atol=1e-12)
    assert tf.nn.max_pool(tf.constant(X), 2, 2, "SAME").shape == (2, 4, 3, 3)
