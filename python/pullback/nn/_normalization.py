"""Normalisation to mean 0 and variance 1, dropout and embedding.

Integers become the default floating dtype. `weight` and `bias` broadcast over the normalised
input. `normalize` in cpp/ops/statistics.cpp has the formula.
"""

from __future__ import annotations

from math import prod
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import axes_of, flag, integer, made_floating, number
from .._base.composite import composite
from .._base.domains import NON_NEGATIVE, check_domain
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["batch_norm", "dropout", "embedding", "group_norm", "layer_norm", "rms_norm"]


@composite
def layer_norm(
    x: TensorLike,
    /,
    weight: TensorLike | None = None,
    bias: TensorLike | None = None,
    *,
    axis: SupportsIndex | tuple[SupportsIndex, ...] = -1,
    epsilon: float = 1e-5,
) -> Tensor:
    """Normalise `x` to mean 0 and variance 1 along axes.

    The result is (x - mean) / sqrt(variance + epsilon), times `weight`, plus `bias`. Differentiable
    in `x`, `weight` and `bias`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    weight : array_like, optional
        Factor. Its shape broadcasts with the shape of `x`. Default: 1.
    bias : array_like, optional
        Summand. Its shape broadcasts with the shape of `x`. Default: 0.
    axis : int or tuple of int, optional
        Axes of the mean and the variance. Default: the last one.
    epsilon : float, optional
        Number added to the variance, at least 0. Default: 1e-5.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted floating dtype of `x`, `weight` and `bias`.

    Raises
    ------
    TypeError
        If `x` is complex or `epsilon` is not a number.
    ValueError
        If an axis is given twice, the shapes do not broadcast or `epsilon` is negative.
    AxisError
        If an axis is out of range.

    References
    ----------
    .. [1] J. L. Ba et al., "Layer normalization", 2016.

    Examples
    --------
    >>> pb.nn.layer_norm([[1.0, 3.0], [1e6, 1e6]])
    Tensor([[-0.999995,  0.999995],
            [ 0.      ,  0.      ]], dtype=float32)
    """
    x = made_floating(x, "layer_norm")
    axes = axes_of(axis, len(x.shape), "layer_norm")
    normal = _core.normalize(x, axes, _epsilon(epsilon, "layer_norm"))
    return _affine(normal, weight, bias)


@composite
def rms_norm(
    x: TensorLike,
    /,
    weight: TensorLike | None = None,
    *,
    axis: SupportsIndex | tuple[SupportsIndex, ...] = -1,
    epsilon: float = 1e-6,
) -> Tensor:
    """Divide `x` by its root mean square along axes.

    The result is x / sqrt(mean(x²) + epsilon), times `weight`. Differentiable in `x` and `weight`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    weight : array_like, optional
        Factor. Its shape broadcasts with the shape of `x`. Default: 1.
    axis : int or tuple of int, optional
        Axes of the mean. Default: the last one.
    epsilon : float, optional
        Number added to the mean square, at least 0. Default: 1e-6.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted floating dtype of `x` and `weight`.

    Raises
    ------
    TypeError
        If `x` is complex or `epsilon` is not a number.
    ValueError
        If an axis is given twice, the shapes do not broadcast or `epsilon` is negative.
    AxisError
        If an axis is out of range.

    References
    ----------
    .. [1] B. Zhang, R. Sennrich, "Root mean square layer normalization", 2019.

    Examples
    --------
    >>> pb.nn.rms_norm([[1.0, -1.0], [300.0, 300.0]])
    Tensor([[ 0.9999995, -0.9999995],
            [ 1.       ,  1.       ]], dtype=float32)
    """
    x = made_floating(x, "rms_norm")
    axes = axes_of(axis, len(x.shape), "rms_norm")
    normal = _core.normalize_square(x, axes, _epsilon(epsilon, "rms_norm"))
    return _affine(normal, weight, None)


