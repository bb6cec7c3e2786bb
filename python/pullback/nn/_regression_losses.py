"""Losses that compare predictions with targets element by element.

Targets have the shape of the predictions or are scalars: a broadcast of (n,) with (n, 1) is nearly
always a mistake. Infinite differences have infinite losses, and finite slopes if the formula has.
"""

from __future__ import annotations

from .. import _core
from .._base.checks import choice, made_floating, number
from .._base.composite import composite
from .._core import Tensor
from .._typing import Reduction, TensorLike

__all__ = ["hinge", "huber_loss", "l1_loss", "l2_loss", "smooth_l1"]


def pair(first: TensorLike, second: TensorLike, who: str) -> tuple[Tensor, Tensor]:
    """Return both inputs as floating tensors after a check of their shapes.

    Integers in the second input take the dtype of the first.
    """
    x, y = _core.operands([first, second], who)
    x = made_floating(x, who)
    if y.shape and y.shape != x.shape:
        raise ValueError(f"{who}: expected one shape for both arrays, got {x.shape} and {y.shape}")
    return x, y if y.dtype.kind == "f" else _core.cast(y, x.dtype)


def reduced(losses: Tensor, reduction: str, who: str) -> Tensor:
    """Return the mean or the sum of the losses, or each loss."""
    choice(reduction, ("mean", "sum", "none"), who, "reduction")
    if reduction == "none":
        return losses
    if reduction == "sum":
        return _core.sum(losses)
    return _core.mean(losses)


