"""Pytrees: dicts, lists, tuples, namedtuples and dataclasses of tensors.

The core flattens and unflattens them; this file adds comparison of structures and paths of leaves.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from .. import _core
from .._core import flatten, unflatten
from .checks import counted

__all__ = ["flatten", "leaf_paths", "leaves_like", "unflatten", "written_behind"]


def leaves_like(nest: Any, other: Any, who: str) -> list[Any]:
    """Return the subtrees of `other` at the positions of the leaves of `nest`.

    A subtree may be any object, for example a list of numbers. None stands for None everywhere.
    Another structure raises ValueError.

    Examples
    --------
    >>> leaves_like({"a": 1, "b": (2, 3)}, {"b": ([0.5, 2.0], None), "a": 7}, "f")
    [7, [0.5, 2.0], None]
    >>> leaves_like({"a": 1, "b": (2, 3)}, {"a": 7}, "f")
    Traceback (most recent call last):
    ValueError: f: expected the keys 'a', 'b', got 'a'
    """
    if other is None:
        return [None] * len(flatten(nest)[0])
    if isinstance(nest, dict):
        if not isinstance(other, dict) or other.keys() != nest.keys():
            wanted = ", ".join(map(repr, nest))
            got = ", ".join(map(repr, other)) if isinstance(other, dict) else repr(other)
            raise ValueError(f"{who}: expected the keys {wanted}, got {got}")
        order = _keys_in_order(nest)
        return [leaf for k in order for leaf in leaves_like(nest[k], other[k], f"{who}[{k!r}]")]
    if isinstance(nest, (list, tuple)):
        if not isinstance(other, (list, tuple)):
            other = [other]
        if len(other) != len(nest):
            raise ValueError(f"{who}: expected {counted(len(nest), 'entry')}, got {len(other)}")
        pairs = enumerate(zip(nest, other, strict=True))
        return [leaf for i, (a, b) in pairs for leaf in leaves_like(a, b, f"{who}[{i}]")]
    if hasattr(type(nest), "__dataclass_fields__"):
        from dataclasses import fields

        if type(other) is not type(nest):
            raise ValueError(f"{who}: expected a {type(nest).__name__}, got {_core.shown(other)}")
        names = [field.name for field in fields(nest)]
        return [
            leaf
            for name in names
            for leaf in leaves_like(getattr(nest, name), getattr(other, name), f"{who}.{name}")
        ]
    return [other]


def leaf_paths(nest: Any, path: str = "") -> list[str]:
    """Return the path of each leaf, for error messages.

    The path of an entry of a flat list is its number alone.

    Examples
    --------
    >>> leaf_paths({"a": 1, "b": (2, 3)}), leaf_paths([1, 2])
    (["['a']", "['b'][0]", "['b'][1]"], ['0', '1'])
    """
    if isinstance(nest, dict):
        inner = [(f"[{key!r}]", nest[key]) for key in _keys_in_order(nest)]
    elif isinstance(nest, (list, tuple)):
        inner = [(f"[{i}]", entry) for i, entry in enumerate(nest)]
    elif hasattr(type(nest), "__dataclass_fields__"):
        from dataclasses import fields

        inner = [(f".{field.name}", getattr(nest, field.name)) for field in fields(nest)]
    else:
        number = path.strip("[]")
        return [number if number.isdigit() else path]
    return [leaf for step, entry in inner for leaf in leaf_paths(entry, path + step)]


def written_behind(nest: Any) -> list[str]:
    """Return the paths of the leaves as they are written after the name of the pytree.

    Unlike in `leaf_paths`, the number of an entry of a list is in brackets.

    Examples
    --------
    >>> written_behind([1, {"a": 2}])
    ['[0]', "[1]['a']"]
    """
    return [f"[{path}]" if path.isdigit() else path for path in leaf_paths(nest)]


def _keys_in_order(nest: dict[Any, Any]) -> list[Any]:
    """Return the keys in the order of the core: sorted if they are ordered."""
    ordered = isinstance(nest, OrderedDict)
    flat = OrderedDict.fromkeys(nest, 0) if ordered else dict.fromkeys(nest, 0)
    places = unflatten(flatten(flat)[1], range(len(flat)))
    return sorted(nest, key=places.__getitem__)
