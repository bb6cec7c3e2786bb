"""pb.testing.check_gradients, and the differences that it goes by."""

from __future__ import annotations

import math
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback._autodiff.finite_differences import derivative
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
    assert derivative(abs).error > 0.1
    assert derivative(lambda h: max(h, 0.0)).error > 0.1
    assert derivative(lambda h: abs(h - 1e-5)).error > 1e-3


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
        (wrong_curvature, 2.0, "the second derivative by argument 0 is 0, but finite differences"),
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
    with pytest.raises(ValueError, match="order must be one of 1, 2; got 3"):
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
    check_gradients(f, x)
    with pytest.raises(GradientError):
        check_gradients(lambda x: f(x) + pb.stop_gradient(f(x)), x)


@pytest.mark.parametrize("f", [pb.sin, pb.exp, lambda x: x**3, pb.softmax, pb.tanh])
def test_float32_inside_is_noise(f: Any) -> None:
    for k in range(12):
        x = pb.constant(np.random.default_rng(k).normal(size=3))
        check_gradients(lambda x: pb.cast(f(pb.cast(x, "float32")), "float64"), x)

        def single(x: Any) -> Any:
            if x.dtype != np.float32:
                raise TypeError("float32 only")
            return f(x)

        check_gradients(single, pb.cast(x, "float32"))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (pb.relu, 0.0),
        (lambda x: pb.clip(x, -1, 1), 1.0),
        (lambda x: pb.max(x), np.zeros(3)),
        (lambda x: pb.abs(x), np.array([0.0, 1.0, 1e-7])),
    ],
)
def test_kinks_say_nothing(f: Any, x: Any) -> None:
    whole = np.size(x) == 1 or not np.any(x)
    with (
        pytest.warns(RuntimeWarning, match="nothing could be compared") if whole else nullcontext()
    ):
        check_gradients(f, x, order=1)


def test_a_kink_of_the_gradient() -> None:
    check_gradients(lambda x: pb.relu(x) ** 2, np.array([0.0, 1.0]))


@pytest.mark.parametrize("n", [3, 65, 100, 1000])
def test_domains_that_end_nearby(n: int) -> None:
    p = np.random.default_rng(n).dirichlet(np.full(n, 0.3))
    check_gradients(lambda p: pb.sum(p * pb.log(p)), p)
    with pytest.raises(GradientError):
        rule = lambda p: (pb.sum(p * pb.log(p)), lambda u: -u * (pb.log(p) + 1))  # noqa: E731
        check_gradients(pb.custom_gradient(rule), p)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: pb.sin(100 * x), 1.0),
        (lambda x: pb.tanh(100 * (x - 1)), 1.003),
        (lambda x: pb.exp(-((100 * (x - 1)) ** 2)), 1.005),
    ],
)
def test_what_larger_steps_do_not_see(f: Any, x: float) -> None:
    check_gradients(f, x)
    with pytest.raises(GradientError):
        check_gradients(lambda x: pb.stop_gradient(f(x)) + 0 * x, x)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: pb.tanh(1e5 * x), 0.0),
        (lambda x: pb.sin(1e5 * x), 1.0),
        (lambda x: pb.exp(-((1e5 * (x - 1)) ** 2)), 1.000003),
    ],
)
def test_what_no_step_sees_is_not_decided(f: Any, x: float) -> None:
    with pytest.warns(RuntimeWarning, match="nothing could be compared"):
        check_gradients(f, x, order=1)


def test_linearity_with_float32_inside() -> None:
    rng = np.random.default_rng(0)
    x, b = rng.normal(size=(64, 10)), rng.normal(size=10)

    def f(x: Any, b: Any) -> Any:
        return pb.log(pb.softmax(pb.cast(x, "float32") + pb.cast(b, "float32"), axis=-1))

    check_gradients(f, x, b, order=1)


def clipped(x: Any) -> Any:
    return pb.custom_gradient(lambda x: (x * x, lambda u: pb.clip(u, -1, 1) * 2 * x))(x)


def stopped(x: Any) -> Any:
    return pb.custom_gradient(lambda x: (x**3, lambda u: pb.stop_gradient(u) * 3 * x * x))(x)


def test_gradients_are_linear_in_the_upstream_one() -> None:
    with pytest.raises(GradientError, match="it must be linear in it"):
        check_gradients(clipped, 1.5)
    for x in (1.5, SMALL):
        with pytest.raises(GradientError, match="of the gradient by the upstream gradient is 0"):
            check_gradients(stopped, x)
        check_gradients(stopped, x, order=1)


@pytest.mark.parametrize("k", range(4, 12))
def test_periods(k: int) -> None:
    check_gradients(lambda x: pb.sin(2**k * np.pi * x), 1.3)
    with pytest.raises(GradientError):
        check_gradients(lambda x: pb.sin(2**k * np.pi * x) + pb.stop_gradient(x * 2**k), 1.3)


@pytest.mark.parametrize("slope", [np.inf, -np.inf, np.nan])
def test_gradients_that_are_not_finite(slope: float) -> None:
    with pytest.raises(GradientError, match=r"is (-?inf|nan), but finite differences"):
        check_gradients(pb.custom_gradient(lambda x: (x * x, lambda g: g * slope)), 3.0)


def test_many_arguments_cost_no_more() -> None:
    calls = 0

    def f(*xs: Any) -> Any:
        nonlocal calls
        calls += 1
        return pb.sum(pb.sin(pb.concat(xs)))

    check_gradients(f, *[np.full(10, 0.1 * k) for k in range(60)])
    assert calls < 1500


@pytest.mark.parametrize(
    ("f", "args", "text"),
    [
        (lambda x: x + pb.random.uniform(()), (1.0,), "expected the same value when called again"),
        (lambda x: pb.log(x), (0.0,), "expected finite values"),
        (lambda x: x, (1,), "expected a floating argument"),
        (lambda x: x, (np.zeros((0, 2)),), "expected a floating argument"),
        (lambda x: pb.argmax(x), (SMALL,), "expected a floating result"),
    ],
)
def test_nothing_to_compare(f: Any, args: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        check_gradients(f, *args)
