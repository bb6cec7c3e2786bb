"""NumPy's second names of trigonometric and hyperbolic functions."""

from __future__ import annotations

from .. import _core
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .trigonometric import deg2rad, rad2deg

__all__ = [
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "degrees",
    "radians",
]


def arccos(x: TensorLike, /) -> Tensor:
    """Alias of `acos`.

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
    >>> pb.arccos([1.0])
    Tensor([0.], dtype=float32)
    """
    return _core.acos(x)


def arccosh(x: TensorLike, /) -> Tensor:
    """Alias of `acosh`.

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
    >>> pb.arccosh([1.0])
    Tensor([0.], dtype=float32)
    """
    return _core.acosh(x)


def arcsin(x: TensorLike, /) -> Tensor:
    """Alias of `asin`.

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
    >>> pb.arcsin([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.asin(x)


def arcsinh(x: TensorLike, /) -> Tensor:
    """Alias of `asinh`.

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
    >>> pb.arcsinh([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.asinh(x)


def arctan(x: TensorLike, /) -> Tensor:
    """Alias of `atan`.

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
    >>> pb.arctan([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.atan(x)


def arctanh(x: TensorLike, /) -> Tensor:
    """Alias of `atanh`.

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
    >>> pb.arctanh([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.atanh(x)


def arctan2(x: TensorLike, y: TensorLike) -> Tensor:
    """Alias of `atan2`.

    Parameters
    ----------
    x, y : array_like, real
        Ordinate and abscissa, whose shapes broadcast. Integers and bool become the default floating
        dtype.

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
    >>> pb.arctan2([0.0], [1.0])
    Tensor([0.], dtype=float32)
    """
    return _core.atan2(x, y)


@composite
def degrees(x: TensorLike, /) -> Tensor:
    """Alias of `rad2deg`.

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
    >>> pb.degrees([1.0])
    Tensor([57.29578], dtype=float32)
    """
    return rad2deg(x)


@composite
def radians(x: TensorLike, /) -> Tensor:
    """Alias of `deg2rad`.

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
    >>> pb.radians([180.0])
    Tensor([3.1415927], dtype=float32)
    """
    return deg2rad(x)
