"""Functions that assign variables: their results are differentiable, as of the call, by whatever
the call could keep; and where it replaced the value that a gradient needs, the gradient is an
error, never None or zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

LOST = "assigned variables without keeping their previous values"


def asked(y: Any, x: Any) -> Any:
    (g,) = pb.gradients(y, x)
    return None if g is None else g.numpy().tolist()


def training_step(w: pb.Variable, x: Any) -> pb.Tensor:
    with pb.GradientTape() as tape:
        loss = pb.sum((w * x) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


# --- what is kept


def test_a_model_with_statistics():
    w, mean = pb.Variable([2.0, 3.0]), pb.Variable([0.0, 0.0], trainable=False)

    @pb.function
    def model(x):
        y = w * x
        mean.assign(0.5 * mean + 0.5 * y)
        return pb.sum(y)

    x = np.array([5.0, 7.0], np.float32)
    for _ in range(2):
        y = model(x)
        assert asked(y, w) == [5.0, 7.0]
        (g,) = pb.gradients(y * y, w, unconnected_gradients="zero")
        assert g.numpy().tolist() == [310.0, 434.0]
    assert mean.numpy().tolist() == [7.5, 15.75]
    np.testing.assert_array_equal(pb.grad(lambda x: model(x))(x).numpy(), [2.0, 3.0])
    with pb.GradientTape() as tape:
        y = model(x)
    assert tape.gradient(y, w).numpy().tolist() == [5.0, 7.0]


def test_state_that_enters_the_result_is_as_of_the_call():
    w, n = pb.Variable(2.0), pb.Variable(1.0, trainable=False)

    @pb.function
    def f(x):
        y = w * x * n
        n.assign(n + 1.0)
        return y * n

    ys = [f(3.0) for _ in range(3)]
    n.assign(100.0)
    assert [float(y) for y in ys] == [12.0, 36.0, 72.0]
    assert [asked(y, w) for y in ys] == [6.0, 18.0, 36.0]
    # y = w x n (n + 1): by the n that was read before and the one after, in one.
    assert [asked(y, n) for y in ys] == [18.0, 30.0, 42.0]


def test_variables_that_are_only_read_are_differentiable_trainable_or_not():
    v = pb.Variable(3.0, trainable=False)
    f = pb.function(lambda x: v * x)
    assert asked(f(5.0), v) == 5.0
    with pb.GradientTape() as tape:
        tape.watch(v)
        y = f(5.0)
    assert float(tape.gradient(y, v)) == 5.0


def test_one_result_is_kept_and_another_is_not():
    w, frozen = pb.Variable(2.0), pb.Variable(7.0)

    @pb.function
    def step(x):
        loss = w * x
        w.assign(w - 1.0)
        return loss, frozen * x

    loss, other = step(3.0)
    assert asked(other, frozen) == 3.0 and asked(other, w) is None
    with pytest.raises(RuntimeError, match=LOST):
        pb.gradients(loss, w)
    assert float(w) == 1.0


def test_captured_tensors():
    v, w = pb.Variable(3.0), pb.Variable(2.0)
    c = v * 1.0

    @pb.function
    def f(x):
        y = c * x
        w.assign(w + 1.0)
        return y

    assert asked(f(5.0), v) == 5.0 and asked(f(5.0), c) == 5.0


# --- what is not


@pytest.mark.parametrize("mode", ["none", "zero"])
def test_a_training_step_has_no_gradient_by_what_it_trains(mode):
    w = pb.Variable([1.0, 2.0])
    step = pb.function(lambda x: training_step(w, x))
    loss = step(np.ones(2, np.float32))
    for y in (loss, loss * 2.0, pb.sum(pb.exp(loss)), w * loss):
        with pytest.raises(RuntimeError, match=LOST) as raised:
            pb.gradients(y, w, unconnected_gradients=mode)
        if y is loss:
            assert "test_function_assigning.py" in str(raised.value)
    total = loss + step(np.ones(2, np.float32))
    total.numpy()
    with pytest.raises(RuntimeError, match="stop_gradient"):
        pb.gradients([pb.sum(w), total], [w])


def test_what_the_error_says_to_do_works():
    w = pb.Variable([1.0, 2.0])
    step = pb.function(lambda x: training_step(w, x))
    x = np.ones(2, np.float32)
    loss = step(x)
    assert asked(w * pb.stop_gradient(loss), w) == [5.0, 5.0]
    (g,) = pb.gradients(w * loss, w, stop_gradients=[loss])
    assert g.numpy().tolist() == [5.0, 5.0]
    before = w.numpy()
    with pb.GradientTape() as tape:
        loss = step(x)
    np.testing.assert_allclose(tape.gradient(loss, w).numpy(), 2 * before, rtol=1e-6)
    with pb.GradientTape() as tape:
        y = pb.sum(w * loss)
    np.testing.assert_allclose(tape.gradient(y, w).numpy(), np.full(2, float(loss)), rtol=1e-6)


def test_other_variables_are_not_affected():
    w, v = pb.Variable([1.0, 2.0]), pb.Variable(3.0)
    step = pb.function(lambda x: training_step(w, x))
    loss = step(np.ones(2, np.float32))
    assert asked(v * loss, v) == 5.0
    assert pb.gradients(loss * v, [v])[0] is not None
    assert pb.gradients(loss, v) == [None]  # loss depends on w alone


def test_no_derivative_passes_so_nothing_is_lost():
    w = pb.Variable([1.0, 2.0])

    @pb.function
    def step(x):
        y = w * x
        w.assign(w + 1.0)
        return pb.argmax(y), pb.all(y > 0), pb.stop_gradient(y)

    best, positive, y = step(np.ones(2, np.float32))
    use = pb.where(positive, w, 0.0) * y + pb.cast(best, "float32") * w
    assert asked(use, w) == [2.0, 3.0]


def test_the_value_after_an_assignment():
    w = pb.Variable(2.0)

    @pb.function
    def step():
        w.assign(w * 3.0)
        return w * 10.0

    with pytest.raises(RuntimeError, match=LOST):
        pb.gradients(step(), w)
    with pb.GradientTape() as tape:
        y = step()
    assert float(tape.gradient(y, w)) == 10.0 and float(y) == 180.0


def test_results_given_to_other_functions():
    w = pb.Variable(2.0)

    @pb.function
    def step(x):
        y = w * x
        w.assign(w + 1.0)
        return y

    double = pb.function(lambda y: 2.0 * y)
    times_w = pb.function(lambda y: w * y)
    for y in (double(step(3.0)), double(double(step(3.0))), times_w(step(3.0))):
        with pytest.raises(RuntimeError, match=LOST):
            pb.gradients(y, w)


def test_a_variable_that_is_assigned_such_a_result():
    w, v = pb.Variable(2.0), pb.Variable(0.0)

    @pb.function
    def step(x):
        y = w * x
        w.assign(w + 1.0)
        return y

    v.assign(step(3.0))
    assert asked(v * w, w) == 6.0
    v.assign(step(1.0) * 2.0)
    assert asked(v * w, [w]) == float(v) == 6.0


def test_tracked_arguments_keep_everything():
    w, x = pb.Variable(2.0), pb.Variable(5.0)

    @pb.function
    def step(x):
        y = w * x * x
        w.assign(w + 1.0)
        return y

    y = step(x.read())
    assert (asked(y, x), asked(y, w)) == (20.0, 25.0)
    assert float(pb.grad(lambda x: step(x))(5.0)) == 30.0
    value, slope = pb.value_and_grad(step)(5.0)
    assert (float(value), float(slope), float(w)) == (100.0, 40.0, 5.0)


# --- memory and speed


@pytest.mark.usefixtures("processor")
def test_a_step_works_in_place_and_sums_of_losses_do_not_grow():
    w = pb.Variable(np.ones(1 << 18, np.float32))
    step = pb.function(lambda x: training_step(w, x))
    x = pb.constant(np.full(1 << 18, 1e-3, np.float32))
    total: Any = pb.constant(0.0)
    for k in range(60):
        total = total + step(x)
        if k == 2:
            float(total)
            nodes = pb._core.status()["live_nodes"]
            bytes_ = pb._core.status()["live_bytes"]
    float(total)
    assert not pb._core.is_tracked(total)
    loss = step(x)  # is held
    before = pb._core.status()["live_bytes"]
    pb._core.reset_peak_bytes()
    step(x)
    assert pb._core.status()["peak_bytes"] - before < 4 << 17  # less than another w
    del loss
    assert pb._core.status()["live_nodes"] < nodes + 200
    assert pb._core.status()["live_bytes"] <= bytes_ + (1 << 16)


def test_a_forward_function_keeps_state_only_as_long_as_its_result():
    w, cache = pb.Variable(2.0), pb.Variable(np.zeros(1 << 18), trainable=False)

    @pb.function
    def f(x):
        cache.assign(cache + x)
        return w * pb.sum(cache)

    f(1.0)
    bytes_ = pb._core.status()["live_bytes"]
    for _ in range(5):
        y = f(1.0)
    assert pb._core.status()["live_bytes"] <= bytes_ + 2 * (8 << 18)
    del y
    assert pb._core.status()["live_bytes"] <= bytes_ + (1 << 16)
