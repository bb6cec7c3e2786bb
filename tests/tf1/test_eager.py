"""Eager mode, and tapes in both modes."""

from __future__ import annotations

import numpy as np
import pytest
from support.tf1 import eager, fresh_graph, listed, run  # noqa: F401

import pullback as pb
import pullback.compat.tf1 as tf
from pullback.compat.tf1._graph import graph, mode


def numbers(answers):
    return [None if g is None else g.numpy().tolist() for g in answers]


# --- eager


def test_switch(monkeypatch):
    assert not tf.executing_eagerly()
    monkeypatch.setattr(graph._stack, "graphs", [])
    monkeypatch.setattr(mode, "enabled", False)
    monkeypatch.setattr(graph, "_global_graph", tf.Graph())
    monkeypatch.setattr(pb.Tensor, "__str__", pb.Tensor.__str__)
    tf.constant(1.0)
    with pytest.raises(ValueError, match="before any operation"):
        tf.enable_eager_execution()
    tf.reset_default_graph()
    tf.enable_eager_execution()
    tf.enable_eager_execution()
    assert tf.executing_eagerly()
    assert str(tf.constant([1.0, 2.0])) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    matrix = "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"
    assert str(tf.constant([[1, 2], [3, 4]])) == matrix
    with tf.Graph().as_default():
        assert not tf.executing_eagerly()
        assert isinstance(tf.constant(1.0), tf.Tensor)


@pytest.mark.usefixtures("eager")
def test_values_are_there():
    x = tf.constant([1.0, 2.0])
    assert isinstance(x, pb.Tensor)
    y = tf.reduce_sum(tf.square(x) * 2, axis=0) + tf.cast(3, tf.float32)
    assert float(y) == 13.0
    assert tf.matmul([[1.0, 2.0]], tf.reshape(x, [2, 1])).numpy().tolist() == [[5.0]]
    assert tf.one_hot([0, 2], 3).numpy().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert tf.argmax([[1, 3, 2]], 1).numpy().tolist() == [1]
    assert tf.stack([x, 2 * x]).shape == (2, 2)
    assert [t.numpy().tolist() for t in tf.split(x, 2)] == [[1.0], [2.0]]
    assert tf.constant(3).dtype == tf.int32
    assert tf.where(x > 1, x, tf.zeros_like(x)).numpy().tolist() == [0.0, 2.0]
    assert (x == x).numpy().all()
    with pytest.raises(TypeError):
        tf.add(x, tf.constant([1, 2]))
    with pytest.raises(TypeError, match="exp: "):
        tf.exp(tf.constant(1))


@pytest.mark.usefixtures("eager")
def test_variables():
    v = tf.Variable(0.5, name="v")
    assert repr(v) == "<tf.Variable 'v:0' shape=() dtype=float32, numpy=0.5>"
    assert v.assign(2.0) is v and float(v.assign_add(1.0)) == 3.0
    tf.assign_sub(v, 0.5)
    assert float(v.read_value()) == 2.5 and float(v.value() * 2) == 5.0
    with pytest.raises(ValueError, match=r"v:0"):
        v.assign([1.0, 2.0])
    with pytest.raises(TypeError):
        v.assign(tf.constant(1))
    assert tf.Variable(3).dtype == tf.int32
    with pytest.raises(ValueError):
        tf.Variable()
    a, b = (tf.get_variable("same", [2]) for _ in range(2))
    assert a is not b
    assert tf.global_variables_initializer() is None


@pytest.mark.usefixtures("eager")
def test_what_graphs_have():
    for call in (
        lambda: tf.placeholder(tf.float32),
        lambda: tf.gradients(tf.constant(1.0), tf.constant(1.0)),
        lambda: tf.Session().run(tf.constant(1.0)),
    ):
        with pytest.raises(RuntimeError):
            call()
    x = tf.constant(1.0)
    for name in ("op", "name", "graph"):
        with pytest.raises(AttributeError):
            getattr(x, name)


