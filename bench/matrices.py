"""Linear algebra: a Gaussian process, many small equations, eigenvalues and singular values with
their vectors. Rows are made as those of vocabulary.py; results do not depend on the signs of
vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .vocabulary import Operation, rows_of


def _points(random: Any, small: bool) -> list[Any]:
    rows = 30 if small else 500
    return [random.random((rows, 4)).astype(np.float32), random.normal(size=rows).astype("float32")]


def _equations(count: int, n: int) -> Any:
    def draw(random: Any, small: bool) -> list[Any]:
        batch = 20 if small else count
        a = random.normal(size=(batch, n, n)) + 3 * n**0.5 * np.eye(n)
        return [a.astype(np.float32), random.normal(size=(batch, n, 1)).astype(np.float32)]

    return draw


def _matrix(m: int, n: int) -> Any:
    def draw(random: Any, small: bool) -> list[Any]:
        return [random.normal(size=(m // 16, n // 16) if small else (m, n)).astype(np.float32)]

    return draw


def _half_solved(xp: Any, factor: Any, y: Any) -> Any:
    if xp.__name__ == "pullback":
        return xp.linalg.solve_triangular(factor, y, lower=True)
    if xp.__name__ == "torch":
        return xp.linalg.solve_triangular(factor, y[:, None], upper=False)
    if xp is np:
        from scipy.linalg import solve_triangular
    else:
        from jax.scipy.linalg import solve_triangular
    return solve_triangular(factor, y, lower=True)


def _process(xp: Any, x: Any, y: Any) -> Any:
    """The negative logarithm of the likelihood of y at the points x, a constant aside."""
    apart = x[:, None] - x[None]
    covariance = xp.exp(-4 * (apart * apart).sum(-1)) + 0.1 * xp.eye(x.shape[0], dtype=x.dtype)
    factor = xp.linalg.cholesky(covariance)
    half = _half_solved(xp, factor, y)
    return ((half * half).sum() / 2 + xp.log(xp.linalg.diagonal(factor)).sum()) / x.shape[0]


def _eigh(xp: Any, x: Any) -> Any:
    w, v = xp.linalg.eigh((x + x.mT) / 2)
    return (v * v * w).sum(-1)


def _svd(xp: Any, x: Any) -> Any:
    u, s, vh = xp.linalg.svd(x, full_matrices=False)
    return (u * u * s).sum(-1).sum() + (vh * vh * s[:, None]).sum(-1)


def _solve(xp: Any, a: Any, b: Any) -> Any:
    return xp.linalg.solve(a, b)


OPERATIONS = {
    "gaussian-process": Operation(
        "likelihood of a Gaussian process at 500 points (cholesky, solve, log det), float32",
        _points,
        _process,
        gradient=True,
    ),
    "solve-3": Operation(
        "10 000 equations of 3×3 float32", _equations(10_000, 3), _solve, gradient=True
    ),
    "solve-32": Operation(
        "1 000 equations of 32×32 float32", _equations(1_000, 32), _solve, gradient=True
    ),
    "eigh-256": Operation(
        "eigh of 256×256 float32", _matrix(256, 256), _eigh, gradient=True, tolerance=0.01
    ),
    "svd-256": Operation(
        "svd of 256×128 float32", _matrix(256, 128), _svd, gradient=True, tolerance=0.01
    ),
}

ROWS = rows_of(OPERATIONS)
