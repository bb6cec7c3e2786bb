"""How many digits of a gradient a narrow dtype keeps: those of float32, float16 and bfloat16 beside
that of float64 on the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.cases import NAMES, Case, numpy_of, rounded, tensor, ulp_errors
from support.check import Check
from support.table import CASES

import pullback as pb
from pullback import _core

POINTS = 600
FUNCTION = 4.0  # units of the last place, at most
INSIDE = 16.0  # of what stands in gradients alone: its gradient is a second derivative
CANCELLING = 24.0  # of what follows; 21.7 was measured

# Of what stands in gradients alone: where two terms of its gradient, each rounded, cancel. There
# errors are in units of the last place of a gradient of usual size.
TERMS_CANCEL = {
    "over_square": "a^2 - b^2 where |a| is near |b|",
    "pow_da": "1 + b log(a) where a^b is near 1 / e",
    "pow_db": "1 + b log(a) where a^b is near 1 / e",
    "gammainc_daa": "(log(x) - psi(a))^2 - psi'(a), of a third derivative",
    "gamma_density_da": "the same by a; by x ((a - 1) / x - 1) (log(x) - psi(a)) + 1 / x",
    "gamma_density_dx": "by a the same; by x ((a - 1) / x - 1)^2 - (a - 1) / x^2",
    "betainc_daa": "(log(x) - psi(a) + psi(a + b))^2 - psi'(a) + psi'(a + b)",
    "betainc_dab": "the product of two such slopes + psi'(a + b)",
    "betainc_dbb": "(log(1 - x) - psi(b) + psi(a + b))^2 - psi'(b) + psi'(a + b)",
    "beta_density_da": "as betainc_daa and betainc_dab",
    "beta_density_db": "as betainc_dab and betainc_dbb",
    "beta_density_dx": "((a - 1) / x - (b - 1) / (1 - x))^2 - (a - 1) / x^2 - (b - 1) / (1 - x)^2",
    "log_gammainc_daa": "(log(x) - psi(a) - slope)^2 - psi'(a) - y, of a third derivative",
    "log_gammaincc_da": "by x log(x) - psi(a) - y",
    "log_gammaincc_daa": "as log_gammainc_daa",
    "log_gammaincc_dx": "by a log(x) - psi(a) - slope; by x (a - 1) / x - 1 - y, where y is near",
    "stdtr_da": "by x the slope by df of the logarithm of the density, of three terms",
    "student_density": "the same by df",
    "zeta_dq": "zeta(s + 1, q) + s times its slope by s, where q is near 1",
    "zeta_ds": "the same",
    "zeta_dss": "twice the slope of zeta(s + 1, q) by s + s times the second, where q is near 1",
    "log_ndtr_rest": "1 - y times the slope of log_ndtr, which is near 1 where a is below -1",
}
HALVES = ("h", "g")
ELEMENTWISE = [case for case in CASES if case.wrt and case.elementwise]
OTHERS = [case for case in CASES if case.wrt and not case.elementwise and "f" in case.dtypes]


def cotangents(shape: Any) -> Any:
    """Numbers that each of the dtypes has."""
    return np.round(np.random.default_rng(5).uniform(-1, 1, shape) * 128) / 128


def slopes(case: Case, xs: list[Any], drawn: str, computed: str) -> list[Any]:
    """The gradients, computed in one dtype, of arrays drawn in another."""
    inputs = []
    for k, (x, domain) in enumerate(zip(xs, case.domains, strict=True)):
        t = tensor(x, domain.dtype or drawn)
        t = t if domain.dtype else pb.cast(t, NAMES[computed])
        inputs.append(pb.Variable(t) if k in case.wrt else t)
    y = case.run(*inputs)
    c = cotangents(y.shape)
    found = pb.gradients(y, [inputs[k] for k in case.wrt], grad_ys=pb.cast(c, y.dtype))
    return [numpy_of(g) for g in found]


@pytest.mark.parametrize("row", ELEMENTWISE, ids=str)
def test_elementwise_gradients(row: Case) -> None:
    public = any(row.op in space.__all__ for space in (pb, pb.nn, pb.special))
    most = FUNCTION if public else CANCELLING if row.op in TERMS_CANCEL else INSIDE
    check = Check()
    c = cotangents((POINTS,))
    for dtype in ("f", *row.stored):
        if dtype not in ("f", *HALVES):
            continue
        xs = row.arrays([(POINTS,)] * len(row.domains), dtype)
        found, exact = slopes(row, xs, dtype, dtype), slopes(row, xs, dtype, "d")
        for k, got, want in zip(row.wrt, found, exact, strict=True):
            # A slope that the dtype does not reach is infinite, whatever it is multiplied by.
            reached = np.isfinite(rounded(want / np.where(c == 0, 1, c), dtype))
            size = np.abs(want)
            if row.op in TERMS_CANCEL:
                usual = np.median(np.abs(want / np.where(c == 0, 1, c)))
                size = np.maximum(size, usual * np.abs(c))
            errors = np.where(reached, ulp_errors(got, want, dtype, size), 0)
            worst = int(np.argmax(errors))
            error = errors[worst]
            at = ", ".join(str(x[worst]) for x in xs)
            text = f"argument {k} at {at} in {NAMES[dtype]}: {error:.3g} ulp, {got[worst]}"
            check.that(error <= most, f"{text} for {want[worst]}")
    check.done()


def test_what_cancels_stands_in_gradients_alone() -> None:
    public = {*pb.__all__, *pb.nn.__all__, *pb.special.__all__}
    assert not public & set(TERMS_CANCEL) and set(TERMS_CANCEL) <= set(_core.op_names())


@pytest.mark.parametrize("row", OTHERS, ids=str)
def test_gradients_in_halves(row: Case) -> None:
    """Of what is made of several operations, each rounds: by as much as a few units of what is
    largest."""
    check = Check()
    for dtype, last in (("h", 2.0**-10), ("g", 2.0**-7)):
        for shapes in row.shapes:
            xs = row.arrays(shapes, dtype)
            found, exact = slopes(row, xs, dtype, dtype), slopes(row, xs, dtype, "d")
            for k, got, want in zip(row.wrt, found, exact, strict=True):
                scale = max(1.0, float(np.max(np.abs(want), initial=0)))
                error = float(np.max(np.abs(got - want), initial=0)) / (scale * last)
                if not error <= 8:
                    text = f"argument {k} of {shapes} in {NAMES[dtype]}: {error:.3g} ulp"
                    check.that(False, f"{text}: {got} for {want}")
    check.done()
