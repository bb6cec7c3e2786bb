"""cond, case and switch_case of TensorFlow 1."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def scalar():
    return tf.placeholder(tf.float32, [])


def test_cond_runs_one():
    x, a, b = scalar(), tf.constant(1.0), tf.constant(3.0)
    y = tf.cond(x > 0, lambda: tf.log(x) * a, lambda: 2 * x * b)
    answers = [y, *tf.gradients(y, [x, a, b])]
    assert listed(run(answers, {x: 0.0})) == [0, 6, 0, 0]
    assert listed(run(answers, {x: 1.0})) == [0, 1, 0, 0]
    (second,) = tf.gradients(answers[1], x)
    assert run(second, {x: 2.0}) == -0.25


def test_the_other_branch_need_not_fit():
    train = tf.placeholder(tf.bool, [])
    x = tf.placeholder(tf.float32, [None, None])
    kernels = tf.constant(np.ones((3, 2), "float32")), tf.constant(np.ones((5, 2), "float32"))
    y = tf.cond(train, lambda: tf.matmul(x, kernels[0]), lambda: tf.matmul(x, kernels[1]))
    gradient = tf.gradients(y, x)[0]
    for flag, width in [(True, 3), (False, 5)]:
        got = run([y, gradient], {train: flag, x: np.ones((1, width))})
        assert listed(got) == [[[width, width]], [[2.0] * width]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
        run(y, {train: True, x: np.ones((1, 5))})


def test_cond_assigns_in_the_chosen_branch():
    x, v, w = scalar(), tf.Variable(1.0), tf.Variable(2.0)
    outside = w.assign_add(1.0)
    up = tf.cond(x > 0, lambda: tf.group(v.assign(x)), tf.no_op)
    kept = tf.cond(x > 0, lambda: v.value(), lambda: tf.identity(outside))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(up, {x: -1.0})
        assert session.run(v) == 1
        session.run(up, {x: 4.0})
        assert session.run(v) == 4
        assert session.run(kept, {x: 1.0}) == 4
        assert session.run(w) == 3  # what is made outside runs in any case


def test_cond_trains():
    v, p = tf.Variable(1.0), tf.placeholder(tf.bool, [])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    slopes = optimizer.compute_gradients(v * v)
    train = tf.cond(p, lambda: optimizer.apply_gradients(slopes), tf.no_op)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for chosen in (True, False, True):
            session.run(train, {p: chosen})
            seen.append(session.run(v))
    np.testing.assert_allclose(seen, [0.8, 0.8, 0.46], rtol=1e-6)


def test_variables_made_in_a_branch():
    p = tf.placeholder(tf.bool, [])

    def w():
        with tf.variable_scope("v", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", initializer=3.0)

    y = tf.cond(p, lambda: w() * 2.0, lambda: w() * 5.0) + w() * 7.0
    answers = [y, *tf.gradients(y, tf.trainable_variables())]
    assert listed(run(answers, {p: True})) == [27, 9]
    assert listed(run(answers, {p: False})) == [36, 12]


def test_branches_of_different_shapes():
    x = scalar()
    y = tf.cond(x > 0, lambda: tf.stack([x, x]), lambda: tf.stack([x, x, x]))
    assert y.shape.as_list() == [None]
    assert listed(run([y, *tf.gradients(y, x)], {x: 1.0})) == [[1, 1], 2]
    assert listed(run([y, *tf.gradients(y, x)], {x: -1.0})) == [[-1, -1, -1], 3]


def test_what_cond_returns():
    yes = tf.constant(1.0) > 0
    assert run(tf.cond(yes, lambda: [tf.constant(1)], lambda: [tf.constant(2)])) == 1
    strict = tf.cond(yes, lambda: [tf.constant(1)], lambda: [tf.constant(2)], strict=True)
    assert run(strict) == [1]
    assert run(tf.cond(yes, lambda: {"a": 1, "b": 2.0}, lambda: {"a": 3, "b": 4.0})) == {
        "a": 1,
        "b": 2.0,
    }
    for wrong, kind, text in [
        (lambda: tf.cond(True, lambda: 1, lambda: 2), TypeError, "Python bool"),
        (lambda: tf.cond(yes, 1, lambda: 2), TypeError, "expected a function for true_fn"),
        (lambda: tf.cond(yes, lambda: 1, lambda: 2.0), ValueError, "same type"),
        (lambda: tf.cond(yes, lambda: 1, lambda: None), ValueError, "expected a result of"),
        (lambda: tf.cond(yes, lambda: (1, 2), lambda: 1), ValueError, "expected one structure"),
    ]:
        with pytest.raises(kind, match=text):
            wrong()


def test_updates_of_statistics():
    x, training = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.bool, [])
    moving = tf.Variable(0.0, trainable=False)
    mean = tf.reduce_mean(x)

    def update():
        with tf.control_dependencies([tf.assign(moving, 0.5 * (moving + mean))]):
            return tf.identity(mean)

    y = x - tf.cond(training, update, lambda: moving)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y, {x: [1, 3], training: True}).tolist() == [-1, 1]
        assert session.run(y, {x: [1, 3], training: False}).tolist() == [0, 2]
        g = tf.gradients(y[0], x)[0]
        assert session.run(g, {x: [1, 3], training: True}).tolist() == [0.5, -0.5]


def test_rows_from_a_branch():
    table = tf.constant(np.eye(2))
    one = tf.constant(1.0)
    y = tf.cond(one > 0, lambda: tf.gradients(tf.gather(table, [0, 0]), table)[0], lambda: table)
    assert listed(run(y)) == [[2, 2], [0, 0]]


def test_case_takes_the_first():
    x = scalar()
    y = tf.case([(x > 5, lambda: x), (x > 1, lambda: x * x)], default=lambda: -x)
    for value, answer in [(7.0, [7, 1]), (3.0, [9, 6]), (0.5, [-0.5, -1])]:
        assert listed(run([y, *tf.gradients(y, x)], {x: value})) == answer
    bare = tf.case({x > 5: lambda: x})
    assert run(bare, {x: 6.0}) == 6
    with pytest.raises(tf.errors.InvalidArgumentError, match="true predicate or a default"):
        run(bare, {x: 1.0})
    alone = tf.case([(x > 5, lambda: x), (x > 1, lambda: x * x)], lambda: -x, exclusive=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected one true predicate"):
        run(alone, {x: 6.0})


def test_switch_case_takes_a_number():
    k, w = tf.placeholder(tf.int32, []), tf.constant(3.0)
    y = tf.switch_case(k, [lambda: w, lambda: w * w, lambda: -w])
    assert [run(y, {k: i}) for i in (0, 1, 2, 9, -1)] == [3, 9, -3, -3, -3]
    z = tf.switch_case(k, {4: lambda: w}, default=lambda: 0 * w)
    assert [run(z, {k: i}) for i in (4, 5)] == [3, 0]


def test_eager_choices(eager):  # noqa: F811
    x = tf.constant(3.0)
    assert tf.cond(x > 5, lambda: x, lambda: [2 * x]).numpy() == 6
    assert tf.case([(x > 5, lambda: x), (x > 1, lambda: x * x)]).numpy() == 9
    assert tf.switch_case(tf.constant(1), [lambda: x, lambda: -x]).numpy() == -3
