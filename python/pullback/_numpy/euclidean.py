"""Euclidean norms that overflow only if the result does.

`euclidean_norm` reduces one tensor, `norm_of_all` several tensors to one norm. Squares are formed
in a wider dtype, or of elements that are scaled by a power of two. The gradient of the norm of 0 is
0.
"""

from __future__ import annotations

from math import inf
from typing import Any

from .. import _core
from .._core import Tensor

# Dtypes in which no square of these overflows or underflows.
_WIDER = {"float16": "float32", "bfloat16": "float64", "float32": "float64"}


def euclidean_norm(x: Tensor, axes: Any = None, keepdims: bool = False) -> Tensor:
    """Return the Euclidean norm of a real tensor along some axes, all by default.

    It is finite if it can be represented, and its gradient at 0 is 0.
    """
    wide = _WIDER.get(str(x.dtype))
    if wide is not None:
        total = _core.sum(_core.square(_core.cast(x, wide)), axes, keepdims)
        return _core.cast(_root(total), x.dtype)
    if x.size == 0:
        return _core.sum(x, axes, keepdims)
    scale = scale_of(_core.abs(x), axes)
    total = _core.sum(_core.square(_core.divide(x, scale)), axes, True)
    out = _core.multiply(_root(total), scale)
    if keepdims:
        return out
    return _core.reshape(out, ()) if axes is None else _core.squeeze(out, axes)


def norm_of_all(xs: list[Tensor]) -> Tensor:
    """Return the Euclidean norm of all entries of real tensors of one dtype, as that of one."""
    wide = _WIDER.get(str(xs[0].dtype))
    xs = [x for x in xs if x.size] or xs[:1]
    if len(xs) == 1:
        return euclidean_norm(xs[0])
    if wide is not None:
        squares = [_core.sum(_core.square(_core.cast(x, wide))) for x in xs]
        return _core.cast(_root(sum(squares[1:], squares[0])), xs[0].dtype)
    scale = scale_of(_core.stack([_core.max(_core.abs(x)) for x in xs], 0), None)
    scale = _core.reshape(scale, ())
    squares = [_core.sum(_core.square(_core.divide(x, scale))) for x in xs]
    return _core.multiply(_root(sum(squares[1:], squares[0])), scale)


def scale_of(size: Tensor, axes: Any) -> Tensor:
    """Return the largest power of two up to the largest element; a division by it is exact."""
    top = _core.stop_gradient(_core.max(size, axes, True))
    usable = _core.logical_and(_core.greater(top, 0.0), _core.less(top, inf))
    return _core.exp2(_core.floor(_core.log2(_core.where(usable, top, 1.0))))


def _root(total: Tensor) -> Tensor:
    """Compute the square root with gradient 0 at 0, where it would be infinite."""
    live = _core.not_equal(total, 0.0)
    return _core.where(live, _core.sqrt(_core.where(live, total, 1.0)), 0.0)
