"""Arithmetic, comparisons, reductions and products under TensorFlow's names.

Every function takes tensors, variables, numbers, lists and arrays. Beside a tensor the others are
converted to its dtype; different dtypes are a TypeError, incompatible shapes a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.create import (
    apply,
    binary,
    cast,
    convert_to_tensor,
    dtype_of,
    known_dims,
    operation,
    scope_of,
    together,
    unary,
)
from .._graph.opdef import RowError, define, like, pulled_back, summed
from .._graph.tensor import EagerTensor, Operators
from ..dtypes import as_dtype, float32, float64, int32
from ..dtypes import bool as tf_bool
from ..names import public_names, taking
from .complex_ops import abs as abs
from .complex_ops import conj

# --- one input


def _sqrt_slope(g: Any, y: Any) -> Any:
    # The slope at 0 is infinite, but a cotangent of 0 stays 0. Elsewhere there is no mask:
    # the derivative by a cotangent of 0 matters, as in forward mode by two gradients.
    infinite = (g == like(g, 0)) & (y == like(y, 0))
    return g * like(g, 0.5) / _core.conj(_core.where(infinite, like(y, 1), y))


negative = unary("Neg:negative", _core.negative, "Compute -x.", "number", value=np.negative)
sign = unary("Sign", _core.sign, "Compute the sign: -1, 0 or 1; its gradient is zeros.", "number")
square = unary("Square", _core.square, "Compute x².", "number")
exp = unary(
    "Exp", _core.exp, "Compute e to the power of x.", from_output=lambda g, y: g * _core.conj(y)
)
expm1 = unary("Expm1", _core.expm1, "Compute e to the power of x, minus 1; accurate near 0.")
log = unary("Log", _core.log, "Compute the natural logarithm.")
log1p = unary("Log1p", _core.log1p, "Compute the natural logarithm of 1 + x, accurate near 0.")
sqrt = unary(
    "Sqrt", _core.sqrt, "Compute the square root.",
    from_output=_sqrt_slope, slopes={0: lambda g, ins, y: _sqrt_slope(g, y)},
)  # fmt: skip
rsqrt = unary(
    "Rsqrt", _core.rsqrt, "Compute 1 divided by the square root.",
    from_output=lambda g, y: g * like(g, -0.5) * _core.conj(y * y * y),
)  # fmt: skip
sin = unary("Sin", _core.sin, "Compute the sine.")
cos = unary("Cos", _core.cos, "Compute the cosine.")
tanh = unary(
    "Tanh", _core.tanh, "Compute the hyperbolic tangent.",
    from_output=lambda g, y: g * _core.conj(like(y, 1) - y * y),
)  # fmt: skip
sigmoid = unary(
    "Sigmoid", _core.sigmoid, "Compute 1 / (1 + exp(-x)).", "float",
    from_output=lambda g, y: g * y * (like(y, 1) - y),
)  # fmt: skip
reciprocal = unary(
    "Reciprocal", lambda x: like(x, 1) / x, "Compute 1 / x.",
    from_output=lambda g, y: -(g * _core.conj(y * y)),
)  # fmt: skip
_NEAREST = "Round to the nearest integer, ties to even; no gradient."
round = unary("Round", _core.round, _NEAREST, "real", flows=False)
floor = unary("Floor", _core.floor, "Return the integer below; no gradient.", "float", flows=False)
ceil = unary("Ceil", _core.ceil, "Return the integer above; no gradient.", "float", flows=False)
is_nan, is_inf, is_finite = (
    unary(names, function, text, "float", dtype=tf_bool, flows=False)
    for names, function, text in (
        ("IsNan:is_nan", _core.isnan, "Test whether x is NaN."),
        ("IsInf:is_inf", _core.isinf, "Test whether x is infinite."),
        ("IsFinite:is_finite", _core.isfinite, "Test whether x is neither infinite nor NaN."),
    )
)
logical_not = unary(
    "LogicalNot:logical_not", _core.logical_not, "Compute not x.", "bool", flows=False
)
softplus = unary(
    "Softplus", _core.softplus, "Compute log(1 + exp(x)), without overflow.", "float", "features"
)

# --- two inputs


def _first_if(holds: Any) -> Any:
    # A tie goes to the first; a NaN wins and has no gradient.
    def choose(x: Any, y: Any) -> Any:
        otherwise = _core.where(_core.isnan(x), _core.stop_gradient(x), y)
        return _core.where(holds(x, y), x, otherwise)

    return choose


def _base_slope(g: Any, ins: list[Any]) -> Any:
    x, y = ins
    # A cotangent of 0 stays 0 if the slope is infinite; elsewhere there is no mask.
    infinite = (g == like(g, 0)) & (x == like(x, 0)) & (y < like(y, 1))
    base = _core.where(infinite, like(x, 1), x)
    return summed(pulled_back(_core.pow, [base, y], [g])[0], x)


def _exponent_slope(g: Any, ins: list[Any], y: Any) -> Any:
    # The exponent of a base that is not positive has the gradient 0.
    positive = ins[0] > like(ins[0], 0)
    log = _core.log(_core.where(positive, ins[0], like(ins[0], 1)))
    return _core.where(positive, g * y * log, like(g, 0))


def _pow(x: Any, y: Any) -> Any:
    def rule(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> list[Any]:
        by_exponent = summed(_exponent_slope(cotangents[0], ins, outs[0]), ins[1])
        return [_base_slope(cotangents[0], ins), by_exponent]

    out = _core.pow(x, y)
    floating = x.dtype.kind == "f"
    return _core.custom([out], [x, y], _core.Rule(rule, "Pow"))[0] if floating else out


add = binary("AddV2:add", _core.add, "Compute x + y", value=np.add, default_name="Add")
subtract = binary("Sub:subtract", _core.subtract, "Compute x - y", value=np.subtract)
multiply = binary("Mul:multiply", _core.multiply, "Compute x y", value=np.multiply)
realdiv = binary("RealDiv", _core.divide, "Compute x / y for floats", "inexact")
floordiv = binary("FloorDiv", _core.floor_divide, "Compute ⌊x / y⌋; no gradient (None)", "real",
                  flows=False, value=np.floor_divide)  # fmt: skip
floormod = mod = binary(
    "FloorMod",
    _core.remainder,
    "Compute the remainder of x / y, with the sign of y",
    "real",
    value=np.mod,
)
pow = binary("Pow", _pow, "Compute x to the power of y")
maximum, minimum = (
    binary(type, _first_if(holds), f"Compute the {which} of x and y; the gradient of a tie "
            "goes to x", "real", value=value)
    for type, which, holds, value in (
        ("Maximum", "larger", _core.greater_equal, np.maximum),
        ("Minimum", "smaller", _core.less_equal, np.minimum),
    )
)  # fmt: skip
squared_difference = binary(
    "SquaredDifference:squared_difference", lambda x, y: _core.square(x - y), "Compute (x - y)²"
)
less, less_equal, greater, greater_equal, equal, not_equal = (
    binary(names, function, text, domain, dtype=tf_bool, flows=False)
    for names, function, text, domain in (
        ("Less", _core.less, "Test whether x < y", "real"),
        ("LessEqual:less_equal", _core.less_equal, "Test whether x <= y", "real"),
        ("Greater", _core.greater, "Test whether x > y", "real"),
        ("GreaterEqual:greater_equal", _core.greater_equal, "Test whether x >= y", "real"),
        ("Equal", _core.equal, "Test whether x == y", "any"),
        ("NotEqual:not_equal", _core.not_equal, "Test whether x != y", "any"),
    )
)
logical_and, logical_or, logical_xor = (
    binary(names, function, text, "bool", flows=False)
    for names, function, text in (
        ("LogicalAnd:logical_and", _core.logical_and, "Compute x and y"),
        ("LogicalOr:logical_or", _core.logical_or, "Compute x or y"),
        ("LogicalXor:logical_xor", _core.logical_xor, "Test whether either x or y is true"),
    )
)


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Compute x / y; integers are divided as float64, those of at most 16 bits as float32."""
    with scope_of(name or "truediv", x, y) as scope:
        x, y = together(x, y)
        if as_dtype(x.dtype).is_integer and as_dtype(x.dtype) == as_dtype(y.dtype):
            wide = as_dtype(x.dtype).size > 2
            x, y = (cast(v, float64 if wide else float32) for v in (x, y))
        return apply("RealDiv", x, y, name=scope)


