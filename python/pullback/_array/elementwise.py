"""Elementwise arithmetic: sums and products, powers and logarithms, rounding, bounds, dtypes.

All of them take tensors, variables, NumPy arrays, nested lists and numbers, and broadcast like
NumPy: shapes that do not broadcast are a ValueError naming them. Dtypes promote like NumPy's, with
two rules of our own: a Python number takes the dtype of the array next to it, and an integer array
next to a floating one takes the floating dtype. Functions that need floats turn integers into the
default dtype; a dtype that an operation does not know is a TypeError. Nothing is computed before
somebody looks at the result.

Formulas and derivatives are in cpp/ops/elementwise.def, one row each. At a kink the gradient is
the subgradient of least norm, so `abs`, `relu` and `sign` give 0 at 0 and ties of `maximum` and
`minimum` share equally.
"""

from __future__ import annotations

from math import inf
from typing import SupportsIndex

import numpy
import numpy.typing as npt

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import flag, integer
from .interchange import on_device

# --- arithmetic


def add(x: TensorLike, y: TensorLike) -> Tensor:
    """x + y.

    >>> pb.add([1.0, 2.0], 3)
    Tensor([4., 5.], dtype=float32)
    """
    return _core.add(x, y)


def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """x - y.

    >>> pb.subtract([1.0, 2.0], 3)
    Tensor([-2., -1.], dtype=float32)
    """
    return _core.subtract(x, y)


def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """x * y.

    >>> pb.multiply([1.0, 2.0], [[1.0], [10.0]])
    Tensor([[ 1.,  2.],
            [10., 20.]], dtype=float32)
    """
    return _core.multiply(x, y)


def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """x / y, always floating.

    >>> pb.divide([7, 8], 2)
    Tensor([3.5, 4. ], dtype=float32)
    """
    return _core.divide(x, y)


def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """x // y, rounded towards minus infinity. An integer divided by 0 is a ZeroDivisionError when
    it is computed. The gradient is 0.

    >>> pb.floor_divide([-7, 7], 2)
    Tensor([-4,  3], dtype=int64)
    """
    return _core.floor_divide(x, y)


def remainder(x: TensorLike, y: TensorLike) -> Tensor:
    """x - y * floor(x / y), with the sign of y.

    >>> pb.remainder([-7.0, 7.0], 3)
    Tensor([2., 1.], dtype=float32)
    """
    return _core.remainder(x, y)


def pow(x: TensorLike, y: TensorLike) -> Tensor:
    """x to the power y. The derivative by y is 0 where x is 0. Integers to a negative power are a
    ValueError when they are computed.

    >>> pb.pow([1.0, 2.0, 3.0], 2)
    Tensor([1., 4., 9.], dtype=float32)
    """
    return _core.pow(x, y)


def negative(x: TensorLike, /) -> Tensor:
    """-x.

    >>> pb.negative([1.0, -2.0])
    Tensor([-1.,  2.], dtype=float32)
    """
    return _core.negative(x)


def positive(x: TensorLike, /) -> Tensor:
    """+x: a new tensor with the same values.

    >>> pb.positive([1.0, -2.0])
    Tensor([ 1., -2.], dtype=float32)
    """
    return _core.identity(x)


def square(x: TensorLike, /) -> Tensor:
    """x * x.

    >>> pb.square([1.0, -2.0])
    Tensor([1., 4.], dtype=float32)
    """
    return _core.square(x)


def abs(x: TensorLike, /) -> Tensor:
    """The absolute value, real of complex numbers too; its gradient at 0 is 0.

    >>> pb.abs([1.0, -2.0])
    Tensor([1., 2.], dtype=float32)
    """
    return _core.abs(x)


def sign(x: TensorLike, /) -> Tensor:
    """-1, 0 or 1; its gradient is 0. Of complex numbers x / abs(x), which has one.

    >>> pb.sign([-3.0, 0.0, 5.0])
    Tensor([-1.,  0.,  1.], dtype=float32)
    """
    return _core.sign(x)


# --- powers, exponentials and logarithms


def sqrt(x: TensorLike, /) -> Tensor:
    """The square root; NaN below 0. Its gradient at 0 is infinite.

    >>> pb.sqrt([4.0, 9.0])
    Tensor([2., 3.], dtype=float32)
    """
    return _core.sqrt(x)


