"""Variables, scopes, names, collections."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def test_dtype_follows_the_initial_value():
    for value, name in ((1, "int32"), (1.0, "float32"), (np.float64(1), "float64"), (True, "bool")):
        assert tf.Variable(value).dtype.name == name
    assert tf.Variable(1, dtype=tf.float32).dtype == tf.float32
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()
    with pytest.raises(ValueError, match="known shape"):
        tf.Variable(tf.placeholder(tf.float32, [None]))


def test_names_and_collections():
    a, b = tf.Variable(1.0, name="v"), tf.Variable(1.0, name="v", trainable=False)
    assert (a.name, b.name, tf.Variable(1).name) == ("v:0", "v_1:0", "Variable:0")
    assert repr(a) == "<tf.Variable 'v:0' shape=() dtype=float32>"
    assert tf.global_variables()[:2] == [a, b]
    assert a in tf.trainable_variables() and b not in tf.trainable_variables()
    c = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    assert c not in tf.global_variables() and c in tf.local_variables()
    assert c in tf.trainable_variables()
    assert (a.shape, a.get_shape().as_list(), a.op.type) == ([], [], "VariableV2")


def test_uninitialized():
    v = tf.Variable(1.0, name="weights")
    with tf.Session() as session:
        for fetch in (v, v + 1, v.assign_add(1.0), v.read_value()):
            with pytest.raises(tf.errors.FailedPreconditionError, match=r"uninitialized.*weights"):
                session.run(fetch)
        assert session.run(v.assign(3.0)) == 3.0  # may be the first write
        assert session.run(v) == 3.0


def test_initializer_knows_the_variables_that_exist():
    v = tf.Variable(1.0)
    init = tf.global_variables_initializer()
    w = tf.Variable(2.0, name="late")
    with tf.Session() as session:
        session.run(init)
        session.run(v.assign(9.0))
        session.run(init)
        assert session.run(v) == 1.0  # again from the start
        with pytest.raises(tf.errors.FailedPreconditionError, match="late"):
            session.run(w)
        assert session.run([v, w], {w: 5.0}) == [1.0, 5.0]


def test_initial_value_may_be_a_function_or_random():
    v = tf.Variable(lambda: tf.constant([1, 2]))
    r = tf.Variable(tf.random_normal([1000], 3.0, 2.0))
    values, draws = run([v, r])
    assert values.tolist() == [1, 2]
    assert draws.mean() == pytest.approx(3.0, abs=0.4) and draws.std() == pytest.approx(2, abs=0.3)
    with tf.Session() as session:
        session.run(r.initializer)
        assert np.array_equal(session.run(r), session.run(r))


def test_assignments():
    v = tf.Variable([1.0, 2.0])
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(v.assign([3, 4])).tolist() == [3.0, 4.0]
        assert session.run(tf.assign_add(v, [1.0, 1.0])).tolist() == [4.0, 5.0]
        assert session.run(tf.assign_sub(v, [0.5, 0.5])).tolist() == [3.5, 4.5]
        session.run(tf.assign(v, v * 2).op)
        assert v.eval(session).tolist() == [7.0, 9.0]
        v.load([0.0, 1.0], session)
        assert session.run(v).tolist() == [0.0, 1.0]
        v.assign([8.0, 8.0])  # not run: no effect
        assert session.run(v).tolist() == [0.0, 1.0]
        assert session.run(v.assign_add([1.0, 1.0], read_value=False)) is None


@pytest.mark.parametrize("value", [1.0, [1.0], [[1.0, 2.0]]])
def test_wrong_shapes(value):
    v = tf.Variable([1.0, 2.0], name="v")
    for method in (v.assign, v.assign_add, v.assign_sub):
        with pytest.raises(ValueError, match=r"\(2,\) for variable 'v:0'"):
            method(value)


def test_wrong_dtypes():
    v = tf.Variable([1.0, 2.0])
    for value in (tf.constant([1, 2]), ["a", "b"], [True, False]):
        with pytest.raises(TypeError):
            v.assign(value)
    with pytest.raises(TypeError):
        tf.Variable(1).assign(1.5)


def test_wrong_shape_of_a_run():
    v, x = tf.Variable([1.0, 2.0], name="v"), tf.placeholder(tf.float32)
    step = v.assign(x)
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(2,\).*\(3,\)"):
            session.run(step, {x: [1, 2, 3]})
        assert session.run(v).tolist() == [1.0, 2.0]


def test_shape_may_change_if_asked_for():
    v = tf.Variable([1.0, 2.0], validate_shape=False)
    x = tf.placeholder(tf.float32)
    step, total = v.assign(x), tf.reduce_sum(v)
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(total) == 3.0
        session.run(step, {x: [1.0, 2.0, 3.0]})
        assert session.run(total) == 6.0
        session.run(step, {x: [[4.0]]})
        assert session.run(total) == 4.0 and session.run(v).shape == (1, 1)


def test_assignment_is_no_path():
    x, v = tf.Variable(3.0), tf.Variable(1.0)
    assert tf.gradients(v.assign(x * x), [x, v]) == [None, None]


def test_gradient_by_one_read():
    v = tf.Variable(3.0)
    first, second = v.read_value(), v.read_value()
    answers = tf.gradients(first * first * second + v, [first, second, v])
    assert listed(run(answers)) == [18.0, 9.0, 28.0]


def test_a_variable_is_a_tensor_where_one_is_needed():
    v = tf.Variable([1.0, 2.0])
    assert run(-v).tolist() == [-1.0, -2.0]
    assert run([v[1], 3 - v, v @ [[1.0], [1.0]] if False else v * v])[0] == 2.0
    assert run(tf.convert_to_tensor(v)).tolist() == [1.0, 2.0]
    with pytest.raises(TypeError):
        list(v)


# --- get_variable and scopes


def test_get_variable():
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [3, 2])
        n = tf.get_variable("n", [2], dtype=tf.int32)
        c = tf.get_variable("c", initializer=tf.constant([1.0, 2.0]))
        k = tf.get_variable("k", [2], initializer=tf.constant_initializer(7.0))
        z = tf.get_variable("z", [2], initializer=tf.zeros_initializer)
    assert [v.name for v in (w, n)] == ["a/w:0", "a/n:0"]
    values = run([w, n, c, k, z])
    limit = np.sqrt(6 / 5)
    assert np.abs(values[0]).max() <= limit and np.abs(values[0]).max() > 0.2
    assert listed(values[1:]) == [[0, 0], [1.0, 2.0], [7.0, 7.0], [0.0, 0.0]]
    with tf.name_scope("ignored"):
        assert tf.get_variable("plain", []).name == "plain:0"


def test_reuse():
    with tf.variable_scope("s"):
        v = tf.get_variable("v", [2])
        with pytest.raises(ValueError, match=r"s/v already exists.*reuse"):
            tf.get_variable("v", [2])
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("v") is v
        with pytest.raises(ValueError, match="does not exist"):
            tf.get_variable("w", [2])
        with pytest.raises(ValueError, match="share"):
            tf.get_variable("v", [3])
        with pytest.raises(ValueError, match="share"):
            tf.get_variable("v", [2], dtype=tf.int32)
        with tf.variable_scope("inner", reuse=False), pytest.raises(ValueError, match="not exist"):
            tf.get_variable("x", [])  # reuse cannot be switched off
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("v", [2]) is v
        assert tf.get_variable("fresh", [2]).name == "s/fresh:0"
    with tf.variable_scope("s") as scope:
        scope.reuse_variables()
        assert tf.get_variable("v", [2]) is v
    with tf.variable_scope(scope, reuse=True):
        assert tf.get_variable("v", [2]) is v


def test_wrong_arguments_of_get_variable():
    with pytest.raises(ValueError, match="shape"):
        tf.get_variable("a")
    with pytest.raises(ValueError, match="got both"):
        tf.get_variable("a", [2], initializer=tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError, match="expected a known shape"):
        tf.get_variable("a", [None])
    with pytest.raises(TypeError, match="default_name"), tf.variable_scope(None):
        pass


def test_scopes_of_operations_and_of_variables():
    with tf.variable_scope("a"):
        tf.get_variable("v", [])
        first = tf.constant(1.0)
    with tf.variable_scope("a", reuse=True):
        v = tf.get_variable("v", [])
        second = tf.constant(1.0)
    assert (v.name, first.name, second.name) == ("a/v:0", "a/Const:0", "a_1/Const:0")
    with tf.variable_scope(None, default_name="d"):
        one = tf.get_variable("v", [])
    with tf.variable_scope(None, default_name="d"):
        two = tf.get_variable("v", [])
    assert (one.name, two.name) == ("d/v:0", "d_1/v:0")
    with tf.variable_scope("outer"), tf.variable_scope("inner"):
        assert tf.get_variable("v", []).name == "outer/inner/v:0"
    assert tf.get_variable_scope().name == ""


def test_trainable_variables_by_prefix():
    for scope in ("main", "main2", "target"):
        with tf.variable_scope(scope):
            tf.get_variable("w", [])
    names = [v.name for v in tf.trainable_variables("main")]
    assert names == ["main/w:0", "main2/w:0"]
    assert [v.name for v in tf.trainable_variables("main/")] == ["main/w:0"]


# --- graph: names


def test_name_scopes():
    with tf.name_scope("ns") as first:
        a = tf.constant(1.0, name="c")
    with tf.name_scope("ns") as second:
        b = tf.constant(1.0, name="c")
        with tf.name_scope(None):
            c = tf.constant(1.0, name="root")
        with tf.name_scope(first):
            d = tf.constant(1.0, name="c")
    assert (first, second) == ("ns/", "ns_1/")
    assert [x.op.name for x in (a, b, c, d)] == ["ns/c", "ns_1/c", "root", "ns/c_1"]
    assert tf.multiply(1.0, 2.0).op.name == "Mul"
    assert (tf.constant(1.0) * 2.0).op.name == "mul_1"  # names differ in more than case
    for bad in ("a b", "_x", "é", "/a"):
        with pytest.raises(ValueError, match="valid name"):
            tf.constant(1.0, name=bad)


def test_finding_by_name():
    graph = tf.get_default_graph()
    x = tf.constant(1.0, name="x")
    assert graph.get_tensor_by_name("x:0") is x
    assert graph.get_operation_by_name("x") is x.op
    assert graph.as_graph_element("x:0") is x
    with pytest.raises(KeyError, match="did you mean 'x'"):
        graph.get_operation_by_name("xx")
    with pytest.raises(ValueError, match="tensor name"):
        graph.get_tensor_by_name("x")


def test_collections():
    tf.add_to_collection("mine", 1)
    tf.add_to_collection("mine", 1)
    assert tf.get_collection("mine") == [1, 1]
    tf.get_collection("mine").append(2)
    assert tf.get_collection("mine") == [1, 1]
    assert tf.get_collection("empty") == []


def test_reset_default_graph():
    with pytest.raises(AssertionError):
        tf.reset_default_graph()  # the fixture's graph is entered


def test_a_failed_operation_is_not_in_the_graph():
    graph = tf.get_default_graph()
    a, b = tf.ones([2, 3]), tf.ones([2, 3])
    before = graph.get_operations()
    with pytest.raises(ValueError, match=r"^matmul: .*\(2, 3\).*MatMul 'MatMul' .*'ones:0'"):
        tf.matmul(a, b)
    assert graph.get_operations() == before
