"""Elementwise maximum and minimum, and `clip`; ties share the gradient equally."""

from __future__ import annotations

from math import inf

from .. import _core
from .._base.checks import given_once
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["clip", "maximum", "minimum"]


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the larger of `x` and `y`, elementwise.

    The result is NaN if either operand is NaN. Equal operands receive half of the gradient each.

    Parameters
    ----------
    x, y : array_like, real
        Operands of integer or floating dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.maximum([1.0, 5.0], 3)
    Tensor([3., 5.], dtype=float32)
    """
    return _core.maximum(x, y)


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the smaller of `x` and `y`, elementwise.

    The result is NaN if either operand is NaN. Equal operands receive half of the gradient each.

    Parameters
    ----------
    x, y : array_like, real
        Operands of integer or floating dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.minimum([1.0, 5.0], 3)
    Tensor([1., 3.], dtype=float32)
    """
    return _core.minimum(x, y)


def clip(
    x: TensorLike,
    /,
    min: TensorLike | None = None,
    max: TensorLike | None = None,
    *,
    a_min: TensorLike | None = None,
    a_max: TensorLike | None = None,
) -> Tensor:
    """Limit the values of `x` to the interval from `min` to `max`.

    If `min` exceeds `max`, the result is `max`. The gradient with respect to `x` is 1 inside the
    interval and at its bounds. Outside, the bound that applies receives the gradient.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    min, max : array_like, real, optional
        Lower and upper bound. Their shapes broadcast with the shape of `x`. Default: no bound.
    a_min, a_max : array_like, real, optional
        Aliases of `min` and `max`. Give at most one name of a bound.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the arguments that are given.

    Raises
    ------
    TypeError
        If a bound is given and an argument is complex, if all arguments are of dtype bool, or if a
        bound is given under both names.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.clip([-2.0, 0.5, 2.0], -1, 1)
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    min = given_once({"min": min, "a_min": a_min}, "clip")
    max = given_once({"max": max, "a_max": a_max}, "clip")
    if min is not None and max is not None:
        return _core.clip(x, min, max)
    x = _core.identity(x)
    if x.dtype.kind == "f":
        return _core.clip(x, -inf if min is None else min, inf if max is None else max)
    if min is not None:
        return _core.maximum(x, min)
    return x if max is None else _core.minimum(x, max)
