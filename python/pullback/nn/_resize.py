"""`resize` and `upsample`: change the size of the spatial axes, one axis at a time."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from .. import _core
from .._base.checks import choice, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._numpy.gather import take
from .._typing import DataFormat, TensorLike
from ._conv import Stride
from ._windows import as_channels_last, channels_last, for_each_axis, from_last, rank_of

Method: TypeAlias = Literal["bilinear", "nearest"]


@composite
def resize(
    x: TensorLike,
    size: Stride,
    *,
    method: Method = "bilinear",
    data_format: DataFormat | None = None,
) -> Tensor:
    """Resize the spatial axes of images.

    Elements are at the centres of pixels: element i of m is at (i + ½) n / m - ½ among n. There is
    no smoothing if an image shrinks. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Images of one to three spatial axes: (batch, axes …, channels), or (batch, channels, axes …)
        with `data_format`.
    size : int or tuple of int
        Axis sizes of the result, one for all axes or one for each.
    method : {"bilinear", "nearest"}, optional
        Interpolation: "bilinear" is linear between the neighbours along each axis, and constant
        outside; "nearest" takes the pixel that contains the position. Default: "bilinear".
    data_format : {"NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC"}, optional
        Position of the channels. Default: the channels are last.

    Returns
    -------
    Tensor
        Shape of `x` with the given spatial sizes; dtype of `x`, or for "bilinear" the default
        floating dtype if `x` is an integer.

    Raises
    ------
    ValueError
        If the rank of `x` is not 3 to 5, an axis with elements is required, or another argument is
        invalid.

    See Also
    --------
    upsample

    Examples
    --------
    >>> pb.nn.resize([[[0.0], [4.0]]], 4)[0, :, 0]
    Tensor([0., 1., 3., 4.], dtype=float32)
    """
    return _resized(x, size, method, data_format, "resize")


@composite
def upsample(
    x: TensorLike,
    factor: Stride,
    *,
    method: Method = "nearest",
    data_format: DataFormat | None = None,
) -> Tensor:
    """Resize the spatial axes of images by integer factors.

    The positions are those of `resize`. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Images of one to three spatial axes: (batch, axes …, channels), or (batch, channels, axes …)
        with `data_format`.
    factor : int or tuple of int
        Factors of the axis sizes, one for all axes or one for each.
    method : {"nearest", "bilinear"}, optional
        Interpolation, as in `resize`. Default: "nearest".
    data_format : {"NCW", "NCHW", "NCDHW", "NWC", "NHWC", "NDHWC"}, optional
        Position of the channels. Default: the channels are last.

    Returns
    -------
    Tensor
        Shape of `x` with the multiplied spatial sizes; the dtype of `resize`.

    Raises
    ------
    ValueError
        If the rank of `x` is not 3 to 5, an axis with elements is required, or another argument is
        invalid.

    See Also
    --------
    resize

    Examples
    --------
    >>> pb.nn.upsample([[[1.0], [2.0]]], 2)[0, :, 0]
    Tensor([1., 1., 2., 2.], dtype=float32)
    """
    who = "upsample"
    tensor = _core.constant(x, who=who)
    rank = rank_of(tensor, who)
    last = channels_last(data_format, rank, who)
    lengths = tensor.shape[1:-1] if last else tensor.shape[2:]
    factors = for_each_axis(factor, rank, who, "factor")
    size = tuple(n * k for n, k in zip(lengths, factors, strict=True))
    return _resized(tensor, size, method, data_format, who)


def _resized(x: TensorLike, size: Stride, method: str, data_format: str | None, who: str) -> Tensor:
    linear = choice(method, ("bilinear", "nearest"), who, "method") == "bilinear"
    tensor = made_floating(x, who, "fc") if linear else _core.constant(x, who=who)
    tensor, rank, last = as_channels_last(tensor, data_format, who)
    for axis, m in enumerate(for_each_axis(size, rank, who, "size", 0), 1):
        n = tensor.shape[axis]
        if n == 0 and m > 0:
            raise ValueError(f"{who}: expected non-empty axes for x, got shape {tensor.shape}")
        if m != n:
            tensor = (_between if linear else _nearest)(tensor, axis, m)
    return from_last(tensor, last)


def _nearest(x: Tensor, axis: int, m: int) -> Tensor:
    n = x.shape[axis]
    if m % n == 0:  # equal repetitions are a view
        before, behind = x.shape[:axis], x.shape[axis + 1 :]
        apart = _core.reshape(x, (*before, n, 1, *behind))
        wide = _core.broadcast_to(apart, (*before, n, m // n, *behind))
        return _core.reshape(wide, (*before, m, *behind))
    return take(x, (2 * np.arange(m) + 1) * n // (2 * m), axis=axis)


def _between(x: Tensor, axis: int, m: int) -> Tensor:
    n = x.shape[axis]
    at = np.clip(((2 * np.arange(m) + 1) * n - m) / (2 * m), 0, n - 1)
    low = np.floor(at).astype(np.int64)
    high = np.minimum(low + 1, n - 1)
    share = at - low
    shape = (m, *(1,) * (len(x.shape) - axis - 1))
    upper = _core.reshape(_core.cast(_core.constant(share), x.dtype), shape)
    first, second = take(x, low, axis=axis), take(x, high, axis=axis)
    return _core.add(first, _core.multiply(upper, _core.subtract(second, first)))
