"""A replayed call stays differentiable: its history is built when a gradient asks for it, as of the
call. And what a function makes of constants alone is computed once."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from support.traced import Counted

import pullback as pb


def steps() -> int:
    return sum(pb._core.status()["steps"].values())


# --- histories


def test_a_call_runs_its_plan_once():
    w = pb.Variable(np.ones((3, 3)))
    f = pb.function(lambda x: pb.sum(x @ w))
    f(np.ones((2, 3)))
    before = pb._core.status()["steps"]["gemm"], pb._core.status()["plan_misses"]
    y = f(np.ones((2, 3)))
    assert float(y) == 18.0
    assert (pb._core.status()["steps"]["gemm"], pb._core.status()["plan_misses"]) == (
        before[0] + 1,
        before[1],
    )


def test_gradients_are_as_of_the_call():
    w, x = pb.Variable(3.0), pb.Variable(2.0)
    f = Counted(lambda x: w * x**3)
    y = f(x.read())
    w.assign(100.0), x.assign(50.0)
    gx, gw = pb.gradients(y, [x, w])
    assert (float(y), float(gx), float(gw)) == (24.0, 36.0, 8.0)
    (second,) = pb.gradients(gx, [x])
    (mixed,) = pb.gradients(gx, [w])
    (third,) = pb.gradients(second, [x])
    assert [float(g) for g in (second, mixed, third)] == [36.0, 12.0, 18.0]
    assert f.runs == 1


def test_several_results_and_constants_among_them():
    w = pb.Variable([1.0, 2.0])

    def body(x, s):
        return {"loss": pb.sum(w * x), "x": x, "s": s + 1.0, "c": pb.constant(5.0), "w": w.read()}

    f = Counted(body)
    out = f(np.array([3.0, 4.0]), np.float64(1.0))
    assert float(out["loss"]) == 11.0 and f.runs == 1
    assert not pb._core.is_tracked(out["s"]) and not pb._core.is_tracked(out["c"])
    assert not pb._core.is_tracked(out["x"])
    assert pb.gradients(out["loss"], w)[0].numpy().tolist() == [3.0, 4.0]
    assert pb.gradients(out["w"], w)[0].numpy().tolist() == [1.0, 1.0]
    both = pb.gradients([out["loss"], pb.sum(out["w"] ** 2)], w)[0]
    assert both.numpy().tolist() == [5.0, 8.0]


def test_states_that_do_not_depend_on_variables_do_not_grow():
    w = pb.Variable(1.0)
    f = pb.function(lambda state, x: (state + x, state * w))
    state: Any = pb.constant(0.0)
    f(state, 1.0)
    before = pb._core.status()["live_nodes"]
    for _ in range(200):
        state, _ = f(state, 1.0)
    gc.collect()
    assert pb._core.status()["live_nodes"] < before + 20 and float(state) == 200.0


def test_a_chain_of_calls():
    w = pb.Variable(0.5, dtype="float64")
    f = pb.function(lambda h: pb.sin(w * h) + h)
    h, expected, slope = pb.constant(1.0, "float64"), 1.0, 0.0
    for _ in range(3000):
        h = f(h)
        slope += np.cos(0.5 * expected) * (expected + 0.5 * slope)
        expected += np.sin(0.5 * expected)
    assert float(h) == pytest.approx(expected, rel=1e-12)
    assert float(pb.gradients(h, w)[0]) == pytest.approx(slope, rel=1e-9)


def test_random_numbers_are_those_of_the_call():
    w = pb.Variable(2.0, dtype="float64")
    f = pb.function(lambda: w * w * pb.random.uniform(5, dtype="float64"))
    f()
    y, other = f(), f()
    draw = y.numpy() / 4
    assert not np.array_equal(y.numpy(), other.numpy())
    assert float(pb.gradients(y, w)[0]) == pytest.approx(4 * draw.sum(), rel=1e-14)


def test_rules_of_the_gradient_call_and_stops():
    w = pb.Variable(2.0)
    f = pb.function(lambda x: pb.tanh(w * x))
    y = f(3.0)
    (g,) = pb.gradients(y, w, overrides={"tanh": lambda op, g: 10 * g})
    assert float(g) == 30.0
    assert pb.gradients(f(3.0) * w, w, stop_gradients=[y])[0] is not None
    (stopped,) = pb.gradients(y * w, w, stop_gradients=[y])
    assert float(stopped) == pytest.approx(np.tanh(6.0))
    with pb.gradient_override_map({"tanh": lambda op, g: 7 * g}):
        (outside,) = pb.gradients(y, w)
    assert float(outside) == pytest.approx(3 / np.cosh(6.0) ** 2, rel=1e-5)


def test_no_operation_of_ours_is_in_between():
    w = pb.Variable(2.0)
    wrong = {"identity": lambda op, g: 100 * g, "cast": lambda op, g: 100 * g}
    y = pb.function(lambda x: w * x)(3.0)
    assert float(pb.gradients(y, w, overrides=wrong)[0]) == 3.0


def test_tapes_see_calls_as_they_were_made():
    w = pb.Variable(2.0)
    f = Counted(lambda x: w * x)
    before = f(3.0)
    with pb.GradientTape() as tape:
        y = before + f(5.0)
    assert float(tape.gradient(y, w)) == 5.0
    assert float(pb.gradients(y, w)[0]) == 8.0


def test_a_captured_tensor_that_a_tape_watches_later():
    c = pb.constant([1.0, 2.0])
    f = Counted(lambda x: pb.sum(x * c * c))
    assert float(f(2.0)) == 10.0
    with pb.GradientTape() as tape:
        tape.watch(c)
        y = f(3.0)
    assert tape.gradient(y, c).numpy().tolist() == [6.0, 12.0] and f.runs == 1


def test_a_tracked_argument_of_a_function_that_assigns():
    x, total = pb.Variable(3.0), pb.Variable(0.0, trainable=False)

    @pb.function
    def f(x):
        total.assign_add(x)
        return x * x + total

    y = f(x.read())
    total.assign(0.0)
    assert float(y) == 12.0 and float(pb.gradients(y, x)[0]) == 6.0


def test_nothing_outlives_the_results():
    w = pb.Variable(np.ones(1000))
    f = pb.function(lambda x: pb.sum(x * w))
    f(np.ones(1000))
    gc.collect()
    nodes, bytes_ = pb._core.status()["live_nodes"], pb._core.status()["live_bytes"]
    y, g = f(np.ones(1000)), None
    w.assign(np.zeros(1000))
    (g,) = pb.gradients(y, w)
    assert float(pb.sum(g)) == 1000.0
    del y, g
    gc.collect()
    assert pb._core.status()["live_nodes"] <= nodes + 2
    assert pb._core.status()["live_bytes"] <= bytes_


def test_with_value_and_grad_in_both_orders():
    x = np.array([0.3, 0.7])
    inner, outer = Counted(lambda x: pb.sum(pb.sin(x))), Counted(lambda x: pb.sum(pb.sin(x)))
    first = pb.value_and_grad(inner)
    second = pb.function(pb.value_and_grad(outer))
    for _ in range(2):
        for both in (first, second):
            value, g = both(x)
            assert float(value) == pytest.approx(np.sin(x).sum(), rel=1e-15)
            np.testing.assert_allclose(g.numpy(), np.cos(x), rtol=1e-15)
    assert (inner.runs, outer.runs) == (1, 1)
    twice = pb.grad(lambda x: pb.sum(second(x)[1]))
    np.testing.assert_allclose(twice(x).numpy(), -np.sin(x), rtol=1e-15)


# --- constants


def plan_of(body: Any, *args: Any) -> str:
    return pb.function(body).plan(*args)


def test_constants_are_computed_once():
    table = np.arange(6.0).reshape(2, 3)

    def body(x):
        c = pb.constant(table) @ pb.exp(pb.constant(table).T)
        return x * pb.sum(c) + pb.cast(pb.arange(4), "float64")

    assert "gemm" not in plan_of(body, 1.0) and "iota" not in plan_of(body, 1.0)
    f = Counted(body)
    expected = (table @ np.exp(table.T)).sum()
    for k in (1.0, 2.0):
        np.testing.assert_allclose(f(k).numpy(), k * expected + np.arange(4), rtol=1e-14)


def test_what_must_stay_in_the_plan_stays():
    assert "random_normal" in plan_of(lambda x: x + pb.random.normal(3), np.ones(3, np.float32))
    v = pb.Variable(1.0)

    @pb.function
    def f():
        v.assign(pb.constant(2.0) * 3.0)
        return v + 1.0

    assert [float(f()), float(f()), float(v)] == [7.0, 7.0, 6.0]


def test_repeated_numbers_are_not_blown_up():
    before = pb._core.status()["live_bytes"]
    f = pb.function(lambda x: x * (pb.ones((1000, 1000)) * 2.0 + 1.0))
    f.plan(pb.ones(()))
    assert pb._core.status()["live_bytes"] - before < 100_000
    assert float(pb.sum(f(pb.constant(2.0)))) == 6e6


def test_views_of_small_things_stay_views():
    row = np.arange(1000, dtype=np.float32)
    before = pb._core.status()["live_bytes"]

    def body(x):
        wide = pb.broadcast_to(pb.exp(-pb.constant(row)), (1000, 1000))
        return pb.sum(x * pb.transpose(wide))

    f = pb.function(body)
    f.plan(1.0)
    assert pb._core.status()["live_bytes"] - before < 100_000
    assert float(f(2.0)) == pytest.approx(2000 * np.exp(-row).sum(), rel=1e-5)


def test_much_larger_results_are_not_kept():
    n = 3500  # squared, in float64: more than 64 MiB
    column = np.arange(float(n))
    before = pb._core.status()["live_bytes"]

    def body(x):
        c = pb.constant(column)
        return pb.sum(pb.exp(-c[:, None] - c[None, :]) * x)

    f = pb.function(body)
    f.plan(1.0)
    assert pb._core.status()["live_bytes"] - before < 1_000_000
    assert float(f(1.0)) == pytest.approx(np.exp(-column).sum() ** 2, rel=1e-12)


def test_a_captured_draw_is_one_draw():
    noise = pb.random.normal(3)
    f = pb.function(lambda x: x + noise)
    one, two = f(0.0).numpy(), f(0.0).numpy()
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, noise.numpy())


def test_an_error_among_constants_is_the_calls_own():
    f = pb.function(lambda n: n + pb.constant(1) // pb.constant(0))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            f(np.int64(1))


def test_captured_pending_tensors_are_computed_once():
    w = pb.Variable(np.ones((4, 4)))
    c = w @ w
    f = pb.function(lambda x: pb.sum(x * pb.stop_gradient(c)))
    f(1.0)
    before = pb._core.status()["steps"]["gemm"]
    assert float(f(2.0)) == 128.0
    assert pb._core.status()["steps"]["gemm"] == before


def products() -> int:
    return int(pb._core.status()["steps"]["gemm"])


@pytest.mark.parametrize("kept", ["both", "one"])
def test_results_that_somebody_holds_are_not_computed_again(kept):
    """The gradient of the loss needs the hidden layer, another result of the same call."""
    w = pb.Variable(np.linspace(0.1, 1.0, 9).reshape(3, 3))
    x = np.ones((2, 3))

    @pb.function
    def f(x):
        hidden = x @ w
        return hidden, pb.sum(hidden * hidden)

    hidden, loss = f(x)
    expected = 2.0 * x.T @ (x @ w.read().numpy())
    if kept == "one":
        del hidden
    before = products()
    (g,) = pb.gradients(loss, [w])
    np.testing.assert_allclose(g.numpy(), expected, rtol=1e-13)
    assert products() - before == (1 if kept == "both" else 2)


def test_the_value_of_a_result_is_its_historys():
    w = pb.Variable(np.ones((3, 3)))
    f = pb.function(lambda x: pb.exp(x @ w))  # its gradient needs the result itself
    y = f(np.ones((2, 3)))
    before = products()
    (g,) = pb.gradients(y, [w])
    np.testing.assert_allclose(g.numpy(), np.full((3, 3), 2.0 * np.exp(3.0)))
    assert products() - before == 1
