"""Relatives of the error function, entropies and sinc, against mpmath."""

from functools import partial

import mpmath as mp

from ..cases import FLOATS, NUMBERS, Case, Domain
from ..cases import floats as row
from ..exactly import exactly
from .domains import POSITIVE, REAL

P = Domain(0.1, 0.9)
INSIDE = Domain(-0.9, 0.9)
UP_TO_2 = Domain(0.2, 1.8)
ORDER = Domain(0.9, 1.1, grid=1.0, dtype="l")


def erfcx(x):
    return mp.exp(x * x) * mp.erfc(x)


def erfcinv(x):
    return mp.erfinv(1 - x)


def inverse_slope(f, sign):
    return lambda x: sign * mp.sqrt(mp.pi) / 2 * mp.exp(f(x) ** 2)


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def ndtri(p):
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


def hazard(x):
    return density(x) / ndtr(x)


def sinc(x):
    return mp.sinpi(x) / (mp.pi * x) if x else mp.mpf(1)


def derivative(f):
    """Of an order: f(x, n)."""
    return lambda x, n: f(x) if n == 0 else mp.diff(f, x, int(n))


floats = partial(row, dtypes=NUMBERS)  # mpmath refuses poles, and False is one

# fmt: off

CASES: list[Case] = [
    floats("erfc",           exactly(mp.erfc),                      REAL),
    floats("erfcx",          exactly(erfcx),                        REAL),
    floats("erfcx_derivative", exactly(derivative(erfcx)),          REAL, ORDER, wrt=(0,)),
    floats("erfinv",         exactly(mp.erfinv),                    INSIDE),
    floats("erfinv_slope",   exactly(inverse_slope(mp.erfinv, 1)),  INSIDE),
    floats("erfcinv",        exactly(erfcinv),                      UP_TO_2),
    floats("erfcinv_slope",  exactly(inverse_slope(erfcinv, -1)),   UP_TO_2),
    floats("ndtr",           exactly(ndtr),                         REAL),
    floats("ndtr_slope",     exactly(density),                      REAL),
    floats("ndtri",          exactly(ndtri),                        P, dtypes=FLOATS),
    floats("ndtri_slope",    exactly(lambda p: 1 / density(ndtri(p))), P, dtypes=FLOATS),
    floats("log_ndtr",       exactly(lambda x: mp.log(ndtr(x))),    REAL),
    floats("log_ndtr_slope", exactly(hazard),                       REAL),
    floats("log_ndtr_rest",  exactly(lambda x: x + hazard(x)),      REAL),
    floats("logit",          exactly(lambda p: mp.log(p / (1 - p))), P, dtypes=FLOATS),
    floats("logit_slope",    exactly(lambda p: 1 / (p * (1 - p))),  P, dtypes=FLOATS),
    floats("log_ratio",      exactly(lambda a, b: mp.log(a / b)),   POSITIVE, POSITIVE),
    floats("entr",           exactly(lambda x: -x * mp.log(x)),     POSITIVE),
    floats("entr_slope",     exactly(lambda x: -1 - mp.log(x)),     POSITIVE),
    floats("rel_entr",       exactly(lambda a, b: a * mp.log(a / b)), POSITIVE, POSITIVE),
    floats("rel_entr_slope", exactly(lambda a, b: 1 + mp.log(a / b)), POSITIVE, POSITIVE),
    floats("kl_div",         exactly(lambda a, b: a * mp.log(a / b) - a + b), POSITIVE, POSITIVE),
    floats("kl_div_slope",   exactly(lambda a, b: (b - a) / b),     POSITIVE, POSITIVE, ulp=2.0),
    floats("sinc",           exactly(sinc),                         REAL),
    floats("sinc_derivative", exactly(derivative(sinc)),            REAL, ORDER, wrt=(0,)),
]
