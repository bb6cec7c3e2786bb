"""Structural zeros in forward mode and in jets: those of the reverse pass, in the other direction.
The forward mode of each operation is in test_ops.py."""

from __future__ import annotations

import numpy as np
import pytest
from support.roots import ROOTS, X

import pullback as pb
from pullback import _core


@pytest.mark.parametrize("name", ROOTS)
def test_structural_zeros_meet_no_infinite_slope(name: str) -> None:
    """What is zero because it was not taken, whatever the slope there; as in the reverse pass."""
    f = ROOTS[name]
    x = pb.Variable(np.array(X))
    y = f(x)
    slope = pb.gradients(pb.sum(y), x)[0].numpy()
    assert np.all(np.isfinite(slope)), slope
    for u in np.array([[1.0, 2.0], [-3.0, 0.5]]):
        (pushed,) = pb.tangents(y, x, u)
        assert np.sum(pushed.numpy()) == pytest.approx(np.sum(u * slope), rel=1e-14)
    traced = pb.function(lambda t: pb.jvp(f, (t,), (pb.ones(2, dtype="float64"),)))
    np.testing.assert_array_equal(traced(np.array(X))[1].numpy(), pb.tangents(y, x)[0].numpy())


@pytest.mark.parametrize("name", ROOTS)
def test_structural_zeros_of_jets(name: str) -> None:
    f = ROOTS[name]
    x = pb.Variable(np.array(X))
    for u in np.array([[1.0, 2.0], [-3.0, 0.5]]):
        _, jet = pb.jet(f, (x.read(),), ([u, 0, 0],))
        nested = [f(x)]
        for got in jet:
            nested += pb.tangents(nested[-1], x, u, unconnected_gradients="zero")
            np.testing.assert_allclose(got.numpy(), nested[-1].numpy(), rtol=1e-14)


def test_masks_of_tangents() -> None:
    """Structural zeros of the tangent itself, of which a jacobian is made."""
    x = pb.Variable(np.array([0.0, 4.0]))
    y = pb.sqrt(x)
    ones = pb.ones(2, dtype="float64")
    for mask, expected in (([False, True], [0.0, 0.25]), ([True, False], [np.inf, 0.0])):
        (pushed,) = _core.tangents([y], [x], [ones], [pb.constant(np.array(mask))])
        assert pushed.numpy().tolist() == expected
