"""Tests of whether the history of x was recorded, and the reasons if not."""

from __future__ import annotations

from .. import _core
from .._core import Variable
from .ancestry import Ancestry, maker_of, place_of
from .finding import Finding
from .query import Question, ancestors_of

WATCH = (
    "make it a Variable, watch it with a GradientTape before it is used, or differentiate a "
    "function of it with grad"
)


def counts(question: Question) -> bool:
    """Return whether the history of x is recorded; otherwise `gradients` raises an error for x."""
    ancestry = question.ancestry
    return ancestry.x_tracked or ancestry.x_since is not None or ancestry.x == ancestry.y


def descends_from_watched(question: Question) -> bool:
    if isinstance(question.x, Variable):
        return question.ancestry.x_since is not None
    tensors = [s.tensor for s in ancestors_of(question.x).values() if s.tensor is not None]
    return any(_core.identity_of(t, question.tape)[3] is not None for t in tensors)


def not_watched(question: Question, ancestry: Ancestry) -> Finding:
    x = question.x
    place = place_of(x)
    if isinstance(x, Variable):
        why = "it is not trainable" if not x.trainable else "the tape did not record a read"
        return Finding(
            "not_watched",
            f"the tape does not watch Variable '{x.name}': {why}",
            "call tape.watch() with it before it is used",
            ancestry.steps.get(ancestry.x),
            place,
        )
    parents = ancestors_of(x)
    made = maker_of(parents, x)
    source = next((s for s in parents.values() if s.name == "read"), None)
    if question.tape and source is not None:
        return Finding(
            "not_watched",
            f"{{x}} was computed by {made} from {source} before the tape recorded it, so it is "
            "not the variable: an assignment to a name such as `w = w - rate * slope` creates a "
            "new tensor",
            "update the variable with assign or assign_sub, or watch the new tensor",
            made,
            place,
        )
    if question.tape:
        return Finding(
            "not_watched",
            f"the tape does not watch {{x}}, which was computed by {made}",
            "call tape.watch(x) before it is used",
            made,
            place,
        )
    return Finding(
        "not_watched",
        f"{{x}}, computed by {made}, is a plain tensor that was not watched, so it has no history",
        WATCH,
        made,
        place,
    )