@composite
def l1_loss(
    predictions: TensorLike, targets: TensorLike = 0.0, *, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the absolute differences of predictions and targets.

    The loss is ``abs(predictions - targets)``. Differentiable in both; the gradient is 0 where they
    are equal.

    Parameters
    ----------
    predictions : array_like, real
        Predictions of any shape; integers become the default floating dtype.
    targets : array_like, real, default 0
        Targets of the shape of `predictions`, or a scalar. Broadcasting is refused otherwise,
        because it is nearly always a mistake, for example between (n,) and (n, 1).
    reduction : {"mean", "sum", "none"}, default "mean"
        Return the mean of the losses, their sum, or each loss.

    Returns
    -------
    Tensor
        Scalar, or the shape of `predictions` if `reduction` is "none"; the floating dtype to which
        the inputs promote.

    Raises
    ------
    ValueError
        If the shapes differ or `reduction` is unknown.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.nn.l1_loss([1.0, 4.0], [2.0, 2.0])
    Tensor(1.5, dtype=float32)
    """
    x, y = pair(predictions, targets, "l1_loss")
    return reduced(_core.abs(_core.subtract(x, y)), reduction, "l1_loss")


@composite
def l2_loss(
    predictions: TensorLike, targets: TensorLike = 0.0, *, reduction: Reduction = "mean"
) -> Tensor:
    """Compute half the squared differences of predictions and targets.

    The loss is ``(predictions - targets)**2 / 2``, so that its derivative is the difference [1]_.
    Differentiable in both.

    Parameters
    ----------
    predictions : array_like, real
        Predictions of any shape; integers become the default floating dtype.
    targets : array_like, real, default 0
        Targets of the shape of `predictions`, or a scalar. Broadcasting is refused otherwise,
        because it is nearly always a mistake, for example between (n,) and (n, 1).
    reduction : {"mean", "sum", "none"}, default "mean"
        Return the mean of the losses, their sum, or each loss.

    Returns
    -------
    Tensor
        Scalar, or the shape of `predictions` if `reduction` is "none"; the floating dtype to which
        the inputs promote.

    Raises
    ------
    ValueError
        If the shapes differ or `reduction` is unknown.
    TypeError
        If an input is complex.

    References
    ----------
    .. [1] C. M. Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 1.2.

    Examples
    --------
    >>> pb.nn.l2_loss([1.0, 4.0], [2.0, 2.0], reduction="none")
    Tensor([0.5, 2. ], dtype=float32)
    """
    x, y = pair(predictions, targets, "l2_loss")
    return reduced(_core.divide(_core.square(_core.subtract(x, y)), 2), reduction, "l2_loss")


@composite
def huber_loss(
    predictions: TensorLike,
    targets: TensorLike = 0.0,
    delta: float = 1.0,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Compute the Huber loss of predictions and targets.

    For a difference d the loss is ``d**2 / 2`` if abs(d) is at most `delta`, else ``delta * (abs(d)
    - delta / 2)`` [1]_. Differentiable in both.

    Parameters
    ----------
    predictions : array_like, real
        Predictions of any shape; integers become the default floating dtype.
    targets : array_like, real, default 0
        Targets of the shape of `predictions`, or a scalar. Broadcasting is refused otherwise,
        because it is nearly always a mistake, for example between (n,) and (n, 1).
    delta : float, default 1
        Nonnegative difference at which the loss becomes linear.
    reduction : {"mean", "sum", "none"}, default "mean"
        Return the mean of the losses, their sum, or each loss.

    Returns
    -------
    Tensor
        Scalar, or the shape of `predictions` if `reduction` is "none"; the floating dtype to which
        the inputs promote.

    Raises
    ------
    ValueError
        If the shapes differ, if `delta` is negative, or if `reduction` is unknown.
    TypeError
        If an input is complex or `delta` is not a number.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", Ann. Math. Statist. 35, 1964.

    Examples
    --------
    >>> pb.nn.huber_loss([1.0, 4.0], [1.5, 1.0], reduction="none")
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


@composite
def smooth_l1(
    predictions: TensorLike,
    targets: TensorLike = 0.0,
    beta: float = 1.0,
    *,
    reduction: Reduction = "mean",
) -> Tensor:
    """Compute the smooth L1 loss of predictions and targets.

    For a difference d the loss is ``d**2 / (2 * beta)`` if abs(d) is less than `beta`, else
    ``abs(d) - beta / 2`` [1]_: the Huber loss divided by its width, and `l1_loss` for `beta` 0.
    Differentiable in both.

    Parameters
    ----------
    predictions : array_like, real
        Predictions of any shape; integers become the default floating dtype.
    targets : array_like, real, default 0
        Targets of the shape of `predictions`, or a scalar. Broadcasting is refused otherwise,
        because it is nearly always a mistake, for example between (n,) and (n, 1).
    beta : float, default 1
        Nonnegative difference at which the loss becomes linear.
    reduction : {"mean", "sum", "none"}, default "mean"
        Return the mean of the losses, their sum, or each loss.

    Returns
    -------
    Tensor
        Scalar, or the shape of `predictions` if `reduction` is "none"; the floating dtype to which
        the inputs promote.

    Raises
    ------
    ValueError
        If the shapes differ, if `beta` is negative, or if `reduction` is unknown.
    TypeError
        If an input is complex or `beta` is not a number.

    References
    ----------
    .. [1] R. Girshick, "Fast R-CNN", 2015.

    Examples
    --------
    >>> pb.nn.smooth_l1([1.0, 4.0], [1.5, 1.0], reduction="none")
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
    width = number(value, who, name)
    if not width >= 0:
        raise ValueError(f"{who}: expected a number >= 0 for {name}, got {width}")
    return width


@composite
def hinge(predictions: TensorLike, targets: TensorLike, *, reduction: Reduction = "mean") -> Tensor:
    """Compute the hinge loss of predictions and targets.

    The loss is ``max(0, 1 - targets * predictions)`` [1]_. Differentiable in both; the gradient at
    the kink is 0.

    Parameters
    ----------
    predictions : array_like, real
        Predictions of any shape; integers become the default floating dtype.
    targets : array_like, real
        Targets, -1 or 1, of the shape of `predictions`, or a scalar.
    reduction : {"mean", "sum", "none"}, default "mean"
        Return the mean of the losses, their sum, or each loss.

    Returns
    -------
    Tensor
        Scalar, or the shape of `predictions` if `reduction` is "none"; the floating dtype to which
        the inputs promote.

    Raises
    ------
    ValueError
        If the shapes differ or `reduction` is unknown.
    TypeError
        If an input is complex.

    References
    ----------
    .. [1] C. Cortes, V. Vapnik, "Support-vector networks", Machine Learning 20, 1995.

    Examples
    --------
    >>> pb.nn.hinge([0.5, -2.0], [1, -1], reduction="none")
    Tensor([0.5, 0. ], dtype=float32)
    """
    x, y = pair(predictions, targets, "hinge")
    return reduced(_core.relu(_core.subtract(1, _core.multiply(x, y))), reduction, "hinge")
