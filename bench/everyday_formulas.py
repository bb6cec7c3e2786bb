"""The formulas of everyday.py, over whatever library is given as `xp`: pullback, jax.numpy, torch
and NumPy spell these the same. What they spell differently is in the by_*.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ORDER = np.array([2, 0, 1])  # of columns


def vectors(xp: Any, parameters: list[Any]) -> Any:
    a, x = parameters
    return xp.sum(xp.square(xp.einsum("nij,nj->ni", a, x)))


def matrices(xp: Any, parameters: list[Any]) -> Any:
    a, b = parameters
    return xp.sum(xp.square(xp.matmul(a, b)))


def bilinear(xp: Any, parameters: list[Any], x: Any, y: Any) -> Any:
    (w,) = parameters
    return xp.sum(xp.square(xp.einsum("bi,oij,bj->bo", x, w, y)))


def cubes(xp: Any, parameters: list[Any]) -> Any:
    (x,) = parameters
    return xp.sum(x**3)


def batch_norm(xp: Any, parameters: list[Any], t: Any) -> Any:
    x, scale, shift = parameters
    centred = x - xp.mean(x, axis=0)
    variance = xp.mean(xp.square(centred), axis=0)
    return xp.sum(t * (scale * (centred / xp.sqrt(variance + 1e-5)) + shift))


def layer_norm(xp: Any, parameters: list[Any], t: Any) -> Any:
    x, scale, shift = parameters
    centred = x - xp.mean(x, axis=1)[:, None]
    variance = xp.mean(xp.square(centred), axis=1)[:, None]
    return xp.sum(t * (scale * (centred / xp.sqrt(variance + 1e-5)) + shift))


def columns(xp: Any, parameters: list[Any]) -> Any:
    (p,) = parameters
    x, y, z = p[:, 0], p[:, 1], p[:, 2]
    return xp.sum(xp.sqrt(x * x + y * y + z * z))


def cross(xp: Any, parameters: list[Any], t: Any) -> Any:
    a, b = parameters
    return xp.sum(t * xp.linalg.cross(a, b))


def columns_taken(xp: Any, parameters: list[Any], t: Any) -> Any:
    (x,) = parameters
    return xp.sum(t * xp.square(x[:, ORDER]))


def entries_taken(xp: Any, parameters: list[Any], at: Any, t: Any) -> Any:
    (x,) = parameters
    return xp.sum(t * xp.square(x[at]))


def middle(xp: Any, parameters: list[Any]) -> Any:
    (x,) = parameters
    return xp.sum(xp.square(xp.sum(x, axis=1)))


def convolution(xp: Any, parameters: list[Any]) -> Any:
    x, w = parameters
    rows, columns = (x.shape[i + 1] - w.shape[i] + 1 for i in range(2))
    y = 0
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            y = y + w[i, j] * x[:, i : i + rows, j : j + columns]
    return xp.sum(xp.square(y))
