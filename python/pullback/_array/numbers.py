"""Parts of numbers: signs, neighbours, remainders; bits of integers; values that are close."""

from __future__ import annotations

from math import inf

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import flag
from .dtypes import finfo


def trunc(x: TensorLike, /) -> Tensor:
    """x without its fraction. The gradient is 0.

    >>> pb.trunc([1.7, -1.7])
    Tensor([ 1., -1.], dtype=float32)
    """
    return _core.trunc(x)


def fmod(x: TensorLike, y: TensorLike) -> Tensor:
    """x - y trunc(x / y), with the sign of x; `remainder` has that of y. By an integer 0 it is a
    ZeroDivisionError.

    >>> pb.fmod([-7.0, 7.0], 3.0)
    Tensor([-1.,  1.], dtype=float32)
    """
    x, y = _core.operands([x, y], "fmod")
    if x.dtype.kind == "b" and y.dtype.kind == "b":
        raise TypeError("fmod: expected numbers, got bool; cast it first")
    if x.dtype.kind not in "iu" or y.dtype.kind not in "iu":
        return _core.fmod(x, y)
    rest = _core.remainder(x, y)
    other = _core.not_equal(_core.less(x, 0), _core.less(rest, 0))
    other = _core.logical_and(other, _core.not_equal(rest, 0))
    return _core.where(other, _core.subtract(rest, y), rest)


def copysign(x: TensorLike, y: TensorLike) -> Tensor:
    """The size of x with the sign of y, that of a zero too.

    >>> pb.copysign([1.0, -2.0], -0.0)
    Tensor([-1., -2.], dtype=float32)
    """
    return _core.copysign(x, y)


def nextafter(x: TensorLike, y: TensorLike) -> Tensor:
    """The floating-point number next to x on the way to y.

    >>> pb.nextafter(1.0, 2.0) > 1
    Tensor(True, dtype=bool)
    """
    return _core.nextafter(x, y)


def heaviside(x: TensorLike, y: TensorLike) -> Tensor:
    """0 below 0, 1 above, and y at 0, which has the gradient there.

    >>> pb.heaviside([-1.0, 0.0, 2.0], 0.5)
    Tensor([0. , 0.5, 1. ], dtype=float32)
    """
    return _core.heaviside(x, y)


def signbit(x: TensorLike, /) -> Tensor:
    """Whether the sign of x is set, as it is of -0.0.

    >>> pb.signbit([-0.0, 1.0])
    Tensor([ True, False], dtype=bool)
    """
    return _core.signbit(x)


def bitwise_and(x: TensorLike, y: TensorLike) -> Tensor:
    """x & y, bit by bit. Floats are a TypeError.

    >>> pb.bitwise_and([6, 5], 3)
    Tensor([2, 1], dtype=int64)
    """
    return _core.bitwise_and(x, y)


def bitwise_or(x: TensorLike, y: TensorLike) -> Tensor:
    """x | y, bit by bit. Floats are a TypeError.

    >>> pb.bitwise_or([6, 5], 3)
    Tensor([7, 7], dtype=int64)
    """
    return _core.bitwise_or(x, y)


def bitwise_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """x ^ y, bit by bit. Floats are a TypeError.

    >>> pb.bitwise_xor([6, 5], 3)
    Tensor([5, 6], dtype=int64)
    """
    return _core.bitwise_xor(x, y)


def bitwise_invert(x: TensorLike, /) -> Tensor:
    """~x: every bit the other way; of bool, not x. Floats are a TypeError.

    >>> pb.bitwise_invert([0, 5])
    Tensor([-1, -6], dtype=int64)
    """
    return _core.bitwise_invert(x)


def bitwise_left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """x << y. A shift by as many bits as there are, or a negative one, leaves none.

    >>> pb.bitwise_left_shift([1, 3], 2)
    Tensor([ 4, 12], dtype=int64)
    """
    return _core.bitwise_left_shift(x, y)


def bitwise_right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """x >> y, the sign kept. A shift by as many bits as there are, or a negative one, leaves the
    sign alone.

    >>> pb.bitwise_right_shift([16, -3], 1)
    Tensor([ 8, -2], dtype=int64)
    """
    return _core.bitwise_right_shift(x, y)


def fma(x: TensorLike, y: TensorLike, z: TensorLike) -> Tensor:
    """x * y + z; the product is rounded.

    >>> pb.fma(2.0, [3.0, 4.0], 1.0)
    Tensor([7., 9.], dtype=float32)
    """
    return _core.add(_core.multiply(x, y), z)


def lerp(start: TensorLike, end: TensorLike, weight: TensorLike) -> Tensor:
    """start + weight (end - start): `start` at weight 0, `end` at 1.

    >>> pb.lerp([0.0, 10.0], [4.0, 20.0], 0.25)
    Tensor([ 1. , 12.5], dtype=float32)
    """
    return _core.add(start, _core.multiply(weight, _core.subtract(end, start)))


def divmod(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    """`floor_divide` and `remainder`.

    >>> pb.divmod([-7, 7], 2)
    (Tensor([-4,  3], dtype=int64), Tensor([1, 1], dtype=int64))
    """
    return _core.floor_divide(x, y), _core.remainder(x, y)


def isposinf(x: TensorLike, /) -> Tensor:
    """Whether x is +infinity.

    >>> pb.isposinf([float("inf"), float("-inf"), 1.0])
    Tensor([ True, False, False], dtype=bool)
    """
    return _core.equal(x, inf)


def isneginf(x: TensorLike, /) -> Tensor:
    """Whether x is -infinity.

    >>> pb.isneginf([float("inf"), float("-inf"), 1.0])
    Tensor([False,  True, False], dtype=bool)
    """
    return _core.equal(x, -inf)


def nan_to_num(
    x: TensorLike, /, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """x with other numbers where it is not finite: by default 0 for NaN, and the largest finite
    ones for infinities. No gradient passes there.

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


def isclose(
    x: TensorLike,
    y: TensorLike,
    /,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Whether |x - y| is at most atol + rtol |y|; infinities are close to themselves, NaN only to
    NaN with `equal_nan`.

    >>> pb.isclose([1.0, 2.0], [1.0000001, 2.1])
    Tensor([ True, False], dtype=bool)
    """
    if equal_nan is not False:
        equal_nan = flag(equal_nan, "isclose", "equal_nan")
    x, y = _core.operands([x, y], "isclose")
    minus = _core.subtract if "c" in (x.dtype.kind, y.dtype.kind) else _core.difference
    apart = _core.abs(minus(x, y))
    # The smallest integer has no absolute value of its dtype.
    size = _core.abs(_core.cast(y, "float64") if y.dtype.kind in "iu" else y)
    near = _core.less_equal(apart, _core.add(atol, _core.multiply(rtol, size)))
    near = _core.logical_and(near, _core.isfinite(y))
    same = _core.same(x, y) if equal_nan else _core.equal(x, y)
    return _core.logical_or(near, same)


def allclose(
    x: TensorLike,
    y: TensorLike,
    /,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Whether all entries are close: see `isclose`.

    >>> bool(pb.allclose([1.0, 2.0], [1.0, 2.0]))
    True
    """
    if equal_nan is not False:
        equal_nan = flag(equal_nan, "allclose", "equal_nan")
    return _core.all(isclose(x, y, rtol, atol, equal_nan))
