"""The multivariate t-distribution of vectors along the last axis."""

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


class MultivariateT(Family):
    """Represent the multivariate t-distribution.

    Vectors are along the last axis; the axes before it are a batch. Only the lower triangle of
    `shape` is read. A scalar `shape` represents a multiple of the identity. If `df` is not
    positive, the result is NaN.

    Examples
    --------
    >>> pb.stats.multivariate_t.logpdf([1.0, 0.0], df=3.0)
    Tensor(-2.5570822, dtype=float32)
    """

    name = "multivariate_t"

    def pdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Tensor:
        """Compute the probability density at `x`.

        Parameters
        ----------
        x : array_like, real
            Vectors of shape (…, n).
        loc : array_like, real, optional
            Location of shape (…, n). Default: 0.
        shape : array_like, real, optional
            Scale matrix of shape (…, n, n), positive definite, or a scalar. Default: 1.
        df : array_like, real, optional
            Degrees of freedom, above 0; they may be infinite. Default: 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If `x` is a scalar, `shape` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If `shape` is not positive definite. It is raised when the result is computed.
        """
        value, dtype = self._log(x, loc, shape, df, "pdf")
        return _core.cast(_core.exp(value), dtype)

    def logpdf(self, x: Any, loc: Any = None, shape: Any = 1, df: Any = 1) -> Tensor:
        """Compute the logarithm of the density at `x`.

        Parameters
        ----------
        x : array_like, real
            Vectors of shape (…, n).
        loc : array_like, real, optional
            Location of shape (…, n). Default: 0.
        shape : array_like, real, optional
            Scale matrix of shape (…, n, n), positive definite, or a scalar. Default: 1.
        df : array_like, real, optional
            Degrees of freedom, above 0; they may be infinite. Default: 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If `x` is a scalar, `shape` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If `shape` is not positive definite. It is raised when the result is computed.
        """
        return _core.cast(*self._log(x, loc, shape, df, "logpdf"))

    def _log(self, x: Any, loc: Any, shape: Any, df: Any, what: str) -> tuple[Tensor, Any]:
        """Return the logarithm of the density in float64, and the dtype of the result."""
        who = f"multivariate_t.{what}"
        (x, shape, df, *locs), dtype = floats([x, shape, df, *([] if loc is None else [loc])], who)
        apart = x - locs[0] if locs else x
        if not apart.shape:
            raise ValueError(f"{who}: expected a vector for x, got a scalar")
        n = apart.shape[-1]
        factor = factor_of(shape, n, who, "shape")
        solved = solve_triangular(factor, _core.expand_dims(apart, -1), lower=True)
        square = _core.sum(_core.square(solved), (-2, -1))
        is_normal, few = _core.isinf(df), _core.where(_core.isinf(df), 1.0, df)
        ways = math.lgamma(0.5 * n) - _core.betaln(0.5 * few, _core.cast(0.5 * n, df.dtype))
        front = ways - 0.5 * n * _core.log(few * math.pi)
        value = front - 0.5 * (few + n) * _core.log1p(square / few)
        normal = -0.5 * square - 0.5 * n * math.log(2 * math.pi)
        value = _core.where(is_normal, normal, value) - log_size(factor)
        return nan_unless(_core.greater(df, 0), value), dtype

    def entropy(self, loc: Any = None, shape: Any = 1, df: Any = 1) -> Tensor:
        """Compute the differential entropy in nats.

        It depends on the size of the location, not on its value.

        Parameters
        ----------
        loc : array_like, real, optional
            Location of shape (…, n). Default: 0.
        shape : array_like, real, optional
            Scale matrix of shape (…, n, n), positive definite, or a scalar. Default: 1.
        df : array_like, real, optional
            Degrees of freedom, above 0; they may be infinite. Default: 1.

        Returns
        -------
        Tensor
            The broadcast shape of `df` and of `shape` without its last two axes; their promoted
            dtype, or the default floating dtype.

        Raises
        ------
        ValueError
            If `loc` is a scalar, `shape` has another shape, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        numpy.linalg.LinAlgError
            If `shape` is not positive definite. It is raised when the result is computed.
        """
        who = "multivariate_t.entropy"
        (shape, df, *locs), dtype = floats([shape, df, *([] if loc is None else [loc])], who)
        if locs and not locs[0].shape:
            raise ValueError(f"{who}: expected a vector for loc, got a scalar")
        n = shape.shape[-1] if shape.shape else (locs[0].shape[-1] if locs else 1)
        size = log_size(factor_of(shape, n, who, "shape"))
        is_normal, few = _core.isinf(df), _core.where(_core.isinf(df), 1.0, df)
        half = _core.cast(0.5 * n, df.dtype)
        front = _core.betaln(0.5 * few, half) - math.lgamma(0.5 * n)
        rise = -0.5 * (few + n) * _core.polygamma_gap(0.0, 0.5 * few, half)
        value = front + 0.5 * n * _core.log(few * math.pi) + rise
        value = _core.where(is_normal, 0.5 * n * (1 + math.log(2 * math.pi)), value) + size
        return _core.cast(nan_unless(_core.greater(df, 0), value), dtype)


multivariate_t = MultivariateT()
