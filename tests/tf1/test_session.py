"""Sessions: fetches, life cycle, failed runs, control dependencies, printing.
Feeds and placeholders are in test_feeds.py."""

from __future__ import annotations

import gc
import io
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from support.tf1 import fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback import _core

# --- fetches


def test_structures_come_back():
    x = tf.constant([1.0, 2.0], name="x")
    v = tf.Variable(3, name="v")
    pair = namedtuple("pair", "a b")
    op = tf.no_op()
    out = run({"t": x, "n": [v, (op,)], "p": pair(x, x)})
    assert list(out) == ["t", "n", "p"]
    assert out["t"].tolist() == [1.0, 2.0]
    assert out["n"] == [3, (None,)]
    assert isinstance(out["p"], pair)
    assert isinstance(run(OrderedDict(a=x)), OrderedDict)
    assert run([]) == []
    assert run("x:0").tolist() == [1.0, 2.0]
    assert run("x") is None  # an operation
    assert run(op) is None


def test_scalars_are_numpy_scalars_and_arrays_can_be_written():
    a, b, n, t = run([tf.constant(1.0), tf.constant([1.0]), tf.constant(2), tf.constant(True)])
    assert [type(x) for x in (a, n, t)] == [np.float32, np.int32, np.bool_]
    b[0] = 5


@pytest.mark.parametrize(
    ("bad", "kind", "text"),
    [
        (None, TypeError, "fetch"),
        ([None], TypeError, "None"),
        (3.0, TypeError, "float"),
        ({1, 2}, TypeError, "set"),
        ("nobody", ValueError, "not an element of this graph"),
        ("x:3", ValueError, "not an element of this graph"),
    ],
)
def test_bad_fetches(bad, kind, text):
    tf.constant(1.0, name="x")
    with pytest.raises(kind, match=text):
        run(bad)


def test_tensor_of_another_graph():
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match="not an element of this graph"):
        run(foreign)
    with pytest.raises(ValueError, match="same graph"):
        x + foreign
    with pytest.raises(TypeError, match="cannot interpret feed_dict key"):
        run(x, {foreign: 1.0})


def test_each_operation_runs_once():
    r = tf.random_normal([3])
    a, b, c = run([r, r, r + 0])
    assert np.array_equal(a, b) and np.array_equal(a, c)
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([add, add]) == [2.0, 2.0]
        session.run([v.assign_add(10.0), v.assign_add(20.0), v.assign_add(30.0)])
        assert session.run(v) == 62.0


def test_every_run_draws_anew_but_a_seed_repeats():
    x = tf.random_uniform([4])
    with tf.Session() as session:
        assert not np.array_equal(session.run(x), session.run(x))
    tf.set_random_seed(11)
    first, second = (run(x) for _ in range(2))
    assert np.array_equal(first, second)
    with tf.Graph().as_default():
        y = tf.random_uniform([4], seed=3)
        assert np.array_equal(run(y), run(y))


def test_second_run_plans_nothing():
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(2.0)
    y = tf.reduce_sum(tf.exp(x) * v)
    fetches = [y, tf.gradients(y, [x, v]), v.assign_sub(0.25)]
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(fetches, {x: [1, 2]})
        before = _core.status()
        for k in range(3):
            session.run(list(fetches), {x: [k, 2]})
        after = _core.status()
    for counter in ("plan_misses", "plan_hits"):
        assert after[counter] == before[counter]


# --- life cycle


def test_closed_session():
    x = tf.constant(1.0)
    session = tf.Session()
    with session.as_default():
        assert x.eval() == 1.0
    assert session.run(x) == 1.0  # as_default left it open
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run(x)


def test_with_closes_and_is_not_reentrant():
    x = tf.constant(1.0)
    with tf.Session() as session:
        assert tf.get_default_session() is session
        with pytest.raises(RuntimeError, match="re-entrant"), session:
            pass
    assert tf.get_default_session() is None
    with pytest.raises(RuntimeError, match="closed"):
        session.run(x)


