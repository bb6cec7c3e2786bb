"""The von Mises distribution of angles."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._core import Tensor
from ._density import Symmetric
from ._distribution import INFINITY, log_probability
from ._quadrature import EXPONENT, integral, tail_quantile, with_nodes
from ._tails import with_ends

_LOG_TAU = math.log(2 * math.pi)


def _half_sine_square(x: Tensor) -> Tensor:
    return _core.square(_core.sin(0.5 * x))  # (1 - cos x) / 2


def _scaled_bessel(kappa: Tensor) -> Tensor:
    """Compute I₀(kappa) exp(-kappa); `i0e` is a function of |kappa| with a kink at 0."""
    near = _core.exp(-kappa) * _core.i0(kappa)
    return _core.where(_core.less(kappa, 1), near, _core.i0e(kappa))


def _log_norm(kappa: Tensor) -> Tensor:
    return _LOG_TAU + _core.log(_scaled_bessel(kappa))


def _reach(y: Tensor, kappa: Tensor) -> Tensor:
    """Return the distance from y to π, or the one at which the density has fallen enough."""
    whole = math.pi - y
    y, kappa = _core.stop_gradient(y), _core.stop_gradient(kappa)
    fall = 0.5 * EXPONENT / kappa
    sine, cosine = _core.sin(0.5 * y), _core.cos(0.5 * y)
    square = sine * sine + fall
    other = _core.sqrt(square) * cosine + sine * _core.sqrt(_core.maximum(1 - square, 0))
    return _core.where(_core.less(square, 1), 2 * _core.asin(fall / other), whole)


def _tail(y: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor]:
    """Return the probability of angles from y to π for y in [0, π] as two factors.

    The first one is the logarithm of a factor. All terms of the sum are positive, so small
    probabilities have all digits.
    """
    y, kappa = _core.broadcast_to(y, (kappa + y).shape), kappa + 0 * y
    start, k = with_nodes(y), with_nodes(kappa)

    def density(u: Tensor) -> Any:
        return _core.exp(-2 * k * _core.sin(start + 0.5 * u) * _core.sin(0.5 * u))

    area = integral(_reach(y, kappa), density)
    return -2 * kappa * _half_sine_square(y), area / (2 * math.pi * _scaled_bessel(kappa))


def _moment(kappa: Tensor, weight: Any) -> Tensor:
    """Return the expected value of an even function of the angle."""
    k = with_nodes(kappa)
    area = integral(
        _reach(0 * kappa, kappa), lambda u: weight(u) * _core.exp(-2 * k * _half_sine_square(u))
    )
    return area / (math.pi * _scaled_bessel(kappa))


class VonMises(Symmetric):
    """Represent the von Mises distribution of angles.

    The standard density is exp(`kappa` cos x) / (2π I₀(`kappa`)) for every x, with the period 2π;
    the shape parameter is the concentration `kappa` >= 0. As in SciPy, the distribution function
    grows by 1 with each turn, quantiles are in [-π, π] and infinite for the probabilities 0 and 1,
    and the moments are those on [-π, π].

    Examples
    --------
    >>> pb.stats.vonmises.cdf([-3.0, 0.0, 3.0], 2.0)
    Tensor([0.00134686, 0.5       , 0.9986531 ], dtype=float32)
    """

    name, shapes = "vonmises", ("kappa",)

    def _valid(self, kappa: Tensor) -> list[Tensor]:
        return [_core.greater_equal(kappa, 0), _core.isfinite(kappa)]

    def _logpdf(self, x: Tensor, kappa: Tensor) -> Tensor:
        return -2 * kappa * _half_sine_square(x) - _log_norm(kappa)

    def _pdf(self, x: Tensor, kappa: Tensor) -> Tensor:
        return _core.exp(-2 * kappa * _half_sine_square(x)) / (2 * math.pi * _scaled_bessel(kappa))

    def _turned(self, x: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the turns, whether the angle is positive, and the tail beyond it."""
        turns = _core.stop_gradient(_core.round(x / (2 * math.pi)))
        angle = x - 2 * math.pi * turns
        is_high = _core.greater_equal(angle, 0)
        log, rest = _tail(_core.where(is_high, angle, -angle), kappa)
        return turns, is_high, log, rest

    def _cdf(self, x: Tensor, kappa: Tensor) -> Tensor:
        turns, is_high, log, rest = self._turned(x, kappa)
        tail = _core.exp(log) * rest
        return turns + _core.where(is_high, 1 - tail, tail)

    def _logcdf(self, x: Tensor, kappa: Tensor) -> Tensor:
        turns, is_high, log, rest = self._turned(x, kappa)
        tail = _core.exp(log) * rest
        near = _core.where(is_high, _core.log1p(-tail), log + _core.log(rest))
        value = turns + _core.where(is_high, 1 - tail, tail)
        return _core.where(_core.equal(turns, 0), near, log_probability(value, 1 - value))

    def _ppf(self, q: Tensor, kappa: Tensor) -> Tensor:
        def log_tail(y: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor]:
            log, rest = _tail(y, kappa)
            return log + _core.log(rest), self._logpdf(y, kappa)

        is_low = _core.less(q, 0.5)
        p = _core.where(is_low, q, 1 - q)
        p = _core.where(_core.greater(p, 0), p, 0.5) + 0 * kappa
        y = tail_quantile(log_tail, _core.log(p), 0 * p, (kappa,), 0.0, math.pi)
        return with_ends(q, _core.where(is_low, -y, y), -INFINITY, INFINITY)

    def _entropy(self, kappa: Tensor) -> Tensor:
        return _log_norm(kappa) + kappa * _moment(kappa, lambda u: 2 * _half_sine_square(u))

    def _var(self, kappa: Tensor) -> Tensor:
        return _moment(kappa, _core.square)


vonmises = VonMises()