@pytest.mark.usefixtures("eager")
def test_eager_program_leaves_no_names():
    before = len(tf.get_default_graph()._names)
    v = tf.Variable(1.0)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    for _ in range(5):
        optimizer.minimize(lambda: tf.reduce_mean(tf.square(v - 1) + 2 * v))
    assert len(tf.get_default_graph()._names) == before


@pytest.mark.usefixtures("eager")
def test_overrides_hold_in_eager_mode():
    @tf.RegisterGradient("Triple")
    def rule(op, grad):
        assert op.type == "Identity" and op.inputs[0].shape == (2,)
        assert not hasattr(op, "name")
        return 3 * grad

    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape, tf.get_default_graph().gradient_override_map(
        {"Identity": "Triple"}
    ):  # fmt: skip
        y = tf.identity(x)
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 3.0]
    with pytest.raises(LookupError, match="Nobody"), (
        tf.get_default_graph().gradient_override_map({"Identity": "Nobody"})
    ):  # fmt: skip
        tf.identity(x)


@pytest.mark.usefixtures("eager")
def test_custom_gradient():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda d: (10 * d * y, 100 * d * x)

    x, y = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = f(x, y=y)
    assert numbers(tape.gradient(z, [x, y])) == [30.0, 200.0]


def test_naive_nesting_is_the_ordinary_second_derivative(values):
    @tf.custom_gradient
    def cube(x):
        @tf.custom_gradient
        def rule(d):
            return d * 3 * x * x, lambda dd: 1000 * dd

        return x * x * x, rule

    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = cube(x)
        first = inner.gradient(y, x)
    assert values([first, outer.gradient(first, x)]) == [12.0, 12.0]


@pytest.mark.usefixtures("eager")
def test_shuffle_has_no_rule():
    x = tf.Variable([0.3, 0.5])

    @tf.custom_gradient
    def hidden(x):
        return tf.stop_gradient(tf.random.shuffle(x)), lambda d: d

    with tf.GradientTape(persistent=True) as tape:
        y, z = hidden(x), tf.random.shuffle(x)
    assert sorted(y.numpy().tolist()) == pytest.approx([0.3, 0.5])
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0]
    with pytest.raises(LookupError, match="RandomShuffle"):
        tape.gradient(z, x)


