"""Bugs of the kinds that automatic differentiation has had, to be put in place of functions: a
program that calls one must fail. `NAMES` lists them as function: what is wrong with it.

A mutant never changes the library: it stands in the namespace that programs get as `pb`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import pullback as pb

from . import modes

Function = Callable[..., Any]


class Mutated:
    """`pb` with some functions exchanged."""

    def __init__(self, **functions: Function) -> None:
        self.__dict__.update(functions)

    def __getattr__(self, name: str) -> Any:
        return getattr(pb, name)


@contextmanager
def in_place(name: str, mutant: Function) -> Iterator[None]:
    before = modes.pb
    modes.pb = Mutated(**{name: mutant})  # type: ignore[assignment]
    try:
        yield
    finally:
        modes.pb = before


def flows(y: Any) -> bool:
    return isinstance(y, (pb.Tensor, pb.Variable)) and y.dtype.kind == "f"


def tensor(x: Any) -> Any:
    return x if isinstance(x, (pb.Tensor, pb.Variable)) else pb.constant(np.asarray(x))


# --- what may be wrong with any function


def value_off(f: Function, *args: Any, **kwargs: Any) -> Any:
    """The value, by some units of its seventh place in 10⁸."""
    y = f(*args, **kwargs)
    return y * (1 + 1e-7) + 1e-7 if flows(y) else y


def slope_off(f: Function, *args: Any, **kwargs: Any) -> Any:
    """The value is right, the gradient off by 10⁻⁶ of it."""
    y = f(*args, **kwargs)
    return y + 1e-6 * (y - pb.stop_gradient(y)) if flows(y) else y


def sign_of_slope(f: Function, *args: Any, **kwargs: Any) -> Any:
    y = f(*args, **kwargs)
    return 2 * pb.stop_gradient(y) - y if flows(y) else y


def no_slope(f: Function, *args: Any, **kwargs: Any) -> Any:
    y = f(*args, **kwargs)
    return pb.stop_gradient(y) if flows(y) else y


def no_curvature(f: Function, *args: Any, **kwargs: Any) -> Any:
    """First derivatives are right; what they depend on is taken for constant."""
    held = [pb.stop_gradient(a) if flows(a) else a for a in map(tensor, args)]

    def rule(*cotangents: Any) -> Any:
        with pb.GradientTape() as tape:
            tape.watch([a for a in held if flows(a)])
            y = f(*held, **kwargs)
        found = iter(tape.gradient(y, [a for a in held if flows(a)], cotangents[0]))
        gradients = [next(found) if flows(a) else None for a in held]
        return gradients[0] if len(gradients) == 1 else gradients

    return pb.custom_gradient(lambda *xs: (f(*xs, **kwargs), rule))(*args)


def forgets(which: int, f: Function, *args: Any, **kwargs: Any) -> Any:
    """One of the arguments is taken for constant."""
    given = list(args)
    if flows(given[which]):
        given[which] = pb.stop_gradient(given[which])
    return f(*given, **kwargs)


def exchanged(f: Function, x: Any, y: Any) -> Any:
    return f(y, x)


# --- what may be wrong with one function


def tanh_of_saturated(x: Any) -> Any:
    """The value for the slope."""
    y = pb.tanh(x)
    return y + (x - pb.stop_gradient(x)) * pb.stop_gradient(y)


def relu_leaks(x: Any) -> Any:
    y = pb.relu(x)
    return y + 1e-3 * (x - pb.stop_gradient(x)) if flows(y) else y


def abs_without_sign(x: Any) -> Any:
    y = pb.abs(x)
    if not flows(y):
        return y
    return pb.stop_gradient(y) + (x - pb.stop_gradient(x))


def minimum_for_maximum(x: Any, y: Any) -> Any:
    """The gradient goes to the wrong side."""
    found, other = pb.maximum(x, y), pb.minimum(x, y)
    return pb.stop_gradient(found - other) + other if flows(found) else found


def stop_gradient_leaks(x: Any) -> Any:
    return pb.identity(x)


def take_counts_duplicates_once(x: Any, indices: Any, axis: Any = None) -> Any:
    found = pb.take(x, indices, axis=axis)
    places = np.asarray(pb.constant(indices).numpy())
    if not flows(found) or places.ndim != 1 or axis is None:
        return found
    length = np.shape(x)[axis]
    places = places % max(length, 1)
    last = np.array([p not in places[i + 1 :] for i, p in enumerate(places)], bool)
    at = last.reshape([-1 if k == axis % found.ndim else 1 for k in range(found.ndim)])
    return pb.where(at, found, pb.stop_gradient(found))


def sum_counts_the_first_only(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    y = pb.sum(x, axis=axis, keepdims=keepdims)
    flat = pb.reshape(tensor(x), -1)
    if not flows(y) or flat.size < 2:
        return y
    return y + 0.5 * pb.sum(flat[:1] - pb.stop_gradient(flat[:1]))


def mean_by_one_less(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    y = pb.mean(x, axis=axis, keepdims=keepdims)
    n = max(tensor(x).size // max(y.size, 1), 2)
    return pb.stop_gradient(y) + (y - pb.stop_gradient(y)) * (n / (n - 1))


def reversed_slope(f: Function, x: Any, *args: Any, **kwargs: Any) -> Any:
    """The cotangent comes back in the wrong order."""
    y, back = f(x, *args, **kwargs), pb.reshape(f(x, *args, **kwargs), -1)[::-1]
    if not flows(y):
        return y
    wrong = pb.reshape(back, y.shape)
    return pb.stop_gradient(y - wrong) + wrong


def first_of_ties(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The gradient of the largest entry goes to the smallest."""
    y, other = (f(x, axis=axis, keepdims=keepdims) for f in (pb.max, pb.min))
    return pb.stop_gradient(y - other) + other if flows(y) else y


