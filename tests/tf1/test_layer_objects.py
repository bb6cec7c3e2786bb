"""The classes of tf.layers: variables that belong to them, in graphs and in eager mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf

RNG = np.random.default_rng(5)
X = RNG.normal(size=(3, 4)).astype(np.float32)
IMAGE = RNG.normal(size=(2, 6, 6, 3)).astype(np.float32)

LAYERS = [
    (lambda: tf.layers.Dense(2, tf.nn.relu), X, ["dense/kernel:0", "dense/bias:0"]),
    (lambda: tf.layers.Conv2D(2, 3, name="c"), IMAGE, ["c/kernel:0", "c/bias:0"]),
    (lambda: tf.layers.Conv1D(2, 3), IMAGE[0], ["conv1d/kernel:0", "conv1d/bias:0"]),
    (lambda: tf.layers.Conv2DTranspose(2, 3, use_bias=False), IMAGE, ["conv2d_transpose/kernel:0"]),
    (
        lambda: tf.layers.BatchNormalization(center=False), X,
        [f"batch_normalization/{x}:0" for x in ("gamma", "moving_mean", "moving_variance")],
    ),
    (lambda: tf.layers.MaxPooling2D(2, 2), IMAGE, []),
    (lambda: tf.layers.Flatten(), IMAGE, []),
]  # fmt: skip


@each("make, data, names", LAYERS)
def test_a_second_call_shares_the_variables(make: Any, data: Any, names: list[str]) -> None:
    with tf.Graph().as_default():
        layer = make()
        y, z = layer(tf.constant(data)), layer(tf.constant(2 * data))
        assert [v.name for v in layer.variables] == names
        assert tf.global_variables() == layer.variables
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            again = layer(tf.constant(data))
            first, second, other = session.run([y, again, z])
    assert np.array_equal(first, second) and not np.array_equal(first, other)


@pytest.mark.usefixtures("eager")
@each("make, data, names", LAYERS)
def test_layers_keep_their_variables_in_eager_mode(make: Any, data: Any, names: list[str]) -> None:
    layer = make()
    y, z = layer(tf.constant(data)), layer(tf.constant(data))
    assert np.array_equal(y.numpy(), z.numpy())
    assert len(layer.variables) == len(names)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(layer(tf.constant(data))))
    slopes = tape.gradient(loss, layer.trainable_variables)
    assert all(g.shape == v.shape for g, v in zip(slopes, layer.trainable_variables, strict=True))


@pytest.mark.usefixtures("eager")
def test_an_eager_network_of_layers_learns() -> None:
    hidden, out = tf.layers.Dense(8, tf.tanh), tf.layers.Dense(1)
    optimizer = tf.train.AdamOptimizer(0.05)
    losses = []
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(out(hidden(X)) - X[:, :1] * X[:, 1:2]))
        variables = hidden.trainable_weights + out.trainable_weights
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        losses.append(float(loss))
    assert losses[-1] < 0.05 * losses[0]


def test_layers_of_programs_take_nests() -> None:
    class Mixed(tf.layers.Layer):
        def call(self, inputs: Any, scale: float = 1.0) -> Any:
            a, b = inputs.values() if isinstance(inputs, dict) else inputs
            return scale * (a + b * tf.get_variable("w", [], initializer=tf.ones_initializer()))

    mixed, x = Mixed(), tf.constant([1.0, 2.0])
    values = run([mixed((x, 1.0)), mixed({"a": x, "b": 2.0 * x}, scale=2.0), mixed([x, x])])
    assert [v.tolist() for v in values] == [[2, 3], [6, 12], [2, 4]]
    assert [v.name for v in mixed.variables] == ["mixed/w:0"]


def test_texts_name_activations_and_initializers() -> None:
    y = tf.layers.dense(X, 2, "relu", kernel_initializer="ones", bias_initializer="zeros")
    np.testing.assert_allclose(run(y)[:, 0], np.maximum(X.sum(1), 0), rtol=1e-5)


def test_what_layers_do_not_take() -> None:
    for make, error, text in (
        (lambda: tf.layers.Dense(), TypeError, "Dense: missing a required argument: 'units'"),
        (lambda: tf.layers.Dense(2, units_=3), TypeError, "unexpected keyword"),
        (lambda: tf.layers.Dense(2)(tf.constant([[1, 2]])), TypeError, "expected floats"),
        (
            lambda: tf.layers.Conv2D(2, 3)(X),
            ValueError,
            "conv2d_1': expected inputs of rank 4 whose",
        ),
        (
            lambda: tf.layers.Conv2D(2, "a")(IMAGE),
            ValueError,
            "expected 2 positive integers for kernel_size",
        ),
        (lambda: tf.layers.Dense(2).scope_name, ValueError, "scope_name: expected a layer"),
        (lambda: tf.layers.BatchNormalization(renorm=True)(X), NotImplementedError, "renorm"),
    ):
        with pytest.raises(error, match=text), tf.Graph().as_default():
            make()
