"""Elementwise functions, products and views by their names: what NumPy calls them, and what a small
change of their arguments can turn around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support import reference as formulas

Array = Any


def _power(a: Array, b: Array) -> Array:
    if a.dtype.kind == "i" and np.any(b < 0):
        raise ValueError("negative power")
    return np.power(a, b)


def _sinc(x: Array) -> Array:
    """NumPy's leaves the rounding of pi where it is 0, and that counts as not zero."""
    return np.where((x == np.round(x)) & (x != 0), np.zeros_like(x), np.sinc(x))


def _nonzero(f: Callable[..., Array]) -> Callable[..., Array]:
    def divide(a: Array, b: Array) -> Array:
        if a.dtype.kind == "i" and np.any(b == 0):
            raise ValueError("division by zero")
        return f(a, b)

    return divide


def _order(*xs: Array) -> list[Array]:
    return [xs[0] < xs[1], xs[0] == xs[1]]


def _side(x: Array) -> list[Array]:
    return [x < 0, x == 0]


def _steps(a: Array, b: Array) -> list[Array]:
    return [np.floor(a / b) if a.dtype.kind == "f" else a // b]


FLOAT_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "divide": np.true_divide,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "sigmoid": formulas.sigmoid,
    "softplus": formulas.softplus,
    "erf": formulas.erf,
    "exp2": np.exp2,
    "deg2rad": lambda x: x * x.dtype.type(np.pi / 180),
    "rad2deg": lambda x: x * x.dtype.type(180 / np.pi),
    "log2": np.log2,
    "log10": np.log10,
    "rsqrt": lambda x: formulas.rsqrt(x + 0),  # of -0 too: +infinity
    "reciprocal": lambda x: 1 / x,
    "float_power": np.power,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
    "xlogy": formulas.xlogy,
    "xlog1py": formulas.xlog1py,
    "sinc": _sinc,
    "cbrt": np.cbrt,
}
NUMBER_FUNCTIONS: dict[str, Callable[..., Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "pow": _power,
    "negative": np.negative,
    "square": np.square,
    "matmul": np.matmul,
    "dot": np.dot,
    "inner": np.inner,
    "outer": np.outer,
    "vdot": np.vdot,
    "fma": lambda x, y, z: x * y + z,
    "lerp": lambda x, y, w: x + w * (y - x),
}
CHOICES: dict[str, Callable[..., Array]] = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "sign": np.sign,
    "round": np.round,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "signbit": np.signbit,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "isposinf": np.isposinf,
    "isneginf": np.isneginf,
    "floor_divide": _nonzero(np.floor_divide),
}
# With what is chosen on the way.
CASES: dict[str, tuple[Callable[..., Array], Callable[..., list[Array]]]] = {
    "abs": (np.abs, _side),
    "relu": (formulas.relu, _side),
    "maximum": (np.maximum, _order),
    "minimum": (np.minimum, _order),
    "remainder": (_nonzero(np.remainder), _steps),
}
PRODUCTS = ("matmul", "dot", "inner", "vdot")
DIVISIONS = ("divide", "floor_divide", "remainder")
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
JUMPS = ("signbit", "pow", "floor", "ceil", "trunc", "sign", *DIVISIONS, *COMPARISONS)
SHAPES: dict[str, Callable[..., Array]] = {
    "identity": np.asarray,
    "positive": np.asarray,
    "reshape": np.reshape,
    "transpose": np.transpose,
    "permute_dims": np.transpose,
    "matrix_transpose": lambda x: np.swapaxes(x, -1, -2),
    "expand_dims": np.expand_dims,
    "squeeze": np.squeeze,
    "broadcast_to": np.broadcast_to,
    "split": np.split,
    "take_along_axis": lambda x, i, axis: np.take_along_axis(x, i, axis),
    "diagonal": np.diagonal,
    "zeros_like": np.zeros_like,
    "ones_like": np.ones_like,
    "full_like": np.full_like,
}
