"""while_loop of TensorFlow 1."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def scalar():
    return tf.placeholder(tf.float32, [])


def powers(x, limit=100.0):
    return tf.while_loop(lambda y: y < limit, lambda y: y * x, [x])


def repeated(body, start, times=3):
    """body(y), so many times."""
    return tf.while_loop(lambda i, y: i < times, lambda i, y: (i + 1, body(y)), [0, start])[1]


# --- while


@pytest.mark.parametrize(("x", "answer"), [(2.0, [128, 448]), (5.0, [125, 75]), (200.0, [200, 1])])
def test_trips_depend_on_data(x, answer):
    given = scalar()
    y = powers(given)
    assert y.dtype == tf.float32 and y.shape == [] and y.op.type == "While"
    assert listed(run([y, *tf.gradients(y, given)], {given: x})) == answer


def test_every_order():
    x = scalar()
    answers = [repeated(lambda y: y * x, tf.constant(1.0), 4)]
    for _ in range(4):
        answers += tf.gradients(answers[-1], x)
    assert listed(run(answers, {x: 2.0})) == [16, 32, 48, 48, 24]
    answers = [powers(x)]  # x⁷, as nobody knows before
    for _ in range(3):
        answers += tf.gradients(answers[-1], x)
    assert listed(run(answers, {x: 2.0})) == [128, 448, 1344, 3360]


def test_no_trips():
    x, w = tf.constant(3.0), tf.constant(2.0)
    y = repeated(lambda y: y * w, x, 0)
    assert listed(run([y, *tf.gradients(y, [x, w])])) == [3, 1, 0]


def test_captured_tensors_and_variables():
    w = tf.Variable(3.0)
    u = tf.placeholder(tf.float32, [None])
    y = repeated(lambda y: y * w + u, 2 * u, 2)
    grads = tf.gradients(y, [u, w])
    # y = 2 u w² + u w + u
    assert listed(run([y, *grads], {u: [1.0, 2.0]})) == [[22, 44], [22, 22], 39]


def test_counters_and_what_is_not_reached():
    x, n = tf.constant(2.0), tf.constant(5)
    i, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * x), [0, 1.0])
    assert tf.gradients(y, [n]) == [None] and tf.gradients(tf.cast(i, tf.float32), x) == [None]
    other = tf.constant(1.0)
    assert tf.gradients(y, other) == [None]
    assert run(i) == 5 and run(i).dtype == np.int32


def test_stopped_and_without_back_prop():
    x = tf.constant(2.0)
    y = repeated(lambda y: tf.stop_gradient(y) * x, x)
    assert listed(run([y, *tf.gradients(y, x)])) == [16, 8]
    z = tf.while_loop(lambda z: z < 9.0, lambda z: z * x, [x], back_prop=False)
    assert run(z) == 16 and tf.gradients(z, x) == [None]


def test_nested_loops_and_branches():
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (
            i + 1,
            tf.while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * x), [0, y])[1],
        ),
        [0, x],
    )[1]
    assert listed(run([y, *tf.gradients(y, x)], {x: 2.0})) == [16, 32]
    z = tf.while_loop(
        lambda i, z: i < 4,
        lambda i, z: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: z * x, lambda: z + 1.0)),
        [0, x],
    )[1]
    # ((x² + 1) x + 1)
    assert listed(run([z, *tf.gradients(z, x)], {x: 2.0})) == [11, 13]


def test_gradients_inside():
    x = tf.constant(1.0)
    y = repeated(lambda y: y - 0.1 * tf.gradients(y * y, y)[0], x)
    np.testing.assert_allclose(run([y, *tf.gradients(y, x)]), [0.512, 0.512], rtol=1e-6)
    with pytest.raises(ValueError, match="inside while loop"):
        repeated(lambda y: tf.gradients(y * y, x)[0], x)


def test_random_numbers_differ():
    y = tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, a.write(i, tf.random_uniform([]))),
        [0, tf.TensorArray(tf.float32, 3)],
    )[1].stack()
    with tf.Session() as session:
        first, second = session.run(y), session.run(y)
    assert len({*first.tolist(), *second.tolist()}) == 6


def test_loops_that_count():
    """They are known to run so often, whatever says so, and others that look like them are not."""
    x, n = tf.constant(2.0), tf.placeholder(tf.int32, [])
    rows = tf.placeholder(tf.float32, [None])
    step, one = tf.constant(2), tf.Variable(1)

    def loop(test, following, start=0):
        y = tf.while_loop(test, lambda i, y: (following(i), y * x), [start, 1.0])[1]
        return [y, *tf.gradients(y, x)]

    for made, answer in [
        (loop(lambda i, y: i < tf.size(rows), lambda i: 1 + i), [8, 12]),
        (loop(lambda i, y: i < n, lambda i: i + 1), [16, 32]),
        (loop(lambda i, y: i < n, lambda i: i + step), [4, 4]),
        (loop(lambda i, y: i < n, lambda i: i + i, 1), [4, 4]),
        (loop(lambda i, y: i < n, lambda i: i + one, n), [1, 0]),
        (loop(lambda i, y: i < n, lambda i: i + 1, 7), [1, 0]),
        (loop(lambda i, y: i < 4.0, lambda i: i + 1.0, 0.5), [16, 32]),
        (loop(lambda i, y: tf.cast(i, tf.float32) < y, lambda i: i + 9), [2, 1]),
    ]:
        assert listed(run(made, {n: 4, rows: [0, 0, 0]})) == answer


def test_structure_of_loop_vars():
    w = tf.constant(2.0)
    start = [0, {"a": 0, "b": (w,)}]
    out = tf.while_loop(
        lambda i, d: i < 9,
        lambda i, d: (i + 1, {"a": d["a"] + i, "b": (d["b"][0] * 2.0,)}),
        start,
        maximum_iterations=3,
    )
    assert run(out) == [3, {"a": 3, "b": (16.0,)}]
    assert isinstance(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0]), tf.Tensor)
    whole = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], return_same_structure=True)
    assert run(whole) == [3]


def test_shapes_that_grow():
    x = scalar()
    r = tf.while_loop(
        lambda i, r: i < 3,
        lambda i, r: (i + 1, tf.concat([r, r[-1:] * x], 0)),
        [0, tf.stack([x])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )[1]
    assert r.shape.as_list() == [None]
    assert listed(run([r, *tf.gradients(r, x)], {x: 2.0})) == [[2, 4, 8, 16], 49]


def test_python_functions_and_printing_inside(capsys):
    x = tf.constant(1.0)
    y = repeated(lambda y: y + tf.py_func(lambda a: a * 2, [y], tf.float32), x)
    assert run(y) == 27

    def told(y):
        with tf.control_dependencies([tf.print("y", y)]):
            return y * 2.0

    assert listed(run([y := repeated(told, x), *tf.gradients(y, x)])) == [8, 8]
    assert capsys.readouterr().err.splitlines() == ["y 1", "y 2", "y 4"]


def test_assignments_are_carried():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    z = repeated(lambda z: z * w + v.assign_add(1.0), tf.constant(0.0), 4)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert listed(session.run([z, *tf.gradients(z, w)])) == [41, 40]
        assert session.run(v) == 5


def test_layers_inside():
    x = tf.placeholder(tf.float32, [None, 3])

    def layer(h):
        with tf.variable_scope("cell", reuse=tf.AUTO_REUSE):
            return tf.layers.dense(h, 3, activation=tf.tanh, name="d")

    loss = tf.reduce_mean(tf.square(repeated(layer, x) - 0.3))
    unrolled = tf.reduce_mean(tf.square(layer(layer(layer(x))) - 0.3))
    variables = tf.trainable_variables()
    assert [v.name for v in variables] == ["cell/d/kernel:0", "cell/d/bias:0"]
    both = [tf.gradients(y, variables) for y in (loss, unrolled)]
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    data = np.linspace(-1, 1, 12).reshape(4, 3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        looped, plain = session.run(both, {x: data})
        for a, b in zip(looped, plain, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)
        first = session.run(loss, {x: data})
        for _ in range(40):
            session.run(train, {x: data})
        assert session.run(loss, {x: data}) < 0.2 * first


def test_shapes_and_feeds_inside():
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    y = repeated(lambda a: tf.reshape(tf.reshape(a, [n, -1]) * 2.0, [-1]), x, 2)
    feed = {x: [1, 2, 3, 4], n: 2}
    assert listed(run([y, *tf.gradients(y, x)], feed)) == [[4, 8, 12, 16], [4, 4, 4, 4]]
    a = tf.placeholder(tf.float32, [])
    twice = a * 2.0
    z = repeated(lambda z: z * twice, twice)
    answers = [z, *tf.gradients(z, [a, twice])]
    assert listed(run(answers, {twice: 3.0, a: 0.0})) == [81, 216, 108]


def test_hessians_and_tapes():
    x = tf.constant([1.0, 2.0])
    y = repeated(lambda y: y * x * x[::-1], x, 2)  # x0³ x1² and x1³ x0²
    assert listed(run(tf.hessians(y, x))) == [[[40, 36], [36, 14]]]
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = repeated(lambda y: y * x, x, 2)
    assert listed(run(tape.gradient(y, x))) == [3, 12]
    again = tf.recompute_grad(lambda x: repeated(lambda y: y * x, x, 2) * x)(x)
    assert listed(run(tf.gradients(again, x))) == [[4, 32]]


def test_integers_carry_no_gradient():
    n = tf.constant(3)
    y = repeated(lambda y: y * n, 1)
    assert run(y) == 27 and tf.gradients(y, n) == [None]
    z = tf.cond(n > 1, lambda: n * n, lambda: n)
    assert run(z) == 9 and tf.gradients(z, n) == [None]


def test_what_while_loop_refuses():
    one = tf.constant(1.0)
    for wrong, kind, text in [
        (lambda: tf.while_loop(1, lambda i: i, [0]), TypeError, "expected a function for cond"),
        (lambda: tf.while_loop(lambda i: i < 1, 2, [0]), TypeError, "expected a function for body"),
        (
            lambda: tf.while_loop(lambda: True, lambda: 1, []),
            ValueError,
            "at least one loop variable",
        ),
        (lambda: repeated(lambda y: tf.stack([y, y]), one), ValueError, "shape_invariants"),
        (lambda: repeated(lambda y: tf.cast(y, tf.int32), one), ValueError, "same type"),
        (
            lambda: tf.while_loop(lambda i: i < 1, lambda i: (i, i), [0]),
            ValueError,
            "expected one structure",
        ),
    ]:
        with pytest.raises(kind, match=text):
            wrong()
    inner = []
    repeated(lambda y: inner.append(y) or y, one)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside of loops"):
        run(inner[0])


# --- eager


@pytest.mark.parametrize("traced", [False, True])
def test_eager(eager, traced):  # noqa: F811
    def program(x):
        y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [tf.constant(0), x])[1]
        return tf.cond(y > 1.0, lambda: y * 2.0, lambda: y)

    f = tf.function(program) if traced else program
    with tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        y = f(x)
    assert y.numpy() == 32 and tape.gradient(y, x).numpy() == 64
