"""Steps of whole programs that fit a model: a spline, a soft sorting network, a factorisation of a
matrix, logistic regression by Newton's method.

A new row is an entry of TASKS, as in transforms.py. Formulas that libraries spell alike take the
namespace `xp`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of


def _slopes_torch(loss: Callable[..., Any], parameters: list[Any]) -> Any:
    import torch

    if torch.compiler.is_compiling():  # it cannot compile the other form
        return torch.func.grad_and_value(loss)(parameters)[::-1]
    parameters = [p.detach().requires_grad_() for p in parameters]
    value = loss(parameters)
    return value.detach(), torch.autograd.grad(value, parameters)


def _slopes_pullback(loss: Callable[..., Any], parameters: list[Any]) -> Any:
    import pullback as pb

    return pb.value_and_grad(loss)(parameters)


def _slopes_jax(loss: Callable[..., Any], parameters: list[Any]) -> Any:
    import jax

    return jax.value_and_grad(loss)(parameters)


# --- a natural cubic spline through the values at its knots, fitted to points

KNOTS = 64


def _curve(random: Any, small: bool) -> list[Any]:
    x = np.sort(random.uniform(size=20 if small else 20_000))
    y = np.sin(12 * x) + 0.1 * random.standard_normal(len(x))
    return [np.zeros(KNOTS), x, y]


def _spline(xp: Any, curvatures: Any, cell: Any, v: Any, x: Any, y: Any) -> Any:
    """`curvatures` are the second derivatives at the inner knots, of the right-hand sides."""
    h = 1 / (KNOTS - 1)
    inner = curvatures((v[2:] - 2 * v[1:-1] + v[:-2]) / h)
    zero = xp.zeros_like(v[:1])
    m = xp.concatenate([zero, inner, zero])
    i = cell(x / h)
    b = x / h - i
    a = 1 - b
    values = a * v[i] + b * v[i + 1]
    values = values + ((a**3 - a) * m[i] + (b**3 - b) * m[i + 1]) * (h * h / 6)
    return xp.mean((values - y) ** 2) + 1e-8 * xp.sum(inner**2)


def _diagonals(xp: Any, like: Any) -> Any:
    h = 1 / (KNOTS - 1)
    return xp.full_like(like, h / 6), xp.full_like(like, 2 * h / 3)


def _spline_pullback(v: Any, x: Any, y: Any) -> Any:
    import pullback as pb

    def curvatures(right: Any) -> Any:
        beside, main = _diagonals(pb, right)
        return pb.linalg.tridiagonal_solve(beside, main, beside, right)

    def cell(x: Any) -> Any:
        return pb.cast(pb.floor(pb.minimum(x, KNOTS - 2)), "int64")

    loss = lambda p: _spline(pb, curvatures, cell, p[0], x, y)  # noqa: E731
    value, (slope,) = _slopes_pullback(loss, [v])
    return value, v - slope


def _spline_jax(v: Any, x: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def curvatures(right: Any) -> Any:
        beside, main = _diagonals(jnp, right)
        solve = jax.lax.linalg.tridiagonal_solve
        return solve(beside.at[0].set(0), main, beside.at[-1].set(0), right[:, None])[:, 0]

    def cell(x: Any) -> Any:
        return jnp.minimum(x, KNOTS - 2).astype(int)

    value, (slope,) = _slopes_jax(lambda p: _spline(jnp, curvatures, cell, p[0], x, y), [v])
    return value, v - slope


def _spline_torch(v: Any, x: Any, y: Any) -> Any:
    import torch

    def curvatures(right: Any) -> Any:
        beside, main = _diagonals(torch, right)
        matrix = torch.diag(main) + torch.diag(beside[1:], 1) + torch.diag(beside[1:], -1)
        return torch.linalg.solve(matrix, right)

    def cell(x: Any) -> Any:
        return x.clamp(max=KNOTS - 2).long()

    value, (slope,) = _slopes_torch(lambda p: _spline(torch, curvatures, cell, p[0], x, y), [v])
    return value, v - slope


# --- soft sorting: an odd-even network of comparisons that mix their operands


def _unsorted(random: Any, small: bool) -> list[Any]:
    rows, n = (3, 6) if small else (2000, 16)
    return [random.standard_normal((rows, n)).astype(np.float32), np.linspace(-2, 2, n, dtype="f4")]


def _sorted(xp: Any, sigmoid: Any, x: Any) -> Any:
    rows, n = x.shape
    for k in range(n):
        a, b = x[:, k % 2 : n - k % 2 : 2], x[:, 1 + k % 2 :: 2]
        swapped = sigmoid(8 * (a - b))
        moved = swapped * (b - a)
        pairs = xp.stack([a + moved, b - moved], -1).reshape(rows, -1)
        x = xp.concatenate([x[:, :1], pairs, x[:, -1:]], 1) if k % 2 else pairs
    return x


def _ranked(xp: Any, sigmoid: Any, slopes: Any, x: Any, wanted: Any) -> Any:
    loss = lambda p: xp.mean((_sorted(xp, sigmoid, p[0]) - wanted) ** 2)  # noqa: E731
    value, (slope,) = slopes(loss, [x])
    return value, x - 10 * slope


def _sorting_pullback(x: Any, wanted: Any) -> Any:
    import pullback as pb

    return _ranked(pb, pb.sigmoid, _slopes_pullback, x, wanted)


def _sorting_jax(x: Any, wanted: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return _ranked(jnp, jax.nn.sigmoid, _slopes_jax, x, wanted)


def _sorting_torch(x: Any, wanted: Any) -> Any:
    import torch

    return _ranked(torch, torch.sigmoid, _slopes_torch, x, wanted)


# --- factorisation: ratings of items by users, as products of their vectors


def _ratings(random: Any, small: bool) -> list[Any]:
    users, items, count, rank = (5, 4, 9, 2) if small else (5000, 2000, 20_000, 32)
    tables = [0.1 * random.standard_normal((n, rank)) for n in (users, items)]
    offsets = [np.zeros(n) for n in (users, items)]
    scores = random.integers(1, 6, count) - 3
    floats = [a.astype(np.float32) for a in (*tables, *offsets, scores)]
    return [*floats, random.integers(0, users, count), random.integers(0, items, count)]


def _misjudged(p: list[Any], scores: Any, users: Any, items: Any) -> Any:
    u, v = p[0][users], p[1][items]
    error = (u * v).sum(-1) + p[2][users] + p[3][items] - scores
    return (error**2).mean() + 0.02 * ((u * u).mean() + (v * v).mean())


def _factorised(slopes: Any, *arrays: Any) -> Any:
    p, data = list(arrays[:4]), arrays[4:]
    value, moves = slopes(lambda p: _misjudged(p, *data), p)
    return value, *(x - 5 * g for x, g in zip(p, moves, strict=True))


def _factorised_numpy(*arrays: Any) -> Any:
    p, (scores, users, items) = arrays[:4], arrays[4:]
    u, v = p[0][users], p[1][items]
    error = (u * v).sum(-1) + p[2][users] + p[3][items] - scores
    value = (error**2).mean() + np.float32(0.02) * ((u * u).mean() + (v * v).mean())
    e = 2 * error / np.float32(len(error))
    share = np.float32(0.04 / u.size)
    moves = [e[:, None] * v + share * u, e[:, None] * u + share * v, e, e]
    after = [x.copy() for x in p]
    for x, g, rows in zip(after, moves, (users, items, users, items), strict=True):
        np.add.at(x, rows, -5 * g)
    return value, *after


# --- logistic regression: a step of Newton's method


def _classes(random: Any, small: bool) -> list[Any]:
    rows, width = (20, 3) if small else (5000, 50)
    x = random.standard_normal((rows, width))
    signs = np.sign(x @ random.standard_normal(width) + random.standard_normal(rows))
    return [0.1 * random.standard_normal(width), x, signs]


def _logistic(softplus: Any, x: Any, signs: Any, w: Any) -> Any:
    return softplus(-signs * (x @ w)).mean() + 1e-3 * (w * w).sum()


def _newton_pullback(w: Any, x: Any, signs: Any) -> Any:
    import pullback as pb

    loss = partial(_logistic, pb.softplus, x, signs)
    return w - pb.linalg.solve(pb.hessian(loss)(w), pb.grad(loss)(w))


def _newton_jax(w: Any, x: Any, signs: Any) -> Any:
    import jax
    import jax.numpy as jnp

    loss = partial(_logistic, jax.nn.softplus, x, signs)
    return w - jnp.linalg.solve(jax.hessian(loss)(w), jax.grad(loss)(w))


def _newton_torch(w: Any, x: Any, signs: Any) -> Any:
    import torch

    loss = partial(_logistic, torch.nn.functional.softplus, x, signs)
    return w - torch.linalg.solve(torch.func.hessian(loss)(w), torch.func.grad(loss)(w))


def _newton_numpy(w: Any, x: Any, signs: Any) -> Any:
    p = 1 / (1 + np.exp(signs * (x @ w)))
    slope = -(signs * p) @ x / len(x) + 2e-3 * w
    hessian = (x * (p * (1 - p))[:, None]).T @ x / len(x) + 2e-3 * np.eye(len(w))
    return w - np.linalg.solve(hessian, slope)


TASKS = {
    "spline": Task(
        f"natural cubic spline of {KNOTS} knots to 20 000 points, float64: step of descent",
        _curve,
        _spline_pullback,
        _spline_jax,
        _spline_torch,
        tolerance=1e-7,
        moved=1,
    ),
    "soft-sorting": Task(
        "soft odd-even sorting network of 2000 rows of 16, float32: step of descent",
        _unsorted,
        _sorting_pullback,
        _sorting_jax,
        _sorting_torch,
        moved=1,
    ),
    "factorisation": Task(
        "factorisation by 20 000 ratings, 5000 users, 2000 items, rank 32, float32: step",
        _ratings,
        partial(_factorised, _slopes_pullback),
        partial(_factorised, _slopes_jax),
        partial(_factorised, _slopes_torch),
        numpy=_factorised_numpy,
        moved=4,
    ),
    "newton-logistic": Task(
        "logistic regression of 5000 rows of 50, float64: step of Newton's method by the Hessian",
        _classes,
        _newton_pullback,
        _newton_jax,
        _newton_torch,
        numpy=_newton_numpy,
        tolerance=1e-7,
    ),
}

ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
