"""NumPy's second names for functions that have two."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import Axis, TensorLike
from .reductions import max, min


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
    return max(x, axis, keepdims, initial=initial, where=where)


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
    return min(x, axis, keepdims, initial=initial, where=where)
