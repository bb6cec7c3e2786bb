"""Check: the problems of a test that makes many checks."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


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
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            self.problems.append(f"{type(error).__name__} at {where}: {error}")
        self.problems[before:] = [f"{name}: {text}" for text in self.problems[before:]]

    def done(self) -> None:
        assert not self.problems, "\n" + "\n".join(text[:400] for text in self.problems[:12])
