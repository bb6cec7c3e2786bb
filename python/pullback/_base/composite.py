"""`composite`: the decorator of public functions that are made of several operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from .. import _core

Function = TypeVar("Function", bound=Callable[..., Any])


def composite(function: Function) -> Function:
    """Name the results of a public function after it.

    Results that have a gradient get a node with the name of the function and its tensors as inputs,
    to which overrides, registered rules, explanations and errors refer. Its own gradient is that of
    the operations inside.
    """
    return cast(Function, _core.composite(function, False))


def composite_of_sequence(function: Function) -> Function:
    """Do the same for a function that takes any iterable of arrays, such as a generator."""
    return cast(Function, _core.composite(function, True))
