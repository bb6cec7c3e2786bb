"""Functions that are composed of the core's: values against NumPy, slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run, slope  # noqa: F401

import pullback.compat.tf1 as tf

POINTS = np.array([-40.0, -2.5, -1.1, -0.7, -1e-3, 1e-9, 0.3, 0.9, 1.5, 3.0, 55.0])


def differences(function, x, at):
    """∂(sum of weights · function) by central differences."""
    out = np.empty_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6 * max(1.0, abs(x[place]))
        out[place] = np.sum(at * (function(x + step) - function(x - step))) / (2 * step[place])
    return out


@each(
    ("name", "reference", "low", "high"),
    [
        ("sinh", np.sinh, -99, 99), ("cosh", np.cosh, -99, 99), ("tan", np.tan, -1.2, 3),
        ("atan", np.arctan, -99, 99), ("asin", np.arcsin, -0.99, 0.99),
        ("acos", np.arccos, -0.99, 0.99), ("asinh", np.arcsinh, -99, 99),
        ("acosh", np.arccosh, 1.2, 99), ("atanh", np.arctanh, -0.99, 0.99),
    ],
    around=graph_of_its_own,
)  # fmt: skip
def test_hyperbolic_and_inverse_functions(name, reference, low, high):
    points = POINTS[(low <= POINTS) & (high >= POINTS)]
    x = tf.constant(points)
    y = getattr(tf, name)(x)
    value, slopes = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(value, reference(points), rtol=2e-14)
    expected = differences(reference, points, np.ones_like(points))
    np.testing.assert_allclose(slopes, expected, rtol=2e-6, atol=1e-9)
    assert getattr(tf.math, name) is getattr(tf, name)


def test_far_out():
    large = tf.constant(np.array([1e300, -1e300]))
    assert listed(run(tf.atan(large))) == pytest.approx([np.pi / 2, -np.pi / 2])
    assert listed(run(tf.asinh(large))) == pytest.approx(np.arcsinh([1e300, -1e300]).tolist())
    limit = np.array([710.2, -710.2])
    np.testing.assert_allclose(run(tf.sinh(limit)), np.sinh(limit), rtol=1e-13)
    np.testing.assert_allclose(run(tf.cosh(limit)), np.cosh(limit), rtol=1e-13)


def test_atan2():
    y = np.array([1.0, -1.0, 0.0, 2.0, -3.0, 0.5, 0.0])
    x = np.array([1.0, -2.0, -2.0, 0.0, 0.0, -0.1, 0.0])
    np.testing.assert_allclose(run(tf.atan2(y, x)), np.arctan2(y, x), rtol=1e-15)
    a, b = tf.constant(0.3), tf.constant(-0.4)
    assert listed(run(tf.gradients(tf.atan2(a, b), [a, b]))) == pytest.approx([-1.6, -1.2])


def test_divisions_without_nan():
    x, y = tf.constant([1.0, 2.0, 0.0]), tf.constant([0.0, 4.0, 0.0])
    z = tf.div_no_nan(x, y)
    assert tf.div_no_nan is tf.divide_no_nan is tf.math.divide_no_nan
    assert listed(run([z, *tf.gradients(z, [x, y])])) == [
        [0.0, 0.5, 0.0], [0.0, 0.25, 0.0], [0.0, -0.125, 0.0]
    ]  # fmt: skip
    assert listed(run([tf.xlogy(0.0, 0.0), tf.xlogy(2.0, np.e), tf.xdivy(0.0, 0.0)])) == (
        pytest.approx([0.0, 2.0, 0.0])
    )
    assert run([tf.truncatediv(-7, 2), tf.truncatemod(-7, 2), tf.floor_div(-7, 2)]) == [-3, -1, -4]


def test_saturate_cast():
    x = tf.constant([1e20, -1e20, 3.7])
    assert listed(run(tf.saturate_cast(x, tf.int32))) == [2147483520, -(2**31), 3]
    assert run(tf.saturate_cast(np.int64(2**40), tf.int32)) == 2**31 - 1
    assert run(tf.scalar_mul(2.0, x))[2] == np.float32(7.4)
    with pytest.raises(ValueError, match="scalar"):
        tf.scalar_mul([1.0, 2.0], x)


# --- norms


@each(
    ("ord", "axis"),
    [
        ("euclidean", None), (2, 1), (1, 0), (np.inf, 1), (3, 1), ("fro", (0, 1)), (1, (0, 1)),
        (np.inf, (0, 1)), ("euclidean", (0, 1)),
    ],
)  # fmt: skip
@each("keep", [False, True], around=graph_of_its_own)
def test_norm(ord, axis, keep):
    value = np.random.default_rng(1).normal(size=(3, 4))
    name = {"euclidean": None}.get(ord, ord)
    x = tf.constant(value)
    y = tf.norm(x, ord, axis, keepdims=keep)

    def reference(a):
        flat = a.ravel() if axis is None else a
        out = np.linalg.norm(flat, name, 0 if axis is None else axis, keepdims=keep)
        return out.reshape(1, 1) if axis is None and keep else out

    got, slopes = run([y, tf.gradients(y, x)[0]])
    np.testing.assert_allclose(got, reference(value), rtol=1e-12)
    expected = differences(reference, value, np.ones(got.shape))
    np.testing.assert_allclose(slopes, expected, atol=1e-7)


def test_norm_at_its_kink_and_of_large_numbers():
    x = tf.constant([[0.0, 0.0], [3.0, 4.0]])
    assert slope(tf.norm(x, axis=1), x) == [[0.0, 0.0], pytest.approx([0.6, 0.8])]
    assert run(tf.norm([1e30, 1e30])) == pytest.approx(1.4142135e30)
    assert run(tf.norm(tf.constant([[3.0], [4.0]]), name="length")) == 5.0
    with pytest.raises(ValueError, match="ord"):
        tf.norm(x, -1)
    with pytest.raises(ValueError, match="axis"):
        tf.norm(x, axis=[0, 1, 2])


# --- linear


def test_cumulated():
    value = np.random.default_rng(2).integers(1, 5, (3, 5)).astype(float)
    x = tf.constant(value)
    for axis in (0, 1, -1):
        np.testing.assert_array_equal(run(tf.cumsum(x, axis)), np.cumsum(value, axis))
        np.testing.assert_array_equal(run(tf.cumprod(x, axis)), np.cumprod(value, axis))
    back = np.cumsum(value[:, ::-1], 1)[:, ::-1]
    np.testing.assert_array_equal(run(tf.cumsum(x, 1, reverse=True)), back)
    np.testing.assert_array_equal(run(tf.cumsum(x, 1, True, True)), back - value)
    np.testing.assert_array_equal(run(tf.cumsum(x, 1, exclusive=True)), np.cumsum(value, 1) - value)
    weights = np.arange(15.0).reshape(3, 5)
    (g,) = tf.gradients(tf.cumprod(x, 1) * weights, x)
    expected = differences(lambda a: np.cumprod(a, 1), value, weights)
    np.testing.assert_allclose(run(g), expected, rtol=1e-7)
    with pytest.raises(ValueError, match="axis 2"):
        tf.cumsum(x, 2)


def test_contractions_and_diagonals():
    random = np.random.default_rng(3)
    a, b = random.normal(size=(2, 3, 4)), random.normal(size=(4, 3))
    np.testing.assert_allclose(run(tf.einsum("ijk,kj->i", a, b)), np.einsum("ijk,kj->i", a, b))
    np.testing.assert_allclose(run(tf.tensordot(a, b, 1)), np.tensordot(a, b, 1))
    for axes in ([[2, 1], [0, 1]], [1, 1]):
        np.testing.assert_allclose(run(tf.tensordot(a, b, axes)), np.tensordot(a, b, axes))
    square = random.normal(size=(2, 3, 3))
    np.testing.assert_allclose(run(tf.trace(square)), np.trace(square, axis1=1, axis2=2))
    np.testing.assert_array_equal(run(tf.diag([1.0, 2.0])), np.diag([1.0, 2.0]))
    np.testing.assert_array_equal(run(tf.diag_part(square[0])), np.diag(square[0]))
    np.testing.assert_array_equal(run(tf.matrix_diag([[1.0], [2.0]])), [[[1.0]], [[2.0]]])
    np.testing.assert_array_equal(run(tf.matrix_transpose(a)), a.swapaxes(1, 2))
    left, right = random.normal(size=(2, 5, 3))
    np.testing.assert_allclose(run(tf.cross(left, right)), np.cross(left, right))
    x = tf.constant(square)
    np.testing.assert_array_equal(slope(tf.trace(x), x), np.stack([np.eye(3)] * 2))
    with pytest.raises(TypeError, match="expected only name as a keyword"):
        tf.einsum("i->i", [1.0], optimize=True)


def test_counts_and_rows_of_numbers():
    x = tf.constant([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    assert run(tf.count_nonzero(x)) == 3
    assert listed(run(tf.count_nonzero(x, axis=1, dtype=tf.int32))) == [2, 1]
    np.testing.assert_allclose(run(tf.linspace(-1.0, 2.0, 7)), np.linspace(-1, 2, 7))
    assert listed(run(tf.identity_n([x[0], 2 * x[1]]))) == [[1.0, 0.0, 2.0], [0.0, 0.0, 6.0]]
    assert listed(run(tf.accumulate_n([x[0], x[1]]))) == [1.0, 0.0, 5.0]


# --- order and positions


def test_sorted_values_have_gradients():
    value = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, -1.0]])
    x = tf.constant(value)
    np.testing.assert_array_equal(run(tf.sort(x)), np.sort(value))
    np.testing.assert_array_equal(run(tf.argsort(x, 0)), np.argsort(value, 0))
    np.testing.assert_array_equal(run(tf.sort(x, -1, "DESCENDING")), -np.sort(-value))
    assert slope(tf.sort(x) * [1.0, 10.0, 100.0], x) == [[100.0, 1.0, 10.0], [10.0, 100.0, 1.0]]
    best, at = tf.nn.top_k(x, 2)
    assert listed(run([best, at])) == [[[3.0, 2.0], [5.0, 0.0]], [[0, 2], [1, 0]]]
    assert slope(best, x) == [[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    with pytest.raises(ValueError, match="ASCENDING"):
        tf.sort(x, direction="up")
    with pytest.raises(ValueError, match="4"):
        tf.nn.top_k(x, 4)


def test_top_k_of_integers_that_have_no_negative():
    least = np.iinfo(np.int32).min
    best, at = tf.nn.top_k(tf.constant([least, 3, 5, 3], tf.int32), 4)
    assert listed(run([best, at])) == [[5, 3, 3, least], [2, 1, 3, 0]]


def test_in_top_k_counts_what_is_larger():
    scores = [[0.1, 0.9, 0.5], [0.4, 0.4, 0.2]]
    assert listed(run(tf.nn.in_top_k(scores, [2, 0], 1))) == [False, True]
    assert listed(run(tf.nn.in_top_k(scores, [2, 1], k=2))) == [True, True]


def test_positions_and_masks():
    value = np.array([[1.0, 0.0, 2.0], [0.0, 4.0, 5.0]])
    x = tf.constant(value)
    at = tf.where(x > 1)
    assert at.shape.as_list() == [None, 2] and at.dtype == tf.int64
    np.testing.assert_array_equal(run(at), np.argwhere(value > 1))
    np.testing.assert_array_equal(run(tf.gather_nd(x, at)), value[value > 1])
    masked = tf.boolean_mask(x * x, x > 1)
    np.testing.assert_array_equal(run(masked), (value * value)[value > 1])
    assert slope(masked, x) == [[0.0, 0.0, 4.0], [0.0, 8.0, 10.0]]
    rows = tf.boolean_mask(x, [False, True])
    assert listed(run(rows)) == [[0.0, 4.0, 5.0]]
    columns = tf.boolean_mask(x, [True, False, True], axis=1)
    assert listed(run(columns)) == [[1.0, 2.0], [0.0, 5.0]]
    with pytest.raises(ValueError, match="mask of shape"):
        tf.boolean_mask(x, [True, False, True])
    with pytest.raises(ValueError, match="both x and y"):
        tf.where(x > 1, x)


def test_unique_in_the_order_of_their_first_place():
    values, places, counts = tf.unique_with_counts([7, 3, 7, 1, 3, 7])
    assert listed(run([values, places, counts])) == [[7, 3, 1], [0, 1, 0, 2, 1, 0], [3, 2, 1]]
    assert listed(run(list(tf.unique([2.5, 2.5])))) == [[2.5], [0, 0]]


def test_gathered_and_scattered():
    value = np.arange(24.0).reshape(2, 3, 4)
    x = tf.constant(value)
    np.testing.assert_array_equal(run(tf.gather_nd(x, [[1, 2], [0, 1]])), value[[1, 0], [2, 1]])
    np.testing.assert_array_equal(run(tf.gather_nd(x, [[[1, 2, 3]]])), [[23.0]])
    assert slope(tf.gather_nd(x[0], [[1, 2], [1, 2]]), x)[0][1] == [0.0, 0.0, 2.0, 0.0]
    out = tf.scatter_nd([[1, 0], [1, 0], [0, 2]], tf.constant([5.0, 6.0, 7.0]), [2, 3])
    assert listed(run(out)) == [[0.0, 0.0, 7.0], [11.0, 0.0, 0.0]]
    wide, at = tf.placeholder(tf.float64, [2, 3]), tf.placeholder(tf.int32, [1, 2])
    for operation in (
        tf.gather_nd(wide, at), tf.scatter_nd(at, tf.constant([1.0]), [2, 3]),
        tf.tensor_scatter_add(wide, at, tf.constant(np.ones(1))),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match="index 4 is out of range"):
            run(operation, {wide: np.ones((2, 3)), at: [[0, 4]]})
    sums = tf.unsorted_segment_sum(x[0], [1, 0, 1], 2)
    np.testing.assert_array_equal(run(sums), [value[0, 1], value[0, 0] + value[0, 2]])
    np.testing.assert_array_equal(run(tf.reverse(x, [0, 2])), value[::-1, :, ::-1])
    lengths = tf.constant([1, 3])
    assert listed(run(tf.sequence_mask(lengths, 4, tf.int32))) == [[1, 0, 0, 0], [1, 1, 1, 0]]
    assert listed(run(tf.invert_permutation([2, 0, 1]))) == [1, 2, 0]


@pytest.mark.usefixtures("eager")
def test_the_same_in_eager_mode():
    x = tf.constant([[1.0, 0.0, 2.0]])
    assert listed(tf.boolean_mask(x, x > 0).numpy()) == [1.0, 2.0]
    assert listed(tf.sort(x).numpy()) == [[0.0, 1.0, 2.0]]
    assert float(tf.norm(x).numpy()) == pytest.approx(np.sqrt(5))
    assert listed(tf.unique([4, 4, 1])[0].numpy()) == [4, 1]
    assert listed(tf.where(x).numpy()) == [[0, 0], [0, 2]]


def test_multinomial_has_the_probabilities():
    tf.set_random_seed(8)
    shares = np.array([[0.2, 0.5, 0.3], [0.7, 0.1, 0.2]])
    draws = run(tf.multinomial(np.log(shares), 20000))
    assert draws.dtype == np.int64 and draws.shape == (2, 20000)
    for row, share in zip(draws, shares, strict=True):
        np.testing.assert_allclose(np.bincount(row, minlength=3) / 20000, share, atol=0.015)
    assert run(tf.random.categorical(np.log(shares), 3, dtype=tf.int32)).dtype == np.int32


# --- checks


def test_assertions_raise_when_they_run():
    x = tf.placeholder(tf.float32, [None])
    for holds, values in (
        (tf.assert_equal(x, 2.0), [2, 2]), (tf.assert_none_equal(x, 2.0), [1, 3]),
        (tf.assert_less(x, 3.0), [1, 2]), (tf.assert_greater_equal(x, 1.0), [1, 2]),
        (tf.assert_positive(x), [1, 2]), (tf.assert_non_positive(x), [-1, 0]),
    ):  # fmt: skip
        with tf.Session() as session:
            session.run(holds, {x: values})
            with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
                session.run(holds, {x: [2, 2, 5, -1]})
    with tf.control_dependencies([tf.assert_less(x, 3.0, message="too long")]):
        y = tf.identity(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"too long.*5\.0"):
        run(y, {x: [5]})
    assert listed(run(tf.gradients(y * y, x), {x: [2]})) == [[4.0]]


def test_check_numerics():
    x = tf.placeholder(tf.float32, [None])
    y = tf.check_numerics(tf.log(x), "the log")
    assert listed(run(y, {x: [1]})) == [0.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="the log : Tensor had NaN"):
        run(y, {x: [1, 0]})


@pytest.mark.usefixtures("eager")
def test_assertions_in_eager_mode():
    assert tf.assert_equal(tf.constant(1), 1) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="x =="):
        tf.assert_equal(tf.constant(1), 2)


def test_print_on_the_way(capsys):
    x = tf.constant([1.0, 2.0])
    y = tf.Print(x, [x * 2, tf.reduce_sum(x)], "seen: ", first_n=2)
    with tf.Session() as session:
        for _ in range(3):
            assert listed(session.run(tf.identity(y))) == [1.0, 2.0]
    assert capsys.readouterr().err == "seen: [[2 4]][3]\n" * 2
    assert slope(y * y, x) == [2.0, 4.0]
