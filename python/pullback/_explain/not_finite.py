"""Why a gradient is NaN or infinite: the first value, or the first slope, that is not finite."""

from __future__ import annotations

import numpy as np

from .ancestry import Step
from .finding import Finding
from .values import Numbers, at_text, first_of, given_text, has_any, is_finite, share_of


def why_not_finite(numbers: Numbers) -> list[Finding]:
    """Return the first values that are not finite, or else the first such cotangent."""
    ancestry = numbers.ancestry
    seen = {s.number for s in numbers.between}
    origins = []
    for step in ancestry.steps.values():  # inputs first
        value = numbers.value(step)
        if value is None or is_finite(value):
            continue
        if all(v is None or is_finite(v) for v in numbers.operands(step)):
            origins.append(step)
    # Masked entries do not affect the gradient.
    within = [s for s in origins if s.number in seen and _matters(numbers, s)]
    # Infinite operands are often intended, for example in masks; NaN never is.
    outside = [s for s in origins if s.number not in seen]
    beside = within or [s for s in outside if np.isnan(numbers.value(s)).any()]
    if beside:
        return [_bad_value(numbers, s) for s in beside]
    backward = _first_bad_slope(numbers)
    if backward is not None:
        return [backward]
    return [_bad_value(numbers, s) for s in outside]


def _matters(numbers: Numbers, step: Step) -> bool:
    """Return whether a value that is not finite affects the gradient.

    It does if a cotangent reaches one of its entries, or if one of its users passes it on as a
    slope.
    """
    value, cotangent = numbers.value(step), numbers.cotangent(step)
    if cotangent is None or cotangent.shape != value.shape:
        return has_any(cotangent)
    if has_any(cotangent[~np.isfinite(value)]):
        return True
    users = [user for user in numbers.between if step.number in user.inputs]
    contributions = [
        numbers.contribution(user, i) for user in users for i in numbers.ancestry.inputs(user)
    ]
    return any(part is not None and not is_finite(part) for part in contributions)


def _bad_value(numbers: Numbers, step: Step) -> Finding:
    value = numbers.value(step)
    bad = ~np.isfinite(value)
    kind = "NaN" if np.isnan(value).any() else "infinite"
    at = first_of(bad)
    many = f"{int(bad.sum())} of {bad.size} entries" if value.ndim else "the value"
    if not step.inputs:
        verb = "is" if bad.sum() == 1 else "are"
        return Finding(
            "bad_data",
            f"{many} of {step} {verb} {kind} to begin with{at_text(at)}",
            "check the data: these are inputs",
            step,
            share=share_of(bad),
            index=at,
        )
    given = given_text(numbers, step, at)
    return Finding(
        "bad_value",
        f"{step.name} returns {kind} for finite numbers: {many}{at_text(at)}{given}",
        _advice(VALUE_ADVICE, step, "keep its operands where the result is finite"),
        step,
        share=share_of(bad),
        index=at,
    )


def _first_bad_slope(numbers: Numbers) -> Finding | None:
    for step in numbers.between:
        cotangent = numbers.cotangent(step)
        if cotangent is None or not is_finite(cotangent):
            continue
        for below in numbers.ancestry.inputs(step):
            slope = numbers.cotangent(below)
            if slope is None or is_finite(slope):
                continue
            own = numbers.contribution(step, below)
            if own is not None and is_finite(own):
                continue  # another user of this input sent it
            bad = ~np.isfinite(slope)
            at = first_of(bad)
            kind = "NaN" if np.isnan(slope).any() else "infinite"
            value = numbers.value(below)
            there = "" if value is None else f", for an input of {value[at]:.4g}"
            rule = f" (by the rule {step.rule})" if step.rule else ""
            return Finding(
                "bad_slope",
                f"all values are finite, but the slope of {step.name}{rule} is {kind} for "
                f"{int(bad.sum())} of {bad.size} entries{at_text(at)}{there}",
                _advice(SLOPE_ADVICE, step, "keep its input where the slope is finite"),
                step,
                share=share_of(bad),
                index=at,
            )
    return None


def _advice(known: dict[str, str], step: Step, otherwise: str) -> str:
    return otherwise if step.composite else known.get(step.kind, otherwise)


VALUE_ADVICE = {
    "log": "log is -inf at 0 and NaN below: add a small number, clip from below, or use a loss "
    "that takes logits",
    "log1p": "log1p is -inf at -1 and NaN below",
    "sqrt": "sqrt is NaN below 0: rounding may give small negative numbers; use maximum(x, 0)",
    "rsqrt": "rsqrt is infinite at 0: add a small number",
    "divide": "the divisor is 0 (or both are infinite): add a small number to it, or select the "
    "divided entries with where()",
    "exp": "exp overflows above 88.7 in float32 and 709.8 in float64: subtract the maximum, or use "
    "logsumexp, softmax, softplus",
    "pow": "a negative base with a fractional exponent is NaN; 0 to a negative power is infinite",
    "square": "it overflows: scale first",
    "multiply": "it overflows, or multiplies infinity by 0",
    "subtract": "infinity minus infinity is NaN",
    "matmul": "the sum of products overflows: scale first",
}
SLOPE_ADVICE = {
    "sqrt": "the slope of sqrt is infinite at 0: add a small number below the root; for a length, "
    "use pb.linalg.norm, whose gradient at 0 is 0",
    "pow": "a power below 1 has an infinite slope at 0: add a small number to the base",
    "log": "the slope of log is infinite at 0: clip from below, or use a loss that takes logits",
    "divide": "the slope of a quotient by its divisor grows with 1 / divisor**2: add a small "
    "number to it",
    "rsqrt": "the slope of rsqrt is infinite at 0: add a small number",
    "multiply": "infinity times 0: select entries with where() before the product",
}
