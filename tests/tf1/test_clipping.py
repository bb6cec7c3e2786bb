"""Clipping under TensorFlow's names."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf

NAN, INF = float("nan"), float("inf")


def test_clip_by_value():
    t = tf.constant([-5.0, -1.0, 0.5, 1.0, 5.0])
    low, high = tf.constant(-1.0), tf.constant(1.0)
    y = tf.clip_by_value(t, low, high)
    assert run(y).tolist() == [-1.0, -1.0, 0.5, 1.0, 1.0]
    by_t, by_low, by_high = run(tf.gradients(y, [t, low, high]))
    assert by_t.tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert (by_low, by_high) == (1.0, 1.0)
    assert run(tf.clip_by_value([1.0, 2.0], 3.0, 2.5)).tolist() == [3.0, 3.0]
    special = run(tf.clip_by_value([NAN, INF, -INF], -1.0, 1.0))
    assert np.isnan(special[0]) and special[1:].tolist() == [1.0, -1.0]
    n = tf.constant([NAN, 0.0])
    assert run(tf.gradients(tf.clip_by_value(n, -1.0, 1.0), n))[0].tolist() == [0.0, 1.0]
    assert run(tf.clip_by_value([5.0, -5.0], -INF, INF)).tolist() == [5.0, -5.0]
    assert run(tf.clip_by_value([5, -5], -2, 2)).tolist() == [2, -2]
    with pytest.raises(TypeError):
        tf.clip_by_value(tf.constant([1, 2]), 0.5, 1.5)
    with pytest.raises(ValueError, match="shape"):
        tf.clip_by_value(1.0, [0.0, 0.0], 1.0)
    with pytest.raises(ValueError, match="None"):
        tf.clip_by_value(None, 0.0, 1.0)


def test_clip_by_norm():
    t = tf.constant([3.0, 4.0])
    y = tf.clip_by_norm(t, 1.0)
    assert run(y) == pytest.approx([0.6, 0.8])
    assert run(tf.gradients(y, t))[0] == pytest.approx([0.032, -0.024], rel=1e-5)
    assert run(tf.clip_by_norm(t, 6.0)).tolist() == [3.0, 4.0]
    assert run(tf.clip_by_norm([[3.0, 4.0], [0.6, 0.8]], 1.0, axes=[1])).tolist() == [
        pytest.approx([0.6, 0.8]), pytest.approx([0.6, 0.8])
    ]  # fmt: skip
    assert run(tf.clip_by_norm(t, -1.0)).tolist() == [0.0, 0.0]
    assert run(tf.clip_by_norm(t, INF)).tolist() == [3.0, 4.0]
    assert np.isnan(run(tf.clip_by_norm([0.0, 0.0], 0.0))).all()
    assert np.isnan(run(tf.clip_by_norm([NAN, 1.0], 1.0))).all()
    one = run(tf.clip_by_norm([INF, 1.0], 1.0))
    assert np.isnan(one[0]) and one[1] == 0.0
    z = tf.constant([0.0, 0.0])
    value, slope = run([tf.clip_by_norm(z, 1.0), *tf.gradients(tf.clip_by_norm(z, 1.0), z)])
    assert (value.tolist(), slope.tolist()) == ([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(TypeError, match="int32"):
        tf.clip_by_norm([1, 2], 1.0)
    with pytest.raises(ValueError, match="None"):
        tf.clip_by_norm(None, 1.0)


def test_clip_by_average_norm():
    assert run(tf.clip_by_average_norm([3.0, 4.0], 1.0)) == pytest.approx([1.2, 1.6])
    assert run(tf.clip_by_average_norm([0.0, 0.0], 1.0)).tolist() == [0.0, 0.0]


def test_global_norm():
    parts = [tf.constant([3.0, 4.0]), None, tf.constant(12.0)]
    assert run(tf.global_norm(parts)) == 13.0
    assert run([tf.global_norm([]), tf.global_norm([None])]) == [0.0, 0.0]
    x = tf.constant([0.0, 0.0])
    assert run(tf.gradients(tf.global_norm([x]), x))[0].tolist() == [0.0, 0.0]
    for bad in (tf.constant([1.0]), (t for t in parts), "ab"):
        with pytest.raises(TypeError, match="list"):
            tf.global_norm(bad)
    with pytest.raises(TypeError, match="int32"):
        tf.global_norm([tf.constant([1])])
    with pytest.raises(TypeError, match=r"float32 .* and float64"):
        tf.global_norm([tf.constant(1.0), tf.constant(1.0, tf.float64)])


@each(
    ("values", "clip", "clipped", "norm"),
    [
        ([[3.0, 4.0], 12.0], 6.5, [[1.5, 2.0], 6.0], 13.0),
        ([[3.0, 4.0], 12.0], 20.0, [[3.0, 4.0], 12.0], 13.0),
        ([[3.0, 4.0], 12.0], INF, [[3.0, 4.0], 12.0], 13.0),
        ([[3.0, 4.0], 12.0], 0.0, [[0.0, 0.0], 0.0], 13.0),
        ([[3.0, 4.0], 12.0], -1.0, [[3.0, 4.0], 12.0], 13.0),
        ([[0.0, 0.0], 0.0], 1.0, [[0.0, 0.0], 0.0], 0.0),
        ([[INF, 1.0], 2.0], 1.0, [[NAN, NAN], NAN], INF),
        ([[NAN, 1.0], 2.0], 1.0, [[NAN, NAN], NAN], NAN),
    ],
    around=graph_of_its_own,
)
def test_clip_by_global_norm(values, clip, clipped, norm):
    parts = (tf.constant(values[0]), None, tf.constant(values[1]))
    out, length = tf.clip_by_global_norm(parts, clip)
    assert isinstance(out, list) and out[1] is None
    a, b, n = run([out[0], out[2], length])
    np.testing.assert_allclose(a, clipped[0], rtol=1e-6)
    np.testing.assert_allclose([b, n], [clipped[1], norm], rtol=1e-6)


def test_clip_by_global_norm_with_a_known_norm():
    t = tf.constant([3.0, 4.0])
    out, norm = tf.clip_by_global_norm([t], 1.0, use_norm=10.0)
    assert run(out[0]) == pytest.approx([0.3, 0.4]) and run(norm) == 10.0
    assert tf.clip_by_global_norm([None], 1.0)[0] == [None]
    with pytest.raises(TypeError, match="list"):
        tf.clip_by_global_norm((x for x in [t]), 1.0)
