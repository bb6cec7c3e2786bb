"""Rules inside of loops and branches that hold a tensor of what is around the loop: as of each copy
of it."""

import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve
from support.each import each

import pullback as pb

# The rule's slope is sin(a) for each of three iterations, and counts as one number: no gradient
# goes through it, as y does not depend on it.
AT = np.array([0.7, 0.9])


def scaled_by(h: Any) -> Callable[[Any], Any]:
    @pb.custom_gradient
    def f(x: Any) -> Any:
        return x + 0.0, lambda g: g * h

    return f


def scanned(a: Any) -> Any:
    f = scaled_by(pb.sin(a))
    return pb.scan(lambda c, _: (f(c), None), a, length=3)[0]


def repeated(a: Any) -> Any:
    f = scaled_by(pb.sin(a))
    return pb.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1])), (0, a))[1]


def chosen(a: Any) -> Any:
    f = scaled_by(pb.sin(a) ** 3)
    return pb.cond(pb.sum(a) > 0, f, lambda a: 2.0 * a, a)


def nested(a: Any) -> Any:
    """The holder is an iteration of a loop around."""
    return pb.scan(lambda c, _: (scanned(c), None), a, length=2)[0]


BODIES = [(scanned, 3), (repeated, 3), (chosen, 3), (nested, 6)]


def in_two(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return pb.function(lambda a: pb.function(f)(a))


COPIES = [
    pb.function, in_two, pb.checkpoint, lambda f: pb.function(pb.checkpoint(f)),
    lambda f: pb.checkpoint(pb.function(f)),
]  # fmt: skip


@each("copy", COPIES)
@each(("body", "power"), BODIES)
def test_copies_have_their_own(body: Any, power: int, copy: Any) -> None:
    f = copy(body)
    for at in (AT, AT / 2, AT):
        x = pb.Variable(at)
        (g,) = pb.gradients(pb.sum(f(x)), [x])
        np.testing.assert_allclose(g, np.sin(at) ** power, rtol=1e-12)
        (again,) = pb.gradients(pb.sum(g), [x])  # the slope is an expression of a
        second = 3 * np.sin(at) ** 2 * np.cos(at)
        if body is nested:  # the slope inside is one of what the first iteration has made
            second *= np.sin(at) ** 3 * (1 + np.sin(at) ** 3)
        np.testing.assert_allclose(again, second, rtol=1e-12)


@each("copy", COPIES)
@each(("body", "power"), BODIES)
def test_forward(body: Any, power: int, copy: Any) -> None:
    _, tangent = pb.jvp(copy(body), [AT], [np.ones(2)])
    np.testing.assert_allclose(tangent, np.sin(AT) ** power, rtol=1e-12)


@pytest.mark.parametrize(("body", "power"), BODIES)
def test_of_a_batch_in_a_function(body: Any, power: int) -> None:
    x = pb.Variable(AT)
    (g,) = pb.gradients(pb.sum(pb.function(pb.vmap(body))(x)), [x])
    np.testing.assert_allclose(g, np.sin(AT) ** power, rtol=1e-12)


@pytest.mark.parametrize(("body", "power"), BODIES)
def test_a_solution(body: Any, power: int) -> None:
    """x = a / 2 + body(x) / 4 has x = 2 a / 3; the rule counts at the solution."""
    a = pb.Variable(AT)

    def solver(f: Any, x0: Any, a: Any) -> Any:
        return fsolve(f, x0)

    x = pb.implicit.root(lambda x, a: a / 2 + body(x) / 4 - x, solver)(np.ones(2), a)
    np.testing.assert_allclose(x, 2 * AT / 3, rtol=1e-6)
    (g,) = pb.gradients(pb.sum(x), [a])
    np.testing.assert_allclose(g, 0.5 / (1 - np.sin(2 * AT / 3) ** power / 4), rtol=1e-6)


@pytest.mark.parametrize(("body", "power"), BODIES)
def test_opened(body: Any, power: int) -> None:
    """What explain makes of iterations has the gradient of the loop."""
    from pullback._explain.query import Question

    x = pb.Variable(AT)
    question = Question(pb.sum(body(x)), x)
    steps = [s for s in question.ancestry.steps.values() if s.operation]
    while steps:
        question, ran = question.opened(steps[:1])
        assert ran
        (g,) = question.gradients([x])
        np.testing.assert_allclose(g, np.sin(AT) ** power, rtol=1e-12)
        steps = [s for s in question.ancestry.steps.values() if s.operation]


def test_a_rule_for_a_value_that_all_iterations_share() -> None:
    """A nonlinear rule is called for each iteration, as in the loop written out."""
    w = pb.Variable(np.array([1.0, 2.0]))
    zero = pb.constant(0.0, dtype="float64")

    def clipped() -> Any:
        return pb.sum(pb.clip_gradient(w, 1.0) * 100.0)

    def overridden() -> Any:
        with pb.gradient_override_map({"tanh": lambda op, g: pb.clip(g, -1.0, 1.0)}):
            return pb.sum(pb.tanh(w) * 100.0)

    def scan(value: Any) -> Any:
        return pb.scan(lambda s, _: (s + value(), None), zero, None, length=3)[0]

    def fori(value: Any) -> Any:
        return pb.fori_loop(0, 3, lambda i, s: s + value(), zero)

    def while_(value: Any) -> Any:
        return pb.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] + value()), (0, zero))[1]

    def unrolled(value: Any) -> Any:
        return sum(value() for _ in range(3))

    for value in (clipped, overridden):
        for loop in (scan, fori, while_, unrolled):
            (g,) = pb.gradients(loop(value), [w])
            np.testing.assert_array_equal(g.numpy(), [3.0, 3.0], f"{value} {loop}")


