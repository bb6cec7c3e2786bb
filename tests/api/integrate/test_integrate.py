"""integrate.odeint: values beside SciPy and closed forms, gradients of both kinds, what fails."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.each import each

import pullback as pb
from pullback import _core
from pullback.integrate import _dormand_prince as method
from pullback.integrate import odeint

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
ADJOINTS = ["discrete", "continuous"]
WIDE = np.float64


def predators(y: Any, t: Any, a: Any = 1.5) -> Any:
    """Lotka and Volterra."""
    return pb.stack([a * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]])


def oscillator(y: Any, t: Any, w: Any) -> Any:
    return pb.stack([y[1], -w * w * y[0]])


def forced(y: Any, t: Any) -> Any:
    return pb.stack([y[1], -pb.sin(y[0]) - 0.1 * y[1] + pb.cos(2 * t)])


# --- the method


def test_a_step_is_of_fifth_order_and_its_polynomial_of_fourth() -> None:
    f = lambda y, t: pb.stack([y[1] * pb.cos(t), -y[0] * y[1]])  # noqa: E731
    y0 = np.array([1.0, 0.5])
    exact = solve_ivp(
        lambda t, y: [y[1] * np.cos(t), -y[0] * y[1]], (0, 0.5), y0, method="DOP853",
        rtol=1e-13, atol=1e-14, dense_output=True,
    ).sol  # fmt: skip
    loose = method.Tolerance(1.0, 1.0, 10)
    ends, middles = [], []
    for h in (0.4, 0.2, 0.1):
        y = pb.constant(y0)
        slope = f(y, pb.constant(WIDE(0)))
        zero, count = pb.constant(WIDE(0)), pb.constant(0)
        start = method.Steps(
            zero, y, slope, pb.constant(WIDE(h)), zero, y, slope, zero, y, count, count
        )
        step = method._step(f, start, pb.constant(WIDE(9)), loose)
        assert float(step.t) == h and int(step.status) == method.GOOD and int(step.tried) == 1
        ends.append(np.max(np.abs(step.y.numpy() - exact(h))))
        between = method._between(step, pb.constant(WIDE(0.4 * h)))
        middles.append(np.max(np.abs(between.numpy() - exact(0.4 * h))))
    assert all(a / b > 2**5.5 for a, b in pairwise(ends)), ends
    assert all(a / b > 2**4.5 for a, b in pairwise(middles)), middles


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8, 1e-10])
def test_errors_are_about_what_is_tolerated(rtol: float) -> None:
    t = np.linspace(0, 10, 41)
    got = odeint(predators, np.array([1.0, 1.0]), t, rtol=rtol, atol=rtol).numpy()
    want = solve_ivp(
        lambda t, y: [1.5 * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]], (0, 10), [1.0, 1.0],
        t_eval=t, method="DOP853", rtol=1e-12, atol=1e-12,
    ).y.T  # fmt: skip
    assert np.max(np.abs(got - want)) < 1000 * rtol


@pytest.mark.parametrize("t", [np.linspace(0, 20, 30), np.array([3.0, 3.5, 3.5, 3.6, 9.0, 9.0])])
@pytest.mark.parametrize("backwards", [False, True])
def test_beside_scipy(t: Any, backwards: bool) -> None:
    t = t[::-1].copy() if backwards else t
    start = np.array([0.3, -0.2])
    want = solve_ivp(
        lambda t, y: [y[1], -np.sin(y[0]) - 0.1 * y[1] + np.cos(2 * t)], (t[0], t[-1]), start,
        t_eval=np.unique(t)[:: -1 if backwards else 1], method="DOP853", rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    rows = [int(np.argmin(np.abs(want.t - one))) for one in t]
    for times in (t, t.tolist(), pb.constant(t)):
        got = odeint(forced, start, times, **TIGHT).numpy()
        np.testing.assert_allclose(got, want.y.T[rows], rtol=1e-7, atol=1e-8)
    assert got[0].tolist() == start.tolist()


def test_steps_do_not_depend_on_the_times_and_none_goes_beyond_the_last() -> None:
    few = odeint(forced, np.array([0.3, 0.0]), [0.0, 5.0]).numpy()
    many = odeint(forced, np.array([0.3, 0.0]), np.linspace(0, 5, 2001)).numpy()
    assert many[-1].tobytes() == few[-1].tobytes()
    inside = lambda y, t: pb.sqrt(2.0 - t) * y  # noqa: E731  # NaN beyond 2
    got = odeint(inside, WIDE(1), [0.0, 2.0], **TIGHT).numpy()
    np.testing.assert_allclose(got[-1], np.exp(2**1.5 * 2 / 3), rtol=1e-8)


def test_it_is_one_operation() -> None:
    calls = []

    def f(y: Any, t: Any) -> Any:
        calls.append(1)
        return -y

    odeint(f, WIDE(1), np.linspace(0, 50, 1000), **TIGHT).numpy()
    assert len(calls) <= 20  # with stand-ins, and numbers twice at the start


# --- what it takes


def test_nests_numbers_and_dtypes() -> None:
    def f(y: Any, t: Any, rates: Any) -> Any:
        return {"a": -rates[0] * y["a"], "b": [y["a"][0], 1], "c": y["c"]}

    ys = odeint(f, {"a": np.ones(3), "b": [0.0, 2], "c": pb.zeros((0, 2), "float64")},
                [0, 1], (WIDE(2),))  # fmt: skip
    assert ys["a"].shape == (2, 3) and ys["c"].shape == (2, 0, 2)
    assert {x.dtype.name for x in (ys["a"], *ys["b"], ys["c"])} == {"float64"}
    np.testing.assert_allclose(ys["a"][1].numpy(), np.exp(-2), rtol=1e-6)
    assert float(ys["b"][1][1]) == pytest.approx(3)
    wide = odeint(lambda y, t: [0, 0.1], [WIDE(0), 0.1], [0.0, 0.1])[1]
    np.testing.assert_allclose(wide.numpy(), [0.1, 0.11], rtol=1e-15)
    assert odeint(lambda y, t: -y, 1, [0, 1]).dtype.name == "float32"
    assert odeint(lambda y, t: t, np.float32(1), [0.0, 1.0]).dtype.name == "float32"
    assert odeint(lambda y, t: -y, WIDE(1), [5.0]).numpy().tolist() == [1]
    assert odeint(lambda y, t: -y, WIDE(1), [5.0, 5.0]).numpy().tolist() == [1, 1]
    turning = odeint(lambda y, t: 1j * y, np.complex128(1), [0.0, np.pi, 0.5 + np.pi], **TIGHT)
    np.testing.assert_allclose(turning.numpy(), [1, -1, -np.exp(0.5j)], rtol=1e-8)


# --- gradients


@pytest.mark.parametrize("adjoint", ADJOINTS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_gradients_of_a_decay(adjoint: str, sign: float) -> None:
    """By the start, the rate, an outer variable, and every time."""
    scale = pb.Variable(WIDE(1.3))
    weights = np.array([0.5, 2.0, -1.0, 3.0])
    y0, k, t = WIDE(2), WIDE(0.7), sign * np.array([0.1, 0.5, 0.9, 2.0])

    def loss(y0: Any, k: Any, t: Any) -> Any:
        f = lambda y, t, k: -k * scale * y  # noqa: E731
        return pb.sum(weights * odeint(f, y0, t, k, adjoint=adjoint, **TIGHT))

    args = [pb.Variable(x) for x in (y0, k, t)]
    got = pb.gradients(loss(*args), [*args, scale])
    r = k * 1.3
    ys = y0 * np.exp(-r * (t - t[0]))
    by_r = -np.sum(weights * ys * (t - t[0]))
    by_t = -r * weights * ys
    by_t[0] = np.sum(r * weights[1:] * ys[1:])
    want = [np.sum(weights * ys) / y0, by_r * 1.3, by_t, by_r * k]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.numpy(), b, rtol=1e-7)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_gradients_of_an_oscillator(adjoint: str) -> None:
    t = WIDE(3)

    def end(w: Any) -> Any:
        start = np.array([1.0, 0.0])
        return odeint(oscillator, start, [0.0, t], w, adjoint=adjoint, **TIGHT)[1][0]

    np.testing.assert_allclose(pb.grad(end)(WIDE(2)).numpy(), -3 * np.sin(6), rtol=1e-7)
    second = pb.grad(pb.grad(end))(WIDE(2)).numpy()
    np.testing.assert_allclose(second, -9 * np.cos(6), rtol=1e-5)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_gradients_of_predators(adjoint: str) -> None:
    t = np.linspace(0, 4, 5)

    def loss(y0: Any, a: Any) -> Any:
        return pb.sum(odeint(predators, y0, t, a, adjoint=adjoint, **TIGHT) ** 2)

    y0, a, h = np.array([1.0, 2.0]), WIDE(1.5), 1e-5
    by_y0, by_a = pb.grad(loss, argnums=(0, 1))(y0, a)
    difference = lambda u, v: (float(loss(y0 + u, a + v)) - float(loss(y0 - u, a - v))) / (2 * h)  # noqa: E731
    np.testing.assert_allclose(by_a.numpy(), difference(0, h), rtol=1e-6)
    for k, unit in enumerate(np.eye(2)):
        np.testing.assert_allclose(by_y0[k].numpy(), difference(h * unit, 0), rtol=1e-6)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_gradients_of_nests_layers_and_complex_numbers(adjoint: str) -> None:
    rng = np.random.default_rng(0)
    w, b = (pb.Variable(rng.normal(size=s).astype(np.float32)) for s in ((3, 3), (3,)))

    def f(y: Any, t: Any) -> Any:
        return {"x": pb.tanh(y["x"] @ w + b * pb.cos(t)), "cost": pb.sum(y["x"] ** 2)}

    def loss() -> Any:
        start = {"x": np.ones((2, 3)), "cost": 0.0}
        ys = odeint(f, start, [0.0, 0.4, 1.0], adjoint=adjoint, **TIGHT)
        return ys["cost"][-1] + pb.sum(ys["x"][1])

    # The parameters are float32 and the state float64.
    for variable, g in zip((w, b), pb.gradients(loss(), [w, b]), strict=True):
        assert g.dtype.name == "float32"
        at = (0,) * len(variable.shape)
        values = []
        for step in (1, -1):
            before = variable.numpy().copy()
            moved = before.copy()
            moved[at] += step * 2.0**-8
            variable.assign(moved)
            values.append(float(loss()))
            variable.assign(before)
        assert float(g[at]) == pytest.approx((values[0] - values[1]) * 2.0**7, rel=1e-3)

    def real_part(z: Any) -> Any:
        turned = odeint(lambda y, t: z * y, np.complex128(1), [0.0, 1.0], adjoint=adjoint, **TIGHT)
        return pb.real(turned[1] * (2 + 1j))

    z = np.complex128(0.3 + 0.4j)  # in the conjugate convention
    want = np.conj(np.exp(z) * (2 + 1j))
    np.testing.assert_allclose(pb.grad(real_part)(z).numpy(), want, rtol=1e-7)


def test_other_transforms() -> None:
    def end(k: Any) -> Any:
        return odeint(lambda y, t: -k * y, WIDE(1), [0.0, 2.0], **TIGHT)[1]

    k, y = WIDE(0.5), np.exp(-1.0)
    value, tangent = pb.jvp(end, (k,), (1.0,))
    np.testing.assert_allclose([value.numpy(), tangent.numpy()], [y, -2 * y], rtol=1e-8)
    _, terms = pb.jet(end, (k,), ([1.0, 0],))
    np.testing.assert_allclose([x.numpy() for x in terms], [-2 * y, 4 * y], rtol=1e-7)
    traced = pb.function(pb.value_and_grad(end))
    for rate in (0.5, 0.6):
        value, slope = traced(WIDE(rate))
        np.testing.assert_allclose(value.numpy(), np.exp(-2 * rate), rtol=1e-8)
        np.testing.assert_allclose(slope.numpy(), -2 * np.exp(-2 * rate), rtol=1e-7)
    times = pb.function(lambda t: odeint(lambda y, t: -y, WIDE(1), t, **TIGHT))
    for t in ([0.0, 1.0, 2.0], [2.0, 1.0, 0.0]):
        np.testing.assert_allclose(
            times(np.array(t)).numpy(), np.exp(t[0] - np.array(t)), rtol=1e-8
        )


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_a_batch_has_steps_of_its_own_for_each_entry(adjoint: str) -> None:
    def end(k: Any, y0: Any, t: Any) -> Any:
        return odeint(lambda y, t: -k * y, y0, pb.stack([0.0, 1.0, t]), adjoint=adjoint, **TIGHT)[2]

    k, y0, t = np.array([0.1, 1.0, 4.0]), np.array([1.0, 2.0, 3.0]), np.array([2.0, 3.0, 1.5])
    want = y0 * np.exp(-k * t)
    np.testing.assert_allclose(pb.vmap(end)(k, y0, t).numpy(), want, rtol=1e-6)
    one = [end(*entry).numpy() for entry in zip(k, y0, t, strict=True)]
    np.testing.assert_allclose(pb.vmap(end)(k, y0, t).numpy(), one, rtol=1e-12)
    slopes = pb.vmap(pb.grad(end, argnums=(0, 1, 2)))(k, y0, t)
    for got, exact in zip(slopes, (-t * want, want / y0, -k * want), strict=True):
        np.testing.assert_allclose(got.numpy(), exact, rtol=1e-5, atol=1e-12)
    with pytest.raises(RuntimeError, match=r"stuck at t = (0\.5|0\.4999)"):
        pb.vmap(lambda y0: odeint(lambda y, t: y * y, y0, [0.0, 1.0])[1])(y0[:2]).numpy()


# --- what fails


def test_a_stiff_equation_says_so() -> None:
    def van_der_pol(y: Any, t: Any) -> Any:
        return pb.stack([y[1], 1e6 * (1 - y[0] ** 2) * y[1] - y[0]])

    ys = odeint(van_der_pol, np.array([2.0, 0.0]), [0.0, 1.0], max_steps=2000)
    with pytest.raises(RuntimeError, match=r"odeint: .*after 2000 steps, the limit max_steps"):
        ys.numpy()
    with pytest.raises(RuntimeError, match="stiff"):  # the next look does not forget
        ys.numpy()


@pytest.mark.parametrize(
    "f",
    [
        lambda y, t: y * y,  # infinite at 1
        lambda y, t: pb.where(t > 0.5, np.nan, y),
        lambda y, t: pb.log(0.5 - t) * y,
    ],
)
def test_what_cannot_go_on_says_where(f: Any) -> None:
    with pytest.raises(RuntimeError, match=r"stuck at t = (1|0\.999|0\.5|0\.499).*rtol=1e-06"):
        odeint(f, WIDE(1), [0.0, 0.2, 2.0]).numpy()
    gradient = pb.grad(lambda y: odeint(f, y, [0.0, 2.0])[1])(WIDE(1))
    with pytest.raises(RuntimeError, match="stuck at t"):
        gradient.numpy()


def test_tolerances_that_the_dtype_has_not() -> None:
    with pytest.raises(RuntimeError, match="exceed the precision of the dtype"):
        odeint(lambda y, t: pb.sin(y + t), np.float32(1), [0.0, 9.0], rtol=1e-12, atol=0).numpy()


@each(
    ("call", "kind", "says"),
    [
        (lambda: odeint(3, 1.0, [0.0, 1.0]), TypeError, "odeint: expected a function for f"),
        (lambda: odeint(pb.sin, 1.0, [0.0, 1.0]), Exception, "sin"),
        (lambda: odeint(lambda y, t: y, 1.0, 1.0), ValueError, r"for t, got shape \(\)"),
        (lambda: odeint(lambda y, t: y, 1.0, []), ValueError, r"got shape \(0,\)"),
        (
            lambda: odeint(lambda y, t: y, 1.0, [0.0, 2.0, 1.0]),
            ValueError,
            "increasing or decreasing times",
        ),
        (lambda: odeint(lambda y, t: y, 1.0, [0j, 1j]), TypeError, "expected real numbers for t"),
        (lambda: odeint(lambda y, t: y, [], [0.0, 1.0]), ValueError, "for y0, got an empty one"),
        (
            lambda: odeint(lambda y, t: y, np.ones(0), [0.0]),
            ValueError,
            "expected at least one element in y0",
        ),
        (lambda: odeint(lambda y, t: y, [np.arange(3) > 1], [0.0]), TypeError, "got bool; cast it"),
        (
            lambda: odeint(lambda y, t: y, {"a": np.float32(1), "b": WIDE(1)}, [0.0]),
            TypeError,
            r"got float32 for y0\['a'\] and float64 for y0\['b'\]",
        ),
        (
            lambda: odeint(lambda y, t: y[0], np.ones(2), [0.0]),
            ValueError,
            r"expected shape \(2,\), that of y0, from .*, got \(\)",
        ),
        (
            lambda: odeint(lambda y, t: [y], 1.0, [0.0]),
            ValueError,
            "expected the structure of y0 from .*, got another one",
        ),
        (
            lambda: odeint(lambda y, t: np.ones(2), np.ones(2, np.float32), [0.0]),
            TypeError,
            "expected float32, the dtype of y0, from .*, got float64; cast it",
        ),
        (
            lambda: odeint(lambda y, t: y, 1.0, [0.0], rtol="a"),
            TypeError,
            "expected a number for rtol, got 'a'",
        ),
        (lambda: odeint(lambda y, t: y, 1.0, [0.0], atol=-1), ValueError, "for atol, got -1"),
        (lambda: odeint(lambda y, t: y, 1.0, [0.0], rtol=0, atol=0), ValueError, "got 0 for both"),
        (
            lambda: odeint(lambda y, t: y, 1.0, [0.0], max_steps=0),
            ValueError,
            ">= 1 for max_steps, got 0",
        ),
        (
            lambda: odeint(lambda y, t: y, 1.0, [0.0], adjoint="both"),
            ValueError,
            "adjoint must be one of 'discrete', 'continuous'; got 'both'",
        ),
    ],
)
def test_errors(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()


def test_times_that_are_known_late_must_be_in_order() -> None:
    ys = odeint(lambda y, t: y, 1.0, pb.constant([0.0, 2.0, 1.0]))
    with pytest.raises(ValueError, match="expected increasing or decreasing times for t"):
        ys.numpy()


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_a_function_of_numpy_in_f(adjoint: str) -> None:
    """The piece that f is made into once calls it inside of loops and in front of them. Solutions
    that are held have functions of their own, and no plan of their own."""
    force = pb.numpy_function(np.sin, ((), "float64"), vjp=lambda p, u: u[0] * 0.0)
    a = pb.Variable(np.array([0.5, 2.0]))
    held, misses = [], []
    for _ in range(4):
        y = odeint(lambda y, t: a * force(t), a, np.array([0.0, 1.0]), adjoint=adjoint, **TIGHT)
        (g,) = pb.gradients(y, a)
        held.append(pb.evaluate([y, g]))
        misses.append(_core.status()["plan_misses"])
    np.testing.assert_allclose(y.numpy()[1], a.numpy() * (2 - np.cos(1)), rtol=1e-9)
    np.testing.assert_allclose(g.numpy(), np.full(2, 3 - np.cos(1)), rtol=1e-9)
    assert misses[0] == misses[-1]


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_rules_of_users_in_f(adjoint: str) -> None:
    """They hold what f was recorded with."""
    sine = pb.numpy_function(np.sin, lambda x: x, vjp=lambda p, u: u[0] * pb.cos(p[0]))

    @pb.custom_gradient
    def product(x: Any, y: Any) -> Any:
        return x * y, lambda g: (g * y, g * x)

    a = pb.Variable(np.array([0.5, 2.0]))
    found = []
    for f in (lambda y, t: product(a, sine(y)) * t, lambda y, t: a * pb.sin(y) * t):
        y = odeint(f, a, np.array([0.0, 1.0]), adjoint=adjoint, **TIGHT)
        found.append([one.numpy() for one in (y, *pb.gradients(y, a))])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


@pytest.mark.parametrize("adjoint", ADJOINTS)
def test_a_traced_function_inside(adjoint: str) -> None:
    times = np.array([0.0, 1.0])
    plain = pb.integrate.odeint(lambda y, t: pb.sin(y), np.float64(1.0), times, adjoint=adjoint)
    f = pb.function(pb.sin)
    solve = lambda y: pb.integrate.odeint(lambda y, t: f(y), y, times, adjoint=adjoint)  # noqa: E731
    np.testing.assert_array_equal(solve(np.float64(1.0)), plain)
    # Of y' = sin(y): tan(y / 2) = tan(y0 / 2) e^t, and dy/dy0 = sin(y) / sin(y0).
    by_start = pb.grad(lambda y: solve(y)[1])(np.float64(1.0))
    expected = np.sin(plain.numpy()[1]) / np.sin(1.0)
    assert float(by_start) == pytest.approx(float(expected), rel=1e-5)


def test_integers_as_y0() -> None:
    for y0 in (np.array([1, 2]), pb.constant([1, 2])):
        ys = odeint(lambda y, t: -y, y0, [0.0, 1.0])
        end = pb.integrate.solve_ivp(lambda t, y: -y, (0, 1), y0, rtol=1e-6).y[:, -1]
        assert ys.dtype == end.dtype == np.float32
        np.testing.assert_allclose(ys[-1], np.exp(-1) * np.array([1, 2]), rtol=1e-4)
        np.testing.assert_allclose(end, np.exp(-1) * np.array([1, 2]), rtol=1e-4)
