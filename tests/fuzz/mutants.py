"""Bugs of the kinds that automatic differentiation has had, to be put in place of functions: a
program that calls one must fail. `MUTANTS` lists them as function: what is wrong with it. A name
may have a dot: of `pb.special`, `pb.nn` or `helpers`.

A mutant never changes the library: it stands in the namespace that programs get as `pb`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from typing import Any

import pullback as pb

from . import helpers, modes
from .bugs import (
    abs_without_sign,
    assignment_forgets,
    complex_product_unconjugated,
    conj_forgets,
    cut_off,
    exchanged,
    exclusive,
    first_of_ties,
    forgets,
    holes_count,
    imag_as_real,
    largest_so_far_of_all,
    mean_by_one_less,
    median_of_one,
    minimum_for_maximum,
    no_curvature,
    no_slope,
    padded_edge_once,
    picks_once,
    relu_leaks,
    reversed_slope,
    running_product_without_zeros,
    saturating,
    shifted_by_all,
    sign_of_slope,
    slope_off,
    sort_in_the_order_of_the_leaf,
    stop_gradient_leaks,
    sum_counts_the_first_only,
    take_counts_duplicates_once,
    tanh_of_saturated,
    topk_of_the_smallest,
    unrounded,
    value_off,
    variance_of_a_constant_mean,
    without_mask,
    without_start,
)

Function = Callable[..., Any]


class Mutated:
    """`pb`, or a part of it, with one function exchanged."""

    def __init__(self, space: Any, name: str, mutant: Any) -> None:
        self.__dict__.update({"_space": space, name: mutant})

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space, name)


@contextmanager
def in_place(name: str, mutant: Function) -> Iterator[None]:
    *space, last = name.split(".")
    if space == ["helpers"]:
        before = getattr(helpers, last)
        setattr(helpers, last, mutant)
        try:
            yield
        finally:
            setattr(helpers, last, before)
        return
    given = Mutated(getattr(pb, space[0]), last, mutant) if space else mutant
    modes.pb = Mutated(pb, space[0] if space else last, given)  # type: ignore[assignment]
    try:
        yield
    finally:
        modes.pb = pb


UNARY = ("sin", "cos", "tanh", "sigmoid", "softplus", "exp", "expm1", "square", "log", "sqrt")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "matmul")
MOVING = ("reshape", "transpose", "broadcast_to", "expand_dims")
SPECIAL = ("erfc", "gammaln", "ndtr", "j0", "digamma", "erfinv", "log_ndtr", "gammainc", "zeta",
           "betainc", "iv", "polygamma")  # fmt: skip
SPECIAL = tuple(f"special.{name}" for name in SPECIAL)
SCANS = ("cumulative_sum", "cumulative_prod", "cumulative_max", "cumulative_logsumexp")
MADE_OF_OTHERS = ("nn.silu", "nn.layer_norm", "nn.huber_loss", "gelu", "std", "nn.kl_divergence",
                  "quantile", "corrcoef", "nn.elu", "nn.glu")  # fmt: skip
ARRANGED = ("flip", "roll", "repeat", "pad", "tril", "kron", "diff")
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "logsumexp")


def _mutants() -> Iterator[tuple[str, str, Function]]:
    def of(names: tuple[str, ...], wrong: Function) -> Iterator[tuple[str, str, Function]]:
        for name in names:
            yield name, wrong.__name__, partial(wrong, attrgetter(name)(pb))

    yield from of(UNARY, slope_off)
    yield from of(UNARY[:8], no_curvature)
    yield from of(("tanh", "log1p", "exp", "abs", "softmax"), value_off)
    yield from of(("sin", "negative", "softmax", "log_softmax"), sign_of_slope)
    yield from of((*BINARY[:4], "matmul"), slope_off)
    for name in BINARY:
        for which in (0, 1):
            yield name, f"forgets {which}", partial(forgets, which, getattr(pb, name))
    yield from of(("subtract", "divide", "pow"), exchanged)
    yield from of(REDUCTIONS, no_slope)
    yield from of((*MOVING, "clip", "where"), no_slope)
    yield from of(("transpose", "log_softmax"), reversed_slope)
    yield from of(SPECIAL, slope_off)
    yield from of(SPECIAL[:4], no_curvature)
    yield from of(SPECIAL[4:8], value_off)
    for name in ("gammainc", "betainc", "zeta"):
        wrong = partial(forgets, 0, getattr(pb.special, name))
        yield f"special.{name}", "forgets its parameter", wrong
    yield from of(SCANS, no_slope)
    yield from of((*MADE_OF_OTHERS, *ARRANGED), sign_of_slope)
    yield from of(MADE_OF_OTHERS[:6], no_curvature)
    for name in ("sum", "prod", "max"):
        yield name, "where=", partial(without_mask, getattr(pb, name))
    for name, neutral in (("prod", 1.0), ("max", -1e30), ("min", 1e30)):
        yield name, "initial=", partial(without_start, neutral, getattr(pb, name))
    yield from of(("divide", "sqrt"), unrounded)
    yield from of(("multiply",), saturating)
    for mutant, name in (
        (exclusive, "cumulative_sum"),
        (running_product_without_zeros, "cumulative_prod"),
        (largest_so_far_of_all, "cumulative_max"),
        (sort_in_the_order_of_the_leaf, "sort"),
        (topk_of_the_smallest, "topk"),
        (median_of_one, "median"),
        (variance_of_a_constant_mean, "var"),
        (holes_count, "nanmean"),
        (conj_forgets, "conj"),
        (imag_as_real, "imag"),
        (complex_product_unconjugated, "multiply"),
        (cut_off, "astype"),
        (shifted_by_all, "bitwise_left_shift"),
        (padded_edge_once, "pad"),
        (assignment_forgets, "helpers.assigned_part"),
        (picks_once, "take_along_axis"),
        (tanh_of_saturated, "tanh"),
        (relu_leaks, "relu"),
        (abs_without_sign, "abs"),
        (minimum_for_maximum, "maximum"),
        (stop_gradient_leaks, "stop_gradient"),
        (take_counts_duplicates_once, "take"),
        (sum_counts_the_first_only, "sum"),
        (mean_by_one_less, "mean"),
        (first_of_ties, "max"),
    ):
        yield name, mutant.__name__, mutant


MUTANTS = {f"{name}: {wrong}": (name, mutant) for name, wrong, mutant in _mutants()}
# What a line must have beside the call, where few have it.
NEEDS = {
    "saturating": "int8",
    "complex_product_unconjugated": "pb.complex(",
    "forgets its parameter": "{1}",
    "where=": "where=",
    "initial=": "initial=",
    "cut_off": "bfloat16",
    "unrounded": "float16",
    "padded_edge_once": "edge",
}
