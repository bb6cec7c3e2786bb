"""The Jacobian of the Bratu problem, ∇²u + exp(u) on a square grid, as a sparse matrix of SciPy.

No other library finds its pattern, and a dense one of 10⁵ rows has 80 GB. So jax and torch are
given by hand what pullback finds: five sets of columns, of which no two of one share a row, and
where the entries of five products with the Jacobian belong. NumPy's is the formula of the entries.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Row

SIDE = 316


def residual(padded: Callable[[Any], Any], exp: Callable[[Any], Any], u: Any) -> Any:
    p = padded(u)
    return p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u + exp(u)


def _grid(small: bool) -> Any:
    side = 8 if small else SIDE
    return np.random.default_rng(0).standard_normal((side, side))


def by_hand(side: int) -> tuple[Any, Any, Any, Any]:
    """Rows and columns of the entries, row by row; the columns in five sets of which no two share a
    row, as a mask of the grid each; and where each entry is among the five products."""
    i, j = (axis[..., None] for axis in np.indices((side, side)))
    i, j = i + np.array([-1, 0, 0, 0, 1]), j + np.array([0, -1, 0, 1, 0])
    inside = (i >= 0) & (i < side) & (j >= 0) & (j < side)
    rows = np.broadcast_to(np.arange(side * side).reshape(side, side, 1), inside.shape)[inside]
    sets = (np.arange(side)[:, None] + 2 * np.arange(side)) % 5
    positions = sets[i[inside], j[inside]] * side**2 + rows
    seeds = (sets == np.arange(5)[:, None, None]).astype(np.float64)
    return rows, (i * side + j)[inside], seeds, positions


def _assembled(side: int) -> Callable[[Any], Any]:
    """A matrix from its entries."""
    from scipy.sparse import csr_array

    rows, columns, _, _ = by_hand(side)
    starts = np.searchsorted(rows, np.arange(side**2 + 1)).astype(np.int32)
    columns = columns.astype(np.int32)
    return lambda entries: csr_array(
        (np.array(entries), columns.copy(), starts.copy()), shape=(side**2, side**2)
    )


def _numbers(matrix: Any) -> list[float]:
    weights = np.cos(np.arange(matrix.shape[1]))
    return [float(matrix.nnz), float(matrix.sum()), float(np.abs(matrix @ weights).sum())]


def _pullback(small: bool) -> Case:
    import pullback as pb

    u = pb.constant(_grid(small))
    f = partial(residual, partial(pb.pad, pad_width=1), pb.exp)
    return Case(lambda: pb.sparse_jacobian(f, u), check=_numbers)


def _jax(small: bool) -> Case:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    u = jnp.asarray(_grid(small))
    assembled = _assembled(len(u))
    _, _, seeds, positions = by_hand(len(u))
    f = partial(residual, partial(jnp.pad, pad_width=1), jnp.exp)

    @jax.jit
    def entries(u: Any) -> Any:
        products = jax.vmap(lambda seed: jax.jvp(f, (u,), (seed,))[1])(jnp.asarray(seeds))
        return products.reshape(-1)[positions]

    return Case(lambda: assembled(entries(u)), check=_numbers)


def _torch(compiled: bool, small: bool) -> Case:
    import torch

    u = torch.from_numpy(_grid(small))
    assembled = _assembled(len(u))
    _, _, seeds, positions = (torch.from_numpy(np.ascontiguousarray(x)) for x in by_hand(len(u)))
    padded = partial(torch.nn.functional.pad, pad=(1, 1, 1, 1))
    f = partial(residual, padded, torch.exp)

    def entries(u: Any) -> Any:
        products = torch.func.vmap(lambda seed: torch.func.jvp(f, (u,), (seed,))[1])(seeds)
        return products.reshape(-1)[positions]

    run = torch.compile(entries) if compiled else entries
    return Case(lambda: assembled(run(u)), check=_numbers)


def _numpy(small: bool) -> Case:
    u = _grid(small)
    assembled = _assembled(len(u))
    rows, columns, _, _ = by_hand(len(u))
    diagonal = np.flatnonzero(rows == columns)

    def run() -> Any:
        entries = np.ones(len(rows))
        entries[diagonal] = np.exp(u).ravel() - 4
        return assembled(entries)

    return Case(run, check=_numbers)


ROWS = {
    "sparse-jacobian": Row(
        f"sparse Jacobian of a five-point stencil with exp, {SIDE}×{SIDE} variables, float64",
        "µs",
        {
            ("pullback", "function"): _pullback,
            ("jax", "jit"): _jax,
            ("torch", "eager"): partial(_torch, False),
            ("torch", "compile"): partial(_torch, True),
            ("numpy", "by hand"): _numpy,
        },
        slow=frozenset({("torch", "compile")}),
        goal=Goal(1.0, PEERS),
    )
}
