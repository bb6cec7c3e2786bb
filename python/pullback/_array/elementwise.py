"""Elementwise functions: arithmetic, powers, logarithms, rounding, bounds and casts.

The functions accept tensors, variables, NumPy arrays, nested lists and numbers, and broadcast like
NumPy; shapes that do not broadcast raise a ValueError that names them. Dtypes are promoted as in
NumPy, with two rules of this library: a Python number takes the dtype of the array beside it, and
an integer array beside a floating one takes the floating dtype. Functions that need floating-point
numbers convert integers to the default dtype. A dtype that an operation does not support raises a
TypeError. Evaluation is lazy: a result is computed when its value is read.

Formulas and derivatives are in cpp/graph/elementwise.def, one row each. At a kink the gradient is
the subgradient of least norm: `abs`, `relu` and `sign` have the gradient 0 at 0, and ties of
`maximum` and `minimum` share it equally.
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
    """Return the sum `x + y`.

    Differentiable in both operands.

    Parameters
    ----------
    x, y : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.add([1.0, 2.0], 3)
    Tensor([4., 5.], dtype=float32)
    """
    return _core.add(x, y)


def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the difference `x - y`.

    Differentiable in both operands.

    Parameters
    ----------
    x, y : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.subtract([1.0, 2.0], 3)
    Tensor([-2., -1.], dtype=float32)
    """
    return _core.subtract(x, y)


def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the product `x * y`.

    Differentiable in both operands.

    Parameters
    ----------
    x, y : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.multiply([1.0, 2.0], [[1.0], [10.0]])
    Tensor([[ 1.,  2.],
            [10., 20.]], dtype=float32)
    """
    return _core.multiply(x, y)


def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the quotient `x / y` as floating or complex numbers.

    Differentiable in both operands. Integers are divided as floating-point numbers.

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
    >>> pb.divide([7, 8], 2)
    Tensor([3.5, 4. ], dtype=float32)
    """
    return _core.divide(x, y)


def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the quotient `x // y`, rounded towards minus infinity.

    The gradient is 0 in both operands.

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
    remainder, divmod

    Examples
    --------
    >>> pb.floor_divide([-7, 7], 2)
    Tensor([-4,  3], dtype=int64)
    """
    return _core.floor_divide(x, y)


def remainder(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the remainder `x - y * floor(x / y)`, which has the sign of `y`.

    Differentiable in both operands: the slopes are 1 and `-floor(x / y)`.

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
    fmod, floor_divide

    Examples
    --------
    >>> pb.remainder([-7.0, 7.0], 3)
    Tensor([2., 1.], dtype=float32)
    """
    return _core.remainder(x, y)


def pow(x: TensorLike, y: TensorLike) -> Tensor:
    """Raise `x` to the power `y`.

    Differentiable in both operands. The derivative with respect to `y` is 0 where `x` is 0.

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

    See Also
    --------
    float_power

    Examples
    --------
    >>> pb.pow([1.0, 2.0, 3.0], 2)
    Tensor([1., 4., 9.], dtype=float32)
    """
    return _core.pow(x, y)


def negative(x: TensorLike, /) -> Tensor:
    """Return `-x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.negative([1.0, -2.0])
    Tensor([-1.,  2.], dtype=float32)
    """
    return _core.negative(x)


def positive(x: TensorLike, /) -> Tensor:
    """Return `+x`, a new tensor with the values of `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Examples
    --------
    >>> pb.positive([1.0, -2.0])
    Tensor([ 1., -2.], dtype=float32)
    """
    return _core.identity(x)


def square(x: TensorLike, /) -> Tensor:
    """Return `x * x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.square([1.0, -2.0])
    Tensor([1., 4.], dtype=float32)
    """
    return _core.square(x)


def abs(x: TensorLike, /) -> Tensor:
    """Compute the absolute value.

    The gradient at 0 is 0.

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
    >>> pb.abs([1.0, -2.0])
    Tensor([1., 2.], dtype=float32)
    """
    return _core.abs(x)


def sign(x: TensorLike, /) -> Tensor:
    """Return the sign of `x`: -1, 0 or 1.

    The gradient is 0. For a complex `x` the result is `x / abs(x)`, and 0 at 0; it has a gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.sign([-3.0, 0.0, 5.0])
    Tensor([-1.,  0.,  1.], dtype=float32)
    """
    return _core.sign(x)


# --- powers, exponentials and logarithms


def sqrt(x: TensorLike, /) -> Tensor:
    """Compute the square root.

    The result is NaN for a negative real `x`. The gradient at 0 is infinite.

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
    rsqrt, cbrt

    Examples
    --------
    >>> pb.sqrt([4.0, 9.0])
    Tensor([2., 3.], dtype=float32)
    """
    return _core.sqrt(x)


