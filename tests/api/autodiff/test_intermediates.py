"""Gradients by intermediates of traced functions and bodies: those that were returned, and those
that left the trace through a side effect, which no result depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.check import Check
from support.each import each

import pullback as pb

# --- returned


@pb.function
def several(x: Any) -> Any:
    h = pb.sin(x)
    return h * h, h, pb.exp(h) * x


def opened(x: Any) -> Any:
    """The same without a trace."""
    h = pb.sin(x)
    return h * h, h, pb.exp(h) * x


def numbers(gs: Any) -> list[float | None]:
    return [None if g is None else float(g) for g in gs]


QUESTIONS = {
    "an older result": lambda y, h, z, v: pb.gradients(y, h),
    "a later result": lambda y, h, z, v: pb.gradients(z, [h, v]),
    "uses outside": lambda y, h, z, v: pb.gradients(y + z + 3 * h, h),
    "itself": lambda y, h, z, v: pb.gradients([h, y], [h, v]),
    "after another question": lambda y, h, z, v: pb.gradients(y, v) + pb.gradients(y + z, h),
    "after its own history": lambda y, h, z, v: pb.gradients(h * v, v) + pb.gradients(y + z, h),
    "stopped": lambda y, h, z, v: pb.gradients(y + z + h, v, stop_gradients=[h]),
    "x and stop": lambda y, h, z, v: pb.gradients(y + z + h, [h, v], stop_gradients=[h]),
    "not connected": lambda y, h, z, v: pb.gradients(h, [y, z]),
    "forward": lambda y, h, z, v: pb.tangents([y, z, h], [h], [2.0]),
    "second": lambda y, h, z, v: pb.gradients(pb.gradients(y * z, h)[0], [h, v]),
}


@each("name", QUESTIONS)
def test_by_results_of_a_call(name: str) -> None:
    """Without a tape, where a call builds its history when a gradient asks for it."""
    v = pb.Variable(0.7)
    ask = QUESTIONS[name]
    got, expected = numbers(ask(*several(v), v)), numbers(ask(*opened(v), v))
    assert [g is None for g in got] == [g is None for g in expected]
    known = [(g, e) for g, e in zip(got, expected, strict=True) if g is not None]
    np.testing.assert_allclose(*zip(*known, strict=True), rtol=1e-5) if known else None


def test_by_what_a_call_passes_on() -> None:
    # An argument, a captured tensor or a variable's value that is returned is that tensor, whatever
    # was asked before: the answers are those of the function without a trace.
    v = pb.Variable(3.0)
    captured = v * 5.0
    check = Check()
    for function in (
        lambda x: (x, x * 2),
        lambda x: (captured, captured * 2 * x),
        lambda x: (v.read(), v * 2 * x),
    ):
        for asked in (None, 0, 1):
            answers = []
            for called in (function, pb.function(function)):
                w = v * 1.0
                results = [called(w) for _ in range(3)][-1]
                if asked is not None:
                    pb.gradients(results[asked], w)
                a, b = results
                grads = pb.gradients(a * 2 + w * 3 + b, [a, w, v]) + pb.gradients(b, [a])
                answers.append(numbers(grads))
            check.that(
                answers[0] == answers[1], f"asked {asked}: {answers[0]}, traced {answers[1]}"
            )
    check.done()


def test_a_result_by_which_only_later_operations_are_asked_keeps_its_call_unbuilt() -> None:
    calls: list[int] = []
    f = pb.numpy_function(
        lambda x: calls.append(1) or np.sin(x), ((), "float32"), lambda p, u: u[0] * pb.cos(p[0])
    )
    traced = pb.function(lambda x: pb.square(f(x)))
    v = pb.Variable(0.7)
    h = traced(v)
    assert len(calls) == 1
    assert numbers(pb.gradients(pb.square(h), h)) == [2 * float(h)]
    assert len(calls) == 1  # what is inside was not computed again


# --- leaked


def leaking(run: Any) -> tuple[Any, Any, Any]:
    """A result of run(body, v), where body leaks an intermediate; this intermediate; and v."""
    leaked: list[Any] = []
    v = pb.Variable(0.7)

    def body(x: Any) -> Any:
        leaked.append(x * x)
        return pb.sin(leaked[-1])

    return run(body, v * 1.0), leaked[-1], v


TRACED = {
    "function": lambda body, x: pb.function(body)(x),
    "function of a function": lambda body, x: pb.function(pb.function(body))(x),
    "scan": lambda body, x: pb.scan(lambda c, e: (body(c) + e, c), x, pb.ones(3))[0],
    "fori_loop": lambda body, x: pb.fori_loop(0, 3, lambda i, c: body(c), x),
    "while_loop": lambda body, x: pb.while_loop(lambda c: c > 0.5, body, x),
    "map": lambda body, x: pb.map(body, pb.stack([x, x])),
    "cond": lambda body, x: pb.cond(x > 0, body, body, x),
    "vmap": lambda body, x: pb.vmap(body)(pb.stack([x, x])),
    "scan in a function": lambda body, x: pb.function(
        lambda x: pb.scan(lambda c, e: (body(c), c), x, length=2)[0]
    )(x),
}


@each("name", TRACED)
def test_by_an_intermediate_that_leaked(name: str) -> None:
    y, leaked, v = leaking(TRACED[name])
    words = r"(gradients|tangents): expected .* got an intermediate result of .*\.py:\d+.*; "
    for ask in (
        lambda: pb.gradients(y, leaked),
        lambda: pb.gradients(y, [v, leaked], unconnected_gradients="zero"),
        lambda: pb.tangents([y], [leaked], [1.0]),
    ):
        with pytest.raises(RuntimeError, match=words):
            ask()
    assert pb.gradients(y, v)[0] is not None


def test_by_a_leaked_intermediate_of_a_tape() -> None:
    with pb.GradientTape(persistent=True) as tape:
        y, leaked, v = leaking(TRACED["scan"])
    with pytest.raises(RuntimeError, match=r"gradient: .* sources\[1\], got an intermediate"):
        tape.gradient(y, [v, leaked])
    assert tape.gradient(y, v) is not None


def test_what_the_message_says_to_do() -> None:
    for name, advice in {
        "function": "return it from the function, and differentiate by the result of the call",
        "scan": "add an argument of zeros to the intermediate and differentiate by this argument",
    }.items():
        y, leaked, _ = leaking(TRACED[name])
        with pytest.raises(RuntimeError, match=advice):
            pb.gradients(y, leaked)
    v, zero = pb.Variable(0.7), pb.Variable(np.zeros(3, np.float32))
    body = lambda c, e: (pb.sin(c * c + e), c)  # noqa: E731
    found = pb.gradients(pb.scan(body, v * 1.0, zero)[0], zero)[0].numpy()
    c = 0.7
    slopes = []
    for _ in range(3):
        slopes.append((np.cos(c * c), 2 * c * np.cos(c * c)))
        c = np.sin(c * c)
    expected = [s * np.prod([d for _, d in slopes[i + 1 :]]) for i, (s, _) in enumerate(slopes)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_none_is_an_answer_inside_of_a_trace_and_of_its_rules() -> None:
    asked: list[Any] = []

    @pb.custom_gradient
    def ruled(x: Any) -> Any:
        h, other = pb.sin(x), pb.cos(x)

        def rule(g: Any) -> Any:
            asked.append(pb.gradients(h, other))  # both of a trace that has ended by now
            return g * pb.gradients(h, x)[0]

        return h, rule

    @pb.function
    def f(x: Any) -> Any:
        h = pb.sin(x)
        asked.append(pb.gradients(pb.cos(x), h))
        return ruled(x) * h

    v = pb.Variable(0.7)
    got = numbers(pb.gradients(f(v), v))
    np.testing.assert_allclose(got, [np.sin(1.4)], rtol=1e-5)
    assert asked and all(answer == [None] for answer in asked)
