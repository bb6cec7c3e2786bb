"""Diagonals of Jacobians and Hessians, without the matrices.

Several entries of a diagonal are computed by one product with the derivative if its pattern, read
from the graph as in sparse.py, proves that they do not affect each other. Without such a proof each
entry takes a product of its own. Start reading at `_diagonal`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from .. import _core
from .._base.pytree import leaves_like
from .._core import Tensor, Variable
from .jacobian import PLACEHOLDER, few_for_many, unit, unknown_unit
from .jacobian_blocks import chunk_length
from .recorded_call import RecordedCall
from .rules import place
from .transforms import check_value

__all__ = ["hessian_diagonal", "jacobian_diagonal"]


def jacobian_diagonal(f: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a function that computes the diagonal of the Jacobian of `f`.

    The diagonal is exact. Entries share a product with the Jacobian if the operations of `f` show
    that they are independent: one product suffices for an elementwise function, two for a
    tridiagonal Jacobian of any size. A dense Jacobian takes as many products as it has rows, which
    are computed in chunks that fit into memory.

    Parameters
    ----------
    f : callable
        Function of one real floating tensor, or a pytree of tensors, that returns the same
        structure with the same shapes.

    Returns
    -------
    callable
        Function of the argument of `f` that returns, in the same structure, the derivatives of the
        entries of the result with respect to the entries of the argument at the same positions.

    Raises
    ------
    TypeError
        If `f` is not callable. At the call: if an argument or a result is not a real floating
        tensor.
    ValueError
        At the call: if a result has another shape than the argument at its position.

    See Also
    --------
    hessian_diagonal, divergence, sparse_jacobian

    Examples
    --------
    >>> f = lambda x: x**2 + pb.roll(x, 1)
    >>> pb.jacobian_diagonal(f)(pb.constant([1.0, 2.0, 3.0]))
    Tensor([2., 4., 6.], dtype=float32)
    """
    who = "jacobian_diagonal"
    if not callable(f):
        raise TypeError(f"{who}: expected a function for f, got {_core.shown(f)}")

    @wraps(f)
    def call(x: Any) -> Any:
        recorded = _recorded(f, x, who)
        value = recorded.call()
        leaves = leaves_like(x, value, f"{who}: the result of {place(f)}")
        ys = [y for y in leaves if y is not None]
        for y in ys:
            if not isinstance(y, (Tensor, Variable)) or y.dtype.kind != "f":
                raise TypeError(
                    f"{who}: expected real floating tensors from {place(f)}, got {_core.shown(y)}"
                )
        shapes = [y.shape for y in ys], [own.shape for own in recorded.xs]
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"{who}: expected the shapes of the argument, {_listed(shapes[1])}, from "
                f"{place(f)}, got {_listed(shapes[0])}"
            )
        return _like_argument(recorded, ys, who)

    return call


