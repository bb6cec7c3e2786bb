"""`Explanation`: the result of `explain` as values, as text and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .finding import Finding, shown

if TYPE_CHECKING:
    from .ancestry import Step

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
        self.findings = [shown(finding) for finding in findings]
        self.path = [step for step in path if step.composite is None]
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
        from .page import card

        return card(self)


class Explanations(list[Explanation]):
    """The explanations of several gradients: a list that prints them one after the other."""

    def __repr__(self) -> str:
        return "\n\n".join(map(str, self))

    def as_html(self) -> str:
        return "\n".join(entry.as_html() for entry in self)

    def _repr_html_(self) -> str:
        return "".join(entry._repr_html_() for entry in self)


def _figure(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _path_lines(path: list[Step], culprits: set[int]) -> list[str]:
    from .ancestry import shortened

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
