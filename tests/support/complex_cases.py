"""Complex functions: what they are called, what NumPy and mpmath call them, where to draw from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

import pullback as pb

Complex = Any  # an array of complex numbers


@dataclass(frozen=True)
class Function:
    name: str
    of_numpy: Callable[..., Any]
    of_mpmath: Callable[..., Any]
    arity: int = 1
    # Numbers of this size and below; where slopes are compared, farther than 0.3 from these.
    size: float = 3.0
    poles: tuple[complex, ...] = ()

    def __call__(self, *xs: Any) -> Any:
        return getattr(pb, self.name)(*xs)


def _log1p(z: Any) -> Any:
    return mpmath.log(mpmath.mpc(1) + z)


def _expm1(z: Any) -> Any:
    return mpmath.exp(z) - 1


def _sign(z: Any) -> Any:
    return z / abs(z)


FUNCTIONS = [
    Function("add", np.add, lambda a, b: a + b, 2),
    Function("subtract", np.subtract, lambda a, b: a - b, 2),
    Function("multiply", np.multiply, lambda a, b: a * b, 2),
    Function("divide", np.divide, lambda a, b: a / b, 2, poles=(0,)),
    Function("pow", np.power, mpmath.power, 2, poles=(0,)),
    Function("negative", np.negative, lambda z: -z),
    Function("square", np.square, lambda z: z * z),
    Function("reciprocal", np.reciprocal, lambda z: 1 / z, poles=(0,)),
    Function("conj", np.conj, mpmath.conj),
    Function("sign", np.sign, _sign, poles=(0,)),
    Function("abs", np.abs, abs, poles=(0,)),
    Function("real", np.real, mpmath.re),
    Function("imag", np.imag, mpmath.im),
    Function("angle", np.angle, mpmath.arg, poles=(0,)),
    Function("exp", np.exp, mpmath.exp),
    Function("expm1", np.expm1, _expm1),
    Function("exp2", np.exp2, lambda z: mpmath.power(2, z)),
    Function("log", np.log, mpmath.log, poles=(0,)),
    Function("log1p", np.log1p, _log1p, poles=(-1,)),
    Function("log2", np.log2, lambda z: mpmath.log(z) / mpmath.log(2), poles=(0,)),
    Function("log10", np.log10, mpmath.log10, poles=(0,)),
    Function("sqrt", np.sqrt, mpmath.sqrt, poles=(0,)),
    Function("rsqrt", lambda z: 1 / np.sqrt(z), lambda z: 1 / mpmath.sqrt(z), poles=(0,)),
    Function("sin", np.sin, mpmath.sin),
    Function("cos", np.cos, mpmath.cos),
    Function("tan", np.tan, mpmath.tan, poles=(np.pi / 2, -np.pi / 2)),
    Function("sinh", np.sinh, mpmath.sinh),
    Function("cosh", np.cosh, mpmath.cosh),
    Function("tanh", np.tanh, mpmath.tanh, poles=(1j * np.pi / 2, -1j * np.pi / 2)),
    Function("asin", np.arcsin, mpmath.asin, poles=(1, -1)),
    Function("acos", np.arccos, mpmath.acos, poles=(1, -1)),
    Function("atan", np.arctan, mpmath.atan, poles=(1j, -1j)),
    Function("asinh", np.arcsinh, mpmath.asinh, poles=(1j, -1j)),
    Function("acosh", np.arccosh, mpmath.acosh, poles=(1, -1)),
    Function("atanh", np.arctanh, mpmath.atanh, poles=(1, -1)),
]
BY_NAME = {f.name: f for f in FUNCTIONS}
UNARY = [f for f in FUNCTIONS if f.arity == 1]
NAMES = [f.name for f in FUNCTIONS]


def draw(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, size: float = 3.0
) -> Complex:
    """Complex numbers of float32 parts, in either dtype, away from the axes, where cuts are."""
    parts = rng.uniform(0.05, size, (2, *shape)) * rng.choice([-1.0, 1.0], (2, *shape))
    parts = parts.astype(np.float32)
    return (parts[0] + 1j * parts[1].astype(np.float64)).astype(dtype)


def away(z: Complex, poles: tuple[complex, ...]) -> Complex:
    """What is near a pole a step further from it."""
    for pole in poles:
        z = np.where(np.abs(z - pole) < 0.3, pole + 0.7 + 0.6j, z)
    return z


def exact(function: Function, *xs: complex, digits: int = 60) -> complex:
    """By mpmath, rounded to complex128."""
    with mpmath.workdps(digits):
        y = function.of_mpmath(*(mpmath.mpc(x.real, x.imag) for x in map(complex, xs)))
        return complex(y)


def error(got: Any, wanted: Any, epsilon: float) -> float:
    """How far apart, in units of epsilon times the size of what was wanted."""
    if got == wanted:
        return 0.0
    return float(abs(complex(got) - complex(wanted)) / (abs(complex(wanted)) * epsilon))
