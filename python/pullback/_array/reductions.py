"""Reductions: over all axes, one axis, or a tuple of axes (negative ones count from the end).

With `keepdims` a reduced axis stays with length 1. A bad axis is a ValueError. Sums of float32 are
formed in a fixed tree, so they do not depend on the number of threads and err by a few units in the
last place. An empty sum is 0, an empty product 1, an empty mean NaN; an empty `max` or `min` is a
ValueError unless it has `initial`.

`dtype` is what entries are cast to first, and that of the result. `where` (bool, broadcasts to x)
says which entries count: the others have no gradient, whatever they are. `initial` is a number that
counts as well, and has a gradient.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import Axis, DType, TensorLike
from .arguments import axes_of, flag, made_floating


def sum(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: DType = None,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """The sum. Integers and bool are summed in int64.

    >>> pb.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    Tensor([4., 6.], dtype=float32)
    >>> pb.sum([1.0, float("nan")], where=[True, False], initial=10)
    Tensor(11., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "sum", "keepdims")
    if dtype is None and initial is None and where is True:
        return _core.sum(x, axis, keepdims)
    return sum_as("sum", x, axis, keepdims, dtype, initial, where)


def sum_as(
    who: str, x: TensorLike, axis: Axis, keepdims: bool, dtype: DType, initial: Any, where: Any
) -> Tensor:
    """`sum`, for a function of another name."""
    total = _core.sum(counted(as_dtype(x, dtype, who), where, 0, who), axis, keepdims)
    if initial is not None:
        total = _core.add(total, _start(initial, total, who))
    return as_dtype(total, dtype, who)


def mean(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: DType = None,
    where: TensorLike = True,
) -> Tensor:
    """The arithmetic mean, floating or complex unless `dtype` is not; NaN where no entry counts.

    >>> pb.mean([[1.0, 2.0], [3.0, 4.0]], axis=1)
    Tensor([1.5, 3.5], dtype=float32)
    >>> pb.mean([1.0, 2.0, 30.0], where=[True, True, False])
    Tensor(1.5, dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "mean", "keepdims")
    found = mean_where(as_dtype(x, dtype, "mean"), axis, keepdims, where, "mean")
    return as_dtype(found, dtype, "mean")


def mean_where(x: TensorLike, axis: Axis, keepdims: bool, where: TensorLike, who: str) -> Tensor:
    if where is True:
        return _core.mean(x, axis, keepdims)
    x = made_floating(x, who, "fc")
    mask = mask_of(where, x, who)
    total = _core.sum(_core.where(mask, x, 0), axis, keepdims)
    return _core.divide(total, _core.cast(_core.sum(mask, axis, keepdims), x.dtype))


def prod(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: DType = None,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """The product. Its gradient divides by nothing, so zeros are exact.

    >>> x = pb.Variable([2.0, 0.0, 3.0])
    >>> pb.gradients(pb.prod(x), x)
    [Tensor([0., 6., 0.], dtype=float32)]
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "prod", "keepdims")
    product = _core.prod(counted(as_dtype(x, dtype, "prod"), where, 1, "prod"), axis, keepdims)
    if initial is not None:
        product = _core.multiply(product, _start(initial, product, "prod"))
    return as_dtype(product, dtype, "prod")