def sine_with(h: Any) -> Any:
    """sin with a rule that refers to a tensor of its surroundings."""

    @pb.custom_gradient(intentional=True)
    def f(x: Any) -> Any:
        return pb.sin(x), lambda g: g * h

    return f


def by_a_constant_and_the_state(x: Any) -> Any:
    return sine_with(pb.constant([0.2, 0.7], dtype="float64") * x)(x)


def by_the_state(x: Any) -> Any:
    return sine_with(pb.cos(x))(2.0 * x) * x


# A transform of a function of a vector of two, and the same written out.
NESTS = {
    "scan": (
        lambda f: lambda x: pb.scan(lambda c, _: (f(c), None), x, length=2)[0],
        lambda f: lambda x: f(f(x)),
    ),
    "while": (
        lambda f: (
            lambda x: pb.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]
        ),
        lambda f: lambda x: f(f(x)),
    ),
    "cond": (
        lambda f: lambda x: pb.cond(pb.sum(x) > -9.0, f, lambda y: y, x),
        lambda f: f,
    ),
    "checkpoint": (pb.checkpoint, lambda f: f),
    "function": (pb.function, lambda f: f),
    "vmap": (
        lambda f: lambda x: pb.sum(pb.vmap(f)(pb.stack([x, x * x])), 0),
        lambda f: lambda x: f(x) + f(x * x),
    ),
    "map": (
        lambda f: lambda x: pb.sum(pb.map(f, pb.stack([x, x * x])), 0),
        lambda f: lambda x: f(x) + f(x * x),
    ),
}


def derivatives(f: Any) -> list[Any]:
    at = np.array([0.3, 0.5])
    x = pb.Variable(at)
    y = f(x)
    (g,) = pb.gradients(pb.sum(pb.sin(y)), [x])
    (second,) = pb.gradients(pb.sum(pb.cos(g)), [x])
    return [y, g, second, pb.jvp(f, [at], [np.array([1.0, 0.5])])[1]]


@each(("outer", "inner"), [(a, b) for a in NESTS for b in NESTS])
def test_rules_in_nested_copies(outer: str, inner: str) -> None:
    for body in (by_a_constant_and_the_state, by_the_state):
        f, expected = body, body
        for name in (inner, outer):
            f, expected = NESTS[name][0](f), NESTS[name][1](expected)
        for one, other in zip(derivatives(f), derivatives(expected), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)


