"""Bundle adjustment of GradBench: errors of reprojection and of weights, and their Jacobian.

The Jacobian is computed as its nonzero blocks: 2 × 15 for each observation, by its camera, its
point and its weight, and the derivative of each weight's own error. Sizes are those of the suite's
data sets; every camera and point is drawn, where the suite repeats one of each.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of

SIZES = ((49, 7776, 31_843), (257, 65_132, 225_911))  # cameras, points, observations


def _draw(size: tuple[int, int, int], random: Any, small: bool) -> list[Any]:
    """Cameras, points, weights, which camera sees which point, features."""
    n, m, p = (3, 4, 10) if small else size
    cameras = random.standard_normal((n, 11))
    cameras[:, :3] *= 0.2  # rotations
    cameras[:, 9:] *= 0.1  # distortions
    points = random.standard_normal((m, 3))
    points[:, 2] += 20  # depths
    order = np.arange(p)
    features = random.standard_normal((p, 2))
    return [cameras, points, random.uniform(0.5, 1.5, p), order % n, order % m, features]


def _project(xp: Any, camera: Any, point: Any) -> tuple[Any, Any]:
    """Of the numbers of a camera and a point, or of columns of them."""
    r, c, (f, u, v), (k1, k2) = camera[0:3], camera[3:6], camera[6:9], camera[9:11]
    x = [point[i] - c[i] for i in range(3)]
    square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    angle = xp.sqrt(square)
    w = [r[i] / angle for i in range(3)]
    cosine, sine = xp.cos(angle), xp.sin(angle)
    along = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) * (1 - cosine)
    cross = [w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]]
    a, b, depth = (x[i] * cosine + cross[i] * sine + w[i] * along for i in range(3))
    a, b = a / depth, b / depth
    norm = a * a + b * b
    scale = f * (1 + k1 * norm + k2 * norm * norm)
    return scale * a + u, scale * b + v


def _errors(xp: Any, cameras: Any, points: Any, w: Any, seen: Any, by: Any, features: Any) -> Any:
    a, b = _project(xp, cameras.T[:, seen], points.T[:, by])
    errors = xp.stack([w * (a - features[:, 0]), w * (b - features[:, 1])], -1)
    return errors, 1 - w * w


def _error(xp: Any, camera: Any, point: Any, w: Any, feature: Any) -> Any:
    a, b = _project(xp, camera, point)
    return xp.stack([w * (a - feature[0]), w * (b - feature[1])])


def _blocks(xp: Any, rows: Any, arrays: Any) -> Any:
    """`rows` returns the derivatives of _error by its first three arguments."""
    cameras, points, w, seen, by, features = arrays
    by_camera, by_point, by_weight = rows(cameras[seen], points[by], w, features)
    return xp.concatenate([by_camera, by_point, by_weight[:, :, None]], 2), -2 * w


def _objective_pullback(*arrays: Any) -> Any:
    import pullback as pb

    return _errors(pb, *arrays)


def _objective_jax(*arrays: Any) -> Any:
    import jax.numpy as jnp

    return _errors(jnp, *arrays)


def _objective_torch(*arrays: Any) -> Any:
    import torch

    return _errors(torch, *arrays)


def _jacobian_pullback(*arrays: Any) -> Any:
    import pullback as pb

    return _blocks(pb, pb.vmap(pb.jacobian(partial(_error, pb), (0, 1, 2))), arrays)


def _jacobian_jax(*arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return _blocks(jnp, jax.vmap(jax.jacrev(partial(_error, jnp), (0, 1, 2))), arrays)


def _jacobian_torch(*arrays: Any) -> Any:
    import torch

    rows = torch.func.vmap(torch.func.jacrev(partial(_error, torch), (0, 1, 2)))
    return _blocks(torch, rows, arrays)


def _outputs(columns: int, *arrays: Any) -> tuple[list[int], list[Any]]:
    p = len(arrays[2])
    shape = (p, 2, columns) if columns > 1 else (p, 2)
    return [p], [np.empty(shape), np.empty(p)]


def _tasks(size: tuple[int, int, int]) -> dict[str, Task]:
    of = "bundle adjustment, {} cameras, {} points, {} observations, float64".format(*size)
    return {
        f"ba-objective-{size[2]}": Task(
            f"errors of {of}",
            partial(_draw, size),
            _objective_pullback,
            _objective_jax,
            _objective_torch,
            numpy=partial(_errors, np),
            cpp=("ba_objective", partial(_outputs, 1)),
            tolerance=1e-7,
        ),
        f"ba-jacobian-{size[2]}": Task(
            f"blocks of the Jacobian of {of}",
            partial(_draw, size),
            _jacobian_pullback,
            _jacobian_jax,
            _jacobian_torch,
            cpp=("ba_jacobian", partial(_outputs, 15)),
            tolerance=1e-7,
        ),
    }


TASKS = {name: task for size in SIZES for name, task in _tasks(size).items()}
ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
