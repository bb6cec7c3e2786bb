"""Clipping, mostly of gradients: by value, by norm, by the norm of all of them together.

An infinite bound means no clipping; the gradient of a norm at 0 is 0. All take floats only, else
TypeError, and give back the dtype and shape of what they clip.

A norm is that of `linalg.norm`: finite if it can be represented in the dtype of its tensors.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any, Literal, TypeVar

import numpy as np

from .. import _core
from .._base.checks import floating
from .._base.pytree import flatten, leaf_paths, unflatten
from .._core import Tensor
from .._numpy.euclidean import euclidean_norm, norm_of_all
from .._typing import Axis, TensorLike

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]

Nest = TypeVar("Nest")


def clip_by_value(x: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike) -> Tensor:
    """x, but at least one bound and at most the other (which wins where they cross). NaN stays.

    Bounds broadcast to x; where x would have to broadcast to them it is a ValueError. The gradient
    is 1 inside and at the bounds, 0 outside, where the bound takes it.

    >>> pb.clip_by_value([-3.0, 0.5, 3.0], -1, 1)
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = _core.constant(x, who="clip_by_value")
    out = _core.clip(x, clip_value_min, clip_value_max)
    if out.dtype != x.dtype:
        raise TypeError(f"clip_by_value: bounds of {out.dtype} for a tensor of {x.dtype}; cast one")
    if out.shape != x.shape:
        raise ValueError(
            f"clip_by_value: bounds of shape {out.shape} do not broadcast to shape {x.shape}"
        )
    return out


Mode = Literal["nan", "zero", "raise"]


def clip_by_norm(
    x: TensorLike, clip_norm: TensorLike, axis: Axis = None, *, mode: Mode = "nan"
) -> Tensor:
    """x, scaled down to Euclidean norm `clip_norm` where it is longer: x * min(1, c / norm(x)).

    With `axis` the norm is over these axes only, and `clip_norm` may have a value for each of the
    norms: it broadcasts to x with these axes of length 1. Another shape is a ValueError. A negative
    `clip_norm` counts as 0.

    mode: what a norm that is infinite or NaN gives: "nan" what the formula gives, NaN where x is
        infinite or NaN and perhaps 0 beside it; "zero" zeros; "raise" a FloatingPointError at the
        call, which computes the norm, so not while a `function` is traced. An infinite `clip_norm`
        clips nothing in the first two.

    >>> pb.clip_by_norm([3.0, 4.0], 1)
    Tensor([0.6, 0.8], dtype=float32)
    >>> pb.clip_by_norm([3.0, float("inf")], 1, mode="zero")
    Tensor([0., 0.], dtype=float32)
    """
    _check_mode(mode, "clip_by_norm")
    x = floating(x, "clip_by_norm")
    norm = euclidean_norm(x, axis, True)
    bound = _core.constant(clip_norm, norm.dtype, "clip_by_norm: clip_norm")
    try:
        fits = np.broadcast_shapes(bound.shape, norm.shape) == norm.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"clip_by_norm: clip_norm has shape {bound.shape}; expected a scalar"
            + ("" if norm.size == 1 else f", or what broadcasts to {norm.shape}")
        )
    if mode == "raise":
        _raise_unless_finite(norm, "clip_by_norm")
    clipped = x * _factor(norm, bound)
    return _core.where(_usable(norm, bound), clipped, 0) if mode == "zero" else clipped


def global_norm(tensors: Any, /) -> Tensor:
    """The Euclidean norm of all elements of all tensors in a list, or in any nest of dicts, lists,
    tuples and dataclasses. None is skipped; nothing at all gives 0.

    Tensors of different dtypes are a TypeError that names them, and so is a single tensor.

    >>> pb.global_norm([pb.constant([3.0, 4.0]), None, pb.constant(12.0)])
    Tensor(13., dtype=float32)
    """
    entries, _ = _checked(tensors, "global_norm")
    return _norm_of(entries)


def _norm_of(entries: list[Any]) -> Tensor:
    tensors = [x for x in entries if x is not None]
    return norm_of_all(tensors) if tensors else _core.constant(0.0)


