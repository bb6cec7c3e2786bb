"""Triangles of matrices."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy

from .. import _core
from .._base.checks import integer, offset_of
from .._base.composite import composite
from .._core import Tensor
from .._typing import DType, TensorLike
from .diagonals import axis_size

__all__ = ["tri", "tril", "tril_indices", "triu", "triu_indices"]


@composite
def tril(x: TensorLike, /, k: SupportsIndex = 0) -> Tensor:
    """Return the lower triangle of matrices.

    Elements above the k-th diagonal become 0; they receive no gradient. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n), of any dtype.
    k : int, default 0
        Last diagonal to keep: 0 is the main diagonal, positive values lie above it, negative ones
        below.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2.
    TypeError
        If `k` is not an integer.

    Examples
    --------
    >>> pb.tril([[1, 2], [3, 4]])
    Tensor([[1, 0],
            [3, 4]], dtype=int64)
    """
    return _masked(x, k, True, "tril")


@composite
def triu(x: TensorLike, /, k: SupportsIndex = 0) -> Tensor:
    """Return the upper triangle of matrices.

    Elements below the k-th diagonal become 0; they receive no gradient. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n), of any dtype.
    k : int, default 0
        First diagonal to keep: 0 is the main diagonal, positive values lie above it, negative ones
        below.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has a rank below 2.
    TypeError
        If `k` is not an integer.

    Examples
    --------
    >>> pb.triu([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [0, 4]], dtype=int64)
    """
    return _masked(x, k, False, "triu")


def _masked(x: TensorLike, k: Any, lower: bool, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    if len(x.shape) < 2:
        raise ValueError(f"{who}: expected at least two axes for x, got shape {x.shape}")
    rows, columns = x.shape[-2:]
    diagonal = offset_of(k, who)
    kept = numpy.tri(rows, columns, diagonal if lower else diagonal - 1, bool)
    return _core.where(_core.constant(kept if lower else ~kept), x, _core.full((), 0, x.dtype))


def tri(
    n: SupportsIndex, m: SupportsIndex | None = None, k: SupportsIndex = 0, dtype: DType = None
) -> Tensor:
    """Return a matrix with ones on and below a diagonal and zeros above.

    Parameters
    ----------
    n : int
        Number of rows.
    m : int, optional
        Number of columns. Default: `n`.
    k : int, optional
        Diagonal, above the main one if positive. Default: 0, the main diagonal.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        Shape (n, m); the given dtype.

    Raises
    ------
    TypeError
        If `n`, `m` or `k` is not an integer, or `dtype` is unknown.
    ValueError
        If a size is negative.

    Examples
    --------
    >>> pb.tri(2, 3)
    Tensor([[1., 0., 0.],
            [1., 1., 0.]], dtype=float32)
    """
    rows = axis_size(n, "tri", "n")
    columns = rows if m is None else axis_size(m, "tri", "m")
    row = _core.reshape(
        _core.arange(integer(k, "tri", "k"), rows, 1, numpy.dtype("int64")), (rows, 1)
    )
    mask = _core.less_equal(_core.arange(0, columns, 1, numpy.dtype("int64")), row)
    return _core.cast(mask, _core.default_float() if dtype is None else dtype)


def tril_indices(
    n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None
) -> tuple[Tensor, Tensor]:
    """Return the indices of the lower triangle of an n × m matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Diagonal on which the triangle ends, above the main one if positive. Default: 0, the main
        diagonal.
    m : int, optional
        Number of columns. Default: `n`.

    Returns
    -------
    tuple of two Tensor
        Row and column indices of the entries on and below the diagonal, one axis each, of dtype
        int64.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If a size is negative, or the matrix has more than 2^31 entries.

    Examples
    --------
    >>> pb.tril_indices(2)
    (Tensor([0, 1, 1], dtype=int64), Tensor([0, 0, 1], dtype=int64))
    """
    return _indices(n, k, m, True, "tril_indices")


def triu_indices(
    n: SupportsIndex, k: SupportsIndex = 0, m: SupportsIndex | None = None
) -> tuple[Tensor, Tensor]:
    """Return the indices of the upper triangle of an n × m matrix.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, optional
        Diagonal on which the triangle starts, above the main one if positive. Default: 0, the main
        diagonal.
    m : int, optional
        Number of columns. Default: `n`.

    Returns
    -------
    tuple of two Tensor
        Row and column indices of the entries on and above the diagonal, one axis each, of dtype
        int64.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If a size is negative, or the matrix has more than 2^31 entries.

    Examples
    --------
    >>> pb.triu_indices(2)
    (Tensor([0, 0, 1], dtype=int64), Tensor([0, 1, 1], dtype=int64))
    """
    return _indices(n, k, m, False, "triu_indices")


def _indices(
    n: SupportsIndex, k: SupportsIndex, m: SupportsIndex | None, lower: bool, who: str
) -> tuple[Tensor, Tensor]:
    rows, by = axis_size(n, who, "n"), offset_of(k, who)
    columns = rows if m is None else axis_size(m, who, "m")
    if rows * columns > 1 << 31:
        raise ValueError(f"{who}: expected at most 2**31 elements, got {rows} × {columns}")
    kept = numpy.tri(rows, columns, by if lower else by - 1, bool)
    row, column = numpy.nonzero(kept if lower else ~kept)
    return _core.constant(row), _core.constant(column)
