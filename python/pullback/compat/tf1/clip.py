"""Clipping by value, by norm, and by the norm of several tensors together.

An infinite bound means no clipping; a norm that is infinite or NaN makes every entry NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from .array_ops import ones_like, where, zeros, zeros_like
from .convert import convert_to_tensor, scope_of
from .create import apply, cast
from .dtypes import as_dtype, float32
from .math_ops import add_n, is_finite, logical_or, maximum, reduce_sum, sqrt
from .shapes import TensorShape
from .tensor import Tensor

__all__ = [
    "clip_by_average_norm",
    "clip_by_global_norm",
    "clip_by_norm",
    "clip_by_value",
    "global_norm",
]


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """max(min(t, clip_value_max), clip_value_min), of the shape of t.

    The gradient is 1 inside and at the bounds, 0 outside, where the bounds get it.
    """
    with scope_of(name or "clip_by_value", t) as scope:
        x = convert_to_tensor(t, name="t")
        low, high = (
            convert_to_tensor(v, as_dtype(x.dtype)) for v in (clip_value_min, clip_value_max)
        )
        out = apply("Maximum", [apply("Minimum", [x, high], None, "Minimum"), low], None, scope)
    fits = TensorShape(_dims(out)).is_compatible_with(_dims(x))
    if not fits:
        raise ValueError(
            f"clip_by_value: the bounds would change the shape {x.shape} to {out.shape}"
        )
    return out


def _dims(x: Any) -> Any:
    return x.dims if isinstance(x, Tensor) else x.shape


def _floats(t: Any, who: str) -> Any:
    x = convert_to_tensor(t, name="t")
    if not as_dtype(x.dtype).is_floating:
        raise TypeError(f"{who}: expected floats, got {x!r}; use tf.cast")
    return x


def _root(total: Any) -> Any:
    """The square root, whose gradient at 0 is 0."""
    zero = zeros_like(total)
    positive = total > zero
    safe = where(positive, total, ones_like(total))
    # A NaN is neither positive nor 0 and must stay.
    return where(positive, sqrt(safe), where(apply("Equal", [total, zero]), zero, total))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """t, scaled down to Euclidean norm `clip_norm` where it is longer; over `axes`, if given."""
    with scope_of(name or "clip_by_norm", t):
        x = _floats(t, "clip_by_norm")
        bound = maximum(convert_to_tensor(clip_norm, as_dtype(x.dtype)), 0)
        norm = _root(reduce_sum(x * x, axes, keepdims=True))
        # t c / max(norm, c): c = 0 of a zero vector is 0/0, as in TensorFlow.
        scaled = x * bound / maximum(norm, bound)
        return where(apply("Equal", [bound, convert_to_tensor(inf, as_dtype(x.dtype))]), x, scaled)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """t, scaled down where its norm divided by its number of elements is above `clip_norm`."""
    with scope_of(name or "clip_by_average_norm", t):
        x = _floats(t, "clip_by_average_norm")
        count = cast(apply("Size", [x], {"out_type": as_dtype("int32")}), as_dtype(x.dtype))
        return clip_by_norm(x, convert_to_tensor(clip_norm, as_dtype(x.dtype)) * count)


def _entries(t_list: Any, who: str) -> list[Any]:
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"{who}: expected a list of tensors, got a {type(t_list).__name__}")
    entries = [None if t is None else _floats(t, who) for t in t_list]
    kinds = {as_dtype(t.dtype).name for t in entries if t is not None}
    if len(kinds) > 1:
        raise TypeError(f"{who}: expected tensors of one dtype, got {' and '.join(sorted(kinds))}")
    return entries


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Any:
    """The Euclidean norm of all elements of all tensors; None is skipped, and nothing gives 0."""
    with scope_of(name or "global_norm", t_list):
        present = [t for t in _entries(t_list, "global_norm") if t is not None]
        if not present:
            return zeros([], float32)
        return _root(add_n([reduce_sum(t * t) for t in present]))


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """All tensors, scaled down together so that their `global_norm` is at most `clip_norm`.

    Returns the list, with None where there was None, and the norm from before (or `use_norm`).
    """
    with scope_of(name or "clip_by_global_norm", t_list):
        entries = _entries(t_list, "clip_by_global_norm")
        present = [t for t in entries if t is not None]
        dtype = as_dtype(present[0].dtype) if present else float32
        norm = global_norm(entries) if use_norm is None else convert_to_tensor(use_norm, dtype)
        if not present:
            return list(entries), norm
        bound = convert_to_tensor(clip_norm, dtype)
        one = convert_to_tensor(1, dtype)
        # bound · min(1/norm, 1/bound), where 1/bound need not exist
        short = logical_or(norm <= bound, bound < zeros_like(bound))
        factor = where(short, one, bound / where(short, one, norm))
        unbounded = apply("Equal", [bound, convert_to_tensor(inf, dtype)])
        undefined = convert_to_tensor(float("nan"), dtype)
        factor = where(logical_or(is_finite(norm), unbounded), factor, undefined)
        return [None if t is None else t * factor for t in entries], norm
