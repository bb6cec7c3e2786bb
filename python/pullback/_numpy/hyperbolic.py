"""Hyperbolic functions and their inverses, elementwise."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["acosh", "asinh", "atanh", "cosh", "sinh", "tanh"]


def tanh(x: TensorLike, /) -> Tensor:
    """Compute the hyperbolic tangent.

    The slope is accurate also where the value has rounded to 1 or -1.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.tanh([-100.0, 0.0, 100.0])
    Tensor([-1.,  0.,  1.], dtype=float32)
    """
    return _core.tanh(x)


def sinh(x: TensorLike, /) -> Tensor:
    """Compute the hyperbolic sine.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.sinh([0.0, 1.0])
    Tensor([0.       , 1.1752012], dtype=float32)
    """
    return _core.sinh(x)


def cosh(x: TensorLike, /) -> Tensor:
    """Compute the hyperbolic cosine.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.cosh([0.0, 1.0])
    Tensor([1.       , 1.5430807], dtype=float32)
    """
    return _core.cosh(x)


def asinh(x: TensorLike, /) -> Tensor:
    """Compute the inverse hyperbolic sine.

    The slope is evaluated as 1 / hypot(1, x), which does not overflow.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.asinh([0.0, 1.0])
    Tensor([0.       , 0.8813736], dtype=float32)
    """
    return _core.asinh(x)


def acosh(x: TensorLike, /) -> Tensor:
    """Compute the inverse hyperbolic cosine.

    The result is NaN for a real `x` below 1. The slope is 1 / sqrt((x - 1) (x + 1)).

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.acosh([1.0, 2.0])
    Tensor([0.      , 1.316958], dtype=float32)
    """
    return _core.acosh(x)


def atanh(x: TensorLike, /) -> Tensor:
    """Compute the inverse hyperbolic tangent.

    The result is infinite at -1 and 1, and NaN for a real `x` outside [-1, 1]. The slope is 1 / ((1
    - x) (1 + x)).

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.atanh([0.0, 0.5])
    Tensor([0.        , 0.54930615], dtype=float32)
    """
    return _core.atanh(x)
