"""Optimizers."""

from __future__ import annotations

import numpy as np
import pytest
from support.each import each
from support.tf1 import eager, fresh_graph, graph_of_its_own, listed, run  # noqa: F401

import pullback.compat.tf1 as tf

NAN, INF = float("nan"), float("inf")

# Optimizer and the final v after three steps from [1, -2] with the gradient [.5, -1].
CHECKS = [
    (lambda: tf.train.GradientDescentOptimizer(0.1), [0.85, -1.7]),
    (lambda: tf.train.MomentumOptimizer(0.1, 0.9), [0.7195, -1.439]),
    (lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), [0.59755, -1.1951]),
    (lambda: tf.train.AdagradOptimizer(0.1), [0.796702, -1.778851]),
    (lambda: tf.train.AdadeltaOptimizer(1.0, 0.9, 1e-6), [0.990293, -1.990293]),
    (lambda: tf.train.FtrlOptimizer(0.1), [0.262180, -1.175828]),
    (
        lambda: tf.train.FtrlOptimizer(
            0.1, l1_regularization_strength=0.2, l2_regularization_strength=0.3
        ),
        [0.204362, -1.091972],
    ),
    (
        lambda: tf.train.FtrlOptimizer(
            0.1,
            l1_regularization_strength=0.1,
            l2_regularization_strength=0.3,
            l2_shrinkage_regularization_strength=0.2,
        ),
        [0.137424, -0.975219],
    ),
    (lambda: tf.train.FtrlOptimizer(0.1, beta=0.5), [0.132075, -0.785888]),
    (lambda: tf.train.FtrlOptimizer(tf.constant(0.1), beta=0.5), [0.132075, -0.785888]),
    (lambda: tf.train.AdamOptimizer(), [0.997, -1.997]),
    (lambda: tf.train.AdamOptimizer(0.1, 0.8, 0.9, 1e-4), [0.700147, -1.700074]),
    (lambda: tf.train.RMSPropOptimizer(0.1), [0.838002, -1.7]),
    (lambda: tf.train.RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3), [0.754682, -1.575212]),
    (
        lambda: tf.train.RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3, centered=True),
        [0.748943, -1.546304],
    ),
]


@each(("make", "expected"), CHECKS, around=graph_of_its_own)
def test_three_steps(make, expected):
    v = tf.Variable([1.0, -2.0])
    step = make().apply_gradients([(tf.constant([0.5, -1.0]), v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            assert session.run(step) is None
        assert session.run(v) == pytest.approx(expected, abs=1.5e-6)


@pytest.mark.parametrize(("make", "expected"), CHECKS)
@pytest.mark.usefixtures("eager")
def test_three_steps_in_eager_mode(make, expected):
    v = tf.Variable([1.0, -2.0])
    optimizer = make()
    for _ in range(3):
        assert optimizer.apply_gradients([(tf.constant([0.5, -1.0]), v)]) is None
    assert v.numpy() == pytest.approx(expected, abs=1.5e-6)


def test_what_is_no_global_step() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match="expected a variable for global_step, got 3"):
        tf.train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=3)


def test_a_beta_that_is_a_tensor() -> None:
    v = tf.Variable([1.0, -2.0])
    optimizer = tf.train.FtrlOptimizer(0.1, beta=tf.constant(0.5))
    step = optimizer.apply_gradients([(tf.constant([0.5, -1.0]), v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        assert session.run(v) == pytest.approx([0.132075, -0.785888], abs=1.5e-6)


@pytest.mark.usefixtures("eager")
def test_a_constraint_that_fails_changes_nothing() -> None:
    v = tf.Variable([1.0, 2.0])
    w = tf.Variable([1.0, 2.0], constraint=lambda x: x[:1])
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    with pytest.raises(ValueError, match="expected a new value of float32 and shape"):
        optimizer.apply_gradients([(tf.ones([2]), v), (tf.ones([2]), w)])
    assert v.numpy().tolist() == [1.0, 2.0]
    assert optimizer.get_slot(v, "momentum").numpy().tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: tf.train.AdagradOptimizer(0.1, 0.0), "expected initial_accumulator_value above 0"),
        (
            lambda: tf.train.FtrlOptimizer(0.1, 0.5),
            "expected learning_rate_power at most 0, got 0.5",
        ),
        (
            lambda: tf.train.FtrlOptimizer(0.1, initial_accumulator_value=-1),
            "initial_accumulator_value at least 0",
        ),
        (lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=-1), "at least 0, got -1"),
        (lambda: tf.train.FtrlOptimizer(0.1, l2_regularization_strength=-1), "at least 0, got -1"),
        (
            lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=-1),
            "l2_shrinkage_regularization_strength at least 0",
        ),
    ],
)
def test_numbers_out_of_range(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_names_of_slots_follow_those_of_the_optimizer():
    v, g = tf.Variable(1.0, name="v"), tf.constant(1.0)
    for optimizer, names in (
        (tf.train.MomentumOptimizer(0.1, 0.9, name="Mine"), ["v/Mine:0"]),
        (tf.train.AdadeltaOptimizer(), ["v/Adadelta:0", "v/Adadelta_1:0"]),
        (tf.train.FtrlOptimizer(0.1), ["v/Ftrl:0", "v/Ftrl_1:0"]),
        (tf.train.FtrlOptimizer(0.1, accum_name="n", linear_name="z"), ["v/n:0", "v/z:0"]),
        (
            tf.train.RMSPropOptimizer(0.1, centered=True),
            [f"v/RMSProp{k}:0" for k in ("", "_1", "_2")],
        ),
    ):
        optimizer.apply_gradients([(g, v)])
        assert [x.name for x in optimizer.variables()] == names


# --- minimize and its parts


def test_minimize_is_compute_and_apply():
    v, w = tf.Variable(2.0, name="v"), tf.Variable(3.0, name="w")
    free = tf.Variable(1.0, name="free")
    loss = v * v * w
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss)
    assert [x for _, x in pairs] == [v, w, free] and pairs[2][0] is None
    assert listed(run([g for g, _ in pairs[:2]])) == [12.0, 4.0]
    assert optimizer.compute_gradients(loss, var_list=w)[0][1] is w
    assert listed(run(optimizer.compute_gradients(loss, [v], grad_loss=10.0)[0][0])) == 120.0
    step = optimizer.minimize(loss, name="go")
    assert step.name == "go" and step in tf.get_collection(tf.GraphKeys.TRAIN_OP)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        _, value, slope = session.run([step, loss, pairs[0][0]])
        assert (value, slope) == (12.0, 12.0)  # from before the update
        assert session.run([v, w, free]) == pytest.approx([0.8, 2.6, 1.0])