truediv = divide


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """Compute x / y as in Python 2: the quotient of integers is rounded down."""
    x = convert_to_tensor(x, dtype_of(x, y))
    return (floordiv if as_dtype(x.dtype).is_integer else realdiv)(x, y, name or "div")


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """Compute log(sigmoid(x)), accurate for any x."""
    with scope_of(name or "LogSigmoid", x) as scope:
        return negative(softplus(negative(x)), scope)


# --- sums of tensors, dtypes


def _sum_of(*xs: Any) -> Any:
    if len({x.shape for x in xs}) > 1:
        shapes = ", ".join(str(x.shape) for x in xs)
        raise RowError(f"expected tensors of one shape, got shapes {shapes}")
    return reduce(_core.add, xs)


define("AddN", _sum_of, domain="number", same=True, shape=shape_functions.merged)


def add_n(inputs: Sequence[Any], name: str | None = None) -> Any:
    """Sum tensors of one dtype and shape."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"add_n: expected a list of tensors for inputs, got {inputs!r:.80}")
    if not inputs:
        raise ValueError("add_n: expected at least one tensor, got an empty list")
    return apply("AddN", *inputs, name=name)


@taking("inputs shape=None tensor_dtype=None name=None")
def accumulate_n(inputs: Sequence[Any], name: str | None, **_: Any) -> Any:
    """Alias of `add_n`."""
    return add_n(inputs, name or "AccumulateNV2")


def _cast(x: Any, SrcT: Any, DstT: Any) -> Any:
    # No gradient passes between floats and integers. A complex number keeps its real part.
    x = _core.real(x) if SrcT.is_complex and not DstT.is_complex else x
    passes = SrcT.is_inexact == DstT.is_inexact
    return _core.cast(x if passes else _core.stop_gradient(x), DstT.dtype)


define(
    "Cast", _cast, dtype="DstT", shape=shape_functions.unchanged,
    value=lambda x, SrcT, DstT: x,
)  # fmt: skip


def _converts(name: str, dtype: Any) -> Callable[..., Any]:
    def function(x: Any, name: str = name) -> Any:
        return cast(x, dtype, name)

    function.__doc__ = f"Convert x to {dtype.name}."
    return function


to_float, to_double, to_int32, to_int64, to_complex64, to_complex128 = (
    _converts(f"To{name}", as_dtype(dtype))
    for name, dtype in (("Float", "float32"), ("Double", "float64"), ("Int32", "int32"),
                        ("Int64", "int64"), ("Complex64", "complex64"),
                        ("Complex128", "complex128"))
)  # fmt: skip

# --- products


def _product(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise RowError(f"expected tensors of rank 2 or more, got shapes {a.shape} and {b.shape}")
    a = pb.matrix_transpose(a) if transpose_a else a
    return _core.matmul(a, pb.matrix_transpose(b) if transpose_b else b)


for _type in ("MatMul", "BatchMatMulV2"):
    define(
        _type, _product, labels=("a", "b"), domain="number", same=True, fresh=True,
        shape=shape_functions.product, public="matmul",
    )  # fmt: skip


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Compute the matrix product over the last two axes; both operands need rank 2 or more.

    An adjoint is the transpose of the conjugate.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     session.run(tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True))
    array([[11.]], dtype=float32)
    """
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("matmul: expected at most one of transpose and adjoint, got both")
    transpose_a, transpose_b = transpose_a or adjoint_a, transpose_b or adjoint_b
    ranks = [len(known_dims(x) or ()) for x in (a, b)]
    with scope_of(name or "MatMul", a, b) as scope:
        a, b = conj(a) if adjoint_a else a, conj(b) if adjoint_b else b
        type = "BatchMatMulV2" if max(ranks) > 2 else "MatMul"
        return apply(type, a, b, name=scope, transpose_a=transpose_a, transpose_b=transpose_b)