def test_empty_graph_and_wrong_arguments():
    with pytest.raises(RuntimeError, match="empty"):
        tf.Session().run([])
    with pytest.raises(TypeError, match="graph"):
        tf.Session(graph=3)
    with pytest.raises(TypeError, match="config"):
        tf.Session(config=3)
    config = tf.ConfigProto(allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    x = tf.constant(1.0)
    with tf.Session(config=config) as session:
        assert session.run(x) == 1.0


def test_variables_belong_to_a_session():
    v = tf.Variable(1.0)
    add = v.assign_add(1.0)
    with tf.Session() as one, tf.Session() as two:
        for session, times in ((one, 1), (two, 3)):
            session.run(v.initializer)
            for _ in range(times):
                session.run(add)
        assert (one.run(v), two.run(v)) == (2.0, 4.0)


def test_eval_and_run_need_a_session_of_their_graph():
    x, op = tf.constant(1.0), tf.no_op()
    with pytest.raises(ValueError, match="no default session"):
        x.eval()
    with pytest.raises(ValueError, match="no default session"):
        op.run()
    with tf.Graph().as_default(), tf.Session(), pytest.raises(ValueError, match="graph"):
        x.eval()
    y = tf.placeholder(tf.float32)
    with tf.Session():
        assert (y * 2).eval({y: 4}) == 8.0
    session = tf.InteractiveSession()
    assert x.eval() == 1.0
    session.close()
    with pytest.raises(ValueError, match="no default session"):
        x.eval()


def test_make_callable():
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    with tf.Session() as session:
        assert session.make_callable(x - y, [x, y])(5, 2) == 3.0


def test_many_signatures_do_not_pile_up():
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(x)
    with tf.Session() as session:
        for n in range(1, 600):
            session.run(y, {x: np.ones(n)})
        assert len(session._programs) <= 512
        assert session.run(y, {x: np.ones(5)}) == 5.0


# --- a failed run leaves everything as it was


def test_failure_publishes_nothing():
    v = tf.Variable([1.0, 2.0])
    at = tf.placeholder(tf.int32, [])
    step = v.assign_add([1.0, 1.0])
    with tf.control_dependencies([step]):
        bad = tf.gather(v, at)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="5"):
            session.run([step, bad], {at: 5})
        assert session.run(v).tolist() == [1.0, 2.0]
        assert session.run(bad, {at: 1}) == 3.0  # of the values after the step
        assert session.run(v).tolist() == [2.0, 3.0]


# --- control dependencies


def test_operations_made_inside_wait():
    v = tf.Variable(1.0)
    step = v.assign(5.0)
    old = v + 1
    with tf.control_dependencies([step]):
        same = old
        fresh = tf.identity(v) + 0
        again = v.read_value()
        nothing = tf.no_op()
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(same) == 2.0
        assert session.run(v) == 1.0  # untouched
        assert session.run([fresh, old]) == [5.0, 2.0]
        session.run(v.initializer)
        assert session.run(again) == 5.0
        session.run(v.initializer)
        session.run(nothing)
        assert session.run(v) == 5.0


def test_control_dependencies_nest_and_clear():
    v = tf.Variable(0)
    with tf.control_dependencies([v.assign_add(1)]):
        with tf.control_dependencies([v.assign_add(10)]):
            both = tf.no_op()
        with tf.control_dependencies(None):
            none = tf.no_op()
    for op, expected in ((both, 11), (none, 0)):
        with tf.Session() as session:
            session.run(v.initializer)
            session.run(op)
            assert session.run(v) == expected
    with pytest.raises(TypeError, match="control_dependencies"), tf.control_dependencies([3]):
        pass


