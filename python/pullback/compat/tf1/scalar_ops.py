"""Elementwise functions beyond the core's own, composed of them."""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from ... import _core
from . import shape_functions
from .create import apply, cast, convert_to_tensor, operation, scope_of
from .dtypes import as_dtype
from .math_ops import _binary, _unary, maximum, minimum
from .names import public_names
from .opdef import like
from .slices import IndexedSlices


def _divide_no_nan(x: Any, y: Any) -> Any:
    # No path to a division by 0: neither value nor slope of it is NaN.
    none = y == like(y, 0)
    return _core.where(none, like(x, 0), x / _core.where(none, like(y, 1), y))


div_no_nan = divide_no_nan = _binary(
    "divide_no_nan", "DivNoNan", _divide_no_nan,
    "x / y, and 0 with no slope where y is 0", "float",
)  # fmt: skip


def _where_zero(x: Any, y: Any, function: Any) -> Any:
    none = x == like(x, 0)
    return _core.where(none, like(x, 0), function(x, _core.where(none, like(y, 1), y)))


xlogy = _binary("xlogy", "Xlogy", lambda x, y: _where_zero(x, y, lambda a, b: a * _core.log(b)),
                "x log(y), and 0 where x is 0", "float")  # fmt: skip
xdivy = _binary("xdivy", "Xdivy", lambda x, y: _where_zero(x, y, lambda a, b: a / b),
                "x / y, and 0 where x is 0", "float")  # fmt: skip
erf = _unary("erf", "Erf", _core.erf, "The error function.")
rint = _unary("rint", "Rint", _core.round, "The nearest integer, ties to even; no gradient.",
              flows=False)  # fmt: skip
tan = _unary("tan", "Tan", lambda x: _core.sin(x) / _core.cos(x), "The tangent.")


def _half_power(x: Any) -> Any:
    """Half of e to the power of |x|, which overflows later than that power does."""
    root = _core.exp(_core.abs(x) * like(x, 0.5))
    return like(x, 0.5) * root * root


def _sinh(x: Any) -> Any:
    e = _core.expm1(_core.minimum(_core.abs(x), like(x, 709 if x.dtype.itemsize == 8 else 88)))
    far = _half_power(x)
    near = like(x, 0.5) * (e + e / (e + like(x, 1)))
    return _core.sign(x) * _core.where(_core.abs(x) > like(x, 30), far, near)


def _cosh(x: Any) -> Any:
    half = _half_power(x)
    return half + like(x, 0.25) / half


sinh = _unary("sinh", "Sinh", _sinh, "The hyperbolic sine.",
              slopes={0: lambda g, ins, y: g * _cosh(ins[0])})  # fmt: skip
cosh = _unary("cosh", "Cosh", _cosh, "The hyperbolic cosine.",
              slopes={0: lambda g, ins, y: g * _sinh(ins[0])})  # fmt: skip