def test_rules_in_bodies_call_traced_functions() -> None:
    """A rule is called after the body was recorded, with tensors of it."""
    for inner in (
        pb.sin,
        lambda e: pb.sum(pb.map(lambda q: q * pb.sin(e), pb.constant(np.array([1.0, 0.5])))),
    ):
        f = pb.function(inner)
        by_value = pb.custom_gradient(lambda e, f=f: (f(e), lambda d: d * f(e)))
        by_slope = pb.custom_gradient(lambda e, f=f: (f(e), lambda d: d * pb.grad(f)(e)))
        scale = float(inner(np.float64(1.0))) / np.sin(1.0)
        for _ in range(3):
            for g, slope in ((by_value, np.sin), (by_slope, np.cos)):
                chosen = pb.grad(lambda e, g=g: pb.cond(e > 0.2, g, lambda q: q, e))
                mapped = pb.grad(lambda e, g=g: pb.sum(pb.map(g, e)))
                np.testing.assert_allclose(chosen(np.float64(0.3)), scale * slope(0.3), rtol=1e-6)
                np.testing.assert_allclose(mapped(AT).numpy(), scale * slope(AT), rtol=1e-6)


def repeated(f: Any, y: Any) -> Any:
    return pb.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, f(s[1])), (0, y))[1]


def counted(f: Any, y: Any) -> Any:
    return pb.fori_loop(0, 2, lambda _, y: f(y), y)


def chosen(f: Any, y: Any) -> Any:
    return pb.cond(y > -9.0, f, lambda y: y, y)


def test_a_rule_in_a_loop_refers_to_a_tensor_from_outside() -> None:
    """Second derivatives by that tensor, where the reverse runs the loop again and where not."""

    def by_argument(e: Any, q: Any) -> Any:
        return e * q, lambda d: (d * q, d * e)

    f = pb.custom_gradient(by_argument)
    q, one = pb.constant(np.array(3.0)), pb.constant(np.array(1.0))
    for inner, outer, power in (
        (repeated, chosen, 2),
        (repeated, counted, 4),
        (counted, repeated, 4),
        (counted, counted, 4),
        (repeated, repeated, 4),
    ):
        # The body computes q times a number in each iteration, or only once.
        for factor in (lambda q: q, lambda q: q * 2.0):

            def value(q: Any, inner: Any = inner, outer: Any = outer, factor: Any = factor) -> Any:
                return outer(lambda y: inner(lambda y: f(y, factor(q)), y), one)

            slope = pb.grad(value)
            scale = float(factor(1.0)) ** power
            np.testing.assert_allclose(float(slope(q)), scale * power * 3.0 ** (power - 1))
            want = scale * power * (power - 1) * 3.0 ** (power - 2)
            np.testing.assert_allclose(float(pb.grad(slope)(q)), want)
            np.testing.assert_allclose(float(pb.jvp(slope, (q,), (one,))[1]), want)


def test_a_rule_uses_a_constant_of_the_body() -> None:
    """The body reads it in other operations, which its closing connects to a copy of it."""
    c = pb.constant(np.array(0.8))

    def body(y: Any) -> Any:
        two = pb.constant(2.0, dtype="float64")
        slope, factor = pb.tanh(c) * two, c * two
        g = pb.custom_gradient(lambda y: (y * factor, lambda d: d * slope))
        return g(y) * c

    for loop, power in ((repeated, 2), (counted, 2), (chosen, 1)):
        slope = pb.grad(lambda x: loop(body, x))(pb.constant(np.array(0.6)))  # noqa: B023
        np.testing.assert_allclose(float(slope), (np.tanh(0.8) * 2.0 * 0.8) ** power)


