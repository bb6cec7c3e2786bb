"""NumPy's second names for functions that have two."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import Axis, TensorLike
from .arguments import flag
from .elementwise import rounded_to
from .reductions import extremum
from .trigonometric import deg2rad, rad2deg


def absolute(x: TensorLike, /) -> Tensor:
    """`abs`.

    >>> pb.absolute([-2.0])
    Tensor([2.], dtype=float32)
    """
    return _core.abs(x)


def arccos(x: TensorLike, /) -> Tensor:
    """`acos`.

    >>> pb.arccos([1.0])
    Tensor([0.], dtype=float32)
    """
    return _core.acos(x)


def arccosh(x: TensorLike, /) -> Tensor:
    """`acosh`.

    >>> pb.arccosh([1.0])
    Tensor([0.], dtype=float32)
    """
    return _core.acosh(x)


def arcsin(x: TensorLike, /) -> Tensor:
    """`asin`.

    >>> pb.arcsin([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.asin(x)


def arcsinh(x: TensorLike, /) -> Tensor:
    """`asinh`.

    >>> pb.arcsinh([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.asinh(x)


def arctan(x: TensorLike, /) -> Tensor:
    """`atan`.

    >>> pb.arctan([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.atan(x)


def arctanh(x: TensorLike, /) -> Tensor:
    """`atanh`.

    >>> pb.arctanh([0.0])
    Tensor([0.], dtype=float32)
    """
    return _core.atanh(x)


def arctan2(x: TensorLike, y: TensorLike) -> Tensor:
    """`atan2`.

    >>> pb.arctan2([0.0], [1.0])
    Tensor([0.], dtype=float32)
    """
    return _core.atan2(x, y)


def power(x: TensorLike, y: TensorLike) -> Tensor:
    """`pow`.

    >>> pb.power([3.0], 2)
    Tensor([9.], dtype=float32)
    """
    return _core.pow(x, y)


def true_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """`divide`.

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
    """`max`.

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
    """`min`.

    >>> pb.amin([1.0, 2.0])
    Tensor(1., dtype=float32)
    """
    if keepdims is not False:
        keepdims = flag(keepdims, "amin", "keepdims")
    return extremum("amin", False, x, axis, keepdims, initial, where)


def mod(x: TensorLike, y: TensorLike) -> Tensor:
    """`remainder`.

    >>> pb.mod([-7.0, 7.0], 3)
    Tensor([2., 1.], dtype=float32)
    """
    return _core.remainder(x, y)


def around(x: TensorLike, /, decimals: SupportsIndex = 0) -> Tensor:
    """`round`.

    >>> pb.around([0.5, 1.26], 1)
    Tensor([0.5, 1.3], dtype=float32)
    """
    return rounded_to(x, decimals, "around")


def degrees(x: TensorLike, /) -> Tensor:
    """`rad2deg`.

    >>> pb.degrees([1.0])
    Tensor([57.29578], dtype=float32)
    """
    return rad2deg(x)


def radians(x: TensorLike, /) -> Tensor:
    """`deg2rad`.

    >>> pb.radians([180.0])
    Tensor([3.1415927], dtype=float32)
    """
    return deg2rad(x)


def bitwise_not(x: TensorLike, /) -> Tensor:
    """`bitwise_invert`.

    >>> pb.bitwise_not([0, 5])
    Tensor([-1, -6], dtype=int64)
    """
    return _core.bitwise_invert(x)


def invert(x: TensorLike, /) -> Tensor:
    """`bitwise_invert`.

    >>> pb.invert([0, 5])
    Tensor([-1, -6], dtype=int64)
    """
    return _core.bitwise_invert(x)


def left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """`bitwise_left_shift`.

    >>> pb.left_shift([1, 3], 2)
    Tensor([ 4, 12], dtype=int64)
    """
    return _core.bitwise_left_shift(x, y)


def right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """`bitwise_right_shift`.

    >>> pb.right_shift([16, -3], 1)
    Tensor([ 8, -2], dtype=int64)
    """
    return _core.bitwise_right_shift(x, y)
