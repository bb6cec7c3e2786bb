"""`tf.losses`: losses with weights, a reduction and a collection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import nn
from ._graph import shape_functions
from ._graph.create import cast, convert_to_tensor, known_dims, operation, scope_of
from ._graph.graph import GraphKeys, get_default_graph
from ._graph.shapes import TensorShape
from ._ops.array_ops import ones_like, squeeze, zeros_like
from ._ops.array_ops import shape as shape_of
from ._ops.complex_ops import abs as absolute
from ._ops.indexing_ops import where
from ._ops.math_ops import add_n, log, minimum, not_equal, reduce_sum, squared_difference
from .dtypes import as_dtype, float32
from .names import public_names, taking


class Reduction:
    """Reductions of the losses of all elements to a number."""

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
    """Multiply losses by weights and reduce them.

    By default the sum is divided by the number of weights that are not 0. The weights are a scalar,
    or have the rank of the losses and along each axis their size or 1. Integers are computed in
    float32; float64 stays float64, where TensorFlow uses float32.

    Raises
    ------
    ValueError
        If the shape of the weights or the reduction is invalid.
    """
    if reduction not in Reduction.all():
        names = ", ".join(map(repr, Reduction.all()))
        raise ValueError(
            f"compute_weighted_loss: reduction must be one of {names}; got {reduction!r}"
        )
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
            "compute_weighted_loss: expected weights that are a scalar, or have the rank of losses "
            f"and along each axis the same size or 1, got shapes {tuple(weights.shape)} and "
            f"{tuple(losses.shape)}"
        )
    return losses * weights


_weighted = operation(
    "WeightedLoss", _times, "losses weights", "losses · weights.", "compute_weighted_loss",
    domain="float", same=True, shape=shape_functions.unchanged, fresh=True,
)  # fmt: skip


def _floats(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if as_dtype(x.dtype).is_floating else cast(x, float32)


def _ratio(total: Any, count: Any) -> Any:
    """Compute total / count, and 0 if the count is 0."""
    empty = ~not_equal(count, zeros_like(count))
    ratio = total / where(empty, ones_like(count), count)
    return where(empty, zeros_like(total), ratio, name="value")


def _compatible(x: Any, y: Any) -> bool:
    return bool(TensorShape(x.shape).is_compatible_with(y.shape))


def _loss(arguments: str, default: str | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Decorate the formula of labels and predictions of one shape: a weighted and reduced loss.

    The formula also gets the arguments that are not common to all losses.
    """
    end = f"scope=None loss_collection='{GraphKeys.LOSSES}' reduction='{_DEFAULT}'"

    def decorate(formula: Callable[..., Any]) -> Any:
        name = formula.__name__

        @taking(arguments.replace("|", end), name, formula.__doc__)
        def loss(
            weights: Any, scope: Any, loss_collection: Any, reduction: str, **given: Any
        ) -> Any:
            pair = [given.pop(key) for key in list(given)[:2]]
            with scope_of(scope or default or name, *pair) as opened:
                if any(x is None for x in pair):
                    raise ValueError(
                        f"{name}: expected tensors for labels and predictions, got None"
                    )
                prediction = _floats(pair[1])
                label = cast(convert_to_tensor(pair[0]), as_dtype(prediction.dtype))
                if not _compatible(prediction, label):
                    raise ValueError(
                        f"{name}: expected predictions and labels of one shape, got "
                        f"{prediction.shape} and {label.shape}"
                    )
                values = formula(label, prediction, **given)
            return compute_weighted_loss(values, weights, opened, loss_collection, reduction)

        return loss

    return decorate


@_loss("labels predictions weights=1.0 |")
def absolute_difference(y: Any, p: Any) -> Any:
    """Compute |predictions - labels|."""
    return absolute(p - y)


@_loss("labels predictions weights=1.0 |")
def mean_squared_error(y: Any, p: Any) -> Any:
    """Compute (predictions - labels)²."""
    return squared_difference(p, y)


