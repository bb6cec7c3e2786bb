"""Feeds and placeholders: what may be fed and as what, what is refused and named, and shapes that
only a feed decides."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ([1.0, 2.0], ValueError, r"cannot feed value of shape \(2,\).*'x:0'.*\(3,\)"),
        ([[1.0, 2.0, 3.0]], ValueError, "cannot feed value of shape"),
        ([[1.0], [1.0, 2.0]], ValueError, "x:0"),
        ("abc", ValueError, "x:0"),
        (object(), TypeError, "x:0"),
    ],
)
def test_bad_feed_values(value, kind, text):
    x = tf.placeholder(tf.float32, [3], name="x")
    y = x * 2
    with tf.Session() as session:
        with pytest.raises(kind, match=text):
            session.run(y, {x: value})
        assert session.run(y, {x: [1, 2, 3]}).tolist() == [2, 4, 6]  # the next call works


def test_a_tensor_cannot_be_fed():
    x = tf.placeholder(tf.float32)
    for value in (tf.constant(1.0), tf.Variable(1.0)):
        with pytest.raises(TypeError, match=r"expected a value for .* got the tensor"):
            run(x, {x: value})


def test_conversions_of_feeds():
    n, x = tf.placeholder(tf.int32), tf.placeholder(tf.float32)
    assert run(n, {n: 2.7}) == 2
    assert run(x, {x: "3.5"}) == 3.5
    assert np.isnan(run(x, {x: None}))
    assert run(x, {x: np.float64(0.1)}).dtype == np.float32
    assert run(x, {"Placeholder_1:0": 4}) == 4.0
    y = tf.placeholder(tf.float32)
    assert run([x, y], {(x, y): (1, 2)}) == [1.0, 2.0]
    with pytest.raises(ValueError, match="2 tensors"):
        run([x, y], {(x, y): (1,)})


@pytest.mark.parametrize("bad", [3, "nobody:0", "op", 2.5])
def test_bad_feed_keys(bad):
    x = tf.constant(1.0, name="op")
    with pytest.raises(TypeError, match="feed_dict key"):
        run(x, {bad: 1.0})


def test_feed_dict_must_be_a_dict():
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match="dict"):
        run(x, [(x, 1.0)])


def test_anything_can_be_fed():
    c, v = tf.constant(1.0), tf.Variable(2.0)
    read = v.read_value()
    y = 10 * c + v
    assert run([y, c], {c: 5.0}) == [52.0, 5.0]
    assert run([y, read], {v: 7.0}) == [17.0, 7.0]
    assert run([y, read], {v.value(): 7.0}) == [17.0, 2.0]
    assert run(y, {y: 3.0}) == 3.0
    extra = tf.placeholder(tf.float32)
    assert run(y, {extra: 1.0}) == 12.0


def test_unfed_placeholder():
    x = tf.placeholder(tf.float32, [None, 2], name="rows")
    y = x + 1
    with tf.Session() as session:
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"must feed.*'rows'.*float32.*\(\?, 2\)"
        ) as caught:
            session.run(y)
        assert caught.value.op is x.op
        assert session.run(tf.constant(1.0)) == 1.0  # not needed, not asked for
        assert session.run(y, {x: [[1, 2]]}).tolist() == [[2, 3]]


def test_placeholder_with_default():
    x = tf.placeholder_with_default([1.0, 2.0], [None])
    y = tf.reduce_sum(x)
    assert [run(y), run(y, {x: [1, 2, 3]})] == [3.0, 6.0]
    with pytest.raises(ValueError, match="shape"):
        tf.placeholder_with_default([1.0], [2])


def test_unknown_rank():
    x = tf.placeholder(tf.float32)
    y = 2 * x + tf.constant([1.0, 1.0])
    assert repr(x) == "<tf.Tensor 'Placeholder:0' shape=<unknown> dtype=float32>"
    assert tf.reduce_sum(y).shape == []
    for value in (3.0, [1.0, 2.0], np.ones([3, 2])):
        assert np.array_equal(run(y, {x: value}), 2 * np.array(value) + np.ones(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"add: .*\(3,\).*AddV2 'add'"):
        run(y, {x: [1.0, 2.0, 3.0]})


def test_shapes_and_axes_may_be_fed():
    x = tf.placeholder(tf.float32, [None, None])
    shape = tf.placeholder(tf.int32, [2])
    axis = tf.placeholder(tf.int32, [])
    y = tf.reshape(x, shape)
    z = tf.reduce_sum(y, axis)
    assert y.shape.ndims in (None, 2)
    feed = {x: np.arange(6).reshape(2, 3), shape: [3, 2], axis: 0}
    assert run(z, feed).tolist() == [6.0, 9.0]
    with tf.Session() as session:
        assert session.run(z, feed).tolist() == [6.0, 9.0]
        assert session.run(z, {**feed, axis: 1}).tolist() == [1.0, 5.0, 9.0]
        assert session.run(tf.gradients(z * z, x), {**feed, axis: 1})[0].shape == (2, 3)
    flat = tf.reshape(x, [-1, tf.shape(x)[1] * tf.shape(x)[0]])
    assert run(flat, {x: np.ones([2, 3])}).shape == (1, 6)


def _loop(x):
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x[::-1]])[1]


def _written(x):
    start = [0, tf.TensorArray(tf.float64, 3)]
    step = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x[i] ** 2)), start)
    return step[1].stack()


@pytest.mark.parametrize("dims", [[3], [None]])
@pytest.mark.parametrize(
    ("build", "pulled"),
    [
        (_loop, lambda x, g: 3 * g * x**2 * x[::-1] + (g * x**3)[::-1]),
        (lambda x: tf.cond(x[0] > 0, lambda: x * x, lambda: -x), lambda x, g: 2 * x * g),
        (lambda x: tf.map_fn(tf.square, x), lambda x, g: 2 * x * g),
        (
            lambda x: tf.scan(lambda a, e: a + e * e, x, np.float64(0)),
            lambda x, g: 2 * x * np.cumsum(g[::-1])[::-1],
        ),
        (_written, lambda x, g: 2 * x * g),
    ],
)
def test_gradients_pass_a_fed_loop_or_branch(build, pulled, dims):
    x = tf.placeholder(tf.float64, dims)
    y = build(x)
    (g,) = tf.gradients(y * y, x)
    point, fed = np.array([1.0, 2.0, 4.0]), np.array([5.0, -6.0, 7.0])
    assert run(g, {x: point, y: fed}) == pytest.approx(pulled(point, 2 * fed))
