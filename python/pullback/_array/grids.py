"""Arrays of equal steps, and grids of them."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy

from .. import _core
from .._core import Tensor
from .._runtime.dtypes import float64
from .._typing import DType, Shape, TensorLike
from .arguments import check_copy, flag, integer
from .creation import full, full_like
from .interchange import on_device


def asarray(
    value: TensorLike,
    /,
    dtype: DType = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
) -> Tensor:
    """`constant`, by its name in the Array API standard: a tensor stays what it is, unless `copy`
    is true. What is no tensor is always copied, so `copy=False` is a ValueError there.

    >>> pb.asarray([1.0, 2.0])
    Tensor([1., 2.], dtype=float32)
    """
    on_device(device, "asarray")
    check_copy(copy, "asarray")
    out = _core.constant(value, dtype, "asarray")
    if isinstance(value, Tensor) and value.dtype == out.dtype:
        return _core.identity(value) if copy else value
    if copy is False:
        raise ValueError("asarray: the value has to be copied, and copy=False forbids it")
    return out


def empty(shape: Shape, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Zeros: memory without a value could never be looked at.

    >>> pb.empty(2)
    Tensor([0., 0.], dtype=float32)
    """
    on_device(device, "empty")
    return full(shape, 0.0, dtype)


def empty_like(x: TensorLike, /, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Zeros of the shape of x, and of its dtype unless another is given.

    >>> pb.empty_like([1.0, 2.0])
    Tensor([0., 0.], dtype=float32)
    """
    on_device(device, "empty_like")
    return full_like(_core.constant(x, who="empty_like"), 0, dtype)


def linspace(
    start: TensorLike,
    stop: TensorLike,
    /,
    num: SupportsIndex = 50,
    *,
    dtype: DType = None,
    endpoint: bool = True,
    device: str | None = None,
) -> Tensor:
    """`num` numbers in equal steps from `start` to `stop`, which is the last one, or with
    `endpoint=False` the one after. Floating, unless `dtype` says integers, which are those below;
    both ends have gradients. Between arrays, which broadcast, along a first axis.

    >>> pb.linspace(0, 1, 5)
    Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if endpoint is not True:
        endpoint = flag(endpoint, "linspace", "endpoint")
    on_device(device, "linspace")
    count = _count(num, "linspace")
    first, last = _ends(start, stop, dtype, "linspace")
    share = _share(count, endpoint, first, last)
    weight = _core.constant(share, first.dtype)
    # From both ends, so that each is met exactly.
    whole, rest = _core.subtract(last, first), _core.constant(1 - share, first.dtype)
    near = _core.add(first, _core.multiply(weight, whole))
    far = _core.subtract(last, _core.multiply(rest, whole))
    line = _core.where(_core.constant(share < 0.5), near, far)
    if dtype is None:
        return line
    return _core.cast(line if _core.dtype(dtype).kind in "fc" else _core.floor(line), dtype)


def logspace(
    start: TensorLike,
    stop: TensorLike,
    /,
    num: SupportsIndex = 50,
    *,
    base: TensorLike = 10.0,
    dtype: DType = None,
    endpoint: bool = True,
) -> Tensor:
    """`base` to the powers of `linspace(start, stop, num)`. Floating; ends and base have gradients.

    >>> pb.logspace(0, 2, 3)
    Tensor([  1.,  10., 100.], dtype=float32)
    """
    if endpoint is not True:
        endpoint = flag(endpoint, "logspace", "endpoint")
    first, last = _ends(start, stop, dtype, "logspace")
    count = _count(num, "logspace")
    powers = _core.pow(base, linspace(first, last, count, endpoint=endpoint))
    return powers if dtype is None else _core.cast(powers, dtype)


def geomspace(
    start: TensorLike,
    stop: TensorLike,
    /,
    num: SupportsIndex = 50,
    *,
    dtype: DType = None,
    endpoint: bool = True,
) -> Tensor:
    """`num` numbers from `start` to `stop`, each the same multiple of the one before; both ends are
    met exactly and have gradients. NaN where the ends are 0 or of different signs.

    >>> pb.geomspace(1, 16, 5)
    Tensor([ 1.,  2.,  4.,  8., 16.], dtype=float32)
    """
    if endpoint is not True:
        endpoint = flag(endpoint, "geomspace", "endpoint")
    first, last = _ends(start, stop, dtype, "geomspace")
    count = _count(num, "geomspace")
    share = _share(count, endpoint, first, last)
    weight, rest = _core.constant(share, first.dtype), _core.constant(1 - share, first.dtype)
    near = _core.multiply(first, _core.pow(_core.divide(last, first), weight))
    far = _core.multiply(last, _core.pow(_core.divide(first, last), rest))
    line = _core.where(_core.constant(share < 0.5), near, far)
    return line if dtype is None else _core.cast(line, dtype)


def _count(num: SupportsIndex, who: str) -> int:
    count = integer(num, who)
    if not 0 <= count < 1 << 40:
        raise ValueError(f"{who}: num must be from 0 to 2**40 - 1, got {count}")
    return count


def _share(count: int, endpoint: bool, first: Tensor, last: Tensor) -> Any:
    """How much of the way each of the numbers is from the first, along an axis before theirs."""
    share = numpy.arange(count) / max(count - 1 if endpoint else count, 1)
    return share.reshape(-1, *(1,) * max(len(first.shape), len(last.shape)))


def _ends(start: TensorLike, stop: TensorLike, wish: DType, who: str) -> tuple[Tensor, Tensor]:
    """Both as floats of one dtype, in which what lies between is computed."""
    kinds = []
    for value, end in zip((start, stop), _core.operands([start, stop], who), strict=True):
        if end.dtype.kind not in "iuf":
            raise TypeError(f"{who}: expected real numbers, got {_core.shown(value)}")
        if end.dtype.kind == "f" and type(value) is not float:
            kinds.append(end.dtype)
    if wish is not None:
        kinds.append(wanted if (wanted := _core.dtype(wish)).kind == "f" else float64)
    dtype = max(kinds, key=lambda d: d.itemsize) if kinds else _core.default_float()
    first, last = (_core.cast(end, dtype) for end in (start, stop))
    return first, last


def meshgrid(*arrays: TensorLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of a grid, one array for each axis: "ij" has the axes in the order of the
    arrays, "xy" exchanges the first two.

    >>> [x.shape for x in pb.meshgrid([1, 2, 3], [4, 5])]
    [(2, 3), (2, 3)]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {_core.shown(indexing)}")
    rows = []
    for value in arrays:
        x = _core.constant(value, who="meshgrid")
        if len(x.shape) > 1:
            raise ValueError(f"meshgrid: expected arrays of one axis, got shape {x.shape}")
        rows.append(_core.reshape(x, (-1,)))
    places = list(range(len(rows)))
    if indexing == "xy" and len(rows) > 1:
        places[:2] = [1, 0]
    shape = [0] * len(rows)
    for x, place in zip(rows, places, strict=True):
        shape[place] = x.shape[0]
    made = []
    for x, place in zip(rows, places, strict=True):
        thin = [1] * len(rows)
        thin[place] = x.shape[0]
        made.append(_core.broadcast_to(_core.reshape(x, thin), shape))
    return tuple(made)
