"""Incomplete gamma and beta functions, Student's distribution, their derivatives by parameters and
their inverses, which kernels compute by blocks: digits in every region, and bits that do not depend
on the other elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback import special as s

COUNT = 48


def below(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def student(n: Any, t: Any) -> Any:
    half = below(n / 2, mp.mpf(1) / 2, n / (n + t * t)) / 2
    return half if t < 0 else 1 - half


def slope(f: Callable[..., Any], *numbers: int) -> Callable[..., Any]:
    """The derivative of f by the arguments of these numbers, by differences of 150 digits."""

    def exact(*at: Any) -> Any:
        def moved(*steps: int) -> Any:
            values = list(at)
            for number, step in zip(numbers, steps, strict=True):
                values[number] += step * abs(at[number]) * mp.mpf(10) ** -22
            return f(*values)

        h = [abs(at[number]) * mp.mpf(10) ** -22 for number in numbers]
        if len(numbers) == 1:
            return (moved(1) - moved(-1)) / (2 * h[0])
        if numbers[0] == numbers[1]:
            return (moved(1, 0) - 2 * f(*at) + moved(-1, 0)) / h[0] ** 2
        return (moved(1, 1) - moved(1, -1) - moved(-1, 1) + moved(-1, -1)) / (4 * h[0] * h[1])

    return exact


def by(f: Any, *numbers: int) -> Any:
    """The derivative of f by the arguments of these numbers."""
    for number in numbers:
        f = pb.grad(lambda *v, f=f: pb.sum(f(*v)), number)
    return f


def beta_arguments(random: Any) -> list[Any]:
    """Shapes from 1/100 to 1000, at most three deviations from the mean and anywhere."""
    a, b = 10 ** random.uniform(-2, 3, (2, COUNT))
    mean = a / (a + b)
    near = mean + random.uniform(-3, 3, COUNT) * np.sqrt(mean * (1 - mean) / (a + b + 1))
    return [a, b, np.where((near > 0) & (near < 1), near, random.random(COUNT))]


def gamma_arguments(random: Any) -> list[Any]:
    a = 10 ** random.uniform(-2, 3, COUNT)
    return [a, np.abs(a + random.uniform(-3, 3, COUNT) * np.sqrt(a)) + 1e-3]


def student_arguments(random: Any) -> list[Any]:
    return [10 ** random.uniform(-1, 3, COUNT), random.uniform(-4, 4, COUNT)]


# f, its exact value, arguments, and the largest error in float64 in ulp
CASES: dict[str, tuple[Any, Any, Any, float]] = {
    "betainc": (s.betainc, below, beta_arguments, 0.9),
    "betaincc": (s.betaincc, lambda *v: 1 - below(*v), beta_arguments, 0.9),
    "betainc by a": (by(s.betainc, 0), slope(below, 0), beta_arguments, 0.6),
    "betainc by b": (by(s.betainc, 1), slope(below, 1), beta_arguments, 0.6),
    "betainc by a, a": (by(s.betainc, 0, 0), slope(below, 0, 0), beta_arguments, 2),
    "betainc by a, b": (by(s.betainc, 0, 1), slope(below, 0, 1), beta_arguments, 2),
    "betainc by b, b": (by(s.betainc, 1, 1), slope(below, 1, 1), beta_arguments, 2),
    "stdtr": (s.stdtr, student, student_arguments, 0.6),
    "stdtr by df": (by(s.stdtr, 0), slope(student, 0), student_arguments, 0.6),
    "stdtr by df, df": (by(s.stdtr, 0, 0), slope(student, 0, 0), student_arguments, 2),
    "gammainc by a": (by(s.gammainc, 0), slope(lower, 0), gamma_arguments, 0.6),
    "gammainc by a, a": (by(s.gammainc, 0, 0), slope(lower, 0, 0), gamma_arguments, 16),
}


def error(got: Any, exact: Any) -> float:
    """In units of the last place of the result."""
    return float(abs(mp.mpf(float(got)) - exact) / mp.mpf(float(np.spacing(np.abs(got)))))


@each("name", CASES)
@each("dtype", ["float32", "float64"])
def test_digits_of_values_and_derivatives(name: str, dtype: str) -> None:
    f, exact, arguments, bound = CASES[name]
    at = [v.astype(dtype) for v in arguments(np.random.default_rng(3))]
    got = f(*map(pb.constant, at)).numpy()
    assert got.dtype == dtype
    with mp.workdps(150):
        for y, *v in zip(got, *at, strict=True):
            if abs(y) > np.finfo(dtype).tiny:
                assert error(y, exact(*map(mp.mpf, map(float, v)))) <= (
                    0.52 if dtype == "float32" else bound
                ), v


@each("df, t", [(1e7, 0.5), (1e9, -2.0), (3e8, 1e-3), (1e5, -30.0)])
def test_stdtr_by_large_df(df: float, t: float) -> None:
    """The slope is some 1 / df^2, below the last digit of the terms that cancel in it."""
    got = by(s.stdtr, 0)(np.float64(df), np.float64(t)).numpy()
    with mp.workdps(90):
        assert error(got, slope(student, 0)(mp.mpf(df), mp.mpf(t))) <= 1


def test_second_derivatives_that_cancel() -> None:
    """I_x(a, 1) = x^a."""
    for a, x, bound in [(10.0, 1 - 2e-13, 1e-6), (6.5, 1 - 3e-9, 1e-11), (0.5, 1 - 1e-6, 1e-14)]:
        got = by(s.betainc, 0, 0)(np.float64(a), np.float64(1.0), np.float64(x)).numpy()
        exact = mp.mpf(x) ** a * mp.log(mp.mpf(x)) ** 2
        assert abs(mp.mpf(float(got)) - exact) <= bound * exact, (a, x)


INVERSES: dict[str, tuple[Any, Any, Any, Any]] = {
    "betaincinv": (s.betaincinv, beta_arguments, below,
                   lambda a, b, x: x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)),
    "gammaincinv": (s.gammaincinv, gamma_arguments, lower,
                    lambda a, x: mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))),
    "stdtrit": (s.stdtrit, student_arguments, student,
                lambda n, t: mp.exp(-(n + 1) / 2 * mp.log1p(t * t / n))
                / mp.beta(n / 2, mp.mpf(1) / 2) / mp.sqrt(n)),
}  # fmt: skip


@each("name", INVERSES)
@each("dtype", ["float32", "float64"])
def test_digits_of_inverses(name: str, dtype: str) -> None:
    f, arguments, function, density = INVERSES[name]
    random = np.random.default_rng(4)
    *parameters, _ = arguments(random)
    p = np.where(random.random(COUNT) < 0.3, 10 ** random.uniform(-30, 0, COUNT),
                 random.random(COUNT))  # fmt: skip
    at = [v.astype(dtype) for v in (*parameters, p)]
    got = f(*map(pb.constant, at)).numpy()
    with mp.workdps(60):
        for y, *v in zip(got, *at, strict=True):
            if not np.finfo(dtype).tiny < abs(y) < (1 if name == "betaincinv" else np.inf):
                continue
            *shape, share = map(mp.mpf, map(float, v))
            exact = mp.mpf(float(y))
            for _ in range(3):
                exact -= (function(*shape, exact) - share) / density(*shape, exact)
            assert error(y, exact) <= (0.52 if dtype == "float32" else 1), v


@each("name", [*CASES, *INVERSES])
@each("dtype", ["float32", "float64"])
def test_bits_do_not_depend_on_other_elements(name: str, dtype: str) -> None:
    f, arguments = CASES[name][::2] if name in CASES else INVERSES[name][:2]
    random = np.random.default_rng(5)
    at = arguments(random)
    if name in INVERSES:
        at[-1] = random.random(COUNT)
    at = [v.astype(dtype) for v in at]
    whole = f(*map(pb.constant, at)).numpy()
    order = random.permutation(COUNT)
    assert (f(*(pb.constant(v[order]) for v in at)).numpy() == whole[order]).all()
    for i in range(0, COUNT, 7):
        assert f(*(pb.constant(v[i : i + 1]) for v in at)).numpy()[0] == whole[i]


@each("v", [-1.3, -7.0001, -19.5, 50.5, 120.0, 3000.25])
@each("x", [0.3, 8.0, 30.0, 400.0])
def test_iv_of_negative_and_large_orders(v: float, x: float) -> None:
    with mp.workdps(60):
        exact = mp.besseli(v, x)
        scaled = mp.exp(-x) * exact
    for got, true in ((s.iv(v, np.float64(x)), exact), (s.ive(v, np.float64(x)), scaled)):
        if mp.mpf(10) ** -300 < abs(true) < mp.mpf(10) ** 300:
            assert error(got.numpy(), true) <= 1.5


@each("x", [-150.5, -20.25, -8.5, -2.0000001, -1.0, -0.3, -0.1, 0.0, 0.4, 0.99, 1.0001])
def test_zeta_below_one(x: float) -> None:
    with mp.workdps(40):
        assert error(s.zeta(np.float64(x)).numpy(), mp.zeta(mp.mpf(x))) <= 1


@pytest.mark.parametrize("n", [0, 1])
def test_polygamma_gap_of_small_steps(n: int) -> None:
    """The gradient of betaln is a difference of digammas."""
    for a, b in [(3.0, 0.02), (700.0, 5.0), (0.01, 2.0), (1e5, 3e5)]:
        f = by(s.betaln, *[0] * (n + 1))
        got = f(np.float64(a), np.float64(b)).numpy()
        with mp.workdps(60):
            assert error(got, mp.psi(n, mp.mpf(a)) - mp.psi(n, mp.mpf(a) + mp.mpf(b))) <= 1
