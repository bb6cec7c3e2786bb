"""Pytrees: dicts, lists, tuples, namedtuples, dataclasses, attrs classes and registered classes.

None is an empty subtree. The core flattens and unflattens; this file adds comparison with other
pytrees and paths of leaves.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from .. import _core
from .._core import flatten, unflatten
from .checks import counted

__all__ = [
    "flatten",
    "flatten_once",
    "flatten_with_none",
    "keys_in_order",
    "leaf_paths",
    "leaves_like",
    "own_entries",
    "unflatten",
    "written_behind",
]


def flatten_with_none(tree: Any) -> tuple[list[Any], _core.Structure]:
    """Return leaves and structure of a pytree whose None are leaves, as in TensorFlow."""
    return flatten(tree, none_is_leaf=True)


def leaves_like(
    nest: Any, other: Any, who: str, is_leaf: Callable[[Any], bool] | None = None
) -> list[Any]:
    """Return the subtrees of `other` at the positions of the leaves of `nest`.

    A subtree may be any object, for example a list of numbers. None stands for None everywhere.
    Another structure raises ValueError. `is_leaf` is a predicate for more leaves of `nest`.

    Examples
    --------
    >>> leaves_like({"a": 1, "b": (2, 3)}, {"b": ([0.5, 2.0], None), "a": 7}, "f")
    [7, [0.5, 2.0], None]
    >>> leaves_like({"a": 1, "b": (2, 3)}, {"a": 7}, "f")
    Traceback (most recent call last):
    ValueError: f: expected the keys 'a', 'b', got 'a'
    """
    if other is None:
        return [None] * len(flatten(nest, is_leaf)[0])
    if is_leaf and is_leaf(nest):
        return [other]
    if nest is None:
        raise ValueError(f"{who}: expected None, got {_core.shown(other)}")
    parts = _core.pytree_entries(nest)
    if parts is None:
        return [other]
    steps, entries = parts
    if (own := own_entries(nest)) is not None:
        if type(other) is not type(nest):
            raise ValueError(f"{who}: expected a {type(nest).__name__}, got {_core.shown(other)}")
        others, form = flatten_once(other)
        if form != own[1]:
            raise ValueError(f"{who}: expected {own[1]}, got {form}")
    elif isinstance(nest, dict):
        if not isinstance(other, dict) or other.keys() != nest.keys():
            wanted = ", ".join(map(repr, nest))
            got = ", ".join(map(repr, other)) if isinstance(other, dict) else repr(other)
            raise ValueError(f"{who}: expected the keys {wanted}, got {got}")
        others = [other[key] for key in keys_in_order(nest)]
    else:
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        if len(others) != len(entries):
            raise ValueError(f"{who}: expected {counted(len(entries), 'entry')}, got {len(others)}")
    triples = zip(steps, entries, others, strict=True)
    return [leaf for step, a, b in triples for leaf in leaves_like(a, b, who + step, is_leaf)]


def flatten_once(tree: Any) -> tuple[list[Any], _core.Structure]:
    """Return the entries of a container, and its structure with a leaf for each."""
    return flatten(tree, lambda subtree: subtree is not tree)


def own_entries(tree: Any) -> tuple[list[Any], _core.Structure] | None:
    """Flatten an object of a dataclass, a class of attrs or a registered class once.

    Return None for others. A registered class may be a subclass of dict, list or tuple.
    """
    if type(tree) in (dict, list, tuple):
        return None
    entries, structure = flatten_once(tree)
    return (entries, structure) if structure.static_data() else None


def leaf_paths(nest: Any, path: str = "", none_is_leaf: bool = False) -> list[str]:
    """Return the path of each leaf, for error messages.

    The path of an entry of a flat list is its number alone.

    Examples
    --------
    >>> leaf_paths({"a": 1, "b": (2, 3)}), leaf_paths([1, 2])
    (["['a']", "['b'][0]", "['b'][1]"], ['0', '1'])
    """
    parts = None if nest is None and none_is_leaf else _core.pytree_entries(nest)
    if parts is None:
        number = path.strip("[]")
        return [number if number.isdigit() else path]
    pairs = zip(*parts, strict=True)
    return [leaf for step, entry in pairs for leaf in leaf_paths(entry, path + step, none_is_leaf)]


def written_behind(nest: Any, none_is_leaf: bool = False) -> list[str]:
    """Return the paths of the leaves as they are written after the name of the pytree.

    Unlike in `leaf_paths`, the number of an entry of a list is in brackets.

    Examples
    --------
    >>> written_behind([1, {"a": 2}])
    ['[0]', "[1]['a']"]
    """
    paths = leaf_paths(nest, none_is_leaf=none_is_leaf)
    return [f"[{path}]" if path.isdigit() else path for path in paths]


def keys_in_order(nest: dict[Any, Any]) -> list[Any]:
    """Return the keys in the order of the core: sorted if they are ordered."""
    kind = OrderedDict if type(nest) is OrderedDict else dict
    parts = _core.pytree_entries(kind((key, key) for key in nest))
    return parts[1] if parts else []
