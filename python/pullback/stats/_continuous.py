"""Continuous distributions with elementary functions, each in its standard form."""

from __future__ import annotations

import math

from .. import _core
from .._core import Tensor
from ._density import Continuous, Symmetric
from ._distribution import HALF_LOG_TAU, INFINITY, NAN, half_square
from ._tails import with_ends

_LOG_2 = math.log(2)


def log_less_one(z: Tensor) -> Tensor:
    """Compute log(1 - exp(-z)) for z >= 0."""
    small = _core.less(z, _LOG_2)
    return _core.where(small, _core.log(-_core.expm1(-z)), _core.log1p(-_core.exp(-z)))


class Norm(Symmetric):
    """Represent the normal distribution with mean `loc` and standard deviation `scale`.

    The standard density is exp(-x² / 2) / √(2π). There is no shape parameter.

    Examples
    --------
    >>> pb.stats.norm.logsf([0.0, 40.0])
    Tensor([-6.9314718e-01, -8.0460846e+02], dtype=float32)
    """

    name, digits_in_float32 = "norm", True

    def _logpdf(self, x: Tensor) -> Tensor:
        return -half_square(x) - HALF_LOG_TAU

    def _cdf(self, x: Tensor) -> Tensor:
        return _core.ndtr(x)

    def _logcdf(self, x: Tensor) -> Tensor:
        return _core.log_ndtr(x)

    def _ppf(self, q: Tensor) -> Tensor:
        return _core.ndtri(q)

    def _entropy(self) -> float:
        return 0.5 + HALF_LOG_TAU

    def _var(self) -> float:
        return 1.0


class Expon(Continuous):
    """Represent the exponential distribution of rate 1 / `scale`.

    The standard density is exp(-x) for x >= 0. There is no shape parameter.

    Examples
    --------
    >>> pb.stats.expon.ppf([0.0, 0.5], scale=2.0)
    Tensor([0.       , 1.3862944], dtype=float32)
    """

    name, low, digits_in_float32 = "expon", 0.0, True

    def _logpdf(self, x: Tensor) -> Tensor:
        return -x

    def _cdf(self, x: Tensor) -> Tensor:
        return -_core.expm1(-x)

    def _sf(self, x: Tensor) -> Tensor:
        return _core.exp(-x)

    def _logcdf(self, x: Tensor) -> Tensor:
        return log_less_one(_core.cast(x, "float64"))  # three rounded steps exceed one ulp

    def _logsf(self, x: Tensor) -> Tensor:
        return -x

    def _ppf(self, q: Tensor) -> Tensor:
        return -_core.log1p(-q)

    def _isf(self, q: Tensor) -> Tensor:
        return -_core.log(q)

    def _entropy(self) -> float:
        return 1.0

    def _mean(self) -> float:
        return 1.0

    def _var(self) -> float:
        return 1.0


class Laplace(Symmetric):
    """Represent the Laplace (double exponential) distribution.

    The standard density is exp(-|x|) / 2. There is no shape parameter.

    Examples
    --------
    >>> pb.stats.laplace.logcdf([-50.0, 0.0])
    Tensor([-50.693146 ,  -0.6931472], dtype=float32)
    """

    name = "laplace"

    def _logpdf(self, x: Tensor) -> Tensor:
        return -_core.abs(x) - _LOG_2

    def _cdf(self, x: Tensor) -> Tensor:
        return _core.where(_core.less(x, 0), 0.5 * _core.exp(x), 1 - 0.5 * _core.exp(-x))

    def _logcdf(self, x: Tensor) -> Tensor:
        return _core.where(_core.less(x, 0), x - _LOG_2, _core.log1p(-0.5 * _core.exp(-x)))

    def _ppf(self, q: Tensor) -> Tensor:
        return _core.where(_core.less(q, 0.5), _core.log(2 * q), -_core.log(2 * (1 - q)))

    def _entropy(self) -> float:
        return 1 + _LOG_2

    def _var(self) -> float:
        return 2.0


class Logistic(Symmetric):
    """Represent the logistic distribution.

    The standard distribution function is `sigmoid`. There is no shape parameter.

    Examples
    --------
    >>> pb.stats.logistic.logsf([0.0, 1000.0])
    Tensor([-6.931472e-01, -1.000000e+03], dtype=float32)
    """

    name = "logistic"

    def _logpdf(self, x: Tensor) -> Tensor:
        return -_core.softplus(x) - _core.softplus(-x)

    def _pdf(self, x: Tensor) -> Tensor:
        return _core.sigmoid_slope(x)

    def _cdf(self, x: Tensor) -> Tensor:
        return _core.sigmoid(x)

    def _logcdf(self, x: Tensor) -> Tensor:
        return -_core.softplus(-x)

    def _ppf(self, q: Tensor) -> Tensor:
        return _core.logit(q)

    def _entropy(self) -> float:
        return 2.0

    def _var(self) -> float:
        return math.pi**2 / 3


