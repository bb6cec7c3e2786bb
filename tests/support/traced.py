"""A traced function that tells how often it was traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pullback as pb


class Counted:
    """A function that counts how often Python runs it."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.runs = 0
        self.f = f

        @pb.function
        def traced(*args: Any, **kwargs: Any) -> Any:
            self.runs += 1
            return f(*args, **kwargs)

        self.call = traced

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(*args, **kwargs)
