"""Pooling over one to three axes. Each function works channel by channel."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import flag, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._numpy.gather import take
from .._typing import DataFormat, TensorLike
from ._conv import Padding, Stride, convolved
from ._unfold import checked_windows, covers_padding
from ._windows import (
    Windows,
    as_channels_last,
    for_each_axis,
    from_last,
    three,
)


def max_pool(
    x: TensorLike,
    size: Stride,
    *,
    stride: Stride | None = None,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Compute the maximum of each window, channel by channel.

    Padding is never the maximum. A NaN is larger than any number. Differentiable in `x`; of equal
    maxima the first receives the gradient.

    Parameters
    ----------
    x : array_like, real
        Shape (batch, one to three axes, channels), or channels second with `data_format`.
    size : int or tuple of int
        Size of a window, one number for all axes or one for each.
    stride : int or tuple of int, optional
        Distance between windows. Default: `size`.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        Padding around `x`, as in `conv2d`.
    dilation : int or tuple of int, default 1
        Distance between the elements of a window.
    data_format : str, optional
        Position of the channels: last with "NWC", "NHWC", "NDHWC" (default), second with "NCW",
        "NCHW", "NCDHW"; the name depends on the number of axes.

    Returns
    -------
    Tensor
        Shape of `x` with the number of windows along each axis; the dtype of `x`.

    Raises
    ------
    ValueError
        If a window does not fit or contains only padding, if the rank of `x` is not 3 to 5, or if
        an option is invalid.
    TypeError
        If `x` is bool or complex.

    Examples
    --------
    >>> pb.nn.max_pool([[[1.0], [3.0], [2.0], [0.0]]], 2)[0, :, 0]
    Tensor([3., 2.], dtype=float32)
    """
    who = "max_pool"
    x = _core.constant(x, who=who)
    x, _, last = as_channels_last(x, data_format, who)
    f = checked_windows(x, size, stride, padding, dilation, who)
    batch, *lengths, channels = x.shape
    y = _core.max_pool(
        _core.reshape(x, (batch, *three(tuple(lengths)), channels)),
        three(f.size),
        three(f.stride),
        three(f.dilation),
        three(f.low, 0),
        three(f.out),
    )
    return from_last(_core.reshape(y, (batch, *f.out, channels)), last)


