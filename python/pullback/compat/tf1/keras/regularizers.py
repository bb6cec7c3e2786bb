"""`tf.keras.regularizers`: squares count whole here, by half in `tf.contrib.layers`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._ops.complex_ops import abs as absolute
from .._ops.math_ops import reduce_sum, square
from ..names import absent

__all__ = ["l1", "l1_l2", "l2"]
__getattr__ = absent(__name__)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> Callable[[Any], Any]:
    """Return a function: l1 times the sum of absolute values plus l2 times that of squares."""
    return lambda w: l1 * reduce_sum(absolute(w)) + l2 * reduce_sum(square(w))


def l1(l: float = 0.01) -> Callable[[Any], Any]:  # noqa: E741
    """Return a function: l times the sum of absolute values."""
    return l1_l2(l, 0.0)


def l2(l: float = 0.01) -> Callable[[Any], Any]:  # noqa: E741
    """Return a function: l times the sum of squares."""
    return l1_l2(0.0, l)
