"""`gradient_paths`: how much of a gradient comes along which way."""

from __future__ import annotations

from typing import Any

from .._base.checks import integer
from .ancestry import Ancestry, Step
from .query import Question
from .query_kinds import question_of

__all__ = ["GradientPath", "gradient_paths"]

ADDITIONS = {"add", "concat", "subtract"}
# What hands a sum on to the additions below it, where all else is constant: the parts of the sum
# stay parts.
THROUGH = {
    "average", "broadcast_to", "cast", "divide", "function", "identity", "mean", "multiply",
    "negative", "reshape", "sum", "transpose",
}  # fmt: skip


class GradientPath:
    """A part of a gradient: what came through one input of each addition on the way.

    `share` is its part of the gradient, a number: the projection on the whole, so that all shares
    add up to 1 and one that pulls the other way is negative; None where the whole is zero or
    not finite.
    `gradient` is the part itself, `through` the terms it came through, from y on.

    >>> w = pb.Variable([3.0, 4.0], name="w")
    >>> [part] = pb.gradient_paths(pb.sum(w * w), w)
    >>> part.share, part.norm, part.gradient
    (1.0, 10.0, array([6., 8.], dtype=float32))
    """

    def __init__(self, gradient: Any, share: float | None, through: list[Step]) -> None:
        self.gradient = gradient
        self.share = share
        self.through = through

    @property
    def norm(self) -> float:
        """The Euclidean length of the part."""
        import numpy as np

        return float(np.linalg.norm(np.asarray(self.gradient, np.float64)))

    def __str__(self) -> str:
        share = "   –  " if self.share is None else f"{self.share:6.1%}"
        terms = " ← ".join(
            f"{step}" + (f" ({step.place})" if step.place else "") for step in self.through
        )
        return f"{share}  norm {self.norm:.4g}  {terms or 'y itself'}"


class GradientPaths(list[GradientPath]):
    """The parts of a gradient, the largest first: a list that prints as a table."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no gradient: explain(y, x) says why"


def gradient_paths(
    y: Any, x: Any, limit: int = 16, *, session: Any = None, feed_dict: Any = None
) -> GradientPaths:
    """How much of the gradient of y by x comes along which way.

    A loss is a sum of terms: at each addition and subtraction the gradient is divided into what
    comes through either term, and again below it, the largest part first, until there are `limit`
    parts. Between additions only what keeps sums apart is passed (reshapes, sums, constant factors
    and the like), so that a network is not taken to pieces.

    y: a tensor; x: a tensor or a variable; session, feed_dict: where they are of a graph of
    `compat.tf1`, what gives it values. Returns a list of parts with `gradient`, `share`, `norm` and
    `through`; it is empty where the gradient is None.

    Raises TypeError where y or x are not tensors, ValueError where `limit` is below 1 or a graph
    has no values.

    >>> w = pb.Variable([3.0, 4.0], name="w")
    >>> loss = pb.sum(w * w) + 0.5 * pb.sum(w)
    >>> for part in pb.gradient_paths(loss, w):
    ...     print(f"{part.share:.1%} through {part.through[-1].name}")
    93.4% through sum
    6.6% through multiply
    """
    limit = integer(limit, "gradient_paths: limit")
    if limit < 1:
        raise ValueError(f"gradient_paths: limit is at least 1, got {limit}")
    question = question_of("gradient_paths", y, x, session=session, feed_dict=feed_dict)
    with question.asking():
        return _paths(question, limit)


def _paths(question: Question, limit: int) -> GradientPaths:
    import numpy as np

    [whole] = question.gradients([question.x])
    if whole is None:
        return GradientPaths()
    ancestry = question.ancestry
    [total] = question.arrays_of([whole])
    open_parts = [_Part(ancestry.top, question.ones(), total, [])]
    closed: list[_Part] = []
    while open_parts and len(open_parts) + len(closed) < limit:
        open_parts.sort(key=lambda part: float(np.linalg.norm(part.gradient)))
        part = open_parts.pop()
        parts = _divided(question, ancestry, part)
        if parts:
            open_parts += parts
        else:
            closed.append(part)
    scale = float(np.abs(total).max(initial=0))
    along = total.astype(np.float64) / (scale or 1)  # its square does not vanish
    unit = float(np.vdot(along, along)) if np.isfinite(scale) else 0.0
    out = [
        GradientPath(
            part.gradient,
            float(np.vdot(part.gradient / scale, along)) / unit if unit else None,
            part.through,
        )
        for part in closed + open_parts
    ]
    return GradientPaths(sorted(out, key=lambda path: -path.norm))


class _Part:
    """What reaches a step along one way: its cotangent there, and the gradient by x that comes of
    it."""

    def __init__(self, step: Step, cotangent: Any, gradient: Any, through: list[Step]) -> None:
        self.step = step
        self.cotangent = cotangent
        self.gradient = gradient
        self.through = through


def _divided(question: Question, ancestry: Ancestry, part: _Part) -> list[_Part]:
    """The part by the terms of the first addition below it; empty where there is none."""
    step, cotangent = part.step, part.cotangent
    terms = ancestry.inputs(step)
    while step.kind in THROUGH | ADDITIONS and step.rule is None and len(terms) == 1:
        if step.kind == "divide" and step.inputs[0] != terms[0].number:
            return []
        if terms[0].tensor is None:
            return []
        [cotangent] = question.gradients([terms[0].tensor], step.tensor, cotangent)
        step = terms[0]
        terms = ancestry.inputs(step)
        if cotangent is None:
            return []
    if step.kind not in ADDITIONS or step.rule is not None or len(terms) < 2:
        return []
    out = []
    for term in terms:
        if term.tensor is None:
            return []
        # By the term as an input of this addition alone: nothing that it is made from counts.
        others = [other.tensor for other in terms if other is not term]
        [at_term] = question.gradients([term.tensor], step.tensor, cotangent, others)
        if at_term is None:
            continue
        [gradient] = question.gradients([question.x], term.tensor, at_term)
        if gradient is None:
            continue
        [array] = question.arrays_of([gradient])
        out.append(_Part(term, at_term, array, [*part.through, _named(ancestry, term)]))
    return out


def _named(ancestry: Ancestry, term: Step) -> Step:
    """What a term is called after: behind additions of constants, and inside of a function."""
    while term.kind in {*ADDITIONS, "function"} and len(below := ancestry.inputs(term)) == 1:
        term = below[0]
    return term
