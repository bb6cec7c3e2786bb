"""The formulas of workloads.py in TensorFlow, as a tf.function and compiled by its XLA."""

from __future__ import annotations

from functools import partial
from typing import Any

import tensorflow as tf

from . import network_formulas
from .case import Case
from .workloads import (
    GAMMA,
    PRIOR_M,
    RATE,
    Workload,
    gmm_constant,
    step_summary,
    summary,
    triangle,
)

sparse_cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits


def rosen(parameters: list[Any]) -> Any:
    (x,) = parameters
    return tf.reduce_sum(100 * tf.square(x[1:] - tf.square(x[:-1])) + tf.square(1 - x[:-1]))


def classifier(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = (tf.nn.relu(x) if i else x) @ parameters[i] + parameters[i + 1]
    return tf.reduce_mean(sparse_cross_entropy(digits, x))


def elem(parameters: list[Any]) -> Any:
    (x,) = parameters
    return tf.reduce_sum(tf.tanh(1.5 * x + 0.3) * tf.exp(-x * x))


def xent(parameters: list[Any], digits: Any) -> Any:
    return tf.reduce_mean(sparse_cross_entropy(digits, parameters[0]))


def chain(parameters: list[Any], steps: int) -> Any:
    (x,) = parameters
    for _ in range(steps):
        x = 1.01 * tf.sin(x) + 0.1
    return tf.reduce_sum(x)


def gmm(parameters: list[Any], x: Any) -> Any:
    alpha, mu, q, l = parameters  # noqa: E741 (the formula's names)
    (k, d), n = mu.shape, x.shape[0]
    entries = tf.concat([tf.zeros((k, 1), tf.float64), tf.exp(q), l], axis=1)
    big_q = tf.gather(entries, triangle(d), axis=1)
    distances = tf.matmul(x - mu[:, None, :], big_q, transpose_b=True)
    sum_q = tf.reduce_sum(q, axis=1)
    beta = (alpha + sum_q)[:, None] - 0.5 * tf.reduce_sum(tf.square(distances), axis=2)
    likelihood = tf.reduce_sum(tf.reduce_logsumexp(beta, axis=0)) - n * tf.reduce_logsumexp(alpha)
    prior = PRIOR_M * tf.reduce_sum(q) - GAMMA**2 / 2 * tf.reduce_sum(tf.square(big_q))
    return likelihood + prior + gmm_constant(n, d, k)


def lse(parameters: list[Any]) -> Any:
    return tf.reduce_logsumexp(parameters[0])


def llsq(parameters: list[Any], t: Any, s: Any) -> Any:
    (x,) = parameters
    polynomial = tf.math.polyval(tf.unstack(x)[::-1], t)
    return 0.5 * tf.reduce_sum(tf.square(s - polynomial))


def embedding(parameters: list[Any], rows: Any, wanted: Any) -> Any:
    return tf.reduce_sum(tf.square(tf.nn.embedding_lookup(parameters[0], rows) - wanted))


def lstm(parameters: list[Any], text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape
    steps = text.shape[0] - 1

    def step(states: list[Any], character: Any) -> list[Any]:
        a, after = character * extra[0], []
        for i, (h, c) in enumerate(states):
            w, b = weights[i], biases[i]
            forget, outgate = tf.sigmoid(a * w[0] + b[0]), tf.sigmoid(a * w[2] + b[2])
            ingate, change = tf.sigmoid(h * w[1] + b[1]), tf.tanh(h * w[3] + b[3])
            c = c * forget + ingate * change
            a = outgate * tf.tanh(c)
            after.append((a, c))
        return after

    states = [(state[i, 0], state[i, 1]) for i in range(layers)]
    outputs = tf.scan(step, text[:-1], states)[-1][0]
    y = outputs * extra[1] + extra[2]
    log_p = y - tf.math.log(2 + tf.reduce_sum(tf.exp(y), axis=1, keepdims=True))
    return -tf.reduce_sum(text[1:] * log_p) / (width * steps)


class LAYERS:
    """Of network_formulas.py."""

    relu, tanh, sigmoid, stop = tf.nn.relu, tf.tanh, tf.sigmoid, tf.stop_gradient
    matmul, reshape, zeros = tf.matmul, tf.reshape, tf.zeros
    sum_of_squares = staticmethod(lambda x: tf.reduce_sum(tf.square(x)))
    conv = staticmethod(lambda x, w, stride: tf.nn.conv2d(x, w, stride, "SAME"))
    max_pool = staticmethod(lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"))
    leaky_relu = staticmethod(lambda x: tf.nn.leaky_relu(x, 0.2))
    concat = staticmethod(lambda xs: tf.concat(xs, 1))
    cross_entropy = staticmethod(lambda z, d: tf.reduce_mean(sparse_cross_entropy(d, z)))

    @staticmethod
    def conv_transpose(x: Any, w: Any, stride: int) -> Any:
        batch, n, m, _ = x.shape
        shape = (batch, n * stride, m * stride, w.shape[2])
        return tf.nn.conv2d_transpose(x, w, shape, stride, "SAME")

    @staticmethod
    def batch_norm(x: Any, scale: Any, shift: Any) -> Any:
        mean, variance = tf.nn.moments(x, [*range(len(x.shape) - 1)])
        return tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)

    @staticmethod
    def decided(z: Any, truth: float) -> Any:
        wanted = tf.fill(tf.shape(z), truth)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(wanted, z))

    @staticmethod
    def scan(step: Any, state: Any, xs: Any) -> Any:
        rows = tf.TensorArray(xs.dtype, xs.shape[0], element_shape=xs.shape[1:]).unstack(xs)

        def body(i: Any, *state: Any) -> Any:
            return (i + 1, *step(state, rows.read(i)))

        loop = (lambda i, *_: i < xs.shape[0], body, (0, *state))
        return tf.while_loop(*loop, maximum_iterations=xs.shape[0])[1:]


def _program(work: Workload, small: bool) -> tuple[Any, list[Any], list[Any]]:
    data = work.data(small)
    formula = globals().get(work.formula)
    formula = formula or partial(getattr(network_formulas, work.formula), LAYERS)
    f = partial(formula, **data.static)
    return f, data.parameters, [tf.constant(x) for x in data.inputs]


def function(work: Workload, small: bool, xla: bool = False) -> Case:
    f, arrays, inputs = _program(work, small)
    parameters = [tf.constant(p) for p in arrays]

    @tf.function(jit_compile=xla)
    def both(parameters: list[Any], *inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            value = f(parameters, *inputs)
        return value, tape.gradient(value, parameters)

    return Case(lambda: both(parameters, *inputs), check=lambda result: summary(*result))


def xla(work: Workload, small: bool) -> Case:
    return function(work, small, xla=True)


def train(work: Workload, small: bool, xla: bool = False) -> Case:
    f, before, inputs = _program(work, small)
    variables = [tf.Variable(p) for p in before]

    @tf.function(jit_compile=xla)
    def step(*inputs: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = f(variables, *inputs)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            if isinstance(gradient, tf.IndexedSlices):
                variable.scatter_sub(tf.IndexedSlices(RATE * gradient.values, gradient.indices))
            else:
                variable.assign_sub(RATE * gradient)
        return loss

    return Case(
        lambda: step(*inputs),
        check=lambda loss: step_summary(loss, before, [v.numpy() for v in variables]),
    )


def train_xla(work: Workload, small: bool) -> Case:
    return train(work, small, xla=True)
