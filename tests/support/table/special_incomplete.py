"""Incomplete gamma and beta functions and zeta in the order of their rows, beside mpmath."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath as mp

from ..cases import FLOATS, NUMBERS, Case, Domain, floats
from ..exactly import exactly
from .domains import POSITIVE

X = Domain(0.1, 0.9)
S = Domain(1.5, 4.0)
SHAPES = {
    2: (((), ()), ((2,), (2,)), ((0,), (0,)), ((2, 1), (1, 2))),
    3: (((), (), ()), ((2,), (2,), (2,)), ((0,), (1,), ()), ((2, 1), (1, 2), ())),
}


def lower(a: Any, x: Any) -> Any:
    return mp.gammainc(a, 0, x, regularized=True)


def below(a: Any, b: Any, x: Any) -> Any:
    return mp.betainc(a, b, 0, x, regularized=True)


def density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def row(name: str, reference: Any, *domains: Domain, **more: Any) -> Case:
    """Of few elements, as mpmath takes milliseconds for each. At 0 and 1, ends of the domains, it
    has other conventions than SciPy: no bool, and no integers as x of betainc."""
    case = floats(name, reference, *domains, dtypes=FLOATS if X in domains else NUMBERS, **more)
    return replace(case, shapes=SHAPES[len(domains)])


def slope(f: Callable[..., Any], *orders: int) -> Callable[..., Any]:
    """A partial derivative, of the orders by each argument."""
    return exactly(lambda *xs: mp.diff(f, xs, orders))


# Third derivatives by parameters do not exist: slopes by them are differentiated by the rest.
# fmt: off
CASES: list[Case] = [
    row("gammainc",         exactly(lower),           POSITIVE, POSITIVE),
    row("gammaincc",        exactly(lambda a, x: mp.gammainc(a, x, regularized=True)),
        POSITIVE, POSITIVE),
    row("gammainc_da",      slope(lower, 1, 0),          POSITIVE, POSITIVE, wrt=(1,)),
    row("gammainc_daa",     slope(lower, 2, 0),          POSITIVE, POSITIVE, wrt=(1,), ulp=16.0),
    row("gamma_density",    exactly(density),         POSITIVE, POSITIVE),
    row("gamma_density_da", slope(density, 1, 0),        POSITIVE, POSITIVE),
    row("gamma_density_dx", slope(density, 0, 1),        POSITIVE, POSITIVE),
    row("betainc",          exactly(below),              POSITIVE, POSITIVE, X),
    row("betainc_da",       slope(below, 1, 0, 0),       POSITIVE, POSITIVE, X, wrt=(2,)),
    row("betainc_db",       slope(below, 0, 1, 0),       POSITIVE, POSITIVE, X, wrt=(2,)),
    row("betainc_daa",      slope(below, 2, 0, 0),       POSITIVE, POSITIVE, X, wrt=(2,), ulp=16.0),
    row("betainc_dab",      slope(below, 1, 1, 0),       POSITIVE, POSITIVE, X, wrt=(2,), ulp=16.0),
    row("betainc_dbb",      slope(below, 0, 2, 0),       POSITIVE, POSITIVE, X, wrt=(2,), ulp=16.0),
    row("beta_density",     exactly(beta_density),       POSITIVE, POSITIVE, X),
    row("beta_density_da",  slope(beta_density, 1, 0, 0), POSITIVE, POSITIVE, X),
    row("beta_density_db",  slope(beta_density, 0, 1, 0), POSITIVE, POSITIVE, X),
    row("beta_density_dx",  slope(beta_density, 0, 0, 1), POSITIVE, POSITIVE, X),
    row("zeta",             exactly(lambda s, q: mp.zeta(s, q)),    S, POSITIVE),
    row("zeta_ds",          exactly(lambda s, q: mp.zeta(s, q, 1)), S, POSITIVE, wrt=(1,)),
    row("zeta_dss",         exactly(lambda s, q: mp.zeta(s, q, 2)), S, POSITIVE, wrt=(1,)),
]
