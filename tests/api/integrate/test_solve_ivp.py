"""`solve_ivp` beside SciPy; derivatives of values and event times beside finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_solve = pytest.importorskip("scipy.integrate").solve_ivp
solve = pb.integrate.solve_ivp
METHODS = ("RK45", "Radau")
WIDE = np.float64


def near(got: Any, want: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def predators(t: Any, y: Any, growth: Any = 1.5) -> Any:
    return [growth * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1] + 0.1 * t]


def fall(t: Any, y: Any, gravity: Any = 9.81) -> Any:
    return [y[1], -gravity - 0.1 * y[1]]


def ground(t: Any, y: Any, *args: Any) -> Any:
    return y[0]


ground.terminal, ground.direction = True, -1  # type: ignore[attr-defined]


def apex(t: Any, y: Any, *args: Any) -> Any:
    return y[1]


def turn(t: Any, y: Any) -> Any:
    return [y[1], -y[0]]


def test_values() -> None:
    times, start = np.linspace(0.0, 4.0, 9), [10.0, 5.0]
    exact = scipy_solve(predators, (0, 4), start, t_eval=times, rtol=1e-11, atol=1e-12)
    back = scipy_solve(
        predators, (4, 0), exact.y[:, -1], t_eval=times[::-1], rtol=1e-11, atol=1e-12
    )
    for method in METHODS:
        tight = {"method": method, "rtol": 1e-8, "atol": 1e-9}
        got = solve(predators, (0, 4), np.array(start), t_eval=times, dense_output=True, **tight)
        near(got.t, times)
        near(got.y, exact.y, 1e-6)
        near(got.sol(times[2:4]), exact.y[:, 2:4], 1e-6)
        near(got.sol(1.0), exact.y[:, 2], 1e-6)
        assert (int(got.status), bool(got.success)) == (0, True)
        assert got.message == exact.message
        got = solve(predators, (4, 0), exact.y[:, -1], t_eval=times[::-1], **tight)
        near(got.y, back.y, 1e-5)
    # The steps of RK45 are those of SciPy.
    got, want = (f(predators, (0, 4), np.array(start)) for f in (solve, scipy_solve))
    near(got.t, want.t)
    near(got.y, want.y)
    narrow = solve(predators, (0, 4), np.array(start, np.float32))
    assert narrow.y.dtype == np.float32
    near(narrow.y, want.y, 2e-3)
    assert solve(turn, (0, 1), [WIDE(1), 0]).y.dtype == np.float64
    limited = solve(turn, (0, 1), [1.0, 0.0], max_step=0.1, first_step=0.05)
    assert limited.t.shape[0] >= 11
    near(limited.t[1], 0.05, 1e-6)
    near(solve(turn, (1, 1), [1.0, 0.0]).y, [[1.0], [0.0]])


def van_der_pol(t: Any, y: Any, mu: Any) -> Any:
    return [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]


def test_a_stiff_equation() -> None:
    options = {"method": "Radau", "rtol": 1e-6, "atol": 1e-8}
    got = solve(van_der_pol, (0, 2000), [WIDE(2), 0.0], args=1e3, **options)
    want = scipy_solve(van_der_pol, (0, 2000), [2, 0], args=(1e3,), **options)
    near(got.y[:, -1], want.y[:, -1], 1e-4)
    assert got.t.shape[0] < 1.2 * len(want.t)
    failed = solve(van_der_pol, (0, 2000), [WIDE(2), 0.0], args=1e3, max_steps=300)
    assert (int(failed.status), bool(failed.success)) == (-1, False)
    assert "Radau" in failed.message
    assert float(failed.t[-1]) < 100
    poles = [solve(lambda t, y: y**2, (0, 2), [WIDE(1)], method) for method in METHODS]
    for pole in poles:
        assert int(pole.status) == -1
        near(pole.t[-1], 1.0, 1e-3)


def test_events() -> None:
    for method in METHODS:
        for kind in ({}, {"t_eval": [0.0, 0.5, 1.0, 1.5, 3.0]}):
            options = {"method": method, "events": [ground, apex], "rtol": 1e-7, "atol": 1e-9}
            got = solve(fall, (0, 50), [WIDE(0), 10], **options, **kind)
            want = scipy_solve(fall, (0, 50), [0, 10], **options, **kind)
            assert int(got.status) == want.status == 1
            assert got.message == want.message
            for part, expected in zip(
                (got.y[:, -1], *got.t_events, *got.y_events),
                (want.y[:, -1], *want.t_events, *want.y_events),
                strict=True,
            ):
                near(part, expected, 1e-6)
            near(got.t[-1], want.t[-1], 1e-6)

    def third(t: Any, y: Any) -> Any:
        return y[0]

    def rising(t: Any, y: Any) -> Any:
        return y[0]

    third.terminal, rising.direction = 3, 1  # type: ignore[attr-defined]
    for span in ((0, 20), (20, 0)):
        for events in ([ground, rising], [rising, third], third, [lambda t, y: t - 7.0]):
            options = {"events": events, "rtol": 1e-9, "atol": 1e-9}
            got = solve(turn, span, [WIDE(1), 0.0], **options)
            want = scipy_solve(turn, span, [1, 0], **options)
            assert int(got.status) == want.status
            assert got.t.shape == want.t.shape
            for times, expected in zip(got.t_events, want.t_events, strict=True):
                near(times, expected, 1e-7)
            for states, expected in zip(got.y_events, want.y_events, strict=True):
                near(states, expected.reshape(states.shape), 1e-7)
    # Of two events in one step, the first ends the solution, and the other one is dropped.
    first, second = (lambda t, y, at=at: t - at for at in (0.61, 0.6))
    first.terminal = second.terminal = True  # type: ignore[attr-defined]
    both = solve(lambda t, y: 0 * y, (0, 10), [WIDE(1)], events=[first, second], first_step=1.0)
    near(both.t, [0.0, 0.6])
    assert [x.size for x in both.t_events] == [0, 1]


def impact(height: Any, speed: Any, gravity: Any, method: str = "RK45", **options: Any) -> Any:
    start = pb.stack([height, speed])
    options = {"rtol": 1e-10, "atol": 1e-10} | options
    result = solve(fall, (0, 50), start, method, events=ground, args=gravity, **options)
    return result.t_events[0][0]


def test_derivatives() -> None:
    for method in METHODS:

        def value(a: Any, b: Any, t0: Any, t1: Any, growth: Any, method: str = method) -> Any:
            options = {"t_eval": pb.stack([t0 + 0.3, t1]), "rtol": 1e-8, "atol": 1e-9}
            start = pb.stack([a, b])
            y = solve(predators, (t0, t1), start, method, args=growth, **options).y
            return pb.sum(y * [[1.0, 2.0], [-0.5, 1.5]])

        point = [WIDE(x) for x in (10.0, 5.0, 0.1, 1.1, 1.5)]
        slopes = pb.grad(value, tuple(range(5)))(*point)
        for k, slope in enumerate(slopes):
            ends = [value(*point[:k], point[k] + h, *point[k + 1 :]) for h in (1e-4, -1e-4)]
            near(slope, (float(ends[0]) - float(ends[1])) / 2e-4, 1e-5)
        directions = [np.ones_like(x) for x in point]
        near(pb.jvp(value, point, directions)[1], sum(float(s) for s in slopes))
    point = WIDE(2.0), WIDE(3.0), WIDE(9.81)
    for f in (impact, pb.function(lambda *x: impact(*x, max_steps=60))):
        pb.testing.check_gradients(f, *point, order=2)
    implicit = lambda *x: impact(*x, "Radau", max_steps=60, rtol=1e-8)  # noqa: E731
    pb.testing.check_gradients(implicit, *point)
    slopes = pb.grad(impact, (0, 1, 2))(*point)
    for mode in ("forward", "reverse"):
        for got, want in zip(
            pb.jacobian(impact, (0, 1, 2), mode=mode)(*point), slopes, strict=True
        ):
            near(got, want)
    speeds = np.array([3.0, 8.0])
    near(
        pb.vmap(pb.grad(impact, 1), in_axes=(None, 0, None))(point[0], speeds, point[2]),
        [pb.grad(impact, 1)(point[0], WIDE(v), point[2]) for v in speeds],
    )
    for method in METHODS:  # a rejected step is NaN: its root of a negative number

        def drain(level: Any, method: str = method) -> Any:
            options = {"first_step": 0.15, "rtol": 1e-8, "atol": 1e-8}
            return solve(
                lambda t, y: -10 * pb.sqrt(y), (0, 0.15), level[None], method, **options
            ).y[0, -1]

        near(pb.grad(drain)(WIDE(1.0)), 0.25, 1e-6)
    # The state at the end, after the event that ends the solution.
    end = lambda v: solve(fall, (0, 50), pb.stack([2.0, v]), events=ground, rtol=1e-9).y[1, -1]  # noqa: E731
    pb.testing.check_gradients(end, WIDE(3.0), rtol=1e-4)


def test_traced() -> None:
    @pb.function
    def traced(v: Any) -> Any:
        made = solve(fall, (0, 50), pb.stack([0.0, v]), events=[ground, apex], max_steps=40)
        at = solve(
            fall, (0, 50), pb.stack([0.0, v]), t_eval=[0.1, 9.0], events=ground, max_steps=40
        )
        return made.t, made.y, made.t_events, made.status, at.y

    t, y, events, status, at = traced(WIDE(10))
    plain = solve(fall, (0, 50), [WIDE(0), 10], events=[ground, apex])
    count = plain.t.shape[0]
    near(t[:count], plain.t)
    near(y[:, :count], plain.y)
    assert np.isnan(np.asarray(t)[count:]).all()
    assert t.shape == (41,)
    for got, want in zip(events, plain.t_events, strict=True):
        near(got[0], want[0])
        assert np.isnan(np.asarray(got)[1:]).all()
    assert int(status) == 1
    assert np.isfinite(np.asarray(at)[:, 0]).all()
    assert np.isnan(np.asarray(at)[:, 1]).all()


def test_a_traced_parameter_of_a_long_solution() -> None:
    """The first 128 steps were the whole solution if only `fun` read a traced tensor."""

    def oscillation(p: Any) -> Any:
        fun = lambda t, y: pb.stack([y[1], -p[0] * y[0] - p[1] * y[1]])  # noqa: E731
        start = np.array([1.0, 0.0])
        t = np.linspace(0, 10, 21)
        return pb.integrate.solve_ivp(fun, (0, 10), start, t_eval=t, rtol=1e-8, atol=1e-10).y[0]

    p = np.array([4.0, 0.3])
    want = oscillation(p).numpy()
    np.testing.assert_array_equal(pb.function(oscillation)(p).numpy(), want)
    np.testing.assert_array_equal(pb.vmap(oscillation)(p[None]).numpy()[0], want)
    fit = pb.optimize.least_squares(lambda p: oscillation(p) - want, np.array([3.5, 0.2]))
    assert bool(fit.success)
    np.testing.assert_allclose(fit.x, p, rtol=1e-6)


def test_errors() -> None:
    y = np.ones(2)
    for error, words, call in (
        (ValueError, "method must be one of", lambda: solve(turn, (0, 1), y, "BDF")),
        (TypeError, r"expected a function of \(t, y, \*args\)", lambda: solve(
            lambda y, t: y, (0, 1), y)),
        (TypeError, "integrate.odeint takes complex", lambda: solve(turn, (0, 1), y * 1j)),
        (ValueError, "expected two times for t_span", lambda: solve(turn, 1.0, y)),
        (TypeError, "expected a function for fun", lambda: solve(3, (0, 1), y)),
        (ValueError, "expected a vector with entries for y0", lambda: solve(turn, (0, 1), 1.0)),
        (ValueError, "expected two times for t_span", lambda: solve(turn, (0, 1, 2), y)),
        (ValueError, r"expected shape \(2,\), that of y0", lambda: solve(
            lambda t, y: y[:1], (0, 1), y)),
        (ValueError, "expected times inside t_span", lambda: solve(turn, (0, 1), y, t_eval=[2.0])),
        (ValueError, "in the order of t_span", lambda: solve(turn, (0, 1), y, t_eval=[1.0, 0.0])),
        (ValueError, "expected a real scalar from the event", lambda: solve(
            turn, (0, 1), y, events=lambda t, y: y)),
        (TypeError, "expected functions for events", lambda: solve(turn, (0, 1), y, events=3)),
        (ValueError, "expected rtol > 0", lambda: solve(turn, (0, 1), y, rtol=0)),
        (TypeError, "'jac'; the Jacobian is computed", lambda: solve(turn, (0, 1), y, jac=None)),
    ):  # fmt: skip
        with pytest.raises(error, match=f"solve_ivp: .*{words}"):
            call()


def test_rows_after_the_end_have_gradients_of_nan() -> None:
    """In a trace the number of rows is not known, so NaN follow the solution."""

    def last(k: Any, read: Any) -> Any:
        return read(pb.integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.ones(1)).y)

    k = pb.constant(np.float64(0.7))
    for read, finite in ((lambda y: y[0, -1], False), (pb.nansum, True), (lambda y: y[0, 1], True)):
        value, slope = pb.function(pb.value_and_grad(lambda k, read=read: last(k, read)))(k)
        assert np.isfinite(float(value)) == np.isfinite(float(slope)) == finite
        if finite:
            want = pb.grad(lambda k, read=read: last(k, read))(k)
            np.testing.assert_allclose(float(slope), float(want), rtol=1e-12)


def test_a_start_of_python_numbers_takes_the_dtype_of_the_result() -> None:
    matrix = np.array([[0.0, 1.0], [-4.0, 0.0]])
    for method in ("RK45", "Radau"):
        solution = pb.integrate.solve_ivp(
            lambda t, y: matrix @ y, (0, 1), [1.0, 0], method, rtol=1e-8, atol=1e-10
        )
        assert solution.y.dtype == solution.t.dtype == np.float64
        want = [np.cos(2.0), -2.0 * np.sin(2.0)]
        np.testing.assert_allclose(solution.y[:, -1].numpy(), want, rtol=1e-6)
    assert pb.integrate.solve_ivp(lambda t, y: -y, (0, 1), [1.0]).y.dtype == np.float32
