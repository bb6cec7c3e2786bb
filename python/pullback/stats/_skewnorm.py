"""The skew-normal distribution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._autodiff.custom import custom_gradient
from .._core import Tensor
from ._density import Continuous
from ._distribution import HALF_LOG_TAU, INFINITY, half_square, log_probability
from ._quadrature import EXPONENT, integral, tail_quantile, with_nodes
from ._tails import with_ends

_LOG_2 = math.log(2)
_FAR = 30.0  # the square of this number is an exponent below the smallest normal one
_END = 9.0  # the normal probability of numbers above it is 1e-19
_NODES, _WEIGHTS = numpy.polynomial.legendre.leggauss(100)  # of the entropy, on [-1, 1]


def _owens_t(h: Tensor, a: Tensor) -> Tensor:
    """Compute Owen's T function for h >= 0 and 0 <= a <= 1."""
    reach = _core.stop_gradient(math.sqrt(2 * EXPONENT) / h)  # where the integrand has fallen
    width = _core.where(_core.less(reach, a), reach, a) + 0 * h
    half = with_nodes(half_square(h) + 0 * a)
    area = integral(width, lambda t: _core.exp(-half * t * t) / (1 + t * t))
    return _core.exp(-half_square(h)) * area / (2 * math.pi)


def _log_far(h: Tensor, a: Tensor, sign: int) -> Tensor:
    """Compute the logarithm of the integral of 2 φ(t) Φ(sign a t) from h >= 0, for a >= 0.

    If `sign` is 1, h is large: the integrand has no step.
    """
    rate = 1 + a * a if sign < 0 else _core.cast(1.0, h.dtype)
    double = 2 * EXPONENT / rate
    width = _core.stop_gradient(double / (h + _core.sqrt(h * h + double))) + 0 * (h + a)
    start, slope = with_nodes(h + 0 * a), with_nodes(sign * a + 0 * h)
    first = _core.log_ndtr(slope * start)

    def integrand(u: Tensor) -> Any:
        return _core.exp(-(start + 0.5 * u) * u + _core.log_ndtr(slope * (start + u)) - first)

    area = integral(width, integrand)
    front = _core.log_ndtr(sign * a * h) - half_square(h) + (_LOG_2 - HALF_LOG_TAU)
    return front + _core.log(area)


