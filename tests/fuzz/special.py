"""Special functions in long double: as their quadratic at the point where a program is.

SciPy has them in double only. The quadratic at a point that stays where it is has the value, slope
and curvature of the function there, so that SciPy's f, f' and f'' are enough for differences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import mpmath as mp
import numpy as np
from scipy import special as sc

Array = Any
Derivatives = Callable[..., tuple[Array, Array, Array]]

ROOT = np.sqrt(np.pi)


def _erfc(x: Array) -> tuple[Array, Array, Array]:
    slope = -2 / ROOT * np.exp(-x * x)
    return sc.erfc(x), slope, -2 * x * slope


def _erfcx(x: Array) -> tuple[Array, Array, Array]:
    value = sc.erfcx(x)
    slope = 2 * x * value - 2 / ROOT
    return value, slope, 2 * value + 2 * x * slope


def _inverse(value: Array, slope: Array, times: float) -> tuple[Array, Array, Array]:
    """Of y' = c exp(a y²): y'' = 2 a y y'²."""
    return value, slope, times * value * slope**2


def _erfinv(x: Array) -> tuple[Array, Array, Array]:
    y = sc.erfinv(x)
    return _inverse(y, ROOT / 2 * np.exp(y * y), 2)


def _erfcinv(x: Array) -> tuple[Array, Array, Array]:
    y = sc.erfcinv(x)
    return _inverse(y, -ROOT / 2 * np.exp(y * y), 2)


def _density(x: Array) -> Array:
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


def _log_ndtr(x: Array) -> tuple[Array, Array, Array]:
    hazard = _density(x) / sc.ndtr(x)
    return sc.log_ndtr(x), hazard, -hazard * (x + hazard)


def _ndtri(p: Array) -> tuple[Array, Array, Array]:
    y = sc.ndtri(p)
    return _inverse(y, 1 / _density(y), 1)


def _gamma(x: Array) -> tuple[Array, Array, Array]:
    value, psi = sc.gamma(x), sc.digamma(x)
    return value, value * psi, value * (psi * psi + sc.polygamma(1, x))


def _rgamma(x: Array) -> tuple[Array, Array, Array]:
    value, psi = sc.rgamma(x), sc.digamma(x)
    return value, -value * psi, value * (psi * psi - sc.polygamma(1, x))


def _polygamma(x: Array, n: int) -> tuple[Array, Array, Array]:
    a, b, c = (sc.polygamma(n + k, x) for k in range(3))
    return a, b, c


def _gammainc(x: Array, a: float, sign: int = 1) -> tuple[Array, Array, Array]:
    slope = sign * np.exp((a - 1) * np.log(x) - x - sc.gammaln(a))
    return (sc.gammainc if sign > 0 else sc.gammaincc)(a, x), slope, slope * ((a - 1) / x - 1)


def _betainc(x: Array, a: float, b: float) -> tuple[Array, Array, Array]:
    slope = x ** (a - 1) * (1 - x) ** (b - 1) / sc.beta(a, b)
    return sc.betainc(a, b, x), slope, slope * ((a - 1) / x - (b - 1) / (1 - x))


def _inverted(f: Derivatives, inverse: Callable[..., Array]) -> Derivatives:
    """The inverse of a function of x and parameters, from the slopes of that."""

    def of(p: Array, *parameters: float) -> tuple[Array, Array, Array]:
        y = inverse(*parameters, p)
        _, slope, curvature = f(y, *parameters)
        return y, 1 / slope, -curvature / slope**3

    return of


def _betaincc(x: Array, a: float, b: float) -> tuple[Array, Array, Array]:
    _, slope, curvature = _betainc(x, a, b)
    return sc.betaincc(a, b, x), -slope, -curvature


def _stdtr(x: Array, n: float) -> tuple[Array, Array, Array]:
    slope = (1 + x * x / n) ** (-(n + 1) / 2) / (np.sqrt(n) * sc.beta(n / 2, 0.5))
    return sc.stdtr(n, x), slope, -slope * (n + 1) * x / (n + x * x)


def _zeta(x: Array, s: float) -> tuple[Array, Array, Array]:
    return sc.zeta(s, x), -s * sc.zeta(s + 1, x), s * (s + 1) * sc.zeta(s + 2, x)


def _bessel(f: Callable[..., Array]) -> Derivatives:
    """f(v, x, order of the derivative)."""
    return lambda x, v: (f(v, x, 0), f(v, x, 1), f(v, x, 2))


def _scaled(x: Array, v: float) -> tuple[Array, Array, Array]:
    """exp(-x) I_v(x) for x > 0."""
    a, b, c = (sc.ivp(v, x, n) * np.exp(-x) for n in range(3))
    return a, b - a, c - 2 * b + a


def _of_order(f: Derivatives, order: float) -> Derivatives:
    return lambda x: f(x, order)


J, Y, I = _bessel(sc.jvp), _bessel(sc.yvp), _bessel(sc.ivp)  # noqa: E741
DERIVATIVES: dict[str, Derivatives] = {
    "erfc": _erfc,
    "erfcx": _erfcx,
    "erfinv": _erfinv,
    "erfcinv": _erfcinv,
    "ndtr": lambda x: (sc.ndtr(x), _density(x), -x * _density(x)),
    "log_ndtr": _log_ndtr,
    "ndtri": _ndtri,
    "gammaln": lambda x: (sc.gammaln(x), sc.digamma(x), sc.polygamma(1, x)),
    "digamma": lambda x: (sc.digamma(x), sc.polygamma(1, x), sc.polygamma(2, x)),
    "gamma": _gamma,
    "rgamma": _rgamma,
    "polygamma": _polygamma,
    "gammainc": _gammainc,
    "gammaincc": lambda x, a: _gammainc(x, a, -1),
    "betainc": _betainc,
    "betaincc": _betaincc,
    "gammaincinv": _inverted(_gammainc, sc.gammaincinv),
    "gammainccinv": _inverted(lambda x, a: _gammainc(x, a, -1), sc.gammainccinv),
    "betaincinv": _inverted(_betainc, sc.betaincinv),
    "betainccinv": _inverted(_betaincc, sc.betainccinv),
    "stdtr": _stdtr,
    "stdtrit": _inverted(_stdtr, sc.stdtrit),
    "zeta": _zeta,
    "i0": _of_order(I, 0),
    "i1": _of_order(I, 1),
    "iv": I,
    "i0e": _of_order(_scaled, 0),
    "i1e": _of_order(_scaled, 1),
    "ive": _scaled,
    "j0": _of_order(J, 0),
    "j1": _of_order(J, 1),
    "jn": J,
    "y0": _of_order(Y, 0),
    "y1": _of_order(Y, 1),
    "yn": Y,
}


def quadratic(name: str, x: Array, point: Array, *parameters: float) -> Array:
    at = np.asarray(point, np.float64)
    value, slope, curvature = DERIVATIVES[name](at, *parameters)
    step = x.astype(np.longdouble) - at
    return (value + step * (slope + step * curvature / 2)).astype(x.dtype)


# By parameters SciPy has no derivatives; mpmath takes milliseconds for each.
BY_PARAMETERS: dict[str, Callable[..., Any]] = {
    "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "gammaincc": lambda a, x: mp.gammainc(a, x, regularized=True),
    "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "zeta": lambda s, q: mp.zeta(s, q),
}


@lru_cache(maxsize=1 << 12)
def _parts(name: str, *at: float) -> tuple[float, Array, Array]:
    """Value, gradient and Hessian."""
    f, n = BY_PARAMETERS[name], len(at)
    units = np.eye(n, dtype=int)
    with mp.workdps(25):
        slopes = [float(mp.diff(f, at, tuple(map(int, unit)))) for unit in units]
        pairs = [[float(mp.diff(f, at, tuple(map(int, u + v)))) if i <= j else 0.0
                  for j, v in enumerate(units)] for i, u in enumerate(units)]  # fmt: skip
        value = float(f(*map(mp.mpf, at)))
    upper = np.array(pairs)
    return value, np.array(slopes), upper + np.triu(upper, 1).T


def quadratic_in_all(name: str, xs: list[Array], points: list[Array]) -> Array:
    out = np.empty(xs[0].shape, np.longdouble)
    for k in np.ndindex(out.shape):
        at = [float(p[k]) for p in points]
        value, slopes, pairs = _parts(name, *at)
        step = np.array([x[k] for x in xs], np.longdouble) - at
        out[k] = value + step @ slopes + step @ pairs @ step / 2
    return out.astype(xs[0].dtype)
