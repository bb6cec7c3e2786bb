"""tangents, jvp, linearize, vjp, linear_transpose: what they return, what they refuse, and that
they agree with gradients behind every kind of rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-6, atol=1e-7)


# --- tangents


def test_the_answers_have_the_structure_of_the_ys() -> None:
    x = pb.Variable(2.0)
    y = x * x
    assert [float(t) for t in pb.tangents([y, x], x, 3.0)] == [12.0, 3.0]
    found = pb.tangents({"y": y, "n": [pb.constant(1.0)]}, [x])
    assert float(found["y"]) == 4.0 and found["n"] == [None]
    assert float(pb.tangents(pb.constant(1.0), x, unconnected_gradients="zero")[0]) == 0.0
    assert pb.tangents([], [x]) == [] and pb.tangents(y, []) == [None]


def test_an_x_between_adds_to_what_reaches_it() -> None:
    """The mirror image of total derivatives: gradients(a + b, [a, b]) is [3, 1]."""
    a = pb.Variable(0.0)
    b = 2 * a
    assert float(pb.tangents(a + b, [a, b], [1.0, 10.0])[0]) == 13.0
    assert float(pb.tangents(a + b, [a, b], [1.0, 10.0], stop_gradients=[a, b])[0]) == 11.0
    assert float(pb.tangents(b, [b])[0]) == 1.0


def test_all_reads_of_a_variable_move_and_repeated_xs_add() -> None:
    x = pb.Variable(3.0)
    assert float(pb.tangents(x * x, [x, x], [1.0, 0.5])[0]) == 9.0


def test_none_is_no_path_and_zero_is_one() -> None:
    x = pb.Variable(2.5)
    found = pb.tangents([pb.stop_gradient(x), pb.sign(x), x > 1, pb.argmax(pb.stack([x]))], x)
    assert found[0] is None and float(found[1]) == 0.0 and found[2:] == [None, None]


def test_overrides_hold() -> None:
    x = pb.Variable([-2.0, 0.5])
    y = pb.sign(x)
    rule = {"sign": lambda op, g: pb.where(pb.abs(op.inputs[0]) <= 1, g, 0)}
    same(pb.tangents(y, x, [np.float32([3.0, 5.0])], overrides=rule)[0], [0.0, 5.0])
    with pb.gradient_override_map({"matmul": lambda op, g: (10 * g, 100 * g)}):
        a, b = pb.Variable([[1.0]]), pb.Variable([[2.0]])
        y = a @ b
    assert float(pb.tangents(y, [a, b], [1.0, 1.0])[0].item()) == 110.0


def test_rules_are_transposed() -> None:
    @pb.custom_gradient
    def rotated(x: Any, y: Any) -> Any:
        return (x * y, x + y), lambda g, h: (2 * g + 3 * h, 5 * g + 7 * h)

    x, y = pb.Variable(1.0), pb.Variable(2.0)
    found = pb.tangents(list(rotated(x, y)), [x, y], [1.0, 10.0])
    assert [float(t) for t in found] == [2 + 50, 3 + 70]
    only = pb.tangents(rotated(x, y)[1], x)
    assert float(only[0]) == 3.0


def test_a_rule_with_operations_that_differ_in_one_thing() -> None:
    """A transposed rule keeps operations of another axis, shape, order or dtype apart. Series
    look for equal operations: see tests/core/test_distinct_operations.py."""

    def rule(g: Any) -> Any:
        axes = pb.sum(g, axis=0, keepdims=True) + 3 * pb.sum(g, axis=1, keepdims=True)
        turned = pb.transpose(g, (1, 0)) + 2 * pb.transpose(g, (0, 1))
        row = g[:1]
        shapes = pb.sum(pb.broadcast_to(row, (2, 3)), 0) + 5 * pb.sum(
            pb.broadcast_to(row, (4, 3)), 0
        )
        flat = pb.reshape(g, (9, 1))[:3] + 7 * pb.reshape(g, (3, 3))[:, :1]
        rounded = pb.cast(pb.cast(g, "float16") * 1, "float64")
        single = 11 * pb.cast(pb.cast(g, "float32") * 1, "float64")
        scans = pb.cumulative_sum(g, axis=0) + 13 * pb.cumulative_sum(g, axis=1)
        return axes + turned + shapes + flat + rounded + single + scans

    f = pb.custom_gradient(lambda x: (x * 1, rule))
    x = pb.constant(np.arange(9.0).reshape(3, 3))
    reverse = pb.jacobian(f, mode="reverse")(x).numpy()
    same(pb.jacobian(f, mode="forward")(x), reverse)
    tangent = np.linspace(-1, 1, 9).reshape(3, 3).astype(np.float16).astype(float)
    same(pb.jvp(f, (x,), (tangent,))[1], np.tensordot(reverse, tangent, 2))


def test_a_rule_that_clips_is_linear_about_zero() -> None:
    x = pb.Variable([1.0, 2.0])
    clipped = pb.clip_gradient(x * 3, 1.0)
    same(pb.tangents(clipped, x, np.float32([5.0, 7.0]))[0], [15.0, 21.0])


@pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")  # in the rule
def test_a_rule_that_cannot_be_turned_round_says_so() -> None:
    """A wrong zero would be worse: reverse mode has an answer."""
    looks = pb.custom_gradient(lambda x: (x * 2, lambda g: g if float(g) > 5 else 3 * g))
    for call in (
        lambda: pb.jvp(looks, (1.0,), (1.0,)),
        lambda: pb.linearize(looks, 1.0),
        lambda: pb.hvp(lambda x: looks(x) ** 2, (1.0,), (1.0,)),
        lambda: pb.function(lambda x: pb.jvp(looks, (x,), (1.0,))[1])(1.0),
    ):
        with pytest.raises(RuntimeError, match="transposed for forward mode"):
            call()
    ends = pb.custom_gradient(lambda x: (x * 2, lambda g: pb.stop_gradient(g) * 3))
    with pytest.raises(NotImplementedError, match="forward mode: a gradient rule"):
        pb.jvp(ends, (1.0,), (1.0,))
    assert float(pb.jacobian(ends)(1.0)) == 3.0
    assert float(pb.hessian(lambda x: looks(x) ** 2)(1.0)) == 6.0  # its rule, asked once more


def test_checkpoints_functions_and_composites() -> None:
    x = pb.Variable([[1.0, 2.0], [0.5, -1.0]])
    u = np.array([[1.0, -1.0], [2.0, 0.25]], np.float32)

    def f(x: Any) -> Any:
        return pb.softmax(pb.tanh(x @ x), axis=1) + pb.logsumexp(x, axis=0)

    want = pb.tangents(f(x), x, u)[0]
    same(pb.tangents(pb.checkpoint(f)(x), x, u)[0], want)
    same(pb.tangents(pb.function(f)(x), x, u)[0], want)
    same(pb.jvp(pb.function(f), (x,), (u,))[1], want)
    same(pb.function(lambda x, u: pb.jvp(f, (x,), (u,))[1])(x, u), want)
    (slope,) = pb.gradients(f(x), x, grad_ys=[want.numpy()])
    assert float(pb.sum(want * want)) == pytest.approx(float(pb.sum(slope * u)), rel=1e-5)


def test_a_jvp_of_the_users_is_used() -> None:
    calls = []

    def push(primals: Any, tangents: Any) -> Any:
        calls.append(1)
        return 7 * tangents[0]

    f = pb.custom_gradient(lambda x: pb.sin(x), jvp=push)
    x = pb.Variable(1.0)
    assert float(pb.tangents(f(x), x, 2.0)[0]) == 14.0 and calls


def test_complex() -> None:
    z = pb.Variable(np.array([1 + 2j, -0.5j]))
    u = np.array([2 - 1j, 1 + 1j])
    eps = 1e-7
    for f in (pb.exp, pb.abs, pb.sign, pb.conj, pb.real, lambda z: z * pb.conj(z) / (z + 2)):
        (got,) = pb.tangents(f(z), z, u)
        step = (f(z + eps * u).numpy() - f(z - eps * u).numpy()) / (2 * eps)
        np.testing.assert_allclose(got.numpy(), step, rtol=1e-6, atol=1e-8)


def test_errors() -> None:
    x, c = pb.Variable(1.0), pb.constant(2.0)
    y = x * 2
    with pytest.raises(TypeError, match=r"tangents: .* for xs\[1\], got"):
        pb.tangents(y, [x, 2.0])
    with pytest.raises(ValueError, match=r"tangents: xs_tangents\[0\]: .* got \(3,\)"):
        pb.tangents(y, x, [np.ones(3, np.float32)])
    with pytest.raises(TypeError, match=r"tangents: xs_tangents\[0\]: .* got float64"):
        pb.tangents(y, x, np.ones(()))
    with pytest.raises(ValueError, match=r"tangents: xs\[0\] .* is not tracked"):
        pb.tangents(y, c)
    with pytest.raises(LookupError, match="tangents: overrides"):
        pb.tangents(y, x, overrides={"sine": lambda op, g: g})


# --- functions


def test_no_confusion_of_nested_perturbations() -> None:
    """The classic of Siskind and Pearlmutter, in four nests."""

    def inner(x: Any) -> Any:
        return pb.jvp(lambda y: x + y, (1.0,), (1.0,))[1]

    def inner_grad(x: Any) -> Any:
        return pb.grad(lambda y: x * y * y)(1.0)

    assert float(pb.jvp(lambda x: x * inner(x), (2.0,), (1.0,))[1]) == 1.0
    assert float(pb.grad(lambda x: x * inner(x))(2.0)) == 1.0
    assert float(pb.jvp(lambda x: x * inner_grad(x), (2.0,), (1.0,))[1]) == 8.0
    assert float(pb.grad(lambda x: x * pb.grad(lambda y: x * y * y)(1.0))(2.0)) == 8.0


def test_nests_and_arguments_that_do_not_move() -> None:
    def f(weights: Any, n: Any, name: Any) -> Any:
        return {"y": weights["a"] * weights["b"] * n, "n": pb.constant(n)}

    value, tangent = pb.jvp(
        f, ({"a": 2.0, "b": np.float64(3.0)}, 4, "x"), ({"a": 1.0, "b": None}, None, None)
    )
    assert float(value["y"]) == 24.0 and float(tangent["y"]) == 12.0 and tangent["n"] is None
    x = pb.constant(3.0)
    assert float(pb.jvp(lambda x, y: x * y, (x, x), (1.0, None))[1]) == 3.0
    assert float(pb.jvp(lambda x: pb.constant(1.0), (x,), (1.0,))[1]) == 0.0


def test_linearize_runs_the_linear_part_alone() -> None:
    runs = []

    def f(x: Any) -> Any:
        runs.append(1)
        return pb.sum(pb.sin(x) * pb.exp(x))

    x = np.linspace(0, 1, 7)
    value, push = pb.linearize(f, x)
    for seed in range(3):
        u = np.random.default_rng(seed).normal(size=7)
        want = pb.jvp(f, (x,), (u,))
        same(push(u), want[1])
        same(value, want[0])
    assert len(runs) == 4
    plans = pb.function(lambda x, u: pb.linearize(f, x)[1](u))
    same(plans(x, u), want[1])
    nest = pb.linearize(lambda p: (p[0] * p[1], p[0]), (2.0, 3.0))[1]
    assert [float(t) for t in nest((1.0, None))] == [3.0, 1.0]


def test_linearize_computes_what_is_not_linear_once() -> None:
    a = pb.constant(np.random.default_rng(0).normal(size=(40, 40)))
    x = np.random.default_rng(1).normal(size=(40, 40))
    _, push = pb.linearize(lambda x: pb.tanh(a @ pb.tanh(a @ x)), x)
    push(x).numpy()
    sources = [step.source for step in pb.profile(push, x).steps]
    assert sources.count("matmul") == 2 and "tanh" not in sources


def test_vjp_and_its_pullback() -> None:
    _, pullback = pb.vjp(lambda p, n: (p["x"] * p["y"], p["x"] * n), {"x": 2.0, "y": 5.0}, 3.0)
    first, n = pullback((1.0, 10.0))
    assert float(first["x"]) == 35.0 and float(first["y"]) == 2.0 and float(n) == 20.0
    assert float(pullback((None, 0.0))[0]["y"]) == 2.0
    assert pb.vjp(lambda x, n: x, 1.0, np.arange(3))[1](1.0)[1] is None


def test_linear_transpose() -> None:
    m = np.random.default_rng(0).normal(size=(3, 4))
    back = pb.linear_transpose(lambda x, y: (m @ x, pb.cumulative_sum(y)), np.ones(4), np.ones(2))
    x, y = back((np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0])))
    same(x, m.T @ [1, 2, 3])
    same(y, [11.0, 10.0])
    with pytest.raises(ValueError, match="expected a linear function for f"):
        pb.linear_transpose(pb.exp, 1.0)(1.0)


def test_a_loop_over_jvps_keeps_nothing() -> None:
    from support.process import live

    x = np.ones(5)
    f = lambda x: pb.sum(pb.sin(x))  # noqa: E731
    pb.jvp(f, (x,), (x,))[1].numpy()
    before = live()
    for _ in range(20):
        pb.jvp(f, (x,), (x,))[1].numpy()
    assert live() == before


@each(
    "call, error, text",
    [
        (lambda: pb.jvp(3, (1.0,), (1.0,)), TypeError, "jvp: expected a function for f, got 3"),
        (
            lambda: pb.jvp(pb.exp, 1.0, 1.0),
            TypeError,
            "jvp: expected a tuple of arguments for primals",
        ),
        (lambda: pb.jvp(pb.exp, (1.0,), 1.0), TypeError, "jvp: expected a tuple for tangents"),
        (lambda: pb.jvp(pb.exp, (1.0,), ()), ValueError, "jvp: expected 1 tangent, .* got 0"),
        (
            lambda: pb.jvp(pb.exp, (np.arange(3),), (np.ones(3),)),
            TypeError,
            r"jvp: primals\[0\]: expected a floating dtype, got int64",
        ),
        (
            lambda: pb.jvp(pb.exp, (np.ones(3),), (np.ones(2),)),
            ValueError,
            r"jvp: tangents\[0\]: expected shape \(3,\) or \(\), got \(2,\)",
        ),
        (
            lambda: pb.jvp(lambda p: p["a"], ({"a": 1.0},), ({"b": 1.0},)),
            ValueError,
            r"jvp: tangents\[0\]: expected the keys 'a'",
        ),
        (lambda: pb.jvp(lambda x: 3, (1.0,), (1.0,)), TypeError, "expected a Tensor .* got 3"),
        (lambda: pb.linearize(pb.exp, 1.0)[1](), ValueError, "expected 1 tangent, .* got 0"),
        (lambda: pb.vjp(pb.exp, 1.0)[1]([1.0, 2.0]), ValueError, "vjp: cotangent"),
    ],
)
def test_errors_of_functions(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()
