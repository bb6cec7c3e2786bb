"""Strides, padding and dilation of the windows of convolutions and pools.

The input has one to three spatial axes: (batch, axes …, channels), or with `data_format` (batch,
channels, axes …). The core takes three spatial axes; those that are missing have size 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _core
from .._base.checks import choice, integer, is_integer
from .._core import Tensor

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}

Three = tuple[int, int, int]

_MOST = 2**31


class Windows(NamedTuple):
    """The parameters of windows and their number along each axis (`out`)."""

    size: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    low: tuple[int, ...]
    out: tuple[int, ...]


def rank_of(x: Tensor, who: str, rank: int | None = None) -> int:
    """Return the number of spatial axes; raise a ValueError for another rank than expected."""
    axes = len(x.shape) - 2
    if axes != rank if rank else axes not in _FORMATS:
        expected = f"{rank + 2}" if rank else "3 to 5"
        raise ValueError(
            f"{who}: expected rank {expected} (batch, spatial axes, channels) for x, got shape "
            f"{x.shape}"
        )
    return axes


def channels_last(data_format: str | None, rank: int, who: str) -> bool:
    """Test whether channels are the last axis."""
    last, first = _FORMATS[rank]
    if data_format is not None:
        choice(data_format, (last, first), who, "data_format")
    return data_format != first


def as_channels_last(
    x: Tensor, data_format: str | None, who: str, rank: int | None = None
) -> tuple[Tensor, int, bool]:
    """x with channels as the last axis, the number of its axes, and whether they were the last."""
    axes = rank_of(x, who, rank)
    last = channels_last(data_format, axes, who)
    if not last:
        x = _core.transpose(x, (0, *range(2, axes + 2), 1))
    return x, axes, last


def from_last(y: Tensor, last: bool) -> Tensor:
    rank = len(y.shape)
    return y if last else _core.transpose(y, (0, rank - 1, *range(1, rank - 1)))


def for_each_axis(value: Any, rank: int, who: str, what: str, least: int = 1) -> tuple[int, ...]:
    """Return an integer for each axis, from one integer or from `rank` integers."""
    if is_integer(value):
        many = [value] * rank
    elif isinstance(value, (tuple, list)) and len(value) == rank:
        many = list(value)
    else:
        raise ValueError(
            f"{who}: expected an integer or {rank} integers for {what}, got {_core.shown(value)}"
        )
    numbers = tuple(integer(n, who, what) for n in many)
    if not all(least <= n < _MOST for n in numbers):
        raise ValueError(
            f"{who}: expected integers from {least} to 2**31 - 1 for {what}, got "
            f"{_core.shown(value)}"
        )
    return numbers


def _pairs(padding: Any, rank: int, who: str) -> list[tuple[int, int]]:
    if is_integer(padding):
        padding = [padding] * rank
    pairs = []
    if isinstance(padding, (tuple, list)) and len(padding) == rank:
        for one in padding:
            pair = [one, one] if is_integer(one) else one
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                break
            pairs.append((integer(pair[0], who, "padding"), integer(pair[1], who, "padding")))
    if len(pairs) != rank or any(not 0 <= n < _MOST for pair in pairs for n in pair):
        raise ValueError(
            f"{who}: expected 'SAME', 'VALID', an integer >= 0, or {rank} integers or pairs "
            f"(before, after) for padding, got {_core.shown(padding)}"
        )
    return pairs


def around(
    lengths: tuple[int, ...],
    spans: tuple[int, ...],
    stride: tuple[int, ...],
    padding: Any,
    who: str,
) -> list[tuple[int, int]]:
    """Return the padding before and after each axis, for windows of these spans."""
    if isinstance(padding, str):
        scheme = padding.upper()
        if scheme == "VALID":
            return [(0, 0)] * len(lengths)
        if scheme == "SAME":
            missing = [
                max((-(-n // s) - 1) * s + span - n, 0)
                for n, span, s in zip(lengths, spans, stride, strict=True)
            ]
            return [(n // 2, n - n // 2) for n in missing]
    return _pairs(padding, len(lengths), who)


def windows_over(
    lengths: tuple[int, ...],
    size: tuple[int, ...],
    stride: Any,
    padding: Any,
    dilation: Any,
    who: str,
    hint: str = "",
) -> Windows:
    """Return the windows over axes of these sizes."""
    rank = len(lengths)
    steps = for_each_axis(stride, rank, who, "stride")
    dilations = for_each_axis(dilation, rank, who, "dilation")
    spans = tuple((k - 1) * d + 1 for k, d in zip(size, dilations, strict=True))
    pads = around(lengths, spans, steps, padding, who)
    out = []
    for n, (before, behind), span, s in zip(lengths, pads, spans, steps, strict=True):
        if n + before + behind < span:
            raise ValueError(
                f"{who}: expected an axis of at least {span}, the size of a window, got {n}"
                + (f" with padding {before} and {behind}" if before + behind else "")
                + hint
            )
        out.append((n + before + behind - span) // s + 1)
    return Windows(size, steps, dilations, tuple(before for before, _ in pads), tuple(out))


def three(numbers: tuple[int, ...], fill: int = 1) -> Three:
    """With what stands for axes that are not there."""
    first, middle, last = (*(fill,) * (3 - len(numbers)), *numbers)
    return first, middle, last
