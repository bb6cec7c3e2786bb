"""Parts and properties of floating-point numbers: signs, neighbours, infinities, interpolation."""

from __future__ import annotations

from math import inf

from .. import _core
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .dtype_functions import finfo

__all__ = [
    "copysign",
    "divmod",
    "fma",
    "fmod",
    "heaviside",
    "isneginf",
    "isposinf",
    "lerp",
    "nan_to_num",
    "nextafter",
    "signbit",
]


def fmod(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the remainder `x - y * trunc(x / y)`, which has the sign of `x`.

    Differentiable in both operands: the slopes are 1 and `-trunc(x / y)`.

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

    See Also
    --------
    remainder

    Examples
    --------
    >>> pb.fmod([-7.0, 7.0], 3.0)
    Tensor([-1.,  1.], dtype=float32)
    """
    x, y = _core.operands([x, y], "fmod")
    if x.dtype.kind == "b" and y.dtype.kind == "b":
        raise TypeError("fmod: expected numbers, got bool; cast it first")
    if _core.promote(x.dtype, y.dtype).kind == "f":  # such as int64 beside uint64
        return _core.fmod(x, y)
    rest = _core.remainder(x, y)
    other = _core.not_equal(_core.less(x, 0), _core.less(rest, 0))
    other = _core.logical_and(other, _core.not_equal(rest, 0))
    return _core.where(other, _core.subtract(rest, y), rest)


def copysign(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the magnitude of `x` with the sign of `y`.

    The sign of a zero `y` counts. Differentiable in `x`; the gradient with respect to `y` is 0.

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
    >>> pb.copysign([1.0, -2.0], -0.0)
    Tensor([-1., -2.], dtype=float32)
    """
    return _core.copysign(x, y)


def nextafter(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the next floating-point number after `x` towards `y`.

    The gradient is 1 with respect to `x` and 0 with respect to `y`.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast, of dtype float32 or float64. Integers and bool become the
        default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If the promoted dtype is complex, float16 or bfloat16.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.nextafter(1.0, 2.0) > 1
    Tensor(True, dtype=bool)
    """
    return _core.nextafter(x, y)


def heaviside(x: TensorLike, y: TensorLike) -> Tensor:
    """Return 0 for a negative `x`, 1 for a positive `x`, and `y` where `x` is 0.

    Differentiable in `y`, which receives the gradient where `x` is 0. The gradient with respect to
    `x` is 0.

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
    >>> pb.heaviside([-1.0, 0.0, 2.0], 0.5)
    Tensor([0. , 0.5, 1. ], dtype=float32)
    """
    return _core.heaviside(x, y)


def signbit(x: TensorLike, /) -> Tensor:
    """Test whether the sign bit of `x` is set, as it is for -0.0.

    The result has no gradient.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.signbit([-0.0, 1.0])
    Tensor([ True, False], dtype=bool)
    """
    return _core.signbit(x)


@composite
def fma(x: TensorLike, y: TensorLike, z: TensorLike) -> Tensor:
    """Compute `x * y + z`.

    The product is rounded before the addition. Differentiable in all operands.

    Parameters
    ----------
    x, y, z : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If `x` and `y` are both of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.fma(2.0, [3.0, 4.0], 1.0)
    Tensor([7., 9.], dtype=float32)
    """
    return _core.add(_core.multiply(x, y), z)


@composite
def lerp(start: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor:
    """Interpolate linearly: `start + weight * (end - start)`.

    Differentiable in all operands.

    Parameters
    ----------
    start, end : array_like
        Values at weight 0 and at weight 1, of numeric dtypes.
    weight : array_like
        Interpolation weight. The shapes of all arguments broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the arguments.

    Raises
    ------
    TypeError
        If `start` and `end` are both of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.lerp([0.0, 10.0], [4.0, 20.0], 0.25)
    Tensor([ 1. , 12.5], dtype=float32)
    """
    return _core.add(start, _core.multiply(weight, _core.subtract(end, start)))


@composite
def divmod(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """Compute `floor_divide(x, y)` and `remainder(x, y)`.

    Parameters
    ----------
    x, y : array_like, real
        Operands of integer or floating dtypes. Their shapes broadcast.

    Returns
    -------
    quotient : Tensor
        The broadcast shape and the promoted dtype of the operands.
    remainder : Tensor
        The same shape and dtype.

    Raises
    ------
    TypeError
        If an operand is complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.
    ZeroDivisionError
        If an integer is divided by 0. It is raised when a result is computed.

    Examples
    --------
    >>> pb.divmod([-7, 7], 2)
    (Tensor([-4,  3], dtype=int64), Tensor([1, 1], dtype=int64))
    """
    return _core.floor_divide(x, y), _core.remainder(x, y)


def isposinf(x: TensorLike, /) -> Tensor:
    """Test whether `x` is plus infinity.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Examples
    --------
    >>> pb.isposinf([float("inf"), float("-inf"), 1.0])
    Tensor([ True, False, False], dtype=bool)
    """
    return _core.equal(x, inf)


def isneginf(x: TensorLike, /) -> Tensor:
    """Test whether `x` is minus infinity.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Examples
    --------
    >>> pb.isneginf([float("inf"), float("-inf"), 1.0])
    Tensor([False,  True, False], dtype=bool)
    """
    return _core.equal(x, -inf)


@composite
def nan_to_num(
    x: TensorLike, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace NaN and infinities by finite numbers.

    The parts of a complex `x` are replaced separately. The gradient of replaced entries is 0.
    Integers and bool are returned unchanged.

    Parameters
    ----------
    x : array_like
        Input of any shape.
    nan : float, optional
        Replacement of NaN. Default: 0.
    posinf, neginf : float, optional
        Replacements of plus and minus infinity. Default: the largest and the smallest finite number
        of the dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Examples
    --------
    >>> pb.nan_to_num([float("nan"), 1.0], nan=-1.0)
    Tensor([-1.,  1.], dtype=float32)
    """
    x = _core.identity(x)
    if x.dtype.kind == "c":
        parts = (
            nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf)
            for part in (_core.real(x), _core.imag(x))
        )
        return _core.make_complex(*parts)
    if x.dtype.kind != "f":
        return x
    most = finfo(x.dtype).max
    y = _core.where(_core.isnan(x), nan, x)
    y = _core.where(_core.equal(x, inf), most if posinf is None else posinf, y)
    return _core.where(_core.equal(x, -inf), -most if neginf is None else neginf, y)
