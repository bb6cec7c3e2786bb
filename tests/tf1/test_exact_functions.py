"""Functions that are the library's own: angles to two ulp, signs of zeros, sorts in the plan."""

from __future__ import annotations

import numpy as np
from support.each import each
from support.tf1 import fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf
from pullback.compat.tf1._graph.opdef import OPS

NAN, INF = float("nan"), float("inf")


INVERSES = {
    "acos": (-1, 1), "asin": (-1, 1), "atan": (-30, 30), "sinh": (-80, 80), "cosh": (-80, 80),
    "tan": (-1.5, 1.5), "asinh": (-1e9, 1e9), "acosh": (1, 1e9), "atanh": (-1, 1),
}  # fmt: skip


@each("name", INVERSES)
def test_functions_of_angles_are_the_library_s_own(name):
    """To two ulp of long double, with the signs of zeros."""
    low, high = INVERSES[name]
    numpy_name = {"acos": "arccos", "asin": "arcsin", "atan": "arctan", "asinh": "arcsinh",
                  "acosh": "arccosh", "atanh": "arctanh"}.get(name, name)  # fmt: skip
    for dtype in (np.float32, np.float64):
        x = np.random.default_rng(0).uniform(low, high, 2000).astype(dtype)
        expected = getattr(np, numpy_name)(x.astype(np.longdouble))
        got = run(getattr(tf, name)(x))
        ulps = np.abs(got - expected) / np.spacing(np.abs(expected).astype(dtype))
        assert ulps.max() < 2
    if low < 0:
        zeros = run(getattr(tf, name)(np.array([0.0, -0.0])))
        np.testing.assert_array_equal(
            np.signbit(zeros), np.signbit(getattr(np, numpy_name)([0.0, -0.0]))
        )


def test_atan2_at_zeros_and_infinities():
    y, x = np.meshgrid([0.0, -0.0, 1.0, -1.0, INF, -INF], [0.0, -0.0, 2.0, -2.0, INF, -INF])
    got, expected = run(tf.atan2(y, x)), np.arctan2(y, x)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


def test_sorts_do_not_leave_the_plan():
    """A host operation would make the whole run of a session untraced."""
    for name in ("ArgSort", "TakeAlongAxis", "Cumsum", "Cumprod"):
        assert not OPS[name].host
    x = np.array([[3.0, 1.0, 3.0, NAN], [0.0, -0.0, 2.0, 2.0]])
    for direction in ("ASCENDING", "DESCENDING"):
        keys = -x if direction == "DESCENDING" else x
        order = run(tf.argsort(x, direction=direction))
        assert order.dtype == np.int32
        np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))
    integers = np.array([[5, -5, 5], [2, 9, 2]])
    values, places = run(tf.nn.top_k(integers, 2))
    np.testing.assert_array_equal(values, [[5, 5], [9, 2]])
    np.testing.assert_array_equal(places, [[0, 2], [1, 0]])
