"""The one table of functions whose accuracy is measured, here and in core/test_accuracy.py: ours,
the exact one of mpmath with its slopes, and where it is real. Without slopes they are mpmath's
differences of the exact one. Functions of several arguments are measured in one, the others fixed.
What only chooses, rounds to integers or changes a sign is exact, and not listed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath as mp

import pullback as pb
from pullback import special as s

INFINITY = float("inf")
HALF_PI = 1.5707963267948966

Exact = Callable[[Any], Any]


@dataclass(frozen=True)
class Function:
    ours: Callable[[Any], Any]
    exact: Exact
    slope: Exact | None = None
    second: Exact | None = None
    low: float = -INFINITY
    high: float = INFINITY
    # Points near which errors are measured on purpose: roots, ends of the domain, seams.
    hard: tuple[float, ...] = ()
    # The size of the terms that cancel near roots of value, slope and second derivative: errors of
    # what is smaller are in units of this size. 0 where none is lost.
    sizes: tuple[float, float, float] = (0.0, 0.0, 0.0)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x)) if x >= 0 else mp.exp(x) / (1 + mp.exp(x))


def sigmoid_slope(x: Any) -> Any:
    return sigmoid(x) * sigmoid(-x)


def softplus(x: Any) -> Any:
    return mp.log1p(mp.exp(-abs(x))) + max(x, 0)


def lower_gamma(a: Any) -> Any:
    return mp.gammainc(a, 0, 2.5, regularized=True)


def lower_beta(a: Any) -> Any:
    return mp.betainc(a, 2.5, 0, 0.25, regularized=True)


def student(n: Any) -> Any:
    return 1 - mp.betainc(n / 2, 0.5, 0, n / (n + 2.25), regularized=True) / 2


def difference(f: Exact) -> Exact:
    """The derivative of a function without a formula for it, to some 40 digits of the 60."""

    def slope(x: Any) -> Any:
        h = x * mp.mpf(10) ** -20
        return (f(x + h) - f(x - h)) / (2 * h)

    return slope


def second_difference(f: Exact) -> Exact:
    def second(x: Any) -> Any:
        h = x * mp.mpf(10) ** -14
        return (f(x + h) - 2 * f(x) + f(x - h)) / h**2

    return second


def bell(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def erfc(x: Any) -> Any:
    if x < 1e8:
        return mp.erfc(x)
    r = 1 / (2 * x * x)
    return mp.exp(-x * x) / (x * mp.sqrt(mp.pi)) * (1 - r + 3 * r**2 - 15 * r**3 + 105 * r**4)


def ndtr(x: Any) -> Any:
    return erfc(-x / mp.sqrt(2)) / 2


def mills(x: Any) -> Any:
    return bell(x) / ndtr(x)


def sign(x: Any) -> Any:
    return -1 if x < 0 else 1


def erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_slope(x: Any) -> Any:
    with mp.extradps(40 + int(2 * max(0, mp.log10(abs(x) + 1)))):
        return 2 * x * erfcx(x) - 2 / mp.sqrt(mp.pi)


def erfcx_second(x: Any) -> Any:
    with mp.extradps(40 + int(4 * max(0, mp.log10(abs(x) + 1)))):
        return 2 * erfcx(x) + 2 * x * erfcx_slope(x)


def ndtri(p: Any) -> Any:
    if p > mp.mpf(0.5):
        return -ndtri(1 - p)
    x = -mp.sqrt(-2 * mp.log(p)) if p < mp.mpf(0.02) else mp.sqrt(2) * mp.erfinv(2 * p - 1)
    if p < mp.mpf(0.02):
        for _ in range(40):  # Newton on log(ndtr)
            step = (mp.log(ndtr(x)) - mp.log(p)) / mills(x)
            x -= step
            if abs(step) < abs(x) * mp.mpf(10) ** (-mp.mp.dps + 5):
                break
    return x


def erfcinv(p: Any) -> Any:
    return -ndtri(p / 2) / mp.sqrt(2)


def logaddexp(x: Any, y: float) -> Any:
    return softplus(x - y) + y


def bessel(ours: Any, whole: Any, n: float, *hard: float) -> Function:
    """J, Y or I of the order n, with derivatives by DLMF 10.6.1 and 10.29.1."""
    waves = whole is not mp.besseli
    sign = -1 if waves else 1
    far = 100.0 if waves else 800.0

    def f(k: float, x: Any) -> Any:
        return sign ** (k < 0 and k % 2) * whole(abs(k), x)

    def slope(x: Any) -> Any:
        return (f(n - 1, x) + sign * f(n + 1, x)) / 2

    def second(x: Any) -> Any:
        return (f(n - 2, x) + 2 * sign * f(n, x) + f(n + 2, x)) / 4

    return Function(ours, lambda x: f(n, x), slope, second,
                    0.0 if whole is mp.bessely or n != int(n) else -far,
                    far, hard, (0.0, 0.1, 0.1) if waves else (0.0, 0.0, 0.0))  # fmt: skip


def scaled(ours: Any, n: float, slope_size: float = 0.0,
           second_size: float = 0.0) -> Function:  # fmt: skip
    """exp(-x) I(x) for x > 0, of the order n."""
    of = bessel(ours, mp.besseli, n)
    first, second = of.slope, of.second
    assert first and second
    return Function(ours, lambda x: mp.exp(-x) * of.exact(x),
                    lambda x: mp.exp(-x) * (first(x) - of.exact(x)),
                    lambda x: mp.exp(-x) * (second(x) - 2 * first(x) + of.exact(x)),
                    low=0.0, high=1e4, sizes=(0.0, slope_size, second_size))  # fmt: skip


def gap(n: int, x: Any) -> Any:
    return mp.psi(n, x) - mp.psi(n, x + 2.5)


def rgamma_second(x: Any) -> Any:
    if x < 1e-40:  # its series at 0: DLMF 5.7.1
        return 2 * mp.euler + (3 * mp.euler**2 - mp.pi**2 / 2) * x
    with mp.extradps(100):  # both terms are x**-2 near 0
        return mp.rgamma(x) * (mp.digamma(x) ** 2 - mp.psi(1, x))


def gamma_density(a: Any, x: Any) -> Any:
    return mp.exp((a - 1) * mp.log(x) - x - mp.loggamma(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mp.beta(a, b)


def power(p: float) -> Function:
    return Function(lambda x: x**p, lambda x: x**p, lambda x: p * x ** (p - 1),
                    lambda x: p * (p - 1) * x ** (p - 2), low=0.0)  # fmt: skip


def ln(n: int) -> Any:
    return mp.log(n)


FUNCTIONS: dict[str, Function] = {
    # --- exponentials, logarithms, powers
    "exp": Function(pb.exp, mp.exp, mp.exp, mp.exp),
    "exp2": Function(pb.exp2, lambda x: 2**x, lambda x: ln(2) * 2**x, lambda x: ln(2)**2 * 2**x),
    "expm1": Function(pb.expm1, mp.expm1, mp.exp, mp.exp),
    "log": Function(pb.log, mp.log, lambda x: 1 / x, lambda x: -1 / x**2, low=0.0, hard=(1.0,)),
    "log2": Function(pb.log2, lambda x: mp.log(x) / ln(2), lambda x: 1 / (x * ln(2)),
                     lambda x: -1 / (x**2 * ln(2)), low=0.0, hard=(1.0,)),
    "log10": Function(pb.log10, lambda x: mp.log(x) / ln(10), lambda x: 1 / (x * ln(10)),
                      lambda x: -1 / (x**2 * ln(10)), low=0.0, hard=(1.0,)),
    "log1p": Function(pb.log1p, mp.log1p, lambda x: 1 / (1 + x), lambda x: -1 / (1 + x) ** 2,
                      low=-1.0),
    "sqrt": Function(pb.sqrt, mp.sqrt, lambda x: 1 / (2 * mp.sqrt(x)), lambda x: -1 / (4 * x**1.5),
                     low=0.0),
    "rsqrt": Function(pb.rsqrt, lambda x: 1 / mp.sqrt(x), lambda x: -(x**-1.5) / 2,
                      lambda x: 3 * x**-2.5 / 4, low=0.0),
    "cbrt": Function(pb.cbrt, lambda x: sign(x) * mp.cbrt(abs(x)),
                     lambda x: 1 / (3 * mp.cbrt(x * x)),
                     lambda x: -2 * sign(x) / (9 * mp.cbrt(abs(x)) ** 5)),
    "reciprocal": Function(pb.reciprocal, lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3),
    "square": Function(pb.square, lambda x: x * x, lambda x: 2 * x, lambda x: mp.mpf(2)),
    "x**3": Function(lambda x: x**3, lambda x: x**3, lambda x: 3 * x**2, lambda x: 6 * x),
    "x**-0.5": power(-0.5),
    "x**2.5": power(2.5),
    "2.5**x": Function(lambda x: 2.5**x, lambda x: mp.mpf(2.5)**x,
                       lambda x: mp.log(2.5) * mp.mpf(2.5)**x,
                       lambda x: mp.log(2.5)**2 * mp.mpf(2.5)**x),
    "logaddexp(x, 1)": Function(lambda x: pb.logaddexp(x, 1.0), lambda x: logaddexp(x, 1),
                                lambda x: sigmoid(x - 1), lambda x: sigmoid_slope(x - 1)),
    "logaddexp2(x, 1)": Function(lambda x: pb.logaddexp2(x, 1.0),
                                 lambda x: logaddexp(x * ln(2), ln(2)) / ln(2),
                                 lambda x: sigmoid((x - 1) * ln(2)),
                                 lambda x: ln(2) * sigmoid_slope((x - 1) * ln(2))),
    # --- trigonometric and hyperbolic
    "sin": Function(pb.sin, mp.sin, mp.cos, lambda x: -mp.sin(x), hard=(2 * HALF_PI, 4 * HALF_PI)),
    "cos": Function(pb.cos, mp.cos, lambda x: -mp.sin(x), lambda x: -mp.cos(x),
                    hard=(HALF_PI, 3 * HALF_PI)),
    "tan": Function(pb.tan, mp.tan, lambda x: mp.sec(x)**2, lambda x: 2 * mp.tan(x) * mp.sec(x)**2,
                    hard=(HALF_PI, 2 * HALF_PI)),
    "asin": Function(pb.asin, mp.asin, lambda x: 1 / mp.sqrt(1 - x * x),
                     lambda x: x / (1 - x * x)**1.5, low=-1.0, high=1.0, hard=(1.0,)),
    "acos": Function(pb.acos, mp.acos, lambda x: -1 / mp.sqrt(1 - x * x),
                     lambda x: -x / (1 - x * x)**1.5, low=-1.0, high=1.0, hard=(1.0,)),
    "atan": Function(pb.atan, mp.atan, lambda x: 1 / (1 + x * x),
                     lambda x: -2 * x / (1 + x * x)**2),
    "atan2(x, 2)": Function(lambda x: pb.atan2(x, 2.0), lambda x: mp.atan(x / 2),
                            lambda x: 2 / (4 + x * x), lambda x: -4 * x / (4 + x * x)**2),
    "hypot(x, 2)": Function(lambda x: pb.hypot(x, 2.0), lambda x: mp.sqrt(x * x + 4),
                            lambda x: x / mp.sqrt(x * x + 4), lambda x: 4 / (x * x + 4)**1.5),
    "sinh": Function(pb.sinh, mp.sinh, mp.cosh, mp.sinh),
    "cosh": Function(pb.cosh, mp.cosh, mp.sinh, mp.cosh),
    "tanh": Function(pb.tanh, mp.tanh, lambda x: mp.sech(x) ** 2,
                     lambda x: -2 * mp.tanh(x) * mp.sech(x) ** 2),
    "asinh": Function(pb.asinh, mp.asinh, lambda x: 1 / mp.sqrt(1 + x * x),
                      lambda x: -x / (1 + x * x)**1.5),
    "acosh": Function(pb.acosh, mp.acosh, lambda x: 1 / mp.sqrt(x * x - 1),
                      lambda x: -x / (x * x - 1)**1.5, low=1.0, hard=(1.0,)),
    "atanh": Function(pb.atanh, mp.atanh, lambda x: 1 / (1 - x * x),
                      lambda x: 2 * x / (1 - x * x)**2,
                      low=-1.0, high=1.0, hard=(1.0,)),
    "sinc": Function(pb.sinc, mp.sincpi, low=-1e4, high=1e4, hard=(1.0, 0.6625862, 1.4302966),
                     sizes=(0.0, 1e-2, 1e-3)),
    # --- activations
    "sigmoid": Function(pb.sigmoid, sigmoid, sigmoid_slope,
                        lambda x: -sigmoid_slope(x) * mp.tanh(x / 2)),
    "softplus": Function(pb.softplus, softplus, sigmoid, sigmoid_slope),
    "log_sigmoid": Function(pb.nn.log_sigmoid, lambda x: -softplus(-x), lambda x: sigmoid(-x),
                            lambda x: -sigmoid_slope(x)),
    "silu": Function(pb.nn.silu, lambda x: x * sigmoid(x),
                     lambda x: sigmoid(x) * (1 + x * sigmoid(-x)),
                     lambda x: sigmoid_slope(x) * (2 - x * mp.tanh(x / 2)),
                     sizes=(0.0, 0.25, 0.25)),
    "gelu": Function(pb.nn.gelu, lambda x: x * ndtr(x), lambda x: ndtr(x) + x * bell(x),
                     lambda x: bell(x) * (2 - x * x), sizes=(0.0, 0.25, 0.25)),
    "elu": Function(pb.nn.elu, lambda x: x if x > 0 else mp.expm1(x),
                    lambda x: mp.mpf(1) if x > 0 else mp.exp(x),
                    lambda x: mp.mpf(0) if x >= 0 else mp.exp(x)),
    "mish": Function(pb.nn.mish, lambda x: x * mp.tanh(softplus(x)), low=-1e4, high=1e4,
                     sizes=(0.0, 0.25, 0.25)),
    "softsign": Function(pb.nn.softsign, lambda x: x / (1 + abs(x)), lambda x: 1 / (1 + abs(x))**2,
                         lambda x: -2 * sign(x) / (1 + abs(x))**3),
    # --- relatives of the error function
    "erf": Function(s.erf, mp.erf, lambda x: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
                    lambda x: -4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    "erfc": Function(s.erfc, erfc, lambda x: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x),
                     lambda x: 4 * x / mp.sqrt(mp.pi) * mp.exp(-x * x)),
    "erfcx": Function(s.erfcx, erfcx, erfcx_slope, erfcx_second, low=-30.0, high=1e6),
    "erfinv": Function(s.erfinv, mp.erfinv,
                       lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(mp.erfinv(x)**2),
                       lambda x: mp.pi / 2 * mp.erfinv(x) * mp.exp(2 * mp.erfinv(x)**2),
                       low=-1.0, high=1.0, hard=(1.0,)),
    "erfcinv": Function(s.erfcinv, erfcinv, lambda x: -mp.sqrt(mp.pi) / 2 * mp.exp(erfcinv(x)**2),
                        lambda x: mp.pi / 2 * erfcinv(x) * mp.exp(2 * erfcinv(x)**2),
                        low=0.0, high=2.0, hard=(1.0,)),
    "ndtr": Function(s.ndtr, ndtr, bell, lambda x: -x * bell(x)),
    "ndtri": Function(s.ndtri, ndtri, lambda x: 1 / bell(ndtri(x)),
                      lambda x: ndtri(x) / bell(ndtri(x))**2, low=0.0, high=1.0, hard=(0.5, 1.0)),
    "log_ndtr": Function(s.log_ndtr, lambda x: mp.log(ndtr(x)) if x < 0 else mp.log1p(-ndtr(-x)),
                         mills, lambda x: -mills(x) * (x + mills(x)), low=-1e6),
    # --- logarithms of ratios, entropies
    "logit": Function(s.logit, lambda x: mp.log(x / (1 - x)), lambda x: 1 / (x * (1 - x)),
                      lambda x: (2 * x - 1) / (x * (1 - x))**2, low=0.0, high=1.0, hard=(0.5, 1.0)),
    "log_expit": Function(s.log_expit, lambda x: -softplus(-x), lambda x: sigmoid(-x),
                          lambda x: -sigmoid_slope(x)),
    "entr": Function(s.entr, lambda x: -x * mp.log(x), lambda x: -mp.log(x) - 1, lambda x: -1 / x,
                     low=0.0, hard=(1.0, 0.36787944117144233)),
    "rel_entr(x, 1)": Function(lambda x: s.rel_entr(x, 1.0), lambda x: x * mp.log(x),
                               lambda x: mp.log(x) + 1, lambda x: 1 / x, low=0.0,
                               hard=(1.0, 0.36787944117144233)),
    "kl_div(x, 1)": Function(lambda x: s.kl_div(x, 1.0), lambda x: x * mp.log(x) - x + 1, mp.log,
                             lambda x: 1 / x, low=0.0, hard=(1.0,)),
    "xlogy(2.5, x)": Function(lambda x: s.xlogy(2.5, x), lambda x: 2.5 * mp.log(x),
                              lambda x: 2.5 / x, lambda x: -2.5 / x**2, low=0.0, hard=(1.0,)),
    "xlog1py(2.5, x)": Function(lambda x: s.xlog1py(2.5, x), lambda x: 2.5 * mp.log1p(x),
                                lambda x: 2.5 / (1 + x), lambda x: -2.5 / (1 + x)**2, low=-1.0),
    # --- the gamma family
    "gammaln": Function(s.gammaln, mp.loggamma, mp.digamma, lambda x: mp.psi(1, x), low=0.0,
                        hard=(1.0, 2.0)),
    "digamma": Function(s.digamma, mp.digamma, lambda x: mp.psi(1, x), lambda x: mp.psi(2, x),
                        low=0.0, hard=(1.4616321449683622,)),
    "polygamma(1, x)": Function(lambda x: s.polygamma(1, x), lambda x: mp.psi(1, x),
                                lambda x: mp.psi(2, x), lambda x: mp.psi(3, x), low=0.0),
    "gamma": Function(s.gamma, mp.gamma, lambda x: mp.gamma(x) * mp.digamma(x),
                      lambda x: mp.gamma(x) * (mp.digamma(x)**2 + mp.psi(1, x)), low=0.0, high=1e6),
    "rgamma": Function(s.rgamma, mp.rgamma, lambda x: -mp.rgamma(x) * mp.digamma(x), rgamma_second,
                       low=0.0, high=1e6, sizes=(0.0, 0.0, 1e-3)),
    "beta(x, 2.5)": Function(lambda x: s.beta(x, 2.5), lambda x: mp.beta(x, 2.5),
                             lambda x: mp.beta(x, 2.5) * gap(0, x),
                             lambda x: mp.beta(x, 2.5) * (gap(0, x)**2 + gap(1, x)),
                             low=0.0, high=1e6),
    "betaln(x, 2.5)": Function(lambda x: s.betaln(x, 2.5), lambda x: mp.log(mp.beta(x, 2.5)),
                               lambda x: gap(0, x), lambda x: gap(1, x), low=0.0, high=1e6),
    "gammainc(2.5, x)": Function(lambda x: s.gammainc(2.5, x),
                                 lambda x: mp.gammainc(2.5, 0, x, regularized=True),
                                 lambda x: gamma_density(2.5, x),
                                 lambda x: gamma_density(2.5, x) * (1.5 / x - 1),
                                 low=0.0, high=1e3),
    "gammaincc(2.5, x)": Function(lambda x: s.gammaincc(2.5, x),
                                  lambda x: mp.gammainc(2.5, x, regularized=True),
                                  lambda x: -gamma_density(2.5, x),
                                  lambda x: -gamma_density(2.5, x) * (1.5 / x - 1),
                                  low=0.0, high=1e3),
    "betainc(1.5, 2.5, x)": Function(lambda x: s.betainc(1.5, 2.5, x),
                                     lambda x: mp.betainc(1.5, 2.5, 0, x, regularized=True),
                                     lambda x: beta_density(1.5, 2.5, x),
                                     lambda x: (beta_density(1.5, 2.5, x)
                                                * (0.5 / x - 1.5 / (1 - x))),
                                     low=0.0, high=1.0, hard=(1.0,)),
    "gammainc(x, 2.5)": Function(lambda x: s.gammainc(x, 2.5), lower_gamma,
                                 difference(lower_gamma), second_difference(lower_gamma),
                                 low=1e-6, high=300.0),
    "betainc(x, 2.5, 0.25)": Function(lambda x: s.betainc(x, 2.5, 0.25), lower_beta,
                                     difference(lower_beta), second_difference(lower_beta),
                                     low=1e-3, high=300.0),
    "stdtr(x, 1.5)": Function(lambda x: s.stdtr(x, 1.5), student,
                              difference(student), second_difference(student),
                              low=1e-3, high=1e4),
    "zeta(x)": Function(lambda x: s.zeta(x), mp.zeta, lambda x: mp.zeta(x, 1, 1),
                        lambda x: mp.zeta(x, 1, 2),
                        low=1.0, high=100.0, hard=(1.0,)),
    "zeta(2.5, x)": Function(lambda x: s.zeta(2.5, x), lambda x: mp.zeta(2.5, x),
                             lambda x: -2.5 * mp.zeta(3.5, x), lambda x: 8.75 * mp.zeta(4.5, x),
                             low=0.0, high=1e6),
    # --- Bessel functions
    "j0": bessel(s.j0, mp.besselj, 0, 2.404825557695773),
    "j1": bessel(s.j1, mp.besselj, 1, 3.8317059702075125),
    "jn(3, x)": bessel(lambda x: s.jn(3, x), mp.besselj, 3),
    "y0": bessel(s.y0, mp.bessely, 0, 0.8935769662791675),
    "y1": bessel(s.y1, mp.bessely, 1, 2.197141326031017),
    "yn(3, x)": bessel(lambda x: s.yn(3, x), mp.bessely, 3),
    "i0": bessel(s.i0, mp.besseli, 0),
    "i1": bessel(s.i1, mp.besseli, 1),
    "iv(2.5, x)": bessel(lambda x: s.iv(2.5, x), mp.besseli, 2.5),
    "i0e": scaled(s.i0e, 0),
    "i1e": scaled(s.i1e, 1, 0.1),
    "ive(2.5, x)": scaled(lambda x: s.ive(2.5, x), 2.5, 0.01, 0.001),
}  # fmt: skip
