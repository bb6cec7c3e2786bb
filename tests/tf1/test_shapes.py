"""Shapes in a graph: those that do not fit are refused where the operation is made, those known
only in part are inferred as far as they go, and the run tells the rest."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import fresh_graph, graph_of_its_own, run  # noqa: F401

import pullback.compat.tf1 as tf

# --- errors of shapes


@each(
    ("call", "text"),
    [
        (lambda a, b: a + b, r"^add: .*\(2,\).*\(3,\).*AddV2 'add'.*'a:0'.*'b:0'"),
        (lambda a, b: tf.reshape(a, [5]), r"Reshape.*'a:0'"),
        (lambda a, b: tf.reduce_sum(a, 1), r"^reduce_sum: axis .*Sum 'Sum'"),
        (lambda a, b: tf.stack([a, b]), "Pack"),
        (lambda a, b: tf.concat([a, [[1.0]]], 0), "ConcatV2"),
        (lambda a, b: tf.transpose(a, [0, 1]), "Transpose"),
        (lambda a, b: tf.argmax(a, 3), "ArgMax"),
        (lambda a, b: tf.random.shuffle(a[0]), "RandomShuffle"),
        (lambda a, b: tf.squeeze(a, 0), "Squeeze"),
        (lambda a, b: tf.nn.bias_add(a, b), "BiasAdd"),
        (lambda a, b: tf.tile(a, [1, 2]), "Tile"),
        (lambda a, b: tf.add_n([a, b]), "AddN"),
        (lambda a, b: tf.add_n([]), "at least one"),
        (lambda a, b: tf.stack([]), "at least one"),
        (lambda a, b: tf.where(a > 0, a), "both x and y"),
        (
            lambda a, b: tf.reduce_sum(a, 0, reduction_indices=0),
            "expected axis or reduction_indices, got both",
        ),
    ],
    around=graph_of_its_own,
)
def test_shapes_that_do_not_fit(call, text):
    a, b = tf.constant([1.0, 2.0], name="a"), tf.constant([1.0, 2.0, 3.0], name="b")
    with pytest.raises(ValueError, match=text):
        call(a, b)
    assert run(a).tolist() == [1.0, 2.0]


# --- shapes that are known only in part


@each(
    ("make", "dims"),
    [
        (lambda x: x + 1, [None, 4]),
        (lambda x: tf.reduce_sum(x, 1), [None]),
        (lambda x: tf.reduce_sum(x, 0), [4]),
        (lambda x: tf.reduce_mean(x), []),
        (lambda x: tf.matmul(x, tf.ones([4, 7])), [None, 7]),
        (lambda x: tf.reshape(x, [-1, 2, 2]), [None, 2, 2]),
        (lambda x: tf.reshape(x, [-1]), [None]),
        (lambda x: tf.transpose(x), [4, None]),
        (lambda x: tf.concat([x, x], 1), [None, 8]),
        (lambda x: tf.concat([x, x], 0), [None, 4]),
        (lambda x: x[0], [4]),
        (lambda x: x[:, 1:3], [None, 2]),
        (lambda x: tf.one_hot(tf.argmax(x, 1), 9), [None, 9]),
        (lambda x: tf.stack([x, x]), [2, None, 4]),
        (lambda x: tf.zeros_like(x), [None, 4]),
        (lambda x: tf.zeros(tf.shape(x)), [None, 4]),
        (lambda x: tf.reshape(x, [tf.shape(x)[0], 2, 2]), [None, 2, 2]),
        (lambda x: tf.expand_dims(x, 0), [1, None, 4]),
        (lambda x: tf.gradients(tf.exp(x), x)[0], [None, 4]),
        (lambda x: tf.split(x, 2, axis=1)[1], [None, 2]),
        (lambda x: x + tf.ones([3, 4]), [3, 4]),
        (lambda x: tf.reduce_max(x, axis=[0, 1], keepdims=True), [1, 1]),
    ],
    around=graph_of_its_own,
)
def test_partial_shapes(make, dims):
    x = tf.placeholder(tf.float32, [None, 4])
    y = make(x)
    assert y.shape.as_list() == dims
    value = run(y, {x: np.ones([3, 4])})
    assert y.shape.is_compatible_with(value.shape)


def test_errors_that_only_a_run_can_tell():
    x, w = tf.placeholder(tf.float32, [None, None]), tf.ones([5, 2])
    y = tf.matmul(x, w, name="late")
    assert y.shape.as_list() == [None, 2] and y.dtype == tf.float32
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"MatMul 'late'.*\(3, 4\).*\(5, 2\)"):
        run(y, {x: np.ones([3, 4])})
    with pytest.raises(ValueError, match="inner dimensions"):  # also a Python ValueError
        run(tf.gradients(y, x), {x: np.ones([3, 4])})
    with pytest.raises(ValueError, match="equal inner dimensions, got 4 and 5"):  # known before
        tf.matmul(tf.placeholder(tf.float32, [None, 4]), w)


def test_set_shape():
    x = tf.placeholder(tf.float32)
    x.set_shape([None, 3])
    assert x.get_shape().as_list() == [None, 3]
    x.set_shape([2, None])
    assert x.shape == [2, 3] and x.shape.is_fully_defined()
    with pytest.raises(ValueError, match="expected a shape compatible with"):
        x.set_shape([5, 3])


def test_shape_objects():
    shape = tf.TensorShape([None, 3])
    assert len(shape) == 2 and shape.ndims == shape.rank == 2
    assert [d.value for d in shape] == [None, 3] and int(shape[1]) == 3
    assert str(shape) == "(?, 3)" and repr(shape) == "TensorShape([Dimension(None), Dimension(3)])"
    assert shape[1:] == [3] and shape.num_elements() is None
    assert (shape[1] * 2).value == 6 and (shape[0] + 1).value is None
    assert tf.TensorShape(None).ndims is None and not tf.TensorShape(None)
    with pytest.raises(ValueError):
        tf.TensorShape(None).as_list()
    with pytest.raises(TypeError, match="integers"):
        tf.TensorShape(["a"])
    with pytest.raises(ValueError, match="negative"):
        tf.placeholder(tf.float32, [-2])
    with pytest.raises(TypeError):
        int(shape[0])


def test_another_rank_is_named():
    with pytest.raises(ValueError, match=r"got \(2, \?\), which must have rank 1"):
        tf.placeholder(tf.float32, [2, None]).shape.with_rank(1)
    assert tf.TensorShape([2, None]).with_rank(2).as_list() == [2, None]
    assert tf.TensorShape(None).with_rank(2).as_list() == [None, None]


def test_references_are_keys():
    x, y, v = tf.constant(1.0), tf.constant(1.0), tf.Variable(1.0)
    seen = {x.ref(): "x", v.experimental_ref(): "v"}
    assert seen[x.ref()] == "x" and [key.deref() for key in seen] == [x, v]
    assert y.ref() not in seen and x.ref() != y.ref()
