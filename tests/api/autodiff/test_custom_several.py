"""custom_gradient with several outputs: one call, whose rule answers once for all of them, whatever
becomes of any one: stopped, unused, dropped, watched, integer, bool."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.gradients import each_mode  # noqa: F401

import pullback as pb


def three(log: list[Any] | None = None) -> Any:
    """x -> (2x, 3x, 5x), with the rule 10 g0 + 100 g1 + 1000 g2."""

    @pb.custom_gradient
    def f(x):
        def rule(*upstream):
            if log is not None:
                log.append([g.numpy().tolist() for g in upstream])
            return sum(10.0 ** (k + 1) * g for k, g in enumerate(upstream))

        return (2 * x, 3 * x, 5 * x), rule

    return f


@each("stopped", range(3))
def test_an_output_that_is_stopped(mode, stopped):
    f = three()

    def use(x):
        ys = [pb.stop_gradient(y) if k == stopped else y for k, y in enumerate(f(x))]
        return sum(ys)

    assert mode(use, 1.0) == [1110.0 - 10.0 ** (stopped + 1)]


@each("used", range(3))
def test_an_output_that_is_used_alone(mode, used):
    f = three()
    assert mode(lambda x: 7 * f(x)[used], 1.0) == [7 * 10.0 ** (used + 1)]


@pytest.mark.parametrize("stops", [[0], [1], [2], [0, 1], [1, 2], [0, 2], [0, 1, 2]])
def test_stop_gradients_of_the_request(stops):
    log: list[Any] = []
    x = pb.Variable(1.0)
    ys = three(log)(x)
    (g,) = pb.gradients(sum(ys), x, stop_gradients=[ys[k] for k in stops])
    expected = sum(10.0 ** (k + 1) for k in range(3) if k not in stops)
    assert (None if g is None else float(g)) == (expected or None)
    assert log == ([] if g is None else [[float(k not in stops) for k in range(3)]])


@pytest.mark.parametrize("dropped", range(3))
def test_an_output_that_is_gone(dropped):
    x = pb.Variable(1.0)
    ys = list(three()(x))
    del ys[dropped]
    gc.collect()
    assert float(pb.gradients(sum(ys), x)[0]) == 1110.0 - 10.0 ** (dropped + 1)


@each("place", range(3))
@each("kind", ["int64", "int32", "bool"])
def test_an_output_without_derivative(mode, place, kind):
    @pb.custom_gradient
    def f(x):
        ys = [2 * x, 3 * x]
        ys.insert(place, pb.cast(x > 0 if kind == "bool" else pb.floor(x), kind))

        def rule(*upstream):
            gs = list(upstream)
            other = gs.pop(place)
            assert other.dtype == kind
            return 10 * gs[0] + 100 * gs[1]

        return ys, rule

    def use(x):
        ys = list(f(x))
        scale = pb.where(ys.pop(place) != 0, 1.0, 5.0)
        return scale * (ys[0] + ys[1])

    def plain(x):
        ys = list(f(x))
        ys.pop(place)
        return ys[0] + ys[1]

    assert mode(plain, np.float32(1.5)) == [110.0]
    assert mode(use, np.float32(1.5)) == [110.0]


def test_only_an_integer_output_is_used():
    @pb.custom_gradient
    def f(x):
        return (pb.cast(x, "int64"), x * 2), lambda gi, g: pytest.fail("called")

    x = pb.Variable(3.0)
    n, _ = f(x)
    assert pb.gradients(pb.cast(n, "float32") * 2.0, x) == [None]


def test_an_output_is_an_x_too():
    x = pb.Variable(1.0)
    a, b, c = three()(x)
    loss = a * b + c
    gx, ga, gb, gc_ = pb.gradients(loss, [x, a, b, c])
    assert [float(g) for g in (ga, gb, gc_)] == [3.0, 2.0, 1.0]
    assert float(gx) == 10 * 3.0 + 100 * 2.0 + 1000 * 1.0
    assert [None if g is None else float(g) for g in pb.gradients(a, [a, b])] == [1.0, None]
    assert [None if g is None else float(g) for g in pb.gradients([a, b], [b])] == [1.0]


def test_an_output_that_a_tape_watches():
    x = pb.constant(1.0)
    a, b, c = three()(x)
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(b)
        y = a * b + c
    assert float(tape.gradient(y, b)) == 2.0
    with pb.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a, b, c = three()(x)
        tape.watch([a, c])
        y = a * a + b + c
    assert float(tape.gradient(y, a)) == 4.0
    assert float(tape.gradient(y, x)) == 10 * 4.0 + 100 + 1000
    with pb.GradientTape() as tape:
        tape.watch(x)
        a, b, c = three()(x)
        with tape.stop_recording():
            b = b * 7
        y = a + b
    assert float(tape.gradient(y, x)) == 10.0


def test_the_rule_is_asked_once():
    log: list[Any] = []
    x = pb.Variable(1.0)
    a, b, c = three(log)(x)
    pb.gradients([a * b, pb.sin(a) * c, c], x)
    assert len(log) == 1


def test_zeros_that_flow_are_no_call():
    log: list[Any] = []
    x = pb.Variable(2.5)
    a, _, c = three(log)(x)
    (g,) = pb.gradients(pb.floor(a) + pb.sign(c), x)
    assert float(g) == 0.0 and not log


def test_one_call_feeds_another(mode):
    f = three()

    def use(x):
        a, b, _ = f(x)
        c, d, e = f(a)
        return c + b * d + pb.stop_gradient(e)

    # da = 10 + 100 b, db = d = 3 a; dx = 10 da + 100 db with a = 2, b = 3 at x = 1
    assert mode(use, 1.0) == [10 * (10 + 100 * 3.0) + 100 * 6.0]


def test_outputs_that_are_their_own_input(mode):
    @pb.custom_gradient
    def f(x, y):
        return (x, x, y), lambda a, b, c: (a + 10 * b, 100 * c)

    assert mode(lambda x, y: sum(f(x, y)), 1.0, 2.0) == [11.0, 100.0]


def test_several_orders():
    @pb.custom_gradient
    def f(x):
        return (pb.sin(x), pb.cos(x)), lambda gs, gc: gs * pb.cos(x) - gc * pb.sin(x)

    x = pb.Variable(0.7, dtype="float64")
    g = f(x)[0]
    for k, expected in enumerate([np.cos, lambda t: -np.sin(t), lambda t: -np.cos(t), np.sin]):
        (g,) = pb.gradients(g, x)
        assert float(g) == pytest.approx(expected(0.7), rel=1e-14), k

    def value(x):
        s, c = f(x)
        return s * c

    third = pb.grad(pb.grad(pb.grad(value)))
    assert float(third(np.float64(0.7))) == pytest.approx(-4 * np.cos(1.4), rel=1e-14)


def test_rules_of_the_outputs_users_count():
    x = pb.Variable(1.0)
    a, b, _ = three()(x)
    with pb.gradient_override_map({"tanh": lambda op, g: 7 * g}):
        y = pb.tanh(a) + b
    assert float(pb.gradients(y, x)[0]) == 170.0
    (g,) = pb.gradients(pb.tanh(a), x, overrides={"tanh": lambda op, g: 3 * g})
    assert float(g) == 30.0


def test_no_output_and_one_in_a_list(mode):
    @pb.custom_gradient
    def none(x):
        return (), lambda: 0 * x

    @pb.custom_gradient
    def one(x):
        return [2 * x], lambda g: 30 * g

    assert none(pb.Variable(1.0)) == ()
    assert mode(lambda x: one(x)[0], 1.0) == [30.0]


def test_wrong_answers_name_the_rule():
    @pb.custom_gradient
    def f(x):
        return (x * 2, x * 3), lambda a, b: pb.ones((2, 2))

    x = pb.Variable(1.0)
    with pytest.raises(ValueError, match=r"custom_gradient: expected shape .* got \(2, 2\)"):
        pb.gradients(f(x)[1], x)


def test_values_are_computed_once_and_fuse():
    x = pb.Variable(np.arange(6.0))

    @pb.custom_gradient
    def f(x):
        return (pb.exp(x), pb.sin(x), pb.sum(x)), lambda a, b, c: a + b + c

    a, b, c = f(x)
    pb.evaluate(a, b, c)
    np.testing.assert_allclose(a.numpy(), np.exp(np.arange(6.0)), rtol=1e-15)
    np.testing.assert_allclose(b.numpy(), np.sin(np.arange(6.0)), rtol=1e-15)
    assert float(c) == 15.0
    before = sum(pb._core.status()["steps"].values())
    pb.evaluate(pb.sum(f(x)[0] * 2.0))
    assert sum(pb._core.status()["steps"].values()) == before + 1


def test_a_loop_of_untracked_calls_does_not_grow():
    x = pb.constant(1.0)
    f = three()
    before, most = pb._core.status()["live_nodes"], 0
    for _ in range(5000):
        a, b, _ = f(x)
        x = a * 0.1 + b * 0.1 + 0.1
        most = max(most, pb._core.status()["live_nodes"] - before)
    assert most < 20_000  # of the 60 000 that were made


def test_nothing_outlives_the_outputs():
    class Marker:
        pass

    def outputs(marker):
        @pb.custom_gradient
        def f(x):
            return (2 * x, 3 * x), lambda a, b: a + b if marker else None

        return f(x)

    x, marker = pb.Variable(1.0), Marker()
    gone = weakref.ref(marker)
    a, b = outputs(marker)
    assert float(pb.gradients(a + b, x)[0]) == 2.0
    del a, b, marker
    gc.collect()
    assert gone() is None


def test_a_rule_that_holds_its_own_output_is_collected():
    class Marker:
        pass

    def make():
        marker, kept = Marker(), []

        @pb.custom_gradient
        def f(x):
            return (2 * x, 3 * x), lambda a, b, marker=marker: a + b if kept else marker

        kept.append(f(pb.Variable(1.0))[0])
        assert kept[0].shape == ()
        return weakref.ref(marker)

    gone = make()
    gc.collect()
    assert gone() is None


def test_results_of_another_library():
    @pb.custom_gradient
    def numpy_sin(x):
        value = x.numpy()
        return np.sin(value), lambda g: g * np.cos(value)

    x = np.array([0.5, 1.0])
    np.testing.assert_allclose(pb.grad(lambda x: pb.sum(numpy_sin(x)))(x), np.cos(x))
    v = pb.Variable(x)
    np.testing.assert_allclose(pb.gradients(2.0 * numpy_sin(v), v)[0], 2 * np.cos(x))

    @pb.custom_gradient
    def several(x):
        value = x.numpy()
        out = {"norm": float(np.sum(value**2)), "twice": x * 2.0, "count": 2, "text": "as it is"}
        return out, lambda norm, twice: 2.0 * x * norm + 2.0 * twice

    out = several(v)
    assert (out["count"], out["text"], out["norm"].dtype) == (2, "as it is", np.dtype("float64"))
    loss = 3.0 * out["norm"] + pb.sum(out["twice"])
    np.testing.assert_allclose(pb.gradients(loss, v)[0], 6 * x + 2)
