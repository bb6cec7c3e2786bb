"""Leaves and structures of pytrees as public functions of the core's."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from .. import _core
from .._base.pytree import leaves_like
from .._core import Structure

Test: TypeAlias = Callable[[Any], bool]

__all__ = ["flatten", "leaves", "map", "register", "structure", "unflatten"]


def flatten(tree: Any, is_leaf: Test | None = None) -> tuple[list[Any], Structure]:
    """Return the leaves of a pytree and its structure.

    Entries of a dict are taken in the order of their sorted keys, those of an OrderedDict in their
    own order, and those of a dataclass in the order of its fields.

    Parameters
    ----------
    tree : pytree
        Nested containers; see `pb.tree`. None has no leaves.
    is_leaf : callable, optional
        Predicate that is called with each subtree; a subtree for which it is true is a leaf.
        Default: None.

    Returns
    -------
    leaves : list
        Leaves from left to right.
    structure : Structure
        The pytree without its leaves. Structures can be compared, hashed and printed.

    Raises
    ------
    TypeError
        If `is_leaf` is not callable, or the flattening of a registered class returns no pair.
    RecursionError
        If a container contains itself.

    Examples
    --------
    >>> leaves, structure = pb.tree.flatten({"b": [1, None], "a": (2,)})
    >>> leaves, structure
    ([2, 1], Structure({'a': (*,), 'b': [*, None]}))
    >>> pb.tree.flatten([1, None], is_leaf=lambda subtree: subtree is None)[0]
    [1, None]
    """
    _check(is_leaf, "flatten")
    return _core.flatten(tree, is_leaf)


def unflatten(structure: Structure, leaves: Iterable[Any]) -> Any:
    """Return a pytree with a structure and leaves.

    Parameters
    ----------
    structure : Structure
        Structure of a pytree, as `flatten` returns it.
    leaves : iterable
        As many objects as the structure has leaves.

    Returns
    -------
    pytree
        New containers. Dataclasses and classes of attrs are made without a call of `__init__`.

    Raises
    ------
    TypeError
        If `structure` is not a Structure or `leaves` is not iterable.
    ValueError
        If the number of leaves is another one.

    Examples
    --------
    >>> structure = pb.tree.structure({"a": 0, "b": [0]})
    >>> pb.tree.unflatten(structure, [1, 2])
    {'a': 1, 'b': [2]}
    """
    if not isinstance(structure, Structure):
        raise TypeError(
            f"unflatten: expected a Structure for structure, got {_core.shown(structure)}; pass "
            "the structure first"
        )
    entries = list(leaves)
    if len(entries) != len(structure):
        raise ValueError(f"unflatten: expected {len(structure)} leaves, got {len(entries)}")
    return _core.unflatten(structure, entries)


def leaves(tree: Any, is_leaf: Test | None = None) -> list[Any]:
    """Return the leaves of a pytree.

    Parameters
    ----------
    tree : pytree
        Nested containers; see `pb.tree`. None has no leaves.
    is_leaf : callable, optional
        Predicate for more leaves, as in `flatten`. Default: None.

    Returns
    -------
    list
        Leaves from left to right.

    Raises
    ------
    TypeError
        If `is_leaf` is not callable.

    Examples
    --------
    >>> pb.tree.leaves({"w": 1, "b": (2, None)})
    [2, 1]
    """
    _check(is_leaf, "leaves")
    return _core.flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: Test | None = None) -> Structure:
    """Return the structure of a pytree.

    Parameters
    ----------
    tree : pytree
        Nested containers; see `pb.tree`.
    is_leaf : callable, optional
        Predicate for more leaves, as in `flatten`. Default: None.

    Returns
    -------
    Structure
        The pytree without its leaves.

    Raises
    ------
    TypeError
        If `is_leaf` is not callable.

    Examples
    --------
    >>> pb.tree.structure([1, (2, 3)])
    Structure([*, (*, *)])
    >>> pb.tree.structure([1]) == pb.tree.structure((1,))
    False
    """
    _check(is_leaf, "structure")
    return _core.flatten(tree, is_leaf)[1]


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Test | None = None) -> Any:
    """Apply a function to each leaf of a pytree.

    Parameters
    ----------
    f : callable
        Function of one leaf, followed by one argument for each further pytree.
    tree : pytree
        Nested containers; see `pb.tree`.
    *rest : pytree
        Pytrees that have the structure of `tree` down to its leaves; `f` receives their subtrees at
        these places. None in place of a subtree counts as None for each of its leaves.
    is_leaf : callable, optional
        Predicate for more leaves of `tree`, as in `flatten`. Default: None.

    Returns
    -------
    pytree
        The structure of `tree` with the results of `f`.

    Raises
    ------
    TypeError
        If `f` or `is_leaf` is not callable.
    ValueError
        If a further pytree has another structure. The message names the place.

    Examples
    --------
    >>> pb.tree.map(lambda w, g: w - 0.5 * g, {"w": 1.0, "b": [2.0]}, {"w": 2.0, "b": [4.0]})
    {'w': 0.0, 'b': [0.0]}
    """
    if not callable(f):
        raise TypeError(f"map: expected a function for f, got {_core.shown(f)}")
    _check(is_leaf, "map")
    own, form = _core.flatten(tree, is_leaf)
    others = [leaves_like(tree, one, f"map: rest[{i}]", is_leaf) for i, one in enumerate(rest)]
    return _core.unflatten(form, [f(*group) for group in zip(own, *others, strict=True)])


def register(
    class_: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, tuple[Any, ...]], Any],
) -> None:
    """Register a class, so that its objects are pytrees.

    Without a registration, a class with a method `tree_flatten` and a class method
    `tree_unflatten` counts as registered with them; so do its subclasses. A registration counts for
    the class itself, not for subclasses. A later one replaces it.

    Parameters
    ----------
    class_ : type
        Class that is not a container already, such as dict, list or tuple.
    flatten : callable
        Function of an object that returns a pair (children, extra). `children` is an iterable of
        pytrees. `extra` belongs to the structure: a hashable object that can be compared, or None.
    unflatten : callable
        Function of `extra` and the tuple of children that returns an object. Children may be any
        objects, so it should not check or convert them.

    Raises
    ------
    TypeError
        If `class_` is not a class or a function is not callable.
    ValueError
        If `class_` is a leaf or a container that has its own treatment: a number, str, array,
        tensor, dict, list or tuple.

    Examples
    --------
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> pb.tree.register(
    ...     Interval, lambda x: ((x.low, x.high), None), lambda extra, ends: Interval(*ends)
    ... )
    >>> slopes = pb.grad(lambda x: x.high**2 - x.low)(Interval(1.0, 3.0))
    >>> float(slopes.low), float(slopes.high)
    (-1.0, 6.0)
    """
    if not isinstance(class_, type):
        raise TypeError(f"register: expected a class for class_, got {_core.shown(class_)}")
    for name, function in (("flatten", flatten), ("unflatten", unflatten)):
        if not callable(function):
            raise TypeError(
                f"register: expected a function for {name}, got {_core.shown(function)}"
            )
    if not _core.register_pytree(class_, flatten, unflatten):
        raise ValueError(
            f"register: expected a class without a treatment of its own for class_, got "
            f"{class_.__name__}; derive a class from it"
        )


def _check(is_leaf: Any, who: str) -> None:
    if is_leaf is not None and not callable(is_leaf):
        raise TypeError(f"{who}: expected a function for is_leaf, got {_core.shown(is_leaf)}")
