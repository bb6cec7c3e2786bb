"""Jacobians by tapes, second derivatives by `hessians`, and `tf.function`."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def test_of_a_polynomial_and_a_scalar():
    x, s = tf.constant([1.0, 2.0]), tf.constant(2.0)
    assert listed(run(tf.hessians(x[0] ** 2 * x[1] + x[1] ** 3, x))) == [[[4.0, 2.0], [2.0, 12.0]]]
    assert listed(run(tf.hessians(s**3, s))) == [12.0]


def test_of_a_matrix_against_differences():
    random = np.random.default_rng(3)
    value, mix = random.normal(size=(2, 3)), random.normal(size=(3, 2))

    def f(w):
        return np.sum(np.tanh(w @ mix) ** 2)

    x = tf.constant(value)
    (h,) = tf.hessians(tf.reduce_sum(tf.square(tf.tanh(tf.matmul(x, mix)))), [x])
    assert h.shape.as_list() == [2, 3, 2, 3]
    steps = np.eye(6).reshape(6, 2, 3) * 1e-4
    expected = np.array(
        [
            [f(value + a + b) - f(value + a - b) - f(value - a + b) + f(value - a - b)
             for b in steps] for a in steps
        ]
    ) / 4e-8  # fmt: skip
    got = run(h).reshape(6, 6)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    np.testing.assert_allclose(got, got.T, atol=1e-12)


def test_several_are_blocks_and_ys_are_summed():
    x, y = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    by_x, by_y = tf.hessians([tf.reduce_sum(x * x) * y, y**3], [x, y])
    assert listed(run([by_x, by_y])) == [[[6.0, 0.0], [0.0, 6.0]], 18.0]


def test_linear_and_unconnected_are_zeros():
    x, z = tf.constant([1.0, 2.0]), tf.placeholder(tf.float32, [None])
    assert listed(run(tf.hessians(tf.reduce_sum(3 * x), [x]))) == [[[0.0, 0.0]] * 2]
    unconnected, linear = tf.hessians(tf.reduce_sum(2 * z), [x, z])
    assert listed(run(unconnected)) == [[0.0, 0.0]] * 2
    assert run(linear, {z: [1, 2, 3]}).shape == (3, 3)


def test_of_a_shape_that_only_the_run_knows():
    x = tf.placeholder(tf.float64, [None])
    (h,) = tf.hessians(tf.reduce_prod(x), x)
    np.testing.assert_allclose(run(h, {x: [2, 3, 5]}), [[0, 5, 3], [5, 0, 2], [3, 2, 0]])
    assert run(h, {x: []}).shape == (0, 0)


def test_through_rules_of_programs():
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda g: g * 7 * x  # first derivative 7 x, so the second is 7

    x = tf.constant([1.0, 2.0])
    assert listed(run(tf.hessians(cube(x), x))) == [[[7.0, 0.0], [0.0, 7.0]]]
    z = tf.placeholder(tf.float32, [None])
    assert listed(run(tf.hessians(cube(z), z)[0], {z: [3.0]})) == [[7.0]]


def test_a_rule_that_sees_the_cotangents_of_the_rows():
    @tf.custom_gradient
    def halved(g):
        return g / 2, lambda upstream: upstream  # not linear to those who differentiate it

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda g: halved(g) * x

    x = tf.constant([1.0, 2.0])
    (h,) = tf.hessians(cube(x) ** 2, x)
    expected = run(tf.gradients(tf.gradients(cube(x) ** 2, x)[0], x)[0])
    np.testing.assert_allclose(run(h), np.diag(expected))
    z = tf.placeholder(tf.float32, [None])
    with pytest.raises(ValueError, match="known shape after user-defined rules"):
        tf.hessians(cube(z) ** 2, z)


def test_third_derivative_and_product_with_a_vector():
    x = tf.constant([1.0, 2.0])
    y = x[0] ** 2 * x[1]
    (h,) = tf.hessians(y, x)
    assert listed(run(tf.gradients(h[0, 0] + 5 * h[0, 1], x))) == [[10.0, 2.0]]
    (g,) = tf.gradients(y, x)
    product = tf.gradients(tf.reduce_sum(g * tf.stop_gradient(tf.ones_like(x))), x)
    assert listed(run(product)) == [[6.0, 2.0]]


@pytest.mark.usefixtures("eager")
def test_not_in_eager_mode():
    with pytest.raises(RuntimeError, match="eager"):
        tf.hessians(tf.constant(1.0), tf.constant(1.0))


# --- tapes


@pytest.fixture(params=["eager", "graph"])
def value_of(request):
    """Values of what a tape answers, in both modes."""
    if request.param == "eager":
        request.getfixturevalue("eager")
        return lambda x, feeds=None: x.numpy()
    return run


def test_jacobians_by_tapes(value_of):
    x, z = tf.constant([1.0, 2.0]), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, z])
        y = x * x * 3.0
    by_x, by_z = tape.jacobian(y, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert value_of(by_x).tolist() == [[6.0, 0.0], [0.0, 12.0]]
    assert value_of(by_z).tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="persistent"):
        tape.jacobian(y, x)


def test_a_hessian_by_two_tapes(value_of):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x[0] ** 2 * x[1]
        slope = inner.gradient(y, x)
    hessian = outer.jacobian(slope, x, experimental_use_pfor=False)
    assert value_of(hessian).tolist() == [[4.0, 2.0], [2.0, 0.0]]


def test_rows_of_a_table_are_dense(value_of):
    table = tf.constant(np.ones((3, 2), np.float32))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(table)
        y = tf.reduce_sum(tf.gather(table, [0, 2, 2]) ** 2, axis=1)
    got = value_of(tape.jacobian(y, table))
    assert got[1].tolist() == got[2].tolist() == [[0, 0], [0, 0], [2, 2]]
    assert tape.jacobian(y, {"none": tf.constant(1.0)})["none"] is None


def test_batch_jacobians_by_tapes(value_of):
    x, other = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [2.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * x
    got = value_of(tape.batch_jacobian(y, x))
    assert got.tolist() == [[[2.0, 0.0], [0.0, 4.0]], [[6.0, 0.0], [0.0, 8.0]]]
    zeros = value_of(tape.batch_jacobian(y, other))
    assert zeros.shape == (2, 2, 1) and not zeros.any()
    with pytest.raises(ValueError, match="expected rank 2 or more"):
        tape.batch_jacobian(y, x[0])
    with pytest.raises(ValueError, match="expected equal first axes"):
        tape.batch_jacobian(y, x[:1])
    with pytest.raises(TypeError, match=r"jacobian: .*expected one"):
        tape.jacobian([y], x)


def test_a_jacobian_of_a_shape_that_only_the_run_knows():
    x = tf.placeholder(tf.float32, [None, 2])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.sqrt(x)
        total = tf.reduce_sum(x)
    full, rows = tape.jacobian(y, x), tape.batch_jacobian(y, x)
    assert full.shape.as_list() == [None, 2, None, 2] and rows.shape.as_list() == [None, 2, 2]
    feeds = {x: [[0.0, 1.0], [4.0, 16.0]]}
    assert run(rows, feeds).tolist() == [[[np.inf, 0], [0, 0.5]], [[0.25, 0], [0, 0.125]]]
    assert run(full, feeds)[1, 0].tolist() == [[0, 0], [0.25, 0]]
    assert run(tape.jacobian(total, x), feeds).tolist() == [[1, 1], [1, 1]]
    assert run(full, {x: np.zeros((0, 2))}).shape == (0, 2, 0, 2)


def test_a_variable_and_a_rule_of_the_program(value_of):
    v = tf.Variable([1.0, 2.0])

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda g: g * 7 * x

    with tf.GradientTape(persistent=True) as tape:
        y = cube(v * 1.0)
    got = tape.jacobian(y, v)
    assert value_of(got).tolist() == [[7.0, 0.0], [0.0, 14.0]]


# --- tf.function


def times_minus_one(name):
    @tf.RegisterGradient(name)
    def rule(op, upstream):
        return -upstream

    return tf.get_default_graph().gradient_override_map({"Identity": name})


@pytest.mark.usefixtures("eager")
def test_function_is_traced_once_and_overrides_inside_count():
    traces = []

    @tf.function
    def f(x, factor=2.0):
        traces.append(1)
        assert tf.executing_eagerly() and isinstance(x, tf.Tensor)
        with tf.get_default_graph().gradient_override_map({"Identity": "Turned"}):
            return {"y": tf.identity(x) * factor}

    times_minus_one("Turned")
    for value in (1.0, 3.0):
        x = tf.constant([value, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)["y"]
        assert listed(y.numpy()) == [2 * value, 4.0]
        assert listed(tape.gradient(y, x).numpy()) == [-2.0, -2.0]
    assert len(traces) == 1
    assert f.python_function(tf.constant(1.0))["y"].numpy() == 2.0


@pytest.mark.usefixtures("eager")
def test_an_override_around_the_call_does_not_reach_inside():
    @tf.function
    def f(x):
        return tf.identity(x)

    x = tf.constant(1.0)
    with times_minus_one("Around"), tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x).numpy() == 1.0


@pytest.mark.usefixtures("eager")
def test_function_updates_variables():
    v = tf.Variable(1.0)

    @tf.function()
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.square(v * x - 6)
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    assert [float(step(tf.constant(2.0)).numpy()) for _ in range(2)] == pytest.approx([16, 0.64])
    assert float(v.numpy()) == pytest.approx(2.92)


def test_function_in_a_graph():
    @tf.function
    def f(x):
        with tf.get_default_graph().gradient_override_map({"Identity": "InGraph"}):
            return tf.identity(x) * 3

    times_minus_one("InGraph")
    x = tf.constant(2.0)
    y = f(x)
    assert listed(run([y, tf.gradients(y, x)[0]])) == [6.0, -3.0]
    with pytest.raises(TypeError, match="expected a function"):
        tf.function(3)
