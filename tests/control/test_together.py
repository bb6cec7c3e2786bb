"""Loops together with everything else that makes operations of its own: checkpoints, traced
functions, functions of NumPy, optimizers, failing memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import _core

W = np.array([[0.5, 0.2], [0.1, 0.4]])


def steps(block: Any, w: Any) -> Any:
    x = pb.constant(np.ones((2, 2)))
    return pb.scan(lambda h, _: (block(h, w), None), x, length=3)[0]


def block(h: Any, w: Any) -> Any:
    return pb.tanh(h @ w)


WAYS = {
    "checkpoint inside": lambda w: steps(pb.checkpoint(block), w),
    "checkpoint around": lambda w: pb.checkpoint(lambda w: steps(block, w))(w),
    "checkpoint of both": lambda w: pb.checkpoint(lambda w: steps(pb.checkpoint(block), w))(w),
    "function inside": lambda w: steps(pb.function(block), w),
}


@pytest.mark.parametrize("name", WAYS)
def test_values_and_gradients(name: str) -> None:
    found = []
    for way in (WAYS[name], lambda w: block(block(block(pb.constant(np.ones((2, 2))), w), w), w)):
        w = pb.Variable(W)
        y = pb.sum(way(w) ** 2)
        (first,) = pb.gradients(y, [w])
        (second,) = pb.gradients(pb.sum(first**2), [w])
        found.append([v.numpy() for v in (y, first, second)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_a_gradient_inside_of_a_body() -> None:
    slope = pb.grad(lambda t: pb.sum(t * t))
    s, _ = pb.scan(lambda s, _: (s - 0.1 * slope(s), None), pb.constant(np.ones(3)), length=5)
    np.testing.assert_allclose(s.numpy(), 0.8**5)


def test_memory_that_is_not_there() -> None:
    v = pb.Variable(np.ones(1000))
    y = pb.while_loop(lambda s: s[0] < 100, lambda s: (s[0] + 1, pb.sin(s[1])), (0, v))[1]
    y.numpy()
    (g,) = pb.gradients(pb.sum(y), [v])
    failures = 0
    for after in range(1, 9):
        _core.fail_allocation(after)
        try:
            g.numpy()
            break
        except MemoryError:
            failures += 1
    _core.fail_allocation(0)
    assert 3 < failures < 8
    h = 1e-6
    x = np.array(1.0)
    for _ in range(100):
        x, h = np.sin(x), h * np.cos(x)
    np.testing.assert_allclose(g.numpy(), h / 1e-6, rtol=1e-10)


def test_a_function_of_numpy_inside() -> None:
    h = pb.numpy_function(np.sin, lambda x: x, vjp=lambda p, u: u[0] * pb.cos(p[0]))
    z = pb.Variable(np.array([0.3, 0.4]))
    y, _ = pb.scan(lambda s, _: (h(s), None), z, length=2)
    np.testing.assert_allclose(y.numpy(), np.sin(np.sin(z.numpy())))
    (g,) = pb.gradients(pb.sum(y), [z])
    np.testing.assert_allclose(g.numpy(), np.cos(np.sin(z.numpy())) * np.cos(z.numpy()))


def called(*fs: Any) -> list[Any]:
    """Functions of NumPy as new operations, whose gradient is what another one computes."""
    black = [pb.numpy_function(f, lambda x: x) for f in (np.cos, np.sinh)]
    slopes = dict(zip((np.sin, np.cosh), black, strict=True))
    return [
        pb.numpy_function(f, lambda x: x, vjp=lambda p, u, f=f: u[0] * slopes[f](p[0])) for f in fs
    ]


AROUND = {
    "scan": lambda f, g, x: pb.scan(lambda s, _: (f(g(s)) * x, s), x, length=2)[0],
    "while": lambda f, g, x: pb.while_loop(
        lambda s: s[0] + 0 * pb.sum(f(s[1])) < 2, lambda s: (s[0] + 1, f(g(s[1])) * x), (0, x)
    )[1],
    "nested": lambda f, g, x: pb.fori_loop(
        0, 2, lambda i, s: pb.fori_loop(0, 1, lambda j, t: f(g(t)), s) * x, x
    ),
    "branch": lambda f, g, x: pb.scan(
        lambda s, _: (pb.cond(pb.sum(s) > -100.0, lambda t: f(g(t)), g, s) * x, None), x, length=2
    )[0],
    "complex": lambda f, g, x: pb.real(
        pb.scan(lambda s, _: (f(g(pb.real(s))) * x + 1j * x, None), x + 0j, length=2)[0]
    ),
}


@pytest.mark.parametrize("name", AROUND)
def test_which_function_a_loop_calls_is_no_matter_of_its_plan(name: str) -> None:
    z = np.array([0.3, 0.4])
    held = []
    misses = []
    for f, g in [(np.sin, np.cosh), (np.cosh, np.sin), (np.sin, np.sin)] * 2:
        x = pb.Variable(z)
        y = AROUND[name](*called(f, g), x)
        (first,) = pb.gradients(pb.sum(y), x)
        held.append(pb.evaluate([y, first]))
        misses.append(_core.status()["plan_misses"])
        h = 1e-6
        results = [f(g(f(g(t)) * t)) * t for t in (z, z + h, z - h)]
        np.testing.assert_allclose(y.numpy(), results[0], rtol=1e-12)
        np.testing.assert_allclose(first.numpy(), (results[1] - results[2]) / (2 * h), rtol=1e-8)
    assert misses[0] == misses[-1]


def test_a_training_step() -> None:
    w = pb.Variable(W)
    optimizer = pb.optimizers.Adam(0.1)

    @pb.function
    def train() -> Any:
        loss = pb.sum(steps(block, w) ** 2)
        optimizer.apply_gradients([(pb.gradients(loss, [w])[0], w)])
        return loss

    losses = [float(train()) for _ in range(5)]
    assert losses == sorted(losses, reverse=True)


def test_empty_and_bool() -> None:
    assert pb.scan(lambda s, x: (s, x), pb.zeros((0,)), pb.ones((3, 0)))[1].shape == (3, 0)
    state, ys = pb.scan(lambda s, x: (s, x), (), pb.ones(3))
    assert state == () and ys.numpy().tolist() == [1.0, 1.0, 1.0]
    _, seen = pb.scan(
        lambda s, x: (pb.logical_xor(s, x), s), pb.constant(False), pb.constant([True, True, False])
    )
    assert seen.numpy().tolist() == [False, True, False]


def test_three_loops_in_each_other() -> None:
    x = pb.Variable(0.9)

    def inner(s: Any) -> Any:
        return pb.fori_loop(0, 2, lambda i, s: pb.sin(s) * x, s)

    y = pb.fori_loop(0, 2, lambda i, s: pb.fori_loop(0, 2, lambda j, s: inner(s), s), x)
    s = pb.identity(x)
    for _ in range(8):
        s = pb.sin(s) * x
    for _ in range(3):
        assert float(y) == pytest.approx(float(s), rel=1e-5)
        (y,), (s,) = pb.gradients(y, [x]), pb.gradients(s, [x])
