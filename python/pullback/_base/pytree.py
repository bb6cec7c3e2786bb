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
    "flatten_with_none",
    "keys_in_order",
    "leaf_paths",
    "leaves_like",
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
    registered = type(nest) not in (dict, list, tuple) and _core.children_of(nest) is not None
    if registered or not isinstance(nest, (dict, list, tuple)):
        if type(other) is not type(nest):
            raise ValueError(f"{who}: expected a {type(nest).__name__}, got {_core.shown(other)}")
        others, form = _one_level(other)
        own_form = _one_level(nest)[1]
        if form != own_form:
            raise ValueError(f"{who}: expected {own_form}, got {form}")
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


def _one_level(tree: Any) -> tuple[list[Any], _core.Structure]:
    """Flatten a container into its entries."""
    return flatten(tree, lambda subtree: subtree is not tree)


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
