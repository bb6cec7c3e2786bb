"""Losses of classes and distributions. All are stable: no large argument overflows on the way.
`reduction` is "mean", "sum" or "none".
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import axes_of, made_floating
from .regression import pair, reduced


def softmax_cross_entropy(logits: TensorLike, labels: TensorLike) -> Tensor:
    """-sum(labels * log_softmax(logits)) along the last axis.

    Both have one shape, with classes along the last axis; labels are probabilities, for example
    from `one_hot`. A label of 0 contributes exactly 0. The gradient by the logits is
    softmax(logits) - labels where the labels sum to 1.

    >>> pb.softmax_cross_entropy([[0.0, 1000.0]], [[1.0, 0.0]])
    Tensor([1000.], dtype=float32)
    """
    return _core.softmax_cross_entropy(logits, labels)


def sparse_softmax_cross_entropy(logits: TensorLike, labels: TensorLike) -> Tensor:
    """-log_softmax(logits)[i, labels[i]] for each row i: the loss of integer labels.

    logits have shape (..., classes), labels (integers) the shape (...) of the result. A label
    outside 0 ... classes-1 raises IndexError when the loss is computed. The gradient by the logits
    is softmax(logits), less 1 at the label.

    >>> pb.nn.sparse_softmax_cross_entropy([[0.0, 1000.0], [0.0, 0.0]], [0, 1])
    Tensor([1.000000e+03, 6.931472e-01], dtype=float32)
    """
    return _core.sparse_softmax_cross_entropy(logits, labels)


def sigmoid_cross_entropy(
    logits: TensorLike, labels: TensorLike, *, reduction: str = "mean"
) -> Tensor:
    """-labels log(sigmoid(logits)) - (1 - labels) log(1 - sigmoid(logits)), of one class each.

    Both have one shape; labels are probabilities, 0 and 1 or bool among them. A label of exactly 0
    or 1 leaves one of the terms out, be it infinite. It is the sum of two `softplus`, so neither it
    nor its slope sigmoid(logits) - labels is lost where the sigmoid has rounded to a label.

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
    """weight times loss, without what has no weight and is infinite."""
    out = _core.logical_and(_core.equal(weight, 0), _core.isinf(loss))
    return _core.where(out, 0, _core.multiply(weight, loss))


def kl_divergence(
    log_predictions: TensorLike,
    targets: TensorLike,
    *,
    axis: SupportsIndex = -1,
    reduction: str = "mean",
) -> Tensor:
    """sum(targets (log(targets) - log_predictions)) along an axis: how far the distribution
    `targets` is from the predicted one (Kullback and Leibler, 1951).

    Both have one shape. Predictions are logarithms of probabilities, as `log_softmax` gives;
    targets are probabilities. A target of 0 contributes exactly 0. `reduction` is over the other
    axes, so that "mean" is per distribution.

    >>> predictions = pb.log_softmax([[0.0, 0.0], [0.0, 1000.0]])
    >>> pb.kl_divergence(predictions, [[1.0, 0.0], [0.0, 1.0]], reduction="none")
    Tensor([0.6931472, 0.       ], dtype=float32)
    """
    q, p = pair(log_predictions, targets, "kl_divergence")
    (k,) = axes_of([axis], len(q.shape), "kl_divergence")
    none = _core.equal(p, 0)
    apart = _core.subtract(_core.log(p), q)
    terms = _core.where(none, 0, _core.multiply(p, apart))
    return reduced(_core.sum(terms, k), reduction, "kl_divergence")


def cosine_similarity(x: TensorLike, y: TensorLike, /, *, axis: SupportsIndex = -1) -> Tensor:
    """sum(x y) / (norm(x) norm(y)) along an axis, from -1 to 1; the two broadcast. 0 with the
    gradient 0 where one of them is 0. No size of the entries overflows or vanishes: both are
    divided by their largest entry first, which changes neither the cosine nor its slopes.

    >>> pb.cosine_similarity([[3.0, 4.0], [1e30, 0.0]], [[3.0, 4.0], [0.0, 1e30]])
    Tensor([1., 0.], dtype=float32)
    """
    who = "cosine_similarity"
    a, b = (_scaled(made_floating(v, who), axis, who) for v in _core.operands([x, y], who))
    along, aa, bb = (
        _core.sum(product, axis)
        for product in (_core.multiply(a, b), _core.square(a), _core.square(b))
    )
    none = _core.logical_or(_core.equal(aa, 0), _core.equal(bb, 0))
    size = _core.sqrt(_core.multiply(aa, bb))  # of two equal ones exactly their square
    return _core.where(none, 0, _core.divide(along, size))


def _scaled(x: Tensor, axis: SupportsIndex, who: str) -> Tensor:
    """x divided by its largest entry, as far as it is neither 0 nor infinite."""
    (k,) = axes_of([axis], len(x.shape), who)
    if not x.shape[k]:
        return x
    largest = _core.stop_gradient(_core.max(_core.abs(x), k, True))
    usable = _core.logical_and(_core.greater(largest, 0), _core.isfinite(largest))
    return _core.divide(x, _core.where(usable, largest, 1))
