"""tf.gradients and tf.stop_gradient: what they answer and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def grads(ys, xs, feed=None, **more):
    answers = tf.gradients(ys, xs, **more)
    values = iter(run([g for g in answers if g is not None], feed))
    return [None if g is None else listed(next(values)) for g in answers]


# --- arguments and result


def test_always_a_list_in_the_order_of_xs():
    x, y = tf.constant(3.0), tf.constant(5.0)
    for xs in (x, [x], (x,)):
        answer = tf.gradients(x * x, xs)
        assert isinstance(answer, list) and len(answer) == 1
    assert grads(xs=[y, x], ys=x * x * y) == [9.0, 30.0]
    assert grads(x * x, [x, x]) == [6.0, 6.0]
    assert tf.gradients(x * x, []) == []
    assert tf.gradients([], [x]) == [None]


def test_a_y_that_is_an_x_counts():
    a = tf.constant(3.0)
    assert grads([a, a * a], [a]) == [7.0]
    assert grads(a, a) == [1.0]
    v = tf.Variable([1.0, 2.0])
    assert grads(v, v) == [[1.0, 1.0]]


def test_ys_sum_and_intermediates_are_total():
    a = tf.constant(3.0)
    b = a * a
    assert grads([b, a * b], [a, b]) == [33.0, 4.0]
    y = a * a
    assert grads(y * a, [y, a]) == [3.0, 27.0]


def test_made_later_is_unconnected():
    x = tf.constant([3.0])
    y = x * x
    assert tf.gradients(y, [x[0], tf.identity(x), x * x]) == [None, None, None]


@pytest.mark.parametrize("bad", [3.0, None, "x", [1.0]])
def test_xs_must_be_tensors(bad):
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"xs\[1\]"):
        tf.gradients(x * x, [x, bad])
    with pytest.raises(TypeError, match=r"stop_gradients\[0\]"):
        tf.gradients(x * x, x, stop_gradients=[bad])


def test_ys_must_not_be_none():
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"ys\[1\]"):
        tf.gradients([x, None], x)


def test_repeated_input_counts_twice():
    x = tf.constant([2.0, 3.0])
    assert grads(x / x + x * x + x**x, x)[0] == pytest.approx(
        [4 + 4 * (1 + np.log(2)), 6 + 27 * (1 + np.log(3))], rel=1e-5
    )
    y = tf.reshape(x, [2])  # the same values under another name
    assert grads(x * y, [x, y]) == [[4.0, 6.0], [2.0, 3.0]]


# --- stop_gradients


def test_stop_gradients():
    a = tf.constant(2.0)
    b = 3 * a
    c = b * b
    assert grads(c, [a, b], stop_gradients=[b]) == [None, 12.0]
    assert grads(c, [a], stop_gradients=[c]) == [None]
    assert grads(c, [c], stop_gradients=[c]) == [1.0]
    v = tf.Variable(2.0)
    assert grads(v * a, [v, a], stop_gradients=v) == [2.0, 2.0]
    assert grads(v * v * a, [a], stop_gradients=[v]) == [4.0]


def test_stop_gradients_is_tensor_granular():
    x = tf.constant([1.0, 2.0])
    a, b = tf.split(x, 2)
    assert grads(3 * a + 5 * b, [x], stop_gradients=[a]) == [[0.0, 5.0]]
    assert grads(3 * tf.stop_gradient(a) + 5 * b, [x]) == [[0.0, 5.0]]


def test_stop_gradients_prunes_unregistered_operations():
    x = tf.constant([1.0, 2.0])
    s = 2 * x
    assert grads(tf.random.shuffle(s) + 3 * x, [x], stop_gradients=[s]) == [[3.0, 3.0]]


# --- unconnected_gradients


def test_unconnected_gradients():
    x = tf.placeholder(tf.float32, [None])
    n, v = tf.constant([1, 2]), tf.Variable(tf.ones([2, 2]))
    y = tf.constant(1.0) * 2
    zero = tf.UnconnectedGradients.ZERO
    answers = run(tf.gradients(y, [x, n, v], unconnected_gradients=zero), {x: [1, 2, 3]})
    assert listed(answers) == [[0.0] * 3, [0, 0], [[0.0] * 2] * 2]
    assert [a.dtype.name for a in answers] == ["float32", "int32", "float32"]
    assert tf.gradients(y, [x], unconnected_gradients="none") == [None]
    for bad in ("ZERO", "Zero", None, "None"):
        with pytest.raises(ValueError, match="unconnected_gradients"):
            tf.gradients(y, [x], unconnected_gradients=bad)


def test_zero_does_not_rescue_a_missing_rule():
    x = tf.constant([1.0, 2.0])
    with pytest.raises(LookupError, match="RandomShuffle"):
        tf.gradients(tf.random.shuffle(x), x, unconnected_gradients="zero")


# --- grad_ys


def test_grad_ys():
    x = tf.constant(3.0)
    assert grads([x * x, 2 * x], [x], grad_ys=[0.5, 10.0]) == [23.0]
    assert grads([x * x, 2 * x], [x], grad_ys=[None, 10.0]) == [26.0]
    v = tf.constant([1.0, 2.0, 3.0])
    assert grads(v * v, v, grad_ys=[[1.0, 10.0, 100.0]]) == [[2.0, 40.0, 600.0]]
    assert grads(v * v, v, grad_ys=[2.0]) == [[4.0, 8.0, 12.0]]  # a scalar broadcasts
    assert grads(tf.identity(v), v, grad_ys=[2.0]) == [[2.0, 2.0, 2.0]]


def test_grad_ys_take_part_in_later_derivatives():
    x = tf.constant(3.0)
    g = tf.gradients(x * x, x, grad_ys=x)
    assert listed(run([g, tf.gradients(g, x)])) == [[18.0], [12.0]]


def test_forward_mode_by_two_reverse_passes():
    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.stack([x[0] * x[1], x[1] * x[2]])
    v = tf.placeholder_with_default(tf.zeros([2]), [2])
    g = tf.gradients(y, x, grad_ys=v)[0]
    assert grads(g, [v], grad_ys=tf.constant([1.0, 0.0, 2.0])) == [[2.0, 4.0]]


def test_grad_ys_are_checked_up_front():
    x = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="expected 2 grad_ys for 2 ys, got 1"):
        tf.gradients([x * x, x], [x], grad_ys=[1.0])
    with pytest.raises(ValueError, match=r"shape \(3,\) .* got \(2,\)"):
        tf.gradients(x * x, [x], grad_ys=[[1.0, 2.0]])
    with pytest.raises(TypeError, match="float64"):
        tf.gradients(x * x, [x], grad_ys=[tf.constant(1.0, tf.float64)])


def test_aggregation_method():
    x = tf.constant(3.0)
    for method in (0, 1, 2, tf.AggregationMethod.EXPERIMENTAL_TREE, None):
        assert grads(x * x + x, x, aggregation_method=method) == [7.0]
    with pytest.raises(ValueError, match="aggregation_method"):
        tf.gradients(x * x + x, x, aggregation_method=7)
    assert grads(x * x + x, x, gate_gradients=True) == [7.0]


def test_names():
    x = tf.constant(3.0, name="x")
    y = tf.exp(x, name="y")
    assert tf.gradients(y, x)[0].name == "gradients/y_grad/mul:0"
    assert tf.gradients(y, x)[0].name == "gradients_1/y_grad/mul:0"
    assert tf.gradients(y, x, name="slope")[0].name == "slope/y_grad/mul:0"
    with tf.name_scope("a"):
        assert tf.gradients(y, x)[0].name == "a/gradients/y_grad/mul:0"


# --- higher orders


def test_powers_to_the_fifth_derivative():
    x = tf.constant(2.0)
    y = x**4
    found = []
    for _ in range(5):
        (y,) = tf.gradients(y, x)
        found.append(y)
    assert listed(run(found)) == [32.0, 48.0, 48.0, 24.0, 0.0]


def test_second_derivative_of_linear_is_none():
    x = tf.constant([2.0, 1.0])
    for y in (3 * x, -x, tf.reduce_sum(x), tf.transpose(tf.reshape(x, [1, 2])), x - 1):
        assert tf.gradients(tf.gradients(y, x), x) == [None]


def test_gradient_penalty():
    x = tf.constant([1.0, -1.0])
    g = tf.gradients(tf.reduce_sum(x**3), x)[0]
    assert grads(tf.reduce_sum(g * g), x) == [[36.0, -36.0]]


@each(
    "f", [tf.exp, tf.tanh, tf.sigmoid, tf.sin, tf.log, tf.sqrt, lambda x: x**3, lambda x: 1 / x,
          lambda x: tf.nn.softmax(x) * x, tf.nn.softplus],
    around=graph_of_its_own,
)  # fmt: skip
def test_third_derivative_is_the_difference_of_second_ones(f):
    x = tf.placeholder(tf.float64, [2])
    second = tf.gradients(tf.gradients(f(x), x), x)[0]
    third = tf.gradients(second, x)[0]
    at, step = np.array([0.6, 1.3]), 1e-4
    with tf.Session() as session:
        for k in range(2):
            unit = step * np.eye(2)[k]
            up, down = (session.run(second, {x: at + d}).sum() for d in (unit, -unit))
            assert session.run(third, {x: at})[k] == pytest.approx((up - down) / 2 / step, rel=1e-5)


# --- integers and bool


def test_integers():
    n = tf.constant([2, 3])
    assert grads(n * n + n, n) == [[5, 7]]
    assert run(tf.gradients(n * n, n))[0].dtype == np.int32
    assert tf.gradients(tf.cast(n, tf.float32) * 2.0, n) == [None]
    assert grads(tf.reduce_sum(tf.square(n) - 2 * n), n) == [[2, 4]]
    tf.set_integer_gradients(False)
    assert tf.gradients(n * n, [n]) == [None]
    assert grads(n, n) == [[1, 1]]


def test_path_through_an_integer_cast():
    x = tf.constant(2.5)
    y = tf.cast(tf.cast(x, tf.int32), tf.float32) * x
    assert grads(y, x) == [2.0]
    assert tf.gradients(x > 1.0, x) == [None]
    assert tf.gradients(tf.argmax([x]), x) == [None]


# --- stop_gradient


def test_stop_gradient():
    x = tf.constant(3.0)
    s = tf.stop_gradient(x)
    assert s.op.type == "StopGradient"
    assert tf.gradients(s, x) == [None]
    assert grads(s, s) == [1.0]
    assert grads(x * s, x) == [3.0]
    assert run(tf.stop_gradient(tf.constant([1, 2]))).tolist() == [1, 2]
    assert run(tf.stop_gradient([1.0, x])).tolist() == [1.0, 3.0]
    assert listed(run(tf.keras.backend.stop_gradient([x, s]))) == [3.0, 3.0]


def test_stop_gradient_hides_unregistered_operations_on_both_sides():
    x = tf.constant([1.0, 2.0])
    assert grads(tf.stop_gradient(tf.random.shuffle(x)) + 3 * x, x) == [[3.0, 3.0]]
    assert grads(tf.random.shuffle(tf.stop_gradient(x)) + 3 * x, x) == [[3.0, 3.0]]
    shuffled = tf.random.shuffle(x)
    assert grads(2 * shuffled, shuffled) == [[2.0, 2.0]]  # its own rule is not needed
    with pytest.raises(LookupError, match="RandomShuffle"):
        tf.gradients(shuffled, x)


# --- where


def test_branch_not_taken_cannot_leak():
    x = tf.constant([0.0, 1.0, 4.0])
    y = tf.where(x > 0, x * tf.log(x) / tf.sqrt(x), tf.zeros_like(x))
    expected = [0.0, 1.0, 0.5 + np.log(4) / 4]
    assert grads(y, x)[0] == pytest.approx(expected, rel=1e-6)
    z = tf.where(x > 0, 1 / x, x)
    assert grads(tf.reduce_sum(z), x) == [[1.0, -1.0, -0.0625]]
    second = tf.gradients(tf.gradients(tf.where(x > 0, x * tf.log(x), x), x), x)
    assert run(second)[0].tolist() == [0.0, 1.0, 0.25]
    nested = tf.where(x > 0, tf.where(x > 2, tf.log(x - 2), 1 / x), 2 * x)
    assert grads(nested, x) == [[2.0, -1.0, 0.5]]


def test_where_with_broadcast():
    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    out = tf.where([[True, False], [False, True]], x, y)
    assert run(out).tolist() == [[1.0, 3.0], [4.0, 2.0]]
    assert grads(out, [x, y]) == [[[1.0, 1.0]], [[1.0], [1.0]]]


# --- feeds never cut a path


def test_feeding_an_intermediate():
    x = tf.constant(3.0)
    y = x * x
    z = y * y
    g = tf.gradients(z, x)[0]
    assert listed(run([g, y + 1, tf.gradients(z, y)[0]], {y: 10.0})) == [120.0, 11.0, 20.0]
    assert listed(run([g, x], {x: 1.0})) == [4.0, 1.0]
    assert listed(run([3 * g, g], {g: 7.0})) == [21.0, 7.0]


@pytest.mark.parametrize(
    ("f", "slope"),
    [(tf.exp, lambda y: y), (tf.tanh, lambda y: 1 - y * y), (tf.sigmoid, lambda y: y * (1 - y)),
     (tf.sqrt, lambda y: 0.5 / y)],
)  # fmt: skip
def test_a_fed_output_is_what_its_rule_uses(f, slope):
    x = tf.constant(0.3)
    y = f(x)
    g = tf.gradients(y, x)[0]
    assert run(g, {y: 0.25}) == pytest.approx(slope(0.25), rel=1e-6)
    step = 1e-4  # the second derivative goes the same way: slope' times slope
    second = (slope(0.25 + step) - slope(0.25 - step)) / (2 * step) * slope(0.25)
    assert run(tf.gradients(g, x), {y: 0.25})[0] == pytest.approx(second, rel=1e-5)


def test_static_shapes_need_no_feed():
    x, w = tf.placeholder(tf.float32, [2]), tf.Variable([1.0, 2.0])
    assert grads(x + w, w) == [[1.0, 1.0]]
    dynamic = tf.placeholder(tf.float32, [None])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value"):
        grads(dynamic + w, w)


# --- size


def test_long_chains_and_wide_sums():
    x = tf.constant(1.0)
    y = x
    for _ in range(3000):
        y = y * 1.0
    assert grads(y, x) == [1.0]
    assert grads(tf.add_n([x] * 500), x) == [500.0]
    assert grads(tf.reduce_sum([k * x for k in range(200)]), x) == [199 * 100.0]


def test_second_derivatives_where_shapes_come_with_the_feed():
    x, axis = tf.placeholder(tf.float32, [None, None]), tf.placeholder(tf.int32, [])
    y = tf.square(tf.reduce_sum(x**3, axis))
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    a, b = run([first, second], {x: np.ones((2, 2)), axis: 1})
    assert a.tolist() == [[12.0, 12.0]] * 2 and b.tolist() == [[60.0, 60.0]] * 2
    rows, at = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [None])
    g = tf.gradients(tf.gather(rows * rows, at), rows)[0]
    h = tf.gradients(g * rows, rows)[0]
    feed = {rows: np.full((2, 3), 2.0), at: [0, 0, 1]}
    assert listed(run([g, h], feed)) == [[[8.0] * 3, [4.0] * 3], [[16.0] * 3, [8.0] * 3]]


def test_hessian_vector_product():
    v = tf.Variable([1.0, 2.0])
    (g,) = tf.gradients(v[0] ** 2 * v[1], v)
    assert grads(tf.reduce_sum(g * tf.stop_gradient([1.0, 1.0])), v) == [[6.0, 2.0]]


def test_tensors_of_two_graphs():
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(2.0) * 3.0
    for ask in (tf.gradients, tf.hessians):
        with pytest.raises(ValueError, match="is not of the same graph"):
            ask(y, x)
