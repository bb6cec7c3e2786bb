"""`tf.metrics`: running means and counts in local variables.

A metric is a pair: the value of all updates since `local_variables_initializer`, and the update
with the labels and predictions of a run, which returns the new value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _core
from ._graph import mode
from ._graph.create import apply, cast, convert_to_tensor
from ._graph.graph import GraphKeys, get_default_graph
from ._graph.opdef import define
from ._ops.array_ops import identity, ones_like, zeros
from ._ops.complex_ops import abs as absolute
from ._ops.math_ops import equal, logical_and, logical_not, reduce_sum, sqrt, square
from ._ops.special_ops import div_no_nan
from ._variables.variable_scope import variable_scope
from ._variables.variables import Variable
from .dtypes import as_dtype, float32
from .dtypes import bool as tf_bool
from .losses import _weighted
from .names import named

__all__ = [
    "accuracy", "false_negatives", "false_positives", "mean", "mean_absolute_error",
    "mean_squared_error", "precision", "recall", "root_mean_squared_error", "true_negatives",
    "true_positives",
]  # fmt: skip

_Pair = tuple[Any, Any]


def _fit(x: Any, like: Any, grow: bool) -> Any:
    """Remove or add a last axis of size 1 of x, if its rank is then that of `like`."""
    extra = len(x.shape) - len(like.shape)
    if extra == 1 and x.shape[-1] == 1:
        return _core.squeeze(x, -1)
    return _core.expand_dims(x, -1) if grow and extra == -1 and x.shape else x


def _fit_shape(x: Any, like: Any, grow: bool) -> Any:
    if x.dims is None or like.dims is None:
        return None
    extra = len(x.dims) - len(like.dims)
    return (
        x.dims[:-1] if extra == 1 else (*x.dims, 1) if grow and extra == -1 and x.dims else x.dims
    )


define("Fit", _fit, shape=_fit_shape, public="metrics")


def _fitted(x: Any, like: Any, grow: bool = False) -> Any:
    ranks = x.shape.ndims, like.shape.ndims
    return x if None not in ranks and ranks[0] == ranks[1] else apply("Fit", x, like, grow=grow)


def _sum_of(name: str, values: Any, weights: Any) -> _Pair:
    """Return a local variable, and its update by the weighted sum of values."""
    if mode.executing_eagerly():
        raise RuntimeError("metrics: not possible in eager mode; compute the mean directly")
    keys = [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES]
    total = Variable(zeros([]), trainable=False, collections=keys, name=name)
    x = cast(convert_to_tensor(values), float32)
    if weights is not None:
        x = _weighted(x, _fitted(cast(convert_to_tensor(weights), float32), x, grow=True))
    return total, total.assign_add(reduce_sum(x))


def _collected(pair: _Pair, values: Any, updates: Any) -> _Pair:
    for keys, item in zip((values, updates), pair, strict=True):
        if keys:
            get_default_graph().add_to_collections(keys, item)
    return pair


def _ratio(part: _Pair, whole: _Pair) -> _Pair:
    return div_no_nan(part[0], whole[0], "value"), div_no_nan(part[1], whole[1], "update_op")


def mean(
    values: Any, weights: Any = None, metrics_collections: Any = None,
    updates_collections: Any = None, name: str | None = None,
) -> _Pair:  # fmt: skip
    """Compute the weighted mean of all values, 0 before the first."""
    with variable_scope(name, "mean", (values, weights)):
        x = convert_to_tensor(values)
        parts = _sum_of("total", x, weights), _sum_of("count", ones_like(x), weights)
        return _collected(_ratio(*parts), metrics_collections, updates_collections)


def _alike(labels: Any, predictions: Any) -> _Pair:
    """Remove a last axis of size 1 that only one of the two has."""
    y, p = convert_to_tensor(labels), convert_to_tensor(predictions)
    y, p = _fitted(y, p), _fitted(p, y)
    y.shape.assert_is_compatible_with(p.shape)
    return y, p


def _metric(public: str, compute: Callable[..., _Pair], doc: str) -> Any:
    """Make a metric of labels and predictions; `compute` also takes the weights and a name."""

    def metric(
        labels: Any, predictions: Any, weights: Any = None, metrics_collections: Any = None,
        updates_collections: Any = None, name: str | None = None,
    ) -> _Pair:  # fmt: skip
        pair = compute(labels, predictions, weights, name)
        return _collected(pair, metrics_collections, updates_collections)

    return named(metric, public, doc)


def _mean_of(public: str, function: Callable[[Any, Any], Any], doc: str, last: Any = None) -> Any:
    def compute(labels: Any, predictions: Any, weights: Any, name: str | None) -> _Pair:
        y, p = _alike(labels, predictions)
        if function is equal:
            p = cast(p, as_dtype(y.dtype))
        pair = mean(function(y, p), weights, name=name or public)
        return (last(pair[0]), last(pair[1])) if last else pair

    return _metric(public, compute, f"The weighted mean of {doc}, 0 before the first.")


accuracy = _mean_of("accuracy", equal, "whether predictions are equal to labels")
mean_absolute_error = _mean_of(
    "mean_absolute_error", lambda y, p: absolute(p - y), "|predictions - labels|"
)
mean_squared_error = _mean_of(
    "mean_squared_error", lambda y, p: square(p - y), "(predictions - labels)²"
)
root_mean_squared_error = _mean_of(
    "root_mean_squared_error", lambda y, p: square(p - y), "(predictions - labels)², its root", sqrt
)


def _count_of(public: str, label: bool, predicted: bool) -> Any:
    def compute(labels: Any, predictions: Any, weights: Any, name: str | None) -> _Pair:
        with variable_scope(name, public, (labels, predictions, weights)):
            y, p = (cast(x, tf_bool) for x in _alike(labels, predictions))
            both = logical_and(y if label else logical_not(y), p if predicted else logical_not(p))
            count, update = _sum_of("count", both, weights)
            return identity(count), update

    doc = f"The weighted number of predictions {predicted} for labels {label}."
    return _metric(public, compute, doc)


true_positives = _count_of("true_positives", True, True)
false_positives = _count_of("false_positives", False, True)
true_negatives = _count_of("true_negatives", False, False)
false_negatives = _count_of("false_negatives", True, False)


def _share_of(public: str, other: Callable[..., _Pair], doc: str) -> Any:
    def compute(labels: Any, predictions: Any, weights: Any, name: str | None) -> _Pair:
        with variable_scope(name, public, (labels, predictions, weights)):
            right = true_positives(labels, predictions, weights)
            wrong = other(labels, predictions, weights)
            return _ratio(right, (right[0] + wrong[0], right[1] + wrong[1]))

    doc = f"True positives as a share of all {doc}, 0 before the first."
    return _metric(public, compute, doc)


precision = _share_of("precision", false_positives, "positive predictions")
recall = _share_of("recall", false_negatives, "positive labels")
