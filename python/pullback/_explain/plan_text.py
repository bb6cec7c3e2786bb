"""The listings `plan` and `graph` of a function; notebooks show a `PlanText` with its drawing."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

from .._autodiff.rules import parameter_names, place
from .._core import Function

DRAWN = 60  # steps; the drawing of a larger plan is not readable beside its text


class PlanText(str):
    """Result of `plan` of a function: a string."""

    def _repr_html_(self) -> str:
        from .._base.html import preformatted, scrolled
        from .plan_drawing import draw_plan

        svg, _, count = draw_plan(self)
        drawing = scrolled(svg) if 0 < count <= DRAWN else ""
        return preformatted(self) + drawing


def add_html_of_plans() -> None:
    """Let `plan` of functions return a `PlanText`, and name the missing object of a method."""
    plan, graph = Function.plan, Function.graph

    def plan_text(self: Any, /, *args: object, **kwargs: object) -> str:
        return PlanText(_listed(plan, self, args, kwargs))

    def graph_text(self: Any, /, *args: object, **kwargs: object) -> str:
        return _listed(graph, self, args, kwargs)

    for text, method in ((plan_text, plan), (graph_text, graph)):
        text.__name__, text.__qualname__ = method.__name__, method.__qualname__
        text.__doc__ = method.__doc__
    Function.plan = plan_text  # type: ignore[method-assign,assignment]
    Function.graph = graph_text  # type: ignore[method-assign,assignment]


def _listed(method: Callable[..., str], function: Any, args: Any, kwargs: Any) -> str:
    """Return `method(function, *args, **kwargs)`; an error names the missing object of a method."""
    try:
        return method(function, *args, **kwargs)
    except TypeError as error:
        if parameter_names(function)[:1] != ["self"]:
            raise
        try:
            signature(function).bind(*args, **kwargs)
        except TypeError:
            raise TypeError(
                f"{method.__name__}: {place(function)} is a method: {error}; pass the object "
                f"first, as in Model.step.{method.__name__}(model, x)"
            ) from None
        raise
