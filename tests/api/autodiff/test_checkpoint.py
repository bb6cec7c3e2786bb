"""checkpoint: the values and gradients of the function, without keeping what is inside of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.gradients import each_mode  # noqa: F401
from support.memory import bytes_beside

import pullback as pb
from pullback import _core

rng = np.random.default_rng(0)
X = rng.normal(size=(3, 4)).astype(np.float32)
W = rng.normal(size=(4, 4)).astype(np.float32)


def network(x: Any, w: Any) -> Any:
    h = pb.tanh(x @ w)
    return h * pb.sigmoid(h @ w) + x


def of(f: Any, order: int) -> list[Any]:
    """The value of a network of f, its gradients, and those of their squares."""
    x, w = pb.Variable(X), pb.Variable(W)
    y = pb.sum(f(f(x, w), w) ** 2)
    out = [y]
    for _ in range(order):
        out += pb.gradients(out[-1] if len(out) == 1 else pb.sum(out[-1] ** 2), [x, w])
    return [v.numpy() for v in out]


@pytest.mark.parametrize("order", [1, 2, 3])
def test_values_and_gradients_are_the_same(order: int) -> None:
    for a, b in zip(of(network, order), of(pb.checkpoint(network), order), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-5)


def test_overrides_of_the_call_reach_the_inside():
    x = pb.Variable([1.0, 2.0])
    rule = {"tanh": lambda op, upstream: upstream * 9}
    inside = pb.checkpoint(pb.tanh)
    for f in (inside, pb.function(inside), pb.checkpoint(inside)):
        assert pb.gradients(f(x), x, overrides=rule)[0].numpy().tolist() == [9.0, 9.0]
        assert pb.gradients(f(x), x)[0].numpy().tolist() != [9.0, 9.0]


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("way", ["gradients", "tape", "value_and_grad"])
def test_less_memory_inside_of_a_function(way):
    random = np.random.default_rng(0)
    start = random.normal(size=(256, 64))
    weights = [pb.Variable(random.normal(size=s) / 8) for s in [(64, 256), (256, 64)] * 12]

    def block(x, w1, w2):
        h = x @ w1
        return x + (pb.tanh(h) * pb.sigmoid(h)) @ w2

    def step(block):
        def loss(weights):
            y = pb.constant(start)
            for w1, w2 in zip(weights[::2], weights[1::2], strict=True):
                y = block(y, w1, w2)
            return pb.mean(y * y)

        if way == "value_and_grad":
            inner = pb.function(pb.value_and_grad(loss))
            return lambda: inner([w.read() for w in weights])

        @pb.function
        def both():
            with pb.GradientTape() as tape:
                value = loss(weights)
            if way == "tape":
                return value, tape.gradient(value, weights)
            return value, pb.gradients(value, weights)

        return both

    results, peaks = [], []
    for f in (step(block), step(pb.checkpoint(block))):
        peaks.append(bytes_beside(lambda f=f: pb.evaluate(*f()), times=4))
        results.append(f()[1][0].numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12)
    assert peaks[1] < 0.5 * peaks[0]


def test_in_every_mode(mode: Any) -> None:
    f = pb.checkpoint(network)
    [expected] = mode(lambda x: network(x, pb.constant(W)), X)
    [got] = mode(lambda x: f(x, pb.constant(W)), X)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_nests_integers_and_untracked_results() -> None:
    @pb.checkpoint
    def f(parameters: dict[str, Any], scale: float, *, flag: bool) -> Any:
        y = parameters["a"] * parameters["b"][0] * scale
        return {"y": y, "best": pb.argmax(y), "flag": flag, "same": parameters["a"]}

    a, b = pb.Variable([1.0, 3.0, 2.0]), pb.Variable([4.0, 5.0, 6.0])
    out = f({"a": a, "b": [b]}, 2.0, flag=True)
    assert out["flag"] is True and out["same"] is a and int(out["best"]) == 1
    got = pb.gradients(pb.sum(out["y"]), [a, b])
    np.testing.assert_array_equal(got[0].numpy(), [8, 10, 12])
    np.testing.assert_array_equal(got[1].numpy(), [2, 6, 4])


def test_several_results_and_one_that_nobody_uses() -> None:
    f = pb.checkpoint(lambda x: (pb.sin(x), pb.exp(x), x * 3))
    x = pb.Variable([0.5, 1.0])
    a, b, _ = f(x)
    [g] = pb.gradients(pb.sum(a * b), x)
    expected = np.exp([0.5, 1]) * (np.sin([0.5, 1]) + np.cos([0.5, 1]))
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-6)


def test_what_is_read_outside_and_changed_meanwhile() -> None:
    """The gradient is at the values of the call."""
    w, c = pb.Variable(2.0), pb.Variable(5.0)
    outside = c * c
    f = pb.checkpoint(lambda x: x * w * outside)
    x = pb.Variable(3.0)
    y = f(x)
    w.assign(100.0)
    c.assign(100.0)
    got = [float(g) for g in pb.gradients(y, [x, w, c])]
    assert got == [50.0, 75.0, 60.0]


def test_the_same_random_numbers() -> None:
    @pb.checkpoint
    def dropped(x: Any) -> Any:
        return x * pb.cast(pb.random.uniform((1000,)) < 0.5, "float32")

    x = pb.Variable(np.ones(1000, np.float32))
    y = dropped(x)
    mask = y.numpy()
    assert 300 < mask.sum() < 700
    np.testing.assert_array_equal(pb.gradients(pb.sum(y), x)[0].numpy(), mask)


def test_custom_gradients_overrides_and_stops_inside() -> None:
    @pb.checkpoint
    def f(x: Any) -> Any:
        with pb.gradient_override_map({"round": lambda op, g: 7 * g}):
            y = pb.round(x)
        return y + pb.stop_gradient(x) + pb.reverse_gradient(x, 2.0)

    x = pb.Variable([1.25, 2.5])
    np.testing.assert_array_equal(pb.gradients(pb.sum(f(x)), x)[0].numpy(), [5, 5])


def test_nested_and_in_a_function() -> None:
    inner = pb.checkpoint(network)
    outer = pb.checkpoint(lambda x, w: inner(inner(x, w), w))
    plain = lambda x, w: network(network(x, w), w)  # noqa: E731
    x, w = pb.Variable(X), pb.Variable(W)
    expected = [g.numpy() for g in pb.gradients(pb.sum(plain(x, w)), [x, w])]
    step = pb.function(lambda: pb.gradients(pb.sum(outer(x, w)), [x, w]))
    late = pb.function(lambda a, b: pb.sum(outer(a, b)))
    traced = pb.checkpoint(pb.function(plain))
    for _ in range(2):
        for got in (
            pb.gradients(pb.sum(outer(x, w)), [x, w]),
            step(),
            pb.gradients(late(x, w), [x, w]),
            pb.gradients(pb.sum(traced(x, w)), [x, w]),
        ):
            for a, b in zip(got, expected, strict=True):
                np.testing.assert_allclose(a.numpy(), b, rtol=1e-5, atol=1e-5)


def test_under_a_tape_and_an_optimizer() -> None:
    f = pb.checkpoint(network)
    w = pb.Variable(W)
    with pb.GradientTape() as tape:
        y = pb.sum(f(pb.constant(X), w))
    expected = pb.gradients(pb.sum(network(pb.constant(X), w)), w)[0].numpy()
    np.testing.assert_allclose(tape.gradient(y, w).numpy(), expected, rtol=1e-5, atol=1e-6)
    pb.optimizers.GradientDescent(0.5).minimize(lambda: pb.sum(f(pb.constant(X), w)))
    np.testing.assert_allclose(w.numpy(), W - 0.5 * expected, rtol=1e-5, atol=1e-6)


def test_methods_names_and_errors() -> None:
    class Block:
        def __init__(self) -> None:
            self.w = pb.Variable(2.0)

        @pb.checkpoint
        def __call__(self, x: Any) -> Any:
            """Twice."""
            return x * self.w

    block = Block()
    x = pb.Variable(3.0)
    assert [float(g) for g in pb.gradients(block(x), [x, block.w])] == [2.0, 3.0]
    assert Block.__call__.__doc__ == "Twice."
    with pytest.raises(TypeError, match="checkpoint: expected a function for f, got 3"):
        pb.checkpoint(3)  # type: ignore[type-var]
    with pytest.raises(ZeroDivisionError):
        pb.checkpoint(lambda x: x * (1 / 0))(x)
    assert _core.next_number() > 0
    assert float(pb.checkpoint(lambda x: 5.0)(x)) == 5.0


@pb.custom_gradient
def own_tanh(x: Any) -> Any:
    y = pb.tanh(x)
    return y, lambda g: g * (1 - y * y)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize("tanh", [pb.tanh, own_tanh])
@pytest.mark.parametrize("together", [True, False])
def test_what_is_inside_is_not_kept(together: bool, tanh: Any) -> None:
    """A chain of 16 blocks, each with four arrays of 400 kB inside and one of 100 kB between. What
    a rule holds is not kept either."""
    shapes = [(64, 400), (400, 64)]
    ws = [tuple(pb.Variable(rng.normal(size=s).astype(np.float32) / 8) for s in shapes)
          for _ in range(16)]  # fmt: skip
    x = pb.constant(rng.normal(size=(256, 64)).astype(np.float32))

    def block(h: Any, v: Any, w: Any) -> Any:
        a = tanh(h @ v)
        return h + (a * pb.sin(a)) @ w

    def train(f: Any) -> Any:
        def step() -> None:
            h = x
            for v, w in ws:
                h = f(h, v, w)
            loss = pb.sum(h * h)
            if not together:
                float(loss)
            pb.evaluate(loss, pb.gradients(loss, [v for v, _ in ws[:1]]))

        return bytes_beside(step, 3)

    assert train(pb.checkpoint(block)) < 0.4 * train(block)
