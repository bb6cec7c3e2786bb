"""Making arrays. `dtype` defaults to the default floating dtype; `device` is "cpu" or None, as
the Array API standard wants one. A bad shape is a ValueError, one
that is not made of integers a TypeError.
"""

from __future__ import annotations

from math import ceil, isfinite
from operator import index
from typing import Any, SupportsIndex

import numpy

from .. import _core
from .._core import Tensor
from .._typing import DType, Shape, TensorLike
from .arguments import offset_of
from .interchange import on_device


def constant(value: TensorLike, dtype: DType = None) -> Tensor:
    """A tensor with this value: a number, a NumPy array or scalar, a nested list, or a tensor.

    Python floats become the default dtype (float32 unless `set_default_dtype` says otherwise),
    Python integers int64; an array keeps its dtype, which may be any that this package has. The
    value is copied: later changes of an array are not seen. With `dtype` the value is cast. Ragged
    lists are a ValueError, other dtypes a TypeError.

    >>> pb.constant([[1, 2], [3, 4]], dtype="float64")
    Tensor([[1., 2.],
            [3., 4.]], dtype=float64)
    """
    return _core.constant(value, dtype)


def zeros(shape: Shape, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Zeros.

    >>> pb.zeros((2, 3))
    Tensor([[0., 0., 0.],
            [0., 0., 0.]], dtype=float32)
    """
    on_device(device, "zeros")
    return full(shape, 0.0, dtype)


def ones(shape: Shape, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Ones.

    >>> pb.ones(3, "int32")
    Tensor([1, 1, 1], dtype=int32)
    """
    on_device(device, "ones")
    return full(shape, 1.0, dtype)


def full(
    shape: Shape, fill_value: TensorLike, dtype: DType = None, *, device: str | None = None
) -> Tensor:
    """An array with one value everywhere, by default of that value's dtype. An array in its place
    broadcasts to the shape.

    >>> pb.full((2,), 7)
    Tensor([7, 7], dtype=int64)
    >>> pb.full((2, 2), [1, 2])
    Tensor([[1, 2],
            [1, 2]], dtype=int64)
    """
    on_device(device, "full")
    return _core.full(shape, fill_value, dtype)


def zeros_like(x: TensorLike, /, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Zeros of the shape of x, and of its dtype unless another is given.

    >>> pb.zeros_like([1.0, 2.0])
    Tensor([0., 0.], dtype=float32)
    """
    on_device(device, "zeros_like")
    return full_like(x, 0, dtype)


def ones_like(x: TensorLike, /, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Ones of the shape of x, and of its dtype unless another is given.

    >>> pb.ones_like([1.0, 2.0])
    Tensor([1., 1.], dtype=float32)
    """
    on_device(device, "ones_like")
    return full_like(x, 1, dtype)


def full_like(
    x: TensorLike, /, fill_value: TensorLike, dtype: DType = None, *, device: str | None = None
) -> Tensor:
    """One value everywhere, in the shape of x, and in its dtype unless another is given.

    >>> pb.full_like([1.0, 2.0], 5)
    Tensor([5., 5.], dtype=float32)
    """
    on_device(device, "full_like")
    like = _core.identity(x)
    return _core.full(like.shape, fill_value, like.dtype if dtype is None else dtype)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1,
    dtype: DType = None,
    *,
    device: str | None = None,
) -> Tensor:
    """start, start + step, … up to but without `stop`; `arange(n)` counts from 0 to n - 1.

    The arguments are numbers, whose values are needed at once: integers give int64, floats the
    default dtype. A step of 0, infinity and NaN are a ValueError.

    >>> pb.arange(5)
    Tensor([0, 1, 2, 3, 4], dtype=int64)
    >>> pb.arange(1, 2, 0.25)
    Tensor([1.  , 1.25, 1.5 , 1.75], dtype=float32)
    """
    on_device(device, "arange")
    if stop is None:
        start, stop = 0, start
    first, end, by = (_number(x, "arange") for x in (start, stop, step))
    if by == 0:
        raise ValueError("arange: step is 0")
    if isinstance(first, int) and isinstance(end, int) and isinstance(by, int):
        length, natural = -((first - end) // by), numpy.dtype("int64")
    else:
        quotient = (end - first) / by
        if not isfinite(quotient):
            raise ValueError(f"arange: expected finite numbers, got {start}, {stop} and {step}")
        length, natural = ceil(quotient), _core.default_float()
    return _core.arange(first, max(0, length), by, natural if dtype is None else dtype)


def _number(x: Any, who: str) -> int | float:
    """A number of Python, NumPy or a tensor as one of Python's."""
    try:
        if hasattr(x, "dtype"):
            number = x.item()
        else:
            number = index(x) if hasattr(x, "__index__") else float(x)
    except (TypeError, ValueError):
        number = None
    if isinstance(number, (int, float)) and not isinstance(x, str):
        return number
    shape = (
        f", got a {type(x).__name__} of shape {x.shape}"
        if hasattr(x, "shape")
        else f", got {_core.shown(x)}"
    )
    raise TypeError(f"{who}: expected numbers{shape}")


def eye(
    n_rows: SupportsIndex,
    n_cols: SupportsIndex | None = None,
    /,
    *,
    k: SupportsIndex = 0,
    dtype: DType = None,
    device: str | None = None,
) -> Tensor:
    """A matrix with ones on its k-th diagonal (above the main one for k > 0), zeros elsewhere.

    >>> pb.eye(2)
    Tensor([[1., 0.],
            [0., 1.]], dtype=float32)
    """
    on_device(device, "eye")
    return _core.eye(n_rows, n_rows if n_cols is None else n_cols, offset_of(k, "eye"), dtype)


def one_hot(
    indices: TensorLike, /, depth: SupportsIndex, *, axis: SupportsIndex = -1, dtype: DType = None
) -> Tensor:
    """1 at the index and 0 elsewhere, along a new axis of length `depth`. An index outside of
    0 … depth - 1 gives zeros; indices that are not integers are a TypeError.

    >>> pb.one_hot([2, 0], 3)
    Tensor([[0., 0., 1.],
            [1., 0., 0.]], dtype=float32)
    """
    return _core.one_hot(indices, depth, dtype, axis)
