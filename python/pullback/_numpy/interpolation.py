"""Piecewise linear interpolation between sorted points."""

from __future__ import annotations

from .. import _core
from .._base.checks import made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .histograms import nonempty_vector

__all__ = ["interp"]


@composite
def interp(
    x: TensorLike,
    xp: TensorLike,
    fp: TensorLike,
    left: TensorLike | None = None,
    right: TensorLike | None = None,
    period: TensorLike | None = None,
) -> Tensor:
    """Interpolate linearly between sorted points.

    Differentiable in all arguments; at a point the gradient is that of the segment to its right.

    Parameters
    ----------
    x : array_like, real
        Coordinates to evaluate at, of any shape.
    xp : array_like, real
        Coordinates of the points, a vector in ascending order that is not empty; in any order with
        `period`.
    fp : array_like, real
        Values at the points, of the shape of `xp`.
    left, right : array_like, scalar, optional
        Values for `x` below the first and above the last point. Default: ``fp[0]`` and ``fp[-1]``.
        Without effect if `period` is given.
    period : array_like, scalar, optional
        Period of the coordinates.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype to which `x`, `xp` and `fp` promote, or that of `fp` if
        there is one point.

    Raises
    ------
    ValueError
        If `xp` is empty or not a vector, or if the shape of `fp` differs.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.interp([0.5, 1.5, 9.0], [0.0, 1.0, 2.0], [0.0, 10.0, 30.0])
    Tensor([ 5., 20., 30.], dtype=float32)
    """
    x, xp, fp = (made_floating(v, "interp") for v in _core.operands([x, xp, fp], "interp"))
    xp, fp = nonempty_vector(xp, "interp", "points"), nonempty_vector(fp, "interp", "values")
    if xp.shape != fp.shape:
        raise ValueError(f"interp: expected xp and fp of one size, got {xp.size} and {fp.size}")
    if period is not None:
        x, xp = _core.remainder(x, period), _core.remainder(xp, period)
        order = _core.argsort(xp, 0)
        xp, fp = (_core.take(one, order, 0, checked=True) for one in (xp, fp))
        before, behind = _core.subtract(xp[-1:], period), _core.add(xp[:1], period)
        xp = _core.concat([before, xp, behind], 0)
        fp = _core.concat([fp[-1:], fp, fp[:1]], 0)
    if len(xp) == 1:
        inside = _core.broadcast_to(fp, x.shape) if len(x.shape) else fp[0]
    else:
        low = _core.subtract(_core.searchsorted(xp, x, True), 1)
        low = _core.minimum(_core.maximum(low, 0), len(xp) - 2)
        x0, f0 = (_core.take(one, low, 0, checked=True) for one in (xp, fp))
        x1, f1 = (_core.take(one, _core.add(low, 1), 0, checked=True) for one in (xp, fp))
        width = _core.subtract(x1, x0)
        steep = _core.equal(width, 0)
        part = _core.divide(_core.subtract(x, x0), _core.where(steep, 1, width))
        inside = _core.add(f0, _core.multiply(_core.where(steep, 0, part), _core.subtract(f1, f0)))
    if period is None:
        ends = (fp[0] if left is None else left), (fp[-1] if right is None else right)
        inside = _core.where(_core.less(x, xp[0]), ends[0], inside)
        inside = _core.where(_core.greater(x, xp[-1]), ends[1], inside)
        inside = _core.where(_core.equal(x, xp[-1]), fp[-1], inside)
    return inside
