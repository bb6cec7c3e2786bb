"""Derivatives of sampled functions, and phases without jumps."""

from __future__ import annotations

from math import pi
from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, integer, made_floating, number
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .scans import cumsum

__all__ = ["gradient", "unwrap"]


@composite
def gradient(
    f: TensorLike, *varargs: TensorLike, axis: Any = None, edge_order: SupportsIndex = 1
) -> Tensor | tuple[Tensor, ...]:
    """Compute derivatives of a sampled function by finite differences, as ``numpy.gradient``.

    Inside, the differences are accurate to second order, also for unequal distances. For the
    gradient of a function by its arguments see `grad`. Differentiable in `f` and in the distances.

    Parameters
    ----------
    f : array_like
        Samples of rank 1 or more.
    *varargs : array_like, real
        Distances of the samples: nothing for 1, a scalar for all axes, or for each axis a scalar or
        a vector of coordinates.
    axis : int or tuple of int, optional
        Axes; negative values count from the last axis. Default: all axes.
    edge_order : {1, 2}, optional
        Order of accuracy at the boundaries. Default: 1.

    Returns
    -------
    Tensor or tuple of Tensor
        Shape of `f`, for each axis; a single tensor for one axis. The floating dtype of `f`, or the
        default one.

    Raises
    ------
    ValueError
        If `edge_order` is not 1 or 2, an axis has fewer than ``edge_order + 1`` samples, or the
        number or the shapes of the distances do not match.
    TypeError
        If an axis or `edge_order` is not an integer, or there is a wrong number of distances.

    See Also
    --------
    diff, grad

    Examples
    --------
    >>> pb.gradient([0.0, 1.0, 4.0, 9.0])
    Tensor([1., 2., 4., 5.], dtype=float32)
    >>> pb.gradient([0.0, 1.0, 9.0], [0.0, 1.0, 3.0], edge_order=2)
    Tensor([0., 2., 6.], dtype=float32)
    """
    who = "gradient"
    x = made_floating(f, who, "fc")
    real = _core.real(x) if x.dtype.kind == "c" else x
    order = integer(edge_order, who, "edge_order")
    if order not in (1, 2):
        raise ValueError(f"{who}: expected 1 or 2 for edge_order, got {order}")
    rank = len(x.shape)
    axes = list(range(rank)) if axis is None else axes_of(axis, rank, who)
    if not axes:
        raise TypeError(
            f"{who}: expected samples of rank 1 or more, got shape {x.shape}; pb.gradients(y, xs) "
            "differentiates y"
        )
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError(
            f"{who}: expected no distance, one, or one for each of {len(axes)} axes, got "
            f"{len(varargs)}"
        )
    # Python's numbers take the dtype of the samples.
    spacings: list[Any] = [_core.operands([h, real], who)[0] for h in varargs] or [None]
    if len(spacings) == 1 and len(axes) > 1:
        if spacings[0] is not None and spacings[0].shape:
            raise TypeError(f"{who}: expected a vector of coordinates for each of {len(axes)} axes")
        spacings = spacings * len(axes)
    made = tuple(_along(x, h, k, order) for h, k in zip(spacings, axes, strict=True))
    return made[0] if len(made) == 1 else made


def _along(x: Tensor, h: Tensor | None, axis: int, order: int) -> Tensor:
    """Return the derivative along an axis; `h` is a distance, or coordinates."""
    n = x.shape[axis]
    if n < order + 1:
        raise ValueError(
            f"gradient: expected at least {order + 1} samples along axis {axis} for "
            f"edge_order={order}, got {n}"
        )
    if h is not None and h.shape:
        if h.shape != (n,):
            raise ValueError(
                f"gradient: expected {n} coordinates for axis {axis}, got shape {h.shape}"
            )
        h = made_floating(h, "gradient", "fc")  # differences of unsigned integers wrap
        steps = h[1:] - h[:-1]
        steps = _core.reshape(steps, (n - 1, *(1,) * (len(x.shape) - axis - 1)))
    else:
        steps = None

    def at(start: int, stop: int | None) -> Tensor:
        return x[along(axis, slice(start, stop))]

    def step(start: int, stop: int | None) -> Any:
        if steps is None:
            return 1.0 if h is None else h
        return steps[start:stop]

    first = (at(1, 2) - at(0, 1)) / step(0, 1)
    last = (at(n - 1, n) - at(n - 2, n - 1)) / step(n - 2, n - 1)
    if order == 2:  # a parabola through three samples
        next_slope = (at(2, 3) - at(1, 2)) / step(1, 2)
        first = first - step(0, 1) * (next_slope - first) / (step(0, 1) + step(1, 2))
        near, far = step(n - 2, n - 1), step(n - 3, n - 2)
        before = (at(n - 2, n - 1) - at(n - 3, n - 2)) / far
        last = last + near * (last - before) / (near + far)
    parts = [first, last]
    if n > 2:
        left, right = step(0, n - 2), step(1, n - 1)
        if steps is None:
            inner = (at(2, None) - at(0, n - 2)) / (2 * right)
        else:
            below = (at(1, n - 1) - at(0, n - 2)) / left
            above = (at(2, None) - at(1, n - 1)) / right
            inner = (left * above + right * below) / (left + right)
        parts.insert(1, inner)
    return _core.concat(parts, axis)


@composite
def unwrap(
    p: TensorLike,
    discont: TensorLike | None = None,
    axis: SupportsIndex = -1,
    *,
    period: float = 2 * pi,
) -> Tensor:
    """Add multiples of the period, so that adjacent elements differ by at most half of it.

    Differentiable in `p`, with slope 1.

    Parameters
    ----------
    p : array_like, real
        Phases of rank 1 or more; integers become the default floating dtype.
    discont : array_like, scalar, optional
        Smaller jumps stay. Default: half of the period.
    axis : int, optional
        Axis; negative values count from the last axis. Default: -1.
    period : float, optional
        Size of the range. Default: 2 pi.

    Returns
    -------
    Tensor
        Shape of `p`; its floating dtype, or the default one.

    Raises
    ------
    ValueError
        If `axis` is out of range.
    TypeError
        If `p` is complex.

    Examples
    --------
    >>> pb.unwrap([0.0, 3.0, -3.0])
    Tensor([0.       , 3.       , 3.2831855], dtype=float32)
    """
    x = made_floating(p, "unwrap")
    (k,) = axes_of([axis], len(x.shape), "unwrap")
    period = number(period, "unwrap", "period")
    half = period / 2
    later, earlier = x[along(k, slice(1, None))], x[along(k, slice(None, -1))]
    steps = _core.stop_gradient(later - earlier)
    wrapped = _core.remainder(steps + half, period) - half
    rises = _core.logical_and(_core.equal(wrapped, -half), _core.greater(steps, 0))
    wrapped = _core.where(rises, half, wrapped)
    least = half if discont is None else discont
    change = _core.where(_core.less(_core.abs(steps), least), 0.0, wrapped - steps)
    return _core.concat([x[along(k, slice(None, 1))], later + cumsum(change, axis=k)], k)