def hessian_diagonal(f: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a function that computes the diagonal of the Hessian of `f`.

    The diagonal is exact and is computed as that of the Jacobian of the gradient; see
    `jacobian_diagonal` for the number of products.

    Parameters
    ----------
    f : callable
        Function of one real floating tensor, or a pytree of tensors, that returns a Tensor of
        shape () and a real floating dtype.

    Returns
    -------
    callable
        Function of the argument of `f` that returns, in the same structure, the second derivatives
        by each entry.

    Raises
    ------
    TypeError
        If `f` is not callable. At the call: if an argument or the result is not a real floating
        tensor.
    ValueError
        At the call: if the result does not have shape ().

    See Also
    --------
    jacobian_diagonal, laplacian, sparse_hessian

    Examples
    --------
    >>> pb.hessian_diagonal(lambda x: pb.sum(x**3) + x[0] * x[1])(pb.constant([1.0, 2.0]))
    Tensor([ 6., 12.], dtype=float32)
    """
    who = "hessian_diagonal"
    if not callable(f):
        raise TypeError(f"{who}: expected a function for f, got {_core.shown(f)}")

    @wraps(f)
    def call(x: Any) -> Any:
        recorded = _recorded(f, x, who)
        value = recorded.call()
        check_value(value, f, who)
        with recorded.recording():
            slopes = _core.gradients([value], recorded.xs)
        return _like_argument(recorded, slopes, who)

    return call


def _recorded(f: Any, x: Any, who: str) -> RecordedCall:
    recorded = RecordedCall(f, [x], who, every=True)
    for own in recorded.xs:
        if own.dtype.kind != "f":
            raise TypeError(f"{who}: expected a real argument of {place(f)}, got {own.dtype}")
    return recorded


def _listed(shapes: list[Any]) -> str:
    return ", ".join(map(str, shapes)) or "none"


def _like_argument(recorded: RecordedCall, ys: list[Any], who: str) -> Any:
    found = [_diagonal(y, x, who) for y, x in zip(ys, recorded.xs, strict=True)]
    recorded.close(found)
    return recorded.like_primals(found)[0]


def _diagonal(y: Tensor | None, x: Tensor, who: str) -> Tensor:
    """Return the derivatives of the entries of `y` by those of `x`, which has its shape."""
    zeros: Tensor = _core.full(x.shape, 0, x.dtype)
    if y is None or not x.size:
        return zeros
    colours = _colours(y, x, who)
    if colours is None:
        return zeros
    count = int(colours.max()) + 1
    if count > 1 and not (_core.checking_numbers() or few_for_many(count, [x])):
        found = _in_chunks(y, x, colours, count)
        if found is not None:
            return _core.cast(found, x.dtype)
    total = zeros
    for colour in range(count):
        where = _core.constant(np.reshape(colours == colour, x.shape))
        [row] = _core.gradients([y], [x], [unit(where, y)], masks=[where])
        if row is not None:
            total = _core.where(where, _core.cast(row, x.dtype), total)
    return total


def _in_chunks(y: Tensor, x: Tensor, colours: Any, count: int) -> Tensor | None:
    """Return the diagonal by products of several colours at once; None if a rule prevents this."""
    g, where = unknown_unit(y)
    total: Tensor = _core.full(x.shape, 0, x.dtype)
    try:
        [row] = _core.gradients([y], [x], [g], masks=[where])
        if row is None:
            return total
        kept = _core.where(where, row, _core.constant(0, row.dtype))
        step = chunk_length(_core.ClosedGraph([kept], [where]), count)
        for first in range(0, count, step):
            numbers = np.arange(first, min(first + step, count))
            chosen = np.reshape(colours == numbers[:, None], (len(numbers), *x.shape))
            made = _core.batched_or_each([kept], [where], [_core.constant(chosen)], len(numbers))
            if made is None:
                return None
            total = _core.add(total, _core.sum(made[0], 0, False))
    except RuntimeError as error:
        if PLACEHOLDER not in str(error):  # a rule in Python reads its cotangent
            raise
        return None
    return total


def _colours(y: Tensor, x: Tensor, who: str) -> Any:
    """Return a colour of each entry; None if the diagonal is zero.

    Entries i and j of one colour do not affect each other: neither y_i depends on x_j nor y_j on
    x_i. Each entry has a colour of its own if the pattern is not known.
    """
    g = _core.Trace(PLACEHOLDER).argument(y.dtype.name, y.shape, False)
    try:
        [back] = _core.gradients([y], [x], [g])
        if back is None:
            return None
        pattern = _core.dependence(back, g, who)
    except MemoryError:  # too dense
        return np.arange(x.size)
    except RuntimeError as error:
        if PLACEHOLDER not in str(error):
            raise
        return np.arange(x.size)
    return _coloured(pattern, x.size)


def _coloured(pattern: Any, size: int) -> Any:
    counts = np.diff(pattern.starts)
    rows = np.repeat(np.arange(size), counts)
    columns = np.asarray(pattern.entries)
    apart = rows != columns
    if not apart.any():
        return np.zeros(size, np.int64)
    if apart.sum() * 2 >= size * (size - 1):
        return np.arange(size)
    first = np.concatenate([rows[apart], columns[apart]])
    second = np.concatenate([columns[apart], rows[apart]])
    order = np.argsort(first, kind="stable")
    neighbours = np.split(second[order], np.cumsum(np.bincount(first, minlength=size))[:-1])
    colours = [-1] * size
    for i, near in enumerate(neighbours):
        taken = {colours[j] for j in near.tolist()}
        colour = 0
        while colour in taken:
            colour += 1
        colours[i] = colour
    return np.array(colours)
