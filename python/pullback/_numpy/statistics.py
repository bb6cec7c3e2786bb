"""Variances, standard deviations, counts and ranges.

`axis`, `dtype`, `initial` and `where` are handled as in reductions.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._base.checks import axes_of, flag, made_floating, number
from .._base.composite import composite
from .._core import Tensor
from .._typing import Axis, DType, TensorLike
from .reductions import as_dtype, mask_of

__all__ = ["count_nonzero", "ptp", "std", "var"]


@composite
def var(
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
    """Compute the variance over axes.

    The sum of squared distances from the mean is divided by N - `correction`, where N is the number
    of included elements. The result is NaN if the divisor is not positive. For complex input the
    distances are absolute values. Differentiable in `x`.

    The computation runs in float64 and sums distances from a number among the elements or close to
    their mean [1]_, so elements close to a large mean keep all their digits.

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
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the real floating
        dtype that belongs to `x` (or to `dtype`), for integers and bool the default floating dtype.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If both `correction` and `ddof` are given, if one is not a number, or if `where` is not
        bool.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance",
       Am. Stat. 37, 1983.

    Examples
    --------
    >>> pb.var([1.0, 2.0, 3.0])
    Tensor(0.6666667, dtype=float32)
    >>> pb.var([1e8, 1e8 + 8, 1e8 + 8])
    Tensor(14.222222, dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "var", "keepdims")
    variance, result = variance_of(
        as_dtype(x, dtype, "var"), axis, correction, ddof, keepdims, where, "var"
    )
    return _core.cast(variance, result)


def variance_of(
    x: TensorLike,
    axis: Axis,
    correction: float,
    ddof: float | None,
    keepdims: bool,
    where: TensorLike,
    who: str,
) -> tuple[Tensor, np.dtype[Any]]:
    """Return the variance in float64 and the dtype of the public result."""
    x = _core.constant(x, who=who)
    result = made_floating(x, who, "fc").dtype
    if ddof is not None and correction:
        raise TypeError(f"{who}: expected correction or its alias ddof, got both")
    fewer = number(correction, who, "correction") if ddof is None else number(ddof, who, "ddof")
    if x.dtype.kind == "c":
        parts = [
            variance_of(part, axis, correction, ddof, keepdims, where, who)
            for part in (_core.real(x), _core.imag(x))
        ]
        return _core.add(parts[0][0], parts[1][0]), parts[0][1]
    rank = len(x.shape)
    axes = list(range(rank)) if axis is None else axes_of(axis, rank, who)
    mask = None if where is True else mask_of(where, x, who)
    return _core.variance(x, axes, fewer, keepdims, mask), result


@composite
def std(
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
    """Compute the standard deviation over axes.

    The square root of `var`. Differentiable in `x`; if all reduced elements are equal, the gradient
    is 0.

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
        `var`. NaN if N - `correction` is not positive.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or `where` does not broadcast to `x`.
    TypeError
        If both `correction` and `ddof` are given, if one is not a number, or if `where` is not
        bool.

    Examples
    --------
    >>> pb.std([1.0, 3.0])
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "std", "keepdims")
    x = as_dtype(x, dtype, "std")
    return _core.deviation(*variance_of(x, axis, correction, ddof, keepdims, where, "std"))


def count_nonzero(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Count the elements that are not 0 over axes.

    NaN counts as nonzero.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; dtype int64.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.

    Examples
    --------
    >>> pb.count_nonzero([[0, 1], [2, 3]], axis=1)
    Tensor([1, 2], dtype=int64)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "count_nonzero", "keepdims")
    x = _core.constant(x, who="count_nonzero")
    return _core.sum(_core.not_equal(x, 0), axis, keepdims)


@composite
def ptp(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Compute the difference of maximum and minimum over axes.

    Differentiable in `x`; equal maxima share the gradient, and so do equal minima.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; not bool.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype of `x`.

    Raises
    ------
    ValueError
        If a reduced axis has size 0, or if `axis` is out of range or names an axis twice.
    TypeError
        If `x` is bool or complex.

    Examples
    --------
    >>> pb.ptp([3.0, 1.0, 2.0])
    Tensor(2., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "ptp", "keepdims")
    x = _core.constant(x, who="ptp")
    return _core.subtract(_core.max(x, axis, keepdims), _core.min(x, axis, keepdims))
