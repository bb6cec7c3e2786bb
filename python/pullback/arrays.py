"""Making arrays, and changing their shape. Positions along an axis may be negative; a bad axis or
shape is a ValueError, a shape that is not made of integers a TypeError. Movement costs nothing when
it is computed, except `concat`, `stack` and `take`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING

from . import _core
from ._core import Tensor
from .indexing import along_axis

if TYPE_CHECKING:
    from ._typing import DType, Shape, TensorLike


# --- creation (`dtype` defaults to the default floating dtype)


def zeros(shape: Shape, dtype: DType = None) -> Tensor:
    """Zeros.

    >>> pb.zeros((2, 3))
    Tensor([[0., 0., 0.],
            [0., 0., 0.]], dtype=float32)
    """
    return full(shape, 0.0, dtype)


def ones(shape: Shape, dtype: DType = None) -> Tensor:
    """Ones.

    >>> pb.ones(3, "int32")
    Tensor([1, 1, 1], dtype=int32)
    """
    return full(shape, 1.0, dtype)


def full(shape: Shape, fill_value: TensorLike, dtype: DType = None) -> Tensor:
    """An array with one value everywhere, by default of that value's dtype.

    >>> pb.full((2,), 7)
    Tensor([7, 7], dtype=int64)
    """
    return _core.full(shape, fill_value, dtype)


def zeros_like(x: TensorLike, /, dtype: DType = None) -> Tensor:
    """Zeros of the shape of x, and of its dtype unless another is given.

    >>> pb.zeros_like([1.0, 2.0])
    Tensor([0., 0.], dtype=float32)
    """
    return full_like(x, 0, dtype)


def ones_like(x: TensorLike, /, dtype: DType = None) -> Tensor:
    """Ones of the shape of x, and of its dtype unless another is given.

    >>> pb.ones_like([1.0, 2.0])
    Tensor([1., 1.], dtype=float32)
    """
    return full_like(x, 1, dtype)


def full_like(x: TensorLike, /, fill_value: TensorLike, dtype: DType = None) -> Tensor:
    """One value everywhere, in the shape of x, and in its dtype unless another is given.

    >>> pb.full_like([1.0, 2.0], 5)
    Tensor([5., 5.], dtype=float32)
    """
    like = _core.identity(x)
    return _core.full(like.shape, fill_value, like.dtype if dtype is None else dtype)


def arange(start: float, stop: float | None = None, step: float = 1, dtype: DType = None) -> Tensor:
    """start, start + step, … up to but without `stop`; `arange(n)` counts from 0 to n - 1.

    The arguments are Python numbers: integers give int64, floats the default dtype. A step of 0 is
    a ValueError.

    >>> pb.arange(5)
    Tensor([0, 1, 2, 3, 4], dtype=int64)
    >>> pb.arange(1, 2, 0.25)
    Tensor([1.  , 1.25, 1.5 , 1.75], dtype=float32)
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step is 0")
    if dtype is None:
        integers = all(isinstance(number, int) for number in (start, stop, step))
        dtype = "int64" if integers else _core.default_float()
    return _core.arange(start, max(0, ceil((stop - start) / step)), step, dtype)


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DType = None) -> Tensor:
    """A matrix with ones on its k-th diagonal (above the main one for k > 0), zeros elsewhere.

    >>> pb.eye(2)
    Tensor([[1., 0.],
            [0., 1.]], dtype=float32)
    """
    return _core.eye(n_rows, n_rows if n_cols is None else n_cols, k, dtype)


# --- shape


