"""tf.custom_gradient: what it wraps, when its rule is called, variables, higher orders."""

from __future__ import annotations

import functools
import gc
import weakref

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run, slope  # noqa: F401

import pullback.compat.tf1 as tf


def test_result_is_always_new_and_function_keeps_its_name():
    @tf.custom_gradient
    def f(x):
        "Documented."
        return x, lambda d: d

    x = tf.constant(1.0)
    y = f(x)
    assert y is not x and y.op.type == "IdentityN"
    assert (f.__name__, f.__doc__) == ("f", "Documented.")
    assert slope(tf.custom_gradient()(lambda x: (x, lambda d: 4 * d))(x), x) == 4.0


def test_inputs():
    @tf.custom_gradient
    def f(x, y):
        return x + y, lambda d: (10 * d, 100 * d)

    x, y = tf.constant(1.0), tf.constant(2.0)
    assert slope(f(x, x), x) == 110.0
    assert listed(run(tf.gradients(f(y=y, x=x), [x, y]))) == [10.0, 100.0]  # by keyword
    outside = tf.constant(3.0)

    @tf.custom_gradient
    def closes(x):
        return x * outside, lambda d: 7 * d

    assert tf.gradients(closes(x), outside) == [None]
    assert slope(closes(x), x) == 7.0


def test_numbers_pass_through_without_a_slot():
    @tf.custom_gradient
    def power(x, n, note=None):
        assert n == 3 and note == "cube"
        return x**n, lambda d: d * n * x ** (n - 1)

    x = tf.constant(2.0)
    assert slope(power(x, 3, note="cube"), x) == 12.0


def test_nests():
    @tf.custom_gradient
    def f(pair, named):
        total = {"sum": pair[0] + named["b"], "more": (pair[1] * named["a"],)}
        return total, lambda more, sum: ((sum, more), {"b": 5 * sum, "a": 6 * more})

    x = [tf.constant(float(k)) for k in range(4)]
    out = f((x[0], x[1]), {"a": x[2], "b": x[3]})
    assert listed(run([out["sum"], out["more"][0]])) == [3.0, 2.0]
    answers = run(tf.gradients([out["sum"], out["more"][0]], x))
    assert listed(answers) == [1.0, 1.0, 6.0, 5.0]  # a dict's entries in the order of its keys


def test_methods():
    class Scale:
        factor = 3.0

        @tf.custom_gradient
        def __call__(self, x):
            return x * self.factor, lambda d: d * 2 * self.factor

    x = tf.constant(1.0)
    assert slope(Scale()(x), x) == 6.0


def test_rules_are_lazy_and_called_once_for_each_gradients():
    calls = []

    @tf.custom_gradient
    def f(x):
        def rule(*upstreams):
            calls.append(upstreams)
            return upstreams[0]

        return (x + 1, x + 2), rule

    x = tf.constant(1.0)
    a, _ = f(x)
    assert calls == []
    assert slope(a, x) == 1.0
    assert len(calls) == 1 and len(calls[0]) == 2  # the unused result arrives as zeros


def test_none_is_no_gradient():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda d: (None, d)

    x, y = tf.constant(2.0), tf.constant(3.0)
    assert tf.gradients(f(x, y), x) == [None]
    assert slope(f(x, y) + 5 * x, x) == 5.0


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (lambda d: [d, d], ValueError),
        (lambda d: 1, TypeError),
        (lambda d: tf.reduce_sum(d), ValueError),
        (lambda d: tf.cast(d, tf.int32), TypeError),
    ],
)
def test_wrong_results(rule, kind):
    @tf.custom_gradient
    def f(x):
        return 2 * x, rule

    x = tf.constant([1.0, 2.0])
    with pytest.raises(kind, match=r"test_custom\.py"):
        tf.gradients(f(x), x)


def test_must_return_a_pair():
    with pytest.raises(TypeError, match="pair"):
        tf.custom_gradient(lambda x: x)(tf.constant(1.0))
    with pytest.raises(TypeError, match="function"):
        tf.custom_gradient(3)


# --- variables


