"""NumPy's second names of functions; those of trigonometric functions have a file of their own."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import flag
from .._core import Tensor
from .._typing import Axis, TensorLike
from .extrema import extremum
from .rounding import rounded_to

__all__ = [
    "absolute",
    "amax",
    "amin",
    "around",
    "bitwise_not",
    "invert",
    "left_shift",
    "mod",
    "power",
    "right_shift",
    "true_divide",
]


def absolute(x: TensorLike, /) -> Tensor:
    """Alias of `abs`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype of `x`, or the dtype of its parts if `x` is complex.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.absolute([-2.0])
    Tensor([2.], dtype=float32)
    """
    return _core.abs(x)


def power(x: TensorLike, y: TensorLike) -> Tensor:
    """Alias of `pow`.

    Parameters
    ----------
    x : array_like
        Base of a numeric dtype.
    y : array_like
        Exponent of a numeric dtype. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast, or if an integer is raised to a negative integer power. The
        latter is raised when the result is computed.

    Examples
    --------
    >>> pb.power([3.0], 2)
    Tensor([9.], dtype=float32)
    """
    return _core.pow(x, y)


def true_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Alias of `divide`.

    Parameters
    ----------
    x, y : array_like
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating or complex dtype of the operands, or the default
        floating dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.true_divide([3.0], 2)
    Tensor([1.5], dtype=float32)
    """
    return _core.divide(x, y)


def amax(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Alias of `max`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int or tuple of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        If True, reduced axes remain with size 1. Default: False.
    initial : array_like, optional
        Value that takes part in every comparison, so that the result is never less. It is required
        with `where`.
    where : array_like of bool, optional
        Mask of the entries that take part. Default: True.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes; dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or `keepdims` is not a bool.
    ValueError
        If an empty axis is reduced without `initial`, or if `where` is given without `initial`.
    AxisError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.amax([1.0, 2.0])
    Tensor(2., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "amax", "keepdims")
    return extremum("amax", True, x, axis, keepdims, initial, where)


def amin(
    x: TensorLike,
    /,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    initial: TensorLike | None = None,
    where: TensorLike = True,
) -> Tensor:
    """Alias of `min`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    axis : int or tuple of int, optional
        Axes to reduce. Default: all axes.
    keepdims : bool, optional
        If True, reduced axes remain with size 1. Default: False.
    initial : array_like, optional
        Value that takes part in every comparison, so that the result is never greater. It is
        required with `where`.
    where : array_like of bool, optional
        Mask of the entries that take part. Default: True.

    Returns
    -------
    Tensor
        Shape of `x` without the reduced axes; dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or `keepdims` is not a bool.
    ValueError
        If an empty axis is reduced without `initial`, or if `where` is given without `initial`.
    AxisError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.amin([1.0, 2.0])
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "amin", "keepdims")
    return extremum("amin", False, x, axis, keepdims, initial, where)


def mod(x: TensorLike, y: TensorLike) -> Tensor:
    """Alias of `remainder`.

    Parameters
    ----------
    x, y : array_like, real
        Operands of integer or floating dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.
    ZeroDivisionError
        If an integer is divided by 0. It is raised when the result is computed.

    Examples
    --------
    >>> pb.mod([-7.0, 7.0], 3)
    Tensor([2., 1.], dtype=float32)
    """
    return _core.remainder(x, y)


def around(x: TensorLike, /, decimals: SupportsIndex = 0) -> Tensor:
    """Alias of `round`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.
    decimals : int, optional
        Number of decimals, between -400 and 400. A negative number rounds to tens (-1), hundreds
        (-2) and so on. Default: 0.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `decimals` is not an integer, or if `x` is of dtype bool.
    ValueError
        If `decimals` is not between -400 and 400.

    Examples
    --------
    >>> pb.around([0.5, 1.26], 1)
    Tensor([0.5, 1.3], dtype=float32)
    """
    return rounded_to(x, decimals, "around")


def bitwise_not(x: TensorLike, /) -> Tensor:
    """Alias of `bitwise_invert`.

    Parameters
    ----------
    x : array_like, integer or bool
        Input of any shape.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is floating or complex.

    Examples
    --------
    >>> pb.bitwise_not([0, 5])
    Tensor([-1, -6], dtype=int64)
    """
    return _core.bitwise_invert(x)


def invert(x: TensorLike, /) -> Tensor:
    """Alias of `bitwise_invert`.

    Parameters
    ----------
    x : array_like, integer or bool
        Input of any shape.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is floating or complex.

    Examples
    --------
    >>> pb.invert([0, 5])
    Tensor([-1, -6], dtype=int64)
    """
    return _core.bitwise_invert(x)


def left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Alias of `bitwise_left_shift`.

    Parameters
    ----------
    x : array_like, integer
        Numbers to shift.
    y : array_like, integer
        Number of bits. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.left_shift([1, 3], 2)
    Tensor([ 4, 12], dtype=int64)
    """
    return _core.bitwise_left_shift(x, y)


def right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Alias of `bitwise_right_shift`.

    Parameters
    ----------
    x : array_like, integer
        Numbers to shift.
    y : array_like, integer
        Number of bits. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.right_shift([16, -3], 1)
    Tensor([ 8, -2], dtype=int64)
    """
    return _core.bitwise_right_shift(x, y)
