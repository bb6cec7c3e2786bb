"""custom_gradient and overrides inside traced functions: a rule holds tensors of the trace, which
have no value, and still the gradient of every call is right, as of that call, in every order."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
from support.traced import Counted

import pullback as pb


@pb.custom_gradient
def log1pexp(x):
    e = pb.exp(x)
    return pb.log(1 + e), lambda g: g * (1 - 1 / (1 + e))


@pb.custom_gradient
def length_and_slope(x, y):
    r = pb.sqrt(x * x + y * y)
    u, v = 1 / x, 1 / y

    def rule(gr, gs):
        return gr * x / r - gs * u, gr * y / r + gs * v

    return (r, pb.log(y / x)), rule


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def test_the_plan_runs_and_python_does_not():
    w = pb.Variable(0.5, dtype="float64")
    f = Counted(lambda x: pb.sum(log1pexp(w * x)))
    f(np.array([1.0, 2.0]))
    misses = pb._core.status()["plan_misses"]
    for k in (1.0, -3.0):
        x = np.array([k, 2 * k])
        y = f(x)
        assert pb._core.status()["plan_misses"] == misses
        assert float(y) == pytest.approx(np.log1p(np.exp(0.5 * x)).sum(), rel=1e-12)
        (g,) = pb.gradients(y, w)
        assert float(g) == pytest.approx((sigmoid(0.5 * x) * x).sum(), rel=1e-12)
        misses = pb._core.status()["plan_misses"]
    assert f.runs == 1


def test_as_of_the_call():
    w, x = pb.Variable(1.0, dtype="float64"), pb.Variable(2.0, dtype="float64")
    f = Counted(lambda x: log1pexp(w * x) * w)
    ys = [f(x.read())]
    w.assign(3.0), x.assign(-1.0)
    ys.append(f(x.read()))
    w.assign(100.0), x.assign(100.0)
    for y, (a, t) in zip(ys, [(1.0, 2.0), (3.0, -1.0)], strict=True):
        gx, gw = pb.gradients(y, [x, w])
        assert float(gx) == pytest.approx(a * a * sigmoid(a * t), rel=1e-12)
        assert float(gw) == pytest.approx(
            np.log1p(np.exp(a * t)) + a * t * sigmoid(a * t), rel=1e-12
        )
    both = pb.gradients(ys, w)[0]
    assert float(both) == pytest.approx(sum(float(pb.gradients(y, w)[0]) for y in ys), rel=1e-12)
    assert f.runs == 1


@pytest.mark.parametrize("style", ["gradients", "tape", "grad", "inside"])
def test_higher_orders(style):
    f = pb.function(lambda x: log1pexp(2.0 * x) * x)

    def plain(x):
        return pb.log(1 + pb.exp(2.0 * x)) * x

    answers = []
    for g in (f, plain):
        x = pb.Variable(0.3, dtype="float64")
        if style == "gradients":
            first = pb.gradients(g(x.read()), x)[0]
            second = pb.gradients(first, x)[0]
            third = pb.gradients(second, x)[0]
        elif style == "tape":
            with pb.GradientTape() as a, pb.GradientTape() as b:
                with pb.GradientTape() as c:
                    y = g(x.read())
                first = c.gradient(y, x)
                second = b.gradient(first, x)
            third = a.gradient(second, x)
        elif style == "grad":
            t = np.float64(0.3)
            first, second = pb.grad(g)(t), pb.grad(pb.grad(g))(t)
            third = pb.grad(pb.grad(pb.grad(g)))(t)
        else:
            derivatives = pb.function(
                lambda t, g=g: (
                    pb.grad(g)(t),
                    pb.grad(pb.grad(g))(t),
                    pb.grad(pb.grad(pb.grad(g)))(t),
                )
            )
            first, second, third = derivatives(np.float64(0.3))
        answers.append([float(first), float(second), float(third)])
    assert answers[0] == pytest.approx(answers[1], rel=1e-10)


def test_several_outputs():
    x, y = pb.Variable(3.0, dtype="float64"), pb.Variable(4.0, dtype="float64")

    @pb.function
    def f(x, y):
        r, t = length_and_slope(x, y)
        return r * t, t, pb.stop_gradient(r) + t

    for tape_too in (False, True):
        with pb.GradientTape(persistent=True) as tape:
            outs = f(x.read(), y.read())
        if not tape_too:
            outs = f(x.read(), y.read())
        t = np.log(4 / 3)
        expected = [
            (t * 3 / 5 - 5 / 3, t * 4 / 5 + 5 / 4),
            (-1 / 3, 1 / 4),
            (-1 / 3, 1 / 4),
        ]
        for out, both in zip(outs, expected, strict=True):
            gs = tape.gradient(out, [x, y]) if tape_too else pb.gradients(out, [x, y])
            assert [float(g) for g in gs] == pytest.approx(both, rel=1e-12)
    a, b = f(x.read(), y.read()), f(2 * x.read(), y.read())
    (gx,) = pb.gradients(a[1] + b[1], x)
    assert float(gx) == pytest.approx(-1 / 3 - 1 / 3, rel=1e-12)


def test_rules_within_rules():
    @pb.custom_gradient
    def f(x):
        u = x * x

        def first(dy):
            @pb.custom_gradient
            def slope(x):
                v = u * dy
                return 3 * x**2, lambda ddy: 1000 * ddy + v - v

            return dy * slope(x) + u - u

        return x**3, first

    x = pb.Variable(2.0)
    traced = Counted(lambda x: f(x * 1.0) + 0.0)
    for t in (2.0, 5.0):
        x.assign(t)
        y = traced(x.read())
        (g,) = pb.gradients(y, x)
        assert float(g) == 3 * t * t
        assert float(pb.gradients(g, x)[0]) == 1000.0
    assert traced.runs == 1
    assert float(pb.grad(pb.grad(traced))(2.0)) == 1000.0


def test_ordinary_gradients_of_variables_and_rules_that_answer_for_them():
    w, v = pb.Variable([1.0, 2.0]), pb.Variable(5.0)

    @pb.custom_gradient
    def ordinary(x):
        return w[1] * x**2 + w[0], lambda g: 100 * g

    @pb.custom_gradient
    def own(x):
        y = x * v

        def rule(g, variables):
            assert len(variables) == 1 and variables[0] is v
            return g * 10, [g * y]

        return y, rule

    f = Counted(lambda x: ordinary(x) + own(x))
    for t in (3.0, 4.0):
        x = pb.Variable(t)
        y = f(x.read())
        w.assign(w + 1.0)  # what the call saw counts
        gx, gw, gv = pb.gradients(y, [x, w, v])
        w.assign(w - 1.0)
        assert float(gx) == 110.0
        assert gw.numpy().tolist() == [1.0, t * t]
        assert float(gv) == t * 5.0
    assert f.runs == 1


def test_random_numbers_that_a_rule_shares_with_the_forward_pass():
    @pb.custom_gradient
    def dropout(x):
        mask = pb.cast(pb.random.uniform(x.shape) > 0.5, "float64")
        return x * mask, lambda g: g * mask

    w = pb.Variable(np.arange(1.0, 41.0))
    f = pb.function(lambda: dropout(w.read()))
    ys = [f(), f()]
    assert (ys[0].numpy() != ys[1].numpy()).any()
    for y in ys:
        (g,) = pb.gradients(y, w)
        np.testing.assert_array_equal(g.numpy(), y.numpy() / np.arange(1.0, 41.0))


def test_a_rule_may_hold_what_the_result_does_not_need():
    a, w = pb.Variable(7.0), pb.Variable(2.0)

    @pb.custom_gradient
    def f(x, k):
        scale = a * k  # nothing else reads a
        return x * 1.0, lambda g: (g * scale, None)

    traced = pb.function(lambda x, k: f(x * w, k))
    y = traced(3.0, 11.0)
    a.assign(1000.0)
    assert float(pb.gradients(y, w)[0]) == 3 * 7 * 11.0


def test_an_override_that_holds_a_traced_tensor():
    w = pb.Variable(2.0)

    @pb.function
    def f(x):
        scale = x * 10.0
        with pb.gradient_override_map({"tanh": lambda op, g: g * scale * op.inputs[0]}):
            return pb.tanh(w * x)

    for t in (3.0, 5.0):
        assert float(pb.gradients(f(t), w)[0]) == t * (10 * t) * (2 * t)


def test_a_rule_may_look_at_its_upstream():
    seen: list[float] = []

    @pb.custom_gradient
    def watch(x):
        def rule(g):
            seen.append(float(g))
            return g

        return x * 1.0, rule

    w = pb.Variable(2.0)
    f = pb.function(lambda x: watch(w * x) * x)
    assert float(pb.gradients(f(3.0), w)[0]) == 9.0 and seen == [3.0]


def test_a_rule_that_looks_at_what_the_function_computed_is_told_so():
    @pb.custom_gradient
    def scaled(x):
        y = pb.exp(x)
        return y, lambda g: g * float(y)

    w = pb.Variable(0.0)
    assert float(pb.gradients(scaled(w), w)[0]) == 1.0
    with pytest.raises(RuntimeError, match=r"float.*has no value outside of it"):
        pb.gradients(pb.function(lambda x: scaled(x * w))(1.0), w)


def test_a_result_together_with_its_gradients():
    w = pb.Variable([1.0, 2.0], dtype="float64")

    @pb.custom_gradient
    def square(x):
        return x * x, lambda g: g * 20 * x

    def both(x):
        y = pb.sum(square(w * x))
        return y, *pb.gradients(y, [w, x])

    f = Counted(both)
    for x in (np.float64(3.0), pb.Variable(np.float64(5.0)).read()):
        y, gw, gx = f(x)
        assert float(y) == pytest.approx(5.0 * float(x) ** 2)
        np.testing.assert_allclose(gw.numpy(), 20 * float(x) ** 2 * np.array([1.0, 2.0]))
        assert float(gx) == pytest.approx(20 * float(x) * 5.0)
        (again,) = pb.gradients(y, w)
        np.testing.assert_allclose(again.numpy(), gw.numpy())
        (second,) = pb.gradients(pb.sum(gw), w)
        np.testing.assert_allclose(second.numpy(), 20 * float(x) ** 2 * np.ones(2))


def test_results_outlive_the_function():
    w = pb.Variable(2.0)
    f = pb.function(lambda x: log1pexp(w * x))
    y = f(3.0)
    f.clear_cache()
    del f
    gc.collect()
    assert float(pb.gradients(y, w)[0]) == pytest.approx(3 * sigmoid(6.0), rel=1e-5)


def test_nothing_outlives_the_results():
    w = pb.Variable(np.ones(1000))
    f = pb.function(lambda x: pb.sum(log1pexp(x * w)))
    pb.gradients(f(np.ones(1000)), w)
    gc.collect()
    nodes, bytes_ = pb._core.status()["live_nodes"], pb._core.status()["live_bytes"]
    y: Any = f(np.ones(1000))
    (g,) = pb.gradients(y, w)
    assert float(pb.sum(g)) == pytest.approx(1000 * sigmoid(1.0))
    del y, g
    gc.collect()
    assert pb._core.status()["live_nodes"] <= nodes + 2
    assert pb._core.status()["live_bytes"] <= bytes_


def test_functions_in_functions():
    w = pb.Variable(0.5, dtype="float64")
    inner = pb.function(lambda x: log1pexp(x))
    outer = Counted(lambda x: inner(w * x) * inner(x))
    y = outer(np.float64(2.0))
    expected = sigmoid(1.0) * 2.0 * np.log1p(np.exp(2.0))
    assert float(pb.gradients(y, w)[0]) == pytest.approx(expected, rel=1e-12)
    # A gradient, inside one function, of what another one returned.
    captured = inner(w * 2.0)
    later = pb.function(lambda x: pb.gradients(captured * x, w)[0])
    for k in (1.0, 3.0):
        assert float(later(np.float64(k))) == pytest.approx(2 * k * sigmoid(1.0), rel=1e-12)
    assert outer.runs == 1
