"""Why a gradient is zero or tiny: the steps where the cotangents become zero, or shrink."""

from __future__ import annotations

from math import prod
from typing import Any

from .ancestry import Step
from .finding import Finding
from .unconnected import why_cut
from .values import (
    Numbers,
    count_of,
    has_any,
    has_some,
    is_alive,
    percent,
    range_of,
    share_of,
    total_of,
)

UNDERFLOW = 1e-30  # of a cotangent; float32 ends at 1e-45
JOINING = {"at_index", "at_slice", "concat", "stack"}
SELECTING = {
    "max", "min", "pick", "slice", "sparse_softmax_cross_entropy",
    "take", "take_along_axis",
}  # fmt: skip
PRODUCTS = {"multiply", "multiply_no_nan", "matmul", "divide", "dot", "einsum"}
SUBTRACTING = {"difference", "divide", "subtract"}
STEPS = {"ceil", "floor", "floor_divide", "round", "sign"}
SATURATING = {"erf", "exp", "gelu", "log_softmax", "sigmoid", "softmax", "softplus", "tanh"}


def why_zero(numbers: Numbers) -> list[Finding]:
    """Return a finding for each step where a nonzero cotangent becomes zero."""
    ancestry = numbers.ancestry
    top = ancestry.steps[ancestry.y]
    if not is_alive(numbers.cotangent(top)) or 0 in (top.shape or ()):
        return [
            Finding(
                "empty", "y has no elements, so nothing depends on it", "check the shape of y", top
            )
        ]
    reached = {top.number}
    cancelled: set[int] = set()
    out: list[Finding] = []
    for step in numbers.between:
        if step.number not in reached:
            continue
        below = ancestry.inputs(step)
        alive = [i for i in below if is_alive(numbers.cotangent(i))]
        reached.update(i.number for i in alive)
        if below and not alive and not cancelled.issuperset(i.number for i in below):
            cut = all(i.tensor is not None and numbers.contribution(step, i) is None for i in below)
            finding = (
                why_cut(numbers.question, ancestry, step) if cut else _dies(numbers, step, below)
            )
            if finding.reason == "cancels":
                cancelled.update(i.number for i in below)
            out.append(finding)
    return out


