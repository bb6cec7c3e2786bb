"""`tf.losses`: losses that are weighted, reduced and collected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import nn, shape_functions
from .array_ops import ones_like, squeeze, zeros_like
from .array_ops import shape as shape_of
from .choice_ops import where
from .complex_ops import abs as absolute
from .create import cast, convert_to_tensor, operation, scope_of
from .dtypes import as_dtype, float32
from .graph import GraphKeys, get_default_graph
from .math_ops import (
    add_n,
    log,
    maximum,
    minimum,
    not_equal,
    reduce_sum,
    squared_difference,
)
from .names import absent, public_names
from .shapes import TensorShape


class Reduction:
    """How a loss of many elements becomes a number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        return (
            cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS
        )  # fmt: skip


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """losses · weights, reduced: summed and divided by how many weights are not 0, by default.

    The weights are a scalar, or have the rank of the losses and along each axis their length or 1;
    ValueError for others, and for another reduction. Integers are computed in float32; float64
    stays float64, where TensorFlow goes to float32.
    """
    if reduction not in Reduction.all():
        raise ValueError(f"invalid reduction {reduction!r}; expected one of {Reduction.all()}")
    with scope_of(scope or "weighted_loss", losses, weights):
        x = _floats(losses)
        w = cast(convert_to_tensor(weights), as_dtype(x.dtype))
        out = _weighted(x, w)
        if reduction != Reduction.NONE:
            out = reduce_sum(out)
            everywhere = _weighted(ones_like(x), w)
            if reduction == Reduction.MEAN:
                out = _ratio(out, reduce_sum(everywhere))
            elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
                out = _ratio(out, reduce_sum(ones_like(x)))
            elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
                present = cast(not_equal(everywhere, zeros_like(everywhere)), as_dtype(x.dtype))
                out = _ratio(out, reduce_sum(present))
    add_loss(out, loss_collection)
    return out


def _times(losses: Any, weights: Any) -> Any:
    sizes = (losses.shape, weights.shape)
    fits = weights.ndim in (0, losses.ndim)
    if not fits or any(w not in (1, n) for n, w in zip(*sizes, strict=False)):
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} for losses of shape {tuple(losses.shape)}: "
            "expected a scalar, or the same rank with lengths that are equal or 1"
        )
    return losses * weights


_weighted = operation(
    "WeightedLoss", _times, "losses weights", "losses · weights.", "weighted_loss",
    domain="float", same=True, shape=shape_functions.unchanged, fresh=True,
)  # fmt: skip


