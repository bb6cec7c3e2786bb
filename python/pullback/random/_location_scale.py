"""Distributions with a location and a scale, and the uniform one; differentiable in both."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from .. import _core
from .._base.domains import NON_NEGATIVE
from .._core import Tensor
from .._numpy.dtype_functions import finfo
from .._typing import DType, Shape, TensorLike
from ._parameters import (
    Parameter,
    Sequential,
    drawn_shape,
    float_dtype,
    in_domain,
    moved,
    real,
    refuse_numpy_order,
    valid,
)


class LocationScale(Sequential):
    """Draw from distributions with a location and a scale."""

    def normal(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the normal distribution.

        Differentiable in `loc` and `scale`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `loc` and `scale` are passed by name.
        loc : array_like, real, optional
            Mean. Default: 0.
        scale : array_like, real, optional
            Standard deviation, at least 0. Default: 1. An invalid entry of an array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> pb.random.normal((2, 3)).shape
        (2, 3)
        >>> pb.random.normal(loc=[0.0, 100.0], scale=0.1).shape
        (2,)
        """
        refuse_numpy_order("normal", rest, "loc", "scale")
        given = Given("normal", shape, dtype, loc, scale)
        return given.moved(self._normal(given.shape, given.dtype))

    def uniform(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the uniform distribution on [low, high).

        Rounding may produce `high`. Differentiable in `low` and `high`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `low` and `high` are passed by name.
        low : array_like, real, optional
            Lower end, included. Default: 0.
        high : array_like, real, optional
            Upper end, excluded, not less than `low`. Default: 1. Arrays with high < low give NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `low` and `high` are numbers and high < low, if the dtype cannot represent their
            difference, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> x = pb.random.uniform(1000)
        >>> bool(pb.all((x >= 0) & (x < 1)))
        True
        """
        refuse_numpy_order("uniform", rest, "low", "high")
        a, b = real(low, "uniform"), real(high, "uniform")
        kind = float_dtype("uniform", dtype, a, b)
        x = self._uniform(drawn_shape(shape, "uniform", a, b), kind)
        if isinstance(a, Tensor) or isinstance(b, Tensor):
            span = _core.subtract(b, a)
            return moved(x, a, valid(span, _core.greater_equal(span, 0)), kind)
        if not a <= b:
            raise ValueError(f"uniform: expected low <= high, got {a!r} and {b!r}")
        if not math.isfinite(b - a) or b - a > finfo(kind).max:
            raise ValueError(
                f"uniform: expected low and high whose difference {kind} can represent, "
                f"got {a!r} and {b!r}"
            )
        return moved(x, a, b - a, kind)

    def laplace(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the Laplace distribution.

        The density is exp(-|x - loc| / scale) / (2 scale). Differentiable in `loc` and `scale`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `loc` and `scale` are passed by name.
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
            If `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> pb.random.laplace(3, scale=2.0).shape
        (3,)
        """
        refuse_numpy_order("laplace", rest, "loc", "scale")
        given = Given("laplace", shape, dtype, loc, scale)
        first, second = (self._exponential(given.shape, given.dtype) for _ in range(2))
        return given.moved(_core.subtract(first, second))

    def logistic(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the logistic distribution.

        The distribution function is sigmoid((x - loc) / scale). Differentiable in `loc` and
        `scale`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `loc` and `scale` are passed by name.
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
            If `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> pb.random.logistic(3, loc=1.0).shape
        (3,)
        """
        refuse_numpy_order("logistic", rest, "loc", "scale")
        given = Given("logistic", shape, dtype, loc, scale)
        first, second = (_core.log(self._exponential(given.shape, given.dtype)) for _ in range(2))
        return given.moved(_core.subtract(first, second))

    def gumbel(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the Gumbel distribution of extreme values.

        The distribution function is exp(-exp(-(x - loc) / scale)), a limit distribution of maxima.
        Differentiable in `loc` and `scale`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `loc` and `scale` are passed by name.
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
            If `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> pb.random.gumbel(3).shape
        (3,)
        """
        refuse_numpy_order("gumbel", rest, "loc", "scale")
        given = Given("gumbel", shape, dtype, loc, scale)
        return given.moved(_core.negative(_core.log(self._exponential(given.shape, given.dtype))))

    def cauchy(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        loc: TensorLike = 0.0,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the Cauchy distribution.

        The density is scale / (pi (scale² + (x - loc)²)). Differentiable in `loc` and `scale`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `loc` and `scale` are passed by name.
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
            If `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> pb.random.cauchy(3).shape
        (3,)
        """
        refuse_numpy_order("cauchy", rest, "loc", "scale")
        given = Given("cauchy", shape, dtype, loc, scale)
        first, second = (self._normal(given.shape, given.dtype) for _ in range(2))
        return given.moved(_core.divide(first, second))

    def exponential(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        scale: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the exponential distribution.

        The density is exp(-x / scale) / scale for x > 0. Differentiable in `scale`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `scale` is passed by name.
        scale : array_like, real, optional
            Mean, at least 0. Default: 1. An invalid entry of an array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `scale` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> bool(pb.all(pb.random.exponential(1000, scale=3.0) > 0))
        True
        """
        refuse_numpy_order("exponential", rest, "scale")
        given = Given("exponential", shape, dtype, 0.0, scale)
        return given.moved(self._exponential(given.shape, given.dtype))

    def lognormal(
        self,
        shape: Shape | None = None,
        dtype: DType = None,
        *rest: NoReturn,
        mean: TensorLike = 0.0,
        sigma: TensorLike = 1.0,
    ) -> Tensor:
        """Draw from the log-normal distribution.

        The draws are exp of draws from the normal distribution. Differentiable in `mean` and
        `sigma`.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, floating, optional
            Dtype of the result. Default: the promoted floating dtype of the parameters that are
            arrays, or the default floating dtype.
        *rest : never
            Further positional arguments are an error: `mean` and `sigma` are passed by name.
        mean : array_like, real, optional
            Mean of the logarithm. Default: 0.
        sigma : array_like, real, optional
            Standard deviation of the logarithm, at least 0. Default: 1. An invalid entry of an
            array gives NaN.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `sigma` is a negative number, or the shapes do not broadcast.
        TypeError
            If there are more than two positional arguments, a parameter is complex, or `dtype` is
            not a floating dtype.

        Examples
        --------
        >>> bool(pb.all(pb.random.lognormal(1000) > 0))
        True
        """
        refuse_numpy_order("lognormal", rest, "mean", "sigma")
        given = Given("lognormal", shape, dtype, mean, sigma, "sigma")
        return _core.exp(given.moved(self._normal(given.shape, given.dtype)))


class Given:
    """Convert the arguments of a distribution with a location and a scale."""

    def __init__(
        self, who: str, shape: Any, dtype: Any, loc: Any, scale: Any, name: str = "scale"
    ) -> None:
        self.loc: Parameter = real(loc, who)
        self.scale = in_domain(scale, NON_NEGATIVE, who, name)
        self.dtype = float_dtype(who, dtype, self.loc, self.scale)
        self.shape = drawn_shape(shape, who, self.loc, self.scale)

    def moved(self, x: Tensor) -> Tensor:
        return moved(x, self.loc, self.scale, self.dtype)
