"""Medians and quantiles, computed from a sort along the reduced axes.

Integers and bool are cast to the default floating dtype. The result is NaN if an element is NaN or
there is none; functions with the prefix `nan` ignore NaN. Gradients flow to the one or two elements
that form the result; of equal elements, to those that a stable sort puts there.
"""

from __future__ import annotations

from math import nan, prod
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import axes_of, choice, flag, made_floating
from .._base.composite import composite
from .._base.domains import nan_unless
from .._core import Tensor, Variable
from .._typing import Axis, QuantileMethod, TensorLike
from .sorting import taken_along

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

# Parameters (α, β) of the position n·q + α + q(1 - α - β) - 1 in n sorted elements: methods 5 to 9
# of R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", 1996.
PLOTTING = {
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
METHODS = (*PLOTTING, "lower", "higher", "nearest", "midpoint")


class _Sorted:
    """Sort `x` along the reduced axes, which become one last axis."""

    def __init__(self, x: TensorLike, axis: Axis, who: str) -> None:
        self.x = made_floating(x, who)
        rank = len(self.x.shape)
        axes = list(range(rank)) if axis is None else axes_of(axis, rank, who)
        kept = [k for k in range(rank) if k not in axes]
        self.kept = [self.x.shape[k] for k in kept]
        self.full = [1 if k in axes else n for k, n in enumerate(self.x.shape)]
        self.length = prod(self.x.shape[k] for k in axes)
        x = _core.transpose(self.x, kept + axes)
        self.rows = _core.sort(_core.reshape(x, [*self.kept, self.length]), -1)

    def last(self) -> Tensor:
        return self.rows[..., -1]

    def nothing(self, shape: Any) -> Tensor:
        return _core.full(shape, nan, self.x.dtype)


def _halves(a: Tensor, b: Tensor) -> Tensor:
    return _core.add(_core.multiply(a, 0.5), _core.multiply(b, 0.5))


@composite
def median(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Compute the median over axes.

    The middle element of the sorted input, or the mean of the two middle elements, which share the
    gradient. NaN if a reduced element is NaN or if there is none. Differentiable in `x`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers and bool are cast to the default floating dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the floating
        dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.median([1.0, 9.0, 2.0, 4.0])
    Tensor(3., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "median", "keepdims")
    found = _Sorted(x, axis, "median")
    n = found.length
    shape = found.full if keepdims else found.kept
    if n == 0:
        return found.nothing(shape)
    middle = found.rows[..., n // 2]
    if n % 2 == 0:
        middle = _halves(found.rows[..., n // 2 - 1], middle)
    out = nan_unless(_core.logical_not(_core.isnan(found.last())), middle)
    return _core.reshape(out, shape)


def _checked(q: TensorLike, highest: float, who: str) -> Tensor:
    known = isinstance(q, (Tensor, Variable))
    share = _core.constant(q, who=who) if known else _core.constant(q, "float64", who=who)
    if share.dtype.kind != "f":
        share = _core.cast(share, "float64")
    if not _core.is_traced(share):
        values = share.numpy()
        bad = ~((values >= 0) & (values <= highest))
        if bad.any():
            raise ValueError(f"{who}: expected q from 0 to {highest:g}, got {values[bad].flat[0]}")
    return share if highest == 1 else _core.divide(share, highest)


def _positions(q: Tensor, count: Any, method: str) -> tuple[Tensor, Tensor, Tensor]:
    """Return the two indices around a quantile and its distance from the first."""
    alpha, beta = PLOTTING.get(method, (1.0, 1.0))
    at = _core.multiply(q, count - (alpha + beta - 1))
    if alpha != 1:
        at = _core.add(at, alpha - 1)
    last = max(count - 1, 0) if isinstance(count, int) else _core.maximum(count - 1, 0)
    at = _core.minimum(_core.maximum(at, 0), last)
    if method == "lower":
        at = _core.floor(at)
    elif method == "higher":
        at = _core.ceil(at)
    elif method == "nearest":
        at = _core.round(at)
    low = _core.stop_gradient(_core.floor(at))
    between = _core.subtract(at, low)
    if method == "midpoint":
        between = _core.multiply(_core.cast(_core.greater(between, 0), at.dtype), 0.5)
    high = _core.minimum(_core.add(low, 1), last)
    return _core.cast(low, "int64"), _core.cast(high, "int64"), between


def _quantile(
    x: TensorLike, q: Tensor, axis: Axis, method: str, keepdims: bool, skip_nan: bool, who: str
) -> Tensor:
    choice(method, METHODS, who, "method")
    found = _Sorted(x, axis, who)
    shape = [*q.shape, *(found.full if keepdims else found.kept)]
    if found.length == 0:
        return found.nothing(shape)
    rows, rank = found.rows, len(found.kept)
    q = _core.reshape(q, -1)
    if skip_nan:
        valid = _core.sum(_core.logical_not(_core.isnan(rows)), -1, True)
        low, high, between = _positions(q, _core.cast(valid, q.dtype), method)
        low, high = (taken_along(rows, at, rank, who) for at in (low, high))
    else:
        low, high, between = _positions(q, found.length, method)
        low, high = (_core.take(rows, at, rank, checked=True) for at in (low, high))
    between = _core.cast(between, rows.dtype)
    apart = _core.difference(high, low)
    out = _core.where(
        _core.less(between, 0.5),
        _core.add(low, _core.multiply_no_nan(apart, between)),
        _core.subtract(high, _core.multiply_no_nan(apart, _core.subtract(1, between))),
    )
    if not skip_nan:
        out = nan_unless(_core.logical_not(_core.isnan(rows[..., -1:])), out)
    return _core.reshape(_core.transpose(out, [rank, *range(rank)]), shape)


@composite
def quantile(
    x: TensorLike,
    /,
    q: TensorLike,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
) -> Tensor:
    """Compute the q-th quantile over axes.

    NaN if a reduced element is NaN. Differentiable in `x`: the gradient flows to the one or two
    elements that form the result, of equal elements to those that a stable sort puts there.
    Differentiable in `q` for the methods that interpolate.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers and bool are cast to the default floating dtype.
    q : array_like, real
        Probabilities in [0, 1], of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    method : str, default "linear"
        Rule for a quantile that lies between two elements. "linear" interpolates; "lower",
        "higher", "nearest" and "midpoint" select the lower, higher or nearer element or the mean of
        both; "hazen", "weibull", "median_unbiased" and "normal_unbiased" interpolate with the
        plotting positions of NumPy's methods of the same names [1]_.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `q` followed by the shape of `x` without the reduced axes (or with size 1 there if
        `keepdims`); the floating dtype of `x`. NaN if there are no elements to reduce.

    Raises
    ------
    ValueError
        If `q` is outside [0, 1] or NaN, if `method` is unknown, or if `axis` is out of range or
        names an axis twice.
    TypeError
        If `x` is complex.

    References
    ----------
    .. [1] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50, 1996.

    Examples
    --------
    >>> pb.quantile([1.0, 2.0, 4.0], [0.5, 0.75])
    Tensor([2., 3.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "quantile", "keepdims")
    who = "quantile"
    return _quantile(x, _checked(q, 1, who), axis, method, keepdims, False, who)


@composite
def percentile(
    x: TensorLike,
    /,
    q: TensorLike,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
) -> Tensor:
    """Compute the q-th percentile over axes.

    As `quantile`, with `q` in [0, 100]; the gradients are those of `quantile`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers and bool are cast to the default floating dtype.
    q : array_like, real
        Percentages in [0, 100], of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    method : str, default "linear"
        Rule for a quantile that lies between two elements. "linear" interpolates; "lower",
        "higher", "nearest" and "midpoint" select the lower, higher or nearer element or the mean of
        both; "hazen", "weibull", "median_unbiased" and "normal_unbiased" interpolate with the
        plotting positions of NumPy's methods of the same names [1]_.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `q` followed by the shape of `x` without the reduced axes (or with size 1 there if
        `keepdims`); the floating dtype of `x`. NaN if there are no elements to reduce.

    Raises
    ------
    ValueError
        If `q` is outside [0, 100] or NaN, if `method` is unknown, or if `axis` is out of range or
        names an axis twice.
    TypeError
        If `x` is complex.

    References
    ----------
    .. [1] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50, 1996.

    Examples
    --------
    >>> pb.percentile([1.0, 2.0, 4.0], 75)
    Tensor(3., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "percentile", "keepdims")
    who = "percentile"
    return _quantile(x, _checked(q, 100, who), axis, method, keepdims, False, who)


@composite
def nanquantile(
    x: TensorLike,
    /,
    q: TensorLike,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
) -> Tensor:
    """Compute the q-th quantile over axes, ignoring NaN.

    NaN if no element remains. The gradients are those of `quantile`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers and bool are cast to the default floating dtype.
    q : array_like, real
        Probabilities in [0, 1], of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    method : str, default "linear"
        Rule for a quantile that lies between two elements. "linear" interpolates; "lower",
        "higher", "nearest" and "midpoint" select the lower, higher or nearer element or the mean of
        both; "hazen", "weibull", "median_unbiased" and "normal_unbiased" interpolate with the
        plotting positions of NumPy's methods of the same names [1]_.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `q` followed by the shape of `x` without the reduced axes (or with size 1 there if
        `keepdims`); the floating dtype of `x`. NaN if there are no elements to reduce.

    Raises
    ------
    ValueError
        If `q` is outside [0, 1] or NaN, if `method` is unknown, or if `axis` is out of range or
        names an axis twice.
    TypeError
        If `x` is complex.

    References
    ----------
    .. [1] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50, 1996.

    Examples
    --------
    >>> pb.nanquantile([1.0, float("nan"), 2.0, 4.0], 0.75)
    Tensor(3., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanquantile", "keepdims")
    who = "nanquantile"
    return _quantile(x, _checked(q, 1, who), axis, method, keepdims, True, who)


@composite
def nanpercentile(
    x: TensorLike,
    /,
    q: TensorLike,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
) -> Tensor:
    """Compute the q-th percentile over axes, ignoring NaN.

    NaN if no element remains. The gradients are those of `quantile`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers and bool are cast to the default floating dtype.
    q : array_like, real
        Percentages in [0, 100], of any shape.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    method : str, default "linear"
        Rule for a quantile that lies between two elements. "linear" interpolates; "lower",
        "higher", "nearest" and "midpoint" select the lower, higher or nearer element or the mean of
        both; "hazen", "weibull", "median_unbiased" and "normal_unbiased" interpolate with the
        plotting positions of NumPy's methods of the same names [1]_.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `q` followed by the shape of `x` without the reduced axes (or with size 1 there if
        `keepdims`); the floating dtype of `x`. NaN if there are no elements to reduce.

    Raises
    ------
    ValueError
        If `q` is outside [0, 100] or NaN, if `method` is unknown, or if `axis` is out of range or
        names an axis twice.
    TypeError
        If `x` is complex.

    References
    ----------
    .. [1] R. J. Hyndman, Y. Fan, "Sample quantiles in statistical packages", Am. Stat. 50, 1996.

    Examples
    --------
    >>> pb.nanpercentile([1.0, float("nan"), 2.0, 4.0], 75)
    Tensor(3., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanpercentile", "keepdims")
    who = "nanpercentile"
    return _quantile(x, _checked(q, 100, who), axis, method, keepdims, True, who)


@composite
def nanmedian(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Compute the median over axes, ignoring NaN.

    NaN if no element remains. Differentiable in `x`; the gradient flows to the one or two middle
    elements.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers and bool are cast to the default floating dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the floating
        dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.nanmedian([1.0, float("nan"), 2.0])
    Tensor(1.5, dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "nanmedian", "keepdims")
    half = _core.constant(np.float64(0.5))
    return _quantile(x, half, axis, "linear", keepdims, True, "nanmedian")
