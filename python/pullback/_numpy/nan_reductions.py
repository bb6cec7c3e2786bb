"""Reductions that ignore NaN.

`axis`, `dtype`, `initial` and `where` are handled as in reductions.py.
"""

from __future__ import annotations

from math import nan

from .. import _core
from .._base.checks import flag
from .._base.composite import composite
from .._core import Tensor
from .._typing import Axis, DType, TensorLike
from .extrema import extremum
from .reductions import as_dtype, mask_of, mean_where, sum_as
from .statistics import variance_of

__all__ = ["nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar"]


@composite
def nansum(
    x: TensorLike,
    /,
    axis: Axis = None,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the sum over axes, ignoring NaN.

    An empty sum is 0. Differentiable in `x` and `initial`; NaN elements receive no gradient.

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
    initial : array_like, scalar, optional
        Number that is included in the reduction, cast to the dtype that the result has before the
        cast to `dtype`; it receives a gradient.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; dtype as for
        `sum`.

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
    >>> pb.nansum([1.0, float("nan"), 2.0])
    Tensor(3., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nansum", "keepdims")
    x = _core.constant(x, who="nansum")
    kept = _numbers(x, where, "nansum")
    return sum_as("nansum", x, axis, keepdims, dtype, initial, kept)


@composite
def nanmean(
    x: TensorLike,
    /,
    axis: Axis = None,
    dtype: DType = None,
    *,
    keepdims: bool = False,
    where: TensorLike = True,
) -> Tensor:
    """Compute the arithmetic mean over axes, ignoring NaN.

    NaN if no element remains. Differentiable in `x`; the elements that are not NaN receive all of
    the gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`
        (or `dtype`) if floating or complex, else the default floating dtype.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If `where` is not bool or `keepdims` is not a bool.

    Examples
    --------
    >>> pb.nanmean([1.0, float("nan"), 2.0])
    Tensor(1.5, dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanmean", "keepdims")
    x = _core.constant(as_dtype(x, dtype, "nanmean"), who="nanmean")
    return mean_where(x, axis, keepdims, _numbers(x, where, "nanmean"), "nanmean")


@composite
def nanvar(
    x: TensorLike,
    /,
    axis: Axis = None,
    dtype: DType = None,
    *,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
    where: TensorLike = True,
) -> Tensor:
    """Compute the variance over axes, ignoring NaN.

    As `var` of the elements that are not NaN; NaN if N - `correction` is not positive.
    Differentiable in `x`; NaN elements receive no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction.
    correction : float, default 0
        Number subtracted from the count of included elements in the divisor.
    ddof : float, optional
        Alias of `correction`. Give at most one of the two.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of
        `var`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If both `correction` and `ddof` are given, if one is not a number, or if `where` is not
        bool.

    Examples
    --------
    >>> pb.nanvar([1.0, float("nan"), 3.0])
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanvar", "keepdims")
    x = _core.constant(as_dtype(x, dtype, "nanvar"), who="nanvar")
    kept = _numbers(x, where, "nanvar")
    variance, result = variance_of(x, axis, correction, ddof, keepdims, kept, "nanvar")
    return _core.cast(variance, result)


@composite
def nanstd(
    x: TensorLike,
    /,
    axis: Axis = None,
    dtype: DType = None,
    *,
    correction: float = 0.0,
    ddof: float | None = None,
    keepdims: bool = False,
    where: TensorLike = True,
) -> Tensor:
    """Compute the standard deviation over axes, ignoring NaN.

    The square root of `nanvar`. Differentiable in `x`; NaN elements receive no gradient, and if all
    other reduced elements are equal, the gradient is 0.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    dtype : dtype, optional
        Dtype to which the elements are cast before the reduction.
    correction : float, default 0
        Number subtracted from the count of included elements in the divisor.
    ddof : float, optional
        Alias of `correction`. Give at most one of the two.
    keepdims : bool, default False
        Keep the reduced axes with size 1.
    where : array_like, bool, default True
        Elements to include; broadcasts to the shape of `x`. Excluded elements receive no gradient,
        whatever their value.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of
        `var`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If both `correction` and `ddof` are given, if one is not a number, or if `where` is not
        bool.

    Examples
    --------
    >>> pb.nanstd([1.0, float("nan"), 3.0])
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanstd", "keepdims")
    x = _core.constant(as_dtype(x, dtype, "nanstd"), who="nanstd")
    kept = _numbers(x, where, "nanstd")
    return _core.deviation(*variance_of(x, axis, correction, ddof, keepdims, kept, "nanstd"))


@composite
def nanmax(
    x: TensorLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the maximum over axes, ignoring NaN.

    NaN if all reduced elements are NaN and `initial` is not given. Differentiable in `x` and
    `initial`; equal maxima share the gradient.

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
        `where`.
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
    >>> pb.nanmax([[1.0, float("nan")], [5.0, 4.0]], axis=1)
    Tensor([1., 5.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanmax", "keepdims")
    return _nan_extremum(x, axis, keepdims, initial, where, "nanmax")


@composite
def nanmin(
    x: TensorLike,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Compute the minimum over axes, ignoring NaN.

    NaN if all reduced elements are NaN and `initial` is not given. Differentiable in `x` and
    `initial`; equal minima share the gradient.

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
        `where`.
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
    >>> pb.nanmin([[1.0, float("nan")], [5.0, 4.0]], axis=1)
    Tensor([1., 4.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanmin", "keepdims")
    return _nan_extremum(x, axis, keepdims, initial, where, "nanmin")


def _nan_extremum(
    x: TensorLike,
    axis: Axis,
    keepdims: bool,
    initial: TensorLike | None,
    where: TensorLike,
    who: str,
) -> Tensor:
    x = _core.constant(x, who=who)
    if where is not True and initial is None:
        raise ValueError(f"{who}: expected a number for initial, because where is given, got None")
    largest = who == "nanmax"
    if x.dtype.kind != "f":
        return extremum(who, largest, x, axis, keepdims, initial, where)
    beyond = float("-inf") if largest else float("inf")
    none = _core.isnan(x)
    found = extremum(who, largest, _core.where(none, beyond, x), axis, keepdims, initial, where)
    return (
        found if initial is not None else _core.where(_core.all(none, axis, keepdims), nan, found)
    )


def _numbers(x: Tensor, where: TensorLike, who: str) -> TensorLike:
    """Return the mask of the included elements that are not NaN."""
    if x.dtype.kind not in "fc":
        return where
    numbers = _core.logical_not(_core.isnan(x))
    return numbers if where is True else _core.logical_and(numbers, mask_of(where, x, who))
