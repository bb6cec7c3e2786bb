"""tf.contrib: values by NumPy, names of variables, scopes of arguments, programs that learn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback.compat.tf1.contrib import layers, rnn, slim

RNG = np.random.default_rng(11)
X = RNG.normal(size=(5, 4)).astype(np.float32)
IMAGE = RNG.normal(size=(2, 6, 6, 3)).astype(np.float32)


def names() -> list[str]:
    return [v.name for v in tf.global_variables()]


# --- layers


def test_fully_connected() -> None:
    y = layers.fully_connected(X, 3)
    z = layers.fully_connected(inputs=X, num_outputs=2, activation_fn=None, scope="out",
                               weights_initializer=tf.ones_initializer)  # fmt: skip
    again = layers.fully_connected(X, 2, tf.nn.tanh, scope="out", reuse=True)
    assert names() == ["fully_connected/weights:0", "fully_connected/biases:0",
                       "out/weights:0", "out/biases:0"]  # fmt: skip
    assert (y.op.name, z.op.name) == ("fully_connected/Relu", "out/BiasAdd")
    assert tf.model_variables() == tf.trainable_variables() == tf.global_variables()
    y, z, again, w = run([y, z, again, tf.global_variables()[0]])
    np.testing.assert_allclose(y, np.maximum(X @ w, 0), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(z, np.tile(X.sum(1, keepdims=True), 2), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(again, np.tanh(z), rtol=1e-5)


def test_layers_of_images() -> None:
    x = tf.placeholder(tf.float32, [None, 6, 6, 3])
    a = layers.conv2d(x, 4, 3, 2, activation_fn=None, scope="first")
    b = layers.conv2d(a, 2, [2, 2], padding="VALID", rate=2, biases_initializer=None)
    c = layers.conv2d_transpose(a, 5, 3, stride=2)
    d, e = layers.max_pool2d(x, 2), layers.avg_pool2d(x, [3, 3], stride=1, padding="SAME")
    flat = layers.flatten(d)
    shapes = [t.shape.as_list() for t in (a, b, c, d, e, flat)]
    assert shapes == [[None, 3, 3, 4], [None, 1, 1, 2], [None, 6, 6, 5], [None, 3, 3, 3],
                      [None, 6, 6, 3], [None, 27]]  # fmt: skip
    assert names() == ["first/weights:0", "first/biases:0", "Conv/weights:0",
                       "Conv2d_transpose/weights:0", "Conv2d_transpose/biases:0"]  # fmt: skip
    conv = tf.nn.conv2d(x, tf.global_variables()[0], [1, 2, 2, 1], "SAME")
    got, expected, pooled = run([a, conv, d], {x: IMAGE})
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert np.array_equal(pooled, IMAGE.reshape(2, 3, 2, 3, 2, 3).max((2, 4)))


def test_layer_norm() -> None:
    y = layers.layer_norm(IMAGE, activation_fn=tf.nn.relu)
    z = layers.layer_norm(X, scale=False, scope="own")
    u = layers.layer_norm(IMAGE, begin_norm_axis=-1, begin_params_axis=2, center=False, scope="u")
    assert names() == ["LayerNorm/beta:0", "LayerNorm/gamma:0", "own/beta:0", "u/gamma:0"]
    assert [v.shape.as_list() for v in tf.global_variables()] == [[3], [3], [4], [6, 3]]
    slopes = tf.gradients(y, tf.model_variables())
    y, z, u, beta, gamma = run([y, z, u, *slopes[:2]])

    def normal(x: Any, axes: tuple[int, ...]) -> Any:
        return (x - x.mean(axes, keepdims=True)) / x.std(axes, keepdims=True)

    expected = normal(IMAGE, (1, 2, 3))
    np.testing.assert_allclose(y, np.maximum(expected, 0), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(z, normal(X, (1,)), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(u, normal(IMAGE, (3,)), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(beta, (expected > 0).sum((0, 1, 2)))
    np.testing.assert_allclose(gamma, np.maximum(expected, 0).sum((0, 1, 2)), rtol=1e-4)
    for x, axes in ((X, {"begin_params_axis": 2}), (tf.placeholder(tf.float32, [2, None]), {})):
        with pytest.raises(ValueError, match="layer_norm: expected known axes"):
            layers.layer_norm(x, **axes)


def test_apply_regularization() -> None:
    with pytest.raises(ValueError, match="expected weights"):
        layers.apply_regularization(layers.l2_regularizer(0.5))
    given = [tf.constant([1.0, 2.0]), tf.constant(2.0)]
    tf.add_to_collection(tf.GraphKeys.WEIGHTS, given[0])
    half = layers.l2_regularizer(0.5)
    found = [layers.apply_regularization(half, given), layers.apply_regularization(half),
             layers.apply_regularization(layers.l2_regularizer(0.0), given)]  # fmt: skip
    assert tf.losses.get_regularization_losses() == found
    assert found[0].op.name == "get_regularization_penalty"
    assert run([*found, tf.gradients(found[0], given[0])[0]])[:3] == [2.25, 1.25, 0.0]


def test_mistakes_of_layer_norm_and_regularizers() -> None:
    for axes in ({"begin_norm_axis": -5}, {"begin_params_axis": -3}, {"begin_norm_axis": 2}):
        with pytest.raises(ValueError, match="layer_norm: expected known axes"):
            layers.layer_norm(X, **axes)
    with pytest.raises(ValueError, match="a regularizer that returns scalars"):
        layers.apply_regularization(tf.square, [tf.constant([1.0, 2.0])])


def test_batch_norm_moves_its_averages_at_once_or_in_a_collection() -> None:
    x, training = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.bool, [])
    y = layers.batch_norm(x, decay=0.5, updates_collections=None, is_training=training, scope="a")
    layers.batch_norm(x, decay=0.5, scale=True, scope="b")
    assert names() == ["a/beta:0", "a/moving_mean:0", "a/moving_variance:0", "b/gamma:0",
                       "b/beta:0", "b/moving_mean:0", "b/moving_variance:0"]  # fmt: skip
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert [op.inputs[0].shape for op in updates] == [[4], [4]]
    mean, variance = tf.global_variables()[1:3]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got = session.run(y, {x: X, training: True})
        np.testing.assert_allclose(got, (X - X.mean(0)) / np.sqrt(X.var(0) + 1e-3), atol=1e-4)
        np.testing.assert_allclose(session.run(mean), X.mean(0) / 2, rtol=1e-4)
        # as TensorFlow's fused operation does, also for two axes: the variance of a sample
        expected = 0.5 + X.var(0, ddof=1) / 2
        np.testing.assert_allclose(session.run(variance), expected, rtol=1e-4)
        m, v = session.run([mean, variance])
        got = session.run(y, {x: X, training: False})
        np.testing.assert_allclose(got, (X - m) / np.sqrt(v + 1e-3), rtol=1e-3, atol=1e-4)
        assert np.array_equal(session.run(mean), m)


def test_a_normalizer_takes_the_place_of_biases() -> None:
    y = layers.conv2d(IMAGE, 4, 3, normalizer_fn=layers.batch_norm,
                      normalizer_params={"is_training": True, "decay": 0.9})  # fmt: skip
    assert names() == ["Conv/weights:0", "Conv/BatchNorm/beta:0", "Conv/BatchNorm/moving_mean:0",
                       "Conv/BatchNorm/moving_variance:0"]  # fmt: skip
    assert run(y).min() == 0 and len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


def test_collections_dropout_and_regularizers() -> None:
    layers.fully_connected(
        X, 2, scope="d", variables_collections={"weights": ["mine"]}, outputs_collections="ends",
        weights_regularizer=layers.l2_regularizer(0.5), weights_initializer=tf.ones_initializer(),
        biases_regularizer=layers.l1_regularizer(0.1), trainable=False,
    )  # fmt: skip
    assert [v.name for v in tf.get_collection("mine")] == ["d/weights:0"]
    assert len(tf.get_collection("ends")) == 1 and tf.trainable_variables() == []
    losses = tf.losses.get_regularization_losses()
    assert run(losses) == [pytest.approx(2.0), 0.0]
    kept = run(layers.dropout(tf.ones([1000]), keep_prob=0.8))
    assert set(kept) == {np.float32(0), np.float32(1.25)}
    assert run(layers.dropout(tf.ones([3]), 0.1, is_training=False)).tolist() == [1, 1, 1]
    assert layers.l2_regularizer(0.0)(tf.ones([2])) is None
    for scale in (1, -0.5):
        with pytest.raises(ValueError, match="l1_regularizer: expected a float of 0 or more"):
            layers.l1_regularizer(scale)


def test_initializers() -> None:
    for make, deviation, bound in (
        (layers.xavier_initializer(), np.sqrt(2 / 500), np.sqrt(6 / 500)),
        (layers.xavier_initializer(uniform=False, seed=3), np.sqrt(2 / 500), np.inf),
        (layers.variance_scaling_initializer(), np.sqrt(2 / 400), np.inf),
        (layers.variance_scaling_initializer(1.0, "FAN_OUT", uniform=True), 0.1, np.sqrt(0.03)),
    ):
        drawn = run(make([400, 100]))
        assert drawn.std() == pytest.approx(deviation, rel=0.02)
        assert np.abs(drawn).max() <= bound


def test_an_actor_of_that_time_learns() -> None:
    """Seven states, three actions of which one pays; a baseline learns beside the policy."""
    tf.set_random_seed(5)
    state, action = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    target = tf.placeholder(tf.float32, [])
    row = tf.expand_dims(tf.one_hot(state, 7), 0)
    with tf.variable_scope("policy"):
        out = layers.fully_connected(inputs=row, num_outputs=3, activation_fn=None,
                                     weights_initializer=tf.zeros_initializer)  # fmt: skip
        chances = tf.squeeze(tf.nn.softmax(out))
        loss = -tf.log(tf.gather(chances, action)) * target
        step = tf.train.AdamOptimizer(0.1).minimize(loss)
    random = np.random.default_rng(4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for k in range(300):
            p = session.run(chances, {state: k % 7}).astype(float)
            a = random.choice(3, p=p / p.sum())
            gain = float(a == k % 3 if k % 7 else a == 1) - 0.3
            session.run(step, {state: k % 7, action: a, target: gain})
        assert session.run(chances, {state: 0})[1] > 0.9


# --- slim


def test_arg_scope_sets_arguments_of_the_layers_inside() -> None:
    x = tf.placeholder(tf.float32, [None, 8, 8, 3])
    moments = {"is_training": True, "decay": 0.9, "updates_collections": None}
    with slim.arg_scope([slim.conv2d, slim.fully_connected], normalizer_fn=slim.batch_norm,
                        normalizer_params=moments) as outer:  # fmt: skip
        a = slim.conv2d(x, 4, [3, 3], scope="first")
        with slim.arg_scope([slim.conv2d], padding="VALID", activation_fn=tf.tanh):
            with slim.arg_scope([slim.conv2d], normalizer_fn=None):
                b = slim.repeat(a, 2, slim.conv2d, 5, 3, scope="more", padding="SAME")
            c = slim.conv2d(b, 2, 3, scope="last", activation_fn=None)
        d = slim.repeat(c, 2, slim.max_pool2d, [2, 2])
    with slim.arg_scope(outer):
        e = slim.conv2d(d, 2, 1)
    f = slim.conv2d(e, 2, 1, scope="plain")
    shapes = [t.shape.as_list()[1:] for t in (a, b, c, d, e)]
    assert shapes == [[8, 8, 4], [8, 8, 5], [6, 6, 2], [1, 1, 2], [1, 1, 2]]
    assert [t.name for t in (a, b, c, d, e, f)] == [
        "first/Relu:0", "more/more_2/Tanh:0", "last/BatchNorm/Identity:0",
        "Repeat/max_pool2d_2/MaxPool:0", "Conv/Relu:0", "plain/Relu:0",
    ]  # fmt: skip
    assert [v.op.name for v in slim.get_trainable_variables()] == [
        "first/weights", "first/BatchNorm/beta", "more/more_1/weights", "more/more_1/biases",
        "more/more_2/weights", "more/more_2/biases", "last/weights", "last/BatchNorm/beta",
        "Conv/weights", "Conv/BatchNorm/beta", "plain/weights", "plain/biases",
    ]  # fmt: skip
    for kept, scope, suffix in (
        (["last/weights"], "last", "weights"),
        (["Conv/weights"], "Conv/w", None),
    ):
        assert [v.op.name for v in slim.get_model_variables(scope, suffix)] == kept


def test_relu_and_linear_keep_their_activations_in_an_arg_scope() -> None:
    with slim.arg_scope([layers.fully_connected], activation_fn=tf.tanh):
        out = [f(X, 2) for f in (layers.fully_connected, layers.relu, layers.linear)]
        out.append(layers.repeat(X, 2, layers.relu, 3))
        out.append(layers.linear(X, 2, activation_fn=tf.sigmoid))
    assert [y.op.name for y in out] == [
        "fully_connected/Tanh", "fully_connected_1/Relu", "fully_connected_2/BiasAdd",
        "Repeat/fully_connected_2/Relu", "fully_connected_3/Sigmoid",
    ]  # fmt: skip
    assert {"linear", "relu"} <= {*layers.__all__}


def test_arg_scope_of_functions_of_the_program() -> None:
    @slim.add_arg_scope
    def total(a: int, b: int = 2, c: int = 3) -> int:
        return a + b + c

    with slim.arg_scope([total], b=10) as scope:
        assert (total(1), total(1, b=0), total(1, c=0)) == (14, 4, 11)
        with slim.arg_scope([total], c=20):
            assert total(1) == 31
        assert total(1) == 14
    assert total(1) == 6 and slim.has_arg_scope(total)
    with slim.arg_scope(scope):
        assert total(1) == 14
    for given, arguments, error in (
        ([tf.nn.relu], {"name": "r"}, ValueError), (total, {"b": 1}, TypeError),
        (scope, {"b": 1}, ValueError),
    ):  # fmt: skip
        with pytest.raises(error, match="arg_scope: expected"), slim.arg_scope(given, **arguments):
            pass
    assert total(1) == 6


def test_arg_scopes_are_those_of_a_thread() -> None:
    @slim.add_arg_scope
    def value(a: int = 0) -> int:
        return a

    with slim.arg_scope([value], a=1), ThreadPoolExecutor(1) as pool:
        assert (value(), pool.submit(value).result()) == (1, 0)
        inside = slim.arg_scope([value], a=2)
        pool.submit(inside.__enter__).result()
        assert (value(), pool.submit(value).result()) == (1, 2)
    assert value() == 0


def test_distributions_and_the_global_step_have_their_names_of_that_time() -> None:
    assert tf.contrib.distributions.Normal is tf.distributions.Normal
    step = tf.contrib.framework.get_or_create_global_step()
    assert tf.contrib.framework.get_global_step() is step is tf.train.get_global_step()


# --- rnn


def test_rnn_has_the_cells_of_nn() -> None:
    assert rnn.BasicLSTMCell is tf.nn.rnn_cell.BasicLSTMCell
    assert rnn.static_rnn is tf.nn.static_rnn
    assert tf.contrib.rnn.LSTMStateTuple is tf.nn.rnn_cell.LSTMStateTuple
    with pytest.raises(AttributeError, match=r"contrib\.rnn has no UGRNN"):
        _ = rnn.UGRNNCell


# --- eager

tfe: Any = tf.contrib.eager


@pytest.mark.usefixtures("eager")
def test_implicit_gradients() -> None:
    w, b = tfe.Variable(2.0), tfe.Variable(0.5, name="b")
    idle = tfe.Variable(1.0)

    def loss(x: Any, scale: float = 1.0) -> Any:
        return scale * (w * x + b) ** 2

    value, pairs = tfe.implicit_value_and_gradients(loss)(tf.constant(3.0), scale=2.0)
    assert float(value) == 84.5 and [v for _, v in pairs] == [w, b] and idle is not w
    assert [float(g) for g, _ in pairs] == [78.0, 26.0]
    pairs = tfe.implicit_gradients(loss)(tf.constant(1.0))
    tf.train.GradientDescentOptimizer(0.1).apply_gradients(pairs)
    assert (float(w), float(b)) == (1.5, 0.0)
    for f in (lambda: None, lambda: tf.constant(1.0)):
        with pytest.raises(ValueError, match="implicit_gradients: expected a loss that depends"):
            tfe.implicit_gradients(f)()


@pytest.mark.usefixtures("eager")
def test_a_network_of_that_time_learns() -> None:
    class Net(tfe.Network):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.hidden = self.track_layer(tf.layers.Dense(16, activation=tf.nn.relu))
            self.out = self.track_layer(tf.layers.Dense(2))

        def call(self, x: Any) -> Any:
            return self.out(self.hidden(x))

    tf.set_random_seed(2)
    net = Net()
    x = np.random.default_rng(1).normal(size=(64, 4)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int64)

    def loss(inference: Any, inputs: Any, labels: Any) -> Any:
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            logits=inference(inputs), labels=labels))  # fmt: skip

    step, optimizer = tfe.implicit_gradients(loss), tf.train.AdamOptimizer(0.05)
    batches = tfe.Iterator([(x[i::4], y[i::4]) for i in range(4)] * 10)
    first = float(loss(net, x, y))
    for _ in range(40):
        a, b = batches.next()
        optimizer.apply_gradients(step(net, a, b))
    with pytest.raises(StopIteration):
        batches.next()
    assert float(loss(net, x, y)) < 0.2 * first
    assert [tuple(v.shape) for v in net.variables] == [(4, 16), (16,), (16, 2), (2,)]


def test_batch_norm_of_a_matrix_has_its_channels_last(fresh_graph: Any) -> None:  # noqa: F811
    x = tf.constant([[1.0, 10.0], [3.0, 30.0]])
    y = [layers.batch_norm(x, data_format=form) for form in ("NCHW", "NHWC")]
    first, second = run(y)
    np.testing.assert_allclose(first, second)
    np.testing.assert_allclose(first, [[-1, -1], [1, 1]], atol=1e-3)
