"""Changing the shape of arrays. Positions along an axis may be negative; a bad axis or shape is a
ValueError, a shape that is not made of integers a TypeError. Movement costs nothing when it is
computed, except `concat` and `stack`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import Shape, TensorLike
from .arguments import check_copy, integer, is_integer


def reshape(x: TensorLike, /, shape: Shape, *, copy: bool | None = None) -> Tensor:
    """The same elements in another shape; one length may be -1 and follows from the others. A
    tensor never changes under its holders, so `copy` makes no difference.

    >>> pb.reshape([1, 2, 3, 4], (2, -1))
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    if copy is not None:
        check_copy(copy, "reshape")
    return _core.reshape(x, shape)


def permute_dims(x: TensorLike, /, axes: Sequence[SupportsIndex]) -> Tensor:
    """Axis `axes[i]` of x becomes axis i.

    >>> pb.permute_dims(pb.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    if axes is None:
        raise TypeError("permute_dims: expected the order of the axes, got None; see transpose")
    return _core.transpose(x, axes)


def transpose(x: TensorLike, /, axes: Sequence[SupportsIndex] | None = None) -> Tensor:
    """`permute_dims`; without `axes` the axes are reversed.

    >>> pb.transpose([[1, 2, 3]]).shape
    (3, 1)
    """
    return _core.transpose(x, axes)


def expand_dims(x: TensorLike, /, axis: SupportsIndex | Sequence[SupportsIndex] = 0) -> Tensor:
    """x with an axis of length 1 at each of these positions of the result.

    >>> pb.expand_dims([1, 2], -1).shape
    (2, 1)
    """
    return _core.expand_dims(x, axis)


def squeeze(
    x: TensorLike, /, axis: SupportsIndex | Sequence[SupportsIndex] | None = None
) -> Tensor:
    """x without these axes, or without all that have length 1. Another length is a ValueError.

    >>> pb.squeeze([[[1, 2]]]).shape
    (2,)
    """
    return _core.squeeze(x, axis)


def broadcast_to(x: TensorLike, /, shape: Shape) -> Tensor:
    """x repeated along new axes and along axes of length 1 until it has this shape.

    >>> pb.broadcast_to([1, 2], (2, 2))
    Tensor([[1, 2],
            [1, 2]], dtype=int64)
    """
    return _core.broadcast_to(x, shape)


def concat(arrays: Sequence[TensorLike], /, axis: SupportsIndex | None = 0) -> Tensor:
    """The arrays one after the other along an axis that exists; their other lengths are equal.
    Without an axis all are flattened before.

    >>> pb.concat([[1, 2], [3]])
    Tensor([1, 2, 3], dtype=int64)
    >>> pb.concat([[[1, 2]], [[3], [4]]], axis=None)
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    parts = listed(arrays, "concat")
    if axis is None:
        return _core.concat(flat(parts, "concat"), 0)
    return _core.concat(parts, integer(axis, "concat: axis"))


def flat(arrays: Sequence[TensorLike], who: str) -> list[Tensor]:
    """Each in one row."""
    return [_core.reshape(x, (x.size,)) for x in _core.parts(arrays, who)]


def stack(arrays: Sequence[TensorLike], /, axis: SupportsIndex = 0) -> Tensor:
    """Arrays of one shape along a new axis.

    >>> pb.stack([[1, 2], [3, 4]], axis=1)
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """
    return _core.stack(listed(arrays, "stack"), axis)


def listed(arrays: Any, who: str) -> list[Any]:
    """The entries of a sequence, or of a tensor along its first axis."""
    if isinstance(arrays, (str, bytes, dict)) or not hasattr(arrays, "__iter__"):
        raise TypeError(f"{who}: expected a sequence of arrays, got {_core.shown(arrays)}")
    return list(arrays)


def split(
    x: TensorLike, /, parts: SupportsIndex | Sequence[SupportsIndex], axis: SupportsIndex = 0
) -> list[Tensor]:
    """x in parts along an axis: a number of equal ones, or cut before each of these positions.

    >>> pb.split([1, 2, 3, 4], 2)
    [Tensor([1, 2], dtype=int64), Tensor([3, 4], dtype=int64)]
    >>> [part.shape for part in pb.split(pb.zeros(10), [3, 5])]
    [(3,), (2,), (5,)]
    """
    x = _core.identity(x)
    axis = integer(axis, "split")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"split: axis {axis} of a tensor of rank {x.ndim}")
    length = x.shape[axis]
    if is_integer(parts):
        count = integer(parts, "split")
        if count < 1 or length % count:
            raise ValueError(f"split: an axis of length {length} in {count} equal parts")
        sizes = [length // count] * count
    else:
        if not hasattr(parts, "__iter__"):
            raise TypeError(
                f"split: expected a number of parts, or positions, got {_core.shown(parts)}"
            )
        cuts = [0, *(integer(cut, "split") for cut in parts), length]
        sizes = [end - begin for begin, end in pairwise(cuts)]
        if any(size < 0 for size in sizes):
            raise ValueError(f"split: positions {cuts[1:-1]} do not rise within 0 … {length}")
    return _core.split(x, sizes, axis)
