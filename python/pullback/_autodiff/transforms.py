"""grad and value_and_grad: the derivative of a function as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from operator import index
from typing import Any

import numpy as np

from .._base.pytree import flatten, unflatten, written_behind
from .._core import Tape, Tensor, Variable, constant, identity, shown
from .._core import gradients as core_gradients
from .gradients import with_zeros
from .rules import place

__all__ = ["grad", "value_and_grad"]


def value_and_grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the value of f and its gradient by one argument, or several.

    f takes tensors and returns one of shape () and floating dtype. `argnums` says which positional
    arguments to differentiate by: an integer, or a sequence of them, for which the gradient is a
    tuple. Such an argument is a tensor, a variable, an array or a number, or a nest of them (dicts,
    lists, tuples, dataclasses), and its gradient has its structure; f sees tensors in their place.
    An integer of Python or NumPy counts as a float. Where f does not depend on an argument, its
    gradient is zeros. With `has_aux`, f returns a pair (value, aux), and the function ((value,
    aux), gradient): aux is anything, and has no part in the gradient.

    A further gradient of the results is that of another `grad` around it, of variables that f uses,
    or of what a tape watches. By all else that f makes there is none: its histories end with the
    call, so that a loop over plain arrays does not grow.

    It goes together with `function` either way: function(value_and_grad(f)) is one plan, which is
    the fast one.

    Raises TypeError for an argument or a result that is not floating, for an argument that is
    missing, and where f returns no pair though `has_aux`; ValueError for a result of another shape
    and for an argument named twice.

    >>> value, (dx, dy) = pb.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2, 5)
    >>> float(value), float(dx), float(dy)
    (10.0, 5.0, 2.0)
    >>> (value, aux), dx = pb.value_and_grad(lambda x: (x * x, "seen"), has_aux=True)(3.0)
    >>> float(value), aux, float(dx)
    (9.0, 'seen', 6.0)
    """
    return _transformed(f, argnums, has_aux, "value_and_grad")


def grad(
    f: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient of f, or (gradient, aux); see `value_and_grad`.

    >>> cube = lambda x: x ** 3
    >>> float(pb.grad(cube)(2.0)), float(pb.grad(pb.grad(cube))(2.0))
    (12.0, 12.0)
    """
    both = _transformed(f, argnums, has_aux, "grad")

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        result, gradient = both(*args, **kwargs)
        return (gradient, result[1]) if has_aux else gradient

    return call


def _transformed(
    f: Callable[..., Any], argnums: Any, has_aux: bool, who: str
) -> Callable[..., Any]:
    if not callable(f):
        raise TypeError(f"{who}: expected a function, got {f!r}")
    single, positions = argument_numbers(argnums, who)

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        inner = list(args)
        xs: list[Tensor] = []
        structures = []
        tape = Tape(False, who)
        tape.start()
        try:
            for position in resolved(positions, len(args), f, who):
                leaves, structure = flatten(args[position])
                structures.append(structure)
                leaves = _differentiable(leaves, args[position], who, position)
                for x in leaves:
                    tape.watch(x)
                xs += leaves
                inner[position] = unflatten(structure, leaves)
            result = f(*inner, **kwargs)
        finally:
            tape.stop()
        value = _value_of(result, f, who) if has_aux else result
        check_value(value, f, who)
        found = with_zeros(core_gradients([value], xs), xs)
        tensors = [leaf for leaf in flatten(result)[0] if isinstance(leaf, Tensor)]
        tape.end_histories([*tensors, *found])
        answers = iter(found)
        gradients = tuple(unflatten(structure, answers) for structure in structures)
        return tuple(result) if has_aux else result, gradients[0] if single else gradients

    return call


def argument_numbers(argnums: Any, who: str) -> tuple[bool, list[int]]:
    """Whether it is one integer, and the list of them."""
    single = isinstance(argnums, str) or not isinstance(argnums, Sequence)
    positions = []
    for position in [argnums] if single else argnums:
        try:
            if isinstance(position, bool):
                raise TypeError
            positions.append(index(position))
        except TypeError:
            raise TypeError(
                f"{who}: argnums: expected an integer or a tuple of them, got {shown(position)}; "
                f"{who}(f) is a function, so that at x is {who}(f)(x)"
            ) from None
    return single, positions


def resolved(positions: list[int], count: int, f: Any, who: str) -> list[int]:
    out = []
    for position in positions:
        if not -count <= position < count:
            raise TypeError(
                f"{who}: {place(f)} was called with {count} positional arguments, and is to be "
                f"differentiated by number {position}"
            )
        out.append(position % count)
    if len(set(out)) != len(out):
        raise ValueError(f"{who}: argnums {tuple(positions)} name an argument of {place(f)} twice")
    return out


def _value_of(result: Any, f: Any, who: str) -> Any:
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(
            f"{who}: with has_aux, {place(f)} must return a pair (value, aux); "
            f"got a {type(result).__name__}"
        )
    return result[0]


def _differentiable(leaves: list[Any], argument: Any, f: str, position: int) -> list[Tensor]:
    def where(leaf: Any) -> str:
        path = "" if leaf is argument else written_behind(argument)[_place_of(leaf, leaves)]
        return f"{f}: argument {position}{path}"

    return [differentiable_leaf(leaf, where) for leaf in leaves]


def _place_of(leaf: Any, leaves: list[Any]) -> int:
    return next(i for i, one in enumerate(leaves) if one is leaf)


def differentiable_leaf(leaf: Any, where: Callable[[Any], str]) -> Tensor:
    """A tensor of its own for a leaf of an argument: the same one twice has two gradients."""
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
        raise TypeError(
            f"{where(given)} holds a {type(leaf).__name__} of {x.dtype}; "
            "only floats have gradients: cast it"
        )
    return x


def check_value(value: Any, f: Callable[..., Any], who: str) -> None:
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(f"{who}: {place(f)} returned a {type(value).__name__}; expected a Tensor")
    if value.dtype.kind != "f":
        cure = "; return a real number, as real or abs give" if value.dtype.kind == "c" else ""
        raise TypeError(
            f"{who}: {place(f)} returned {value.dtype}; only floats have gradients{cure}"
        )
    if value.shape != ():
        raise ValueError(
            f"{who}: {place(f)} returned shape {value.shape}; expected (), as sum or mean give"
        )
