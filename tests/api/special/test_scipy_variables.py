"""Functions with the values of SciPy and several variables: all first and second derivatives
beside mpmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import pullback as pb


class Function(NamedTuple):
    """Orders, points of the variables, and the function in mpmath."""

    name: str
    orders: tuple[float, ...]
    points: tuple[tuple[float, ...], ...]
    exact: Callable[..., Any]
    result: int | None = None
    rtol: float = 2e-12


def voigt(x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


def elliptic(kind: str) -> Callable[..., Any]:
    return lambda u, m: mp.ellipfun(kind, u, m=m)


def normed(n: int, x: Any) -> Any:
    return 2 ** (-mp.mpf(n) / 2) * mp.hermite(n, x / mp.sqrt(2))


def gegenbauer(n: int, a: Any, x: Any) -> Any:
    front = mp.rf(2 * a, n) / mp.factorial(n)
    return front * mp.hyp2f1(-n, n + 2 * a, a + mp.mpf("0.5"), (1 - x) / 2)


X = ((-0.7,), (0.0,), (1.0,), (2.5,))
PHI_M = (
    (1e-5, 0.3),
    (0.3, -3.0),
    (1.2, 0.0),
    (1.57, 0.9999),
    (-2.0, 1e-7),
    (10.0, 0.9),
)
U_M = ((1e-3, 0.0), (0.5, 1e-9), (1.9, 0.3), (-3.0, 0.99), (7.0, 0.3), (0.5, 1.0))
FUNCTIONS = [
    Function("eval_legendre", (0,), X, mp.legendre),
    Function("eval_legendre", (5,), X, mp.legendre),
    Function("eval_legendre", (-1,), X, lambda n, x: mp.legendre(0, x)),
    Function("eval_legendre", (-4,), X, lambda n, x: mp.legendre(3, x)),
    Function("eval_chebyt", (5,), X, mp.chebyt),
    Function("eval_chebyt", (-3,), X, mp.chebyt),
    Function("eval_chebyu", (-1,), X, lambda n, x: mp.mpf(0)),
    Function("eval_chebyu", (-5,), X, lambda n, x: -mp.chebyu(3, x)),
    Function("eval_gegenbauer", (-2, 0.7), X, lambda n, a, x: mp.mpf(0)),
    Function("eval_jacobi", (-2, 0.7, -0.3), X, lambda n, a, b, x: mp.mpf(0)),
    Function("eval_chebyu", (1,), X, mp.chebyu),
    Function("eval_hermite", (5,), X, mp.hermite),
    Function("eval_hermitenorm", (5,), X, normed),
    Function("eval_laguerre", (5,), X, lambda n, x: mp.laguerre(n, 0, x)),
    Function("eval_genlaguerre", (5, 0.7), X, mp.laguerre),
    Function("eval_gegenbauer", (5, 0.7), X, gegenbauer),
    Function("eval_jacobi", (5, 0.7, -0.3), X, mp.jacobi),
    Function("kn", (2,), ((0.5,), (7.0,)), mp.besselk),
    Function("kn", (-1,), ((0.5,),), mp.besselk),
    Function("exp10", (), ((0.3,), (-5.0,)), lambda x: mp.mpf(10) ** x),
    Function("ellipkinc", (), PHI_M, mp.ellipf),
    Function("ellipeinc", (), PHI_M, mp.ellipe),
    Function("ellipj", (), U_M, elliptic("sn"), 0),
    Function("ellipj", (), U_M, elliptic("cn"), 1),
    Function("ellipj", (), U_M, elliptic("dn"), 2),
    Function(
        "voigt_profile", (),
        ((0.3, 1.0, 0.5), (5.0, 1e-3, 1.0), (60.0, 0.3, 2.0), (2.0, 1.0, 1e-3)),
        voigt, rtol=1e-10,
    ),
    Function(
        "binom", (), ((5.0, 2.0), (5.5, 2.3), (1e3, 2.0), (5.0, 7.0), (5.0, -1.0), (-0.5, 3.0)),
        lambda n, k: mp.gamma(n + 1) * mp.rgamma(k + 1) * mp.rgamma(n - k + 1),
    ),
]  # fmt: skip


def of(f: Function) -> Callable[..., Any]:
    """Return the function of the variables."""

    def value(*variables: Any) -> Any:
        made = getattr(pb.special, f.name)(*f.orders, *variables)
        return made if f.result is None else made[f.result]

    return value


def exact(f: Function, point: tuple[float, ...], *by: int) -> float:
    """Return the derivative by the variables with these numbers."""
    counts = tuple(by.count(k) for k in range(len(point)))
    with mp.workdps(60):
        at = tuple(map(mp.mpf, point))
        return float(mp.re(mp.diff(lambda *v: f.exact(*f.orders, *v), at, counts)))


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f"{f.name}{f.orders}{f.result or ''}")
def test_derivatives_are_those_of_mpmath(f: Function) -> None:
    function = of(f)
    for point in f.points:
        at = [pb.constant(np.float64(x)) for x in point]
        want = getattr(scipy.special, f.name)(*f.orders, *point)
        assert float(function(*at)) == (want if f.result is None else want[f.result])
        for j in range(len(point)):
            slope = pb.grad(function, j)
            np.testing.assert_allclose(
                float(slope(*at)), exact(f, point, j), f.rtol, 1e-14, err_msg=f"{point}, {j}"
            )
            for k in range(len(point)):
                np.testing.assert_allclose(
                    float(pb.grad(slope, k)(*at)), exact(f, point, j, k), f.rtol, 1e-13,
                    err_msg=f"{point}, {j} and {k}",
                )  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f"{f.name}{f.orders}{f.result or ''}")
def test_transforms_agree(f: Function) -> None:
    function = of(f)
    columns = [np.array(column) for column in zip(*f.points, strict=True)]
    want = function(*columns).numpy()
    slopes = pb.grad(lambda *v: pb.sum(function(*v)), 0)(*columns).numpy()
    np.testing.assert_array_equal(pb.vmap(function)(*columns).numpy(), want)
    np.testing.assert_array_equal(pb.function(function)(*columns).numpy(), want)
    ones = [np.ones_like(columns[0]), *(np.zeros_like(c) for c in columns[1:])]
    forward = pb.jvp(function, tuple(columns), tuple(ones))[1].numpy()
    np.testing.assert_allclose(forward, slopes, rtol=1e-13, atol=1e-300)
    single = function(*(c.astype(np.float32) for c in columns))
    assert single.dtype == np.float32
    wide = function(*(c.astype(np.float32).astype(np.float64) for c in columns)).numpy()
    np.testing.assert_array_equal(single.numpy(), wide.astype(np.float32))


def test_derivatives_of_bessel_functions() -> None:
    def derivative(f: Callable[..., Any], v: float, x: float, n: int) -> float:
        with mp.workdps(50):
            return float(mp.diff(lambda t: f(v, t), mp.mpf(x), n))

    x = np.array([0.5, 2.0, 7.0])
    for name, exact_function in (
        ("jvp", mp.besselj), ("yvp", mp.bessely), ("ivp", mp.besseli), ("kvp", mp.besselk),
    ):  # fmt: skip
        function = getattr(pb.special, name)
        for v in (0.0, 1.5):
            for n in (0, 1, 3):
                want = [derivative(exact_function, v, t, n) for t in x]
                np.testing.assert_allclose(function(v, x, n).numpy(), want, rtol=5e-12)
            slope = pb.grad(lambda t, v=v, f=function: pb.sum(f(v, t)))(x)
            want = [derivative(exact_function, v, t, 2) for t in x]
            np.testing.assert_allclose(slope.numpy(), want, rtol=5e-12)
    with pytest.raises(ValueError, match="jvp: expected n >= 0, got -1"):
        pb.special.jvp(1.0, x, -1)


def test_comb() -> None:
    n, k = np.array([5.0, 5.0, 5.0, -1.0, 0.0]), np.array([2.0, 6.0, -1.0, 2.0, 0.0])
    for repetition in (False, True):
        want = scipy.special.comb(n, k, repetition=repetition)
        made = pb.special.comb(n, k, repetition=repetition)
        np.testing.assert_allclose(made.numpy(), want)
    slope = pb.grad(pb.special.comb, 1)(5.0, np.float64(2.5))
    assert float(slope) == pytest.approx(0.0, abs=1e-14)


def test_far_elliptic_functions_at_m_1() -> None:
    """They are hyperbolic functions, whose derivatives by m are known (DLMF, 22.10.8)."""
    for u in (9.0, 20.0, 50.0):
        with mp.workdps(40):
            by_phi = (mp.sinh(u) * mp.cosh(u) - u) / (4 * mp.cosh(u))
            want = [by_phi * mp.sech(u) * -1, by_phi * mp.tanh(u)]
        for k in (0, 1):
            made = pb.grad(lambda m, k=k, u=u: pb.special.ellipj(u, m)[k])(np.float64(1.0))
            assert float(made) == pytest.approx(float(want[k]), rel=1e-13)


def test_sharp_voigt_profile() -> None:
    """For sigma = 0 it is the density of a Cauchy distribution; by sigma it is flat."""
    for k, want in enumerate((-6.0 / (np.pi * 100), 0.0, 8.0 / (np.pi * 100))):
        made = pb.grad(pb.special.voigt_profile, k)(
            np.float64(3.0), np.float64(0.0), np.float64(1.0)
        )
        assert float(made) == pytest.approx(want, rel=1e-14)


def test_derivatives_outside_of_the_domain_are_nan() -> None:
    assert np.isnan(float(pb.grad(lambda x: pb.special.eval_hermite(-2, x))(0.3)))
    for name, phi, m in (("ellipkinc", 2.0, 1.0), ("ellipkinc", 0.3, 1.5), ("ellipeinc", 0.3, 1.5)):
        function = getattr(pb.special, name)
        assert not np.isfinite(float(function(phi, m)))
        assert np.isnan(float(pb.grad(function)(phi, m)))
        assert m == 1 or np.isnan(float(pb.grad(function, 1)(phi, m)))
    for real in (pb.special.exp1, lambda a: pb.special.multigammaln(a, 3)):
        assert np.isnan(float(real(-0.5))) and np.isnan(float(pb.grad(real)(-0.5)))
    assert np.isfinite(complex(pb.special.exp1(-0.5 + 0j)))
    for point in ((1.0, -1.0, 0.5), (1.0, 0.5, -20.0)):
        for k in range(3):
            assert np.isnan(float(pb.grad(pb.special.voigt_profile, k)(*np.array(point))))


def test_errors() -> None:
    with pytest.raises(TypeError, match="eval_legendre: expected integer orders"):
        pb.special.eval_legendre(0.5, 1.0)
    with pytest.raises(TypeError, match="ellipkinc: expected real numbers"):
        pb.special.ellipkinc(1j, 0.5)
    with pytest.raises(NotImplementedError, match=r"eval_jacobi: .* respect to beta"):
        pb.grad(lambda b: pb.special.eval_jacobi(2, 0.5, b, 0.3))(0.5)
