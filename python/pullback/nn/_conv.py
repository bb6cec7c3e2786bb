"""Convolutions over one to three axes.

As in other libraries for neural networks they are cross-correlations: the weights are not flipped.
Weights always have the shape (taps along each axis, channels / groups, outputs). Integers become
the default floating dtype.
"""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex

from .. import _core
from .._base.checks import counted, integer, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import DataFormat, TensorLike
from ._windows import (
    Windows,
    around,
    as_channels_last,
    for_each_axis,
    from_last,
    three,
    windows_over,
)

Stride = SupportsIndex | tuple[SupportsIndex, ...]
Padding = Literal["VALID", "SAME", "valid", "same"] | SupportsIndex | tuple[Any, ...] | list[Any]


@composite
def conv1d(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: Literal["NWC", "NCW"] | None = None,
) -> Tensor:
    """Compute a 1-D cross-correlation with weights and add an optional bias.

    As `conv2d` along one axis. Differentiable in `x`, `w` and `bias`.

    Parameters
    ----------
    x : array_like
        Shape (batch, length, channels), or (batch, channels, length) with `data_format` "NCW".
        Integers become the default floating dtype.
    w : array_like
        Weights of shape (taps, channels / groups, outputs).
    bias : array_like, optional
        Scalar or shape (outputs,), added to the result.
    stride : int or tuple of int, default 1
        Distance between windows, one number for all axes or one for each.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        "VALID": windows lie inside `x`. "SAME": zeros around `x`, so that there are ⌈size / stride⌉
        windows; an odd zero comes after. Else the number of zeros on all sides, or for each axis a
        number or a pair (before, after).
    dilation : int or tuple of int, default 1
        Distance between the taps of a window.
    groups : int, default 1
        Number of groups into which channels and outputs are divided, each with its own weights. As
        many groups as channels give a depthwise convolution.
    data_format : {"NWC", "NCW"}, optional
        Position of the channels in `x` and in the result: last (default) or second.

    Returns
    -------
    Tensor
        Shape (batch, windows, outputs), or (batch, outputs, windows) with "NCW"; the dtype to which
        the operands promote.

    Raises
    ------
    ValueError
        If a rank or the shape of `w` or `bias` does not match, if `groups` does not divide channels
        and outputs, if a window does not fit, or if an option is invalid.

    Examples
    --------
    >>> pb.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[-1.0]]])
    Tensor([[[-1.],
             [-2.]]], dtype=float32)
    """
    return _conv("conv1d", 1, x, w, bias, stride, padding, dilation, groups, data_format)


@composite
def conv2d(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: Literal["NHWC", "NCHW"] | None = None,
) -> Tensor:
    """Compute a 2-D cross-correlation with weights and add an optional bias.

    Each window of `x` is multiplied by `w` and summed over taps and channels; the weights are not
    flipped. Differentiable in `x`, `w` and `bias`.

    Parameters
    ----------
    x : array_like
        Shape (batch, height, width, channels), or (batch, channels, height, width) with
        `data_format` "NCHW". Integers become the default floating dtype.
    w : array_like
        Weights of shape (height, width, channels / groups, outputs), in both data formats.
    bias : array_like, optional
        Scalar or shape (outputs,), added to the result.
    stride : int or tuple of int, default 1
        Distance between windows, one number for all axes or one for each.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        "VALID": windows lie inside `x`. "SAME": zeros around `x`, so that there are ⌈size / stride⌉
        windows; an odd zero comes after. Else the number of zeros on all sides, or for each axis a
        number or a pair (before, after).
    dilation : int or tuple of int, default 1
        Distance between the taps of a window.
    groups : int, default 1
        Number of groups into which channels and outputs are divided, each with its own weights. As
        many groups as channels give a depthwise convolution.
    data_format : {"NHWC", "NCHW"}, optional
        Position of the channels in `x` and in the result: last (default) or second.

    Returns
    -------
    Tensor
        Shape (batch, rows, columns, outputs), or (batch, outputs, rows, columns) with "NCHW"; the
        dtype to which the operands promote.

    Raises
    ------
    ValueError
        If a rank or the shape of `w` or `bias` does not match, if `groups` does not divide channels
        and outputs, if a window does not fit, or if an option is invalid.

    Examples
    --------
    >>> x = pb.ones((1, 3, 3, 1))
    >>> pb.nn.conv2d(x, pb.ones((2, 2, 1, 1)), padding="SAME")[0, :, :, 0]
    Tensor([[4., 4., 2.],
            [4., 4., 2.],
            [2., 2., 1.]], dtype=float32)
    """
    return _conv("conv2d", 2, x, w, bias, stride, padding, dilation, groups, data_format)


