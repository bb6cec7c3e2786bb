"""Optimizers with gradients of which only some rows are there: rows for one position are summed
first, other rows stay with their slots, but for Adam."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, run  # noqa: F401

import pullback.compat.tf1 as tf

START = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25], [2.0, 2.0]])
# Values and indices of each step; 2 is never touched.
STEPS = [
    ([[0.5, 1.0], [-1.0, 0.25], [2.0, -0.5]], [3, 0, 3]),
    ([[1.0, -1.0]], [0]),
    ([[0.125, 2.0], [0.5, 0.5], [1.0, 1.0], [-2.0, 0.75]], [1, 3, 1, 1]),
]

# --- the rules, of single numbers in double precision


def descent(v, g, s):
    return v - 0.1 * g


def momentum(v, g, s):
    s["momentum"] = 0.9 * s["momentum"] + g
    return v - 0.1 * s["momentum"]


def nesterov(v, g, s):
    s["momentum"] = 0.9 * s["momentum"] + g
    return v - 0.1 * (g + 0.9 * s["momentum"])


def adagrad(v, g, s):
    s["accumulator"] += g * g
    return v - 0.1 * g / s["accumulator"] ** 0.5


def adadelta(v, g, s):
    s["accum"] = 0.9 * s["accum"] + 0.1 * g * g
    d = g * ((s["accum_update"] + 1e-3) / (s["accum"] + 1e-3)) ** 0.5
    s["accum_update"] = 0.9 * s["accum_update"] + 0.1 * d * d
    return v - 0.5 * d


def rms_prop(v, g, s):
    s["rms"] = 0.9 * s["rms"] + 0.1 * g * g
    s["mg"] = 0.9 * s["mg"] + 0.1 * g
    s["momentum"] = 0.5 * s["momentum"] + 0.1 * g / (s["rms"] - s["mg"] ** 2 + 1e-3) ** 0.5
    return v - s["momentum"]


def ftrl(v, g, s):
    n = s["accum"] + g * g
    s["linear"] += g - (n**0.5 - s["accum"] ** 0.5) / 0.1 * v
    s["accum"] = n
    z = s["linear"]
    return (0.2 * np.sign(z) - z) / (n**0.5 / 0.1 + 0.6) if abs(z) > 0.2 else 0.0


RULES = {
    "descent": (descent, {}, lambda t: t.GradientDescentOptimizer(0.1)),
    "momentum": (momentum, {"momentum": 0}, lambda t: t.MomentumOptimizer(0.1, 0.9)),
    "nesterov": (
        nesterov,
        {"momentum": 0},
        lambda t: t.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    ),
    "adagrad": (adagrad, {"accumulator": 0.1}, lambda t: t.AdagradOptimizer(0.1)),
    "adadelta": (
        adadelta,
        {"accum": 0, "accum_update": 0},
        lambda t: t.AdadeltaOptimizer(0.5, 0.9, 1e-3),
    ),
    "rms_prop": (
        rms_prop,
        {"rms": 1, "mg": 0, "momentum": 0},
        lambda t: t.RMSPropOptimizer(0.1, 0.9, 0.5, 1e-3, centered=True),
    ),
    "ftrl": (
        ftrl,
        {"accum": 0.1, "linear": 0},
        lambda t: t.FtrlOptimizer(
            0.1, l1_regularization_strength=0.2, l2_regularization_strength=0.3
        ),
    ),
}


def expected(rule, slots):
    """The variable and its slots after the steps, and which rows were touched."""
    v = START.copy()
    state = {name: np.full_like(v, start) for name, start in slots.items()}
    touched = set()
    for values, indices in STEPS:
        for row in sorted(set(indices)):
            touched.add(row)
            for j in range(2):
                g = sum(x[j] for x, i in zip(values, indices, strict=True) if i == row)
                s = {name: slot[row, j] for name, slot in state.items()}
                v[row, j] = rule(v[row, j], g, s)
                for name, x in s.items():
                    state[name][row, j] = x
    return v, state, touched


def check(name, v, slots):
    wanted, state, touched = expected(*RULES[name][:2])
    assert np.allclose(v, wanted, rtol=2e-6, atol=2e-6)
    rest = [row for row in range(4) if row not in touched]
    assert np.array_equal(v[rest], START[rest].astype(v.dtype))
    for slot, value in slots.items():
        assert np.allclose(value, state[slot], rtol=2e-6, atol=2e-6), slot
        assert np.array_equal(value[rest], state[slot][rest].astype(value.dtype)), slot


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("name", RULES)
def test_only_rows_that_have_a_gradient_change(name, dtype):
    _, slots, make = RULES[name]
    v = tf.Variable(START, dtype=dtype) if dtype == tf.float64 else tf.Variable(np.float32(START))
    rows, at = tf.placeholder(dtype, [None, 2]), tf.placeholder(tf.int32, [None])
    optimizer = make(tf.train)
    step = optimizer.apply_gradients([(tf.IndexedSlices(rows, at), v)])
    assert sorted(optimizer.get_slot_names()) == sorted(slots)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for values, indices in STEPS:
            session.run(step, {rows: values, at: indices})
        check(name, session.run(v), {s: session.run(optimizer.get_slot(v, s)) for s in slots})


@pytest.mark.parametrize("name", RULES)
@pytest.mark.usefixtures("eager")
def test_the_same_in_eager_mode(name):
    _, slots, make = RULES[name]
    v = tf.Variable(np.float32(START))
    optimizer = make(tf.train)
    for values, indices in STEPS:
        optimizer.apply_gradients([(tf.IndexedSlices(np.float32(values), indices, [4, 2]), v)])
    check(name, v.numpy(), {s: optimizer.get_slot(v, s).numpy() for s in slots})


@pytest.mark.parametrize("lookups", [[[0, 2]], [[0], [2]]])
def test_momentum_of_an_embedding(lookups):
    v = tf.Variable([1.0, 2.0, 3.0])
    loss = tf.add_n([tf.reduce_sum(tf.nn.embedding_lookup(v, [0, *ids])) for ids in lookups])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    step = optimizer.minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            session.run(step)
        m = session.run(optimizer.get_slot(v, "momentum"))
        zeros = 1 + sum(ids.count(0) for ids in lookups) + len(lookups) - 1
        assert m.tolist() == pytest.approx([1.9 * zeros, 0, 1.9])
        got = session.run(v).tolist()
        assert got == pytest.approx([1 - 0.29 * zeros, 2, 3 - 0.29])


@pytest.mark.parametrize("more", [1, 3])  # more rows than the variable has
def test_adam_moves_all_rows(more):
    v = tf.Variable(np.float32(START))
    rows, at = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
    optimizer = tf.train.AdamOptimizer(0.1, 0.8, 0.9, 1e-4)
    step = optimizer.apply_gradients([(tf.IndexedSlices(rows, at), v)])
    w, m, s = START.copy(), np.zeros((4, 2)), np.zeros((4, 2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for t, (values, indices) in enumerate(STEPS, 1):
            session.run(step, {rows: values * more, at: indices * more})
            g = np.zeros((4, 2))
            np.add.at(g, indices * more, np.array(values * more))
            m, s = 0.8 * m + 0.2 * g, 0.9 * s + 0.1 * g * g
            w = w - 0.1 * (1 - 0.9**t) ** 0.5 / (1 - 0.8**t) * m / (s**0.5 + 1e-4)
        assert np.allclose(session.run(v), w, rtol=1e-5, atol=1e-6)
        assert np.allclose(session.run(optimizer.get_slot(v, "m")), m, rtol=1e-6)
        assert np.allclose(session.run(optimizer.get_slot(v, "v")), s, rtol=1e-5)


@pytest.mark.usefixtures("eager")
def test_a_loop_in_eager_mode():
    v = tf.Variable(np.float32(START))
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    for _ in range(2):
        optimizer.minimize(lambda: tf.reduce_sum(tf.gather(v, [1, 1]) ** 2) / 4)
    assert v.numpy().tolist() == [[1, -2], [0.125, 0.75], [-1.5, 0.25], [2, 2]]


def test_gating_keeps_rows():
    v = tf.Variable(np.float32(START))
    optimizer = tf.train.GradientDescentOptimizer(1.0)
    loss = tf.reduce_sum(tf.gather(v, [0]))
    ((g, _),) = optimizer.compute_gradients(loss, gate_gradients=optimizer.GATE_GRAPH)
    assert run(g).indices.tolist() == [0]


def test_a_position_outside_changes_nothing():
    v, w = tf.Variable(np.float32(START)), tf.Variable(1.0)
    at = tf.placeholder(tf.int32, [None])
    step = tf.train.AdagradOptimizer(1.0).apply_gradients(
        [(tf.constant(1.0), w), (tf.IndexedSlices(tf.ones([1, 2]), at), v)]
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for bad in (4, -5):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"{bad}"):
                session.run(step, {at: [bad]})
        assert np.array_equal(session.run(v), np.float32(START))
        assert session.run(w) == 1.0


def test_what_is_refused():
    apply = tf.train.GradientDescentOptimizer(1.0).apply_gradients
    v = tf.Variable(np.float32(START), constraint=tf.nn.relu)
    with pytest.raises(RuntimeError, match="constraint"):
        apply([(tf.IndexedSlices([[1.0, 1.0]], [0]), v)])
    u = tf.Variable(np.float32(START))
    with pytest.raises(ValueError, match="rows of shape"):
        apply([(tf.IndexedSlices([[1.0]], [0]), u)])
    with pytest.raises(TypeError, match="float64"):
        apply([(tf.IndexedSlices(np.ones((1, 2)), [0]), u)])
    open_shape = tf.placeholder(tf.float32)
    step = apply([(tf.IndexedSlices(open_shape, [0, 1]), u)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows of a gradient"):
        run(step, {open_shape: [[1.0, 1.0]]})
