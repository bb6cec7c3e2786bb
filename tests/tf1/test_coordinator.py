"""Threads that share a session and stop together."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.tf1 import fresh_graph  # noqa: F401

import pullback.compat.tf1 as tf


def started(functions):
    threads = [threading.Thread(target=f, name=f"worker-{i}") for i, f in enumerate(functions)]
    for thread in threads:
        thread.start()
    return threads


def test_workers_of_one_session_update_shared_variables():
    """Asynchronous workers with a network each, in the style of A3C."""
    target = np.array([[1.0], [-2.0]], np.float32)
    steps = tf.train.get_or_create_global_step()
    count = steps.assign_add(1)

    def network(scope):
        with tf.variable_scope(scope):
            x = tf.placeholder(tf.float32, [None, 2])
            y = tf.layers.dense(x, 1, use_bias=False, name="out")
        return x, y, tf.trainable_variables(f"{scope}/")

    _, _, shared = network("global")
    optimizer = tf.train.GradientDescentOptimizer(0.05)
    workers = []
    for i in range(3):
        x, y, own = network(f"worker_{i}")
        goal = tf.placeholder(tf.float32, [None, 1])
        slopes = tf.gradients(tf.reduce_mean(tf.square(y - goal)), own)
        push = optimizer.apply_gradients(zip(slopes, shared, strict=True))
        pull = [mine.assign(v) for mine, v in zip(own, shared, strict=True)]
        workers.append((i, x, goal, push, pull))
    coord = tf.train.Coordinator()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def work(i, x, goal, push, pull):
            random = np.random.default_rng(i)
            with coord.stop_on_exception(), session.as_default(), session.graph.as_default():
                while not coord.should_stop():
                    session.run(pull)
                    xs = random.normal(size=(8, 2)).astype(np.float32)
                    session.run(push, {x: xs, goal: xs @ target})
                    if session.run(count) >= 600:
                        coord.request_stop()

        coord.join(started([lambda w=w: work(*w) for w in workers]))
        np.testing.assert_allclose(session.run(shared[0]), target, atol=0.05)


def test_the_first_error_is_raised_at_join():
    coord = tf.train.Coordinator()
    failed = threading.Event()

    def fails():
        with coord.stop_on_exception():
            try:
                raise KeyError("first")
            finally:
                failed.set()

    def later():
        coord.wait_for_stop()
        with coord.stop_on_exception():
            raise ValueError("second")

    threads = started([fails, later])
    coord.register_thread(threads.pop())
    with pytest.raises(KeyError, match="first"):
        coord.join(threads)
    assert coord.joined and coord.should_stop() and failed.is_set()
    with pytest.raises(ValueError, match="late"):
        coord.request_stop(ValueError("late"))
    with pytest.raises(KeyError, match="first"):
        coord.raise_requested_exception()
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined
    coord.raise_requested_exception()


def test_errors_that_end_a_loop_are_no_errors():
    for coord, error in (
        (tf.train.Coordinator(), tf.errors.OutOfRangeError(None, "the end")),
        (tf.train.Coordinator([StopIteration]), StopIteration()),
    ):
        with coord.stop_on_exception():
            raise error
        assert coord.should_stop()
        coord.join()
    coord = tf.train.Coordinator(())
    coord.request_stop(tf.errors.OutOfRangeError(None, "the end"))
    with pytest.raises(tf.errors.OutOfRangeError):
        coord.join()
    with pytest.raises(TypeError, match="request_stop: expected an exception"):
        coord.request_stop("stop")


def test_threads_that_do_not_stop_are_named():
    coord, end = tf.train.Coordinator(), threading.Event()
    threads = started([end.wait])
    assert not coord.wait_for_stop(0.01)
    coord.request_stop()
    try:
        with pytest.raises(RuntimeError, match="still running: worker-0"):
            coord.join(threads, stop_grace_period_secs=0.01)
        coord.join(threads, stop_grace_period_secs=0.01, ignore_live_threads=True)
    finally:
        end.set()
        threads[0].join()
    assert tf.train.start_queue_runners(coord=coord) == []
