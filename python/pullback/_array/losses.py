"""Losses. All are stable: no large argument overflows on the way."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


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
