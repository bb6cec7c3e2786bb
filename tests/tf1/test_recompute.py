"""recompute_grad, in graphs and in eager mode: values and gradients are those of the function."""

from __future__ import annotations

import numpy as np
import pytest
from support.memory import bytes_beside
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def block(x, w, scale=1.0):
    return tf.tanh(tf.matmul(x, w)) * scale


def both(f, *arguments, **keywords):
    """The gradients of f and of what recompute_grad makes of it."""
    xs = [x for x in arguments if not isinstance(x, (int, float))]
    for g in (f, tf.recompute_grad(f)):
        y = tf.reduce_sum(tf.square(g(*arguments, **keywords)))
        yield run([y, *tf.gradients(y, xs)])


def test_gradients_by_arguments():
    x, w = tf.constant([[1.0, 2.0], [0.5, 0.0]]), tf.constant([[0.5, 0.1], [0.25, 0.0]])
    for plain, again in zip(*both(block, x, w, scale=2.0), strict=True):
        np.testing.assert_array_equal(plain, again)
    for plain, again in zip(*both(block, x, w, scale=tf.constant(3.0)), strict=True):
        np.testing.assert_array_equal(plain, again)


def test_one_tensor_at_two_places_and_variables():
    v = tf.get_variable("v", initializer=[[2.0, 0.5], [0.0, 1.0]])
    x = tf.constant([[1.0, 2.0], [0.5, 0.0]])

    def f(a, b):
        return block(a, v) + a * b

    answers = []
    for g in (f, tf.recompute_grad(f)):
        y = tf.reduce_sum(g(x, x))
        answers.append(run([y, *tf.gradients(y, [x, v])]))
    for plain, again in zip(*answers, strict=True):
        np.testing.assert_array_equal(plain, again)


def test_nests_and_a_chain_of_four():
    calls = []

    @tf.recompute_grad
    def f(pair):
        calls.append(1)
        return {"a": pair[0] * pair[1], "b": tf.sin(pair[0])}

    x = y = tf.constant([0.5, 1.5])
    for _ in range(4):
        found = f((y, x))
        y = found["a"] + found["b"]
    (g,) = tf.gradients(y, x)
    assert len(calls) == 4

    def plain(v):
        y = v
        for _ in range(4):
            y = y * v + np.sin(y)
        return y

    v = np.array([0.5, 1.5])
    np.testing.assert_allclose(run(g), (plain(v + 1e-6) - plain(v - 1e-6)) / 2e-6, rtol=1e-4)


def test_the_same_random_numbers():
    x = tf.constant(np.ones(1000, np.float32))

    @tf.recompute_grad
    def f(x):
        return tf.nn.dropout(x * x, keep_prob=0.5)

    y = f(x)
    value, slope = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(slope, 2 * value)
    assert 300 < np.count_nonzero(value) < 700


def test_nested_with_the_same_random_numbers():
    x = tf.constant(np.ones(1000, np.float32))
    f = tf.recompute_grad(tf.recompute_grad(lambda x: tf.nn.dropout(x * x, keep_prob=0.5)))
    y = f(x)
    value, slope = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_array_equal(slope, 2 * value)


def test_variables_that_the_function_makes():
    """Those of its first call, in the scope of the call, whatever drew their initial values."""

    def net(x):
        y = tf.layers.dense(x, 5, name="a", reuse=tf.AUTO_REUSE)
        y = tf.nn.dropout(y, keep_prob=0.5)
        return tf.layers.dense(y, 2, name="b", reuse=tf.AUTO_REUSE)

    x = tf.constant(np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32))
    for _ in range(2):
        with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
            y = tf.recompute_grad(net)(x)
        before = len(tf.trainable_variables())
        gradients = tf.gradients(y, [x, *tf.trainable_variables()])
        assert len(tf.trainable_variables()) == before == 4
        values = run([tf.gradients(y, x)[0], *gradients])
        np.testing.assert_array_equal(values[0], values[1])
        assert not any(np.isnan(v).any() for v in values) and values[-1].tolist() == [4.0, 4.0]


