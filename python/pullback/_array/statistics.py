"""Statistics made of sums: variances, counts, differences, and sums that leave NaN out. Axes as in
reductions.py.
"""

from __future__ import annotations

from math import nan
from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import Axis, TensorLike
from .arguments import along, axes_of, integer


def var(
    x: TensorLike, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance: the sum of squared distances from the mean, divided by N - `correction`; NaN
    where that is not positive. Always floating. Two passes: the mean is subtracted first.

    >>> pb.var([1.0, 2.0, 3.0])
    Tensor(0.6666667, dtype=float32)
    """
    return _variance(x, axis, correction, keepdims, "var")


def _variance(x: TensorLike, axis: Axis, correction: float, keepdims: bool, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    apart = _core.subtract(x, _core.mean(x, axis, True))
    total = _core.sum(_core.square(apart), axis, keepdims)
    try:
        left = (x.size // total.size if total.size else 0) - float(correction)
    except (TypeError, ValueError):
        raise TypeError(
            f"{who}: expected a number as the correction, got {_core.shown(correction)}"
        ) from None
    return _core.divide(total, left if left > 0 else nan)


def std(
    x: TensorLike, /, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The square root of `var`. Where all entries are equal the gradient is 0.

    >>> pb.std([1.0, 3.0])
    Tensor(1., dtype=float32)
    """
    v = _variance(x, axis, correction, keepdims, "std")
    flat = _core.equal(v, 0)
    return _core.where(flat, 0, _core.sqrt(_core.where(flat, 1, v)))


def count_nonzero(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """How many entries are not 0, in int64. NaN counts.

    >>> pb.count_nonzero([[0, 1], [2, 3]], axis=1)
    Tensor([1, 2], dtype=int64)
    """
    x = _core.constant(x, who="count_nonzero")
    return _core.sum(_core.not_equal(x, 0), axis, keepdims)


def nansum(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The sum without the entries that are NaN, which get no gradient.

    >>> pb.nansum([1.0, float("nan"), 2.0])
    Tensor(3., dtype=float32)
    """
    x = _core.constant(x, who="nansum")
    return _core.sum(
        _core.where(_core.isnan(x), 0, x) if x.dtype.kind == "f" else x, axis, keepdims
    )


def nanmean(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The mean of the entries that are not NaN, which have all of the gradient; NaN where there is
    none.

    >>> pb.nanmean([1.0, float("nan"), 2.0])
    Tensor(1.5, dtype=float32)
    """
    x = _core.constant(x, who="nanmean")
    if x.dtype.kind != "f":
        return _core.mean(x, axis, keepdims)
    counted = _core.logical_not(_core.isnan(x))
    total = _core.sum(_core.where(counted, x, 0), axis, keepdims)
    return _core.divide(total, _core.cast(_core.sum(counted, axis, keepdims), x.dtype))


def ptp(x: TensorLike, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """The largest entry minus the smallest.

    >>> pb.ptp([3.0, 1.0, 2.0])
    Tensor(2., dtype=float32)
    """
    x = _core.constant(x, who="ptp")
    return _core.subtract(_core.max(x, axis, keepdims), _core.min(x, axis, keepdims))


def diff(x: TensorLike, /, *, axis: SupportsIndex = -1, n: SupportsIndex = 1) -> Tensor:
    """The differences of neighbours along an axis, n times over.

    >>> pb.diff([1.0, 4.0, 9.0])
    Tensor([3., 5.], dtype=float32)
    """
    x = _core.constant(x, who="diff")
    (k,), times = axes_of([axis], len(x.shape), "diff"), integer(n, "diff")
    if times < 0:
        raise ValueError(f"diff: n must not be negative, got {times}")
    later, earlier = along(k, slice(1, None)), along(k, slice(None, -1))
    for _ in range(min(times, x.shape[k])):
        if x.dtype.kind == "b":
            x = _core.not_equal(x[later], x[earlier])
        else:
            x = _core.subtract(x[later], x[earlier])
    return x
