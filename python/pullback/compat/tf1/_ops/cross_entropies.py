"""Cross entropies, also over sampled classes, and the samplers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .... import _core
from .._graph import mode, shape_functions
from .._graph.create import apply, cast, constant_of, convert_to_tensor, is_tensor, scope_of
from .._graph.graph import get_default_graph
from .._graph.opdef import RowError, define, like
from .._graph.shapes import Dims, shape_text
from ..dtypes import as_dtype, float32, int64
from ..names import public_names, snake_case, taking
from . import math_ops
from .array_ops import expand_dims, ones_like, reshape, stop_gradient, transpose, zeros_like
from .indexing_ops import concat, gather
from .order_ops import where


def _log_uniform(generator: Any, size: int, classes: int) -> Any:
    draws = np.exp(generator.random(size) * np.log(classes + 1)).astype(np.int64) - 1
    return np.clip(draws, 0, classes - 1)


def _uniform(generator: Any, size: int, classes: int) -> Any:
    return generator.integers(0, classes, size)


def _sample(
    session: Any, feeds: Any, generator: Any, draw: Any, count: int, classes: int, unique: bool
) -> list[Any]:
    """Draw classes, each only once if `unique`; return them and the number of draws."""
    if not unique:
        return [draw(generator, count, classes), np.float32(count)]
    seen: dict[int, None] = {}
    tries = 0
    while len(seen) < count:
        for c in draw(generator, 2 * count, classes).tolist():
            tries += 1
            seen[c] = None
            if len(seen) == count:
                break
    return [np.array([*seen], np.int64), np.float32(tries)]


define("CandidateSampler", execute=lambda run, op, inputs: [], flows=False, sampled=_sample)


def _candidates(
    who: str, draw: Any, true_classes: Any, num_true: int, num_sampled: int, unique: bool,
    range_max: int, seed: int | None, name: str | None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    public = snake_case(who)
    if num_sampled < 1:
        raise ValueError(f"{public}: expected num_sampled >= 1, got {num_sampled}")
    if unique and num_sampled > range_max:
        raise ValueError(
            f"{public}: expected num_sampled <= range_max = {range_max} for unique=True, got "
            f"{num_sampled}"
        )
    with scope_of(name or who, true_classes) as scope:
        attrs = {"draw": draw, "count": num_sampled, "classes": range_max, "unique": unique}
        if mode.executing_eagerly():
            start = _core.fork_random_state()
            generator = np.random.default_rng(start if seed is None else [start, seed])
            made = _sample(None, [], generator, **attrs)
            sampled = constant_of(made[0], int64, "Const")
            tries = constant_of(np.asarray(made[1]), float32, "Const")
        else:
            graph = get_default_graph()
            if seed is not None:
                graph._op_seeds.append(seed)
            outputs = ((int64, (num_sampled,)), (float32, ()))
            sampled, tries = graph.record("CandidateSampler", (), attrs, scope, *outputs).outputs

        def expected(classes: Any) -> Any:
            c = cast(classes, float32)
            if draw is _uniform:
                p = ones_like(c) / range_max
            else:
                p = (math_ops.log(c + 2.0) - math_ops.log(c + 1.0)) / float(np.log(range_max + 1))
            return -math_ops.expm1(tries * math_ops.log1p(-p)) if unique else p * tries

        true = convert_to_tensor(true_classes)
        return sampled, expected(true), expected(sampled)


_ARGUMENTS = "true_classes num_true num_sampled unique range_max seed=None name=None"


@taking(_ARGUMENTS)
def log_uniform_candidate_sampler(**given: Any) -> tuple[Any, Any, Any]:
    """Draw classes with P(c) = (log(c + 2) - log(c + 1)) / log(range_max + 1).

    The classes are sorted by decreasing frequency. Also returns the expected counts of the true and
    of the sampled classes.
    """
    return _candidates("LogUniformCandidateSampler", _log_uniform, **given)


@taking(_ARGUMENTS)
def uniform_candidate_sampler(**given: Any) -> tuple[Any, Any, Any]:
    """Draw equally likely classes; also return the expected counts."""
    return _candidates("UniformCandidateSampler", _uniform, **given)


def _sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int, sampled_values: Any, remove_accidental_hits: bool, seed: int | None, who: str,
) -> tuple[Any, Any]:  # fmt: skip
    """Return logits of true and sampled classes, less the log expected counts, and labels."""
    tables = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    if len(tables) != 1:
        raise NotImplementedError(f"{who}: expected one table for weights, got {len(tables)}")
    true = reshape(cast(convert_to_tensor(labels), int64), [-1, num_true])
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            true, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_count, sampled_count = (stop_gradient(v) for v in sampled_values)
    every = concat([reshape(true, [-1]), sampled], 0)
    rows, bias = gather(tables[0], every), gather(biases, every)
    x = convert_to_tensor(inputs)
    split = -num_sampled
    true_rows = reshape(rows[:split], [-1, num_true, int(rows.shape[-1])])
    true_logits = math_ops.reduce_sum(math_ops.multiply(expand_dims(x, 1), true_rows), 2)
    true_logits = true_logits + reshape(bias[:split], [-1, num_true])
    other_logits = math_ops.matmul(x, rows[split:], transpose_b=True) + bias[split:]
    if remove_accidental_hits:
        hits = math_ops.reduce_any(
            math_ops.equal(expand_dims(true, 2), reshape(sampled, [1, 1, -1])), 1
        )
        low = zeros_like(other_logits) + float(np.finfo(np.float32).min)
        other_logits = where(hits, low, other_logits)
    dtype = as_dtype(x.dtype)
    true_logits = true_logits - math_ops.log(cast(true_count, dtype))
    other_logits = other_logits - math_ops.log(cast(sampled_count, dtype))
    truths = concat([ones_like(true_logits) / num_true, zeros_like(other_logits)], 1)
    return concat([true_logits, other_logits], 1), truths


define(
    "SoftmaxCrossEntropyWithLogits", _core.softmax_cross_entropy, labels=("logits", "labels"),
    domain="float", same=True, shape=shape_functions.without_last, fresh=True,
    slopes={1: lambda g, ins, y: -_core.expand_dims(g, -1) * _core.log_softmax(ins[0])},
)  # fmt: skip
define(
    "SparseSoftmaxCrossEntropyWithLogits", _core.sparse_softmax_cross_entropy,
    labels=("logits", "labels"), domain="float", shape=shape_functions.without_last, fresh=True,
)  # fmt: skip


def _check_rows(labels: Dims, logits: Dims) -> None:
    """Raise RowError if labels and logits differ in the last axis or in the number of rows."""
    if labels is None or logits is None:
        return
    pairs = [(labels[-1], logits[-1])] if labels and logits else [(0, 1)]
    if None not in (*labels, *logits):
        pairs.append((prod(labels[:-1]), prod(logits[:-1])))  # type: ignore[arg-type]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise RowError(
            "expected labels with the last axis and the number of rows of logits, got shapes "
            f"{shape_text(labels)} and {shape_text(logits)}"
        )


def _like_logits(labels: Any, logits: Any) -> Any:
    _check_rows(labels.shape, logits.shape)
    return _core.reshape(labels, logits.shape)


def _dims_of_logits(labels: Any, logits: Any) -> Dims:
    _check_rows(labels.dims, logits.dims)
    return logits.dims  # type: ignore[no-any-return]


define(
    "LabelsLikeLogits", _like_logits, labels=("labels", "logits"), shape=_dims_of_logits,
    public="softmax_cross_entropy_with_logits",
)  # fmt: skip


def _logistic(logits: Any, labels: Any) -> Any:
    if logits.shape != labels.shape:
        raise RowError(
            f"expected logits and labels of one shape, got {logits.shape} and {labels.shape}"
        )
    return (like(logits, 1) - labels) * logits + _core.softplus(-logits)


define(
    "SigmoidCrossEntropyWithLogits", _logistic, labels=("logits", "labels"), domain="float",
    same=True, shape=shape_functions.merged, fresh=True,
)  # fmt: skip


def _both(sentinel: Any, labels: Any, logits: Any, who: str) -> str:
    if sentinel is not None or labels is None or logits is None:
        raise ValueError(
            f"{who}: expected labels and logits as keywords; name them: labels=, logits="
        )
    return who


def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: int | None = None, name: Any = None, dim: int | None = None
) -> Any:
    """Compute -sum(labels log(softmax(logits))) along an axis, differentiable in both."""
    who = _both(None, labels, logits, "softmax_cross_entropy_with_logits")
    axis = dim if axis is None else axis
    with scope_of(name or who, logits, labels) as scope:
        x = convert_to_tensor(logits)
        given = None if is_tensor(labels) else as_dtype(x.dtype)
        p = cast(convert_to_tensor(labels, given, "labels"), x.dtype)
        if axis not in (None, -1):
            order = [i for i in range(len(x.shape)) if i != axis % len(x.shape)]
            x, p = (transpose(t, [*order, axis % len(x.shape)]) for t in (x, p))
        if None not in (x.shape.ndims, p.shape.ndims) and x.shape.ndims != p.shape.ndims:
            p = apply("LabelsLikeLogits", p, x)
        return apply("SoftmaxCrossEntropyWithLogits", x, p, name=scope)


def softmax_cross_entropy_with_logits(_sentinel: Any = None, labels: Any = None,
        logits: Any = None, dim: int = -1, name: str | None = None,
        axis: int | None = None) -> Any:  # fmt: skip
    """Compute `softmax_cross_entropy_with_logits_v2` with constant labels."""
    _both(_sentinel, labels, logits, "softmax_cross_entropy_with_logits")
    dtype = None if is_tensor(labels) else as_dtype(convert_to_tensor(logits).dtype)
    labels = stop_gradient(convert_to_tensor(labels, dtype))
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis, name, dim)


def sparse_softmax_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """Compute -log(softmax(logits)) at the integer labels.

    A label out of range is an InvalidArgumentError in the run.
    """
    who = _both(_sentinel, labels, logits, "sparse_softmax_cross_entropy_with_logits")
    return apply("SparseSoftmaxCrossEntropyWithLogits", logits, labels, name=name or who)


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """Compute -labels log(sigmoid(x)) - (1 - labels) log(1 - sigmoid(x)), without overflow.

    ValueError if the shapes differ.
    """
    _both(_sentinel, labels, logits, "sigmoid_cross_entropy_with_logits")
    return apply("SigmoidCrossEntropyWithLogits", logits, labels, name=name or "logistic_loss")


def weighted_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, pos_weight: Any = None, name: str | None = None,
    targets: Any = None,
) -> Any:  # fmt: skip
    """Compute `sigmoid_cross_entropy_with_logits` with the first term times pos_weight."""
    with scope_of(name or "logistic_loss", logits, labels, targets) as scope:
        x = convert_to_tensor(logits)
        y = convert_to_tensor(labels if targets is None else targets, as_dtype(x.dtype))
        weight = 1 + (pos_weight - 1) * y
        return math_ops.add(
            (1 - y) * x, math_ops.multiply(weight, math_ops.softplus(-x)), name=scope
        )


_SAMPLED = "weights biases labels inputs num_sampled num_classes num_true=1 sampled_values=None "


@taking(
    _SAMPLED + "remove_accidental_hits=True partition_strategy='mod' name='sampled_softmax_loss' "
    "seed=None"
)
def sampled_softmax_loss(name: str, partition_strategy: Any, **given: Any) -> Any:
    """Estimate the cross entropy of rows of inputs from the true and some sampled classes.

    `weights` has a row and `biases` an entry for each of `num_classes`. The sample comes from
    `log_uniform_candidate_sampler` unless it is given. Only rows of true and sampled classes have a
    gradient that is not 0.
    """
    with scope_of(name, given["weights"], given["biases"], given["inputs"], given["labels"]):
        logits, truths = _sampled_logits(**given, who="sampled_softmax_loss")
        return softmax_cross_entropy_with_logits_v2(labels=stop_gradient(truths), logits=logits)


@taking(_SAMPLED + "remove_accidental_hits=False partition_strategy='mod' name='nce_loss'")
def nce_loss(name: str, partition_strategy: Any, **given: Any) -> Any:
    """Compute the noise-contrastive loss of each row: a sum of logistic losses.

    The true classes are distinguished from the sampled ones.
    """
    with scope_of(name, given["weights"], given["biases"], given["inputs"], given["labels"]):
        logits, truths = _sampled_logits(**given, seed=None, who="nce_loss")
        return math_ops.reduce_sum(
            sigmoid_cross_entropy_with_logits(labels=truths, logits=logits), 1
        )


_KINDS = ("_logits", "_v2", "_loss", "_sampler")
__all__ = [name for name in public_names(globals()) if name.endswith(_KINDS)]
