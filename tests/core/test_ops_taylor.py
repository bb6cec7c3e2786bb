"""Derivatives of third order along a path of every operation: at once, and one tangent after the
other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.cases import NAMES, Case, Check, tensor
from support.checks import small_shapes
from support.roots import ROOTS, X

import pullback as pb
from pullback import _core

LARGEST = 60  # elements of an argument: a third derivative has no more to say of larger ones


def one_after_the_other(y: Any, t: Any, orders: int) -> list[Any]:
    out = []
    for _ in range(orders):
        (y,) = pb.tangents(y, t, unconnected_gradients="zero")
        out.append(y)
    return out


def test_jets_are_nests_of_tangents(differentiable: Case) -> None:
    """Of a curved path x + u t + v t²/2 through the arguments, and of the function of t."""
    case, check = differentiable, Check()
    for shapes in small_shapes(case, LARGEST):
        xs = [
            tensor(x, domain.dtype or "d")
            for x, domain in zip(case.arrays(shapes, "d"), case.domains, strict=True)
        ]
        rng = np.random.default_rng(4)
        us, vs = ([np.round(rng.uniform(-1, 1, xs[k].shape) * 128) / 128 for k in case.wrt]
                  for _ in range(2))  # fmt: skip
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
        assert value.numpy().tobytes() == y.numpy().tobytes()
        for k, (want, got, also) in enumerate(zip(nested, jet, by_time, strict=True)):
            assert got.dtype == NAMES["d"] and got.shape == y.shape
            scale = max(1.0, float(np.max(np.abs(want.numpy()), initial=0)))
            for name, found in (("arguments", got), ("time", also)):
                numbers = 0.0 if found is None else found.numpy()
                off = np.max(np.abs(numbers - want.numpy()), initial=0) / scale
                check.that(bool(off < 1e-12), f"{shapes}: term {k + 1} along {name}: off by {off}")
    check.done()


@pytest.mark.parametrize("name", ROOTS)
def test_structural_zeros_meet_no_infinite_slope(name: str) -> None:
    f = ROOTS[name]
    x = pb.Variable(np.array(X))
    for u in np.array([[1.0, 2.0], [-3.0, 0.5]]):
        _, jet = pb.jet(f, (x.read(),), ([u, 0, 0],))
        nested = [f(x)]
        for got in jet:
            nested += pb.tangents(nested[-1], x, u, unconnected_gradients="zero")
            np.testing.assert_allclose(got.numpy(), nested[-1].numpy(), rtol=1e-14)
