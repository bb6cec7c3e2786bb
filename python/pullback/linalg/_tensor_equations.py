"""Inverses and equations of tensors that are read as matrices."""

from __future__ import annotations

from math import prod
from typing import Any, SupportsIndex

import numpy

from .. import _core
from .._base.checks import axes_of, integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._matrices import one_dtype


@composite
def tensorinv(a: TensorLike, /, ind: SupportsIndex = 2) -> Tensor:
    """Compute the inverse of a tensor with respect to `tensordot(…, ind)`.

    The convention is that of `np.linalg.tensorinv`. Differentiable in `a`.

    Parameters
    ----------
    a : array_like
        Tensor whose first `ind` axes have as many elements as its other axes.
    ind : int, optional
        Number of the first axes. Default: 2.

    Returns
    -------
    Tensor
        Shape of the other axes followed by the first axes; the floating or complex dtype of `a`.

    Raises
    ------
    ValueError
        If `ind` is not positive.
    numpy.linalg.LinAlgError
        If the numbers of elements differ, or the matrix is singular. The latter is raised when the
        result is computed.

    Examples
    --------
    >>> pb.linalg.tensorinv(pb.reshape(pb.eye(4) * 2, (4, 2, 2)), ind=1).shape
    (2, 2, 4)
    """
    who = "tensorinv"
    [x], rounded = one_dtype([a], who)
    count = integer(ind, who, "ind")
    if count <= 0:
        raise ValueError(f"{who}: expected an integer > 0 for ind, got {count}")
    first, others = x.shape[:count], x.shape[count:]
    if prod(first) != prod(others):
        raise numpy.linalg.LinAlgError(
            f"{who}: expected as many elements in the first {count} axes as in the others, got "
            f"shape {x.shape}"
        )
    matrix = _core.reshape(x, (prod(first), prod(others)))
    unit = _core.eye(prod(first), prod(first), 0, x.dtype)
    return rounded(_core.reshape(_core.equation(matrix, unit, who), (*others, *first)))


@composite
def tensorsolve(a: TensorLike, b: TensorLike, axes: Any = None) -> Tensor:
    """Solve `tensordot(a, x, x.ndim)` = b for x.

    The convention is that of `np.linalg.tensorsolve`. Differentiable in `a` and `b`.

    Parameters
    ----------
    a : array_like
        Coefficients. The first axes are those of `b`; the others, with as many elements, are the
        axes of x.
    b : array_like
        Right-hand side of any shape.
    axes : int or sequence of int, optional
        Axes of `a` to move to the end first. Default: None.

    Returns
    -------
    Tensor
        Shape of the other axes of `a`; the promoted floating or complex dtype.

    Raises
    ------
    ValueError
        If an axis is out of range.
    numpy.linalg.LinAlgError
        If the numbers of elements differ, or the matrix is singular. The latter is raised when the
        result is computed.

    Examples
    --------
    >>> a = pb.reshape(pb.eye(4) * 2, (4, 2, 2))
    >>> pb.linalg.tensorsolve(a, [2.0, 4.0, 6.0, 8.0])
    Tensor([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    who = "tensorsolve"
    (x, right), rounded = one_dtype([a, b], who)
    if axes is not None:
        moved = axes_of(axes, len(x.shape), who)
        x = _core.transpose(x, [k for k in range(len(x.shape)) if k not in moved] + moved)
    others = x.shape[len(right.shape) :]
    if x.size != right.size * prod(others) or prod(others) != right.size:
        raise numpy.linalg.LinAlgError(
            f"{who}: expected {right.size} × {right.size} elements for a and b of shape "
            f"{right.shape}, got shape {x.shape}"
        )
    matrix = _core.reshape(x, (right.size, right.size))
    return rounded(
        _core.reshape(_core.equation(matrix, _core.reshape(right, (right.size,)), who), others)
    )
