"""Whole programs in the main namespace, with results that are known beforehand."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


def data(n=32):
    rng = np.random.default_rng(7)
    x = rng.integers(-10, 10, n) / 4 + rng.normal(size=n) / 32
    return x.astype(np.float32), (3 * x + 2).astype(np.float32)


def recurrence(xs, ys, rate):
    """w, b and the gradient of each step of stochastic descent on (y - (w x + b))² / 64."""
    w, b, rows = 2.0, 1.0, []
    for x, y in zip(xs.astype(float), ys.astype(float), strict=True):
        error = w * x + b - y
        gw, gb = error * x / 32, error / 32
        rows.append((error**2 / 64, gw, gb))
        w, b = w - rate * gw, b - rate * gb
    return w, b, rows


@pytest.mark.parametrize("way", ["minimize", "gradients", "function"])
def test_linear_regression(way):
    xs, ys = data()
    w, b = pb.Variable(2.0, name="weight"), pb.Variable(1.0, name="bias")
    optimizer = pb.optimizers.GradientDescent(0.5)

    def loss(x, y):
        return pb.sum(pb.pow(y - (x * w + b), 2)) / (2 * 32)

    def by_hand(x, y):
        value = loss(x, y)
        gw, gb = pb.gradients(value, [w, b])
        w.assign(w - 0.5 * gw)  # both use the values from before
        b.assign(b - 0.5 * gb)
        return value, gw, gb

    step = pb.function(by_hand) if way == "function" else by_hand
    ew, eb, rows = recurrence(xs, ys, 0.5)
    for x, y, expected in zip(xs, ys, rows, strict=True):
        if way == "minimize":
            value = loss(x, y)
            got = (value, *pb.gradients(value, [w, b]))
            optimizer.minimize(lambda x=x, y=y: loss(x, y))
        else:
            got = step(x, y)
        np.testing.assert_allclose([float(g) for g in got], expected, rtol=1e-4, atol=1e-6)
    assert (w.item(), b.item()) == (pytest.approx(ew, abs=1e-5), pytest.approx(eb, abs=1e-5))


def test_straight_through_rounding():
    x = pb.Variable([0.2, 0.7, 1.6])
    y = x + pb.stop_gradient(pb.round(x) - x)
    np.testing.assert_array_equal(y.numpy(), [0.0, 1.0, 2.0])
    assert pb.gradients(y, x)[0].numpy().tolist() == [1.0, 1.0, 1.0]


def test_forward_of_one_function_and_gradient_of_another():
    def through(f, g, x):
        t = g(x)
        return t + pb.stop_gradient(f(x) - t)

    x = pb.Variable([-2.0, 0.25, 3.0])
    y = through(pb.sign, pb.tanh, x)
    np.testing.assert_array_equal(y.numpy(), [-1.0, 1.0, 1.0])
    slope = pb.gradients(y, x)[0].numpy()
    np.testing.assert_allclose(slope, 1 - np.tanh(x.numpy().astype(float)) ** 2, rtol=1e-6)


def test_shuffle_behind_a_custom_gradient():
    @pb.custom_gradient
    def shuffled(x):
        return pb.stop_gradient(pb.random.shuffle(x)), lambda upstream: upstream

    x = pb.constant([0.3, 0.5])
    with pb.GradientTape() as tape:
        tape.watch(x)
        y = shuffled(x)
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]
    assert sorted(y.numpy().tolist()) == sorted(x.numpy().tolist())


def test_softmax_regression_learns_blobs():
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(4, 5)) * 3
    labels = rng.integers(0, 4, 400)
    x = (centres[labels] + rng.normal(size=(400, 5))).astype(np.float32)
    truth = np.eye(4, dtype=np.float32)[labels]
    w, b = pb.Variable(pb.zeros((5, 4))), pb.Variable(pb.zeros(4))

    @pb.function
    def step(x, truth, rate):
        loss = pb.mean(pb.softmax_cross_entropy(x @ w + b, truth))
        for v, g in zip([w, b], pb.gradients(loss, [w, b]), strict=True):
            v.assign_sub(rate * g)
        return loss

    # The first cost is log 4, and the first gradient is known in closed form.
    expected = -0.1 * x.T @ (0.25 - truth) / 400
    assert float(step(x, truth, 0.1)) == pytest.approx(np.log(4), rel=1e-6)
    np.testing.assert_allclose(w.numpy(), expected, rtol=1e-4, atol=1e-7)
    costs = [float(step(x, truth, 0.1)) for _ in range(200)]
    assert costs[-1] < 0.3 and np.all(np.diff(costs) < 1e-6)
    guesses = pb.argmax(x @ w + b, axis=1).numpy()
    assert np.mean(guesses == labels) > 0.9


def test_gradient_penalty_training():
    """The loss holds a gradient: second order through a step."""
    w = pb.Variable([1.0, -1.0])
    x = pb.constant([2.0, 0.5])

    def loss():
        with pb.GradientTape() as tape:
            tape.watch(x)
            y = pb.sum(pb.sin(w * x))
        return pb.sum(pb.square(tape.gradient(y, x)))

    ((g, _),) = pb.optimizers.GradientDescent(0.1).compute_gradients(loss)
    wv, xv = w.numpy().astype(float), x.numpy().astype(float)
    c, s = np.cos(wv * xv), np.sin(wv * xv)
    np.testing.assert_allclose(g.numpy(), 2 * wv * c * (c - wv * xv * s), rtol=1e-5)
