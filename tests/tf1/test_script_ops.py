"""Operations of Python functions (py_func, py_function, raw_op) and the runs that need them."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run, slope  # noqa: F401

import pullback.compat.tf1 as tf


def override(**names):
    return tf.get_default_graph().gradient_override_map(names)


# --- py_func


def test_py_func_computes_and_has_no_gradient():
    x = tf.placeholder(tf.float32, [None])
    y = tf.py_func(np.cumsum, [x], tf.float32)
    assert y.shape.ndims is None and y.op.type == "PyFunc"
    assert listed(run(y, {x: [1, 2, 4]})) == [1.0, 3.0, 7.0]
    assert tf.gradients(y, x) == [None]
    assert listed(run(tf.gradients(tf.reduce_sum(y) + 2 * x, x), {x: [1, 5]})) == [[2.0, 2.0]]


def test_py_func_under_an_override():
    @tf.RegisterGradient("SixTimes")
    def rule(op, upstream):
        return upstream * 6

    x = tf.constant(3.0)
    with override(PyFunc="SixTimes"):
        y = tf.py_func(lambda a: np.float32(np.round(a)), [x], tf.float32)
    y.set_shape([])
    assert slope(y, x) == 6.0
    assert slope(y * y, x) == 36.0  # 2 · 3 · 6: the value of y is needed


def test_py_func_of_several_results_and_dtypes():
    x = tf.constant([3, 1, 2])
    values, order = tf.py_func(
        lambda a: (np.sort(a), np.argsort(a)), [x], [tf.int32, tf.int64], stateful=False
    )
    assert values.op.type == "PyFuncStateless"
    assert listed(run([values, order])) == [[1, 2, 3], [1, 2, 0]]
    number = tf.py_func(lambda: 2.5, [], tf.float32)  # a number takes the dtype
    assert run(number) == np.float32(2.5)
    wrong = tf.numpy_function(lambda a: a * 0.5, [x], tf.float32)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"expected float32 for result 0 .* got float64"
    ):
        run(wrong)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"expected 2 values .* for Tout, got 1"
    ):
        run(tf.py_func(lambda a: a, [x], [tf.int32, tf.int32]))
    with pytest.raises(ValueError, match="expected a function"):
        tf.py_func(3, [x], tf.int32)


def test_py_func_errors_name_it_and_leave_the_session_as_it_was():
    v = tf.Variable(1.0)
    changed = v.assign_add(1.0)

    def fail(a):
        raise ValueError("no such file")

    with tf.control_dependencies([changed]):
        y = tf.py_func(fail, [v], tf.float32, name="reads")
    with tf.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"no such file; .*'reads'"):
            session.run([y, changed])
        assert session.run(v) == 1.0


def test_an_iterator_that_ends_is_out_of_range():
    """As TensorFlow maps it, so that loops over generators end."""
    numbers = iter([1.0, 2.0])
    y = tf.py_func(lambda: np.float32(next(numbers)), [], tf.float32)
    seen = []
    with tf.Session() as session, pytest.raises(tf.errors.OutOfRangeError, match="StopIteration"):
        while True:
            seen.append(session.run(y))
    assert seen == [1.0, 2.0]

    def full():
        raise tf.errors.OutOfRangeError(None, "no more")

    with tf.Session() as session, pytest.raises(tf.errors.OutOfRangeError, match="no more"):
        session.run(tf.py_func(full, [], tf.float32))


def test_each_operation_runs_once_and_only_if_needed():
    calls = []
    x = tf.placeholder(tf.float32, [])
    y = tf.py_func(lambda a: calls.append(a) or a + 1, [x], tf.float32)
    y.set_shape([])
    other = tf.py_func(lambda a: calls.append("other") or a, [x], tf.float32)
    with tf.Session() as session:
        assert session.run([y, y * 2, 3 * x], {x: 2}) == [3.0, 6.0, 6.0]
        assert calls == [2.0]
        session.run(3 * x, {x: 2})
        assert session.run(y * 2, {y: 5.0}) == 10.0  # fed
        assert calls == [2.0]
    assert other.op.type == "PyFunc"


def test_variables_and_random_numbers_in_such_a_run():
    tf.set_random_seed(4)
    v = tf.Variable([1.0, 2.0])
    noise = tf.random_uniform([3])
    seen = []
    looked = tf.py_func(lambda a, b: seen.append((a, b)) or np.int32(0), [noise, v], tf.int32)
    with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
        after = tf.py_func(lambda a: a * 10, [v.read_value()], tf.float32)
    with tf.Session() as session:
        session.run(v.initializer)
        _, drawn, new, last = session.run([looked, noise, after, v])
        np.testing.assert_array_equal(seen[0][0], drawn)
        np.testing.assert_array_equal(seen[0][1], [1, 2])
        assert listed(new) == [20.0, 30.0] and listed(last) == [2.0, 3.0]
        assert listed(session.run(v)) == [2.0, 3.0]
        again = session.run([looked, noise])[1]
        assert not np.array_equal(again, drawn)  # the stream goes on
    with tf.Session() as session:  # and starts again
        session.run(v.initializer)
        np.testing.assert_array_equal(session.run([looked, noise])[1], drawn)


def test_training_through_a_python_loss_weight():
    """The weights of each step come from Python; a NumPy loop gives the same numbers."""
    rows = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]], np.float32)
    x, w = tf.placeholder(tf.float32, [None, 2]), tf.Variable([0.5, -0.5])
    error = tf.reduce_sum(x * w, axis=1) - 1
    weight = tf.py_func(lambda e: (np.abs(e) > 1).astype(np.float32), [error], tf.float32)
    weight.set_shape([None])
    loss = tf.reduce_sum(weight * tf.square(error))
    step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
    expected = np.array([0.5, -0.5])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(20):
            session.run(step, {x: rows})
            e = rows @ expected - 1
            expected = expected - 0.02 * (np.abs(e) > 1) * e @ rows
        np.testing.assert_allclose(session.run(w), expected, rtol=1e-5)


# --- py_function


def test_py_function_is_differentiated_with_a_tape():
    x, s = tf.constant([0.5, 2.0]), tf.constant(3.0)
    calls = []

    def cube(a, b):
        calls.append(tf.executing_eagerly())
        assert isinstance(a.numpy(), np.ndarray)
        return a * a * a * b

    y = tf.py_function(cube, [x, s], tf.float32)
    assert y.op.type == "EagerPyFunc"
    by_x, by_s = tf.gradients(y, [x, s], [[1.0, 10.0]])
    value, gx, gs = run([y, by_x, by_s])
    assert calls == [True]  # once, and in eager mode
    assert listed(value) == [0.375, 24.0]
    assert listed(gx) == [2.25, 360.0] and gs == 80.125
    second = tf.gradients(tf.gradients(y, x), x)[0]
    assert listed(run(second)) == [9.0, 36.0]  # 6 x s
    assert not tf.executing_eagerly()


def test_py_function_with_integers_and_an_override():
    x, n = tf.constant([1.0, 2.0, 3.0]), tf.constant(2)
    y = tf.py_function(lambda a, k: tf.reduce_sum(a[: int(k)]), [x, n], tf.float32)
    assert listed(run(tf.gradients(y, [x])[0])) == [1.0, 1.0, 0.0]
    tf.NotDifferentiable("NoSlope")
    with override(EagerPyFunc="NoSlope"):
        y = tf.py_function(lambda a: a * a, [x], tf.float32)
    assert tf.gradients(y, x) == [None]


@pytest.mark.usefixtures("eager")
def test_python_functions_in_eager_mode():
    x = tf.constant([1.0, 2.0])
    assert listed(tf.py_func(lambda a: a[::-1], [x], tf.float32).numpy()) == [2.0, 1.0]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a * a, [x], tf.float32)
    assert listed(tape.gradient(y, x).numpy()) == [2.0, 4.0]


# --- raw_op


def area(name="AreaResize"):
    return tf.raw_op(name, lambda a: a.reshape(len(a) // 2, 2).mean(1), shape=lambda s: [s[0] // 2])


def test_an_operation_without_a_gradient():
    x = tf.constant([1.0, 3.0, 5.0, 9.0])
    y = area()(x, name="small")
    assert (y.op.type, y.name, y.shape.as_list()) == ("AreaResize", "small:0", [2])
    assert listed(run(y)) == [2.0, 7.0]
    with pytest.raises(LookupError, match=r"no entry for 'AreaResize'.*'small'"):
        tf.gradients(tf.reduce_sum(y) + 3 * x, x)
    assert tf.gradients(y, tf.constant(1.0)) == [None]  # no live path crosses it
    assert listed(run(tf.gradients(y * 2, y))) == [[2.0, 2.0]]  # nor where it is the x


def test_stop_gradient_silences_it_before_and_after():
    x = tf.constant([1.0, 3.0])
    resize = area()
    after = tf.reduce_sum(tf.stop_gradient(resize(x))) + 3 * x
    before = tf.reduce_sum(resize(tf.stop_gradient(x))) + 3 * x
    inside = resize(x)
    assert slope(after, x) == slope(before, x) == [3.0, 3.0]
    (g,) = tf.gradients(tf.reduce_sum(inside) + 3 * x, x, stop_gradients=[inside])
    assert listed(run(g)) == [3.0, 3.0]


def test_raw_op_gets_a_rule():
    x = tf.constant([1.0, 3.0])
    tf.NotDifferentiable("NoAreaSlope")
    resize = area()
    with override(AreaResize="NoAreaSlope"):
        y = resize(x)
    assert tf.gradients(y, x) == [None]
    assert slope(tf.reduce_sum(y) + 3 * x, x) == [3.0, 3.0]

    @tf.RegisterGradient("AreaResize")
    def rule(op, upstream):
        return tf.reshape(tf.stack([upstream, upstream], 1), [-1]) / 2

    assert slope(resize(x) * 10, x) == [5.0, 5.0]
    with pytest.raises(KeyError, match="AreaResize"):
        tf.RegisterGradient("AreaResize")(rule)
    area()  # made again, as in a notebook
    for taken in ("Sin", "Add", "two words", 3):
        with pytest.raises(ValueError, match="raw_op"):
            tf.raw_op(taken, np.sin)
    with pytest.raises(TypeError, match="expected a function"):
        tf.raw_op("Fine", 3)


def test_raw_op_says_what_it_computed_wrongly():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \(3,\), got \(2,\)"):
        run(tf.raw_op("Lies", lambda a: a, shape=[3])(x))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"expected float32 for result 0 .* got float64"
    ):
        run(tf.raw_op("Widens", lambda a: a.astype(np.float64))(x))


@pytest.mark.usefixtures("eager")
def test_raw_op_under_a_tape():
    x = tf.constant([1.0, 3.0])
    resize = area()

    def by_tape(function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function()
        g = tape.gradient(y, x)
        return None if g is None else listed(g.numpy())

    with pytest.raises(LookupError, match="AreaResize"):
        by_tape(lambda: tf.reduce_sum(resize(x)) + 3 * x)
    assert by_tape(lambda: tf.reduce_sum(tf.stop_gradient(resize(x))) + 3 * x) == [3.0, 3.0]
    assert by_tape(lambda: tf.reduce_sum(resize(tf.stop_gradient(x))) + 3 * x) == [3.0, 3.0]
    tf.NotDifferentiable("NoAreaSlope")
    with override(AreaResize="NoAreaSlope"):
        assert by_tape(lambda: resize(x)) is None

    @tf.RegisterGradient("AreaResize")
    def rule(op, upstream):
        return tf.concat([upstream, 2 * upstream], 0)

    assert by_tape(lambda: resize(x)) == [1.0, 2.0]


def test_graph_tape_meets_it_too():
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = area()(x)
    with pytest.raises(LookupError, match="AreaResize"):
        tape.gradient(y, x)


# --- gradients that are forbidden


def test_prevent_gradient():
    x = tf.constant(2.0)
    y = tf.raw_ops.PreventGradient(input=x, message="sampled", name="gate")
    assert run(y * 3) == 6.0
    with pytest.raises(LookupError, match=r"explicitly disabled at 'gate'.*sampled"):
        tf.gradients(y * 3, x)
    assert slope(tf.stop_gradient(y) + x, x) == 1.0


@pytest.mark.usefixtures("eager")
def test_prevent_gradient_under_a_tape():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.PreventGradient(input=x, message="sampled") * 3
    with pytest.raises(LookupError, match="sampled"):
        tape.gradient(y, x)


def test_what_a_gradient_uses_waits_for_what_is_before_it():
    calls = []
    x, v = tf.placeholder(tf.float32, []), tf.Variable(0.0)
    looked = tf.py_func(lambda a: calls.append(a) or a, [x], tf.float32)
    with tf.control_dependencies([v.assign(x), tf.assert_less(x, 3.0)]):
        y = tf.identity(x)
    (g,) = tf.gradients(y * y, y)  # 2 y: the value of y, and so what it waits for
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(g, {x: 2}) == 4.0 and session.run(v) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
            session.run(g, {x: 5})
        assert session.run(v) == 2.0
        assert session.run([g, looked], {x: 1}) == [2.0, 1.0] and session.run(v) == 1.0
        assert calls == [1.0]
