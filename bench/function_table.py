"""The public functions that functions.py measures, with arguments for each: elementwise and special
functions here, functions of whole arrays in function_table_arrays.py.

An entry without a call is called by its name with its arguments x, y and z. A call is an expression
over them; names in it are looked up in the modules of a library, after RENAMED.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Range = tuple[float, float]

ENTRIES = 100_000


@dataclass(frozen=True)
class Function:
    """`ranges`: those of the entries of each argument. `shapes`: three sizes, each the shapes of
    the arguments; an elementwise function has 10⁵ entries in each argument. `calls` by
    library: where its call is another one; empty if it has no such function. `gradient`: by x.
    `sized`: the shape of the result does not depend on values."""

    ranges: tuple[Range, ...]
    call: str = ""
    calls: Mapping[str, str] = field(default_factory=dict)
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    gradient: bool = True
    sized: bool = True

    def expression(self, name: str, library: str) -> str:
        call = self.call or f"{name}({', '.join('xyz'[: len(self.ranges)])})"
        return self.calls.get(library, call)

    def arguments(self, size: int) -> tuple[tuple[int, ...], ...]:
        return self.shapes[size] if self.shapes else ((ENTRIES,),) * len(self.ranges)


REAL: Range = (-3.0, 3.0)
POSITIVE: Range = (0.1, 10.0)
UNIT: Range = (0.001, 0.999)
INSIDE: Range = (-0.999, 0.999)
LARGE: Range = (1.0, 30.0)
NEGATIVE: Range = (-9.7, -0.1)


def _each(names: str, *ranges: Range, gradient: bool = True) -> dict[str, Function]:
    return dict.fromkeys(names.split(), Function(ranges, gradient=gradient))


def _called(call: str, *ranges: Range, gradient: bool = True) -> dict[str, Function]:
    return {call: Function(ranges, call, gradient=gradient)}


ELEMENTWISE: dict[str, Function] = {
    **_each("add subtract multiply maximum minimum", REAL, REAL),
    **_each("divide remainder fmod hypot arctan2 copysign", REAL, POSITIVE),
    **_each("negative abs square positive rad2deg deg2rad nan_to_num", REAL),
    **_each("sqrt rsqrt cbrt reciprocal", POSITIVE),
    **_each("pow float_power", POSITIVE, REAL),
    **_called("pow(x, 3)", REAL),
    **_called("pow(x, 2.5)", POSITIVE),
    **_called("clip(x, -1.0, 1.0)", REAL),
    **_called("where(x > 0.5, x, y)", REAL, REAL),
    **_each("lerp", REAL, REAL, UNIT),
    **_each("fma", REAL, REAL, REAL),
    # Rounding, comparison, tests
    **_each("floor ceil trunc round sign signbit isfinite isnan isinf", REAL, gradient=False),
    **_each("isposinf isneginf logical_not", REAL, gradient=False),
    **_each("floor_divide nextafter heaviside", REAL, POSITIVE, gradient=False),
    **_each("less greater_equal equal isclose logical_and logical_xor", REAL, REAL, gradient=False),
    # Exponentials, trigonometry
    **_each("exp exp2 expm1 sinh cosh tanh arcsinh", REAL),
    **_each("log log2 log10 log1p", POSITIVE),
    **_each("sin cos tan arctan sinc", (-30.0, 30.0)),
    **_each("arcsin arccos arctanh", INSIDE),
    **_each("arccosh", (1.01, 30.0)),
    **_each("logaddexp logaddexp2", REAL, REAL),
    **_each("xlogy xlog1py", REAL, POSITIVE),
    # Activations
    **_each("relu sigmoid softplus gelu silu mish elu selu celu leaky_relu", REAL),
    **_each("log_sigmoid softsign relu6 hard_tanh hard_sigmoid hard_silu", REAL),
    # Error functions, entropies
    **_each("erf erfc erfcx", REAL),
    **_each("ndtr log_ndtr", (-6.0, 6.0)),
    **_each("erfinv", INSIDE),
    **_each("erfcinv", (0.001, 1.999)),
    **_each("ndtri logit entr", UNIT),
    **_each("expit log_expit", REAL),
    **_each("kl_div rel_entr", POSITIVE, POSITIVE),
    # The gamma family
    **_each("gammaln digamma psi gamma rgamma", POSITIVE),
    **_called("gammaln(x)", NEGATIVE),
    **_called("digamma(x)", NEGATIVE),
    **_each("gammasgn", NEGATIVE, gradient=False),
    **_called("polygamma(1, x)", POSITIVE),
    **_called("polygamma(3, x)", POSITIVE),
    **_called("multigammaln(x, 3)", (2.0, 20.0)),
    **_each("beta betaln", POSITIVE, POSITIVE),
    **_each("zeta", (1.1, 10.0), POSITIVE),
    # Incomplete integrals and their inverses; the gradient by x alone is a closed form
    **_each("gammainc gammaincc", POSITIVE, POSITIVE),
    **_called("gammainc(2.5, x)", POSITIVE),
    **_called("gammainc(100.0, x)", (50.0, 150.0)),
    **_each("gammaincinv gammainccinv", POSITIVE, UNIT),
    **_each("betainc betaincc", POSITIVE, POSITIVE, UNIT),
    **_called("betainc(2.5, 1.5, x)", UNIT),
    **_each("betaincinv betainccinv", POSITIVE, POSITIVE, UNIT),
    **_each("stdtr", LARGE, REAL),
    **_each("stdtrit", LARGE, UNIT),
    # Bessel functions
    **_each("i0 i0e i1 i1e j0 j1", (-20.0, 20.0)),
    **_each("y0 y1", (0.1, 40.0)),
    **_called("jn(3, x)", (0.1, 40.0)),
    **_called("yn(3, x)", (0.1, 40.0)),
    **_called("iv(2.5, x)", (0.1, 20.0)),
    **_called("ive(2.5, x)", (0.1, 20.0)),
}

# Public elementwise functions that are not listed: other names of a listed one, or its kernel with
# the arguments exchanged.
SAME_KERNEL = {
    *("absolute", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "power", "mod"),
    *("true_divide", "degrees", "radians", "around", "greater", "less_equal", "not_equal"),
    *("logical_or", "divmod", "identity"),
}

# Names of the other libraries; empty: it has no such function.
RENAMED: dict[str, dict[str, str]] = {
    "numpy": {"sigmoid": "expit", "log_sigmoid": "log_expit"},
    "jax": {"rsqrt": "lax.rsqrt", "hard_silu": "hard_swish", "softsign": "soft_sign"},
    "torch": {
        "gammaln": "lgamma",
        "hard_tanh": "hardtanh",
        "hard_sigmoid": "hardsigmoid",
        "hard_silu": "hardswish",
        "log_sigmoid": "logsigmoid",
        "j0": "bessel_j0",
        "j1": "bessel_j1",
        "y0": "bessel_y0",
        "y1": "bessel_y1",
    },
}