def _floats(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if as_dtype(x.dtype).is_floating else cast(x, float32)


def _ratio(total: Any, count: Any) -> Any:
    """total / count, and 0 where nothing counts."""
    empty = ~not_equal(count, zeros_like(count))
    ratio = total / where(empty, ones_like(count), count)
    return where(empty, zeros_like(total), ratio, name="value")


def _loss(name: str, scope: Any, given: Sequence[Any], rest: tuple[Any, Any, str], f: Any) -> Any:
    """A loss of two tensors of one shape, weighted and reduced."""
    weights, collection, reduction = rest
    with scope_of(scope or name, *given) as opened:
        if any(x is None for x in given):
            raise ValueError(f"{name}: labels and predictions must not be None")
        prediction = _floats(given[1])
        label = cast(convert_to_tensor(given[0]), as_dtype(prediction.dtype))
        if not _compatible(prediction, label):
            raise ValueError(f"{name}: shapes {prediction.shape} and {label.shape} differ")
        values = f(label, prediction)
    return compute_weighted_loss(values, weights, opened, collection, reduction)


def _compatible(x: Any, y: Any) -> bool:
    return bool(TensorShape(x.shape).is_compatible_with(y.shape))


def absolute_difference(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """|predictions - labels|."""
    rest = (weights, loss_collection, reduction)
    return _loss("absolute_difference", scope, (labels, predictions), rest,
                 lambda y, p: absolute(p - y))  # fmt: skip


def mean_squared_error(
    labels: Any, predictions: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """(predictions - labels)²."""
    rest = (weights, loss_collection, reduction)
    return _loss("mean_squared_error", scope, (labels, predictions), rest,
                 lambda y, p: squared_difference(p, y))  # fmt: skip


def huber_loss(
    labels: Any, predictions: Any, weights: Any = 1.0, delta: float = 1.0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """½ d² where d = |predictions - labels| is at most delta, else delta (d - ½ delta)."""

    def formula(y: Any, p: Any) -> Any:
        error = absolute(p - y)
        near = minimum(error, delta)
        return 0.5 * near * near + delta * (error - near)

    rest = (weights, loss_collection, reduction)
    return _loss("huber_loss", scope, (labels, predictions), rest, formula)


def log_loss(
    labels: Any, predictions: Any, weights: Any = 1.0, epsilon: float = 1e-7,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """-labels log(p + ε) - (1 - labels) log(1 - p + ε)."""
    rest = (weights, loss_collection, reduction)
    return _loss("log_loss", scope, (labels, predictions), rest,
                 lambda y, p: -y * log(p + epsilon) - (1 - y) * log(1 - p + epsilon))  # fmt: skip


def hinge_loss(
    labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """max(0, 1 - (2 labels - 1) logits), for labels of 0 and 1."""
    rest = (weights, loss_collection, reduction)
    return _loss("hinge_loss", scope, (labels, logits), rest,
                 lambda y, p: maximum(1 - (2 * y - 1) * p, 0.0))  # fmt: skip


def sigmoid_cross_entropy(
    multi_class_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """The cross entropy of each entry by itself; smoothing moves the labels towards ½."""

    def formula(y: Any, x: Any) -> Any:
        smooth = y * (1 - label_smoothing) + 0.5 * label_smoothing if label_smoothing > 0 else y
        return nn.sigmoid_cross_entropy_with_logits(labels=smooth, logits=x)

    rest = (weights, loss_collection, reduction)
    return _loss("sigmoid_cross_entropy_loss", scope, (multi_class_labels, logits), rest, formula)


def softmax_cross_entropy(
    onehot_labels: Any, logits: Any, weights: Any = 1.0, label_smoothing: float = 0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """The cross entropy of rows of classes; smoothing moves the labels towards 1 / classes."""

    def formula(y: Any, x: Any) -> Any:
        smooth = y
        if label_smoothing > 0:
            classes = cast(shape_of(x)[-1], as_dtype(x.dtype))
            smooth = y * (1 - label_smoothing) + label_smoothing / classes
        return nn.softmax_cross_entropy_with_logits(labels=smooth, logits=x)

    rest = (weights, loss_collection, reduction)
    return _loss("softmax_cross_entropy_loss", scope, (onehot_labels, logits), rest, formula)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """The cross entropy of rows of classes with integer labels."""
    with scope_of(scope or "sparse_softmax_cross_entropy_loss", labels, logits) as opened:
        x, y, w = convert_to_tensor(logits), convert_to_tensor(labels), convert_to_tensor(weights)
        rank = len(x.shape) - 1
        y, w = (squeeze(t, [-1]) if _is_column(t, rank) else t for t in (y, w))
        values = nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    return compute_weighted_loss(values, w, opened, loss_collection, reduction)


def _is_column(x: Any, rank: int) -> bool:
    """Whether a tensor has an axis of length 1 more than the losses."""
    dims = TensorShape(x.shape).dims
    return dims is not None and len(dims) == rank + 1 and dims[-1] == 1


def cosine_distance(
    labels: Any, predictions: Any, axis: int | None = None, weights: Any = 1.0,
    scope: str | None = None, loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _DEFAULT, dim: int | None = None,
) -> Any:  # fmt: skip
    """1 - sum(labels · predictions) along an axis, of vectors of length 1."""
    along = dim if axis is None else axis
    if along is None:
        raise ValueError("cosine_distance: give axis")
    rest = (weights, loss_collection, reduction)
    return _loss("cosine_distance_loss", scope, (labels, predictions), rest,
                 lambda y, p: 1 - reduce_sum(y * p, along, keepdims=True))  # fmt: skip


# --- what was collected


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection of the graph; None for none."""
    graph = getattr(loss, "graph", None)
    if loss_collection and graph is not None:
        graph.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """The losses that were collected."""
    return list(get_default_graph().get_collection(loss_collection, scope))


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers."""
    return get_losses(scope, GraphKeys.REGULARIZATION_LOSSES)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """The sum of all losses that were collected."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return add_n(losses, name=name)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """The sum of the losses of regularizers; 0 if there are none."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else convert_to_tensor(0.0)


__all__ = public_names(globals())
__getattr__ = absent(__name__)
