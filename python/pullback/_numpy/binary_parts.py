"""Parts of floating-point numbers: mantissa and exponent, fraction and integer part.

The exponents are integers and the integer part is piecewise constant, so only the other part has a
gradient.
"""

from __future__ import annotations

from typing import NamedTuple

from .. import _core
from .._base.checks import integer_tensor, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["frexp", "ldexp", "modf"]


class FrexpResult(NamedTuple):
    """Mantissa and exponent of `frexp`."""

    mantissa: Tensor
    exponent: Tensor


class ModfResult(NamedTuple):
    """Fractional and integral parts of `modf`."""

    fractional: Tensor
    integral: Tensor


# Exponents by dtype: the largest, and the step by which a larger or a lower one is applied. The
# downward step leaves the digits of a number whose final value is subnormal, which is rounded once.
_EXPONENTS = {"float32": (127, 102), "float64": (1023, 969)}


def _scaled(x: Tensor, exponents: Tensor) -> Tensor:
    """Return x * 2**exponents, rounded once, for float32 or float64."""
    most, down = _EXPONENTS[x.dtype.name]
    rest = _core.minimum(_core.maximum(exponents, -3 * most), 3 * most)
    for _ in range(2):
        high, low = _core.greater(rest, most), _core.less(rest, 1 - most)
        step = _core.where(high, most, _core.where(low, -down, 0))
        x = _core.multiply(x, _core.exp2(_core.cast(step, x.dtype)))
        rest = _core.subtract(rest, step)
    rest = _core.minimum(_core.maximum(rest, 1 - most), most)
    return _core.multiply(x, _core.exp2(_core.cast(rest, x.dtype)))


def _widened(x: TensorLike, who: str) -> tuple[Tensor, Tensor]:
    """Return a floating `x`, and the same in float32 if its dtype has 16 bits."""
    x = made_floating(x, who)
    return x, x if x.dtype.name in _EXPONENTS else _core.cast(x, "float32")


@composite
def ldexp(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute x * 2**y for an integer `y`.

    The result is rounded once, also if 2**y alone overflows. Differentiable in `x`.

    Parameters
    ----------
    x : array_like, real
        Mantissa. Integers and bool become the default floating dtype.
    y : array_like, integer
        Exponent. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape; the floating dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or `y` is not made of integers.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    frexp

    Examples
    --------
    >>> pb.ldexp([1.0, 3.0], [3, -1])
    Tensor([8. , 1.5], dtype=float32)
    """
    x, wide = _widened(x, "ldexp")
    return _core.cast(_scaled(wide, integer_tensor(y, "ldexp", "y")), x.dtype)


@composite
def frexp(x: TensorLike, /) -> FrexpResult:
    """Split numbers into mantissa and exponent: x = mantissa * 2**exponent.

    Differentiable in `x` by the mantissa; the exponents are constant between powers of two.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    mantissa : Tensor
        Numbers of absolute value at least 0.5 and below 1, or 0, inf or NaN for such a number; the
        shape and floating dtype of `x`.
    exponent : Tensor
        Exponents, 0 for 0, inf and NaN; the shape of `x`, dtype int32.

    Raises
    ------
    TypeError
        If `x` is complex.

    See Also
    --------
    ldexp

    Examples
    --------
    >>> mantissa, exponent = pb.frexp([8.0, -0.75])
    >>> mantissa, exponent
    (Tensor([ 0.5 , -0.75], dtype=float32), Tensor([4, 0], dtype=int32))
    """
    x, wide = _widened(x, "frexp")
    size = _core.abs(_core.stop_gradient(wide))
    regular = _core.logical_and(_core.isfinite(size), _core.greater(size, 0))
    size = _core.where(regular, size, 0.5)
    exponent = _core.add(_core.cast(_core.floor(_core.log2(size)), "int64"), 1)
    scaled = _scaled(size, _core.negative(exponent))  # the logarithm is rounded
    exponent = _core.add(exponent, _core.cast(_core.greater_equal(scaled, 1), "int64"))
    exponent = _core.subtract(exponent, _core.cast(_core.less(scaled, 0.5), "int64"))
    mantissa = _scaled(wide, _core.negative(exponent))
    return FrexpResult(_core.cast(mantissa, x.dtype), _core.cast(exponent, "int32"))


@composite
def modf(x: TensorLike, /) -> ModfResult:
    """Split numbers into fractional and integral parts, both with the sign of the number.

    Differentiable in `x` by the fractional part; the gradient of the integral part is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    fractional : Tensor
        Fractional part, 0 for an infinity; the shape and floating dtype of `x`.
    integral : Tensor
        Integral part, as by `trunc`; the shape and floating dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex.

    See Also
    --------
    trunc

    Examples
    --------
    >>> fractional, integral = pb.modf([2.5, -1.25])
    >>> fractional, integral
    (Tensor([ 0.5 , -0.25], dtype=float32), Tensor([ 2., -1.], dtype=float32))
    """
    x = made_floating(x, "modf")
    infinite = _core.isinf(x)
    zero = _core.copysign(0.0, _core.stop_gradient(x))
    fractional = _core.where(infinite, zero, _core.fmod(_core.where(infinite, 0.0, x), 1.0))
    return ModfResult(fractional, _core.trunc(x))
