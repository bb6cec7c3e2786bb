"""Trigonometric and hyperbolic functions and their inverses; angles are in radians. See
elementwise.py for dtypes and broadcasting."""

from __future__ import annotations

from math import pi

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


def tan(x: TensorLike, /) -> Tensor:
    """The tangent.

    >>> pb.tan([0.0, 1.0])
    Tensor([0.       , 1.5574077], dtype=float32)
    """
    return _core.tan(x)


def asin(x: TensorLike, /) -> Tensor:
    """The angle between -pi/2 and pi/2 (radians) whose sine is x; NaN beyond -1 and 1. The slope is
    formed as 1 / sqrt((1 - x) (1 + x)), so that it is accurate near the ends.

    >>> pb.asin([0.0, 1.0])
    Tensor([0.       , 1.5707964], dtype=float32)
    """
    return _core.asin(x)


def acos(x: TensorLike, /) -> Tensor:
    """The angle between 0 and pi (radians) whose cosine is x; NaN beyond -1 and 1.

    >>> pb.acos([1.0, 0.0])
    Tensor([0.       , 1.5707964], dtype=float32)
    """
    return _core.acos(x)


def atan(x: TensorLike, /) -> Tensor:
    """The angle between -pi/2 and pi/2 (radians) whose tangent is x.

    >>> pb.atan([0.0, 1.0])
    Tensor([0.       , 0.7853982], dtype=float32)
    """
    return _core.atan(x)


def sinh(x: TensorLike, /) -> Tensor:
    """The hyperbolic sine.

    >>> pb.sinh([0.0, 1.0])
    Tensor([0.       , 1.1752012], dtype=float32)
    """
    return _core.sinh(x)


def cosh(x: TensorLike, /) -> Tensor:
    """The hyperbolic cosine.

    >>> pb.cosh([0.0, 1.0])
    Tensor([1.       , 1.5430807], dtype=float32)
    """
    return _core.cosh(x)


def asinh(x: TensorLike, /) -> Tensor:
    """The inverse of `sinh`. The slope is 1 / hypot(1, x), which nothing overflows.

    >>> pb.asinh([0.0, 1.0])
    Tensor([0.       , 0.8813736], dtype=float32)
    """
    return _core.asinh(x)


def acosh(x: TensorLike, /) -> Tensor:
    """The inverse of `cosh` from 1 on; NaN below. The slope is 1 / sqrt((x - 1) (x + 1)).

    >>> pb.acosh([1.0, 2.0])
    Tensor([0.      , 1.316958], dtype=float32)
    """
    return _core.acosh(x)


def atanh(x: TensorLike, /) -> Tensor:
    """The inverse of `tanh`: infinite at -1 and 1, NaN beyond. The slope is 1 / ((1 - x) (1 + x)).

    >>> pb.atanh([0.0, 0.5])
    Tensor([0.        , 0.54930615], dtype=float32)
    """
    return _core.atanh(x)


def atan2(x: TensorLike, y: TensorLike) -> Tensor:
    """The angle between -pi and pi (radians) whose tangent is x / y, in the quadrant that their
    signs say: that of a point with ordinate x and abscissa y. The gradient at the origin is 0.

    >>> pb.atan2([1.0, 1.0], [1.0, -1.0])
    Tensor([0.7853982, 2.3561945], dtype=float32)
    """
    return _core.atan2(x, y)


def hypot(x: TensorLike, y: TensorLike) -> Tensor:
    """sqrt(x² + y²), without overflow on the way. The gradient at the origin is 0.

    >>> pb.hypot(3.0, [4.0, 0.0])
    Tensor([5., 3.], dtype=float32)
    """
    return _core.hypot(x, y)


def deg2rad(x: TensorLike, /) -> Tensor:
    """x degrees in radians.

    >>> pb.deg2rad([180.0])
    Tensor([3.1415927], dtype=float32)
    """
    return _core.multiply(x, pi / 180)


def rad2deg(x: TensorLike, /) -> Tensor:
    """x radians in degrees.

    >>> pb.rad2deg([1.0])
    Tensor([57.29578], dtype=float32)
    """
    return _core.multiply(x, 180 / pi)


def sinc(x: TensorLike, /) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0: NumPy's. 0 at infinity, where that gives NaN.

    Its derivatives of every order are right at 0 and near it.

    >>> pb.sinc([0.0, 0.5, 1.0])
    Tensor([ 1.        ,  0.63661975, -0.        ], dtype=float32)
    """
    return _core.sinc(x)
