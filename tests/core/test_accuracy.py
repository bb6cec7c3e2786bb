"""Value, first and second derivative of every transcendental function against 60 digits of mpmath,
at points from 1e-300 to 1e300: in units of the last place, wherever the true result is normal. The
bounds are 4 ulp for slopes, 16 for second derivatives. No digit is ever lost, as those of 1 - tanh²
and sigmoid (1 - sigmoid) are at 20 and 40. The default run takes every third point."""

from __future__ import annotations

import re
import zlib

import mpmath as mp
import numpy as np
import pytest
from accuracy.functions import FUNCTIONS
from accuracy.measure import exact, orders, ulp
from support.cases import Case

import pullback as pb

BASE = [1e-300, 1e-160, 1e-30, 1e-20, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1, 0.25, 0.34, 0.5, 0.55]
BASE += [0.6931, 0.7, 0.9, 1.0, 1.1, 1.4, 1.5707963, 2.0, 2.5, 3.0, 3.1415927, 4.0, 5.0, 7.5, 8.0]
BASE += [9.5, 10.0, 12.0, 15.0, 17.0, 18.0, 19.0, 20.0, 21.0, 22.5, 25.0, 30.0, 36.0, 37.0, 38.0]
BASE += [40.0, 44.0, 50.0, 60.0, 80.0, 86.0, 88.0, 100.0, 103.0, 200.0, 300.0, 350.0, 500.0, 700.0]
BASE += [708.0, 745.0, 1e3, 1e4, 1e5, 1e6, 1e10, 1e15, 1e22, 1e30, 1e100, 1e154, 1e300]
POINTS = [*BASE, *(-x for x in BASE)]
BOUNDS = (1.5, 4.0, 16.0)
NAMES = [name for name, function in FUNCTIONS.items() if function.slope]
# Floating elementwise functions without an entry in FUNCTIONS, by the reason.
NOT_MEASURED = {
    "correctly rounded": {"copysign", "divide", "gammasgn", "heaviside", "nextafter"},
    "compared with mpmath in support/table/special_inverses.py": {
        *("gammaincinv", "gammainccinv", "betaincc", "betaincinv", "betainccinv", "stdtrit"),
    },
}


def test_every_function_is_measured_or_has_a_reason(cases: list[Case]) -> None:
    names = {case.op for case in cases if case.elementwise and case.result == "float"}
    public = names & {*pb.__all__, *pb.special.__all__}
    measured = {name for key in FUNCTIONS for name in re.findall(r"^\w+", key)}
    assert public - measured == set().union(*NOT_MEASURED.values())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_to_the_last_digits(name: str, dtype: str) -> None:
    check_digits(name, dtype, POINTS[zlib.crc32(f"{name} {dtype}".encode()) % 3 :: 3])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_derivatives_to_the_last_digits_everywhere(name: str, dtype: str) -> None:
    check_digits(name, dtype, POINTS)


def check_digits(name: str, dtype: str, at: list[float]) -> None:
    function, limits = FUNCTIONS[name], np.finfo(dtype)
    points = np.array([p for p in at if float(limits.tiny) < abs(p) < float(limits.max)], dtype)
    points = points[(points > function.low) & (points < function.high)]
    problems = []
    found = orders(function, points)
    with mp.workdps(60):
        for order, got in enumerate(found):
            for x, value in zip(points, got, strict=True):
                true = exact(function, float(x), order)
                if not limits.tiny <= abs(true) <= limits.max:
                    if abs(true) < limits.tiny and not abs(value) <= limits.tiny:
                        problems.append(f"order {order} at {x!r}: {value!r}, expected 0")
                    continue
                error = ulp(float(value), true, dtype, function.sizes[order])
                if not error <= BOUNDS[order]:
                    text = f"{error:.4g} ulp: {value!r}, expected {mp.nstr(true, 18)}"
                    problems.append(f"order {order} at {x!r}: {text}")
    assert not problems, "\n".join(problems[:12])
