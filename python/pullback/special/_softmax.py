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
    """Compute exp(x) / sum(exp(x)), with the sum over all or some axes.

    Differentiable in `x`. `pullback.nn.softmax` uses one axis, the last by default.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers become the default floating dtype.
    axis : int or tuple of int, optional
        Axes of the sum. Default: all axes.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.special.softmax([[0.0, 0.0], [0.0, 0.0]])
    Tensor([[0.25, 0.25],
            [0.25, 0.25]], dtype=float32)
    """
    return _over(_core.softmax, x, axis, "softmax")


def log_softmax(x: TensorLike, /, axis: Axis = None) -> Tensor:
    """Compute the logarithm of `softmax` over all or some axes.

    Differentiable in `x`. It is accurate where the softmax underflows.

    Parameters
    ----------
    x : array_like, real
        Input of any shape; integers become the default floating dtype.
    axis : int or tuple of int, optional
        Axes of the sum. Default: all axes.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`.

    Raises
    ------
    ValueError
        If `axis` is out of range or names an axis twice.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.special.log_softmax([0.0, 1000.0])
    Tensor([-1000.,     0.], dtype=float32)
    """
    return _over(_core.log_softmax, x, axis, "log_softmax")


def _over(
    along_last: Callable[[Tensor, int], Tensor], x: TensorLike, axis: Axis, who: str
) -> Tensor:
    """Apply a function of one axis over several axes, as if they were one.

    The axes are moved to the end and joined, and moved back.
    """
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
