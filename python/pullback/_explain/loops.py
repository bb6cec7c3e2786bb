"""Explanations inside loops and branches, operation by operation.

A loop or a branch is one step. If a finding is about one, the question is repeated for a y that is
rebuilt without it: from the operations of its iterations, or of the branch that was taken. Many
iterations are first divided into shorter loops, and the one that a finding is about is divided
again. Start reading at `explain_inside`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from .ancestry import Place, Step
from .finding import Finding
from .query import ControlRecord, Question

Diagnosis = tuple[list[Finding], list[Step]]


def explain_inside(
    question: Question,
    findings: list[Finding],
    path: list[Step],
    analyse: Callable[[Question], Diagnosis],
) -> Diagnosis:
    """Return findings about loops and branches as findings about their operations.

    The second result is the path. `analyse` returns the findings and the path of another question.
    """
    unused: list[Finding] = []
    reported: set[Place] = set()  # lines whose loops are reported once
    whole = {_outermost(f.step): f for f in findings if f.step and f.step.operation}
    while steps := _steps_to_unroll(findings, reported):
        try:
            inner, records = question.opened(steps)
            if not records or not _has_same_gradient(question, inner):
                break
            unused += filter(None, (_unused_control(inner, record) for record in records))
            if not inner.ancestry.connected:
                return unused or [_unused_result(record.step) for record in records], path
            found, inner_path = analyse(inner)
        except Exception:  # a user-defined rule may fail outside its context
            break
        question, findings, path = inner, _once_a_loop(found), inner_path
        for finding in findings:
            if finding.step and finding.step.inside and not _is_remainder(finding.step):
                reported.update(filter(None, [finding.step.inside[0].place]))
        findings = [f for f in findings if not _is_reported(f.step, reported)]
    for finding in findings:
        _of_whole_loop(finding, whole)
    return findings + unused, path


def _has_same_gradient(question: Question, inner: Question) -> bool:
    """Return whether y and its gradient are the same in the rebuilt graph.

    They differ if a program hides a value from its records, for example if a rule takes it from
    elsewhere.
    """
    steps = inner.ancestry.descending()
    if not all(step.recorded for step in steps if step.inside):
        return False  # recorded by a tape of another thread
    [[before], [after]] = [one.gradients([one.x]) for one in (question, inner)]
    if before is None or question.ancestry.top.traced:
        return before is not None or after is None
    olds = question.arrays_of([question.y, before])
    news = inner.arrays_of([inner.y] if after is None else [inner.y, after])
    if after is None:  # None counts as zero: another branch may be connected
        news.append(np.zeros_like(olds[1]))
    for old, new in zip(olds, news, strict=True):
        finite = np.abs(old[np.isfinite(old)])
        scale = 1e-4 * finite.max(initial=0.0) + 1e-36  # subnormal numbers have few digits
        if old.shape != new.shape or not np.allclose(old, new, 1e-4, scale, equal_nan=True):
            return False
    return True


def _of_whole_loop(finding: Finding, whole: dict[int, Finding]) -> None:
    """Add the effect of the whole loop to a finding about a part of it."""
    step = finding.step
    if finding.reason != "vanishing" or step is None or not step.inside:
        return
    loop = whole.get(_outermost(step))
    factor = loop.figures.get("factor") if loop else None
    if factor is not None and factor < 0.99 * finding.figures.get("factor", 0.0):
        finding.add(f"; all iterations together by {factor:.2g}", factor=factor)


def _steps_to_unroll(findings: Iterable[Finding], reported: set[Place]) -> list[Step]:
    """Return one loop or branch to unroll for each one of the program.

    It is the one with the fewest iterations, which is nearest to the cause.
    """
    out: dict[int, Step] = {}
    for finding in findings:
        step = finding.step
        if step is None or not step.operation or _is_reported(step, reported):
            continue
        known = out.setdefault(_outermost(step), step)
        if _iterations(step) < _iterations(known):
            out[_outermost(step)] = step
    return list(out.values())


def _outermost(step: Step) -> int:
    return step.inside[0].operation if step.inside else step.operation


def _iterations(step: Step) -> float:
    return step.inside[-1].length if step.inside else float("inf")


def _once_a_loop(findings: list[Finding]) -> list[Finding]:
    """Return the findings without the remaining iterations of a loop that has one already."""
    found = {
        _outermost(f.step)
        for f in findings
        if f.step and f.step.inside and not _is_remainder(f.step)
    }
    return [
        f
        for f in findings
        if not (f.step and _is_remainder(f.step) and _outermost(f.step) in found)
    ]


def _is_reported(step: Step | None, reported: set[Place]) -> bool:
    """Return whether a loop on the same line has been reported."""
    if step is None or not step.operation or (step.inside and not _is_remainder(step)):
        return False
    return (step.inside[0].place if step.inside else step.place) in reported


def _is_remainder(step: Step) -> bool:
    """Return whether a step is a part of a loop that is not unrolled."""
    return bool(step.operation and step.inside and step.inside[-1].closed)


def _unused_control(question: Question, record: ControlRecord) -> Finding | None:
    """Return the finding about a loop without iterations, or about a branch that does not use x."""
    step = record.step
    if record.kind == "loop":
        if record.number:
            return None
        return Finding(
            "no_iterations",
            f"{step.name} ran for no iteration, so the inputs of its function do not count",
            "check the condition and the length; {y} depends on {x} once it runs",
            step,
        )
    depends = question.ancestry.depends
    if any(
        n in depends and place and place[-1].operation == step.operation
        for n, place in question.inside.items()
    ):
        return None
    return Finding(
        "not_chosen",
        f"{step.name} took number {record.number} of its functions{_named(record.function)}, "
        "which does not use {x}",
        "check the condition; {y} depends on {x} if another function is chosen",
        step,
    )


def _unused_result(step: Step) -> Finding:
    return Finding(
        "unused",
        f"{step} takes {{x}}, but its results in {{y}} do not depend on it",
        "{y} does not change with {x} here",
        step,
    )


def _named(function: str) -> str:
    return f", {function}" if function else ""
