"""Functions that add axes, and NumPy's further functions that join arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from numpy.exceptions import AxisError

from .. import _core
from .._base.checks import axes_of, integer
from .._base.composite import composite, composite_of_sequence
from .._core import Tensor
from .._typing import TensorLike
from .shape import flat, listed

__all__ = [
    "append",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "column_stack",
    "concatenate",
    "dstack",
    "hstack",
    "rollaxis",
    "vstack",
]


@composite
def atleast_1d(x: TensorLike, /) -> Tensor:
    """Return the input with at least one axis.

    A scalar becomes a tensor of shape (1,). Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Rank 1 or higher; the dtype of `x`.

    Examples
    --------
    >>> pb.atleast_1d(3.0)
    Tensor([3.], dtype=float32)
    """
    x = _core.constant(x, who="atleast_1d")
    return x if x.shape else _core.reshape(x, (1,))


@composite
def atleast_2d(x: TensorLike, /) -> Tensor:
    """Return the input with at least two axes.

    New axes of size 1 come first. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Rank 2 or higher; the dtype of `x`.

    Examples
    --------
    >>> pb.atleast_2d([1, 2]).shape
    (1, 2)
    """
    x = _core.constant(x, who="atleast_2d")
    return _core.reshape(x, (1,) * (2 - len(x.shape)) + tuple(x.shape))


@composite
def atleast_3d(x: TensorLike, /) -> Tensor:
    """Return the input with at least three axes.

    Shape (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1). Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Rank 3 or higher; the dtype of `x`.

    Examples
    --------
    >>> pb.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    x = _core.constant(x, who="atleast_3d")
    rank = len(x.shape)
    front = (1,) if rank < 2 else ()
    shape = (*front, *x.shape)
    return _core.reshape(x, shape + (1,) * (3 - len(shape)))


@composite_of_sequence
def hstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """Join arrays along the second axis, or along the only axis of vectors.

    Scalars count as vectors of one element. Differentiable in all arrays.

    Parameters
    ----------
    arrays : sequence of array_like, or array_like
        Arrays whose shapes differ at most along the joined axis.

    Returns
    -------
    Tensor
        The joined arrays; the dtype to which they promote.

    Raises
    ------
    ValueError
        If there are no arrays or their shapes do not match.
    TypeError
        If `arrays` is not a sequence.

    Examples
    --------
    >>> pb.hstack([[1, 2], [3]])
    Tensor([1, 2, 3], dtype=int64)
    """
    parts = [atleast_1d(x) for x in _core.parts(listed(arrays, "hstack"), "hstack")]
    return _core.concat(parts, 1 if parts and len(parts[0].shape) > 1 else 0)