@pytest.mark.parametrize(
    ("function", "runs"),  # as TensorFlow 2.21's graphs answered
    [
        (lambda x: x * x, 0),
        (tf.square, 0),
        (tf.identity, 0),
        (tf.log, 0),
        (tf.nn.softplus, 0),
        (tf.nn.l2_loss, 0),
        (lambda x: x * 2.0, 1),  # the constant waits too
        (tf.exp, 1),
        (tf.sqrt, 1),
        (tf.nn.relu, 1),
        (tf.reciprocal, 1),
        (lambda x: tf.reduce_max(x * [1.0, 2.0]), 1),
        (lambda x: tf.nn.log_softmax(x * [1.0, 2.0]), 1),
        (lambda x: tf.where(x > 0, x, -x), 1),
    ],
)
def test_a_gradient_runs_what_the_values_that_it_uses_wait_for(function, runs):
    """And nothing else: what is only differentiated does not run."""
    x, count = tf.Variable(3.0), tf.Variable(0)
    before = x.value()  # does not wait, as a read inside would
    with tf.control_dependencies([count.assign_add(1)]):
        h = function(before)
    linear, squares = tf.reduce_sum(h * 2.0), tf.reduce_sum(h * h)
    for y, expected in ((h, runs), (linear, runs), (squares, 1)):
        slope = tf.gradients(y, x)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(slope)
            assert session.run(count) == expected
            session.run(slope)
            assert session.run(count) == 2 * expected
            session.run([slope, y])
            assert session.run(count) == 2 * expected + 1


def test_an_update_runs_what_the_values_that_it_uses_wait_for():
    x, count = tf.Variable(3.0), tf.Variable(0)
    with tf.control_dependencies([count.assign_add(1)]):
        h = tf.identity(x)
    optimizer = tf.train.GradientDescentOptimizer(0.25)
    for loss, expected in ((2.0 * h, 0), (h * h, 1)):
        step = optimizer.minimize(loss, var_list=[x])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            assert session.run(count) == expected


def test_group_and_tuple():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    both = tf.group(v.assign(10.0), w.assign(20.0), name="both")
    assert (both.name, both.type) == ("both", "NoOp")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(both) is None
        assert session.run([v, w]) == [10.0, 20.0]
    a, none = tf.tuple([tf.constant(3.0), None])
    assert none is None and run(a) == 3.0


# --- finalize, eval of what is symbolic


def test_finalized_graph():
    x = tf.constant(1.0)
    tf.get_default_graph().finalize()
    with pytest.raises(RuntimeError, match="finalized"):
        tf.constant(2.0)
    with tf.Session() as session:
        assert session.run(x) == 1.0


def test_symbolic_tensors_have_no_value():
    x = tf.constant([1.0, 2.0], name="x")
    for look in (bool, list, len, float, int):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="x:0"):
            look(x)
    with pytest.raises(NotImplementedError, match="x:0"):
        np.array(x)
    with pytest.raises(TypeError):
        x[0] = 1.0
    assert (x == x) is True and (x == tf.constant(1.0)) is False
    assert len({x, x}) == 1


# --- printing


def test_print_is_an_operation():
    out = io.StringIO()
    x = tf.placeholder(tf.float32)
    op = tf.print("x =", x, [1, 2], output_stream=out, end="!\n")
    with tf.Session() as session:
        for value in (0.1, 1.0):
            assert session.run(op, {x: value}) is None
        with tf.control_dependencies([op]):
            y = x * 2
        assert session.run(y, {x: np.arange(8)}).shape == (8,)
    assert out.getvalue().splitlines() == [
        "x = 0.1 [1, 2]!", "x = 1 [1, 2]!", "x = [0 1 2 ... 5 6 7] [1, 2]!",
    ]  # fmt: skip


def test_print_goes_to_stderr(capsys):
    run(tf.print(tf.constant([[1.5, 2.0], [3.25, 4.0]]), tf.constant(True), sep="|"))
    captured = capsys.readouterr()
    assert captured.err == "[[1.5 2]\n [3.25 4]]|1\n" and captured.out == ""
    with pytest.raises(ValueError, match="colour"):
        tf.print(1, colour="red")


def test_runs_leave_nothing_behind():
    x, v = tf.placeholder(tf.float32, [None, 4]), tf.Variable(tf.zeros([4, 2]))
    loss = tf.reduce_mean(tf.square(tf.matmul(x, v) - 1))
    step = tf.train.AdamOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        feed = {x: np.ones((5, 4))}
        session.run([step, loss], feed)
        gc.collect()
        before = _core.status()
        for _ in range(200):
            session.run([step, loss], feed)
        gc.collect()
        after = _core.status()
    for counter in ("live_nodes", "live_buffers", "live_bytes"):
        assert after[counter] == before[counter]
