"""Normalisation to mean 0 and variance 1, dropout and embedding. Integers become the default float
dtype. `weight` and `bias` broadcast over what was normalised.

The mean is subtracted twice, the second time the mean of what the first left: so entries beside a
large mean keep all of their digits, and equal ones are exactly 0. The first subtraction needs no
gradient, as no shift changes the result.
"""

from __future__ import annotations

from math import prod
from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import axes_of, flag, integer, made_floating, number


def layer_norm(
    x: TensorLike,
    /,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    *,
    axis: SupportsIndex | tuple[SupportsIndex, ...] = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon), times `weight`, plus `bias`; mean and variance are
    those along `axis`, one or several (Ba et al., 2016).

    >>> pb.layer_norm([[1.0, 3.0], [1e6, 1e6]])
    Tensor([[-0.999995,  0.999995],
            [ 0.      ,  0.      ]], dtype=float32)
    """
    x = made_floating(x, "layer_norm")
    axes = axes_of(axis, len(x.shape), "layer_norm")
    normal = _normalized(x, axes, number(epsilon, "layer_norm"))
    return _affine(normal, weight, bias)


def rms_norm(
    x: TensorLike,
    /,
    weight: TensorLike | None = None,
    *,
    axis: SupportsIndex | tuple[SupportsIndex, ...] = -1,
    epsilon: float = 1e-6,
) -> Tensor:
    """x / sqrt(mean(x²) + epsilon), times `weight` (Zhang and Sennrich, 2019).

    >>> pb.rms_norm([[1.0, -1.0], [300.0, 300.0]])
    Tensor([[ 0.9999995, -0.9999995],
            [ 1.       ,  1.       ]], dtype=float32)
    """
    x = made_floating(x, "rms_norm")
    axes = axes_of(axis, len(x.shape), "rms_norm")
    power = _core.mean(_core.square(x), axes, True)
    over = _core.rsqrt(_core.add(power, number(epsilon, "rms_norm")))
    return _affine(_core.multiply(x, over), weight, None)


def batch_norm(
    x: TensorLike,
    /,
    mean: TensorLike | None = None,
    variance: TensorLike | None = None,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    *,
    axis: SupportsIndex = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon), times `weight`, plus `bias`, where each has one entry
    for each channel (Ioffe and Szegedy, 2015). Channels lie along `axis`.

    Without `mean` and `variance`, as in training, they are those of x over all other axes, and
    gradients pass through them; in use they are averages that were kept. One without the other is a
    TypeError.

    >>> pb.batch_norm([[1.0, 5.0], [3.0, 5.0]])
    Tensor([[-0.999995,  0.      ],
            [ 0.999995,  0.      ]], dtype=float32)
    """
    x = made_floating(x, "batch_norm")
    (channel,) = axes_of([axis], len(x.shape), "batch_norm")
    small = number(epsilon, "batch_norm")
    shape = tuple(n if k == channel else 1 for k, n in enumerate(x.shape))
    weight, bias, mean, variance = (
        _channels(v, shape, "batch_norm") for v in (weight, bias, mean, variance)
    )
    if (mean is None) != (variance is None):
        raise TypeError("batch_norm: expected mean and variance, or neither, got one of them")
    if mean is None or variance is None:
        others = [k for k in range(len(x.shape)) if k != channel]
        return _affine(_normalized(x, others, small), weight, bias)
    over = _core.rsqrt(_core.add(variance, small))
    return _affine(_core.multiply(_core.subtract(x, mean), over), weight, bias)