@_loss("labels predictions weights=1.0 delta=1.0 |")
def huber_loss(y: Any, p: Any, delta: float) -> Any:
    """Compute ½ d² if d = |predictions - labels| is at most delta, else delta (d - ½ delta)."""
    error = absolute(p - y)
    near = minimum(error, delta)
    return 0.5 * near * near + delta * (error - near)


@_loss("labels predictions weights=1.0 epsilon=1e-07 |")
def log_loss(y: Any, p: Any, epsilon: float) -> Any:
    """Compute -labels log(p + ε) - (1 - labels) log(1 - p + ε)."""
    return -y * log(p + epsilon) - (1 - y) * log(1 - p + epsilon)


@_loss("labels logits weights=1.0 |")
def hinge_loss(y: Any, p: Any) -> Any:
    """Compute max(0, 1 - (2 labels - 1) logits), for labels of 0 and 1.

    The gradient at the margin is 0, as in TensorFlow.
    """
    return nn.relu(1 - (2 * y - 1) * p)


@_loss("multi_class_labels logits weights=1.0 label_smoothing=0 |", "sigmoid_cross_entropy_loss")
def sigmoid_cross_entropy(y: Any, x: Any, label_smoothing: float) -> Any:
    """Compute the cross entropy of each entry; smoothing moves the labels towards ½."""
    smooth = y * (1 - label_smoothing) + 0.5 * label_smoothing if label_smoothing > 0 else y
    return nn.sigmoid_cross_entropy_with_logits(labels=smooth, logits=x)


@_loss("onehot_labels logits weights=1.0 label_smoothing=0 |", "softmax_cross_entropy_loss")
def softmax_cross_entropy(y: Any, x: Any, label_smoothing: float) -> Any:
    """Compute the cross entropy of rows; smoothing moves the labels towards 1 / classes."""
    if label_smoothing > 0:
        classes = cast(shape_of(x)[-1], as_dtype(x.dtype))
        y = y * (1 - label_smoothing) + label_smoothing / classes
    return nn.softmax_cross_entropy_with_logits(labels=y, logits=x)


@_loss("labels predictions axis=None weights=1.0 | dim=None", "cosine_distance_loss")
def cosine_distance(y: Any, p: Any, axis: int | None, dim: int | None) -> Any:
    """Compute 1 - sum(labels · predictions) along an axis, for vectors of length 1."""
    if axis is None and dim is None:
        raise ValueError("cosine_distance: expected an integer for axis, got None")
    return 1 - reduce_sum(y * p, dim if axis is None else axis, keepdims=True)


def sparse_softmax_cross_entropy(
    labels: Any, logits: Any, weights: Any = 1.0, scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES, reduction: str = _DEFAULT,
) -> Any:  # fmt: skip
    """Compute the cross entropy of rows of classes with integer labels."""
    with scope_of(scope or "sparse_softmax_cross_entropy_loss", labels, logits) as opened:
        x, y, w = convert_to_tensor(logits), convert_to_tensor(labels), convert_to_tensor(weights)
        # Labels and weights may have one axis more than the losses, of length 1.
        y, w = (
            squeeze(t, [-1]) if len(known_dims(t) or ()) == len(x.shape) and known_dims(t)[-1] == 1
            else t for t in (y, w)
        )  # fmt: skip
        values = nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x)
    return compute_weighted_loss(values, w, opened, loss_collection, reduction)


# --- collections


def add_loss(loss: Any, loss_collection: str | None = GraphKeys.LOSSES) -> None:
    """Add a loss to a collection of the graph; None is skipped."""
    graph = getattr(loss, "graph", None)
    if loss_collection and graph is not None:
        graph.add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Any]:
    """Return the collected losses."""
    return list(get_default_graph().get_collection(loss_collection, scope))


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """Return the losses of regularizers."""
    return get_losses(scope, GraphKeys.REGULARIZATION_LOSSES)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """Sum all collected losses."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    return add_n(losses, name=name)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """Sum the losses of regularizers; 0 if there are none."""
    losses = get_regularization_losses(scope)
    return add_n(losses, name=name) if losses else convert_to_tensor(0.0)


__all__ = public_names(globals())
