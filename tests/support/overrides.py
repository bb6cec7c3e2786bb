"""What tests of overrides start with."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pullback as pb

_numbers = itertools.count()


def fresh() -> str:
    """A name that no test has registered."""
    return f"test_rule_{next(_numbers)}"


def gradient(y: Any, x: Any) -> Any:
    """That by x, as a list; None where there is none."""
    (g,) = pb.gradients(y, x)
    return None if g is None else g.numpy().tolist()


def times(k: Any) -> Callable[[Any, Any], Any]:
    """The rule that answers k g."""
    return lambda op, g: k * g