def group_norm(
    x: TensorLike,
    /,
    groups: SupportsIndex,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    *,
    axis: SupportsIndex = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """As `layer_norm`, over groups of channels and all axes but the first, which is the batch; then
    times `weight`, plus `bias`, which have one entry for each channel (Wu and He, 2018). Channels
    lie along `axis`; `groups` must divide their number.

    >>> pb.group_norm([[1.0, 3.0, 10.0, 10.0]], 2)
    Tensor([[-0.999995,  0.999995,  0.      ,  0.      ]], dtype=float32)
    """
    x = made_floating(x, "group_norm")
    (channel,) = axes_of([axis], len(x.shape), "group_norm")
    count = integer(groups, "group_norm")
    if channel == 0:
        raise ValueError(
            f"group_norm: expected the batch first, got shape {x.shape}, channels along axis 0"
        )
    if count < 1 or x.shape[channel] % count:
        raise ValueError(f"group_norm: {x.shape[channel]} channels in {count} equal groups")
    shape = tuple(n if k == channel else 1 for k, n in enumerate(x.shape))
    weight, bias = (_channels(v, shape, "group_norm") for v in (weight, bias))
    cut = (*x.shape[:channel], count, x.shape[channel] // count, *x.shape[channel + 1 :])
    inside = [k for k in range(1, len(cut)) if k != channel]
    normal = _normalized(_core.reshape(x, cut), inside, number(epsilon, "group_norm"))
    return _affine(_core.reshape(normal, x.shape), weight, bias)


def _normalized(x: Tensor, axes: list[int], epsilon: float) -> Tensor:
    apart = _core.subtract(x, _core.stop_gradient(_core.mean(x, axes, True)))
    apart = _core.subtract(apart, _core.mean(apart, axes, True))
    variance = _core.mean(_core.square(apart), axes, True)
    return _core.multiply(apart, _core.rsqrt(_core.add(variance, epsilon)))


def _affine(x: Tensor, weight: TensorLike | None, bias: TensorLike | None) -> Tensor:
    if weight is not None:
        x = _core.multiply(x, weight)
    return x if bias is None else _core.add(x, bias)


def _channels(value: TensorLike | None, shape: tuple[int, ...], who: str) -> Tensor | None:
    """One number for each channel, so shaped that they broadcast."""
    if value is None:
        return None
    given = _core.constant(value, who=who)
    if given.shape not in ((), (prod(shape),)):
        raise ValueError(
            f"{who}: expected one entry for each of {prod(shape)} channels, got shape {given.shape}"
        )
    return _core.reshape(given, shape) if given.shape else given


def dropout(x: TensorLike, /, rate: float = 0.5, *, training: bool = True) -> Tensor:
    """x with each entry made 0 at the probability `rate`, and the others divided by 1 - rate, so
    that the mean stays (Srivastava et al., 2014). What was dropped has the gradient 0, whatever it
    was. Without `training` it is x. A rate outside of 0 … 1 is a ValueError.

    >>> x = pb.dropout(pb.ones(1000), 0.25)
    >>> sorted(set(x.numpy().tolist()))
    [0.0, 1.3333333730697632]
    """
    if training is not True:
        training = flag(training, "dropout", "training")
    x = made_floating(x, "dropout")
    share = number(rate, "dropout")
    if not 0 <= share <= 1:
        raise ValueError(f"dropout: rate must be from 0 to 1, got {share}")
    if not training or share == 0:
        return _core.reshape(x, x.shape)
    if share == 1:
        return _core.where(False, x, 0)
    kept = _core.greater_equal(_core.random_uniform(x.shape, x.dtype), share)
    return _core.where(kept, _core.divide(x, 1 - share), 0)


def embedding(table: TensorLike, indices: TensorLike, /) -> Tensor:
    """The rows of a table, of shape (entries, ...), that integers name: shape (indices..., ...).
    An index out of range raises IndexError when it is computed; negative ones count from the end.
    The gradient is added to the rows that were taken, and costs no more than these.

    >>> pb.embedding([[1.0, 2.0], [3.0, 4.0]], [1, 1, 0])
    Tensor([[3., 4.],
            [3., 4.],
            [1., 2.]], dtype=float32)
    """
    rows = _core.constant(table, who="embedding")
    if not rows.shape:
        raise ValueError("embedding: expected a table with rows, got a single number")
    return _core.take(rows, indices, 0)
