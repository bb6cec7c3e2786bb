"""Arithmetic, comparisons, reductions and products under TensorFlow's names.

Every function takes tensors, variables, numbers, lists and arrays. Beside a tensor the others take
its dtype; tensors of different dtypes are a TypeError, shapes that do not fit a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .convert import convert_to_tensor, is_tensor, scope_of
from .create import apply, binary, cast, matrix_product, true_divide, unary
from .dtypes import as_dtype, float32, float64, int32, int64
from .tensor import Tensor

__all__ = [
    "abs",
    "add",
    "add_n",
    "argmax",
    "argmin",
    "cast",
    "ceil",
    "cos",
    "div",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "is_finite",
    "is_inf",
    "is_nan",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log_sigmoid",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "maximum",
    "minimum",
    "mod",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "realdiv",
    "reciprocal",
    "reduce_all",
    "reduce_any",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sqrt",
    "square",
    "squared_difference",
    "subtract",
    "tanh",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
    "truediv",
]

Function = Callable[..., Any]


def _unary(type: str, text: str) -> Function:
    def function(x: Any, name: str | None = None) -> Any:
        return unary(type, x, name)

    function.__doc__ = f"{text}, element by element."
    function.__name__ = function.__qualname__ = type.lower()
    return function


def _binary(type: str, text: str) -> Function:
    def function(x: Any, y: Any, name: str | None = None) -> Any:
        return binary(type, x, y, name)

    function.__doc__ = f"{text}, element by element; shapes broadcast."
    function.__name__ = function.__qualname__ = type.lower()
    return function


negative = _unary("Neg", "-x")
abs = _unary("Abs", "The absolute value; its gradient at 0 is 0")
sign = _unary("Sign", "-1, 0 or 1; its gradient is zeros")
square = _unary("Square", "x²")
exp = _unary("Exp", "e to the power of x")
expm1 = _unary("Expm1", "e to the power of x, minus 1, accurate near 0")
log = _unary("Log", "The natural logarithm")
log1p = _unary("Log1p", "The natural logarithm of 1 + x, accurate near 0")
sqrt = _unary("Sqrt", "The square root")
rsqrt = _unary("Rsqrt", "1 divided by the square root")
sin = _unary("Sin", "The sine")
cos = _unary("Cos", "The cosine")
tanh = _unary("Tanh", "The hyperbolic tangent")
sigmoid = _unary("Sigmoid", "1 / (1 + exp(-x))")
reciprocal = _unary("Reciprocal", "1 / x")
round = _unary("Round", "The nearest integer, ties to even; no gradient (None)")
floor = _unary("Floor", "The integer below; no gradient (None)")
ceil = _unary("Ceil", "The integer above; no gradient (None)")
is_nan = _unary("IsNan", "Whether x is NaN")
is_inf = _unary("IsInf", "Whether x is infinite")
is_finite = _unary("IsFinite", "Whether x is neither infinite nor NaN")
logical_not = _unary("LogicalNot", "Not x")

add = _binary("AddV2", "x + y")
subtract = _binary("Sub", "x - y")
multiply = _binary("Mul", "x y")
realdiv = _binary("RealDiv", "x / y for floats")
floordiv = _binary("FloorDiv", "x / y rounded down; no gradient (None)")
floormod = _binary("FloorMod", "The remainder of x / y, with the sign of y")
mod = floormod
pow = _binary("Pow", "x to the power of y")
maximum = _binary("Maximum", "The larger of x and y; the gradient of a tie goes to x")
minimum = _binary("Minimum", "The smaller of x and y; the gradient of a tie goes to x")
squared_difference = _binary("SquaredDifference", "(x - y)²")
equal = _binary("Equal", "Whether x is y")
not_equal = _binary("NotEqual", "Whether x is not y")
less = _binary("Less", "Whether x < y")
less_equal = _binary("LessEqual", "Whether x <= y")
greater = _binary("Greater", "Whether x > y")
greater_equal = _binary("GreaterEqual", "Whether x >= y")
logical_and = _binary("LogicalAnd", "x and y")
logical_or = _binary("LogicalOr", "x or y")
logical_xor = _binary("LogicalXor", "Either x or y, not both")


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y; integers are divided as float64."""
    return true_divide(x, y, name or "truediv")


