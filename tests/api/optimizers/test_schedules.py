"""Schedules of the learning rate, by themselves and in an optimizer."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from support.each import each

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
    (optimizers.Constant(0.3), lambda t: 0.3),
    (optimizers.Exponential(0.5, 4, 0.3), lambda t: 0.5 * 0.3 ** (t / 4)),
    (optimizers.Exponential(0.5, 4, 0.3, staircase=True), lambda t: 0.5 * 0.3 ** (t // 4)),
    (optimizers.Cosine(0.5, 9), lambda t: 0.5 * half_wave(t / 9)),
    (optimizers.Cosine(0.5, 9, 0.1), lambda t: 0.1 + 0.4 * half_wave(t / 9)),
    (optimizers.Linear(0.5, 8, 0.1), lambda t: 0.5 - 0.4 * min(t / 8, 1)),
    (optimizers.WarmUp(5, 0.4), lambda t: 0.4 * min(t / 5, 1)),
    (
        optimizers.WarmUp(5, optimizers.Cosine(0.4, 6, 0.1)),
        lambda t: 0.4 * t / 5 if t < 5 else 0.1 + 0.3 * half_wave((t - 5) / 6),
    ),
    (
        optimizers.Piecewise([3, 7], [0.5, 0.25, 0.125]),
        lambda t: 0.5 if t < 3 else 0.25 if t < 7 else 0.125,
    ),
    (optimizers.OneCycle(0.5, 10, start=25, end=100), one_cycle),
]


@each(("schedule", "expected"), SCHEDULES)
def test_values(schedule: Any, expected: Any) -> None:
    for step in STEPS:
        for given in (step, np.int32(step), pb.constant(step), pb.constant(float(step))):
            rate = schedule(given)
            assert rate.shape == ()
            assert float(rate) == pytest.approx(expected(step), rel=1e-12, abs=1e-15)


@each(("schedule", "expected"), SCHEDULES)
@each("dtype", ["float32", "float64"])
@each("traced", [False, True])
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
        close = {"rel": 1e-5, "abs": 1e-6} if dtype == "float32" else {"rel": 1e-12, "abs": 1e-15}
        assert before - v.numpy() == pytest.approx(expected(k), **close)
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


def test_float64_keeps_its_places() -> None:
    v = pb.Variable(0.0, dtype="float64")
    GradientDescent(lambda step: 0.1 / (step + 1)).apply_gradients([(1.0, v)])
    assert v.item() == -0.1


def test_which_functions_are_schedules() -> None:
    v = pb.Variable(0.0)
    for rate in (lambda step=0: step + 1.0, lambda t, *rest: t + 1.0, lambda step, **rest: 1.0):
        optimizer = GradientDescent(rate)
        optimizer.apply_gradients([(0.0, v)])
        assert optimizer.steps == 1
    for rate in (lambda scale=0.5: scale, lambda: 0.5, lambda *rest: 0.5, lambda *, t=0.5: t):
        optimizer = GradientDescent(rate)
        optimizer.apply_gradients([(0.0, v)])
        assert optimizer.steps == 0 and optimizer.state_dict() == {}


def test_schedules_are_values() -> None:
    for schedule, _ in SCHEDULES:
        again = pickle.loads(pickle.dumps(schedule))
        assert repr(again) == repr(schedule) and type(schedule).__name__ in repr(schedule)
        assert all(float(again(k)) == float(schedule(k)) for k in STEPS)
    v = pb.Variable(0.0)
    optimizer = pickle.loads(pickle.dumps(Adam(optimizers.Cosine(0.5, 9))))
    optimizer.apply_gradients([(1.0, v)])
    assert "Cosine(initial=0.5, steps=9, final=0.0)" in repr(optimizer)


def test_from_a_schedule_to_a_number_and_back() -> None:
    v, schedule = pb.Variable(0.0, name="v"), optimizers.Piecewise([2], [1.0, 0.25])
    optimizer = Momentum(schedule, 0.0)
    optimizer.apply_gradients([(-1.0, v)])
    optimizer.learning_rate = 0.5
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    for other in (Momentum(0.5, 0.0), Momentum(schedule, 0.0)):
        other.load_state_dict(state)
        assert other.steps == 1
    other = Momentum(schedule, 0.0)
    other.load_state_dict({"v/momentum": 0.0})  # saved with a number
    assert other.steps == 0
    with pytest.raises(ValueError, match="expected the entries 'steps', got none"):
        Adam(0.5).load_state_dict({"v/m": 0.0, "v/s": 0.0})


def test_a_rate_may_wait_for_another_optimizer() -> None:
    v, w = pb.Variable(0.0), pb.Variable(0.0)

    def rate() -> float:
        thread = threading.Thread(target=GradientDescent(1.0).apply_gradients, args=([(1.0, w)],))
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
        return 0.5

    GradientDescent(rate).apply_gradients([(1.0, v)])
    assert (v.item(), w.item()) == (-0.5, -1.0)


def test_adam_counts_once() -> None:
    v = pb.Variable(0.0)
    optimizer = Adam(optimizers.Piecewise([1], [0.5, 0.25]), epsilon=0.0)
    for _ in range(2):
        optimizer.apply_gradients([(-1.0, v)])
    assert optimizer.steps == 2
    assert v.item() == pytest.approx(0.75)


def test_the_state_goes_on_where_it_stopped() -> None:
    v, schedule = pb.Variable(0.0, name="v"), optimizers.Piecewise([2], [1.0, 0.25])
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
    with pytest.raises(ValueError, match="expected a scalar for learning_rate, got shape"):
        optimizer.apply_gradients([([1.0, 1.0], w), (1.0, v)])
    assert optimizer.steps == 1 and w.numpy().tolist() == [1.0, 2.0]


@each(
    ("call", "text"),
    [
        (
            lambda: optimizers.Exponential(1.0, 0, 0.5),
            "Exponential: expected a number > 0 for steps, got 0",
        ),
        (lambda: optimizers.Cosine(1.0, -1), "Cosine: expected a number > 0 for steps, got -1"),
        (lambda: optimizers.Linear(1.0, 0, 0.5), "Linear: expected a number > 0 for steps"),
        (lambda: optimizers.WarmUp(0, 0.5), "WarmUp: expected a number > 0 for steps"),
        (lambda: optimizers.OneCycle(1.0, 0), "OneCycle: expected a number > 0 for steps"),
        (
            lambda: optimizers.OneCycle(1.0, 9, rising=1.0),
            "expected a number between 0 and 1 for rising",
        ),
        (
            lambda: optimizers.Piecewise([1, 2], [1.0, 2.0]),
            "expected 3 values for 2 boundaries, got 2",
        ),
        (
            lambda: optimizers.Piecewise([2, 1], [1.0, 2.0, 3.0]),
            r"expected increasing boundaries, got \[2, 1\]",
        ),
        (
            lambda: optimizers.Exponential(1.0, 9, -0.5),
            "expected a number >= 0 for factor, got -0.5",
        ),
        (lambda: optimizers.OneCycle(1.0, 9, start=0), "expected a number > 0 for start, got 0"),
    ],
)
def test_mistakes(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()