@composite
def avg_pool(
    x: TensorLike,
    size: Stride,
    *,
    stride: Stride | None = None,
    padding: Padding = "VALID",
    count_include_pad: bool = False,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Compute the mean of each window, channel by channel.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Shape (batch, one to three axes, channels), or channels second with `data_format`. Integers
        become the default floating dtype.
    size : int or tuple of int
        Size of a window, one number for all axes or one for each.
    stride : int or tuple of int, optional
        Distance between windows. Default: `size`.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        Padding around `x`, as in `conv2d`.
    count_include_pad : bool, default False
        Include the padding in the mean, as zeros.
    data_format : str, optional
        Position of the channels: last with "NWC", "NHWC", "NDHWC" (default), second with "NCW",
        "NCHW", "NCDHW"; the name depends on the number of axes.

    Returns
    -------
    Tensor
        Shape of `x` with the number of windows along each axis; the floating dtype of `x`.

    Raises
    ------
    ValueError
        If a window does not fit or, without `count_include_pad`, contains only padding, if the rank
        of `x` is not 3 to 5, or if an option is invalid.

    Examples
    --------
    >>> pb.nn.avg_pool([[[1.0], [3.0], [2.0]]], 2, stride=2, padding="SAME")[0, :, 0]
    Tensor([2., 2.], dtype=float32)
    """
    if count_include_pad is not False:
        count_include_pad = flag(count_include_pad, "avg_pool", "count_include_pad")
    who = "avg_pool"
    x = made_floating(x, who, "fc")
    x, _, last = as_channels_last(x, data_format, who)
    f = checked_windows(x, size, stride, padding, 1, who)
    if not count_include_pad:
        _refuse_empty(x.shape[1:-1], f, who)
    total = _sums(x, f)
    if count_include_pad or not covers_padding(x.shape[1:-1], f):
        return from_last(_core.divide(total, prod(f.size)), last)
    counted = _sums(_core.full((1, *x.shape[1:-1], 1), 1.0, x.dtype), f)
    return from_last(_core.divide(total, counted), last)


@composite
def lp_pool(
    x: TensorLike,
    p: float,
    size: Stride,
    *,
    stride: Stride | None = None,
    padding: Padding = "VALID",
    data_format: DataFormat | None = None,
) -> Tensor:
    """Compute the p-norm of each window, channel by channel.

    The result is ``sum(abs(x)**p)**(1/p)``; padding counts as 0. Differentiable in `x`; the
    gradient of a norm of 0 is 0.

    Parameters
    ----------
    x : array_like, real
        Shape (batch, one to three axes, channels), or channels second with `data_format`. Integers
        become the default floating dtype.
    p : float
        Positive order of the norm.
    size : int or tuple of int
        Size of a window, one number for all axes or one for each.
    stride : int or tuple of int, optional
        Distance between windows. Default: `size`.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        Padding around `x`, as in `conv2d`.
    data_format : str, optional
        Position of the channels: last with "NWC", "NHWC", "NDHWC" (default), second with "NCW",
        "NCHW", "NCDHW"; the name depends on the number of axes.

    Returns
    -------
    Tensor
        Shape of `x` with the number of windows along each axis; the floating dtype of `x`.

    Raises
    ------
    ValueError
        If `p` is not positive, if a window does not fit, if the rank of `x` is not 3 to 5, or if an
        option is invalid.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.nn.lp_pool([[[3.0], [4.0]]], 2, 2)
    Tensor([[[5.]]], dtype=float32)
    """
    who = "lp_pool"
    x = made_floating(x, who)
    if not isinstance(p, (int, float)) or not p > 0:
        raise ValueError(f"{who}: expected a number > 0 for p, got {_core.shown(p)}")
    p = float(p)
    x, _, last = as_channels_last(x, data_format, who)
    total = _sums(_core.pow(_core.abs(x), p), checked_windows(x, size, stride, padding, 1, who))
    # The slope of the root at 0 is infinite and that of the sum 0; their product is defined as 0.
    some = _core.greater(total, 0)
    root = _core.pow(_core.where(some, total, 1.0), 1 / p)
    return from_last(_core.where(some, root, total), last)


@composite
def adaptive_avg_pool(
    x: TensorLike, output_size: Stride, *, data_format: DataFormat | None = None
) -> Tensor:
    """Compute the means of a given number of windows that cover the input.

    Of n elements and m windows, window i covers the elements from ⌊i n / m⌋ up to ⌈(i + 1) n / m⌉.
    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Shape (batch, one to three axes, channels), or channels second with `data_format`. Integers
        become the default floating dtype.
    output_size : int or tuple of int
        Number of windows, one number for all axes or one for each.
    data_format : str, optional
        Position of the channels: last with "NWC", "NHWC", "NDHWC" (default), second with "NCW",
        "NCHW", "NCDHW"; the name depends on the number of axes.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes of `output_size`; the floating dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is empty, if the rank of `x` is not 3 to 5, or if `output_size` is not positive.

    Examples
    --------
    >>> pb.nn.adaptive_avg_pool([[[1.0], [2.0], [6.0]]], 2)[0, :, 0]
    Tensor([1.5, 4. ], dtype=float32)
    """
    who = "adaptive_avg_pool"
    x = made_floating(x, who, "fc")
    x, rank, last = as_channels_last(x, data_format, who)
    for axis, m in enumerate(for_each_axis(output_size, rank, who, "output_size"), 1):
        places, counts = _bins(x.shape[axis], m, who)
        parts = take(x, places, axis=axis)
        inside = (len(x.shape) - axis - 1) * (1,)
        taps = np.arange(places.shape[1])
        shares = np.where(taps < counts[:, None], 1 / counts[:, None], 0.0)
        share = _core.reshape(_core.cast(_core.constant(shares), parts.dtype), (m, -1, *inside))
        x = _core.sum(_core.multiply(parts, share), axis + 1, False)
    return from_last(x, last)


@composite
def adaptive_max_pool(
    x: TensorLike, output_size: Stride, *, data_format: DataFormat | None = None
) -> Tensor:
    """Compute the maxima of a given number of windows that cover the input.

    The windows are those of `adaptive_avg_pool`. Differentiable in `x`; equal maxima share the
    gradient.

    Parameters
    ----------
    x : array_like, real
        Shape (batch, one to three axes, channels), or channels second with `data_format`.
    output_size : int or tuple of int
        Number of windows, one number for all axes or one for each.
    data_format : str, optional
        Position of the channels: last with "NWC", "NHWC", "NDHWC" (default), second with "NCW",
        "NCHW", "NCDHW"; the name depends on the number of axes.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes of `output_size`; the dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is empty, if the rank of `x` is not 3 to 5, or if `output_size` is not positive.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.nn.adaptive_max_pool([[[1.0], [2.0], [6.0]]], 2)[0, :, 0]
    Tensor([2., 6.], dtype=float32)
    """
    who = "adaptive_max_pool"
    x = _core.constant(x, who=who)
    x, rank, last = as_channels_last(x, data_format, who)
    for axis, m in enumerate(for_each_axis(output_size, rank, who, "output_size"), 1):
        places, _ = _bins(x.shape[axis], m, who)
        x = _core.max(take(x, places, axis=axis), axis + 1, False)
    return from_last(x, last)


def _sums(x: Tensor, f: Windows) -> Tensor:
    """Sum the elements of each window by a depthwise convolution with ones."""
    ones = _core.full((*f.size, 1, x.shape[-1]), 1.0, x.dtype)
    return convolved(x, ones, x.shape[-1], f)


def _refuse_empty(lengths: tuple[int, ...], f: Windows, who: str) -> None:
    for n, (k, s, _, low, o) in zip(lengths, zip(*f, strict=True), strict=True):
        if o and (k <= low or (o - 1) * s - low >= n):
            raise ValueError(
                f"{who}: expected an element of x in each window, got a window of padding only: "
                f"axis size {n}, window size {k}, padding {low}"
            )


def _bins(n: int, m: int, who: str) -> tuple[Any, Any]:
    """Return the indices of each of m windows, padded by the last index, and their counts."""
    if n == 0:
        raise ValueError(f"{who}: expected non-empty axes for x, got one of size 0")
    i = np.arange(m)
    first, behind = i * n // m, -(-(i + 1) * n // m)
    counts = behind - first
    return np.minimum(first[:, None] + np.arange(counts.max()), behind[:, None] - 1), counts
