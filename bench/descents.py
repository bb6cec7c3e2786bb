"""Optimisation by loops inside of loops: gradient descent in gradient descent.

`saddle` and `particle` are evals of GradBench, by J. M. Siskind and B. A. Pearlmutter, "Using
polyvariant union-free flow analysis to compile a higher-order functional-programming language with
a first-class derivative operator to efficient Fortran-like code", 2008. jax has no reverse mode of
loops of unknown length, so its forms use forward mode there.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of


def _argmin(xp: Any, while_loop: Any, derivative: Any, f: Any, start: Any) -> Any:
    """Find a minimum by gradient descent; the step size grows after ten decreases."""

    def length(v: Any) -> Any:
        return xp.sqrt(sum(a * a for a in v))

    def going(s: Any) -> Any:
        slope, stop = s[2], s[5]
        return xp.logical_and(length(slope) > 1e-5, xp.logical_not(stop))

    def step(s: Any) -> Any:
        x, fx, slope, eta, i, stop = s
        grows = i == 10
        moved = [a - eta * b for a, b in zip(x, slope, strict=True)]
        way = length([a - b for a, b in zip(x, moved, strict=True)])
        stop = xp.logical_and(xp.logical_not(grows), way <= 1e-5)
        f_moved, slope_moved = f(*moved), derivative(f, *moved)
        better = xp.logical_and(xp.logical_not(xp.logical_or(grows, stop)), f_moved < fx)
        still = xp.logical_or(better, stop)
        eta = xp.where(grows, eta * 2.0, xp.where(still, eta, eta / 2.0))

        def chosen(new: Any, old: Any) -> Any:
            return xp.where(better, new, old)

        x = [chosen(a, b) for a, b in zip(moved, x, strict=True)]
        slope = [chosen(a, b) for a, b in zip(slope_moved, slope, strict=True)]
        return x, chosen(f_moved, fx), slope, eta, chosen(i + 1, 0 * i), stop

    zero = 0 * start[0]
    state = (list(start), f(*start), derivative(f, *start), zero + 1e-5, zero, zero > 1)
    return while_loop(going, step, state)[0]


def _saddle(random: Any, small: bool) -> list[Any]:
    return [np.array(1.0), np.array(1.0)]


def _find_saddle(argmin: Any, x: Any, y: Any) -> Any:
    def largest(x1: Any, y1: Any) -> Any:
        def negative(x2: Any, y2: Any) -> Any:
            return -((x1 * x1 + y1 * y1) - (x2 * x2 + y2 * y2))

        return argmin(negative, [x, y])

    def height(x1: Any, y1: Any) -> Any:
        x2, y2 = largest(x1, y1)
        return (x1 * x1 + y1 * y1) - (x2 * x2 + y2 * y2)

    x1, y1 = argmin(height, [x, y])
    return [x1, y1, *largest(x1, y1)]


def _particle(random: Any, small: bool) -> list[Any]:
    return [np.array(0.0)]


def _find_charge(sqrt: Any, while_loop: Any, grad: Any, argmin: Any, w: Any) -> Any:
    def flight(w: Any) -> Any:
        def potential(x: Any, y: Any) -> Any:
            def from_charge(a: Any, b: Any) -> Any:
                return 1 / sqrt((x - a) * (x - a) + (y - b) * (y - b))

            return from_charge(10.0, 10.0 - w) + from_charge(10.0, 0.0)

        def step(s: Any) -> Any:
            x, y, u, v = s
            a, b = grad(potential, (0, 1))(x, y)
            return x + 0.1 * u, y + 0.1 * v, u - 0.1 * a, v - 0.1 * b

        zero = 0 * w
        x, y, u, v = while_loop(lambda s: s[1] + 0.1 * s[3] > 0, step,
                                (zero, zero + 8, zero + 0.75, zero))  # fmt: skip
        end = x - y / v * u
        return end * end

    return argmin(flight, [w])


def _derivative_pullback(f: Any, *at: Any) -> Any:
    import pullback as pb

    return list(pb.grad(f, tuple(range(len(at))))(*at))


def _derivative_jax(f: Any, *at: Any) -> Any:
    import jax

    return list(jax.jacfwd(f, tuple(range(len(at))))(*at))


def _saddle_pullback(x: Any, y: Any) -> Any:
    import pullback as pb

    return _find_saddle(partial(_argmin, pb, pb.while_loop, _derivative_pullback), x, y)


def _saddle_jax(x: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return _find_saddle(partial(_argmin, jnp, jax.lax.while_loop, _derivative_jax), x, y)


def _particle_pullback(w: Any) -> Any:
    import pullback as pb

    argmin = partial(_argmin, pb, pb.while_loop, _derivative_pullback)
    return _find_charge(pb.sqrt, pb.while_loop, pb.grad, argmin, w)


def _particle_jax(w: Any) -> Any:
    import jax
    import jax.numpy as jnp

    argmin = partial(_argmin, jnp, jax.lax.while_loop, _derivative_jax)
    return _find_charge(jnp.sqrt, jax.lax.while_loop, jax.grad, argmin, w)


TASKS = {
    "saddle": Task(
        "a saddle point by gradient descent in gradient descent, float64",
        _saddle,
        _saddle_pullback,
        _saddle_jax,
        cpp=("saddle", lambda x, y: ([], [np.empty(1) for _ in range(4)])),
        tolerance=1e-4,
    ),
    "particle": Task(
        "the charge that guides a particle, by gradient descent through its flight, float64",
        _particle,
        _particle_pullback,
        _particle_jax,
        cpp=("particle", lambda w: ([], [np.empty(1)])),
        tolerance=1e-4,
    ),
}
ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