# --- reductions: the axes are the second input

define("AllAxes", lambda x: _core.constant(np.arange(len(x.shape)), np.int32), flows=False,
       dtype=int32, shape=shape_functions.vector)  # fmt: skip


def _all_axes(given: dict[str, Any]) -> None:
    """Replace the axis None by all axes."""
    if given["axis"] is not None:
        return
    dims = known_dims(given["input_tensor"])
    unknown = dims is None
    given["axis"] = apply("AllAxes", given["input_tensor"]) if unknown else list(range(len(dims)))


def _reduction(
    type: str, function: Any, doc: str, domain: str = "number", **fields: Any
) -> Callable[..., Any]:
    def compute(x: Any, axis: Any, keepdims: Any) -> Any:
        # Sums of integers keep their dtype.
        return _core.cast(function(x, axis, bool(keepdims)), x.dtype)

    return operation(
        type, compute, "input_tensor #axis=None keepdims=None", f"{doc} over all axes, or over "
        "`axis` (also called `reduction_indices`): an integer or a list. `keepdims` leaves the "
        "axes in place with length 1.", f"reduce_{type.lower()}", domain=domain, prepare=_all_axes,
        aliases={"reduction_indices": "axis", "keep_dims": "keepdims"},
        labels=("input", "reduction_indices"), shape=shape_functions.reduced, **fields,
    )  # fmt: skip


