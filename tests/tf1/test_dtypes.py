"""Dtypes under TensorFlow's names: what a constant becomes, which ones do not mix, what reductions
keep."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


def test_constants():
    for value, dtype in (
        (1, "int32"), (1.5, "float32"), (True, "bool"), (2**40, "int64"), ([1, 2.5], "float32"),
        (np.float64(1), "float64"), (np.arange(3), "int64"), ([np.float64(1)], "float64"),
        (np.float16(1), "float16"), (np.uint8(7), "uint8"), ([], "float32"), ("text", "string"),
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
        ([[1.0], [1.0, 2.0]], None, ValueError, "one length on each level"),
        ("text", tf.int32, TypeError, "expected numbers"),
        (1, tf.string, TypeError, "expected strings"),
        (object(), None, TypeError, "expected numbers"),
        ([1, "a"], None, TypeError, "expected numbers"),
        (1j, tf.float64, TypeError, "expected float64"),
        (1.5, tf.int32, TypeError, "expected int32"),
        (np.float64(1.5), tf.int32, TypeError, "expected int32"),
        (np.array([1.0, np.inf]), tf.int32, TypeError, "expected int32"),
        ([np.float64(1)], tf.int32, TypeError, "expected int32"),
        (np.array([True]), tf.int32, TypeError, "expected int32"),
        (np.float64(2.0**40), tf.int32, ValueError, "got 1099511627776"),
        (True, tf.float32, TypeError, "expected float32"),
        (1, tf.bool, TypeError, "expected bool"),
        (2**40, tf.int32, ValueError, r"expected int32, from -\d+ to \d+, got 1099511627776"),
        (1.0, "float99", TypeError, "dtype must be one of"),
        (1.0, None.__class__, TypeError, "dtype must be one of"),
    ],
    around=graph_of_its_own,
)
def test_what_is_no_constant(value, dtype, kind, text):
    with pytest.raises(kind, match=text):
        tf.constant(value, dtype)


def test_whole_numbers_of_numpy_are_integers():
    n, limit = tf.constant([1, 7]), np.floor(np.float64(11) / 2)
    answers = [n < limit, n * np.array([2.0, 3.0]), tf.constant(np.ceil(2.5), tf.int64)]
    assert listed(run(answers)) == [[True, False], [2, 21], 3]
    assert n.dtype == answers[1].dtype == tf.int32


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
    with pytest.raises(TypeError, match="exp: "):
        tf.exp(n)
    with pytest.raises(TypeError, match="bool"):
        tf.where(x, x, x)
    with pytest.raises(TypeError, match="logical_and: "):
        tf.logical_and(x, x)
    with pytest.raises(TypeError):
        x + True


def test_integer_reductions_keep_their_dtype():
    n = tf.constant([[1, 2], [3, 5]])
    for f, expected in (
        (tf.reduce_sum, 11), (tf.reduce_mean, 2), (tf.reduce_max, 5), (tf.reduce_prod, 30),
    ):  # fmt: skip
        assert run(f(n)) == expected and f(n).dtype == tf.int32


def test_texts_that_cannot_be():
    texts = tf.placeholder(tf.string, [None])
    with tf.Session() as session, pytest.raises(TypeError, match="expected strings, got 1"):
        session.run(texts, {texts: [1]})
    for dtype in (tf.float32, tf.int64):
        with pytest.raises(TypeError, match="string"):
            tf.cast(texts, dtype)
    with pytest.raises(TypeError, match="cast: expected a dtype of numbers"):
        tf.cast(tf.constant(1), tf.string)
    with pytest.raises(TypeError, match="string"):
        texts + "a"


@pytest.mark.usefixtures("eager")
def test_no_texts_in_eager_mode():
    with pytest.raises(TypeError, match="expected numbers in eager mode"):
        tf.constant("a")


def test_texts_are_saved_and_printed(tmp_path, capsys):
    x = tf.placeholder(tf.string, [None], name="x")
    y = tf.concat([x, tf.constant([b"\xffz", "é"])], 0, name="y")
    z = tf.equal(tf.constant("a"), x, name="z")
    with tf.Session() as session:
        session.run(tf.print("x:", x, tf.constant("ab")), {x: ["a", "b"]})
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y, "z": z})
    assert capsys.readouterr().err == 'x: ["a" "b"] "ab"\n'
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "m"))
        y, z = session.run(["y:0", "z:0"], {"x:0": ["c", "a"]})
        assert y.tolist() == [b"c", b"a", b"\xffz", "é".encode()] and z.tolist() == [False, True]


def test_small_integers_wrap_in_shapes_too() -> None:
    total = tf.constant(200, tf.uint8) + tf.constant(100, tf.uint8)
    filled = tf.fill([tf.cast(total, tf.int32)], 1.0)
    assert filled.shape.as_list() in ([None], [44])
    with tf.Session() as session:
        assert session.run(filled).shape == (44,)
