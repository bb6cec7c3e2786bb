"""The programs of the time, in our words: and what each must give."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from support.tf1 import fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback import _core
from pullback.compat.tf1.examples.tutorials.mnist import input_data
from pullback.datasets._mnist import SAMPLE

EXAMPLES = Path(__file__).parents[2] / "examples"
EPOCH_COSTS = [1.184, 0.665, 0.553, 0.499, 0.466, 0.443, 0.426, 0.412, 0.401, 0.392]


def example(name):
    """The module examples/<name>.py."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def printed(name, *arguments):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=True)


# --- linear regression


def recurrence(xs, ys, rate, w, b):
    """The same steps in float64, by the derivative on paper."""
    losses, slopes = [], []
    for x, y in zip(xs, ys, strict=True):
        error = w * x + b - y
        losses.append(error * error / 2)
        slopes.append(error * x)
        w, b = w - rate * error * x, b - rate * error
    return losses, slopes, w, b


@pytest.mark.parametrize("by_hand", [False, True], ids=["optimizer", "assign"])
def test_linear_regression(by_hand):
    random = np.random.default_rng(5)
    xs = random.uniform(-3, 8, 20)
    ys = 2.5 * xs + 1 + random.normal(0, 0.1, 20)
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    w, b = tf.Variable(-1.0), tf.Variable(4.0)
    loss = tf.reduce_sum(tf.pow(y - tf.add(tf.multiply(x, w), b), 2)) / 2
    if by_hand:
        dw, db = tf.gradients(loss, [w, b])
        steps = [w.assign(w - 0.01 * dw), b.assign(b - 0.01 * db)]
    else:
        steps = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    slope = tf.gradients(loss, w)
    session = tf.Session()
    session.run(tf.global_variables_initializer())
    losses, slopes = [], []
    for number, target in zip(xs, ys, strict=True):
        _, (g,), value = session.run([steps, slope, loss], feed_dict={x: number, y: target})
        losses.append(value)
        slopes.append(g)
    expected = recurrence(xs, ys, 0.01, -1.0, 4.0)
    np.testing.assert_allclose(losses, expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(slopes, expected[1], rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(session.run([w, b]), expected[2:], rtol=1e-5)
    session.close()


def test_two_assignments_use_the_values_from_before():
    # f = v² w: the gradients are 2 v w and v², both of the old v and w.
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    dv, dw = tf.gradients(v * v * w, [v, w])
    steps = [v.assign(v - 0.3 * dv), w.assign(w - 0.8 * dw)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert listed(session.run(steps)) == pytest.approx([-1.6, -0.2], rel=1e-6)
        assert listed(session.run([v, w])) == pytest.approx([-1.6, -0.2], rel=1e-6)


# --- gradients and stop_gradient


def test_total_and_partial_derivative():
    a = tf.constant(0.0)
    b = 2 * a
    assert listed(run(tf.gradients(a + b, [a, b]))) == [3.0, 1.0]
    assert listed(run(tf.gradients(a + b, [a, b], stop_gradients=[a, b]))) == [1.0, 1.0]


def test_no_path_is_none_and_prints_so():
    w1, w2 = tf.Variable(2.0), tf.Variable(2.0)
    product = tf.multiply(w1, 3.0)
    answer = tf.gradients(tf.multiply(tf.stop_gradient(product), w2), xs=[w1, w2])
    assert repr(answer) == (
        "[None, <tf.Tensor 'gradients/Mul_1_grad/Reshape_1:0' shape=() dtype=float32>]"
    )
    assert run(answer[1]) == 6.0


def test_stopped_and_live_path():
    a, b = tf.Variable(1.0), tf.Variable(1.0)
    total = tf.add(tf.stop_gradient(tf.add(a, b)), tf.add(a, b))
    assert listed(run(tf.gradients(total, xs=[a, b]))) == [1.0, 1.0]


def test_straight_through():
    x = tf.constant([0.2, 0.7, 1.6, -3.4])
    y = x + tf.keras.backend.stop_gradient(tf.round(x) - x)
    value, slope = run([y, tf.gradients(y, x)[0]])
    assert value.tolist() == [0.0, 1.0, 2.0, -3.0]
    assert slope.tolist() == [1.0] * 4


# --- MNIST


def regression_by_numpy(folder, epochs, seed):
    """What tf1_mnist_softmax computes, in float64."""
    digits = input_data.read_data_sets(folder, one_hot=True, seed=seed)
    weights, bias, costs = np.zeros([784, 10]), np.zeros(10), []
    batches = digits.train.num_examples // 100
    for _ in range(epochs):
        costs.append(0.0)
        for _ in range(batches):
            images, labels = (part.astype(float) for part in digits.train.next_batch(100))
            powers = np.exp(images @ weights + bias)
            guess = powers / powers.sum(1, keepdims=True)
            costs[-1] -= np.mean(np.sum(labels * np.log(guess), 1)) / batches
            weights -= 0.01 * images.T @ (guess - labels) / 100
            bias -= 0.01 * np.mean(guess - labels, 0)
    right = np.argmax(digits.test.images @ weights + bias, 1) == np.argmax(digits.test.labels, 1)
    return costs, np.mean(right[:3000])


@pytest.mark.parametrize("by_hand", [False, True], ids=["optimizer", "assign"])
def test_mnist_softmax_regression(by_hand):
    """The sample: 5000 of its images are kept for validation, 1000 train."""
    costs, accuracy = example("tf1_mnist_softmax").train(str(SAMPLE), by_hand=by_hand, seed=7)
    expected, share = regression_by_numpy(SAMPLE, 10, 7)
    assert costs == pytest.approx(expected, rel=1e-5)
    assert accuracy == pytest.approx(share, abs=0.002) and share > 0.5


@pytest.mark.parametrize("by_hand", [False, True], ids=["optimizer", "assign"])
@pytest.mark.slow
def test_full_mnist_softmax_regression(full_mnist, by_hand):
    began = time.process_time()
    train = example("tf1_mnist_softmax").train
    costs, accuracy = train(str(full_mnist), by_hand=by_hand, seed=7)
    assert costs == pytest.approx(EPOCH_COSTS, abs=0.0025)
    assert accuracy == pytest.approx(0.874, abs=0.004)
    assert time.process_time() - began < 60  # seconds of all cores; other processes do not count


def test_mnist_second_step_plans_nothing():
    x = tf.placeholder(tf.float32, [None, 6])
    w = tf.Variable(tf.zeros([6, 2]))
    cost = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(cost)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([step, cost], {x: np.ones([3, 6])})
        before = _core.status()
        for k in range(5):
            session.run([step, cost], {x: np.full([3, 6], k)})
        after = _core.status()
        assert after["plan_misses"] == before["plan_misses"]
        assert after["plan_hits"] == before["plan_hits"]
        session.run([step, cost], {x: np.ones([4, 6])})  # another signature
        assert _core.status()["plan_misses"] == before["plan_misses"] + 1


def test_mnist_files_missing(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        input_data.read_data_sets(str(tmp_path), one_hot=True)
    for name in ("train-images", "train-labels", "t10k-images", "t10k-labels"):
        assert name in str(caught.value)


def test_full_mnist_sets(full_mnist):
    mnist = input_data.read_data_sets(str(full_mnist))
    assert mnist.train.num_examples == 55000
    assert (mnist.validation.num_examples, mnist.test.num_examples) == (5000, 10000)


def test_mnist_sets_are_seeded_by_the_graph():
    def batch(seed):
        with tf.Graph().as_default():
            if seed is not None:
                tf.set_random_seed(seed)
            sets = input_data.read_data_sets(str(SAMPLE), source_url="https://example.org/")
        return sets.train.next_batch(50)[1].tolist()

    assert batch(1) == batch(1) != batch(2) != batch(None)


def test_mnist_sets():
    mnist = input_data.read_data_sets(str(SAMPLE), one_hot=True)
    assert mnist.train.num_examples == 1000
    assert (mnist.validation.num_examples, mnist.test.num_examples) == (5000, 1000)
    images, labels = mnist.train.next_batch(100)
    assert images.shape == (100, 784) and images.dtype == np.float32
    assert images.min() >= 0 and images.max() <= 1
    assert labels.shape == (100, 10) and np.all(labels.sum(1) == 1)
    assert not np.array_equal(images, mnist.train.images[:100])  # shuffled


def test_next_batch_covers_every_epoch():
    data = input_data.DataSet(np.arange(10).reshape(10, 1), np.arange(10), seed=0)
    first = np.concatenate([data.next_batch(4)[1] for _ in range(5)])
    assert sorted(first[:10]) == sorted(first[10:]) == list(range(10))
    assert first[:10].tolist() != first[10:].tolist()
    assert data.epochs_completed == 1
    with pytest.raises(ValueError, match="from 1 to 10"):
        data.next_batch(11)


# --- clipping


def test_clipping_by_global_norm():
    length, moved = example("tf1_clipping").step_by_global_norm()
    assert length == pytest.approx(np.sqrt(12**2 + 16**2 + 25**2), rel=1e-6)
    assert moved == pytest.approx(0.5 * 0.25, rel=1e-5)


def test_clipping_by_value():
    assert example("tf1_clipping").step_by_value() == pytest.approx([0.125, 0.1, -0.125], rel=1e-6)


# --- a recurrent network


def test_recurrent_network():
    losses, longer = example("tf1_recurrent").main()
    assert losses[-1] < 1e-4 < 0.1 < losses[0] and longer < 1e-3


# --- DQN


def test_dqn_target_network():
    tf.set_random_seed(1)
    learner = example("tf1_dqn_target").Learner()
    assert tf.gradients(learner.loss, learner.target) == [None, None]
    random = np.random.default_rng(2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start = session.run(learner.target)
        losses = [
            session.run([learner.loss, learner.step], learner.feed(random))[0] for _ in range(50)
        ]
        assert np.mean(losses[-10:]) < np.mean(losses[:10])
        for old, new in zip(start, session.run(learner.target), strict=True):
            assert np.array_equal(old, new)
        session.run(learner.copy)
        for m, t in zip(*session.run([learner.main, learner.target]), strict=True):
            assert np.array_equal(m, t)
        assert not np.array_equal(start[0], session.run(learner.target[0]))


# --- tapes, in eager mode, which is a switch of the process


def test_gradient_tape_program():
    done = printed("tf1_gradient_tape")
    assert done.stdout.splitlines() == [
        f"tf.Tensor({value}, shape=(), dtype=float32)" for value in ("-2.0", "0.0", "1.0", "2.0")
    ]
    assert done.stderr.splitlines() == ["y = 0 ; x = 0.999998569"] * 2


# --- custom gradients


def test_log1pexp():
    module = example("tf1_custom_gradient")
    x = tf.constant(100.0)
    assert np.isnan(run(tf.gradients(module.plain_log1pexp(x), x))[0])
    assert listed(run(tf.gradients(module.log1pexp(x), x))) == [1.0]


def test_custom_gradient_of_two_inputs():
    module = example("tf1_custom_gradient")
    x, y = tf.constant(2.0), tf.constant(3.0)
    z = module.product(x, y)
    assert listed(run([z, *tf.gradients(z, [x, y])])) == [6.0, 3.0, 2.0]


def test_custom_gradient_that_reads_a_variable():
    module = example("tf1_custom_gradient")
    x = tf.constant([1.0, 2.0, 3.0])
    y = module.line(x)
    value, by_x, by_weights = run([y, *tf.gradients(y, [x, module.weights])])
    assert value.tolist() == [2.0, 3.0, 4.0]
    assert by_x.tolist() == [1.0, 1.0, 1.0]
    assert by_weights.tolist() == [3.0, 6.0]


def test_wrapped_second_order():
    module = example("tf1_custom_gradient")
    x = tf.constant(2.0)
    first = tf.gradients(module.cube(x), x)
    assert listed(run([first, tf.gradients(first, x)])) == [[12.0], [2000.0]]


# --- overrides


def test_sign_with_a_window():
    x = tf.constant([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5])
    module = example("tf1_override_map")
    y = module.binary(x)
    value, slope = run([y, tf.gradients(y, x)[0]])
    assert value.tolist() == [-1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0]
    assert slope.tolist() == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("kind", [float, int])
def test_reversal(kind):
    module = example("tf1_override_map")
    u, v, w = (tf.Variable(kind(n)) for n in (1, 3, 6))
    f = u + v * w
    by_rule = module.reversed_by_rule(f)
    by_stopping = module.reversed_by_stopping(f)
    assert listed(run([by_rule, by_stopping, f])) == [19] * 3
    assert listed(run(tf.gradients(by_rule, f))) == [-1]
    assert listed(run(tf.gradients(by_stopping, u))) == [-1]
    assert listed(run(tf.gradients(f, u))) == [1]
    assert listed(run(tf.gradients(by_stopping, v))) == [-6]
    answer = run(tf.gradients(by_rule, u))[0]
    assert answer.dtype == (np.int32 if kind is int else np.float32)


def test_integers_can_be_constants():
    u, v = tf.Variable(2), tf.Variable(3)
    tf.set_integer_gradients(False)
    assert tf.gradients(u * v, [u, v]) == [None, None]
    same = u * v
    assert listed(run(tf.gradients(same, same))) == [1]
    with pytest.raises(TypeError, match="None"):
        run(tf.gradients(u * v, [u]))


def test_rule_that_returns_a_number():
    module = example("tf1_override_map")
    x = tf.constant(1.0)
    with tf.get_default_graph().gradient_override_map({"Identity": "ReturnsNumber"}):
        y = tf.identity(x, name="here")
    for kind in (TypeError, AttributeError):
        with pytest.raises(kind, match=r"'here'.*ReturnsNumber.*tf1_override_map\.py:\d+"):
            tf.gradients(y, x)
    assert module.returns_number(None, None) == 0


# --- the examples as somebody would start them


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tf1_linear_regression", "by hand:   y ="),
        ("tf1_stop_gradient", "total: [np.float32(3.0), np.float32(1.0)]"),
        ("tf1_clipping", "update 0.1250"),
        ("tf1_dqn_target", "gradient of the target network: [None, None]"),
        ("tf1_custom_gradient", "own [np.float32(1.0)]"),
        ("tf1_override_map", "sign: [0. 1. 1. 1. 1. 1. 0.]"),
    ],
)
def test_examples_run(name, expected):
    assert expected in printed(name).stdout


def test_mnist_example_runs():
    done = printed("tf1_mnist_softmax", str(SAMPLE), "--epochs", "1")
    assert re.search(r"epoch  1  cost 2\.\d+\naccuracy 0\.", done.stdout)
