"""What takes a variable inside of `control_dependencies` sees the assignments that it waits for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

from pullback.compat import tf1 as tf

START = np.float32([1.0, -2.0, 3.0])
GIVEN = np.float32([4.0, 5.0, 6.0])

# How a variable is changed, and what it is then.
UPDATES = {
    "assign": (lambda v: v.assign(GIVEN), GIVEN),
    "assign_add": (lambda v: v.assign_add(GIVEN), START + GIVEN),
    "assign_sub": (lambda v: tf.assign_sub(v, GIVEN), START - GIVEN),
    "scatter_update": (
        lambda v: tf.scatter_update(v, [0, 2], [7.0, 8.0]),
        np.float32([7.0, -2.0, 8.0]),
    ),
    "optimizer": (
        lambda v: tf.train.GradientDescentOptimizer(0.5).minimize(
            tf.reduce_sum(v * v) / 2, None, [v]
        ),
        START / 2,
    ),
    "chained": (
        lambda v: after(v.assign(GIVEN), lambda: v.assign(tf.clip_by_value(v, -5.0, 5.0))),
        np.float32([4.0, 5.0, 5.0]),
    ),
    "nested": (
        lambda v: after(v.assign(GIVEN), lambda: after(v.assign_add(v), lambda: v.assign(v + 1.0))),
        2 * GIVEN + 1,
    ),
}
# What takes the variable, and the same of its value.
CONSUMERS = {
    "operator": (lambda v: v * 2.0, lambda x: x * 2),
    "right operand": (lambda v: 1.0 - v, lambda x: 1 - x),
    "function": (tf.square, np.square),
    "identity": (tf.identity, np.copy),
    "read_value": (lambda v: v.read_value(), np.copy),
    "value": (lambda v: v.value() + 0.0, np.copy),
    "reduction": (tf.reduce_sum, np.sum),
    "gather": (lambda v: tf.gather(v, [2, 0]), lambda x: x[[2, 0]]),
    "slice": (lambda v: v[1:], lambda x: x[1:]),
    "stack": (lambda v: tf.stack([v, v]), lambda x: np.stack([x, x])),
    "several inputs": (lambda v: tf.add_n([v, v, tf.ones(3)]), lambda x: 2 * x + 1),
    "product": (lambda v: tf.matmul([v], [[1.0], [1.0], [1.0]]), lambda x: [[np.sum(x)]]),
    "print": (lambda v: tf.Print(v, []), np.copy),
    "py_func": (lambda v: tf.py_func(np.negative, [v], tf.float32), np.negative),
    "cond": (
        lambda v: tf.cond(tf.reduce_sum(v) > 3.0, lambda: v * 2.0, lambda: v * 3.0),
        lambda x: x * (2 if np.sum(x) > 3 else 3),
    ),
    "while_loop": (
        lambda v: tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x + v), [0, v])[1],
        lambda x: 3 * x,
    ),
    "map_fn": (
        lambda v: tf.map_fn(lambda one: one + v, np.float32([1, 2])),
        lambda x: [x + 1, x + 2],
    ),
    "scan": (
        lambda v: tf.scan(lambda a, one: a + one * v, np.float32([1, 2]), tf.zeros(3)),
        lambda x: [x, 3 * x],
    ),
    "gradient": (lambda v: tf.gradients(tf.reduce_sum(v * v), v)[0], lambda x: 2 * x),
    "assign": (lambda v: v.assign(v * 10.0), lambda x: x * 10),
    "another variable": (lambda v: tf.Variable(np.zeros(3, np.float32)).assign(v), np.copy),
    "custom_gradient": (
        tf.custom_gradient(lambda x: (x * 2.0, lambda upstream: upstream)),
        lambda x: x * 2,
    ),
}


def after(first: Any, make: Any) -> Any:
    with tf.control_dependencies([first]):
        return make()


def numbers(update: Any, build: Any) -> Any:
    """What `build(v, op)` is in a run of a fresh graph, and the variable before and after."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(START, name="v")
        made = build(v, update(v))
        session.run(tf.global_variables_initializer())
        return session.run(made), session.run(v)


@each("name", UPDATES)
def test_every_consumer(name: str) -> None:
    update, new = UPDATES[name]
    for what, (consumer, expected) in CONSUMERS.items():
        found, _ = numbers(update, lambda v, op, f=consumer: after(op, lambda: f(v)))
        np.testing.assert_allclose(found, expected(new), rtol=1e-6, err_msg=what)


def test_what_was_read_before_and_what_waits_for_nothing() -> None:
    def build(v: Any, op: Any) -> Any:
        before = v.value()
        with tf.control_dependencies([op]):
            old = before + 0.0
            with tf.control_dependencies(None):
                free = v + 0.0
            with tf.control_dependencies([]):
                new = v + 0.0
        return [old, free, new, v + 0.0]

    (old, free, new, outside), end = numbers(lambda v: v.assign(GIVEN), build)
    for found, expected in ((old, START), (free, START), (new, GIVEN), (outside, START)):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(end, GIVEN)


def test_weights_are_clipped_after_the_step_that_moves_them() -> None:
    """As the critic of a Wasserstein GAN does it."""
    w = tf.Variable([0.5, -0.5, 0.1])
    step = tf.train.GradientDescentOptimizer(1.0).minimize(-tf.reduce_sum(w * [1.0, -1.0, 0.0]))
    with tf.control_dependencies([step]):
        clip = w.assign(tf.clip_by_value(w, -1.0, 1.0))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(clip)
        np.testing.assert_allclose(session.run(w), [1.0, -1.0, 0.1], rtol=1e-6)


