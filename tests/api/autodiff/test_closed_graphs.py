"""Second derivatives through closed graphs that contain operations with several results.

A reverse pass takes further results of such an operation: the states of a loop, the vectors of a
factorisation. A closed graph that treats these as constants has a wrong second derivative in both
modes, equal to each other, which only finite differences detect.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

from ..implicit.test_implicit_operations import SEVERAL_RESULTS


def ruled(body: Any) -> Any:
    """By a custom gradient that differentiates its own result."""

    @pb.custom_gradient
    def f(z: Any) -> Any:
        y = body(z)
        return y, lambda g: pb.gradients(y, z, g)

    return f


def called_back(body: Any) -> Any:
    """In a NumPy function whose rule is that of the operation."""

    def vjp(primals: Any, upstream: Any) -> Any:
        return pb.vjp(body, *primals)[1](*upstream)

    return pb.numpy_function(lambda z: body(pb.constant(z)).numpy(), lambda z: z, vjp)


def solved(adjoint: str) -> Any:
    times = np.array([0.0, 0.2])

    def wrap(body: Any) -> Any:
        rate = lambda y, t, k: k * pb.cos(body(y)) - y  # noqa: E731
        return lambda z: pb.integrate.odeint(
            rate, z, times, z[0], rtol=1e-9, atol=1e-11, adjoint=adjoint
        )[1]

    return wrap


def scanned(body: Any) -> Any:
    def f(z: Any) -> Any:
        h, hs = pb.scan(lambda h, e: (0.5 * body(h) + e * h, pb.sin(body(h * e))), z, z)
        return h + hs[1]

    return f


def repeated(body: Any) -> Any:
    return lambda z: pb.fori_loop(0, 2, lambda i, h: 0.5 * body(h) + z, z)


def repeated_while(body: Any) -> Any:
    def f(z: Any) -> Any:
        more = lambda s: s[0] < 2  # noqa: E731
        return pb.while_loop(more, lambda s: (s[0] + 1, 0.5 * body(s[1]) + z), (0, z))[1]

    return f


CLOSED = {
    "custom_gradient": ruled,
    "numpy_function": called_back,
    "odeint_discrete": solved("discrete"),
    "odeint_continuous": solved("continuous"),
    "checkpoint": pb.checkpoint,
    "function": pb.function,
    "scan": scanned,
    "fori_loop": repeated,
    "while_loop": repeated_while,
    "map": lambda body: lambda z: pb.sum(pb.map(body, pb.stack([z, 2 * z])), 0),
    "cond": lambda body: lambda z: pb.cond(z[0] < 9, body, lambda z: z, z),
    "vmap": lambda body: lambda z: pb.sum(pb.vmap(body)(pb.stack([z, 2 * z])), 0),
    "checkpoint_of_custom_gradient": lambda body: pb.checkpoint(ruled(body)),
    "scan_of_checkpoint": lambda body: scanned(pb.checkpoint(body)),
}


def differences(f: Any, t: Any) -> Any:
    """Central differences of f along each entry of t, as the first axis."""
    h = 3e-5
    return np.stack(
        [(np.asarray(f(t + s)) - np.asarray(f(t - s))) / (2 * h) for s in np.eye(2) * h]
    )


@each("name", SEVERAL_RESULTS)
@pytest.mark.parametrize(
    "closed",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name == "odeint_continuous" else [])
        for name in CLOSED
    ],
)
def test_second_derivatives(closed: str, name: str) -> None:
    inside = CLOSED[closed](SEVERAL_RESULTS[name])
    weights = pb.constant(np.array([1.0, 0.3]))
    f = lambda t: pb.sum(pb.sin(inside(t)) * weights)  # noqa: E731
    value = lambda t: f(pb.constant(t)).numpy()  # noqa: E731
    slope = lambda t: pb.grad(f)(pb.constant(t)).numpy()  # noqa: E731
    t = np.array([0.7, 1.2])
    np.testing.assert_allclose(slope(t), differences(value, t), rtol=1e-5, atol=1e-7)
    expected = differences(slope, t)
    for mode in ("forward", "reverse"):
        second = pb.jacobian(pb.grad(f), mode=mode)(pb.constant(t))
        np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-6, err_msg=mode)
