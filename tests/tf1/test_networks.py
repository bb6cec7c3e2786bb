"""Networks of that time, each trained and compared with NumPy or with differences."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback.compat.tf1.examples.tutorials.mnist import input_data
from pullback.datasets._mnist import SAMPLE


@pytest.fixture(scope="module")
def digits():
    """Batches of 100 images and labels, from 1000 real digits."""
    data = input_data.read_data_sets(str(SAMPLE), one_hot=True, seed=3).train
    return [data.next_batch(100) for _ in range(30)]


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def along_a_line(session, loss, variables, slopes, feed=None, size=1e-6):
    """The slope along a random direction by differences and by the gradients."""
    random = np.random.default_rng(0)
    values = session.run(variables)
    steps = [random.normal(size=v.shape) for v in values]
    losses = []
    for sign in (1, -1):
        for v, value, step in zip(variables, values, steps, strict=True):
            v.load(value + sign * size * step, session)
        losses.append(session.run(loss, feed))
    for v, value in zip(variables, values, strict=True):
        v.load(value, session)
    gradients = session.run(slopes, feed)
    exact = sum(np.sum(g * s) for g, s in zip(gradients, steps, strict=True))
    return (losses[0] - losses[1]) / (2 * size), exact


# --- two layers with dropout


def two_layers(x, y, keep):
    tf.set_random_seed(5)
    w1 = tf.Variable(tf.truncated_normal([784, 32], stddev=0.1), name="w1")
    b1 = tf.Variable(tf.constant(0.1, shape=[32]), name="b1")
    w2 = tf.Variable(tf.truncated_normal([32, 10], stddev=0.1), name="w2")
    b2 = tf.Variable(tf.zeros([10]), name="b2")
    hidden = tf.nn.dropout(tf.nn.relu(tf.nn.xw_plus_b(x, w1, b1)), keep)
    logits = tf.matmul(hidden, w2) + b2
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    right = tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1))
    return loss, tf.reduce_mean(tf.cast(right, tf.float32)), [w1, b1, w2, b2]


def two_layers_by_numpy(batches, parameters, rate):
    w1, b1, w2, b2 = (p.astype(float) for p in parameters)
    losses = []
    for images, labels in batches:
        inner = images @ w1 + b1
        hidden = np.maximum(inner, 0)
        p = softmax(hidden @ w2 + b2)
        losses.append(-np.mean(np.sum(labels * np.log(p), 1)))
        slope = (p - labels) / len(images)
        back = (slope @ w2.T) * (inner > 0)
        w2, b2 = w2 - rate * hidden.T @ slope, b2 - rate * slope.sum(0)
        w1, b1 = w1 - rate * images.T @ back, b1 - rate * back.sum(0)
    return losses, (w1, b1, w2, b2)


def test_two_layers_with_dropout(digits):
    x, y = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 10])
    keep = tf.placeholder(tf.float32)
    loss, accuracy, variables = two_layers(x, y, keep)
    step = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = session.run(variables)
        losses = [session.run([loss, step], {x: a, y: b, keep: 1.0})[0] for a, b in digits]
        expected, end = two_layers_by_numpy(digits, start, 0.3)
        np.testing.assert_allclose(losses, expected, rtol=2e-4)
        for got, wanted in zip(session.run(variables), end, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-2, atol=2e-4)

        session.run(tf.global_variables_initializer())
        for _ in range(4):
            for a, b in digits:
                session.run(step, {x: a, y: b, keep: 0.5})
        images, labels = (np.concatenate(part) for part in zip(*digits[:10], strict=True))
        whole = {x: images, y: labels}
        sure = [session.run(loss, whole | {keep: 1.0}) for _ in range(2)]
        noisy = [session.run(loss, whole | {keep: 0.5}) for _ in range(2)]
        assert sure[0] == sure[1] and noisy[0] != noisy[1] and min(noisy) > sure[0]
        assert session.run(accuracy, whole | {keep: 1.0}) > 0.85


# --- convolutions


def test_convolutional_network(digits):
    x, y = tf.placeholder(tf.float64, [None, 784]), tf.placeholder(tf.float64, [None, 10])
    tf.set_random_seed(6)
    training = tf.placeholder_with_default(False, [])
    image = tf.reshape(x, [-1, 28, 28, 1])
    above = tf.constant_initializer(0.1)  # the black of the images is not at the kink
    c1 = tf.layers.conv2d(image, 4, 5, 2, "same", activation=tf.nn.relu, bias_initializer=above)
    p1 = tf.nn.max_pool(c1, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    c2 = tf.layers.conv2d(p1, 8, 3, padding="valid", activation=tf.nn.tanh)
    flat = tf.layers.flatten(tf.layers.average_pooling2d(c2, 2, 2))
    logits = tf.layers.dense(tf.layers.dropout(flat, 0.1, training=training), 10)
    loss = tf.losses.softmax_cross_entropy(y, logits)
    step = tf.train.AdamOptimizer(0.02).minimize(loss)
    variables = tf.trainable_variables()
    slopes = tf.gradients(loss, variables)
    assert [v.shape.as_list() for v in variables[::2]] == [[5, 5, 1, 4], [3, 3, 4, 8], [32, 10]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        images, labels = digits[0]
        feed = {x: images[:20], y: labels[:20]}
        by_differences, exact = along_a_line(session, loss, variables, slopes, feed)
        assert exact == pytest.approx(by_differences, rel=1e-5)
        losses = [
            session.run([loss, step], {x: a, y: b, training: True})[0] for a, b in digits + digits
        ]
        assert np.mean(losses[-5:]) < 0.75 * np.mean(losses[:5])


# --- an autoencoder


def test_autoencoder(digits):
    x = tf.placeholder(tf.float32, [None, 784])
    tf.set_random_seed(7)
    with tf.variable_scope("auto", initializer=tf.random_normal_initializer(stddev=0.05)):
        encode = tf.get_variable("encode", [784, 16])
        inner = tf.get_variable("inner", [16], initializer=tf.zeros_initializer())
        outer = tf.get_variable("outer", [784], initializer=tf.zeros_initializer())
    code = tf.nn.sigmoid(tf.matmul(x, encode) + inner)
    logits = tf.matmul(code, encode, transpose_b=True) + outer  # tied weights
    cost = tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits)
    loss = tf.reduce_mean(tf.reduce_sum(cost, 1))
    variables = tf.trainable_variables("auto/")
    step = tf.train.MomentumOptimizer(0.005, 0.9).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        w, b, c = (v.astype(float) for v in session.run(variables))
        speed = [np.zeros_like(v) for v in (w, b, c)]
        losses = []
        for k, (images, _) in enumerate(digits):
            losses.append(session.run([loss, step], {x: images})[0])
            if k >= 10:  # so far the same steps in NumPy
                continue
            h = 1 / (1 + np.exp(-(images @ w + b)))
            z = h @ w.T + c
            expected = np.mean(np.sum(np.logaddexp(0, z) - images * z, 1))
            assert losses[-1] == pytest.approx(expected, rel=1e-4)
            up = (1 / (1 + np.exp(-z)) - images) / len(images)
            back = (up @ w) * h * (1 - h)
            slopes = (images.T @ back + up.T @ h, back.sum(0), up.sum(0))
            speed = [0.9 * m + g for m, g in zip(speed, slopes, strict=True)]
            w, b, c = (v - 0.005 * m for v, m in zip((w, b, c), speed, strict=True))
        assert losses[-1] < 0.5 * losses[0]


# --- batch normalisation by hand


def test_batch_normalization_with_moving_averages():
    random = np.random.default_rng(8)
    rows = random.normal(3.0, 2.0, (40, 64, 4))
    x, targets = tf.placeholder(tf.float64, [None, 4]), tf.placeholder(tf.float64, [None])
    training = tf.placeholder(tf.bool, [])
    mean, variance = tf.nn.moments(x, [0])
    averages = tf.train.ExponentialMovingAverage(0.8)
    update = averages.apply([mean, variance])
    scale = tf.get_variable("gamma", [4], tf.float64, tf.ones_initializer())
    shift = tf.get_variable("beta", [4], tf.float64, tf.zeros_initializer())
    m = tf.where(training, mean, averages.average(mean).value())
    v = tf.where(training, variance, averages.average(variance).value())
    y = tf.nn.batch_normalization(x, m, v, shift, scale, 1e-3)
    loss = tf.reduce_mean(tf.square(tf.reduce_sum(y, 1) - targets))
    with tf.control_dependencies([update]):
        step = tf.train.GradientDescentOptimizer(0.02).minimize(loss, var_list=[scale, shift])
    variables = [scale, shift]
    slopes = tf.gradients(loss, [*variables, x])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses, running = [], np.zeros((2, 4))
        for batch in rows:
            feed = {x: batch, targets: batch @ [0.5, -0.25, 1.0, 0.1], training: True}
            losses.append(session.run([loss, step], feed)[0])
            running = 0.8 * running + 0.2 * np.array([batch.mean(0), batch.var(0)])
        kept = session.run([averages.average(mean), averages.average(variance)])
        np.testing.assert_allclose(kept, running, rtol=1e-10)
        assert losses[-1] < 0.3 * losses[0]
        g, b = session.run(variables)
        got = session.run(y, {x: rows[0], training: False})
        wanted = (rows[0] - running[0]) / np.sqrt(running[1] + 1e-3) * g + b
        np.testing.assert_allclose(got, wanted, rtol=1e-9)
        # The gradient goes through the moments of the batch.
        *_, by_x = session.run(slopes, feed)
        line = random.normal(size=batch.shape)
        ends = [session.run(loss, feed | {x: batch + e * line}) for e in (1e-6, -1e-6)]
        assert np.sum(by_x * line) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


# --- rates that decay


def test_learning_rates_that_decay():
    start = np.array([3.0, -2.0])
    for name, make, rate in (
        ("staircase", lambda s: tf.train.exponential_decay(0.3, s, 4, 0.5, staircase=True),
         lambda k: 0.3 * 0.5 ** (k // 4)),
        ("polynomial", lambda s: tf.train.polynomial_decay(0.3, s, 10, 0.05, power=2.0),
         lambda k: 0.25 * (1 - min(k, 10) / 10) ** 2 + 0.05),
        ("pieces", lambda s: tf.train.piecewise_constant(s, [2, 5], [0.3, 0.2, 0.1]),
         lambda k: 0.3 if k <= 2 else 0.2 if k <= 5 else 0.1),
        ("inverse", lambda s: tf.train.inverse_time_decay(0.3, s, 2, 0.5),
         lambda k: 0.3 / (1 + 0.5 * k / 2)),
    ):  # fmt: skip
        with tf.Graph().as_default(), tf.Session() as session:
            count = tf.train.get_or_create_global_step()
            v = tf.Variable(start)
            loss = tf.reduce_sum(v**2 * [1.0, 0.5])
            optimizer = tf.train.GradientDescentOptimizer(make(count))
            step = optimizer.minimize(loss, global_step=count)
            session.run(tf.global_variables_initializer())
            expected = start
            for k in range(15):
                session.run(step)
                expected = expected - rate(k) * expected * [2.0, 1.0]
            np.testing.assert_allclose(session.run(v), expected, rtol=1e-5, err_msg=name)
            assert tf.train.global_step(session, count) == 15


@pytest.mark.parametrize(
    "optimizer",
    [
        tf.train.AdamOptimizer(0.1),
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.FtrlOptimizer(0.1),
    ],
)
def test_a_step_that_waits_for_the_updates_of_batch_normalization(optimizer):
    """What the step waits for needs a feed; what initializes its slots does not wait for it."""
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.layers.batch_normalization(tf.layers.dense(x, 4), training=True)
    loss = tf.reduce_mean(tf.square(y - 1.0))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        count = tf.train.get_or_create_global_step()
        step = optimizer.minimize(loss, count)
        mean = tf.assign_moving_average(tf.Variable(0.0, trainable=False), loss, 0.9)
    moving = next(v for v in tf.global_variables() if "moving_mean" in v.name)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {x: np.random.default_rng(1).normal(size=(16, 3))}
        losses = [session.run([loss, step], feed)[0] for _ in range(20)]
        assert losses[-1] < 0.9 * losses[0] and np.any(session.run(moving) != 0)
        assert session.run(count) == 20 and session.run(mean, feed) > 0
