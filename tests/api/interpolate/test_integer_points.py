"""Integers beside numbers of float64 do not reduce the precision."""

from __future__ import annotations

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
