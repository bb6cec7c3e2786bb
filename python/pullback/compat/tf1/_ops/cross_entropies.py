"""Cross entropies, also of a sample of the classes."""

from __future__ import annotations

from typing import Any

from .... import _core
from .._graph import shape_functions
from .._graph.create import apply, convert_to_tensor, is_tensor, scope_of
from .._graph.opdef import define, like
from ..dtypes import as_dtype
from ..names import public_names, taking
from .array_ops import stop_gradient, transpose
from .candidate_sampling import _sampled_logits
from .math_ops import add, multiply, reduce_sum, softplus

define(
    "SoftmaxCrossEntropyWithLogits", _core.softmax_cross_entropy, labels=("logits", "labels"),
    domain="float", same=True, shape=shape_functions.without_last, fresh=True,
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


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: Any = None, dim: int | None = None
) -> Any:
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
        logits: Any = None, dim: int = -1, name: str | None = None,
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


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None,
    targets: Any = None,
) -> Any:  # fmt: skip
    """-pos_weight labels log(sigmoid(x)) - (1 - labels) log(1 - sigmoid(x)), without overflow."""
    with scope_of(name or "logistic_loss", logits, labels, targets) as scope:
        x = convert_to_tensor(logits)
        y = convert_to_tensor(labels if targets is None else targets, as_dtype(x.dtype))
        weight = 1 + (pos_weight - 1) * y
        return add((1 - y) * x, multiply(weight, softplus(-x)), name=scope)


_SAMPLED = "weights biases labels inputs num_sampled num_classes num_true=1 sampled_values=None "


@taking(
    "sampled_softmax_loss", _SAMPLED + "remove_accidental_hits=True partition_strategy='mod' "
    "name='sampled_softmax_loss' seed=None",
    """The cross entropy of each row of inputs over its true classes and a sample of the others, an
    estimate of that over all classes.

    `weights` has a row and `biases` an entry for each of `num_classes`; the sample is drawn by
    `log_uniform_candidate_sampler`, unless it is given. Only the rows that are looked at get a
    gradient that is not 0.
    """,
)  # fmt: skip
def sampled_softmax_loss(name: str, partition_strategy: Any, **given: Any) -> Any:
    with scope_of(name, given["weights"], given["biases"], given["inputs"], given["labels"]):
        logits, truths = _sampled_logits(**given)
        return softmax_cross_entropy_with_logits_v2(labels=stop_gradient(truths), logits=logits)


@taking(
    "nce_loss", _SAMPLED + "remove_accidental_hits=False partition_strategy='mod' name='nce_loss'",
    "Noise-contrastive estimation: whether a class is the true one or one of a sample, as a sum of "
    "logistic losses for each row.",
)  # fmt: skip
def nce_loss(name: str, partition_strategy: Any, **given: Any) -> Any:
    with scope_of(name, given["weights"], given["biases"], given["inputs"], given["labels"]):
        logits, truths = _sampled_logits(**given, seed=None)
        return reduce_sum(sigmoid_cross_entropy_with_logits(labels=truths, logits=logits), 1)


__all__ = public_names(globals())
