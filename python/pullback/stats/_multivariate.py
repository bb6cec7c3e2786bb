"""Distributions of vectors along the last axis; the axes before it are a batch."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.domains import nan_unless
from .._core import Tensor
from .._numpy.creation import eye
from .._numpy.diagonals import diagonal
from ..linalg._decompositions import cholesky
from ..linalg._solve import solve_triangular
from ._absent import Family
from ._arguments import check_broadcast, floats
from ._distribution import INFINITY


def _sum(x: Tensor) -> Tensor:
    return _core.sum(x, -1)


class Dirichlet(Family):
    """Represent the Dirichlet distribution of probability vectors.

    Vectors are along the last axis (in SciPy along the first); the axes before it are a batch. The
    parameter is `alpha` > 0. If an entry of `alpha` is invalid, the result is NaN.

    Examples
    --------
    >>> pb.stats.dirichlet.logpdf([0.2, 0.3, 0.5], [1.0, 2.0, 3.0])
    Tensor(1.5040774, dtype=float32)
    """

    name = "dirichlet"

    def pdf(self, x: Any, alpha: Any) -> Tensor:
        """Compute the probability density at `x`.

        It is 0 if `x` has a negative entry or does not sum to 1, within half of the digits.

        Parameters
        ----------
        x : array_like, real
            Vectors of shape (…, k).
        alpha : array_like, real
            Concentrations of shape (…, k), above 0.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If the last axes of `x` and `alpha` differ, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        """
        value, dtype = self._log(x, alpha, "pdf")
        return _core.cast(_core.exp(value), dtype)

    def logpdf(self, x: Any, alpha: Any) -> Tensor:
        """Compute the logarithm of the density at `x`.

        It is -inf if `x` has a negative entry or does not sum to 1, within half of the digits.

        Parameters
        ----------
        x : array_like, real
            Vectors of shape (…, k).
        alpha : array_like, real
            Concentrations of shape (…, k), above 0.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If the last axes of `x` and `alpha` differ, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        """
        return _core.cast(*self._log(x, alpha, "logpdf"))

    def _log(self, x: Any, alpha: Any, what: str) -> tuple[Tensor, Any]:
        """Return the logarithm of the density in float64, and the dtype of the result."""
        who = f"dirichlet.{what}"
        (x, alpha), dtype = floats([x, alpha], who)
        if not x.shape or not alpha.shape or x.shape[-1] != alpha.shape[-1]:
            raise ValueError(
                f"{who}: expected one size of the last axis for x and alpha, got shapes {x.shape} "
                f"and {alpha.shape}"
            )
        norm = _sum(_core.gammaln(alpha)) - _core.gammaln(_sum(alpha))
        value = _sum(_core.xlogy(alpha - 1, x)) - norm
        apart = _core.abs(_sum(x) - 1)
        tolerance = 1e-7 if dtype.itemsize == 8 else 1e-3
        negative = _core.less(_core.min(x, -1), 0)
        outside = _core.logical_or(negative, _core.greater(apart, tolerance))
        return _valid_where(alpha, _core.where(outside, -INFINITY, value)), dtype

    def entropy(self, alpha: Any) -> Tensor:
        """Compute the differential entropy in nats.

        Parameters
        ----------
        alpha : array_like, real
            Concentrations of shape (…, k), above 0.

        Returns
        -------
        Tensor
            Shape of `alpha` without the last axis; its floating dtype, or the default one.

        Raises
        ------
        ValueError
            If `alpha` is a scalar.
        TypeError
            If `alpha` is complex.
        """
        (alpha,), dtype = floats([alpha], "dirichlet.entropy")
        if not alpha.shape:
            raise ValueError("dirichlet.entropy: expected a vector for alpha, got a scalar")
        total, count = _sum(alpha), alpha.shape[-1]
        norm = _sum(_core.gammaln(alpha)) - _core.gammaln(total)
        own = _sum((alpha - 1) * _core.digamma(alpha))
        value = _valid_where(alpha, norm + (total - count) * _core.digamma(total) - own)
        return _core.cast(value, dtype)


def _valid_where(alpha: Tensor, value: Tensor) -> Tensor:
    return nan_unless(_core.greater(_core.min(alpha, -1), 0), value)


class MultivariateNormal(Family):
    """Represent the multivariate normal distribution.

    Vectors are along the last axis; the axes before it are a batch. Only the lower triangle of
    `cov` is read. A scalar `cov` represents a multiple of the identity. If neither `mean` nor `cov`
    determines the size n, it is the size of `x`; SciPy uses 1.

    Examples
    --------
    >>> covariance = [[2.0, 0.0], [0.0, 1.0]]
    >>> pb.round(pb.stats.multivariate_normal.logpdf([1.0, 0.0], [0.0, 0.0], covariance), 4)
    Tensor(-2.4345, dtype=float32)
    """

    name = "multivariate_normal"

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1) -> Tensor:
        """Compute the probability density at `x`.

        Parameters
        ----------
        x : array_like, real
            Vectors of shape (…, n).
        mean : array_like, real, optional
            Mean of shape (…, n). Default: 0.
        cov : array_like, real, optional
            Covariance of shape (…, n, n), positive definite, or a scalar. Default: 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If `x` is a scalar, `cov` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If `cov` is not positive definite. It is raised when the result is computed.
        """
        value, dtype = self._log(x, mean, cov, "pdf")
        return _core.cast(_core.exp(value), dtype)

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1) -> Tensor:
        """Compute the logarithm of the density at `x`.

        Parameters
        ----------
        x : array_like, real
            Vectors of shape (…, n).
        mean : array_like, real, optional
            Mean of shape (…, n). Default: 0.
        cov : array_like, real, optional
            Covariance of shape (…, n, n), positive definite, or a scalar. Default: 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If `x` is a scalar, `cov` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If `cov` is not positive definite. It is raised when the result is computed.
        """
        return _core.cast(*self._log(x, mean, cov, "logpdf"))

    def _log(self, x: Any, mean: Any, cov: Any, what: str) -> tuple[Tensor, Any]:
        """Return the logarithm of the density in float64, and the dtype of the result."""
        who = f"multivariate_normal.{what}"
        (x, cov, *means), dtype = floats([x, cov, *([] if mean is None else [mean])], who)
        check_broadcast([x, *means], ["x", "mean"], who)
        apart = x - means[0] if means else x
        if not apart.shape:
            raise ValueError(f"{who}: expected a vector for x, got a scalar")
        n = apart.shape[-1]
        factor = factor_of(cov, n, who)
        if len(factor.shape) == 2:  # one matrix for the batch: one solve with many columns
            if 0 in apart.shape:
                return _sum(apart), dtype
            columns = _core.transpose(_core.reshape(apart, (-1, n)), (1, 0))
            rows = solve_triangular(factor, columns, lower=True)
            square = _core.reshape(_core.sum(_core.square(rows), 0), apart.shape[:-1])
        else:
            solved = solve_triangular(factor, _core.expand_dims(apart, -1), lower=True)
            square = _core.sum(_core.square(solved), (-2, -1))
        size: Tensor = log_size(factor) + 0.5 * n * math.log(2 * math.pi)
        return -0.5 * square - size, dtype

    def entropy(self, mean: Any = None, cov: Any = 1) -> Tensor:
        """Compute the differential entropy in nats.

        It depends on the size of the mean, not on its value.

        Parameters
        ----------
        mean : array_like, real, optional
            Mean of shape (…, n). Default: 0.
        cov : array_like, real, optional
            Covariance of shape (…, n, n), positive definite, or a scalar. Default: 1.

        Returns
        -------
        Tensor
            Shape of `cov` without the last two axes; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If `mean` is a scalar, or `cov` has another shape.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If `cov` is not positive definite. It is raised when the result is computed.
        """
        who = "multivariate_normal.entropy"
        (cov, *means), dtype = floats([cov, *([] if mean is None else [mean])], who)
        if means and not means[0].shape:
            raise ValueError(f"{who}: expected a vector for mean, got a scalar")
        n = cov.shape[-1] if cov.shape else (means[0].shape[-1] if means else 1)
        value = log_size(factor_of(cov, n, who)) + 0.5 * n * (1 + math.log(2 * math.pi))
        return _core.cast(value, dtype)


def factor_of(cov: Tensor, n: int, who: str, name: str = "cov") -> Tensor:
    """Return the Cholesky factor of a matrix, or of a multiple of the identity."""
    if not cov.shape:
        cov = cov * eye(n, dtype=cov.dtype)
    if len(cov.shape) < 2 or cov.shape[-1] != n or cov.shape[-2] != n:
        raise ValueError(f"{who}: expected shape (…, {n}, {n}) for {name}, got {cov.shape}")
    return cholesky(cov)


def log_size(factor: Tensor) -> Tensor:
    """Return half of the logarithm of the determinant, from the Cholesky factor."""
    return _core.sum(_core.log(diagonal(factor, 0, -2, -1)), -1)


dirichlet = Dirichlet()
multivariate_normal = MultivariateNormal()