def exp(x: TensorLike, /) -> Tensor:
    """e to the power x.

    >>> pb.exp([0.0, float("-inf")])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.exp(x)


def expm1(x: TensorLike, /) -> Tensor:
    """exp(x) - 1, without cancellation near 0.

    >>> float(pb.expm1(pb.constant(1e-30, "float64")))
    1e-30
    """
    return _core.expm1(x)


def log(x: TensorLike, /) -> Tensor:
    """The natural logarithm; NaN below 0, and its gradient there too.

    >>> pb.log([1.0, 0.0])
    Tensor([  0., -inf], dtype=float32)
    """
    return _core.log(x)


def log1p(x: TensorLike, /) -> Tensor:
    """log(1 + x), without cancellation near 0.

    >>> float(pb.log1p(pb.constant(1e-30, "float64")))
    1e-30
    """
    return _core.log1p(x)


# --- trigonometric and hyperbolic


def sin(x: TensorLike, /) -> Tensor:
    """The sine of x in radians.

    >>> pb.sin(0.0)
    Tensor(0., dtype=float32)
    """
    return _core.sin(x)


def cos(x: TensorLike, /) -> Tensor:
    """The cosine of x in radians.

    >>> pb.cos(0.0)
    Tensor(1., dtype=float32)
    """
    return _core.cos(x)


def tanh(x: TensorLike, /) -> Tensor:
    """The hyperbolic tangent. Its slope is accurate where the value has already rounded to 1.

    >>> pb.tanh([-100.0, 0.0, 100.0])
    Tensor([-1.,  0.,  1.], dtype=float32)
    """
    return _core.tanh(x)


# --- rounding (the gradient is 0: see `custom_gradient` for a straight-through one)


def round(x: TensorLike, /, decimals: SupportsIndex = 0) -> Tensor:
    """The nearest number of so many decimals, ties to even; -1 rounds to tens, -2 to hundreds.

    >>> pb.round([0.5, 1.5, -1.2])
    Tensor([ 0.,  2., -1.], dtype=float32)
    >>> pb.round([3.14159, 2.71828], 2)
    Tensor([3.14, 2.72], dtype=float32)
    """
    return rounded_to(x, decimals, "round")


def rounded_to(x: TensorLike, decimals: SupportsIndex, who: str) -> Tensor:
    digits = integer(decimals, who)
    if not -400 < digits < 400:
        raise ValueError(f"{who}: expected a number of decimals, got {_core.shown(decimals)}")
    if digits == 0:
        return _core.round(x)
    x = _core.constant(x, who=who)
    if x.dtype.kind == "c":
        parts = (rounded_to(part, digits, who) for part in (_core.real(x), _core.imag(x)))
        return _core.make_complex(*parts)
    if x.dtype.kind == "f":
        power = float(f"1e{digits if digits > 0 else -digits}")
        if digits < 0:
            return _core.multiply(_core.round(_core.divide(x, power)), power)
        scaled = _core.multiply(x, power)
        rounded = _core.divide(_core.round(scaled), power)
        # What the power takes out of range has no decimals to round.
        return _core.where(_core.isinf(scaled), x, rounded)
    if digits > 0 or x.dtype.kind == "b":
        return _core.round(x)
    power = 10**-digits
    if power > numpy.iinfo(x.dtype).max:
        return _core.multiply(x, 0)
    rest = _core.remainder(x, power)
    down = _core.subtract(x, rest)
    odd = _core.equal(_core.remainder(_core.floor_divide(x, power), 2), 1)
    up = _core.logical_or(
        _core.greater(rest, power // 2), _core.logical_and(_core.equal(rest, power // 2), odd)
    )
    return _core.add(down, _core.multiply(_core.cast(up, x.dtype), power))


def floor(x: TensorLike, /) -> Tensor:
    """The largest integer that is not above x.

    >>> pb.floor([1.7, -1.2])
    Tensor([ 1., -2.], dtype=float32)
    """
    return _core.floor(x)


def ceil(x: TensorLike, /) -> Tensor:
    """The smallest integer that is not below x.

    >>> pb.ceil([1.2, -1.7])
    Tensor([ 2., -1.], dtype=float32)
    """
    return _core.ceil(x)


# --- choice


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """The larger of x and y; NaN where either is. Where they are equal each takes half the
    gradient.

    >>> pb.maximum([1.0, 5.0], 3)
    Tensor([3., 5.], dtype=float32)
    """
    return _core.maximum(x, y)


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """The smaller of x and y; NaN where either is. Where they are equal each takes half the
    gradient.

    >>> pb.minimum([1.0, 5.0], 3)
    Tensor([1., 3.], dtype=float32)
    """
    return _core.minimum(x, y)


def clip(x: TensorLike, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """x, but at least `min` and at most `max`; `max` wins where they cross, None is no bound.

    The gradient is 1 inside and at the bounds, and 0 outside, where the bound takes it.

    >>> pb.clip([-2.0, 0.5, 2.0], -1, 1)
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    if min is not None and max is not None:
        return _core.clip(x, min, max)
    x = _core.identity(x)
    if x.dtype.kind == "f":
        return _core.clip(x, -inf if min is None else min, inf if max is None else max)
    if min is not None:
        return _core.maximum(x, min)
    return x if max is None else _core.minimum(x, max)


# --- dtype


def astype(
    x: TensorLike, dtype: npt.DTypeLike, /, *, copy: bool = True, device: str | None = None
) -> Tensor:
    """x in another dtype, as `cast`. Gradients pass between floating and complex dtypes only. A
    complex x in a dtype that is not, bool excepted, is a TypeError: take `real` of it. A tensor
    never changes under its holders, so `copy` makes no difference; the one device is "cpu".

    >>> pb.astype([1.7, -1.7], "int32")
    Tensor([ 1, -1], dtype=int32)
    """
    if copy is not True:
        copy = flag(copy, "astype", "copy")
    on_device(device, "astype")
    return _core.cast(x, dtype, copy)


def cast(x: TensorLike, dtype: npt.DTypeLike, /) -> Tensor:
    """x in another dtype; see `astype`.

    >>> pb.cast(True, "float32")
    Tensor(1., dtype=float32)
    """
    return _core.cast(x, dtype)
