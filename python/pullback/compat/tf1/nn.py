"""`tf.nn`: activations and losses."""

from __future__ import annotations

from typing import Any

from ... import _core
from . import shape_functions
from .array_ops import stop_gradient, transpose
from .create import apply, convert_to_tensor, is_tensor, operation, scope_of
from .dtypes import as_dtype
from .math_ops import sigmoid as sigmoid
from .math_ops import softplus as softplus
from .math_ops import tanh as tanh
from .names import absent, public_names
from .opdef import define, like

relu = operation(
    "Relu", _core.relu, "features", "max(x, 0); its gradient at 0 is 0.", domain="number",
    shape=shape_functions.unchanged, fresh=True,
    from_output=lambda g, y: _core.where(y > like(y, 0), g, like(g, 0)),
)  # fmt: skip
leaky_relu = operation(
    "LeakyRelu", lambda x, alpha: _core.where(x > like(x, 0), x, x * like(x, alpha)),
    "features alpha=0.2", "x where it is positive, else alpha x.", "leaky_relu", domain="float",
    shape=shape_functions.unchanged, fresh=True,
)  # fmt: skip


def _last_axis(given: dict[str, Any]) -> None:
    given["axis"] = -1 if given["axis"] is None else int(given["axis"])


def _softmax_slope(g: Any, y: Any, axis: int = -1) -> Any:
    return (g - _core.sum(g * y, axis, True)) * y


softmax, log_softmax = (
    operation(
        type, function, "logits axis=None name=None", f"{text} along an axis, without overflow.",
        aliases={"dim": "axis"}, prepare=_last_axis, domain="float", from_output=slope,
        shape=shape_functions.unchanged, fresh=True, public=function.__name__,
    )
    for type, function, text, slope in (
        ("Softmax", _core.softmax, "exp(x) / sum(exp(x))", _softmax_slope),
        ("LogSoftmax", _core.log_softmax, "log(softmax(x))", None),
    )
)  # fmt: skip


def _bias_add(value: Any, bias: Any, data_format: Any) -> Any:
    if data_format not in (None, "NHWC"):
        raise ValueError(f"data_format {data_format!r} does not exist yet; use 'NHWC'")
    if len(bias.shape) != 1 or len(value.shape) < 2 or value.shape[-1] != bias.shape[0]:
        raise ValueError(
            "expected a value of rank 2 or more and a bias of rank 1 as long as its last axis, "
            f"got {value.shape} and {bias.shape}"
        )
    return value + bias


bias_add = operation(
    "BiasAdd", _bias_add, "value bias data_format=None", "Adds a vector along the last axis.",
    "bias_add", domain="number", same=True, fresh=True, shape=shape_functions.unchanged,
)  # fmt: skip
l2_loss = operation(
    "L2Loss", lambda t: _core.sum(_core.square(t)) * like(t, 0.5), "t", "Half the sum of squares.",
    "l2_loss", domain="float", shape=shape_functions.scalar, fresh=True,
)  # fmt: skip

# --- losses


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return _core.softmax_cross_entropy(logits, labels)


define(
    "SoftmaxCrossEntropyWithLogits", _cross_entropy, labels=("logits", "labels"), domain="float",
    same=True, shape=shape_functions.without_last, fresh=True,
    slopes={1: lambda g, ins, y: -_core.expand_dims(g, -1) * _core.log_softmax(ins[0])},
)  # fmt: skip
define(
    "SparseSoftmaxCrossEntropyWithLogits", _core.sparse_softmax_cross_entropy,
    labels=("logits", "labels"), domain="float", shape=shape_functions.without_last, fresh=True,
)  # fmt: skip


def _logistic(logits: Any, labels: Any) -> Any:
    if logits.shape != labels.shape:
        raise ValueError(
            f"logits and labels must have one shape, got {logits.shape} and {labels.shape}"
        )
    return (like(logits, 1) - labels) * logits + _core.softplus(-logits)


define(
    "SigmoidCrossEntropyWithLogits", _logistic, labels=("logits", "labels"), domain="float",
    same=True, shape=shape_functions.merged, fresh=True,
)  # fmt: skip


def _both(sentinel: Any, labels: Any, logits: Any, who: str) -> str:
    if sentinel is not None or labels is None or logits is None:
        raise ValueError(f"{who}: name the arguments: labels=, logits=")
    return who


def softmax_cross_entropy_with_logits_v2(labels: Any = None, logits: Any = None,
        axis: int | None = None, name: Any = None, dim: int | None = None) -> Any:  # fmt: skip
    """-sum(labels log(softmax(logits))) along an axis; the gradient reaches both."""
    who = _both(None, labels, logits, "softmax_cross_entropy_with_logits")
    axis = dim if axis is None else axis
    with scope_of(name or who, logits, labels) as scope:
        x = convert_to_tensor(logits)
        p = convert_to_tensor(labels, as_dtype(x.dtype), "labels")
        if axis not in (None, -1):
            order = [i for i in range(len(x.shape)) if i != axis % len(x.shape)]
            x, p = (transpose(t, [*order, axis % len(x.shape)]) for t in (x, p))
        return apply("SoftmaxCrossEntropyWithLogits", x, p, name=scope)


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None,
        logits: Any = None, dim: int | None = None, name: str | None = None,
        axis: int | None = None) -> Any:  # fmt: skip
    """As the v2 form, with labels that are constants."""
    _both(_sentinel, labels, logits, "softmax_cross_entropy_with_logits")
    dtype = None if is_tensor(labels) else as_dtype(convert_to_tensor(logits).dtype)
    labels = stop_gradient(convert_to_tensor(labels, dtype))
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis, name, dim)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """-log(softmax(logits)) at the integer labels; one outside of the classes is an error."""
    who = _both(_sentinel, labels, logits, "sparse_softmax_cross_entropy_with_logits")
    return apply("SparseSoftmaxCrossEntropyWithLogits", logits, labels, name=name or who)


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """-labels log(sigmoid(x)) - (1 - labels) log(1 - sigmoid(x)), without overflow.

    Both must have one shape: ValueError otherwise.
    """
    _both(_sentinel, labels, logits, "sigmoid_cross_entropy_with_logits")
    return apply("SigmoidCrossEntropyWithLogits", logits, labels, name=name or "logistic_loss")


__all__ = [*public_names(globals())]
__getattr__ = absent(__name__)