def test_second_derivatives_of_checkpointed_loops_in_a_batch() -> None:
    f = pb.custom_gradient(lambda e, k: (e * e * k, lambda d: (2.0 * d * e * k, d * e * e)))
    x, q = pb.constant(np.array([0.6, 0.2])), pb.constant(np.array([0.9, 0.7]))

    def seconds(g: Any) -> list[Any]:
        slope = pb.grad(lambda x, q: pb.sum(pb.vmap(g)(x, q)))
        ones = pb.ones(2, dtype="float64")
        return [
            pb.grad(lambda q: pb.sum(slope(x, q)))(q),
            pb.jvp(lambda q: slope(x, q), (q,), (ones,))[1],
        ]

    want = seconds(lambda x, q: f(f(x, q), q))
    for loop in (repeated, counted):
        for got, one in zip(
            seconds(pb.checkpoint(lambda x, q: loop(lambda y: f(y, q), x))),  # noqa: B023
            want,
            strict=True,
        ):
            np.testing.assert_allclose(got.numpy(), one.numpy(), rtol=1e-12)


def test_a_rule_in_a_loop_refers_to_tensors_that_are_no_arguments() -> None:
    """It is no derivative of the loop then, and its order matters.

    The loop computes y = f(q) and f(y) with the slopes q s and y s of f, where s = q². So its slope
    is y q s², and the derivative of that is (q s) q s² + y s² + y q 4 q³.
    """

    def value(loop: Any, how: str, q: Any) -> Any:
        outer = q * q

        @pb.custom_gradient
        def f(e: Any) -> Any:
            if how == "function":
                return e * e * 0.5 * outer, lambda d: d * e * outer
            return e * e * 0.5, lambda d: d * e * (outer if how == "closure" else q * q)

        return loop(f, q)

    q, one = pb.constant(np.array(3.0)), pb.constant(np.array(1.0))
    for loop in (repeated, counted):
        for how in ("function", "closure", "rule"):
            slope = pb.grad(partial(value, loop, how))
            y = 3.0**4 / 2 if how == "function" else 3.0**2 / 2
            want = 3.0**8 + y * 3.0**4 * 5
            np.testing.assert_allclose(float(slope(q)), y * 3.0**5)
            if loop is repeated and how == "rule":  # another tensor at each call of the rule
                with pytest.raises(NotImplementedError, match="a part of the state of the loop"):
                    pb.grad(slope)(q)
                with pytest.raises(NotImplementedError, match="a part of the state of the loop"):
                    pb.jvp(slope, (q,), (one,))
                continue
            np.testing.assert_allclose(float(pb.grad(slope)(q)), want)
            np.testing.assert_allclose(float(pb.jvp(slope, (q,), (one,))[1]), want)


def test_a_rule_in_a_while_loop_makes_a_constant() -> None:
    def doubled(y: Any) -> Any:
        def rule(d: Any) -> Any:
            ones = pb.ones([1], dtype="float64")
            return d * pb.concatenate([ones * 2.0, ones * 2.0])

        return pb.custom_gradient(lambda y: (y * 2.0, rule))(y)

    def total(x: Any) -> Any:  # x⁴ · 8
        return pb.sum(repeated(lambda y: y * doubled(y), x))

    x = np.array([0.6, 0.2])
    for hessian in (pb.hessian(total), pb.function(pb.hessian(total))):
        np.testing.assert_allclose(hessian(pb.constant(x)), np.diag(96.0 * x**2), rtol=1e-12)


def test_a_rule_that_holds_its_result_is_collected():
    """In a body, the cycle from a rule through its result to itself is visible to the collector."""

    def step(x):
        held = []

        @pb.custom_gradient
        def f(x):
            return pb.sin(x), lambda upstream: upstream * pb.cos(held[0])

        held.append(f(x))
        return held[0]

    programs = (
        lambda x: pb.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, step(s[1])), (0, x)),
        lambda x: pb.fori_loop(0, 2, lambda i, x: step(x), x),
        lambda x: pb.scan(lambda x, _: (step(x), None), x, length=2),
        lambda x: pb.cond(x > 0, step, lambda x: x, x),
    )
    for program in programs:
        gc.collect()
        before = pb._core.status()["live_nodes"]
        for _ in range(5):
            program(pb.constant(0.5))
        gc.collect()
        assert pb._core.status()["live_nodes"] == before