def _dies(numbers: Numbers, step: Step, below: list[Step]) -> Finding:
    ancestry = numbers.ancestry
    loss = next((s for s in ancestry.path(step) if s.kind.endswith("cross_entropy")), None)
    if loss is not None:
        return Finding(
            "confident",
            f"the gradient of {loss.name} is zero: the probabilities equal the labels up to "
            "rounding",
            "the prediction is already right, or the logits are far too large",
            loss,
        )
    twice = step.kind in SUBTRACTING and len(set(step.inputs)) < len(step.inputs)
    if twice or any(has_any(numbers.contribution(step, i)) for i in below):
        what = (
            f"the contributions to {below[0]} on several paths, {step.name} among them,"
            if not twice and step.composite is None
            else f"the contributions on several paths inside {step.name}"
            if step.composite
            else f"{step.name} takes {below[0]} twice, and the contributions"
        )
        return Finding(
            "cancels",
            f"{what} add up to zero",
            "y does not change with x: gradient_paths(y, x) shows the contributions",
            step,
        )
    values = numbers.operands(step)
    first = values[0] if values else None
    if step.rule is not None:
        return Finding(
            "rule_returned_zeros",
            f"the gradient rule {step.rule} returned zeros",
            "check the rule; straight_through() passes gradients on",
            step,
            rule=step.rule,
        )
    if numbers.cotangent(step).size == 0:
        return Finding(
            "empty",
            f"{step} has no elements, so nothing depends on its inputs",
            "check the bounds of the slice or the condition that selects none",
            step,
        )
    largest = float(abs(numbers.cotangent(step)).max())
    if step.kind not in STEPS and largest < UNDERFLOW:
        return Finding(
            "vanishing",
            f"the gradient at {step} is at most {largest:.2g}, and underflows after it",
            "many slopes below 1 are multiplied: scale the loss, use float64, or shorten the chain",
            step,
        )
    if step.kind in ("softmax", "log_softmax"):
        cotangent = numbers.cotangent(step)
        made = numbers.value(step)
        if (
            made is not None
            and made.size
            and (made == made.flat[0]).all()
            and made.flat[0] in (0, 1)
        ):
            return Finding(
                "zero_slope",
                f"{step.name} over an axis with one entry is constant",
                "check the shape and axis",
                step,
            )
        if (cotangent == cotangent.flat[0]).all():
            return Finding(
                "zero_slope",
                f"all entries of {step.name} have the same weight in y, and their sum is constant",
                "y does not change with x: weight the entries, as a loss does",
                step,
            )
    if step.kind in STEPS:
        return Finding(
            "steps",
            f"{step.name} is flat between its jumps: its derivative is zero everywhere",
            "use straight_through(), or a custom rule with gradient_override_map",
            step,
        )
    if step.kind == "relu":
        share = share_of(first <= 0) if first is not None else 1.0
        at_most = "" if first is None else f" (the largest is {first.max():.4g})"
        return Finding(
            "dead_relu",
            f"{step.name} is off for {percent(share)} of its {count_of(first)} inputs{at_most}"
            + _others(numbers, step, share),
            "check the bias and the scale of its input, lower the learning rate, or use an "
            "activation without a flat part, such as softplus",
            step,
            share=share,
        )
    if step.kind == "clip" and first is not None:
        low, high = values[1], values[2]
        share = share_of((first < low) | (first > high))
        return Finding(
            "clip_bound",
            f"{percent(share)} of the {count_of(first)} inputs of {step.name} are beyond its "
            f"bounds ({range_of(first)}, bounds {range_of(low)} and {range_of(high)})"
            + _others(numbers, step, share),
            "clip the gradient instead of the value (clip_gradient), or widen the bounds; "
            "straight_through() passes gradients on",
            step,
            share=share,
        )
    if step.kind in ("maximum", "minimum"):
        return Finding(
            "clip_bound",
            f"{step.name} selects the other operand everywhere",
            "check the bound; straight_through() passes gradients on",
            step,
            share=1.0,
        )
    if step.kind == "where":
        return Finding(
            "masked",
            f"{step.name} selects none of the entries that depend on x",
            "check the condition",
            step,
            share=1.0,
        )
    if step.kind in PRODUCTS:
        # The slope by an operand that depends on x is the other one.
        zero = [
            i
            for k, (i, v) in enumerate(zip(step.inputs, values, strict=True))
            if v is not None
            and not has_any(v)
            and any(j in ancestry.depends for m, j in enumerate(step.inputs) if m != k)
        ]
        if zero and step.composite is None:
            return Finding(
                "times_zero",
                f"{step.name} has an operand of zeros, {ancestry.steps[zero[0]]}, which is the "
                "slope by the other operand",
                "check the cause of the zeros: weights that start at zero, a mask, a factor",
                step,
            )
    if step.kind in SELECTING or step.kind in JOINING:
        above = reversed(ancestry.path(step)[: ancestry.path(step).index(step) + 1])
        chooser = next((s for s in above if s.kind in SELECTING), step)
        return Finding(
            "not_selected",
            f"{chooser.name} selects none of the entries that depend on x",
            "check the indices, or which entry is the extreme one",
            chooser,
        )
    saturated = "saturated" if step.kind in SATURATING else "zero_slope"
    return Finding(
        saturated,
        f"the slope of {step.name} is zero for {'' if first is None else range_of(first)}",
        "keep its input in the range where the function changes: scale it, or start with smaller "
        "weights; losses that take logits do not saturate"
        if saturated == "saturated"
        else "y does not change with x here",
        step,
    )


def _others(numbers: Numbers, step: Step, share: float) -> str:
    """Return the remark about the entries that pass a gradient."""
    return "" if share == 1 else ", and y does not depend on the others"


def why_tiny(numbers: Numbers) -> list[Finding]:
    """Return the steps at which the cotangent shrinks most."""
    ancestry = numbers.ancestry
    # Grouped by line and operation, so that iterations of a Python loop are one entry. The
    # operations inside a composite are one step.
    together: dict[tuple[str, Any], dict[int, float]] = {}
    steps: dict[tuple[str, Any], Step] = {}
    # The division in a mean is compensated by its sum.
    of_means = {i for step in ancestry.steps.values() if step.kind == "mean" for i in step.inputs}
    numbers.compute_contributions(
        (step, i) for step in numbers.between for i in ancestry.inputs(step)
    )
    for step in numbers.between:
        if step.number in of_means:
            continue
        above = total_of(numbers.cotangent(step))
        contributions = [numbers.contribution(step, i) for i in ancestry.inputs(step)]
        below = sum(total_of(part) for part in contributions)
        if above and any(part is not None for part in contributions) and below < above:
            number = (step.composite or step).number
            key = step.name, step.place or step.made_from or number
            ratios = together.setdefault(key, {})
            ratios[number] = ratios.get(number, 1.0) * (below / above)
            steps.setdefault(key, step)
    out = []
    for key in sorted(together, key=lambda key: prod(together[key].values()))[:3]:
        factor, count, step = prod(together[key].values()), len(together[key]), steps[key]
        operands = [v for v in numbers.operands(step) if v is not None and has_some(v)]
        given = f" (its input: {range_of(operands[0])})" if operands else ""
        times = f" in {count} steps" if count > 1 else ""
        out.append(
            Finding(
                "vanishing",
                f"the slope shrinks by a factor of {factor:.2g} at {step.name}{times}{given}",
                "check the scale of its other operand, or scale the loss"
                if step.kind in PRODUCTS
                else "keep its input in the range where the function changes, or scale the loss",
                step,
                factor=factor,
            )
        )
    return out
