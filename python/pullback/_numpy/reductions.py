"""Reductions over all axes, one axis, or a tuple of axes.

Sums of float32 are formed in a fixed tree, so they do not depend on the number of threads and err
by a few units in the last place. An empty sum is 0, an empty product 1 and an empty mean NaN; an
empty `max` or `min` raises a ValueError unless `initial` is given.
"""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.checks import flag, made_floating
from .._core import Tensor
from .._typing import Axis, DType, TensorLike

__all__ = ["all", "any", "logsumexp", "mean", "prod", "sum"]


def sum(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: DType = None,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the sum over axes.

    Integers and bool are summed in int64, unsigned integers in uint64. Sums of float32 are formed
    in a fixed tree, so the result does not depend on the number of threads. An empty sum is 0.
    Differentiable in `x` and `initial`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction, and dtype of the result.
    initial : array_like, scalar, optional
        Number that is included in the reduction, cast to the dtype that the result has before the
        cast to `dtype`; it receives a gradient.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`,
        int64 for bool and signed integers, uint64 for unsigned integers, or `dtype`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, if `where` does not broadcast to `x`, or
        if `initial` is not a scalar.
    TypeError
        If `where` is not bool or `keepdims` is not a bool.
    OverflowError
        If `initial` is an integer that the dtype of the reduction cannot represent.

    Examples
    --------
    >>> pb.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    Tensor([4., 6.], dtype=float32)
    >>> pb.sum([1.0, float("nan")], where=[True, False], initial=10)
    Tensor(11., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "sum", "keepdims")
    if dtype is None and initial is None and where is True:
        return _core.sum(x, axis, keepdims)
    return sum_as("sum", x, axis, keepdims, dtype, initial, where)


def sum_as(
    who: str, x: TensorLike, axis: Axis, keepdims: bool, dtype: DType, initial: Any, where: Any
) -> Tensor:
    """Compute `sum` with the errors of the caller `who`."""
    total = _core.sum(counted(as_dtype(x, dtype, who), where, 0, who), axis, keepdims)
    if initial is not None:
        total = _core.add(total, initial_value(initial, total, who))
    return as_dtype(total, dtype, who)


def mean(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: DType = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the arithmetic mean over axes.

    NaN if no element is included. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction, and dtype of the result.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`
        if floating or complex, else the default floating dtype; or `dtype`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If `where` is not bool or `keepdims` is not a bool.

    Examples
    --------
    >>> pb.mean([[1.0, 2.0], [3.0, 4.0]], axis=1)
    Tensor([1.5, 3.5], dtype=float32)
    >>> pb.mean([1.0, 2.0, 30.0], where=[True, True, False])
    Tensor(1.5, dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "mean", "keepdims")
    found = mean_where(as_dtype(x, dtype, "mean"), axis, keepdims, where, "mean")
    return as_dtype(found, dtype, "mean")


def mean_where(x: TensorLike, axis: Axis, keepdims: bool, where: TensorLike, who: str) -> Tensor:
    if where is True:
        return _core.mean(x, axis, keepdims)
    x = made_floating(x, who, "fc")
    mask = mask_of(where, x, who)
    total = _core.sum(_core.where(mask, x, 0), axis, keepdims)
    return _core.divide(total, _core.cast(_core.sum(mask, axis, keepdims), x.dtype))


def prod(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: DType = None,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the product over axes.

    Integers and bool are multiplied in int64, unsigned integers in uint64. An empty product is 1.
    Differentiable in `x` and `initial`; the gradient contains no division, so it is exact if
    elements are zero. The elements are multiplied as a tree of halves: if a partial product
    overflows, the result may be infinite or NaN where another order gives a finite number.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction, and dtype of the result.
    initial : array_like, scalar, optional
        Number that is included in the reduction, cast to the dtype that the result has before the
        cast to `dtype`; it receives a gradient.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`,
        int64 for bool and signed integers, uint64 for unsigned integers, or `dtype`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, if `where` does not broadcast to `x`, or
        if `initial` is not a scalar.
    TypeError
        If `where` is not bool or `keepdims` is not a bool.
    OverflowError
        If `initial` is an integer that the dtype of the reduction cannot represent.

    Examples
    --------
    >>> x = pb.Variable([2.0, 0.0, 3.0])
    >>> pb.gradients(pb.prod(x), x)
    [Tensor([0., 6., 0.], dtype=float32)]
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "prod", "keepdims")
    product = _core.prod(counted(as_dtype(x, dtype, "prod"), where, 1, "prod"), axis, keepdims)
    if initial is not None:
        product = _core.multiply(product, initial_value(initial, product, "prod"))
    return as_dtype(product, dtype, "prod")


def all(
    x: TensorLike, /, axis: Axis = None, keepdims: bool = False, *, where: TensorLike = True
) -> Tensor:
    """Test whether all elements along axes are true.

    Elements other than 0 are true, NaN included. The result is true if there are no elements.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; dtype bool.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If `where` is not bool or `keepdims` is not a bool.

    Examples
    --------
    >>> pb.all([[True, True], [True, False]], axis=1)
    Tensor([ True, False], dtype=bool)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "all", "keepdims")
    return _core.all(counted(x, where, 1, "all"), axis, keepdims)


def any(
    x: TensorLike, /, axis: Axis = None, keepdims: bool = False, *, where: TensorLike = True
) -> Tensor:
    """Test whether any element along axes is true.

    Elements other than 0 are true, NaN included. The result is false if there are no elements.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; dtype bool.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If `where` is not bool or `keepdims` is not a bool.

    Examples
    --------
    >>> pb.any([[False, False], [True, False]], axis=1)
    Tensor([False,  True], dtype=bool)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "any", "keepdims")
    return _core.any(counted(x, where, 0, "any"), axis, keepdims)


def logsumexp(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Compute ``log(sum(exp(x)))`` over axes without overflow.

    Differentiable in `x`. If all reduced elements are -inf, the result is -inf and the gradient 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`
        if floating, else the default floating dtype.

    Raises
    ------
    ValueError
        If a reduced axis has size 0, or if `axis` is out of range or names an axis twice.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.logsumexp([1000.0, float("-inf")])
    Tensor(1000., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "logsumexp", "keepdims")
    return _core.logsumexp(x, axis, keepdims)


# --- arguments of reductions


def as_dtype(x: TensorLike, dtype: DType, who: str) -> Tensor:
    return _core.constant(x, None if dtype is None else dtype, who)


def mask_of(where: TensorLike, x: Tensor, who: str) -> Tensor:
    """Broadcast the mask `where` to the shape of `x`."""
    mask = _core.constant(where, who=who)
    if mask.dtype.kind != "b":
        raise TypeError(f"{who}: expected dtype bool for where, got {mask.dtype}")
    try:
        return _core.broadcast_to(mask, x.shape)
    except ValueError:
        raise ValueError(
            f"{who}: expected a shape that broadcasts to {x.shape} for where, got {mask.shape}"
        ) from None


def counted(x: TensorLike, where: TensorLike, neutral: TensorLike, who: str) -> TensorLike:
    """Replace the excluded elements of `x` by the neutral element of a reduction."""
    if where is True:
        return x
    x = _core.constant(x, who=who)
    if x.dtype.kind == "b":
        neutral = bool(neutral)
    return _core.where(mask_of(where, x, who), x, neutral)


def initial_value(initial: TensorLike, like: Tensor, who: str) -> Tensor:
    start = _core.constant(initial, who=who)
    if start.shape:
        raise ValueError(f"{who}: expected a scalar for initial, got shape {start.shape}")
    if type(initial) is int:  # an error if the dtype cannot represent it
        return _core.constant(initial, like.dtype, who)
    return _core.cast(start, like.dtype)
