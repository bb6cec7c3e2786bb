"""Evenly spaced numbers, and grids of several axes."""

from __future__ import annotations

from math import ceil, isfinite
from operator import index
from typing import Any, Literal, SupportsIndex

import numpy

from .. import _core
from .._base.checks import axes_of, flag, integer
from .._base.composite import composite
from .._base.dtypes import float64
from .._core import Tensor
from .._typing import Device, DType, TensorLike
from .arranging import moveaxis
from .array_api import placed

__all__ = ["arange", "geomspace", "linspace", "logspace", "meshgrid"]


@composite
def linspace(
    start: TensorLike,
    stop: TensorLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    *,
    dtype: DType = None,
    axis: SupportsIndex = 0,
    device: Device | None = None,
) -> Tensor:
    """Return `num` evenly spaced values from `start` to `stop`.

    The ends that are included are exact. Differentiable in `start` and `stop`.

    Parameters
    ----------
    start, stop : array_like, real
        First and last value. Their shapes broadcast.
    num : int, optional
        Number of values, at most 2^40 - 1. Default: 50.
    endpoint : bool, optional
        If False, `stop` is the value after the last one. Default: True.
    dtype : dtype_like, optional
        Dtype. Values are rounded down for an integer dtype. Default: see below.
    axis : int, optional
        Axis of the values in the result. Default: 0.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        The broadcast shape of the ends with an axis of size `num` at `axis`; the given dtype, else
        the floating dtype of the ends, or the default one.

    Raises
    ------
    TypeError
        If an end is complex or bool, `num` is not an integer, or `endpoint` is not a bool.
    ValueError
        If `num` or `axis` is out of range, the shapes do not broadcast, or `device` is unknown.

    See Also
    --------
    arange, logspace, geomspace

    Examples
    --------
    >>> pb.linspace(0, 1, 5)
    Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)
    """
    if endpoint is not True:
        endpoint = flag(endpoint, "linspace", "endpoint")
    count = _count(num, "linspace")
    first, last = _ends(start, stop, dtype, "linspace")
    share = _share(count, endpoint, first, last)
    weight = _core.constant(share, first.dtype)
    # Computed from both ends, so that each is exact.
    whole, rest = _core.subtract(last, first), _core.constant(1 - share, first.dtype)
    near = _core.add(first, _core.multiply(weight, whole))
    far = _core.subtract(last, _core.multiply(rest, whole))
    line = _core.where(_core.constant(share < 0.5), near, far)
    if dtype is not None:
        line = _core.cast(line if _core.dtype(dtype).kind in "fc" else _core.floor(line), dtype)
    return placed(_placed(line, axis, "linspace"), device, "linspace")


@composite
def logspace(
    start: TensorLike,
    stop: TensorLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: TensorLike = 10.0,
    dtype: DType = None,
    axis: SupportsIndex = 0,
) -> Tensor:
    """Return `base` raised to evenly spaced exponents from `start` to `stop`.

    The value is base ** linspace(start, stop, num). Differentiable in `start`, `stop` and `base`.

    Parameters
    ----------
    start, stop : array_like, real
        First and last exponent. Their shapes broadcast.
    num : int, optional
        Number of values, at most 2^40 - 1. Default: 50.
    endpoint : bool, optional
        If False, `stop` is the exponent after the last one. Default: True.
    base : array_like, optional
        Base, which broadcasts with the exponents. Default: 10.
    dtype : dtype_like, optional
        Dtype to which the result is cast. Default: see below.
    axis : int, optional
        Axis of the values in the result. Default: 0.

    Returns
    -------
    Tensor
        Shape of the exponents, (num,) followed by the broadcast shape of the ends, broadcast with
        `base`, with its first axis at `axis`; the given dtype, else the promoted floating dtype.

    Raises
    ------
    TypeError
        If an end is complex or bool, `num` is not an integer, or `endpoint` is not a bool.
    ValueError
        If `num` or `axis` is out of range or the shapes do not broadcast.

    See Also
    --------
    linspace, geomspace

    Examples
    --------
    >>> pb.logspace(0, 2, 3)
    Tensor([  1.,  10., 100.], dtype=float32)
    """
    if endpoint is not True:
        endpoint = flag(endpoint, "logspace", "endpoint")
    first, last = _ends(start, stop, dtype, "logspace")
    count = _count(num, "logspace")
    powers = _core.pow(base, linspace(first, last, count, endpoint=endpoint))
    return _placed(powers if dtype is None else _core.cast(powers, dtype), axis, "logspace")


