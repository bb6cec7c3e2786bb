"""The derivative of a function as a function: `grad` and `value_and_grad`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import compress, repeat
from operator import index
from typing import Any, Concatenate, Literal, TypeVar, overload

import numpy as np

from .._base import last_query
from .._base.checks import flag
from .._base.hints import without
from .._base.pytree import flatten, unflatten, written_behind
from .._core import Tape, Tensor, Variable, constant, identity, shown
from .._core import gradients as core_gradients
from .._typing import Gradient, Lambda, P, R, Transformed, Tree
from .gradients import with_zeros
from .leaf_selection import Selection, check_selection, selected_leaves
from .rules import place

__all__ = ["grad", "value_and_grad"]

Aux = TypeVar("Aux")

# In place of the first argument, `f` receives a pytree of tensors: the gradient has the type of the
# first parameter of `f`, whatever the leaves of the argument are.


@overload
def value_and_grad(
    f: Lambda | Callable[Concatenate[Tree, P], R],
    argnums: Literal[0] = 0,
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Callable[Concatenate[Any, P], tuple[R, Tree]]: ...
@overload
def value_and_grad(
    f: Callable[Concatenate[Tensor, P], R],
    argnums: Literal[0] = 0,
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Callable[Concatenate[Any, P], tuple[R, Gradient]]: ...
@overload
def value_and_grad(
    f: Callable[..., R],
    argnums: Sequence[int],
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Transformed[tuple[R, tuple[Any, ...]]]: ...
@overload
def value_and_grad(
    f: Callable[..., R],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Transformed[tuple[R, Any]]: ...
@without(argnames="argnums selects arguments by position, and wrt leaves of pytrees")
def value_and_grad(
    f: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the value of `f` and its gradient.

    The gradient is differentiable again: with respect to the arguments of a surrounding `grad`, the
    variables that `f` reads, and the tensors that a tape watches. All other histories end with the
    call, so the memory of a loop over plain arrays does not grow.

    The transform composes with `function` in both orders. `function(value_and_grad(f))` is a single
    plan and is the faster one.

    Parameters
    ----------
    f : callable
        Function that returns a Tensor of shape () and a real floating dtype, or a pair (value, aux)
        with `has_aux`.
    argnums : int or sequence of int, optional
        Positions of the arguments to differentiate with respect to; negative positions count from
        the end. Such an argument is a tensor, variable, array or number, or a pytree of them
        (dicts, lists, tuples, dataclasses), and `f` receives tensors in their place. Its leaves are
        real or complex floating numbers; a Python or NumPy integer counts as a float, except in a
        field of a class. Default: 0.
    has_aux : bool, optional
        If True, `f` returns a pair (value, aux). `aux` is any object; it is not differentiated.
        Default: False.
    wrt : str, sequence of str or callable, optional
        Leaves to differentiate with respect to: paths as they are written after the argument, such
        as ``"['encoder']"`` or ``".layers[0].w"``, each of which selects a leaf or all leaves of a
        subtree, or a predicate ``wrt(path, leaf)``. Other leaves can be any objects; `f` receives
        them as they are, and the gradient is None in their place. Default: all leaves.

    Returns
    -------
    callable
        Function of the arguments of `f` that returns (value, gradient), or ((value, aux), gradient)
        with `has_aux`. The gradient has the structure of the argument, and the shape and dtype of
        each leaf; it is a tuple of these if `argnums` is a sequence. It is zero for a leaf that `f`
        does not depend on.

    Raises
    ------
    TypeError
        If `f` is not callable, `argnums` is not made of integers, `has_aux` is not a bool or `wrt`
        is invalid. At the call: if an argument is missing or is not floating, if the result is not
        a real floating tensor, or if `f` does not return a pair although `has_aux` is True.
    ValueError
        At the call: if the result does not have shape (), if `argnums` names an argument twice, or
        if `wrt` or one of its paths selects no leaf.

    Examples
    --------
    >>> value, (dx, dy) = pb.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2, 5)
    >>> float(value), float(dx), float(dy)
    (10.0, 5.0, 2.0)
    >>> (value, aux), dx = pb.value_and_grad(lambda x: (x * x, "seen"), has_aux=True)(3.0)
    >>> float(value), aux, float(dx)
    (9.0, 'seen', 6.0)
    >>> loss = lambda p: p["w"] * p["scale"]["s"]
    >>> pb.value_and_grad(loss, wrt="['w']")({"w": 2.0, "scale": {"s": 3.0}})[1]
    {'w': Tensor(3., dtype=float32), 'scale': {'s': None}}
    """
    return result_and_gradients(f, argnums, has_aux, "value_and_grad", wrt)


