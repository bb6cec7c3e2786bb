"""Shapes to which several arrays broadcast, and the arrays in that shape."""

from __future__ import annotations

import numpy

from .. import _core
from .._base.checks import integers
from .._base.composite import composite
from .._core import Tensor
from .._typing import Shape, TensorLike

__all__ = ["broadcast_arrays", "broadcast_shapes"]


def broadcast_shapes(*shapes: Shape) -> tuple[int, ...]:
    """Return the shape to which shapes broadcast.

    Parameters
    ----------
    *shapes : int or tuple of int
        Shapes to broadcast.

    Returns
    -------
    tuple of int
        The common shape; () without arguments.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    TypeError
        If a shape is not made of integers.

    Examples
    --------
    >>> pb.broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    return common_shape(
        [tuple(integers(shape, "broadcast_shapes", "a shape")) for shape in shapes],
        "broadcast_shapes",
    )


@composite
def broadcast_arrays(*arrays: TensorLike) -> tuple[Tensor, ...]:
    """Broadcast arrays to their common shape.

    Differentiable in all arrays.

    Parameters
    ----------
    *arrays : array_like
        Arrays with shapes that broadcast, of any dtype.

    Returns
    -------
    tuple of Tensor
        The arrays in the common shape, each with its own dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> [x.shape for x in pb.broadcast_arrays([[1], [2]], [1, 2, 3])]
    [(2, 3), (2, 3)]
    """
    tensors = [_core.constant(x, who="broadcast_arrays") for x in arrays]
    shape = common_shape([x.shape for x in tensors], "broadcast_arrays")
    return tuple(_core.broadcast_to(x, shape) for x in tensors)


def common_shape(shapes: list[tuple[int, ...]], who: str) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*shapes)
    except ValueError:
        text = " and ".join(map(str, shapes))
        raise ValueError(f"{who}: shapes {text} do not broadcast") from None
