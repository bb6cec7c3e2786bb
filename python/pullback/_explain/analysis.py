"""The analysis of a `Question`: its status, the findings that cause it, and the path they are on.

`analyse` evaluates the gradient and selects the analysis by its status.
"""

from __future__ import annotations

from collections.abc import Collection
from os.path import dirname
from typing import Any

import numpy as np

from .ancestry import Ancestry, Place, Step
from .disjoint import missed
from .explanation import Explanation
from .finding import Finding, of_program
from .loops import Diagnosis, explain_inside
from .not_finite import why_not_finite
from .query import Question
from .tracking import counts
from .unconnected import cotangents_of, nothing_found, why_none
from .values import Numbers, has_any, is_tiny
from .vanishing import why_tiny, why_zero


def analyse(question: Question) -> Explanation:
    """Evaluate the gradient of a question and explain its value."""
    with question.asking():
        return _explain(question)


def _explain(question: Question) -> Explanation:
    try:
        [gradient] = question.gradients([question.x])
        traced = question.ancestry.top.traced
        value = None if gradient is None or traced else question.arrays_of([gradient])[0]
    except Exception as error:  # a rule may raise anything
        return _failed(question, error)
    ancestry = question.ancestry
    names = _names(question)
    if gradient is None or not counts(question):
        findings, path = explain_inside(question, *_analyse_none(question), _analyse_none)
        return Explanation("none", findings, path, names, _notes(path), {})
    if value is None:
        between = ancestry.descending()
        path = ancestry.path(None, _passing(ancestry, between, cotangents_of(question, between)))
        return Explanation("unknown", [], path, names, [question.unknown, *_notes(path)], {})
    numbers = Numbers(question, ancestry)
    status = _status_of(value, numbers.cotangent(ancestry.top))

    def analyse_inner(inner: Question) -> Diagnosis:
        return _analyse_values(status, Numbers(inner, inner.ancestry))

    findings, path = explain_inside(question, *_analyse_values(status, numbers), analyse_inner)
    findings = [*findings, *missed(question, ancestry)]
    return Explanation(status, findings, path, names, _notes(path), _figures(value))


def sentence_for_none(question: Question) -> str:
    """Return why the gradient is None, for the message of an optimizer."""
    with question.asking():
        findings, path = explain_inside(question, *_analyse_none(question), _analyse_none)
    shown = [
        finding.about("the loss", "the variable") + (f" ({finding.where})" if finding.where else "")
        for finding in findings
    ]
    on_path = any(step is findings[0].step for step in path)
    return ("every path from the loss to it is cut: " if on_path else "") + "; ".join(shown)


def _status_of(value: Any, seed: Any) -> str:
    """Return the status of a gradient; `seed` is the cotangent of y."""
    if np.isnan(value).any():
        return "nan"
    if np.isinf(value).any():
        return "infinite"
    if not np.any(value):
        return "zero"
    return "tiny" if is_tiny(value, seed) else "flows"


ANALYSES = {"nan": why_not_finite, "infinite": why_not_finite, "zero": why_zero, "tiny": why_tiny}


def _analyse_values(status: str, numbers: Numbers) -> Diagnosis:
    ancestry = numbers.ancestry
    findings: list[Finding] = []
    if status in ANALYSES:
        found = of_program(_without_repetitions(ANALYSES[status](numbers)))
        findings = found or [nothing_found(ancestry)]
    alive = [n for n, cotangent in numbers.cotangents.items() if has_any(cotangent)]
    passing = _passing(ancestry, numbers.between, alive)
    return findings, ancestry.path(_first_on_path(numbers.question, findings), passing)


def _analyse_none(question: Question) -> Diagnosis:
    ancestry = question.ancestry
    findings = of_program(_without_repetitions(why_none(question)))
    return findings, ancestry.path(_first_on_path(question, findings)) if ancestry.connected else []


def _passing(ancestry: Ancestry, steps: list[Step], reached: Collection[int]) -> set[int]:
    """Return the numbers of the steps that are reached and pass a gradient on."""
    passing = (s.number for s in steps if s.passes or ancestry.is_x(s))
    return set(reached).intersection(passing)


def _without_repetitions(findings: list[Finding]) -> list[Finding]:
    """Return the findings without repetitions, such as those of a loop."""
    found: dict[Any, Finding] = {}
    for finding in findings:
        operation = finding.step.name if finding.step else None
        repeated = finding.step.made_from if finding.step else 0
        place = finding.place or repeated or id(finding)
        found.setdefault((finding.reason, operation, place), finding)
    return list(found.values())


def _figures(value: Any) -> dict[str, Any]:
    finite = np.abs(value[np.isfinite(value)])
    figures: dict[str, Any] = {"largest": float(finite.max())} if finite.size else {}
    if value.size > 1:
        figures["zeros"] = f"{int((value == 0).sum())} of {value.size}"
        bad = int((~np.isfinite(value)).sum())
        if bad:
            figures["not finite"] = f"{bad} of {value.size}"
    return figures


def _first_on_path(question: Question, findings: list[Finding]) -> Step | None:
    """Return the step of the first finding about a step that depends on x."""
    for finding in findings:
        if finding.step and finding.step.number in question.ancestry.depends:
            return question.ancestry.steps[finding.step.number]
    return None


def _notes(path: list[Step]) -> list[str]:
    return [
        f"{step.name} has the gradient rule {step.rule} instead of its own"
        for step in path
        if step.rule and not step.custom and step.name != "result"
    ]


def _names(question: Question) -> tuple[str, str]:
    return str(question.ancestry.top), question.x_title()


def _failed(question: Question, error: Exception) -> Explanation:
    from traceback import extract_tb

    finding = question.why_failed(error)
    if finding is None:
        what = f"{type(error).__name__}: {error}"
        package = dirname(dirname(__file__))
        at = [f for f in extract_tb(error.__traceback__) if not f.filename.startswith(package)]
        place = Place(at[-1].filename, at[-1].lineno or 0, at[-1].name) if at else None
        finding = Finding("error", what, "fix this error first", place=place)
    path = question.ancestry.path(finding.step) if finding.step else []
    return Explanation("error", [finding], path, _names(question), [], {})
