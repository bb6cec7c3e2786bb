"""Weighted averages, covariances and correlations."""

from __future__ import annotations

from math import nan
from typing import Literal, overload

from .. import _core
from .._base.checks import axes_of, flag, integer, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import Axis, DType, TensorLike
from .reductions import as_dtype

__all__ = ["average", "corrcoef", "cov"]


@overload
def average(
    x: TensorLike,
    /,
    axis: Axis = None,
    weights: TensorLike | None = None,
    *,
    returned: Literal[False] = False,
    keepdims: bool = False,
) -> Tensor: ...
@overload
def average(
    x: TensorLike,
    /,
    axis: Axis = None,
    weights: TensorLike | None = None,
    *,
    returned: Literal[True],
    keepdims: bool = False,
) -> tuple[Tensor, Tensor]: ...
@composite
def average(
    x: TensorLike,
    /,
    axis: Axis = None,
    weights: TensorLike | None = None,
    *,
    returned: bool = False,
    keepdims: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """Compute the weighted average over axes.

    The result is ``sum(x * weights) / sum(weights)``, or the mean without weights. It is infinite
    or NaN if the weights sum to 0. Differentiable in `x` and `weights`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axis : int or tuple of int, optional
        Axes to reduce; negative values count from the last axis. Default: all axes.
    weights : array_like, real, optional
        Shape of `x`, or the shape of the axes in `axis`.
    returned : bool, default False
        Return also the sum of the weights.
    keepdims : bool, default False
        Keep the reduced axes with size 1.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes, or with size 1 there if `keepdims`; the dtype to
        which `x` and `weights` promote, the default floating dtype for integers and bool.
    sum_of_weights : Tensor
        Only if `returned`: the sum of the weights, or the number of elements without weights; shape
        and dtype of the average.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice, or if the shape of `weights` does not
        match `axis`.
    TypeError
        If `weights` needs `axis` because its shape differs from that of `x`, or if `weights` is
        complex.

    Examples
    --------
    >>> pb.average([1.0, 2.0, 5.0], weights=[1, 2, 1])
    Tensor(2.5, dtype=float32)
    >>> pb.average([[1.0, 2.0], [3.0, 5.0]], axis=1, returned=True)
    (Tensor([1.5, 4. ], dtype=float32), Tensor([2., 2.], dtype=float32))
    """
    if returned is not False:
        returned = flag(returned, "average", "returned")
    if keepdims is not False:
        keepdims = flag(keepdims, "average", "keepdims")
    if weights is not None:
        x, weights = _core.operands([x, weights], "average")
    x = made_floating(x, "average", "fc")
    rank = len(x.shape)
    if weights is None:
        found = _core.mean(x, axis, keepdims)
        count = _core.sum(_core.full(x.shape, 1, found.dtype), axis, keepdims)
        return (found, count) if returned else found
    w = made_floating(weights, "average")
    if w.shape != x.shape:
        if axis is None:
            raise TypeError(
                f"average: expected shape {x.shape}, that of x, for weights, got {w.shape}; "
                "pass axis"
            )
        axes = axes_of(axis, rank, "average")
        if w.shape != tuple(x.shape[k] for k in axes):
            raise ValueError(
                f"average: expected shape {tuple(x.shape[k] for k in axes)}, that of axis {axis} "
                f"of x, for weights, got {w.shape}"
            )
        order = sorted(range(len(axes)), key=axes.__getitem__)
        thin = tuple(n if k in axes else 1 for k, n in enumerate(x.shape))
        w = _core.broadcast_to(_core.reshape(_core.transpose(w, order), thin), x.shape)
    weight = _core.sum(w, axis, keepdims)
    found = _core.divide(_core.sum(_core.multiply(x, w), axis, keepdims), weight)
    return (found, _core.cast(weight, found.dtype)) if returned else found


@composite
def cov(
    x: TensorLike,
    /,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: TensorLike | None = None,
    aweights: TensorLike | None = None,
    *,
    dtype: DType = None,
) -> Tensor:
    """Compute the covariance matrix of variables.

    Sums of products of distances from the means are divided by N - `ddof`, where N is the number of
    observations; NaN if the divisor is not positive. Weights change the divisor as in ``np.cov``.
    Differentiable in `x`, `y` and the weights.

    Parameters
    ----------
    x : array_like, real
        Observations of shape (variables, N); a vector holds one variable.
    y : array_like, real, optional
        More variables, with as many observations.
    rowvar : bool, default True
        If False, each column of `x` and `y` is a variable.
    bias : bool, default False
        Use `ddof` 0 if `ddof` is not given.
    ddof : int, optional
        Number subtracted from N in the divisor. Default: 1, or 0 with `bias`.
    fweights : array_like, optional
        Number of times that each observation occurred, shape (N,).
    aweights : array_like, optional
        Importance of each observation, shape (N,).
    dtype : dtype, optional
        Dtype to which `x` and `y` are cast first.

    Returns
    -------
    Tensor
        Shape (variables, variables), or () for one variable; the floating dtype to which `x` and
        `y` promote.

    Raises
    ------
    ValueError
        If `x` or `y` has a rank above 2, if their numbers of observations differ, or if weights do
        not have the shape (N,).
    TypeError
        If an input is complex or `ddof` is not an integer.

    Examples
    --------
    >>> pb.cov([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    Tensor([[ 1., -1.],
            [-1.,  1.]], dtype=float32)
    """
    if rowvar is not True:
        rowvar = flag(rowvar, "cov", "rowvar")
    if bias is not False:
        bias = flag(bias, "cov", "bias")
    fewer = (0 if bias else 1) if ddof is None else integer(ddof, "cov", "ddof")
    return _covariance(x, y, rowvar, fewer, fweights, aweights, dtype, "cov")


def _covariance(
    x: TensorLike,
    y: TensorLike | None,
    rowvar: bool,
    fewer: int,
    fweights: TensorLike | None,
    aweights: TensorLike | None,
    dtype: DType,
    who: str,
) -> Tensor:
    if y is not None:
        x, y = _core.operands([x, y], who)
    rows = _rows(x, rowvar, dtype, who)
    if y is not None:
        more = _rows(y, rowvar, dtype, who)
        if more.shape[1] != rows.shape[1]:
            raise ValueError(
                f"{who}: expected {rows.shape[1]} observations, as in x, for y, got {more.shape[1]}"
            )
        rows = _core.concat([rows, more], 0)
    n = rows.shape[1]
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is not None:
            w = _core.cast(_core.operands([rows, given], who)[1], rows.dtype)
            if w.shape != (n,):
                raise ValueError(f"{who}: expected shape ({n},) for {name}, got {w.shape}")
            weights = w if weights is None else _core.multiply(weights, w)
    # As in a variance: the first shift needs no gradient, the second keeps the digits.
    apart = _core.subtract(rows, _core.stop_gradient(_core.mean(rows, 1, True)))
    if weights is None:
        apart = _core.subtract(apart, _core.mean(apart, 1, True))
        left = n - fewer
        total = _core.matmul(apart, _core.transpose(apart))
        return _core.divide(_squeezed(total), left if left > 0 else nan)
    weight = _core.sum(weights)
    middle = _core.divide(_core.sum(_core.multiply(apart, weights), 1, True), weight)
    apart = _core.subtract(apart, middle)
    total = _core.matmul(_core.multiply(apart, weights), _core.transpose(apart))
    rest = _core.subtract(weight, fewer)
    if fewer and aweights is not None:
        a = _core.cast(_core.operands([rows, aweights], who)[1], rows.dtype)
        share = _core.divide(_core.sum(_core.multiply(weights, a)), weight)
        rest = _core.subtract(weight, _core.multiply(share, fewer))
    return _core.divide(_squeezed(total), _core.where(_core.greater(rest, 0), rest, nan))


def _rows(x: TensorLike, rowvar: bool, dtype: DType, who: str) -> Tensor:
    """Return the variables as the rows of a floating matrix."""
    x = made_floating(as_dtype(x, dtype, who), who)
    if len(x.shape) > 2:
        raise ValueError(f"{who}: expected at most two axes, got shape {x.shape}")
    if len(x.shape) < 2:
        return _core.reshape(x, (1, x.size))
    return x if rowvar else _core.transpose(x)


def _squeezed(total: Tensor) -> Tensor:
    return _core.reshape(total, ()) if total.shape == (1, 1) else total


@composite
def corrcoef(
    x: TensorLike,
    /,
    y: TensorLike | None = None,
    rowvar: bool = True,
    *,
    dtype: DType = None,
) -> Tensor:
    """Compute the matrix of correlation coefficients of variables.

    The covariance divided by both standard deviations, in [-1, 1]; NaN if a standard deviation is
    0. Differentiable in `x` and `y`.

    Parameters
    ----------
    x : array_like, real
        Observations of shape (variables, N); a vector holds one variable.
    y : array_like, real, optional
        More variables, with as many observations.
    rowvar : bool, default True
        If False, each column of `x` and `y` is a variable.
    dtype : dtype, optional
        Dtype to which `x` and `y` are cast first.

    Returns
    -------
    Tensor
        Shape (variables, variables), or () for one variable; the floating dtype to which `x` and
        `y` promote.

    Raises
    ------
    ValueError
        If `x` or `y` has a rank above 2, or if their numbers of observations differ.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.corrcoef([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    Tensor([[ 1., -1.],
            [-1.,  1.]], dtype=float32)
    """
    if rowvar is not True:
        rowvar = flag(rowvar, "corrcoef", "rowvar")
    c = _covariance(x, y, rowvar, 1, None, None, dtype, "corrcoef")
    if not c.shape:
        return _core.divide(c, c)
    n = c.shape[0]
    own = _core.reshape(c, (n * n,))[:: n + 1]
    size = _core.sqrt(own)
    ratio = _core.divide(_core.divide(c, _core.reshape(size, (n, 1))), size)
    # Rounding can exceed the bounds; clipping must not change a derivative.
    return _core.add(ratio, _core.stop_gradient(_core.clip(ratio, -1, 1) - ratio))
