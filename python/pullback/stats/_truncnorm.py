"""The normal distribution between two limits."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from .. import _core
from .._autodiff.custom import custom_gradient
from .._core import Tensor
from ._density import Continuous
from ._distribution import HALF_LOG_TAU, INFINITY
from ._quadrature import EXPONENT, NODES, WEIGHTS

_REACH = math.sqrt(2 * EXPONENT)
# Of the quadrature over narrow intervals: nodes above the middle, in units of the width.
_HALF_NODES, _HALF_WEIGHTS = (
    array[6:] * factor
    for array, factor in zip(numpy.polynomial.legendre.leggauss(12), (0.5, 1.0), strict=True)
)
_LARGEST = 1.8e154
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

    def _is_narrow(self, x: Tensor, y: Tensor) -> Tensor:
        """Return True if the density varies little between two numbers."""
        width = y - x
        flat = _core.less(width * _core.abs(x + y), 4)
        return _core.logical_and(_core.less(width, 2), flat)

    def _part(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute Φ(y) - Φ(x): a width, its factor and the logarithm of a factor."""
        width, middle = y - x, 0.5 * (x + y)
        # Here the difference of two probabilities cancels; quadrature has positive terms only.
        is_narrow = self._is_narrow(x, y)
        width, middle = (_core.where(is_narrow, t, 1.0) for t in (width, middle))
        rest: Tensor | float = 0.0
        for node, weight in zip(_HALF_NODES, _HALF_WEIGHTS, strict=True):
            at = width * node
            rest = rest + weight * _core.cosh(middle * at) * _core.exp(-0.5 * at * at)
        # Beyond the limit, the square of a number overflows.
        x, y = (_core.where(is_narrow, t, v) for t, v in ((-1.0, x), (1.0, y)))
        right = _core.greater(x, 0)
        sign = _core.where(right, -1.0, 1.0)
        nearer = _core.where(right, -x, y)
        top = _core.log_ndtr(_core.clip(nearer, -_LARGEST, 1e9))
        top = _core.where(_core.less(nearer, -_LARGEST), -INFINITY, top)
        finite = _core.where(_core.isinf(top), 0.0, top)

        def tail(t: Tensor) -> Tensor:
            is_end = _core.greater(_core.abs(t), _LARGEST)
            value = _core.exp(_core.log_ndtr(sign * _core.where(is_end, 1e9, t)) - finite)
            end = _core.where(_core.greater(sign * t, 0), _core.exp(-finite), 0.0)
            return _core.where(is_end, end, value)

        return (
            _core.where(is_narrow, width, 1.0),
            _core.where(is_narrow, rest, sign * (tail(y) - tail(x))),
            _core.where(is_narrow, -0.5 * middle * middle - HALF_LOG_TAU, top),
        )

    def _log_mass(self, x: Tensor, y: Tensor) -> Tensor:
        width, part, top = self._part(x, y)
        return top + _core.log(width) + _core.log(part)

    def _ratio(self, x: Tensor, y: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """Compute the probability of [x, y]."""
        width, part, top = self._part(x, y)
        all_width, whole, whole_top = self._part(a, b)
        return width / all_width * (part / whole) * _core.exp(top - whole_top)

    def _logpdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return -0.5 * x * x - HALF_LOG_TAU - self._log_mass(a, b)

    def _cdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._ratio(a, x, a, b)

    def _sf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._ratio(x, b, a, b)

    def _logcdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        near = self._log_mass(a, x) - self._log_mass(a, b)
        rest = self._sf(x, a, b)
        return _core.where(_core.less(rest, 0.5), _core.log1p(-rest), near)

    def _logsf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        near = self._log_mass(x, b) - self._log_mass(a, b)
        rest = self._cdf(x, a, b)
        return _core.where(_core.less(rest, 0.5), _core.log1p(-rest), near)

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
        value = _core.clip(_core.where(lower, value, -value), a, b)
        # Newton's method: near a limit, the sum of two probabilities cancels.
        is_infinite = _core.isinf(value)
        at = _core.where(is_infinite, _core.clip(0.0, a, b), value)
        is_low = _core.less(q, 0.5)
        for _ in range(2):
            part = self._ratio(_core.where(is_low, a, at), _core.where(is_low, at, b), a, b)
            error = _core.where(is_low, part - q, rest - part)
            at = _core.clip(at - error / _core.exp(self._logpdf(at, a, b)), a, b)
        return _core.where(is_infinite, value, at)

    def _ppf(self, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._quantile(q, 1 - q, a, b)

    def _isf(self, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return self._quantile(1 - q, q, a, b)

    def _moment(self, what: str, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """Return a moment of the mirrored interval, whose nearer limit to 0 is the lower one.

        The second result is True if the interval has been mirrored.
        """
        mirrored = _core.less(a + b, 0)
        near, far = _core.where(mirrored, -b, a), _core.where(mirrored, -a, b)
        return _MOMENTS[what](near, far), mirrored

    def _entropy(self, a: Tensor, b: Tensor) -> Tensor:
        return self._moment("entropy", a, b)[0]

    def _mean(self, a: Tensor, b: Tensor) -> Tensor:
        mean, mirrored = self._moment("mean", a, b)
        return _core.where(mirrored, -mean, mean)

    def _var(self, a: Tensor, b: Tensor) -> Tensor:
        return self._moment("var", a, b)[0]


class _Quadrature:
    """Compute moments between two limits, `near` < `far`, by Gauss-Legendre quadrature.

    Formulas by the densities at the limits cancel for narrow and for far intervals. Here, every sum
    has positive terms only, in distances from the nearer limit.
    """

    def __init__(self, near: Tensor, far: Tensor) -> None:
        # Beyond these ends, the density is less than exp(-40) of its maximum.
        start = _core.maximum(near, -_REACH)
        rise = _core.maximum(start, 0)
        reach = 2 * EXPONENT / (rise + _core.sqrt(rise * rise + 2 * EXPONENT))
        width = _core.minimum(far - start, (rise - start) + reach)  # not 0 for a far start
        self.near, self.far, self.start = near, far, start
        self.at = _core.expand_dims(width, -1) * _core.constant(NODES, width.dtype)
        self.fall = (_core.expand_dims(start, -1) + 0.5 * self.at) * self.at  # (x² - start²) / 2
        density = _core.constant(WEIGHTS, width.dtype) * _core.exp(-self.fall)
        total = _core.sum(density, -1)
        self.share = density / _core.expand_dims(total, -1)
        self.middle = self._expected(self.at)
        self.distance = self.at - _core.expand_dims(self.middle, -1)
        self.log_total = _core.log(width * total)
        self.mean_fall = self._expected(self.fall)

    def _expected(self, terms: Tensor) -> Tensor:
        return _core.sum(self.share * terms, -1)

    def mean(self) -> Tensor:
        return self.start + self.middle

    def var(self) -> Tensor:
        return self._expected(_core.square(self.distance))

    def entropy(self) -> Tensor:
        return self.log_total + self.mean_fall

    def slopes(self, what: str) -> tuple[Tensor, Tensor]:
        """Return the derivatives by the limits, with all digits where the density is small."""
        # The distances of the limits from the start; a density at 50 from it is 0.
        before = _core.maximum(self.near - self.start, -50.0)
        after = _core.minimum(self.far - self.start, 50.0)
        falls = [(self.start + 0.5 * t) * t for t in (before, after)]
        low, high = (_core.exp(-fall - self.log_total) for fall in falls)
        if what == "mean":
            return low * (self.middle - before), high * (after - self.middle)
        # By both limits, at an unchanged width.
        if what == "var":
            variance = self.var()
            gaps = [_core.square(t - self.middle) - variance for t in (before, after)]
            shift = -self._expected(self.distance * _core.square(self.distance))
        else:
            gaps = [fall - self.mean_fall + 1 for fall in falls]
            shift = -self._expected(self.fall * self.distance)
        by_far = high * gaps[1]
        # For a positive limit, `gaps` of the nearer limit cancel.
        return _core.where(_core.less(self.near, 0), -low * gaps[0], shift - by_far), by_far


def _with_slopes(what: str) -> Callable[[Tensor, Tensor], Tensor]:
    """Return a moment as a function of the limits, which has its derivatives from `slopes`."""

    def value(near: Tensor, far: Tensor) -> Tensor:
        made: Tensor = getattr(_Quadrature(near, far), what)()
        return made

    def tangent(limits: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        by_near, by_far = _Quadrature(*limits).slopes(what)
        return by_near * tangents[0] + by_far * tangents[1]

    return custom_gradient(value, jvp=tangent, verify="never")


_MOMENTS = {what: _with_slopes(what) for what in ("mean", "var", "entropy")}
truncnorm = TruncNorm()
