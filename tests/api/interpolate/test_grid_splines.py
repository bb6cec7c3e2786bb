"""Tensor products of splines on grids, beside splines of SciPy along one axis after the other, and
finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_interpolate = pytest.importorskip("scipy.interpolate")
random = np.random.default_rng(3)
X = np.array([0.0, 1.0, 2.5, 3.0, 4.0, 4.4])
Y = np.array([0.0, 1.0, 2.0, 4.0, 5.0, 7.0, 7.5])
VALUES = random.standard_normal((6, 7))
AT = np.array([[0.6, 1.2], [3.3, 6.1], [2.5, 0.0], [4.4, 7.5]])
DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5}


def by_scipy(x: Any, y: Any, values: Any, at: Any, method: str) -> Any:
    spline, k = scipy_interpolate.make_interp_spline, DEGREES[method]
    return np.array([spline(x, spline(y, values, k, axis=1)(b).T, k)(a) for a, b in at])


def test_values_and_derivatives() -> None:
    weights = np.array([1.0, -2.0, 0.5, 3.0])
    args = [X, Y, VALUES, AT]
    for method in DEGREES:

        def ours(x: Any, y: Any, values: Any, at: Any, method: str = method) -> Any:
            made = pb.interpolate.RegularGridInterpolator((x, y), values, method, False, None)
            return made(at)

        want = by_scipy(*args, method)
        np.testing.assert_allclose(ours(*args).numpy(), want, rtol=1e-11)
        np.testing.assert_allclose(pb.function(ours)(*args).numpy(), want, rtol=1e-11)
        beyond = np.array([[-0.5, 3.0], [6.0, 8.0]])
        np.testing.assert_allclose(
            ours(X, Y, VALUES, beyond).numpy(), by_scipy(X, Y, VALUES, beyond, method), rtol=1e-10
        )
        if method == "slinear":  # it has kinks at the points of the grid
            continue
        for k, value in enumerate(args):
            direction = random.standard_normal(value.shape)
            _, slope = pb.jvp(
                lambda v, k=k: pb.sum(ours(*args[:k], v, *args[k + 1 :]) * weights),
                (value,), (direction,),
            )  # fmt: skip
            high, low = (
                np.sum(by_scipy(*args[:k], value + step, *args[k + 1 :], method) * weights)
                for step in (1e-6 * direction, -1e-6 * direction)
            )
            assert float(slope) == pytest.approx((high - low) / 2e-6, rel=1e-6, abs=1e-6)
        pb.testing.check_gradients(lambda at: ours(X, Y, VALUES, at) ** 2, AT[:2])


def test_arguments() -> None:
    interpn = pb.interpolate.interpn
    want = by_scipy(X, Y, VALUES, AT, "cubic")
    np.testing.assert_allclose(interpn((X[::-1], Y), VALUES[::-1], AT, "cubic"), want, rtol=1e-11)
    stacked = interpn((X, Y), np.stack([VALUES, 1j * VALUES], -1), AT, "cubic").numpy()
    np.testing.assert_allclose(stacked, np.stack([want, 1j * want], -1), rtol=1e-11)
    made = pb.interpolate.RegularGridInterpolator((X, Y), VALUES)
    np.testing.assert_allclose(made(AT, "cubic").numpy(), want, rtol=1e-11)
    line = pb.interpolate.RegularGridInterpolator((X,), VALUES[:, 0], "cubic")
    assert np.isnan(line(np.array([0.5, np.nan])).numpy()).tolist() == [False, True]
    with pytest.raises(ValueError, match="at least 6 coordinates along axis 0 for method 'quin"):
        interpn((X[:5], Y), VALUES[:5], AT[:1], "quintic")
