"""Functions of flat lists of tensors and their vector-Jacobian products.

`FlatFunction` removes the pytrees of arguments and results; `vjp_of` returns its derivative, again
as a function of flat lists. Derivatives of higher order apply `vjp_of` to its own result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from .. import _core
from .._autodiff.vjp import vjp
from .._core import Tensor, Variable

Flat = Callable[..., tuple[Any, ...]]


def library(name: str, who: str) -> Any:
    """Import a library that pullback does not depend on."""
    try:
        return import_module(name)
    except ImportError as error:
        text = f"{who}: requires {name}, which cannot be imported ({error}); install {name}"
        raise ImportError(text, name=name) from error


def check_function(f: Any, who: str) -> None:
    """Raise a TypeError if `f` is not callable."""
    if not callable(f):
        raise TypeError(f"{who}: expected a function for f, got {_core.shown(f)}")


def is_floating(x: Any) -> bool:
    """Return whether an array or tensor with a NumPy dtype can have a gradient."""
    return x.dtype.kind in "fc"


def shared(array: Any, who: str) -> Tensor:
    """Return a tensor over the memory of an array, or a copy if it has another layout or dtype."""
    try:
        return _core.share(array, who)
    except ValueError:
        return _core.constant(array, who=who)


class FlatFunction:
    """A function of pytrees as a function of their leaves.

    Attributes
    ----------
    structure : Structure
        Structure of the last result.
    """

    def __init__(self, f: Callable[..., Any], unflatten: Callable[[Any], Any], who: str) -> None:
        self._f, self._unflatten, self._who = f, unflatten, who
        self.structure: Any = None

    def __call__(self, *leaves: Any) -> tuple[Tensor, ...]:
        results, self.structure = _core.flatten(self._f(*self._unflatten(leaves)))
        for y in results:
            if not isinstance(y, (Tensor, Variable)):
                raise TypeError(
                    f"{self._who}: expected a function that returns tensors of pullback, "
                    f"got {_core.shown(y)}"
                )
        return tuple(y.read() if isinstance(y, Variable) else y for y in results)


def vjp_of(f: Flat, count: int, at: Sequence[int], conjugate: bool = False) -> Flat:
    """Return the function of `count` inputs and of cotangents that returns gradients of inputs.

    Parameters
    ----------
    f : callable
        Function of `count` tensors that returns a tuple of tensors.
    count : int
        Number of inputs of `f`.
    at : sequence of int
        Floating inputs that need a gradient.
    conjugate : bool, default False
        Whether gradients and cotangents are the complex conjugates of those of pullback.
    """

    def derivative(*args: Any) -> tuple[Any, ...]:
        inputs, cotangents = list(args[:count]), args[count:]
        _, pullback = vjp(floating_results(f, inputs, at), *[inputs[k] for k in at])
        if conjugate:
            return tuple(map(_core.conj, pullback(tuple(map(_core.conj, cotangents)))))
        return pullback(tuple(cotangents))

    return derivative


def floating_results(f: Flat, inputs: Sequence[Any], at: Sequence[int]) -> Flat:
    """Return the function of the inputs `at` that returns the floating results of `f`."""

    def of_some(*xs: Any) -> tuple[Any, ...]:
        whole = list(inputs)
        for k, x in zip(at, xs, strict=True):
            whole[k] = x
        return tuple(y for y in f(*whole) if is_floating(y))

    return of_some
