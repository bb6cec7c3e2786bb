"""Extraction of windows and its transpose, and the geometry that pooling shares with it."""

from __future__ import annotations

from math import prod
from typing import Any

from .. import _core
from .._base.checks import along
from .._base.composite import composite
from .._core import Tensor
from .._typing import DataFormat, TensorLike
from ._conv import Padding, Stride
from ._windows import (
    Windows,
    as_channels_last,
    channels_last,
    for_each_axis,
    from_last,
    rank_of,
    windows_over,
)


@composite
def unfold(
    x: TensorLike,
    size: Stride,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Extract the elements of each window (im2col).

    Padding is 0. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Shape (batch, one to three axes, channels), or channels second with `data_format`, of any
        dtype.
    size : int or tuple of int
        Size of a window, one number for all axes or one for each.
    stride : int or tuple of int, default 1
        Distance between windows.
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
        Shape (batch, windows along each axis, taps * channels) with the taps in row-major order, or
        (batch, channels * taps, windows along each axis) if channels come second; the dtype of `x`.

    Raises
    ------
    ValueError
        If a window does not fit, if the rank of `x` is not 3 to 5, or if an option is invalid.

    Examples
    --------
    >>> pb.nn.unfold([[[1], [2], [3]]], 2)
    Tensor([[[1, 2],
             [2, 3]]], dtype=int64)
    """
    who = "unfold"
    x = _core.constant(x, who=who)
    x, rank, last = as_channels_last(x, data_format, who)
    f = checked_windows(x, size, stride, padding, dilation, who)
    padded = _padded(x, f)
    y = _core.stack([padded[where] for where in _taps(f)], rank + 1)
    batch, *out, taps, channels = y.shape
    if last:
        return _core.reshape(y, (batch, *out, taps * channels))
    y = _core.transpose(y, (0, rank + 2, rank + 1, *range(1, rank + 1)))
    return _core.reshape(y, (batch, channels * taps, *out))


@composite
def fold(
    y: TensorLike,
    output_size: Stride,
    size: Stride,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Sum the elements of windows at their positions: the transpose of `unfold`.

    Differentiable in `y`.

    Parameters
    ----------
    y : array_like
        Windows in the shape that `unfold` returns.
    output_size : int or tuple of int
        Sizes of the axes of the result, one number for all axes or one for each.
    size : int or tuple of int
        Size of a window, as in `unfold`.
    stride : int or tuple of int, default 1
        Distance between windows.
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
        Shape (batch, sizes of `output_size`, channels), or channels second; the dtype of `y`.

    Raises
    ------
    ValueError
        If the shape of `y` is not that of `unfold`, or if an option is invalid.

    Examples
    --------
    >>> pb.nn.fold([[[1.0, 1.0], [1.0, 1.0]]], 3, 2)[0, :, 0]
    Tensor([1., 2., 1.], dtype=float32)
    """
    who = "fold"
    y = _core.constant(y, who=who)
    rank = rank_of(y, who)
    last = channels_last(data_format, rank, who)
    lengths = for_each_axis(output_size, rank, who, "output_size")
    f = windows_over(
        lengths, for_each_axis(size, rank, who, "size"), stride, padding, dilation, who
    )
    taps = prod(f.size)
    out = y.shape[1:-1] if last else y.shape[2:]
    whole = y.shape[-1] if last else y.shape[1]
    if out != f.out or whole % taps:
        raise ValueError(
            f"{who}: expected {f.out} windows of a multiple of {taps} entries, got shape {y.shape}"
        )
    batch, channels = y.shape[0], whole // taps
    if last:
        y = _core.reshape(y, (batch, *out, taps, channels))
    else:
        y = _core.reshape(y, (batch, channels, taps, *out))
        y = _core.transpose(y, (0, *range(3, rank + 3), 2, 1))
    room = padded_sizes(lengths, f)
    x = _core.full((batch, *(n for n, _ in room), channels), 0, y.dtype)
    for k, where in enumerate(_taps(f)):
        x = x.at[where].add(y[along(rank + 1, k)])
    inside = _inside(lengths, room)
    return from_last(x[inside], last)


def checked_windows(
    x: Tensor, size: Any, stride: Any, padding: Any, dilation: Any, who: str
) -> Windows:
    sizes = for_each_axis(size, len(x.shape) - 2, who, "size")
    steps = sizes if stride is None else stride
    return windows_over(x.shape[1:-1], sizes, steps, padding, dilation, who)


def padded_sizes(lengths: tuple[int, ...], f: Windows) -> list[tuple[int, int]]:
    """Return for each axis the size that all windows cover, and the offset of the input in it."""
    return [
        (max((o - 1) * s + (k - 1) * d + 1, low + n), low)
        for n, k, s, d, low, o in zip(lengths, *f, strict=True)
    ]


def covers_padding(lengths: tuple[int, ...], f: Windows) -> bool:
    return any((n, 0) != one for n, one in zip(lengths, padded_sizes(lengths, f), strict=True))


def _inside(lengths: tuple[int, ...], room: list[tuple[int, int]]) -> tuple[slice, ...]:
    places = (slice(low, low + n) for (_, low), n in zip(room, lengths, strict=True))
    return (slice(None), *places)


def _padded(x: Tensor, f: Windows) -> Tensor:
    lengths = x.shape[1:-1]
    room = padded_sizes(lengths, f)
    if not covers_padding(lengths, f):
        return x
    zeros = _core.full((x.shape[0], *(n for n, _ in room), x.shape[-1]), 0, x.dtype)
    inside = _inside(lengths, room)
    return zeros.at[inside].set(x)


def _taps(f: Windows) -> list[tuple[slice, ...]]:
    """Return for each tap, in row-major order, the slices of its positions in all windows."""
    places: list[tuple[slice, ...]] = [(slice(None),)]
    for k, s, d, _, o in zip(*f, strict=True):
        places = [
            (*before, slice(i * d, i * d + (o - 1) * s + 1, s))
            for before in places
            for i in range(k)
        ]
    return places
