"""Evals of GradBench of one formula each: the determinant by minors, k-means, an ODE.

The suite's other evals have files of their own: bundle_adjustment.py, hand_tracking.py and
descents.py; gmm, lse, llsq and lstm are in formulas.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of

# --- the determinant by minors, each computed once


@cache
def _minors_of(n: int) -> list[Any]:
    """For m = 2 … n, of all sets of m columns: the columns, the position of the set without each of
    them among the sets of m - 1, and the signs; a row for each of the m columns."""
    tables = []
    for m in range(2, n + 1):
        before = {s: i for i, s in enumerate(combinations(range(n), m - 1))}
        sets = list(combinations(range(n), m))
        without = [[before[s[:t] + s[t + 1 :]] for s in sets] for t in range(m)]
        signs = (-1.0) ** np.arange(m)[:, None]
        tables.append((np.array(sets).T.copy(), np.array(without), signs))
    return tables


def _determinant(tables: Any, a: Any) -> Any:
    minors = a[-1]
    for m, (columns, without, signs) in enumerate(tables, 2):
        minors = (signs * a[-m][columns] * minors[without]).sum(0)
    return minors[0]


def _det_pullback(n: int, a: Any) -> Any:
    import pullback as pb

    return pb.value_and_grad(partial(_determinant, _minors_of(n)))(a)


def _det_jax(n: int, a: Any) -> Any:
    import jax

    return jax.value_and_grad(partial(_determinant, _minors_of(n)))(a)


@cache
def _torch_minors_of(n: int) -> list[Any]:
    import torch

    return [tuple(torch.from_numpy(x) for x in table) for table in _minors_of(n)]


def _det_torch(n: int, a: Any) -> Any:
    import torch

    gradient, value = torch.func.grad_and_value(partial(_determinant, _torch_minors_of(n)))(a)
    return value, gradient


def _det_task(n: int) -> Task:
    return Task(
        f"determinant of a {n}×{n} float64 matrix by minors, and its gradient",
        lambda random, small: [random.uniform(size=(n, n))],
        partial(_det_pullback, n),
        partial(_det_jax, n),
        partial(_det_torch, n),
        cpp=("det", lambda a: ([n], [np.empty(1), np.empty((n, n))])),
        tolerance=1e-7,
    )


# --- k-means


def _clusters(size: tuple[int, int, int], random: Any, small: bool) -> list[Any]:
    """Points and centroids, which are the last points: no cluster is empty."""
    k, n, d = (3, 20, 4) if small else size
    points = random.uniform(size=(n, d))
    return [points, points[-k:].copy()]


def _nearness(points: Any, centroids: Any) -> Any:
    """Squares of distances, less the square of each point."""
    return points @ (-2 * centroids.T) + (centroids * centroids).sum(1)


def _cost(least: Callable[..., Any], points: Any, centroids: Any) -> Any:
    return least(_nearness(points, centroids), 1).sum() + (points * points).sum()


def _step(xp: Any, grad: Any, jvp: Any, points: Any, centroids: Any) -> Any:
    """Newton's step: the gradient over the Hessian's diagonal, which is the whole Hessian."""
    nearest = xp.argmin(_nearness(points, centroids), 1)

    def cost(centroids: Any) -> Any:
        difference = points - centroids[nearest]
        return (difference * difference).sum()

    gradient, diagonal = jvp(grad(cost), (centroids,), (0 * centroids + 1,))
    return gradient / diagonal


def _cost_pullback(points: Any, centroids: Any) -> Any:
    import pullback as pb

    return _cost(pb.min, points, centroids)


def _cost_jax(points: Any, centroids: Any) -> Any:
    import jax.numpy as jnp

    return _cost(jnp.min, points, centroids)


def _cost_torch(points: Any, centroids: Any) -> Any:
    import torch

    return _cost(torch.amin, points, centroids)


def _step_pullback(points: Any, centroids: Any) -> Any:
    import pullback as pb

    return _step(pb, pb.grad, pb.jvp, points, centroids)


def _step_jax(points: Any, centroids: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return _step(jnp, jax.grad, jax.jvp, points, centroids)


def _step_torch(points: Any, centroids: Any) -> Any:
    import torch

    return _step(torch, torch.func.grad, torch.func.jvp, points, centroids)


def _clusters_out(step: bool, points: Any, centroids: Any) -> tuple[list[int], list[Any]]:
    sizes = [len(points), *centroids.shape]
    return sizes, [np.empty_like(centroids) if step else np.empty(1)]


def _kmeans_tasks(size: tuple[int, int, int]) -> dict[str, Task]:
    k, n, d = size
    of = f"k-means, {k} clusters of {n} points of {d} float64"
    return {
        f"kmeans-cost-{n}": Task(
            f"cost of {of}",
            partial(_clusters, size),
            _cost_pullback,
            _cost_jax,
            _cost_torch,
            numpy=partial(_cost, np.min),
            cpp=("kmeans_cost", partial(_clusters_out, False)),
            tolerance=1e-7,
        ),
        f"kmeans-step-{n}": Task(
            f"step of Newton's method of {of}",
            partial(_clusters, size),
            _step_pullback,
            _step_jax,
            _step_torch,
            cpp=("kmeans_step", partial(_clusters_out, True)),
            tolerance=1e-7,
        ),
    }


# --- y_i' = x_i y_(i-1), where y_(-1) is 1, by Runge and Kutta's method of order 4


def _ode(steps: int, concatenate: Any, one: Any, loop: Any, x: Any) -> Any:
    """The sum of the last y. (The suite's gradient is of the last entry: zeros at its sizes.)"""
    h = 2 / steps

    def slope(y: Any) -> Any:
        return x * concatenate([one, y[:-1]])

    def step(i: Any, y: Any) -> Any:
        k1 = slope(y)
        k2 = slope(y + h / 2 * k1)
        k3 = slope(y + h / 2 * k2)
        k4 = slope(y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    return loop(0, steps, step, 0 * x).sum()


def _ode_pullback(steps: int, x: Any) -> Any:
    import pullback as pb

    f = partial(_ode, steps, pb.concatenate, np.ones(1), pb.fori_loop)
    return pb.value_and_grad(f)(x)


def _ode_jax(steps: int, x: Any) -> Any:
    import jax
    import jax.numpy as jnp

    f = partial(_ode, steps, jnp.concatenate, np.ones(1), jax.lax.fori_loop)
    return jax.value_and_grad(f)(x)


def _ode_torch(steps: int, x: Any) -> Any:
    import torch

    def loop(lower: int, upper: int, step: Any, state: Any) -> Any:
        for i in range(lower, upper):
            state = step(i, state)
        return state

    one = torch.ones(1, dtype=torch.float64)
    f = partial(_ode, steps, torch.concatenate, one, loop)
    gradient, value = torch.func.grad_and_value(f)(x)
    return value, gradient


def _ode_task(n: int, steps: int) -> Task:
    return Task(
        f"{steps} Runge-Kutta steps of an ODE of {n} float64, and the gradient of the sum",
        lambda random, small: [random.uniform(size=8 if small else n)],
        partial(_ode_pullback, steps),
        partial(_ode_jax, steps),
        partial(_ode_torch, steps),
        cpp=("ode", lambda x: ([len(x), steps], [np.empty(1), np.empty_like(x)])),
        tolerance=1e-7,
    )


TASKS = {
    "det-5": _det_task(5),
    "det-11": _det_task(11),
    **_kmeans_tasks((10, 1000, 8)),
    **_kmeans_tasks((100, 100_000, 16)),
    "ode-1000": _ode_task(1000, 10),
    "ode-100000": _ode_task(100_000, 100),
}
ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
