"""TensorArray of TensorFlow 1."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def scalar():
    return tf.placeholder(tf.float32, [])


@pytest.mark.parametrize("options", [{"size": 3}, {"size": 0, "dynamic_size": True},
                                     {"size": 3, "element_shape": []}])  # fmt: skip
def test_an_array_is_filled(options):
    x = scalar()
    _, _, array = tf.while_loop(
        lambda i, h, a: i < 3,
        lambda i, h, a: (i + 1, h * x, a.write(i, h)),
        [0, x, tf.TensorArray(tf.float32, **options)],
    )
    y = array.stack()
    assert listed(run([y, array.size(), *tf.gradients(y, x)], {x: 2.0})) == [[2, 4, 8], 3, 17]


def test_an_array_is_read():
    x = tf.placeholder(tf.float32, [None, 2])
    array = tf.TensorArray(tf.float32, size=tf.shape(x)[0]).unstack(x)
    total = tf.while_loop(
        lambda i, t: i < array.size(), lambda i, t: (i + 1, t * array.read(i)), [0, tf.ones([2])]
    )[1]
    rows = [[1.0, 2.0], [3.0, 5.0]]
    assert listed(run([total, *tf.gradients(total, x)], {x: rows})) == [[3, 10], [[3, 5], [1, 2]]]
    assert listed(run([array.gather([1]), array.concat()], {x: rows})) == [
        [[3, 5]],
        [1, 2, 3, 5],
    ]
    other = tf.TensorArray(tf.float32, 4).scatter([0, 2], tf.constant([1.0, 2.0]))
    assert listed(run(other.stack())) == [1, 0, 2, 0]
    parts = tf.TensorArray(tf.float32, 2).split(tf.constant([1.0, 2.0, 3.0, 4.0]), [2, 2])
    assert listed(run(parts.identity().read(1))) == [3, 4]
    with pytest.raises(ValueError, match="elements of shape"):
        tf.TensorArray(tf.float32, 2, element_shape=[2]).write(0, tf.ones([3]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(other.read(7))


def test_a_recurrent_network_learns():
    """The sum of a sequence, by a program as it was written."""
    batch, steps = 8, 5
    xs = tf.placeholder(tf.float32, [None, steps, 1])
    targets = tf.reduce_sum(xs, axis=1)
    w = tf.get_variable("w", initializer=tf.constant([[0.5]]))
    u = tf.get_variable("u", initializer=tf.constant([[0.5]]))
    inputs = tf.TensorArray(tf.float32, size=steps).unstack(tf.transpose(xs, [1, 0, 2]))
    outputs = tf.TensorArray(tf.float32, size=steps)

    def step(t, h, out):
        h = tf.matmul(h, w) + tf.matmul(inputs.read(t), u)
        return t + 1, h, out.write(t, h)

    start = (tf.constant(0), tf.zeros([tf.shape(xs)[0], 1]), outputs)
    _, _, outputs = tf.while_loop(lambda t, *_: t < steps, step, start)
    loss = tf.reduce_mean(tf.square(outputs.stack()[-1] - targets))
    train = tf.train.GradientDescentOptimizer(0.02).minimize(loss)
    data = np.linspace(-1, 1, batch * steps).reshape(batch, steps, 1)[:, ::-1].copy()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(loss, {xs: data})
        for _ in range(60):
            session.run(train, {xs: data})
        assert session.run(loss, {xs: data}) < 0.05 * first


@pytest.mark.parametrize(
    ("first", "size", "expected"),
    [(0, 3, [2, 4, 8]), (1, 3, [0, 2, 4]), (0, 4, [2, 4, 8, 0]), (3, 3, [0, 0, 0])],
)
def test_arrays_that_are_filled_in_part(first, size, expected):
    """Loops that count are seen to; those that fill an array whole do not carry it."""
    x, start = scalar(), tf.ones([size])
    _, _, array = tf.while_loop(
        lambda i, h, a: i < 3,
        lambda i, h, a: (i + 1, h * x, a.write(i, h)),
        [first, x, tf.TensorArray(tf.float32, size, element_shape=[])],
    )
    y = array.stack()
    powers = [expected.index(v) for v in expected if v]
    slope = sum((k - powers[0] + 1) * 2 ** (k - powers[0]) for k in powers)
    assert listed(run([y, *tf.gradients(y * start, x)], {x: 2.0})) == [expected, slope]


def test_arrays_that_are_read_where_they_are_written():
    x = tf.placeholder(tf.float32, [None])

    def body(total, i, a, b):
        before = tf.cond(i > 0, lambda: a.read(i - 1), lambda: tf.constant(1.0))
        return total + before, i + 1, a.write(i, before * x[i]), b.write(i, [total, before])

    n = tf.size(x)
    arrays = [tf.TensorArray(tf.float32, n, element_shape=[]), tf.TensorArray(tf.float32, n)]
    total, _, a, b = tf.while_loop(
        lambda total, i, *_: i < tf.shape(x)[0], body, [0.0, 0, *arrays], back_prop=True
    )
    products = a.stack()
    answers = [total, products, b.stack(), *tf.gradients(products, x)]
    assert listed(run(answers, {x: [2, 3, 4]})) == [
        9,
        [2, 6, 24],
        [[0, 1], [1, 2], [3, 6]],
        [1 + 3 + 12, 2 + 8, 6],
    ]
    with pytest.raises(ValueError, match="element"):
        run(arrays[1].read(0), {x: [1]})


def test_element_shapes_are_checked_in_a_loop():
    x = tf.placeholder(tf.float32, None)
    _, array = tf.while_loop(
        lambda i, a: i < 2,
        lambda i, a: (i + 1, a.write(i, x)),
        [0, tf.TensorArray(tf.float32, 2, element_shape=[3])],
    )
    assert run(array.stack(), {x: [1, 2, 3]}).shape == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        run(array.stack(), {x: [1, 2]})


def test_eager_array(eager):  # noqa: F811
    array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
    for i in range(3):
        array = array.write(i, tf.constant(float(i)))
    assert array.stack().numpy().tolist() == [0, 1, 2]


def test_array_in_a_function(eager):  # noqa: F811
    @tf.function
    def powers(x):
        array = tf.TensorArray(tf.float32, 3)
        _, _, array = tf.while_loop(
            lambda i, h, a: i < 3, lambda i, h, a: (i + 1, h * x, a.write(i, h)), [0, x, array]
        )
        return array.stack()

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = powers(x)
    assert y.numpy().tolist() == [2, 4, 8] and tape.gradient(y, x).numpy() == 17