def max(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """The largest element; NaN where there is one. Equal ones share the gradient. With `where` an
    `initial` is needed, for where nothing counts.

    >>> pb.max([[1.0, 5.0], [3.0, 4.0]], axis=1)
    Tensor([5., 4.], dtype=float32)
    >>> pb.max([1.0, 5.0], where=[True, False], initial=0)
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "max", "keepdims")
    return extremum("max", True, x, axis, keepdims, initial, where)


def min(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """The smallest element; NaN where there is one. Equal ones share the gradient. With `where` an
    `initial` is needed, for where nothing counts.

    >>> pb.min([[1.0, 5.0], [3.0, 4.0]], axis=1)
    Tensor([1., 3.], dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "min", "keepdims")
    return extremum("min", False, x, axis, keepdims, initial, where)


def extremum(
    who: str, largest: bool, x: TensorLike, axis: Axis, keepdims: bool, initial: Any, where: Any
) -> Tensor:
    """`max` or `min`, for a function of any name."""
    if initial is None and where is True:
        return (_core.max if largest else _core.min)(x, axis, keepdims)
    x = _core.constant(x, who=who)
    if initial is None:
        raise ValueError(f"{who}: where= needs initial=, the result where nothing counts")
    start = _start(initial, x, who)
    rank = len(x.shape)
    axes = range(rank) if axis is None else axes_of(axis, rank, who)
    if 0 in [x.shape[k] for k in axes]:
        shape = [1 if k in axes else n for k, n in enumerate(x.shape) if keepdims or k not in axes]
        return _core.broadcast_to(start, shape)
    whole, both = (_core.max, _core.maximum) if largest else (_core.min, _core.minimum)
    # What does not count takes no share of a tie: it is beyond everything, or out of the gradient.
    beyond: TensorLike = float("-inf") if largest else float("inf")
    fill = beyond if x.dtype.kind == "f" else start
    return both(whole(counted(x, where, fill, who), axis, keepdims), start)


def argmax(x: TensorLike, /, axis: SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
    """The position (int64) of the first largest element; without an axis, of x flattened.

    >>> pb.argmax([[1.0, 5.0], [4.0, 3.0]], axis=1)
    Tensor([1, 0], dtype=int64)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "argmax", "keepdims")
    return _core.argmax(x, axis, keepdims)


def argmin(x: TensorLike, /, axis: SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
    """The position (int64) of the first smallest element; without an axis, of x flattened.

    >>> pb.argmin([3.0, 1.0, 2.0])
    Tensor(1, dtype=int64)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "argmin", "keepdims")
    return _core.argmin(x, axis, keepdims)


def all(
    x: TensorLike, /, axis: Axis = None, keepdims: bool = False, *, where: TensorLike = True
) -> Tensor:
    """Whether every element holds.

    >>> pb.all([[True, True], [True, False]], axis=1)
    Tensor([ True, False], dtype=bool)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "all", "keepdims")
    return _core.all(counted(x, where, 1, "all"), axis, keepdims)


def any(
    x: TensorLike, /, axis: Axis = None, keepdims: bool = False, *, where: TensorLike = True
) -> Tensor:
    """Whether some element holds.

    >>> pb.any([[False, False], [True, False]], axis=1)
    Tensor([False,  True], dtype=bool)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "any", "keepdims")
    return _core.any(counted(x, where, 0, "any"), axis, keepdims)


def logsumexp(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))), without overflow; -inf where all of x is, with gradient 0.

    >>> pb.logsumexp([1000.0, float("-inf")])
    Tensor(1000., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "logsumexp", "keepdims")
    return _core.logsumexp(x, axis, keepdims)


# --- what reductions are told


def as_dtype(x: TensorLike, dtype: DType, who: str) -> Tensor:
    return _core.constant(x, None if dtype is None else dtype, who)


def mask_of(where: TensorLike, x: Tensor, who: str) -> Tensor:
    """`where` in the shape of x."""
    mask = _core.constant(where, who=who)
    if mask.dtype.kind != "b":
        raise TypeError(f"{who}: where must be bool, got {mask.dtype}")
    try:
        return _core.broadcast_to(mask, x.shape)
    except ValueError:
        raise ValueError(
            f"{who}: where of shape {mask.shape} does not broadcast to {x.shape}"
        ) from None


def counted(x: TensorLike, where: TensorLike, neutral: TensorLike, who: str) -> TensorLike:
    """x, with what leaves a result as it is in place of what does not count."""
    if where is True:
        return x
    x = _core.constant(x, who=who)
    if x.dtype.kind == "b":
        neutral = bool(neutral)
    return _core.where(mask_of(where, x, who), x, neutral)


def _start(initial: TensorLike, like: Tensor, who: str) -> Tensor:
    start = _core.constant(initial, who=who)
    if start.shape:
        raise ValueError(f"{who}: initial must be one number, got shape {start.shape}")
    if type(initial) is int:  # one that the dtype does not hold is an error
        return _core.constant(initial, like.dtype, who)
    return _core.cast(start, like.dtype)