@pytest.mark.usefixtures("eager")
def test_not_differentiable_is_none():
    x = tf.Variable([0.3, 0.5])
    with tf.GradientTape(persistent=True) as tape:
        a, b = tf.round(x), tf.zeros_like(x)
    assert tape.gradient(a, x) is None and tape.gradient(b, x) is None
    zero = tape.gradient(a, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zero.numpy().tolist() == [0.0, 0.0]


@pytest.mark.usefixtures("eager")
def test_print(capsys):
    tf.print("y =", tf.constant(0.1), tf.constant(1 / 3), [tf.constant(1)], {"a": tf.Variable(2)})
    assert capsys.readouterr().err == "y = 0.1 0.333333343 [1] {a: 2}\n"


# --- tapes: the same programs eagerly and in a graph


@pytest.fixture(params=["eager", "graph"])
def values(request):
    """A function that gives the numbers of answers, in either mode."""
    if request.param == "eager":
        request.getfixturevalue("eager")
        return lambda nest: [None if g is None else g.numpy().tolist() for g in nest]

    def in_session(nest):
        found = iter(run([g for g in nest if g is not None]))
        return [None if g is None else listed(next(found)) for g in nest]

    return in_session


def test_variable_and_watched_constants(values):
    x = tf.Variable(0.0)
    a, b, c = tf.constant(1.0), tf.constant(-2.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch([a, c])
        y = a * tf.pow(x, 2) + b * x + c
    assert values(tape.gradient(y, [x, a, b, c])) == [-2.0, 0.0, None, 1.0]


def test_nested_tapes(values):
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        first = inner.gradient(y, x)
    assert values([first, outer.gradient(first, x)]) == [12.0, 12.0]


def test_structure_of_sources_and_repetition(values):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    answer = tape.gradient(y, {"a": x, "b": (x, [x])})
    assert values([answer["a"], answer["b"][0], answer["b"][1][0]]) == [6.0] * 3


def test_only_once_unless_persistent(values):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape, tf.GradientTape(persistent=True) as kept:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(y, x)
    assert values([kept.gradient(y, x), kept.gradient(y, x)]) == [6.0, 6.0]


def test_what_is_recorded(values):
    x = tf.Variable(3.0)
    before = x * x
    with tf.GradientTape(persistent=True) as tape:
        inside = x * x
        with tape.stop_recording():
            unseen = x * x
        y = x * unseen
    after = x * x
    answers = [tape.gradient(t, x) for t in (before, inside, y, after)]
    assert values(answers) == [None, 6.0, 9.0, None]


def test_watched_variables(values):
    b, a = tf.Variable(1.0), tf.Variable(2.0)
    fixed = tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = a * b * fixed
    assert tape.watched_variables() == (b, a)
    assert values(tape.gradient(y, [a, b, fixed])) == [3.0, 6.0, None]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(a)
        y = a * b
    assert values(tape.gradient(y, [a, b])) == [1.0, None]


def test_target_is_source(values):
    c = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        pass
    assert values([tape.gradient(c, c)]) == [[1.0, 1.0]]


def test_unconnected_and_output_gradients(values):
    x, z = tf.Variable([1.0, 2.0]), tf.Variable(5.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    zero = tape.gradient(y, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    weighed = tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))
    assert values([zero, weighed, tape.gradient(y, z)]) == [0.0, [2.0, 40.0], None]
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.gradient(y, z, unconnected_gradients="ZERO")


def test_wrong_use(values):
    tape = tf.GradientTape()
    x = tf.constant(1.0)
    with pytest.raises(RuntimeError):
        tape.watch(x)
    with pytest.raises(RuntimeError), tape.stop_recording():
        pass
    with tape:
        with pytest.raises(ValueError):
            tape.watch(3.0)
        with pytest.raises(ValueError, match="recording"), tape:
            pass
    with pytest.raises(ValueError), tape.stop_recording():
        pass
    with pytest.raises(TypeError):
        tape.gradient(None, x)
    with pytest.raises(TypeError):
        tape.gradient(x, [3.0])


def test_reset_and_reentry(values):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.reset()
        z = y + 3 * x
    assert values([tape.gradient(z, x)]) == [3.0]
    with tf.GradientTape() as tape:
        y = x * x
    with tape:
        z = y * y
    assert values([tape.gradient(z, x)]) == [108.0]


def test_tape_honours_an_override(values):
    @tf.RegisterGradient("Minus")
    def rule(op, grad):
        return -grad

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape, tf.get_default_graph().gradient_override_map(
        {"Identity": "Minus"}
    ):  # fmt: skip
        y = tf.identity(x)
    assert values([tape.gradient(y, x)]) == [-1.0]


@pytest.mark.usefixtures("eager")
def test_eager_numpy_is_a_constant():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * float(x) + np.float32(1)
    assert tape.gradient(y, x).numpy() == 2.0


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: tf.pow(x, 3.0), [3.0, 12.0]),
        (lambda x: tf.pow(2.0, x), [2 * np.log(2.0), 4 * np.log(2.0)]),
        (lambda x: tf.nn.softmax_cross_entropy_with_logits_v2(labels=[1.0, 0.0], logits=x),
         [-1 / (1 + np.exp(-1.0)), 1 / (1 + np.exp(-1.0))]),
    ],
)  # fmt: skip
def test_rules_of_rows_with_a_watched_constant(f, expected):
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert np.allclose(tape.gradient(y, x).numpy(), expected)
