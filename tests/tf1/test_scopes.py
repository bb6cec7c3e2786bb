"""Collections, name scopes, control dependencies, groups, getters, summaries, make_callable."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback.compat.tf1 import summary

# --- collections


def test_collections():
    graph = tf.get_default_graph()
    tf.add_to_collection("mine", 1)
    tf.add_to_collection("mine", 1)
    tf.add_to_collections(["mine", "other", "other"], 2)
    assert tf.get_collection("mine") == [1, 1, 2] and tf.get_collection("other") == [2]
    tf.get_collection("mine").append(3)  # a copy
    tf.get_collection_ref("mine").append(4)
    assert tf.get_collection("mine") == [1, 1, 2, 4]
    assert tf.get_collection("none") == []
    assert set(graph.get_all_collection_keys()) == {"mine", "other"}
    graph.clear_collection("mine")
    assert tf.get_collection("mine") == []


def test_collections_of_variables_and_their_scopes():
    with tf.variable_scope("main"):
        a = tf.get_variable("w", [1])
    b = tf.get_variable("main2/w", [1], trainable=False)
    local = tf.Variable(0, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
    assert tf.global_variables() == tf.all_variables() == [a, b]
    assert tf.trainable_variables() == [a] and tf.local_variables() == [local]
    assert tf.global_variables("main") == [a, b] and tf.global_variables("main/") == [a]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(local) == 0


def test_local_variables_by_name():
    with tf.variable_scope("counts"):
        v = tf.get_local_variable("n", [2], tf.int32)
    with tf.variable_scope("counts", reuse=True):
        assert tf.get_local_variable("n", [2], tf.int32) is v
    assert tf.local_variables() == [v] and tf.global_variables() == tf.trainable_variables() == []
    with tf.Session() as session:
        assert session.run(tf.report_uninitialized_variables()).tolist() == [b"counts/n"]
        session.run(tf.local_variables_initializer())
        assert listed(session.run(v)) == [0, 0]


# --- scopes of names


def test_name_scopes():
    a = tf.constant(1.0)
    with tf.name_scope("outer") as outer:
        assert outer == "outer/"
        with tf.name_scope("_inner"):  # only the outermost needs a letter
            assert tf.identity(a).op.name == "outer/_inner/Identity"
        with tf.name_scope(None):
            assert tf.identity(a).op.name == "Identity"
        with tf.name_scope(None, "default", [a]) as scope:
            assert scope == "outer/default/"
    with tf.name_scope("outer") as again, tf.name_scope(outer):
        assert again == "outer_1/" and tf.identity(a).op.name == "outer/Identity"
    with pytest.raises(ValueError, match="valid name"), tf.name_scope("_first"):
        pass
    with pytest.raises(TypeError, match="expected a str for name"), tf.name_scope(3):
        pass
    with pytest.raises(ValueError, match="default_name"), tf.name_scope(None, values=[a]):
        pass


def test_values_of_a_name_scope_choose_the_graph():
    other = tf.Graph()
    with other.as_default():
        x = tf.constant(1.0)
    with tf.name_scope("s", values=[x]):
        assert tf.constant(2.0).graph is other
    mixed = tf.name_scope("s", values=[x, tf.constant(1.0)])
    with pytest.raises(ValueError, match="same graph"), mixed:
        pass


# --- order


def test_control_dependencies():
    v = tf.Variable(1.0)
    change = v.assign(5.0)
    old = v.value()
    with tf.control_dependencies([change]):
        again, new, direct = old + 0.0, v.value(), v + 0.0
        with tf.control_dependencies(None):
            free = tf.constant(3.0)
    assert free.op.control_inputs == () and change.op in new.op.control_inputs
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(old) == 1.0 and session.run(v) == 1.0
        assert session.run(again) == 1.0 and session.run(v) == 5.0
        session.run(v.initializer)
        assert session.run([new, direct]) == [5.0, 5.0]
    for wrong in ([3.0], "v", change, [None]):
        with pytest.raises(TypeError, match="control_dependencies"):
            tf.control_dependencies(wrong).__enter__()
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="same graph"), tf.control_dependencies([foreign]):
        pass


def test_nested_control_dependencies_add_up():
    a, b = tf.no_op("a"), tf.no_op("b")
    with tf.control_dependencies([a]), tf.control_dependencies([b]):
        c = tf.constant(1.0)
    assert set(c.op.control_inputs) == {a, b}


def test_group_and_tuple():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    both = tf.group(v.assign_add(1.0), [w.assign_add(1.0).op], name="both")
    assert both.name == "both" and tf.group().name == "NoOp"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(both) is None
        assert session.run([v, w]) == [2.0, 3.0]
        one, none, three = tf.tuple([v * 2, None, w * 2], control_inputs=[both])
        assert none is None and session.run([one, three]) == [4.0, 6.0]
        session.run(one)
        assert session.run(w) == 5.0
    for wrong in (None, 3.0):
        with pytest.raises(TypeError, match="group: expected"):
            tf.group(wrong)
    with pytest.raises(ValueError, match="at least one tensor"):
        tf.tuple([None, None])
    with pytest.raises(TypeError, match="tuple: expected"):
        tf.tuple([v * 2], control_inputs=[3.0])


@pytest.mark.usefixtures("eager")
def test_order_in_eager_mode():
    x = tf.constant(1.0)
    with tf.control_dependencies([x]), tf.device("/gpu:0"), tf.name_scope("s"):
        assert float((x + 1).numpy()) == 2.0
    assert tf.group(x) is None and tf.tuple([x])[0] is x


# --- variables by name


def test_regularizers_of_scopes():
    def half_square(w):
        return 0.5 * tf.reduce_sum(w * w)

    with tf.variable_scope("s", regularizer=half_square):
        w = tf.get_variable("w", initializer=[3.0, 4.0])
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("w", [2], regularizer=half_square)  # not added again
    tf.get_variable("b", initializer=[1.0], regularizer=lambda b: None)
    losses = tf.losses.get_regularization_losses()
    assert listed(run(losses)) == [12.5] and w.name == "s/w:0"
    assert tf.losses.get_regularization_losses("s/w") == losses


def test_custom_getters_nest():
    seen = []

    def noted(tag):
        def getter(original, name, *args, **kwargs):
            seen.append((tag, name))
            return original(name, *args, **kwargs) * 10.0

        return getter

    with (
        tf.variable_scope("a", custom_getter=noted("outer")),
        tf.variable_scope("b", custom_getter=noted("inner")),
    ):
        y = tf.get_variable("w", initializer=2.0)
    assert seen == [("inner", "a/b/w"), ("outer", "a/b/w")]
    assert run(y) == 200.0 and tf.global_variables()[0].name == "a/b/w:0"
    with tf.variable_scope("c", constraint=tf.abs, initializer=tf.ones_initializer()) as scope:
        v = tf.get_variable("v", [2])
    assert v.constraint is tf.abs and listed(run(v)) == [1.0, 1.0]
    assert scope.trainable_variables() == [v] and scope.global_variables() == [v]


# --- summaries


def test_names_that_no_operation_may_have_are_changed_as_in_tensorflow(monkeypatch):
    monkeypatch.setattr(summary, "_warned", True)
    w = tf.Variable(tf.zeros([2]), name="w")
    made = [tf.summary.scalar(x, 0.0) for x in (w.name, "a loss", "/top/é!")]
    assert [x.op.name for x in made] == ["w_0", "a_loss", "top/__"]


def test_the_definition_of_an_operation():
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.control_dependencies([tf.no_op("first")]):
        y = tf.add(x, tf.split(x, 2, name="parts")[1], name="y")
    found = y.op.node_def
    assert (found.name, found.op, found.device) == ("y", y.op.type, "")
    assert found.input == ["x", "parts:1", "^first"]


def test_summaries_are_dropped_with_one_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(summary, "_warned", False)
    assert tf.summary.merge_all() is None
    x = tf.placeholder(tf.float32, [None])
    with pytest.warns(UserWarning, match="accepted and dropped") as caught:
        tf.summary.scalar("the loss", tf.reduce_mean(x))
        tf.summary.histogram("x", x)
        tf.summary.image("picture", tf.ones([1, 2, 2, 1]), max_outputs=1)
        merged = tf.summary.merge_all()
        folder = tmp_path / "logs"
        with tf.summary.FileWriter(str(folder), tf.get_default_graph()) as writer:
            text, mean = run([merged, tf.reduce_mean(x)], {x: [1, 3]})
            writer.add_summary(text, 1)
            writer.flush()
    assert len(caught) == 1 and caught[0].filename == __file__
    assert text == b"" and mean == 2.0
    assert [*folder.iterdir()] == [] and writer.get_logdir() == str(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tf.summary.scalar("again", x)


# --- make_callable


def test_make_callable():
    x, v = tf.placeholder(tf.float32, [None]), tf.Variable(2.0)
    y = x * v
    with tf.Session() as session:
        session.run(v.initializer)
        call = session.make_callable({"y": y, "v": v, "op": v.initializer}, [x])
        assert listed(call([1, 2])["y"]) == [2.0, 4.0]
        assert call(np.ones(3))["op"] is None and len(call(np.ones(3))["y"]) == 3
        assert session.make_callable(v)() == 2.0
        with pytest.raises(ValueError, match="expected 1 values as in feed_list, got 2"):
            call(1, 2)
        with pytest.raises(ValueError, match="shape"):
            call(1.0)
        with pytest.raises(TypeError, match="expected a list for feed_list"):
            session.make_callable(y, x)
        with pytest.raises(TypeError, match="cannot interpret"):
            session.make_callable(y, [3])
        with pytest.raises(TypeError, match="None"):
            session.make_callable([None])
    with pytest.raises(RuntimeError, match="closed"):
        call([1.0])