def clip_by_global_norm(
    tensors: Nest,
    clip_norm: TensorLike,
    use_norm: TensorLike | None = None,
    *,
    mode: Mode = "nan",
) -> tuple[Nest, Tensor]:
    """All tensors, scaled down together so that their `global_norm` is at most `clip_norm`.

    Takes a list or any other nest, such as the gradients of a dict of variables. Returns the same
    structure, with None where there was None, and the norm from before (or `use_norm`, where it is
    known, in the dtype of the tensors). A negative `clip_norm` counts as 0. Both are scalars, else
    it is a ValueError. Source: Pascanu et al., On the difficulty of training recurrent neural
    networks, 2013.

    mode: what a norm that is infinite or NaN makes of every entry: "nan" NaN; "zero" 0, so that a
        step by them goes nowhere; "raise" a FloatingPointError at the call, which computes the
        norm, so not while a `function` is traced. An infinite `clip_norm` clips nothing in the
        first two.

    >>> pb.clip_by_global_norm([pb.constant([3.0, 4.0]), pb.constant(12.0)], 6.5)
    ([Tensor([1.5, 2. ], dtype=float32), Tensor(6., dtype=float32)], Tensor(13., dtype=float32))
    """
    _check_mode(mode, "clip_by_global_norm")
    entries, structure = _checked(tensors, "clip_by_global_norm")
    if use_norm is None:
        norm = _norm_of(entries)
    else:
        dtype = next((x.dtype for x in entries if x is not None), None)
        norm = _scalar(use_norm, dtype, "clip_by_global_norm: use_norm")
    clip_norm = _scalar(clip_norm, norm.dtype, "clip_by_global_norm: clip_norm")
    if mode == "raise":
        _raise_unless_finite(norm, "clip_by_global_norm")
    usable = _usable(norm, clip_norm)
    factor = _core.where(usable, _factor(norm, clip_norm), nan)
    clipped = [None if x is None else x * _core.cast(factor, x.dtype) for x in entries]
    if mode == "zero":
        clipped = [None if x is None else _core.where(usable, x, 0) for x in clipped]
    return unflatten(structure, clipped), norm


def _check_mode(mode: Any, who: str) -> None:
    if mode not in ("nan", "zero", "raise"):
        raise ValueError(f"{who}: mode is 'nan', 'zero' or 'raise', got {_core.shown(mode)}")


def _usable(norm: Tensor, clip_norm: Tensor) -> Tensor:
    """Whether the norm is finite, or nothing is to be clipped by it."""
    return _core.logical_or(_core.isfinite(norm), _core.equal(clip_norm, inf))


def _raise_unless_finite(norm: Tensor, who: str) -> None:
    found = norm.numpy()
    if not np.isfinite(found).all():
        worst = found[~np.isfinite(found)].flat[0]
        raise FloatingPointError(f"{who}: the norm is {worst}, which nothing can be scaled by")


def _factor(norm: Tensor, clip_norm: Tensor) -> Tensor:
    """min(1, c / norm) that is 1 at a norm of 0 and for an infinite c."""
    c = _core.maximum(clip_norm, 0)
    short = _core.logical_or(_core.less_equal(norm, c), _core.equal(c, inf))
    return _core.where(short, 1, c / norm)


def _scalar(value: Any, dtype: Any, who: str) -> Tensor:
    tensor = _core.constant(value, dtype, who)
    if tensor.shape != ():
        raise ValueError(f"{who} has shape {tensor.shape}; expected a scalar")
    return tensor


def _checked(tensors: Any, who: str) -> tuple[list[Any], Any]:
    """The leaves of a nest as tensors or None, and its structure."""
    leaves, structure = flatten(tensors)
    if len(leaves) == 1 and leaves[0] is tensors:
        raise TypeError(
            f"{who}: expected a list or another nest of tensors, got a {type(tensors).__name__}"
        )
    paths = leaf_paths(tensors)
    entries = [
        None if x is None else floating(x, f"{who}: entry {path}")
        for x, path in zip(leaves, paths, strict=True)
    ]
    first: dict[str, str] = {}
    for x, path in zip(entries, paths, strict=True):
        if x is not None:
            first.setdefault(str(x.dtype), f"{x.dtype} (entry {path})")
    if len(first) > 1:
        raise TypeError(f"{who}: tensors of {' and '.join(first.values())}; cast them to one dtype")
    return entries, structure
