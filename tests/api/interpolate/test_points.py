"""Points of interpolation: integers keep the precision, and those outside have no slope."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

interpolate = pytest.importorskip("scipy.interpolate")

X = np.array([0.1, 0.7, 1.3, 2.9, 3.3, 4.1])
Y = np.array([0.3, -1.1, 0.7, 0.2, 1.9, -0.4])


@pytest.mark.parametrize(
    "name", ["CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "make_interp_spline"]
)
def test_integer_points(name: str) -> None:
    ours, theirs = getattr(pb.interpolate, name), getattr(interpolate, name)
    at = np.array([1, 2, 3, 4])
    want = theirs(X, Y)(at)
    for points in (at, at.astype("int32"), at.tolist(), pb.constant(at)):
        for order in (0, 1, 2):
            got = ours(X, Y)(points, order)
            assert got.dtype.name == "float64"
            np.testing.assert_allclose(got.numpy(), theirs(X, Y)(at, order), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(float(ours(X, Y)(at[0])), want[0], rtol=1e-12)
    # Integers as breakpoints, and as limits of an integral.
    got, want = ours(np.arange(6), Y), theirs(np.arange(6), Y)
    at = np.linspace(0.0, 5.0, 23)
    np.testing.assert_allclose(got(at).numpy(), want(at), rtol=1e-12, atol=1e-12)
    limits = np.array([1, 3])
    integral = got.integrate(limits[0], limits[1])
    np.testing.assert_allclose(float(integral), want.integrate(1.0, 3.0), rtol=1e-12)


def test_a_value_that_is_nan_has_a_gradient_that_is_nan() -> None:
    """It was 0, so a loss that is NaN had a gradient that looked finished."""
    of = pb.interpolate

    def grid(t: Any, fill: Any = np.nan) -> Any:
        return of.RegularGridInterpolator((X,), Y, bounds_error=False, fill_value=fill)(t[:, None])

    curves = (
        of.CubicSpline(X, Y, extrapolate=False),
        of.PchipInterpolator(X, Y, extrapolate=False),
        lambda t: of.make_interp_spline(X, Y)(t, extrapolate=False),
        grid,
        lambda t: grid(t, np.float32("nan")),
        lambda t: grid(t, pb.constant(np.nan)),
    )
    at = np.array([0.0, 0.9, np.nan, 4.5])
    for f in curves:
        for transformed in (pb.grad, lambda f: pb.function(pb.grad(f))):
            slopes = transformed(lambda t, f=f: pb.sum(f(t)))(at).numpy()
            assert list(np.isnan(slopes)) == [True, False, True, True]
            # A loss that leaves these entries out does not get NaN from them.
            left = transformed(lambda t, f=f: pb.nansum(f(t)))(at).numpy()
            assert list(left) == [0, slopes[1], 0, 0]
    slopes = pb.grad(lambda t: pb.sum(grid(t, 2.0)))(at).numpy()
    assert slopes[0] == slopes[3] == 0 and np.isnan(slopes[2])
