"""Positions and sizes that each iteration of a graph's loop says anew; and what fails in a loop
fails in its gradient, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pullback.compat import tf1 as tf

X = np.arange(12.0).reshape(4, 3)
f64 = tf.float64

PIECES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[int], float]]] = {
    "[:, i]": (lambda x, i: x[:, i], lambda i: X[:, i].sum()),
    "[i, 0]": (lambda x, i: x[i, 0], lambda i: X[i, 0]),
    "[0, i]": (lambda x, i: x[0, i], lambda i: X[0, i]),
    "[i, i]": (lambda x, i: x[i, i], lambda i: X[i, i]),
    "[i, :]": (lambda x, i: x[i, :], lambda i: X[i].sum()),
    "[..., i]": (lambda x, i: x[..., i], lambda i: X[:, i].sum()),
    "[i, None]": (lambda x, i: x[i, None], lambda i: X[i].sum()),
    "[1:3, i]": (lambda x, i: x[1:3, i], lambda i: X[1:3, i].sum()),
    "[None, i, ..., i]": (lambda x, i: x[None, i, ..., i], lambda i: X[i, i]),
    "[-1 - i]": (lambda x, i: x[-1 - i], lambda i: X[-1 - i].sum()),
    "[-1 - i, 2]": (lambda x, i: x[-1 - i, 2], lambda i: X[-1 - i, 2]),
    "[:i]": (lambda x, i: x[:i], lambda i: X[:i].sum()),
    "[i:i + 1]": (lambda x, i: x[i : i + 1], lambda i: X[i].sum()),
    "ones": (lambda x, i: tf.ones([i + 1], f64), lambda i: i + 1.0),
    "range": (lambda x, i: tf.cast(tf.range(i), f64), lambda i: float(sum(range(i)))),
    "tile": (lambda x, i: tf.tile(x[0], [i]), lambda i: X[0].sum() * i),
    "reshape": (
        lambda x, i: tf.reshape(x[:, :2], tf.stack([i + 1, -1]))[0],
        lambda i: X[:, :2].reshape(i + 1, -1)[0].sum(),
    ),
    "slice": (lambda x, i: tf.slice(x, tf.stack([i, 0]), [1, 3]), lambda i: X[i].sum()),
    "slice of a list": (lambda x, i: tf.slice(x, [0, i], [2, 1]), lambda i: X[:2, i].sum()),
}


def expected(piece: Callable[[int], float], w: float, trips: int) -> float:
    h = 1.0
    for i in range(trips):
        h = h * w + piece(i)
    return h


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_of_each_iteration(name: str) -> None:
    piece, reference = PIECES[name]
    trips = 2 if name == "reshape" else 3
    with tf.Graph().as_default(), tf.Session() as session:
        w, x = tf.placeholder(f64, []), tf.placeholder(f64, X.shape)
        y = tf.while_loop(
            lambda i, h: i < trips,
            lambda i, h: (i + 1, h * w + tf.reduce_sum(piece(x, i))), [0, tf.constant(1.0, f64)],
        )[1]  # fmt: skip
        by_w, by_x = tf.gradients(y, [w, x])
        feeds = {w: 2.0, x: X}
        up, down = (expected(reference, v, trips) for v in (2 + 1e-6, 2 - 1e-6))
        slope = (up - down) / 2e-6
        assert session.run(by_w, feeds) == pytest.approx(slope, rel=1e-7)  # alone
        assert session.run(y, feeds) == pytest.approx(expected(reference, 2.0, trips))
        if by_x is not None:
            got = session.run(by_x, feeds)
            up, down = (session.run(y, {w: 2.0, x: X * f}) for f in (1 + 1e-6, 1 - 1e-6))
            assert float((got * X).sum()) == pytest.approx((up - down) / 2e-6, rel=1e-6, abs=1e-6)


def test_positions_along_entries_and_in_branches() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, k = tf.constant(X), tf.placeholder(tf.int32, [])
        columns = tf.map_fn(lambda i: tf.reduce_sum(x[:, i]), tf.constant([2, 0]), dtype=f64)
        assert session.run(columns).tolist() == [X[:, 2].sum(), X[:, 0].sum()]
        y = tf.cond(k > 0, lambda: x[1, k], lambda: x[k, 1])
        assert [session.run(y, {k: n}) for n in (2, -1)] == [X[1, 2], X[-1, 1]]
        assert session.run([x[k], x[:, k]], {k: -1})[1].tolist() == X[:, -1].tolist()
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            session.run(x[:, k], {k: 3})


def failing() -> dict[str, Callable[[Any, Any], Any]]:
    def asserted(w: Any, x: Any) -> Any:
        def body(i: Any, h: Any) -> Any:
            with tf.control_dependencies([tf.assert_less(h, tf.constant(1.5, f64))]):
                return i + 1, h * w

        return tf.while_loop(lambda i, h: i < 3, body, [0, tf.constant(1.0, f64)])[1]

    def looped(step: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda w, x: tf.while_loop(
            lambda i, h: i < 3, lambda i, h: (i + 1, step(i, h * w) * 1.0),
            [0, tf.constant(1.0, f64)],
        )[1]  # fmt: skip

    return {
        "assert": asserted,
        "check_numerics": looped(lambda i, h: tf.check_numerics(h / 0.0, "bad")),
        "reshape": lambda w, x: tf.while_loop(
            lambda i, h: i < 3,
            lambda i, h: (i + 1, h * w + tf.reduce_sum(tf.reshape(x, tf.stack([5, i + 1])))),
            [0, tf.constant(1.0, f64)],
        )[1],
        "gather": lambda w, x: tf.cond(
            w > 0, lambda: w * tf.reduce_sum(tf.gather(x, 17)), lambda: w
        ),
    }


@pytest.mark.parametrize("name", failing())
def test_what_fails_has_no_gradient_of_zeros(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.Variable(np.float64(2.0))
        y = failing()[name](w, tf.constant(X))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(y)
        session.run(tf.global_variables_initializer())
        for asked in (y, tf.gradients(y, w)[0], step):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(asked)
        assert session.run(w) == 2.0


def test_an_array_that_grows_until_a_value_says_stop() -> None:
    def values(v: Any) -> list[float]:
        x, out = 0.1, []
        while x < 1.4:
            x = np.sin(x * v[0]) + v[1]
            out.append(x)
        return out

    with tf.Graph().as_default(), tf.Session() as session:
        start = np.array([1.1, 0.5])
        v = tf.Variable(start)

        def body(i: Any, x: Any, t: Any) -> Any:
            after = tf.sin(x * v[0]) + v[1]
            return i + 1, after, t.write(i, after)

        grown = tf.TensorArray(f64, size=0, dynamic_size=True)
        y = tf.while_loop(
            lambda i, x, t: x < 1.4, body, [0, tf.constant(0.1, f64), grown]
        )[2].stack()  # fmt: skip
        session.run(v.initializer)
        np.testing.assert_allclose(session.run(y), values(start))
        slopes = [
            (sum(values(start + d)) - sum(values(start - d))) / 2e-6 for d in 1e-6 * np.eye(2)
        ]
        got = session.run(tf.gradients(tf.reduce_sum(y), v)[0])
        np.testing.assert_allclose(got, slopes, rtol=1e-6)


def test_an_earlier_element_is_read_in_a_branch() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0, 4.0], f64)

        def body(i: Any, t: Any) -> Any:
            before = tf.cond(i > 0, lambda: t.read(i - 1), lambda: tf.constant(1.0, f64))
            return i + 1, t.write(i, x[i] * before)

        array = tf.TensorArray(f64, 4, clear_after_read=False)
        y = tf.while_loop(lambda i, t: i < 4, body, [0, array])[1].stack()
        assert session.run(tf.gradients(y, x)[0]).tolist() == [33.0, 16.0, 10.0, 6.0]
        assert session.run(y).tolist() == [1.0, 2.0, 6.0, 24.0]
