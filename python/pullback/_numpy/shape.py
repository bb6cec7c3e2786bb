"""Functions that change the shape of arrays.

All except `concat` and `stack` are views, which take no time when they are evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import check_copy, given_once, integer, is_integer
from .._base.composite import composite, composite_of_sequence
from .._core import Tensor
from .._typing import Sections, Shape, TensorLike

__all__ = [
    "broadcast_to",
    "concat",
    "expand_dims",
    "permute_dims",
    "reshape",
    "split",
    "squeeze",
    "stack",
    "transpose",
]


def reshape(x: TensorLike, /, shape: Shape, *, copy: bool | None = None) -> Tensor:
    """Return the elements in another shape.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    shape : int or tuple of int
        New shape. One size may be -1; it follows from the others.
    copy : bool, optional
        Accepted for compatibility with the Array API and without effect: a tensor never changes
        after its creation.

    Returns
    -------
    Tensor
        The given shape; the dtype of `x`.

    Raises
    ------
    ValueError
        If the number of elements differs or more than one size is -1.
    TypeError
        If `shape` is not made of integers.

    Examples
    --------
    >>> pb.reshape([1, 2, 3, 4], (2, -1))
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    if copy is not None:
        check_copy(copy, "reshape")
    return _core.reshape(x, shape)


def permute_dims(x: TensorLike, /, axes: Sequence[SupportsIndex]) -> Tensor:
    """Permute the axes of an array.

    Axis ``axes[i]`` of `x` becomes axis ``i`` of the result. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axes : sequence of int
        Permutation of the axes of `x`; negative values count from the last axis.

    Returns
    -------
    Tensor
        Permuted shape of `x`; the dtype of `x`.

    Raises
    ------
    ValueError
        If `axes` is not a permutation of the axes of `x`.
    TypeError
        If `axes` is None.

    See Also
    --------
    transpose : Permute the axes; without `axes` in reversed order.

    Examples
    --------
    >>> pb.permute_dims(pb.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    if axes is None:
        raise TypeError(
            "permute_dims: expected a permutation of the axes for axes, got None; use transpose"
        )
    return _core.transpose(x, axes)


def transpose(x: TensorLike, /, axes: Sequence[SupportsIndex] | None = None) -> Tensor:
    """Permute the axes of an array, by default in reversed order.

    Axis ``axes[i]`` of `x` becomes axis ``i`` of the result. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axes : sequence of int, optional
        Permutation of the axes of `x`; negative values count from the last axis. Default: reversed
        order.

    Returns
    -------
    Tensor
        Permuted shape of `x`; the dtype of `x`.

    Raises
    ------
    ValueError
        If `axes` is not a permutation of the axes of `x`.

    Examples
    --------
    >>> pb.transpose([[1, 2, 3]]).shape
    (3, 1)
    """
    return _core.transpose(x, axes)


@composite
def expand_dims(x: TensorLike, /, axis: SupportsIndex | Sequence[SupportsIndex] = 0) -> Tensor:
    """Insert axes of size 1.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, default 0
        Positions of the new axes in the result; negative values count from its last axis.

    Returns
    -------
    Tensor
        Shape of `x` with size 1 at the positions of `axis`; the dtype of `x`.

    Raises
    ------
    ValueError
        If a position is out of range or given twice.

    Examples
    --------
    >>> pb.expand_dims([1, 2], -1).shape
    (2, 1)
    """
    return _core.expand_dims(x, axis)


@composite
def squeeze(
    x: TensorLike, /, axis: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> Tensor:
    """Remove axes of size 1.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or sequence of int, optional
        Axes to remove; negative values count from the last axis. Default: all axes of size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the removed axes; the dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is out of range or its size is not 1.

    Examples
    --------
    >>> pb.squeeze([[[1, 2]]]).shape
    (2,)
    """
    return _core.squeeze(x, axis)


def broadcast_to(x: TensorLike, /, shape: Shape) -> Tensor:
    """Broadcast an array to a shape.

    The elements are repeated along new leading axes and along axes of size 1. Differentiable in
    `x`.

    Parameters
    ----------
    x : array_like
        Input of any dtype, with a shape that broadcasts to `shape`.
    shape : int or tuple of int
        Shape of the result.

    Returns
    -------
    Tensor
        The given shape; the dtype of `x`.

    Raises
    ------
    ValueError
        If the shape of `x` does not broadcast to `shape`.

    Examples
    --------
    >>> pb.broadcast_to([1, 2], (2, 2))
    Tensor([[1, 2],
            [1, 2]], dtype=int64)
    """
    return _core.broadcast_to(x, shape)


def concat(arrays: Sequence[TensorLike], /, axis: SupportsIndex | None = 0) -> Tensor:
    """Join arrays along an existing axis.

    Differentiable in all arrays.

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
        If `arrays` is not a sequence or `axis` is not an integer.

    Examples
    --------
    >>> pb.concat([[1, 2], [3]])
    Tensor([1, 2, 3], dtype=int64)
    >>> pb.concat([[[1, 2]], [[3], [4]]], axis=None)
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    parts = listed(arrays, "concat")
    if axis is None:
        return _core.concat(flat(parts, "concat"), 0)
    return _core.concat(parts, integer(axis, "concat", "axis"))