@composite
def conv3d(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: Literal["NDHWC", "NCDHW"] | None = None,
) -> Tensor:
    """Compute a 3-D cross-correlation with weights and add an optional bias.

    As `conv2d` over three axes. Differentiable in `x`, `w` and `bias`.

    Parameters
    ----------
    x : array_like
        Shape (batch, depth, height, width, channels), or channels second with `data_format`
        "NCDHW". Integers become the default floating dtype.
    w : array_like
        Weights of shape (depth, height, width, channels / groups, outputs).
    bias : array_like, optional
        Scalar or shape (outputs,), added to the result.
    stride : int or tuple of int, default 1
        Distance between windows, one number for all axes or one for each.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        "VALID": windows lie inside `x`. "SAME": zeros around `x`, so that there are ⌈size / stride⌉
        windows; an odd zero comes after. Else the number of zeros on all sides, or for each axis a
        number or a pair (before, after).
    dilation : int or tuple of int, default 1
        Distance between the taps of a window.
    groups : int, default 1
        Number of groups into which channels and outputs are divided, each with its own weights. As
        many groups as channels give a depthwise convolution.
    data_format : {"NDHWC", "NCDHW"}, optional
        Position of the channels in `x` and in the result: last (default) or second.

    Returns
    -------
    Tensor
        Shape (batch, windows along each axis, outputs), or outputs second with "NCDHW"; the dtype
        to which the operands promote.

    Raises
    ------
    ValueError
        If a rank or the shape of `w` or `bias` does not match, if `groups` does not divide channels
        and outputs, if a window does not fit, or if an option is invalid.

    Examples
    --------
    >>> pb.nn.conv3d(pb.ones((1, 2, 2, 2, 3)), pb.ones((2, 2, 2, 3, 1)))
    Tensor([[[[[24.]]]]], dtype=float32)
    """
    return _conv("conv3d", 3, x, w, bias, stride, padding, dilation, groups, data_format)


