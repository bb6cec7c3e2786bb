"""`PlanText`: the text of a plan, which notebooks show with its drawing."""

from __future__ import annotations

from typing import Any

from .._core import Function

DRAWN = 60  # steps; the drawing of a larger plan is not readable beside its text


class PlanText(str):
    """Result of `plan` of a function: a string."""

    def _repr_html_(self) -> str:
        from .._base.html import preformatted
        from .plan_drawing import draw_plan

        svg, _, count = draw_plan(self)
        drawing = f'<div style="overflow-x:auto">{svg}</div>' if 0 < count <= DRAWN else ""
        return preformatted(self) + drawing


def add_html_of_plans() -> None:
    """Let `plan` of functions return a `PlanText`."""
    plan = Function.plan

    def plan_text(self: Any, /, *args: object, **kwargs: object) -> str:
        return PlanText(plan(self, *args, **kwargs))

    plan_text.__name__, plan_text.__qualname__ = "plan", plan.__qualname__
    plan_text.__doc__ = plan.__doc__
    Function.plan = plan_text  # type: ignore[method-assign,assignment]
