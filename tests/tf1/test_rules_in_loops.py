"""Gradient rules of programs in the bodies of loops and branches."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def repeated(body, start, times=3):
    """body(y), so many times."""
    return tf.while_loop(lambda i, y: i < times, lambda i, y: (i + 1, body(y)), [0, start])[1]


def test_rules_of_programs_inside():
    @tf.custom_gradient
    def square(t):
        return t * t, lambda upstream: upstream * 10.0 * t

    x, w = tf.constant(2.0), tf.constant(3.0)
    y = repeated(lambda y: square(y) * w, x, 2)
    slopes = tf.gradients(y, [x, w])
    assert listed(run([y, *slopes])) == [432, 21600, 1584]
    assert run(tf.gradients(slopes[0], x)[0]) == 118800
    # The rule is differentiated where a gradient inside is: 10 y² + y², of which y² by the rule.
    z = repeated(lambda y: y - 0.1 * tf.gradients(square(y) * y, y)[0], tf.constant(1.0), 1)
    start = z.op.inputs[1]
    np.testing.assert_allclose(run([z, *tf.gradients(z, start)]), [-0.1, -2.0], rtol=1e-5)


def test_overrides_inside():
    @tf.RegisterGradient("Seven")
    def rule(op, upstream):
        return 7.0 * upstream

    x = tf.constant(0.5)
    with tf.get_default_graph().gradient_override_map({"Sin": "Seven", "Cos": "Identity"}):
        y = repeated(tf.sin, x, 2)
        z = tf.cond(x > 0, lambda: tf.cos(x), lambda: x)
    assert listed(run([*tf.gradients(y, x), *tf.gradients(z, x)])) == [49, 1]


def test_a_rule_uses_what_nothing_else_does():
    c = tf.constant(2.0) * tf.constant(3.0)

    @tf.custom_gradient
    def f(t):
        z = 2.0 * tf.sigmoid(t)
        return t * 1.0, lambda upstream: upstream * z * c

    x = tf.constant(0.0)
    (g,) = tf.gradients(repeated(f, x, 2), x)
    chosen = tf.cond(x < 1.0, lambda: f(x), lambda: x)
    # z' = 1/2, and the first step has slope 6.
    assert listed(run([g, *tf.gradients(g, x), *tf.gradients(chosen, x)])) == [36, 126, 6]


def test_a_rule_that_calls_its_function():
    @tf.custom_gradient
    def f(t):
        return tf.exp(t), lambda upstream: upstream * f(t) * 2.0

    x = tf.constant(0.0)
    answers = [repeated(f, x, 1)]
    for _ in range(3):
        answers += tf.gradients(answers[-1], x)
    assert listed(run(answers)) == [1, 2, 4, 8]


@pytest.mark.parametrize("named", [False, True])
def test_variables_that_the_function_reads(named):
    w, x = tf.Variable(2.0), tf.constant(1.0)

    def plain(t):
        return t * w, lambda upstream: upstream * 10.0

    def own(t):
        return t * w, lambda upstream, variables=None: (upstream * 10.0, [upstream * 5.0])

    y = repeated(tf.custom_gradient(own if named else plain), x, 2)
    slopes = [100, 55] if named else [100, 12]
    assert listed(run([y, *tf.gradients(y, [x, w])])) == [4, *slopes]


def test_rules_that_fail_or_are_missing():
    @tf.custom_gradient
    def f(t):
        def rule(upstream):
            raise OSError("nothing here")

        return t * t, rule

    x = tf.constant(3.0)
    y = repeated(f, x, 1)
    assert run(y) == 9
    with pytest.raises(OSError, match="nothing here"):
        tf.gradients(y, x)
    with tf.get_default_graph().gradient_override_map({"Sin": "NobodyHasThisRule"}):
        y = repeated(tf.sin, x, 1)
    with pytest.raises(LookupError, match="NobodyHasThisRule"):
        tf.gradients(y, x)


def test_python_functions_with_a_rule():
    x = tf.constant([1.0, 2.0])
    y = tf.while_loop(
        lambda i, y: i < 2,
        lambda i, y: (i + 1, tf.py_function(lambda a: a * a, [y], tf.float32)),
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)],
    )[1]
    assert listed(run([y, *tf.gradients(y, x)])) == [[1, 16], [4, 32]]


def test_gradients_of_what_a_function_computes_from_variables_alone():
    """Of ordinary gradients in a rule, and of a rule that differentiates its own function."""
    with tf.Session() as session:
        w = tf.get_variable("w", initializer=[0.5, 1.5])
        x = tf.placeholder(tf.float32, [2])
        session.run(w.initializer)

        def scaled(e):
            s = tf.reduce_sum(w * w)
            return e * s, lambda d: d * s

        def own(e):
            y = tf.sin(e) * tf.reduce_sum(w * w)
            return y, lambda d: tf.gradients(y, e, d)[0]

        def derivatives(y):
            firsts = tf.gradients(y, [w, x])
            seconds = tf.gradients(tf.reduce_sum(firsts[0]) + tf.reduce_sum(firsts[1]), [w, x])
            return session.run([*firsts, *seconds], {x: [0.3, 0.7]})

        for f in (scaled, own):
            f_of = tf.custom_gradient(f)
            for g in (
                lambda h: tf.map_fn(h, x),
                lambda h: repeated(h, x, 2),
                lambda h: tf.scan(lambda c, e: h(c) + e, x, initializer=1.0),
                lambda h: tf.map_fn(lambda e: repeated(h, e, 2), x),
                lambda h: tf.cond(x[0] > 0, lambda: h(x), lambda: x),
            ):
                want = derivatives(tf.reduce_sum(g(lambda e, f=f: f(e)[0])))
                for got, one in zip(derivatives(tf.reduce_sum(g(f_of))), want, strict=True):
                    np.testing.assert_allclose(got, one, rtol=1e-5)