@composite
def conv_transpose(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    output_padding: Stride = 0,
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: DataFormat | None = None,
) -> Tensor:
    """Compute a transposed convolution over one to three axes.

    The operation that a convolution applies to gradients: each element of `x`, times `w`, is added
    to its window of the result. Along an axis of size n the result has size ``(n - 1) * stride +
    (taps - 1) * dilation + 1 + output_padding`` less the elements that `padding` cuts off before
    and after; with "SAME" it is ``n * stride + output_padding``. Differentiable in `x`, `w` and
    `bias`.

    Parameters
    ----------
    x : array_like
        Shape (batch, one to three axes, channels), or channels second with `data_format`. Integers
        become the default floating dtype.
    w : array_like
        Weights of shape (taps along each axis, channels / groups, outputs), as in `conv2d`: the
        channels are those of `x`.
    bias : array_like, optional
        Scalar or shape (outputs,), added to the result.
    stride : int or tuple of int, default 1
        Distance in the result between the windows of neighbouring elements.
    padding : {"VALID", "SAME"}, int or sequence of (int or pair of int), default "VALID"
        Number of elements cut off the result on all sides, or for each axis a number or a pair
        (before, after). "VALID" cuts nothing.
    output_padding : int or tuple of int, default 0
        Number of elements added at the end of each axis of the result.
    dilation : int or tuple of int, default 1
        Distance between the taps of a window.
    groups : int, default 1
        Number of groups into which channels and outputs are divided, each with its own weights.
    data_format : str, optional
        Position of the channels: last with "NWC", "NHWC", "NDHWC" (default), second with "NCW",
        "NCHW", "NCDHW"; the name depends on the number of axes.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes above and outputs in place of the channels; the dtype to which
        the operands promote.

    Raises
    ------
    ValueError
        If a rank or the shape of `w` or `bias` does not match, if `groups` does not divide channels
        and outputs, if `padding` cuts off more than there is, or if an option is invalid.

    Examples
    --------
    >>> pb.nn.conv_transpose([[[1.0], [2.0]]], pb.ones((3, 1, 1)), stride=2)[0, :, 0]
    Tensor([1., 1., 3., 2., 2.], dtype=float32)
    """
    who = "conv_transpose"
    x, w = made_floating(x, who, "fc"), made_floating(w, who, "fc")
    x, rank, last = as_channels_last(x, data_format, who)
    parts = _groups(who, rank, x, w, groups)
    steps = for_each_axis(stride, rank, who, "stride")
    dilations = for_each_axis(dilation, rank, who, "dilation")
    more = for_each_axis(output_padding, rank, who, "output_padding", 0)
    taps = w.shape[:rank]
    spans = tuple((k - 1) * d + 1 for k, d in zip(taps, dilations, strict=True))
    lengths = x.shape[1:-1]
    if isinstance(padding, str) and padding.upper() == "SAME":
        out = [n * s for n, s in zip(lengths, steps, strict=True)]
        low = [max(span - s, 0) // 2 for span, s in zip(spans, steps, strict=True)]
    else:
        pads = around(lengths, spans, steps, padding, who)
        whole = [max(n - 1, 0) * s + k for n, s, k in zip(lengths, steps, spans, strict=True)]
        out = [n - a - b for n, (a, b) in zip(whole, pads, strict=True)]
        low = [a for a, _ in pads]
    out = [n + m for n, m in zip(out, more, strict=True)]
    if min(out) < 0:
        raise ValueError(
            f"{who}: expected a result of size >= 0, got {_core.shown(padding)} for padding with x "
            f"of {x.shape}, weights of {w.shape} and stride {steps}"
        )
    flipped = w[(slice(None, None, -1),) * rank]
    before = tuple(span - 1 - n for span, n in zip(spans, low, strict=True))
    f = Windows(taps, (1,) * rank, dilations, before, tuple(out))
    return _finished(who, convolved(x, flipped, parts, f, steps), bias, last)


def _conv(
    who: str,
    rank: int,
    x: Any,
    w: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
    data_format: Any,
) -> Tensor:
    x, w = made_floating(x, who, "fc"), made_floating(w, who, "fc")
    x, _, last = as_channels_last(x, data_format, who, rank)
    parts = _groups(who, rank, x, w, groups)
    hint = f"; weights are (taps, channels / groups, outputs), got shape {w.shape}"
    f = windows_over(x.shape[1:-1], w.shape[:rank], stride, padding, dilation, who, hint)
    entries_in_place = all(
        k == 1 and low == 0 and n == m and (s == 1 or n <= 1)
        for k, low, n, m, s in zip(f.size, f.low, f.out, x.shape[1:-1], f.stride, strict=True)
    )
    if parts == 1 and entries_in_place:
        product = _core.matmul(x, _core.reshape(w, w.shape[-2:]))
        return _finished(who, product, bias, last)
    return _finished(who, convolved(x, w, parts, f), bias, last)


def _groups(who: str, rank: int, x: Tensor, w: Tensor, groups: Any) -> int:
    parts = integer(groups, who, "groups")
    channels = x.shape[-1]
    if len(w.shape) != rank + 2:
        raise ValueError(
            f"{who}: expected rank {rank + 2} (taps, channels / groups, outputs) for weights, got "
            f"shape {w.shape}"
        )
    if min(w.shape[:rank]) < 1:
        raise ValueError(f"{who}: expected at least one tap for weights, got shape {w.shape}")
    if parts < 1 or channels % parts or w.shape[-1] % parts:
        raise ValueError(
            f"{who}: expected a divisor of {channels} channels and {w.shape[-1]} outputs for "
            f"groups, got {_core.shown(groups)}"
        )
    if w.shape[-2] != channels // parts:
        taps = "taps, " * rank
        raise ValueError(
            f"{who}: expected shape ({taps}{channels // parts}, outputs) for weights, because x "
            f"has {counted(channels, 'channel')} in {counted(parts, 'group')}, got {w.shape}"
        )
    return parts


def convolved(x: Tensor, w: Tensor, parts: int, f: Windows, apart: tuple[int, ...] = ()) -> Tensor:
    """Multiply each window by `w`, with elements of `x` that lie `apart` and zeros between them."""
    batch, *lengths, channels = x.shape
    *taps, inner, outputs = w.shape
    w = _core.reshape(w, (*three(tuple(taps)), inner, parts, outputs // parts))
    y = _core.convolve(
        _core.reshape(x, (batch, *three(tuple(lengths)), parts, channels // parts)),
        _core.transpose(w, (0, 1, 2, 4, 3, 5)),
        three(f.stride),
        three(f.dilation),
        three(f.low, 0),
        three(apart),
        three(f.out),
    )
    return _core.reshape(y, (batch, *f.out, outputs))


def _finished(who: str, y: Tensor, bias: Any, last: bool) -> Tensor:
    if bias is not None:
        added = made_floating(bias, who, "fc")
        if added.shape not in ((), y.shape[-1:]):
            raise ValueError(f"{who}: expected shape {y.shape[-1:]} for bias, got {added.shape}")
        y = _core.add(y, added)
    return from_last(y, last)
