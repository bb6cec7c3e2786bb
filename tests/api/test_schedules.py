"""Schedules of the learning rate, by themselves and in an optimizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import optimizers
from pullback.optimizers import Adam, GradientDescent, Momentum

STEPS = range(14)


def half_wave(share: float) -> float:
    return (1 + np.cos(np.pi * min(share, 1))) / 2


def one_cycle(step: int) -> float:
    if step < 3:
        return 0.02 + (0.5 - 0.02) * (1 - half_wave(step / 3))
    return 2e-4 + (0.5 - 2e-4) * half_wave((step - 3) / 7)


SCHEDULES = [
    (optimizers.constant(0.3), lambda t: 0.3),
    (optimizers.exponential(0.5, 4, 0.3), lambda t: 0.5 * 0.3 ** (t / 4)),
    (optimizers.exponential(0.5, 4, 0.3, staircase=True), lambda t: 0.5 * 0.3 ** (t // 4)),
    (optimizers.cosine(0.5, 9), lambda t: 0.5 * half_wave(t / 9)),
    (optimizers.cosine(0.5, 9, 0.1), lambda t: 0.1 + 0.4 * half_wave(t / 9)),
    (optimizers.linear(0.5, 8, 0.1), lambda t: 0.5 - 0.4 * min(t / 8, 1)),
    (optimizers.warm_up(5, 0.4), lambda t: 0.4 * min(t / 5, 1)),
    (
        optimizers.warm_up(5, optimizers.cosine(0.4, 6, 0.1)),
        lambda t: 0.4 * t / 5 if t < 5 else 0.1 + 0.3 * half_wave((t - 5) / 6),
    ),
    (
        optimizers.piecewise([3, 7], [0.5, 0.25, 0.125]),
        lambda t: 0.5 if t < 3 else 0.25 if t < 7 else 0.125,
    ),
    (optimizers.one_cycle(0.5, 10, start=25, end=100), one_cycle),
]


@pytest.mark.parametrize(("schedule", "expected"), SCHEDULES)
def test_values(schedule: Any, expected: Any) -> None:
    for step in STEPS:
        for given in (step, np.int32(step), pb.constant(step), pb.constant(float(step))):
            rate = schedule(given)
            assert rate.shape == ()
            assert float(rate) == pytest.approx(expected(step), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(("schedule", "expected"), SCHEDULES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("traced", [False, True])
def test_an_optimizer_counts_its_steps(
    schedule: Any, expected: Any, dtype: str, traced: bool
) -> None:
    v, optimizer = pb.Variable(0.0, dtype=dtype), GradientDescent(schedule)

    def step() -> None:
        optimizer.apply_gradients([(1.0, v)])

    step = pb.function(step) if traced else step
    for k in STEPS:
        assert optimizer.steps == k
        before = v.numpy()
        step()
        assert before - v.numpy() == pytest.approx(
            expected(k), rel=1e-6 if dtype == "float32" else 1e-12, abs=1e-6
        )
    assert not traced or step.cache_info().misses == 1
    assert optimizer.state_dict().keys() == {"steps"}


def test_any_function_of_the_step_is_a_schedule() -> None:
    v, seen = pb.Variable(0.0), []

    def rate(step: Any, scale: float = 0.5) -> Any:
        seen.append(int(step))
        return scale / (step + 1)

    optimizer = Momentum(rate, 0.0)
    for _ in range(3):
        optimizer.apply_gradients([(-1.0, v)])
    assert seen == [0, 1, 2]
    assert v.item() == pytest.approx(0.5 + 0.25 + 0.5 / 3)

    optimizer.learning_rate = 1.0  # counted no longer
    optimizer.apply_gradients([(-1.0, v)])
    assert v.item() == pytest.approx(1.5 + 0.25 + 0.5 / 3)


def test_adam_counts_once() -> None:
    v = pb.Variable(0.0)
    optimizer = Adam(optimizers.piecewise([1], [0.5, 0.25]), epsilon=0.0)
    for _ in range(2):
        optimizer.apply_gradients([(-1.0, v)])
    assert optimizer.steps == 2
    assert v.item() == pytest.approx(0.75)


def test_the_state_goes_on_where_it_stopped() -> None:
    v, schedule = pb.Variable(0.0, name="v"), optimizers.piecewise([2], [1.0, 0.25])
    first = GradientDescent(schedule)
    first.apply_gradients([(-1.0, v)])
    first.apply_gradients([(-1.0, v)])
    second = GradientDescent(schedule)
    second.load_state_dict(first.state_dict())
    assert second.steps == 2
    second.apply_gradients([(-1.0, v)])
    assert v.item() == 2.25


def test_a_step_that_fails_is_not_counted() -> None:
    v, w = pb.Variable(0.0), pb.Variable([1.0, 2.0])
    optimizer = Adam(lambda step: pb.ones(2) if step.item() == 1 else 0.5)
    optimizer.apply_gradients([(1.0, v)])
    with pytest.raises(ValueError, match="learning_rate has shape"):
        optimizer.apply_gradients([([1.0, 1.0], w), (1.0, v)])
    assert optimizer.steps == 1 and w.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: optimizers.exponential(1.0, 0, 0.5), "exponential: steps is above 0, got 0"),
        (lambda: optimizers.cosine(1.0, -1), "cosine: steps is above 0, got -1"),
        (lambda: optimizers.linear(1.0, 0, 0.5), "linear: steps is above 0"),
        (lambda: optimizers.warm_up(0, 0.5), "warm_up: steps is above 0"),
        (lambda: optimizers.one_cycle(1.0, 0), "one_cycle: steps is above 0"),
        (lambda: optimizers.one_cycle(1.0, 9, rising=1.0), "rising is a share between 0 and 1"),
        (lambda: optimizers.piecewise([1, 2], [1.0, 2.0]), "2 values for 2 boundaries"),
        (lambda: optimizers.piecewise([2, 1], [1.0, 2.0, 3.0]), "do not increase"),
    ],
)
def test_mistakes(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()
