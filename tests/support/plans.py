"""Plans as text, and what they count."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from pullback import _core

STEP = re.compile(r"^\d+  (\w+)", re.MULTILINE)


def plan_of(*results: Any) -> tuple[Counter[str], str]:
    text = _core.describe_plan([x for x in results if x is not None])
    return Counter(STEP.findall(text)), text


def arena(text: str) -> int:
    return int(re.search(r"arena (\d+) bytes", text)[1])  # type: ignore[index]


def large_steps(text: str) -> list[str]:
    """Without those over a single element."""
    steps = re.split(r"^(?=\d+  )", text, flags=re.MULTILINE)[1:]
    return [step for step in steps if not re.match(r"\d+  tiles 1(  in \w+)?\n", step)]


def operations(text: str) -> Counter[str]:
    return Counter(re.findall(r"= (?:row )?(\w+):", text))