def exp(x: TensorLike, /) -> Tensor:
    """Compute e to the power `x`.

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
    >>> pb.exp([0.0, float("-inf")])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.exp(x)


def expm1(x: TensorLike, /) -> Tensor:
    """Compute `exp(x) - 1` without cancellation near 0.

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
    >>> float(pb.expm1(pb.constant(1e-30, "float64")))
    1e-30
    """
    return _core.expm1(x)


def log(x: TensorLike, /) -> Tensor:
    """Compute the natural logarithm.

    The result and its gradient are NaN for a negative real `x`. The result is -inf at 0.

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
    log1p, log2, log10

    Examples
    --------
    >>> pb.log([1.0, 0.0])
    Tensor([  0., -inf], dtype=float32)
    """
    return _core.log(x)


def log1p(x: TensorLike, /) -> Tensor:
    """Compute `log(1 + x)` without cancellation near 0.

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
    >>> float(pb.log1p(pb.constant(1e-30, "float64")))
    1e-30
    """
    return _core.log1p(x)


# --- trigonometric and hyperbolic


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


# --- rounding (the gradient is 0; see `custom_gradient` for a straight-through gradient)


def round(x: TensorLike, /, decimals: SupportsIndex = 0) -> Tensor:
    """Round `x` to a number of decimals; ties are rounded to even.

    The gradient is 0. For a straight-through gradient see `custom_gradient`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype. The parts of a complex input are rounded separately.
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
    >>> pb.round([0.5, 1.5, -1.2])
    Tensor([ 0.,  2., -1.], dtype=float32)
    >>> pb.round([3.14159, 2.71828], 2)
    Tensor([3.14, 2.72], dtype=float32)
    """
    return rounded_to(x, decimals, "round")


def rounded_to(x: TensorLike, decimals: SupportsIndex, who: str) -> Tensor:
    """Return `x` rounded for the public function `who`: see `round`."""
    digits = integer(decimals, who, "decimals")
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
        # A number that overflows when scaled has no decimals to round.
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
    """Return the largest integer that does not exceed `x`.

    The gradient is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.floor([1.7, -1.2])
    Tensor([ 1., -2.], dtype=float32)
    """
    return _core.floor(x)


def ceil(x: TensorLike, /) -> Tensor:
    """Return the smallest integer that is not less than `x`.

    The gradient is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.ceil([1.2, -1.7])
    Tensor([ 2., -1.], dtype=float32)
    """
    return _core.ceil(x)


# --- choice


def maximum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the larger of `x` and `y`, elementwise.

    The result is NaN if either operand is NaN. Equal operands receive half of the gradient each.

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

    Examples
    --------
    >>> pb.maximum([1.0, 5.0], 3)
    Tensor([3., 5.], dtype=float32)
    """
    return _core.maximum(x, y)


def minimum(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the smaller of `x` and `y`, elementwise.

    The result is NaN if either operand is NaN. Equal operands receive half of the gradient each.

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

    Examples
    --------
    >>> pb.minimum([1.0, 5.0], 3)
    Tensor([1., 3.], dtype=float32)
    """
    return _core.minimum(x, y)


def clip(x: TensorLike, /, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Limit the values of `x` to the interval from `min` to `max`.

    If `min` exceeds `max`, the result is `max`. The gradient with respect to `x` is 1 inside the
    interval and at its bounds. Outside, the bound that applies receives the gradient.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    min, max : array_like, real, optional
        Lower and upper bound. Their shapes broadcast with the shape of `x`. Default: no bound.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the arguments that are given.

    Raises
    ------
    TypeError
        If a bound is given and an argument is complex, or all arguments are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
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
    """Convert `x` to another dtype.

    Gradients pass only between floating and complex dtypes.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    dtype : dtype_like
        Dtype of the result.
    copy : bool, optional
        Accepted for compatibility with the Array API standard. It makes no difference, because a
        tensor is never modified. Default: True.
    device : {"cpu"}, optional
        The only device. Default: None, which means "cpu".

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype.

    Raises
    ------
    TypeError
        If `copy` is not a bool, `dtype` is unknown, or if `x` is complex and `dtype` is neither
        complex nor bool; take `real` or `abs` of `x` first.
    ValueError
        If `device` is neither "cpu" nor None.

    See Also
    --------
    cast

    Examples
    --------
    >>> pb.astype([1.7, -1.7], "int32")
    Tensor([ 1, -1], dtype=int32)
    """
    if copy is not True:
        copy = flag(copy, "astype", "copy")
    on_device(device, "astype")
    return _core.cast(x, dtype, copy)


def cast(x: TensorLike, dtype: npt.DTypeLike, /) -> Tensor:
    """Convert `x` to another dtype.

    Gradients pass only between floating and complex dtypes.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    dtype : dtype_like
        Dtype of the result.

    Returns
    -------
    Tensor
        Shape of `x`; the given dtype.

    Raises
    ------
    TypeError
        If `dtype` is unknown, or if `x` is complex and `dtype` is neither complex nor bool; take
        `real` or `abs` of `x` first.

    See Also
    --------
    astype

    Examples
    --------
    >>> pb.cast(True, "float32")
    Tensor(1., dtype=float32)
    """
    return _core.cast(x, dtype)
