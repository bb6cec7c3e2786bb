"""`explain` looks inside of the loops and branches of a graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pullback as pb
from pullback.compat import tf1 as tf


@pytest.fixture(autouse=True)
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    with tf.Graph().as_default():
        yield
    pb.set_debug(False)


def explained(y: Any, x: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.graph.get_operations()
        why = pb.explain(y, x, session=session, feed_dict=feed)
        assert session.graph.get_operations() == before
        return why


def long_loop(trips: Any, change: Callable[[Any, Any], Any], x: Any) -> Any:
    return tf.while_loop(lambda i, v: i < trips, lambda i, v: (i + 1, change(i, v)), [0, x])[1]


def where_at(i: Any, at: int, then: Any, other: Any) -> Any:
    return tf.where(tf.equal(i, at), then, other)


@pytest.mark.parametrize(("trips", "at"), [(9, 0), (9, 4), (9, 8), (2000, 4)])
def test_the_iteration_that_loses_a_gradient(trips: int, at: int) -> None:
    x = tf.Variable(2.0)
    at = at * (trips - 1) // 8

    def lose(i: Any, v: Any) -> Any:
        return where_at(i, at, v * 0.0, v * 1.0)

    why = explained(long_loop(trips, lose, x.value()), x)
    assert (why.status, why.reason) == ("zero", "times_zero"), why
    found = why.as_dict()["findings"][0]
    [inside] = found["inside"]
    assert (inside["kind"], inside["iteration"], inside["of"]) == ("loop", at, trips)
    _, line = inspect.getsourcelines(lose)
    assert found["line"] == line + 1
    assert why.findings[0].step.name.startswith("while/mul")
    assert f"iteration {at} (of 0 to {trips - 1}) of the loop at" in str(why)


@pytest.mark.parametrize("trips", [9, 900])
def test_the_iteration_that_makes_a_nan(trips: int) -> None:
    x, at, n = tf.Variable(2.0), trips // 2, tf.placeholder(tf.int32, [])
    y = long_loop(n, lambda i, v: v + tf.log(tf.cast(at - i, tf.float32) * v) * 1e-9, x.value())
    why = explained(y, x, {n: trips})
    found = why.findings[0]
    assert (why.status, why.reason) == ("nan", "bad_value"), why
    assert found.step.kind == "log" and found.as_dict()["inside"][0]["iteration"] == at


@pytest.mark.parametrize("length", [3, 700])
def test_what_is_stacked(length: int) -> None:
    xs = tf.Variable([1.0 + i for i in range(length)])
    for reverse in (False, True):

        def step(state: Any, v: Any) -> Any:
            return state[0] + 1, where_at(state[0], 2, v * 0, v * 1)

        _, ys = tf.scan(step, xs.value(), (0, 0.0), reverse=reverse)
        at = 0 if reverse else 2
        why = explained(ys[length - 1 - 2 if reverse else 2], xs)
        assert (why.status, why.reason) == ("zero", "times_zero"), why
        assert why.as_dict()["findings"][0]["inside"][0]["iteration"] == 2, at


def test_loops_in_branches_in_loops() -> None:
    x = tf.Variable(2.0)

    def inner(i: Any, v: Any) -> Any:
        return i + 1, tf.nn.relu(v - 1.0)

    def outer(i: Any, v: Any) -> Any:
        return i + 1, tf.cond(
            v > -9, lambda: tf.while_loop(lambda i, _: i < 4, inner, [0, v])[1] * 2, lambda: v
        )

    why = explained(tf.while_loop(lambda i, _: i < 3, outer, [0, x.value()])[1], x)
    assert (why.status, why.reason) == ("zero", "dead_relu"), why
    inside = why.as_dict()["findings"][0]["inside"]
    assert [place["kind"] for place in inside] == ["loop", "branch", "loop"]
    assert [place.get("iteration", place.get("branch")) for place in inside] == [2, 0, 3]


def test_without_values() -> None:
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(
        lambda v, _: v < 100.0, lambda v, total: (v * 2, total + tf.stop_gradient(v)), [x, 0.0]
    )[1]
    why = pb.explain(y, x)
    assert (why.status, why.reason) == ("none", "stop_gradient")
    assert why.findings[0].step.inside


def test_rules_of_the_program_inside() -> None:
    x = tf.Variable(2.0)

    @tf.custom_gradient
    def zeros(v: Any) -> Any:
        h = tf.exp(v)
        return h, lambda g: g * h * 0.0

    y = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, zeros(v * 0.1)), [0, x.value()])[1]
    assert explained(y, x).reason == "rule_returned_zeros"


def test_what_did_not_run() -> None:
    x, w = tf.Variable(2.0), tf.Variable(3.0)
    why = explained(tf.while_loop(lambda v: v < 0, lambda v: v * w, [x.value()]), w)
    assert (why.status, why.reason) == ("zero", "no_iterations"), why
    why = explained(tf.cond(x > 0, lambda: x * 1, lambda: x * w), w)
    assert (why.status, why.reason) == ("zero", "not_chosen"), why
    assert "number 0 of its functions" in str(why)


def test_what_cannot_be_done_twice_stays_whole() -> None:
    x = tf.Variable(2.0)
    y = long_loop(3, lambda i, v: tf.nn.relu(v - tf.random_uniform([]) - 5), x.value())
    why = explained(y, x)
    assert why.status == "zero" and "while" in why.findings[0].step.name


def test_a_body_of_many_operations() -> None:
    x = tf.Variable(2.0)

    def long(i: Any, v: Any) -> Any:
        for _ in range(1100):
            v = v * 1.0001
        return i + 1, tf.nn.relu(v - 1000.0)

    why = explained(tf.while_loop(lambda i, _: i < 3, long, [0, x.value()])[1], x)
    assert (why.reason, why.findings[0].step.inside[0].first) == ("dead_relu", 2)


def test_a_read_behind_an_assignment() -> None:
    x, c = tf.Variable(2.0), tf.Variable(0.0)
    with tf.control_dependencies([c.assign(3.0)]):
        loop = tf.while_loop(
            lambda i, v: i < 1,
            lambda i, v: (i + 1, tf.nn.relu(v * c.read_value() - 99.0)), [0, x.value()],
        )[1]  # fmt: skip
        branch = tf.cond(x > 0, lambda: tf.nn.relu(x * c.read_value() - 99.0), lambda: x * 0)
    for y in (loop, branch):
        why = explained(y, x)
        assert why.reason == "dead_relu" and "the largest is -93" in why.findings[0].what


def test_a_read_that_waits_for_the_body_leaves_the_loop_whole() -> None:
    x, c = tf.Variable(2.0), tf.Variable(0.0)

    def body(i: Any, v: Any) -> Any:
        t = v * 2.0
        with tf.control_dependencies([t]):
            return i + 1, t * c.read_value()

    why = explained(tf.while_loop(lambda i, v: i < 3, body, [0, x.value()])[1], x)
    assert why.status == "zero" and not why.findings[0].step.inside
    assert why.findings[0].step.name.startswith("while/Exit")


def test_a_rule_that_uses_what_else_is_in_the_body() -> None:
    x = tf.Variable(2.0)

    def body(i: Any, v: Any) -> Any:
        k = v * 0.0

        @tf.custom_gradient
        def f(t: Any) -> Any:
            return t * 1.0, lambda g: g * k

        return i + 1, f(v)

    why = explained(tf.while_loop(lambda i, v: i < 3, body, [0, x.value()])[1], x)
    assert why.reason == "rule_returned_zeros"


def test_no_entries() -> None:
    w, a = tf.Variable(2.0), tf.placeholder(tf.float32, [None])
    ys = tf.scan(lambda s, v: tf.nn.relu(v * w - 50.0), a)
    why = explained(tf.reduce_sum(ys), w, {a: []})
    assert why.status in ("none", "zero", "error")


def test_an_array_of_which_nothing_is_read() -> None:
    v = tf.Variable([1.0, -2.0])
    y = tf.reduce_sum(tf.TensorArray(tf.float32, 2).write(0, v[0]).stack()[1:])
    assert explained(y, v).status == "zero"