@composite
def geomspace(
    start: TensorLike,
    stop: TensorLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DType = None,
    axis: SupportsIndex = 0,
) -> Tensor:
    """Return `num` values from `start` to `stop` with a constant ratio.

    The ends that are included are exact. Values between ends of different signs are NaN; beside a
    tensor that is 0 they are NaN or 0. Differentiable in `start` and `stop`.

    Parameters
    ----------
    start, stop : array_like, real
        First and last value. Their shapes broadcast.
    num : int, optional
        Number of values, at most 2^40 - 1. Default: 50.
    endpoint : bool, optional
        If False, `stop` is the value after the last one. Default: True.
    dtype : dtype_like, optional
        Dtype to which the result is cast. Default: see below.
    axis : int, optional
        Axis of the values in the result. Default: 0.

    Returns
    -------
    Tensor
        The broadcast shape of the ends with an axis of size `num` at `axis`; the given dtype, else
        the floating dtype of the ends, or the default one.

    Raises
    ------
    TypeError
        If an end is complex or bool, `num` is not an integer, or `endpoint` is not a bool.
    ValueError
        If an end is 0 and a number or NumPy array, `num` or `axis` is out of range or the shapes do
        not broadcast.

    See Also
    --------
    linspace, logspace

    Examples
    --------
    >>> pb.geomspace(1, 16, 5)
    Tensor([ 1.,  2.,  4.,  8., 16.], dtype=float32)
    """
    if endpoint is not True:
        endpoint = flag(endpoint, "geomspace", "endpoint")
    for name, end in (("start", start), ("stop", stop)):
        known = isinstance(end, int | float | numpy.ndarray | numpy.number)
        if known and numpy.result_type(end).kind in "biuf" and numpy.any(end == 0):
            raise ValueError(f"geomspace: expected numbers other than 0 for {name}, got {end!r}")
    first, last = _ends(start, stop, dtype, "geomspace")
    count = _count(num, "geomspace")
    share = _share(count, endpoint, first, last)
    weight, rest = _core.constant(share, first.dtype), _core.constant(1 - share, first.dtype)
    near = _core.multiply(first, _core.pow(_core.divide(last, first), weight))
    far = _core.multiply(last, _core.pow(_core.divide(first, last), rest))
    line = _core.where(_core.constant(share < 0.5), near, far)
    return _placed(line if dtype is None else _core.cast(line, dtype), axis, "geomspace")


def _count(num: SupportsIndex, who: str) -> int:
    count = integer(num, who, "num")
    if not 0 <= count < 1 << 40:
        raise ValueError(f"{who}: expected an integer from 0 to 2**40 - 1 for num, got {count}")
    return count


def _share(count: int, endpoint: bool, first: Tensor, last: Tensor) -> Any:
    """Return each value's fraction of the distance from the first, along a leading axis."""
    share = numpy.arange(count) / max(count - 1 if endpoint else count, 1)
    return share.reshape(-1, *(1,) * max(len(first.shape), len(last.shape)))


def _placed(line: Tensor, axis: SupportsIndex, who: str) -> Tensor:
    """Move the first axis, that of the values, to `axis`."""
    if axis == 0:
        return line
    (to,) = axes_of([axis], len(line.shape), who)
    return moveaxis(line, 0, to)


def _ends(start: TensorLike, stop: TensorLike, wish: DType, who: str) -> tuple[Tensor, Tensor]:
    """Return both ends as floats of the dtype in which the values are computed."""
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