def test_loss_may_be_a_function():
    v = tf.Variable(3.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    pairs = optimizer.compute_gradients(lambda: v * v)
    assert [x for _, x in pairs] == [v] and run(pairs[0][0]) == 6.0


def test_what_cannot_be_minimized():
    v, n = tf.Variable(2.0, name="v"), tf.Variable(2, name="n")
    lost = tf.Variable(2.0, name="lost")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(ValueError, match="int32"):
        optimizer.compute_gradients(n * n)
    with pytest.raises(ValueError, match="gate_gradients"):
        optimizer.minimize(v, gate_gradients=7)
    with pytest.raises(TypeError, match=r"var_list\[1\]"):
        optimizer.minimize(v * v, var_list=[v, "w"])
    with pytest.raises(
        ValueError, match=r"(?s)No gradients provided.*v:0: every path.*n:0: int32.*lost:0.*depend"
    ):
        optimizer.minimize(tf.stop_gradient(v) * 2, var_list=[v, n, lost])
    with tf.Graph().as_default(), pytest.raises(ValueError, match="no variables to optimize"):
        optimizer.minimize(tf.constant(1.0))
    with pytest.raises(ValueError, match="name"):
        tf.train.GradientDescentOptimizer(0.1, name="")
    with pytest.raises(NotImplementedError):
        tf.train.Optimizer(False, "base").minimize(v * v)


def test_gates():
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    for gate in (tf.train.Optimizer.GATE_NONE, tf.train.Optimizer.GATE_OP):
        pairs = tf.train.GradientDescentOptimizer(1.0).compute_gradients(v * v, gate_gradients=gate)
        assert pairs[1] == (None, w)
    pairs = tf.train.GradientDescentOptimizer(1.0).compute_gradients(v * v, gate_gradients=2)
    assert run(pairs[0][0]) == 4.0 and pairs[1] == (None, w)


@each(
    ("pairs", "kind", "text"),
    [
        (lambda v: [], ValueError, "no variables provided"),
        (lambda v: [(None, v)], ValueError, "No gradients provided"),
        (lambda v: [([1.0], v)], ValueError, r"\(2,\)"),
        (lambda v: [(tf.constant([1, 2]), v)], TypeError, "int32"),
        (lambda v: [("ab", v)], TypeError, "convertible"),
        (lambda v: [([1.0, 2.0], tf.constant([1.0, 2.0]))], NotImplementedError, "Tensor"),
        (lambda v: [([1.0, 2.0], 3.0)], TypeError, "variable"),
        (lambda v: [v], TypeError, "pairs"),
    ],
    around=graph_of_its_own,
)
def test_bad_pairs(pairs, kind, text):
    v = tf.Variable([1.0, 2.0])
    with pytest.raises(kind, match=text):
        tf.train.GradientDescentOptimizer(0.1).apply_gradients(pairs(v))


def test_pairs_may_be_arrays_a_zip_or_duplicates():
    v, w = tf.Variable(2.0), tf.Variable(5.0)
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
    step = optimizer.apply_gradients(zip([np.float32(1), None], [v, w], strict=True))
    assert optimizer.get_slot(w, "momentum") is None
    assert optimizer.get_slot(v, "momentum") is not None
    twice = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(1.0, v), (2.0, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(twice)
        assert session.run(v) == pytest.approx(1.7)
        session.run(step)
        assert session.run([v, w]) == pytest.approx([1.6, 5.0])


def test_global_step():
    step = tf.train.get_or_create_global_step()
    assert (step.name, step.dtype, step.trainable) == ("global_step:0", tf.int64, False)
    assert tf.train.get_global_step() is step is tf.train.get_or_create_global_step()
    v = tf.Variable(2.0)
    op = tf.train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(op)
        assert session.run(step) == 3
    with pytest.raises(ValueError, match="get_or_create_global_step"):
        tf.train.create_global_step()


@pytest.mark.usefixtures("eager")
def test_global_step_in_eager_mode() -> None:
    assert tf.train.get_global_step() is None
    step = tf.train.create_global_step()
    assert tf.train.get_global_step() is step is tf.train.get_or_create_global_step()
    v = tf.Variable(2.0)
    tf.train.GradientDescentOptimizer(0.1).minimize(lambda: v * v, global_step=step)
    assert tf.train.get_or_create_global_step().numpy() == 1
    with pytest.raises(ValueError, match="get_or_create_global_step"):
        tf.train.create_global_step()
    assert tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES) == []


def test_slots():
    v = tf.Variable([1.0, 2.0], name="v")
    adam = tf.train.AdamOptimizer()
    adam.minimize(tf.reduce_sum(v * v))
    assert adam.get_slot_names() == ["m", "v"]
    assert adam.get_slot(v, "m").name == "v/Adam:0"
    assert adam.get_slot(v, "nothing") is None
    names = [x.name for x in adam.variables()]
    assert names == ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
    assert not any(x.trainable for x in adam.variables())
    count = len(tf.global_variables())
    adam.minimize(tf.reduce_sum(v * v * v))
    assert len(tf.global_variables()) == count  # slots are shared
    assert set(adam.variables()) <= set(tf.global_variables())


def test_names_of_slots_in_scopes():
    with tf.name_scope("s"):
        v = tf.Variable(1.0, name="v")
        momentum = tf.train.MomentumOptimizer(0.1, 0.9)
        momentum.minimize(v * v)
        assert momentum.get_slot(v, "momentum").name == "s/v/Momentum:0"
    with tf.variable_scope("net"):
        w = tf.get_variable("w", [])
    adam = tf.train.AdamOptimizer()
    adam.minimize(w * w, var_list=[w])
    assert adam.get_slot(w, "v").name == "net/w/Adam_1:0"


def test_slots_made_after_the_initializer():
    v = tf.Variable(1.0)
    init = tf.global_variables_initializer()
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(v * v)
    with tf.Session() as session:
        session.run(init)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Momentum"):
            session.run(step)
        assert session.run(v) == 1.0
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(v) == pytest.approx(0.8)


def test_rates_of_all_kinds():
    v = tf.Variable(1.0)
    rate = tf.placeholder(tf.float32)
    one = tf.constant(1.0)
    by_feed = tf.train.GradientDescentOptimizer(rate).apply_gradients([(one, v)])
    by_call = tf.train.GradientDescentOptimizer(lambda: 0.25).apply_gradients([(one, v)])
    decay = tf.Variable(0.5, trainable=False)
    by_variable = tf.train.GradientDescentOptimizer(decay).apply_gradients([(one, v)])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(by_feed, {rate: 0.125})
        session.run(by_call)
        session.run(by_variable)
        assert session.run(v) == 0.125
    d = tf.Variable(1.0, dtype=tf.float64)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(d)
    with tf.Session() as session:
        session.run(d.initializer)
        session.run(step)
        assert session.run(d) == 0.9  # in the variable's own dtype


def test_a_nan_gradient_is_applied():
    v = tf.Variable(1.0)
    step = tf.train.GradientDescentOptimizer(0.1).apply_gradients([(NAN, v)])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(step)
        assert np.isnan(session.run(v))


def test_constraint():
    v = tf.Variable([1.0, -1.0], constraint=lambda x: tf.maximum(x, 0.0))
    step = tf.train.GradientDescentOptimizer(0.5).apply_gradients([([1.0, 1.0], v)])
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(step)
        assert session.run(v).tolist() == [0.5, 0.0]


def test_training_waits_for_control_dependencies():
    v, count = tf.Variable(1.0), tf.Variable(0, trainable=False)
    with tf.control_dependencies([count.assign_add(1)]):
        step = tf.train.GradientDescentOptimizer(0.1).minimize(v * v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run(count) == 1


@pytest.mark.usefixtures("eager")
def test_eager_minimize_needs_a_function():
    v = tf.Variable(3.0)
    optimizer = tf.train.AdamOptimizer(0.1)
    with pytest.raises(RuntimeError, match="function"):
        optimizer.minimize(v * v)
    for _ in range(3):
        optimizer.minimize(lambda: v * v)
    assert float(v) < 2.8
    optimizer.minimize(lambda: v * v, var_list=[v])
    with pytest.raises(ValueError, match="No gradients"):
        optimizer.minimize(lambda: tf.stop_gradient(v) * v, var_list=[tf.Variable(1.0)])
