"""Trigonometric functions and their inverses, elementwise. Angles are in radians.

See arithmetic.py for dtypes and broadcasting.
"""

from __future__ import annotations

from math import pi

from .. import _core
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "deg2rad",
    "hypot",
    "rad2deg",
    "sin",
    "sinc",
    "tan",
]


def tan(x: TensorLike, /) -> Tensor:
    """Compute the tangent of `x` in radians.

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
    >>> pb.tan([0.0, 1.0])
    Tensor([0.       , 1.5574077], dtype=float32)
    """
    return _core.tan(x)


def asin(x: TensorLike, /) -> Tensor:
    """Compute the inverse sine in radians, from -pi/2 to pi/2.

    The result is NaN for a real `x` outside [-1, 1]. The slope is evaluated as 1 / sqrt((1 - x) (1
    + x)), which is accurate near -1 and 1.

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
    >>> pb.asin([0.0, 1.0])
    Tensor([0.       , 1.5707964], dtype=float32)
    """
    return _core.asin(x)


def acos(x: TensorLike, /) -> Tensor:
    """Compute the inverse cosine in radians, from 0 to pi.

    The result is NaN for a real `x` outside [-1, 1]. The slope is the negative slope of `asin`.

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
    >>> pb.acos([1.0, 0.0])
    Tensor([0.       , 1.5707964], dtype=float32)
    """
    return _core.acos(x)


def atan(x: TensorLike, /) -> Tensor:
    """Compute the inverse tangent in radians, from -pi/2 to pi/2.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    See Also
    --------
    atan2

    Examples
    --------
    >>> pb.atan([0.0, 1.0])
    Tensor([0.       , 0.7853982], dtype=float32)
    """
    return _core.atan(x)


def atan2(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the angle of the point with ordinate `x` and abscissa `y`.

    The angle is in radians, from -pi to pi. Its tangent is x / y, and the signs of `x` and `y`
    determine its quadrant. Differentiable in both operands; the gradient at the origin is 0.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.atan2([1.0, 1.0], [1.0, -1.0])
    Tensor([0.7853982, 2.3561945], dtype=float32)
    """
    return _core.atan2(x, y)


def hypot(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute sqrt(x² + y²) without intermediate overflow.

    Differentiable in both operands; the gradient at the origin is 0.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.hypot(3.0, [4.0, 0.0])
    Tensor([5., 3.], dtype=float32)
    """
    return _core.hypot(x, y)


@composite
def deg2rad(x: TensorLike, /) -> Tensor:
    """Convert degrees to radians.

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
    >>> pb.deg2rad([180.0])
    Tensor([3.1415927], dtype=float32)
    """
    return _core.multiply(x, pi / 180)


@composite
def rad2deg(x: TensorLike, /) -> Tensor:
    """Convert radians to degrees.

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
    >>> pb.rad2deg([1.0])
    Tensor([57.29578], dtype=float32)
    """
    return _core.multiply(x, 180 / pi)


def sinc(x: TensorLike, /) -> Tensor:
    """Compute the normalised sinc function, sin(pi x) / (pi x).

    The definition is NumPy's, with the value 1 at 0. The value at infinity is 0, where NumPy's
    formula gives NaN. Derivatives of every order are accurate at 0 and near it.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.sinc([0.0, 0.5, 1.0])
    Tensor([ 1.        ,  0.63661975, -0.        ], dtype=float32)
    """
    return _core.sinc(x)


def sin(x: TensorLike, /) -> Tensor:
    """Compute the sine of `x` in radians.

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
    >>> pb.sin(0.0)
    Tensor(0., dtype=float32)
    """
    return _core.sin(x)


def cos(x: TensorLike, /) -> Tensor:
    """Compute the cosine of `x` in radians.

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
    >>> pb.cos(0.0)
    Tensor(1., dtype=float32)
    """
    return _core.cos(x)
