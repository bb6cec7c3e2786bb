"""Elements at integer positions: `take`, `take_along_axis`."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import integer
from .index import along_axis, get


def take(x: TensorLike, indices: TensorLike, axis: SupportsIndex | None = None) -> Tensor:
    """The elements of x at integer positions along an axis; without one, of x flattened.

    The result has the shape of the indices in place of the axis. A position outside the axis is an
    IndexError: at the call, or when it is computed where the indices are yet to be computed. The
    gradient adds up what one position is taken for.

    >>> pb.take([10.0, 20.0, 30.0], [[2, 0], [0, -1]])
    Tensor([[30., 10.],
            [10., 30.]], dtype=float32)
    """
    if axis is None:
        return _core.take(_core.reshape(x, -1), indices, 0)
    return _core.take(x, indices, axis)


def take_along_axis(x: TensorLike, indices: TensorLike, axis: SupportsIndex = -1) -> Tensor:
    """For each row of x along an axis the elements at its own positions: those that `argmax` gives,
    for example.

    The indices have the rank of x and broadcast against it along the other axes. A position outside
    the axis is an IndexError, as in `take`. The same index in `x.at` replaces these elements.

    >>> x = pb.constant([[1.0, 5.0, 2.0], [6.0, 3.0, 4.0]])
    >>> pb.take_along_axis(x, pb.argmax(x, axis=1, keepdims=True))
    Tensor([[5.],
            [6.]], dtype=float32)
    """
    x = _core.identity(x)
    positions = _core.constant(indices, who="take_along_axis")
    if positions.size and positions.dtype.kind not in "iu":
        raise IndexError(f"take_along_axis: expected integers, got indices of {positions.dtype}")
    key = along_axis(x.shape, indices, integer(axis, "take_along_axis"))
    return get(x, key, "take_along_axis")