@overload
def grad(
    f: Lambda | Callable[Concatenate[Tree, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    wrt: Selection | None = None,
) -> Callable[Concatenate[Any, P], Tree]: ...
@overload
def grad(
    f: Callable[Concatenate[Tensor, P], Any],
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    *,
    wrt: Selection | None = None,
) -> Callable[Concatenate[Any, P], Gradient]: ...
@overload
def grad(  # type: ignore[overload-overlap]  # no function is a Lambda
    f: Lambda | Callable[Concatenate[Tree, P], tuple[Any, Aux]],
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    wrt: Selection | None = None,
) -> Callable[Concatenate[Any, P], tuple[Tree, Aux]]: ...
@overload
def grad(
    f: Callable[..., Any],
    argnums: Sequence[int],
    has_aux: Literal[False] = False,
    *,
    wrt: Selection | None = None,
) -> Transformed[tuple[Any, ...]]: ...
@overload
def grad(
    f: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Transformed[Any]: ...
@without(argnames="argnums selects arguments by position, and wrt leaves of pytrees")
def grad(
    f: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    wrt: Selection | None = None,
) -> Callable[..., Any]:
    """Return a function that computes the gradient of `f`.

    See `value_and_grad` for the details of differentiation.

    Parameters
    ----------
    f : callable
        Function that returns a Tensor of shape () and a real floating dtype, or a pair (value, aux)
        with `has_aux`.
    argnums : int or sequence of int, optional
        Positions of the arguments to differentiate with respect to; negative positions count from
        the end. Default: 0.
    has_aux : bool, optional
        If True, `f` returns a pair (value, aux). `aux` is any object; it is not differentiated.
        Default: False.
    wrt : str, sequence of str or callable, optional
        Paths of the leaves to differentiate with respect to, or a predicate ``wrt(path, leaf)``;
        see `value_and_grad`. Default: all leaves.

    Returns
    -------
    callable
        Function of the arguments of `f` that returns the gradient, or (gradient, aux) with
        `has_aux`. The gradient has the structure of the argument, and the shape and dtype of each
        leaf; it is a tuple of these if `argnums` is a sequence.

    Raises
    ------
    TypeError
        If `f` is not callable, `argnums` is not made of integers, `has_aux` is not a bool or `wrt`
        is invalid. At the call: if an argument is missing or is not floating, if the result is not
        a real floating tensor, or if `f` does not return a pair although `has_aux` is True.
    ValueError
        At the call: if the result does not have shape (), if `argnums` names an argument twice, or
        if `wrt` or one of its paths selects no leaf.

    See Also
    --------
    value_and_grad, jacobian, hessian

    Examples
    --------
    >>> cube = lambda x: x ** 3
    >>> float(pb.grad(cube)(2.0)), float(pb.grad(pb.grad(cube))(2.0))
    (12.0, 12.0)
    """
    both = result_and_gradients(f, argnums, has_aux, "grad", wrt)

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        result, gradient = both(*args, **kwargs)
        return (gradient, result[1]) if has_aux else gradient

    return call


def result_and_gradients(
    f: Callable[..., Any], argnums: Any, has_aux: bool, who: str, wrt: Selection | None = None
) -> Callable[..., Any]:
    """Return a function that returns the result of `f` and its gradients, as `value_and_grad`."""
    if not callable(f):
        raise TypeError(f"{who}: expected a function for f, got {shown(f)}")
    has_aux = flag(has_aux, who, "has_aux")
    check_selection(wrt, who)
    single, positions = argument_numbers(argnums, who)

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        inner = list(args)
        xs: list[Tensor] = []
        structures = []
        tape = Tape(False, who)
        tape.start()
        try:
            resolved = resolve_positions(positions, len(args), f, who)
            masks = repeat(None) if wrt is None else selected_leaves(wrt, args, resolved, who)
            for position, chosen in zip(resolved, masks, strict=False):
                leaves, structure = flatten(args[position])
                structures.append((structure, chosen))
                leaves = _differentiable(leaves, chosen, args[position], who, position)
                watched = leaves if chosen is None else list(compress(leaves, chosen))
                for x in watched:
                    tape.watch(x)
                xs += watched
                inner[position] = unflatten(structure, leaves)
            result = f(*inner, **kwargs)
        finally:
            tape.stop()
        value = _value_of(result, f, who) if has_aux else result
        check_value(value, f, who)
        answers = core_gradients([value], xs)
        if last_query.noted:  # now: the histories end with the call
            last_query.tell(([value], xs, [None], tape, [], None), answers)
        found = with_zeros(answers, xs)
        returned = flatten(result)[0] if has_aux else [result]
        tensors = [leaf for leaf in returned if isinstance(leaf, Tensor)]
        tape.end_histories([*tensors, *found])
        entries = iter(found)
        gradients = tuple(
            unflatten(structure, entries)
            if chosen is None
            else unflatten(structure, [next(entries) if wanted else None for wanted in chosen])
            for structure, chosen in structures
        )
        return tuple(result) if has_aux else result, gradients[0] if single else gradients

    return call


def argument_numbers(argnums: Any, who: str) -> tuple[bool, list[int]]:
    """Return whether `argnums` is a single integer, and its integers as a list."""
    single = isinstance(argnums, str) or not isinstance(argnums, Sequence)
    positions = []
    for position in [argnums] if single else argnums:
        try:
            if isinstance(position, bool):
                raise TypeError
            positions.append(index(position))
        except TypeError:
            raise TypeError(
                f"{who}: expected an integer or a tuple of integers for argnums, got "
                f"{shown(position)}; {who}(f) returns a function, so call {who}(f)(x)"
            ) from None
    return single, positions


def resolve_positions(positions: list[int], count: int, f: Any, who: str) -> list[int]:
    """Return argument positions, counted from the start, for a call with `count` arguments."""
    out = []
    for position in positions:
        if not -count <= position < count:
            raise TypeError(
                f"{who}: argnums={position} is out of range for {place(f)}, called with {count} "
                "positional arguments"
            )
        out.append(position % count)
    if len(set(out)) != len(out):
        raise ValueError(
            f"{who}: expected distinct arguments of {place(f)} for argnums, got {tuple(positions)}"
        )
    return out


def _value_of(result: Any, f: Any, who: str) -> Any:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(
            f"{who}: expected a pair (value, aux) from {place(f)} with has_aux=True, "
            f"got {shown(result)}"
        )
    return result[0]


def _differentiable(
    leaves: list[Any], chosen: list[bool] | None, argument: Any, who: str, position: int
) -> list[Any]:
    """Return the leaves with new tensors for those that are chosen; None chooses all."""
    if argument is None:  # not an empty pytree, but a mistake
        leaves, chosen = [None], None
    out = list(leaves)
    for k, leaf in enumerate(leaves):
        if chosen is not None and not chosen[k]:
            continue

        def where(_: Any = None, k: int = k) -> str:
            path = "" if leaves[k] is argument else written_behind(argument)[k]
            return f"{who}: argument {position}{path}"

        if leaf is not argument:
            check_field(leaf, where)
        out[k] = differentiable_leaf(leaf, where)
    return out


def check_field(leaf: Any, where: Callable[[Any], str]) -> None:
    """Raise a TypeError if a leaf is an integer or a string in a field of a class."""
    if isinstance(leaf, (int, np.integer, str)) and re.search(r"\.[^\W\d]\w*$", where(leaf)):
        raise TypeError(
            f"{where(leaf)}: expected floating numbers, got {shown(leaf)}; mark a field that is "
            "not differentiated by metadata={'static': True}, or select leaves by wrt of grad"
        )


def differentiable_leaf(leaf: Any, where: Callable[[Any], str]) -> Tensor:
    """Return a new tensor for one leaf of an argument.

    A tensor that is passed twice gives two leaves with separate gradients.
    """
    if isinstance(leaf, Tensor) and leaf.dtype.kind in "fc":
        return identity(leaf)
    given = leaf
    if isinstance(leaf, (int, np.integer)) and not isinstance(leaf, bool):
        leaf = float(leaf)
    try:
        x = identity(constant(leaf))
    except (TypeError, ValueError):
        constant(leaf, who=where(given))
        raise
    if x.dtype.kind not in "fc":
        raise TypeError(f"{where(given)}: expected a floating dtype, got {x.dtype}; cast it")
    return x


def check_value(value: Any, f: Callable[..., Any], who: str) -> None:
    if not isinstance(value, (Tensor, Variable)):
        advice = "; does it lack a return?" if value is None else ""
        raise TypeError(f"{who}: expected a Tensor from {place(f)}, got {shown(value)}{advice}")
    if value.dtype.kind != "f":
        cure = "apply real or abs" if value.dtype.kind == "c" else "cast it"
        raise TypeError(
            f"{who}: expected a real floating dtype from {place(f)}, got {value.dtype}; {cure}"
        )
    if value.shape != ():
        raise ValueError(
            f"{who}: expected shape () from {place(f)}, got {value.shape}; apply sum or mean"
        )
