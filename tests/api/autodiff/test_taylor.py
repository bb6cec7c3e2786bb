"""jet, derivative and laplacian: beside mpmath's Taylor series, closed forms and nests of jvp."""

from __future__ import annotations

import gc
from itertools import pairwise
from math import comb, factorial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback import _core

ORDER = 8


def series(f: Any, at: float, order: int = ORDER) -> list[float]:
    """The derivatives of a function of mpmath, without the value."""
    with mp.workdps(60):
        terms = mp.taylor(f, mp.mpf(at), order)
        return [float(term * factorial(k)) for k, term in enumerate(terms)][1:]


def along(f: Any, at: Any, order: int = ORDER) -> list[Any]:
    return [t.numpy() for t in pb.jet(f, (at,), ([1.0] + [0] * (order - 1),))[1]]


def nested(f: Any, at: Any, order: int) -> list[Any]:
    out = []
    for _ in range(order):
        f = (lambda g: lambda x: pb.jvp(g, (x,), (1.0,))[1])(f)
        out.append(f(at).numpy())
    return out


# --- beside mpmath

BESIDE_MPMATH = {
    "sin": (pb.sin, mp.sin, 0.7),
    "exp": (pb.exp, mp.exp, -0.3),
    "log": (pb.log, mp.log, 0.6),
    "pow": (lambda x: x**2.5, lambda x: x ** mp.mpf(2.5), 1.3),
    "power of a power": (lambda x: x**x, lambda x: x**x, 1.3),
    "division": (lambda x: pb.cos(x) / (1 + x * x), lambda x: mp.cos(x) / (1 + x * x), 0.4),
    "division of a constant": (lambda x: 2 / (x - 3), lambda x: 2 / (x - 3), 0.4),
    "tanh": (pb.tanh, mp.tanh, 0.5),
    "sqrt": (pb.sqrt, mp.sqrt, 0.8),
    "arctan2": (
        lambda x: pb.arctan2(pb.sin(x), x + 1),
        lambda x: mp.atan2(mp.sin(x), x + 1),
        0.2,
    ),
    "sin(exp(x)) tanh(x)": (
        lambda x: pb.sin(pb.exp(x)) * pb.tanh(x),
        lambda x: mp.sin(mp.exp(x)) * mp.tanh(x),
        0.4,
    ),
    "gammaln": (pb.special.gammaln, mp.loggamma, 2.5),
    "erf": (pb.special.erf, mp.erf, 0.3),
    "softmax": (
        lambda x: pb.softmax(pb.stack([x, x * x, pb.sin(x)]))[1],
        lambda x: mp.exp(x * x) / (mp.exp(x) + mp.exp(x * x) + mp.exp(mp.sin(x))),
        0.7,
    ),
    "logsumexp": (
        lambda x: pb.logsumexp(pb.stack([x, x * x, pb.sin(x)])),
        lambda x: mp.log(mp.exp(x) + mp.exp(x * x) + mp.exp(mp.sin(x))),
        0.7,
    ),
    "matmul": (
        lambda x: (pb.stack([[pb.sin(x), x], [x * x, pb.exp(x)]]) @ pb.stack([x, pb.cos(x)]))[1],
        lambda x: x**3 + mp.exp(x) * mp.cos(x),
        0.7,
    ),
}


@pytest.mark.parametrize("name", BESIDE_MPMATH)
def test_eight_orders(name: str) -> None:
    f, reference, at = BESIDE_MPMATH[name]
    got = along(f, np.float64(at))
    np.testing.assert_allclose(got, series(reference, at), rtol=1e-10, atol=1e-10)


def test_a_curved_path() -> None:
    """Of x(t) = sin t, whose derivatives are those of a jet themselves."""
    inner = along(pb.sin, np.float64(0.3))
    _, found = pb.jet(pb.exp, (np.sin(0.3),), (inner,))
    want = series(lambda t: mp.exp(mp.sin(t)), 0.3)
    np.testing.assert_allclose([t.numpy() for t in found], want, rtol=1e-12)


def test_several_arguments_and_nests() -> None:
    def f(p: Any, n: int) -> Any:
        return {"product": p["a"] * p["b"][0], "whole": pb.cast(p["a"], "int32"), "n": n * p["a"]}

    p = {"a": np.array([1.0, 2.0]), "b": [3.0]}
    value, (first, second) = pb.jet(
        f, (p, 2), ([{"a": [1.0, 0.5], "b": [1.0]}, {"a": 0, "b": [2.0]}], [None, None])
    )
    assert value["product"].numpy().tolist() == [3, 6]
    assert first["product"].numpy().tolist() == [1 * 1 + 3, 2 * 1 + 3 * 0.5]
    assert second["product"].numpy().tolist() == [2 * 1 + 1 * 2, 2 * 0.5 + 2 * 2]
    assert first["whole"] is None and second["whole"] is None
    assert first["n"].numpy().tolist() == [2, 1] and second["n"].numpy().tolist() == [0, 0]


