"""The continuous adjoint of a solution: its gradient solves another equation, backwards in time.

Pontryagin's equation for the sensitivity, a' = -aᵀ ∂f/∂y, is solved backwards along the solution,
together with the integrals that are the gradients of the parameters, as in Chen, Rubanova,
Bettencourt and Duvenaud, "Neural Ordinary Differential Equations" (2018). The gradients of the
times follow at each time. Of the forward solution only the values at the times are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _core
from .._autodiff.function import inlined_functions
from .._autodiff.vjp import vjp
from .._control.loops import scan
from .._core import ClosedGraph, Rule, Tensor


class _Slope:
    """The function f of (y, t) as a function of (y, t, parameters).

    The parameters are all floating tensors from outside that `f` uses.
    """

    def __init__(self, f: Callable[[Tensor, Tensor], Tensor], y: Tensor, t: Tensor) -> None:
        trace = _core.Trace("odeint")
        given = [trace.argument(x.dtype.name, x.shape, False) for x in (y, t)]
        first = _core.next_number()
        with inlined_functions():
            out = f(*given)
        self.dtype, self.shape = y.dtype.name, y.shape
        self._graph = ClosedGraph([out], given, first)
        others = self._graph.others
        self._at = [k for k, x in enumerate(others) if x.dtype.kind in "fc"]
        self.parameters = [others[k] for k in self._at]

    def __call__(self, y: Tensor, t: Tensor, *parameters: Tensor) -> Tensor:
        others = self._graph.others
        for k, x in zip(self._at, parameters, strict=True):
            others[k] = x
        result: Tensor = self._graph.copy([y, t, *others], False)[0]
        return result


def with_adjoint(
    f: Callable[[Tensor, Tensor], Tensor],
    y0: Tensor,
    ts: Tensor,
    who: str,
    solve: Callable[[Callable[..., Any], Any, Tensor], Any],
) -> Tensor:
    """Return solve(f, y0, ts) with a gradient by the adjoint equation.

    `solve` solves that equation too. Its arguments are a function of a state and a time, a state,
    which may be a tuple, and times.
    """
    closed = _Slope(f, y0, ts[0])
    inputs = [y0, ts, *closed.parameters]
    stopped = [_core.stop_gradient(x) for x in inputs]
    ys = solve(lambda y, t: closed(y, t, *stopped[2:]), stopped[0], stopped[1])

    def rule(op: str, inputs: list[Any], outputs: list[Any], upstream: list[Any]) -> list[Any]:
        _, ts, *parameters = inputs
        return _backwards(closed, outputs[0], ts, parameters, upstream[0], solve)

    (out,) = _core.custom([ys], inputs, Rule(rule, who))
    return out


def _backwards(
    closed: _Slope, ys: Tensor, ts: Tensor, parameters: list[Tensor], g: Tensor, solve: Any
) -> list[Tensor]:
    wide = [_core.cast(p, closed.dtype) for p in parameters]  # one dtype for the whole state
    zero = _core.full((), 0, closed.dtype)

    def slopes(state: Any, t: Tensor) -> Any:
        y, a = state[:2]
        value, pull = vjp(closed, y, t, *parameters)
        by_y, *others = pull(a)
        return (value, -by_y, *(-_core.cast(other, closed.dtype) for other in others))

    def between(carry: Any, x: Any) -> Any:
        a, *sums = carry
        after, before, y, g_after, g_before = x
        # The derivative by a time is the slope of the solution at that time.
        moved = _dot(closed(y, after, *parameters), g_after)
        sums[0] = sums[0] - _core.cast(moved, closed.dtype)
        ends = _core.stack([after, before], 0)
        found = solve(slopes, (y, a, *sums), ends)
        _, a, *sums = [part[1] for part in found]
        return (a + g_before, *sums), moved

    start = (g[-1], zero, *(_core.full(p.shape, 0, closed.dtype) for p in wide))
    along = (ts[1:], ts[:-1], ys[1:], g[1:], g[:-1])
    (a, first, *sums), moved = scan(between, start, along, reverse=True)
    times = _core.concat([_like(first, ts)[None], moved], 0)
    return [a, times, *(_like(s, p) for s, p in zip(sums, parameters, strict=True))]


def _dot(f: Tensor, g: Tensor) -> Tensor:
    return _core.real(_core.sum(_core.multiply(_core.conj(f), g)))


def _like(x: Tensor, other: Tensor) -> Tensor:
    return _core.cast(_core.real(x) if other.dtype.kind == "f" else x, other.dtype.name)
