"""Slices, grids, rows that are replaced, segments, and what only older programs call."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run, slope  # noqa: F401

import pullback.compat.tf1 as tf

X = np.arange(24.0).reshape(2, 3, 4)


def test_slices():
    x, n = tf.constant(X), tf.placeholder(tf.int32, [3])
    np.testing.assert_array_equal(run(tf.slice(x, [0, 1, 1], [1, 2, -1])), X[:1, 1:, 1:])
    np.testing.assert_array_equal(run(tf.slice(x, n, [1, 1, 2]), {n: [1, 2, 0]}), X[1:, 2:, :2])
    got = tf.strided_slice(x, [0, 0, 3], [2, 2, 0], [1, 1, -2], begin_mask=2, shrink_axis_mask=1)
    np.testing.assert_array_equal(run(got), X[0, :2, 3:0:-2])
    got = tf.strided_slice(x, [0, 0, 1], [0, 0, 3], new_axis_mask=1, ellipsis_mask=2)
    np.testing.assert_array_equal(run(got), X[None, ..., 1:3])
    assert np.sum(slope(tf.slice(x, [0, 1, 1], [1, 2, -1]), x)) == 6


def test_grids_rolls_and_bands():
    for indexing in ("xy", "ij"):
        got = run(tf.meshgrid([1, 2], [3, 4, 5], [6, 7], indexing=indexing))
        for a, b in zip(
            got, np.meshgrid([1, 2], [3, 4, 5], [6, 7], indexing=indexing), strict=True
        ):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(run(tf.roll(X, [1, -2], [0, 2])), np.roll(X, (1, -2), (0, 2)))
    np.testing.assert_array_equal(run(tf.matrix_band_part(X, 0, -1)), np.triu(X))
    np.testing.assert_array_equal(run(tf.matrix_band_part(X, 1, 0)), np.tril(X) - np.tril(X, -2))
    with pytest.raises(ValueError, match="indexing"):
        tf.meshgrid([1], indexing="ji")


def test_shapes_that_are_told():
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.ensure_shape(x, [3, None])
    assert y.shape.as_list() == [3, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="got \\(1, 2\\)"):
        run(y, {x: [[1, 2]]})
    assert tf.broadcast_static_shape([None, 1], tf.TensorShape([2, 5])).as_list() == [2, 5]
    assert listed(run(tf.shape_n([tf.constant(X), tf.constant(1.0)]))) == [[2, 3, 4], []]
    assert tf.is_tensor(x) and not tf.is_tensor(X)


def test_rows_of_variables():
    v = tf.Variable(np.ones((4, 2), np.float32))
    rows, new = [1, 3, 1], [[2.0, 2.0], [4.0, 4.0], [8.0, 8.0]]
    value = np.ones((4, 2))
    for operation, at in (
        (tf.scatter_add, np.add.at), (tf.scatter_mul, np.multiply.at),
        (tf.scatter_sub, np.subtract.at), (tf.scatter_div, np.divide.at),
        (tf.scatter_max, np.maximum.at), (tf.scatter_min, np.minimum.at),
    ):  # fmt: skip
        at(value, np.array(rows), np.array(new))
        with tf.Session() as session:
            session.run(v.initializer)
            change = operation(v, rows, new)
            expected = np.ones((4, 2))
            at(expected, np.array(rows), np.array(new))
            np.testing.assert_allclose(session.run(change), expected, rtol=1e-6)
            np.testing.assert_allclose(session.run(v), expected, rtol=1e-6)
    changed = tf.scatter_update(v, [2], [[5.0, 6.0]])
    assert listed(run(changed)[2]) == [5.0, 6.0] and changed.op.type == "ScatterUpdate"
    assert tf.gradients(changed, v) == [None]


def test_bounds_of_slices_that_do_not_fit() -> None:
    n, any_rank = tf.placeholder(tf.int32, []), tf.placeholder(tf.float32)
    x = tf.ones([3])
    for begin, size in (([n, n], [1, 1]), ([n], [1, 1]), ([n, n], [1]), ([], [1]), ([0, n], [2])):
        with pytest.raises(ValueError, match="slice: expected 1 entries for begin and size"):
            tf.slice(x, begin, size)
    with pytest.raises(ValueError, match="slice: expected 1 entries for begin and size"):
        tf.slice(any_rank, [n, n], [1])
    for begin, size in ((0, [1]), ([0], 1), ([[0]], [1]), ([0], [[1]]), ([[n]], [1])):
        with pytest.raises(
            ValueError, match=r"slice: expected a list of integers for (begin|size)"
        ):
            tf.slice(x, begin, size)
    with pytest.raises(ValueError, match="slice: expected 1 entries for begin and size"):
        tf.slice(x, tf.placeholder(tf.int32, [2]), [1])
    feed = {n: 1, any_rank: [1.0, 2.0, 3.0]}
    assert run(tf.slice(any_rank, [n], [2]), feed).tolist() == [2, 3]


def test_rows_of_tensors():
    x, u = tf.constant(X), tf.constant([[1.0] * 4, [2.0] * 4])
    u = tf.cast(u, tf.float64)
    places = [[0, 1], [1, 2]]
    for operation, at in (
        (tf.tensor_scatter_add, np.add.at), (tf.tensor_scatter_sub, np.subtract.at),
    ):  # fmt: skip
        expected = X.copy()
        at(expected, ([0, 1], [1, 2]), np.array([[1.0] * 4, [2.0] * 4]))
        np.testing.assert_array_equal(run(operation(x, places, u)), expected)
    y = tf.tensor_scatter_nd_update(x, places, u)
    by_x, by_u = run(tf.gradients(y, [x, u]))
    assert by_x.sum() == 16 and by_x[0, 1].sum() == 0 and by_u.sum() == 8


def test_segments():
    data, ids = tf.constant([1.0, 2.0, 5.0, 4.0]), tf.constant([0, 0, 1, 3])
    assert listed(run(tf.segment_sum(data, ids))) == [3.0, 5.0, 0.0, 4.0]
    assert listed(run(tf.segment_mean(data, ids))) == [1.5, 5.0, 0.0, 4.0]
    assert slope(tf.math.segment_mean(data, ids), data) == [0.5, 0.5, 1.0, 1.0]
    matrix = tf.unsorted_segment_mean(X[0], [1, 0, 1], 2)
    np.testing.assert_array_equal(run(matrix), [X[0, 1], (X[0, 0] + X[0, 2]) / 2])


def test_confusion_matrix():
    labels, guesses = [0, 1, 2, 1], [0, 2, 2, 1]
    expected = [[1, 0, 0], [0, 1, 1], [0, 0, 1]]
    assert listed(run(tf.confusion_matrix(labels, guesses, 3))) == expected
    weighted = tf.confusion_matrix(labels, guesses, 3, tf.float32, weights=[0.5, 1.0, 1.0, 2.0])
    assert listed(run(weighted)) == [[0.5, 0.0, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 1.0]]


@pytest.mark.usefixtures("eager")
def test_in_eager_mode():
    v = tf.Variable([1.0, 2.0, 3.0])
    tf.scatter_sub(v, [0, 0], [1.0, 1.0])
    assert listed(v.numpy()) == [-1.0, 2.0, 3.0]
    assert listed(tf.slice(tf.constant(X), [0, 0, 0], [1, 1, 2]).numpy()) == [[[0.0, 1.0]]]


# --- what is said of shapes and dtypes


def test_assertions_about_what_is_known():
    x = tf.placeholder(tf.float32, [None, 2])
    assert tf.assert_rank(x, 2).type == tf.assert_rank_at_least(x, 1).type == "NoOp"
    with pytest.raises(ValueError, match=r"my words.*rank 2"):
        tf.assert_rank(x, 3, message="my words")
    with pytest.raises(ValueError, match="rank of at least 3"):
        tf.assert_rank_at_least(x, 3)
    with pytest.raises(ValueError, match="scalar"):
        tf.assert_scalar(x)
    tf.assert_type(x, tf.float32)
    with pytest.raises(TypeError, match="int32"):
        tf.assert_type(x, tf.int32)
    with pytest.raises(TypeError, match="integers"):
        tf.assert_integer(x)


# --- networks and rates


def test_local_response_normalization():
    x = np.random.default_rng(1).normal(size=(2, 2, 2, 7))
    got = run(tf.nn.lrn(x, 2, 1.5, 0.3, 0.75))
    expected = np.empty_like(x)
    for c in range(7):
        near = x[..., max(c - 2, 0) : c + 3]
        expected[..., c] = x[..., c] / (1.5 + 0.3 * np.sum(near**2, -1)) ** 0.75
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_relu_layer_and_cosine_distance():
    x, w, b = [[1.0, -2.0]], [[1.0, 0.0], [0.0, 3.0]], [0.5, 1.0]
    assert listed(run(tf.nn.relu_layer(x, w, b))) == [[1.5, 0.0]]
    y, p = np.array([[0.6, 0.8], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    loss = tf.losses.cosine_distance(y, p, axis=1)
    assert run(loss) == pytest.approx(np.mean(1 - np.sum(y * p, 1)))
    with pytest.raises(ValueError, match="expected an integer for axis"):
        tf.losses.cosine_distance(y, p)


def test_cosine_rates():
    step = tf.placeholder(tf.int64, [])
    again = tf.train.cosine_decay_restarts(0.2, step, 4, 2.0, 0.5, 0.1)
    same = tf.train.cosine_decay_restarts(0.2, step, 4, 1.0)
    with tf.Session() as session:
        for k in range(25):
            start, length, height = (
                (0, 4, 1.0) if k < 4 else (4, 8, 0.5) if k < 12 else (12, 16, 0.25)
            )
            wave = height * (1 + np.cos(np.pi * (k - start) / length)) / 2
            expected = [0.2 * (0.9 * wave + 0.1), 0.1 * (1 + np.cos(np.pi * (k % 4) / 4))]
            got = session.run([again, same], {step: k})
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-6, err_msg=str(k))


# --- switches


def test_switches_of_later_versions(capfd):
    tf.disable_v2_behavior()
    tf.enable_resource_variables()
    tf.disable_eager_execution()
    assert not tf.executing_eagerly() and tf.resource_variables_enabled()
    assert tf.VERSION == "1.15.0" and tf.no_regularizer(3) is None
    before = tf.logging.get_verbosity()
    try:
        tf.logging.set_verbosity(tf.logging.ERROR)
        assert tf.logging.get_verbosity() == tf.logging.ERROR == tf.get_logger().level
        tf.logging.info("not %s", "shown")
        tf.logging.error("shown: %d", 3)
    finally:
        tf.logging.set_verbosity(before)
    assert "not shown" not in capfd.readouterr().err


@pytest.mark.parametrize(
    "call", [tf.gather, tf.nn.embedding_lookup, lambda x, i: tf.gather_nd(x, [i])]
)
def test_positions_below_0_are_out_of_range(call):
    x, i = tf.constant([1.0, 2.0, 3.0]), tf.placeholder(tf.int32, [])
    y = call(x, i)
    assert run(y, {i: 2}) in (3.0, [3.0])
    for position in (-1, 3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            run(y, {i: position})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"out of range for an axis of (length|size) 3"
    ):
        run(call(x, tf.constant(-1)))


def check_scalar_updates() -> None:
    v = tf.Variable(np.zeros((3, 2), np.float32))
    for function in (tf.scatter_nd_add, tf.scatter_nd_sub, tf.scatter_nd_update):
        with pytest.raises(ValueError, match=r"expected updates of shape \(1, 2\)"):
            function(v, [[1]], 2.0)
    with pytest.raises(ValueError, match=r"expected updates of shape \(1, 2\)"):
        tf.tensor_scatter_add(tf.zeros([3, 2]), [[1]], 2.0)
    added = tf.scatter_add(v, [1], 2.0)
    added = added.numpy() if tf.executing_eagerly() else run(added)
    assert added.tolist() == [[0, 0], [2, 2], [0, 0]]


def test_only_scatters_of_rows_take_scalar_updates() -> None:
    check_scalar_updates()
    updates = tf.placeholder(tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected updates of shape"):
        run(tf.scatter_nd_add(tf.Variable(tf.zeros([3, 2])), [[1]], updates), {updates: 2.0})
    assert run(tf.scatter_nd_add(tf.Variable([0.0, 0.0]), [1], 2.0)).tolist() == [0, 2]


@pytest.mark.usefixtures("eager")
def test_only_scatters_of_rows_take_scalar_updates_in_eager_mode() -> None:
    check_scalar_updates()


def test_sizes_of_eye_are_integers() -> None:
    for sizes in ([tf.constant(2.5)], [2, tf.constant(1.0)], [tf.constant(2), 2.5]):
        with pytest.raises(TypeError, match="eye: expected integers"):
            tf.eye(*sizes)
    assert run(tf.eye(tf.constant(2), 1)).tolist() == [[1], [0]]
