"""Looking inside of loops and branches: what they did, operation by operation.

A loop or a branch is one step. Where a finding is about one, the question is asked once more of a y
that is made without it: of what its iterations did, or the branch that was taken. Of many
iterations shorter loops are made first, and of these the one that a finding is about is looked into
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .ancestry import Question, Ran, Step
from .finding import Finding

Answer = tuple[list[Finding], list[Step]]


def look_inside(
    question: Question, findings: list[Finding], path: list[Step], ask: Callable[[Question], Answer]
) -> Answer:
    """The findings about loops and branches as findings about what is inside, and the path there.
    `ask` says what they are of another question."""
    idle: list[Finding] = []
    while steps := _next(findings):
        try:
            inner, ran = question.opened(steps)
            if not ran:
                break
            question = inner
            idle += filter(None, (_idle(question, one) for one in ran))
            if not question.ancestry.connected:
                return idle or [_left_out(one.step) for one in ran], path
            found, way = ask(question)
        except Exception:  # a rule of the program may not bear to be asked on its own
            break
        findings, path = _once_a_loop(found), way
        if not findings:
            break
    return findings + idle, path


def _next(findings: Iterable[Finding]) -> list[Step]:
    """Of each loop or branch of the program one that is to be opened: the one with the fewest
    iterations, that is nearest to the cause."""
    out: dict[int, Step] = {}
    for finding in findings:
        step = finding.step
        if step is None or not step.operation:
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
    """Where something was found inside of a loop, the rest of its iterations is left alone."""
    found = {_outermost(f.step) for f in findings if f.step and f.step.inside and not _rest(f.step)}
    return [f for f in findings if not (f.step and _rest(f.step) and _outermost(f.step) in found)]


def _rest(step: Step) -> bool:
    return bool(step.operation and step.inside and step.inside[-1].closed)


def _idle(question: Question, ran: Ran) -> Finding | None:
    """What is to be said of a loop that did nothing, and of a branch that leaves x out."""
    step = ran.step
    if ran.kind == "loop":
        if ran.number:
            return None
        return Finding(
            "no_iterations",
            f"{step.name} ran for no iteration, so what its function uses does not count",
            "look at the condition and the length; y depends on {x} once it runs",
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
        f"{step.name} took number {ran.number} of its functions{_named(ran.function)}, "
        "which does not use {x}",
        "look at the condition; y depends on {x} where another function is chosen",
        step,
    )


def _left_out(step: Step) -> Finding:
    return Finding(
        "unused",
        f"{step} goes along with {{x}} inside, and what it computes for {{y}} is not made from it",
        "{y} does not change with {x} here",
        step,
    )


def _named(function: str) -> str:
    return f", {function}" if function else ""
