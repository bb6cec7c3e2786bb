"""Distributions with incomplete gamma and beta functions, each in its standard form."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._core import Tensor
from ._density import Continuous, Symmetric
from ._distribution import HALF_LOG_TAU, INFINITY, NAN, half_square
from ._tails import log_betainc


class StudentT(Symmetric):
    """Represent Student's t-distribution.

    The shape parameter is the degrees of freedom `df` > 0, which may be infinite. The variance is
    infinite for `df` in (1, 2] and NaN for `df` <= 1; the mean is infinite for `df` <= 1.

    Examples
    --------
    >>> pb.stats.t.cdf([-2.0, 0.0, 2.0], df=3)
    Tensor([0.06966298, 0.5       , 0.930337  ], dtype=float32)
    """

    name, shapes = "t", ("df",)

    def _logpdf(self, x: Tensor, df: Tensor) -> Tensor:
        ratio = _core.square(x / _core.sqrt(df))  # which may overflow
        far = _core.greater(ratio, 1e18)
        near = _core.log1p(_core.where(far, 0, ratio))
        distant = 2 * _core.log(_core.where(far, _core.abs(x), 1)) - _core.log(df)
        tail = 0.5 * (df + 1) * _core.where(far, distant, near)
        value = -tail - 0.5 * _core.log(df) - _core.betaln(0.5 * df, 0.5)
        normal = -half_square(x) - HALF_LOG_TAU
        return _core.where(_core.isinf(df), normal, value)

    def _pdf(self, x: Tensor, df: Tensor) -> Tensor:
        is_far = _core.logical_or(_core.isinf(df), _core.greater(_core.abs(x), 1e150))
        near = _core.student_density(_core.where(is_far, 1.0, df), _core.where(is_far, 0.0, x))
        return _core.where(is_far, _core.exp(self._logpdf(x, df)), near)

    def _cdf(self, x: Tensor, df: Tensor) -> Tensor:
        return _core.stdtr(df, x)

    def _logcdf(self, x: Tensor, df: Tensor) -> Tensor:
        is_normal = _core.isinf(df)
        df = _core.where(is_normal, 1.0, df)
        at = _core.where(is_normal, 0.0, x)
        # The lower tail is half of a beta function of 1 / (1 + ratio), with ratio = x² / df.
        root = _core.maximum(_core.abs(at), 1e-3) / _core.sqrt(df)
        is_far = _core.greater(root, 1e100)
        ratio = _core.square(_core.where(is_far, 1.0, root))
        part, rest = 1 / (1 + ratio), ratio / (1 + ratio)
        part, rest = _core.where(is_far, 0.0, part), _core.where(is_far, 1.0, rest)
        log_ratio = 2 * _core.log(root)
        log_part = _core.where(is_far, -log_ratio, -_core.log1p(ratio))
        log_rest = _core.where(is_far, 0.0, log_ratio + log_part)
        value = log_betainc(
            _core.stdtr(df, at), _core.stdtr(df, -at), 0.5 * df, _core.cast(0.5, df.dtype),
            (part, rest), (log_part, log_rest), -math.log(2),
        )  # fmt: skip
        return _core.where(is_normal, _core.log_ndtr(x), value)

    def _ppf(self, q: Tensor, df: Tensor) -> Tensor:
        return _core.stdtrit(df, q)

    def _entropy(self, df: Tensor) -> Tensor:
        rise = 0.5 * (df + 1) * -_core.polygamma_gap(0.0, 0.5 * df, 0.5)
        value = rise + 0.5 * _core.log(df) + _core.betaln(0.5 * df, 0.5)
        return _core.where(_core.isinf(df), 0.5 + HALF_LOG_TAU, value)

    def _mean(self, df: Tensor) -> Tensor:
        return _core.where(_core.greater(df, 1), _core.cast(0.0, df.dtype), INFINITY)

    def _var(self, df: Tensor) -> Tensor:
        wide = _core.where(_core.greater(df, 1), INFINITY, NAN)
        value = _core.where(_core.isinf(df), 1.0, df / (df - 2))
        return _core.where(_core.greater(df, 2), value, wide)


class Gamma(Continuous):
    """Represent the gamma distribution.

    The standard density is x^(a - 1) exp(-x) / Γ(a) for x >= 0; the shape parameter is `a` > 0.

    Examples
    --------
    >>> pb.stats.gamma.logpdf([0.5, 3.0], 2.0, scale=2.0)
    Tensor([-2.3294415, -1.787682 ], dtype=float32)
    """

    name, shapes, low = "gamma", ("a",), 0.0

    def _logpdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.xlogy(a - 1, x) - x - _core.gammaln(a)

    def _pdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.gamma_density(a, x)

    def _cdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.gammainc(a, x)

    def _sf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.gammaincc(a, x)

    def _logcdf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.log_gammainc(a, x)

    def _logsf(self, x: Tensor, a: Tensor) -> Tensor:
        return _core.log_gammaincc(a, x)

    def _ppf(self, q: Tensor, a: Tensor) -> Tensor:
        return _core.gammaincinv(a, q)

    def _isf(self, q: Tensor, a: Tensor) -> Tensor:
        return _core.gammainccinv(a, q)

    def _entropy(self, a: Tensor) -> Tensor:
        return a + _core.gammaln(a) + (1 - a) * _core.digamma(a)

    def _mean(self, a: Tensor) -> Tensor:
        return a

    def _var(self, a: Tensor) -> Tensor:
        return a


class Chi2(Gamma):
    """Represent the chi-squared distribution.

    It is the distribution of the sum of the squares of `df` standard normal numbers; the shape
    parameter is `df` > 0.

    Examples
    --------
    >>> pb.stats.chi2.sf([1.0, 10.0], df=2)
    Tensor([0.60653067, 0.00673795], dtype=float32)
    """

    name, shapes = "chi2", ("df",)

    def _standard_parameters(self, shapes: list[Tensor], scale: Any) -> tuple[list[Tensor], Any]:
        two = _core.constant(2.0, shapes[0].dtype)
        return [0.5 * shapes[0]], two if scale is None else two * scale


class Beta(Continuous):
    """Represent the beta distribution on [0, 1].

    The standard density is x^(a - 1) (1 - x)^(b - 1) / B(a, b); the shape parameters are `a` > 0
    and `b` > 0.

    Examples
    --------
    >>> pb.stats.beta.cdf([0.25, 0.5], 2.0, 3.0)
    Tensor([0.26171875, 0.6875    ], dtype=float32)
    """

    name, shapes, low = "beta", ("a", "b"), 0.0

    def _high(self, a: Tensor, b: Tensor) -> float:
        return 1.0

    def _logpdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return _core.xlogy(a - 1, x) + _core.xlog1py(b - 1, -x) - _core.betaln(a, b)

    def _pdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return _core.beta_density(a, b, x)

    def _cdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return _core.betainc(a, b, x)

    def _sf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return _core.betaincc(a, b, x)

    def _logcdf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        logs = _core.log(x), _core.log1p(-x)
        return log_betainc(self._cdf(x, a, b), self._sf(x, a, b), a, b, (x, 1 - x), logs)

    def _logsf(self, x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        logs = _core.log1p(-x), _core.log(x)
        return log_betainc(self._sf(x, a, b), self._cdf(x, a, b), b, a, (1 - x, x), logs)

    def _ppf(self, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return _core.betaincinv(a, b, q)

    def _isf(self, q: Tensor, a: Tensor, b: Tensor) -> Tensor:
        value = _core.betainccinv(a, b, q)
        return _core.where(value == 1, 1 - _core.betaincinv(b, a, q), value)

    def _entropy(self, a: Tensor, b: Tensor) -> Tensor:
        own = (a - 1) * _core.digamma(a) + (b - 1) * _core.digamma(b)
        return _core.betaln(a, b) - own + (a + b - 2) * _core.digamma(a + b)

    def _mean(self, a: Tensor, b: Tensor) -> Tensor:
        return a / (a + b)

    def _var(self, a: Tensor, b: Tensor) -> Tensor:
        return a / (a + b) * (b / (a + b)) / (a + b + 1)


beta = Beta()
chi2 = Chi2()
gamma = Gamma()
t = StudentT()
