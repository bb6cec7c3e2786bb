"""`explain`: the reason why a gradient is None, zero, tiny, infinite or NaN.

`explain` makes a `Question` (question.py), `_explained` evaluates the gradient and selects the
analysis by its status, and the causes are `Finding`s (finding.py).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os.path import dirname
from typing import Any

from .. import _core
from .._autodiff.rules import rule_map
from .._autodiff.tape import GradientTape
from .._base.last_query import last_question
from .._base.pytree import flatten
from .ancestry import Ancestry, Place, Step, shortened
from .disjoint import missed
from .finding import Finding, of_program
from .loops import Answer, look_inside
from .not_finite import why_not_finite
from .query import Question
from .query_kinds import question_of
from .tracking import counts
from .unconnected import cotangents_of, nothing_found, why_none
from .values import Numbers, has_any, is_tiny
from .vanishing import why_tiny, why_zero

__all__ = ["Explanation", "explain"]

TITLES = {
    "none": "is None",
    "zero": "is zero",
    "nan": "has NaN",
    "infinite": "is infinite",
    "tiny": "is tiny",
    "flows": "is finite and not zero",
    "unknown": "exists; its values are not known",
    "error": "cannot be computed",
}


class Explanation:
    """Result of `explain`: why the gradient of y by x has its value.

    Its string is a text for people. Notebooks show the page of `as_html`.

    Attributes
    ----------
    status : str
        "none", "zero", "nan", "infinite", "tiny", "flows", "error", or "unknown" while a function
        is traced and for a graph that is not run.
    findings : list
        The causes, the most important first.
    path : list
        The operations from y to x through the first cause.
    names : tuple of str
        Descriptions of y and x.
    notes : list of str
        Further remarks, such as operations with overridden gradients.
    figures : dict
        Numbers about the gradient, such as its largest entry.

    Examples
    --------
    >>> x = pb.Variable([1.0, 2.0])
    >>> why = pb.explain(pb.sum(pb.round(x) * x), x)
    >>> why.status, [step.name for step in why.path]
    ('flows', ['sum', 'multiply', 'read'])
    """

    def __init__(
        self,
        status: str,
        findings: list[Finding],
        path: list[Step],
        names: tuple[str, str],
        notes: list[str],
        figures: dict[str, Any],
    ) -> None:
        self.status = status
        self.findings = findings
        self.path = path
        self.names = names
        self.notes = notes
        self.figures = figures

    @property
    def reason(self) -> str | None:
        """Return the kind of the first cause; None if the gradient flows."""
        return self.findings[0].reason if self.findings else None

    @property
    def place(self) -> str | None:
        """Return the line of the first cause, such as "train.py:12 in step", or None."""
        found = self.findings[0].place if self.findings else None
        return str(found) if found else None

    def as_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values: numbers, strings, lists and dicts.

        Returns
        -------
        dict
            The keys are "y", "x", "status", "findings", "path", "notes" and "figures".

        Examples
        --------
        >>> x = pb.Variable(3.0)
        >>> why = pb.explain(pb.stop_gradient(x) * 2, x)
        >>> why.as_dict()["findings"][0]["reason"]
        'stop_gradient'
        """
        return {
            "y": self.names[0],
            "x": self.names[1],
            "status": self.status,
            "findings": [finding.as_dict() for finding in self.findings],
            "path": [
                {
                    "operation": step.name,
                    "shape": step.shape,
                    "file": step.place.file if step.place else None,
                    "line": step.place.line if step.place else None,
                    "function": step.place.function if step.place else None,
                    "rule": step.rule,
                }
                for step in self.path
            ],
            "notes": list(self.notes),
            "figures": dict(self.figures),
        }

    def as_html(self) -> str:
        """Return the explanation as a self-contained HTML page with a drawing of the path.

        Returns
        -------
        str
            The text of the page.
        """
        from .page import page

        return page(self)

    def __str__(self) -> str:
        y, x = self.names
        lines = [f"The gradient of y ({y}) by x ({x}) {TITLES[self.status]}"]
        if self.figures:
            shown = ", ".join(f"{name} {_figure(value)}" for name, value in self.figures.items())
            lines[0] += f" ({shown})"
        for finding in self.findings:
            lines.append(f"  why   {finding.what}")
            if finding.where:
                lines.append(f"  where {finding.where}")
            if finding.place and finding.place.text:
                lines.append(f"            {finding.place.text}")
            lines.append(f"  do    {finding.advice}")
        lines += [f"  note  {note}" for note in self.notes]
        if len(self.path) > 1:
            lines.append("  path, from y to x:")
            lines += [f"    {line}" for line in _path_lines(self.path, self.culprits)]
        return "\n".join(lines)

    @property
    def culprits(self) -> set[int]:
        """Return the numbers of the steps that the findings are about."""
        return {finding.step.number for finding in self.findings if finding.step}

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.as_html()


