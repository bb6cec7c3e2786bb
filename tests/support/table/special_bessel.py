"""Bessel functions against mpmath."""

from functools import partial

import mpmath as mp

from ..cases import NUMBERS, Case, Domain
from ..cases import floats as row
from ..exactly import exactly
from .domains import POSITIVE, REAL

V = Domain(0.5, 4.0)
N = Domain(0, 4, dtype="l")
TIMES = Domain(0, 2, dtype="l")


def j(n, x):
    return mp.besselj(n, x)


def y(n, x):
    return mp.bessely(n, x)


def i(v, x):
    return mp.besseli(v, x)


def ive(v, x):
    return mp.exp(-abs(x)) * mp.besseli(v, x)


def ive_derivative(v, x, n):
    return ive(v, x) if n == 0 else mp.diff(lambda t: ive(v, t), x, int(n))


def slope_of(f, n, x):
    return mp.diff(lambda t: f(n, t), x)


def derivative(f):
    """Of a function of whole orders, by sums of its neighbours (DLMF 10.6.7)."""

    def times(n, x, k):
        terms = ((-1) ** j * mp.binomial(k, j) * f(n - k + 2 * j, x) for j in range(int(k) + 1))
        return mp.fsum(terms) / 2**k

    return times


def of(order, function):
    return exactly(lambda x: function(order, x))


SIDED = Domain(-2.0, 2.0, kinks=(0.0,))

floats = partial(row, dtypes=NUMBERS)  # mpmath refuses poles, and False is one

# fmt: off

CASES: list[Case] = [
    floats("i0",  of(0, i),   REAL),
    floats("i1",  of(1, i),   REAL),
    floats("i1_slope", of(1, partial(slope_of, i)), REAL),
    floats("iv",  exactly(i), V, POSITIVE, wrt=(1,)),
    floats("i0e", of(0, ive), SIDED),
    floats("i0e_slope", of(0, partial(slope_of, ive)), SIDED),
    floats("i1e", of(1, ive), SIDED),
    # Terms of the size of i0e cancel at a root.
    floats("i1e_slope", of(1, partial(slope_of, ive)), SIDED, size=of(0, ive)),
    floats("ive", exactly(ive), V, POSITIVE, wrt=(1,), ulp=1.5),
    floats("ive_derivative", exactly(ive_derivative), V, POSITIVE, TIMES, wrt=(1,)),
    floats("j0",  of(0, j),   REAL),
    floats("j1",  of(1, j),   REAL),
    floats("jn",  exactly(j), N, REAL, wrt=(1,)),
    floats("jn_derivative", exactly(derivative(j)), N, REAL, TIMES, wrt=(1,)),
    floats("y0",  of(0, y),   POSITIVE),
    floats("y1",  of(1, y),   POSITIVE),
    floats("yn",  exactly(y), N, POSITIVE, wrt=(1,)),
    floats("yn_derivative", exactly(derivative(y)), N, POSITIVE, TIMES, wrt=(1,)),
]
