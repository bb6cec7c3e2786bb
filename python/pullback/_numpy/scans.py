"""Scans: cumulative sums, products and extrema along an axis.

Sums and products of float32 are formed in float64, those of integers and bool in int64; the result
is the same for any number of threads.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, flag, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import DType, TensorLike

__all__ = [
    "cumprod",
    "cumsum",
    "cumulative_logsumexp",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
]


def _one_axis(x: Tensor, axis: SupportsIndex | None, who: str) -> int:
    if axis is None:
        if len(x.shape) != 1:
            raise ValueError(f"{who}: expected an axis for shape {x.shape}, got None")
        return 0
    return axes_of([axis], len(x.shape), who)[0]


def _accumulated(scan: Any, x: Tensor, axis: int, dtype: DType) -> Tensor:
    if dtype is None:
        out: Tensor = scan(x, axis)
        return out
    return _core.cast(scan(_core.cast(x, dtype), axis), dtype)


def _with_initial(x: Tensor, axis: int, value: int) -> Tensor:
    edge = [1 if k == axis else length for k, length in enumerate(x.shape)]
    return _core.concat([_core.full(edge, value, x.dtype), x], axis)


def cumulative_sum(
    x: TensorLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DType = None,
    include_initial: bool = False,
) -> Tensor:
    """Compute the cumulative sum along an axis.

    Sums of float32 are formed in float64; the result does not depend on the number of threads.
    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    axis : int, optional
        Axis to accumulate along; negative values count from the last axis. Required unless `x` has
        rank 1.
    dtype : dtype, optional
        Dtype to which the elements are cast first, and dtype of the result.
    include_initial : bool, default False
        Let the result begin with 0, so that it has one more element along the axis.

    Returns
    -------
    Tensor
        Shape of `x`, with one more element along the axis if `include_initial`; the dtype of `x`,
        int64 for bool and signed integers, uint64 for unsigned integers, or `dtype`.

    Raises
    ------
    ValueError
        If `axis` is out of range, or missing for a rank other than 1.
    TypeError
        If `include_initial` is not a bool.

    Examples
    --------
    >>> pb.cumulative_sum([1.0, 2.0, 3.0], include_initial=True)
    Tensor([0., 1., 3., 6.], dtype=float32)
    """
    if include_initial is not False:
        include_initial = flag(include_initial, "cumulative_sum", "include_initial")
    x = _core.constant(x, who="cumulative_sum")
    k = _one_axis(x, axis, "cumulative_sum")
    out = _accumulated(_core.cumulative_sum, x, k, dtype)
    return _with_initial(out, k, 0) if include_initial else out


def cumulative_prod(
    x: TensorLike,
    /,
    *,
    axis: SupportsIndex | None = None,
    dtype: DType = None,
    include_initial: bool = False,
) -> Tensor:
    """Compute the cumulative product along an axis.

    Products of float32 are formed in float64; the result does not depend on the number of threads.
    Differentiable in `x`; the gradient contains no division, so it is exact if elements are zero.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    axis : int, optional
        Axis to accumulate along; negative values count from the last axis. Required unless `x` has
        rank 1.
    dtype : dtype, optional
        Dtype to which the elements are cast first, and dtype of the result.
    include_initial : bool, default False
        Let the result begin with 1, so that it has one more element along the axis.

    Returns
    -------
    Tensor
        Shape of `x`, with one more element along the axis if `include_initial`; the dtype of `x`,
        int64 for bool and signed integers, uint64 for unsigned integers, or `dtype`.

    Raises
    ------
    ValueError
        If `axis` is out of range, or missing for a rank other than 1.
    TypeError
        If `include_initial` is not a bool.

    Examples
    --------
    >>> x = pb.Variable([2.0, 0.0, 3.0])
    >>> pb.gradients(pb.cumulative_prod(x), x)
    [Tensor([1., 8., 0.], dtype=float32)]
    """
    if include_initial is not False:
        include_initial = flag(include_initial, "cumulative_prod", "include_initial")
    x = _core.constant(x, who="cumulative_prod")
    k = _one_axis(x, axis, "cumulative_prod")
    out = _accumulated(_core.cumulative_prod, x, k, dtype)
    return _with_initial(out, k, 1) if include_initial else out


def _flat_unless(x: TensorLike, axis: SupportsIndex | None, who: str) -> tuple[Tensor, int]:
    x = _core.constant(x, who=who)
    if axis is None:
        return _core.reshape(x, -1), 0
    return x, axes_of([axis], len(x.shape), who)[0]


@composite
def cumsum(x: TensorLike, /, axis: SupportsIndex | None = None, dtype: DType = None) -> Tensor:
    """Compute the cumulative sum along an axis or of the flattened input.

    As `cumulative_sum`, with NumPy's name and default axis. Differentiable in `x`.

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
        Shape of `x`, or (size of `x`,) without `axis`; dtype as for `cumulative_sum`.

    Raises
    ------
    ValueError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.cumsum([[1, 2], [3, 4]])
    Tensor([ 1,  3,  6, 10], dtype=int64)
    """
    return _accumulated(_core.cumulative_sum, *_flat_unless(x, axis, "cumsum"), dtype)


@composite
def cumprod(x: TensorLike, /, axis: SupportsIndex | None = None, dtype: DType = None) -> Tensor:
    """Compute the cumulative product along an axis or of the flattened input.

    As `cumulative_prod`, with NumPy's name and default axis. Differentiable in `x`.

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
        Shape of `x`, or (size of `x`,) without `axis`; dtype as for `cumulative_prod`.

    Raises
    ------
    ValueError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.cumprod([[1, 2], [3, 4]], axis=1)
    Tensor([[ 1,  2],
            [ 3, 12]], dtype=int64)
    """
    return _accumulated(_core.cumulative_prod, *_flat_unless(x, axis, "cumprod"), dtype)


def cumulative_max(x: TensorLike, /, *, axis: SupportsIndex | None = None) -> Tensor:
    """Compute the cumulative maximum along an axis.

    NaN from the first NaN on. Differentiable in `x`; equal maxima share the gradient.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    axis : int, optional
        Axis to accumulate along; negative values count from the last axis. Required unless `x` has
        rank 1.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range, or missing for a rank other than 1.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.cumulative_max([1.0, 3.0, 2.0, 4.0])
    Tensor([1., 3., 3., 4.], dtype=float32)
    """
    x = _core.constant(x, who="cumulative_max")
    return _core.cumulative_max(x, _one_axis(x, axis, "cumulative_max"))


def cumulative_min(x: TensorLike, /, *, axis: SupportsIndex | None = None) -> Tensor:
    """Compute the cumulative minimum along an axis.

    NaN from the first NaN on. Differentiable in `x`; equal minima share the gradient.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    axis : int, optional
        Axis to accumulate along; negative values count from the last axis. Required unless `x` has
        rank 1.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range, or missing for a rank other than 1.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.cumulative_min([3.0, 4.0, 1.0, 2.0])
    Tensor([3., 3., 1., 1.], dtype=float32)
    """
    x = _core.constant(x, who="cumulative_min")
    return _core.cumulative_min(x, _one_axis(x, axis, "cumulative_min"))


@composite
def cumulative_logsumexp(x: TensorLike, /, *, axis: SupportsIndex | None = None) -> Tensor:
    """Compute ``log(cumulative_sum(exp(x)))`` along an axis without overflow.

    The partial sums are scaled by the largest exponential so far. Differentiable in `x`. While all
    elements are -inf, the result is -inf and the gradient 0.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    axis : int, optional
        Axis to accumulate along; negative values count from the last axis. Required unless `x` has
        rank 1.

    Returns
    -------
    Tensor
        Shape of `x`; the dtype of `x` if floating, else the default floating dtype.

    Raises
    ------
    ValueError
        If `axis` is out of range, or missing for a rank other than 1.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.cumulative_logsumexp([float("-inf"), 0.0, 1000.0])
    Tensor([ -inf,    0., 1000.], dtype=float32)
    """
    x = made_floating(x, "cumulative_logsumexp")
    k = _one_axis(x, axis, "cumulative_logsumexp")
    top = _core.stop_gradient(_core.cumulative_max(x, k))
    before = _core.concat([top[along(k, slice(None, 1))], top[along(k, slice(None, -1))]], k)
    rescaled = _core.exp(_core.difference(before, top))
    terms = _core.exp(_core.difference(x, top))
    total = _core.linear_recurrence(rescaled, terms, k)
    nothing = _core.equal(top, float("-inf"))
    return _core.add(top, _core.where(nothing, 0, _core.log(_core.where(nothing, 1, total))))
