"""Operations that ignore NaN, other than the reductions of nan_reductions.py."""

from __future__ import annotations

from math import inf
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import axes_of, flag
from .._base.composite import composite
from .._core import Tensor
from .._typing import Axis, DType, TensorLike
from .extrema import argmax, argmin
from .reductions import as_dtype, prod
from .scans import cumsum

__all__ = ["fmax", "fmin", "nanargmax", "nanargmin", "nancumsum", "nanprod"]


def _numbers(x: TensorLike, who: str, value: float, axis: Any, keepdims: Any = False) -> Tensor:
    """Replace NaN by a number; check an axis and `keepdims` by the name of the function."""
    made = _core.constant(x, who=who)
    if axis is not None:
        axes_of([axis], len(made.shape), who)
    flag(keepdims, who, "keepdims")
    if made.dtype.kind not in "fc":
        return made
    return _core.where(_core.isnan(made), _core.full((), value, made.dtype), made)


@composite
def fmax(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the larger one of two numbers elementwise, ignoring NaN.

    If one is NaN, the result is the other one. Differentiable; of two equal numbers each receives
    half of the gradient.

    Parameters
    ----------
    x, y : array_like, real
        Inputs; shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted dtype.

    Raises
    ------
    TypeError
        If an input is complex.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    fmin, maximum

    Examples
    --------
    >>> pb.fmax([1.0, float("nan")], [0.0, 2.0])
    Tensor([1., 2.], dtype=float32)
    """
    return _core.maximum(*_without_nan(x, y, "fmax"))


@composite
def fmin(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the smaller one of two numbers elementwise, ignoring NaN.

    If one is NaN, the result is the other one. Differentiable; of two equal numbers each receives
    half of the gradient.

    Parameters
    ----------
    x, y : array_like, real
        Inputs; shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted dtype.

    Raises
    ------
    TypeError
        If an input is complex.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    fmax, minimum

    Examples
    --------
    >>> pb.fmin([1.0, float("nan")], [0.0, 2.0])
    Tensor([0., 2.], dtype=float32)
    """
    return _core.minimum(*_without_nan(x, y, "fmin"))


def _without_nan(x: TensorLike, y: TensorLike, who: str) -> tuple[Tensor, Tensor]:
    """Replace each NaN by the other operand; both receive half of its gradient."""
    a, b = _core.operands([x, y], who)
    for one in (a, b):
        if one.dtype.kind == "c":
            raise TypeError(f"{who}: expected real numbers, got {one.dtype}")
    first = _core.where(_core.isnan(a), b, a) if a.dtype.kind == "f" else a
    return first, _core.where(_core.isnan(b), a, b) if b.dtype.kind == "f" else b


@composite
def nanprod(
    x: TensorLike, /, axis: Axis = None, dtype: DType = None, *, keepdims: bool = False
) -> Tensor:
    """Compute the product over axes, ignoring NaN.

    An empty product is 1. Differentiable in `x`; NaN elements receive no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction, and dtype of the result.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; dtype as for
        `prod`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.
    TypeError
        If `keepdims` is not a bool.

    Examples
    --------
    >>> pb.nanprod([2.0, float("nan"), 3.0])
    Tensor(6., dtype=float32)
    """
    return prod(_numbers(x, "nanprod", 1.0, None, keepdims), axis, dtype=dtype, keepdims=keepdims)


@composite
def nancumsum(x: TensorLike, /, axis: SupportsIndex | None = None, dtype: DType = None) -> Tensor:
    """Compute the cumulative sum along an axis or of the flattened input, ignoring NaN.

    Differentiable in `x`; NaN elements receive no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to accumulate along; negative values count from the last axis. Default: the flattened
        input.
    dtype : dtype, optional
        Dtype to which the elements are cast first, and dtype of the result.

    Returns
    -------
    Tensor
        Shape of `x`, or (n,) for the flattened input; dtype as for `cumsum`.

    Raises
    ------
    ValueError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.nancumsum([1.0, float("nan"), 2.0])
    Tensor([1., 1., 3.], dtype=float32)
    """
    numbers = _numbers(x, "nancumsum", 0.0, axis)
    return cumsum(as_dtype(numbers, dtype, "nancumsum"), axis=axis)


def nanargmax(
    x: TensorLike, /, axis: SupportsIndex | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the index of the maximum along an axis, ignoring NaN.

    Of equal maxima the first is returned; the index is 0 if all elements are NaN.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int, optional
        Axis; negative values count from the last axis. Default: the flattened input.
    keepdims : bool, default False
        Keep the reduced axis with size 1.

    Returns
    -------
    Tensor
        Indices without the reduced axis, or with size 1 there if `keepdims`; dtype int64.

    Raises
    ------
    ValueError
        If `axis` is out of range, or the axis is empty.
    TypeError
        If `x` is complex or `keepdims` is not a bool.

    Examples
    --------
    >>> pb.nanargmax([1.0, float("nan"), 3.0])
    Tensor(2, dtype=int64)
    """
    return argmax(_numbers(x, "nanargmax", -inf, axis, keepdims), axis, keepdims)


def nanargmin(
    x: TensorLike, /, axis: SupportsIndex | None = None, *, keepdims: bool = False
) -> Tensor:
    """Return the index of the minimum along an axis, ignoring NaN.

    Of equal minima the first is returned; the index is 0 if all elements are NaN.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int, optional
        Axis; negative values count from the last axis. Default: the flattened input.
    keepdims : bool, default False
        Keep the reduced axis with size 1.

    Returns
    -------
    Tensor
        Indices without the reduced axis, or with size 1 there if `keepdims`; dtype int64.

    Raises
    ------
    ValueError
        If `axis` is out of range, or the axis is empty.
    TypeError
        If `x` is complex or `keepdims` is not a bool.

    Examples
    --------
    >>> pb.nanargmin([1.0, float("nan"), 3.0])
    Tensor(0, dtype=int64)
    """
    return argmin(_numbers(x, "nanargmin", inf, axis, keepdims), axis, keepdims)