# --- polynomials, constants, and what is not smooth


def test_polynomials_end_and_are_whole() -> None:
    x = pb.Variable(np.array(3.0))
    y = (2 * x**3 + x) * x - 5 * pb.square(x)
    (terms,) = _core.along_path([y], [x], [[np.array(1.0)]], 6)
    assert [float(t) for t in terms[:4]] == [8 * 27 + 2 * 3 - 10 * 3, 24 * 9 + 2 - 10, 48 * 3, 48]
    assert terms[4:] == [None, None]  # no zeros that were computed
    assert along(lambda x: x**5, 0.0, 7) == [0, 0, 0, 0, 120, 0, 0]


def test_constants_do_not_move() -> None:
    stopped = along(lambda x: pb.stop_gradient(pb.sin(x)) * x + pb.floor(x), 0.5, 3)
    np.testing.assert_allclose(stopped, [np.float32(np.sin(0.5)), 0, 0], rtol=1e-6)
    assert along(lambda x: pb.constant(1.0), 0.5, 2) == [0, 0]
    x = pb.constant(0.5)
    captured = pb.jet(lambda t: t * pb.exp(x), (x,), ([1.0, 0],))[1]  # the same tensor, not moving
    assert float(captured[0]) == float(pb.exp(x)) and float(captured[1]) == 0


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pb.max(pb.stack([x, x * x, pb.sin(x)])),
        lambda x: pb.sort(pb.stack([x, x * x, pb.sin(x)])),
        lambda x: pb.clip(x**3, 0.0, 1.0) + pb.maximum(x * x, pb.cos(x)) + pb.abs(pb.sin(-x)),
        lambda x: pb.cumprod(pb.stack([x, x * x, pb.sin(x)])),
        lambda x: pb.stack([x, x * x])[::-1].at[1].set(pb.exp(x)),
        lambda x: pb.nn.relu(pb.sin(x)) * pb.where(x > 0, x**3, x),
    ],
)
def test_choices(f: Any) -> None:
    for got, want in zip(along(f, np.float64(0.7), 4), nested(f, np.float64(0.7), 4), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_complex_values() -> None:
    got = along(lambda t: pb.exp(1j * t) / (t + 2j), np.float64(0.7), 5)
    terms = mp.taylor(lambda t: mp.exp(1j * t) / (t + 2j), 0.7, 5)
    want = [complex(factorial(k) * c) for k, c in enumerate(terms)]
    np.testing.assert_allclose(got, want[1:], rtol=1e-9)


def test_dtypes() -> None:
    for dtype in ("float32", "float16", "bfloat16"):
        value, terms = pb.jet(pb.tanh, (pb.constant(0.5, dtype),), ([1.0, 0.5],))
        assert {t.dtype.name for t in [value, *terms]} == {dtype}


# --- rules


def test_rules_of_users_hold_to_all_orders() -> None:
    @pb.custom_gradient
    def one(x: Any) -> Any:  # says that its slope is that of sin
        return x * x, lambda g: g * pb.cos(x)

    got = along(lambda x: one(x) + 0.0, np.float64(0.5), 4)
    want = [np.cos(0.5), -np.sin(0.5), -np.cos(0.5), np.sin(0.5)]
    np.testing.assert_allclose(got, want, rtol=1e-14)

    @pb.custom_gradient
    def two(x: Any, y: Any) -> Any:
        return (x * y, x + y), lambda g, h: (3 * g * y, 5 * h * x * y)

    def f(t: Any) -> Any:
        a, b = two(pb.sin(t), t * t)
        return a * b + a

    for got, want in zip(along(f, np.float64(0.5), 3), nested(f, np.float64(0.5), 3), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)


def test_overrides_hold() -> None:
    rule = lambda op, g: 7 * g * op.inputs[0]  # noqa: E731

    def f(x: Any) -> Any:
        with pb.gradient_override_map({"exp": rule}):
            return pb.exp(x)

    assert along(f, 2.0, 3) == [14, 7, 0]


@pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")
def test_a_rule_that_looks_at_values() -> None:
    @pb.custom_gradient
    def f(x: Any) -> Any:
        return pb.exp(x), lambda g: g * pb.exp(x) * (1.0 if float(x) > 0 else 2.0)

    assert along(f, 0.0, 2) == [2, 2]


# --- with other transforms


def test_inside_of_a_function() -> None:
    traced = pb.function(lambda x, v: pb.jet(pb.sin, (x,), ([v, 0, 0],)))
    _, terms = traced(np.float64(0.5), np.float64(2.0))
    want = [2 * np.cos(0.5), -4 * np.sin(0.5), -8 * np.cos(0.5)]
    np.testing.assert_allclose([t.numpy() for t in terms], want, rtol=1e-14)


def test_vmap_of_jet_and_jet_of_vmap() -> None:
    xs = np.linspace(0.1, 0.9, 5)
    f = lambda x: pb.sin(pb.exp(x)) * x  # noqa: E731
    mapped = pb.vmap(lambda x: pb.jet(f, (x,), ([1.0, 0, 0],))[1])(xs)
    inside = pb.jet(pb.vmap(f), (xs,), ([1.0, 0, 0],))[1]
    for k, (a, b) in enumerate(zip(mapped, inside, strict=True)):
        want = [along(f, x, 3)[k] for x in xs]
        np.testing.assert_allclose(a.numpy(), want, rtol=1e-13)
        np.testing.assert_allclose(b.numpy(), want, rtol=1e-13)


def test_jets_are_differentiable() -> None:
    f = lambda x: pb.sin(pb.exp(x)) * pb.tanh(x)  # noqa: E731
    at = np.float64(0.4)
    want = along(f, at, 4)
    for k in range(3):
        slope = pb.grad(lambda x, k=k: pb.jet(f, (x,), ([1.0, 0, 0],))[1][k])(at)
        np.testing.assert_allclose(slope.numpy(), want[k + 1], rtol=1e-12)
    by_direction = pb.grad(lambda v: pb.jet(f, (at,), ([v, 0],))[1][1])(np.float64(1.5))
    np.testing.assert_allclose(by_direction.numpy(), 2 * 1.5 * want[1], rtol=1e-12)
    x = pb.Variable(at)
    third = pb.derivative(f, 3)(x)
    np.testing.assert_allclose(pb.gradients(third, x)[0].numpy(), want[3], rtol=1e-12)


def test_nested_perturbations_stay_apart() -> None:
    # d/dx of x times the derivative by y of x y, at the same point: 2 x.
    f = lambda x: x * pb.derivative(lambda y: x * y)(x)  # noqa: E731
    assert float(pb.derivative(f)(3.0)) == 6
    assert float(pb.derivative(pb.derivative(lambda x: x**4), 2)(2.0)) == 48
    assert float(pb.derivative(pb.grad(lambda x: x**4))(2.0)) == 48


def test_the_cost_of_n_orders_grows_with_their_square() -> None:
    f = lambda x: pb.sin(pb.exp(x)) * pb.tanh(x)  # noqa: E731

    def nodes(order: int) -> int:
        gc.collect()
        before = _core.status()["live_nodes"]
        kept = pb.jet(f, (pb.constant(0.5),), ([1.0] + [0] * (order - 1),))
        made = _core.status()["live_nodes"] - before
        del kept
        return made

    counts = [nodes(n) for n in (4, 8, 16, 32)]
    for less, more in pairwise(counts):
        assert more / less < 4.5, counts


# --- derivative


def test_derivatives() -> None:
    for n in range(6):
        got = pb.derivative(lambda x: pb.stack([pb.exp(2 * x), x**3]), n)(np.float64(0.5))
        cube = comb(3, n) * factorial(n) * 0.5 ** max(3 - n, 0)
        np.testing.assert_allclose(got.numpy(), [2**n * np.exp(1.0), cube], rtol=1e-14)
    with_others = pb.derivative(lambda x, a, *, b: {"y": a * x**2 + b}, 2)(1, 3.0, b=4.0)
    assert float(with_others["y"]) == 6
    assert float(pb.derivative(pb.sin)(pb.Variable(0.0))) == 1


# --- laplacian


@pytest.mark.parametrize(
    "f",
    [
        lambda x: pb.sum(pb.sin(x) * x) ** 2,
        lambda x: pb.tanh(pb.reshape(x, (2, 3)) @ W) @ W.T,
        lambda x: pb.logsumexp(x * x),
        lambda x: pb.sum(x),
        lambda x: pb.constant(1.0),
    ],
)
def test_laplacian_is_the_trace_of_the_hessian(f: Any) -> None:
    x = np.random.default_rng(0).normal(size=(3, 2))
    got = pb.laplacian(f)(x).numpy()
    trace = np.zeros(got.shape)
    for unit in np.eye(6).reshape(6, 3, 2):
        trace = trace + pb.jet(f, (x,), ([unit, 0],))[1][1].numpy()
    np.testing.assert_allclose(got, trace, rtol=1e-12, atol=1e-13)


W = np.random.default_rng(1).normal(size=(3, 4))


def test_laplacian_of_a_harmonic_function_and_by_gradients() -> None:
    x = np.array([0.3, -0.8, 0.5])
    inverse = lambda x: 1 / pb.sqrt(pb.sum(x * x))  # noqa: E731
    assert abs(float(pb.laplacian(inverse)(x))) < 1e-14
    f = lambda x: pb.sum(x**4) + pb.prod(x)  # noqa: E731
    slope = pb.grad(pb.laplacian(f))(x).numpy()
    np.testing.assert_allclose(slope, 24 * x, rtol=1e-13)
    many = pb.vmap(pb.laplacian(f))(np.stack([x, 2 * x]))
    np.testing.assert_allclose(many.numpy(), [12 * x @ x, 48 * x @ x], rtol=1e-13)
    assert float(pb.laplacian(lambda x: x**3)(2.0)) == 12
    assert float(pb.laplacian(lambda x: pb.sum(x))(np.zeros(0))) == 0


# --- errors


@each(
    ("call", "kind", "says"),
    [
        (lambda: pb.jet(3, (1.0,), ([1.0],)), TypeError, "jet: expected a function"),
        (
            lambda: pb.jet(pb.sin, 1.0, ([1.0],)),
            TypeError,
            "jet: expected a tuple of arguments for primals",
        ),
        (lambda: pb.jet(pb.sin, (1.0,), 1.0), TypeError, "jet: expected a tuple for series"),
        (lambda: pb.jet(pb.sin, (1.0,), (1.0,)), TypeError, r"expected a list .* for series\[0\]"),
        (lambda: pb.jet(pb.sin, (1.0,), ([],)), ValueError, "at least one derivative for series"),
        (lambda: pb.jet(pb.sin, (1.0,), ([1.0], [1.0])), ValueError, "expected 1 series, .* got 2"),
        (
            lambda: pb.jet(pb.add, (1.0, 2.0), ([1.0], [1.0, 0])),
            ValueError,
            r"expected 1 derivative for series\[1\], as for series\[0\], got 2",
        ),
        (
            lambda: pb.jet(pb.sin, (np.ones(3),), ([np.ones(2)],)),
            ValueError,
            r"series\[0\]\[0\]: expected shape \(3,\) or \(\), got \(2,\)",
        ),
        (
            lambda: pb.jet(pb.sin, (np.float64(1),), ([pb.constant(1.0)],)),
            TypeError,
            r"series\[0\]\[0\]: expected dtype float64, got float32",
        ),
        (
            lambda: pb.jet(lambda x: x, (np.arange(3),), ([1.0],)),
            TypeError,
            r"jet: primals\[0\].*expected a floating dtype, got int64",
        ),
        (
            lambda: pb.jet(lambda x: "a", (1.0,), ([1.0],)),
            TypeError,
            "expected a Tensor .* got 'a'",
        ),
        (lambda: pb.derivative(3), TypeError, "derivative: expected a function"),
        (lambda: pb.derivative(pb.sin, -1), ValueError, "a non-negative integer for n, got -1"),
        (lambda: pb.derivative(pb.sin, 1.5), TypeError, "integer"),
        (lambda: pb.derivative(pb.sin)([1.0, 2.0]), ValueError, "expected a number"),
        (lambda: pb.derivative(pb.sin)(np.ones(2)), ValueError, r"got \(2,\); use vmap"),
        (lambda: pb.laplacian(3), TypeError, "laplacian: expected a function"),
        (lambda: pb.laplacian(pb.sin)(1j), TypeError, "laplacian: expected a real tensor for x"),
        (
            lambda: pb.laplacian(pb.sin)(np.arange(3)),
            TypeError,
            "laplacian: x: expected a floating dtype",
        ),
    ],
)
def test_errors(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


def test_a_slope_that_has_none_says_so() -> None:
    with pytest.raises(NotImplementedError, match="gammainc"):
        pb.derivative(lambda a: pb.special.gammainc(a, 1.5), 3)(2.0)


def test_terms_that_are_none_between_others() -> None:
    given = [None, 3.0, None, 1.0]
    _, terms = pb.jet(lambda x: x * x + pb.sin(x), (pb.constant(1.0, "float64"),), (given,))
    slope, bend = 2 + np.cos(1), 2 - np.sin(1)
    expected = [0, 3 * slope, 0, slope + 27 * bend]
    np.testing.assert_allclose([float(term) for term in terms], expected, rtol=1e-12)
