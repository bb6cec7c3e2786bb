"""tf.layers and what of tf.nn they are made of; programs that use them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf

RNG = np.random.default_rng(1)
X = RNG.normal(size=(6, 4)).astype(np.float32)


def initialized() -> Any:
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    return session


# --- dense, flatten


@pytest.mark.parametrize("shape", [[6, 4], [None, 4], [2, 3, 4], [None, 3, 4]])
def test_dense(shape: Any) -> None:
    x = tf.placeholder(tf.float32, shape)
    y = tf.layers.dense(x, 5, tf.nn.tanh, name="hidden", bias_initializer=tf.ones_initializer())
    assert y.shape.as_list() == [*shape[:-1], 5]
    kernel, bias = tf.trainable_variables()
    assert (kernel.name, bias.name) == ("hidden/kernel:0", "hidden/bias:0")
    data = X.reshape([-1 if d is None else d for d in shape])
    with initialized() as session:
        got, k = session.run([y, kernel], {x: data})
        assert got.shape == (*data.shape[:-1], 5)
        np.testing.assert_allclose(got, np.tanh(data @ k + 1), rtol=1e-4, atol=1e-6)
        for g, v in zip(session.run(tf.gradients(y, [kernel, bias]), {x: data}), [kernel, bias]):  # noqa: B905
            assert g.shape == tuple(v.shape.as_list())


def test_names_and_reuse() -> None:
    x = tf.constant(X)
    a, b = tf.layers.dense(x, 2), tf.layers.dense(x, 2, use_bias=False)
    c = tf.layers.dense(x, 2, name="shared")
    d = tf.layers.dense(x, 2, name="shared", reuse=True)
    names = [v.name for v in tf.trainable_variables()]
    assert names == ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "shared/kernel:0",
                     "shared/bias:0"]  # fmt: skip
    with initialized() as session:
        values = session.run([a, b, c, d])
    assert np.array_equal(values[2], values[3]) and not np.array_equal(values[0], values[1])
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(x, 2, name="shared")
    with pytest.raises(ValueError, match=r"whose last dimension is known"):
        tf.layers.dense(tf.placeholder(tf.float32, [3, None]), 2)


def test_layers_without_a_name_are_found_again_in_their_scope() -> None:
    def network(x: Any) -> Any:
        with tf.variable_scope("m", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(tf.layers.dense(x, 2), 1)

    a, b = network(tf.constant(X)), network(tf.constant(X))
    names = [v.name for v in tf.trainable_variables()]
    assert names == [
        "m/dense/kernel:0", "m/dense/bias:0", "m/dense_1/kernel:0", "m/dense_1/bias:0",
    ]  # fmt: skip
    with initialized() as session:
        assert np.array_equal(*session.run([a, b]))
    with tf.variable_scope("n") as scope:
        tf.layers.dense(tf.constant(X), 2)
    with tf.variable_scope(scope, reuse=True):
        tf.layers.dense(tf.constant(X), 2)
    assert len(tf.trainable_variables()) == 6


def test_what_dense_does_not_take() -> None:
    with pytest.raises(TypeError, match="expected floats"):
        tf.layers.dense(tf.constant([[1, 2]]), 2)
    with pytest.raises(ValueError, match="rank 2 or more"):
        tf.layers.dense(tf.constant([1.0, 2.0]), 2)


def test_a_shared_kernel_has_one_penalty() -> None:
    for _ in range(2):
        tf.layers.dense(tf.constant(X), 1, kernel_regularizer=tf.nn.l2_loss, name="d",
                        reuse=tf.AUTO_REUSE)  # fmt: skip
    assert len(tf.losses.get_regularization_losses()) == 1


def test_regularizers_are_collected() -> None:
    tf.layers.dense(tf.constant(X), 2, kernel_regularizer=lambda w: 0.5 * tf.nn.l2_loss(w))
    (loss,) = tf.losses.get_regularization_losses()
    with initialized() as session:
        kernel = session.run(tf.trainable_variables()[0])
        assert session.run(loss) == pytest.approx(0.25 * (kernel**2).sum(), rel=1e-5)


def test_flatten() -> None:
    x = tf.placeholder(tf.float32, [None, 2, 3])
    y = tf.layers.flatten(x)
    assert y.shape.as_list() == [None, 6]
    with tf.Session() as session:
        assert session.run(y, {x: np.zeros((5, 2, 3))}).shape == (5, 6)
    assert tf.layers.flatten(tf.ones([4])).shape.as_list() == [4, 1]
    x = tf.placeholder(tf.float32, [None, None, 3])
    with tf.Session() as session:
        assert session.run(tf.layers.flatten(x), {x: np.zeros((5, 2, 3))}).shape == (5, 6)


# --- dropout


def test_dropout_keeps_a_share_and_the_mean() -> None:
    x, keep = tf.ones([200, 100]), tf.placeholder(tf.float32, [])
    y = tf.nn.dropout(x, keep, seed=3)
    with tf.Session() as session:
        for share in (1.0, 0.75, 0.2):
            got = session.run(y, {keep: share})
            assert set(np.unique(got)) <= {np.float32(0), np.float32(1) / np.float32(share)}
            assert np.mean(got != 0) == pytest.approx(share, abs=0.02)
        a, b = session.run(y, {keep: 0.5}), session.run(y, {keep: 0.5})
        assert not np.array_equal(a, b)


def test_the_gradient_goes_where_the_value_went() -> None:
    x = tf.constant(X)
    y = tf.nn.dropout(x, rate=0.5)
    value, slope = run([y, tf.gradients(y, x)[0]])
    assert np.array_equal(slope, np.where(value == 0, 0, 2))


def test_rows_are_dropped_together() -> None:
    got = run(tf.nn.dropout(tf.ones([50, 8]), 0.5, noise_shape=[50, 1]))
    assert all(len(set(row)) == 1 for row in got) and 0 < got.mean() < 2
    got = run(tf.nn.dropout(tf.ones([50, 8]), 0.5, noise_shape=[None, 1]))
    assert all(len(set(row)) == 1 for row in got) and 0 < got.mean() < 2


def test_dropout_while_training() -> None:
    x, training = tf.ones([100]), tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(x, 0.5, training=training)
    with tf.Session() as session:
        assert np.array_equal(session.run(y, {training: False}), np.ones(100))
        assert set(session.run(y, {training: True})) == {0.0, 2.0}
    assert np.array_equal(run(tf.layers.dropout(x)), np.ones(100))
    assert set(run(tf.layers.dropout(x, training=True))) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.nn.dropout(tf.ones([2])), "expected one of keep_prob and rate"),
        (lambda: tf.nn.dropout(tf.ones([2]), 0.5, rate=0.5), "expected one of keep_prob and rate"),
        (lambda: tf.nn.dropout(tf.ones([2]), 0.0), "got 0.0"),
        (lambda: tf.nn.dropout(tf.ones([2]), rate=1.0), "got 1.0"),
        (lambda: tf.nn.dropout(tf.ones([2]), rate=np.float32(2)), "got 2.0"),
        (lambda: tf.nn.dropout(tf.constant([1, 2]), 0.5), "expected floats"),
    ],
)
def test_mistakes(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


# --- normalisation and the rest of tf.nn


@each("axes", [[0], [1], [0, 1], 0])
@each("keep", [False, True], around=graph_of_its_own)
def test_moments(axes: Any, keep: bool) -> None:
    mean, variance = run(tf.nn.moments(tf.constant(X), axes, keep_dims=keep))
    axis = tuple(axes) if isinstance(axes, list) else axes
    np.testing.assert_allclose(mean, X.mean(axis, keepdims=keep), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(variance, X.var(axis, keepdims=keep), rtol=1e-4, atol=1e-6)


def test_batch_normalization_of_nn() -> None:
    mean, variance, offset, scale = X.mean(0), X.var(0), np.arange(4.0), np.arange(1.0, 5.0)
    root = np.sqrt(variance + 0.01)
    for o, s in ((offset, scale), (None, scale), (offset, None), (None, None)):
        given = [None if a is None else tf.constant(a, tf.float32) for a in (o, s)]
        got = run(tf.nn.batch_normalization(X, tf.constant(mean), variance, *given, 0.01))
        expected = (X - mean) / root * (1 if s is None else s) + (0 if o is None else o)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_batch_normalization_moves_its_averages() -> None:
    x, training = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.bool, [])
    y = tf.layers.batch_normalization(x, momentum=0.75, epsilon=1e-3, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert [v.name for v in tf.trainable_variables()] == [
        "batch_normalization/gamma:0", "batch_normalization/beta:0",
    ]  # fmt: skip
    moving = [v for v in tf.global_variables() if "moving" in v.name]
    with initialized() as session:
        mean, variance = np.zeros(4), np.ones(4)
        for k in range(3):
            data = X * (k + 1)
            got = session.run(y, {x: data, training: True})
            expected = (data - data.mean(0)) / np.sqrt(data.var(0) + 1e-3)
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-4)
            session.run(updates, {x: data, training: True})
            mean, variance = (0.75 * a + 0.25 * b for a, b in
                              ((mean, data.mean(0)), (variance, data.var(0))))  # fmt: skip
            np.testing.assert_allclose(session.run(moving[0]), mean, rtol=1e-3, atol=1e-5)
            np.testing.assert_allclose(session.run(moving[1]), variance, rtol=1e-3, atol=1e-5)
        session.run(updates, {x: X, training: False})  # stays
        np.testing.assert_allclose(session.run(moving[0]), mean, rtol=1e-3, atol=1e-5)
        got = session.run(y, {x: X, training: False})
        np.testing.assert_allclose(got, (X - mean) / np.sqrt(variance + 1e-3), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("fused", [None, False])
def test_the_moving_variance_of_four_axes(fused: Any) -> None:
    x = np.array([0.0, 2.0], np.float32).reshape(2, 1, 1, 1)
    tf.layers.batch_normalization(x, momentum=0.0, training=True, fused=fused)
    (moving,) = [v for v in tf.global_variables() if "moving_variance" in v.name]
    with initialized() as session:
        session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
        assert session.run(moving) == [1.0 if fused is False else 2.0]


def test_activations() -> None:
    x = np.array([-3.0, -0.5, 0.0, 2.0, 7.0], np.float32)
    alpha, scale = 1.6732632423543772, 1.0507009873554805
    negative = np.expm1(np.minimum(x, 0))
    for f, expected, slope in (
        (tf.nn.relu6, np.clip(x, 0, 6), (x > 0) & (x < 6)),
        (tf.nn.elu, np.where(x > 0, x, negative), np.where(x > 0, 1, np.exp(np.minimum(x, 0)))),
        (
            tf.nn.selu,
            scale * np.where(x > 0, x, alpha * negative),
            scale * np.where(x >= 0, 1, alpha * np.exp(np.minimum(x, 0))),
        ),
    ):
        given = tf.constant(x)
        y = f(given)
        got, g = run([y, tf.gradients(y, given)[0]])
        np.testing.assert_allclose(got, expected, rtol=1e-5)
        inside = x != 0 if f is tf.nn.relu6 else x < 100
        np.testing.assert_allclose(g[inside], np.asarray(slope, np.float32)[inside], rtol=1e-5)


def test_small_functions() -> None:
    w, b = RNG.normal(size=(4, 3)).astype(np.float32), np.arange(3, dtype=np.float32)
    np.testing.assert_allclose(run(tf.nn.xw_plus_b(X, w, b)), X @ w + b, rtol=1e-4, atol=1e-5)
    rows = np.sqrt((X**2).sum(1, keepdims=True))
    np.testing.assert_allclose(run(tf.nn.l2_normalize(X, 1)), X / rows, rtol=1e-5)
    np.testing.assert_allclose(run(tf.nn.l2_normalize(np.zeros(3), 0)), np.zeros(3))
    large = tf.nn.l2_normalize(np.array([3.0, 4.0]), 0, epsilon=16.0)  # is a bound, not added
    np.testing.assert_allclose(run(large), [0.6, 0.8])
    ids = np.array([[0, 2], [2, 5]])
    assert np.array_equal(run(tf.nn.embedding_lookup(tf.constant(X), ids)), X[ids])
    with pytest.raises(NotImplementedError, match="one table"):
        tf.nn.embedding_lookup([X, X], ids)


@pytest.mark.usefixtures("eager")
def test_in_eager_mode() -> None:
    y = tf.nn.dropout(tf.ones([1000]), 0.5)
    assert set(y.numpy()) == {0.0, 2.0}
    variance = tf.nn.moments(tf.constant(X), [0])[1]
    np.testing.assert_allclose(variance.numpy(), X.var(0), rtol=1e-4)
    assert tf.layers.flatten(tf.ones([2, 3, 4])).shape.as_list() == [2, 12]


# --- programs of that time


def test_a_network_with_dropout_learns() -> None:
    data = RNG.normal(size=(200, 8)).astype(np.float32)
    labels = (data[:, 0] * data[:, 1] > 0).astype(np.int64)
    x, y = tf.placeholder(tf.float32, [None, 8]), tf.placeholder(tf.int64, [None])
    keep_prob = tf.placeholder(tf.float32, [])
    hidden = tf.nn.dropout(tf.layers.dense(x, 32, tf.nn.relu), keep_prob)
    logits = tf.layers.dense(hidden, 2)
    loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
    step = tf.train.AdamOptimizer(0.02).minimize(loss)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))
    with initialized() as session:
        for _ in range(150):
            session.run(step, {x: data, y: labels, keep_prob: 0.8})
        assert session.run(accuracy, {x: data, y: labels, keep_prob: 1.0}) > 0.9


def test_batch_normalization_with_its_updates_in_the_step() -> None:
    x, training = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.bool, [])
    hidden = tf.layers.batch_normalization(tf.layers.dense(x, 8), training=training, momentum=0.5)
    loss = tf.losses.mean_squared_error(X[:, :1], tf.layers.dense(tf.nn.relu(hidden), 1))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    (mean,) = [v for v in tf.global_variables() if "moving_mean" in v.name]
    with initialized() as session:
        first = session.run(loss, {x: X, training: True})
        for _ in range(60):
            session.run(step, {x: X, training: True})
        assert np.any(session.run(mean) != 0)
        assert session.run(loss, {x: X, training: True}) < 0.3 * first
        assert session.run(loss, {x: X, training: False}) < 0.5 * first


def test_an_autoencoder_learns() -> None:
    data = (RNG.normal(size=(100, 2)) @ RNG.normal(size=(2, 6))).astype(np.float32)
    x = tf.placeholder(tf.float32, [None, 6])
    code = tf.layers.dense(x, 2, name="encoder")
    loss = tf.losses.mean_squared_error(x, tf.layers.dense(code, 6, name="decoder"))
    step = tf.train.AdamOptimizer(0.05).minimize(loss)
    with initialized() as session:
        first = session.run(loss, {x: data})
        for _ in range(300):
            session.run(step, {x: data})
        assert session.run(loss, {x: data}) < 0.02 * first


def test_two_networks_with_an_optimizer_each() -> None:
    """A generator that learns where the data are from a discriminator that learns to tell."""

    def generator(z: Any) -> Any:
        with tf.variable_scope("generator"):
            return tf.layers.dense(z, 1, name="out")

    def discriminator(x: Any) -> Any:
        with tf.variable_scope("discriminator", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(
                tf.layers.dense(x, 8, tf.nn.leaky_relu, name="in"), 1, name="out"
            )

    z, real = tf.placeholder(tf.float32, [None, 1]), tf.placeholder(tf.float32, [None, 1])
    fake = generator(z)
    on_real, on_fake = discriminator(real), discriminator(fake)
    d_loss = tf.losses.sigmoid_cross_entropy(
        tf.ones_like(on_real), on_real
    ) + tf.losses.sigmoid_cross_entropy(tf.zeros_like(on_fake), on_fake)
    g_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(on_fake), on_fake)
    d_vars, g_vars = (tf.trainable_variables(name + "/") for name in ("discriminator", "generator"))
    assert (len(d_vars), len(g_vars)) == (4, 2)
    d_step = tf.train.AdamOptimizer(0.02, beta1=0.5).minimize(d_loss, var_list=d_vars)
    g_step = tf.train.AdamOptimizer(0.02, beta1=0.5).minimize(g_loss, var_list=g_vars)
    rng = np.random.default_rng(5)
    with initialized() as session:
        for _ in range(300):
            feed = {z: rng.normal(size=(64, 1)), real: rng.normal(3, 0.5, (64, 1))}
            before = session.run(g_vars)
            session.run(d_step, feed)
            assert all(map(np.array_equal, before, session.run(g_vars)))
            session.run(g_step, feed)
        assert abs(session.run(fake, {z: rng.normal(size=(500, 1))}).mean() - 3) < 1


def test_initial_values_under_the_names_of_keras():
    tf.set_random_seed(3)
    x = tf.ones([2, 4])
    y = tf.layers.dense(x, 3, kernel_initializer=tf.keras.initializers.he_normal(seed=1))
    z = tf.layers.dense(x, 3, kernel_initializer=tf.keras.initializers.Ones())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made = session.run([y, z])
    assert np.std(made[0]) > 0 and made[1].tolist() == [[4.0] * 3] * 2
    assert tf.keras.initializers.VarianceScaling is tf.initializers.variance_scaling
    with pytest.raises(AttributeError, match="keras has no layers"):
        tf.keras.layers  # noqa: B018
    with pytest.raises(AttributeError, match="has no RandomNormal"):  # its deviation is another
        tf.keras.initializers.RandomNormal  # noqa: B018


def test_regularizers_under_the_names_of_keras():
    x, keras = tf.ones([1, 2]), tf.keras.regularizers
    for regularizer in (keras.l1(0.5), keras.l2(l=0.5), keras.l1_l2(1.0, 2.0)):
        tf.layers.dense(
            x, 1, kernel_initializer=tf.constant_initializer(-3.0), kernel_regularizer=regularizer
        )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(tf.losses.get_regularization_losses()) == [3.0, 9.0, 42.0]
    assert run(keras.l2()(x)) == np.float32(0.02)
