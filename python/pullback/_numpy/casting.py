"""Conversions between dtypes."""

from __future__ import annotations

import numpy.typing as npt

from .. import _core
from .._base.checks import flag
from .._core import Tensor
from .._typing import Device, TensorLike
from .array_api import check_device, placed

__all__ = ["astype", "cast"]


def astype(
    x: TensorLike, dtype: npt.DTypeLike, /, *, copy: bool = True, device: Device | None = None
) -> Tensor:
    """Convert `x` to another dtype.

    Gradients pass only between floating and complex dtypes.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    dtype : dtype_like
        Dtype of the result.
    copy : bool, optional
        Accepted for compatibility with the Array API standard. It makes no difference, because a
        tensor is never modified. Default: True.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `use_device`, which is "cpu" at first.

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype.

    Raises
    ------
    TypeError
        If `copy` is not a bool, `dtype` is unknown, or if `x` is complex and `dtype` is neither
        complex nor bool; take `real` or `abs` of `x` first.
    ValueError
        If `device` is unknown.

    See Also
    --------
    cast

    Examples
    --------
    >>> pb.astype([1.7, -1.7], "int32")
    Tensor([ 1, -1], dtype=int32)
    """
    if copy is not True:
        copy = flag(copy, "astype", "copy")
    check_device(device, "astype")
    out = _core.cast(x, dtype, copy)
    return out if device is None else placed(out, device, "astype")


def cast(x: TensorLike, dtype: npt.DTypeLike, /) -> Tensor:
    """Convert `x` to another dtype.

    Gradients pass only between floating and complex dtypes.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    dtype : dtype_like
        Dtype of the result.

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype.

    Raises
    ------
    TypeError
        If `dtype` is unknown, or if `x` is complex and `dtype` is neither complex nor bool; take
        `real` or `abs` of `x` first.

    See Also
    --------
    astype

    Examples
    --------
    >>> pb.cast(True, "float32")
    Tensor(1., dtype=float32)
    """
    return _core.cast(x, dtype)
