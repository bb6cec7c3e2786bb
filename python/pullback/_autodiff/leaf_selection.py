"""The option `wrt` of `grad` and `value_and_grad`: the leaves of arguments to differentiate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from .._base.hints import did_you_mean
from .._base.pytree import flatten, written_behind
from .._core import shown

Selection: TypeAlias = str | Sequence[str] | Callable[[str, Any], bool]


def check_selection(wrt: Any, who: str) -> None:
    """Raise a TypeError unless `wrt` is None, a path, a sequence of paths or a predicate."""
    paths = [wrt] if isinstance(wrt, str) else wrt
    if wrt is None or callable(wrt):
        return
    if not isinstance(paths, (list, tuple)) or not all(isinstance(path, str) for path in paths):
        raise TypeError(
            f"{who}: expected a path, a list of paths or a function of a path and a leaf for wrt, "
            f"got {shown(wrt)}"
        )


def _hint(path: str, known: list[str]) -> str:
    if not known:
        return "; argnums selects arguments by position, and wrt leaves of pytrees"
    for written in (f"[{path!r}]", f".{path}"):
        if any(_is_below(place, written) for place in known):
            return f'; did you mean wrt="{written}"?'
    return did_you_mean(path, known) or f"; the paths are {', '.join(known[:8])}"


def selected_leaves(
    wrt: Selection, args: Sequence[Any], positions: Sequence[int], who: str
) -> list[list[bool]]:
    """Return for each leaf of the arguments at `positions` whether it is to be differentiated.

    Raises a ValueError if a path, or the predicate, selects no leaf.
    """
    arguments = [args[position] for position in positions]
    leaves = [flatten(argument)[0] for argument in arguments]
    paths = [
        [""] if own and own[0] is argument else written_behind(argument)
        for own, argument in zip(leaves, arguments, strict=True)
    ]
    if not isinstance(wrt, str) and callable(wrt):
        chosen = [
            [bool(wrt(path, leaf)) for path, leaf in zip(places, own, strict=True)]
            for places, own in zip(paths, leaves, strict=True)
        ]
        if not any(map(any, chosen)):
            raise ValueError(
                f"{who}: expected a predicate wrt that selects a leaf, got none of them"
            )
        return chosen
    wanted = [wrt] if isinstance(wrt, str) else list(wrt)
    if not wanted:
        raise ValueError(f"{who}: expected at least one path for wrt, got none")
    for path in wanted:
        if not any(_is_below(place, path) for places in paths for place in places):
            known = [place for places in paths for place in places if place]
            raise ValueError(f"{who}: wrt={path!r} is the path of no leaf{_hint(path, known)}")
    return [
        [any(_is_below(place, path) for path in wanted) for place in places] for places in paths
    ]


def _is_below(place: str, path: str) -> bool:
    """Test whether a leaf is in the subtree at a path."""
    return place.startswith(path) and place[len(path) : len(path) + 1] in ("", ".", "[")
