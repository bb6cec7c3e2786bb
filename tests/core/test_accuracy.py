"""Value, first and second derivative of every transcendental function against 60 digits of mpmath,
at points from 1e-300 to 1e300: in units of the last place, wherever the true result is normal. The
bounds are 4 ulp for slopes, 16 for second derivatives. None is ever lost,
as those of 1 - tanh² and sigmoid (1 - sigmoid) are at 20 and 40."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

import pullback as pb

BASE = [1e-300, 1e-160, 1e-30, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.25, 0.34, 0.5, 0.55]
BASE += [0.6931, 0.7, 0.9, 1.0, 1.1, 1.4, 1.5707963, 2.0, 2.5, 3.0, 3.1415927, 4.0, 5.0, 7.5, 8.0]
BASE += [9.5, 10.0, 12.0, 15.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.5, 25.0, 30.0, 36.0, 37.0, 38.0]
BASE += [40.0, 44.0, 50.0, 60.0, 80.0, 86.0, 88.0, 100.0, 103.0, 200.0, 300.0, 350.0, 500.0, 700.0]
BASE += [708.0, 745.0, 1e3, 1e4, 1e5, 1e6, 1e10, 1e15, 1e22, 1e30, 1e100, 1e154, 1e300]
POINTS = [*BASE, *(-x for x in BASE)]


def s(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


# function: ours, then value, slope and second derivative
FUNCTIONS: dict[str, tuple[Any, Any, Any, Any]] = {
    "exp": (pb.exp, mp.exp, mp.exp, mp.exp),
    "expm1": (pb.expm1, mp.expm1, mp.exp, mp.exp),
    "log": (pb.log, mp.log, lambda x: 1 / x, lambda x: -1 / x**2),
    "log1p": (pb.log1p, mp.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2),
    "sin": (pb.sin, mp.sin, mp.cos, lambda x: -mp.sin(x)),
    "cos": (pb.cos, mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x)),
    "sqrt": (pb.sqrt, mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), lambda x: -1 / (4 * x**1.5)),
    "x**-0.5": (lambda x: x**-0.5, lambda x: x**-0.5, lambda x: -(x**-1.5) / 2,
                lambda x: 3 * x**-2.5 / 4),
    "square": (pb.square, lambda x: x * x, lambda x: 2 * x, lambda x: mp.mpf(2)),
    "x**3": (lambda x: x**3, lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x),
    "1/x": (lambda x: 1 / x, lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3),
    "tanh": (pb.tanh, mp.tanh, lambda x: mp.sech(x) ** 2,
             lambda x: -2 * mp.tanh(x) * mp.sech(x) ** 2),
    "sigmoid": (pb.sigmoid, s, lambda x: s(x) * s(-x), lambda x: -s(x) * s(-x) * mp.tanh(x / 2)),
    "erf": (pb.special.erf, mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
            lambda x: -4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    "softplus": (pb.softplus, lambda x: mp.log1p(mp.exp(x)), s, lambda x: s(x) * s(-x)),
}  # fmt: skip
NEEDS_POSITIVE = {"log", "sqrt", "x**-0.5"}
BOUNDS = (1.5, 4.0, 16.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_to_the_last_digits(name: str, dtype: str) -> None:
    ours, *exact = FUNCTIONS[name]
    limits = np.finfo(dtype)
    points = np.array([p for p in POINTS if float(limits.tiny) < abs(p) < float(limits.max)], dtype)
    if name in NEEDS_POSITIVE:
        points = points[points > 0]
    if name == "log1p":
        points = points[points > -1]
    x = pb.Variable(points)
    y = ours(x)
    (g,) = pb.gradients(y, [x])
    (h,) = pb.gradients(g, [x])
    problems = []
    with mp.workdps(60):
        for order, (got, truth) in enumerate(zip((y, g, h), exact, strict=True)):
            for at, value in zip(points, got.numpy(), strict=True):
                true = truth(mp.mpf(float(at)))
                if not limits.tiny <= abs(true) <= limits.max:
                    if abs(true) < limits.tiny and not abs(value) <= limits.tiny:
                        problems.append(f"order {order} at {at!r}: {value!r}, expected 0")
                    continue
                last = mp.mpf(float(np.spacing(np.abs(np.asarray(float(true), dtype)))))
                error = abs(mp.mpf(float(value)) - true) / last
                if not error <= BOUNDS[order]:
                    text = f"{mp.nstr(error, 4)} ulp: {value!r}, expected {mp.nstr(true, 18)}"
                    problems.append(f"order {order} at {at!r}: {text}")
    assert not problems, "\n".join(problems[:12])