def test_a_target_follows_the_weights_of_this_step() -> None:
    """Polyak averages as agents of reinforcement learning keep them."""
    w, target = tf.Variable(1.0), tf.Variable(0.0)
    step = w.assign_add(1.0)
    with tf.control_dependencies([step]):
        follow = target.assign(0.5 * target + 0.5 * w)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for expected in (1.0, 2.0, 3.0):
            session.run(follow)
            assert session.run(target) == expected


def test_reads_disturb_no_names() -> None:
    with tf.Graph().as_default() as graph:
        v = tf.Variable(1.0, name="v")
        with tf.name_scope("scope"), tf.control_dependencies([v.assign_add(1.0)]):
            assert (v + v).op.name == "scope/add"
            assert tf.identity(v, name="read").op.name == "scope/read"
        names = [op.name for op in graph.get_operations() if op.type == "ReadVariableOp"]
    assert names == ["v/read", "v/read_1", "v/read_2", "v/read_3"]


def test_a_variable_gets_its_first_value_in_the_run_that_reads_it() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(tf.zeros([]))
        x = tf.placeholder(tf.float32, [])
        with tf.control_dependencies([v.assign(x)]):
            a, b = v.read_value(), v.read_value()
        y = a * b + a
        by_v, by_x = tf.gradients(y, [v, x])
        with tf.control_dependencies([y]):
            again = v.assign(2.0 * y)
        direct = tf.gradients(v * v, v)
        session = tf.Session()
        assert session.run([y, by_v], {x: 3.0}) == [12.0, 7.0] and by_x is None
        assert session.run([y, again], {x: 4.0}) == [20.0, 40.0]
        for unread in (v * 2.0, direct):  # no value: not zeros
            with pytest.raises(tf.errors.FailedPreconditionError):
                tf.Session().run(unread)


def test_a_fetched_variable_has_its_value_after_the_run() -> None:
    """As in TensorFlow 2.21 in every order of fetches; what the run computes reads the old one."""
    with tf.Graph().as_default():
        v, step = tf.Variable(1.0, name="v"), tf.Variable(0, trainable=False, name="step")
        train = tf.train.GradientDescentOptimizer(0.5).minimize((v - 3.0) ** 2 / 2, step)
        add = v.assign_add(1.0)
        seen = tf.py_func(lambda x: x, [v], tf.float32)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        assert session.run([train, step, v]) == [None, 1, 2.0]
        assert session.run([step, train]) == [2, None]
        assert session.run({"train": train, "step": "step:0"}) == {"train": None, "step": 3}
        assert session.run([v, v + 0.0, add]) == [3.75, 2.75, 3.75]
        assert session.run([v, seen, add]) == [4.75, 3.75, 4.75]
        assert session.run([add, v], {v: 10.0}) == [5.75, 10.0]
        assert session.run([v, step]) == [5.75, 3]


def _with_read_value(v: Any, i: Any, a: Any) -> Any:
    r = v.read_value()
    with tf.control_dependencies([v.assign(r * 2.0)]):
        return i + 1, a * r + v.read_value()


def _in_branch(v: Any, i: Any, a: Any) -> Any:
    return i + 1, tf.cond(i >= 0, lambda: _with_read_value(v, i, a)[1], lambda: a)


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("body", [_with_read_value, _in_branch])
def test_an_iteration_reads_what_the_one_before_assigned(body: Any, host: bool) -> None:
    with tf.Graph().as_default():
        v, x = tf.Variable(1.5), tf.placeholder(tf.float32, [])

        def step(i: Any, a: Any) -> Any:
            j, b = body(v, i, a)
            return j, b + tf.py_func(np.zeros_like, [x], tf.float32) if host else b

        shapes = [tf.TensorShape([]), tf.TensorShape(None)] if host else None
        y = tf.while_loop(lambda i, a: i < 3, step, [0, x], shapes)[1]
        each = tf.scan(
            lambda a, e: v.assign(v.read_value() + e) + 0.0 * a, tf.constant([1.0, 2.0, 3.0]), x
        )
        slope = tf.gradients(y, x)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        a, r = 2.0, 1.5
        for _ in range(3):
            a, r = a * r + 2 * r, 2 * r
        assert [session.run(y, {x: 2.0}), session.run(v)] == [a, r]
        assert session.run(slope, {x: 2.0}) == [12.0 * 24.0 * 48.0]
        assert session.run(v.assign(1.0)) == 1.0
        assert session.run(each, {x: 0.0}).tolist() == [2.0, 4.0, 7.0]
        assert session.run(v) == 7.0


@pytest.mark.parametrize("host", [False, True])
def test_a_loop_may_assign_the_variable_of_its_condition(host: bool) -> None:
    """As in TensorFlow 2.21; `v` alone is read in each iteration."""
    with tf.Graph().as_default():
        v, limit = tf.Variable(1.0), tf.Variable(6)

        def double(i: Any, a: Any) -> Any:
            with tf.control_dependencies([v.assign(v * 2.0)]):
                b = a + v
            return i + 1, b + tf.py_func(np.zeros_like, [a], tf.float32) if host else b

        def shorten(i: Any, a: Any) -> Any:
            with tf.control_dependencies([limit.assign(limit - 1)]):
                b = a + 1.0
            return i + 1, b + tf.py_func(np.zeros_like, [a], tf.float32) if host else b

        shapes = [tf.TensorShape([]), tf.TensorShape(None)]
        doubled = tf.while_loop(
            lambda i, a: tf.logical_and(i < 20, v < 10.0), double, [0, 0.0], shapes
        )
        shortened = tf.while_loop(lambda i, a: i < limit, shorten, [0, 0.0], shapes)
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        assert session.run([*doubled, *shortened]) == [4, 30.0, 3, 3.0]
        assert session.run([v, limit]) == [16.0, 3]
