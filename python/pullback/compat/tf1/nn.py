"""`tf.nn`: activations and losses."""

from __future__ import annotations

from typing import Any

from .array_ops import where, zeros_like
from .convert import convert_to_tensor, scope_of
from .create import apply, binary, unary
from .math_ops import log_sigmoid, multiply, sigmoid, tanh

__all__ = [
    "bias_add",
    "l2_loss",
    "leaky_relu",
    "log_softmax",
    "relu",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]


def relu(features: Any, name: str | None = None) -> Any:
    """max(x, 0); its gradient at 0 is 0."""
    return unary("Relu", features, name)


def leaky_relu(features: Any, alpha: Any = 0.2, name: str | None = None) -> Any:
    """x where it is positive, else alpha x."""
    with scope_of(name or "LeakyRelu", features):
        x = convert_to_tensor(features)
        return where(x > zeros_like(x), x, multiply(x, alpha))


def softplus(features: Any, name: str | None = None) -> Any:
    """log(1 + exp(x)), without overflow."""
    return unary("Softplus", features, name)


def _last(logits: Any, axis: int | None, dim: int | None, who: str) -> Any:
    axis = dim if axis is None else axis
    x = convert_to_tensor(logits)
    if axis not in (None, -1) and axis != len(x.shape) - 1:
        raise NotImplementedError(f"{who}: only the last axis is supported, got axis {axis}")
    return x


def softmax(
    logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Any:
    """exp(x) / sum(exp(x)) along the last axis, without overflow."""
    return apply("Softmax", [_last(logits, axis, dim, "softmax")], None, name)


def log_softmax(
    logits: Any, axis: int | None = None, name: str | None = None, dim: int | None = None
) -> Any:
    """log(softmax(x)) along the last axis, without overflow."""
    return apply("LogSoftmax", [_last(logits, axis, dim, "log_softmax")], None, name)


def bias_add(value: Any, bias: Any, name: str | None = None) -> Any:
    """Adds a vector along the last axis."""
    return binary("BiasAdd", value, bias, name)


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half the sum of squares."""
    return unary("L2Loss", t, name)


def softmax_cross_entropy_with_logits_v2(
    labels: Any = None,
    logits: Any = None,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Any:
    """-sum(labels log(softmax(logits))) along the last axis; the gradient reaches both."""
    if labels is None or logits is None:
        raise ValueError("softmax_cross_entropy_with_logits: give labels= and logits=")
    with scope_of(name or "softmax_cross_entropy_with_logits", logits, labels) as scope:
        x = _last(logits, axis, dim, "softmax_cross_entropy_with_logits")
        p = convert_to_tensor(labels, x.dtype, "labels")
        return apply("SoftmaxCrossEntropyWithLogits", [x, p], None, scope)


def softmax_cross_entropy_with_logits(
    _sentinel: Any = None,
    labels: Any = None,
    logits: Any = None,
    dim: int | None = None,
    name: str | None = None,
    axis: int | None = None,
) -> Any:
    """As the v2 form, with labels that are constants."""
    from .array_ops import stop_gradient

    if _sentinel is not None:
        raise ValueError("softmax_cross_entropy_with_logits: name the arguments: labels=, logits=")
    if labels is not None:
        labels = stop_gradient(labels)
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis, name, dim)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """-log(softmax(logits)) at the integer labels."""
    from .array_ops import one_hot, stop_gradient

    if _sentinel is not None or labels is None or logits is None:
        raise ValueError("sparse_softmax_cross_entropy_with_logits: give labels= and logits=")
    x = convert_to_tensor(logits)
    depth = x.shape[-1]
    hot = one_hot(labels, int(depth), dtype=x.dtype)
    return softmax_cross_entropy_with_logits_v2(stop_gradient(hot), x, name=name)


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """-labels log(sigmoid(x)) - (1 - labels) log(1 - sigmoid(x)), without overflow."""
    if _sentinel is not None or labels is None or logits is None:
        raise ValueError("sigmoid_cross_entropy_with_logits: give labels= and logits=")
    with scope_of(name or "logistic_loss", logits, labels):
        x = convert_to_tensor(logits)
        p = convert_to_tensor(labels, x.dtype)
        return -(p * log_sigmoid(x) + (1 - p) * log_sigmoid(-x))
