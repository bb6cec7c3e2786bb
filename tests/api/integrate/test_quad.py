"""`quad` beside SciPy; derivatives by limits and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

integrate = pytest.importorskip("scipy.integrate")
INF = np.inf


def near(got: Any, want: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_values_are_those_of_scipy() -> None:
    one = np.float64(1.0)
    for f, a, b in (
        (lambda xp, x: xp.sin(x), 0.0 * one, np.pi * one),
        (lambda xp, x: xp.exp(x), 1.0 * one, -2.0 * one),
        (lambda xp, x: 1 / xp.sqrt(x), 0.0 * one, one),
        (lambda xp, x: xp.log(x), 0.0 * one, one),
        (lambda xp, x: xp.abs(x - 0.3), 0.0 * one, one),
        (lambda xp, x: xp.cos(150 * x), 0.0 * one, one),
        (lambda xp, x: xp.exp(-x * x), -INF, INF),
        (lambda xp, x: xp.exp(-x * x), INF, -INF),
        (lambda xp, x: xp.exp(-x), one, INF),
        (lambda xp, x: xp.exp(-x), INF, one),
        (lambda xp, x: xp.exp(x), -INF, one),
        (lambda xp, x: 1 / (1 + x * x), one, -INF),
        (lambda xp, x: x * 0 + 3.0, one, 3 * one),
    ):
        exact = integrate.quad(lambda x, f=f: f(np, x), a, b)[0]
        y, error = pb.integrate.quad(
            lambda x, zero, f=f: f(pb, x + zero), a, b, np.float64(0), epsabs=1e-10, epsrel=1e-10,
            limit=100,
        )  # fmt: skip
        near(y, exact, 1e-8)
        assert float(error) < 1e-7
    y, _ = pb.integrate.quad(lambda x: pb.stack([x, x**2, pb.exp(x)]), 0 * one, 2 * one)
    near(y, [2.0, 8 / 3, np.e**2 - 1], 1e-12)
    assert pb.integrate.quad(pb.sin, 0.0, 1.0)[0].dtype == np.float32
    _, error = pb.integrate.quad(lambda x: pb.cos(3000 * x), 0 * one, one, limit=3)
    assert float(error) > 0.1
    assert np.isnan(float(pb.integrate.quad(lambda x: x * np.nan, 0 * one, one)[0]))


def test_an_integral_that_does_not_converge_warns() -> None:
    def divergent(k: Any) -> Any:
        return pb.integrate.quad(lambda x, k: k / x, 0.0, 1.0, k)[0]

    k = np.float64(2.0)
    read = {
        "eager": lambda: divergent(k).numpy(),
        "function": lambda: pb.function(divergent)(k).numpy(),
        "vmap": lambda: pb.vmap(divergent)(np.array([0.0, 1.0])).numpy(),
        "gradient": lambda: pb.grad(divergent)(k).numpy(),
    }
    for name, call in read.items():
        with pytest.warns(integrate.IntegrationWarning, match="quad: .* larger than") as caught:
            call()
        assert {one.filename for one in caught} == {__file__}, name
    # Nothing is read here.
    divergent(k)
    pb.vmap(divergent)(np.zeros(2)).numpy()


def wave(a: Any, b: Any, c: Any) -> Any:
    return pb.integrate.quad(lambda x, c: pb.sin(c[0] * x) * pb.exp(-c[1] * x), a, b, c)[0]


A, B, C = np.float64(0.3), np.float64(2.0), np.array([1.7, 0.6])


def test_derivatives() -> None:
    pb.testing.check_gradients(wave, A, B, C, order=2)
    expected = wave(A, B, C)
    near(pb.function(wave)(A, B, C), expected, 1e-14)
    batch = pb.vmap(wave, in_axes=(None, 0, None))(A, np.array([B, 3.0]), C)
    near(batch, [float(expected), float(wave(A, np.float64(3.0), C))], 1e-12)
    slope = pb.jvp(lambda c: wave(A, B, c), (C,), (np.array([1.0, 0.0]),))[1]
    near(slope, pb.grad(lambda c: wave(A, B, c))(C)[0], 1e-10)
    # The slope by a limit is finite where that of the integrand is not.
    near(pb.grad(lambda b: pb.integrate.quad(lambda x: 1 / pb.sqrt(x), 0.0, b)[0])(B), B**-0.5)
    half = lambda a, k: pb.integrate.quad(lambda x: pb.exp(-k * x), a, INF)[0]  # noqa: E731
    pb.testing.check_gradients(half, A, B, order=2)
    k = pb.Variable(np.float64(2.0))  # read by the integrand, without an argument
    y, _ = pb.integrate.quad(lambda x: pb.exp(-k * x * x), -INF, INF)
    near(pb.gradients(y, k)[0], -0.5 * np.sqrt(np.pi) * 2.0**-1.5)
    rows = pb.jacobian(lambda w: pb.integrate.quad(lambda x: w * x**2, 0 * A, B / B)[0])
    near(rows(np.array([1.0, 2.0])), np.eye(2) / 3)


def test_errors() -> None:
    quad = pb.integrate.quad
    for error, words, call in (
        (TypeError, "quad: expected a function", lambda: quad(1.0, 0.0, 1.0)),
        (TypeError, "quad: expected a real floating tensor from", lambda: quad(
            lambda x: x * 1j, 0.0, 1.0)),
        (TypeError, "quad: expected real limits", lambda: quad(pb.sin, 1j, 1.0)),
        (ValueError, "quad: expected scalars for a and b", lambda: quad(pb.sin, [0.0], 1.0)),
        (ValueError, "quad: expected epsabs >= 0", lambda: quad(pb.sin, 0.0, 1.0, epsabs=-1.0)),
        (ValueError, "quad: expected limit >= 1", lambda: quad(pb.sin, 0.0, 1.0, limit=0)),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()
