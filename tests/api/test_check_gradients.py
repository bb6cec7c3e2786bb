"""pb.testing.check_gradients, and the differences that it goes by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback._autodiff.differences import derivative
from pullback.testing import GradientError, check_gradients

RNG = np.random.default_rng(3)
SMALL, LARGE = RNG.normal(size=(3, 4)), RNG.normal(size=(40, 30))


@pytest.mark.parametrize(
    ("f", "at", "expected"),
    [
        (math.exp, 0.0, 1.0),
        (math.exp, 20.0, math.exp(20)),
        (math.sin, 1e3, math.cos(1e3)),
        (lambda x: math.atan(1e3 * x), 0.0, 1e3),
        (lambda x: x * abs(x), 0.0, 0.0),
        (lambda x: 1e-3 * x**3, 2.0, 1.2e-2),
        (lambda x: 5.0, 1.0, 0.0),
    ],
)
def test_derivatives(f: Any, at: float, expected: float) -> None:
    known = derivative(lambda h: f(at + h))
    assert abs(known.value - expected) <= max(20 * known.error, 1e-12 * abs(expected))
    assert known.error <= 1e-4 * max(abs(expected), 1)


def test_a_kink_is_uncertain() -> None:
    assert derivative(abs).error < 1e-12  # the same on both sides: no number tells
    assert derivative(lambda h: abs(h - 1e-4)).error > 1e-3


def test_what_is_nowhere_finite() -> None:
    known = derivative(lambda h: math.nan)
    assert math.isnan(known.value) and known.error == math.inf


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (lambda x: x**3, (2.0,)),
        (lambda x, y: pb.sum(x @ y), (SMALL, SMALL.T.copy())),
        (lambda x: pb.softmax(x, axis=1) * SMALL, (SMALL,)),
        (lambda x: pb.tanh(x) @ pb.ones((30, 2), "float64"), (LARGE,)),
        (lambda p, n: p["w"] * n + pb.exp(p["b"][0]), ({"w": SMALL, "b": (np.ones(4), 3)}, 2)),
        (lambda x: [pb.sin(x), (pb.cos(x), pb.argmax(x))], (SMALL,)),
        (lambda x: x * pb.Variable(2.0), (np.float32(1.5),)),
        (lambda x: pb.relu(x - 1), (np.array([0.5, 1.5]),)),
        (lambda x: 3.0 * pb.stop_gradient(x) if x.ndim > 5 else x * 1, (1.0,)),
        (lambda x: pb.sqrt(x), (np.array([1e-3, 1e3]),)),
        (lambda x: pb.take(x, [0, 0, 2]), (pb.constant([1.0, 2.0, 4.0]),)),
    ],
)
def test_right(f: Any, args: Any) -> None:
    check_gradients(f, *args)


def wrong_slope(x: Any) -> Any:
    return pb.custom_gradient(lambda x: (x**3, lambda g: g * 2 * x * x))(x)


def wrong_at_one_place(x: Any) -> Any:
    mask = np.zeros(x.shape)
    mask[-1] = 1e-3
    return pb.custom_gradient(lambda x: (pb.exp(x), lambda g: g * (pb.exp(x) + mask)))(x)


def wrong_curvature(x: Any) -> Any:
    """The slope is right, and said with a constant."""
    return pb.custom_gradient(lambda x: (x**3, lambda g: g * 3 * pb.stop_gradient(x * x)))(x)


def missing(x: Any) -> Any:
    return pb.sin(x) + pb.stop_gradient(pb.cos(x))


@pytest.mark.parametrize(
    ("f", "x", "text"),
    [
        (wrong_slope, 2.0, r"wrong_slope \(.*\.py:\d+\): the derivative by argument 0 is .* give"),
        (wrong_slope, LARGE, "the derivative along a random direction of argument 0 is"),
        (wrong_at_one_place, np.zeros(5), r"derivative by argument 0, entry \[4\] is"),
        (wrong_curvature, 2.0, "the second derivative by argument 0 is 0, and differences"),
        (wrong_curvature, LARGE, "second derivative along"),
        (missing, 0.5, "the derivative by argument 0"),
        (lambda x: pb.stop_gradient(x), 0.5, "the derivative by argument 0 is 0"),
    ],
)
def test_wrong(f: Any, x: Any, text: str) -> None:
    with pytest.raises(GradientError, match=text):
        check_gradients(f, x)


def test_the_order() -> None:
    check_gradients(wrong_curvature, 2.0, order=1)
    with pytest.raises(ValueError, match="order is 1 or 2, got 3"):
        check_gradients(wrong_curvature, 2.0, order=3)


def test_the_argument_is_named() -> None:
    def f(parameters: Any, x: Any) -> Any:
        return x * wrong_slope(parameters["w"][1])

    with pytest.raises(GradientError, match=r"by argument 0\['w'\]\[1\] is"):
        check_gradients(f, {"w": [SMALL, 2.0]}, 3.0)


def test_a_function_that_refuses_float64() -> None:
    def f(x: Any) -> Any:
        if x.dtype != np.float32:
            raise TypeError("float32 only")
        return pb.sin(x)

    x = pb.constant([0.25, 0.5])
    check_gradients(f, x, rtol=1e-2, atol=1e-3)
    with pytest.raises(GradientError):
        check_gradients(lambda x: f(x) + pb.stop_gradient(f(x)), x, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (lambda x: x + pb.random.uniform(()), (1.0,), "called again it gives another value"),
        (lambda x: pb.log(x), (0.0,), "the value is not finite here"),
        (lambda x: x, (1,), "no argument is floating"),
        (lambda x: pb.argmax(x), (SMALL,), "no result is floating"),
    ],
)
def test_nothing_to_compare(f: Any, args: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        check_gradients(f, *args)
