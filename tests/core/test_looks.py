"""Loops that look at what they derive: what somebody holds is computed once, so that a step costs
the same however many came before it. A step that did more than the one before it would have a plan
of its own, so plans are counted; nodes show what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.process import live, over_many_steps

import pullback as pb
from pullback import _core

N = 12
X = np.linspace(0.25, 1.0, N).reshape(4, 3)

WAYS: dict[str, Callable[[Any], Any]] = {
    "float of a reduction": lambda x: float(pb.max(x)),
    "item": lambda x: x[0, 1].item(),
    "reshape": lambda x: x[None].numpy(),
    "transpose": lambda x: x.T.numpy(),
    "slice": lambda x: x[1:, ::2].numpy(),
    "views of views": lambda x: float(pb.sum(x.T[::-1][None])),
    "broadcast": lambda x: pb.broadcast_to(x, (2, 4, 3)).numpy(),
    "take": lambda x: pb.take(x, [0, 2], axis=0).numpy(),
    "mask": lambda x: x[x > 0.0].numpy(),
    "numpy": lambda x: x.numpy(),
    "repr": repr,
    "str": str,
    "bool": lambda x: bool(pb.all(x > -10.0)),
    "comparison": lambda x: 1 if x[0, 0] < 0.5 else 0,
    "in": lambda x: 17.0 in x,
    "iteration": lambda x: [float(v) for v in x[0]],
    "__array__": lambda x: np.sum(np.asarray(x)),
    "evaluate": lambda x: pb.evaluate(x[0], {"sum": pb.sum(x)}),
    "index": lambda x: [0] * (int(pb.argmax(x)) + 1),
    "allclose": lambda x: np.allclose(x, 0.0),
    "product": lambda x: (x @ x.T).numpy(),
    "gradient": lambda x: pb.grad(lambda t: pb.sum(t * t))(x).numpy(),
    "function": pb.function(lambda x: pb.sum(x * 2.0)),
}
STARTS: dict[str, Callable[[], Any]] = {
    "untracked": lambda: pb.constant(X),
    "tracked": lambda: pb.Variable(X).read() * 1.0,
}


def plans() -> tuple[int, int]:
    status = _core.status()
    return status["plan_misses"], status["plan_misses"] + status["plan_hits"]


def held() -> tuple[int, int, int]:
    """As `live`, at once: no step leaves a cycle behind that a garbage collection would have to
    break."""
    status = _core.status()
    return status["live_nodes"], status["live_buffers"], status["live_bytes"]


def derive(x: Any) -> Any:
    return x - 1e-3 * pb.sin(x)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("way", WAYS)
def test_every_step_is_like_the_one_before(way: str, start: str) -> None:
    live()  # what other tests left is gone
    x, look = STARTS[start](), WAYS[way]
    seen = []
    for step in range(61):
        x = derive(x)
        look(x)
        if step % 20 == 0:
            seen.append((*plans(), *held()[:1]))
    first, second, third, last = np.array(seen)
    assert last[0] == second[0], "a step had a plan that no earlier one had"
    assert last[1] - third[1] == third[1] - second[1], "a step was computed in more pieces"
    assert last[2] - third[2] == third[2] - second[2], "more and more nodes a step"
    if start == "untracked":
        assert last[2] == first[2], "nodes are left behind"
    expected = X
    for _ in range(61):
        expected = expected - 1e-3 * np.sin(expected)
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-13)


@pytest.mark.parametrize("way", WAYS)
def test_a_variable_that_is_looked_at(way: str) -> None:
    live()
    w, look = pb.Variable(X), WAYS[way]
    seen = []
    for step in range(61):
        w.assign(derive(w))
        look(w.read())
        if step % 20 == 0:
            seen.append((*plans(), *held()))
    _, second, third, last = np.array(seen)
    assert last[0] == second[0]
    assert last[1] - third[1] == third[1] - second[1]
    assert (last[2:] == second[2:]).all()


def test_a_part_that_nobody_holds_is_kept_now_and_then() -> None:
    """b is never looked at, and the tensor that a is made from is soon held by nodes only."""
    a, b = pb.constant(X), pb.constant(X)
    misses = []
    for step in range(600):
        u = pb.sin(a) * b
        a, b = a - 1e-3 * u, b + 1e-3 * u
        del u
        float(pb.max(a))
        if step % 200 == 199:
            misses.append(plans()[0])
    assert misses[2] - misses[1] <= 10


EXTREMES: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: pb.max(x, axis=0, keepdims=True),
    "min of blocks": lambda x: pb.min(pb.reshape(x, (1, 3, 1)), axis=(0, 2)),
    "cumulative_max": lambda x: pb.cumulative_max(x, axis=0),
    "at": lambda x: x.at[np.array([0])].max(x - 1.0),
}


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("looks", [False, True])
def test_an_extreme_is_among_what_is_computed_again(name: str, looks: bool) -> None:
    """A mean has other bits where it is computed beside a gradient: the extreme that was looked at
    need not be one of the entries then."""
    x = pb.Variable(np.random.default_rng(0).normal(size=(1000, 1, 1, 3)))
    y = EXTREMES[name](pb.sum(pb.sin(x) * x, axis=(0, 1)))
    if looks:
        y.numpy()
    (g,) = pb.gradients(y, x)
    y.numpy()
    values = x.numpy()
    np.testing.assert_allclose(g.numpy(), np.cos(values) * values + np.sin(values))


def test_only_lengths_and_shapes() -> None:
    before = live()[0]
    x = pb.constant(X)
    for _ in range(5000):  # past the cap on chains that nobody looks at
        x = derive(x)
        assert len(x) == 4 and x.shape == (4, 3)
    assert live()[0] - before < 4 * 4096 + 10
    x.numpy()
    assert live()[0] - before <= 1


def test_kept_values_from_the_last_to_the_first() -> None:
    xs = [pb.constant(X)]
    for _ in range(200):
        xs.append(derive(xs[-1]))
    before = plans()[1]
    seen = [x.numpy() for x in reversed(xs)]
    assert plans()[1] - before == 1, "the first look computed them all"
    expected = X
    for x in reversed(seen):
        np.testing.assert_allclose(x, expected, rtol=1e-13)
        expected = expected - 1e-3 * np.sin(expected)


def test_views_of_what_is_kept_take_no_memory() -> None:
    x = pb.sin(pb.constant(np.ones((300, 200))))
    views = [x.T, x[::-1], x[:, 5:], pb.broadcast_to(x, (50, 300, 200)), x[None]]
    ones = pb.ones((1000, 1000))
    before = live()[2]
    float(sum((pb.sum(v) for v in views), start=pb.sum(ones)))
    assert live()[2] - before <= 2 * 300 * 200 * 8, "x alone is kept"
    before = live()[2]
    assert views[0].numpy().shape == (200, 300)
    assert live()[2] - before <= 2 * 300 * 200 * 8


def test_a_small_view_does_not_keep_what_it_is_a_part_of() -> None:
    part = pb.sin(pb.constant(np.ones((1000, 1000))))[:2]
    before = live()[2]
    float(pb.sum(part))
    assert live()[2] - before < 100_000
    np.testing.assert_array_equal(part.numpy(), np.full((2, 1000), np.sin(1.0)))


def test_many_views_of_a_value() -> None:
    x = pb.constant(X)
    before = live()[0]
    for step in range(120):
        x = x[::-1]
        float(pb.max(x))
        if step == 60:
            misses = plans()[0]
        assert live()[0] - before <= 20
    assert plans()[0] == misses


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:more than 100000 graph nodes")  # a tracked x keeps its history
@pytest.mark.parametrize("start", [*STARTS, "variable"])
@pytest.mark.parametrize("way", WAYS)
def test_a_hundred_thousand_steps(way: str, start: str) -> None:
    look = WAYS[way]
    w = pb.Variable(X)
    x = w.read() if start == "variable" else STARTS[start]()

    def one(step: int) -> None:
        nonlocal x
        x = derive(x)
        if start == "variable":
            w.assign(x)
            x = w.read()
        look(x)

    memory = over_many_steps(one)
    if start != "tracked":  # which keeps its history
        assert memory[-1] == memory[1]
