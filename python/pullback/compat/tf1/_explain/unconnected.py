"""Why y does not depend on x at all, in a graph."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .... import _core
from ...._explain.ancestry import Ancestry, Step
from ...._explain.disjoint import VIEWS, made_after
from ...._explain.finding import Finding
from .._graph.operation import Operation
from .._graph.tensor import ancestors
from .._run.fetches import fetched_results
from .._variables.variables import Variable
from .steps import GraphAncestry, assigns, number_of, op_of, place_of, steps_of

if TYPE_CHECKING:
    from .questions import GraphQuestion


def why_apart(question: GraphQuestion, ancestry: Ancestry) -> Finding:
    if question.source.graph is not question.graph:
        return Finding(
            "another_graph",
            "{x} is of another graph than {y}, and no operation leads from one graph to another",
            "build both in one graph, inside one `with graph.as_default()`; reset_default_graph() "
            "between the two starts a new one",
            place=question.x_place(),
        )
    if isinstance(question.x, Variable):
        found = _of_like_name(question.x, ancestry)
    else:
        found = _made_later(question, ancestry)
    return (
        found or _through_run(question, ancestry) or _through_assignment(question)
        or _only_waits(question, ancestry) or _unused(question, ancestry)
    )  # fmt: skip


def _made_later(question: GraphQuestion, ancestry: Ancestry) -> Finding | None:
    """Test whether a name was rebound after y was built, as in the main namespace.

    A graph is built as a whole, so common ancestors prove little: the name was rebound if the
    tensors share a leaf of the shape of x.
    """
    if ancestry.x < ancestry.y:
        return None
    parents = steps_of(question.source)
    made = parents[ancestry.x]
    computed = _reached(parents, made)
    variables = {s.variable for s in ancestry.steps.values() if s.variable}
    leaves = [s for s in map(parents.__getitem__, computed) if s.is_leaf and s.form == made.form]
    again = any(s.number in ancestry.steps or s.variable in variables for s in leaves)
    if again and ancestry.y not in computed and op_of(made).type != "GradientOutput":
        return made_after(question, ancestry, {n: parents[n] for n in sorted(computed)})
    if ancestry.y in parents or made.kind in VIEWS:
        return made_after(question, ancestry, parents)
    return None


def _reached(steps: dict[int, Step], start: Step) -> set[int]:
    """Return the steps that flow into a step, without the tensors differentiated by a gradient."""
    out: set[int] = set()
    pending = [start.number]
    while pending:
        step = steps[pending.pop()]
        if step.number not in out:
            out.add(step.number)
            op = op_of(step)
            ys = op.attrs["ys"] if op.type == "SymbolicGradient" else 0
            pending += step.inputs[ys:]
    return out


def _of_like_name(x: Any, ancestry: Ancestry) -> Finding | None:
    """Find a variable or scope with the name of x and the number of a taken name."""

    def plain(name: str) -> str:
        return re.sub(r"_\d+(?=/|$)", "", name)

    taken = plain(x.op.name)
    if taken not in [op.name for op in x.graph.get_operations()]:
        return None  # the program's own numbers
    for step in ancestry.steps.values():
        if not step.variable or step.form != _form(x):
            continue
        if plain(step.variable_name) == taken:
            return Finding(
                "another_variable",
                f"{{y}} reads variable '{step.variable_name}', which is not '{x.op.name}': the "
                "name was taken, so creating it again created another variable",
                "pass that one; to share it use get_variable, and variable_scope with "
                "reuse=tf.AUTO_REUSE", step, place_of(x.op),
            )  # fmt: skip
    return None


def _form(x: Any) -> str:
    return next(iter(steps_of(x.handle).values())).form


def _through_run(question: GraphQuestion, ancestry: Ancestry) -> Finding | None:
    for leaf in ancestry.steps.values():
        if leaf.tensor is None or leaf.kind not in ("argument", "constant"):
            continue
        for fetch in fetched_results(leaf.tensor):
            steps = steps_of(fetch.tensor)
            if not GraphAncestry(fetch.tensor, question.source, steps, True, False).connected:
                continue
            was = "has the same value" if leaf.kind == "constant" else "was fed it"
            return Finding(
                "numpy",
                f"the value of {steps[number_of(fetch.tensor)]} left the graph by a run, and {{y}} "
                f"was made from {leaf}, which {was}: a number without a history",
                "make {y} from the tensor instead of its value, and run both together",
                leaf,
                fetch.place,
            )
    return None


def _through_assignment(question: GraphQuestion) -> Finding | None:
    steps = steps_of(question.y, assignments=True)
    ancestry = GraphAncestry(question.y, question.source, steps, True, False)
    path = ancestry.path()
    for read, value in pairwise(path):
        if read.kind != "read" or ancestry.is_x(read):
            continue
        variable = op_of(read).attrs["variable"]
        written = (op for op in filter(assigns, question.graph.get_operations()))
        op = next(
            op
            for op in written
            if op.attrs["variable"] is variable and value.number in map(number_of, op.inputs)
        )
        first = op is variable.initializer
        how = "as its initial value" if first else f"by {op.name}: {op.type}"
        return Finding(
            "assignment", f"{{x}} goes into {read} {how}, and no gradient passes an assignment",
            "make {y} from the value itself, and assign it beside that", read, place_of(op),
        )  # fmt: skip
    return None


def _only_waits(question: GraphQuestion, ancestry: Ancestry) -> Finding | None:
    made = question.source.op
    seen: set[Operation] = set()
    for step in ancestry.steps.values():
        held = [op for op in op_of(step).control_inputs if op not in seen]
        seen.update(held)
        if made in held or made in ancestors(out for op in held for out in op.outputs):
            return Finding(
                "control_dependency",
                f"{step} waits for operations on {{x}}, by control_dependencies, but is not "
                "computed from it", "use {x} in its value: an order is not a path", step,
            )  # fmt: skip
    return None


def _unused(question: GraphQuestion, ancestry: Ancestry) -> Finding:
    leaves = [s for s in ancestry.steps.values() if s.kind in ("argument", "read")]
    names = sorted({f"'{s.variable_name or s.name}'" for s in leaves})
    found = ", ".join(names) or "no variable and no placeholder"
    rerun = "" if _core.recording() else "; set_debug(True) before the program shows values that "
    rerun += "" if _core.recording() else "a run has answered and that were fed again"
    return Finding(
        "unused", f"{{y}} was not made from {{x}}: it depends on {found}",
        f"use {{x}} where {{y}} is made{rerun}", place=question.x_place(),
    )  # fmt: skip
