"""Accumulated: several gradients make a step."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback.optimizers import Accumulated, Adam, Cosine, GradientDescent, Momentum

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        lambda: GradientDescent(0.1),
        lambda: Momentum(0.1, 0.9),
        lambda: Adam(0.1),
        lambda: GradientDescent(Cosine(0.1, 5)),
    ],
)
def test_as_with_one_larger_batch(make: Any, traced: bool) -> None:
    batches = RNG.normal(size=(12, 4, 3))
    v, w = (pb.Variable(np.ones(3), name=name) for name in "vw")
    small, large = Accumulated(make(), 3), make()

    def step(x: Any) -> None:
        small.minimize(lambda: pb.mean(pb.square(pb.constant(x) @ v - 1)))

    step = pb.function(step) if traced else step
    for k, batch in enumerate(batches):
        before = v.numpy()
        step(batch)
        if k % 3 < 2:
            assert np.array_equal(v.numpy(), before)
            continue
        whole = batches[k - 2 : k + 1].reshape(-1, 3)
        large.minimize(lambda whole=whole: pb.mean(pb.square(pb.constant(whole) @ w - 1)))
        np.testing.assert_allclose(v.numpy(), w.numpy(), rtol=1e-12)
    assert small.steps == large.steps
    assert not traced or step.cache_info().misses == 1


def test_a_variable_twice_and_one_without_a_gradient() -> None:
    v, w = pb.Variable(0.0), pb.Variable(0.0)
    optimizer = Accumulated(GradientDescent(1.0), 2)
    optimizer.apply_gradients([(1.0, v), (2.0, v), (4.0, w)])
    optimizer.apply_gradients([(1.0, v), (None, w)])
    assert (v.item(), w.item()) == (-2.0, 0.0)  # w's sum waits for a step that has it
    optimizer.apply_gradients([(None, v), (2.0, w)])
    optimizer.apply_gradients([(0.0, v), (0.0, w)])
    assert (v.item(), w.item()) == (-2.0, -3.0)


def test_the_state_goes_on_in_a_file() -> None:
    def run(optimizer: Any, v: Any, gradients: Any) -> None:
        for g in gradients:
            optimizer.apply_gradients([(g, v)])

    gradients = RNG.normal(size=7)
    v, w = pb.Variable(1.0, name="v"), pb.Variable(1.0, name="v")
    first, second, both = (Accumulated(Adam(0.1), 2) for _ in range(3))
    run(both, v, gradients)
    run(first, w, gradients[:3])
    file = io.BytesIO()
    np.savez(file, **first.state_dict())
    file.seek(0)
    with np.load(file) as state:
        assert set(state) == {"v/accumulated", "calls", "v/m", "v/s", "steps"}
        second.load_state_dict(state)
    run(second, w, gradients[3:])
    assert w.item() == v.item() and second.steps == both.steps == 3
    assert len(second.variables()) == 5


def test_the_rate_is_that_of_the_other() -> None:
    v = pb.Variable(0.0)
    optimizer = Accumulated(GradientDescent(1.0), 1)
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients([(1.0, v)])
    assert v.item() == -0.25 and optimizer.optimizer.learning_rate == 0.25
    assert "every=1" in repr(optimizer)


def test_a_step_that_fails_changes_nothing() -> None:
    v, w = pb.Variable(0.0), pb.Variable([0.0, 0.0])
    optimizer = Accumulated(Momentum(lambda step: pb.ones(2), 0.5), 1)
    with pytest.raises(ValueError, match="expected a scalar for learning_rate, got shape"):
        optimizer.apply_gradients([(1.0, v), ([1.0, 1.0], w)])
    assert optimizer.variables() == [] and optimizer.steps == 0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: Accumulated(0.1, 2), TypeError, "expected an Optimizer for optimizer, got 0.1"),
        (
            lambda: Accumulated(Accumulated(Adam(), 2), 2),
            TypeError,
            "not an Accumulated for optimizer, got",
        ),
        (lambda: Accumulated(Adam(), 0), ValueError, "expected an integer >= 1 for every, got 0"),
        (lambda: Accumulated(Adam(), 1.5), TypeError, "Accumulated: expected an integer for every"),
    ],
)
def test_mistakes(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call()
