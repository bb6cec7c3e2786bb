"""What a module of kinds starts with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..generate import Generator as Generator
else:
    Generator = Any

Kind = Callable[[Generator], Any]
registered: list[tuple[Kind, float]] = []


def kind(weight: float) -> Callable[[Kind], Kind]:
    def register(f: Kind) -> Kind:
        registered.append((f, weight))
        return f

    return register


def axis_of(g: Generator, x: int) -> int:
    ndim = g.array(x).ndim
    return int(g.random.integers(-ndim, ndim))


def axes_of(g: Generator, x: int) -> Any:
    ndim = g.array(x).ndim
    if ndim == 0 or g.chance(0.25):
        return g.pick(None, None, ())
    if g.chance(0.4):
        count = int(g.random.integers(1, ndim + 1))
        return tuple(int(a) for a in g.random.permutation(ndim)[:count])
    return axis_of(g, x)