UNARY = ("sin", "cos", "tanh", "sigmoid", "softplus", "exp", "expm1", "square", "log", "sqrt")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "pow", "matmul")
MOVING = ("reshape", "transpose", "broadcast_to", "expand_dims")
REDUCTIONS = ("sum", "mean", "prod", "max", "min", "logsumexp")


def _mutants() -> Iterator[tuple[str, str, Function]]:
    def of(names: tuple[str, ...], wrong: Function) -> Iterator[tuple[str, str, Function]]:
        for name in names:
            yield name, wrong.__name__, partial(wrong, getattr(pb, name))

    yield from of(UNARY, slope_off)
    yield from of(UNARY[:8], no_curvature)
    yield from of(("tanh", "log1p", "exp", "abs", "softmax"), value_off)
    yield from of(("sin", "negative", "softmax", "log_softmax"), sign_of_slope)
    yield from of((*BINARY[:4], "matmul"), slope_off)
    for name in BINARY:
        for which in (0, 1):
            yield name, f"forgets {which}", partial(forgets, which, getattr(pb, name))
    yield from of(("subtract", "divide", "pow"), exchanged)
    yield from of(REDUCTIONS, no_slope)
    yield from of((*MOVING, "clip", "where"), no_slope)
    yield from of(("transpose", "log_softmax"), reversed_slope)
    for mutant, name in (
        (tanh_of_saturated, "tanh"),
        (relu_leaks, "relu"),
        (abs_without_sign, "abs"),
        (minimum_for_maximum, "maximum"),
        (stop_gradient_leaks, "stop_gradient"),
        (take_counts_duplicates_once, "take"),
        (sum_counts_the_first_only, "sum"),
        (mean_by_one_less, "mean"),
        (first_of_ties, "max"),
    ):
        yield name, mutant.__name__, mutant


MUTANTS = {f"{name}: {wrong}": (name, mutant) for name, wrong, mutant in _mutants()}