@composite_of_sequence
def vstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """Join arrays along the first axis, vectors as rows.

    Arrays of a rank below 2 become matrices of one row first. Differentiable in all arrays.

    Parameters
    ----------
    arrays : sequence of array_like, or array_like
        Arrays whose shapes differ at most along the first axis of at least two.

    Returns
    -------
    Tensor
        The joined arrays, rank 2 or higher; the dtype to which they promote.

    Raises
    ------
    ValueError
        If there are no arrays or their shapes do not match.
    TypeError
        If `arrays` is not a sequence.

    Examples
    --------
    >>> pb.vstack([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    parts = _core.parts(listed(arrays, "vstack"), "vstack")
    return _core.concat([atleast_2d(x) for x in parts], 0)


@composite_of_sequence
def dstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """Join arrays along the third axis.

    Arrays of a rank below 3 are extended as by `atleast_3d` first. Differentiable in all arrays.

    Parameters
    ----------
    arrays : sequence of array_like, or array_like
        Arrays whose shapes differ at most along the third axis of at least three.

    Returns
    -------
    Tensor
        The joined arrays, rank 3 or higher; the dtype to which they promote.

    Raises
    ------
    ValueError
        If there are no arrays or their shapes do not match.
    TypeError
        If `arrays` is not a sequence.

    Examples
    --------
    >>> pb.dstack([[1, 2], [3, 4]]).shape
    (1, 2, 2)
    """
    parts = _core.parts(listed(arrays, "dstack"), "dstack")
    return _core.concat([atleast_3d(x) for x in parts], 2)


@composite_of_sequence
def column_stack(arrays: Sequence[TensorLike], /) -> Tensor:
    """Join vectors as the columns of a matrix.

    Arrays of rank 2 or higher are joined unchanged along their second axis. Differentiable in all
    arrays.

    Parameters
    ----------
    arrays : sequence of array_like, or array_like
        Vectors of one size, or matrices with as many rows.

    Returns
    -------
    Tensor
        The joined arrays, rank 2 or higher; the dtype to which they promote.

    Raises
    ------
    ValueError
        If there are no arrays or their shapes do not match.
    TypeError
        If `arrays` is not a sequence.

    Examples
    --------
    >>> pb.column_stack([[1, 2], [3, 4]])
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """

    def column(x: TensorLike) -> Tensor:
        t = atleast_1d(x)
        return _core.expand_dims(t, 1) if len(t.shape) == 1 else t

    parts = _core.parts(listed(arrays, "column_stack"), "column_stack")
    return _core.concat([column(x) for x in parts], 1)


def concatenate(arrays: Sequence[TensorLike], /, axis: SupportsIndex | None = 0) -> Tensor:
    """Alias of `concat`.

    Join arrays along an existing axis. Differentiable in all arrays.

    Parameters
    ----------
    arrays : sequence of array_like, or array_like
        Arrays of rank 1 or higher whose shapes differ at most along `axis`. An array is a sequence
        along its first axis.
    axis : int or None, default 0
        Axis to join along; negative values count from the last axis. None flattens all arrays
        first; they may have any shape then.

    Returns
    -------
    Tensor
        Sum of the sizes along `axis`, the common size along other axes; the dtype to which the
        arrays promote.

    Raises
    ------
    ValueError
        If there are no arrays, if their shapes differ along other axes, or if `axis` is out of
        range.
    TypeError
        If `arrays` is not a sequence.

    Examples
    --------
    >>> pb.concatenate([[[1, 2]], [[3, 4]]], axis=None)
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    parts = listed(arrays, "concatenate")
    if axis is None:
        return _core.concat(flat(parts, "concatenate"), 0)
    return _core.concat(parts, integer(axis, "concatenate", "axis"))


@composite
def append(x: TensorLike, /, values: TensorLike, axis: SupportsIndex | None = None) -> Tensor:
    """Append values to an array along an axis.

    Differentiable in `x` and `values`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    values : array_like
        Elements to append; with `axis` the shape differs from that of `x` at most along this axis.
    axis : int, optional
        Axis to join along; negative values count from the last axis. Default: both inputs are
        flattened.

    Returns
    -------
    Tensor
        The joined arrays; the dtype to which they promote.

    Raises
    ------
    ValueError
        If the shapes differ along other axes or `axis` is out of range.

    Examples
    --------
    >>> pb.append([1, 2], [[3], [4]])
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    if axis is None:
        return _core.concat(flat((x, values), "append"), 0)
    return _core.concat([x, values], axis)


@composite
def rollaxis(x: TensorLike, /, axis: SupportsIndex, start: SupportsIndex = 0) -> Tensor:
    """Move an axis before the axis at a position.

    Differentiable in `x`. Prefer `moveaxis`, which is easier to read.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int
        Axis to move; negative values count from the last axis.
    start : int, default 0
        Position in front of which the axis is placed, from minus the rank to the rank of `x`.

    Returns
    -------
    Tensor
        Permuted shape of `x`; the dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` or `start` is out of range.

    Examples
    --------
    >>> pb.rollaxis(pb.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = _core.constant(x, who="rollaxis")
    rank = len(x.shape)
    (k,), to = axes_of([axis], rank, "rollaxis"), integer(start, "rollaxis", "start")
    if not -rank <= to <= rank:
        raise AxisError(f"rollaxis: expected start from {-rank} to {rank}, got {to}")
    to += rank if to < 0 else 0
    order = [a for a in range(rank) if a != k]
    order.insert(to - (k < to), k)
    return _core.transpose(x, order)
