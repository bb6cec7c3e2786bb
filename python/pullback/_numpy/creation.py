"""Creation of arrays.

`dtype` defaults to the default floating dtype. `device` is "cpu" or None, as required by the Array
API standard. An invalid shape raises a ValueError, and one that does not consist of integers a
TypeError.
"""

from __future__ import annotations

from math import ceil, isfinite
from operator import index
from typing import Any, SupportsIndex

import numpy

from .. import _core
from .._base.checks import offset_of
from .._core import Tensor
from .._typing import DType, Shape, TensorLike
from .array_api import on_device

__all__ = [
    "arange",
    "constant",
    "eye",
    "full",
    "full_like",
    "one_hot",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


def constant(value: TensorLike, dtype: DType = None) -> Tensor:
    """Return a tensor with the given value.

    The value is copied, so later changes of an array have no effect. Python floats become the
    default floating dtype, float32 unless `set_default_dtype` changes it; Python integers become
    int64. An array keeps its dtype, which may be any supported one.

    Parameters
    ----------
    value : array_like
        A number, a NumPy array or scalar, a nested list, or a tensor.
    dtype : dtype_like, optional
        Dtype to which the value is cast. Default: see above.

    Returns
    -------
    Tensor
        Shape of `value`; the given or the inferred dtype.

    Raises
    ------
    TypeError
        If the dtype is not supported, or if a complex value is cast to a dtype that is neither
        complex nor bool.
    ValueError
        If nested lists are ragged.
    OverflowError
        If a Python integer does not fit in the dtype.

    Examples
    --------
    >>> pb.constant([[1, 2], [3, 4]], dtype="float64")
    Tensor([[1., 2.],
            [3., 4.]], dtype=float64)
    """
    return _core.constant(value, dtype)


def zeros(shape: Shape, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Return a tensor filled with zeros.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is unknown.
    ValueError
        If `shape` has a negative size, or `device` is neither "cpu" nor None.

    Examples
    --------
    >>> pb.zeros((2, 3))
    Tensor([[0., 0., 0.],
            [0., 0., 0.]], dtype=float32)
    """
    on_device(device, "zeros")
    return full(shape, 0.0, dtype)


def ones(shape: Shape, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Return a tensor filled with ones.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is unknown.
    ValueError
        If `shape` has a negative size, or `device` is neither "cpu" nor None.

    Examples
    --------
    >>> pb.ones(3, "int32")
    Tensor([1, 1, 1], dtype=int32)
    """
    on_device(device, "ones")
    return full(shape, 1.0, dtype)


def full(
    shape: Shape, fill_value: TensorLike, dtype: DType = None, *, device: str | None = None
) -> Tensor:
    """Return a tensor filled with a value.

    Differentiable in `fill_value`.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    fill_value : array_like
        A number, or an array that broadcasts to `shape`.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `fill_value`.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        The given shape; the given dtype, or the dtype of `fill_value`.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, `dtype` is unknown, or a complex value is cast to a
        dtype that is neither complex nor bool.
    ValueError
        If `fill_value` does not broadcast to `shape`, `shape` has a negative size, or `device` is
        neither "cpu" nor None.

    Examples
    --------
    >>> pb.full((2,), 7)
    Tensor([7, 7], dtype=int64)
    >>> pb.full((2, 2), [1, 2])
    Tensor([[1, 2],
            [1, 2]], dtype=int64)
    """
    on_device(device, "full")
    return _core.full(shape, fill_value, dtype)


def zeros_like(x: TensorLike, /, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Return a tensor filled with zeros, with the shape and dtype of `x`.

    Parameters
    ----------
    x : array_like
        Array whose shape and dtype are used.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `x`.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype, or the dtype of `x`.

    Raises
    ------
    TypeError
        If `dtype` is unknown.
    ValueError
        If `device` is neither "cpu" nor None.

    Examples
    --------
    >>> pb.zeros_like([1.0, 2.0])
    Tensor([0., 0.], dtype=float32)
    """
    on_device(device, "zeros_like")
    return full_like(x, 0, dtype)


def ones_like(x: TensorLike, /, dtype: DType = None, *, device: str | None = None) -> Tensor:
    """Return a tensor filled with ones, with the shape and dtype of `x`.

    Parameters
    ----------
    x : array_like
        Array whose shape and dtype are used.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `x`.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype, or the dtype of `x`.

    Raises
    ------
    TypeError
        If `dtype` is unknown.
    ValueError
        If `device` is neither "cpu" nor None.

    Examples
    --------
    >>> pb.ones_like([1.0, 2.0])
    Tensor([1., 1.], dtype=float32)
    """
    on_device(device, "ones_like")
    return full_like(x, 1, dtype)


def full_like(
    x: TensorLike, /, fill_value: TensorLike, dtype: DType = None, *, device: str | None = None
) -> Tensor:
    """Return a tensor filled with a value, with the shape and dtype of `x`.

    Differentiable in `fill_value`.

    Parameters
    ----------
    x : array_like
        Array whose shape and dtype are used.
    fill_value : array_like
        A number, or an array that broadcasts to the shape of `x`. It is cast to the dtype.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `x`.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype, or the dtype of `x`.

    Raises
    ------
    TypeError
        If `dtype` is unknown, or a complex value is cast to a dtype that is neither complex nor
        bool.
    ValueError
        If `fill_value` does not broadcast to the shape of `x`, or `device` is neither "cpu" nor
        None.

    Examples
    --------
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
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        One axis, of size ceil((stop - start) / step) or 0.

    Raises
    ------
    TypeError
        If an argument is not a number, or `dtype` is unknown or bool.
    ValueError
        If `step` is 0, an argument is infinite or NaN, or `device` is neither "cpu" nor None.
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
    """Return a matrix with ones on a diagonal and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int, optional
        Number of columns. Default: `n_rows`.
    k : int, optional
        Diagonal, above the main one if positive. Default: 0, the main diagonal.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        Shape (n_rows, n_cols); the given dtype.

    Raises
    ------
    TypeError
        If a size or `k` is not an integer, or `dtype` is unknown.
    ValueError
        If a size is negative, or `device` is neither "cpu" nor None.

    Examples
    --------
    >>> pb.eye(2)
    Tensor([[1., 0.],
            [0., 1.]], dtype=float32)
    """
    on_device(device, "eye")
    return _core.eye(n_rows, n_rows if n_cols is None else n_cols, offset_of(k, "eye"), dtype)


def one_hot(
    indices: TensorLike, /, depth: SupportsIndex, *, axis: SupportsIndex = -1, dtype: DType = None
) -> Tensor:
    """Return 1 at each index and 0 elsewhere along a new axis.

    An index outside 0 to depth - 1 gives zeros. The result has no gradient.

    Parameters
    ----------
    indices : array_like, integer
        Indices, of any shape.
    depth : int
        Size of the new axis.
    axis : int, optional
        Position of the new axis in the result. Default: the last one.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `indices` with an axis of size `depth` inserted; the given dtype.

    Raises
    ------
    TypeError
        If `indices`, `depth` or `axis` are not integers, or `dtype` is unknown.
    ValueError
        If `depth` is negative.
    AxisError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.one_hot([2, 0], 3)
    Tensor([[0., 0., 1.],
            [1., 0., 0.]], dtype=float32)
    """
    return _core.one_hot(indices, depth, dtype, axis)
