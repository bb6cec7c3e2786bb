"""Powers with a small whole exponent that is part of the program are products: within 1.5 units in
the last place, with the conventions of pow, and with every derivative."""

import mpmath
import numpy as np
import pytest
from support.each import each

import pullback as pb

inf, nan = np.inf, np.nan
SPECIAL = [0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e-30, -1e-30, 1e30, -1e30, 1e38, 2.0, -3.0]


@pytest.mark.parametrize("exponent", [2, 3, 2.0, 3.0, -1, -1.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_value(exponent, dtype):
    x = np.concatenate([np.random.default_rng(0).normal(size=2000), SPECIAL]).astype(dtype)
    y = (pb.constant(x) ** exponent).numpy()
    with np.errstate(all="ignore"):
        expected = np.power(x, np.asarray(exponent, dtype))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(expected))
    fine = np.isfinite(expected)
    np.testing.assert_array_equal(y[~fine], expected[~fine])
    for a, b in zip(x[fine][:300], y[fine][:300], strict=True):
        exact = mpmath.mpf(float(a)) ** int(exponent)
        assert abs(mpmath.mpf(float(b)) - exact) <= 1.5 * np.spacing(abs(b))


@each("exponent", [3, -1])
@each("at", [2.0, -1.5, 0.0, -0.0, inf, 1e20, nan])
def test_first_slope_is_that_of_pow(exponent, at):
    x = pb.constant(np.float32(at))
    slopes = [
        float(pb.grad(lambda x, e=e: x**e)(x))
        for e in (exponent, pb.constant(np.float32(exponent)))
    ]
    if np.isfinite(slopes[1]):
        assert slopes[0] == pytest.approx(slopes[1], rel=1e-6)
    else:
        np.testing.assert_equal(slopes[0], slopes[1])


@pytest.mark.parametrize("at", [0.0, -2.0, 1.5])
def test_third_derivative(at):
    slope = pb.grad(pb.grad(pb.grad(lambda x: x**3)))
    assert float(slope(pb.constant(at, pb.float64))) == 6.0
    if at:
        slope = pb.grad(pb.grad(pb.grad(lambda x: x**-1)))
        assert float(slope(pb.constant(at, pb.float64))) == pytest.approx(-6 / at**4, rel=1e-14)


def test_integers():
    x = np.array([-3, 0, 2, 2_000_000], np.int32)
    y = (pb.constant(x) ** 3).numpy()
    assert y.dtype == np.int32
    np.testing.assert_array_equal(y, x * x * x)  # wraps


def test_number_given_to_a_function():
    """An exponent that is an argument is no part of the program."""
    cube = pb.function(lambda x, n: x**n)
    x = pb.constant([2.0, 3.0])
    assert [cube(x, n).numpy().tolist() for n in (3, 2, 4)] == [[8, 27], [4, 9], [16, 81]]


@pytest.mark.parametrize(("dtype", "exponent"), [("float32", -85.6), ("float64", -682.9)])
def test_a_slope_is_finite_where_its_power_is_not(dtype: str, exponent: float) -> None:
    """b a^(b - 1) where a^(b - 1) is beyond the largest number."""
    for b in (-0.5, -0.25):
        power = exponent * 1.5 / (1 - b)  # the same size for each
        x = np.asarray(2.0**power, dtype)
        with np.errstate(over="ignore"):
            assert np.isinf(x ** np.asarray(b - 1, dtype))
        slope = pb.grad(lambda x, b=b: x**b)(pb.constant(x)).numpy()
        with mpmath.workdps(40):
            exact = b * mpmath.mpf(float(x)) ** (b - 1)
            assert abs(float((mpmath.mpf(float(slope)) - exact) / exact)) <= np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_an_exponent_loses_beside_one_is_in_the_slope(dtype: str) -> None:
    x = np.asarray([1e-30, 1e-9, 1e9, 1e20], dtype)
    b = np.asarray(-1 / 7, dtype)
    slopes = pb.grad(lambda x: pb.sum(x ** pb.constant(b)))(pb.constant(x)).numpy()
    for at, slope in zip(x, slopes, strict=True):
        with mpmath.workdps(40):
            power = mpmath.mpf(float(b))
            exact = power * mpmath.mpf(float(at)) ** (power - 1)
            assert abs(float((mpmath.mpf(float(slope)) - exact) / exact)) <= np.finfo(dtype).eps
