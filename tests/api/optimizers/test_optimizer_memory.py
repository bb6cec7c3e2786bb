"""A step of an optimizer in a function is one plan, which writes the new values of variables and
slots where the old ones are, unless somebody holds these."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.memory import bytes_beside
from support.plans import arena

import pullback as pb
from pullback import _core, optimizers

pytestmark = pytest.mark.usefixtures("processor")

KINDS: dict[str, Callable[[], optimizers.Optimizer]] = {
    "GradientDescent": lambda: optimizers.GradientDescent(0.125),
    "Momentum": lambda: optimizers.Momentum(0.125, 0.5),
    "Momentum, Nesterov": lambda: optimizers.Momentum(0.125, 0.5, use_nesterov=True),
    "Lion": lambda: optimizers.Lion(0.125),
    "Lion, decay": lambda: optimizers.Lion(0.125, weight_decay=0.25),
    "ProximalGradientDescent": lambda: optimizers.ProximalGradientDescent(0.125, 0.01, 0.01),
    "RMSProp": lambda: optimizers.RMSProp(0.125, momentum=0.5),
    "RMSProp, centered": lambda: optimizers.RMSProp(0.125, centered=True),
    "Adagrad": lambda: optimizers.Adagrad(0.125),
    "Adadelta": lambda: optimizers.Adadelta(0.125),
    "Adafactor": lambda: optimizers.Adafactor(0.125),
    "Ftrl": lambda: optimizers.Ftrl(0.125),
    "Ftrl, regularized": lambda: optimizers.Ftrl(0.125, l1=0.01, l2=0.01, l2_shrinkage=0.01),
    "ProximalAdagrad": lambda: optimizers.ProximalAdagrad(0.125, l1=0.01, l2=0.01),
    "AdagradDA": lambda: optimizers.AdagradDA(0.125, l1=0.01, l2=0.01),
    "Adam": lambda: optimizers.Adam(0.125),
    "Adam, schedule": lambda: optimizers.Adam(optimizers.Exponential(0.125, 10, 0.5)),
    "AdamW": lambda: optimizers.AdamW(0.125),
    "Nadam": lambda: optimizers.Nadam(0.125),
    "Lamb": lambda: optimizers.Lamb(0.125),
}
# What they subtract waits for a norm of all of it: it is kept until then, once for each variable.
WAIT_FOR_NORMS = {"Lamb", "Adafactor"}
SHAPES = ((300, 200), (50_000,))


def test_all_optimizers_are_here() -> None:
    public = [getattr(optimizers, name) for name in optimizers.__all__]
    kinds = {c for c in public if isinstance(c, type) and issubclass(c, optimizers.Optimizer)}
    tried = {type(make()) for make in KINDS.values()}
    assert kinds - tried == {optimizers.Optimizer, optimizers.Accumulated}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Training:
    """Variables, an optimizer and a step of it by the slopes of an elementwise loss."""

    def __init__(self, kind: str, dtype: str = "float32") -> None:
        starts = [np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape) for shape in SHAPES]
        self.weights = [pb.Variable(start, name="w", dtype=dtype) for start in starts]
        self.targets = [pb.constant(start[::-1].copy(), dtype) for start in starts]
        self.optimizer = KINDS[kind]()
        self.step = pb.function(lambda: self.optimizer.minimize(self.loss))
        for _ in range(2):  # what slots start with may be shared
            self.step()

    def loss(self) -> Any:
        pairs = zip(self.weights, self.targets, strict=True)
        return sum(pb.sum(pb.square(w - x)) for w, x in pairs)

    @property
    def variables(self) -> list[pb.Variable]:
        return [*self.weights, *self.optimizer.variables()]


def written_in_place(text: str) -> int:
    return len(re.findall(r"^in place: out\d+ of arg\d+$", text, re.MULTILINE))


def without_new_values(text: str) -> int:
    """Bytes that a run of the plan takes for what ends with it: the arena, and what the pieces of
    large sums leave for their end. Blocks come in sizes a quarter of a power of two apart."""
    sums = 32 * 1024 if "\n    sum " in text else 0
    return int((arena(text) + sums) * 5 // 4 + 1024)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_step_is_one_plan_that_makes_no_arrays(kind: str, dtype: str) -> None:
    training = Training(kind, dtype)
    text = training.step.plan()
    assert written_in_place(text) == len(training.variables)
    sizes = [w.numpy().nbytes for w in training.weights]
    assert arena(text) < (sum(sizes) + min(sizes) if kind in WAIT_FOR_NORMS else min(sizes))
    before = _core.status()
    beside = bytes_beside(training.step)
    assert beside <= without_new_values(text)
    assert kind in WAIT_FOR_NORMS or beside < min(sizes)
    after = _core.status()
    looked_up = [status["plan_hits"] + status["plan_misses"] for status in (before, after)]
    assert looked_up[0] == looked_up[1]  # nothing but the plan of the function has run
    assert after["live_bytes"] == before["live_bytes"]


def test_gradients_from_outside_are_left_alone(kind: str) -> None:
    optimizer = KINDS[kind]()
    v = pb.Variable(np.full((300, 200), 2.0, np.float32))
    g = pb.constant(np.linspace(-1, 1, 60_000, dtype=np.float32).reshape(300, 200))
    step = pb.function(lambda g: optimizer.apply_gradients([(g, v)]))
    for _ in range(2):
        step(g)
    assert written_in_place(step.plan(g)) == 1 + len(optimizer.variables())
    assert bytes_beside(lambda: step(g)) <= without_new_values(step.plan(g))
    assert np.array_equal(g, np.linspace(-1, 1, 60_000, dtype=np.float32).reshape(300, 200))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_layers(kind: str, dtype: str) -> None:
    """A gradient by a product is a temporary of the plan, not the new value."""
    random, sizes = np.random.default_rng(0), (200, 150, 100)
    w = [pb.Variable(random.normal(0, 0.1, s), dtype=dtype) for s in pairwise(sizes)]
    b = [pb.Variable(np.zeros(n), dtype=dtype) for n in sizes[1:]]
    x = pb.constant(random.normal(size=(16, sizes[0])), dtype)
    optimizer = KINDS[kind]()

    def loss(x: Any) -> Any:
        return pb.mean(pb.square(pb.tanh(x @ w[0] + b[0]) @ w[1] + b[1]))

    step = pb.function(lambda x: optimizer.minimize(lambda: loss(x)))
    for _ in range(2):
        step(x)
    text = step.plan(x)
    assert written_in_place(text) == len(w) + len(b) + len(optimizer.variables())
    assert bytes_beside(lambda: step(x)) <= without_new_values(text)


def test_what_somebody_holds_stays(kind: str) -> None:
    """Tensors, arrays and derived tensors that are not computed yet, of all variables or of one."""
    held, free = Training(kind), Training(kind)
    for turn in range(3):
        watched = held.variables if turn < 2 else held.variables[:1]
        copies = [np.array(v.numpy()) for v in watched]
        tensors: list[Any] = [v.read() for v in watched]
        if turn == 1:
            tensors = [t.numpy() for t in tensors]
        later = [t + 0 for t in tensors]
        held.step()
        free.step()
        for copy, tensor, derived in zip(copies, tensors, later, strict=True):
            np.testing.assert_array_equal(tensor, copy)
            np.testing.assert_array_equal(derived, copy)
        for v, w in zip(held.variables, free.variables, strict=True):
            np.testing.assert_array_equal(v, w)
        assert any((np.asarray(v) != copy).any() for v, copy in zip(watched, copies, strict=True))
    del tensors, later, tensor, derived
    assert bytes_beside(held.step) <= without_new_values(held.step.plan())


def test_who_looks_and_lets_go_costs_nothing(kind: str) -> None:
    training = Training(kind)
    limit = without_new_values(training.step.plan())

    def run() -> None:
        training.step()
        pb.evaluate(training.variables)  # arrays that nobody keeps
        float(training.weights[0][0, 0])

    assert bytes_beside(run) <= limit
