"""grad and value_and_grad: the derivative of a function as a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from . import _core
from ._core import Tensor, Variable, flatten, unflatten
from ._rules import place
from .gradients import with_zeros


def value_and_grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns the value of f and its gradient by one argument, or several.

    f takes tensors and returns one of shape () and floating dtype. `argnums` says which positional
    arguments to differentiate by: an integer, or a sequence of them, for which the gradient is a
    tuple. Such an argument is a tensor, a variable, an array or a number, or a nest of them, and
    its gradient has its structure; f sees tensors in their place. A Python integer counts as a
    float. Where f does not depend on an argument, its gradient is zeros.

    Raises TypeError for an argument or a result that is not floating, and for an argument that is
    missing; ValueError for a result of another shape.

    >>> value, (dx, dy) = pb.value_and_grad(lambda x, y: x * y, argnums=(0, 1))(2, 5)
    >>> float(value), float(dx), float(dy)
    (10.0, 5.0, 2.0)
    """
    single = isinstance(argnums, int)
    positions: list[int] = [argnums] if isinstance(argnums, int) else list(argnums)

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        inner = list(args)
        xs: list[list[Any]] = []
        structures = []
        tape = _core.Tape(False)
        tape.start()
        try:
            for position in positions:
                if not -len(args) <= position < len(args):
                    raise TypeError(
                        f"grad: {place(f)} was called with {len(args)} positional arguments, and "
                        f"is to be differentiated by number {position}"
                    )
                leaves, structure = flatten(args[position])
                xs.append([_differentiable(leaf, position) for leaf in leaves])
                structures.append(structure)
                for x in xs[-1]:
                    tape.watch(x)
                inner[position] = unflatten(structure, xs[-1])
            value = f(*inner, **kwargs)
        finally:
            tape.stop()
        _check_value(value, f)
        flat = [x for group in xs for x in group]
        answers = iter(with_zeros(_core.gradients([value], flat), flat))
        gradients = tuple(unflatten(structure, answers) for structure in structures)
        return value, gradients[0] if single else gradients

    return call


def grad(f: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Callable[..., Any]:
    """A function that returns the gradient of f; see `value_and_grad`.

    >>> cube = lambda x: x ** 3
    >>> float(pb.grad(cube)(2.0)), float(pb.grad(pb.grad(cube))(2.0))
    (12.0, 12.0)
    """
    both = value_and_grad(f, argnums)

    @wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return call


def _differentiable(leaf: Any, position: int) -> Tensor:
    """A tensor of its own for an argument: the same one twice has two gradients."""
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        leaf = float(leaf)
    x = _core.identity(_core.constant(leaf, who=f"grad: argument {position}"))
    if x.dtype.kind != "f":
        raise TypeError(
            f"grad: argument {position} holds a {type(leaf).__name__} of {x.dtype}; "
            "only floats have gradients: cast it"
        )
    return x


def _check_value(value: Any, f: Callable[..., Any]) -> None:
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(f"grad: {place(f)} returned a {type(value).__name__}; expected a Tensor")
    if value.dtype.kind != "f":
        raise TypeError(f"grad: {place(f)} returned {value.dtype}; only floats have gradients")
    if value.shape != ():
        raise ValueError(
            f"grad: {place(f)} returned shape {value.shape}; expected (), as sum or mean give"
        )
