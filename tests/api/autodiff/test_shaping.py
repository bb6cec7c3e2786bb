"""Gradients shaped on their way back: with_gradient, reverse, scale, clip, zero, prevent, and the
functions with the values of one and the gradients of another."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.gradients import each_mode, value  # noqa: F401

import pullback as pb

X = np.array([-1.5, 0.25, 2.0], np.float32)
W = np.array([3.0, -4.0, 0.5], np.float32)


def weighed(shape: Any) -> Any:
    """What passes the weights W to the shaped tensor of its argument."""
    return lambda x: shape(x) * W


# --- what arrives, in every mode


@each(
    "shape, expected",
    [
        (lambda x: pb.with_gradient(x, lambda g: g * g), W * W),
        (lambda x: pb.with_gradient(x, lambda g: 7), [7, 7, 7]),
        (lambda x: pb.reverse_gradient(x), -W),
        (lambda x: pb.reverse_gradient(x, 0.5), -W / 2),
        (lambda x: pb.reverse_gradient(x, [1, 2, 3]), -W * [1, 2, 3]),
        (lambda x: pb.scale_gradient(x, 0.25), W / 4),
        (lambda x: pb.scale_gradient(x, np.float64(0.25)), W / 4),
        (lambda x: pb.scale_gradient(x, 0), W * 0),
        (lambda x: pb.clip_gradient(x, 2.5), np.clip(W, -2.5, 2.5)),
        (lambda x: pb.clip_gradient(x, [1, 2, 0]), [1, -2, 0]),
        (lambda x: pb.clip_gradient(x, np.inf), W),
        (lambda x: pb.clip_gradient(x, 1.0, by="norm"), W / np.linalg.norm(W)),
        (lambda x: pb.clip_gradient(x, 6, by="norm"), W),
        (lambda x: pb.clip_gradient(x, np.inf, by="norm"), W),
        (lambda x: pb.zero_gradient_where(x > 1, x), W * (X <= 1)),
        (lambda x: pb.zero_gradient_where(True, x), W * 0),
        (lambda x: pb.straight_through(pb.round)(x), W),
        (lambda x: pb.grad_pass_through(pb.floor)(x), W),
        (lambda x: pb.straight_through(pb.sign, pb.tanh)(x), W * (1 - np.tanh(X) ** 2)),
        (lambda x: pb.straight_through(lambda x: x * 100, lambda x: x * x)(x), 2 * X * W),
    ],
)
def test_what_arrives(mode: Any, shape: Any, expected: Any) -> None:
    (g,) = mode(weighed(shape), X)
    assert np.allclose(g, expected, rtol=1e-6, atol=0)


@each(
    "shape",
    [
        lambda x: pb.with_gradient(x, lambda g: None),
        lambda x: pb.reverse_gradient(x),
        lambda x: pb.scale_gradient(x, 3),
        lambda x: pb.clip_gradient(x, 0.1),
        lambda x: pb.zero_gradient_where(x > 0, x),
        lambda x: pb.prevent_gradient(x),
    ],
)
@each("x", [X, X.astype(np.float64), np.float32(0.5), np.zeros((0, 2))])
def test_values_stay(shape: Any, x: Any) -> None:
    for given in (x, pb.Variable(x)):
        y = shape(given)
        assert y.dtype == x.dtype
        assert np.array_equal(y.numpy(), x)


def test_no_gradient_is_none() -> None:
    x = pb.Variable(X)
    assert pb.gradients(pb.with_gradient(x, lambda g: None), x) == [None]


def test_one_path_of_several() -> None:
    x = pb.Variable(X)
    (g,) = pb.gradients(pb.reverse_gradient(x) * W + x * x, x)
    assert np.allclose(g.numpy(), 2 * X - W)


def test_second_derivatives_follow_the_rule() -> None:
    x = pb.Variable(2.0)

    def second(y: Any) -> float:
        (g,) = pb.gradients(y, x)
        (h,) = pb.gradients(g, x)
        return float(h)

    assert second(pb.reverse_gradient(x) ** 3) == 12.0  # -(3x²)' by x, and reversed again
    assert second(pb.with_gradient(x, lambda g: g * x * x) ** 2) == pytest.approx(
        2 * 2**4 + 2 * 2 * 2 * 2  # (2y x²)' = 2 x² y' + 4 x y, with y' = x² once more
    )
    # The gradient of round is that of x³: 3x², 6x.
    cube = pb.straight_through(pb.round, lambda x: x**3)
    (g,) = pb.gradients(cube(x), x)
    assert float(g) == 12.0
    assert value(pb.gradients(g, x)[0]) == 12.0


def test_the_scale_may_be_a_tensor_and_has_no_gradient() -> None:
    x, s = pb.Variable(X), pb.Variable(0.5)
    g, none = pb.gradients(pb.scale_gradient(x, s) * W, [x, s])
    assert np.allclose(g.numpy(), W / 2) and none is None

    @pb.function
    def step(x: Any, scale: float) -> Any:
        return pb.grad(lambda x: pb.sum(pb.reverse_gradient(x, scale) * W))(x)

    for scale in (1.0, 2.0, 0.25):
        assert np.allclose(step(X, scale).numpy(), -scale * W)
    assert step.cache_info().misses == 1


def test_zeros_hide_what_is_not_finite() -> None:
    x = pb.Variable([0.0, 4.0])
    y = pb.sqrt(pb.zero_gradient_where(x == 0, x))
    assert value(pb.gradients(y, x)[0]) == [0.0, 0.25]


# --- functions with the gradient of others


def test_several_arguments_and_results() -> None:
    def swap(a: Any, b: Any) -> Any:
        return {"sum": pb.floor(a + b), "product": pb.floor(a * b)}

    def smooth(a: Any, b: Any) -> Any:
        return {"sum": a + b, "product": a * b}

    a, b = pb.Variable(2.5), pb.Variable(-1.25)
    out = pb.straight_through(swap, smooth)(a, b=b)
    assert {k: float(v) for k, v in out.items()} == {"sum": 1.0, "product": -4.0}
    got = pb.gradients(10 * out["sum"] + out["product"], [a, b])
    assert [float(g) for g in got] == [10 - 1.25, 10 + 2.5]
    a1, b1 = pb.grad_pass_through(lambda a, b: (pb.round(a), pb.round(b)))(a, b)
    assert [float(g) for g in pb.gradients(3 * a1 + 5 * b1, [a, b])] == [3.0, 5.0]


def test_variables_get_the_gradient_of_the_other_function() -> None:
    x, v, w = pb.Variable(3.0), pb.Variable(2.0), pb.Variable(5.0)
    f = pb.straight_through(lambda x: pb.round(x * v), lambda x: x * w)
    assert float(f(x)) == 6.0
    assert [value(g) for g in pb.gradients(f(x), [x, v, w])] == [5.0, None, 3.0]
    passed = pb.grad_pass_through(lambda x: x * v)
    assert [value(g) for g in pb.gradients(passed(x), [x, v])] == [1.0, None]


def test_the_other_function_is_computed_where_its_gradient_needs_it() -> None:
    @pb.function
    def values(x: Any) -> Any:
        return pb.straight_through(pb.sign, pb.tanh)(x)

    assert "tanh" not in values.plan(X)


def test_an_array_beside_a_number_takes_no_gradient() -> None:
    def q(x: Any, a: Any) -> Any:
        return pb.round(x * a)

    through, ones = pb.straight_through(q), np.ones(3, np.float32)
    slopes = pb.function(lambda x: pb.gradients(through(x, ones), x)[0])
    with pytest.raises(ValueError, match=r"expected shape \(\), that of the gradient, got \(3,\)"):
        slopes(1.3)
    with pytest.raises(ValueError, match=r"expected shape \(\), that of the gradient, got \(3,\)"):
        through(pb.Variable(1.3), ones)
    x = pb.Variable(X)
    y = pb.straight_through(lambda x, rows: pb.round(pb.take(x, rows)))(x, np.array([2, 1, 0]))
    assert value(pb.gradients(y, x)[0]) == [1.0] * 3
    with pytest.raises(TypeError, match=r"straight_through: .*test_shaping.*None"):
        pb.straight_through(pb.round, lambda x: None)(x)


def test_numbers_keep_their_places_inside_of_a_function() -> None:
    @pb.function
    def step(x: Any, scale: float) -> Any:
        return pb.grad(lambda x: pb.sum(pb.scale_gradient(x, scale)))(x)

    assert step(X.astype(np.float64), 0.1).numpy().tolist() == [0.1] * 3


def test_a_limit_that_is_negative_counts_as_zero() -> None:
    x = pb.Variable(X)
    for by in ("value", "norm"):
        y = pb.clip_gradient(x, pb.Variable(-1.0), by=by) * W
        assert np.array_equal(np.abs(pb.gradients(y, x)[0].numpy()), [0.0] * 3)


def test_results_of_other_libraries() -> None:
    x = pb.Variable(X)
    y = pb.straight_through(lambda x: np.round(x.numpy()))(x)
    assert np.array_equal(y.numpy(), np.round(X))
    assert value(pb.gradients(y, x)[0]) == [1.0] * 3


def test_functions_keep_their_names_and_methods_work() -> None:
    class Coder:
        step = 0.5

        @pb.straight_through
        def code(self, x: Any) -> Any:
            """Rounds."""
            return pb.round(x / self.step) * self.step

    assert Coder.code.__name__ == "code" and Coder.code.__doc__ == "Rounds."
    x = pb.Variable(X)
    y = Coder().code(x)
    assert np.array_equal(y.numpy(), np.round(X / 0.5) * 0.5)
    assert value(pb.gradients(y, x)[0]) == [1.0] * 3


# --- mistakes


def test_prevented() -> None:
    x, y = pb.Variable(1.0), pb.Variable(2.0)
    z = pb.prevent_gradient(x * 2, "targets are data") * y
    assert float(z) == 4.0
    assert float(pb.gradients(z, y)[0]) == 2.0
    with pytest.raises(LookupError, match=r"^prevent_gradient: targets are data$"):
        pb.gradients(z, x)
    with pytest.raises(LookupError, match=r"prevent_gradient: no gradient may pass"):
        pb.gradients(pb.prevent_gradient(x), x)
    assert pb.gradients(z, x, stop_gradients=[z]) == [None]


@each(
    "call, error, text",
    [
        (lambda: pb.with_gradient(X, 3), TypeError, "with_gradient: expected a function for rule"),
        (lambda: pb.with_gradient([1, 2], abs), TypeError, "with_gradient: expected floats"),
        (lambda: pb.reverse_gradient([1, 2]), TypeError, "reverse_gradient: expected floats"),
        (lambda: pb.reverse_gradient(X, [1, 2]), ValueError, r"scale: .* got \(2,\)"),
        (lambda: pb.scale_gradient(X, np.ones((2, 3))), ValueError, r"scale: .* got \(2, 3\)"),
        (lambda: pb.scale_gradient(X, "1"), TypeError, "scale_gradient: scale"),
        (lambda: pb.clip_gradient(X, -1), ValueError, "a number >= 0 for limit, got -1"),
        (lambda: pb.clip_gradient(X, np.nan), ValueError, "a number >= 0 for limit, got nan"),
        (lambda: pb.clip_gradient(X, 1, by="max"), ValueError, "'value', 'norm'; got 'max'"),
        (lambda: pb.clip_gradient(X, [1, 2, 3], by="norm"), ValueError, r"shape \(\) for limit"),
        (lambda: pb.zero_gradient_where([1, 0, 0], X), TypeError, "expected dtype bool for mask"),
        (lambda: pb.zero_gradient_where([True, False], X), ValueError, r"mask: .* got \(2,\)"),
        (lambda: pb.straight_through(3), TypeError, "straight_through: expected a function, got 3"),
        (lambda: pb.straight_through(abs, 3), TypeError, "expected a function, got 3"),
        (lambda: pb.grad_pass_through(None), TypeError, "grad_pass_through: .* function for f"),
        (lambda: pb.grad_pass_through(pb.split)(X, 3), ValueError, "expected 1 result .* got 3"),
        (lambda: pb.straight_through(pb.sum)(X), ValueError, r"expected shape \(3,\), .* got \(\)"),
        (lambda: pb.straight_through(lambda x: x > 0)(X), TypeError, "dtype float32, .*bool; cast"),
        (
            lambda: pb.straight_through(lambda x: [x, x], lambda x: [x])(X),
            ValueError,
            "straight_through: .*: expected 2 entries, got 1",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_said_at_the_call(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_wrong_answers_of_a_rule_name_it() -> None:
    def stretched(upstream: Any) -> Any:
        return pb.stack([upstream, upstream])

    x = pb.Variable(X)
    with pytest.raises(ValueError, match=r"stretched \(.*test_shaping.py:\d+\).*\(2, 3\)"):
        pb.gradients(pb.with_gradient(x, stretched), x)
    with pytest.raises(TypeError, match=re.escape("float64")):
        pb.gradients(pb.with_gradient(x, lambda g: pb.cast(g, "float64")), x)
