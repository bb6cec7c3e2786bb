"""Runs with Python functions: one plan once the shapes of their results are known."""

from __future__ import annotations

import gc
import itertools
import threading
import weakref

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed  # noqa: F401

import pullback as pb
import pullback.compat.tf1 as tf
from pullback.compat.tf1._run import host_run
from pullback.compat.tf1._run import session as sessions


@pytest.fixture
def counts(monkeypatch):
    """How many runs computed as they went, and how many traces were made."""
    found = {"computed": 0, "traced": 0}

    def counted(module, name, kind):
        function = getattr(module, name)

        def call(*args):
            found[kind] += 1
            return function(*args)

        monkeypatch.setattr(module, name, call)

    counted(host_run, "run_now", "computed")
    counted(sessions, "make_program", "traced")
    return found


HOSTS = {
    "py_func": lambda x: tf.py_func(np.abs, [x], tf.float32),
    "stateless": lambda x: tf.py_func(np.abs, [x], [tf.float32], stateful=False)[0],
    "several": lambda x: tf.py_func(lambda a: (7, abs(a)), [x], [tf.int64, tf.float32])[1],
    "py_function": lambda x: tf.py_function(tf.abs, [x], tf.float32),
    "raw_op": lambda x: tf.raw_op("RawAbs", np.abs, shape=lambda s: s)(x),
    "check_numerics": lambda x: tf.check_numerics(tf.abs(x), "finite"),
    "where": lambda x: tf.gather_nd(tf.abs(x), tf.where(x < 9.0)),
    "boolean_mask": lambda x: tf.boolean_mask(tf.abs(x), x < 9.0),
    "unique": lambda x: tf.unique(tf.abs(x))[0],
}


@each("host", HOSTS.values(), ids=HOSTS, around=graph_of_its_own)
def test_a_training_step_is_traced_once(host, counts):
    counts.update(computed=0, traced=0)
    x, w = tf.placeholder(tf.float32, [None]), tf.Variable([0.5, -1.0, 2.0])
    weights = tf.stop_gradient(host(w * x))
    weights.set_shape([3])
    loss = tf.reduce_sum(weights * tf.square(w * x - 1))
    step = tf.train.GradientDescentOptimizer(0.125).minimize(loss)
    expected, rows = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.75, -0.125])
    with tf.Session() as session:
        session.run(w.initializer)
        counts["traced"] = 0
        for _ in range(6):
            value = session.run([loss, step], {x: rows})[0]
            error = expected * rows - 1
            assert value == pytest.approx(np.sum(np.abs(expected * rows) * error**2), rel=1e-5)
            expected -= 0.25 * np.abs(expected * rows) * error * rows
        np.testing.assert_allclose(session.run(w), expected, rtol=1e-5)
    assert counts == {"computed": 1, "traced": 2}  # the other is that of the last fetch


def test_other_shapes_repeat_the_run_but_no_call(counts):
    lengths, calls = [3, 3, 3, 2, 3, 1, 2, 1, 2, 3, 1, 2], []

    def batch():
        calls.append(lengths[len(calls)])
        return np.full(calls[-1], len(calls), np.float32)

    v = tf.Variable(0.0)
    x, noise = tf.py_func(batch, [], tf.float32), tf.random_normal([])
    seen = tf.py_func(lambda n: n, [noise], tf.float32)
    added = v.assign_add(tf.reduce_sum(x))
    with tf.Session() as session:
        session.run(v.initializer)
        total = 0.0
        for n, length in enumerate(lengths):
            value, drawn, given, _ = session.run([x, noise, seen, added])
            total += length * (n + 1)
            assert listed(value) == [n + 1.0] * length and drawn == given
            assert session.run(v) == total
    assert calls == lengths
    # The first four of other lengths and two after them; from then on each has a plan.
    assert counts["computed"] == 6


def test_results_that_always_differ_are_not_traced(counts):
    x = tf.placeholder(tf.float32, [6])
    count = tf.shape(tf.boolean_mask(x, x > 0))[0]
    with tf.Session() as session:
        for n in (1, 2, 3, 4, 5, 6):
            assert session.run(count, {x: [1.0] * n + [0.0] * (6 - n)}) == n
    assert counts == {"computed": 6, "traced": 1}


def test_shapes_that_depend_on_a_function_are_not_traced(counts):
    shape = tf.py_func(lambda: np.array([2, 3], np.int32), [], tf.int32)
    y = tf.reshape(tf.range(6), shape)
    with tf.Session() as session:
        for _ in range(4):
            assert listed(session.run(y)) == [[0, 1, 2], [3, 4, 5]]
    assert counts == {"computed": 4, "traced": 1}


