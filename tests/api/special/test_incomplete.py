"""Incomplete gamma and beta functions and zeta: special values as SciPy's, digits far out in the
tails and at tiny parameters, derivatives by parameters."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback import special as s

scipy_special = pytest.importorskip("scipy.special")

PARAMETERS = [-1.0, 0.0, 0.5, 1.0, 3.0, np.inf, np.nan]
CASES = [
    ("gammainc", [PARAMETERS, [-1.0, 0.0, 1e-300, 0.5, 2.0, 40.0, np.inf, np.nan]]),
    ("gammaincc", [PARAMETERS, [-1.0, 0.0, 1e-300, 0.5, 2.0, 40.0, np.inf, np.nan]]),
    ("betainc", [PARAMETERS, PARAMETERS, [-0.1, 0.0, 1e-300, 0.4, 1.0, 1.1, np.nan]]),
    (
        "zeta",
        [[-np.inf, -2.0, 0.5, 1.0, 1.5, 2.0, 30.0], [-2.5, -1.0, 0.0, 1e-9, 0.5, 7.0, np.inf]],
    ),
]


@each(("name", "lists"), CASES, ids=[name for name, _ in CASES])
@each("dtype", ["float32", "float64"])
def test_special_values(name: str, lists: list[list[float]], dtype: str) -> None:
    x = np.array(list(product(*lists)), dtype).T
    got = getattr(s, name)(*map(pb.constant, x)).numpy()
    with np.errstate(all="ignore"):
        want = getattr(scipy_special, name)(*x.astype(np.float64)).astype(dtype)
    np.testing.assert_allclose(got, want, rtol=2e-12 if dtype == "float64" else 2e-7, atol=0)


def test_zeta_of_one_argument() -> None:
    x = np.array([-1e4, -30.5, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, 60.0, np.inf, np.nan])
    np.testing.assert_allclose(s.zeta(pb.constant(x)).numpy(), scipy_special.zeta(x), rtol=2e-12)


def check(f: Any, exact: Any, at: tuple[float, ...], orders: tuple[int, ...], bound: float) -> None:
    """The derivative of these orders, in units of the last place."""
    xs = [pb.Variable(np.float64(a)) for a in at]
    y = f(*xs)
    for x, order in zip(xs, orders, strict=True):
        for _ in range(order):
            (y,) = pb.gradients(y, [x])
    with mp.workdps(60):
        true = mp.diff(exact, at, orders) if any(orders) else exact(*map(mp.mpf, at))
        error = abs(mp.mpf(float(y)) - true)
        assert error <= bound * mp.mpf(float(np.spacing(abs(float(true))))), (at, orders, float(y))


ORDERS = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]


@pytest.mark.parametrize("orders", ORDERS)
def test_gammainc_by_both_arguments(orders: tuple[int, int]) -> None:
    def lower(a: Any, x: Any) -> Any:
        return mp.gammainc(a, 0, x, regularized=True)

    def upper(a: Any, x: Any) -> Any:
        return mp.gammainc(a, x, regularized=True)

    bound = (1.0, 4.0, 16.0)[sum(orders)]
    for at in [(1e-8, 0.3), (0.5, 2.0), (1.0, 2.0), (2.0, 2.5), (3.0, 40.0), (30.0, 25.0)]:
        check(s.gammainc, lower, at, orders, bound)
    for at in [(1e-8, 0.3), (0.5, 30.0), (2.0, 1e-3), (30.0, 60.0)]:
        check(s.gammaincc, upper, at, orders, bound)


@each("dtype", ["float32", "float64"])
def test_gammainc_in_every_region(dtype: str) -> None:
    """Values for small, middle and large shapes, from the lower tail through x = a to the upper."""
    rng = np.random.default_rng(5)
    a = np.concatenate([rng.uniform(*ends, 60) for ends in [(1e-3, 1), (1, 12), (12, 200)]]
                       + [np.exp(rng.uniform(np.log(200), np.log(4000), 60)),
                          [153.88168277253757, 300.0, 2000.0]]).astype(dtype)  # fmt: skip
    x = np.abs(a + np.sqrt(a) * rng.uniform(-3, 5, a.size)).astype(dtype)
    x[-3:] = [155.79457282788118, 300.0, 2000.0]
    for f, ends in ((s.gammainc, lambda x: (0, x)), (s.gammaincc, lambda x: (x, mp.inf))):
        got = f(pb.constant(a), pb.constant(x)).numpy()
        for y, *at in zip(got, a, x, strict=True):
            size, end = (mp.mpf(float(v)) for v in at)
            with mp.workdps(40):
                exact = mp.gammainc(size, *ends(end), regularized=True)
                ulp = mp.mpf(float(np.spacing(np.abs(y))))
                assert abs(mp.mpf(float(y)) - exact) <= (0.51 if dtype == "float32" else 4) * ulp, (
                    at
                )


def test_gamma_density_over_the_whole_range() -> None:
    """The first and second derivative of gammainc by x, also where powers of x alone overflow."""
    rng = np.random.default_rng(6)
    a = np.exp(rng.uniform(-7, 9, 80))
    x = np.abs(a + np.sqrt(a) * rng.uniform(-4, 8, a.size))
    far = [(1e-308, 1e-300), (1e-290, 1e-5), (0.3, 1e-308), (2.4, 1e-308), (2.9, 5e-324),
           (1e20, 1e20), (1e70, 1e70), (700.0, 10.0), (1.5, 744.0)]  # fmt: skip
    for size, end in [*zip(a, x, strict=True), *far]:
        v = pb.Variable(np.float64(end))
        (first,) = pb.gradients(s.gammainc(np.float64(size), v), [v])
        (second,) = pb.gradients(first, [v])
        with mp.workdps(120):
            exact_a, exact_x = mp.mpf(float(size)), mp.mpf(float(end))
            log = (exact_a - 1) * mp.log(exact_x) - exact_x - mp.loggamma(exact_a)
            density = mp.exp(log)
            slope = density * ((exact_a - 1 - exact_x) / exact_x)
            for got, exact in ((float(first), density), (float(second), slope)):
                if abs(exact) > mp.mpf(2) ** 1024:
                    assert got == math.copysign(np.inf, exact)
                else:
                    assert abs(got - exact) <= 2 * mp.mpf(float(np.spacing(abs(got)))), (size, end)


@pytest.mark.parametrize("orders", [(*o, 0) for o in ORDERS] + [(0, 0, 1), (1, 0, 1), (0, 1, 1)])
def test_betainc_by_all_arguments(orders: tuple[int, int, int]) -> None:
    def below(a: Any, b: Any, x: Any) -> Any:
        return mp.betainc(a, b, 0, x, regularized=True)

    bound = (1.0, 4.0, 16.0)[sum(orders)]
    for at in [(0.5, 0.5, 0.3), (1e-8, 2.0, 0.4), (2.0, 1e-8, 0.4), (3.0, 2.0, 0.9),
               (12.5, 20.0, 0.25), (0.3, 40.0, 0.01)]:  # fmt: skip
        check(s.betainc, below, at, orders, bound)


def test_zeta_by_both_arguments() -> None:
    def exact(x: Any, q: Any) -> Any:
        return mp.zeta(x, q)

    for at in [(1.001, 0.5), (2.0, 1.0), (4.5, 12.1), (20.0, 12.1)]:
        for orders in ORDERS:
            check(s.zeta, exact, at, orders, (1.0, 4.0, 16.0)[sum(orders)])
    for x in (-3.5, -2.0, 0.0, 0.7):
        for order in range(3):
            check(lambda x: s.zeta(x), mp.zeta, (x,), (order,), 16.0)


def test_densities_end_as_they_should() -> None:
    """At x = 0 and 1, where a power of 0 is what is left."""
    a = pb.Variable(np.array([0.5, 1.0, 1.5, 2.0, 3.0]))
    x = pb.Variable(np.zeros(5))
    (slope,) = pb.gradients(s.gammainc(a, x), [x])
    np.testing.assert_array_equal(slope.numpy(), [np.inf, 1.0, 0.0, 0.0, 0.0])
    (second,) = pb.gradients(slope, [x])
    np.testing.assert_array_equal(second.numpy(), [-np.inf, -1.0, np.inf, 1.0, 0.0])
    for end, sign in ((0.0, 1.0), (1.0, -1.0)):
        x = pb.Variable(np.full(5, end))
        y = s.betainc(a, 2.0, x) if end == 0 else s.betainc(2.0, a, x)
        (slope,) = pb.gradients(y, [x])
        np.testing.assert_allclose(slope.numpy(), [np.inf, 2.0, 0.0, 0.0, 0.0])
        (second,) = pb.gradients(slope, [x])
        np.testing.assert_allclose(second.numpy(), [-sign * np.inf, -sign * 2.0, sign * np.inf,
                                                    sign * 6.0, 0.0])  # fmt: skip


def test_third_derivatives_by_parameters_are_refused() -> None:
    x = pb.Variable(np.float64(2.5))
    for f in (lambda a: s.gammainc(a, 1.0), lambda a: s.betainc(a, 1.0, 0.5), s.zeta):
        y = f(x)
        for _ in range(2):
            (y,) = pb.gradients(y, [x])
        with pytest.raises(NotImplementedError, match="at most second derivatives"):
            pb.gradients(y, [x])
