"""Why y does not depend on x, and what a gradient misses because a value left the graph.

x may be newer than y, its value may have left the graph, or it may have been assigned to a
variable. Start reading at `why_apart`.
"""

from __future__ import annotations

from .. import _core
from .._core import Variable
from .ancestry import LEAVES, Ancestry, Place, Step, place_of
from .finding import Finding
from .query import Question, ancestors_of
from .tracking import WATCH, counts, not_watched

# Operations that return a part of a tensor, or the whole in another shape.
VIEWS = {"identity", "reshape", "slice", "take", "transpose"}


def why_apart(question: Question, ancestry: Ancestry) -> Finding:
    return (
        _made_after(question, ancestry)
        or (None if counts(question) else not_watched(question, ancestry))
        or _of_same_name(question, ancestry)
        or _through_numpy(question, ancestry, surely=True)
        or _through_assignment(question)
        or _through_numpy(question, ancestry, surely=False)
        or _from_call(question, ancestry)
        or _history_gone(question, ancestry)
        or _unused(question, ancestry)
    )


def _made_after(question: Question, ancestry: Ancestry) -> Finding | None:
    if not ancestry.x or ancestry.x < ancestry.y:
        return None
    return made_after(question, ancestry, ancestors_of(question.x))


def made_after(question: Question, ancestry: Ancestry, parents: dict[int, Step]) -> Finding | None:
    """Return the finding that x is newer than y or beside it.

    `parents` are the steps that lead to x.
    """
    made = parents[ancestry.x]
    place = question.x_place()
    shared = [n for n in sorted(parents, reverse=True) if n in ancestry.steps and n != ancestry.x]
    common = [ancestry.steps[n] for n in shared if ancestry.steps[n].kind not in LEAVES]
    common += [s for s in (ancestry.steps[n] for n in shared) if s.kind == "read"]
    variables = {s.variable for s in ancestry.steps.values() if s.kind == "read"}
    common += [s for s in parents.values() if s.kind == "read" and s.variable in variables]
    common += [ancestry.steps[n] for n in shared if ancestry.steps[n].tracked]
    if ancestry.y in parents:
        return Finding(
            "made_after",
            "{x} was computed from {y}; the two may be in the wrong order",
            "explain(y, x) explains the gradient of y by x",
            made,
            place,
        )
    if common and made.kind in VIEWS:
        return Finding(
            "made_after",
            f"{{x}} is a new tensor, computed by {made} from {common[0]} after {{y}}",
            f"differentiate with respect to {common[0]}, and index that gradient",
            made,
            place,
        )
    if common:
        return Finding(
            "rebound",
            f"{{x}} was computed by {made} after {{y}}, and both from {common[0]}. An assignment "
            "to a name such as `w = w - rate * slope` creates a new tensor, and {y} depends on "
            "the old one",
            "compute the gradient before the name is rebound, keep the old tensor, or use a "
            "Variable and assign",
            made,
            place,
        )
    return Finding(
        "made_after",
        f"{{x}} was computed by {made} after {{y}}, so {{y}} cannot depend on it",
        "compute {y} from {x}, or differentiate with respect to the tensor that {y} was computed "
        "from",
        made,
        place_of(question.x),
    )


def _of_same_name(question: Question, ancestry: Ancestry) -> Finding | None:
    x = question.x
    if not isinstance(x, Variable):
        return None
    others = [s for s in ancestry.steps.values() if s.variable and s.variable != ancestry.variable]
    for step in others:
        if step.variable_name == x.name:
            return Finding(
                "another_variable",
                f"{{y}} reads another variable with the name '{x.name}'",
                "differentiate with respect to that variable; another call of Variable created it",
                step,
            )
    return None


def missed(question: Question, ancestry: Ancestry) -> list[Finding]:
    """Return the finding that a gradient which exists is incomplete, if it is.

    Programs contain many small integers by chance, so these do not count as escaped values.
    """
    found = _through_numpy(question, ancestry, surely=True, distinctive=True)
    if found:
        found.add(". The gradient of {y} by {x} is incomplete: it misses that path")
    return [found] if found else []


