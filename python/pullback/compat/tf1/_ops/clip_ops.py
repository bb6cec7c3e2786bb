"""Clipping by value, by norm, and by the norm of several tensors together.

The formulas are the main namespace's, with TensorFlow's results at the edges. The lower bound has
priority over a smaller upper bound; a zero vector clipped to norm 0 is NaN; a negative bound of a
global norm has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.create import apply, cast, convert_to_tensor, operation, scope_of
from .._graph.opdef import define
from .._graph.shapes import TensorShape
from .._graph.tensor import SymbolicTensor
from ..dtypes import as_dtype, float32
from ..names import public_names
from .array_ops import size, zeros
from .indexed_slices import IndexedSlices, on_values
from .math_ops import maximum, minimum, multiply


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Compute max(min(t, clip_value_max), clip_value_min), of the shape of t.

    The gradient is 1 inside and at the bounds. Outside it is 0, and the bounds have the gradient.
    For an IndexedSlices the values are clipped.
    """
    if isinstance(t, IndexedSlices):
        return t.with_values(clip_by_value(t.values, clip_value_min, clip_value_max, name))
    with scope_of(name or "clip_by_value", t) as scope:
        x = convert_to_tensor(t, name="t")
        out = maximum(minimum(x, clip_value_max), clip_value_min, scope)
    if not TensorShape(_dims(out)).is_compatible_with(_dims(x)):
        raise ValueError(
            f"clip_by_value: expected bounds that broadcast to shape {x.shape}, got a result of "
            f"{out.shape}"
        )
    return out


def _dims(x: Any) -> Any:
    return x.dims if isinstance(x, SymbolicTensor) else x.shape


def _clipped(t: Any, clip_norm: Any, axes: Any) -> Any:
    zero = _core.constant(0, t.dtype)
    undefined = _core.logical_and(clip_norm <= zero, pb.all(t == zero, axis=axes, keepdims=True))
    return _core.where(undefined, nan, pb.clip_by_norm(t, clip_norm, axes))


_clip_by_norm = operation(
    "ClipByNorm", _clipped, "t clip_norm axes=None", "See clip_by_norm.", "clip_by_norm",
    domain="float", same=True, shape=shape_functions.unchanged,
)  # fmt: skip


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scale t down to the Euclidean norm `clip_norm` if its norm is larger; over `axes`, if given.

    For an IndexedSlices the norm is that of the values; rows of the same position are not summed.
    """
    return on_values(lambda x: _clip_by_norm(x, clip_norm, axes, name), t)


def clip_by_average_norm(t: Any, clip_norm: Any, name: str | None = None) -> Any:
    """Scale t down if its norm divided by its number of elements is above `clip_norm`."""
    with scope_of(name or "clip_by_average_norm", t) as scope:
        x = convert_to_tensor(t)
        return clip_by_norm(x, multiply(clip_norm, cast(size(x), as_dtype(x.dtype))), name=scope)


define("GlobalNorm", lambda *ts: pb.global_norm(ts), domain="float", shape=shape_functions.scalar)
define(
    "ClipByGlobalNorm",
    lambda c, norm, *ts: pb.clip_by_global_norm(list(ts), _core.where(c < 0, inf, c), norm)[0],
    labels=("clip_norm", "norm"), domain="float", same=True,
    shape=lambda c, norm, *ts: [t.dims for t in ts],
)  # fmt: skip


def _entries(t_list: Any, who: str) -> list[Any]:
    """Return the tensors; for an IndexedSlices its values."""
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"{who}: expected a list of tensors, got a {type(t_list).__name__}")
    values = (t.values if isinstance(t, IndexedSlices) else t for t in t_list)
    return [None if t is None else convert_to_tensor(t) for t in values]


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Any:
    """Compute the Euclidean norm of all elements of all tensors; None is skipped.

    For an IndexedSlices the values count; rows of the same position are not summed.
    """
    present = [t for t in _entries(t_list, "global_norm") if t is not None]
    return apply("GlobalNorm", *present, name=name or "global_norm") if present else zeros([])


def clip_by_global_norm(
    t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Any]:
    """Scale all tensors down so that their `global_norm` is at most `clip_norm`.

    Returns the list, with None and IndexedSlices at their places, and the norm before clipping (or
    `use_norm`).
    """
    with scope_of(name or "clip_by_global_norm", t_list):
        entries = _entries(t_list, "clip_by_global_norm")
        present = [t for t in entries if t is not None]
        dtype = as_dtype(present[0].dtype) if present else float32
        norm = global_norm(entries) if use_norm is None else convert_to_tensor(use_norm, dtype)
        if not present:
            return list(entries), norm
        out = apply("ClipByGlobalNorm", convert_to_tensor(clip_norm, dtype), norm, *present)
        clipped = iter(out if isinstance(out, list) else [out])
        return [None if t is None else on_values(lambda _: next(clipped), t) for t in t_list], norm


__all__ = public_names(globals())
