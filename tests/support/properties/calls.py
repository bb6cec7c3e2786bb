"""The calls of one case, shared by its properties: a program is built and evaluated once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..cases import Case
from ..checks import Program


class Calls:
    def __init__(self, case: Case) -> None:
        self.case = case
        self._programs: dict[Any, Program] = {}

    def program(self, shapes: Any, dtype: str = "d") -> Program:
        key = (shapes, dtype)
        if key not in self._programs:
            self._programs[key] = Program(self.case, shapes, dtype)
        return self._programs[key]

    def programs(self, dtype: str = "d") -> Iterator[tuple[Any, Program]]:
        for shapes in self.case.shapes:
            yield shapes, self.program(shapes, dtype)
