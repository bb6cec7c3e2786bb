"""Correlations at their bounds."""

from __future__ import annotations

import numpy as np

import pullback as pb


def test_rounding_at_the_bounds_changes_no_derivative() -> None:
    """Two rows are one: their correlation is 1, in float32 a little more before it is bounded."""
    start = np.array([[0.0, 1.0, 0.0], [-1.5, 1.0, -1.5], [0.5, 1.5, -1.0]])
    weights = np.cos(np.arange(9.0)).reshape(3, 3)

    def curvature(dtype: str) -> np.ndarray:
        x, w = pb.Variable(start.astype(dtype)), weights.astype(dtype)
        (slope,) = pb.gradients(pb.corrcoef(x), [x], grad_ys=w)
        (second,) = pb.gradients(slope, [x], grad_ys=w)
        found: np.ndarray = second.numpy()
        return found

    assert np.max(np.abs(pb.corrcoef(start.astype("float32")).numpy())) <= 1
    assert np.allclose(curvature("float32"), curvature("float64"), rtol=0, atol=1e-5)
