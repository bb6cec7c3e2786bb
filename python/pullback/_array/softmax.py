"""softmax and its logarithm over any axes: `pb.special`, as SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from .. import _core
from .._core import Tensor
from .._typing import Axis, TensorLike
from .arguments import axes_of, is_integer, made_floating


def softmax(x: TensorLike, /, axis: Axis = None) -> Tensor:
    """exp(x) / sum(exp(x)), summed over one axis, several, or all without: shape and dtype of x.

    `pb.softmax` is the same with axis=-1 as the default. Integers become the default float.

    Raises:
        ValueError: an axis is out of range or given twice.

    >>> pb.special.softmax([[0.0, 0.0], [0.0, 0.0]])
    Tensor([[0.25, 0.25],
            [0.25, 0.25]], dtype=float32)
    """
    return _over(_core.softmax, x, axis, "softmax")


def log_softmax(x: TensorLike, /, axis: Axis = None) -> Tensor:
    """The logarithm of `softmax` over the same axes: shape and dtype of x.

    `pb.log_softmax` is the same with axis=-1 as the default. Integers become the default float.

    Raises:
        ValueError: an axis is out of range or given twice.

    >>> pb.special.log_softmax([[0.0, 1000.0], [0.0, 0.0]], axis=1)
    Tensor([[-1.000000e+03,  0.000000e+00],
            [-6.931472e-01, -6.931472e-01]], dtype=float32)
    """
    return _over(_core.log_softmax, x, axis, "log_softmax")


def _over(function: Callable[[Tensor, int], Tensor], value: Any, axis: Any, who: str) -> Tensor:
    """A function of one axis as that of several: they are made one, and taken apart again."""
    x = made_floating(value, who)
    if is_integer(axis):
        return function(x, axis)
    if axis is None:
        return _core.reshape(function(_core.reshape(x, (x.size,)), 0), x.shape)
    axes = axes_of(axis, x.ndim, who)
    others = [k for k in range(x.ndim) if k not in axes]
    order = [*others, *axes]
    moved = _core.transpose(x, order)
    rows = (prod(x.shape[k] for k in others), prod(x.shape[k] for k in axes))
    y = _core.reshape(function(_core.reshape(moved, rows), 1), moved.shape)
    return _core.transpose(y, [order.index(k) for k in range(x.ndim)])
