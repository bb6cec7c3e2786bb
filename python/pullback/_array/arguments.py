"""Checks of arguments that several functions take."""

from __future__ import annotations

from operator import index
from typing import Any

from .. import _core
from .._core import Tensor


def integer(value: Any, who: str) -> int:
    """An integer, of Python, NumPy or a tensor; else a TypeError that says who expects it."""
    try:
        return index(value)
    except TypeError:
        raise TypeError(f"{who}: expected an integer, got {_core.shown(value)}") from None


def floating(value: Any, who: str) -> Tensor:
    """A tensor of floats; else a TypeError that says who expects it."""
    tensor = _core.constant(value, who=who)
    if tensor.dtype.kind != "f":
        raise TypeError(f"{who}: expected floats, got {tensor.dtype}; cast it")
    return tensor


def is_integer(value: Any) -> bool:
    """Whether it is one integer, not a sequence or an array of them."""
    return hasattr(value, "__index__") and not getattr(value, "shape", ())
