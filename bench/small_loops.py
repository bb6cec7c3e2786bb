"""Loops over a few numbers: trajectories, and loops inside of loops. Most of their time is what a
library adds to each iteration.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of

STEPS = 10_000


# --- one number: x becomes 0.999 x + 0.001, `operations` times an iteration


def _one(random: Any, small: bool) -> list[Any]:
    return [np.array(0.5)]


def _chain(operations: int, i: Any, x: Any) -> Any:
    for k in range(operations):
        x = x + 0.001 if k % 2 else x * 0.999
    return x


def _chain_pullback(operations: int, gradient: bool, x: Any) -> Any:
    import pullback as pb

    def end(x: Any) -> Any:
        return pb.fori_loop(0, STEPS, partial(_chain, operations), x)

    return pb.value_and_grad(end)(x) if gradient else end(x)


def _chain_jax(operations: int, gradient: bool, x: Any) -> Any:
    import jax

    def end(x: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, partial(_chain, operations), x)

    return jax.value_and_grad(end)(x) if gradient else end(x)


def _inner_chain_pullback(x: Any) -> Any:
    import pullback as pb

    def inner(i: Any, x: Any) -> Any:
        return pb.fori_loop(0, 10, partial(_chain, 3), x)

    return pb.fori_loop(0, STEPS // 10, inner, x)


def _inner_chain_jax(x: Any) -> Any:
    import jax

    def inner(i: Any, x: Any) -> Any:
        return jax.lax.fori_loop(0, 10, partial(_chain, 3), x)

    return jax.lax.fori_loop(0, STEPS // 10, inner, x)


# --- Lorenz's equations


def _lorenz(random: Any, small: bool) -> list[Any]:
    return [np.array(v) for v in (10.0, 28.0, 8 / 3, 1.0, 1.0, 1.0)]


def _lorenz_euler(p: Any, q: Any, r: Any, i: Any, state: Any) -> Any:
    x, y, z = state
    dt = 1e-4
    return x + dt * (p * (y - x)), y + dt * (x * (q - z) - y), z + dt * (x * y - r * z)


def _lorenz_sum(loop: Any, p: Any, q: Any, r: Any, *state: Any) -> Any:
    x, y, z = loop(0, STEPS, partial(_lorenz_euler, p, q, r), state)
    return x * x + y * y + z * z


def _lorenz_pullback(gradient: bool, *numbers: Any) -> Any:
    import pullback as pb

    end = partial(_lorenz_sum, pb.fori_loop)
    return pb.value_and_grad(end, (0, 1, 2))(*numbers) if gradient else end(*numbers)


def _lorenz_jax(gradient: bool, *numbers: Any) -> Any:
    import jax

    end = partial(_lorenz_sum, jax.lax.fori_loop)
    return jax.value_and_grad(end, (0, 1, 2))(*numbers) if gradient else end(*numbers)


def _rk4(slope: Any, dt: float, y: Any) -> Any:
    k1 = slope(y)
    k2 = slope(y + dt / 2 * k1)
    k3 = slope(y + dt / 2 * k2)
    k4 = slope(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _lorenz_rk4(stack: Any, loop: Any, p: Any, q: Any, r: Any, *state: Any) -> Any:
    def slope(s: Any) -> Any:
        x, y, z = s[0], s[1], s[2]
        return stack([p * (y - x), x * (q - z) - y, x * y - r * z])

    return loop(0, STEPS, lambda i, s: _rk4(slope, 1e-4, s), stack(list(state)))


def _lorenz_rk4_pullback(*numbers: Any) -> Any:
    import pullback as pb

    return _lorenz_rk4(pb.stack, pb.fori_loop, *numbers)


def _lorenz_rk4_jax(*numbers: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return _lorenz_rk4(jnp.stack, jax.lax.fori_loop, *numbers)


# --- x' = c x by Runge and Kutta's method of order 4, and the gradient by c


def _growth(random: Any, small: bool) -> list[Any]:
    return [np.array(0.3), np.array(1.0)]


def _ode_pullback(c: Any, x: Any) -> Any:
    import pullback as pb

    def end(c: Any) -> Any:
        return pb.fori_loop(0, STEPS, lambda i, x: _rk4(lambda y: c * y, 1e-4, x), x)

    return pb.value_and_grad(end)(c)


def _ode_jax(c: Any, x: Any) -> Any:
    import jax

    def end(c: Any) -> Any:
        return jax.lax.fori_loop(0, STEPS, lambda i, x: _rk4(lambda y: c * y, 1e-4, x), x)

    return jax.value_and_grad(end)(c)


# --- Hamiltonian Monte Carlo: 100 proposals of 20 leapfrog steps, for a banana of two numbers


def _hmc_numbers(random: Any, small: bool) -> list[Any]:
    return [random.standard_normal((100, 2)), np.log(random.uniform(size=100))]


def _hmc(where: Any, scan: Any, loop: Any, grad: Any, start: Any, draws: Any, logs: Any) -> Any:
    def energy(x: Any, y: Any) -> Any:
        return 0.5 * x * x + 2 * (y - x * x) * (y - x * x)

    slope = grad(energy, (0, 1))
    dt = 0.05

    def leap(i: Any, s: Any) -> Any:
        x, y, u, v = s
        a, b = slope(x, y)
        u, v = u - dt / 2 * a, v - dt / 2 * b
        x, y = x + dt * u, y + dt * v
        a, b = slope(x, y)
        return x, y, u - dt / 2 * a, v - dt / 2 * b

    def propose(s: Any, drawn: Any) -> Any:
        (x, y), (draw, log) = s, drawn
        u, v = draw[0], draw[1]
        nx, ny, nu, nv = loop(0, 20, leap, (x, y, u, v))
        before = energy(x, y) + 0.5 * (u * u + v * v)
        after = energy(nx, ny) + 0.5 * (nu * nu + nv * nv)
        taken = log < before - after
        x, y = where(taken, nx, x), where(taken, ny, y)
        return (x, y), (x, y)

    return scan(propose, (start, start), (draws, logs))[1]


def _hmc_pullback(draws: Any, logs: Any) -> Any:
    import pullback as pb

    start = pb.constant(0.5, dtype="float64")
    return _hmc(pb.where, pb.scan, pb.fori_loop, pb.grad, start, draws, logs)


def _hmc_jax(draws: Any, logs: Any) -> Any:
    import jax
    import jax.numpy as jnp

    start = jnp.array(0.5)
    return _hmc(jnp.where, jax.lax.scan, jax.lax.fori_loop, jax.grad, start, draws, logs)


def _chain_task(operations: int, gradient: bool) -> Task:
    of = "value and gradient of " if gradient else ""
    return Task(
        f"{of}{STEPS} iterations of {operations} operations on one number, float64",
        _one,
        partial(_chain_pullback, operations, gradient),
        partial(_chain_jax, operations, gradient),
        tolerance=1e-7,
    )


TASKS = {
    "chain-1": _chain_task(1, False),
    "chain-3": _chain_task(3, False),
    "chain-10": _chain_task(10, False),
    "chain-10-gradient": _chain_task(10, True),
    "chain-nested": Task(
        f"{STEPS} iterations of 3 operations on one number, 10 of them in an inner loop, float64",
        _one,
        _inner_chain_pullback,
        _inner_chain_jax,
        tolerance=1e-7,
    ),
    "lorenz": Task(
        f"{STEPS} Euler steps of Lorenz's equations on three numbers, float64",
        _lorenz,
        partial(_lorenz_pullback, False),
        partial(_lorenz_jax, False),
        tolerance=1e-7,
    ),
    "lorenz-gradient": Task(
        f"{STEPS} Euler steps of Lorenz's equations, float64, by the three parameters",
        _lorenz,
        partial(_lorenz_pullback, True),
        partial(_lorenz_jax, True),
        tolerance=1e-7,
    ),
    "lorenz-rk4": Task(
        f"{STEPS} Runge-Kutta steps of Lorenz's equations on a vector of 3, float64",
        _lorenz,
        _lorenz_rk4_pullback,
        _lorenz_rk4_jax,
        tolerance=1e-7,
    ),
    "ode": Task(
        f"{STEPS} Runge-Kutta steps of x' = c x, float64, by c",
        _growth,
        _ode_pullback,
        _ode_jax,
        tolerance=1e-7,
    ),
    "hmc": Task(
        "100 proposals of Hamiltonian Monte Carlo with 20 leapfrog steps, float64",
        _hmc_numbers,
        _hmc_pullback,
        _hmc_jax,
        tolerance=1e-7,
    ),
}

ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
