"""Initial values of integers: they take the dtype of the floats beside them."""

from __future__ import annotations

import numpy as np

import pullback as pb


def test_integers_in_a_pytree() -> None:
    decay = lambda y, t: {key: -part for key, part in y.items()}  # noqa: E731
    for beside, dtype in ((np.float64(2.0), np.float64), (3, np.float32), (2.0, np.float32)):
        start = {"a": np.array([1, 2]), "b": beside}
        got = pb.integrate.odeint(decay, start, [0.0, 1.0], rtol=1e-9, atol=1e-9)
        assert got["a"].dtype == got["b"].dtype == dtype
        np.testing.assert_allclose(got["a"][1], np.exp(-1) * np.array([1, 2]), rtol=1e-6)
    found = pb.optimize.minimize(
        lambda p: (p["a"] - 1.0) ** 2 + pb.sum((p["b"] - 2.0) ** 2),
        {"a": np.float64(0.0), "b": np.array([0, 1])},
    )
    assert found.x["b"].dtype == np.float64
    np.testing.assert_allclose(found.x["b"], [2.0, 2.0], rtol=1e-6)
