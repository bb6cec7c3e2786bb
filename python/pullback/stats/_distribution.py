"""The base class of distributions of one variable: its methods in terms of the standard form."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, ClassVar

from .. import _core
from .._base.domains import nan_unless
from .._core import Tensor
from ._absent import Family
from ._arguments import Arguments, StandardForm, read_arguments, shift_and_scale

INFINITY = float("inf")
NAN = float("nan")
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def half_square(x: Tensor) -> Tensor:
    """Compute x² / 2, which overflows only if the result does; so do its derivatives."""
    return 0.5 * x * x


def all_of(masks: list[Tensor]) -> Tensor:
    return reduce(_core.logical_and, masks)


def positive(*values: Tensor) -> list[Tensor]:
    return [_core.greater(value, 0) for value in values]


def log_probability(p: Tensor, complement: Tensor) -> Tensor:
    """Compute log(p) from the smaller of `p` and `complement` = 1 - p."""
    return _core.where(_core.less(p, 0.5), _core.log(p), _core.log1p(-complement))


class Distribution(Family):
    """Implement the methods of a distribution with location and scale.

    The arguments of a method are the shape parameters, `loc` (default 0) and, for continuous
    distributions, `scale` (default 1). They broadcast; integers become the default floating dtype.

    A subclass implements the standard form (loc 0, scale 1) inside the support. This class shifts
    and scales. It defines the values outside the support, where gradients are 0, and the NaN of
    invalid parameters.
    """

    shapes: ClassVar[tuple[str, ...]] = ()
    low: ClassVar[float] = -INFINITY
    low_is_inside: ClassVar[bool] = True
    scales: ClassVar[bool] = True
    # True if float32 is enough for the functions of x alone: no terms cancel.
    digits_in_float32: ClassVar[bool] = False

    # --- the standard form, which a subclass implements

    def _cdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _sf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _ppf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _isf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _entropy(self, *shapes: Any, **_: Any) -> Tensor | float:
        raise NotImplementedError

    def _mean(self, *shapes: Any, **_: Any) -> Tensor | float:
        raise NotImplementedError

    def _var(self, *shapes: Any, **_: Any) -> Tensor | float:
        raise NotImplementedError

    def _logcdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return log_probability(self._cdf(x, *shapes), self._sf(x, *shapes))

    def _logsf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return log_probability(self._sf(x, *shapes), self._cdf(x, *shapes))

    def _valid(self, *shapes: Any, **_: Any) -> list[Tensor]:
        """Return masks that are true if the parameters are valid."""
        return positive(*shapes)

    def _low(self, *shapes: Any, **_: Any) -> Tensor | float:
        return self.low

    def _high(self, *shapes: Any, **_: Any) -> Tensor | float:
        return INFINITY

    def _standard_parameters(self, shapes: list[Tensor], scale: Any) -> tuple[list[Tensor], Any]:
        """Return the parameters of the standard form, for a family inside of another one."""
        return shapes, scale

    # --- arguments

    def _checked(self, value: Any, given: Arguments) -> Tensor:
        """Replace the value by NaN if a parameter is invalid or NaN."""
        masks = [] if not given.shapes else self._valid(*given.shapes)
        if given.scale is not None:
            masks += positive(given.scale)
        value = _core.constant(value)
        return nan_unless(all_of(masks), value) if masks else value

    def _finished(self, value: Any, given: Arguments) -> Tensor:
        return given.cast(self._checked(value, given))

    def _standard_form(
        self, what: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> StandardForm:
        return StandardForm(self, read_arguments(what, self, args, kwargs, (x,)))

    def _probability(
        self, what: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        ends: tuple[float, float],
    ) -> Tensor:  # fmt: skip
        """Evaluate a distribution function, with its values below and above the support."""
        at = self._standard_form(what, x, args, kwargs)
        value = getattr(self, "_" + what)(at.z, *at.shapes)
        for mask, end in zip((at.below, at.above), ends, strict=True):
            value = value if mask is None else _core.where(mask, end, value)
        return at.cast(value)

    # --- public methods

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the cumulative distribution function: the probability of values up to `x`.

        Parameters
        ----------
        x : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

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
        return self._probability("cdf", x, args, kwargs, (0.0, 1.0))

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the survival function: the probability of values above `x`.

        It is accurate in the upper tail, where `1 - cdf(x)` loses digits.

        Parameters
        ----------
        x : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

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
        return self._probability("sf", x, args, kwargs, (1.0, 0.0))

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the logarithm of the cumulative distribution function.

        It is accurate in both tails.

        Parameters
        ----------
        x : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

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
        return self._probability("logcdf", x, args, kwargs, (-INFINITY, 0.0))

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the logarithm of the survival function.

        It is accurate in both tails.

        Parameters
        ----------
        x : array_like, real
            Values at which to evaluate.
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

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
        return self._probability("logsf", x, args, kwargs, (0.0, -INFINITY))

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the quantile function, the inverse of `cdf`.

        The result is NaN for `q` outside [0, 1]. Quantiles of discrete distributions have no
        gradient.

        Parameters
        ----------
        q : array_like, real
            Probabilities in [0, 1].
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

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
        return self._inverse("ppf", q, args, kwargs)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the inverse of the survival function `sf`.

        The result is NaN for `q` outside [0, 1]. Quantiles of discrete distributions have no
        gradient.

        Parameters
        ----------
        q : array_like, real
            Probabilities in [0, 1].
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

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
        return self._inverse("isf", q, args, kwargs)

    def _inverse(self, what: str, q: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        given = read_arguments(what, self, args, kwargs, (q,))
        own, all_scale = self._standard_parameters(given.shapes, given.scale)
        assert given.x is not None  # it is q
        if isinstance(self._low(*own), float) and isinstance(self._high(*own), float):
            # The ends of the support do not depend on the shapes.
            is_end = _core.logical_or(_core.equal(given.x, 0), _core.equal(given.x, 1))
            own = [_core.where(is_end, _core.stop_gradient(shape), shape) for shape in own]
        value = getattr(self, "_" + what)(given.x, *own)
        inside = _core.logical_and(_core.greater_equal(given.x, 0), _core.less_equal(given.x, 1))
        value = shift_and_scale(nan_unless(inside, value), given.loc, all_scale)
        return self._finished(value, given)

    def _summary(
        self, what: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Tensor, Any, Arguments]:
        """Return a property of the standard form, the scale and the arguments."""
        given = read_arguments(what, self, args, kwargs)
        own, scale = self._standard_parameters(given.shapes, given.scale)
        value = getattr(self, "_" + what)(*own)
        if not isinstance(value, Tensor):
            value = _core.constant(value, None if given.dtype is None else "float64")
        for parameter in (given.loc, given.scale):
            if parameter is not None:  # broadcast, and propagate NaN
                value = value + _core.multiply(parameter, 0)
        return value, scale, given

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the mean.

        Parameters
        ----------
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the parameters; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        value, scale, given = self._summary("mean", args, kwargs)
        return self._finished(shift_and_scale(value, given.loc, scale), given)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the variance.

        Parameters
        ----------
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the parameters; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        value, scale, given = self._summary("var", args, kwargs)
        return self._finished(value if scale is None else value * _core.square(scale), given)

    def std(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the standard deviation.

        Parameters
        ----------
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the parameters; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        return _core.sqrt(self.var(*args, **kwargs))

    def median(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the median, the quantile of 0.5.

        Parameters
        ----------
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the parameters; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast.
        """
        return self.ppf(0.5, *args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the entropy in nats.

        It is the differential entropy of a continuous distribution. For a discrete distribution
        other than Bernoulli it is a sum whose number of terms depends on the values of the
        parameters.

        Parameters
        ----------
        *args, **kwargs : array_like, real
            Shape parameters, `loc` and `scale`, by position in this order or by name.

        Returns
        -------
        Tensor
            The broadcast shape of the parameters; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        TypeError
            If an argument is complex, or a parameter is missing, unknown or given twice.
        ValueError
            If the shapes do not broadcast, or a sum needs more than 10 million terms.
        RuntimeError
            If such a sum is requested while a function is traced.
        """
        value, scale, given = self._summary("entropy", args, kwargs)
        return self._finished(value if scale is None else value + _core.log(scale), given)
