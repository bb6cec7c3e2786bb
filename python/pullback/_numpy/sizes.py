"""Shape, rank and size of array_like values, which are known without an evaluation."""

from __future__ import annotations

from math import prod

from .. import _core
from .._base.checks import axes_of
from .._typing import Axis, TensorLike

__all__ = ["ndim", "shape", "size"]


def shape(a: TensorLike) -> tuple[int, ...]:
    """Return the shape of an array.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.

    Returns
    -------
    tuple of int
        Axis sizes.

    Examples
    --------
    >>> pb.shape([[1.0, 2.0, 3.0]])
    (1, 3)
    """
    return tuple(_core.constant(a, who="shape").shape)


def ndim(a: TensorLike) -> int:
    """Return the number of axes of an array.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.

    Returns
    -------
    int
        Number of axes; 0 for a number.

    Examples
    --------
    >>> pb.ndim([[1.0, 2.0, 3.0]])
    2
    """
    return len(_core.constant(a, who="ndim").shape)


def size(a: TensorLike, axis: Axis = None) -> int:
    """Return the number of elements of an array, or along axes.

    Parameters
    ----------
    a : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes whose sizes are multiplied. Default: all axes.

    Returns
    -------
    int
        Number of elements.

    Raises
    ------
    ValueError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.size([[1.0, 2.0, 3.0]]), pb.size([[1.0, 2.0, 3.0]], 0)
    (3, 1)
    """
    sizes = _core.constant(a, who="size").shape
    axes = range(len(sizes)) if axis is None else axes_of(axis, len(sizes), "size")
    return prod(sizes[k] for k in axes)
