"""Maxima and minima over axes, and their positions.

`axis`, `initial` and `where` are handled as in reductions.py. Equal extrema share the gradient.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import axes_of, flag, integer
from .._core import Tensor
from .._typing import Axis, TensorLike
from .reductions import counted, initial_value

__all__ = ["argmax", "argmin", "max", "min"]


def max(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the maximum over axes.

    NaN if a reduced element is NaN. Differentiable in `x` and `initial`; equal maxima share the
    gradient.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    initial : array_like, scalar, optional
        Lower bound of the result, cast to the dtype of `x`; it receives a gradient. Required with
        `where`, for results without an included element.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`.

    Raises
    ------
    ValueError
        If a reduced axis has size 0 and `initial` is missing, if `where` is given without `initial`
        or does not broadcast to `x`, if `initial` is not a scalar, or if `axis` is out of range or
        names an axis twice.
    TypeError
        If `x` is complex, if `where` is not bool, or if `initial` is given for a bool `x`.
    OverflowError
        If `initial` is an integer that the dtype of `x` cannot represent.

    Examples
    --------
    >>> pb.max([[1.0, 5.0], [3.0, 4.0]], axis=1)
    Tensor([5., 4.], dtype=float32)
    >>> pb.max([1.0, 5.0], where=[True, False], initial=0)
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "max", "keepdims")
    return extremum("max", True, x, axis, keepdims, initial, where)


def min(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the minimum over axes.

    NaN if a reduced element is NaN. Differentiable in `x` and `initial`; equal minima share the
    gradient.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    initial : array_like, scalar, optional
        Upper bound of the result, cast to the dtype of `x`; it receives a gradient. Required with
        `where`, for results without an included element.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`.

    Raises
    ------
    ValueError
        If a reduced axis has size 0 and `initial` is missing, if `where` is given without `initial`
        or does not broadcast to `x`, if `initial` is not a scalar, or if `axis` is out of range or
        names an axis twice.
    TypeError
        If `x` is complex, if `where` is not bool, or if `initial` is given for a bool `x`.
    OverflowError
        If `initial` is an integer that the dtype of `x` cannot represent.

    Examples
    --------
    >>> pb.min([[1.0, 5.0], [3.0, 4.0]], axis=1)
    Tensor([1., 3.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "min", "keepdims")
    return extremum("min", False, x, axis, keepdims, initial, where)


def extremum(
    who: str, largest: bool, x: TensorLike, axis: Axis, keepdims: bool, initial: Any, where: Any
) -> Tensor:
    """Compute `max` or `min` with the errors of the caller `who`."""
    if initial is None and where is True:
        return (_core.max if largest else _core.min)(x, axis, keepdims)
    x = _core.constant(x, who=who)
    if initial is None:
        raise ValueError(f"{who}: expected a number for initial, because where is given, got None")
    start = initial_value(initial, x, who)
    rank = len(x.shape)
    axes = range(rank) if axis is None else axes_of(axis, rank, who)
    if 0 in [x.shape[k] for k in axes]:
        shape = [1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes]
        return _core.broadcast_to(start, shape)
    whole, both = (_core.max, _core.maximum) if largest else (_core.min, _core.minimum)
    # Excluded elements share no tie: they are beyond all numbers, or outside of the gradient.
    beyond: TensorLike = float("-inf") if largest else float("inf")
    fill = beyond if x.dtype.kind == "f" else start
    return both(whole(counted(x, where, fill, who), axis, keepdims), start)


def argmax(x: TensorLike, /, axis: SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the maximum along an axis.

    Of equal maxima the first is returned; a NaN is larger than any number.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int, optional
        Axis to search; negative values count from the last axis. Default: the flattened input.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the axis, or with size 1 there if `keepdims`; dtype int64.

    Raises
    ------
    ValueError
        If the axis has size 0 or `axis` is out of range.
    TypeError
        If `x` is complex or `axis` is not an integer.

    Examples
    --------
    >>> pb.argmax([[1.0, 5.0], [4.0, 3.0]], axis=1)
    Tensor([1, 0], dtype=int64)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "argmax", "keepdims")
    return _core.argmax(x, None if axis is None else integer(axis, "argmax", "axis"), keepdims)


def argmin(x: TensorLike, /, axis: SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
    """Return the index of the minimum along an axis.

    Of equal minima the first is returned; a NaN is smaller than any number.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int, optional
        Axis to search; negative values count from the last axis. Default: the flattened input.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the axis, or with size 1 there if `keepdims`; dtype int64.

    Raises
    ------
    ValueError
        If the axis has size 0 or `axis` is out of range.
    TypeError
        If `x` is complex or `axis` is not an integer.

    Examples
    --------
    >>> pb.argmin([3.0, 1.0, 2.0])
    Tensor(1, dtype=int64)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "argmin", "keepdims")
    return _core.argmin(x, None if axis is None else integer(axis, "argmin", "axis"), keepdims)
