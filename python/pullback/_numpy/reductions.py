"""Reductions over all axes, one axis, or a tuple of axes.

Sums of float32 are formed in a fixed tree, so they do not depend on the number of threads and err
by a few units in the last place. An empty sum is 0, an empty product 1 and an empty mean NaN; an
empty `max` or `min` raises a ValueError unless `initial` is given.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import axes_of, flag, made_floating
from .._core import Tensor
from .._typing import Axis, DType, TensorLike

__all__ = ["all", "any", "argmax", "argmin", "logsumexp", "max", "mean", "min", "prod", "sum"]


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
        total = _core.add(total, _start(initial, total, who))
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
    elements are zero.

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
        product = _core.multiply(product, _start(initial, product, "prod"))
    return as_dtype(product, dtype, "prod")


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
        raise ValueError(f"{who}: where= needs initial=, the result where nothing counts")
    start = _start(initial, x, who)
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
    return _core.argmax(x, axis, keepdims)


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
    return _core.argmin(x, axis, keepdims)


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
        raise TypeError(f"{who}: where must be bool, got {mask.dtype}")
    try:
        return _core.broadcast_to(mask, x.shape)
    except ValueError:
        raise ValueError(
            f"{who}: where of shape {mask.shape} does not broadcast to {x.shape}"
        ) from None


def counted(x: TensorLike, where: TensorLike, neutral: TensorLike, who: str) -> TensorLike:
    """Replace the excluded elements of `x` by the neutral element of a reduction."""
    if where is True:
        return x
    x = _core.constant(x, who=who)
    if x.dtype.kind == "b":
        neutral = bool(neutral)
    return _core.where(mask_of(where, x, who), x, neutral)


def _start(initial: TensorLike, like: Tensor, who: str) -> Tensor:
    start = _core.constant(initial, who=who)
    if start.shape:
        raise ValueError(f"{who}: initial must be one number, got shape {start.shape}")
    if type(initial) is int:  # an error if the dtype cannot represent it
        return _core.constant(initial, like.dtype, who)
    return _core.cast(start, like.dtype)
