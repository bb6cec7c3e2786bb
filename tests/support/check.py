"""Check: the problems of a test that makes many checks."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

SHOWN = 12  # problems that are printed


@dataclass
class Check:
    """What went wrong in a check over many calls, so that one failure does not hide the rest."""

    problems: list[str] = field(default_factory=list)

    def that(self, fine: Any, text: str) -> None:
        if not fine:
            self.problems.append(text)

    @contextmanager
    def during(self, name: str) -> Iterator[None]:
        """Prefix the problems found inside with `name`; an exception is one of them."""
        before = len(self.problems)
        try:
            yield
        except (Exception, pytest.fail.Exception) as error:
            places = reversed(traceback.extract_tb(error.__traceback__)[1:])
            where = " < ".join(f"{Path(p.filename).name}:{p.lineno}" for p in places)
            self.problems.append(f"{type(error).__name__} at {where}: {error}")
        self.problems[before:] = [f"{name}: {text}" for text in self.problems[before:]]

    def done(self) -> None:
        shown = "\n".join(text[:800] for text in self.problems[:SHOWN])
        assert not self.problems, f"{len(self.problems)} problems, the first of them:\n{shown}"
