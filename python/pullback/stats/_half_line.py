"""Distributions of positive numbers, and the truncated normal one, each in its standard form."""

from __future__ import annotations

import math

import numpy

from .. import _core
from .._core import Tensor
from ._density import Continuous
from ._distribution import HALF_LOG_TAU, INFINITY

_LOG_2 = math.log(2)

# Of the quadrature for the moments of truncnorm: an integrand that falls by exp(-_EXPONENT) has an
# error of 1e-15 with so many nodes on [0, 1].
_EXPONENT = 40.0
_REACH = math.sqrt(2 * _EXPONENT)
_NODES, _WEIGHTS = numpy.polynomial.legendre.leggauss(60)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1), 0.5 * _WEIGHTS
# Quantiles of smaller probabilities are computed from their logarithms.
_SMALLEST_TAIL = 1e-280


def _far_normal_quantile(log_tail: Tensor) -> Tensor:
    """Compute x < 0 whose normal probability has a logarithm below -600, by Newton's method."""
    ends = _core.isinf(log_tail)
    log_tail = _core.where(ends, -1000.0, log_tail)
    double = -2 * log_tail - 2 * HALF_LOG_TAU
    x = -_core.sqrt(double - _core.log(double))
    for _ in range(3):
        log_at = _core.log_ndtr(x)
        x = x - (log_at - log_tail) * _core.exp(log_at + 0.5 * x * x + HALF_LOG_TAU)
    return _core.where(ends, -INFINITY, x)


class HalfNorm(Continuous):
    """Represent the half-normal distribution, of the absolute value of a normal number.

    The standard density is √(2 / π) exp(-x² / 2) for x >= 0. There is no shape parameter.

    Examples
    --------
    >>> pb.stats.halfnorm.logsf([0.0, 40.0])
    Tensor([   0.    , -803.9153], dtype=float32)
    """

    name, low = "halfnorm", 0.0

    def _logpdf(self, x: Tensor) -> Tensor:
        return -0.5 * x * x - (HALF_LOG_TAU - _LOG_2)

    def _cdf(self, x: Tensor) -> Tensor:
        return _core.erf(x * math.sqrt(0.5))

    def _sf(self, x: Tensor) -> Tensor:
        return 2 * _core.ndtr(-x)

    def _logsf(self, x: Tensor) -> Tensor:
        return _LOG_2 + _core.log_ndtr(-x)

    def _ppf(self, q: Tensor) -> Tensor:
        return math.sqrt(2) * _core.erfinv(q)

    def _isf(self, q: Tensor) -> Tensor:
        return -_core.ndtri(0.5 * q)

    def _entropy(self) -> float:
        return 0.5 * math.log(0.5 * math.pi) + 0.5

    def _mean(self) -> float:
        return math.sqrt(2 / math.pi)

    def _var(self) -> float:
        return 1 - 2 / math.pi


class HalfCauchy(Continuous):
    """Represent the half-Cauchy distribution.

    The standard density is 2 / (π (1 + x²)) for x >= 0. Mean and variance are infinite. There is no
    shape parameter.

    Examples
    --------
    >>> pb.stats.halfcauchy.sf([1.0, 1e6])
    Tensor([5.0000000e-01, 6.3661975e-07], dtype=float32)
    """

    name, low = "halfcauchy", 0.0

    def _logpdf(self, x: Tensor) -> Tensor:
        return math.log(2 / math.pi) - 2 * _core.log(_core.hypot(x, 1))

    def _cdf(self, x: Tensor) -> Tensor:
        return _core.atan(x) * (2 / math.pi)

    def _sf(self, x: Tensor) -> Tensor:
        return _core.atan2(1, x) * (2 / math.pi)

    def _ppf(self, q: Tensor) -> Tensor:
        low = _core.tan(0.5 * math.pi * q)
        return _core.where(_core.less(q, 0.5), low, 1 / _core.tan(0.5 * math.pi * (1 - q)))

    def _isf(self, q: Tensor) -> Tensor:
        low = _core.tan(0.5 * math.pi * (1 - q))
        return _core.where(_core.less(q, 0.5), 1 / _core.tan(0.5 * math.pi * q), low)

    def _entropy(self) -> float:
        return math.log(2 * math.pi)

    def _mean(self) -> float:
        return INFINITY

    def _var(self) -> float:
        return INFINITY


