"""The classifiers of classifier.py in every style that pullback has.

A Session is fed arrays, as sessions are; the other styles find their data in tensors.
"""

from __future__ import annotations

from typing import Any

from .case import Case
from .classifier import RATE, Model, network, step_summary, summary


def pullback_data(model: Model) -> tuple[Any, Any, list[Any]]:
    import pullback as pb

    x, labels, parameters = model.data()
    return pb.constant(x), pb.constant(labels), [pb.Variable(p) for p in parameters]


def pullback_loss(x: Any, labels: Any, parameters: list[Any]) -> Any:
    import pullback as pb

    return pb.mean(pb.softmax_cross_entropy(network(x, parameters, pb.relu), labels))


def pullback_lazy(model: Model) -> Case:
    import pullback as pb

    x, labels, parameters = pullback_data(model)

    def run() -> Any:
        loss = pullback_loss(x, labels, parameters)
        gradients = pb.gradients(loss, parameters)
        pb.evaluate(loss, gradients)
        return loss, gradients

    return Case(run, check=lambda result: summary(*result))


def pullback_function(model: Model) -> Case:
    """Parameters as arguments: a function that reads variables stays open to other gradients of
    them, so it is not replayed as one plan."""
    import pullback as pb

    x, labels, arrays = model.data()
    data = [pb.constant(p) for p in arrays], pb.constant(x), pb.constant(labels)

    def loss_of(parameters: list[Any], x: Any, labels: Any) -> Any:
        return pullback_loss(x, labels, parameters)

    both = pb.function(pb.value_and_grad(loss_of))

    def run() -> Any:
        result = both(*data)
        pb.evaluate(result)
        return result

    return Case(run, check=lambda result: summary(*result))


def pullback_tape(model: Model, function: bool = False) -> Case:
    import pullback as pb

    x, labels, parameters = pullback_data(model)
    before = model.data()[2]
    optimizer = pb.optimizers.GradientDescent(RATE)

    def step(x: Any, labels: Any) -> Any:
        with pb.GradientTape() as tape:
            loss = pullback_loss(x, labels, parameters)
        gradients = tape.gradient(loss, parameters)
        optimizer.apply_gradients(zip(gradients, parameters, strict=True))
        return loss

    called = pb.function(step) if function else step

    def run() -> Any:
        loss = called(x, labels)
        pb.evaluate(loss)  # and with it the pending updates
        return loss

    return Case(run, check=lambda loss: step_summary(loss, before, [p.numpy() for p in parameters]))


def pullback_session(model: Model) -> Case:
    import pullback.compat.tf1 as tf

    x, labels, parameters = model.data()
    graph = tf.Graph()
    with graph.as_default():
        fed_x = tf.placeholder(tf.float32, [None, model.layers[0]])
        fed_labels = tf.placeholder(tf.float32, [None, model.layers[-1]])
        variables = [tf.Variable(p) for p in parameters]
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
        check=lambda loss: step_summary(loss, parameters, session.run(variables)),
    )