@composite
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
    """Normalise each channel of `x` by its mean and variance.

    The result is (x - mean) / sqrt(variance + epsilon), times `weight`, plus `bias`.

    In training, `mean` and `variance` are omitted: the statistics of `x` over all axes except the
    channels are used, and gradients pass through them. In inference they are averages that the
    program has stored. Differentiable in all arrays.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    mean : array_like, optional
        Mean. A scalar, or one entry for each channel. Default: the mean of `x`.
    variance : array_like, optional
        Variance. A scalar, or one entry for each channel. Default: the variance of `x`.
    weight : array_like, optional
        Factor. A scalar, or one entry for each channel. Default: 1.
    bias : array_like, optional
        Summand. A scalar, or one entry for each channel. Default: 0.
    axis : int, optional
        Axis of the channels. Default: the last one.
    epsilon : float, optional
        Number added to the variance, at least 0. Default: 1e-5.

    Returns
    -------
    Tensor
        Shape of `x`; the promoted floating dtype of the arrays.

    Raises
    ------
    TypeError
        If only one of `mean` and `variance` is given, `x` is complex or `epsilon` is not a number.
    ValueError
        If an array is neither a scalar nor has one entry for each channel, or `epsilon` is
        negative.
    AxisError
        If `axis` is out of range.

    References
    ----------
    .. [1] S. Ioffe, C. Szegedy, "Batch normalization: accelerating deep network training by
       reducing internal covariate shift", 2015.

    Examples
    --------
    >>> pb.nn.batch_norm([[1.0, 5.0], [3.0, 5.0]])
    Tensor([[-0.999995,  0.      ],
            [ 0.999995,  0.      ]], dtype=float32)
    """
    x = made_floating(x, "batch_norm")
    (channel,) = axes_of([axis], len(x.shape), "batch_norm")
    small = _epsilon(epsilon, "batch_norm")
    shape = tuple(n if k == channel else 1 for k, n in enumerate(x.shape))
    weight, bias, mean, variance = (
        _channels(v, shape, "batch_norm") for v in (weight, bias, mean, variance)
    )
    if (mean is None) != (variance is None):
        raise TypeError("batch_norm: expected both or neither of mean and variance, got one")
    if mean is None or variance is None:
        others = [k for k in range(len(x.shape)) if k != channel]
        return _affine(_core.normalize(x, others, small), weight, bias)
    over = _core.rsqrt(_core.add(variance, small))
    return _affine(_core.multiply(_core.subtract(x, mean), over), weight, bias)


