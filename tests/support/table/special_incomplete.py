"""Incomplete gamma and beta functions and zeta in the order of their rows, beside mpmath."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import mpmath as mp

from ..cases import FLOATS, NUMBERS, Case, Domain, floats
from ..exactly import exactly
from .domains import POSITIVE

X = Domain(0.1, 0.8)  # differences meet the singularity at 1
S = Domain(1.5, 4.0)
Y = Domain(-1.5, 1.0)
SHAPES = {
    2: (((), ()), ((2,), (2,)), ((0,), (0,)), ((2, 1), (1, 2))),
    3: (((), (), ()), ((2,), (2,), (2,)), ((0,), (1,), ()), ((2, 1), (1, 2), ())),
}


def integral(a: Any, x: Any, coefficients: list[Any], order: int = 0) -> Any:
    """That of t^(a - 1) times a power series up to x, or its slope by a. `coefficients` has the
    terms of the series at x."""
    sums = []
    for _ in range(order + 1):
        coefficients = [c / (a + n) for n, c in enumerate(coefficients)]
        sums.append(mp.fsum(coefficients))
    log, power = mp.log(x), x**a
    if order == 0:
        return power * sums[0]
    if order == 1:
        return power * (log * sums[0] - sums[1])
    return power * (log * log * sums[0] - 2 * log * sums[1] + 2 * sums[2])


def quotient(f: Any, fa: Any, fb: Any, fab: Any, u: Any, v: Any, uv: Any) -> Any:
    """The slope by a and b of f exp(-h), over exp(-h), where h has slopes u, v and uv."""
    return fab - u * fb - v * fa + (u * v - uv) * f


def lower(a: Any, x: Any, order: int = 0) -> Any:
    """P(a, x), or a slope by a: exp(-t) as a series, integrated term by term (DLMF 8.7.1)."""
    terms = [mp.mpf(1)]
    for n in range(1, 40):  # enough for x <= 3
        terms.append(-terms[-1] * x / n)
    f, *slopes = [integral(a, x, terms, k) for k in range(order + 1)]
    if order == 0:
        return f * mp.rgamma(a)
    u = mp.digamma(a)
    if order == 1:
        return (slopes[0] - u * f) * mp.rgamma(a)
    return quotient(f, slopes[0], *slopes, u, u, mp.psi(1, a)) * mp.rgamma(a)


def powers(b: Any, x: Any, order: int) -> list[list[Any]]:
    """The terms of (1 - x)^(b - 1), and of its slopes by b."""
    found = [[mp.mpf(k == 0)] for k in range(order + 1)]
    for n in range(1, 80):  # enough for x <= 1/2
        last = [terms[-1] for terms in found]
        for k, terms in enumerate(found):
            step = last[k] * (n - b) - (k * last[k - 1] if k else 0)
            terms.append(step * x / n)
    return found


def below(a: Any, b: Any, x: Any, by_a: int = 0, by_b: int = 0) -> Any:
    """I_x(a, b), or a slope by a and b, two at most: (1 - t)^(b - 1) as a series, integrated term
    by term (DLMF 8.17.7)."""
    if x > 0.5:
        return (0 if by_a or by_b else 1) - below(b, a, 1 - x, by_b, by_a)
    series = powers(b, x, by_b)
    f = [[integral(a, x, terms, k) for k in range(by_a + 1)] for terms in series]
    scale = 1 / mp.beta(a, b)
    if by_a + by_b == 0:
        return f[0][0] * scale
    total, both = mp.digamma(a + b), mp.psi(1, a + b)
    u, v = mp.digamma(a) - total, mp.digamma(b) - total
    if by_a + by_b == 1:
        return (f[by_b][by_a] - (u if by_a else v) * f[0][0]) * scale
    if by_a == 2:
        last = quotient(f[0][0], f[0][1], f[0][1], f[0][2], u, u, mp.psi(1, a) - both)
    elif by_b == 2:
        last = quotient(f[0][0], f[1][0], f[1][0], f[2][0], v, v, mp.psi(1, b) - both)
    else:
        last = quotient(f[0][0], f[0][1], f[1][0], f[1][1], u, v, -both)
    return last * scale


def density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def log_path(a: Any, y: Any, order: int = 1) -> Any:
    """How y moves with a where P(a, exp(y)) stays, or the slope of that by a."""
    x = mp.exp(y)
    scale = 1 / (density(a, x) * x)
    slope = -lower(a, x, 1) * scale
    return slope if order == 1 else -lower(a, x, 2) * scale - slope * (y - mp.digamma(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def log_share(a: Any, b: Any, x: Any) -> Any:
    return mp.log(x) - mp.digamma(a) + mp.digamma(a + b)


def row(name: str, reference: Any, *domains: Domain, **more: Any) -> Case:
    """Of few elements, as mpmath takes milliseconds for each. At 0 and 1, ends of the domains, it
    has other conventions than SciPy: no bool, and no integers as x of betainc."""
    case = floats(name, reference, *domains, dtypes=FLOATS if X in domains else NUMBERS, **more)
    return replace(case, shapes=SHAPES[len(domains)])


def times(f: Callable[..., Any], slope_of_log: Callable[..., Any]) -> Callable[..., Any]:
    """A slope of f, from that of its logarithm."""
    return exactly(lambda *xs: f(*xs) * slope_of_log(*xs))


def by_parameters(by_a: int, by_b: int) -> Callable[..., Any]:
    return exactly(partial(below, by_a=by_a, by_b=by_b))


# Third derivatives by parameters do not exist: slopes by them are differentiated by the rest.
# fmt: off
CASES: list[Case] = [
    row("gammainc",         exactly(lower),           POSITIVE, POSITIVE),
    row("gammaincc",        exactly(lambda a, x: 1 - lower(a, x)), POSITIVE, POSITIVE),
    row("gammainc_da",      exactly(partial(lower, order=1)), POSITIVE, POSITIVE, wrt=(1,)),
    row("gammainc_daa",     exactly(partial(lower, order=2)), POSITIVE, POSITIVE, wrt=(1,),
        ulp=16.0),
    row("gamma_density",    exactly(density),            POSITIVE, POSITIVE),
    row("gamma_density_da", times(density, lambda a, x: mp.log(x) - mp.digamma(a)),
        POSITIVE, POSITIVE),
    row("gamma_density_dx", times(density, lambda a, x: (a - 1) / x - 1), POSITIVE, POSITIVE),
    row("log_gamma_path",   exactly(log_path), POSITIVE, Y, wrt=(1,), ulp=32.0),
    row("log_gamma_path_da", exactly(partial(log_path, order=2)), POSITIVE, Y, wrt=(1,), ulp=16.0),
    row("betainc",          exactly(below),              POSITIVE, POSITIVE, X),
    row("betainc_da",       by_parameters(1, 0),         POSITIVE, POSITIVE, X, wrt=(2,)),
    row("betainc_db",       by_parameters(0, 1),         POSITIVE, POSITIVE, X, wrt=(2,)),
    row("betainc_daa",      by_parameters(2, 0),         POSITIVE, POSITIVE, X, wrt=(2,), ulp=16.0),
    row("betainc_dab",      by_parameters(1, 1),         POSITIVE, POSITIVE, X, wrt=(2,), ulp=16.0),
    row("betainc_dbb",      by_parameters(0, 2),         POSITIVE, POSITIVE, X, wrt=(2,), ulp=16.0),
    row("beta_density",     exactly(beta_density),       POSITIVE, POSITIVE, X),
    row("beta_density_da",  times(beta_density, log_share),
        POSITIVE, POSITIVE, X),
    row("beta_density_db",  times(beta_density, lambda a, b, x: log_share(b, a, 1 - x)),
        POSITIVE, POSITIVE, X),
    row("beta_density_dx",  times(beta_density, lambda a, b, x: (a - 1) / x - (b - 1) / (1 - x)),
        POSITIVE, POSITIVE, X),
    row("zeta",             exactly(lambda s, q: mp.zeta(s, q)),    S, POSITIVE),
    row("zeta_dq",          exactly(lambda s, q: -s * mp.zeta(s + 1, q)), S, POSITIVE),
    row("zeta_ds",          exactly(lambda s, q: mp.zeta(s, q, 1)), S, POSITIVE, wrt=(1,)),
    row("zeta_dss",         exactly(lambda s, q: mp.zeta(s, q, 2)), S, POSITIVE, wrt=(1,)),
]
