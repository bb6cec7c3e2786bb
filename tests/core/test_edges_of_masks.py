"""Gradients at the points that masks are made for: what a rule masks is 0 there, not NaN, and
neither is what no window has taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import _core

INF = np.inf

# A function, its arguments, and the gradients by them.
CASES: dict[str, tuple[Callable[..., Any], list[Any], list[Any]]] = {
    "xlogy": (pb.xlogy, [[0.0, 0.0, 2.0], [0.0, -1.0, 1.0]], [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]),
    "xlogy of itself": (lambda x: pb.xlogy(x, x), [[0.0, 1.0]], [[0.0, 1.0]]),
    "logaddexp": (pb.logaddexp, [[-INF, 0.0], [-INF, 0.0]], [[0.0, 0.5], [0.0, 0.5]]),
    "logaddexp of logarithms": (
        lambda x: pb.logaddexp(pb.log(x), pb.log(x)), [[0.0, 1.0]], [[0.0, 1.0]],
    ),
    "copysign of zeros": (
        lambda x: pb.copysign(x, [0.0, -0.0, 3.0]), [[2.0, 2.0, -2.0]], [[1.0, -1.0, -1.0]],
    ),
    "a quotient by zero that is not taken": (
        lambda x: pb.where(x > 1.5, x, x / 0.0), [[1.0, 2.0]], [[INF, 1.0]],
    ),
    "slices around an entry": (
        lambda x: pb.concat([pb.sqrt(x)[0:2], pb.sqrt(x)[3:5]]), [[1.0, 1, 0, 1, 1]],
        [[0.5, 0.5, 0.0, 0.5, 0.5]],
    ),
    "slices of one tensor around an entry": (
        lambda x: (lambda s: s[0:2] + s[3:5])(pb.sqrt(x)), [[1.0, 1, 0, 1, 1]],
        [[0.5, 0.5, 0.0, 0.5, 0.5]],
    ),
    "steps before the last entry": (
        lambda x: (lambda s: s[0:4:2] + s[1:3])(pb.sqrt(x)), [[1.0, 1, 1, 1, 0]],
        [[0.5, 0.5, 1.0, 0.0, 0.0]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("traced", [False, True])
def test_gradients(name: str, traced: bool) -> None:
    f, arguments, expected = CASES[name]

    def gradients(*xs: Any) -> Any:
        return pb.gradients(pb.sum(f(*xs)), list(xs))

    xs = [pb.Variable(np.array(x)).read() for x in arguments]
    found = (pb.function(gradients) if traced else gradients)(*xs)
    for g, one in zip(found, expected, strict=True):
        np.testing.assert_allclose(g.numpy(), one)


@pytest.mark.parametrize("of", [lambda z: z[0:2], lambda z: pb.take(z, pb.constant([0, 1]))])
def test_tangents_around_a_cotangent(of: Callable[[Any], Any]) -> None:
    """What a slice or a take has not seen does not move, whatever slope it meets."""

    def f(x: Any) -> Any:
        return pb.sqrt(pb.grad(lambda z: pb.sum(of(z) * x))(pb.zeros(3)))

    value, tangent = pb.jvp(f, ([4.0, 9.0],), ([1.0, 1.0],))
    np.testing.assert_allclose(value.numpy(), [2.0, 3.0, 0.0])
    np.testing.assert_allclose(tangent.numpy(), [1 / 4, 1 / 6, 0.0], rtol=1e-6)


def test_what_is_not_picked_meets_no_infinite_slope() -> None:
    x = pb.Variable(np.array([[4.0, 0.0, 0.0], [0.0, 9.0, 0.0]]))
    [g] = pb.gradients(pb.sum(_core.pick(pb.sqrt(x), pb.constant([0, 1]))), x)
    np.testing.assert_allclose(g.numpy(), [[1 / 4, 0, 0], [0, 1 / 6, 0]])


@pytest.mark.parametrize(
    ("of", "moves"),
    [
        (lambda s: pb.cumulative_sum(s), [0, 1, 1]),
        (lambda s: pb.flip(pb.cumulative_sum(pb.flip(s))), [1, 1, 0]),
        (lambda s: _core.scatter_add(s, pb.constant([2, 0, 2]), 0, 3), [1, 0, 0]),
        (lambda s: pb.real(pb.complex(s, 3.0 * s)), [0, 1, 0]),
    ],
)
def test_tangents_of_sums_of_structural_zeros(of: Callable[[Any], Any], moves: list[int]) -> None:
    """A sum of structural zeros is one, in forward mode as in reverse mode."""
    chosen = pb.constant([False, True, False])

    def f(x: Any) -> Any:
        return pb.cbrt(of(pb.sqrt(pb.where(chosen, x, 0.0))))

    x = pb.constant([4.0, 1.0, 9.0])
    np.testing.assert_allclose(
        pb.jvp(f, (x,), (pb.ones(3),))[1].numpy(), np.array(moves) / 6, rtol=1e-6
    )
    (backward,) = pb.vjp(f, x)[1](pb.ones(3))
    np.testing.assert_allclose(backward.numpy(), [0, sum(moves) / 6, 0], rtol=1e-6)


def test_a_tangent_keeps_its_structural_zeros_for_every_use() -> None:
    """A sum takes the plain numbers of a tangent; the next operation still needs the zeros."""

    def f(x: Any) -> Any:
        root = pb.sqrt(pb.where(pb.constant([False, True, False]), x, 0.0))
        return pb.sum(root), pb.cbrt(root)

    x = pb.constant([4.0, 1.0, 9.0])
    total, roots = pb.jvp(f, (x,), (pb.ones(3),))[1]
    assert total.item() == 0.5
    np.testing.assert_allclose(roots.numpy(), [0, 1 / 6, 0], rtol=1e-6)
