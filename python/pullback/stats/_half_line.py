"""Distributions of positive numbers, each in its standard form."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._core import Tensor
from ._density import Continuous
from ._distribution import HALF_LOG_TAU, INFINITY, positive
from ._tails import log_betainc, with_ends

_LOG_2 = math.log(2)
_MANY = 1e30  # degrees of freedom


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
        return with_ends(q, 1 / _core.gammainccinv(a, q), 0.0, INFINITY)

    def _isf(self, q: Tensor, a: Tensor) -> Tensor:
        return with_ends(q, 1 / _core.gammaincinv(a, q), INFINITY, 0.0)

    def _entropy(self, a: Tensor) -> Tensor:
        return a + _core.gammaln(a) - (1 + a) * _core.digamma(a)

    def _mean(self, a: Tensor) -> Tensor:
        return _core.where(_core.greater(a, 1), 1 / (a - 1), INFINITY)

    def _var(self, a: Tensor) -> Tensor:
        value = 1 / (_core.square(a - 1) * (a - 2))
        return _core.where(_core.greater(a, 2), value, INFINITY)


class _Ratio:
    """Store the argument of the beta functions in an F-distribution, dfn x / (dfd + dfn x)."""

    def __init__(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> None:
        self.m, self.n = 0.5 * dfn, 0.5 * dfd
        self.log_scale = _core.log(dfn / dfd)
        self.log_x, scale = _core.log(x), dfn / dfd
        scale = _core.where(_core.equal(x, 0), _core.stop_gradient(scale), scale)
        self.is_small = _core.less(x * scale, 1)
        # The ratio dfn x / dfd if it is small, else its reciprocal.
        self.small = _core.where(self.is_small, scale * x, 0.5)
        self.large = _core.where(self.is_small, 0.5, 1 / scale / x)
        small, large = self.small, self.large
        # Where the slope of the beta function is infinite, that of its argument is 1.
        is_steep = _core.logical_and(_core.equal(x, 0), _core.less(self.m, 1))
        part = _core.where(is_steep, small, small / (1 + small))
        self.part = _core.where(self.is_small, part, 1 / (1 + large))
        self.rest = _core.where(self.is_small, 1 / (1 + small), large / (1 + large))

    def log_parts(self) -> tuple[Tensor, Tensor]:
        """Return the logarithms of the argument and of its complement."""
        one, two = -_core.log1p(self.small), -_core.log1p(self.large)
        log = self.log_x + self.log_scale
        return _core.where(self.is_small, log + one, two), _core.where(
            self.is_small, one, two - log
        )


def _linear(*terms: tuple[Tensor, Tensor]) -> Tensor:
    """Return 0 with the given slope by each tensor, also if a slope of 0 is multiplied by inf."""
    total: Any = 0
    for x, slope in terms:
        rise = _core.stop_gradient(slope) * (x - _core.stop_gradient(x))
        total = total + _core.where(_core.equal(slope, 0), 0, rise)
    return total  # type: ignore[no-any-return]


class F(Continuous):
    """Represent the F-distribution, of the ratio of two mean squares.

    The shape parameters are the degrees of freedom `dfn` > 0 of the numerator and `dfd` > 0 of the
    denominator. One of them may be infinite. The mean is infinite for `dfd` <= 2, the variance for
    `dfd` <= 4.

    Examples
    --------
    >>> pb.stats.f.sf([1.0, 4.0], 3, 10)
    Tensor([0.4323372 , 0.04134768], dtype=float32)
    """

    name, shapes, low = "f", ("dfn", "dfd"), 0.0

    def _valid(self, dfn: Tensor, dfd: Tensor) -> list[Tensor]:
        return [*positive(dfn, dfd), _core.isfinite(_core.minimum(dfn, dfd))]

    def _standard_parameters(self, shapes: list[Tensor], scale: Any) -> tuple[list[Tensor], Any]:
        # The distribution of these many degrees of freedom has the limits to all digits.
        return [_core.where(_core.isinf(df), _MANY, df) for df in shapes], scale

    def _logpdf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        at = _Ratio(x, dfn, dfd)
        total = at.m + at.n
        small = _core.xlogy(at.m - 1, x) + at.m * at.log_scale - total * _core.log1p(at.small)
        log = at.log_x + at.log_scale
        large = at.log_scale - (at.n + 1) * log - total * _core.log1p(at.large)
        return _core.where(at.is_small, small, large) - _core.betaln(at.m, at.n)

    def _pdf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        # At 0, the slopes of a power are right, those of a logarithm are infinite.
        is_zero = _core.equal(x, 0)
        m, n, scale = 0.5 * dfn, 0.5 * dfd, dfn / dfd
        front = _core.exp(_core.minimum(m * _core.log(scale) - _core.betaln(m, n), 700.0))
        at = _core.where(is_zero, x, 0.0)
        first = front * _core.pow(at, m - 1) * _core.exp(-(m + n) * _core.log1p(scale * at))
        log = self._logpdf(_core.where(is_zero, 1.0, x), dfn, dfd)
        underflows = _core.less(log, -800)  # where slopes of the logarithm may be infinite
        other = _core.where(underflows, 0.0, _core.exp(_core.where(underflows, 0.0, log)))
        return _core.where(is_zero, first, other)

    def _cdf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        at = _Ratio(x, dfn, dfd)
        return _core.where(
            at.is_small,
            _core.betainc(at.m, at.n, at.part),
            _core.betaincc(at.n, at.m, at.rest),
        )

    def _sf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        at = _Ratio(x, dfn, dfd)
        return _core.where(
            at.is_small,
            _core.betaincc(at.m, at.n, at.part),
            _core.betainc(at.n, at.m, at.rest),
        )

    def _logcdf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        at, p, complement = _Ratio(x, dfn, dfd), self._cdf(x, dfn, dfd), self._sf(x, dfn, dfd)
        return log_betainc(p, complement, at.m, at.n, (at.part, at.rest), at.log_parts())

    def _logsf(self, x: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        at, p, complement = _Ratio(x, dfn, dfd), self._sf(x, dfn, dfd), self._cdf(x, dfn, dfd)
        return log_betainc(p, complement, at.n, at.m, (at.rest, at.part), at.log_parts()[::-1])

    def _quantile(self, part: Tensor, rest: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        # The smaller one has finite slopes.
        is_low = _core.less(part, 0.5)
        part, rest = _core.where(is_low, part, 1 - rest), _core.where(is_low, 1 - part, rest)
        return dfd * part / (dfn * rest)

    def _ppf(self, q: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        m, n = 0.5 * dfn, 0.5 * dfd
        value = self._quantile(_core.betaincinv(m, n, q), _core.betainccinv(n, m, q), dfn, dfd)
        return with_ends(q, value, at_1=INFINITY)

    def _isf(self, q: Tensor, dfn: Tensor, dfd: Tensor) -> Tensor:
        m, n = 0.5 * dfn, 0.5 * dfd
        rest = _core.betaincinv(n, m, q)
        # Far out, `rest` is a power of q, with slopes in terms of its logarithm. Those of 1 / rest
        # overflow where those of the quantile do not.
        is_far = _core.logical_and(_core.less(rest, 1e-100), _core.greater(q, 0))
        log_rest = (_core.log(_core.where(is_far, q, 1)) + _core.log(n) + _core.betaln(m, n)) / n
        log = _core.log(dfd / dfn) - _core.where(is_far, log_rest, 0)
        part = _core.betainccinv(m, n, q)
        value = _core.stop_gradient(self._quantile(part, rest, dfn, dfd))
        overflows = _core.logical_and(is_far, _core.isinf(value))
        far = _core.where(overflows, 1, value) * _core.exp(log - _core.stop_gradient(log))
        part, rest = (_core.where(is_far, 0.5, one) for one in (part, rest))
        value = _core.where(is_far, far, self._quantile(part, rest, dfn, dfd))
        # An infinite slope times the terms of a slope of `log` would be a sum of inf and -inf.
        by_dfn = -_core.polygamma_gap(0.0, m, n) / n - 1 / m
        by_dfd = (1 - 1 / n - _core.polygamma_gap(0.0, n, m) + log_rest) / n
        rise = _linear((dfn, by_dfn), (dfd, by_dfd), (q, -1 / (n * q)))
        infinite = INFINITY + _core.sqrt(_core.where(overflows, rise, 1))
        return with_ends(q, _core.where(overflows, infinite, value), at_0=INFINITY)

    def _entropy(self, dfn: Tensor, dfd: Tensor) -> Tensor:
        m, n = 0.5 * dfn, 0.5 * dfd
        rise = -m * _core.polygamma_gap(0.0, m, n) - n * _core.polygamma_gap(0.0, n, m)
        own = _core.digamma(m) - _core.digamma(n)
        return _core.betaln(m, n) + _core.log(dfd / dfn) + own + rise

    def _mean(self, dfn: Tensor, dfd: Tensor) -> Tensor:
        return _core.where(_core.greater(dfd, 2), dfd / (dfd - 2), INFINITY)

    def _var(self, dfn: Tensor, dfd: Tensor) -> Tensor:
        square = _core.square(dfd / (dfd - 2))
        value = 2 * square * (dfn + dfd - 2) / (dfn * (dfd - 4))
        return _core.where(_core.greater(dfd, 4), value, INFINITY)


f = F()
halfcauchy = HalfCauchy()
halfnorm = HalfNorm()
invgamma = InvGamma()
