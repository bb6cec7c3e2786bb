"""Rules for operations: RegisterGradient, NotDifferentiable, gradient_override_map.
custom_gradient is in test_custom.py."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run, slope  # noqa: F401

import pullback.compat.tf1 as tf


def override(**names):
    return tf.get_default_graph().gradient_override_map(names)


def times(factor, name):
    @tf.RegisterGradient(name)
    def rule(op, grad):
        return grad * factor

    return rule


# --- the registry


def test_register_returns_the_function_and_refuses_a_name_twice():
    def rule(op, grad):
        return grad

    assert tf.RegisterGradient("Mine")(rule) is rule
    with pytest.raises(KeyError, match=r"two gradients.*Mine.*test_rules\.py"):
        tf.RegisterGradient("Mine")(rule)
    for taken in ("Sin", "Exp", "Add"):
        with pytest.raises(KeyError, match=taken):
            tf.RegisterGradient(taken)(rule)
        with pytest.raises(KeyError, match=taken):
            tf.NotDifferentiable(taken)
    tf.RegisterGradient("")(rule)
    with pytest.raises(KeyError, match="rule"):
        tf.NotDifferentiable("rule")
    for bad in (3, None):
        with pytest.raises(TypeError):
            tf.RegisterGradient(bad)
        with pytest.raises(TypeError):
            tf.NoGradient(bad)
    with pytest.raises(TypeError, match="expected a function"):
        tf.RegisterGradient("Five")(5)


def test_not_differentiable_is_none_but_missing_is_an_error():
    tf.no_gradient("Nothing")
    x = tf.constant(2.0)
    with override(Identity="Nothing", Square="Unknown"):
        y, z = tf.identity(x), tf.square(x)
    assert tf.gradients(y, x) == [None]
    assert slope(y + 3 * x, x) == 3.0
    with pytest.raises(LookupError, match=r"Square.*'Unknown'"):
        tf.gradients(z, x)
    assert slope(tf.stop_gradient(z) + x, x) == 1.0  # only where the gradient passes


def test_what_a_rule_is_given():
    seen = []

    @tf.RegisterGradient("Looks")
    def rule(op, grad):
        seen.append(op)
        assert len(op.inputs) == 2 and len(op.outputs) == 1
        assert op.get_attr("T") == tf.float32
        assert op.get_attr("transpose_a") is False
        with pytest.raises(ValueError, match="no_such"):
            op.get_attr("no_such")
        return grad, grad

    a, b = tf.constant(np.eye(2)), tf.constant(np.eye(2))
    a, b = tf.cast(a, tf.float32), tf.cast(b, tf.float32)
    with override(MatMul="Looks"):
        y = tf.matmul(a, b, name="product")
    tf.gradients(y, [a, b])
    (op,) = seen
    assert (op.type, op.name) == ("MatMul", "product")
    assert op.inputs[0] is a and op.outputs[0] is y


def test_unused_outputs_arrive_as_zeros():
    seen = []

    @tf.RegisterGradient("Parts")
    def rule(op, *grads):
        seen.extend(grads)
        return None, tf.concat(grads, 0)

    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with override(Split="Parts"):
        first, _ = tf.split(x, 2)
    assert slope(first, x) == [1.0, 1.0, 0.0, 0.0]
    assert len(seen) == 2 and None not in seen


def test_static_inputs_have_a_slot():
    @tf.RegisterGradient("SumRule")
    def rule(op, grad):
        assert len(op.inputs) == 2
        return tf.fill(op.inputs[0].shape, 7.0), None

    x = tf.constant([1.0, 2.0])
    with override(Sum="SumRule"):
        y = tf.reduce_sum(x)
    assert slope(y, x) == [7.0, 7.0]


# --- the map


def test_only_operations_made_inside():
    times(10.0, "Ten")
    x = tf.constant(2.0)
    before = tf.identity(x)
    other = tf.Graph()
    with override(Identity="Ten"):
        inside = tf.identity(x)
        with other.as_default():
            elsewhere = tf.identity(tf.constant(1.0))
        assert slope(before, x) == 1.0
    assert slope(inside, x) == 10.0
    assert slope(tf.identity(x), x) == 1.0
    with other.as_default():
        assert slope(elsewhere, elsewhere.op.inputs[0]) == 1.0


def test_nesting():
    times(10.0, "Ten")
    times(100.0, "Hundred")
    x = tf.constant(3.0)
    with override(Identity="Ten"):
        a = tf.identity(x)
        with override(Identity="Hundred"):
            b = tf.identity(x)
        with override(Square="Hundred"):
            c = tf.identity(tf.square(x))
        d = tf.identity(x)
    assert [slope(y, x) for y in (a, b, c, d, tf.identity(x))] == [10.0, 100.0, 1000.0, 10.0, 1.0]


def test_restored_after_an_exception():
    times(10.0, "Ten")
    x = tf.constant(3.0)
    with pytest.raises(ZeroDivisionError), override(Identity="Ten"):
        raise ZeroDivisionError
    assert slope(tf.identity(x), x) == 1.0


@pytest.mark.parametrize("bad", [None, [("Sign", "Ten")], {1: "Ten"}, {"Sign": 1}])
def test_the_map_is_checked_before_anything_is_set(bad):
    times(10.0, "Ten")
    graph = tf.get_default_graph()
    if isinstance(bad, dict):
        bad = {"Identity": "Ten", **bad}
    with pytest.raises(TypeError), graph.gradient_override_map(bad):
        pass
    x = tf.constant(1.0)
    assert slope(tf.identity(x), x) == 1.0


def test_unknown_operation_type_warns_with_near_names():
    times(10.0, "Ten")
    with pytest.warns(UserWarning, match=r"'Matmul'.*'MatMul'"), override(Matmul="Ten"):
        pass
    with override(Add="Ten", Select="Ten"):  # names that the types had
        x = tf.constant([1.0, 2.0])
        y = x + x

    @tf.RegisterGradient("Both")
    def both(op, grad):
        return grad, 2 * grad

    with override(Add="Both"):
        z = x + x
    assert slope(z, x) == [3.0, 3.0]
    with pytest.raises(ValueError, match="num gradients"):
        tf.gradients(y, x)


def test_target_may_be_a_built_in_rule():
    x = tf.constant(0.5)
    with override(Sin="Tanh"):
        y = tf.sin(x)
    assert slope(y, x) == pytest.approx(1 - np.sin(0.5) ** 2, rel=1e-6)
    with override(Sin="Round"):
        z = tf.sin(x)
    assert tf.gradients(z, x) == [None]
    with override(Sin="Identity"):
        w = tf.sin(x)
    assert slope(w, x) == 1.0
    with override(Sin="Cos"):
        u = tf.sin(x)
    assert slope(u, x) == pytest.approx(-np.sin(0.5), rel=1e-6)


def test_stop_gradient_can_be_overridden():
    times(10.0, "Ten")
    x = tf.constant(3.0)
    with override(StopGradient="Ten"):
        y = tf.stop_gradient(x)
    assert slope(y, x) == 10.0


def test_operations_of_rules_are_differentiated():
    @tf.RegisterGradient("Cubed")
    def rule(op, grad):
        return grad * op.inputs[0] ** 3

    x = tf.constant(2.0)
    with override(Square="Cubed"):
        y = tf.square(x)
    first = tf.gradients(y, x)
    second = tf.gradients(first, x)
    assert listed(run([y, first, second])) == [4.0, [8.0], [12.0]]


def test_operations_made_by_rules_inside_the_map_are_overridden_too():
    times(10.0, "Ten")

    @tf.RegisterGradient("Again")
    def again(op, grad):
        return tf.identity(grad) * 2

    x = tf.constant(3.0)
    with override(Square="Again", Identity="Ten"):
        y = tf.square(x)
        g = tf.gradients(y, x, grad_ys=x)[0]
    assert slope(g, x) == 20.0


# --- results of rules are checked


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (lambda g: [g, g], ValueError, "num gradients"),
        (lambda g: [], ValueError, "num gradients"),
        (lambda g: 0, TypeError, "'int' object has no attribute 'name'"),
        (lambda g: np.float32(1), AttributeError, "float32"),
        (lambda g: "g", TypeError, "str"),
        (lambda g: tf.reduce_sum(g), ValueError, r"incompatible shapes.*\(\).*\(3,\)"),
        (lambda g: tf.cast(g, tf.float64), TypeError, "float64.*float32"),
    ],
)
def test_results_of_rules(answer, kind, text):
    @tf.RegisterGradient("Wrong")
    def wrong(op, grad):
        return answer(grad)

    x = tf.constant([1.0, 2.0, 3.0])
    with override(Sign="Wrong"):
        y = tf.sign(x, name="here")
    with pytest.raises(kind, match=rf"(?s)Sign 'here'.*Wrong.*test_rules\.py:\d+.*{text}"):
        tf.gradients(y, x)
    assert slope(3 * x, x) == [3.0] * 3  # the next call works


def test_a_rule_may_answer_none_or_a_variable():
    v = tf.Variable([5.0])

    @tf.RegisterGradient("Variable rule")
    def rule(op, grad):
        return v, None

    x = tf.constant([1.0])
    with override(Mul="Variable rule"):
        y = x * 2.0
    assert slope(y, x) == [5.0]


@pytest.mark.parametrize(
    ("key", "rule", "call", "expected"),
    [
        ("Sum", "Mean", lambda x: tf.reduce_sum(x, axis=0), [0.5, 0.5]),
        ("Mean", "Sum", lambda x: tf.reduce_mean(x, 0), [1.0, 1.0]),
        ("Tanh", "Sigmoid", tf.tanh, None),  # y (1 - y), of its own output
        ("Exp", "Identity", tf.exp, [1.0, 1.0]),
    ],
)
@pytest.mark.parametrize("eagerly", [False, True])
def test_the_rule_of_another_type(key, rule, call, expected, eagerly, request):
    if eagerly:
        request.getfixturevalue("eager")
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape, tf.get_default_graph().gradient_override_map({key: rule}):
        tape.watch(x)
        y = call(x)
    g = tape.gradient(y, x)
    if key == "Tanh":
        expected = np.tanh([1.0, 2.0]) * (1 - np.tanh([1.0, 2.0]))
    assert np.allclose(g.numpy() if eagerly else run(g), expected)
