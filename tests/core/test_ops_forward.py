"""Forward mode of every operation: adjoint to its reverse mode, to second order, in every nest of
the two; and the structural zeros of the reverse pass, met in the other direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.cases import Case, Check
from support.checks import Program
from support.roots import ROOTS, X

import pullback as pb
from pullback import _core


def dot(pairs: Any) -> tuple[np.longdouble, float]:
    """The sum of all products of pairs of arrays, and how large the terms are."""
    terms = [np.ravel(np.asarray(a, np.longdouble) * b) for a, b in pairs]
    return sum((np.sum(t) for t in terms), np.longdouble(0)), sum(
        float(np.sum(np.abs(t))) for t in terms
    )


def agree(check: Check, label: str, left: Any, right: Any) -> None:
    (a, scale_a), (b, scale_b) = dot(left), dot(right)
    if not abs(a - b) <= 1e-13 * max(scale_a, scale_b, 1):
        check.that(False, f"{label}: {a} and {b}")


def arrays(tensors: Any) -> list[Any]:
    return [t.numpy() for t in tensors]


def test_tangents_are_adjoint_to_gradients(differentiable: Case) -> None:
    """<J u, c> = <u, J* c>, and what is forward twice is what is forward of the reverse."""
    check = Check()
    for shapes in differentiable.shapes:
        program = Program(differentiable, shapes)
        us = program.directions
        (pushed,) = pb.tangents(program.y, program.wrt, us)
        assert pushed.dtype == program.y.dtype and pushed.shape == program.y.shape
        pulled = arrays(program.slopes)
        agree(check, f"{shapes}", [(pushed.numpy(), program.c)], zip(us, pulled, strict=True))
    check.done()


def test_all_nests_agree(differentiable: Case) -> None:
    """The second derivative, contracted with u, v and c, by forward over reverse, reverse over
    forward and forward over forward, beside reverse over reverse."""
    check = Check()
    for shapes in differentiable.shapes:
        program = Program(differentiable, shapes)
        us, wrt = program.directions, program.wrt
        rng = np.random.default_rng(3)
        vs = [np.round(rng.uniform(-1, 1, u.shape) * 128) / 128 for u in us]
        by_reverse = arrays(program.second()[:-1])
        (pushed,) = pb.tangents(program.y, wrt, us)
        zero = {"unconnected_gradients": "zero"}
        reverse_forward = pb.gradients(pushed, wrt, grad_ys=program.cotangent.numpy(), **zero)
        forward_reverse = pb.tangents(program.slopes, wrt, vs, **zero)
        (forward_forward,) = pb.tangents(pushed, wrt, vs, **zero)
        expected = list(zip(vs, by_reverse, strict=True))
        for name, found in (
            ("reverse over forward", zip(vs, arrays(reverse_forward), strict=True)),
            ("forward over reverse", zip(us, arrays(forward_reverse), strict=True)),
            ("forward over forward", [(program.c, forward_forward.numpy())]),
        ):
            agree(check, f"{name} of {shapes}", expected, found)
    check.done()


def test_float32_has_float32_tangents(differentiable: Case) -> None:
    if "f" not in differentiable.dtypes:
        return
    shapes = differentiable.shapes[-1]
    narrow, wide = (Program(differentiable, shapes, dtype) for dtype in "fd")
    us = [u.astype(np.float32) for u in narrow.directions]
    (got,) = pb.tangents(narrow.y, narrow.wrt, us)
    (want,) = pb.tangents(wide.y, wide.wrt, wide.directions)
    assert got.dtype == narrow.y.dtype
    scale = max(1.0, float(np.max(np.abs(want.numpy()), initial=0)))
    tolerance = (8 + sum(x.size for x in narrow.xs)) * 2.0**-22 * scale
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=0, atol=tolerance)


# --- structural zeros


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


def test_masks_of_tangents() -> None:
    """Structural zeros of the tangent itself, of which a jacobian is made."""
    x = pb.Variable(np.array([0.0, 4.0]))
    y = pb.sqrt(x)
    ones = pb.ones(2, dtype="float64")
    for mask, expected in (([False, True], [0.0, 0.25]), ([True, False], [np.inf, 0.0])):
        (pushed,) = _core.tangents([y], [x], [ones], [pb.constant(np.array(mask))])
        assert pushed.numpy().tolist() == expected
