"""Clipping, mostly of gradients: by value, by norm, by the global norm.

An infinite bound means no clipping; the gradient of a norm at 0 is 0. Clipping by a norm
requires floating tensors, else a TypeError is raised. Results have the dtype and shape of the
argument.

A norm is that of `linalg.norm`: finite if it can be represented in the dtype of its tensors.
"""

from __future__ import annotations

from math import inf, nan
from typing import Any, Literal, TypeVar

import numpy as np

from .. import _core
from .._base.checks import broadcasts_to, floating
from .._base.composite import composite
from .._base.domains import NON_NEGATIVE, as_python, check_domain
from .._base.pytree import flatten, leaf_paths, unflatten
from .._core import Tensor
from .._typing import Axis, TensorLike

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]

Nest = TypeVar("Nest")


@composite
def clip_by_value(x: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike) -> Tensor:
    """Limit the elements of a tensor to an interval.

    If the bounds are tensors and cross, the upper bound applies. NaN remains. The gradient with
    respect to `x` is 1 inside and at the bounds. Outside it is 0, and the bound that applies
    receives the gradient.

    Parameters
    ----------
    x : array_like, real
        Tensor to clip, of any shape.
    clip_value_min, clip_value_max : array_like, real
        Lower and upper bound. Their shapes broadcast to the shape of `x`, and their dtypes to its
        dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If the bounds are numbers and cross, or `x` would have to broadcast to the shape of a bound.
    TypeError
        If the promoted dtype of `x` and the bounds is not the dtype of `x`, or an argument is
        complex.

    Examples
    --------
    >>> pb.clip_by_value([-3.0, 0.5, 3.0], -1, 1)
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    x = _core.constant(x, who="clip_by_value")
    low, high = as_python(clip_value_min), as_python(clip_value_max)
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
        raise ValueError(
            "clip_by_value: expected clip_value_min <= clip_value_max, got "
            f"{low!r} and {high!r}; exchange them"
        )
    out = _core.clip(x, clip_value_min, clip_value_max)
    if out.dtype != x.dtype:
        raise TypeError(
            f"clip_by_value: expected bounds of the dtype {x.dtype} of x, got {out.dtype}; cast one"
        )
    if out.shape != x.shape:
        raise ValueError(
            f"clip_by_value: expected bounds that broadcast to the shape {x.shape} of x, got "
            f"bounds that broadcast to {out.shape}"
        )
    return out


Mode = Literal["nan", "zero", "raise"]


@composite
def clip_by_norm(
    x: TensorLike, clip_norm: TensorLike, axis: Axis = None, *, mode: Mode = "nan"
) -> Tensor:
    """Scale a tensor down to a maximum Euclidean norm.

    The result is x * min(1, clip_norm / norm(x)). The gradient of a norm at 0 is 0. A norm is
    finite if the dtype can represent it.

    Parameters
    ----------
    x : array_like, floating
        Tensor to clip, of any shape.
    clip_norm : array_like, real
        Maximum of the norm, at least 0. An infinite value clips nothing; a negative tensor counts
        as 0, because its value is not evaluated. With `axis` there may be a value for each norm:
        the shape broadcasts to the shape of `x` with these axes of size 1.
    axis : int or tuple of int, optional
        Axes of the norm. Default: all axes.
    mode : {"nan", "zero", "raise"}, optional
        Treatment of a norm that is infinite or NaN. "nan" evaluates the formula: NaN at infinite
        and NaN elements, and possibly 0 at the others. "zero" returns zeros. "raise" raises a
        FloatingPointError at the call, which evaluates the norm and so is invalid while a
        `function` is traced. Default: "nan".

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is not floating.
    ValueError
        If `clip_norm` is a negative number or array, or has an invalid shape, `axis` is out of
        range, or `mode` is unknown.
    FloatingPointError
        If `mode` is "raise" and a norm is not finite.

    Examples
    --------
    >>> pb.clip_by_norm([3.0, 4.0], 1)
    Tensor([0.6, 0.8], dtype=float32)
    >>> pb.clip_by_norm([3.0, float("inf")], 1, mode="zero")
    Tensor([0., 0.], dtype=float32)
    """
    _check_mode(mode, "clip_by_norm")
    check_domain(clip_norm, NON_NEGATIVE, "clip_by_norm", "clip_norm")
    x = floating(x, "clip_by_norm")
    norm = _core.euclidean_norm(x, axis, True)
    bound = _core.constant(clip_norm, norm.dtype, "clip_by_norm: clip_norm")
    if not broadcasts_to(bound.shape, norm.shape):
        raise ValueError(
            "clip_by_norm: expected a scalar"
            + ("" if norm.size == 1 else f", or a shape that broadcasts to {norm.shape},")
            + f" for clip_norm, got shape {bound.shape}"
        )
    if mode == "raise":
        _raise_unless_finite(norm, "clip_by_norm")
    clipped = x * _factor(norm, bound)
    return _core.where(_usable(norm, bound), clipped, 0) if mode == "zero" else clipped


@composite
def global_norm(tensors: Any, /) -> Tensor:
    """Compute the Euclidean norm of all elements of all tensors of a pytree.

    Differentiable in all tensors; the gradient of the norm at 0 is 0.

    Parameters
    ----------
    tensors : pytree of array_like, floating
        List, or any nesting of dicts, lists, tuples and dataclasses. All tensors have one dtype.
        None is skipped.

    Returns
    -------
    Tensor
        A scalar of the dtype of the tensors. It is 0 in the default floating dtype if there is no
        tensor.

    Raises
    ------
    TypeError
        If `tensors` is a single tensor, a leaf is not floating, or the dtypes differ. The message
        names the leaves.

    Examples
    --------
    >>> pb.global_norm([pb.constant([3.0, 4.0]), None, pb.constant(12.0)])
    Tensor(13., dtype=float32)
    """
    entries, _ = _checked(tensors, "global_norm")
    return _norm_of(entries)


def _norm_of(entries: list[Any]) -> Tensor:
    tensors = [x for x in entries if x is not None]
    return _core.euclidean_norm_of_all(tensors) if tensors else _core.constant(0.0)


@composite
def clip_by_global_norm(
    tensors: Nest,
    clip_norm: TensorLike,
    use_norm: TensorLike | None = None,
    *,
    mode: Mode = "nan",
) -> tuple[Nest, Tensor]:
    """Scale tensors down together so that their global norm has a maximum.

    The argument may be any pytree, such as the gradients of a dict of variables. The gradient of a
    norm at 0 is 0.

    Parameters
    ----------
    tensors : pytree of array_like, floating
        List, or any nesting of dicts, lists, tuples and dataclasses. All tensors have one dtype.
        None is skipped.
    clip_norm : array_like, real
        Maximum of the global norm, a scalar of at least 0. An infinite value clips nothing; a
        negative tensor counts as 0, because its value is not evaluated.
    use_norm : array_like, real, optional
        Global norm, a scalar, if it is known. Default: `global_norm(tensors)`.
    mode : {"nan", "zero", "raise"}, optional
        Treatment of a norm that is infinite or NaN. "nan" sets every element to NaN, "zero" to 0,
        so that a step has no effect. "raise" raises a FloatingPointError at the call, which
        evaluates the norm and so is invalid while a `function` is traced. Default: "nan".

    Returns
    -------
    clipped : pytree of Tensor
        The structure of `tensors`, with None where there was None.
    norm : Tensor
        The global norm before clipping, or `use_norm` in the dtype of the tensors.

    Raises
    ------
    TypeError
        If `tensors` is a single tensor, a leaf is not floating, or the dtypes differ. The message
        names the leaves.
    ValueError
        If `clip_norm` is a negative number, `clip_norm` or `use_norm` is not a scalar, or `mode` is
        unknown.
    FloatingPointError
        If `mode` is "raise" and a norm is not finite.

    References
    ----------
    .. [1] R. Pascanu, T. Mikolov, Y. Bengio, "On the difficulty of training recurrent neural
       networks", ICML 2013.

    Examples
    --------
    >>> pb.clip_by_global_norm([pb.constant([3.0, 4.0]), pb.constant(12.0)], 6.5)
    ([Tensor([1.5, 2. ], dtype=float32), Tensor(6., dtype=float32)], Tensor(13., dtype=float32))
    """
    _check_mode(mode, "clip_by_global_norm")
    check_domain(clip_norm, NON_NEGATIVE, "clip_by_global_norm", "clip_norm")
    entries, structure = _checked(tensors, "clip_by_global_norm")
    if use_norm is None:
        norm = _norm_of(entries)
    else:
        dtype = next((x.dtype for x in entries if x is not None), None)
        norm = _scalar(use_norm, dtype, "clip_by_global_norm", "use_norm")
    clip_norm = _scalar(clip_norm, norm.dtype, "clip_by_global_norm", "clip_norm")
    if mode == "raise":
        _raise_unless_finite(norm, "clip_by_global_norm")
    usable = _usable(norm, clip_norm)
    factor = _core.where(usable, _factor(norm, clip_norm), nan)
    clipped: list[Any] = [None if x is None else x * _core.cast(factor, x.dtype) for x in entries]
    if mode == "zero":
        clipped = [None if x is None else _core.where(usable, x, 0) for x in clipped]
    return unflatten(structure, clipped), norm


def _check_mode(mode: Any, who: str) -> None:
    if mode not in ("nan", "zero", "raise"):
        raise ValueError(
            f"{who}: mode must be one of 'nan', 'zero', 'raise'; got {_core.shown(mode)}"
        )


def _usable(norm: Tensor, clip_norm: Tensor) -> Tensor:
    """Test whether the norm is finite, or the bound is infinite."""
    return _core.logical_or(_core.isfinite(norm), _core.equal(clip_norm, inf))


def _raise_unless_finite(norm: Tensor, who: str) -> None:
    found = norm.numpy()
    if not np.isfinite(found).all():
        worst = found[~np.isfinite(found)].flat[0]
        raise FloatingPointError(
            f"{who}: expected a finite norm, got {worst}; check the gradients, or use mode='zero'"
        )


def _factor(norm: Tensor, clip_norm: Tensor) -> Tensor:
    """Return min(1, c / norm), which is 1 if the norm is 0 or c is infinite."""
    c = _core.maximum(clip_norm, 0)
    short = _core.logical_or(_core.less_equal(norm, c), _core.equal(c, inf))
    return _core.where(short, 1, c / norm)


def _scalar(value: Any, dtype: Any, who: str, name: str) -> Tensor:
    tensor = _core.constant(value, dtype, f"{who}: {name}")
    if tensor.shape != ():
        raise ValueError(f"{who}: expected a scalar for {name}, got shape {tensor.shape}")
    return tensor


def _checked(tensors: Any, who: str) -> tuple[list[Any], Any]:
    """Return the leaves of a pytree as tensors or None, and its structure."""
    leaves, structure = flatten(tensors)
    if len(leaves) == 1 and leaves[0] is tensors:
        raise TypeError(
            f"{who}: expected a list or another pytree of tensors, got {_core.shown(tensors)}"
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
        raise TypeError(
            f"{who}: expected tensors of one dtype, got {' and '.join(first.values())}; cast them"
        )
    return entries, structure
