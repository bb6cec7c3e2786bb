"""The vector code of the error functions where its formulas end: far tails, ends of domains, zeros,
infinities, NaN, subnormal numbers, and in each lane of a vector alike."""

from __future__ import annotations

import mpmath as mp
import numpy as np
from accuracy.functions import FUNCTIONS
from accuracy.measure import errors
from support.check import Check
from support.each import each

import pullback as pb
from pullback import special as s

NAMES = ["erfc", "erfcx", "ndtr", "log_ndtr", "erfinv", "erfcinv", "ndtri"]
ENDS = {
    "erfc": [(np.inf, 0.0), (-np.inf, 2.0), (0.0, 1.0), (-0.0, 1.0), (1e300, 0.0)],
    "erfcx": [(np.inf, 0.0), (-np.inf, np.inf), (0.0, 1.0), (-1e300, np.inf)],
    "ndtr": [(np.inf, 1.0), (-np.inf, 0.0), (0.0, 0.5), (-1e300, 0.0)],
    "log_ndtr": [(np.inf, 0.0), (-np.inf, -np.inf), (-1e200, -np.inf), (1e300, 0.0)],
    "erfinv": [(-1.0, -np.inf), (1.0, np.inf), (1.5, np.nan), (-np.inf, np.nan), (0.0, 0.0)],
    "erfcinv": [
        (0.0, np.inf),
        (-0.0, np.inf),
        (2.0, -np.inf),
        (1.0, 0.0),
        (-0.5, np.nan),
        (-5e-324, np.nan),
    ],
    "ndtri": [
        (0.0, -np.inf),
        (-0.0, -np.inf),
        (1.0, np.inf),
        (0.5, 0.0),
        (2.0, np.nan),
        (-5e-324, np.nan),
    ],
}
SLOPES_AT_ENDS = {
    "log_ndtr": [(np.inf, 0.0), (-np.inf, np.inf), (-1e200, 1e200)],
    "erfinv": [(-1.0, np.inf), (1.0, np.inf), (1.5, np.nan)],
    "erfcinv": [(0.0, -np.inf), (-0.0, -np.inf), (2.0, -np.inf), (-0.5, np.nan)],
    "ndtri": [(0.0, np.inf), (-0.0, np.inf), (1.0, np.inf), (1.5, np.nan)],
}
# Deep tails, last numbers before an end, and where one formula follows another.
TAILS = {
    "erfc": [26.5, 27.2, -5.9, 1e-17, -1e-17],
    "erfcx": [-26.0, 1e-3, 3.0, 1e5],
    "ndtr": [-38.0, -37.4, -38.4, 8.2, -1e-9],
    "log_ndtr": [-39.9, -40.1, -1e3, 37.0, 38.2, -1e-9],
    "erfinv": [1 - 2.0**-53, 1 - 2.0**-24, 0.5, 0.5 + 2.0**-53, -0.75, 1e-310],
    "erfcinv": [5e-324, 1e-310, 1e-300, 0.5, 0.5 - 2.0**-54, 1 - 2.0**-53, 2 - 2.0**-52],
    "ndtri": [5e-324, 1e-310, 1e-300, 0.25, 0.25 - 2.0**-55, 0.5 - 2.0**-54, 1 - 2.0**-53],
}


def same(got: float, expected: float) -> bool:
    return bool(got == expected or (np.isnan(got) and np.isnan(expected)))


@each("name", NAMES)
@each("dtype", ["float32", "float64"])
def test_values_and_slopes_at_the_ends(name: str, dtype: str) -> None:
    check = Check()
    for order, ends in enumerate((ENDS[name], SLOPES_AT_ENDS.get(name, []))):
        for at, expected in [*ends, (np.nan, np.nan)]:
            with np.errstate(over="ignore"):
                x = pb.Variable(np.array([at, 0.25], dtype))
                wanted = float(np.dtype(dtype).type(expected))
            if at and not float(x.numpy()[0]):
                continue  # smaller than any float32
            y = getattr(s, name)(x)
            got = (pb.gradients(y, [x])[0] if order else y).numpy()[0]
            check.that(same(got, wanted), f"order {order} at {at!r}: {got!r}, expected {wanted!r}")
    check.done()


@each("name", NAMES)
def test_tails_are_right_to_the_last_digits(name: str) -> None:
    for order, bound in enumerate((1.0, 4.0)):
        for dtype in ("float32", "float64"):
            points = np.unique(np.array(TAILS[name], dtype))
            function = FUNCTIONS[name]
            points = points[(points > function.low) & (points < function.high)]
            found = errors(function, points, order)
            assert max(found) <= bound, (order, dtype, points[np.argmax(found)], max(found))


@each("name", NAMES)
@each("dtype", ["float32", "float64"])
def test_a_vector_has_the_bits_of_its_elements(name: str, dtype: str) -> None:
    low, high = max(FUNCTIONS[name].low, -9.0), min(FUNCTIONS[name].high, 9.0)
    x = np.linspace(low, high, 37).astype(dtype)
    whole = getattr(s, name)(pb.constant(x)).numpy()
    single = [getattr(s, name)(pb.constant(x[k : k + 1])).numpy()[0] for k in range(len(x))]
    np.testing.assert_array_equal(whole, np.array(single))


def test_gelu_far_to_the_left_keeps_its_digits() -> None:
    x = np.array([-8.0, -20.0, -37.0])
    got = pb.nn.gelu(pb.constant(x)).numpy()
    with mp.workdps(40):
        exact = [float(v * mp.ncdf(v)) for v in map(mp.mpf, x)]
    np.testing.assert_allclose(got, exact, rtol=4e-16)
