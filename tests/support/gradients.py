"""The ways to ask for a gradient: one test then says what holds in each of them.

A test that takes `mode` (the fixture `each_mode`, imported where it is used) runs once for each.
`mode(f, *arrays)` is what f's derivatives by arguments made from the arrays are there, as lists.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pullback as pb


def value(g: Any) -> Any:
    """A gradient as a list or a number; None stays None."""
    return None if g is None else g.numpy().tolist()


def by_gradients(f: Callable[..., Any], *arrays: Any) -> Any:
    xs = [pb.Variable(a) for a in arrays]
    return pb.gradients(f(*xs), xs)


def by_tape(f: Callable[..., Any], *arrays: Any) -> Any:
    xs = [pb.constant(a) for a in arrays]
    with pb.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)


def by_grad(f: Callable[..., Any], *arrays: Any) -> Any:
    return list(pb.grad(lambda *xs: pb.sum(f(*xs)), tuple(range(len(arrays))))(*arrays))


def by_function(f: Callable[..., Any], *arrays: Any) -> Any:
    @pb.function
    def compute(*xs: Any) -> Any:
        with pb.GradientTape() as tape:
            tape.watch(list(xs))
            y = f(*xs)
        return tape.gradient(y, list(xs))

    compute(*arrays)
    return compute(*arrays)


def through_function(f: Callable[..., Any], *arrays: Any) -> Any:
    xs = [pb.Variable(a) for a in arrays]
    traced = pb.function(f)
    traced(*[x.read() for x in xs])
    return pb.gradients(traced(*[x.read() for x in xs]), xs)


MODES = [by_gradients, by_tape, by_grad, by_function, through_function]


@pytest.fixture(params=MODES, ids=lambda mode: mode.__name__, name="mode")
def each_mode(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    def ask(f: Callable[..., Any], *arrays: Any) -> list[Any]:
        return [value(g) for g in request.param(f, *arrays)]

    return ask