def _atan(x: Any) -> Any:
    one = like(x, 1)
    large = _core.abs(x) > one
    z = _core.where(large, one / _core.where(large, x, one), x)
    for _ in range(3):  # half of the angle each time
        z = z / (one + _core.sqrt(one + z * z))
    square, total = z * z, like(x, 0)
    for k in range(23, 0, -2):  # its series converges fast there
        total = total * square + like(x, (-1) ** (k // 2) / k)
    angle = like(x, 8) * z * total
    return _core.where(large, _core.sign(x) * like(x, pi / 2) - angle, angle)


def _of_square(g: Any, x: Any, sign: int) -> Any:
    return _core.rsqrt(like(x, 1) + like(x, sign) * x * x) * g


def _asin(x: Any) -> Any:
    one = like(x, 1)
    return like(x, 2) * _atan(x / (one + _core.sqrt((one - x) * (one + x))))


def _asinh(x: Any) -> Any:
    a, one = _core.abs(x), like(x, 1)
    far = _core.log(_core.maximum(a, one)) + like(x, np.log(2))
    b = _core.minimum(a, like(x, 1e8))
    near = _core.log1p(b + b * b / (one + _core.sqrt(one + b * b)))
    return _core.sign(x) * _core.where(a > like(x, 1e8), far, near)


def _atanh(x: Any) -> Any:
    a = _core.abs(x)
    return _core.sign(x) * like(x, 0.5) * _core.log1p(like(x, 2) * a / (like(x, 1) - a))


def _acosh(x: Any) -> Any:
    t = x - like(x, 1)
    return _core.log1p(t + _core.sqrt(t) * _core.sqrt(x + like(x, 1)))


atan = _unary("atan", "Atan", _atan, "The angle whose tangent is x.",
              slopes={0: lambda g, ins, y: g / (like(y, 1) + ins[0] * ins[0])})  # fmt: skip
asin = _unary("asin", "Asin", _asin, "The angle whose sine is x.",
              slopes={0: lambda g, ins, y: _of_square(g, ins[0], -1)})  # fmt: skip
acos = _unary("acos", "Acos", lambda x: like(x, pi / 2) - _asin(x), "The angle whose cosine is x.",
              slopes={0: lambda g, ins, y: -_of_square(g, ins[0], -1)})  # fmt: skip
asinh = _unary("asinh", "Asinh", _asinh, "The inverse of sinh.",
               slopes={0: lambda g, ins, y: _of_square(g, ins[0], 1)})  # fmt: skip
acosh = _unary("acosh", "Acosh", _acosh, "The inverse of cosh.", slopes={
    0: lambda g, ins, y: g * _core.rsqrt(ins[0] - like(y, 1)) * _core.rsqrt(ins[0] + like(y, 1))
})  # fmt: skip
atanh = _unary("atanh", "Atanh", _atanh, "The inverse of tanh.",
               slopes={0: lambda g, ins, y: g / (like(y, 1) - ins[0] * ins[0])})  # fmt: skip


def _angle(y: Any, x: Any) -> Any:
    zero = like(x, 0)
    right = x != zero
    angle = _atan(y / _core.where(right, x, like(x, 1)))
    turn = _core.where(y < zero, like(x, -pi), like(x, pi))
    upright = _core.sign(y) * like(x, pi / 2)
    return _core.where(right, _core.where(x < zero, angle + turn, angle), upright)


def _per_square(g: Any, top: Any, ins: list[Any]) -> Any:
    return g * top / (ins[0] * ins[0] + ins[1] * ins[1])


atan2 = operation(
    "Atan2", _angle, "y x", "The angle of the point (x, y), from -π to π.", domain="float",
    same=True, fresh=True, shape=shape_functions.broadcast,
    slopes={0: lambda g, ins, out: _per_square(g, ins[1], ins),
            1: lambda g, ins, out: -_per_square(g, ins[0], ins)},
)  # fmt: skip


def _toward_zero(x: Any, y: Any) -> Any:
    sign = _core.sign(x) * _core.sign(y)
    return _core.stop_gradient(sign * _core.floor_divide(_core.abs(x), _core.abs(y)))


truncatediv, truncatemod = (
    _binary(public, type, function, text, flows=flows)
    for public, type, function, text, flows in (
        ("truncatediv", "TruncateDiv",
         lambda x, y: _core.cast(_toward_zero(x, y), x.dtype),
         "x / y rounded towards 0; no gradient (None)", False),
        ("truncatemod", "TruncateMod",
         lambda x, y: x - _core.cast(_toward_zero(x, y), x.dtype) * y,
         "The remainder of x / y, with the sign of x", True),
    )
)  # fmt: skip


def floor_div(x: Any, y: Any, name: str | None = None) -> Any:
    """x // y."""
    return apply("FloorDiv", x, y, name=name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """A number, or a tensor of rank 0, times a tensor; of an IndexedSlices times the values."""
    if isinstance(x, IndexedSlices):
        return x.with_values(scalar_mul(scalar, x.values, name))
    x = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, as_dtype(x.dtype))
    if tuple(factor.shape) != ():
        raise ValueError(f"scalar_mul: expected a scalar, got {factor!r}")
    return apply("Mul", factor, x, name=name)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype, the nearest where they do not fit."""
    with scope_of(name or "saturate_cast", value) as scope:
        x, wish = convert_to_tensor(value), as_dtype(dtype)
        have = as_dtype(x.dtype)
        if have.min < wish.min:
            x = maximum(x, convert_to_tensor(wish.min, have))
        if have.max > wish.max:
            top = convert_to_tensor(np.nextafter(have.dtype.type(wish.max), 0)
                                    if have.is_floating else wish.max, have)  # fmt: skip
            x = minimum(x, top)
        return cast(x, wish, name=scope)


__all__ = public_names(globals())
