"""Losses of classes and distributions.

All are stable: large arguments cause no intermediate overflow. `reduction` is "mean", "sum" or
"none".
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import axes_of, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import Reduction, TensorLike
from ._regression_losses import pair, reduced

__all__ = [
    "cosine_similarity",
    "kl_divergence",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
    "sparse_softmax_cross_entropy",
]


def softmax_cross_entropy(logits: TensorLike, labels: TensorLike) -> Tensor:
    """Compute the cross entropy -sum(labels * log_softmax(logits)).

    The sum runs over the last axis, the classes. A label of 0 contributes exactly 0. Differentiable
    in both arguments. The gradient with respect to `logits` is softmax(logits) - labels if the
    labels sum to 1.

    Parameters
    ----------
    logits : array_like, real
        Unnormalised log-probabilities of shape (..., classes). Integers become the default floating
        dtype.
    labels : array_like, real
        Probabilities of the classes, for example from `one_hot`, in the shape of `logits`.

    Returns
    -------
    Tensor
        Shape (...), with one loss for each row; the floating dtype of `logits`, or the default one.

    Raises
    ------
    TypeError
        If an argument is complex.
    ValueError
        If the shapes differ or have no axis of classes.

    See Also
    --------
    sparse_softmax_cross_entropy

    Examples
    --------
    >>> pb.softmax_cross_entropy([[0.0, 1000.0]], [[1.0, 0.0]])
    Tensor([1000.], dtype=float32)
    """
    return _core.softmax_cross_entropy(logits, labels)


def sparse_softmax_cross_entropy(logits: TensorLike, labels: TensorLike) -> Tensor:
    """Compute the cross entropy -log_softmax(logits)[i, labels[i]] for each row i.

    Differentiable in `logits`. The gradient is softmax(logits), less 1 at the label.

    Parameters
    ----------
    logits : array_like, real
        Unnormalised log-probabilities of shape (..., classes). Integers become the default floating
        dtype.
    labels : array_like, integer
        Indices of the classes, from 0 to classes - 1, of shape (...).

    Returns
    -------
    Tensor
        Shape of `labels`; the floating dtype of `logits`, or the default one.

    Raises
    ------
    TypeError
        If `labels` are not integers, or `logits` is complex.
    ValueError
        If the shape of `labels` is not the shape of `logits` without its last axis.
    IndexError
        If a label is out of range. It is raised when the loss is computed.

    See Also
    --------
    softmax_cross_entropy

    Examples
    --------
    >>> pb.nn.sparse_softmax_cross_entropy([[0.0, 1000.0], [0.0, 0.0]], [0, 1])
    Tensor([1.000000e+03, 6.931472e-01], dtype=float32)
    """
    return _core.sparse_softmax_cross_entropy(logits, labels)


@composite
def sigmoid_cross_entropy(
    logits: TensorLike, labels: TensorLike, *, reduction: Reduction = "mean"
) -> Tensor:
    """Compute the binary cross entropy of independent classes.

    The loss of each entry is -labels log(sigmoid(logits)) - (1 - labels) log(1 - sigmoid(logits)).
    A label of exactly 0 or 1 removes one of the terms, even if that term is infinite.

    The loss is computed as a sum of two `softplus` terms. So the loss and its slope sigmoid(logits)
    - labels are accurate where the sigmoid has rounded to a label. Differentiable in both
    arguments.

    Parameters
    ----------
    logits : array_like, real
        Log-odds of any shape. Integers become the default floating dtype.
    labels : array_like, real
        Probabilities, including 0, 1 and bool, in the shape of `logits`, or one number for all
        entries.
    reduction : {"mean", "sum", "none"}, optional
        Reduction of the losses. Default: "mean".

    Returns
    -------
    Tensor
        A scalar, or the losses in the shape of `logits` with "none"; the promoted floating dtype of
        the arguments.

    Raises
    ------
    TypeError
        If an argument is complex.
    ValueError
        If the shapes differ, or `reduction` is not "mean", "sum" or "none".

    Examples
    --------
    >>> pb.sigmoid_cross_entropy([1000.0, -1000.0], [1, 1], reduction="none")
    Tensor([   0., 1000.], dtype=float32)
    """
    x, p = pair(logits, labels, "sigmoid_cross_entropy")
    losses = _core.add(
        _counted(p, _core.softplus(_core.negative(x))),
        _counted(_core.subtract(1, p), _core.softplus(x)),
    )
    return reduced(losses, reduction, "sigmoid_cross_entropy")


def _counted(weight: Tensor, loss: Tensor) -> Tensor:
    """Return weight times loss, and 0 where an infinite loss has the weight 0."""
    out = _core.logical_and(_core.equal(weight, 0), _core.isinf(loss))
    return _core.where(out, 0, _core.multiply(weight, loss))


@composite
def kl_divergence(
    log_predictions: TensorLike,
    targets: TensorLike,
    *,
    axis: SupportsIndex = -1,
    reduction: Reduction = "mean",
) -> Tensor:
    """Compute the Kullback-Leibler divergence of `targets` from the predictions.

    The divergence is sum(targets (log(targets) - log_predictions)) along `axis`. A target of 0
    contributes exactly 0. Differentiable in both arguments.

    Parameters
    ----------
    log_predictions : array_like, real
        Logarithms of probabilities, as `log_softmax` returns them.
    targets : array_like, real
        Probabilities in the shape of `log_predictions`, or one number for all entries.
    axis : int, optional
        Axis of each distribution. Default: the last one.
    reduction : {"mean", "sum", "none"}, optional
        Reduction over the other axes, so that "mean" is the mean per distribution. Default: "mean".

    Returns
    -------
    Tensor
        A scalar, or with "none" the shape of `log_predictions` without `axis`; the promoted
        floating dtype of the arguments.

    Raises
    ------
    TypeError
        If an argument is complex.
    ValueError
        If the shapes differ, or `reduction` is not "mean", "sum" or "none".
    AxisError
        If `axis` is out of range.

    References
    ----------
    .. [1] S. Kullback, R. A. Leibler, "On information and sufficiency", 1951.

    Examples
    --------
    >>> predictions = pb.log_softmax([[0.0, 0.0], [0.0, 1000.0]])
    >>> pb.nn.kl_divergence(predictions, [[1.0, 0.0], [0.0, 1.0]], reduction="none")
    Tensor([0.6931472, 0.       ], dtype=float32)
    """
    q, p = pair(log_predictions, targets, "kl_divergence")
    (k,) = axes_of([axis], len(q.shape), "kl_divergence")
    none = _core.equal(p, 0)
    apart = _core.subtract(_core.log(p), q)
    terms = _core.where(none, 0, _core.multiply(p, apart))
    return reduced(_core.sum(terms, k), reduction, "kl_divergence")


@composite
def cosine_similarity(x: TensorLike, y: TensorLike, /, *, axis: SupportsIndex = -1) -> Tensor:
    """Compute the cosine of the angle between `x` and `y` along an axis.

    The value sum(x y) / (norm(x) norm(y)) lies in [-1, 1]. If `x` or `y` is 0 along the axis, the
    value and the gradient are 0. Differentiable in both arguments.

    Both are first divided by their largest entry, which changes neither the cosine nor its slopes.
    So entries of any size neither overflow nor underflow.

    Parameters
    ----------
    x, y : array_like, real
        Vectors along `axis`. Their shapes broadcast; integers become the default floating dtype.
    axis : int, optional
        Axis of the vectors. Default: the last one.

    Returns
    -------
    Tensor
        The broadcast shape without `axis`; the promoted floating dtype.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    AxisError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.nn.cosine_similarity([[3.0, 4.0], [1e30, 0.0]], [[3.0, 4.0], [0.0, 1e30]])
    Tensor([1., 0.], dtype=float32)
    """
    who = "cosine_similarity"
    a, b = (_scaled(made_floating(v, who), axis, who) for v in _core.operands([x, y], who))
    along, aa, bb = (
        _core.sum(product, axis)
        for product in (_core.multiply(a, b), _core.square(a), _core.square(b))
    )
    none = _core.logical_or(_core.equal(aa, 0), _core.equal(bb, 0))
    size = _core.sqrt(_core.multiply(aa, bb))  # exactly aa if aa equals bb
    return _core.where(none, 0, _core.divide(along, size))


def _scaled(x: Tensor, axis: SupportsIndex, who: str) -> Tensor:
    """Return `x` divided by its largest entry, if that is neither 0 nor infinite."""
    (k,) = axes_of([axis], len(x.shape), who)
    if not x.shape[k]:
        return x
    largest = _core.stop_gradient(_core.max(_core.abs(x), k, True))
    usable = _core.logical_and(_core.greater(largest, 0), _core.isfinite(largest))
    return _core.divide(x, _core.where(usable, largest, 1))
