"""Recurrent layers beside loops in NumPy, and embedding_bag beside sums of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

RNG = np.random.default_rng(1)


def draw(*shape: int) -> Any:
    return RNG.standard_normal(shape) / 2


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def rnn_step(x: Any, h: Any, state: Any) -> Any:
    return (np.tanh(x + h),)


def relu_step(x: Any, h: Any, state: Any) -> Any:
    return (np.maximum(x + h, 0),)


def lstm_step(x: Any, h: Any, state: Any) -> Any:
    i, f, g, o = np.split(x + h, 4, -1)
    c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(x: Any, h: Any, state: Any) -> Any:
    (xr, xz, xn), (hr, hz, hn) = np.split(x, 3, -1), np.split(h, 3, -1)
    r, z = sigmoid(xr + hr), sigmoid(xz + hz)
    return ((1 - z) * np.tanh(xn + r * hn) + z * state[0],)


def reference(
    step: Any, x: Any, state: Any, weights: Any, lengths: Any = None, reverse: bool = False
) -> Any:
    w_ih, w_hh, b_ih, b_hh = weights
    y = np.zeros((*x.shape[:2], w_hh.shape[1]))
    state = [np.array(s) for s in state]
    for t in range(len(x))[:: -1 if reverse else 1]:
        after = step(x[t] @ w_ih.T + b_ih, state[0] @ w_hh.T + b_hh, state)
        here = np.full(x.shape[1], True) if lengths is None else t < lengths
        state = [np.where(here[:, None], a, s) for a, s in zip(after, state, strict=True)]
        y[t] = np.where(here[:, None], after[0], 0)
    return y, state


def kind_of(name: str) -> Any:
    gates, states, step = {
        "rnn": (1, 1, rnn_step),
        "lstm": (4, 2, lstm_step),
        "gru": (3, 1, gru_step),
    }[name]

    def call(x: Any, *rest: Any, **options: Any) -> Any:
        state, weights = rest[:states], rest[states:]
        given = tuple(state) if name == "lstm" else state[0]
        y, last = getattr(pb.nn, name)(x, given, *weights, **options)
        return y, (list(last) if name == "lstm" else [last])

    return gates, states, step, call


def drawn(gates: int, states: int, time: int = 4, batch: int = 3) -> Any:
    x = draw(time, batch, 2)
    state = [draw(batch, 5) for _ in range(states)]
    return x, state, [draw(5 * gates, 2), draw(5 * gates, 5), draw(5 * gates), draw(5 * gates)]


@each("kind", ["rnn", "lstm", "gru"])
@each("reverse", [False, True])
@each("lengths", [None, np.array([4, 0, 2])], ids=["all", "lengths"])
def test_values(kind: str, reverse: bool, lengths: Any) -> None:
    gates, states, step, call = kind_of(kind)
    x, state, weights = drawn(gates, states)
    y, last = call(x, *state, *weights, lengths=lengths, reverse=reverse)
    truth, ends = reference(step, x, state, weights, lengths, reverse)
    np.testing.assert_allclose(y.numpy(), truth, atol=1e-14)
    for one, end in zip(last, ends, strict=True):
        np.testing.assert_allclose(one.numpy(), end, atol=1e-14)


def test_relu() -> None:
    x, (h,), weights = drawn(1, 1)
    y, _ = pb.nn.rnn(x, h, *weights, nonlinearity="relu")
    np.testing.assert_allclose(y.numpy(), reference(relu_step, x, [h], weights)[0], atol=1e-14)


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
def test_derivatives(kind: str) -> None:
    gates, states, _, call = kind_of(kind)
    x, state, weights = drawn(gates, states, 3, 2)
    lengths = np.array([3, 1])

    def f(*arguments: Any) -> Any:
        y, last = call(*arguments, lengths=lengths)
        return pb.sum(y * y) + sum(pb.sum(pb.sin(s)) for s in last)

    pb.testing.check_gradients(f, x, *state, *weights)
    tangents = [draw(*a.shape) for a in (x, *state, *weights)]
    _, found = pb.jvp(f, [x, *state, *weights], tangents)
    slopes = pb.grad(f, argnums=tuple(range(len(tangents))))(x, *state, *weights)
    along = sum((g.numpy() * t).sum() for g, t in zip(slopes, tangents, strict=True))
    np.testing.assert_allclose(float(found), along, rtol=1e-10)


def test_states_broadcast_and_biases_may_lack() -> None:
    x, _, (w_ih, w_hh, _, _) = drawn(4, 2)
    y, _ = pb.nn.lstm(x, (0.0, 0.0), w_ih, w_hh)
    zeros = np.zeros((3, 5))
    truth, _ = reference(lstm_step, x, [zeros, zeros], [w_ih, w_hh, 0.0, 0.0])
    np.testing.assert_allclose(y.numpy(), truth, atol=1e-14)
    narrow = pb.nn.gru(x[:, :, :].astype("f"), 0.0, w_ih[:15].astype("f"), w_hh[:15].astype("f"))
    assert narrow[0].dtype == narrow[1].dtype == "float32"


def test_batches_traces_and_no_steps() -> None:
    x, (h,), weights = drawn(3, 1)
    several = np.stack([x, 2 * x])
    batched = pb.vmap(lambda x: pb.nn.gru(x, h, *weights)[0])(several)
    traced = pb.function(lambda x: pb.nn.gru(x, h, *weights)[0])(2 * x)
    for found in (batched[1], traced):
        truth = reference(gru_step, 2 * x, [h], weights)[0]
        np.testing.assert_allclose(found.numpy(), truth, atol=1e-14)
    y, last = pb.nn.gru(x[:0], h, *weights)
    assert y.shape == (0, 3, 5) and (last.numpy() == h).all()
    y, last = pb.nn.gru(x[:, :0], h[:0], *weights)
    assert y.shape == (4, 0, 5) and last.shape == (0, 5)


def test_errors() -> None:
    x, (h,), (w_ih, w_hh, b, _) = drawn(1, 1)
    for text, call in (
        (
            r"rnn: expected shape \(time, batch, features\) for x",
            lambda: pb.nn.rnn(x[0], h, w_ih, w_hh),
        ),
        (r"rnn: expected shape \(units, units\) for w_hh", lambda: pb.nn.rnn(x, h, w_ih, w_ih)),
        (
            r"lstm: expected shape \(4 \* units, units\) for w_hh",
            lambda: pb.nn.lstm(x, (h, h), w_ih, w_hh),
        ),
        (r"rnn: expected shape \(5, 2\) for w_ih", lambda: pb.nn.rnn(x, h, w_hh, w_hh)),
        (r"rnn: expected shape .* for b_hh", lambda: pb.nn.rnn(x, h, w_ih, w_hh, b, b[:2])),
        (r"rnn: nonlinearity", lambda: pb.nn.rnn(x, h, w_ih, w_hh, nonlinearity="elu")),
        (r"rnn: expected 3 integers for lengths", lambda: pb.nn.rnn(x, h, w_ih, w_hh, lengths=[1])),
        (
            r"rnn: expected integers from 0 to 4 for lengths",
            lambda: pb.nn.rnn(x, h, w_ih, w_hh, lengths=[1, 2, 5]),
        ),
    ):
        with pytest.raises(ValueError, match=f"^{text}"):
            call()
    with pytest.raises(TypeError, match=r"^lstm: expected a pair \(h, c\) for state"):
        pb.nn.lstm(x, h, w_ih, w_hh)


# --- bags


BAGS = [[2, 0, 2], [], [1], [3, 3, 1, 0]]
FLAT, OFFSETS = [2, 0, 2, 1, 3, 3, 1, 0], [0, 3, 3, 4]
TABLE = draw(4, 3)
MODES = {"sum": np.sum, "mean": np.mean, "max": np.max}


def bagged(bags: Any, mode: str, without: Any = None) -> Any:
    rows = [[i for i in bag if i != without] for bag in bags]
    return np.stack([MODES[mode](TABLE[r], 0) if r else np.zeros(3) for r in rows])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("without", [None, 2, 3])
def test_bags(mode: str, without: Any) -> None:
    def parts(table: Any) -> Any:
        return pb.nn.embedding_bag(table, FLAT, OFFSETS, mode=mode, padding_idx=without)

    def rows(table: Any) -> Any:
        return pb.nn.embedding_bag(table, [[3, 3], [0, 1]], mode=mode, padding_idx=without)

    np.testing.assert_allclose(parts(TABLE).numpy(), bagged(BAGS, mode, without), atol=1e-15)
    truth = bagged([[3, 3], [0, 1]], mode, without)
    np.testing.assert_allclose(rows(TABLE).numpy(), truth, atol=1e-15)
    pb.testing.check_gradients(parts, TABLE)
    np.testing.assert_allclose(pb.function(parts)(TABLE).numpy(), parts(TABLE).numpy())
    both = pb.vmap(parts)(np.stack([TABLE, TABLE])).numpy()
    np.testing.assert_allclose(both[1], parts(TABLE).numpy())


def test_bags_with_weights() -> None:
    weights = draw(8)

    def f(table: Any, weights: Any) -> Any:
        return pb.nn.embedding_bag(table, FLAT, OFFSETS, mode="sum", per_sample_weights=weights)

    truth = np.zeros((4, 3))
    np.add.at(truth, [0, 0, 0, 2, 3, 3, 3, 3], TABLE[FLAT] * weights[:, None])
    np.testing.assert_allclose(f(TABLE, weights).numpy(), truth, atol=1e-15)
    pb.testing.check_gradients(f, TABLE, weights)


def test_bags_of_nothing() -> None:
    for mode in MODES:
        assert pb.nn.embedding_bag(TABLE, np.zeros((2, 0), int), mode=mode).numpy().tolist() == [
            [0, 0, 0],
            [0, 0, 0],
        ]
        assert pb.nn.embedding_bag(TABLE, np.zeros(0, int), [], mode=mode).shape == (0, 3)
        assert not pb.nn.embedding_bag(TABLE, np.zeros(0, int), [0, 0], mode=mode).numpy().any()


def test_errors_of_bags() -> None:
    for kind, text, call in (
        (
            ValueError,
            r"\(bags, n\) for indices without offsets, got \(1,\)",
            lambda: pb.nn.embedding_bag(TABLE, [1]),
        ),
        (
            ValueError,
            r"\(n,\) for indices with offsets, got \(1, 1\)",
            lambda: pb.nn.embedding_bag(TABLE, [[1]], [0]),
        ),
        (
            ValueError,
            "increasing integers from 0 to 2 for offsets",
            lambda: pb.nn.embedding_bag(TABLE, [1, 2], [1]),
        ),
        (
            ValueError,
            "increasing integers from 0 to 2 for offsets",
            lambda: pb.nn.embedding_bag(TABLE, [1, 2], [0, 3]),
        ),
        (ValueError, "at least one of offsets", lambda: pb.nn.embedding_bag(TABLE, [1, 2], [])),
        (ValueError, "mode", lambda: pb.nn.embedding_bag(TABLE, [[1]], mode="min")),
        (TypeError, "expected integers for indices", lambda: pb.nn.embedding_bag(TABLE, [[1.0]])),
        (IndexError, "padding_idx", lambda: pb.nn.embedding_bag(TABLE, [[1]], padding_idx=4)),
        (
            ValueError,
            "expected mode='sum'",
            lambda: pb.nn.embedding_bag(TABLE, [[1]], per_sample_weights=[[1.0]]),
        ),
        (
            ValueError,
            "for per_sample_weights, got",
            lambda: pb.nn.embedding_bag(TABLE, [[1]], mode="sum", per_sample_weights=[1.0]),
        ),
    ):
        with pytest.raises(kind, match=f"^embedding_bag: .*{text}"):
            call()
    with pytest.raises(IndexError):
        pb.nn.embedding_bag(TABLE, [[4]]).numpy()


def test_offsets_that_a_run_tells() -> None:
    table = pb.constant([[1.0], [10.0], [100.0]])
    bags = pb.function(lambda o: pb.nn.embedding_bag(table, [0, 1, 2], o, mode="sum"))
    assert bags(np.array([0, 2])).numpy().tolist() == [[11], [100]]
    assert bags(np.array([0, 3])).numpy().tolist() == [[111], [0]]
    for wrong in ([1, 2], [1, 0], [0, 4], [-1, 2]):
        with pytest.raises(IndexError, match="out of range"):
            bags(np.array(wrong)).numpy()