class InvGamma(Continuous):
    """Represent the inverse gamma distribution, of the reciprocal of a gamma number.

    The standard density is x^(-a - 1) exp(-1 / x) / Γ(a) for x > 0; the shape parameter is `a` > 0.
    The mean is infinite for `a` <= 1, the variance for `a` <= 2.

    Examples
    --------
    >>> pb.stats.invgamma.cdf([0.5, 2.0], 3.0)
    Tensor([0.6766764 , 0.98561233], dtype=float32)
    """

    name, shapes, low, low_is_inside = "invgamma", ("a",), 0.0, False

    def _logpdf(self, x: Tensor, a: Tensor) -> Tensor:
        return -(a + 1) * _core.log(x) - _core.gammaln(a) - 1 / x

    def _cdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.gammaincc(a, 1 / x)

    def _sf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.gammainc(a, 1 / x)

    def _logcdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.log_gammaincc(a, 1 / x)

    def _logsf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.log_gammainc(a, 1 / x)

    def _ppf(self, q: Tensor, a: Tensor) -> Tensor:
        return 1 / _core.gammainccinv(a, q)

    def _isf(self, q: Tensor, a: Tensor) -> Tensor:
        return 1 / _core.gammaincinv(a, q)

    def _entropy(self, a: Tensor) -> Tensor:
        return a + _core.gammaln(a) - (1 + a) * _core.digamma(a)

    def _mean(self, a: Tensor) -> Tensor:
        return _core.where(_core.greater(a, 1), 1 / (a - 1), INFINITY)

    def _var(self, a: Tensor) -> Tensor:
        value = 1 / (_core.square(a - 1) * (a - 2))
        return _core.where(_core.greater(a, 2), value, INFINITY)


