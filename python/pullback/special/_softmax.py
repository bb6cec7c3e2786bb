"""`special.softmax` and `special.log_softmax`, over all axes by default, as in SciPy.

The functions of these names in `pb.nn` reduce one axis, the last by default.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import _core
from .._base.checks import axes_of, made_floating
from .._core import Tensor
from .._typing import Axis, TensorLike


def softmax(x: TensorLike, /, axis: Axis = None) -> Tensor:
    """exp(x) / sum(exp(x)), the sum over all of x, one axis or several.

    >>> pb.special.softmax([[0.0, 0.0], [0.0, 0.0]])
    Tensor([[0.25, 0.25],
            [0.25, 0.25]], dtype=float32)
    """
    return _over(_core.softmax, x, axis, "softmax")


def log_softmax(x: TensorLike, /, axis: Axis = None) -> Tensor:
    """The logarithm of `softmax`.

    >>> pb.special.log_softmax([0.0, 1000.0])
    Tensor([-1000.,     0.], dtype=float32)
    """
    return _over(_core.log_softmax, x, axis, "log_softmax")


def _over(
    along_last: Callable[[Tensor, int], Tensor], x: TensorLike, axis: Axis, who: str
) -> Tensor:
    """What a function does along one axis, over several as if they were one: these go to the end,
    into one row, and back."""
    x = made_floating(x, who)
    axes = list(range(x.ndim)) if axis is None else axes_of(axis, x.ndim, who)
    if len(axes) == 1:
        return along_last(x, axes[0])
    order = [k for k in range(x.ndim) if k not in axes] + axes
    moved = _core.transpose(x, order)
    kept = moved.shape[: x.ndim - len(axes)]
    length = 1
    for k in axes:
        length *= x.shape[k]
    made = along_last(_core.reshape(moved, (*kept, length)), -1)
    back = [order.index(k) for k in range(x.ndim)]
    return _core.transpose(_core.reshape(made, moved.shape), back)
