"""Complements, logarithms and inverses of incomplete functions and Student's distribution in the
order of their rows, beside mpmath."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
from scipy import special as sc

from ..cases import Case
from ..exactly import exactly
from .domains import POSITIVE, REAL
from .special_incomplete import X, below, beta_density, density, lower, row


def inverse(f: Callable[..., Any], slope: Callable[..., Any], start: Any) -> Callable[..., Any]:
    """x with f(…, x) = p, by Newton's steps from SciPy's."""

    def of(*arguments: Any) -> Any:
        *shapes, p = arguments
        x = mp.mpf(float(start(*map(float, arguments))))
        for _ in range(3):
            x -= (f(*shapes, x) - p) / slope(*shapes, x)
        return x

    return exactly(of)


def upper(a: Any, x: Any) -> Any:
    return 1 - lower(a, x)


def log_slope(f: Callable[..., Any], order: int, a: Any, x: Any) -> Any:
    """The slope by a of log(f), which is the share below or above."""
    sign, y = (1, f(a, x)) if f is lower else (-1, f(a, x))
    first = sign * lower(a, x, 1) / y
    return first if order == 1 else sign * lower(a, x, 2) / y - first**2


def student(n: Any, x: Any) -> Any:
    share = mp.betainc(n / 2, mp.mpf(0.5), 0, n / (n + x * x), regularized=True) / 2
    return share if x < 0 else 1 - share


def by_df(order: int, n: Any, x: Any) -> Any:
    return mp.diff(lambda v: student(v, x), n, order)


def student_density(n: Any, x: Any) -> Any:
    return (1 + x * x / n) ** (-(n + 1) / 2) / mp.sqrt(n) / mp.beta(n / 2, mp.mpf(0.5))


def above(a: Any, b: Any, x: Any) -> Any:
    return 1 - below(a, b, x)


GAMMA = (POSITIVE, POSITIVE)
# fmt: off
CASES: list[Case] = [
    row("betaincc",     exactly(above),                                   POSITIVE, POSITIVE, X),
    row("gammaincinv",  inverse(lower, density, sc.gammaincinv),          POSITIVE, X),
    row("gammainccinv", inverse(upper, lambda a, x: -density(a, x), sc.gammainccinv), POSITIVE, X),
    row("betaincinv",   inverse(below, beta_density, sc.betaincinv),      POSITIVE, POSITIVE, X),
    row("betainccinv",  inverse(above, lambda a, b, x: -beta_density(a, b, x), sc.betainccinv),
        POSITIVE, POSITIVE, X),
    row("log_gammainc",      exactly(lambda a, x: mp.log(lower(a, x))),   *GAMMA),
    row("log_gammainc_da",   exactly(partial(log_slope, lower, 1)),       *GAMMA, wrt=(1,)),
    row("log_gammainc_daa",  exactly(partial(log_slope, lower, 2)),       *GAMMA, wrt=(1,)),
    row("log_gammainc_dx",   exactly(lambda a, x: density(a, x) / lower(a, x)),   *GAMMA),
    row("log_gammaincc",     exactly(lambda a, x: mp.log(upper(a, x))),   *GAMMA),
    row("log_gammaincc_da",  exactly(partial(log_slope, upper, 1)),       *GAMMA, wrt=(1,)),
    row("log_gammaincc_daa", exactly(partial(log_slope, upper, 2)),       *GAMMA, wrt=(1,)),
    row("log_gammaincc_dx",  exactly(lambda a, x: -density(a, x) / upper(a, x)),  *GAMMA),
    row("stdtr",             exactly(student),                            POSITIVE, REAL),
    row("stdtr_da",          exactly(partial(by_df, 1)),                  POSITIVE, REAL, wrt=(1,)),
    row("stdtr_daa",         exactly(partial(by_df, 2)),                  POSITIVE, REAL, wrt=(1,)),
    row("student_density",   exactly(student_density),                    POSITIVE, REAL),
    row("stdtrit",           inverse(student, student_density, sc.stdtrit), POSITIVE, X),
]