@composite
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
    """Normalise groups of channels of `x` to mean 0 and variance 1.

    Mean and variance are taken over the channels of a group and all other axes except the first,
    the batch. The result is multiplied by `weight` and increased by `bias`. Differentiable in `x`,
    `weight` and `bias`.

    Parameters
    ----------
    x : array_like, real
        Input whose first axis is the batch. Integers and bool become the default floating dtype.
    groups : int
        Number of groups. It must divide the number of channels.
    weight : array_like, optional
        Factor. A scalar, or one entry for each channel. Default: 1.
    bias : array_like, optional
        Summand. A scalar, or one entry for each channel. Default: 0.
    axis : int, optional
        Axis of the channels, not the first one. Default: the last one.
    epsilon : float, optional
        Number added to the variance, at least 0. Default: 1e-5.

    Returns
    -------
    Tensor
        Shape of `x`; the promoted floating dtype of the arrays.

    Raises
    ------
    TypeError
        If `x` is complex, `groups` is not an integer or `epsilon` is not a number.
    ValueError
        If `axis` is the first one, `groups` does not divide the number of channels, `weight` or
        `bias` is neither a scalar nor has one entry for each channel, or `epsilon` is negative.
    AxisError
        If `axis` is out of range.

    See Also
    --------
    layer_norm

    References
    ----------
    .. [1] Y. Wu, K. He, "Group normalization", 2018.

    Examples
    --------
    >>> pb.nn.group_norm([[1.0, 3.0, 10.0, 10.0]], 2)
    Tensor([[-0.999995,  0.999995,  0.      ,  0.      ]], dtype=float32)
    """
    x = made_floating(x, "group_norm")
    (channel,) = axes_of([axis], len(x.shape), "group_norm")
    count = integer(groups, "group_norm", "groups")
    if channel == 0:
        raise ValueError(
            f"group_norm: expected channels along an axis other than 0, the batch, got axis 0 of "
            f"shape {x.shape}"
        )
    if count < 1 or x.shape[channel] % count:
        raise ValueError(
            f"group_norm: expected a divisor of {x.shape[channel]} channels for groups, got {count}"
        )
    shape = tuple(n if k == channel else 1 for k, n in enumerate(x.shape))
    weight, bias = (_channels(v, shape, "group_norm") for v in (weight, bias))
    cut = (*x.shape[:channel], count, x.shape[channel] // count, *x.shape[channel + 1 :])
    inside = [k for k in range(1, len(cut)) if k != channel]
    normal = _core.normalize(_core.reshape(x, cut), inside, _epsilon(epsilon, "group_norm"))
    return _affine(_core.reshape(normal, x.shape), weight, bias)


def _epsilon(value: Any, who: str) -> float:
    epsilon = number(value, who, "epsilon")
    check_domain(epsilon, NON_NEGATIVE, who, "epsilon")
    return epsilon


def _affine(x: Tensor, weight: TensorLike | None, bias: TensorLike | None) -> Tensor:
    if weight is not None:
        x = _core.multiply(x, weight)
    return x if bias is None else _core.add(x, bias)


def _channels(value: TensorLike | None, shape: tuple[int, ...], who: str) -> Tensor | None:
    """Return one number for each channel, in a shape that broadcasts with the input."""
    if value is None:
        return None
    given = _core.constant(value, who=who)
    if given.shape not in ((), (prod(shape),)):
        raise ValueError(
            f"{who}: expected shape ({prod(shape)},), one entry for each channel, got {given.shape}"
        )
    return _core.reshape(given, shape) if given.shape else given


@composite
def dropout(x: TensorLike, /, rate: float = 0.5, *, training: bool = True) -> Tensor:
    """Set random entries of `x` to 0 and scale the others by 1 / (1 - rate).

    The scale preserves the mean. Dropped entries have the gradient 0, even if they are infinite or
    NaN.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    rate : float, optional
        Probability that an entry is dropped, in [0, 1]. Default: 0.5.
    training : bool, optional
        If False, `x` is returned. Default: True.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex, `rate` is not a number or `training` is not a bool.
    ValueError
        If `rate` is outside [0, 1].

    References
    ----------
    .. [1] N. Srivastava et al., "Dropout: a simple way to prevent neural networks from
       overfitting", 2014.

    Examples
    --------
    >>> x = pb.dropout(pb.ones(1000), 0.25)
    >>> sorted(set(x.numpy().tolist()))
    [0.0, 1.3333333730697632]
    """
    if training is not True:
        training = flag(training, "dropout", "training")
    x = made_floating(x, "dropout")
    share = number(rate, "dropout", "rate")
    if not 0 <= share <= 1:
        raise ValueError(f"dropout: expected a number in [0, 1] for rate, got {share}")
    if not training or share == 0:
        return _core.reshape(x, x.shape)
    if share == 1:
        return _core.where(False, x, 0)
    kept = _core.greater_equal(_core.random_uniform(x.shape, x.dtype), share)
    return _core.where(kept, _core.divide(x, 1 - share), 0)


@composite
def embedding(table: TensorLike, indices: TensorLike, /) -> Tensor:
    """Return the rows of a table at integer indices.

    Differentiable in `table`. The gradient is added to the selected rows, at a cost proportional to
    their number.

    Parameters
    ----------
    table : array_like
        Table of shape (entries, ...), of any dtype.
    indices : array_like, integer
        Indices of rows, of any shape. Negative ones count from the end.

    Returns
    -------
    Tensor
        Shape of `indices` followed by the shape of a row; dtype of `table`.

    Raises
    ------
    TypeError
        If `indices` are not integers.
    ValueError
        If `table` is a scalar.
    IndexError
        If an index is out of range. It is raised when the result is computed.

    Examples
    --------
    >>> pb.nn.embedding([[1.0, 2.0], [3.0, 4.0]], [1, 1, 0])
    Tensor([[3., 4.],
            [3., 4.],
            [1., 2.]], dtype=float32)
    """
    rows = _core.constant(table, who="embedding")
    if not rows.shape:
        raise ValueError("embedding: expected a table of rank 1 or more, got a scalar")
    return _core.take(rows, indices, 0)
