"""The rows of the gamma family in their order, beside mpmath."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np

from ..cases import NUMBERS, Case, Domain
from ..cases import floats as row
from .domains import POSITIVE

ONE = Domain(1.0, 1.0)  # the order of a derivative


def exact(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of mpmath on arrays of long double, in and out."""

    def number(x: Any) -> Any:
        high = float(x)
        return mp.mpf(high) + mp.mpf(float(x - np.longdouble(high)))

    def one(*xs: Any) -> Any:
        with mp.workdps(30):
            y = mp.mpf(f(*map(number, xs)))
            high = float(y)
            return np.longdouble(high) + np.longdouble(float(y - high))

    ufunc = np.frompyfunc(one, f.__code__.co_argcount, 1)

    def call(*xs: Any) -> Any:
        wide = [np.asarray(x, np.longdouble) for x in xs]
        return np.asarray(ufunc(*wide), np.longdouble).astype(np.result_type(*xs))

    return call


def gamma_nth(n: Any, x: Any) -> Any:
    return mp.gamma(x) * mp.digamma(x) if n == 1 else mp.nan


def rgamma_nth(n: Any, x: Any) -> Any:
    return -mp.rgamma(x) * mp.digamma(x) if n == 1 else mp.nan


floats = partial(row, dtypes=NUMBERS)  # mpmath refuses poles, and False is one

# fmt: off

CASES: list[Case] = [
    floats("gammaln",       exact(lambda x: mp.loggamma(x)),             POSITIVE),
    floats("digamma",       exact(lambda x: mp.digamma(x)),              POSITIVE),
    floats("polygamma",     exact(lambda n, x: mp.psi(int(n), x)),       ONE, POSITIVE, wrt=(1,)),
    floats("gamma",         exact(lambda x: mp.gamma(x)),                POSITIVE),
    floats("gamma_nth",     exact(gamma_nth),                            ONE, POSITIVE, wrt=(1,)),
    floats("rgamma",        exact(lambda x: mp.rgamma(x)),               POSITIVE),
    floats("rgamma_nth",    exact(rgamma_nth),                           ONE, POSITIVE, wrt=(1,)),
    floats("gammasgn",      np.sign,                                     POSITIVE),
    floats("betaln",        exact(lambda a, b: mp.log(mp.beta(a, b))),   POSITIVE, POSITIVE),
    floats("beta",          exact(lambda a, b: mp.beta(a, b)),           POSITIVE, POSITIVE),
    floats("polygamma_gap", exact(lambda n, x, d: mp.psi(int(n), x) - mp.psi(int(n), x + d)),
           ONE, POSITIVE, POSITIVE, wrt=(1, 2)),
]
