"""The Wishart distribution of matrices along the last two axes."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.domains import nan_unless
from .._core import Tensor
from ..linalg._solve import solve_triangular
from ._absent import Family
from ._arguments import floats
from ._multivariate import factor_of, log_size


class Wishart(Family):
    """Represent the Wishart distribution of positive definite matrices.

    Matrices are along the last two axes (in SciPy along the first two); the axes before them are a
    batch. Only the lower triangles are read. A scalar `scale` represents a multiple of the
    identity. If `df` is at most p - 1, the result is NaN.

    Examples
    --------
    >>> pb.stats.wishart.logpdf([[2.0, 0.5], [0.5, 1.0]], 3.0, 1.0)
    Tensor(-4.0310245, dtype=float32)
    """

    name = "wishart"

    def pdf(self, x: Any, df: Any, scale: Any) -> Tensor:
        """Compute the probability density at `x`.

        Parameters
        ----------
        x : array_like, real
            Matrices of shape (…, p, p), positive definite.
        df : array_like, real
            Degrees of freedom, above p - 1.
        scale : array_like, real
            Scale matrix of shape (…, p, p), positive definite, or a scalar.

        Returns
        -------
        Tensor
            The broadcast shape without the last two axes of the matrices; their promoted dtype, or
            the default floating dtype.

        Raises
        ------
        ValueError
            If `x` is not square, `scale` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If a matrix is not positive definite. It is raised when the result is computed.
        """
        value, dtype = self._log(x, df, scale, "pdf")
        return _core.cast(_core.exp(value), dtype)

    def logpdf(self, x: Any, df: Any, scale: Any) -> Tensor:
        """Compute the logarithm of the density at `x`.

        Parameters
        ----------
        x : array_like, real
            Matrices of shape (…, p, p), positive definite.
        df : array_like, real
            Degrees of freedom, above p - 1.
        scale : array_like, real
            Scale matrix of shape (…, p, p), positive definite, or a scalar.

        Returns
        -------
        Tensor
            The broadcast shape without the last two axes of the matrices; their promoted dtype, or
            the default floating dtype.

        Raises
        ------
        ValueError
            If `x` is not square, `scale` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If a matrix is not positive definite. It is raised when the result is computed.
        """
        return _core.cast(*self._log(x, df, scale, "logpdf"))

    def _log(self, x: Any, df: Any, scale: Any, what: str) -> tuple[Tensor, Any]:
        """Return the logarithm of the density in float64, and the dtype of the result."""
        who = f"wishart.{what}"
        (x, df, scale), dtype = floats([x, df, scale], who)
        if len(x.shape) < 2 or x.shape[-1] != x.shape[-2]:
            raise ValueError(f"{who}: expected square matrices for x, got shape {x.shape}")
        p = x.shape[-1]
        own, factor = factor_of(x, p, who, "x"), factor_of(scale, p, who, "scale")
        # The trace of scale^-1 x is the squared norm of a product of factors.
        trace = _core.sum(_core.square(solve_triangular(factor, own, lower=True)), (-2, -1))
        value = (df - p - 1) * log_size(own) - 0.5 * trace - df * log_size(factor)
        value = value - 0.5 * p * math.log(2) * df - _log_gamma(0.5 * df, p)
        return nan_unless(_core.greater(df, p - 1), value), dtype

    def entropy(self, df: Any, scale: Any) -> Tensor:
        """Compute the differential entropy in nats.

        A scalar `scale` is a matrix of size 1.

        Parameters
        ----------
        df : array_like, real
            Degrees of freedom, above p - 1.
        scale : array_like, real
            Scale matrix of shape (…, p, p), positive definite, or a scalar.

        Returns
        -------
        Tensor
            The broadcast shape of `df` and of `scale` without its last two axes; their promoted
            dtype, or the default floating dtype.

        Raises
        ------
        ValueError
            If `scale` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If a matrix is not positive definite. It is raised when the result is computed.
        """
        who = "wishart.entropy"
        (df, scale), dtype = floats([df, scale], who)
        p = scale.shape[-1] if scale.shape else 1
        size = log_size(factor_of(scale, p, who, "scale"))
        half = _core.expand_dims(0.5 * df, -1) - _halves(p)
        digammas = _core.sum(_core.digamma(half), -1)
        value = (p + 1) * size + 0.5 * p * (p + 1) * math.log(2) + _log_gamma(0.5 * df, p)
        value = value - 0.5 * (df - p - 1) * digammas + 0.5 * p * df
        return _core.cast(nan_unless(_core.greater(df, p - 1), value), dtype)


def _halves(p: int) -> Tensor:
    return _core.constant([0.5 * j for j in range(p)], "float64")


def _log_gamma(a: Tensor, p: int) -> Tensor:
    """Compute the logarithm of the multivariate gamma function."""
    parts = _core.gammaln(_core.expand_dims(a, -1) - _halves(p))
    return _core.sum(parts, -1) + 0.25 * p * (p - 1) * math.log(math.pi)


wishart = Wishart()
