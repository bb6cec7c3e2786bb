"""Distributions with further parameters than location and scale; differentiable in all of them.

Gradients use the inverse of the distribution function if it has a closed form, else implicit
reparameterization (Figurnov, Mohamed and Mnih, 2018). The core implements it for the gamma
distribution, from which other distributions follow.
"""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.domains import NON_NEGATIVE, POSITIVE
from .._core import Tensor, Variable
from .._typing import DType, Shape, TensorLike
from ._parameters import (
    Parameter,
    Sequential,
    drawn_shape,
    float_dtype,
    in_domain,
    in_dtype,
    moved,
    real,
    shape_of,
    valid,
)


class Shaped(Sequential):
    """Draw from distributions with further parameters than location and scale."""

    def gamma(
        self,
        concentration: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
        *,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the gamma distribution.

        The density is proportional to x^(concentration - 1) exp(-x / scale) for x > 0. NumPy calls
        the concentration `shape`. Differentiable in `concentration`, by implicit reparameterization
        [2]_, and in `scale`.

        Parameters
        ----------
        concentration : array_like, real
            Shape parameter, at least 0. An invalid entry of an array gives NaN.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        scale : array_like, real, optional
            Scale, at least 0. Default: 1. An invalid entry of an array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `concentration` or `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If a parameter is complex, or `dtype` is not a floating dtype.
        NotImplementedError
            If a third derivative by the concentration is requested.

        References
        ----------
        .. [1] G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables", ACM TOMS
           26, 2000.
        .. [2] M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", NeurIPS
           2018.

        Examples
        --------
        >>> a = pb.Variable([0.5, 3.0])
        >>> x = pb.random.gamma(a, (1000, 2))
        >>> [slope.shape for slope in pb.gradients(pb.mean(x), [a])]
        [(2,)]
        """
        a = in_domain(concentration, NON_NEGATIVE, "gamma", "concentration")
        b = in_domain(scale, NON_NEGATIVE, "gamma", "scale")
        kind = float_dtype("gamma", dtype, a, b)
        return moved(self._gamma(a, drawn_shape(shape, "gamma", a, b), kind), 0, b, kind)

    def beta(
        self, a: TensorLike, b: TensorLike, shape: Shape | None = None, dtype: DType = None
    ) -> Tensor:
        """Draw from the beta distribution.

        The density is proportional to x^(a - 1) (1 - x)^(b - 1) for 0 < x < 1. Differentiable in
        `a` and `b`.

        Parameters
        ----------
        a, b : array_like, real
            Shape parameters, above 0. An invalid entry of an array gives NaN.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `a` or `b` is a number that is not above 0, or the shapes do not broadcast.
        TypeError
            If a parameter is complex, or `dtype` is not a floating dtype.

        Examples
        --------
        >>> x = pb.random.beta(2.0, 3.0, 1000)
        >>> bool(pb.all((x > 0) & (x < 1)))
        True
        """
        first = in_domain(a, POSITIVE, "beta", "a")
        second = in_domain(b, POSITIVE, "beta", "b")
        kind = float_dtype("beta", dtype, first, second)
        size = drawn_shape(shape, "beta", first, second)
        gap = _core.subtract(*(self._gamma(p, size, kind, True) for p in (first, second)))
        return _core.sigmoid(gap)

    def dirichlet(
        self, alpha: TensorLike, shape: Shape | None = None, dtype: DType = None
    ) -> Tensor:
        """Draw probability vectors from the Dirichlet distribution.

        A vector is proportional to draws of the gamma distribution with the concentrations `alpha`.
        Differentiable in `alpha`.

        Parameters
        ----------
        alpha : array_like, real
            Concentrations along the last axis, above 0; at least one axis. An entry of a tensor
            that is not above 0 makes its vector NaN.
        shape : int or tuple of int, optional
            Shape of the batch, without the last axis. Default: the shape of `alpha` without the
            last axis.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.

        Returns
        -------
        Tensor
            The shape of the batch and the last axis of `alpha`; vectors along the last axis that
            sum to 1.

        Raises
        ------
        ValueError
            If `alpha` is a scalar, or is not a tensor and contains a number that is not above 0, or
            the shapes do not broadcast.
        TypeError
            If `dtype` is not a floating dtype.

        Examples
        --------
        >>> pb.random.dirichlet([1.0, 2.0, 3.0], 5).shape
        (5, 3)
        """
        given = _core.constant(alpha, who="dirichlet")
        if given.ndim == 0:
            raise ValueError("dirichlet: expected at least one axis for alpha, got a scalar")
        if not isinstance(alpha, (Tensor, Variable)) and not (given.numpy() > 0).all():
            raise ValueError(f"dirichlet: expected numbers > 0 for alpha, got {_core.shown(alpha)}")
        given = valid(given, _core.greater(given, 0))
        kind = float_dtype("dirichlet", dtype, given)
        batch = shape_of(shape, "dirichlet", [given.shape[:-1]])
        draws = self._gamma(given, (*batch, given.shape[-1]), kind, True)
        return _core.softmax(draws, -1)

    def student_t(
        self,
        df: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
        *,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from Student's t-distribution.

        The draws are scaled by `scale` and shifted by `loc`. Differentiable in `df`, `loc` and
        `scale`.

        Parameters
        ----------
        df : array_like, real
            Degrees of freedom, above 0. An invalid entry of an array gives NaN.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        loc : array_like, real, optional
            Location, added to the draws. Default: 0.
        scale : array_like, real, optional
            Scale, at least 0. Default: 1. An invalid entry of an array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `df` is a number that is not above 0, `scale` is a negative number, or the shapes do
            not broadcast.
        TypeError
            If a parameter is complex, or `dtype` is not a floating dtype.

        Examples
        --------
        >>> pb.random.student_t(5.0, (2, 3)).shape
        (2, 3)
        """
        n = in_domain(df, POSITIVE, "student_t", "df")
        m, s = real(loc, "student_t"), in_domain(scale, NON_NEGATIVE, "student_t", "scale")
        kind = float_dtype("student_t", dtype, n, m, s)
        size = drawn_shape(shape, "student_t", n, m, s)
        half = _core.multiply(in_dtype(n, kind), 0.5) if isinstance(n, Tensor) else n / 2
        chi = _core.subtract(self._gamma(half, size, kind, True), _log(half))
        narrow = _core.exp(_core.multiply(chi, -0.5))
        return moved(_core.multiply(self._normal(size, kind), narrow), m, s, kind)

    def weibull(
        self,
        a: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
        *,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the Weibull distribution.

        The probability of a value above x > 0 is exp(-(x / scale)^a). Differentiable in `a` and
        `scale`.

        Parameters
        ----------
        a : array_like, real
            Shape parameter, above 0. An invalid entry of an array gives NaN.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        scale : array_like, real, optional
            Scale, at least 0. Default: 1. An invalid entry of an array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `a` is a number that is not above 0, `scale` is a negative number, or the shapes do
            not broadcast.
        TypeError
            If a parameter is complex, or `dtype` is not a floating dtype.

        Examples
        --------
        >>> pb.random.weibull(1.5, 4).shape
        (4,)
        """
        power = in_domain(a, POSITIVE, "weibull", "a")
        size = in_domain(scale, NON_NEGATIVE, "weibull", "scale")
        kind = float_dtype("weibull", dtype, power, size)
        drawn = self._exponential(drawn_shape(shape, "weibull", power, size), kind)
        x = _core.exp(_core.divide(_core.log(drawn), in_dtype(power, kind)))
        return moved(x, 0, size, kind)

    def truncated_normal(
        self,
        lower: TensorLike,
        upper: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
        *,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the normal distribution truncated to an interval.

        The result is loc + scale x, where x is from the standard normal distribution between
        `lower` and `upper`. Both bounds may be far in the same tail. Differentiable in all
        parameters.

        Parameters
        ----------
        lower, upper : array_like, real
            Bounds of x, which may be infinite. Arrays with lower >= upper give NaN.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        loc : array_like, real, optional
            Location, added to the draws. Default: 0.
        scale : array_like, real, optional
            Scale, at least 0. Default: 1. An invalid entry of an array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `lower` and `upper` are numbers and `lower` is not below `upper`, `scale` is a
            negative number, or the shapes do not broadcast.
        TypeError
            If a parameter is complex, or `dtype` is not a floating dtype.

        Examples
        --------
        >>> x = pb.random.truncated_normal(-2.0, 2.0, 1000)
        >>> float(pb.max(pb.abs(x))) <= 2
        True
        """
        who = "truncated_normal"
        a, b = real(lower, who), real(upper, who)
        m, s = real(loc, who), in_domain(scale, NON_NEGATIVE, who, "scale")
        numbers = not isinstance(a, Tensor) and not isinstance(b, Tensor)
        if numbers and not a < b:
            raise ValueError(f"{who}: expected lower < upper, got {a!r} and {b!r}")
        kind = float_dtype(who, dtype, a, b, m, s)
        size = drawn_shape(shape, who, a, b, m, s)
        low, high = (_core.cast(_core.constant(p, who=who), kind) for p in (a, b))
        x = _between(low, high, self._exponential(size, kind))
        if not numbers:
            x = valid(x, _core.less(low, high))
        return moved(x, m, s, kind)

    def multivariate_normal(
        self,
        mean: TensorLike,
        cov: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
    ) -> Tensor:
        """Draw vectors from a multivariate normal distribution.

        The result is mean + L z, where L is the Cholesky factor of `cov` and z is standard normal.
        Differentiable in `mean` and `cov`.

        Parameters
        ----------
        mean : array_like, real
            Mean of shape (…, n).
        cov : array_like, real
            Covariance of shape (…, n, n), positive definite.
        shape : int or tuple of int, optional
            Shape of the batch, without the last axis. Default: the broadcast shape of the batches
            of `mean` and `cov`.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.

        Returns
        -------
        Tensor
            The shape of the batch followed by n.

        Raises
        ------
        ValueError
            If the last axes of `mean` and `cov` differ, or the shapes do not broadcast.
        numpy.linalg.LinAlgError
            If `cov` is not positive definite. It is raised when the result is computed.
        TypeError
            If `dtype` is not a floating dtype.

        Examples
        --------
        >>> pb.random.multivariate_normal([0.0, 1.0], [[2.0, 1.0], [1.0, 2.0]], 5).shape
        (5, 2)
        """
        who = "multivariate_normal"
        m, c = _core.constant(mean, who=who), _core.constant(cov, who=who)
        if m.ndim < 1 or c.ndim < 2 or c.shape[-2:] != (m.shape[-1],) * 2:
            raise ValueError(
                f"{who}: expected shapes (…, n) for mean and (…, n, n) for cov, got {m.shape} and "
                f"{c.shape}"
            )
        kind = float_dtype(who, dtype, m, c)
        batch = shape_of(shape, who, [m.shape[:-1], c.shape[:-2]])
        z = self._normal((*batch, m.shape[-1], 1), kind)
        x = _core.squeeze(_core.matmul(_core.cholesky(_core.cast(c, kind)), z), -1)
        return _core.add(x, _core.cast(m, kind))


def _log(x: Parameter) -> Any:
    return _core.log(x) if isinstance(x, Tensor) else math.log(x)


def _between(low: Tensor, high: Tensor, drawn: Tensor) -> Tensor:
    """Transform an exponential draw to a normal number between `low` and `high`.

    With u = exp(-drawn) the probability is u · Φ(high) + (1 - u) · Φ(low). It is evaluated in the
    tail in which the probabilities are small.
    """
    turned = _core.greater(_core.add(low, high), 0)
    left = _core.where(turned, _core.negative(high), low)
    right = _core.where(turned, _core.negative(low), high)
    u, rest = _core.negative(drawn), _core.log(_core.negative(_core.expm1(_core.negative(drawn))))
    share = _core.logaddexp(
        _core.add(_core.log_ndtr(right), u), _core.add(_core.log_ndtr(left), rest)
    )
    x = _core.clip(_quantile(share), left, right)
    return _core.where(turned, _core.negative(x), x)


def _quantile(log_share: Tensor) -> Tensor:
    """Evaluate the normal quantile function at exp(log_share)."""
    above = _core.greater(log_share, -math.log(2))
    other = _core.log(_core.negative(_core.expm1(log_share)))
    t = _core.where(above, other, log_share)
    far = _core.less(t, -10.0)
    # Newton steps from the first terms of the asymptotic expansion. Each step doubles the order up
    # to which derivatives are exact.
    s = _core.stop_gradient(_core.multiply(_core.minimum(t, -10.0), -2.0))
    x = _core.negative(_core.sqrt(_core.subtract(s, _core.log(_core.multiply(s, 2 * math.pi)))))
    tail = _core.where(far, t, -10.0)
    for _ in range(3):
        gap = _core.subtract(_core.log_ndtr(x), tail)
        x = _core.subtract(x, _core.divide(gap, _core.log_ndtr_slope(x)))
    near = _core.ndtri(_core.exp(_core.where(far, -1.0, t)))
    y = _core.where(far, x, near)
    return _core.where(above, _core.negative(y), y)
