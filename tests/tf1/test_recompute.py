"""recompute_grad, in graphs and in eager mode: values and gradients are those of the function."""

from __future__ import annotations

import numpy as np
import pytest
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
    assert len(calls) == 4
    (g,) = tf.gradients(y, x)
    assert len(calls) == 8

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
