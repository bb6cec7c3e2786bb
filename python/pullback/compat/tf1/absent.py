"""The answer to a name that TensorFlow 1 has and this package does not, or not yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["absent"]


def absent(module: str) -> Callable[[str], Any]:
    """`__getattr__` of a module: says which name is missing."""
    where = module.removeprefix("pullback.")

    def missing(name: str) -> Any:
        raise AttributeError(f"{where} has no {name} yet")

    return missing
