"""The formulas of workloads.py in pullback, and every style it has of asking for gradients.

A Session is fed arrays, as sessions are; the other styles find their data in tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pullback as pb

from . import everyday_formulas, network_formulas
from .case import Case
from .workloads import (
    BITS,
    GAMMA,
    MOMENTUM,
    PRIOR_M,
    RATE,
    Workload,
    below_diagonal,
    gmm_constant,
    step_summary,
    summary,
)


def rosen(parameters: list[Any]) -> Any:
    (x,) = parameters
    return pb.sum(100 * pb.square(x[1:] - pb.square(x[:-1])) + pb.square(1 - x[:-1]))


def classifier(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = (pb.relu(x) if i else x) @ parameters[i] + parameters[i + 1]
    return pb.mean(pb.softmax_cross_entropy(x, labels))


def elem(parameters: list[Any]) -> Any:
    (x,) = parameters
    return pb.sum(pb.tanh(1.5 * x + 0.3) * pb.exp(-(x * x)))


def xent(parameters: list[Any], digits: Any) -> Any:
    return pb.mean(pb.nn.sparse_softmax_cross_entropy(parameters[0], digits))


def chain(parameters: list[Any], steps: int) -> Any:
    (x,) = parameters
    for _ in range(steps):
        x = 1.01 * pb.sin(x) + 0.1
    return pb.sum(x)


def gmm(parameters: list[Any], x: Any) -> Any:
    alpha, mu, q, l = parameters  # noqa: E741 (the formula's names)
    (k, d), n = mu.shape, x.shape[0]
    diagonal, (rows, columns) = range(d), below_diagonal(d)
    big_q = pb.zeros((k, d, d), pb.float64)
    big_q = big_q.at[:, diagonal, diagonal].set(pb.exp(q)).at[:, rows, columns].set(l)
    distances = (x - mu[:, None, :]) @ pb.permute_dims(big_q, (0, 2, 1))
    sum_q = pb.sum(q, axis=1)
    beta = (alpha + sum_q)[:, None] - 0.5 * pb.sum(pb.square(distances), axis=2)
    likelihood = pb.sum(pb.special.logsumexp(beta, axis=0)) - n * pb.special.logsumexp(alpha)
    prior = PRIOR_M * pb.sum(q) - GAMMA**2 / 2 * pb.sum(pb.square(big_q))
    return likelihood + prior + gmm_constant(n, d, k)


def lse(parameters: list[Any]) -> Any:
    return pb.special.logsumexp(parameters[0])


def llsq(parameters: list[Any], t: Any, s: Any) -> Any:
    (x,) = parameters
    polynomial = x[-1]
    for j in reversed(range(x.shape[0] - 1)):
        polynomial = polynomial * t + x[j]
    return 0.5 * pb.sum(pb.square(s - polynomial))


def lstm(parameters: list[Any], text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape
    w = [[weights[i, gate] for gate in range(4)] for i in range(layers)]
    b = [[biases[i, gate] for gate in range(4)] for i in range(layers)]
    h, c = ([state[i, j] for i in range(layers)] for j in range(2))
    in_weight, out_weight, out_bias = extra[0], extra[1], extra[2]
    steps = text.shape[0] - 1
    outputs = []
    for t in range(steps):
        a = text[t] * in_weight
        for i in range(layers):
            forget = pb.sigmoid(a * w[i][0] + b[i][0])
            ingate = pb.sigmoid(h[i] * w[i][1] + b[i][1])
            outgate = pb.sigmoid(a * w[i][2] + b[i][2])
            change = pb.tanh(h[i] * w[i][3] + b[i][3])
            c[i] = c[i] * forget + ingate * change
            a = h[i] = outgate * pb.tanh(c[i])
        outputs.append(a)
    y = pb.stack(outputs) * out_weight + out_bias
    log_p = y - pb.log(2 + pb.sum(pb.exp(y), axis=1, keepdims=True))
    return -pb.sum(text[1:] * log_p) / (width * steps)


def rows_added(parameters: list[Any], rows: Any, table: Any) -> Any:
    return pb.sum(pb.square(table.at[rows].add(parameters[0])))


def embedding(parameters: list[Any], rows: Any, wanted: Any) -> Any:
    return pb.sum(pb.square(pb.take(parameters[0], rows, axis=0) - wanted))


def _network(parameters: list[Any], x: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = (pb.tanh(x) if i else x) @ parameters[i] + parameters[i + 1]
    return x[:, 0]


def physics(parameters: list[Any], points: Any) -> Any:
    def slopes(points: Any) -> Any:
        return pb.grad(lambda points: pb.sum(_network(parameters, points)))(points)

    u, first = _network(parameters, points), slopes(points)
    second = pb.grad(lambda points: pb.sum(slopes(points)[:, 1]))(points)[:, 1]
    return pb.mean(pb.square(first[:, 0] + u * first[:, 1] - 0.01 * second))


def quantized(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    def fewer_bits(w: Any) -> Any:
        step = pb.max(pb.abs(w)) / (2 ** (BITS - 1) - 1)
        most = 2 ** (BITS - 1) - 1
        return w + pb.stop_gradient(pb.clip(pb.round(w / step), -most, most) * step - w)

    for i in range(0, len(parameters), 2):
        x = (pb.relu(x) if i else x) @ fewer_bits(parameters[i]) + parameters[i + 1]
    return pb.mean(pb.softmax_cross_entropy(x, labels))


class LAYERS:
    """Of network_formulas.py."""

    relu, tanh, sigmoid, stop = pb.relu, pb.tanh, pb.sigmoid, pb.stop_gradient
    matmul, reshape, zeros = pb.matmul, pb.reshape, pb.zeros
    sum_of_squares = staticmethod(lambda x: pb.sum(pb.square(x)))
    conv = staticmethod(lambda x, w, stride: pb.nn.conv2d(x, w, stride=stride, padding="SAME"))
    max_pool = staticmethod(lambda x: pb.nn.max_pool(x, 2, padding="SAME"))
    leaky_relu = staticmethod(lambda x: pb.nn.leaky_relu(x, 0.2))
    concat = staticmethod(lambda xs: pb.concatenate(xs, axis=1))
    scan = staticmethod(lambda step, state, xs: pb.scan(lambda s, x: (step(s, x), 0), state, xs)[0])

    @staticmethod
    def conv_transpose(x: Any, w: Any, stride: int) -> Any:
        w = pb.swapaxes(w, 2, 3)
        return pb.nn.conv_transpose(x, w, stride=stride, padding="SAME")

    @staticmethod
    def batch_norm(x: Any, scale: Any, shift: Any) -> Any:
        axes = tuple(range(x.ndim - 1))
        centred = x - pb.mean(x, axis=axes)
        variance = pb.mean(pb.square(centred), axis=axes)
        return centred * (scale * pb.rsqrt(variance + 1e-5)) + shift

    @staticmethod
    def cross_entropy(z: Any, digits: Any) -> Any:
        return pb.mean(pb.softmax_cross_entropy(z, pb.one_hot(digits, z.shape[-1])))

    @staticmethod
    def decided(z: Any, truth: float) -> Any:
        return pb.mean(pb.softplus(z) - truth * z)


def _program(work: Workload, small: bool) -> tuple[Callable[..., Any], list[Any], list[Any]]:
    """f(parameters, *inputs), the parameters as arrays, the inputs as tensors."""
    data = work.data(small)
    formula = globals().get(work.formula)
    if not formula and hasattr(network_formulas, work.formula):
        formula = partial(getattr(network_formulas, work.formula), LAYERS)
    formula = formula or partial(getattr(everyday_formulas, work.formula), pb)

    def f(parameters: list[Any], *inputs: Any) -> Any:
        return formula(parameters, *inputs, **data.static)

    return f, data.parameters, [pb.constant(x) for x in data.inputs]


def lazy(work: Workload, small: bool) -> Case:
    f, arrays, inputs = _program(work, small)
    parameters = [pb.Variable(p) for p in arrays]

    def run() -> Any:
        value = f(parameters, *inputs)
        gradients = pb.gradients(value, parameters)
        pb.evaluate(value, gradients)
        return value, gradients

    return Case(run, check=lambda result: summary(*result))


def function(work: Workload, small: bool) -> Case:
    """Parameters as arguments: a function that reads variables stays open to other gradients of
    them, so it is not replayed as one plan."""
    f, arrays, inputs = _program(work, small)
    parameters = [pb.constant(p) for p in arrays]
    both = pb.function(pb.value_and_grad(f))

    def run() -> Any:
        result = both(parameters, *inputs)
        pb.evaluate(result)
        return result

    return Case(run, check=lambda result: summary(*result))


def value(work: Workload, small: bool) -> Case:
    f, arrays, inputs = _program(work, small)
    parameters = [pb.constant(p) for p in arrays]
    alone = pb.function(f)

    def run() -> Any:
        result = alone(parameters, *inputs)
        pb.evaluate(result)
        return result

    return Case(run)


def tape(work: Workload, small: bool, in_function: bool = False) -> Case:
    f, before, inputs = _program(work, small)
    parameters = [pb.Variable(p) for p in before]
    momentum = MOMENTUM.get(work.formula)
    optimizer = (
        pb.optimizers.Momentum(RATE, momentum) if momentum else pb.optimizers.GradientDescent(RATE)
    )

    def step(*inputs: Any) -> Any:
        with pb.GradientTape() as tape:
            loss = f(parameters, *inputs)
        gradients = tape.gradient(loss, parameters)
        optimizer.apply_gradients(zip(gradients, parameters, strict=True))
        return loss

    called = pb.function(step) if in_function else step

    def run() -> Any:
        loss = called(*inputs)
        pb.evaluate(loss)  # and with it the pending updates
        return loss

    return Case(run, check=lambda loss: step_summary(loss, before, [p.numpy() for p in parameters]))


def tape_in_function(work: Workload, small: bool) -> Case:
    return tape(work, small, in_function=True)


def session(work: Workload, small: bool) -> Case:
    import pullback.compat.tf1 as tf

    data = work.data(small)
    x, _, labels = data.inputs
    graph = tf.Graph()
    with graph.as_default():
        fed_x = tf.placeholder(tf.float32, [None, x.shape[1]])
        fed_labels = tf.placeholder(tf.float32, [None, labels.shape[1]])
        variables = [tf.Variable(p) for p in data.parameters]
        hidden = fed_x
        for i in range(0, len(variables), 2):
            hidden = tf.nn.relu(hidden) if i else hidden
            hidden = tf.matmul(hidden, variables[i]) + variables[i + 1]
        scores = tf.log(tf.nn.softmax(hidden))
        loss = tf.reduce_mean(-tf.reduce_sum(fed_labels * scores, axis=1))
        update = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
        session = tf.Session(graph=graph)
        session.run(tf.global_variables_initializer())
    feed = {fed_x: x, fed_labels: labels}
    return Case(
        lambda: session.run([loss, update], feed_dict=feed)[0],
        check=lambda loss: step_summary(loss, data.parameters, session.run(variables)),
    )


def embedding_session(work: Workload, small: bool) -> Case:
    import pullback.compat.tf1 as tf

    data = work.data(small)
    rows, wanted = data.inputs
    graph = tf.Graph()
    with graph.as_default():
        fed_rows = tf.placeholder(tf.int64, [None])
        fed_wanted = tf.placeholder(tf.float32, [None, wanted.shape[1]])
        # Its first value is no part of the graph: programs for large tables do the same.
        first = tf.placeholder(tf.float32, data.parameters[0].shape)
        table = tf.Variable(first)
        loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, fed_rows) - fed_wanted))
        update = tf.train.GradientDescentOptimizer(RATE).minimize(loss)
        session = tf.Session(graph=graph)
        session.run(table.initializer, {first: data.parameters[0]})
    feed = {fed_rows: rows, fed_wanted: wanted}
    return Case(
        lambda: session.run([loss, update], feed_dict=feed)[0],
        check=lambda loss: step_summary(loss, data.parameters, session.run([table])),
    )