class Explanations(list[Explanation]):
    """The explanations of several gradients: a list that prints them one after the other."""

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self))

    def as_html(self) -> str:
        return "\n".join(entry.as_html() for entry in self)

    def _repr_html_(self) -> str:
        return self.as_html()


def _figure(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _path_lines(path: list[Step], culprits: set[int]) -> list[str]:
    lines = []
    for step in shortened(path, culprits):
        if step is None:
            lines.append("…")
            continue
        mark = "✗" if step.number in culprits else " "
        rule = f"  by the rule {step.rule}" if step.rule and not step.custom else ""
        where = f"  {step.place}" if step.place else ""
        lines.append(f"{mark} {step}{rule}{where}")
    return lines


def explain(
    y: Any,
    x: Any = None,
    *,
    tape: GradientTape | None = None,
    stop_gradients: Any = None,
    overrides: Mapping[Any, Any] | None = None,
    session: Any = None,
    feed_dict: Mapping[Any, Any] | None = None,
) -> Any:
    """Explain why the gradient of `y` by `x` is None, zero, tiny, infinite or NaN.

    A gradient that is none of these flows. The values and cotangents of the operations between `y`
    and `x` are evaluated. The graph keeps them like all evaluated tensors. Tensors that are
    evaluated and not tracked release their history, as after any evaluation.

    While `set_debug(True)` or PULLBACK_DEBUG=1 is set, operations store the line of the program
    that created them. Then the explanation names the line of the cause, also if a value left the
    graph by `numpy()` or `float()`. Otherwise it names operations and shapes, as far as their
    history exists.

    Parameters
    ----------
    y : Tensor, Variable or object
        Target. Without `x`: an optimizer, a tape, or a result of `gradients` or `tape.gradient`.
        Then its last request is explained, for each source and each target. This requires
        `set_debug(True)` before the request; the last request and its tensors are stored while
        debugging is on.
    x : Tensor, Variable or pytree of them, optional
        Source.
    tape : GradientTape, optional
        Tape that computed the gradient. Operations that it did not record do not count.
    stop_gradients : Tensor, Variable or pytree of them, optional
        As passed to `gradients`.
    overrides : mapping, optional
        As passed to `gradients`.
    session, feed_dict : optional
        Session and feeds that give values to a graph of `compat.tf1`; the default session if only
        feeds are given. The values are computed on a copy of the session, whose variables remain
        unchanged. Without both, only the operations are analysed.

    Returns
    -------
    Explanation or list of Explanation
        A list if `x` is a pytree or is omitted. It prints as text.

    Raises
    ------
    TypeError
        If `y` or `x` is not a tensor, if `tape` is not a GradientTape, or if a session is given for
        tensors that do not belong to a graph.
    ValueError
        If `x` is omitted and `y` does not identify the last request.
    LookupError
        If `overrides` contains an unknown name.

    See Also
    --------
    gradient_paths, draw, check_numerics

    Examples
    --------
    >>> x = pb.Variable([1.0, -2.0], name="x")
    >>> why = pb.explain(pb.sum(pb.relu(x - 5)), x)
    >>> why.status, why.reason
    ('zero', 'dead_relu')
    >>> print(pb.explain(pb.sum(pb.round(x)), x))
    The gradient of y (sum float32[]) by x (Variable 'x') is zero (largest 0, ...)
      why   round is flat between its jumps: its derivative is zero everywhere
    ...
    """
    if x is None:
        return _of_last(y, session, feed_dict)
    stops = flatten([] if stop_gradients is None else stop_gradients)[0]
    rules = None if overrides is None else rule_map(overrides, "explain: overrides")
    if not isinstance(tape, (GradientTape, type(None))):
        raise TypeError(f"explain: expected a GradientTape for tape, got {_core.shown(tape)}")
    inner = None if tape is None else tape._tape
    leaves = flatten(x)[0]
    questions = [
        question_of(
            "explain", y, leaf, tape=inner, stops=stops, overrides=rules, session=session,
            feed_dict=feed_dict,
        )
        for leaf in leaves
    ]  # fmt: skip
    found = Explanations(map(explained, questions))
    return found[0] if len(leaves) == 1 and leaves[0] is x else found


def _of_last(subject: Any, session: Any, feed_dict: Any) -> Explanations:
    question = last_question(subject)
    if question is None:
        raise ValueError(
            "explain: expected y and x, or the source of the last gradient while set_debug(True) "
            "is on: an optimizer that has minimized, a tape, or a result of gradients() or "
            f"tape.gradient(); got {_core.shown(subject)}"
        )
    ys, xs, seeds, tape, stops, overrides = question
    given = {"tape": tape, "stops": stops, "overrides": overrides}
    given |= {"session": session, "feed_dict": feed_dict}
    return Explanations(
        explained(question_of("explain", y, x, seed=seed, **given))
        for x in xs
        for y, seed in zip(ys, seeds, strict=True)
    )


def explained(question: Question) -> Explanation:
    """Return the explanation of one question."""
    with question.asking():
        return _explained(question)


def _explained(question: Question) -> Explanation:
    try:
        [gradient] = question.gradients([question.x])
        traced = question.ancestry.top.traced
        value = None if gradient is None or traced else question.arrays_of([gradient])[0]
    except Exception as error:  # a rule may raise anything
        return _failed(question, error)
    ancestry = question.ancestry
    names = _names(question)
    if gradient is None or not counts(question):
        findings, path = look_inside(question, *_why_none(question), _why_none)
        return Explanation("none", findings, path, names, _notes(path), {})
    if value is None:
        between = ancestry.descending()
        path = ancestry.path(None, _passing(ancestry, between, cotangents_of(question, between)))
        return Explanation("unknown", [], path, names, [question.unknown, *_notes(path)], {})
    numbers = Numbers(question, ancestry)
    status = _judged(value, numbers.cotangent(ancestry.top))
    findings, path = look_inside(
        question, *_why(status, numbers), lambda one: _why(status, Numbers(one, one.ancestry))
    )
    findings = [*findings, *missed(question, ancestry)]
    return Explanation(status, findings, path, names, _notes(path), _figures(value))


def why_none_of(y: Any, xs: list[Any]) -> list[tuple[Any, str]]:
    """Return why each gradient is None, as a sentence for the message of an optimizer."""
    out = []
    for x in xs:
        question = question_of("explain", y, x)
        with question.asking():
            findings, path = look_inside(question, *_why_none(question), _why_none)
        shown = [
            finding.about("the loss", "the variable")
            + (f" ({finding.where})" if finding.where else "")
            for finding in findings
        ]
        on_path = any(step is findings[0].step for step in path)
        start = "every path from the loss to it is cut: " if on_path else ""
        out.append((x, start + "; ".join(shown)))
    return out


def _judged(value: Any, seed: Any) -> str:
    import numpy as np

    if np.isnan(value).any():
        return "nan"
    if np.isinf(value).any():
        return "infinite"
    if not np.any(value):
        return "zero"
    return "tiny" if is_tiny(value, seed) else "flows"


WHYS = {"nan": why_not_finite, "infinite": why_not_finite, "zero": why_zero, "tiny": why_tiny}


def _why(status: str, numbers: Numbers) -> Answer:
    ancestry = numbers.ancestry
    findings = of_program(_each_once(WHYS[status](numbers))) if status in WHYS else []
    if status in WHYS and not findings:
        findings = [nothing_found(ancestry)]
    alive = [n for n, cotangent in numbers.cotangents.items() if has_any(cotangent)]
    way = _passing(ancestry, numbers.between, alive)
    return findings, ancestry.path(_on_path(numbers.question, findings), way)


def _why_none(question: Question) -> Answer:
    ancestry = question.ancestry
    findings = of_program(_each_once(why_none(question)))
    return findings, ancestry.path(_on_path(question, findings)) if ancestry.connected else []


def _passing(ancestry: Ancestry, steps: list[Step], reached: Collection[int]) -> set[int]:
    """Return the numbers of the steps that are reached and pass a gradient on."""
    passing = (s.number for s in steps if s.passes or ancestry.is_x(s))
    return set(reached).intersection(passing)


def _each_once(findings: list[Finding]) -> list[Finding]:
    """Return the findings without repetitions, such as those of a loop."""
    found: dict[Any, Finding] = {}
    for finding in findings:
        operation = finding.step.name if finding.step else None
        repeated = finding.step.made_from if finding.step else 0
        place = finding.place or repeated or id(finding)
        found.setdefault((finding.reason, operation, place), finding)
    return list(found.values())


def _figures(value: Any) -> dict[str, Any]:
    import numpy as np

    finite = np.abs(value[np.isfinite(value)])
    figures: dict[str, Any] = {"largest": float(finite.max())} if finite.size else {}
    if value.size > 1:
        figures["zeros"] = f"{int((value == 0).sum())} of {value.size}"
        bad = int((~np.isfinite(value)).sum())
        if bad:
            figures["not finite"] = f"{bad} of {value.size}"
    return figures


def _on_path(question: Question, findings: list[Finding]) -> Step | None:
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
