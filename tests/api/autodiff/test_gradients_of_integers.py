"""Integers and bool among outputs and sources: None, ones of a tensor by itself, zeros of its dtype
where they are asked for; the same answers from gradients, tapes, and inside a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

pytestmark = pytest.mark.filterwarnings("ignore:.* has no gradient, so its result is None")

X, N, B = [1.5, 2.0], [3, 4], [True, False]

# What is differentiated by (x, n, b), and the answers: x is float32, n int64, b bool.
CASES: dict[str, tuple[Callable[[Any, Any, Any], Any], list[Any]]] = {
    "a float": (lambda x, n, b: x * x, [[3.0, 4.0], None, None]),
    "an integer by itself": (lambda x, n, b: n, [None, [1, 1], None]),
    "a bool by itself": (lambda x, n, b: b, [None, None, B[:1] * 2]),
    "ring operations": (lambda x, n, b: n * n + 1, [None, None, None]),
    "a comparison": (lambda x, n, b: x > n, [None, None, None]),
    "logic": (lambda x, n, b: ~b, [None, None, None]),
    "a position": (lambda x, n, b: pb.argmax(x), [None, None, None]),
    "a rounded one": (lambda x, n, b: pb.astype(x, "int32"), [None, None, None]),
    "a sum of bool": (lambda x, n, b: pb.sum(b), [None, None, None]),
    "a mean of integers": (lambda x, n, b: pb.mean(n), [None, None, None]),
    "a promoted factor": (lambda x, n, b: x * n, [[3.0, 4.0], None, None]),
    "a bool factor": (lambda x, n, b: x * b, [[1.0, 0.0], None, None]),
    "through an integer and back": (
        lambda x, n, b: pb.cast(pb.cast(x, "int32"), "float32") * x, [[1.0, 2.0], None, None]),
    "a condition": (lambda x, n, b: pb.where(b, x, 2 * x), [[1.0, 2.0], None, None]),
    "indices": (lambda x, n, b: 5 * pb.take(x, n - 3, axis=0), [[5.0, 5.0], None, None]),
    "several": (lambda x, n, b: [x * x, n * n, x > 0, n], [[3.0, 4.0], [1, 1], None]),
    "an integer branch": (lambda x, n, b: pb.where(x > 0, n, 0), [None, None, None]),
}  # fmt: skip


def listed(answers: Any) -> list[Any]:
    return [None if g is None else g.numpy().tolist() for g in answers]


def sources() -> list[Any]:
    return [pb.Variable(np.float32(X)), pb.Variable(N), pb.Variable(B)]


@each("which", CASES)
def test_none_ones_and_zeros(which: str) -> None:
    f, expected = CASES[which]
    xs = sources()
    zeros = [
        (np.zeros(2, x.dtype) if e is None else np.asarray(e)).tolist()
        for x, e in zip(xs, expected, strict=True)
    ]
    assert listed(pb.gradients(f(*xs), xs)) == expected
    answers = pb.gradients(f(*xs), xs, unconnected_gradients="zero")
    assert listed(answers) == zeros
    assert [g.dtype for g in answers] == [x.dtype for x in xs]
    with pb.GradientTape(persistent=True) as tape:
        y = f(*xs)
    assert listed(tape.gradient(y, xs)) == expected
    assert listed(tape.gradient(y, xs, unconnected_gradients="zero")) == zeros
    answers = pb.function(lambda: pb.gradients(f(*xs), xs, unconnected_gradients="zero"))()
    assert listed(answers) == zeros


def test_a_result_by_itself() -> None:
    x, n, _ = sources()
    for y in (n * 2, x > 2, pb.argmax(x)):
        (g,) = pb.gradients(y, [y])
        assert (g.dtype, g.numpy().tolist()) == (y.dtype, np.ones(y.shape, y.dtype).tolist())


def test_weights_are_of_the_dtype_of_what_they_weigh() -> None:
    x, n, _ = sources()
    assert listed(pb.gradients([x * x, n], [x, n], grad_ys=[0.5, 7])) == [[1.5, 2.0], [7, 7]]
    assert pb.gradients(n * n, [n], grad_ys=[2]) == [None]
    assert pb.gradients(x > 0, [x], grad_ys=[True]) == [None]
    with pytest.raises(TypeError, match=r"grad_ys\[0\]: expected dtype int64, got float32"):
        pb.gradients(n * n, [n], grad_ys=[2.0])
    with pb.GradientTape() as tape:
        y = n * n
    with pytest.raises(TypeError, match=r"output_gradients\[0\]: .* got float32"):
        tape.gradient(y, n, output_gradients=2.0)
    assert tape.gradient(y, n, output_gradients=2) is None  # the tape was not used up


def test_integers_among_stops_and_variables_that_a_tape_saw() -> None:
    x, n, b = sources()
    assert listed(pb.gradients(x * n, [x, n], stop_gradients=[n, b])) == [[3.0, 4.0], None]
    with pb.GradientTape() as tape:
        y = pb.where(b, x * n, x)
    assert tape.watched_variables() == (x, n, b)
    assert listed(tape.gradient(y, [x, n, b])) == [[3.0, 1.0], None, None]


@each("style", [pb.grad, pb.value_and_grad])
@each(
    ("f", "arguments", "text"),
    [
        (
            lambda x: pb.argmax(x),
            [np.ones(3)],
            "expected a real floating dtype from .*, got int64",
        ),
        (lambda x: pb.any(x > 0), [np.ones(3)], "expected a real floating dtype from .*, got bool"),
        (
            lambda x: pb.sum(x) * 1.0,
            [np.arange(3)],
            "argument 0: expected a floating dtype, got int64",
        ),
        (
            lambda x: pb.sum(x) * 1.0,
            [pb.Variable(N)],
            "argument 0: expected a floating dtype, got int64",
        ),
        (lambda x: x * 1.0, [True], "argument 0: expected a floating dtype, got bool"),
        (
            lambda p: pb.sum(p["w"] * p["k"]),
            [{"w": pb.ones(2), "k": pb.constant(N)}],
            r"argument 0\['k'\]: expected a floating dtype, got int64",
        ),
    ],
)
def test_grad_wants_floats(style: Any, f: Any, arguments: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        style(f)(*arguments)


def test_grad_passes_over_integers_that_it_is_not_asked_about() -> None:
    slopes = pb.grad(lambda w, k, mask: pb.sum(pb.where(mask, w * k, 0.0)))
    assert slopes(pb.ones(2), pb.constant(N), pb.constant(B)).numpy().tolist() == [3.0, 0.0]
