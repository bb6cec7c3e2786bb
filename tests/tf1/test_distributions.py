"""Draws of distributions: their moments, seeds and gradients; and what eager programs do."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, run  # noqa: F401

import pullback.compat.tf1 as tf

D = tf.distributions
COUNT = 20000


@each(
    "make",
    [
        lambda: D.Normal([0.5, -1.0], 2.0), lambda: D.Uniform([0.0, 1.0], 3.0),
        lambda: D.Exponential([0.5, 4.0]), lambda: D.Laplace(1.0, [0.5, 1.0]),
        lambda: D.Gamma([2.0, 0.5], 1.5), lambda: D.Beta([2.0, 0.5], 3.0),
        lambda: D.StudentT(8.0, [0.0, 1.0], 0.5), lambda: D.Bernoulli(logits=[0.0, -1.5]),
        lambda: D.Bernoulli(probs=[0.1, 0.9]),
    ],
    around=graph_of_its_own,
)  # fmt: skip
def test_moments_of_draws(make):
    d = make()
    draws, mean, variance = run([d.sample(COUNT, seed=7), d.mean(), d.variance()])
    assert draws.shape == (COUNT, 2)
    # The mean of so many draws is within 5 of its deviations, but once in two million.
    assert (np.abs(draws.mean(0) - mean) < 5 * np.sqrt(variance / COUNT)).all()
    np.testing.assert_allclose(draws.var(0), variance, rtol=0.1)


def test_classes_are_drawn_by_their_probabilities():
    d = D.Categorical(logits=[[0.0, 1.0, -np.inf], [2.0, 0.0, 0.0]])
    draws, probs, entropy = run([d.sample(COUNT, seed=1), d.probs, d.entropy()])
    found = [np.bincount(draws[:, i], minlength=3) / COUNT for i in range(2)]
    np.testing.assert_allclose(found, probs, atol=0.02)
    p = probs.astype(float)
    logs = np.log(np.where(p > 0, p, 1.0))
    np.testing.assert_allclose(entropy, -(p * logs).sum(-1), rtol=1e-5)


def test_seeds_repeat_draws():
    def draws():
        with tf.Graph().as_default():
            tf.set_random_seed(5)
            d = D.Normal(0.0, [1.0, 2.0])
            return run([d.sample(3), d.sample(3, seed=2)])

    np.testing.assert_array_equal(draws(), draws())
    x = D.Normal(0.0, 1.0).sample()
    with tf.Session() as session:
        assert session.run(x) != session.run(x)


def test_errors():
    with pytest.raises(NotImplementedError, match="mean: not implemented for Categorical"):
        D.Categorical(probs=[1.0]).mean()
    with pytest.raises(AttributeError, match="Normal: no attribute skew"):
        _ = D.Normal(0.0, 1.0).skew
    with pytest.raises(NotImplementedError, match="Uniform and Normal"):
        D.Uniform().kl_divergence(D.Normal(0.0, 1.0))
    with pytest.raises(TypeError, match="Normal: missing a required argument: 'scale'"):
        D.Normal(0.0)
    with pytest.raises(TypeError, match="value"):
        D.Normal(0.0, 1.0).log_prob()


def test_keywords():
    for d in (
        D.Normal(scale=2.0, loc=0.0),
        D.Bernoulli(probs=0.5),
        D.Categorical(logits=[1.0, 2.0]),
    ):
        a, b = run([d.log_prob(value=1, name="mine"), d.log_prob(1)])
        assert a == b
        assert run(d.sample(sample_shape=[3], seed=1, name="draw")).shape == (3,)


@pytest.mark.usefixtures("eager")
def test_eager_distributions():
    v = tf.Variable([0.5, 1.0])
    with tf.GradientTape() as tape:
        d = D.Normal(v, 1.0)
        y = tf.reduce_sum(d.log_prob(2.0) + 2.0 * d.sample())
    np.testing.assert_allclose(tape.gradient(y, v).numpy(), [3.5, 3.0])
    assert d.sample([3]).shape == (3, 2) and d.batch_shape.as_list() == [2]
    c = D.Categorical(logits=[0.0, 3.0])
    assert c.mode().numpy() == 1 and c.sample(4).shape == (4,)
    assert D.kl_divergence(c, c).numpy() == 0.0


def test_densities_at_edges(fresh_graph):  # noqa: F811
    uniform, likely = D.Uniform(0.0, 2.0), D.Bernoulli(logits=[10.0, 17.0])
    assert run([uniform.prob([0.0, 2.0, 3.0]), uniform.log_prob(2.0)])[0].tolist() == [0.5, 0, 0]
    assert run(uniform.log_prob(2.0)) == -np.inf
    exact = -np.log1p(np.exp(-np.array([10.0, 17.0])))
    np.testing.assert_allclose(run(likely.log_prob(1)), exact, rtol=1e-6)
    np.testing.assert_allclose(run(likely.log_prob([[0], [1]]))[1], exact, rtol=1e-6)


def test_means_of_errors_take_one_dtype(fresh_graph):  # noqa: F811
    with pytest.raises(TypeError, match="one dtype"):
        tf.metrics.mean_squared_error(tf.constant([1, 0]), tf.constant([0.9, 0.2]))


@pytest.mark.usefixtures("eager")
def test_undefined_moments_in_eager_mode():
    assert D.StudentT(1.0, 0.0, [1.0, 2.0]).batch_shape == [2]
    assert np.isnan(float(D.StudentT(1.0, 0.0, 1.0).mean()))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"StudentT: .* allow_nan_stats"):
        D.StudentT(1.0, 0.0, 1.0, allow_nan_stats=False).mean()