def reshape(x: TensorLike, /, shape: Shape) -> Tensor:
    """The same elements in another shape; one length may be -1 and follows from the others.

    >>> pb.reshape([1, 2, 3, 4], (2, -1))
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    return _core.reshape(x, shape)


def permute_dims(x: TensorLike, /, axes: Sequence[int]) -> Tensor:
    """Axis `axes[i]` of x becomes axis i.

    >>> pb.permute_dims(pb.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return _core.transpose(x, axes)


def transpose(x: TensorLike, /, axes: Sequence[int] | None = None) -> Tensor:
    """`permute_dims`; without `axes` the axes are reversed.

    >>> pb.transpose([[1, 2, 3]]).shape
    (3, 1)
    """
    return _core.transpose(x, axes)


def expand_dims(x: TensorLike, /, axis: int | Sequence[int] = 0) -> Tensor:
    """x with an axis of length 1 at each of these positions of the result.

    >>> pb.expand_dims([1, 2], -1).shape
    (2, 1)
    """
    return _core.expand_dims(x, axis)


def squeeze(x: TensorLike, /, axis: int | Sequence[int] | None = None) -> Tensor:
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


def concat(arrays: Sequence[TensorLike], /, *, axis: int = 0) -> Tensor:
    """The arrays one after the other along an axis that exists; their other lengths are equal.

    >>> pb.concat([[1, 2], [3]])
    Tensor([1, 2, 3], dtype=int64)
    """
    return _core.concat(arrays, axis)


def stack(arrays: Sequence[TensorLike], /, *, axis: int = 0) -> Tensor:
    """Arrays of one shape along a new axis.

    >>> pb.stack([[1, 2], [3, 4]], axis=1)
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """
    return _core.stack(arrays, axis)


def split(x: TensorLike, /, parts: int | Sequence[int], *, axis: int = 0) -> list[Tensor]:
    """x in parts along an axis: a number of equal ones, or cut before each of these positions.

    >>> pb.split([1, 2, 3, 4], 2)
    [Tensor([1, 2], dtype=int64), Tensor([3, 4], dtype=int64)]
    >>> [part.shape for part in pb.split(pb.zeros(10), [3, 5])]
    [(3,), (2,), (5,)]
    """
    x = _core.identity(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"split: axis {axis} of a tensor of rank {x.ndim}")
    length = x.shape[axis]
    if isinstance(parts, int):
        if parts < 1 or length % parts:
            raise ValueError(f"split: an axis of length {length} in {parts} equal parts")
        sizes = [length // parts] * parts
    else:
        cuts = [0, *parts, length]
        sizes = [end - begin for begin, end in pairwise(cuts)]
        if any(size < 0 for size in sizes):
            raise ValueError(f"split: positions {list(parts)} do not rise within 0 … {length}")
    return _core.split(x, sizes, axis)


def take(x: TensorLike, indices: TensorLike, /, *, axis: int | None = None) -> Tensor:
    """The elements of x at integer positions along an axis; without one, of x flattened.

    The result has the shape of the indices in place of the axis. A position outside the axis is an
    IndexError when it is computed. The gradient adds up what one position is taken for.

    >>> pb.take([10.0, 20.0, 30.0], [[2, 0], [0, -1]])
    Tensor([[30., 10.],
            [10., 30.]], dtype=float32)
    """
    if axis is None:
        return _core.take(_core.reshape(x, -1), indices, 0)
    return _core.take(x, indices, axis)


def take_along_axis(x: TensorLike, indices: TensorLike, /, *, axis: int = -1) -> Tensor:
    """For each row of x along an axis the elements at its own positions: those that `argmax` gives,
    for example.

    The indices have the rank of x and broadcast against it along the other axes. A position outside
    the axis is an IndexError: at the call, or when it is computed where the indices are a tensor.
    The same index in `x.at` replaces these elements.

    >>> x = pb.constant([[1.0, 5.0, 2.0], [6.0, 3.0, 4.0]])
    >>> pb.take_along_axis(x, pb.argmax(x, axis=1, keepdims=True))
    Tensor([[5.],
            [6.]], dtype=float32)
    """
    x = _core.identity(x)
    return x[along_axis(x.shape, indices, axis)]


def one_hot(indices: TensorLike, /, depth: int, *, axis: int = -1, dtype: DType = None) -> Tensor:
    """1 at the index and 0 elsewhere, along a new axis of length `depth`. An index outside of
    0 … depth - 1 gives zeros; indices that are not integers are a TypeError.

    >>> pb.one_hot([2, 0], 3)
    Tensor([[0., 0., 1.],
            [1., 0., 0.]], dtype=float32)
    """
    return _core.one_hot(indices, depth, dtype, axis)
