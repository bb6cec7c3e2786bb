"""Differences of adjacent elements along an axis, and the integral, their inverse."""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, integer, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["diff", "ediff1d", "trapezoid"]


@composite
def diff(
    x: TensorLike,
    /,
    n: SupportsIndex = 1,
    axis: SupportsIndex = -1,
    prepend: TensorLike | None = None,
    append: TensorLike | None = None,
) -> Tensor:
    """Compute the differences of adjacent elements along an axis, `n` times.

    Differentiable in `x`, `prepend` and `append`. The difference of two bool values is their
    exclusive or.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or more.
    n : int, optional
        Number of repetitions; 0 returns `x` without `prepend` and `append`. Default: 1.
    axis : int, optional
        Axis, negative values count from the last axis. Default: -1.
    prepend, append : array_like, optional
        Values before and after `x`: a scalar, or an array with the shape of `x` except along the
        axis. Default: None.

    Returns
    -------
    Tensor
        Shape of `x` with an axis that is shorter by `n`, including `prepend` and `append`; the
        promoted dtype.

    Raises
    ------
    ValueError
        If `n` is negative, `axis` is out of range, or the shapes do not match.
    TypeError
        If `n` is not an integer.

    Examples
    --------
    >>> pb.diff([1.0, 4.0, 9.0])
    Tensor([3., 5.], dtype=float32)
    >>> pb.diff([1.0, 4.0, 9.0], prepend=0)
    Tensor([1., 3., 5.], dtype=float32)
    """
    x = _core.constant(x, who="diff")
    (k,), times = axes_of([axis], len(x.shape), "diff"), integer(n, "diff", "n")
    if times < 0:
        raise ValueError(f"diff: expected an integer >= 0 for n, got {times}")
    if times == 0:  # as NumPy, without `prepend` and `append`
        return x
    parts = [_end(prepend, x, k)] if prepend is not None else []
    parts.append(x)
    if append is not None:
        parts.append(_end(append, x, k))
    if len(parts) > 1:
        x = _core.concat(parts, k)
    later, earlier = along(k, slice(1, None)), along(k, slice(None, -1))
    for _ in range(min(times, x.shape[k])):
        if x.dtype.kind == "b":
            x = _core.not_equal(x[later], x[earlier])
        else:
            x = _core.subtract(x[later], x[earlier])
    return x


def _end(value: TensorLike, x: Tensor, k: int) -> Tensor:
    end = _core.operands([x, value], "diff")[1]
    if end.shape:
        return end
    return _core.broadcast_to(end, (*x.shape[:k], 1, *x.shape[k + 1 :]))


@composite
def ediff1d(
    x: TensorLike,
    /,
    to_end: TensorLike | None = None,
    to_begin: TensorLike | None = None,
) -> Tensor:
    """Compute the differences of adjacent elements of the flattened input.

    Differentiable in `x`, `to_end` and `to_begin`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.
    to_end : array_like, optional
        Values after the differences, flattened and cast to the dtype of `x`. Default: None.
    to_begin : array_like, optional
        Values before the differences. Default: None.

    Returns
    -------
    Tensor
        A vector; dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.ediff1d([[1, 2], [4, 7]], to_end=99)
    Tensor([ 1,  2,  3, 99], dtype=int64)
    """
    x = _core.reshape(_core.constant(x, who="ediff1d"), (-1,))
    parts = [_core.subtract(x[1:], x[:-1])]
    for value, place in ((to_begin, 0), (to_end, len(parts) + 1)):
        if value is not None:
            end = _core.cast(_core.operands([x, value], "ediff1d")[1], x.dtype)
            parts.insert(place, _core.reshape(end, (-1,)))
    return parts[0] if len(parts) == 1 else _core.concat(parts, 0)


@composite
def trapezoid(
    y: TensorLike,
    x: TensorLike | None = None,
    dx: TensorLike = 1.0,
    axis: SupportsIndex = -1,
) -> Tensor:
    """Integrate along an axis by the trapezoidal rule.

    The result is the sum of (y[i] + y[i+1]) / 2 · (x[i+1] - x[i]), with `dx` in place of the last
    factor if `x` is None. Differentiable in `y`, `x` and `dx`.

    Parameters
    ----------
    y : array_like
        Values of rank 1 or more; integers and bool become the default floating dtype.
    x : array_like, optional
        Positions: a vector with an entry for each element along the axis, or an array that
        broadcasts to `y`. Default: None.
    dx : array_like, optional
        Distance of the positions, used if `x` is None. Default: 1.0.
    axis : int, optional
        Axis, negative values count from the last axis. Default: -1.

    Returns
    -------
    Tensor
        Shape of `y` without the axis; the floating or complex dtype of the arguments.

    Raises
    ------
    ValueError
        If `axis` is out of range, or the size of `x` along the axis differs.

    Examples
    --------
    >>> pb.trapezoid([1.0, 2.0, 3.0], x=[4.0, 6.0, 8.0])
    Tensor(8., dtype=float32)
    """
    if x is not None:
        y, x = _core.operands([y, x], "trapezoid")
    y = made_floating(y, "trapezoid", "fc")
    (k,) = axes_of([axis], len(y.shape), "trapezoid")
    later, earlier = along(k, slice(1, None)), along(k, slice(None, -1))
    # A Python number takes the dtype of y.
    plain = isinstance(dx, (int, float, complex))
    steps: Any = dx if plain else _core.constant(dx, who="trapezoid: dx")
    if x is None:
        if not plain and len(steps.shape) == 1:
            steps = _core.reshape(steps, (-1, *(1,) * (len(y.shape) - k - 1)))
    else:
        places = made_floating(x, "trapezoid", "fc")  # differences of unsigned integers wrap
        if len(places.shape) == 1:
            places = _core.reshape(places, (-1, *(1,) * (len(y.shape) - k - 1)))
        j = k - len(y.shape) + len(places.shape)
        if j < 0 or places.shape[j] != y.shape[k]:
            raise ValueError(
                f"trapezoid: expected {y.shape[k]} points along axis {k} for x, got shape "
                f"{places.shape}"
            )
        steps = _core.subtract(places[along(j, slice(1, None))], places[along(j, slice(None, -1))])
    height = _core.divide(_core.add(y[later], y[earlier]), 2)
    return _core.sum(_core.multiply(steps, height), k)
