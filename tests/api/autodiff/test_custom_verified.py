"""Rules of custom_gradient that are compared with differences, and those given as a jvp."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.gradients import each_mode  # noqa: F401
from support.process import run

import pullback as pb
from pullback.testing import GradientError

X = np.array([0.5, -1.25, 2.0])


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    yield
    pb.set_debug(False)
    pb.set_gradient_verification(None)


def wrong(**options: Any) -> Any:
    @pb.custom_gradient(**options)
    def doubled(x: Any, scale: Any = 1.0) -> Any:
        def rule(upstream: Any) -> Any:
            return upstream * x * scale

        return x * x * scale, rule

    return doubled


class Calls:
    """A right rule that counts the calls of its function."""

    def __init__(self, **options: Any) -> None:
        self.count = 0

        @pb.custom_gradient(**options)
        def f(x: Any, y: Any) -> Any:
            self.count += 1
            return {"a": x * y, "b": (pb.sin(x), 3)}, lambda g, h: (g * y + h * pb.cos(x), g * x)

        self.f = f


# --- verification


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_rules_that_use_a_narrower_variable(factor: float) -> None:
    w = pb.Variable(np.float32(1.5))

    @pb.custom_gradient(verify="first_call")
    def scaled(x: Any) -> Any:
        def rule(g: Any, variables: Any) -> Any:
            return factor * g * w, [pb.sum(g * x)]

        return x * w, rule

    x = pb.Variable(np.ones(3, np.float32))
    if factor == 1.0:  # evaluated in float64, the rule would return float64 for w
        assert [g.numpy().tolist() for g in pb.gradients(scaled(x), [x, w])] == [[1.5] * 3, 3.0]
    else:
        with pytest.raises(GradientError, match="scaled"):
            scaled(x)


def test_off_without_a_word() -> None:
    calls = Calls()
    calls.f(pb.Variable(X), pb.Variable(2.0))
    assert calls.count == 1
    wrong()(pb.Variable(X))


@pytest.mark.parametrize("way", ["debug", "mode", "verify"])
def test_wrong_rules_are_found_at_the_call(way: str) -> None:
    if way == "debug":
        pb.set_debug(True)
    if way == "mode":
        pb.set_gradient_verification("first_call")
    f = wrong(verify="first_call") if way == "verify" else wrong()
    text = r"^custom_gradient: .*doubled \(.*\.py:\d+\): the derivative by argument 'x', "
    text += r"entry \[\d\] is .*; the rule is .*rule \(.*\.py:\d+\). Pass intentional=True"
    with pytest.raises(GradientError, match=text):
        f(pb.Variable(X))
    with pytest.raises(GradientError):  # as long as it is wrong
        f(pb.Variable(X))


@pytest.mark.parametrize("x", [X, X.astype(np.float32), np.float32(0.5)])
def test_right_rules_pass_once_for_each_kind(x: Any) -> None:
    calls = Calls(verify="first_call")
    calls.f(pb.Variable(x), y=pb.Variable(x + 1))
    once = calls.count
    assert once > 1
    calls.f(pb.Variable(x + 1), y=pb.Variable(x))
    assert calls.count == once + 1
    calls.f(pb.Variable([1.0, 2.0]), pb.Variable([1.0, 2.0]))
    assert calls.count > once + 2


def test_always() -> None:
    calls = Calls(verify="always")
    calls.f(pb.Variable(X), pb.Variable(X))
    once = calls.count
    calls.f(pb.Variable(X), pb.Variable(X))
    assert calls.count == 2 * once


def test_intentional_and_never() -> None:
    pb.set_gradient_verification("always")
    for f in (wrong(intentional=True), wrong(verify="never")):
        x = pb.Variable(X)
        assert np.allclose(pb.gradients(f(x), x)[0].numpy(), X)
    pb.set_debug(True)
    pb.set_gradient_verification("never")
    wrong()(pb.Variable(X))
    x = pb.Variable(X)
    pb.straight_through(pb.round)(x), pb.reverse_gradient(x)  # ours are meant to differ


def test_what_is_no_tensor_stays_what_it_is() -> None:
    @pb.custom_gradient(verify="always")
    def power(x: Any, n: int, scale: float, *, note: str = "") -> Any:
        assert isinstance(n, int) and isinstance(scale, float) and note == "kept"
        return scale * x**n, lambda g: g * scale * n * x ** (n - 1)

    x = pb.Variable(X)
    y = power(x, 3, 0.5, note="kept")
    assert np.allclose(pb.gradients(y, x)[0].numpy(), 1.5 * X**2)
    assert float(pb.sum(power(pb.constant(2.0), scale=2.0, n=2, note="kept"))) == 8.0


def test_variables_have_their_gradients_as_ever() -> None:
    w = pb.Variable(3.0, dtype="float64")

    @pb.custom_gradient(verify="always")
    def f(x: Any) -> Any:
        return x * w, lambda g: g * w

    x = pb.Variable(X)
    with pb.GradientTape() as tape:
        y = f(x)
    assert [v is w or v is x for v in tape.watched_variables()] == [True, True]
    gx, gw = tape.gradient(y, [x, w])
    assert np.allclose(gx.numpy(), 3.0) and float(gw) == X.sum()


def test_inside_of_a_function_nothing_is_compared() -> None:
    f = pb.function(wrong(verify="always"))
    assert np.allclose(f(X).numpy(), X**2)
    with pytest.raises(GradientError):
        wrong(verify="always")(pb.constant(X))


def test_the_environment_switches_it_on() -> None:
    code = "import pullback as pb; f = pb.custom_gradient(lambda x: (x * x, lambda g: g * x)); "
    code += "\ntry: f(pb.Variable(2.0))\nexcept AssertionError as e: print(type(e).__name__)"
    assert run(code, PULLBACK_DEBUG="1").split() == ["GradientError"]
    assert run(code, PULLBACK_DEBUG="0").split() == []


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: pb.set_gradient_verification("often"),
            ValueError,
            "mode must be one of 'first_call', 'alw",
        ),
        (
            lambda: pb.custom_gradient(abs, verify=True),
            ValueError,
            "verify must be one of 'first_call'",
        ),
        (lambda: pb.custom_gradient(abs, jvp=3), TypeError, "expected a function for jvp, got 3"),
        (lambda: pb.set_debug("yes"), TypeError, "expected True or False"),
    ],
)
def test_mistakes(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("x", [[np.inf, 1.0], [np.nan, 1.0]])
def test_what_is_not_finite_is_not_compared(x: Any) -> None:
    y = wrong(verify="always")(pb.Variable(x))
    assert not np.isfinite(y.numpy()[0])


def test_what_is_random_is_not_compared() -> None:
    random = np.random.default_rng(0)
    f = pb.custom_gradient(lambda x: (x + random.random(2), lambda g: 3 * g), verify="always")
    f(pb.Variable([1.0, 2.0]))


def test_random_numbers_of_this_library_are_the_same_at_each_call() -> None:
    def of(slope: float) -> Any:
        return pb.custom_gradient(
            lambda x: (x + pb.random.uniform((2,)), lambda g: slope * g), verify="always"
        )

    x = pb.Variable([1.0, 2.0])
    of(1.0)(x)
    with pytest.raises(pb.testing.GradientError):
        of(3.0)(x)


# --- jvp


def product_jvp(primals: Any, tangents: Any) -> Any:
    (x, y), (dx, dy) = primals, tangents
    return {"a": pb.sum(dx * y + x * dy), "b": [pb.cos(x) * dx]}


@pb.custom_gradient(jvp=product_jvp, verify="first_call")
def product(x: Any, y: Any, note: str = "") -> Any:
    return {"a": pb.sum(x * y), "b": [pb.sin(x)]}


def test_a_jvp_is_transposed(mode: Any) -> None:
    gx, gy = mode(lambda x, y: 10 * product(x, y)["a"] + product(x, y)["b"][0], X, X + 1)
    n = len(X)
    assert np.allclose(gx, n * 10 * (X + 1) + np.cos(X)) and np.allclose(gy, n * 10 * X)


def test_second_derivatives_of_a_jvp() -> None:
    x = pb.Variable(2.0)
    cube = pb.custom_gradient(lambda x: x**3, jvp=lambda p, t: 3 * p[0] ** 2 * t[0])
    pb.testing.check_gradients(cube, 2.0)
    pb.testing.check_gradients(lambda x, y: product(x, y)["a"] ** 2, X, X + 1)
    (g,) = pb.gradients(cube(cube(x)), x)
    assert float(g) == 9 * 2.0**8


def test_floats_have_their_place_in_a_jvp() -> None:
    scaled = pb.custom_gradient(lambda x, s: x * s, jvp=lambda p, t: p[1] * t[0] + p[0] * t[1])
    x = pb.Variable(X)
    assert pb.gradients(scaled(x, 2.0), x)[0].numpy().tolist() == [2.0] * 3
    traced = pb.function(lambda x, s: pb.grad(lambda x: pb.sum(scaled(x, s)))(x))
    assert traced(X, 2.0).numpy().tolist() == [2.0] * 3


def test_a_jvp_that_misses_an_argument() -> None:
    f = pb.custom_gradient(lambda x, y: x + 0 * y, jvp=lambda p, t: t[0])
    x, y = pb.Variable(1.0), pb.Variable(2.0)
    assert [None if g is None else float(g) for g in pb.gradients(f(x, y), [x, y])] == [1.0, None]


def test_a_jvp_of_another_shape() -> None:
    f = pb.custom_gradient(lambda x: x * 1, jvp=lambda p, t: pb.sum(t[0]))
    x = pb.Variable(X)
    with pytest.raises(
        ValueError, match=r"tangents of shapes .*3.* from the jvp .*<lambda>.* got \[\(\)\]"
    ):
        pb.gradients(f(x), x)


def test_a_call_without_values_is_not_the_first() -> None:
    def wrong(verify: str = "first_call") -> Any:
        return pb.custom_gradient(lambda x: (x * x, lambda u: u * x), verify=verify)

    at = np.float64(0.5)
    for inside in (
        lambda f: pb.scan(lambda c, _: (f(c), None), at, length=2),
        lambda f: pb.cond(True, f, lambda x: x, at),
        lambda f: pb.function(f)(pb.constant(at)),
        lambda f: pb.vmap(f)(np.ones(2)),
    ):
        f = wrong()
        inside(f)
        with pytest.raises(pb.testing.GradientError):
            f(pb.constant(1.5))
    right = pb.custom_gradient(lambda x: (x * x, lambda u: u * 2 * x), verify="always")
    assert pb.vmap(pb.grad(right))(np.arange(3.0)).numpy().tolist() == [0.0, 2.0, 4.0]
    rows = pb.per_example_gradients(lambda w, x: right(w) * x, 3.0, np.ones(2))
    assert rows.numpy().tolist() == [6.0, 6.0]
