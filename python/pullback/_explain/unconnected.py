"""Reasons for a gradient of None: the steps that cut the paths from y to x, or a missing path."""

from __future__ import annotations

from typing import Any

from .. import _core
from .ancestry import Ancestry, Step
from .disjoint import why_apart
from .finding import Finding
from .query import Question
from .tracking import WATCH, counts, descends_from_watched, not_watched


def why_none(question: Question) -> list[Finding]:
    """Return the causes, the most important first; never empty."""
    ancestry = question.ancestry
    if question.x_dtype.kind not in "fc":
        return [
            Finding(
                "integer",
                f"{{x}} is {question.x_dtype}, and only floats have gradients",
                "use a floating dtype for {x}",
                place=question.x_place(),
            )
        ]
    top = ancestry.top
    if not top.is_float:
        return [_integer(_end_of_history(ancestry, top) if ancestry.connected else top)]
    if not ancestry.connected:
        return [question.why_apart() or why_apart(question, ancestry)]
    return _cuts(question, ancestry) or [nothing_found(ancestry)]


# --- y was made from x, and something cuts


def _cuts(question: Question, ancestry: Ancestry) -> list[Finding]:
    between = ancestry.descending()
    unseen = question.why_unseen()
    if unseen:
        return [unseen]
    if not counts(question):
        return [not_watched(question, ancestry)]
    if question.tape:
        unseen = not_seen(question, ancestry, between)
        if unseen is None and not descends_from_watched(question):
            unseen = not_watched(question, ancestry)
        if unseen:
            return [unseen]
    cotangents = cotangents_of(question, between)
    reached = {ancestry.y}
    out = []
    for step in between:
        if step.number not in reached:
            continue
        below = ancestry.inputs(step)
        passed = [i for i in below if cotangents.get(i.number) is not None]
        reached.update(i.number for i in passed)
        if below and not passed and not ancestry.is_x(step):
            out.append(why_cut(question, ancestry, step))
    return out


def not_seen(question: Question, ancestry: Ancestry, between: list[Step]) -> Finding | None:
    """Return the finding that a tape did not record a step.

    The step was created while the tape did not record, or before the tape watched x.
    """
    steps = [s for s in between if not ancestry.is_x(s)]
    for step in steps:
        if not step.recorded:
            return Finding(
                "not_recorded",
                f"{step} was created while the tape did not record: outside its block, in "
                "stop_recording, or in another thread or task",
                "create it inside the block of the tape, or use gradients(), which needs no tape",
                step,
            )
    since = ancestry.x_since
    for step in steps:
        if (
            since is not None
            and step.number < since
            and any(ancestry.is_x(i) for i in ancestry.inputs(step))
        ):
            return Finding(
                "watched_late",
                f"{step} was created before the tape watched {{x}}; only later operations count",
                "watch {x} before it is used",
                step,
            )
    return None


def cotangents_of(question: Question, steps: list[Step]) -> dict[int, Any]:
    """Return the gradient of y by each step that has one."""
    tracked = [s for s in steps if s.tracked or question.ancestry.is_x(s)]
    requested = [s for s in tracked if s.carries]
    gradients = question.gradients([s.tensor for s in requested])
    return {s.number: g for s, g in zip(requested, gradients, strict=True) if g is not None}


def why_cut(question: Question, ancestry: Ancestry, step: Step) -> Finding:
    known = question.why_cut(step)
    if known:
        return known
    if step.stopped:
        return Finding(
            "stop_gradients",
            "it is among stop_gradients, which count as constants",
            "remove it from stop_gradients",
            step,
        )
    if step.kind == "stop_gradient" and step.rule is None:
        return _stopped(step)
    if step.rule is not None:
        return Finding(
            "rule_returned_none",
            f"the gradient rule {step.rule}{_of(step)} returned None",
            "return a gradient for each input, or zeros if that is intended",
            step,
            rule=step.rule,
        )
    if not step.is_float:
        return _integer(step)
    # A tape ignores the results of an operation that passes no gradient.
    stopping = _stopping(ancestry, step) if question.tape else None
    if stopping:
        return why_cut(question, ancestry, stopping)
    if step.operation and any(i.is_float for i in ancestry.inputs(step)):
        return _inside(step)
    end = _end_of_history(ancestry, step)
    if end.kind == "stop_gradient":
        return _stopped(end)
    if not end.is_float:
        return _integer(end)
    if _core.is_operation_name(step.kind) and not step.tracked:
        return Finding(
            "not_tracked",
            f"{step} kept no history when it was created",
            f"{{x}} was not tracked there: {WATCH}",
            step,
        )
    return Finding(
        "not_differentiable",
        f"{step.name} has no derivative",
        "replace it by a differentiable operation, or give it a rule with gradient_override_map or "
        "custom_gradient",
        step,
    )


def _inside(step: Step) -> Finding:
    return Finding(
        "inside",
        f"no gradient passes through the inside of the {step.name}",
        "check its function for stop_gradient, a comparison, integers or a rule that returns None",
        step,
    )


def _stopping(ancestry: Ancestry, step: Step) -> Step | None:
    """Return the first operation below a step that passes no gradient, if all paths end."""
    first = None
    pending = ancestry.inputs(step)
    seen = {i.number for i in pending}
    for below in pending:
        if ancestry.is_x(below):
            return None
        if not below.passes:
            first = first or below
            continue
        new = [i for i in ancestry.inputs(below) if i.number not in seen]
        seen.update(i.number for i in new)
        pending += new
    return first


def _of(step: Step) -> str:
    return "" if step.custom else f" of {step.name}"


def _stopped(step: Step) -> Finding:
    return Finding(
        "stop_gradient",
        "stop_gradient makes its argument a constant",
        "remove stop_gradient if {x} should receive a gradient on this path",
        step,
    )


def _end_of_history(ancestry: Ancestry, step: Step) -> Step:
    """Return the last step of the history that has no floating, tracked inputs."""
    while True:
        below = [i for i in ancestry.inputs(step) if not (i.tracked and i.is_float)]
        if not below or not ancestry.inputs(below[0]):
            return step
        step = below[0]


def _integer(step: Step) -> Finding:
    if step.kind == "cast" and step.composite is None:
        return Finding(
            "integer",
            f"a cast to {step.dtype}, which has no derivative",
            "keep it floating; straight_through() makes a rounding differentiable",
            step,
        )
    return Finding(
        "not_differentiable",
        f"{step.name} returns {step.dtype}, which has no derivative",
        "use a smooth substitute (softmax for argmax, sigmoid for a comparison), where() for a "
        "choice, or straight_through()",
        step,
    )


def nothing_found(ancestry: Ancestry) -> Finding:
    return Finding(
        "unknown",
        "a path leads from {y} to {x}, but no cause was found on it",
        "draw(y, x) shows where it flows; please report this program",
        ancestry.top,
    )
