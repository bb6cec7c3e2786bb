"""Why a gradient is zero or tiny: where the cotangents die, or shrink."""

from __future__ import annotations

from .ancestry import Step
from .finding import Finding
from .values import (
    Numbers,
    count_of,
    has_any,
    has_some,
    is_alive,
    largest_of,
    percent,
    range_of,
    share_of,
)

# What keeps every entry of a cotangent: a zero behind it is a sum of terms that cancel.
LINEAR = {
    "add", "broadcast_to", "cast", "difference", "identity", "mean", "negative",
    "permute_dims", "reshape", "subtract", "sum", "transpose",
}  # fmt: skip
JOINING = {"at_index", "at_window", "concat", "stack"}
SELECTING = {
    "max", "min", "pick", "slice", "sparse_softmax_cross_entropy",
    "take", "take_along_axis",
}  # fmt: skip
STEPS = {"ceil", "floor", "floor_divide", "round", "sign"}
SATURATING = {"erf", "exp", "gelu", "log_softmax", "sigmoid", "softmax", "softplus", "tanh"}


def why_zero(numbers: Numbers) -> list[Finding]:
    """Each place where a cotangent that is not zero becomes zero."""
    ancestry = numbers.ancestry
    top = ancestry.steps[ancestry.y]
    if not is_alive(numbers.cotangent(top)) or 0 in (top.shape or ()):
        return [
            Finding(
                "empty", "y has no elements, so nothing depends on it", "look at y's shape", top
            )
        ]
    reached = {top.number}
    out = []
    for step in numbers.between:
        if step.number not in reached:
            continue
        below = ancestry.inputs(step)
        alive = [i for i in below if is_alive(numbers.cotangent(i))]
        reached.update(i.number for i in alive)
        if below and not alive:
            out.append(_dies(numbers, step, below))
    return out


def _dies(numbers: Numbers, step: Step, below: list[Step]) -> Finding:
    ancestry = numbers.ancestry
    values = numbers.operands(step)
    first = values[0] if values else None
    if step.rule is not None:
        return Finding(
            "rule_returned_zeros",
            f"the gradient rule {step.rule} of {step.name} returned zeros",
            "look at the rule; that of straight_through() passes gradients on",
            step,
            rule=step.rule,
        )
    if step.shape is not None and 0 in step.shape:
        return Finding(
            "empty",
            f"{step} has no elements, so nothing depends on what it was made from",
            "look at the bounds of the slice or the condition that left none",
            step,
        )
    if step.name in STEPS:
        return Finding(
            "steps",
            f"{step.name} is flat between its jumps: its derivative is zero everywhere",
            "use straight_through(), or a rule of your own with gradient_override_map",
            step,
        )
    if step.name == "relu":
        share = share_of(first <= 0) if first is not None else 1.0
        at_most = "" if first is None else f" (the largest is {first.max():.4g})"
        return Finding(
            "dead_relu",
            f"relu is off for {percent(share)} of its {count_of(first)} inputs{at_most}",
            "look at the bias and the scale of what goes in, lower the learning rate, or use a "
            "unit that is never off (softplus, gelu, a leaky relu)",
            step,
            share=share,
        )
    if step.name == "clip" and first is not None:
        low, high = values[1], values[2]
        share = share_of((first < low) | (first > high))
        return Finding(
            "clip_bound",
            f"{percent(share)} of the {count_of(first)} inputs of clip are beyond its bounds "
            f"({range_of(first)}, bounds {range_of(low)} and {range_of(high)})",
            "clip the gradient instead of the value (clip_gradient), or widen the bounds; "
            "straight_through() passes gradients on",
            step,
            share=share,
        )
    if step.name in ("maximum", "minimum"):
        return Finding(
            "clip_bound",
            f"the other operand of {step.name} wins everywhere",
            "look at the bound; straight_through() passes gradients on",
            step,
            share=1.0,
        )
    if step.name == "where":
        return Finding(
            "masked",
            "where takes none of the entries that depend on x",
            "look at the condition",
            step,
            share=1.0,
        )
    if step.name in ("multiply", "multiply_no_nan", "matmul", "divide", "dot", "einsum"):
        zero = [
            v for i, v in zip(step.inputs, values, strict=True) if v is not None and not has_any(v)
        ]
        if zero:
            return Finding(
                "times_zero",
                f"{step.name} has an operand of zeros, and the slope by one operand is the other",
                "look at what makes the zeros: weights that start at zero, a mask, a factor",
                step,
            )
    if step.name in SELECTING or step.name in JOINING:
        above = reversed(ancestry.path(step)[: ancestry.path(step).index(step) + 1])
        chooser = next((s for s in above if s.name in SELECTING), step)
        return Finding(
            "not_selected",
            f"{chooser.name} takes none of the entries that depend on x",
            "look at the indices, or at which entry is the extreme one",
            chooser,
        )
    if step.name in LINEAR:
        return Finding(
            "cancels",
            f"what reaches {below[0]} along several ways, {step.name} among them, adds up to zero",
            "y does not change with x: gradient_paths(y, x) shows the parts",
            step,
        )
    saturated = "saturated" if step.name in SATURATING else "zero_slope"
    return Finding(
        saturated,
        f"the slope of {step.name} is zero for {'' if first is None else range_of(first)}",
        "keep what goes in within the range where the function changes: scale it, or start with "
        "smaller weights; losses that take logits do not saturate"
        if saturated == "saturated"
        else "y does not change with x here",
        step,
    )


def why_tiny(numbers: Numbers) -> list[Finding]:
    """The steps at which the cotangent shrinks most."""
    ancestry = numbers.ancestry
    found = []
    for step in numbers.between:
        above = largest_of(numbers.cotangent(step))
        below = ancestry.inputs(step)
        sent = [n for i in below if (n := largest_of(numbers.cotangent(i))) is not None]
        if above and sent and max(sent) < above:
            found.append((max(sent) / above, step))
    found.sort(key=lambda entry: (entry[0], -entry[1].number))
    out = []
    for ratio, step in found[:3]:
        operands = [v for v in numbers.operands(step) if v is not None and has_some(v)]
        given = f" (its input: {range_of(operands[0])})" if operands else ""
        out.append(
            Finding(
                "vanishing",
                f"the slope shrinks by a factor of {ratio:.2g} at {step.name}{given}",
                "keep what goes in where the function changes, or scale the loss",
                step,
                factor=float(ratio),
            )
        )
    return out
