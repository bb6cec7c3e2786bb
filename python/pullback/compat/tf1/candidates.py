"""Losses that look at a sample of the classes, and how the sample is drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from . import mode
from .array_ops import expand_dims, ones_like, reshape, stop_gradient, zeros_like
from .choice_ops import concat, gather
from .create import cast, constant_of, convert_to_tensor, scope_of
from .dtypes import as_dtype, float32, int64
from .graph import get_default_graph
from .math_ops import equal, expm1, log, log1p, matmul, multiply, reduce_any, reduce_sum
from .names import public_names, taking
from .opdef import define
from .order_ops import where


def _log_uniform(generator: Any, size: int, classes: int) -> Any:
    draws = np.exp(generator.random(size) * np.log(classes + 1)).astype(np.int64) - 1
    return np.clip(draws, 0, classes - 1)


def _uniform(generator: Any, size: int, classes: int) -> Any:
    return generator.integers(0, classes, size)


def _sample(
    session: Any, feeds: Any, generator: Any, draw: Any, count: int, classes: int, unique: bool
) -> list[Any]:
    """Classes, and how many were drawn for them; each only once if `unique`."""
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
    if unique and num_sampled > range_max:
        raise ValueError(f"{who}: there are no {num_sampled} different classes of {range_max}")
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
                p = (log(c + 2.0) - log(c + 1.0)) / float(np.log(range_max + 1))
            return -expm1(tries * log1p(-p)) if unique else p * tries

        true = convert_to_tensor(true_classes)
        return sampled, expected(true), expected(sampled)


_ARGUMENTS = "true_classes num_true num_sampled unique range_max seed=None name=None"


@taking(
    "log_uniform_candidate_sampler", _ARGUMENTS,
    "Classes drawn with P(c) = (log(c + 2) - log(c + 1)) / log(range_max + 1), for classes in the "
    "order of how frequent they are; and how often the true and the sampled ones are expected.",
)  # fmt: skip
def log_uniform_candidate_sampler(**given: Any) -> tuple[Any, Any, Any]:
    return _candidates("LogUniformCandidateSampler", _log_uniform, **given)


@taking(
    "uniform_candidate_sampler", _ARGUMENTS,
    "Classes that are all equally likely; and how often the true and the sampled are expected.",
)  # fmt: skip
def uniform_candidate_sampler(**given: Any) -> tuple[Any, Any, Any]:
    return _candidates("UniformCandidateSampler", _uniform, **given)


def _sampled_logits(
    weights: Any, biases: Any, labels: Any, inputs: Any, num_sampled: int, num_classes: int,
    num_true: int, sampled_values: Any, remove_accidental_hits: bool, seed: int | None,
) -> tuple[Any, Any]:  # fmt: skip
    """Logits of the true and the sampled classes, less the logarithms of how often they are
    expected, and their labels."""
    tables = list(weights) if isinstance(weights, (list, tuple)) else [weights]
    if len(tables) != 1:
        raise NotImplementedError("sampled losses: weights in one table only")
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
    true_logits = reduce_sum(multiply(expand_dims(x, 1), true_rows), 2)
    true_logits = true_logits + reshape(bias[:split], [-1, num_true])
    other_logits = matmul(x, rows[split:], transpose_b=True) + bias[split:]
    if remove_accidental_hits:
        hits = reduce_any(equal(expand_dims(true, 2), reshape(sampled, [1, 1, -1])), 1)
        low = zeros_like(other_logits) + float(np.finfo(np.float32).min)
        other_logits = where(hits, low, other_logits)
    dtype = as_dtype(x.dtype)
    true_logits = true_logits - log(cast(true_count, dtype))
    other_logits = other_logits - log(cast(sampled_count, dtype))
    truths = concat([ones_like(true_logits) / num_true, zeros_like(other_logits)], 1)
    return concat([true_logits, other_logits], 1), truths


__all__ = public_names(globals())
