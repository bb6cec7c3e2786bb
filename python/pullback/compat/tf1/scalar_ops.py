"""Elementwise functions beyond the core's own, composed of them."""

from __future__ import annotations

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
    "x / y, and 0 with no slope where y is 0", "inexact",
)  # fmt: skip


def _where_zero(x: Any, y: Any, function: Any) -> Any:
    none = x == like(x, 0)
    return _core.where(none, like(x, 0), function(x, _core.where(none, like(y, 1), y)))


xlogy = _binary("xlogy", "Xlogy", lambda x, y: _where_zero(x, y, lambda a, b: a * _core.log(b)),
                "x log(y), and 0 where x is 0", "float")  # fmt: skip
xdivy = _binary("xdivy", "Xdivy", lambda x, y: _where_zero(x, y, lambda a, b: a / b),
                "x / y, and 0 where x is 0", "float")  # fmt: skip
erf = _unary("erf", "Erf", _core.erf, "The error function.", "float")
rint = _unary("rint", "Rint", _core.round, "The nearest integer, ties to even; no gradient.",
              "float", flows=False)  # fmt: skip
tan = _unary("tan", "Tan", _core.tan, "The tangent.")
sinh = _unary("sinh", "Sinh", _core.sinh, "The hyperbolic sine.")
cosh = _unary("cosh", "Cosh", _core.cosh, "The hyperbolic cosine.")
atan = _unary("atan", "Atan", _core.atan, "The angle whose tangent is x.")
asin = _unary("asin", "Asin", _core.asin, "The angle whose sine is x.")
acos = _unary("acos", "Acos", _core.acos, "The angle whose cosine is x.")
asinh = _unary("asinh", "Asinh", _core.asinh, "The inverse of sinh.")
acosh = _unary("acosh", "Acosh", _core.acosh, "The inverse of cosh.")
atanh = _unary("atanh", "Atanh", _core.atanh, "The inverse of tanh.")
atan2 = operation(
    "Atan2", _core.atan2, "y x", "The angle of the point (x, y), from -π to π.", domain="float",
    same=True, fresh=True, shape=shape_functions.broadcast,
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
