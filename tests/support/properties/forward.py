"""Forward mode: adjoint to reverse mode, to second order in every nest of the two, in the dtype of
the argument, and equal to the terms of a jet."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb
from pullback import _core

from ..cases import NAMES, tensor
from ..check import Check
from ..checks import LARGEST, coarse_uniform, small_shapes
from .calls import Calls


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


def tangents_are_adjoint_to_gradients(calls: Calls, check: Check) -> None:
    """<J u, c> = <u, J* c>."""
    for shapes, program in calls.programs():
        us = program.directions
        (pushed,) = pb.tangents(program.y, program.wrt, us)
        same = pushed.dtype == program.y.dtype and pushed.shape == program.y.shape
        check.that(same, f"{shapes}: {pushed.dtype} {pushed.shape}")
        pulled = arrays(program.slopes)
        agree(check, f"{shapes}", [(pushed.numpy(), program.c)], zip(us, pulled, strict=True))


def all_nests_agree(calls: Calls, check: Check) -> None:
    """The second derivative, contracted with u, v and c, by forward over reverse, reverse over
    forward and forward over forward, beside reverse over reverse."""
    for shapes, program in calls.programs():
        us, wrt = program.directions, program.wrt
        rng = np.random.default_rng(3)
        vs = [coarse_uniform(rng, u.shape) for u in us]
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


def float32_has_float32_tangents(calls: Calls, check: Check) -> None:
    if "f" not in calls.case.dtypes:
        return
    shapes = calls.case.shapes[-1]
    narrow, wide = (calls.program(shapes, dtype) for dtype in "fd")
    us = [u.astype(np.float32) for u in narrow.directions]
    (got,) = pb.tangents(narrow.y, narrow.wrt, us)
    (want,) = pb.tangents(wide.y, wide.wrt, wide.directions)
    check.that(got.dtype == narrow.y.dtype, f"dtype {got.dtype}")
    scale = max(1.0, float(np.max(np.abs(want.numpy()), initial=0)))
    tolerance = (8 + sum(x.size for x in narrow.xs)) * 2.0**-22 * scale
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=0, atol=tolerance)


def one_after_the_other(y: Any, t: Any, orders: int) -> list[Any]:
    out = []
    for _ in range(orders):
        (y,) = pb.tangents(y, t, unconnected_gradients="zero")
        out.append(y)
    return out


def jets_are_nests_of_tangents(calls: Calls, check: Check) -> None:
    """Third order along a curved path x + u t + v t²/2 through the arguments, and along t."""
    case = calls.case
    for shapes in small_shapes(case, LARGEST):
        xs = [
            tensor(x, domain.dtype or "d")
            for x, domain in zip(case.arrays(shapes, "d"), case.domains, strict=True)
        ]
        rng = np.random.default_rng(4)
        us, vs = ([coarse_uniform(rng, xs[k].shape) for k in case.wrt] for _ in range(2))
        t = pb.Variable(np.array(0.0))
        given = list(xs)
        for k, u, v in zip(case.wrt, us, vs, strict=True):
            given[k] = xs[k] + u * t + v * (t * t / 2)
        y = case.run(*given)

        def moved(*moving: Any, xs: Any = xs) -> Any:
            given = list(xs)
            for k, x in zip(case.wrt, moving, strict=True):
                given[k] = x
            return case.run(*given)

        start = [xs[k] for k in case.wrt]
        series = [[u, v, 0] for u, v in zip(us, vs, strict=True)]
        try:
            nested, orders = one_after_the_other(y, t, 3), 3
        except NotImplementedError:  # a slope that has none of its own
            nested, orders = one_after_the_other(y, t, 2), 2
        value, jet = pb.jet(moved, start, [own[:orders] for own in series])
        ones = [np.array(1.0)] + [None] * (orders - 1)
        (by_time,) = _core.along_path([y], [t], [ones], orders)
        pb.evaluate(value, nested, jet)
        same = value.numpy().tobytes() == y.numpy().tobytes()
        check.that(same, f"{shapes}: value {value.numpy()}, alone {y.numpy()}")
        for k, (want, got, also) in enumerate(zip(nested, jet, by_time, strict=True)):
            typed = got.dtype == NAMES["d"] and got.shape == y.shape
            check.that(typed, f"{shapes}: term {k + 1}: {got.dtype} {got.shape}")
            scale = max(1.0, float(np.max(np.abs(want.numpy()), initial=0)))
            for name, found in (("arguments", got), ("time", also)):
                numbers = 0.0 if found is None else found.numpy()
                off = np.max(np.abs(numbers - want.numpy()), initial=0) / scale
                check.that(bool(off < 1e-12), f"{shapes}: term {k + 1} along {name}: off by {off}")


PROPERTIES = (
    tangents_are_adjoint_to_gradients,
    all_nests_agree,
    float32_has_float32_tangents,
    jets_are_nests_of_tangents,
)