truediv = divide


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y as Python 2 had it: integers are rounded down."""
    x = convert_to_tensor(x)
    if as_dtype(x.dtype).is_integer:
        return floordiv(x, y, name)
    return divide(x, y, name)


def log_sigmoid(x: Any, name: str | None = None) -> Any:
    """log(sigmoid(x)), accurate for any x."""
    return unary("Neg", unary("Softplus", unary("Neg", x)), name)


def add_n(inputs: Sequence[Any], name: str | None = None) -> Any:
    """The sum of tensors of one dtype and shape."""
    if not isinstance(inputs, (list, tuple)):
        inputs = [inputs]
    if not inputs:
        raise ValueError("add_n: expected at least one tensor, got an empty list")
    parts = [convert_to_tensor(x) for x in inputs]
    return apply("AddN", parts, {"N": len(parts)}, name)


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """x as float32."""
    return cast(x, float32, name)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """x as float64."""
    return cast(x, float64, name)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """x as int32, rounded towards zero."""
    return cast(x, int32, name)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """x as int64, rounded towards zero."""
    return cast(x, int64, name)


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None
) -> Any:
    """The matrix product over the last two axes; both need rank 2 or more.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     session.run(tf.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True))
    array([[11.]], dtype=float32)
    """
    return matrix_product(a, b, name, transpose_a, transpose_b)


# --- reductions


def _reduction(type: str, text: str) -> Function:
    def function(
        input_tensor: Any,
        axis: Any = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: bool | None = None,
    ) -> Any:
        if reduction_indices is not None:
            if axis is not None:
                raise ValueError(f"{type}: give axis or reduction_indices, not both")
            axis = reduction_indices
        keep = bool(keepdims if keep_dims is None else keep_dims)
        with scope_of(name or type, input_tensor) as scope:
            x = convert_to_tensor(input_tensor, name="input")
            axes = _axes(x, axis)
            return apply(type, [x, axes], {"keep_dims": keep}, scope)

    function.__doc__ = (
        f"{text} over all axes, or over `axis` (also called `reduction_indices`): an integer or a "
        "list. `keepdims` leaves the axes in place with length 1."
    )
    function.__name__ = function.__qualname__ = f"reduce_{type.lower()}"
    return function


def _axes(x: Any, axis: Any) -> Any:
    if axis is not None:
        return convert_to_tensor(axis, None if is_tensor(axis) else int32, "reduction_indices")
    if isinstance(x, Tensor) and x.dims is None:
        return apply("AllAxes", [x], None, "range")
    rank = len(x.dims or ()) if isinstance(x, Tensor) else x.ndim
    return convert_to_tensor(list(range(rank)), int32, "Const")


reduce_sum = _reduction("Sum", "The sum")
reduce_mean = _reduction("Mean", "The mean")
reduce_max = _reduction("Max", "The largest element, whose gradient ties share equally,")
reduce_min = _reduction("Min", "The smallest element, whose gradient ties share equally,")
reduce_prod = _reduction("Prod", "The product")
reduce_all = _reduction("All", "Whether all are true")
reduce_any = _reduction("Any", "Whether any is true")
reduce_logsumexp = _reduction("LogSumExp", "log(sum(exp(x))), without overflow,")


def _arg(type: str, input: Any, axis: Any, output_type: Any, name: str | None) -> Any:
    with scope_of(name or type, input) as scope:
        x = convert_to_tensor(input, name="input")
        at = convert_to_tensor(0 if axis is None else axis, name="dimension")
        return apply(type, [x, at], {"output_type": as_dtype(output_type)}, scope)


def argmax(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = int64,
) -> Any:
    """The position of the largest element along an axis (0 unless given); no gradient (None)."""
    return _arg("ArgMax", input, dimension if axis is None else axis, output_type, name)


def argmin(
    input: Any,
    axis: Any = None,
    name: str | None = None,
    dimension: Any = None,
    output_type: Any = int64,
) -> Any:
    """The position of the smallest element along an axis (0 unless given); no gradient (None)."""
    return _arg("ArgMin", input, dimension if axis is None else axis, output_type, name)
