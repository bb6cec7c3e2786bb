"""Creation of arrays.

`dtype` defaults to the default floating dtype. `device` is "cpu" or None, as required by the Array
API standard. An invalid shape raises a ValueError, and one that does not consist of integers a
TypeError.
"""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from .. import _core
from .._base.checks import check_copy, integer, offset_of
from .._core import Tensor, Variable
from .._typing import Device, DType, Shape, TensorLike
from .array_api import check_device, placed

__all__ = [
    "asarray",
    "constant",
    "empty",
    "eye",
    "full",
    "one_hot",
    "ones",
    "zeros",
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


def zeros(shape: Shape, dtype: DType = None, *, device: Device | None = None) -> Tensor:
    """Return a tensor filled with zeros.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is unknown.
    ValueError
        If `shape` has a negative size, or `device` is
        unknown.

    Examples
    --------
    >>> pb.zeros((2, 3))
    Tensor([[0., 0., 0.],
            [0., 0., 0.]], dtype=float32)
    """
    return placed(_core.full(shape, 0.0, dtype), device, "zeros")


def ones(shape: Shape, dtype: DType = None, *, device: Device | None = None) -> Tensor:
    """Return a tensor filled with ones.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is unknown.
    ValueError
        If `shape` has a negative size, or `device` is
        unknown.

    Examples
    --------
    >>> pb.ones(3, "int32")
    Tensor([1, 1, 1], dtype=int32)
    """
    return placed(_core.full(shape, 1.0, dtype), device, "ones")


def full(
    shape: Shape, fill_value: TensorLike, dtype: DType = None, *, device: Device | None = None
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
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

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
        unknown.

    Examples
    --------
    >>> pb.full((2,), 7)
    Tensor([7, 7], dtype=int64)
    >>> pb.full((2, 2), [1, 2])
    Tensor([[1, 2],
            [1, 2]], dtype=int64)
    """
    return placed(_core.full(shape, fill_value, dtype), device, "full")


def eye(
    n_rows: SupportsIndex,
    n_cols: SupportsIndex | None = None,
    /,
    k: SupportsIndex = 0,
    dtype: DType = None,
    *,
    device: Device | None = None,
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
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        Shape (n_rows, n_cols); the given dtype.

    Raises
    ------
    TypeError
        If a size or `k` is not an integer, or `dtype` is unknown.
    ValueError
        If a size is negative, or `device` is unknown.

    Examples
    --------
    >>> pb.eye(2)
    Tensor([[1., 0.],
            [0., 1.]], dtype=float32)
    """
    rows = integer(n_rows, "eye", "n_rows")
    columns = rows if n_cols is None else integer(n_cols, "eye", "n_cols")
    return placed(_core.eye(rows, columns, offset_of(k, "eye"), dtype), device, "eye")


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


def asarray(
    value: TensorLike,
    /,
    dtype: DType = None,
    *,
    device: Device | None = None,
    copy: bool | None = None,
) -> Tensor:
    """Convert a value to a tensor, as `constant` does.

    The name is the one of the Array API standard. A tensor that already has the dtype is returned
    itself unless `copy` is True; any other value is copied, unless `copy` is False.

    Parameters
    ----------
    value : array_like
        A number, a NumPy array or scalar, a nested list, or a tensor.
    dtype : dtype_like, optional
        Dtype to which the value is cast. Default: see `constant`.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.
    copy : bool, optional
        True makes a new tensor. False shares the memory of an array, which nothing may modify as
        long as the tensor and results of it are used; it is an error if a copy is required.
        Default: None, which copies anything that is not a tensor.

    Returns
    -------
    Tensor
        Shape of `value`; the given or the inferred dtype.

    Raises
    ------
    TypeError
        If the dtype is not supported, a complex value is cast to a dtype that is neither complex
        nor bool, or `copy` is neither a bool nor None.
    ValueError
        If nested lists are ragged, `device` is unknown, or `copy` is False and a copy is required:
        for numbers and lists, another dtype, a GPU, and memory that is not aligned and in row-major
        order.
    OverflowError
        If a Python integer does not fit in the dtype.

    See Also
    --------
    constant

    Examples
    --------
    >>> pb.asarray([1.0, 2.0])
    Tensor([1., 2.], dtype=float32)
    """
    check_device(device, "asarray")
    check_copy(copy, "asarray")
    if copy is False and not isinstance(value, (Tensor, Variable)):
        return _shared(value, dtype, device)
    out = _core.constant(value, dtype, "asarray")
    if isinstance(value, Tensor) and value.dtype == out.dtype:
        out = _core.identity(value) if copy else value
        return out if device is None else placed(out, device, "asarray")
    if copy is False:
        raise _copy_required()
    return placed(out, device, "asarray")


def _copy_required() -> ValueError:
    return ValueError(
        "asarray: expected True or None for copy, got False; this value must be copied"
    )


def _shared(value: Any, dtype: DType, device: Device | None) -> Tensor:
    """Return a tensor over the memory of an array, for `asarray` with copy=False."""
    if isinstance(value, np.ma.MaskedArray):
        return _core.constant(value, dtype, "asarray")  # raises: the mask would be lost
    try:
        array = np.asarray(value, copy=False)
    except ValueError:
        raise _copy_required() from None
    if dtype is not None and _core.dtype(dtype) != array.dtype:
        raise _copy_required()
    if (_core.default_device() if device is None else device) != "cpu":
        raise _copy_required()
    return _core.share(array, "asarray") if array.size else _core.constant(array, who="asarray")


def empty(shape: Shape, dtype: DType = None, *, device: Device | None = None) -> Tensor:
    """Return a tensor filled with zeros, as `zeros` does.

    Uninitialised memory could not be used, since a tensor is never modified.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Dtype. Default: the default floating dtype.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is unknown.
    ValueError
        If `shape` has a negative size, or `device` is
        unknown.

    Examples
    --------
    >>> pb.empty(2)
    Tensor([0., 0.], dtype=float32)
    """
    return placed(_core.full(shape, 0.0, dtype), device, "empty")
