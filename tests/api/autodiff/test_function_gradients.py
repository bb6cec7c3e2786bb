"""function and derivatives: a call stays differentiable, to any order and by what it captures, and
gradients may be asked for inside."""

from __future__ import annotations

import numpy as np
import pytest
from support.traced import Counted

import pullback as pb


def test_stays_differentiable():
    w = pb.Variable(3.0)
    f = Counted(lambda x: w * x**2)
    x = pb.Variable(2.0)
    for _ in range(2):
        y = 5 * f(x.read())
        assert [float(g) for g in pb.gradients(y, [x, w])] == [60.0, 20.0]
        with pb.GradientTape() as tape:
            y = 5 * f(x.read())
        assert [float(g) for g in tape.gradient(y, [x, w])] == [60.0, 20.0]
    assert float(pb.grad(f)(2.0)) == 12.0
    assert float(pb.grad(pb.grad(f))(2.0)) == 6.0
    assert float(pb.gradients(f(2.0), w)[0]) == 4.0
    assert f.runs == 2  # a Python float is a signature of its own


def test_captured_tensors_stay_differentiable():
    v = pb.Variable(5.0)
    with pb.GradientTape() as tape:
        c = v * 3
        f = Counted(lambda x: x * c)
        y = f(2.0) + f(4.0)
    assert float(tape.gradient(y, v)) == 18.0
    assert [float(g) for g in pb.gradients(y, [v, c])] == [18.0, 6.0]
    assert f.runs == 1


def test_higher_order_through_a_call():
    f = Counted(pb.sin)
    g = pb.grad(pb.grad(pb.grad(f)))
    assert float(g(pb.constant(0.3, "float64"))) == pytest.approx(-np.cos(0.3), rel=1e-14)


def test_a_function_that_reads_and_assigns_under_a_tape():
    w, mean = pb.Variable(2.0), pb.Variable(0.0, trainable=False)

    def body(x):
        y = w * x
        mean.assign(0.5 * mean + 0.5 * y)
        return y

    f = Counted(body)
    f(1.0)
    with pb.GradientTape() as tape:
        y = f(3.0)
    assert float(tape.gradient(y, w)) == 3.0
    assert mean.item() == 3.5 and f.runs == 1


def test_a_loss_that_assigns():
    """As in batch normalisation: the loss keeps an average, and is differentiated outside."""
    w, mean = pb.Variable(2.0), pb.Variable(0.0, trainable=False)

    @pb.function
    def loss():
        y = w * w
        mean.assign(0.5 * mean + 0.5 * y)
        return y

    optimizer = pb.optimizers.GradientDescent(0.25)
    for expected in (1.0, 0.5, 0.25):
        optimizer.minimize(loss)
        assert w.item() == expected


def test_gradients_inside():
    def body(x):
        with pb.GradientTape() as tape:
            tape.watch(x)
            y = pb.sum(x**3)
        return tape.gradient(y, x), pb.gradients(y, x)[0]

    f = Counted(body)
    for k in (1.0, 2.0):
        for g in f(np.array([k, 2 * k])):
            assert g.numpy().tolist() == [3 * k**2, 12 * k**2]
    assert f.runs == 1


def test_nested_functions():
    inner = Counted(lambda x: x * 3)
    outer = Counted(lambda x: inner(x) + inner(x))
    assert [float(outer(k)) for k in (1.0, 2.0)] == [6.0, 12.0]
    assert (outer.runs, inner.runs) == (1, 2)
    x = pb.Variable(1.0)
    assert float(pb.gradients(outer(x.read()), x)[0]) == 6.0


def test_custom_gradients_inside():
    @pb.custom_gradient
    def f(x):
        e = pb.exp(x)
        return pb.log(1 + e), lambda g: g * (1 - 1 / (1 + e))

    w = pb.Variable(100.0)
    traced = Counted(lambda x: f(x + w))
    for _ in range(2):
        assert [float(g) for g in pb.gradients(traced(0.0), w)] == [1.0]

    @pb.function
    def step(x):
        loss = f(x + w)
        w.assign_sub(pb.gradients(loss, w)[0])
        return loss

    assert [float(step(0.0)) for _ in range(2)] == pytest.approx([np.inf, np.inf])
    assert w.item() == 98.0


def test_gradients_by_an_own_argument_wherever_it_is_called() -> None:
    slope = pb.function(lambda x: pb.gradients(pb.tanh(x), x)[0])
    x = pb.constant(0.3)
    expected = 1 - np.tanh(0.3) ** 2
    with pb.gradient_override_map({"round": lambda op, u: u}):
        np.testing.assert_allclose(slope(x), expected, rtol=1e-6)
        np.testing.assert_allclose(slope(0.3), expected, rtol=1e-6)
    with pb.gradient_override_map({"tanh": lambda op, u: 7.0 * u}):
        assert slope(x).numpy() == 7.0
    assert slope(x).numpy() != 7.0  # a trace made under the map is not kept
    with pb.check_numerics():
        np.testing.assert_allclose(slope(x), expected, rtol=1e-6)
    np.testing.assert_allclose(pb.checkpoint(slope)(x), expected, rtol=1e-6)
    outer = pb.function(lambda y: y * slope(pb.constant(0.3)))
    np.testing.assert_allclose(outer(2.0), 2 * expected, rtol=1e-6)
    with pb.gradient_override_map({"round": lambda op, u: u}), pb.GradientTape() as tape:
        tape.watch(x)
        y = slope(x)
    second = -2 * np.tanh(0.3) * expected
    np.testing.assert_allclose(tape.gradient(y, x), second, rtol=1e-5)


def test_a_function_under_a_map_keeps_no_history() -> None:
    step = pb.function(lambda state: state * 0.5)
    state = pb.ones(3)
    with pb.gradient_override_map({"round": lambda op, u: u}):
        before = pb._core.status()["live_nodes"]
        for _ in range(50):
            state = step(state)
        state.numpy()
        assert pb._core.status()["live_nodes"] < before + 20


def test_the_dtype_of_a_gradient_by_a_python_float() -> None:
    slope = pb.function(lambda x: pb.gradients(pb.tanh(x), x)[0])
    assert slope(0.3).dtype == np.float32
    zero = pb.function(lambda x: pb.gradients(pb.tanh(2.0), [x], unconnected_gradients="zero")[0])
    assert zero(0.3).dtype == np.float32
