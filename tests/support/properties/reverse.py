"""Reverse mode: linear in the cotangent, zero for a zero cotangent, a symmetric Hessian, adjoint to
its own transpose, and in float32 as exact as in float64."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ..check import Check
from ..oracle import off
from .calls import Calls


def float32_agrees_with_float64(calls: Calls, check: Check) -> None:
    """The same inputs in both: no formula loses digits only because the dtype is smaller."""
    if "f" not in calls.case.dtypes:
        return
    for shapes, wide in calls.programs():
        narrow = calls.program(shapes, "f")
        assert all(np.array_equal(a, b) for a, b in zip(narrow.xs, wide.xs, strict=True))
        got = [*narrow.slopes, *narrow.second()]
        expected = [*wide.slopes, *wide.second()]
        # Some roundings for the formula and one for each term of a sum or factor of a product.
        tolerance = (8 + sum(x.size for x in narrow.xs)) * 2.0**-23
        for k, (g, want) in enumerate(zip(got, expected, strict=True)):
            check.that(g.dtype == np.float32, f"{k} of {shapes}: dtype {g.dtype}")
            error = off(g.numpy(), want.numpy().astype(np.longdouble), 1.0)
            if not error <= tolerance:
                text = f"{k} of {shapes}: {error:.2g} off: {g.numpy()}, float64 {want.numpy()}"
                check.that(False, text)


def linear_in_the_cotangent(calls: Calls, check: Check) -> None:
    program = calls.program(calls.case.largest)
    other = np.random.default_rng(1).standard_normal(program.y.shape)

    def pulled(cotangent: Any) -> list[Any]:
        return [g.numpy() for g in pb.gradients(program.y, program.wrt, grad_ys=cotangent)]

    parts = zip(pulled(program.c), pulled(other), pulled(3.0 * program.c - other), strict=True)
    for k, (first, second, both) in enumerate(parts):
        scale = max(np.max(np.abs(g), initial=1) for g in (first, second))
        error = np.max(np.abs(both - (3 * first - second)), initial=0)
        check.that(error <= 4e-15 * scale, f"argument {k}: {error:.2g} off")


def a_zero_cotangent_gives_exact_zeros(calls: Calls, check: Check) -> None:
    for shapes, program in calls.programs():
        zero = np.zeros(program.y.shape)
        for k, g in enumerate(pb.gradients(program.y, program.wrt, grad_ys=zero)):
            value = g.numpy()
            same = value.shape == program.wrt[k].shape and value.dtype == np.float64
            zeros = same and not np.any(value)
            check.that(zeros, f"argument {k} of {shapes}: {value.dtype} {value}")


def hessian_is_symmetric(calls: Calls, check: Check) -> None:
    """<u, H v> = <v, H u>, over all arguments together."""
    program = calls.program(calls.case.largest)
    rng = np.random.default_rng(2)
    us, vs = ([rng.uniform(-1, 1, w.shape) for w in program.wrt] for _ in range(2))

    def product(directions: list[Any]) -> list[Any]:
        pairs = zip(program.slopes, directions, strict=True)
        total = sum(pb.sum(slope * d) for slope, d in pairs)
        found = pb.gradients(total, program.wrt, unconnected_gradients="zero")
        return [g.numpy() for g in found]

    hv, hu = product(vs), product(us)
    left = sum(np.sum(u * h) for u, h in zip(us, hv, strict=True))
    right = sum(np.sum(v * h) for v, h in zip(vs, hu, strict=True))
    scale = sum(np.sum(np.abs(u * h)) for u, h in zip(us, hv, strict=True))
    check.that(abs(left - right) <= 1e-13 * max(1.0, scale), f"{left} and {right}")


def reverse_twice_is_adjoint(calls: Calls, check: Check) -> None:
    """<J u, c> = <u, J* c>, where J u is the gradient of <J* c, u> by c."""
    for shapes, program in calls.programs():
        *_, pushed = program.second()
        pairs = zip(program.slopes, program.directions, strict=True)
        terms = np.concatenate([np.ravel(g.numpy() * u) for g, u in pairs])
        left = np.ravel(pushed.numpy() * program.c).astype(np.longdouble)
        scale = max(np.sum(np.abs(terms)), np.sum(np.abs(left)), 1)
        error = abs(np.sum(left) - np.sum(terms.astype(np.longdouble)))
        check.that(error <= 1e-14 * scale, f"{shapes}: {error} off")


PROPERTIES = (
    float32_agrees_with_float64,
    linear_in_the_cotangent,
    a_zero_cotangent_gives_exact_zeros,
    hessian_is_symmetric,
    reverse_twice_is_adjoint,
)
