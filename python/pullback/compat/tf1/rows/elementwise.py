"""Rows of elementwise functions, of `where`, and of what gives the same values back."""

from __future__ import annotations

from typing import Any

from .... import _core
from ..dtypes import bool as tf_bool
from ..opdef import Attrs, define, like

BROADCAST = ("Reshape", "Reshape_1", "Reshape_2")


# --- elementwise functions of one input


def _unary(type: str, function: Any, domain: str = "float", **fields: Any) -> None:
    define(type, lambda attrs, x: function(x), domain=domain, elementwise=True, **fields)


def _sqrt_slope(g: Any, y: Any) -> Any:
    # The slope at 0 is infinite, but a cotangent of 0 stays 0.
    return _core.where(g == like(g, 0), like(g, 0), g * like(g, 0.5) / y)


def _sqrt_formula(g: Any, ins: list[Any], y: Any) -> Any:
    return _sqrt_slope(g, y)


_unary("Neg", _core.negative, "number", ring=True, needs={}, names=("Neg",))
_unary("Abs", _core.abs, "number")
_unary("Sign", _core.sign, "number", names=("zeros",))
_unary("Square", _core.square, "number", ring=True, names=("Mul_1",))
_unary(
    "Exp",
    _core.exp,
    from_output=lambda g, y: g * y,
)
_unary("Expm1", _core.expm1)
_unary("Log", _core.log)
_unary("Log1p", _core.log1p)
_unary(
    "Sqrt", _core.sqrt, names=("SqrtGrad",), from_output=_sqrt_slope, formulas={0: _sqrt_formula}
)
_unary(
    "Rsqrt",
    _core.rsqrt,
    names=("RsqrtGrad",),
    from_output=lambda g, y: g * like(g, -0.5) * y * y * y,
)
_unary("Sin", _core.sin)
_unary("Cos", _core.cos)
_unary(
    "Tanh",
    _core.tanh,
    names=("TanhGrad",),
    from_output=lambda g, y: g * (like(y, 1) - y * y),
)
_unary(
    "Sigmoid",
    _core.sigmoid,
    names=("SigmoidGrad",),
    from_output=lambda g, y: g * y * (like(y, 1) - y),
)
_unary("Softplus", _core.softplus, names=("SoftplusGrad",))
_unary(
    "Relu",
    _core.relu,
    "number",
    names=("ReluGrad",),
    from_output=lambda g, y: _core.where(y > like(y, 0), g, like(g, 0)),
)
_unary(
    "Reciprocal",
    lambda x: like(x, 1) / x,
    names=("ReciprocalGrad",),
    from_output=lambda g, y: -(g * y * y),
)
_function: Any
for _type, _function in (("Round", _core.round), ("Floor", _core.floor), ("Ceil", _core.ceil)):
    _unary(_type, _function, "number", flows=())
for _type, _function in (
    ("IsNan", _core.isnan),
    ("IsInf", _core.isinf),
    ("IsFinite", _core.isfinite),
):
    _unary(_type, _function, flows=(), dtypes=lambda attrs, inputs: (tf_bool,))
define(
    "LogicalNot", lambda attrs, x: _core.logical_not(x), domain="bool", flows=(), elementwise=True
)

# --- elementwise functions of two inputs


def _binary(type: str, function: Any, domain: str = "number", **fields: Any) -> None:
    fields.setdefault("names", BROADCAST)
    define(
        type,
        lambda attrs, x, y: function(x, y),
        domain=domain,
        same=True,
        elementwise=True,
        **fields,
    )


def _maximum(x: Any, y: Any) -> Any:
    # A tie goes to the first; a NaN wins and has no gradient.
    return _core.where(x >= y, x, _core.where(_core.isnan(x), _core.stop_gradient(x), y))


def _minimum(x: Any, y: Any) -> Any:
    return _core.where(x <= y, x, _core.where(_core.isnan(x), _core.stop_gradient(x), y))


def _pow_exponent(g: Any, ins: list[Any], y: Any) -> Any:
    x = ins[0]
    positive = x > like(x, 0)
    log = _core.log(_core.where(positive, x, like(x, 1)))
    return _core.where(positive, g * y * log, like(g, 0))


def _squared_difference(x: Any, y: Any) -> Any:
    return _core.square(x - y)


_binary("AddV2", _core.add, ring=True, needs={})
_binary("Sub", _core.subtract, ring=True, needs={})
_binary("Mul", _core.multiply, ring=True, needs={0: (1,), 1: (0,)})
_binary("RealDiv", _core.divide, "float")
_binary("FloorDiv", _core.floor_divide, flows=())
_binary("FloorMod", _core.remainder)
# The exponent of a base that is not positive has the gradient 0.
_binary("Pow", _core.pow, formulas={1: _pow_exponent})
_binary("Maximum", _maximum)
_binary("Minimum", _minimum)
_binary("SquaredDifference", _squared_difference, ring=True)
for _type, _function in (
    ("Less", _core.less),
    ("LessEqual", _core.less_equal),
    ("Greater", _core.greater),
    ("GreaterEqual", _core.greater_equal),
):
    _binary(_type, _function, flows=(), dtypes=lambda attrs, inputs: (tf_bool,))
for _type, _function in (("Equal", _core.equal), ("NotEqual", _core.not_equal)):
    _binary(_type, _function, "any", flows=(), dtypes=lambda attrs, inputs: (tf_bool,))
for _type, _function in (
    ("LogicalAnd", _core.logical_and),
    ("LogicalOr", _core.logical_or),
    ("LogicalXor", _core.logical_xor),
):
    _binary(_type, _function, "bool", flows=())
define(
    "SelectV2",
    lambda attrs, condition, x, y: _core.where(condition, x, y),
    domain="bool",
    flows=(1, 2),
    needs={1: (0,), 2: (0,)},
    ring=True,
    elementwise=True,
    names=("", "SelectV2", "SelectV2_1"),
    dtypes=lambda attrs, inputs: (inputs[1].dtype,),
)

# --- the same value


def _cast(attrs: Attrs, x: Any) -> Any:
    return _core.cast(x, attrs["DstT"])


define("Identity", lambda attrs, x: _core.identity(x), passes=True, ring=True)
define(
    "IdentityN",
    lambda attrs, *xs: [_core.identity(x) for x in xs[: attrs["results"]]],
    ring=True,
    dtypes=lambda attrs, inputs: tuple(x.dtype for x in inputs[: attrs["results"]]),
)
define("StopGradient", lambda attrs, x: _core.stop_gradient(x), flows=())
define(
    "Cast",
    _cast,
    needs={},
    ring=True,
    names=("Cast",),
    dtypes=lambda attrs, inputs: (attrs["DstT"],),
)
define("AddN", lambda attrs, *xs: _sum_of(xs), domain="number", same=True, passes=True, ring=True)


def _sum_of(xs: tuple[Any, ...]) -> Any:
    total = xs[0]
    for x in xs[1:]:
        if x.shape != total.shape:
            raise ValueError(f"AddN: shapes {total.shape} and {x.shape} differ")
        total = total + x
    return total