def _probabilities(x: Tensor, a: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the probabilities below and above x, and their logarithms.

    For a < 0 they are those of the mirrored distribution. No terms cancel, except that 1 minus a
    small probability is the other one. Derivatives are those of `_with_slopes`.
    """
    mirrored = _core.less(a, 0)
    x, a = _core.where(mirrored, -x, x), _core.where(mirrored, -a, a)
    is_low, steep = _core.less(x, 0), _core.greater(a, 1)
    h = _core.abs(x)  # also of -0.0
    log_low = _log_far(h, a, -1)  # of the tail below -h
    low = _core.exp(log_low)
    product = a * _core.where(steep, h, 0)
    t = _owens_t(_core.where(steep, product, h), _core.where(steep, 1 / a, a))
    above, beside = _core.ndtr(-h), _core.ndtr(-product)
    steep_below = _core.ndtr(product) * _core.erf(h / math.sqrt(2)) + 2 * t
    steep_above = 2 * above * (1 - beside) + (beside - 2 * t)
    below = _core.where(is_low, low, _core.where(steep, steep_below, _core.ndtr(h) - 2 * t))
    above = _core.where(is_low, 1 - low, _core.where(steep, steep_above, above + 2 * t))
    far = _core.greater(x, _FAR)
    log_high = _log_far(_core.where(far, h, _FAR), a, 1)
    log_below = _core.where(is_low, log_low, log_probability(below, above))
    log_above = _core.where(far, log_high, log_probability(above, below))
    return (
        _core.where(mirrored, above, below),
        _core.where(mirrored, below, above),
        _core.where(mirrored, log_above, log_below),
        _core.where(mirrored, log_below, log_above),
    )


def _with_slopes(number: int) -> Callable[[Tensor, Tensor], Tensor]:
    """Return one result of `_probabilities` with its elementary derivatives."""

    def value(x: Tensor, a: Tensor) -> Tensor:
        at_end = _core.isinf(x)
        inside = _probabilities(_core.where(at_end, 0, x), a)[number]
        low, high = _LIMITS[number]
        return _core.where(at_end, _core.where(_core.less(x, 0), low, high), inside)

    def tangent(at: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        x, a = at
        rate = 1 + a * a
        by_x, by_a = _log_density(x, a), -half_square(x) * rate - _core.log(math.pi * rate)
        if number >= _LOG_BELOW:
            log = _FUNCTIONS[number](x, a)
            by_x, by_a = by_x - log, by_a - log
        change = _core.exp(by_x) * tangents[0] - _core.exp(by_a) * tangents[1]
        return change if number in (_BELOW, _LOG_BELOW) else -change

    return custom_gradient(value, jvp=tangent, verify="never")


def _log_density(x: Tensor, a: Tensor) -> Tensor:
    return _LOG_2 - half_square(x) - HALF_LOG_TAU + _core.log_ndtr(a * x)


_BELOW, _ABOVE, _LOG_BELOW, _LOG_ABOVE = range(4)
_LIMITS = [(0.0, 1.0), (1.0, 0.0), (-INFINITY, 0.0), (0.0, -INFINITY)]
_FUNCTIONS = [_with_slopes(number) for number in range(4)]


class SkewNorm(Continuous):
    """Represent the skew-normal distribution.

    The standard density is 2 φ(x) Φ(`a` x), with the density φ and the distribution function Φ of
    the normal distribution; the shape parameter is the skewness `a`, a real number.

    Examples
    --------
    >>> pb.stats.skewnorm.logcdf([-4.0, 0.0, 1.0], 3.0)
    Tensor([-87.33754   ,  -2.2787087 ,  -0.38163278], dtype=float32)
    """

    name, shapes = "skewnorm", ("a",)

    def _valid(self, a: Tensor) -> list[Tensor]:
        return [_core.isfinite(a)]

    def _logpdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _log_density(x, a)

    def _cdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _FUNCTIONS[_BELOW](x, a)

    def _sf(self, x: Tensor, a: Tensor) -> Tensor:
        return _FUNCTIONS[_ABOVE](x, a)

    def _logcdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _FUNCTIONS[_LOG_BELOW](x, a)

    def _logsf(self, x: Tensor, a: Tensor) -> Tensor:
        return _FUNCTIONS[_LOG_ABOVE](x, a)

    def _upper(self, p: Tensor, sign: Tensor, a: Tensor) -> Tensor:
        """Return the number with the probability p above it, for `a` times a sign."""
        p = _core.where(_core.greater(p, 0), p, 0.5) + 0 * a
        skew = sign * a

        def log_tail(y: Tensor, skew: Tensor) -> tuple[Tensor, Tensor]:
            return self._logsf(y, skew), self._logpdf(y, skew)

        start = self._mean(skew) - _core.sqrt(self._var(skew)) * _core.ndtri(p)
        return tail_quantile(log_tail, _core.log(p), start, (skew,), -INFINITY, INFINITY)

    def _ppf(self, q: Tensor, a: Tensor) -> Tensor:
        sign = _core.where(_core.less(q, 0.5), -1.0, 1.0)
        y = self._upper(_core.where(_core.less(q, 0.5), q, 1 - q), sign, a)
        return with_ends(q, sign * y, -INFINITY, INFINITY)

    def _isf(self, q: Tensor, a: Tensor) -> Tensor:
        return -self._ppf(q, -a)

    def _entropy(self, a: Tensor) -> Tensor:
        end = _END / _core.maximum(_core.abs(_core.stop_gradient(a)), 1.0)
        t = with_nodes(end) * _core.constant(_NODES, a.dtype)
        log = _core.log_ndtr(with_nodes(a) * t)
        terms = _core.constant(_WEIGHTS, a.dtype) * _core.exp(log - half_square(t)) * log
        expected = 2 * end * _core.sum(terms, -1) / math.sqrt(2 * math.pi)
        return 0.5 + HALF_LOG_TAU - _LOG_2 - expected

    def _mean(self, a: Tensor) -> Tensor:
        return math.sqrt(2 / math.pi) * a / _core.hypot(a, 1)

    def _var(self, a: Tensor) -> Tensor:
        return 1 - (2 / math.pi) * _core.square(a / _core.hypot(a, 1))


skewnorm = SkewNorm()
