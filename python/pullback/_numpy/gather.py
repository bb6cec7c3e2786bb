"""Elements at integer indices: `take` and `take_along_axis`."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .advanced_index import along_axis
from .indexing import get

__all__ = ["take", "take_along_axis"]


def take(x: TensorLike, indices: TensorLike, axis: SupportsIndex | None = None) -> Tensor:
    """Return the elements at indices along an axis.

    Differentiable in `x`; the gradients of an element that is taken several times add up.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    indices : array_like, int
        Indices of any shape; negative values count from the end of the axis.
    axis : int, optional
        Axis to index; negative values count from the last axis. Default: the flattened input.

    Returns
    -------
    Tensor
        Shape of `x` with the shape of `indices` in place of the axis; the dtype of `x`.

    Raises
    ------
    IndexError
        If an index is out of range: at the call, or during evaluation if the indices are not
        computed yet.
    ValueError
        If `axis` is out of range.
    TypeError
        If `indices` is not made of integers.

    Examples
    --------
    >>> pb.take([10.0, 20.0, 30.0], [[2, 0], [0, -1]])
    Tensor([[30., 10.],
            [10., 30.]], dtype=float32)
    """
    if axis is None:
        return _core.take(_core.reshape(x, -1), indices, 0)
    return _core.take(x, indices, axis)


@composite
def take_along_axis(x: TensorLike, indices: TensorLike, axis: SupportsIndex = -1) -> Tensor:
    """Return the elements at indices that differ for each row along an axis.

    The indices can be the result of `argmax`, for example. The same index in `x.at` replaces these
    elements. Differentiable in `x`; the gradients of an element that is taken several times add up.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    indices : array_like, int
        Indices of the rank of `x`, which broadcast with it along the other axes; negative values
        count from the end of the axis.
    axis : int, default -1
        Axis to index; negative values count from the last axis.

    Returns
    -------
    Tensor
        Broadcast shape along the other axes, size of `indices` along `axis`; the dtype of `x`.

    Raises
    ------
    IndexError
        If an index is out of range (at the call, or during evaluation if the indices are not
        computed yet), if `indices` is not made of integers, or if the shapes do not broadcast.
    ValueError
        If the ranks differ or `axis` is out of range.
    TypeError
        If `axis` is not an integer.

    Examples
    --------
    >>> x = pb.constant([[1.0, 5.0, 2.0], [6.0, 3.0, 4.0]])
    >>> pb.take_along_axis(x, pb.argmax(x, axis=1, keepdims=True))
    Tensor([[5.],
            [6.]], dtype=float32)
    """
    x = _core.identity(x)
    positions = _core.constant(indices, who="take_along_axis")
    if positions.size and positions.dtype.kind not in "iu":
        raise IndexError(f"take_along_axis: expected integers for indices, got {positions.dtype}")
    key = along_axis(x.shape, indices, integer(axis, "take_along_axis", "axis"))
    return get(x, key, "take_along_axis")
