"""tf.losses, and learning rates that decay: against NumPy, in graphs and eagerly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf

RNG = np.random.default_rng(0)
P = RNG.uniform(0.1, 0.9, (4, 3)).astype(np.float32)
Y = (RNG.uniform(size=(4, 3)) < 0.5).astype(np.float32)
X = RNG.normal(size=(4, 3)).astype(np.float32)
W = np.array([[1.0], [0.0], [2.0], [0.5]], np.float32)


def logistic(y: Any, x: Any) -> Any:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0) - y * x


def log_softmax(x: Any) -> Any:
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def huber(d: Any, delta: float) -> Any:
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


LOSSES = {
    "absolute_difference": ((Y, P), {}, np.abs(P - Y)),
    "mean_squared_error": ((Y, P), {}, (P - Y) ** 2),
    "huber_loss": ((Y, P), {"delta": 0.4}, huber(np.abs(P - Y), 0.4)),
    "log_loss": ((Y, P), {}, -Y * np.log(P + 1e-7) - (1 - Y) * np.log(1 - P + 1e-7)),
    "hinge_loss": ((Y, X), {}, np.maximum(0, 1 - (2 * Y - 1) * X)),
    "sigmoid_cross_entropy": ((Y, X), {}, logistic(Y, X)),
}
CLASSES = np.array([0, 2, 1, 1])
OF_ROWS = -log_softmax(X)[range(4), CLASSES]
ROWS = {
    "softmax_cross_entropy": ((np.eye(3)[CLASSES], X), OF_ROWS),
    "sparse_softmax_cross_entropy": ((CLASSES, X), OF_ROWS),
}


@pytest.mark.parametrize("name", LOSSES)
def test_values(name: str) -> None:
    given, options, expected = LOSSES[name]
    f, all_of = getattr(tf.losses, name), tf.losses.Reduction
    everywhere = np.broadcast_to(W, expected.shape)
    for reduction, wanted in (
        (all_of.NONE, expected * W),
        (all_of.SUM, (expected * W).sum()),
        (all_of.MEAN, (expected * W).sum() / everywhere.sum()),
        (all_of.SUM_OVER_BATCH_SIZE, (expected * W).mean()),
        (all_of.SUM_BY_NONZERO_WEIGHTS, (expected * W).sum() / (everywhere != 0).sum()),
    ):
        got = run(f(*map(tf.constant, given), weights=W, reduction=reduction, **options))
        np.testing.assert_allclose(got, wanted, rtol=2e-5)
    np.testing.assert_allclose(run(f(*given, **options)), expected.mean(), rtol=2e-5)


@pytest.mark.parametrize("name", ROWS)
def test_values_of_rows(name: str) -> None:
    given, expected = ROWS[name]
    np.testing.assert_allclose(run(getattr(tf.losses, name)(*given)), expected.mean(), rtol=2e-5)
    got = run(getattr(tf.losses, name)(*given, weights=W[:, 0]))
    np.testing.assert_allclose(got, (expected * W[:, 0]).sum() / 3, rtol=2e-5)


@pytest.mark.usefixtures("eager")
def test_values_in_eager_mode() -> None:
    for name, (given, options, expected) in LOSSES.items():
        got = getattr(tf.losses, name)(*given, **options).numpy()
        np.testing.assert_allclose(got, expected.mean(), rtol=2e-5)


def check_labels_of_another_rank() -> None:
    f = tf.nn.softmax_cross_entropy_with_logits_v2
    y, x = RNG.dirichlet(np.ones(3), 4), RNG.normal(size=(2, 2, 3))
    found, reversed_rank = f(y, x), f(y.reshape(2, 2, 3), x.reshape(4, 3))
    expected = -(y.reshape(x.shape) * log_softmax(x)).sum(-1)
    if not tf.executing_eagerly():
        logits = tf.constant(x)
        (slope,) = tf.gradients(f(y, logits), logits)
        found, reversed_rank, slope = run([found, reversed_rank, slope])
        softmax = np.exp(log_softmax(x))
        np.testing.assert_allclose(slope, softmax - y.reshape(x.shape), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(reversed_rank, expected.reshape(-1), rtol=1e-6)
    bad = [((6, 2), (2, 2, 3)), ((4,), (2, 2)), ((3, 3), (2, 2, 3)), ((), (2, 2))]
    error = tf.errors.InvalidArgumentError if tf.executing_eagerly() else ValueError
    for labels, logits in bad:
        for call in (f, tf.nn.softmax_cross_entropy_with_logits):
            with pytest.raises(error, match="the last axis and the number of rows of logits"):
                call(labels=np.ones(labels), logits=np.ones(logits))


def test_labels_of_another_rank() -> None:
    check_labels_of_another_rank()
    labels, logits = (
        tf.placeholder(tf.float32, [None, None]),
        tf.placeholder(tf.float32, [None] * 3),
    )
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits)
    for rows, columns in ((6, 2), (3, 3)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="the number of rows of logits"):
            run(loss, {labels: np.ones((rows, columns)), logits: np.ones((2, 2, 3))})
    assert run(loss, {labels: np.ones((4, 3)), logits: np.ones((2, 2, 3))}).shape == (2, 2)
    with pytest.raises(ValueError, match="the last axis"):
        tf.nn.softmax_cross_entropy_with_logits_v2(
            labels=tf.placeholder(tf.float32, [None, 2]),
            logits=tf.placeholder(tf.float32, [1, None, 3]),
        )


@pytest.mark.usefixtures("eager")
def test_labels_of_another_rank_in_eager_mode() -> None:
    check_labels_of_another_rank()


def test_smoothing() -> None:
    smooth = Y * 0.8 + 0.1
    got = run(tf.losses.sigmoid_cross_entropy(Y, X, label_smoothing=0.2))
    np.testing.assert_allclose(got, logistic(smooth, X).mean(), rtol=2e-5)
    labels = np.eye(3)[[0, 2, 1, 1]]
    got = run(tf.losses.softmax_cross_entropy(labels, X, label_smoothing=0.3))
    expected = -((labels * 0.7 + 0.1) * log_softmax(X)).sum(-1).mean()
    np.testing.assert_allclose(got, expected, rtol=2e-5)


def test_no_weights_at_all() -> None:
    x = tf.constant(P)
    for reduction in (tf.losses.Reduction.MEAN, tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS):
        loss = tf.losses.mean_squared_error(Y, x, weights=0.0, reduction=reduction)
        assert run(loss) == 0.0
        assert not np.any(run(tf.gradients(loss, x))[0])


@pytest.mark.parametrize("weights", [[[1.0], [0.0]], [1.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0]])
def test_weights_that_do_not_fit(weights: Any) -> None:
    with pytest.raises(ValueError, match="weights that are a scalar, or have the rank of losses"):
        tf.losses.mean_squared_error(Y, P, weights=weights)
    given = tf.placeholder(tf.float32, None)
    loss = tf.losses.mean_squared_error(Y, P, weights=given)
    with tf.Session() as session, pytest.raises(ValueError, match="weights that are a scalar"):
        session.run(loss, {given: weights})


def test_columns_of_labels_and_weights() -> None:
    labels, weights = CLASSES[:, None], W
    got = run(tf.losses.sparse_softmax_cross_entropy(labels, X, weights=weights))
    np.testing.assert_allclose(got, (OF_ROWS * W[:, 0]).sum() / 3, rtol=2e-5)


def test_integers_are_computed_as_floats() -> None:
    loss = tf.losses.absolute_difference([0.5, 0.5], tf.constant([1, 1]), reduction="weighted_sum")
    assert run(loss) == 1.0
    loss = tf.losses.compute_weighted_loss(tf.constant([3, 2]), [0.5, 0.5])
    assert run(loss) == 1.25
    double = tf.losses.mean_squared_error(Y.astype(np.float64), P.astype(np.float64))
    assert double.dtype == tf.float64


def test_names_and_scopes() -> None:
    a = tf.losses.mean_squared_error(Y, P)
    b = tf.losses.huber_loss(Y, P, scope="mine")
    assert (a.name, b.name) == ("mean_squared_error/value:0", "mine/value:0")
    assert tf.losses.get_losses("mine") == [b]
    assert run(tf.losses.get_total_loss(scope="mine")) == run(b)


def test_smoothing_of_classes_that_are_not_known() -> None:
    x, y = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.float32, [None, None])
    loss = tf.losses.softmax_cross_entropy(y, x, label_smoothing=0.3)
    with tf.Session() as session:
        got = session.run(loss, {x: X, y: np.eye(3)[CLASSES]})
    expected = -((np.eye(3)[CLASSES] * 0.7 + 0.1) * log_softmax(X)).sum(-1).mean()
    np.testing.assert_allclose(got, expected, rtol=2e-5)


def test_losses_are_collected() -> None:
    x = tf.constant(P)
    a = tf.losses.mean_squared_error(Y, x)
    b = tf.losses.absolute_difference(Y, x, weights=2.0)
    tf.losses.absolute_difference(Y, x, loss_collection=None)
    assert tf.losses.get_losses() == [a, b] == tf.get_collection(tf.GraphKeys.LOSSES)
    penalty = tf.constant(0.25)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, penalty)
    assert tf.losses.get_regularization_losses() == [penalty]
    values = run([tf.losses.get_total_loss(), tf.losses.get_total_loss(False), a, b])
    assert values[0] == pytest.approx(values[2] + values[3] + 0.25)
    assert values[1] == pytest.approx(values[2] + values[3])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.losses.mean_squared_error(Y, P[:2]), "predictions and labels of one shape"),
        (
            lambda: tf.losses.mean_squared_error(Y, None),
            "expected tensors for labels and predictions, got None",
        ),
        (
            lambda: tf.losses.mean_squared_error(Y, P, reduction="mean"),
            "reduction must be one of .*; got 'mean'",
        ),
    ],
)
def test_mistakes(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


# --- learning rates

STEPS = (0, 1, 4, 5, 9, 10, 23)
DECAYS = [
    (lambda t: tf.train.exponential_decay(0.1, t, 5, 0.5), lambda t: 0.1 * 0.5 ** (t / 5)),
    (lambda t: tf.train.exponential_decay(0.1, t, 5, 0.5, True), lambda t: 0.1 * 0.5 ** (t // 5)),
    (lambda t: tf.train.natural_exp_decay(0.1, t, 5, 0.5), lambda t: 0.1 * np.exp(-0.5 * t / 5)),
    (
        lambda t: tf.train.natural_exp_decay(0.1, t, 5, 0.5, staircase=True),
        lambda t: 0.1 * np.exp(-0.5 * (t // 5)),
    ),
    (lambda t: tf.train.inverse_time_decay(0.1, t, 5, 0.5), lambda t: 0.1 / (1 + 0.5 * t / 5)),
    (
        lambda t: tf.train.inverse_time_decay(0.1, t, 5, 0.5, staircase=True),
        lambda t: 0.1 / (1 + 0.5 * (t // 5)),
    ),
    (
        lambda t: tf.train.polynomial_decay(0.1, t, 9, 0.01, power=2.0),
        lambda t: 0.09 * (1 - min(t, 9) / 9) ** 2 + 0.01,
    ),
    (
        lambda t: tf.train.polynomial_decay(0.1, t, 9, 0.01, cycle=True),
        lambda t: 0.09 * (1 - t / (9 * max(1, np.ceil(t / 9)))) + 0.01,
    ),
    (
        lambda t: tf.train.cosine_decay(0.1, t, 9, alpha=0.2),
        lambda t: 0.1 * (0.8 * (1 + np.cos(np.pi * min(t, 9) / 9)) / 2 + 0.2),
    ),
    (
        lambda t: tf.train.piecewise_constant(t, [4, 9], [0.1, 0.05, 0.01]),
        lambda t: 0.1 if t <= 4 else 0.05 if t <= 9 else 0.01,
    ),
]


@each(("make", "expected"), DECAYS, around=graph_of_its_own)
def test_decays(make: Any, expected: Any) -> None:
    step = tf.placeholder(tf.int64, [])
    rate = make(step)
    with tf.Session() as session:
        for t in STEPS:
            assert session.run(rate, {step: t}) == pytest.approx(expected(t), rel=2e-6)


@pytest.mark.parametrize(("make", "expected"), DECAYS)
@pytest.mark.usefixtures("eager")
def test_decays_are_functions_in_eager_mode(make: Any, expected: Any) -> None:
    step = tf.Variable(0, dtype=tf.int64)
    rate = make(step)
    for t in STEPS:
        step.assign(t)
        assert float(rate()) == pytest.approx(expected(t), rel=2e-6)


def test_a_training_step_counts_its_rate_down() -> None:
    v = tf.Variable(0.0)
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(1.0, step, 1, 0.5)
    train = tf.train.GradientDescentOptimizer(rate).minimize(-v, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for expected in (1.0, 1.5, 1.75):
            session.run(train)
            assert session.run(v) == expected


def test_what_decays_need() -> None:
    with pytest.raises(
        ValueError, match="exponential_decay: expected a step for global_step, got None"
    ):
        tf.train.exponential_decay(0.1, None, 5, 0.5)
    with pytest.raises(ValueError, match="2 values for 2 boundaries"):
        tf.train.piecewise_constant(tf.constant(1), [1, 2], [0.1, 0.2])


@pytest.mark.usefixtures("eager")
def test_metrics_are_of_graphs():
    with pytest.raises(RuntimeError, match="eager"):
        tf.metrics.mean([1.0])
