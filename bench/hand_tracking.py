"""Hand tracking of GradBench: the distances of a skinned hand of 22 bones and 544 vertices from
measured points, and their Jacobian by 26 numbers of a pose.

In the simple form a point corresponds to a vertex. In the complicated form it corresponds to a
place in a triangle, given by two numbers of its own: the Jacobian begins with the two columns by
these. The model is drawn; its bones have the suite's parents.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of

BONES, VERTICES, POSE, FINGERS = 22, 544, 26, 5
COUNTS = (100, 12_800)
# Bone 0 is the wrist, bones 1 … 20 are fingers of 4, bone 21 is the forearm.
PARENTS = np.array([-1, *(0 if i % 4 == 1 else i - 1 for i in range(1, 21)), 0])
LEVELS = [np.array([0]), np.array([1, 5, 9, 13, 17, 21]), *(np.arange(i, 21, 4) for i in (2, 3, 4))]
ORDER = np.concatenate(LEVELS)


def _angles() -> Any:
    """For each bone its angles x and z, as positions in [0, pose]."""
    index = np.zeros((BONES, 2), np.int64)
    for finger in range(FINGERS):
        bone, first = 4 * finger + 2, 7 + 4 * finger
        index[bone] = first, first + 1
        index[bone + 1, 0], index[bone + 2, 0] = first + 2, first + 3
    return index


ANGLES = _angles()


def _draw(count: int, complicated: bool, random: Any, small: bool) -> list[Any]:
    """The pose, the model, corresponding vertices, points, and places in triangles."""
    vertices, count = (12, 5) if small else (VERTICES, count)
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    relatives[:, :3] += 0.1 * random.standard_normal((BONES, 3, 4))
    absolutes = relatives.copy()
    for bone in range(1, BONES):
        absolutes[bone] = absolutes[PARENTS[bone]] @ relatives[bone]
    base = np.concatenate([random.standard_normal((vertices, 3)), np.ones((vertices, 1))], 1)
    weights = np.zeros((vertices, BONES))
    np.put_along_axis(weights, random.integers(0, BONES, (vertices, 3)), 1 / 3, 1)
    pose = 0.5 * random.standard_normal(POSE)
    corners = random.integers(0, vertices, (count, 3) if complicated else count)
    points, places = random.standard_normal((count, 3)), random.uniform(0, 0.5, (count, 2))
    model = [relatives, np.linalg.inv(absolutes), base, weights, PARENTS]
    return [pose, *model, corners, points, places if complicated else np.zeros((0, 2))]


def _bones(xp: Any, pose: Any, relatives: Any, inverses: Any) -> Any:
    """Transformations of the bones, in ORDER, as rows of 3 × 4."""
    zero = 0 * pose[:1]
    angles = xp.concatenate([zero, pose])[ANGLES]
    x, z = angles[:, 0], angles[:, 1]
    a, b, c, d = xp.cos(x), xp.sin(x), xp.cos(z), xp.sin(z)
    none, one = 0 * x, 0 * x + 1
    turns = xp.stack(
        [c, -d * a, d * b, none, d, c * a, -c * b, none, none, b, a, none, none, none, none, one],
        -1,
    )
    moves = relatives @ turns.reshape((BONES, 4, 4))
    above, levels = moves[LEVELS[0]], [moves[LEVELS[0]]]
    for before, level in pairwise(LEVELS):
        above = above[np.searchsorted(before, PARENTS[level])] @ moves[level]
        levels.append(above)
    return (xp.concatenate(levels) @ inverses[ORDER])[:, :3]


def _rotation(xp: Any, r: Any) -> Any:
    angle = xp.sqrt((r * r).sum())
    x, y, z = (r[i] / angle for i in range(3))
    s, c = xp.sin(angle), xp.cos(angle)
    rows = [
        [x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s],
        [x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s],
        [x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c],
    ]
    return xp.stack([xp.stack(row) for row in rows])


def _errors(
    xp: Any,
    z: Any,
    relatives: Any,
    inverses: Any,
    base: Any,
    weights: Any,
    corners: Any,
    points: Any,
    places: Any,
) -> Any:
    """`z` is the pose; in the complicated form, two numbers that are added to all places and the
    pose."""
    complicated = len(places) > 0
    pose = z[2:] if complicated else z
    few = not complicated and len(corners) < len(base)
    if few:
        base, weights = base[corners], weights[corners]
    transforms = _bones(xp, pose, relatives, inverses)
    skin = (weights[:, ORDER, None] * base[:, None, :]).reshape((len(base), 4 * BONES))
    vertices = skin @ transforms.swapaxes(0, 1).reshape((3, 4 * BONES)).T
    vertices = vertices @ _rotation(xp, pose[:3]).T + pose[3:6]
    if complicated:
        places = places + z[:2]
        u, v = places[:, 0, None], places[:, 1, None]
        a, b, c = (vertices[corners[:, i]] for i in range(3))
        return points - (u * a + v * b + (1 - u - v) * c)
    return points - (vertices if few else vertices[corners])


def _jacobian(xp: Any, forward: Any, pose: Any, *arrays: Any) -> Any:
    relatives, inverses, base, weights, _, corners, points, places = arrays
    z = xp.concatenate([0 * pose[:2], pose]) if len(places) else pose
    given = relatives, inverses, base, weights, corners, points, places

    def f(z: Any) -> Any:
        return _errors(xp, z, *given)

    return f(z), forward(f)(z)


def _jacobian_pullback(*arrays: Any) -> Any:
    import pullback as pb

    return _jacobian(pb, partial(pb.jacobian, mode="forward"), *arrays)


def _jacobian_jax(*arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    return _jacobian(jnp, jax.jacfwd, *arrays)


def _jacobian_torch(*arrays: Any) -> Any:
    import torch

    return _jacobian(torch, torch.func.jacfwd, *arrays)


def _outputs(*arrays: Any) -> tuple[list[int], list[Any]]:
    bones, vertices, count = len(arrays[1]), len(arrays[3]), len(arrays[7])
    complicated = int(len(arrays[8]) > 0)
    columns = POSE + 2 * complicated
    sizes = [bones, vertices, count, complicated]
    return sizes, [np.empty((count, 3)), np.empty((count, 3, columns))]


def _task(count: int, complicated: bool) -> Task:
    of = "places in triangles" if complicated else "vertices"
    return Task(
        f"hand tracking by {count} {of}, {VERTICES} vertices, float64: errors, Jacobian",
        partial(_draw, count, complicated),
        _jacobian_pullback,
        _jacobian_jax,
        _jacobian_torch,
        cpp=("ht", _outputs),
        tolerance=1e-7,
    )


TASKS = {
    f"ht-{'complicated' if complicated else 'simple'}-{count}": _task(count, complicated)
    for complicated in (False, True)
    for count in COUNTS
}
ROWS = {name: row_of(task, Goal(1.0, PEERS)) for name, task in TASKS.items()}