def _through_numpy(
    question: Question, ancestry: Ancestry, surely: bool, distinctive: bool = False
) -> Finding | None:
    """Return the finding that y continues from a value of x that left the graph.

    With `surely`, a constant has that value; otherwise it is an array of the same shape that was
    created later.
    """
    escapes = _core.recorded_reads()
    leaves = [s for s in ancestry.steps.values() if s.name in ("constant", "scalar")]
    if not escapes or not leaves:
        return None
    whole = Ancestry(question, {number for number, *_ in escapes})
    best: tuple[int, Finding] | None = None
    for number, following, place, how, shape, value in escapes:
        if number not in whole.depends:
            continue
        taken = whole.steps[number]
        for leaf in leaves:
            if leaf.number < following:
                continue
            rank = leaf.number - following
            if best and rank >= best[0]:
                continue
            same = _same_value(taken, value, leaf, distinctive)
            # A constant of another value and shape is probably unrelated.
            if same != surely or not (same or (leaf.shape and leaf.shape == shape)):
                continue
            back = f"the constant created at {leaf.place}" if leaf.place else "a constant"
            goes_on = f"and {{y}} continues from {back}"
            if not same:
                goes_on = f"and {{y}} was computed later from {back}, which probably has that value"
            finding = Finding(
                "numpy",
                f"the value of {taken} left the graph with {how}(), {goes_on}",
                "compute with the tensor instead of its value: pullback's functions take tensors",
                taken,
                Place(*place) if place else None,
                returned=str(leaf.place) if leaf.place else None,
            )
            best = rank, finding
    return best[1] if best else None


def _same_value(taken: Step, value: float | None, leaf: Step, distinctive: bool) -> bool:
    if leaf.scalar is not None:
        return leaf.scalar == value and not (distinctive and leaf.scalar.is_integer())
    if taken.tensor is None or leaf.tensor is None or taken.shape != leaf.shape:
        return False
    a, b = _core.arrays_of([taken.tensor, leaf.tensor])
    if a.shape != b.shape or not (a == b).all():
        return False
    return not distinctive or bool((a != a.flat[0]).any() or (a != a.round()).any())


def _through_assignment(question: Question) -> Finding | None:
    ancestry = Ancestry(question, assignments=True)
    if not ancestry.connected:
        return None
    for step in ancestry.path():
        if step.name == "read" and not ancestry.is_x(step):
            stored = ancestry.steps[step.inputs[0]]
            return Finding(
                "assignment",
                f"{{x}} was assigned to {step}, and no gradient passes an assignment",
                "compute {y} from the value itself, and assign it separately",
                step,
                stored.place,
            )
    return None


def _from_call(question: Question, ancestry: Ancestry) -> Finding | None:
    for step in ancestry.steps.values():
        if step.origin and not step.traced:
            return Finding(
                "not_kept",
                f"{{y}} comes from a call of {step.origin}, which kept no history",
                f"{{x}} was not tracked at that call: {WATCH}",
                step,
            )
    return None


def _history_gone(question: Question, ancestry: Ancestry) -> Finding | None:
    """Return the finding that the inputs of y were released without a record."""
    top = ancestry.top
    if top.is_leaf and top.name == "constant" and not isinstance(question.y, Variable):
        return Finding(
            "not_kept",
            "{y} has no history: it is a constant, or a result of a traced function that depends "
            "on nothing that is watched, or only through stop_gradient or integers",
            "run the program, including the trace, under set_debug(True); or explain the result "
            "without function()",
            top,
        )
    stopped = [s for s in ancestry.steps.values() if s.name == "stop_gradient" and s.is_leaf]
    if stopped:
        return Finding(
            "not_kept",
            f"{stopped[0]} has released its inputs; if {{x}} is among them, it is the cause",
            "run the program under set_debug(True), so that explain can find the cause",
            stopped[0],
        )
    if top.tracked or not top.is_leaf or top.name in LEAVES - {""}:
        return None
    return Finding(
        "not_kept",
        f"{{y}}, computed by {top}, is not tracked: it depends on no variable and on no watched "
        "tensor, or every path there passes stop_gradient or an integer. So its history was "
        "released",
        "run the program under set_debug(True), so that explain can name the line",
        top,
    )


def _unused(question: Question, ancestry: Ancestry) -> Finding:
    reads = [s for s in ancestry.steps.values() if s.name == "read"]
    names = sorted({s.variable_name for s in reads if s.variable_name})
    found = "no variable" if not reads else ", ".join(f"'{n}'" for n in names) or "other variables"
    rerun = "" if _core.recording() else "; set_debug(True) before the program shows values that "
    rerun += "" if _core.recording() else "left the graph by numpy() or float()"
    return Finding(
        "unused",
        f"{{y}} does not depend on {{x}}: it depends on {found}",
        f"use {{x}} where {{y}} is computed{rerun}",
        place=place_of(question.x),
    )
