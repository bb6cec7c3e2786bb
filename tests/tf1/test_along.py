"""scan, map_fn, foldl and foldr of TensorFlow 1."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback.compat.tf1 as tf


@pytest.mark.parametrize(
    ("reverse", "initializer", "answers"),
    [
        (False, None, [[1, 4, 11], [7, 3, 1], 7]),
        (False, 1.0, [[3, 8, 19], [7, 3, 1], 24]),
        (True, None, [[17, 8, 3], [1, 3, 7], 17]),
        (True, 1.0, [[25, 12, 5], [1, 3, 7], 34]),
    ],
)
def test_scan(reverse, initializer, answers):
    x, w = tf.placeholder(tf.float32, [None]), tf.constant(2.0)
    y = tf.scan(lambda a, e: a * w + e, x, initializer, reverse=reverse)
    assert listed(run([y, *tf.gradients(y, [x, w])], {x: [1, 2, 3]})) == answers
    if initializer is not None:
        assert run(y, {x: []}).tolist() == []


def test_scan_of_nests_and_second_order():
    x = tf.constant([1.0, 2.0, 3.0])
    out = tf.scan(
        lambda s, e: (s[0] + e[0] * e[1], s[1] + 1), (x, x), (tf.constant(0.0), tf.constant(0))
    )
    assert listed(run(out)) == [[1, 5, 14], [1, 2, 3]]
    (g,) = tf.gradients(out[0][-1], x)
    assert listed(run([g, *tf.gradients(g, x)])) == [[2, 4, 6], [2, 2, 2]]


def test_map_fn():
    x = tf.placeholder(tf.float32, [None])
    y, n = tf.map_fn(
        lambda t: (t[0] * t[1], tf.cast(t[0], tf.int32)), (x, x * x), dtype=(tf.float32, tf.int32)
    )
    answers = [y, n, *tf.gradients(y, x)]
    assert listed(run(answers, {x: [1, 2, 3]})) == [[1, 8, 27], [1, 2, 3], [3, 12, 27]]
    rows = tf.map_fn(lambda r: tf.reduce_sum(r), tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert rows.shape == [2] and run(rows).tolist() == [3, 7]
    looked = tf.map_fn(lambda t: tf.py_func(lambda a: a + 1, [t], tf.float32), x)
    assert listed(run(looked, {x: [1, 2]})) == [2, 3]
    assert tf.gradients(tf.map_fn(lambda t: t * t, x, back_prop=False), x) == [None]


def test_folds():
    x = tf.constant([1.0, 2.0, 3.0])

    def minus(a, e):
        return a - e

    folds = [
        tf.foldl(minus, x),
        tf.foldr(minus, x),
        tf.foldl(minus, x, 10.0),
        tf.foldr(minus, x, 9.0),
    ]
    assert listed(run(folds)) == [-4, 0, 4, 3]
    assert listed(run(tf.gradients(tf.foldl(lambda a, e: a * e, x), x))) == [[6, 3, 2]]


def test_what_is_refused():
    x = tf.constant([1.0, 2.0])
    for wrong, kind, text in [
        (lambda: tf.scan(3, x), TypeError, "expected a function for fn"),
        (lambda: tf.map_fn(lambda t: tf.cast(t, tf.int32), x), ValueError, "give dtype"),
        (lambda: tf.map_fn(lambda t: t, tf.constant(1.0)), ValueError, "rank 1 or more"),
        (
            lambda: tf.map_fn(lambda t: t[0], (x, x[:1]), tf.float32),
            ValueError,
            "one size of the first axis",
        ),
        (lambda: tf.scan(lambda a, e: [a, e], x), ValueError, "expected one structure"),
        (
            lambda: tf.foldl(lambda a, e: tf.stack([a, a]), x),
            ValueError,
            "expected a state of shape",
        ),
    ]:
        with pytest.raises(kind, match=text):
            wrong()


def test_eager(eager):  # noqa: F811
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.scan(lambda a, e: a * e, x)
    assert y.numpy().tolist() == [1, 2, 6] and tape.gradient(y, x).numpy().tolist() == [9, 4, 2]
    assert tf.map_fn(lambda e: e * float(e.numpy()), x).numpy().tolist() == [1, 4, 9]
    assert tf.foldr(lambda a, e: a - e, x).numpy() == 0
    np.testing.assert_array_equal(tf.scan(lambda a, e: a - e, x, 0.0, reverse=True), [-6, -5, -3])


def test_paths_that_do_not_exist():
    x, n = tf.constant([1.0, 2.0]), tf.constant([1, 2])
    y = tf.scan(lambda a, e: a * 2.0 + tf.stop_gradient(e), x, 1.0)
    assert tf.gradients(y, x) == [None]
    assert tf.gradients(tf.scan(lambda a, e: a * e, n), n) == [None]
