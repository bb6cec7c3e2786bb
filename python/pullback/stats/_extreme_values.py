"""Distributions of extremes and of lifetimes, each in its standard form."""

from __future__ import annotations

import math

from .. import _core
from .._core import Tensor
from ._continuous import log_less_one
from ._density import Continuous
from ._distribution import INFINITY
from ._tails import with_ends

# Beyond it, exp(x) of a Gumbel or Weibull distribution makes exp(-exp(x)) and its slopes 0.
_STEEP = 8.0
# Below it, log(1 - exp(-z)) is log(z).
_SMALL = 1e-20
_EULER = 0.57721566490153286  # the Euler-Mascheroni constant


def _steep(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the condition x > 8, and x with 0 there."""
    is_steep = _core.greater(x, _STEEP)
    return is_steep, _core.where(is_steep, 0.0, x)


def _gumbel_density(x: Tensor) -> Tensor:
    is_steep, x = _steep(x)
    return _core.where(is_steep, 0.0, _core.exp(x - _core.exp(x)))


def _gumbel_lower(x: Tensor) -> Tensor:
    is_steep, x = _steep(x)
    return _core.where(is_steep, 1.0, -_core.expm1(-_core.exp(x)))


def _gumbel_upper(x: Tensor) -> Tensor:
    is_steep, x = _steep(x)
    return _core.where(is_steep, 0.0, _core.exp(-_core.exp(x)))


def _gumbel_log_lower(x: Tensor) -> Tensor:
    """Compute log(1 - exp(-exp(x))), which is x for a small exp(x)."""
    is_steep, x = _steep(x)
    is_small = _core.less(x, -50)
    z = _core.exp(_core.where(is_small, 0.0, x))
    return _core.where(is_steep, 0.0, _core.where(is_small, x, log_less_one(z)))


class GumbelR(Continuous):
    """Represent the Gumbel distribution of maxima, which is skewed to the right.

    The standard density is exp(-x - exp(-x)). There is no shape parameter.

    Examples
    --------
    >>> pb.stats.gumbel_r.cdf([-1.0, 0.0, 3.0])
    Tensor([0.06598803, 0.36787945, 0.951432  ], dtype=float32)
    """

    name = "gumbel_r"

    def _logpdf(self, x: Tensor) -> Tensor:
        return -x - _core.exp(-x)

    def _pdf(self, x: Tensor) -> Tensor:
        return _gumbel_density(-x)

    def _cdf(self, x: Tensor) -> Tensor:
        return _gumbel_upper(-x)

    def _sf(self, x: Tensor) -> Tensor:
        return _gumbel_lower(-x)

    def _logcdf(self, x: Tensor) -> Tensor:
        return -_core.exp(-x)

    def _logsf(self, x: Tensor) -> Tensor:
        return _gumbel_log_lower(-x)

    def _ppf(self, q: Tensor) -> Tensor:
        return with_ends(q, -_core.log(-_core.log(q)), -INFINITY, INFINITY)

    def _isf(self, q: Tensor) -> Tensor:
        return with_ends(q, -_core.log(-_core.log1p(-q)), INFINITY, -INFINITY)

    def _entropy(self) -> float:
        return _EULER + 1

    def _mean(self) -> float:
        return _EULER

    def _var(self) -> float:
        return math.pi**2 / 6


class GumbelL(Continuous):
    """Represent the Gumbel distribution of minima, which is skewed to the left.

    The standard density is exp(x - exp(x)). There is no shape parameter.

    Examples
    --------
    >>> pb.stats.gumbel_l.cdf([-3.0, 0.0, 1.0])
    Tensor([0.04856801, 0.63212055, 0.93401194], dtype=float32)
    """

    name = "gumbel_l"

    def _logpdf(self, x: Tensor) -> Tensor:
        return x - _core.exp(x)

    def _pdf(self, x: Tensor) -> Tensor:
        return _gumbel_density(x)

    def _cdf(self, x: Tensor) -> Tensor:
        return _gumbel_lower(x)

    def _sf(self, x: Tensor) -> Tensor:
        return _gumbel_upper(x)

    def _logcdf(self, x: Tensor) -> Tensor:
        return _gumbel_log_lower(x)

    def _logsf(self, x: Tensor) -> Tensor:
        return -_core.exp(x)

    def _ppf(self, q: Tensor) -> Tensor:
        return with_ends(q, _core.log(-_core.log1p(-q)), -INFINITY, INFINITY)

    def _isf(self, q: Tensor) -> Tensor:
        return with_ends(q, _core.log(-_core.log(q)), INFINITY, -INFINITY)

    def _entropy(self) -> float:
        return _EULER + 1

    def _mean(self) -> float:
        return -_EULER

    def _var(self) -> float:
        return math.pi**2 / 6


class WeibullMin(Continuous):
    """Represent the Weibull distribution of minima.

    The standard density is c x^(c - 1) exp(-x^c) for x >= 0; the shape parameter is `c` > 0.

    Examples
    --------
    >>> pb.stats.weibull_min.sf([0.5, 2.0], 1.5)
    Tensor([0.7021885 , 0.05910575], dtype=float32)
    """

    name, shapes, low = "weibull_min", ("c",), 0.0

    def _logpdf(self, x: Tensor, c: Tensor) -> Tensor:
        return _core.log(c) + _core.xlogy(c - 1, x) - _core.pow(x, c)

    def _power(self, x: Tensor, c: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return a condition, x and x^c; where the condition is true, exp(-x^c) is 0."""
        is_steep = _core.greater(_core.pow(x, c), math.exp(_STEEP))
        x = _core.where(is_steep, 1.0, x)
        return is_steep, x, _core.pow(x, c)

    def _pdf(self, x: Tensor, c: Tensor) -> Tensor:
        is_steep, x, power = self._power(x, c)
        return _core.where(is_steep, 0.0, c * _core.pow(x, c - 1) * _core.exp(-power))

    def _cdf(self, x: Tensor, c: Tensor) -> Tensor:
        is_steep, _, power = self._power(x, c)
        return _core.where(is_steep, 1.0, -_core.expm1(-power))

    def _sf(self, x: Tensor, c: Tensor) -> Tensor:
        is_steep, _, power = self._power(x, c)
        return _core.where(is_steep, 0.0, _core.exp(-power))

    def _logcdf(self, x: Tensor, c: Tensor) -> Tensor:
        is_steep, x, power = self._power(x, c)
        is_small = _core.less(power, _SMALL)
        value = log_less_one(_core.where(is_small, 1.0, power))
        return _core.where(is_steep, 0.0, _core.where(is_small, c * _core.log(x), value))

    def _logsf(self, x: Tensor, c: Tensor) -> Tensor:
        return -_core.pow(x, c)

    def _ppf(self, q: Tensor, c: Tensor) -> Tensor:
        return with_ends(q, _core.pow(-_core.log1p(-q), 1 / c), at_1=INFINITY)

    def _isf(self, q: Tensor, c: Tensor) -> Tensor:
        return with_ends(q, _core.pow(-_core.log(q), 1 / c), at_0=INFINITY)

    def _entropy(self, c: Tensor) -> Tensor:
        return _EULER * (1 - 1 / c) - _core.log(c) + 1

    def _mean(self, c: Tensor) -> Tensor:
        return _core.gamma(1 + 1 / c)

    def _var(self, c: Tensor) -> Tensor:
        # The difference of logarithms cancels less than that of moments for a large c.
        ratio = _core.gammaln(1 + 2 / c) - 2 * _core.gammaln(1 + 1 / c)
        return _core.square(self._mean(c)) * _core.expm1(ratio)


class Rayleigh(Continuous):
    """Represent the Rayleigh distribution, of the length of a normal vector in the plane.

    The standard density is x exp(-x² / 2) for x >= 0. There is no shape parameter.

    Examples
    --------
    >>> pb.stats.rayleigh.cdf([0.5, 2.0])
    Tensor([0.1175031 , 0.86466473], dtype=float32)
    """

    name, low = "rayleigh", 0.0

    def _logpdf(self, x: Tensor) -> Tensor:
        return _core.log(x) - 0.5 * x * x

    def _pdf(self, x: Tensor) -> Tensor:
        return x * _core.exp(-0.5 * x * x)

    def _cdf(self, x: Tensor) -> Tensor:
        return -_core.expm1(-0.5 * x * x)

    def _sf(self, x: Tensor) -> Tensor:
        return _core.exp(-0.5 * x * x)

    def _logcdf(self, x: Tensor) -> Tensor:
        square = 0.5 * x * x
        is_small = _core.less(square, _SMALL)
        value = log_less_one(_core.where(is_small, 1.0, square))
        return _core.where(is_small, 2 * _core.log(x) - math.log(2), value)

    def _logsf(self, x: Tensor) -> Tensor:
        return -0.5 * x * x

    def _ppf(self, q: Tensor) -> Tensor:
        return with_ends(q, _core.sqrt(-2 * _core.log1p(-q)), at_1=INFINITY)

    def _isf(self, q: Tensor) -> Tensor:
        return with_ends(q, _core.sqrt(-2 * _core.log(q)), at_0=INFINITY)

    def _entropy(self) -> float:
        return 1 - 0.5 * math.log(2) + 0.5 * _EULER

    def _mean(self) -> float:
        return math.sqrt(0.5 * math.pi)

    def _var(self) -> float:
        return 2 - 0.5 * math.pi


class Pareto(Continuous):
    """Represent the Pareto distribution.

    The standard density is b / x^(b + 1) for x >= 1; the shape parameter is `b` > 0. The mean is
    infinite for `b` <= 1, the variance for `b` <= 2.

    Examples
    --------
    >>> pb.stats.pareto.sf([1.0, 10.0], 2.0)
    Tensor([1.  , 0.01], dtype=float32)
    """

    name, shapes, low = "pareto", ("b",), 1.0

    def _logpdf(self, x: Tensor, b: Tensor) -> Tensor:
        return _core.log(b) - (b + 1) * _core.log(x)

    def _cdf(self, x: Tensor, b: Tensor) -> Tensor:
        return -_core.expm1(-b * _core.log(x))

    def _sf(self, x: Tensor, b: Tensor) -> Tensor:
        return _core.pow(x, -b)

    def _logcdf(self, x: Tensor, b: Tensor) -> Tensor:
        return log_less_one(b * _core.log(x))

    def _logsf(self, x: Tensor, b: Tensor) -> Tensor:
        return -b * _core.log(x)

    def _ppf(self, q: Tensor, b: Tensor) -> Tensor:
        return _core.exp(-_core.log1p(-q) / b)

    def _isf(self, q: Tensor, b: Tensor) -> Tensor:
        return _core.pow(q, -1 / b)

    def _entropy(self, b: Tensor) -> Tensor:
        return 1 + 1 / b - _core.log(b)

    def _mean(self, b: Tensor) -> Tensor:
        return _core.where(_core.greater(b, 1), b / (b - 1), INFINITY)

    def _var(self, b: Tensor) -> Tensor:
        value = b / (_core.square(b - 1) * (b - 2))
        return _core.where(_core.greater(b, 2), value, INFINITY)


gumbel_l = GumbelL()
gumbel_r = GumbelR()
pareto = Pareto()
rayleigh = Rayleigh()
weibull_min = WeibullMin()