def flat(arrays: Sequence[TensorLike], who: str) -> list[Tensor]:
    """Flatten each array."""
    return [_core.reshape(x, (x.size,)) for x in _core.parts(arrays, who)]


@composite_of_sequence
def stack(arrays: Sequence[TensorLike], /, axis: SupportsIndex = 0) -> Tensor:
    """Join arrays of one shape along a new axis.

    Differentiable in all arrays.

    Parameters
    ----------
    arrays : sequence of array_like, or array_like
        Arrays of one shape. An array is a sequence along its first axis.
    axis : int, default 0
        Position of the new axis in the result; negative values count from its last axis.

    Returns
    -------
    Tensor
        Common shape with the number of arrays inserted at `axis`; the dtype to which the arrays
        promote.

    Raises
    ------
    ValueError
        If there are no arrays, if their shapes differ, or if `axis` is out of range.
    TypeError
        If `arrays` is not a sequence.

    Examples
    --------
    >>> pb.stack([[1, 2], [3, 4]], axis=1)
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """
    return _core.stack(listed(arrays, "stack"), integer(axis, "stack", "axis"))


def listed(arrays: Any, who: str) -> list[Any]:
    """Return the entries of a sequence, or of a tensor along its first axis."""
    if isinstance(arrays, (str, bytes, dict)) or not hasattr(arrays, "__iter__"):
        raise TypeError(f"{who}: expected a sequence of arrays, got {_core.shown(arrays)}")
    return list(arrays)


@composite
def split(
    x: TensorLike,
    /,
    indices_or_sections: Sections | None = None,
    axis: SupportsIndex = 0,
    *,
    parts: Sections | None = None,
) -> list[Tensor]:
    """Split an array into parts along an axis.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    indices_or_sections : int or sequence of int
        Number of parts of equal size, or ascending positions along the axis at which a new part
        begins.
    axis : int, default 0
        Axis to split; negative values count from the last axis.
    parts : int or sequence of int, optional
        Alias of `indices_or_sections`. Give one of the two.

    Returns
    -------
    list of Tensor
        The parts in order, each with the dtype of `x`.

    Raises
    ------
    ValueError
        If the axis is not divisible into that many equal parts, if the positions do not ascend
        within 0 and the size of the axis, or if `axis` is out of range.
    TypeError
        If `indices_or_sections` is neither an integer nor made of integers, or `parts` is given
        too.

    See Also
    --------
    array_split : Split into parts of nearly equal size.

    Examples
    --------
    >>> pb.split([1, 2, 3, 4], 2)
    [Tensor([1, 2], dtype=int64), Tensor([3, 4], dtype=int64)]
    >>> [part.shape for part in pb.split(pb.zeros(10), [3, 5])]
    [(3,), (2,), (5,)]
    """
    x = _core.identity(x)
    axis = integer(axis, "split", "axis")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"split: axis {axis} is out of range for a tensor of rank {x.ndim}")
    length = x.shape[axis]
    sections = given_once({"indices_or_sections": indices_or_sections, "parts": parts}, "split")
    if is_integer(sections):
        count = integer(sections, "split", "indices_or_sections")
        if count < 1 or length % count:
            raise ValueError(
                f"split: expected indices_or_sections to divide {length}, the size of axis {axis}, "
                f"got {count}; use array_split"
            )
        sizes = [length // count] * count
    else:
        if not hasattr(sections, "__iter__"):
            raise TypeError(
                "split: expected an integer or a list of positions for indices_or_sections, got "
                f"{_core.shown(sections)}"
            )
        cuts = [0, *(integer(cut, "split", "indices_or_sections") for cut in sections), length]
        sizes = [end - begin for begin, end in pairwise(cuts)]
        if any(size < 0 for size in sizes):
            raise ValueError(
                f"split: expected increasing positions from 0 to {length} for indices_or_sections, "
                f"got {cuts[1:-1]}"
            )
    return _core.split(x, sizes, axis)