def test_a_mask_beside_weights_drawn_at_the_first_call():
    def net(x):
        w = tf.get_variable("w", [4, 4], initializer=tf.random_normal_initializer())
        return tf.nn.dropout(tf.matmul(x, w), keep_prob=0.5)

    x = tf.constant(np.ones((3, 4), np.float32))
    y = tf.recompute_grad(net)(x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value, w, slope = session.run([y, tf.trainable_variables()[0], tf.gradients(y, x)[0]])
    np.testing.assert_allclose(slope, 2.0 * (value != 0) @ w.T, rtol=1e-5)


def test_overrides_around_the_call_and_inside():
    @tf.RegisterGradient("times_5")
    def rule(op, upstream):
        return 5.0 * upstream

    x = tf.constant([1.0, 2.0])
    with tf.get_default_graph().gradient_override_map({"Tanh": "times_5"}):
        y = tf.recompute_grad(tf.tanh)(x)
    assert listed(run(tf.gradients(y, x))) == [[5.0, 5.0]]


def test_what_is_taken_from_outside_counts():
    x = tf.constant([1.0, 2.0])
    c = x * 3.0
    assert listed(run(tf.gradients(tf.recompute_grad(lambda a: a * c)(x), x))) == [[6.0, 12.0]]
    assert listed(run(tf.gradients(tf.recompute_grad(lambda: c * c)(), x))) == [[18.0, 36.0]]


def test_what_draws_and_passes_gradients():
    @tf.RegisterGradient("shuffled")
    def rule(op, upstream):
        return [7.0 * upstream, None][: len(op.inputs)]

    x = tf.constant([1.0, 2.0, 3.0])
    with tf.get_default_graph().gradient_override_map({"RandomShuffle": "shuffled"}):
        y = tf.recompute_grad(lambda x: tf.random_shuffle(x * x) + x)(x)
    assert listed(run(tf.gradients(y, x))) == [[15.0, 29.0, 43.0]]


def test_samplers_and_what_comes_after():
    def f(x):
        ids, *_ = tf.nn.uniform_candidate_sampler([[0]], 1, 3, True, 100)
        return x * tf.cast(tf.reduce_sum(ids), tf.float32) + tf.random_uniform([]) * x

    x = tf.constant(1.0)
    y = tf.recompute_grad(f)(x)
    value, slope = run([y, tf.gradients(y, x)[0]])
    assert value == slope


def test_updates_are_collected_once():
    x = tf.constant(np.ones((4, 3), np.float32))
    f = tf.recompute_grad(lambda x: tf.layers.batch_normalization(x * x, training=True))
    y = f(x)
    tf.gradients(y, x)
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


def test_less_memory():
    random = np.random.default_rng(0)
    weights = [tf.constant(random.normal(size=s) / 8) for s in [(64, 256), (256, 64)] * 12]

    def block(x, w1, w2):
        h = tf.matmul(x, w1)
        return x + tf.matmul(tf.tanh(h) * tf.sigmoid(h), w2)

    peaks = []
    for f in (block, tf.recompute_grad(block)):
        x = tf.placeholder(tf.float64, [None, 64])
        y = x
        for w1, w2 in zip(weights[::2], weights[1::2], strict=True):
            y = f(y, w1, w2)
        g = tf.gradients(tf.reduce_mean(y * y), x)[0]
        given = {x: random.normal(size=(256, 64))}
        peaks.append(bytes_beside(lambda g=g, given=given: run(g, given)))
    assert peaks[1] < 0.4 * peaks[0]


def test_second_derivatives():
    x = tf.constant(2.0)
    first = tf.gradients(tf.recompute_grad(lambda x: x**3)(x), x)[0]
    assert listed(run([first, *tf.gradients(first, x)])) == [12.0, 12.0]


@pytest.mark.usefixtures("eager")
def test_in_eager_mode():
    v = tf.Variable([2.0, 1.0])

    @tf.recompute_grad
    def f(x, power=2):
        assert isinstance(x, tf.Tensor)
        return {"y": v * x**power}

    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, power=3)["y"]
    by_x, by_v = tape.gradient(y, [x, v])
    assert by_x.numpy().tolist() == [54.0, 48.0] and by_v.numpy().tolist() == [27.0, 64.0]


def test_what_is_no_function():
    with pytest.raises(TypeError, match="recompute_grad: expected a function, got 3"):
        tf.recompute_grad(3)