@each(
    "error, raised, match",
    [
        (ValueError("no such file"), tf.errors.InvalidArgumentError, r"no such file; .*'reads'"),
        (KeyError("name"), KeyError, "name"),
        (StopIteration(), tf.errors.OutOfRangeError, "StopIteration"),
    ],
    around=graph_of_its_own,
)
def test_failures_are_those_of_a_first_run(error, raised, match):
    v, calls = tf.Variable(1.0), []

    def read(a):
        calls.append(a)
        if len(calls) == 3:
            raise error
        return a

    changed = v.assign_add(1.0)
    with tf.control_dependencies([changed]):
        y = tf.py_func(read, [v], tf.float32, name="reads")
    with tf.Session() as session:
        session.run(v.initializer)
        assert [session.run([y, changed])[0] for _ in range(2)] == [2.0, 3.0]
        with pytest.raises(raised, match=match):
            session.run([y, changed])
        assert calls == [2.0, 3.0, 4.0] and session.run(v) == 3.0
        assert session.run(y) == 4.0  # it is called again, and now returns


def test_an_assertion_comes_before_what_it_guards():
    i = tf.placeholder(tf.int32, [])
    with tf.control_dependencies([tf.assert_less(i, 3, message="too far")]):
        y = tf.gather([1.0, 2.0, 3.0], i)
    with tf.Session() as session:
        assert [session.run(y, {i: k}) for k in (0, 1, 2)] == [1.0, 2.0, 3.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed.*too far"):
            session.run(y, {i: 3})
        with pytest.raises(tf.errors.InvalidArgumentError, match="-1"):
            session.run(y, {i: -1})


def test_calls_are_in_order_and_none_is_left_out(counts):
    calls = []
    x = tf.placeholder(tf.float32, [])
    last = tf.py_func(lambda a: calls.append(("a", float(a))), [x * 2], [])
    assert last.type == "PyFunc"
    with tf.control_dependencies([last]):
        y = x + tf.py_func(lambda: calls.append("b") or np.float32(1), [], tf.float32)
    tf.py_func(lambda: calls.append("unused"), [], [])
    with tf.Session() as session:
        for n in range(4):
            assert session.run(y, {x: n}) == n + 1.0
            assert calls == [("a", 2.0 * n), "b"]
            calls.clear()
    assert counts["computed"] == 1


def test_gradients_of_functions_of_tensors():
    x = tf.placeholder(tf.float32, [2])
    calls = []
    y = tf.py_function(lambda a: calls.append(1) or a * a * a, [x], tf.float32)
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    with tf.Session() as session:
        for n in range(4):
            found = session.run([y, first], {x: [n, 2.0]})
            assert listed(found) == [[n**3, 8.0], [3.0 * n * n, 12.0]] and len(calls) == n + 1
            assert listed(session.run(second, {x: [n, 2.0]})) == [6.0 * n, 12.0]
            del calls[n + 1 :]


def test_threads_and_runs_inside_of_runs():
    x, again = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    session = tf.Session()
    inner = tf.py_func(lambda a: a + 1, [x], tf.float32)

    def outer(a):
        return session.run(y, {x: a, again: 0}) if a else np.float32(0)

    y = inner + tf.py_func(outer, [again], tf.float32)
    wrong = []

    def work(k):
        for n in range(k, k + 100):
            if session.run(inner * 2, {x: n}) != 2 * n + 2:
                wrong.append(n)

    threads = [threading.Thread(target=work, args=[1000 * k]) for k in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        assert session.run(y, {x: 1, again: 5}) == 2.0 + 6.0
    for thread in threads:
        thread.join()
    assert not wrong
    session.close()


def test_a_plan_keeps_no_session_alive():
    def ended():
        with tf.Graph().as_default():
            session = tf.Session()
            y = tf.py_func(lambda: np.float32(session is None), [], tf.float32)
            assert [session.run(y) for _ in range(3)] == [0.0, 0.0, 0.0]
        return weakref.ref(session)

    gone = ended()
    gc.collect()
    assert gone() is None


@pytest.mark.usefixtures("eager")
def test_a_function_of_numpy_in_a_traced_function():
    traces, calls = [], []
    twice = pb.numpy_function(lambda a: calls.append(1) or 2 * a, lambda x: x)

    @tf.function
    def f(x):
        traces.append(1)
        return tf.exp(twice(x)) + 1.0

    for n in range(3):
        assert listed(f(tf.constant([0.0, n])).numpy()) == pytest.approx([2.0, np.exp(2 * n) + 1])
    assert len(traces) == 1 and len(calls) == 3


def test_an_exception_without_a_hash_is_that_of_the_function():
    class Unhashable(Exception):  # noqa: N818
        __hash__ = None

    calls = []

    def function():
        calls.append(1)
        if len(calls) > 2:
            raise Unhashable("mine")
        return np.float32(1)

    y = tf.py_func(function, [], tf.float32)
    with tf.Session() as session:
        assert [session.run(y) for _ in range(2)] == [1, 1]
        with pytest.raises(Unhashable, match="mine"):
            session.run(y)
    assert len(calls) == 3


def test_a_repeated_run_is_of_one_state_of_the_variables():
    v = tf.Variable(1.0)
    w = v * 1.0
    inc, count = v.assign_add(10.0), itertools.count()

    def growing(x):
        session.run(inc)
        return np.full(1 + next(count) // 2, x)

    y = tf.py_func(growing, [w], tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for k in range(8):
            now, answer = session.run([w, y])
            assert now == 1 + 10 * k and set(answer.tolist()) == {now}


def test_a_plan_that_begins_anew_takes_no_answer_of_before():
    v = tf.Variable(1.0)
    w, r = v * 1.0, tf.random_normal([])
    inc, calls = v.assign_add(100.0), []

    def function(x, draw):
        calls.append(1)
        if len(calls) % 3 == 0:
            session.run(inc)  # assigns what this run is to assign
        return np.float32([x, draw])

    y, step = tf.py_func(function, [w, r], tf.float32), v.assign_add(1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for k in range(1, 10):
            now, draw, answer, _ = session.run([w, r, y, step])
            assert answer.tolist() == [now, draw] and len(calls) == k


@pytest.mark.parametrize("seed", [None, 3])
def test_functions_draw_no_number_twice(seed):
    if seed is not None:
        tf.set_random_seed(seed)
    lengths, drawn = [2, 2, 2, 1, 2, 3, 1], []

    def function(x):
        thread = threading.Thread(target=lambda: drawn.append(float(pb.random.uniform(()))))
        thread.start()
        thread.join()
        drawn.extend(float(pb.random.uniform(())) for _ in range(2))
        return np.full(lengths[count], x)

    noise = tf.random_uniform([])
    y = tf.py_func(function, [noise], tf.float32)
    with tf.Session() as session:
        for count in range(len(lengths)):
            value, answer = session.run([noise, y])
            assert answer.tolist() == [value] * lengths[count]
            drawn.append(float(value))
    assert len(set(drawn)) == len(drawn) == 4 * len(lengths)


def test_functions_draw_as_in_a_first_run(monkeypatch):
    tf.set_random_seed(3)

    def draw(*_):
        return pb.random.uniform((), "float32").numpy()

    x = tf.random_uniform([])
    y = tf.py_func(draw, [x], tf.float32)
    z = tf.random_uniform([]) + tf.py_func(draw, [y], tf.float32)

    def runs():
        with tf.Session() as session:
            return listed([session.run([x, y, z]) for _ in range(4)])

    traced = runs()
    monkeypatch.setattr(host_run.HostProgram, "_program", lambda self, kinds: None)
    assert runs() == traced


def test_a_function_waits_for_another_session_of_a_seeded_graph():
    tf.set_random_seed(3)
    x, found = tf.random_uniform([]), []

    def function():
        with tf.Session(graph=x.graph) as other:
            thread = threading.Thread(target=lambda: found.append(other.run(x)), daemon=True)
            thread.start()
            thread.join(30)
        return found[-1]

    y = tf.py_func(function, [], tf.float32)
    with tf.Session() as session:
        assert session.run([x + y, y])[1] == found[0]


def test_sessions_are_freed_without_the_collector():
    class FailedError(Exception):
        pass

    def function(x):
        if x > 2:
            raise FailedError
        return x

    x = tf.placeholder(tf.float32, [])
    y = tf.py_func(function, [x], tf.float32)
    gc.collect()
    gc.disable()
    try:
        session = tf.Session()
        for value in (1.0, 2.0, 1.0):
            assert session.run(y, {x: value}) == value
        try:
            session.run(y, {x: 3.0})
        except FailedError as error:
            failed = weakref.ref(error)
        held = weakref.ref(session)
        del session
        assert held() is None and failed() is None
    finally:
        gc.enable()
