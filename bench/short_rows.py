"""Many rows of a few numbers: derivatives of small functions in a batch, softmax and norms of short
rows, pairwise distances of points.

A new row is an entry of TASKS, as in transforms.py.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from .case import PEERS, Goal, Row
from .transforms import Task, row_of

ROWS_OF = 100_000


def _by(module: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` with a module as its first argument."""
    return lambda *arrays: f(import_module(module), *arrays)


# --- bundle adjustment: a camera of 11 numbers sees a point, times a weight


def _observations(random: Any, small: bool) -> list[Any]:
    rows = random.standard_normal((8 if small else 10_000, 15))
    rows[:, :3] *= 0.2  # rotations
    rows[:, 13] += 20  # depths
    return [rows]


def _residual(xp: Any, v: Any) -> Any:
    r, x = v[:3], v[11:14] - v[3:6]
    angle = xp.sqrt((r * r).sum())
    w = r / angle
    cosine, sine = xp.cos(angle), xp.sin(angle)
    cross = xp.stack(
        [w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]]
    )
    turned = x * cosine + cross * sine + w * ((w * x).sum() * (1 - cosine))
    p = turned[:2] / turned[2]
    square = (p * p).sum()
    distortion = 1 + v[9] * square + v[10] * square * square
    return v[14] * (p * distortion * v[6] + v[7:9])


def _residuals_pullback(rows: Any) -> Any:
    import pullback as pb

    return pb.vmap(pb.jacobian(lambda v: _residual(pb, v)))(rows)


def _residuals_jax(rows: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.vmap(jax.jacrev(lambda v: _residual(jnp, v)))(rows)


def _residuals_torch(rows: Any) -> Any:
    import torch

    return torch.func.vmap(torch.func.jacrev(lambda v: _residual(torch, v)))(rows)


def _small(xp: Any, x: Any) -> Any:
    return xp.sin(x[0] * x[1]) * xp.exp(x[2]) + x[0] * x[0] * x[2]


def _hessians_pullback(rows: Any) -> Any:
    import pullback as pb

    return pb.vmap(pb.hessian(lambda x: _small(pb, x)))(rows)


def _hessians_jax(rows: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return jax.vmap(jax.hessian(lambda x: _small(jnp, x)))(rows)


def _hessians_torch(rows: Any) -> Any:
    import torch

    return torch.func.vmap(torch.func.hessian(lambda x: _small(torch, x)))(rows)


def _hessians_numpy(v: Any) -> Any:
    x, y, z = v.T
    sine, cosine, e = np.sin(x * y), np.cos(x * y), np.exp(z)
    out = np.empty((len(v), 3, 3))
    out[:, 0, 0] = -y * y * sine * e + 2 * z
    out[:, 1, 1] = -x * x * sine * e
    out[:, 2, 2] = sine * e
    out[:, 0, 1] = out[:, 1, 0] = (cosine - x * y * sine) * e
    out[:, 0, 2] = out[:, 2, 0] = y * cosine * e + 2 * x
    out[:, 1, 2] = out[:, 2, 1] = x * cosine * e
    return out


# --- softmax and norms


def _drawn(length: int) -> Callable[[Any, bool], list[Any]]:
    def draw(random: Any, small: bool) -> list[Any]:
        return [random.standard_normal((8 if small else ROWS_OF, length)).astype(np.float32)]

    return draw


def _softmax_pullback(x: Any) -> Any:
    import pullback as pb

    return pb.nn.softmax(x, axis=-1)


def _softmax_jax(x: Any) -> Any:
    import jax

    return jax.nn.softmax(x, axis=-1)


def _softmax_torch(x: Any) -> Any:
    return x.softmax(-1)


def _softmax_numpy(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def _unit(xp: Any, x: Any) -> Any:
    return x / xp.sqrt((x * x).sum(-1)[:, None])


# --- Lennard-Jones


def _points(random: Any, small: bool) -> list[Any]:
    n = 6 if small else 500
    return [random.uniform(size=(n, 3)) * 10, np.eye(n)]


def _energy(x: Any, eye: Any) -> Any:
    d = x[:, None, :] - x[None, :, :]
    square = (d * d).sum(-1) + eye
    sixth = 1 / (square * square * square)
    return 2 * ((sixth * sixth - sixth) * (1 - eye)).sum()


def _forces_pullback(x: Any, eye: Any) -> Any:
    import pullback as pb

    return pb.grad(lambda x: _energy(x, eye))(x)


def _forces_jax(x: Any, eye: Any) -> Any:
    import jax

    return jax.grad(_energy)(x, eye)


def _forces_torch(x: Any, eye: Any) -> Any:
    import torch

    return torch.func.grad(_energy)(x, eye)


def _forces_numpy(x: Any, eye: Any) -> Any:
    d = x[:, None, :] - x[None, :, :]
    square = (d * d).sum(-1) + eye
    sixth = 1 / square**3
    slopes = (1 - eye) * (12 * sixth - 24 * sixth * sixth) / square
    return 2 * (slopes[..., None] * d).sum(1)


TASKS = {
    "vmap-jacobian": Task(
        "Jacobian of 2 residuals of bundle adjustment by 15 float64, for each of 10⁴ rows",
        _observations,
        _residuals_pullback,
        _residuals_jax,
        _residuals_torch,
        tolerance=1e-7,
    ),
    "vmap-hessian": Task(
        "Hessian of a function of 3 float64, for each of 10⁴ rows",
        lambda random, small: [random.standard_normal((8 if small else 10_000, 3))],
        _hessians_pullback,
        _hessians_jax,
        _hessians_torch,
        numpy=_hessians_numpy,
        tolerance=1e-7,
    ),
    "softmax-rows-of-4": Task(
        "softmax of 10⁵ rows of 4 float32, the value",
        _drawn(4),
        _softmax_pullback,
        _softmax_jax,
        _softmax_torch,
        numpy=_softmax_numpy,
    ),
    "unit-rows-of-3": Task(
        "10⁵ rows of 3 float32 divided by their norms, the value",
        _drawn(3),
        _by("pullback", _unit),
        _by("jax.numpy", _unit),
        _by("torch", _unit),
        numpy=_by("numpy", _unit),
    ),
    "lennard-jones": Task(
        "Lennard-Jones forces of 500 points, all pairs, float64",
        _points,
        _forces_pullback,
        _forces_jax,
        _forces_torch,
        numpy=_forces_numpy,
        tolerance=1e-7,
    ),
}


def _row(task: Task) -> Row:
    return row_of(task, Goal(1.0, PEERS))


ROWS = {name: _row(task) for name, task in TASKS.items()}
