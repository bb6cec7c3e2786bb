"""Convolutions over one to three axes: products of windows of a tensor with weights, which are not
turned round (as in all libraries for networks). Weights always have the shape (taps …, channels in
/ groups, channels out). Integers become the default float dtype."""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import integer, made_floating
from .windows import (
    Windows,
    around,
    as_channels_last,
    for_each_axis,
    from_last,
    three,
    windows_over,
)

Stride = SupportsIndex | tuple[SupportsIndex, ...]
Padding = str | SupportsIndex | tuple[Any, ...] | list[Any]


def conv1d(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: str | None = None,
) -> Tensor:
    """`conv2d` along one axis: x of shape (batch, length, channels), or with `data_format` "NCW"
    (batch, channels, length); w of shape (taps, channels / groups, outputs).

    >>> pb.nn.conv1d([[[1.0], [2.0], [4.0]]], [[[1.0]], [[-1.0]]])
    Tensor([[[-1.],
             [-2.]]], dtype=float32)
    """
    return _conv("conv1d", 1, x, w, bias, stride, padding, dilation, groups, data_format)


def conv2d(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: str | None = None,
) -> Tensor:
    """For each window of x its product with w, summed over taps and channels, plus `bias`.

    x has the shape (batch, height, width, channels), or with `data_format` "NCHW" (batch,
    channels, height, width), and so has the result; w always (height, width, channels / groups,
    outputs), bias (outputs,). Windows begin `stride` apart, and what they see lies `dilation`
    apart. `padding` is "VALID" (windows inside x), "SAME" (zeros around x, so that there are
    ⌈length / stride⌉ windows; an odd one is behind), a number of zeros, or for each axis a number
    or a pair (before, behind).

    With `groups` channels and outputs are cut into as many parts, each with weights of its own: as
    many as there are channels is a depthwise convolution.

    >>> x = pb.ones((1, 3, 3, 1))
    >>> pb.nn.conv2d(x, pb.ones((2, 2, 1, 1)), padding="SAME")[0, :, :, 0]
    Tensor([[4., 4., 2.],
            [4., 4., 2.],
            [2., 2., 1.]], dtype=float32)
    """
    return _conv("conv2d", 2, x, w, bias, stride, padding, dilation, groups, data_format)


def conv3d(
    x: TensorLike,
    w: TensorLike,
    bias: TensorLike | None = None,
    *,
    stride: Stride = 1,
    padding: Padding = "VALID",
    dilation: Stride = 1,
    groups: SupportsIndex = 1,
    data_format: str | None = None,
) -> Tensor:
    """`conv2d` over three axes: x of shape (batch, depth, height, width, channels), or with
    `data_format` "NCDHW" channels second; w of shape (depth, height, width, channels / groups,
    outputs).

    >>> pb.nn.conv3d(pb.ones((1, 2, 2, 2, 3)), pb.ones((2, 2, 2, 3, 1)))
    Tensor([[[[[24.]]]]], dtype=float32)
    """
    return _conv("conv3d", 3, x, w, bias, stride, padding, dilation, groups, data_format)


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
    data_format: str | None = None,
) -> Tensor:
    """What a convolution does to gradients, over one to three axes: each entry of x, times w, is
    added to the window that it stands for. w has the shape (taps …, channels / groups, outputs), as
    in `conv2d`: channels are those of x.

    The result has length (n - 1) stride + (taps - 1) dilation + 1 + output_padding along an axis of
    n, less what `padding` cuts off before and behind; with "SAME" n · stride.

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
            f"{who}: padding {_core.shown(padding)} cuts off more than there is: of shape "
            f"{x.shape} with weights {w.shape} and stride {steps}"
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
    if parts == 1 and f.out == x.shape[1:-1] and set(f.size) <= {1} and not any(f.low):
        product = _core.matmul(x, _core.reshape(w, w.shape[-2:]))
        return _finished(who, product, bias, last)
    return _finished(who, convolved(x, w, parts, f), bias, last)


def _groups(who: str, rank: int, x: Tensor, w: Tensor, groups: Any) -> int:
    parts = integer(groups, who)
    channels = x.shape[-1]
    if len(w.shape) != rank + 2:
        raise ValueError(
            f"{who}: expected weights of rank {rank + 2} (taps, channels / groups, outputs), got "
            f"shape {w.shape}"
        )
    if min(w.shape[:rank]) < 1:
        raise ValueError(f"{who}: expected weights with taps, got shape {w.shape}")
    if parts < 1 or channels % parts or w.shape[-1] % parts:
        raise ValueError(
            f"{who}: groups: expected a number that divides {channels} channels and "
            f"{w.shape[-1]} outputs, got {_core.shown(groups)}"
        )
    if w.shape[-2] != channels // parts:
        raise ValueError(
            f"{who}: x has {channels} channels in {parts} groups, so expected weights of shape "
            f"({', '.join(['taps'] * rank)}, {channels // parts}, outputs), got {w.shape}"
        )
    return parts


def convolved(x: Tensor, w: Tensor, parts: int, f: Windows, apart: tuple[int, ...] = ()) -> Tensor:
    """Of each window its product with w; between the entries of x there are zeros, so that they lie
    `apart`."""
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
            raise ValueError(f"{who}: expected a bias of shape {y.shape[-1:]}, got {added.shape}")
        y = _core.add(y, added)
    return from_last(y, last)
