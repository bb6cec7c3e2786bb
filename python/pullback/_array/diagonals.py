"""Diagonals, triangles, and products of all entries with all."""

from __future__ import annotations

from math import prod
from typing import SupportsIndex

import numpy

from .. import _core
from .._core import Tensor
from .._typing import DType, TensorLike
from .arguments import flag, integer, offset_of
from .products import diagonal


def diag(x: TensorLike, /, k: SupportsIndex = 0) -> Tensor:
    """The k-th diagonal of a matrix, or the matrix with a vector there and zeros elsewhere.

    >>> pb.diag([1, 2])
    Tensor([[1, 0],
            [0, 2]], dtype=int64)
    >>> pb.diag([[1, 2], [3, 4]], 1)
    Tensor([2], dtype=int64)
    """
    x, by = _core.constant(x, who="diag"), integer(k, "diag")
    if len(x.shape) == 2:
        rows, columns = x.shape
        if not -rows < by < columns:
            return x[:0, 0] if columns else _core.reshape(x, (-1,))
        return diagonal(x, offset=by)
    if len(x.shape) != 1:
        raise ValueError(f"diag: expected a vector or a matrix, got shape {x.shape}")
    return _on_diagonal(x, by)


def diagflat(x: TensorLike, /, k: SupportsIndex = 0) -> Tensor:
    """The matrix with the entries of x, flattened, on its k-th diagonal.

    >>> pb.diagflat([[1, 2]], 1).shape
    (3, 3)
    """
    x, by = _core.constant(x, who="diagflat"), integer(k, "diagflat")
    return _on_diagonal(_core.reshape(x, (x.size,)), by)


def _on_diagonal(x: Tensor, k: int) -> Tensor:
    n = x.size + abs(k)
    start = k if k >= 0 else -k * n
    zeros = _core.full((n * n,), 0, x.dtype)
    flat = zeros.at[start : start + x.size * (n + 1) : n + 1].set(x) if x.size else zeros
    return _core.reshape(flat, (n, n))


def fill_diagonal(x: TensorLike, /, value: TensorLike, *, wrap: bool = False) -> Tensor:
    """x with this value on its main diagonal, as a new tensor: a number, or one entry for each.
    With more than two axes all have one length. `wrap` goes on below the end of a tall matrix.

    >>> pb.fill_diagonal(pb.zeros((2, 2)), [1, 2])
    Tensor([[1., 0.],
            [0., 2.]], dtype=float32)
    """
    if wrap is not False:
        wrap = flag(wrap, "fill_diagonal", "wrap")
    x = _core.constant(x, who="fill_diagonal")
    rank = len(x.shape)
    if rank < 2 or (rank > 2 and len(set(x.shape)) > 1):
        raise ValueError(
            f"fill_diagonal: expected a matrix, or axes of one length, got shape {x.shape}"
        )
    columns = x.shape[-1]
    step = columns + 1 if rank == 2 else 1 + sum(columns**k for k in range(1, rank))
    end = columns * columns if rank == 2 and not wrap else x.size
    end = min(end, x.size)
    filled = _core.cast(_core.operands([x, value], "fill_diagonal")[1], x.dtype)
    count = -(-end // step)
    if filled.shape not in ((), (count,)):
        raise ValueError(
            f"fill_diagonal: expected a number or {count} of them, got shape {filled.shape}"
        )
    if not count:
        return x
    flat = _core.reshape(x, (x.size,)).at[0:end:step].set(filled)
    return _core.reshape(flat, x.shape)


def tri(
    n: SupportsIndex, m: SupportsIndex | None = None, k: SupportsIndex = 0, dtype: DType = None
) -> Tensor:
    """An n × m matrix (n × n without m) with ones up to its k-th diagonal, zeros above.

    >>> pb.tri(2, 3)
    Tensor([[1., 0., 0.],
            [1., 1., 0.]], dtype=float32)
    """
    rows = _length(n, "tri")
    columns = rows if m is None else _length(m, "tri")
    row = _core.reshape(_core.arange(integer(k, "tri"), rows, 1, numpy.dtype("int64")), (rows, 1))
    mask = _core.less_equal(_core.arange(0, columns, 1, numpy.dtype("int64")), row)
    return _core.cast(mask, _core.default_float() if dtype is None else dtype)


def diag_indices(n: SupportsIndex, ndim: SupportsIndex = 2) -> tuple[Tensor, ...]:
    """The indices of the main diagonal of an array with `ndim` axes of length n.

    >>> pb.diag_indices(2)
    (Tensor([0, 1], dtype=int64), Tensor([0, 1], dtype=int64))
    """
    length, count = _length(n, "diag_indices"), _length(ndim, "diag_indices")
    if count > 64:
        raise ValueError(f"diag_indices: at most 64 axes, got {count}")
    return (_core.arange(0, length, 1, numpy.dtype("int64")),) * count


def tril_indices(
    n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None
) -> tuple[Tensor, Tensor]:
    """The indices of the lower triangle of an n × m matrix, up to its k-th diagonal.

    >>> pb.tril_indices(2)
    (Tensor([0, 1, 1], dtype=int64), Tensor([0, 0, 1], dtype=int64))
    """
    return _triangle(n, k, m, True, "tril_indices")


def triu_indices(
    n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None
) -> tuple[Tensor, Tensor]:
    """The indices of the upper triangle of an n × m matrix, from its k-th diagonal.

    >>> pb.triu_indices(2)
    (Tensor([0, 0, 1], dtype=int64), Tensor([0, 1, 1], dtype=int64))
    """
    return _triangle(n, k, m, False, "triu_indices")


def _triangle(
    n: SupportsIndex, k: SupportsIndex, m: SupportsIndex | None, lower: bool, who: str
) -> tuple[Tensor, Tensor]:
    rows, by = _length(n, who), offset_of(k, who)
    columns = rows if m is None else _length(m, who)
    if rows * columns > 1 << 31:
        raise ValueError(f"{who}: {rows} × {columns} entries are too many")
    kept = numpy.tri(rows, columns, by if lower else by - 1, bool)
    row, column = numpy.nonzero(kept if lower else ~kept)
    return _core.constant(row), _core.constant(column)


def _length(value: SupportsIndex, who: str) -> int:
    n = integer(value, who)
    if not 0 <= n < 1 << 62:
        raise ValueError(f"{who}: a length must be from 0 to 2**62, got {_core.shown(value)}")
    return n


def kron(a: TensorLike, b: TensorLike) -> Tensor:
    """The Kronecker product: every entry of a, times the whole of b in its place.

    >>> pb.kron([1, 10], [1, 2, 3])
    Tensor([ 1,  2,  3, 10, 20, 30], dtype=int64)
    """
    x, y = _core.operands([a, b], "kron")
    rank = max(len(x.shape), len(y.shape))
    ours, theirs = ((1,) * (rank - len(v.shape)) + tuple(v.shape) for v in (x, y))
    left = _core.reshape(x, tuple(n for k in range(rank) for n in (ours[k], 1)))
    right = _core.reshape(y, tuple(n for k in range(rank) for n in (1, theirs[k])))
    shape = tuple(n * m for n, m in zip(ours, theirs, strict=True))
    if prod(max(n, 1) for n in shape) > 1 << 61:
        raise ValueError(f"kron: shape {shape} has more entries than 64 bits count")
    return _core.reshape(_core.multiply(left, right), shape)
