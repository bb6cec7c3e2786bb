"""What a run says about the goals: for each result of pullback what was wanted, and whether it was
met. Works on the content of a JSON file, as report.py and plot.py do."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

from .case import PEERS

GRADIENT_MOST = 3.0  # times the value alone


class Verdict(NamedTuple):
    wanted: str
    met: bool | None  # None: nothing to compare with in this run

    def __str__(self) -> str:
        return self.wanted + {True: " met", False: " missed", None: ""}[self.met]


def middle(result: dict[str, Any]) -> float:
    return float(median(result["samples"]))


def best(results: Iterable[dict[str, Any]], libraries: Iterable[str]) -> float | None:
    return min((middle(r) for r in results if r["library"] in libraries), default=None)


def of(results: list[dict[str, Any]], library: str, style: str) -> float | None:
    """The median of one library and style."""
    for result in results:
        if (result["library"], result["style"]) == (library, style):
            return middle(result)
    return None


def _at_most(wanted: str, value: float, most: float | None) -> Verdict:
    return Verdict(wanted, None if most is None else value <= most)


def verdicts(content: dict[str, Any], result: dict[str, Any]) -> list[Verdict]:
    """Of one result; empty where nothing is asked of it."""
    row = content["rows"].get(result["row"])
    if not row or result["library"] != "pullback":
        return []
    same = [r for r in content["results"] if r["row"] == result["row"]]
    value, style, out = middle(result), result["style"], []
    goal = row["goal"]
    if goal and style == goal["style"]:
        if goal["over"]:
            other = best(same, goal["over"])
            most = other and goal["most"] * other
            whom = ", ".join(["best", *(x for x in goal["over"] if x not in PEERS)])
            out.append(_at_most(f"≤ {goal['most']:g} × {whom}", value, most))
        else:
            out.append(_at_most(f"≤ {goal['most']:g} {row['unit']}", value, goal["most"]))
    if goal and style == goal["style"] and row.get("cpp_most"):
        by_hand = best(same, ["C++"])
        most = by_hand and row["cpp_most"] * by_hand
        out.append(_at_most(f"≤ {row['cpp_most']:g} × C++", value, most))
    if style == "function":
        alone = of(same, "pullback", "value")
        if alone:
            most = GRADIENT_MOST * alone
            out.append(_at_most(f"≤ {GRADIENT_MOST:g} × value", value, most))
    if style == "lazy":
        function = of(same, "pullback", "function")
        if row["lazy_most"] and function:
            most = row["lazy_most"] * function
            out.append(_at_most(f"≤ {row['lazy_most']:g} × function", value, most))
        torch = best(same, ["torch"])
        if torch:
            out.append(_at_most("< torch", value, torch))
    return [Verdict(v.wanted, None) for v in out] if content["smoke"] else out
