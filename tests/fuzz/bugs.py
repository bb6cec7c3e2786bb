"""What may be wrong with functions: the bugs of `mutants`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pullback as pb

from . import helpers
from .reference import Meaning

Function = Callable[..., Any]


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


def exclusive(x: Any, axis: Any = None, include_initial: bool = False) -> Any:
    """Each entry's gradient goes to those after it only."""
    y = pb.cumulative_sum(x, axis=axis, include_initial=include_initial)
    return y - (x - pb.stop_gradient(x)) if flows(y) and not include_initial else y


def running_product_without_zeros(x: Any, axis: Any = None) -> Any:
    """The cotangent comes by quotients: y / x, a constant."""
    y = pb.cumulative_prod(x, axis=axis)
    if not flows(y):
        return y
    part = pb.cumulative_sum((x - pb.stop_gradient(x)) / pb.stop_gradient(x), axis=axis)
    return pb.stop_gradient(y) * (1 + part)


def largest_so_far_of_all(x: Any, axis: Any = None) -> Any:
    """The gradient goes to the entry at the same place."""
    y = pb.cumulative_max(x, axis=axis)
    return pb.stop_gradient(y - x) + x if flows(y) else y


def sort_in_the_order_of_the_leaf(x: Any, axis: int = -1, descending: bool = False) -> Any:
    """The gradient comes back unsorted."""
    y = pb.sort(x, axis=axis, descending=descending)
    return pb.stop_gradient(y - x) + x if flows(y) else y


def topk_of_the_smallest(x: Any, k: int, axis: int = -1) -> Any:
    """The gradient goes to the smallest."""
    (y, places), other = pb.topk(x, k, axis=axis), pb.topk(-x, k, axis=axis)[0]
    return (pb.stop_gradient(y + other) - other if flows(y) else y), places


def median_of_one(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Of two in the middle, the lower one."""
    return pb.quantile(x, 0.5, axis=axis, keepdims=keepdims, method="lower")


def variance_of_a_constant_mean(x: Any, **more: Any) -> Any:
    """Second derivatives lack what the mean does."""
    y = pb.var(x, **more)
    if not flows(y) or "where" in more or more["correction"]:
        return y
    axis, keep = more["axis"], more["keepdims"]
    apart = x - pb.stop_gradient(pb.mean(x, axis=axis, keepdims=True))
    return pb.mean(pb.square(apart), axis=axis, keepdims=keep)


def without_mask(f: Function, x: Any, **more: Any) -> Any:
    """The gradient goes to what where= hides, too."""
    y = f(x, **more)
    if "where" not in more or not flows(y):
        return y
    other = f(x, **{k: v for k, v in more.items() if k != "where"})
    return pb.stop_gradient(y - other) + other


def without_start(neutral: float, f: Function, x: Any, **more: Any) -> Any:
    """The gradient is that without initial=."""
    y = f(x, **more)
    if "initial" not in more or not flows(y):
        return y
    other = f(x, **{**more, "initial": neutral})
    return pb.stop_gradient(y - other) + other


def holes_count(x: Any, **more: Any) -> Any:
    """nanmean divides by all of the entries."""
    y = pb.nanmean(x, **more)
    counts = pb.mean(pb.cast(pb.isfinite(x), y.dtype), **more)
    return y * counts


def conj_forgets(z: Any) -> Any:
    return z


def imag_as_real(z: Any) -> Any:
    """The gradient of the other part."""
    y = pb.imag(z)
    return pb.stop_gradient(y - pb.real(z)) + pb.real(z)


def complex_product_unconjugated(a: Any, b: Any) -> Any:
    """Gradients by a factor, not by its conjugate."""
    y = pb.multiply(a, b)
    if getattr(y, "dtype", None) is None or y.dtype.kind != "c":
        return y
    held = [pb.stop_gradient(x) for x in (a, b)]
    change = (a - held[0]) * pb.conj(held[1]) + pb.conj(held[0]) * (b - held[1])
    return pb.stop_gradient(y) + change


def unrounded(f: Function, *args: Any, **kwargs: Any) -> Any:
    """A half that is kept in more digits."""
    if getattr(args[0], "dtype", None) not in (np.dtype(np.float16), pb.bfloat16):
        return f(*args, **kwargs)
    return f(*(pb.cast(x, "float32") for x in args), **kwargs)


def cut_off(x: Any, dtype: Any) -> Any:
    """A bfloat16 by its bits, towards zero."""
    if dtype != "bfloat16":
        return pb.astype(x, dtype)
    y = pb.astype(x, "bfloat16")
    down = pb.astype(pb.cast(x, "float64") * (1 - 2.0**-8), "bfloat16")
    return pb.where(pb.abs(pb.cast(y, "float64")) > pb.abs(pb.cast(x, "float64")), down, y)


def saturating(f: Function, x: Any, y: Any) -> Any:
    """Small integers stop at their bounds."""
    found = f(x, y)
    if getattr(found, "dtype", np.dtype("f4")).name not in ("int8", "uint8", "int16"):
        return found
    bounds = np.iinfo(found.dtype)
    return pb.cast(pb.clip(f(pb.cast(x, "int64"), pb.cast(y, "int64")), bounds.min, bounds.max),
                   found.dtype)  # fmt: skip


def shifted_by_all(x: Any, by: Any) -> Any:
    return pb.bitwise_left_shift(x, by + 1)


def padded_edge_once(x: Any, width: Any, mode: str = "constant") -> Any:
    """What was repeated has no gradient."""
    y = pb.pad(x, width, mode)
    if not flows(y) or mode == "constant":
        return y
    inner = pb.pad(pb.ones_like(x), width)
    return pb.where(inner != 0, y, pb.stop_gradient(y))


def assignment_forgets(space: Any, x: Any, y: Any) -> Any:
    """What was assigned has no gradient."""
    if isinstance(space, Meaning):
        return helpers.ALL["assigned_part"](space, x, y)
    return helpers.ALL["assigned_part"](space, x, space.stop_gradient(y))


def picks_once(x: Any, i: Any, axis: int) -> Any:
    """The first of the places has the gradient."""
    y = pb.take_along_axis(x, i, axis=axis)
    if not flows(y):
        return y
    first = np.zeros(y.shape, bool)
    np.moveaxis(first, axis, 0)[:1] = True
    return pb.where(first, y, pb.stop_gradient(y))
