"""Dtypes under TensorFlow's names: what a constant becomes, which ones do not mix, what reductions
keep."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import fresh_graph, graph_of_its_own, run  # noqa: F401

import pullback.compat.tf1 as tf


def test_constants():
    for value, dtype in (
        (1, "int32"), (1.5, "float32"), (True, "bool"), (2**40, "int64"), ([1, 2.5], "float32"),
        (np.float64(1), "float64"), (np.arange(3), "int64"), ([np.float64(1)], "float64"),
        (np.float16(1), "float32"), (np.uint8(7), "int32"), ([], "float32"),
    ):  # fmt: skip
        assert tf.constant(value).dtype.name == dtype, value
    assert tf.constant(1, tf.float64).dtype == tf.float64
    assert run(tf.constant([1, 2, 3], shape=[2, 2])).tolist() == [[1, 2], [3, 3]]
    assert run(tf.constant(0.5, shape=[2])).tolist() == [0.5, 0.5]
    array = np.ones(3, np.float32)
    c = tf.constant(array)
    array[0] = 5
    assert run(c).tolist() == [1.0, 1.0, 1.0]


@each(
    ("value", "dtype", "kind", "text"),
    [
        (None, None, ValueError, "None"),
        ([[1.0], [1.0, 2.0]], None, ValueError, "ragged"),
        ("text", None, TypeError, "expected numbers"),
        (object(), None, TypeError, "expected numbers"),
        ([1, "a"], None, TypeError, "expected numbers"),
        (1j, tf.float64, TypeError, "expected float64"),
        (1.5, tf.int32, TypeError, "expected int32"),
        (True, tf.float32, TypeError, "expected float32"),
        (1, tf.bool, TypeError, "expected bool"),
        (2**40, tf.int32, ValueError, "does not fit"),
        (1.0, "float99", TypeError, "unknown dtype"),
        (1.0, None.__class__, TypeError, "unknown dtype"),
    ],
    around=graph_of_its_own,
)
def test_what_is_no_constant(value, dtype, kind, text):
    with pytest.raises(kind, match=text):
        tf.constant(value, dtype)


def test_mixed_dtypes():
    x, d, n = tf.constant(1.0), tf.constant(1.0, tf.float64), tf.constant(1)
    for f in (tf.add, tf.multiply, tf.maximum, tf.equal, tf.less, tf.matmul, tf.squared_difference):
        with pytest.raises(TypeError, match=r"float64|int32"):
            f(x, d)
        with pytest.raises(TypeError):
            f(n, 1.5)  # a float does not become an integer
    assert run(x + 1) == 2.0 and (x + 1).dtype == tf.float32
    assert (x * np.float64(2)).dtype == tf.float32
    with pytest.raises(TypeError):
        tf.concat([x[None], n[None]], 0)
    with pytest.raises(TypeError):
        tf.stack([x, n])
    with pytest.raises(TypeError, match="Exp"):
        tf.exp(n)
    with pytest.raises(TypeError, match="bool"):
        tf.where(x, x, x)
    with pytest.raises(TypeError, match="LogicalAnd"):
        tf.logical_and(x, x)
    with pytest.raises(TypeError):
        x + True


def test_integer_reductions_keep_their_dtype():
    n = tf.constant([[1, 2], [3, 5]])
    for f, expected in (
        (tf.reduce_sum, 11), (tf.reduce_mean, 2), (tf.reduce_max, 5), (tf.reduce_prod, 30),
    ):  # fmt: skip
        assert run(f(n)) == expected and f(n).dtype == tf.int32
