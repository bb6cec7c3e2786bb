"""How much memory evaluations hold: the peak of a step, and what stays behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.process import live

import pullback as pb
from pullback import _core

MIB = 1 << 20


def test_the_peak_of_a_training_step() -> None:
    """Forward, backward and update over 4 MiB arrays; what is elementwise needs no temporaries."""
    w = pb.Variable(np.ones(MIB, np.float32))
    x = pb.constant(np.ones(MIB, np.float32))

    @pb.function
    def step() -> pb.Tensor:
        y = x
        for _ in range(10):
            y = pb.tanh(y * w)
        (g,) = pb.gradients(pb.sum(y), [w])
        assert g is not None
        w.assign_sub(0.1 * g)
        return pb.sum(y)

    float(step())
    before = _core.status()["live_bytes"]
    _core.reset_peak_bytes()
    for _ in range(3):
        float(step())
    # The new w beside the old one, and what the way back needs: two values for each round.
    assert 0 < _core.status()["peak_bytes"] - before <= (2 * 10 + 2) * 4 * MIB
    assert _core.status()["live_bytes"] == before


def test_the_peak_starts_anew() -> None:
    x = pb.ones(MIB, dtype=np.float32)
    pb.evaluate(x * 2.0)
    assert _core.status()["peak_bytes"] >= _core.status()["live_bytes"] + 4 * MIB
    _core.reset_peak_bytes()
    assert _core.status()["peak_bytes"] == _core.status()["live_bytes"]


def test_the_peak_outlasts_smaller_allocations() -> None:
    x = pb.ones(MIB, dtype=np.float32)
    _core.reset_peak_bytes()
    before = _core.status()["live_bytes"]
    pb.evaluate(x * 2.0)
    pb.evaluate(pb.ones(3))
    assert _core.status()["peak_bytes"] >= before + 4 * MIB


def test_freed_memory_is_kept_up_to_a_bound_and_can_be_given_back() -> None:
    for size in range(100, 140):
        y = pb.ones((size, MIB // 4), dtype=np.float32) * 2.0
        pb.evaluate(y)
        del y
    assert 100 * MIB < _core.status()["cached_bytes"] <= 1024 * MIB
    _core.trim_memory()
    assert _core.status()["cached_bytes"] == 0


def test_memory_beyond_the_bound_goes_back() -> None:
    """A step fails before the large outputs are written, so they take addresses and no memory."""
    first = pb.take(pb.ones(1), pb.constant(np.array([6])) + 1)
    large = [pb.broadcast_to(first, (256 * MIB // 4,)) * float(k) for k in range(5)]
    with pytest.raises(IndexError):
        pb.evaluate(*large)
    del large
    assert 0 < _core.status()["cached_bytes"] <= 1024 * MIB
    _core.trim_memory()


def above(run: Callable[[], None]) -> int:
    """Bytes that were in use during the second run, above those before it."""
    run()
    before = _core.status()["live_bytes"]
    _core.reset_peak_bytes()
    run()
    assert _core.status()["live_bytes"] == before
    return int(_core.status()["peak_bytes"] - before)


@pytest.mark.parametrize("in_function", [False, True])
def test_the_peak_of_a_training_step_with_products(in_function: bool) -> None:
    random, batch, width = np.random.default_rng(0), 128, 256
    shapes = [(784, width), (width,), (width, width), (width,), (width, 10), (10,)]
    w = [pb.Variable(random.normal(0, 0.05, shape).astype(np.float32)) for shape in shapes]
    x = pb.constant(random.random((batch, 784), dtype=np.float32))
    labels = pb.constant(np.eye(10, dtype=np.float32)[random.integers(0, 10, batch)])
    optimizer = pb.optimizers.GradientDescent(0.1)

    def step() -> None:
        h = x
        for i in range(0, 6, 2):
            h = (pb.relu(h) if i else h) @ w[i] + w[i + 1]
        loss = pb.mean(pb.softmax_cross_entropy(h, labels))
        gradients = pb.gradients(loss, w)
        optimizer.apply_gradients(zip(gradients, w, strict=True))

    called = pb.function(step) if in_function else step

    def run() -> None:
        called()
        pb.evaluate(w)

    # The gradients, which become the new parameters; two activations with their masks, and what
    # flows back through them.
    hidden = batch * width
    expected = 4 * sum(int(np.prod(shape)) for shape in shapes) + 4 * hidden * 4 + 2 * hidden
    assert above(run) <= 1.1 * expected


# --- an update may write where the old value lies


@pytest.mark.parametrize("style", ["lazy", "function", "function, read between"])
def test_an_update_needs_no_memory(style: str) -> None:
    w, other = pb.Variable(np.ones(MIB, np.float32)), pb.Variable(1.0)

    def step() -> None:
        w.assign(w * 0.5 + 1.0)

    called = step if style == "lazy" else pb.function(step)

    def run() -> None:
        called()
        if style == "lazy":
            pb.evaluate(other * 2.0)  # and with it what is pending
        elif style == "function, read between":
            float(pb.max(w))

    run()  # the array that the variable was made of may be its owner's
    assert above(run) <= 8192  # the block sums of the maximum
    assert w.numpy()[-1] == 1.875


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_training_step_that_returns_its_loss_needs_no_memory_for_parameters(
    momentum: float,
) -> None:
    w = pb.Variable(np.ones(MIB, np.float32))
    x = pb.constant(np.linspace(0, 1, MIB, dtype=np.float32))
    optimizer = pb.optimizers.Momentum(1e5, momentum)

    @pb.function
    def step() -> Any:
        with pb.GradientTape() as tape:
            loss = pb.mean(pb.square(w * x - 1.0))
        optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))
        return loss

    losses = []

    def run() -> None:
        losses.append(float(step()))

    run()
    assert above(run) <= 8192  # the block sums of the mean
    assert losses[0] > losses[1] > losses[2]


@pytest.mark.parametrize("in_function", [False, True])
@pytest.mark.parametrize("hold", ["array", "memoryview", "tensor", "view"])
def test_an_update_leaves_alone_what_somebody_holds(hold: str, in_function: bool) -> None:
    w = pb.Variable(np.ones(MIB, np.float32))

    def step() -> None:
        w.assign(w * 0.5 + 1.0)

    called = pb.function(step) if in_function else step
    called()
    pb.evaluate(w)
    held: Any = {
        "array": lambda: w.numpy(),
        "memoryview": lambda: memoryview(w.numpy()),
        "tensor": lambda: pb.identity(w),
        "view": lambda: pb.reshape(w, (2, -1)),
    }[hold]()
    for _ in range(2):
        called()
        pb.evaluate(w)
    assert np.array_equal(np.asarray(held).reshape(-1), np.full(MIB, 1.5, np.float32))
    assert w.numpy()[0] == 1.875


def test_an_update_leaves_alone_the_tensor_that_was_assigned() -> None:
    w = pb.Variable(np.ones(MIB, np.float32))

    @pb.function
    def step() -> None:
        w.assign(w * 0.5 + 1.0)

    step()
    value = pb.constant(np.full(MIB, 4.0, np.float32)) * 2
    value.numpy()
    w.assign(value)
    step()
    assert w.numpy()[0] == 5 and value.numpy()[0] == 8


def test_a_failing_step_changes_nothing() -> None:
    v, w = pb.Variable(np.ones(1000)), pb.Variable(np.arange(1000.0))

    def step(i: Any) -> None:
        v.assign(v * 0.5 + 1.0)
        w.assign_add(pb.take(v, i) + w * v)

    called = pb.function(step)
    called(pb.constant(np.array([3])))
    with pytest.raises(IndexError):
        called(pb.constant(np.array([1000])))
    for _ in range(2):
        assert np.array_equal(v.numpy(), np.full(1000, 1.5))
        assert np.array_equal(w.numpy(), np.arange(1000.0) * 2.5 + 1.5)


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "stop_gradient": lambda h, v: pb.stop_gradient(pb.tanh(h @ v)),
    "a comparison": lambda h, v: pb.cast(pb.tanh(h @ v) > 0.0, "float64"),
    "argmax": lambda h, v: pb.one_hot(pb.argmax(pb.tanh(h @ v), axis=1), 20, dtype="float64"),
}


@pytest.mark.parametrize("way", STEPS)
def test_what_no_gradient_passes_keeps_no_history(way: str) -> None:
    v = pb.Variable(np.eye(20))
    h = pb.constant(np.linspace(-1.0, 1.0, 60).reshape(3, 20))
    kept = []
    for k in range(300):
        h = STEPS[way](h, v)
        h.numpy()
        if k in (100, 299):
            kept.append(live())
    assert kept[1] == kept[0]


def test_metrics_that_are_kept_keep_nothing_else() -> None:
    v = pb.Variable(np.ones((1000, 100)))
    float(pb.sum(v))
    before = live()[2]
    kept = []
    for k in range(100):
        kept.append(pb.stop_gradient(pb.sum(pb.exp(v * (k * 1e-3)) * v)))
        kept.append(pb.mean(pb.cast(pb.equal(pb.argmax(v * float(k), axis=1), 0), "float32")))
        float(kept[-1]), float(kept[-2])
    assert live()[2] - before < 100_000


def test_the_gradient_by_what_was_stopped() -> None:
    v = pb.Variable([1.0, -2.0])
    for look in (False, True):
        h = pb.stop_gradient(pb.exp(v))
        if look:
            h.numpy()
        found = pb.gradients(pb.sum(h * h * v), [h, v])
        np.testing.assert_allclose(found[0], 2 * np.exp([1.0, -2.0]) * [1.0, -2.0], rtol=1e-6)
        np.testing.assert_allclose(found[1], np.exp([2.0, -4.0]), rtol=1e-6)


def test_a_rule_for_what_kept_no_history_is_refused() -> None:
    v = pb.Variable([1.0, -2.0])
    h = pb.stop_gradient(v)
    y = pb.sum(h * v)
    given = {"stop_gradient": lambda op, g: g}
    assert pb.gradients(y, v, overrides=given)[0].numpy().tolist() == [2.0, -4.0]
    h.numpy()
    for late in (given, {"random_normal": lambda op, g: (g, g)}):
        with pytest.raises(ValueError, match=r"was not kept.*gradient_override_map"):
            pb.gradients(y, v, overrides=late)
    with pb.gradient_override_map(given):
        h = pb.stop_gradient(v)
    h.numpy()
    assert pb.gradients(pb.sum(h * v), v)[0].numpy().tolist() == [2.0, -4.0]
    inside = pb.function(
        lambda: pb.gradients(pb.sum(pb.stop_gradient(v) * v), v, overrides=given)[0]
    )
    assert inside().numpy().tolist() == [2.0, -4.0]
