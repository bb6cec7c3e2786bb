"""Losses that compare predictions with targets entry by entry, and their mean, sum or all of them.

`reduction` is "mean", "sum" or "none". Targets have the shape of the predictions, or are one
number: a broadcast of (n,) with (n, 1) is nearly always a mistake. Infinite differences have
infinite losses and finite slopes wherever the formula has.
"""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import made_floating


def pair(first: TensorLike, second: TensorLike, who: str) -> tuple[Tensor, Tensor]:
    """Both as floats, after a check of their shapes. Integers among the second take the dtype of
    the first."""
    x, y = _core.operands([first, second], who)
    x = made_floating(x, who)
    if y.shape and y.shape != x.shape:
        raise ValueError(f"{who}: expected two arrays of one shape, got {x.shape} and {y.shape}")
    return x, y if y.dtype.kind == "f" else _core.cast(y, x.dtype)


def reduced(losses: Tensor, reduction: str, who: str) -> Tensor:
    """Their mean, their sum, or all of them."""
    if reduction == "none":
        return losses
    if reduction == "sum":
        return _core.sum(losses)
    if reduction == "mean":
        return _core.mean(losses)
    raise ValueError(
        f"{who}: reduction must be 'mean', 'sum' or 'none', got {_core.shown(reduction)}"
    )


def l1_loss(
    predictions: TensorLike, targets: TensorLike = 0.0, *, reduction: str = "mean"
) -> Tensor:
    """|predictions - targets|; the slope where they are equal is 0.

    >>> pb.l1_loss([1.0, 4.0], [2.0, 2.0])
    Tensor(1.5, dtype=float32)
    """
    x, y = pair(predictions, targets, "l1_loss")
    return reduced(_core.abs(_core.subtract(x, y)), reduction, "l1_loss")


def l2_loss(
    predictions: TensorLike, targets: TensorLike = 0.0, *, reduction: str = "mean"
) -> Tensor:
    """(predictions - targets)² / 2, so that the slope is the difference (Bishop, 2006, eq. 1.2).

    >>> pb.l2_loss([1.0, 4.0], [2.0, 2.0], reduction="none")
    Tensor([0.5, 2. ], dtype=float32)
    """
    x, y = pair(predictions, targets, "l2_loss")
    return reduced(_core.divide(_core.square(_core.subtract(x, y)), 2), reduction, "l2_loss")


def huber_loss(
    predictions: TensorLike,
    targets: TensorLike = 0.0,
    delta: float = 1.0,
    *,
    reduction: str = "mean",
) -> Tensor:
    """d² / 2 where the difference d is at most `delta` from 0, delta (|d| - delta / 2) beyond
    (Huber, 1964).

    >>> pb.huber_loss([1.0, 4.0], [1.5, 1.0], reduction="none")
    Tensor([0.125, 2.5  ], dtype=float32)
    """
    x, y = pair(predictions, targets, "huber_loss")
    width = _width(delta, "delta", "huber_loss")
    difference = _core.subtract(x, y)
    apart = _core.abs(difference)
    line = _core.multiply(_core.subtract(apart, width / 2), width)
    bowl = _core.divide(_core.square(difference), 2)
    losses = _core.where(_core.less_equal(apart, width), bowl, line)
    return reduced(losses, reduction, "huber_loss")


def smooth_l1(
    predictions: TensorLike,
    targets: TensorLike = 0.0,
    beta: float = 1.0,
    *,
    reduction: str = "mean",
) -> Tensor:
    """d² / (2 beta) where the difference d is less than `beta` from 0, |d| - beta / 2 beyond: the
    Huber loss divided by its width, and `l1_loss` for beta = 0 (Girshick, 2015).

    >>> pb.smooth_l1([1.0, 4.0], [1.5, 1.0], reduction="none")
    Tensor([0.125, 2.5  ], dtype=float32)
    """
    x, y = pair(predictions, targets, "smooth_l1")
    width = _width(beta, "beta", "smooth_l1")
    difference = _core.subtract(x, y)
    apart = _core.abs(difference)
    line = _core.subtract(apart, width / 2)
    if width:
        bowl = _core.divide(_core.square(difference), 2 * width)
        line = _core.where(_core.less(apart, width), bowl, line)
    return reduced(line, reduction, "smooth_l1")


def _width(value: float, name: str, who: str) -> float:
    try:
        width = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{who}: expected a number as {name}, got {_core.shown(value)}") from None
    if not width >= 0:
        raise ValueError(f"{who}: {name} must not be negative, got {width}")
    return width


def hinge(predictions: TensorLike, targets: TensorLike, *, reduction: str = "mean") -> Tensor:
    """max(0, 1 - targets predictions), where targets are -1 and 1; the slope at the kink is 0
    (Cortes and Vapnik, 1995).

    >>> pb.hinge([0.5, -2.0], [1, -1], reduction="none")
    Tensor([0.5, 0. ], dtype=float32)
    """
    x, y = pair(predictions, targets, "hinge")
    return reduced(_core.relu(_core.subtract(1, _core.multiply(x, y))), reduction, "hinge")
