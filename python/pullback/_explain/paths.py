"""`gradient_paths`: the contributions to a gradient along each path.

`_divided` splits a contribution at the next addition. Start reading at `_paths`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base.checks import integer

if TYPE_CHECKING:
    from .ancestry import Ancestry, Step
    from .query import Question

__all__ = ["GradientPath", "gradient_paths"]

ADDITIONS = {"add", "concat", "subtract"}
# Operations that keep the terms of a sum separate if their other operands are constant.
THROUGH = {
    "average", "broadcast_to", "cast", "divide", "function", "identity", "mean", "multiply",
    "negative", "reshape", "sum", "transpose",
}  # fmt: skip


class GradientPath:
    """A contribution to a gradient, through one operand of each addition on its path.

    Attributes
    ----------
    gradient : numpy.ndarray
        The contribution.
    share : float or None
        Its projection on the whole gradient as a fraction: all shares add up to 1, and a
        contribution in the opposite direction has a negative share. None if the whole gradient is
        zero or not finite.
    through : list
        The terms on the path, from y on.

    Examples
    --------
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
        """Return the Euclidean norm of the contribution."""
        import numpy as np

        return float(np.linalg.norm(np.asarray(self.gradient, np.float64)))

    def __str__(self) -> str:
        share = "   –  " if self.share is None else f"{self.share:6.1%}"
        terms = " ← ".join(
            f"{step}" + (f" ({step.place})" if step.place else "") for step in self.through
        )
        return f"{share}  norm {self.norm:.4g}  {terms or 'y itself'}"


class GradientPaths(list[GradientPath]):
    """The contributions to a gradient, the largest first: a list that prints as a table."""

    def __repr__(self) -> str:
        return "\n".join(map(str, self)) or "no gradient: explain(y, x) reports the reason"

    def _repr_html_(self) -> str:
        from .._base.html import preformatted

        return preformatted(repr(self))


def gradient_paths(
    y: Any, x: Any, limit: int = 16, *, session: Any = None, feed_dict: Any = None
) -> GradientPaths:
    """Split the gradient of `y` by `x` into contributions along paths.

    A loss is a sum of terms. At each addition and subtraction the gradient is split into the
    contributions through either operand, and again below it, the largest contribution first, until
    there are `limit` of them. Between additions only operations that keep sums separate are passed
    (reshapes, sums, constant factors and the like), so the inside of a network is not split.

    Parameters
    ----------
    y : Tensor or Variable
        Target.
    x : Tensor or Variable
        Source.
    limit : int, optional
        Largest number of contributions, at least 1. Default: 16.
    session, feed_dict : optional
        Session and feeds that give values to a graph of `compat.tf1`.

    Returns
    -------
    list of GradientPath
        The contributions, the largest first, with the attributes `gradient`, `share`, `norm` and
        `through`. The list is empty if the gradient is None. It prints as a table.

    Raises
    ------
    TypeError
        If `y` or `x` is not a tensor, or if `limit` is not an integer.
    ValueError
        If `limit` is below 1, or if a graph has no values.

    See Also
    --------
    explain, draw

    Examples
    --------
    >>> w = pb.Variable([3.0, 4.0], name="w")
    >>> loss = pb.sum(w * w) + 0.5 * pb.sum(w)
    >>> for part in pb.gradient_paths(loss, w):
    ...     print(f"{part.share:.1%} through {part.through[-1].name}")
    93.4% through sum
    6.6% through multiply
    """
    limit = integer(limit, "gradient_paths", "limit")
    if limit < 1:
        raise ValueError(f"gradient_paths: expected a positive integer for limit, got {limit}")
    from .query_kinds import question_of

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
    along = total.astype(np.float64) / (scale or 1)  # scaled, so its square does not underflow
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
    """The contribution of a step along one path: its cotangent there, and the gradient by x."""

    def __init__(self, step: Step, cotangent: Any, gradient: Any, through: list[Step]) -> None:
        self.step = step
        self.cotangent = cotangent
        self.gradient = gradient
        self.through = through


def _divided(question: Question, ancestry: Ancestry, part: _Part) -> list[_Part]:
    """Return the contributions of the terms of the next addition; empty if there is none."""
    step, cotangent = part.step, part.cotangent
    terms = ancestry.inputs(step)
    while _keeps_sums(step) and step.rule is None and len(terms) == 1:
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
        # The term counts only as an operand of this addition, not through the other terms.
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


def _keeps_sums(step: Step) -> bool:
    return step.kind in THROUGH | ADDITIONS or bool(step.given)  # the value of a composite


def _named(ancestry: Ancestry, term: Step) -> Step:
    """Return the step that names a term: below additions of constants, and inside a function."""
    while term.kind in {*ADDITIONS, "function"} and len(below := ancestry.inputs(term)) == 1:
        term = below[0]
    return term