def _mean(x: Any, axis: Any, keepdims: bool) -> Any:
    if x.dtype.kind in "fc":
        return _core.mean(x, axis, keepdims)
    # Integers are divided towards zero, and no gradient passes.
    total = _core.mean(_core.cast(x, np.dtype("float64")), axis, keepdims)
    return _core.stop_gradient(_core.cast(total, x.dtype))


def _followed(function: Any) -> Any:
    return lambda x, axis, keepdims: function(
        x, tuple(np.reshape(axis, -1)), keepdims=bool(keepdims)
    )


reduce_sum = _reduction("Sum", _core.sum, "Compute the sum", value=_followed(np.sum))
reduce_mean = _reduction("Mean", _mean, "Compute the mean")


def _extreme(function: Any, sign: int) -> Any:
    """Extend a reduction: without elements it is the least or the greatest number."""

    def reduce(x: Any, axis: Any, keepdims: bool) -> Any:
        if 0 not in (x.shape[a] for a in np.reshape(axis, -1)):
            return function(x, axis, keepdims)
        info = np.iinfo(np.int64 if x.dtype.kind == "f" else x.dtype)
        number = sign * np.inf if x.dtype.kind == "f" else info.max if sign > 0 else info.min
        return _core.full(_core.sum(x, axis, keepdims).shape, like(x, number))

    return reduce


reduce_max = _reduction("Max", _extreme(_core.max, -1),
                        "Compute the maximum, whose gradient ties share equally,")  # fmt: skip
reduce_min = _reduction("Min", _extreme(_core.min, 1),
                        "Compute the minimum, whose gradient ties share equally,")  # fmt: skip
reduce_prod = _reduction("Prod", _core.prod, "Compute the product", value=_followed(np.prod))
reduce_all = _reduction("All", _core.all, "Test whether all are true", "bool", flows=False)
reduce_any = _reduction("Any", _core.any, "Test whether any is true", "bool", flows=False)
reduce_logsumexp = _reduction("LogSumExp", _core.logsumexp,
                              "Compute log(sum(exp(x))), without overflow,", "float")  # fmt: skip


def _position(public: str, type: str, function: Any, which: str) -> Callable[..., Any]:
    def prepare(given: dict[str, Any]) -> None:
        given["axis"] = 0 if given["axis"] is None else given["axis"]
        given["output_type"] = as_dtype(given["output_type"])
        if not given["output_type"].is_integer:
            raise TypeError(
                f"{public}: expected an integer dtype for output_type, got {given['output_type']!r}"
            )

    return operation(
        type, lambda x, axis, output_type: _core.cast(function(x, axis), output_type.dtype),
        "input #axis=None name=None dimension=None output_type='int64'",
        f"Return the position of the {which} element along an axis (default 0); no gradient.",
        public, aliases={"dimension": "axis"}, prepare=prepare, domain="number", flows=False,
        labels=("input", "dimension"), dtype="output_type",
        shape=shape_functions.reduced,
    )  # fmt: skip


argmax = _position("argmax", "ArgMax", _core.argmax, "largest")
argmin = _position("argmin", "ArgMin", _core.argmin, "smallest")


# --- operators of tensors and variables; `==` stays identity in graphs


def _method(function: str, *given: Any, reflected: bool = False) -> Any:
    def method(self: Any, *other: Any) -> Any:
        sides = (*other, self) if reflected else (self, *other)
        return globals()[function](*sides, *given)

    return method


for _name, _function in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("mod", "mod"),
    ("floordiv", "floordiv"), ("pow", "pow"), ("and", "logical_and"), ("or", "logical_or"),
    ("xor", "logical_xor"),
):  # fmt: skip
    setattr(Operators, f"__{_name}__", _method(_function, _name))
    setattr(Operators, f"__r{_name}__", _method(_function, _name, reflected=True))
for _name, _function in (
    ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
    ("neg", "negative"), ("abs", "abs"), ("invert", "logical_not"),
):  # fmt: skip
    setattr(Operators, f"__{_name}__", _method(_function))
for _name, _reflected in (("matmul", False), ("rmatmul", True)):
    setattr(
        Operators, f"__{_name}__", _method("matmul", *(False,) * 6, "matmul", reflected=_reflected)
    )
for _name, _function in (("eq", "equal"), ("ne", "not_equal")):  # eager tensors have values
    setattr(EagerTensor, f"__{_name}__", _method(_function))


__all__ = public_names(globals())