class F(Continuous):
    """Represent the F-distribution, of the ratio of two mean squares.

    The shape parameters are the degrees of freedom `dfn` > 0 of the numerator and `dfd` > 0 of the
    denominator. The mean is infinite for `dfd` <= 2, the variance for `dfd` <= 4.

    Examples
    --------
    >>> pb.stats.f.sf([1.0, 4.0], 3, 10)
    Tensor([0.4323372 , 0.04134768], dtype=float32)
    """

    name, shapes, low = "f", ("dfn", "dfd"), 0.0

    def _logpdf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        m, n = 0.5 * dfn, 0.5 * dfd
        scale = dfn / dfd
        tail = (m + n) * _core.log1p(scale * x)
        return m * _core.log(scale) + _core.xlogy(m - 1, x) - tail - _core.betaln(m, n)

    def _cdf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        return _core.where(
            _core.less(dfn * x, dfd),
            _core.betainc(0.5 * dfn, 0.5 * dfd, dfn * x / (dfd + dfn * x)),
            _core.betaincc(0.5 * dfd, 0.5 * dfn, dfd / (dfd + dfn * x)),
        )

    def _sf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        return _core.where(
            _core.less(dfn * x, dfd),
            _core.betaincc(0.5 * dfn, 0.5 * dfd, dfn * x / (dfd + dfn * x)),
            _core.betainc(0.5 * dfd, 0.5 * dfn, dfd / (dfd + dfn * x)),
        )

    def _ppf(self, q: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        part = _core.betaincinv(0.5 * dfn, 0.5 * dfd, q)
        return dfd * part / (dfn * _core.betainccinv(0.5 * dfd, 0.5 * dfn, q))

    def _isf(self, q: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        part = _core.betainccinv(0.5 * dfn, 0.5 * dfd, q)
        return dfd * part / (dfn * _core.betaincinv(0.5 * dfd, 0.5 * dfn, q))

    def _entropy(self, dfn: Tensor, dfd: Tensor) -> Tensor:
        m, n = 0.5 * dfn, 0.5 * dfd
        own = (1 - m) * _core.digamma(m) - (1 + n) * _core.digamma(n)
        return _core.betaln(m, n) + _core.log(dfd / dfn) + own + (m + n) * _core.digamma(m + n)

    def _mean(self, dfn: Tensor, dfd: Tensor) -> Tensor:
        return _core.where(_core.greater(dfd, 2), dfd / (dfd - 2), INFINITY)

    def _var(self, dfn: Tensor, dfd: Tensor) -> Tensor:
        square = _core.square(dfd / (dfd - 2))
        value = 2 * square * (dfn + dfd - 2) / (dfn * (dfd - 4))
        return _core.where(_core.greater(dfd, 4), value, INFINITY)


class TruncNorm(Continuous):
    """Represent the normal distribution between two limits.

    The shape parameters are the limits `a` < `b` of the standard form, in standard deviations from
    the mean; they may be infinite.

    Examples
    --------
    >>> pb.stats.truncnorm.cdf([-1.0, 0.0, 2.0], -1.0, 2.0)
    Tensor([0.        , 0.41698876, 1.        ], dtype=float32)
    """

    name, shapes = "truncnorm", ("a", "b")

    def _valid(self, a: Tensor, b: Tensor) -> list[Tensor]:
        return [_core.less(a, b)]

    def _low(self, a: Tensor, b: Tensor) -> Tensor:
        return a

    def _high(self, a: Tensor, b: Tensor) -> Tensor:
        return b

    def _part(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Compute Φ(y) - Φ(x) as a part of the larger tail probability, and its logarithm."""
        right = _core.greater(x, 0)
        sign = _core.where(right, -1.0, 1.0)
        # At an infinite end the part is 0, whatever the tail.
        top = _core.log_ndtr(_core.where(right, _core.maximum(-x, -1e150), y))

        def tail(t: Tensor) -> Tensor:
            infinite = _core.isinf(t)  # where the slope of log_ndtr is infinite or NaN
            value = _core.exp(_core.log_ndtr(sign * _core.where(infinite, 1e9, t)) - top)
            end = _core.where(_core.greater(sign * t, 0), _core.exp(-top), 0.0)
            return _core.where(infinite, end, value)

        return sign * (tail(y) - tail(x)), top

    def _log_mass(self, x: Tensor, y: Tensor) -> Tensor:
        part, top = self._part(x, y)
        return top + _core.log(part)

    def _ratio(self, x: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """Compute the probability of [x, y]."""
        (part, top), (whole, whole_top) = self._part(x, y), self._part(a, b)
        return part * _core.exp(top - whole_top) / whole

    def _density_at(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        infinite = _core.isinf(x)
        value = _core.exp(self._logpdf(_core.where(infinite, 0.0, x), a, b))
        return _core.where(infinite, 0.0, value)

    def _logpdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return -0.5 * x * x - HALF_LOG_TAU - self._log_mass(a, b)

    def _cdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._ratio(a, x, a, b)

    def _sf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._ratio(x, b, a, b)

    def _logcdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._log_mass(a, x) - self._log_mass(a, b)

    def _logsf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._log_mass(x, b) - self._log_mass(a, b)

    def _quantile(self, q: Tensor, rest: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """Compute the quantile of q = 1 - rest from the smaller tail of the normal distribution."""
        mass = _core.exp(self._log_mass(a, b))
        low, high = _core.ndtr(a) + q * mass, _core.ndtr(-b) + rest * mass
        lower = _core.less(low, 0.5)
        tail = _core.where(lower, low, high)
        is_near = _core.greater(tail, _SMALLEST_TAIL)
        near = _core.ndtri(_core.where(is_near, tail, 0.5))
        # The logarithm of the tail probability, from the limit with the larger one.
        end, part, other = (_core.where(lower, x, y) for x, y in ((b, -a), (rest, q), (a, -b)))
        top = _core.log_ndtr(_core.where(is_near, 0.0, _core.minimum(end, 0.0)))
        ratio = _core.exp(
            _core.log_ndtr(_core.where(is_near, -1.0, _core.maximum(other, -1e150))) - top
        )
        log_tail = top + _core.log1p(-part * (1 - ratio))
        far = _far_normal_quantile(_core.where(is_near, -1000.0, log_tail))
        value = _core.where(is_near, near, far)
        return _core.clip(_core.where(lower, value, -value), a, b)

    def _ppf(self, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._quantile(q, 1 - q, a, b)

    def _isf(self, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._quantile(1 - q, q, a, b)

    def _moments(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the mean, the variance and the entropy by Gauss-Legendre quadrature.

        Formulas by the densities at the limits cancel for narrow and for far intervals. Here, every
        sum has positive terms only, in distances from the limit that is nearer to 0.
        """
        mirrored = _core.less(a + b, 0)
        sign = _core.where(mirrored, -1.0, 1.0)
        near, far = _core.where(mirrored, -b, a), _core.where(mirrored, -a, b)
        # Beyond these ends, the density is less than exp(-40) of its maximum.
        start = _core.maximum(near, -_REACH)
        rise = _core.maximum(start, 0)
        reach = 2 * _EXPONENT / (rise + _core.sqrt(rise * rise + 2 * _EXPONENT))
        end = _core.minimum(far, rise + reach)
        width = end - start
        at = _core.expand_dims(width, -1) * _core.constant(_NODES, width.dtype)
        fall = (_core.expand_dims(start, -1) + 0.5 * at) * at  # (x² - start²) / 2
        density = _core.constant(_WEIGHTS, width.dtype) * _core.exp(-fall)
        total = _core.sum(density, -1)
        share = density / _core.expand_dims(total, -1)
        middle = _core.sum(share * at, -1)
        variance = _core.sum(share * _core.square(at - _core.expand_dims(middle, -1)), -1)
        entropy = _core.log(width * total) + _core.sum(share * fall, -1)
        return sign * (start + middle), variance, entropy

    def _entropy(self, a: Tensor, b: Tensor) -> Tensor:
        return self._moments(a, b)[2]

    def _mean(self, a: Tensor, b: Tensor) -> Tensor:
        return self._moments(a, b)[0]

    def _var(self, a: Tensor, b: Tensor) -> Tensor:
        return self._moments(a, b)[1]


f = F()
halfcauchy = HalfCauchy()
halfnorm = HalfNorm()
invgamma = InvGamma()
truncnorm = TruncNorm()
