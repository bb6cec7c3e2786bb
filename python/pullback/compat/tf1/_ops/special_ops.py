"""Elementwise functions beyond the core's own, composed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.create import apply, binary, cast, convert_to_tensor, operation, scope_of, unary
from ..dtypes import as_dtype
from ..names import public_names, taking
from .indexed_slices import IndexedSlices
from .math_ops import maximum, minimum

# No path reaches a division by 0, so value and gradient are not NaN.
div_no_nan = divide_no_nan = binary(
    "DivNoNan:divide_no_nan", lambda x, y: pb.where(y == 0, 0, x / pb.where(y == 0, 1, y)),
    "Compute x / y, and 0 with no slope where y is 0", "inexact",
)  # fmt: skip
xlogy = binary("Xlogy", pb.xlogy, "Compute x log(y), and 0 where x is 0", "float")
xdivy = binary("Xdivy", lambda x, y: pb.where(x == 0, 0, x / pb.where(x == 0, 1, y)),
               "Compute x / y, and 0 where x is 0", "float")  # fmt: skip
erf = unary("Erf", _core.erf, "Compute the error function.", "float")
erfc = unary("Erfc", pb.special.erfc, "Compute 1 - erf(x), exact where that is small.", "float")
lgamma = unary("Lgamma", pb.special.gammaln, "Compute the logarithm of |gamma(x)|.", "float")
digamma = unary("Digamma", pb.special.digamma, "Compute the derivative of `lgamma`.", "float")
rint = unary("Rint", _core.round, "Return the nearest integer, ties to even; no gradient.",
              "float", flows=False)  # fmt: skip
tan = unary("Tan", _core.tan, "Compute the tangent.")
sinh = unary("Sinh", _core.sinh, "Compute the hyperbolic sine.")
cosh = unary("Cosh", _core.cosh, "Compute the hyperbolic cosine.")
atan = unary("Atan", _core.atan, "Return the angle whose tangent is x.")
asin = unary("Asin", _core.asin, "Return the angle whose sine is x.")
acos = unary("Acos", _core.acos, "Return the angle whose cosine is x.")
asinh = unary("Asinh", _core.asinh, "Compute the inverse of sinh.")
acosh = unary("Acosh", _core.acosh, "Compute the inverse of cosh.")
atanh = unary("Atanh", _core.atanh, "Compute the inverse of tanh.")
atan2 = operation(
    "Atan2", _core.atan2, "y x", "Return the angle of (x, y), from -π to π.", domain="float",
    same=True, fresh=True, shape=shape_functions.broadcast,
)  # fmt: skip


def _toward_zero(x: Any, y: Any) -> Any:
    sign = _core.sign(x) * _core.sign(y)
    whole = sign * _core.floor_divide(_core.abs(x), _core.abs(y))
    return _core.cast(_core.stop_gradient(whole), x.dtype)


truncatediv = binary("TruncateDiv", _toward_zero,
                     "Round x / y towards 0; no gradient (None)", flows=False)  # fmt: skip
truncatemod = binary("TruncateMod", lambda x, y: x - _toward_zero(x, y) * y,
                     "Compute the remainder of x / y, with the sign of x")  # fmt: skip


@taking("x y name=None")
def floor_div(x: Any, y: Any, name: str | None) -> Any:
    """Compute x // y."""
    return apply("FloorDiv", x, y, name=name)


def scalar_mul(scalar: Any, x: Any, name: str | None = None) -> Any:
    """Multiply a tensor, or the values of an IndexedSlices, by a scalar."""
    if isinstance(x, IndexedSlices):
        return x.with_values(scalar_mul(scalar, x.values, name))
    x = convert_to_tensor(x)
    factor = convert_to_tensor(scalar, as_dtype(x.dtype))
    if tuple(factor.shape) != ():
        raise ValueError(f"scalar_mul: expected a scalar, got {factor!r}")
    return apply("Mul", factor, x, name=name)


def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert to another dtype; values out of range become the nearest limit."""
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
