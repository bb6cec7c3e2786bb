"""Public functions of several operations with several results: their own gradient passes the
operations inside, and a rule runs once for all results."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.each import each
from support.gradients import each_mode  # noqa: F401

import pullback as pb

X = np.array([1.0, -2.0, 3.0, 0.5])


def weighted(parts: Any) -> Any:
    """A nonlinear sum in which every result has its own share."""
    return sum((k + 1) * pb.sum(part * part * part) for k, part in enumerate(parts))


FUNCTIONS = {
    "split": lambda x: pb.split(x, 2),
    "broadcast_arrays": lambda x: pb.broadcast_arrays(x, x[0], 2.0 * x),
    "divmod": lambda x: pb.divmod(x, 0.75),
    "meshgrid": lambda x: pb.meshgrid(x, 2.0 * x),
    "topk": lambda x: [pb.topk(x, 2)[0]],
    "clip_by_global_norm": lambda x: pb.clip_by_global_norm([x[:2], {"a": x[2:]}], 1.5)[0][0:1],
    "nested": lambda x: [y for half in pb.split(x, 2) for y in pb.broadcast_arrays(half, x[0])],
}


@each("name", sorted(FUNCTIONS))
def test_the_own_gradient(mode, name):
    use = lambda x: weighted(FUNCTIONS[name](pb.sin(x)))  # noqa: E731
    step = 1e-6

    def slope(k: int) -> float:
        ends = [float(use(pb.constant(X + s * step * np.eye(4)[k]))) for s in (1, -1)]
        return (ends[0] - ends[1]) / (2 * step)

    expected = [slope(k) for k in range(4)]
    np.testing.assert_allclose(mode(use, X), [expected], rtol=1e-6, atol=1e-7)


def rule(op: Any, *gs: Any) -> Any:
    return pb.concat([10.0 * gs[0], 100.0 * gs[1]])


def test_a_rule_of_the_map(mode):
    def use(x):
        with pb.gradient_override_map({pb.split: rule}):
            first, second = pb.split(x, 2)
        return pb.sum(first * [1.0, 2.0]) + pb.sum(second * [3.0, 4.0])

    assert mode(use, X) == [[10.0, 20.0, 300.0, 400.0]]


def test_a_rule_of_the_request_in_loops_batches_and_checkpoints():
    x = pb.Variable(X)

    def halves(t: Any) -> Any:
        first, second = pb.split(t, 2)
        return pb.concat([first, second])

    def loop(t: Any) -> Any:
        return pb.scan(lambda carry, _: (halves(carry), None), t, None, 2)[0]

    once = np.array([10.0, 10.0, 100.0, 100.0])
    for call, expected in (
        (halves, once),
        (pb.function(halves), once),
        (pb.checkpoint(halves), once),
        (lambda t: pb.vmap(halves)(pb.stack([t, t])), 2 * once),
        (loop, once**2),
    ):
        y = call(x)
        np.testing.assert_array_equal(pb.gradients(y, x)[0], np.full(4, len(y) // 4 or len(y)))
        got = pb.gradients(y, x, overrides={pb.split: batched_rule})[0]
        np.testing.assert_array_equal(got, expected)


def batched_rule(op: Any, *gs: Any) -> Any:
    return pb.concat([10.0 * gs[0], 100.0 * gs[1]], axis=-1)


def test_forward_mode_and_second_derivatives_of_a_rule():
    square = {pb.split: lambda op, *gs: pb.concat(gs) * op.inputs[0]}

    def use(t: Any) -> Any:
        with pb.gradient_override_map(square):
            first, second = pb.split(t, 2)
        return pb.sum(first) + 2.0 * pb.sum(second)

    weights = np.array([1.0, 1.0, 2.0, 2.0])
    np.testing.assert_array_equal(pb.grad(use)(X), weights * X)
    np.testing.assert_array_equal(pb.hessian(use)(X), np.diag(weights))
    np.testing.assert_array_equal(pb.jvp(use, (X,), (X,))[1], weights @ X**2)
    stopped = pb.vmap(pb.grad(use))(np.stack([X, 2 * X]))
    np.testing.assert_array_equal(stopped, weights * np.stack([X, 2 * X]))


def test_a_stopped_result():
    x = pb.Variable(X)
    first, second = pb.split(x, 2)
    y = pb.sum(first) + pb.sum(second)
    assert pb.gradients(y, x, stop_gradients=[first])[0].numpy().tolist() == [0, 0, 1, 1]
    got = pb.gradients(y, x, stop_gradients=[first], overrides={pb.split: rule})[0]
    assert got.numpy().tolist() == [0.0, 0.0, 100.0, 100.0]
    assert pb.gradients(y, [first, second])[0].numpy().tolist() == [1, 1]


def test_results_are_not_merged():
    """Two results with one value are two results for a rule, also in a forward pass."""
    pair = {pb.broadcast_arrays: lambda op, g, h, *_: [10.0 * g + 100.0 * h, None]}

    def use(t: Any) -> Any:
        with pb.gradient_override_map(pair):
            first, second = pb.broadcast_arrays(t, pb.identity(t))
        return pb.sum(first + 2.0 * second)

    assert pb.grad(use)(X).numpy().tolist() == [210.0] * 4
    assert float(pb.jvp(use, (X,), (np.ones(4),))[1]) == 840.0
    assert pb.jacobian(use, mode="forward")(X).numpy().tolist() == [210.0] * 4
