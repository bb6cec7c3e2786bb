"""Candidate samplers and their losses, and initial values that depend on the shape."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf

CLASSES = 20
SHARES = (np.log(np.arange(CLASSES) + 2) - np.log(np.arange(CLASSES) + 1)) / np.log(CLASSES + 1)


def sampler(unique, count=8, function=tf.nn.log_uniform_candidate_sampler, **options):
    return function(tf.constant([[3], [0]], tf.int64), 1, count, unique, CLASSES, **options)


def test_samples_have_their_probabilities():
    tf.set_random_seed(1)
    drawn, true, expected = sampler(False, 20000)
    classes, of_true, of_drawn = run([drawn, true, expected])
    counts = np.bincount(classes, minlength=CLASSES)
    np.testing.assert_allclose(counts / 20000, SHARES, atol=0.012)
    np.testing.assert_allclose(of_true[:, 0], SHARES[[3, 0]] * 20000, rtol=1e-4)
    np.testing.assert_allclose(of_drawn, SHARES[classes] * 20000, rtol=1e-4)
    uniform = sampler(False, 20000, tf.nn.uniform_candidate_sampler)[0]
    np.testing.assert_allclose(np.bincount(run(uniform)) / 20000, 1 / CLASSES, atol=0.01)


def test_unique_samples():
    tf.set_random_seed(2)
    drawn, true, _ = sampler(True)
    with tf.Session() as session:
        found = [session.run([drawn, true]) for _ in range(3000)]
    assert all(len(set(classes)) == 8 for classes, _ in found)
    often = np.mean([[c in classes for c in range(CLASSES)] for classes, _ in found], 0)
    # How often a class is expected among those of so many draws, averaged over the draws.
    assert np.mean([t[0, 0] for _, t in found]) == pytest.approx(often[3], abs=0.03)
    assert np.mean([t[1, 0] for _, t in found]) == pytest.approx(often[0], abs=0.03)
    with pytest.raises(ValueError, match="num_sampled <= range_max = 20"):
        sampler(True, 21)


def test_seeds_and_feeds():
    def draws(seed):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(seed)
            drawn = sampler(True)[0]
            return [session.run(drawn).tolist() for _ in range(3)]

    assert draws(3) == draws(3) != draws(4)
    assert len({tuple(d) for d in draws(3)}) == 3  # another one in each run
    drawn, _, expected = sampler(False, 2)
    value, same, count = run([drawn, drawn + 0, expected], {drawn: [5, 5]})
    assert value.tolist() == same.tolist() == [5, 5]
    np.testing.assert_allclose(count, 2 * SHARES[5], rtol=1e-5)


def softmax_loss(w, b, labels, x, sampled):
    """In NumPy, with the sample and its expectations given."""
    classes, true_count, count = sampled
    true = np.sum(x * w[labels], 1) + b[labels] - np.log(true_count)
    other = x @ w[classes].T + b[classes] - np.log(count)
    other = np.where(labels[:, None] == classes, -np.inf, other)
    logits = np.concatenate([true[:, None], other], 1)
    return np.log(np.exp(logits).sum(1)) - logits[:, 0]


def test_sampled_softmax_loss_against_numpy():
    random = np.random.default_rng(5)
    w, b, x = (random.normal(size=s) for s in ((CLASSES, 4), CLASSES, (3, 4)))
    labels, classes = np.array([2, 7, 7]), np.array([1, 7, 12, 2])
    sampled = (classes, np.array([0.5, 0.2, 0.2]), np.array([0.9, 0.2, 0.1, 0.5]))
    tw, tb, tx = tf.constant(w), tf.constant(b), tf.constant(x)
    given = (classes, sampled[1].reshape(3, 1), sampled[2])
    given = tuple(tf.constant(v) for v in given)
    loss = tf.nn.sampled_softmax_loss(
        tw, tb, labels.reshape(3, 1), tx, 4, CLASSES, sampled_values=given
    )
    expected = softmax_loss(w, b, labels, x, sampled)
    gradients = [tf.convert_to_tensor(g) for g in tf.gradients(loss, [tw, tx])]
    value, by_w, by_x = run([loss, *gradients])
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    assert np.flatnonzero(np.any(by_w != 0, 1)).tolist() == [1, 2, 7, 12]  # rows looked at
    step = random.normal(size=x.shape) * 1e-6
    line = np.sum(
        softmax_loss(w, b, labels, x + step, sampled)
        - softmax_loss(w, b, labels, x - step, sampled)
    )
    assert np.sum(by_x * step) * 2 == pytest.approx(line, rel=1e-5)


def test_a_sampled_loss_estimates_the_full_one():
    tf.set_random_seed(6)
    random = np.random.default_rng(6)
    w, b, x = (
        random.normal(size=s).astype(np.float32) * 0.3 for s in ((CLASSES, 4), CLASSES, (5, 4))
    )
    labels = random.integers(0, CLASSES, (5, 1))
    loss = tf.reduce_mean(tf.nn.sampled_softmax_loss(w, b, labels, x, 19, CLASSES))
    full = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels[:, 0], logits=tf.matmul(x, w, transpose_b=True) + b
    ))  # fmt: skip
    with tf.Session() as session:
        mean = np.mean([session.run(loss) for _ in range(300)])
        assert mean == pytest.approx(session.run(full), abs=0.03)


def test_nce_loss_against_numpy():
    random = np.random.default_rng(8)
    w, b, x = (random.normal(size=s) for s in ((CLASSES, 4), CLASSES, (3, 4)))
    labels, classes = np.array([[2, 3], [7, 1], [7, 0]]), np.array([1, 7, 12])
    given = (classes, np.full((3, 2), 0.25), np.array([0.9, 0.2, 0.1]))
    loss = tf.nn.nce_loss(w, b, labels, tf.constant(x), 3, CLASSES, 2,
                          tuple(tf.constant(v) for v in given))  # fmt: skip
    true = np.einsum("bd,btd->bt", x, w[labels]) + b[labels] - np.log(0.25)
    other = x @ w[classes].T + b[classes] - np.log(given[2])

    def logistic(z, y):
        return np.log1p(np.exp(z)) - y * z

    expected = logistic(true, 0.5).sum(1) + logistic(other, 0).sum(1)
    np.testing.assert_allclose(run(loss), expected, rtol=1e-9)


def test_weighted_cross_entropy():
    x, y = np.array([2.0, -1.0, 30.0]), np.array([1.0, 0.0, 0.25])
    p = 1 / (1 + np.exp(-x))
    expected = -3 * y * np.log(p) - (1 - y) * np.log1p(-p)
    got = run(tf.nn.weighted_cross_entropy_with_logits(y, x, 3.0))
    np.testing.assert_allclose(got, expected, rtol=1e-3)


def test_small_activations():
    x = tf.constant([-2.0, 0.0, 2.0])
    assert listed(run(tf.nn.softsign(x))) == pytest.approx([-2 / 3, 0.0, 2 / 3])
    assert listed(run(tf.nn.swish(x))) == pytest.approx([-0.238406, 0.0, 1.761594])
    assert listed(run(tf.nn.crelu(x))) == [0.0, 0.0, 2.0, 2.0, 0.0, 0.0]
    assert run(tf.nn.zero_fraction(x)) == pytest.approx(1 / 3)


# --- initial values


@pytest.mark.parametrize(
    ("initializer", "variance"),
    [
        (tf.initializers.glorot_normal(), 2 / (300 + 200)),
        (tf.initializers.he_normal(), 2 / 300), (tf.initializers.he_uniform(), 2 / 300),
        (tf.initializers.lecun_normal(), 1 / 300), (tf.initializers.lecun_uniform(), 1 / 300),
        (tf.variance_scaling_initializer(3.0, "fan_out", "uniform"), 3 / 200),
        (tf.variance_scaling_initializer(3.0, "fan_avg", "untruncated_normal"), 3 / 250),
    ],
)  # fmt: skip
def test_scaled_initializers(initializer, variance):
    tf.set_random_seed(9)
    values = run(initializer([300, 200]))
    assert values.dtype == np.float32
    assert values.mean() == pytest.approx(0, abs=3 * np.sqrt(variance / 60000))
    assert values.var() == pytest.approx(variance, rel=0.03)


def test_orthogonal_and_identity():
    tf.set_random_seed(10)
    a = tf.get_variable("a", [3, 5], initializer=tf.orthogonal_initializer())
    b = tf.get_variable("b", [2, 3, 4], tf.float64, tf.initializers.orthogonal(2.0))
    c = tf.get_variable("c", [2, 2], initializer=tf.initializers.identity(3.0))
    value_a, value_b, value_c = run([a, b, c])
    np.testing.assert_allclose(value_a @ value_a.T, np.eye(3), atol=1e-6)
    flat = value_b.reshape(6, 4)
    np.testing.assert_allclose(flat.T @ flat, 4 * np.eye(4), atol=1e-12)
    assert value_c.tolist() == [[3.0, 0.0], [0.0, 3.0]]
    with pytest.raises(ValueError, match="two axes"):
        tf.orthogonal_initializer()([3])
    for wrong in ({"scale": 0.0}, {"mode": "fan"}, {"distribution": "flat"}):
        with pytest.raises(ValueError, match="variance_scaling"):
            tf.variance_scaling_initializer(**wrong)


@pytest.mark.usefixtures("eager")
def test_in_eager_mode():
    drawn, true, _ = sampler(True)
    assert len(set(drawn.numpy().tolist())) == 8 and true.shape == (2, 1)
    assert tf.orthogonal_initializer()([2, 2]).shape == (2, 2)