@composite
def meshgrid(
    *arrays: TensorLike, sparse: bool = False, indexing: Literal["xy", "ij"] = "xy"
) -> tuple[Tensor, ...]:
    """Return the coordinate arrays of a grid.

    Differentiable in all arrays.

    Parameters
    ----------
    *arrays : array_like
        Coordinates along each axis: vectors or scalars of any dtype.
    sparse : bool, optional
        If True, each array has size 1 along the axes of the others. Default: False.
    indexing : {"xy", "ij"}, optional
        "ij" orders the axes like the arrays; "xy" exchanges the first two. Default: "xy".

    Returns
    -------
    tuple of Tensor
        One array for each argument, with its dtype. All have the same shape, whose sizes are those
        of the arrays in the order of `indexing`, or broadcast to it if `sparse`.

    Raises
    ------
    ValueError
        If `indexing` is neither "xy" nor "ij", or an array has more than one axis.
    TypeError
        If `sparse` is not a bool.

    Examples
    --------
    >>> [x.shape for x in pb.meshgrid([1, 2, 3], [4, 5])]
    [(2, 3), (2, 3)]
    """
    sparse = flag(sparse, "meshgrid", "sparse")
    if indexing not in ("xy", "ij"):
        raise ValueError(
            f"meshgrid: indexing must be one of 'xy', 'ij'; got {_core.shown(indexing)}"
        )
    rows = []
    for value in arrays:
        x = _core.constant(value, who="meshgrid")
        if len(x.shape) > 1:
            raise ValueError(f"meshgrid: expected vectors or scalars, got shape {x.shape}")
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
        x = _core.reshape(x, thin)
        made.append(x if sparse else _core.broadcast_to(x, shape))
    return tuple(made)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: DType = None,
    *,
    device: Device | None = None,
) -> Tensor:
    """Return numbers with a constant step in the half-open interval [start, stop).

    The call `arange(n)` counts from 0 to n - 1. The arguments are numbers whose values are read at
    once; the result has no gradient.

    Parameters
    ----------
    start : int or float
        First number; with a single argument it is `stop`, and the first number is 0.
    stop : int or float, optional
        End of the interval, which is not included.
    step : int or float, optional
        Step, not 0. Default: 1.
    dtype : dtype_like, optional
        Dtype. Default: int64 if all arguments are integers, else the default floating dtype.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        One axis, of size ceil((stop - start) / step) or 0.

    Raises
    ------
    TypeError
        If an argument is not a number, or `dtype` is unknown or bool.
    ValueError
        If `step` is 0, an argument is infinite or NaN, or `device` is unknown.
    RuntimeError
        If an argument is a tensor without a value in a function that is being traced.

    See Also
    --------
    linspace

    Examples
    --------
    >>> pb.arange(5)
    Tensor([0, 1, 2, 3, 4], dtype=int64)
    >>> pb.arange(1, 2, 0.25)
    Tensor([1.  , 1.25, 1.5 , 1.75], dtype=float32)
    """
    if stop is None:
        start, stop = 0, start
    first, end, by = (_number(x, "arange") for x in (start, stop, step))
    if by == 0:
        raise ValueError("arange: expected a number other than 0 for step, got 0")
    if isinstance(first, int) and isinstance(end, int) and isinstance(by, int):
        length, natural = -((first - end) // by), numpy.dtype("int64")
    else:
        quotient = (end - first) / by
        if not isfinite(quotient):
            raise ValueError(
                f"arange: expected finite numbers for start, stop and step, got {start}, {stop} "
                f"and {step}"
            )
        length, natural = ceil(quotient), _core.default_float()
    dtype = natural if dtype is None else dtype
    return placed(_core.arange(first, max(0, length), by, dtype), device, "arange")


def _number(x: Any, who: str) -> int | float:
    """Return a number of Python, NumPy or a tensor as a Python number."""
    try:
        if hasattr(x, "dtype"):
            number = x.item()
        else:
            number = index(x) if hasattr(x, "__index__") else float(x)
    except (TypeError, ValueError):
        number = None
    if isinstance(number, (int, float)) and not isinstance(x, str):
        return number
    got = f"shape {x.shape}" if hasattr(x, "shape") else _core.shown(x)
    raise TypeError(f"{who}: expected numbers for start, stop and step, got {got}")
