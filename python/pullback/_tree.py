"""Nests of Python containers: dict, list, tuple and namedtuple, with anything else as a leaf.

`flatten` gives the leaves in order and a hashable structure, `unflatten` puts leaves back. The
entries of a dict are taken in the order of their sorted keys.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

# None for a leaf, else (type, keys or None, structures of the entries).
Structure = tuple[Any, ...] | None


def flatten(tree: Any) -> tuple[list[Any], Structure]:
    """The leaves of a nest, and its structure.

    >>> flatten({"b": 1, "a": (2, [3])})[0]
    [2, 3, 1]
    """
    if not isinstance(tree, (dict, list, tuple)):
        return [tree], None
    leaves: list[Any] = []
    return leaves, _structure(tree, leaves)


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """A nest of this structure with these leaves.

    >>> unflatten(flatten({"b": 1, "a": (2, [3])})[1], [4, 5, 6])
    {'a': (4, [5]), 'b': 6}
    """
    return _built(structure, iter(leaves))


def _structure(tree: Any, leaves: list[Any]) -> tuple[Any, ...]:
    kind: Any = type(tree)
    keys: tuple[Any, ...] | None = None
    entries = tree
    if isinstance(tree, dict):
        try:
            keys = tuple(sorted(tree))
        except TypeError:  # keys that have no order keep theirs
            keys = tuple(tree)
        entries = [tree[key] for key in keys]
        if kind is not OrderedDict:
            kind = dict
    structures: list[Structure] = []
    for entry in entries:
        if isinstance(entry, (dict, list, tuple)):
            structures.append(_structure(entry, leaves))
        else:
            leaves.append(entry)
            structures.append(None)
    return kind, keys, tuple(structures)


def _built(structure: Structure, leaves: Iterator[Any]) -> Any:
    if structure is None:
        return next(leaves)
    kind, keys, entries = structure
    values = [_built(entry, leaves) for entry in entries]
    if keys is not None:
        return kind(zip(keys, values, strict=True))
    return kind(*values) if hasattr(kind, "_fields") else kind(values)