class Cauchy(Symmetric):
    """Represent the Cauchy distribution.

    The standard density is 1 / (π (1 + x²)). Mean and variance do not exist and are NaN. There is
    no shape parameter.

    Examples
    --------
    >>> pb.stats.cauchy.sf([0.0, 1e6])
    Tensor([5.0000000e-01, 3.1830987e-07], dtype=float32)
    """

    name = "cauchy"

    def _logpdf(self, x: Tensor) -> Tensor:
        return -2 * _core.log(_core.hypot(x, 1)) - math.log(math.pi)

    def _cdf(self, x: Tensor) -> Tensor:
        return _core.atan2(1, -x) / math.pi

    def _ppf(self, q: Tensor) -> Tensor:
        middle = _core.less_equal(_core.abs(q - 0.5), 0.25)
        low = -1 / _core.tan(math.pi * q)
        high = 1 / _core.tan(math.pi * (1 - q))
        ends = _core.where(_core.less(q, 0.5), low, high)
        return _core.where(middle, _core.tan(math.pi * (q - 0.5)), ends)

    def _entropy(self) -> float:
        return math.log(4 * math.pi)

    def _mean(self) -> float:
        return NAN

    def _var(self) -> float:
        return NAN


class LogNorm(Continuous):
    """Represent the log-normal distribution.

    It is the distribution of exp(`s` z), where z is standard normal; the shape parameter is `s` >
    0.

    Examples
    --------
    >>> pb.stats.lognorm.ppf([0.5, 0.9], 0.5, scale=3.0)
    Tensor([3.       , 5.6938577], dtype=float32)
    """

    name, shapes, low, low_is_inside = "lognorm", ("s",), 0.0, False

    def _logpdf(self, x: Tensor, s: Tensor) -> Tensor:
        log = _core.log(x)
        return -half_square(log / s) - log - _core.log(s) - HALF_LOG_TAU

    def _cdf(self, x: Tensor, s: Tensor) -> Tensor:
        return _core.ndtr(_core.log(x) / s)

    def _sf(self, x: Tensor, s: Tensor) -> Tensor:
        return _core.ndtr(-_core.log(x) / s)

    def _logcdf(self, x: Tensor, s: Tensor) -> Tensor:
        return _core.log_ndtr(_core.log(x) / s)

    def _logsf(self, x: Tensor, s: Tensor) -> Tensor:
        return _core.log_ndtr(-_core.log(x) / s)

    def _ppf(self, q: Tensor, s: Tensor) -> Tensor:
        return with_ends(q, _core.exp(s * _core.ndtri(q)), 0.0, INFINITY)

    def _isf(self, q: Tensor, s: Tensor) -> Tensor:
        return with_ends(q, _core.exp(-s * _core.ndtri(q)), INFINITY, 0.0)

    def _entropy(self, s: Tensor) -> Tensor:
        return _core.log(s) + (0.5 + HALF_LOG_TAU)

    def _mean(self, s: Tensor) -> Tensor:
        return _core.exp(half_square(s))

    def _var(self, s: Tensor) -> Tensor:
        return _core.expm1(_core.square(s)) * _core.exp(_core.square(s))


class Uniform(Continuous):
    """Represent the uniform distribution on [`loc`, `loc` + `scale`].

    There is no shape parameter.

    Examples
    --------
    >>> pb.stats.uniform.cdf([-1.0, 1.0, 5.0], scale=4.0)
    Tensor([0.  , 0.25, 1.  ], dtype=float32)
    """

    name, low = "uniform", 0.0

    def _high(self) -> float:
        return 1.0

    def _logpdf(self, x: Tensor) -> Tensor:
        return _core.multiply(x, 0)

    def _cdf(self, x: Tensor) -> Tensor:
        return x

    def _sf(self, x: Tensor) -> Tensor:
        return 1 - x

    def _logcdf(self, x: Tensor) -> Tensor:
        return _core.log(x)

    def _logsf(self, x: Tensor) -> Tensor:
        return _core.log1p(-x)

    def _ppf(self, q: Tensor) -> Tensor:
        return q

    def _isf(self, q: Tensor) -> Tensor:
        return 1 - q

    def _entropy(self) -> float:
        return 0.0

    def _mean(self) -> float:
        return 0.5

    def _var(self) -> float:
        return 1 / 12


cauchy = Cauchy()
expon = Expon()
laplace = Laplace()
logistic = Logistic()
lognorm = LogNorm()
norm = Norm()
uniform = Uniform()
