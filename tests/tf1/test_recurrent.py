"""Recurrent networks: one operation of the graph, gradients, dropout, variables that are saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf

RNG = np.random.default_rng(9)
X = RNG.normal(size=(3, 5, 2))
LENGTHS = [5, 0, 3]
cells = tf.nn.rnn_cell

CELLS = [
    lambda: cells.BasicRNNCell(3),
    lambda: cells.GRUCell(3),
    lambda: cells.BasicLSTMCell(3),
    lambda: cells.LSTMCell(3, use_peepholes=True, num_proj=2, cell_clip=5.0),
    lambda: cells.MultiRNNCell([cells.LSTMCell(3, state_is_tuple=False), cells.GRUCell(2)], False),
    lambda: cells.MultiRNNCell([cells.BasicLSTMCell(2), cells.ResidualWrapper(cells.GRUCell(2))]),
]


def types() -> list[str]:
    return [op.type for op in tf.get_default_graph().get_operations()]


@each("make", CELLS)
def test_gradients_agree_with_finite_differences(make: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        x = tf.placeholder(tf.float64, [None, 5, 2])
        outputs, state = tf.nn.dynamic_rnn(make(), x, LENGTHS, dtype=tf.float64)
        weights = tf.constant(RNG.normal(size=(3, 5, int(outputs.shape[2]))))
        leaves = state if isinstance(state, tuple) else (state,)
        ends = [y for s in leaves for y in (s if isinstance(s, tuple) else (s,))]
        loss = tf.reduce_sum(outputs * weights) + tf.add_n([tf.reduce_sum(y * y) for y in ends])
        variables = tf.trainable_variables()
        slopes = tf.gradients(loss, [x, *variables])
        session.run(tf.global_variables_initializer())
        got = session.run(slopes, {x: X})
        for k, source in enumerate([x, *variables]):
            value = X if source is x else session.run(source)
            line = RNG.normal(size=value.shape)
            read = x if source is x else source.value()
            ends = [session.run(loss, {x: X, read: value + h * line}) for h in (1e-5, -1e-5)]
            expected = (ends[0] - ends[1]) / 2e-5
            assert np.sum(got[k] * line) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@each("make", CELLS)
def test_the_static_network_is_the_dynamic_one(make: Any) -> None:
    with tf.Graph().as_default():
        cell = make()
        x = tf.constant(X)
        a, s = tf.nn.dynamic_rnn(cell, x, LENGTHS, dtype=tf.float64)
        b, t = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), sequence_length=LENGTHS,
                                dtype=tf.float64)  # fmt: skip
        (a, s), (b, t) = run([(a, s), (tf.stack(b, 1), t)])
    np.testing.assert_allclose(a, b, rtol=1e-12)
    for p, q in zip(np.ravel(s, "K") if not isinstance(s, tuple) else s,
                    np.ravel(t, "K") if not isinstance(t, tuple) else t, strict=True):  # fmt: skip
        np.testing.assert_allclose(p, q, rtol=1e-12)
    assert np.all(a[1] == 0) and np.all(a[2, 3:] == 0)


def test_a_dynamic_network_is_one_operation() -> None:
    x = tf.placeholder(tf.float32, [None, None, 2])
    both = cells.BasicLSTMCell(3), cells.BasicLSTMCell(3)
    tf.nn.dynamic_rnn(cells.GRUCell(3), x, dtype=tf.float32)
    assert types().count("Scan") == 1
    assert types().count("MatMul") == 2  # the gates and the candidate, once
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*both, x, dtype=tf.float32)
    assert types().count("Scan") == 3
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for length in (1, 4, 9):
            fw, bw = session.run(outputs, {x: np.ones((2, length, 2))})
            assert fw.shape == bw.shape == (2, length, 3)


def test_dropout_differs_from_step_to_step() -> None:
    cell = cells.DropoutWrapper(
        cells.BasicRNNCell(50, activation=lambda x: 0.0 * x + 1.0), output_keep_prob=0.5
    )
    outputs, state = run(tf.nn.dynamic_rnn(cell, tf.ones([1, 20, 2]), dtype=tf.float32))
    assert set(np.unique(outputs)) == {0.0, 2.0} and np.all(state == 1)
    assert len({row.tobytes() for row in outputs[0]}) == 20

    class Keeps(cells.RNNCell):  # type: ignore[name-defined, misc]
        state_size = cells.LSTMStateTuple(40, 40)
        output_size = 1

        def call(self, inputs: Any, state: Any) -> Any:
            return inputs, state

    start = cells.LSTMStateTuple(tf.ones([1, 40]), tf.ones([1, 40]))
    c, h = run(cells.DropoutWrapper(Keeps(), state_keep_prob=0.5)(tf.ones([1, 1]), start)[1])
    assert np.all(c == 1) and set(np.unique(h)) == {0.0, 2.0}


def test_a_placeholder_switches_dropout_off() -> None:
    keep = tf.placeholder_with_default(1.0, [])
    cell = cells.DropoutWrapper(cells.GRUCell(4), keep, keep, keep)
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.ones([2, 3, 2]), dtype=tf.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert np.array_equal(session.run(outputs), session.run(outputs))
        a, b = session.run(outputs, {keep: 0.5}), session.run(outputs, {keep: 0.5})
        assert not np.array_equal(a, b)


def test_what_was_trained_is_restored_into_a_network_for_one_step(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        cell = cells.MultiRNNCell([cells.BasicLSTMCell(3) for _ in range(2)])
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float64)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        expected = session.run(outputs)
        names = [v.name for v in tf.global_variables()]
    with tf.Graph().as_default(), tf.Session() as session:
        cell = cells.MultiRNNCell([cells.BasicLSTMCell(3) for _ in range(2)])
        x = tf.placeholder(tf.float64, [3, 1, 2])
        start = cell.zero_state(3, tf.float64)
        outputs, last = tf.nn.dynamic_rnn(cell, x, initial_state=start)
        assert [v.name for v in tf.global_variables()] == names
        tf.train.Saver().restore(session, path)
        state = session.run(start)
        for t in range(5):
            got, state = session.run([outputs, last], {x: X[:, t : t + 1], start: state})
            np.testing.assert_allclose(got[:, 0], expected[:, t], rtol=1e-12)


def test_variables_of_a_cell_serve_outside_of_the_loop() -> None:
    cell = cells.GRUCell(3)
    _, state = tf.nn.dynamic_rnn(cell, tf.constant(X), dtype=tf.float64)
    after = cell(tf.constant(X[:, 0]), state)[0]
    penalty = tf.add_n([tf.nn.l2_loss(v) for v in cell.trainable_variables])
    loss = tf.reduce_sum(after) + penalty
    slopes = tf.gradients(loss, cell.trainable_variables)
    assert all(np.all(np.isfinite(g)) for g in run(slopes))
    assert len(tf.trainable_variables()) == 4


@pytest.mark.usefixtures("eager")
@each("make", CELLS)
def test_in_eager_mode(make: Any) -> None:
    tf.set_random_seed(1)
    cell = make()
    x = tf.constant(X)
    outputs, _ = tf.nn.dynamic_rnn(cell, x, LENGTHS, dtype=tf.float64)
    again, _ = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float64,
                                sequence_length=LENGTHS)  # fmt: skip
    np.testing.assert_allclose(outputs.numpy(), tf.stack(again, 1).numpy(), rtol=1e-12)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.dynamic_rnn(cell, x, dtype=tf.float64)[0])
    slopes = tape.gradient(loss, tape.watched_variables())
    assert len(slopes) >= 2 and all(g is not None for g in slopes)


def test_what_is_not_taken() -> None:
    x = tf.ones([1, 2, 2])
    for call, error, text in (
        (lambda: tf.nn.dynamic_rnn(cells.GRUCell, x), ValueError, "initial_state or dtype"),
        (lambda: tf.nn.dynamic_rnn(3, x), TypeError, "dynamic_rnn: expected an RNNCell for cell"),
        (lambda: tf.nn.static_rnn(cells.GRUCell(2), x), TypeError, "use tf.unstack"),
        (lambda: cells.MultiRNNCell(cells.GRUCell(2)), TypeError, "a list or tuple for cells"),
        (lambda: cells.DropoutWrapper(cells.GRUCell(2), variational_recurrent=True),
         NotImplementedError, "no variational_recurrent"),
        (lambda: cells.GRUCell(2)(tf.placeholder(tf.float32, [1, None]), x[0]), ValueError,
         "GRUCell: expected floats whose last dimension is known"),
        (lambda: cells.CudnnLSTM, AttributeError, "rnn_cell has no CudnnLSTM"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            call()
