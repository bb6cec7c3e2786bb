"""Domains of the numbers that a function accepts, such as "at least 0".

`check_domain` raises for values that are known at the call: numbers and NumPy arrays. Tensors and
variables are not evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._core import Tensor
from .checks import not_a_number


class Domain(NamedTuple):
    """A set of real numbers; `holds` also takes arrays and tensors."""

    text: str  # continues "expected a number"
    holds: Callable[[Any], Any]


POSITIVE = Domain("> 0", lambda x: x > 0)
NON_NEGATIVE = Domain(">= 0", lambda x: x >= 0)
NON_POSITIVE = Domain("<= 0", lambda x: x <= 0)
DECAY = Domain("in [0, 1)", lambda x: (x >= 0) & (x < 1))
PROBABILITY = Domain("in [0, 1]", lambda x: (x >= 0) & (x <= 1))
INSIDE = Domain("between 0 and 1", lambda x: (x > 0) & (x < 1))


def as_python(value: Any) -> Any:
    """Return a real number of NumPy as Python's number, and another value unchanged."""
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    return value


def check_domain(value: Any, domain: Domain, who: str, name: str, remedy: str = "") -> None:
    """Raise a ValueError for a number or a NumPy array outside of the domain."""
    if not isinstance(value, (int, float, np.integer, np.floating, np.ndarray)):
        return
    inside = domain.holds(value)
    if inside is not True and not np.all(inside):
        got = _core.shown(as_python(value))
        raise ValueError(f"{who}: expected a number {domain.text} for {name}, got {got}{remedy}")


def check_numbers(who: str, domain: Domain, **values: Any) -> None:
    """Require numbers in the domain, or tensors, for the arguments of the given names."""
    for name, value in values.items():
        if not (hasattr(value, "__float__") or hasattr(value, "__array__")):
            raise not_a_number(value, who, name)
        check_domain(value, domain, who, name)


def nan_unless(holds: Tensor, value: Tensor) -> Tensor:
    """Return the value where the condition holds, elsewhere NaN, as the derivatives are.

    After `where(holds, value, nan)`, the derivatives would be 0 there: a loss that is NaN would
    have a gradient that looks finished.
    """
    return _core.multiply(value, _core.where(holds, _core.full((), 1, value.dtype), math.nan))
