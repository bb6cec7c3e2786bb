"""`roots` and `solve` of piecewise polynomials beside SciPy, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

interpolate = pytest.importorskip("scipy.interpolate")
X = np.array([0.0, 0.7, 1.1, 2.0, 3.5, 4.0, 5.5, 6.0])
Y = np.array([1.0, -0.5, 0.3, 2.0, -1.0, 0.4, 0.2, -2.0])


def near(got: Any, want: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_roots_are_those_of_scipy() -> None:
    for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator"):
        ours, theirs = (getattr(one, name)(X, Y) for one in (pb.interpolate, interpolate))
        for rule in (None, False, True):
            near(ours.roots(extrapolate=rule), theirs.roots(extrapolate=rule))
            near(ours.solve(0.25, True, rule), theirs.solve(0.25, True, rule))
            assert ours.roots().size > 2
        near(ours.derivative().roots(), theirs.derivative().roots(), 1e-6)
    steps = np.array([[1.0, -1.0, 0.0, 2.0]]), np.arange(5.0)
    for jumps in (True, False):
        ours, theirs = (one.PPoly(*steps).roots(jumps) for one in (pb.interpolate, interpolate))
        near(ours, theirs)  # with NaN for the interval of zeros
    assert pb.interpolate.PPoly([[1.0], [1.0]], [0.0, 1.0]).roots(extrapolate=False).shape == (0,)


def test_gradients() -> None:
    found = lambda x, y, level: pb.interpolate.CubicSpline(x, y).solve(level, True, False)  # noqa: E731
    pb.testing.check_gradients(found, X, Y, np.float64(-0.2), order=2)
    # A jump follows its breakpoint; a double root has no derivative.
    jump = lambda x: pb.interpolate.PPoly([[1.0, -1.0]], x).roots()  # noqa: E731
    near(pb.jacobian(jump)(np.array([0.0, 1.5, 2.0])), [[0.0, 1.0, 0.0]])
    double = lambda c: pb.interpolate.PPoly(c, [-1.0, 1.0]).roots()  # noqa: E731
    c = np.array([[1.0], [-2.0], [1.0]])
    near(double(c), [0.0])
    assert np.isnan(pb.jacobian(double)(c).numpy()).any()


def test_errors() -> None:
    spline = pb.interpolate.CubicSpline(X, Y)
    with pytest.raises(
        TypeError, match=r"CubicSpline.roots: the number of roots depends on values"
    ):
        pb.function(lambda y: pb.interpolate.CubicSpline(X, y).roots())(Y)
    with pytest.raises(ValueError, match=r"CubicSpline.solve: expected a real number for y"):
        spline.solve([1.0, 2.0])
    with pytest.raises(ValueError, match="solve for each polynomial"):
        pb.interpolate.CubicSpline(X, np.stack([Y, Y], 1)).roots()
