"""The functions of loops and branches: recorded once on placeholders.

A `Recording` is a function while it is recorded. A `Pytree` has tensors as leaves; None in it is
structure. Errors name a leaf by its path and the function by its location.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.rules import place
from .._base.pytree import flatten, unflatten, written_behind
from .._core import Tensor, Variable


class Pytree:
    """The leaves of a pytree as tensors, and the structure to rebuild it."""

    def __init__(self, tree: Any, who: str) -> None:
        leaves, self.structure = flatten(tree, none_is_leaf=True)
        self.paths = written_behind(tree, none_is_leaf=True)
        self.none = [leaf is None for leaf in leaves]
        self.tensors: list[Tensor] = []
        self.numbers: list[bool] = []  # Python numbers, whose dtype may change
        for leaf, path in zip(leaves, self.paths, strict=True):
            if leaf is None:
                continue
            self.numbers.append(_is_number(leaf))
            self.tensors.append(tensor_of(leaf, f"{who}{path}"))

    def like(self, tensors: Iterable[Any]) -> Any:
        """Return a pytree of this structure with other leaves."""
        rest = iter(tensors)
        return unflatten(self.structure, [None if none else next(rest) for none in self.none])

    def tensor_paths(self) -> list[str]:
        """Return the path of each tensor."""
        return [p for p, none in zip(self.paths, self.none, strict=True) if not none]

    def same_structure(self, other: Pytree) -> bool:
        """Return whether paths and static data agree. A list may stand for a tuple."""
        same_places = self.paths == other.paths and self.none == other.none
        return same_places and self.structure.static_data() == other.structure.static_data()


def _is_number(leaf: Any) -> bool:
    if isinstance(leaf, Tensor):
        return bool(_core.is_number(leaf))
    return isinstance(leaf, (int, float, complex)) and not isinstance(leaf, (bool, np.generic))


def tensor_of(leaf: Any, who: str) -> Tensor:
    if isinstance(leaf, (Tensor, Variable)):
        return _core.identity(leaf)
    return _core.constant(leaf, None, who)


def int64_of(number: int, who: str, what: str) -> int:
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{who}: expected an int64 for {what}, got {_core.shown(number)}")
    return number


def callable_of(f: Any, who: str, what: str) -> Any:
    if not callable(f):
        raise TypeError(f"{who}: expected a function for {what}, got {_core.shown(f)}")
    return f


class Recording:
    """A function while it is recorded: new operations belong to its body."""

    def __init__(self, who: str, f: Callable[..., Any]) -> None:
        self.who = who
        self.place = place(f)
        self.trace = _core.BodyTrace(who, self.place)

    def __enter__(self) -> Recording:
        self.trace.open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.trace.abandon()

    def placeholders(self, tensors: Sequence[Tensor], stacked: bool = False) -> list[Tensor]:
        """Return a placeholder for each tensor, or for an entry of its first axis."""
        return [self.trace.argument(x.dtype, x.shape[1:] if stacked else x.shape) for x in tensors]

    def returned(self, result: Any, what: str) -> Pytree:
        """Return a result of the function, or a part of it, which errors call `what`."""
        return Pytree(result, f"{self.who}: {what} of {self.place}")

    def close(self, roots: Sequence[Tensor], all_inside: bool = False) -> _core.Body:
        return self.trace.close(list(roots), all_inside)


def resolve_dtypes(state: Pytree, returned: Pytree, who: str, where: str, what: str) -> bool:
    """Resolve the dtypes of Python numbers in the state; return False if one has changed.

    A Python number takes the dtype that the body gives it. Then the body must be recorded again.
    Any other change of a leaf raises TypeError or ValueError.
    """
    if not state.same_structure(returned):
        raise ValueError(
            f"{who}: expected the structure {_structure_text(state)} for {what} from {where}, got "
            f"{_structure_text(returned)}"
        )
    again = False
    for k, (path, old, new) in enumerate(
        zip(state.tensor_paths(), state.tensors, returned.tensors, strict=True)
    ):
        if old.shape != new.shape:
            raise ValueError(
                f"{who}: expected shape {old.shape} for {what}{path} from {where}, got "
                f"{new.shape}; a loop cannot change shapes"
            )
        if old.dtype == new.dtype:
            continue
        if state.numbers[k] and _may_take(new.dtype, old.dtype):
            state.tensors[k] = _core.cast(old, new.dtype)
            again = True
            continue
        raise TypeError(
            f"{who}: expected dtype {old.dtype} for {what}{path} from {where}, got {new.dtype}; "
            "cast it"
        )
    return not again


def _may_take(dtype: Any, number: Any) -> bool:
    """Return whether a Python number of dtype `number` may take the other dtype.

    A float may take any floating dtype, an integer any dtype except bool.
    """
    if dtype.kind == "b" or number.kind == "b":
        return False
    return "iufc".index(dtype.kind) >= "iufc".index(number.kind) or (number.kind, dtype.kind) == (
        "i",
        "u",
    )


def _structure_text(tree: Pytree) -> str:
    """Return the structure for a message, with a dot for each tensor."""
    return str(tree.like(["·"] * len(tree.tensors))).replace("'·'", "·")