def test_variables_are_given_by_name_and_without_arguments_that_are_variables():
    b, a = tf.Variable(2.0, name="b"), tf.Variable(3.0, name="a")
    frozen, passed = tf.Variable(5.0, trainable=False), tf.Variable(7.0)

    @tf.custom_gradient
    def f(x, p):
        def rule(d, variables):
            assert variables == [a, b]
            return (d, 2 * d), [30 * d, 20 * d]

        return b * x * a * frozen * p, rule

    x = tf.constant(1.0)
    y = f(x, passed)
    assert listed(run(tf.gradients(y, [x, passed, a, b]))) == [1.0, 2.0, 30.0, 20.0]
    assert tf.gradients(y, frozen) == [None]


def test_rule_without_variables_leaves_their_ordinary_gradients():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return v * v * x, lambda d: 100 * d

    x = tf.constant(2.0)
    assert listed(run(tf.gradients(5 * f(x), [x, v]))) == [500.0, 60.0]


def test_ordinary_gradients_of_variables_stop_at_the_arguments():
    """Where the argument depends on the variable too, that part comes along the argument alone."""
    v = tf.Variable([3.0, -1.0])

    def plain(x):
        return tf.sigmoid(x * v)

    @tf.custom_gradient
    def own(x):
        return plain(x), lambda d: d * plain(x) * (1 - plain(x)) * v

    x = tf.constant([1.0, 2.0])
    for f in (own, tf.recompute_grad(plain)):
        got, expected = (run(tf.gradients(g(g(x)), [x, v])) for g in (f, plain))
        np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_variables_keep_their_default_where_none_is_read():
    @tf.custom_gradient
    def f(x):
        def rule(d, variables=None):
            assert variables is None
            return d

        return x, rule

    x = tf.constant(2.0)
    assert slope(f(x), x) == 1.0


def test_wrong_number_of_variable_gradients():
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def f(x):
        return v * x, lambda d, variables: (d, [])

    with pytest.raises(ValueError, match="expected 1 gradient for its variables, got 0"):
        tf.gradients(f(tf.constant(1.0)), v)


# --- higher orders


def test_second_derivatives():
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda d: d * 3 * x**2

    @tf.custom_gradient
    def seven(x):
        return x**3, lambda d: 7 * d

    x = tf.constant(2.0)
    first = tf.gradients(cube(x), x)
    assert listed(run([first, tf.gradients(first, x)])) == [[12.0], [12.0]]
    assert tf.gradients(tf.gradients(seven(x), x), x) == [None]


def test_naive_nesting_is_the_ordinary_second_derivative():
    @tf.custom_gradient
    def cube(x):
        @tf.custom_gradient
        def rule(d):
            return d * 3 * x**2, lambda dd: 1000 * dd

        return x**3, rule

    x = tf.constant(2.0)
    first = tf.gradients(cube(x), x)
    assert listed(run([first, tf.gradients(first, x)])) == [[12.0], [12.0]]


@pytest.mark.usefixtures("eager")
def test_naive_nesting_in_eager_mode():
    @tf.custom_gradient
    def cube(x):
        @tf.custom_gradient
        def rule(d):
            return d * 3.0 * x**2, lambda dd: 1000.0 * dd

        return x**3, rule

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert float(first) == 12.0 and float(outer.gradient(first, x)) == 12.0


def test_a_wrapper_of_a_decorated_rule_is_called_as_it_is():
    @tf.custom_gradient
    def one(d):
        return d * 1.0, lambda dd: dd

    @functools.wraps(one)
    def twice(d):
        return 2.0 * one(d)

    x = tf.constant(1.0)
    assert slope(tf.custom_gradient(lambda t: (t * 1.0, twice))(x), x) == 2.0


def test_grad_pass_through():
    x = tf.constant([1.2, 2.7])
    assert slope(tf.grad_pass_through(tf.round)(x), x) == [1.0, 1.0]
    with pytest.raises(ValueError, match="returned 1 tensors, expected 2"):
        tf.grad_pass_through(tf.add)(x, x)


def test_nothing_global_keeps_a_rule_alive():
    def build():
        rules = []

        @tf.custom_gradient
        def f(x):
            def rule(d):
                return d

            rules.append(weakref.ref(rule))
            return 2 * x, rule

        with tf.Graph().as_default():
            x = tf.constant(1.0)
            tf.gradients(f(x), x)
        return rules

    (rule,) = build()
    gc.collect()
    assert rule() is None
