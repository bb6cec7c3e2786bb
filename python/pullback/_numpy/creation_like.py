"""Copies, and creation of arrays with the shape of another array, and with its dtype by default.

`dtype` and `device` are handled as in creation.py.
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import check_copy, integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import Device, DType, TensorLike
from .array_api import placed_like

__all__ = ["array", "copy", "empty_like", "full_like", "ones_like", "zeros_like"]


def zeros_like(x: TensorLike, /, dtype: DType = None, *, device: Device | None = None) -> Tensor:
    """Return a tensor filled with zeros, with the shape and dtype of `x`.

    Parameters
    ----------
    x : array_like
        Array whose shape and dtype are used.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `x`.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `x`, and that of `use_device` if `x` is
        not a tensor.

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype, or the dtype of `x`.

    Raises
    ------
    TypeError
        If `dtype` is unknown.
    ValueError
        If `device` is unknown.

    Examples
    --------
    >>> pb.zeros_like([1.0, 2.0])
    Tensor([0., 0.], dtype=float32)
    """
    return _filled(_core.identity(x), 0, dtype, device, "zeros_like")


def ones_like(x: TensorLike, /, dtype: DType = None, *, device: Device | None = None) -> Tensor:
    """Return a tensor filled with ones, with the shape and dtype of `x`.

    Parameters
    ----------
    x : array_like
        Array whose shape and dtype are used.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `x`.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `x`, and that of `use_device` if `x` is
        not a tensor.

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype, or the dtype of `x`.

    Raises
    ------
    TypeError
        If `dtype` is unknown.
    ValueError
        If `device` is unknown.

    Examples
    --------
    >>> pb.ones_like([1.0, 2.0])
    Tensor([1., 1.], dtype=float32)
    """
    return _filled(_core.identity(x), 1, dtype, device, "ones_like")


def full_like(
    x: TensorLike, /, fill_value: TensorLike, dtype: DType = None, *, device: Device | None = None
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
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `x`, and that of `use_device` if `x` is
        not a tensor.

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
        If `fill_value` does not broadcast to the shape of `x`, or `device` is unknown.

    Examples
    --------
    >>> pb.full_like([1.0, 2.0], 5)
    Tensor([5., 5.], dtype=float32)
    """
    return _filled(_core.identity(x), fill_value, dtype, device, "full_like")


def empty_like(x: TensorLike, /, dtype: DType = None, *, device: Device | None = None) -> Tensor:
    """Return a tensor filled with zeros, as `zeros_like` does.

    Parameters
    ----------
    x : array_like
        Array whose shape and dtype are used.
    dtype : dtype_like, optional
        Dtype. Default: dtype of `x`.
    device : str, optional
        "cpu", or a GPU such as "cuda:0". Default: that of `x`, and that of `use_device` if `x` is
        not a tensor.

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype, or the dtype of `x`.

    Raises
    ------
    TypeError
        If `dtype` is unknown.
    ValueError
        If `device` is unknown.

    Examples
    --------
    >>> pb.empty_like([1.0, 2.0])
    Tensor([0., 0.], dtype=float32)
    """
    like = _core.constant(x, who="empty_like")
    return _filled(like, 0, dtype, device, "empty_like")


def _filled(
    like: Tensor, value: TensorLike, dtype: DType, device: Device | None, who: str
) -> Tensor:
    out = _core.full(like.shape, value, like.dtype if dtype is None else dtype)
    return placed_like(out, like, device, who)


@composite
def array(
    object: TensorLike, dtype: DType = None, *, copy: bool | None = True, ndmin: SupportsIndex = 0
) -> Tensor:
    """Return a tensor with the given value, with the options of ``np.array``.

    An assignment to items of the result does not change a given tensor. Differentiable in `object`,
    also if it is a list of tensors.

    Parameters
    ----------
    object : array_like
        A number, a NumPy array or scalar, a nested list, or a tensor.
    dtype : dtype_like, optional
        Dtype to which the value is cast. Default: as in `constant`.
    copy : bool, default True
        Accepted for compatibility with NumPy and without effect.
    ndmin : int, default 0
        Least number of axes. Axes of size 1 are added in front.

    Returns
    -------
    Tensor
        Shape of `object`, or with leading axes; the given or the inferred dtype.

    Raises
    ------
    TypeError
        If the dtype is not supported, or an option is invalid.
    ValueError
        If nested lists are ragged, or `ndmin` is above 16.

    See Also
    --------
    asarray, constant, stack

    Examples
    --------
    >>> pb.array([1.0, 2.0], ndmin=2)
    Tensor([[1., 2.]], dtype=float32)
    """
    check_copy(copy, "array")
    least = integer(ndmin, "array", "ndmin")
    if least > 16:
        raise ValueError(f"array: expected at most 16 axes for ndmin, got {least}")
    x = _core.identity(_core.constant(object, dtype, "array"))
    if least <= len(x.shape):
        return x
    return _core.reshape(x, (1,) * (least - len(x.shape)) + tuple(x.shape))


@composite
def copy(x: TensorLike, /) -> Tensor:
    """Return a tensor with the same value.

    An assignment to items of the copy does not change `x`. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Examples
    --------
    >>> x = pb.constant([1.0, 2.0])
    >>> y = pb.copy(x)
    >>> y[0] = 5.0
    >>> x
    Tensor([1., 2.], dtype=float32)
    """
    return _core.identity(_core.constant(x, who="copy"))
