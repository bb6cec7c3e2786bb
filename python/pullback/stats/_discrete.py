"""The discrete distributions of `pb.stats`: their values are integers, shifted by `loc`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._base.checks import known_values
from .._core import Tensor
from ._distribution import INFINITY, NAN, Distribution, positive
from ._tails import log_betainc

_MOST_TERMS = 10_000_000


def _smallest(reached: Callable[[Tensor], Tensor], low: Tensor, high: Tensor) -> Tensor:
    """Find the smallest integer in (low, high] for which `reached` is true, by bisection."""
    for _ in range(56):
        middle = _core.floor(0.5 * (low + high))
        enough = _core.logical_or(reached(middle), _core.less_equal(high - low, 1))
        low, high = (
            _core.where(enough, low, middle),
            _core.where(_core.logical_and(enough, _core.less(low, middle)), middle, high),
        )
    return high


class Discrete(Distribution):
    """Implement a distribution of integers from 0. Quantiles have no gradient."""

    low = 0.0
    scales = False

    def _logpmf(self, k: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _pmf(self, k: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def pmf(self, k: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the probability of `k`; 0 outside the support and if `k` is not an integer.

        Parameters
        ----------
        k : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters and `loc`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the arguments; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        at = self._standard_form("pmf", k, args, kwargs)
        value = _core.where(_core.greater(at.exact, at.z), 0.0, self._pmf(at.z, *at.shapes))
        return at.density(value, 0.0)

    def logpmf(self, k: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the logarithm of `pmf`.

        It is -inf outside the support and if `k` is not an integer.

        Parameters
        ----------
        k : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters and `loc`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the arguments; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        at = self._standard_form("logpmf", k, args, kwargs)
        value = self._logpmf(at.z, *at.shapes)
        value = _core.where(_core.greater(at.exact, at.z), -INFINITY, value)
        return at.density(value, -INFINITY)

    def _ppf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._quantile(q, shapes, q, lambda k: _core.greater_equal(self._cdf(k, *shapes), q))

    def _isf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._quantile(
            1 - q, shapes, q, lambda k: _core.less_equal(self._sf(k, *shapes), q), upper=True
        )

    def _quantile(
        self, p: Tensor, shapes: tuple[Tensor, ...], q: Tensor, reached: Callable[[Tensor], Tensor],
        upper: bool = False,
    ) -> Tensor:  # fmt: skip
        """Compute quantiles by bisection between Cantelli's bounds.

        At p = 0 and 1 the result is -1 and the end of the support.
        """
        p, q = _core.stop_gradient(p), _core.stop_gradient(q)
        shapes = tuple(_core.stop_gradient(shape) for shape in shapes)
        mean, top = self._mean(*shapes), self._high(*shapes)
        spread = _core.sqrt(self._var(*shapes))
        rest = q if upper else 1 - q
        low = _core.floor(mean - spread * _core.sqrt(rest / p)) - 2
        high = _core.ceil(mean + spread * _core.sqrt(p / rest)) + 2
        low = _core.maximum(low, -1.0)
        high = _core.minimum(high, _core.minimum(top, 2.0**53))
        value = _smallest(reached, low, _core.maximum(high, 0.0))
        value = _core.where(_core.less_equal(p, 0), -1.0, value)
        ends = _core.equal(q, 0) if upper else _core.equal(q, 1)
        return _core.stop_gradient(_core.where(ends, top, value))

    def _entropy(self, *shapes: Any, **_: Any) -> Tensor:
        """Sum over all values with a significant probability.

        Their number depends on the parameters.
        """
        who = f"{self.name}.entropy"
        mean, var = known_values(self._mean(*shapes), who), known_values(self._var(*shapes), who)
        mean, spread = np.asarray(mean, np.float64), np.sqrt(np.asarray(var, np.float64))
        ends = mean + self._reach(*shapes) * spread + 50
        ends = ends[np.isfinite(ends)]
        terms = int(np.ceil(ends.max(initial=1.0)))
        if terms > _MOST_TERMS:
            raise ValueError(f"{who}: expected a sum of at most {_MOST_TERMS} terms, got {terms}")
        k = _core.arange(0, terms, 1, shapes[0].dtype)
        wide = [_core.expand_dims(shape, -1) for shape in shapes]
        p, log = self._pmf(k, *wide), self._logpmf(k, *wide)
        there = _core.logical_and(
            _core.less_equal(k, self._high(*wide)), _core.logical_not(_core.less_equal(p, 0))
        )
        return -_core.sum(_core.where(there, p * log, 0.0), -1)

    def _reach(self, *shapes: Any, **_: Any) -> float:
        """Return the last significant value, in standard deviations above the mean."""
        return 12.0


class Poisson(Discrete):
    """Represent the Poisson distribution.

    The shape parameter is the mean `mu` >= 0.

    Examples
    --------
    >>> pb.stats.poisson.pmf([0, 1, 2], 1.5)
    Tensor([0.22313017, 0.33469525, 0.25102144], dtype=float32)
    """

    name, shapes = "poisson", ("mu",)

    def _valid(self, mu: Tensor) -> list[Tensor]:
        return [_core.greater_equal(mu, 0)]

    def _logpmf(self, k: Tensor, mu: Tensor) -> Tensor:
        return _core.xlogy(k, mu) - _core.gammaln(k + 1) - mu

    def _pmf(self, k: Tensor, mu: Tensor) -> Tensor:
        return _core.gamma_density(k + 1, mu)

    def _cdf(self, k: Tensor, mu: Tensor) -> Tensor:
        return _core.gammaincc(k + 1, mu)

    def _sf(self, k: Tensor, mu: Tensor) -> Tensor:
        return _core.gammainc(k + 1, mu)

    def _logcdf(self, k: Tensor, mu: Tensor) -> Tensor:
        return _core.log_gammaincc(k + 1, mu)

    def _logsf(self, k: Tensor, mu: Tensor) -> Tensor:
        return _core.log_gammainc(k + 1, mu)

    def _mean(self, mu: Tensor) -> Tensor:
        return mu

    def _var(self, mu: Tensor) -> Tensor:
        return mu


class Binom(Discrete):
    """Represent the binomial distribution: the number of successes in `n` trials.

    The shape parameters are `n`, an integer of at least 0, and the probability `p` of a success, in
    [0, 1].

    Examples
    --------
    >>> pb.stats.binom.cdf([0, 1, 2], 2, 0.25)
    Tensor([0.5625, 0.9375, 1.    ], dtype=float32)
    """

    name = "binom"
    shapes: ClassVar[tuple[str, ...]] = ("n", "p")

    def _valid(self, *shapes: Any, **_: Any) -> list[Tensor]:
        n, p = shapes
        whole = _core.logical_and(_core.greater_equal(n, 0), _core.equal(n, _core.floor(n)))
        return [whole, _core.greater_equal(p, 0), _core.less_equal(p, 1)]

    def _high(self, n: Tensor, p: Tensor) -> Tensor:
        return n

    def _logpmf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        ways = -_core.log(n + 1) - _core.betaln(n - k + 1, k + 1)
        return ways + _core.xlogy(k, p) + _core.xlog1py(n - k, -p)

    def _pmf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        return _core.beta_density(k + 1, n - k + 1, p) / (n + 1)

    def _cdf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        whole = _core.greater_equal(k, n)
        return _core.where(whole, 1.0, _core.betaincc(k + 1, n - k, p))

    def _sf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        whole = _core.greater_equal(k, n)
        return _core.where(whole, 0.0, _core.betainc(k + 1, n - k, p))

    def _logcdf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        whole = _core.greater_equal(k, n)
        cdf, sf, n = self._cdf(k, n, p), self._sf(k, n, p), _core.where(whole, k + 1, n)
        logs = _core.log1p(-p), _core.log(p)
        return _core.where(whole, 0.0, log_betainc(cdf, sf, n - k, k + 1, (1 - p, p), logs))

    def _logsf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        whole = _core.greater_equal(k, n)
        cdf, sf, n = self._cdf(k, n, p), self._sf(k, n, p), _core.where(whole, k + 1, n)
        logs = _core.log(p), _core.log1p(-p)
        return _core.where(whole, -INFINITY, log_betainc(sf, cdf, k + 1, n - k, (p, 1 - p), logs))

    def _mean(self, n: Tensor, p: Tensor) -> Tensor:
        return n * p

    def _var(self, n: Tensor, p: Tensor) -> Tensor:
        return n * p * (1 - p)


class Bernoulli(Binom):
    """Represent the Bernoulli distribution: 1 with probability `p`, else 0.

    The shape parameter is `p`, in [0, 1].

    Examples
    --------
    >>> pb.stats.bernoulli.logpmf([0, 1], 0.25)
    Tensor([-0.2876821, -1.3862944], dtype=float32)
    """

    name, shapes = "bernoulli", ("p",)

    def _valid(self, p: Tensor) -> list[Tensor]:
        return [_core.greater_equal(p, 0), _core.less_equal(p, 1)]

    def _standard_parameters(self, shapes: list[Tensor], scale: Any) -> tuple[list[Tensor], Any]:
        return [_core.constant(1.0, shapes[0].dtype), *shapes], scale

    def _entropy(self, n: Tensor, p: Tensor) -> Tensor:
        return _core.entr(p) + _core.entr(1 - p)


class NBinom(Discrete):
    """Represent the negative binomial distribution: failures before success `n`.

    The shape parameters are `n` > 0 and the probability `p` of a success in a trial, in (0, 1].

    Examples
    --------
    >>> pb.stats.nbinom.pmf([0, 1, 2], 2, 0.5)
    Tensor([0.25  , 0.25  , 0.1875], dtype=float32)
    """

    name, shapes = "nbinom", ("n", "p")

    def _valid(self, n: Tensor, p: Tensor) -> list[Tensor]:
        return [*positive(n, p), _core.less_equal(p, 1)]

    def _logpmf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        ways = -_core.log(n + k) - _core.betaln(n, k + 1)
        return ways + n * _core.log(p) + _core.xlog1py(k, -p)

    def _pmf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        return p * _core.beta_density(n, k + 1, p) / (n + k)

    def _cdf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        return _core.betainc(n, k + 1, p)

    def _sf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        return _core.betaincc(n, k + 1, p)

    def _logcdf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        logs = _core.log(p), _core.log1p(-p)
        return log_betainc(self._cdf(k, n, p), self._sf(k, n, p), n, k + 1, (p, 1 - p), logs)

    def _logsf(self, k: Tensor, n: Tensor, p: Tensor) -> Tensor:
        logs = _core.log1p(-p), _core.log(p)
        return log_betainc(self._sf(k, n, p), self._cdf(k, n, p), k + 1, n, (1 - p, p), logs)

    def _mean(self, n: Tensor, p: Tensor) -> Tensor:
        return n * (1 - p) / p

    def _var(self, n: Tensor, p: Tensor) -> Tensor:
        return n * (1 - p) / _core.square(p)

    def _reach(self, n: Tensor, p: Tensor) -> float:
        # above the mean it decreases like a gamma distribution of shape n
        least = float(np.min(known_values(n, "nbinom.entropy"), initial=math.inf))
        return 40.0 / math.sqrt(min(max(least, 1e-3), 1.0)) if least < math.inf else NAN


class Geom(Discrete):
    """Represent the geometric distribution: the number of the first trial that succeeds.

    The shape parameter is the probability `p` of a success in a trial, in (0, 1].

    Examples
    --------
    >>> pb.stats.geom.pmf([1, 2, 3], 0.5)
    Tensor([0.5  , 0.25 , 0.125], dtype=float32)
    """

    name, shapes, low = "geom", ("p",), 1.0

    def _valid(self, p: Tensor) -> list[Tensor]:
        return [*positive(p), _core.less_equal(p, 1)]

    def _logpmf(self, k: Tensor, p: Tensor) -> Tensor:
        first = k == 1  # where the slope of xlog1py at p = 1 would be 0 / 0
        failures = _core.xlog1py(_core.where(first, 1, k - 1), -_core.where(first, 0.5, p))
        return _core.where(first, 0, failures) + _core.log(p)

    def _pmf(self, k: Tensor, p: Tensor) -> Tensor:
        return p * self._sf(k - 1, p)

    def _cdf(self, k: Tensor, p: Tensor) -> Tensor:
        certain = p == 1
        below = -_core.expm1(_core.log1p(-_core.where(certain, 0.5, p)) * k)
        return _core.where(certain, 1 - _core.pow(1 - p, k), below)

    def _sf(self, k: Tensor, p: Tensor) -> Tensor:
        certain = p == 1
        above = _core.exp(_core.log1p(-_core.where(certain, 0.5, p)) * k)
        return _core.where(certain, _core.pow(1 - p, k), above)

    def _logsf(self, k: Tensor, p: Tensor) -> Tensor:
        return _core.log1p(-p) * k

    def _ppf(self, q: Tensor, p: Tensor) -> Tensor:
        trials = _core.log1p(-q) / _core.log1p(-p)
        trials = _core.where(_core.logical_and(p == 1, q > 0), 1, trials)
        return self._first(trials, lambda k: _core.greater_equal(self._cdf(k, p), q))

    def _isf(self, q: Tensor, p: Tensor) -> Tensor:
        trials = _core.log(q) / _core.log1p(-p)
        trials = _core.where(_core.logical_and(p == 1, q < 1), 1, trials)
        return self._first(trials, lambda k: _core.less_equal(self._sf(k, p), q))

    def _first(self, trials: Tensor, reached: Callable[[Tensor], Tensor]) -> Tensor:
        """Round a number of trials up; `reached` corrects a rounding error of the quotient."""
        value = _core.ceil(trials)
        before = _core.logical_and(reached(value - 1), _core.greater(value, 0))
        return _core.stop_gradient(_core.where(before, value - 1, value))

    def _entropy(self, p: Tensor) -> Tensor:
        low = p < 0.5  # where 1 - p may be rounded to 1; at p = 1, the slope of entr is right
        small, large = _core.where(low, p, 0.25), _core.where(low, 0.75, p)
        failures = _core.where(low, -_core.xlog1py(1 - small, -small), _core.entr(1 - large))
        return failures / p - _core.log(p)

    def _mean(self, p: Tensor) -> Tensor:
        return 1 / p

    def _var(self, p: Tensor) -> Tensor:
        return (1 - p) / _core.square(p)


bernoulli = Bernoulli()
binom = Binom()
geom = Geom()
nbinom = NBinom()
poisson = Poisson()
