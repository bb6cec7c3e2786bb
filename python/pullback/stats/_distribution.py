"""Base classes of distributions of one variable: parameters, location, scale and support."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any, ClassVar, NamedTuple

import numpy

from .. import _core
from .._core import Tensor

INFINITY = float("inf")
NAN = float("nan")
HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


def floats(values: list[Any], who: str) -> tuple[list[Tensor], Any]:
    """Convert values to float64 tensors and return the dtype of the result.

    It is the promoted dtype of the operands, or the default floating dtype for integers. The
    computation is in float64, because densities are small differences of large terms: with
    parameters of some millions, float32 would leave no correct digit.
    """
    tensors = _core.operands(values, who)
    dtype = reduce(_core.promote, [tensor.dtype for tensor in tensors])
    if dtype.kind == "c":
        raise TypeError(f"{who}: expected real numbers, got {dtype}")
    if dtype.kind != "f":
        dtype = _core.default_float()
    return [_core.cast(tensor, "float64") for tensor in tensors], dtype


def check_broadcast(tensors: list[Tensor], names: list[str], who: str) -> None:
    """Raise a ValueError that names the arguments whose shapes do not broadcast."""
    try:
        numpy.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except ValueError:
        shapes = zip(names, tensors, strict=False)
        each = ", ".join(f"{name} {tensor.shape}" for name, tensor in shapes)
        raise ValueError(f"{who}: expected shapes that broadcast, got {each}") from None


class Arguments(NamedTuple):
    """Store x (or a probability), shapes, loc and scale; None for a missing loc or scale."""

    x: Tensor | None
    shapes: list[Tensor]
    loc: Tensor | None
    scale: Tensor | None
    dtype: Any  # of the result; None if there is no argument


def all_of(masks: list[Tensor]) -> Tensor:
    return reduce(_core.logical_and, masks)


def positive(*values: Tensor) -> list[Tensor]:
    return [_core.greater(value, 0) for value in values]


def log_share(share: Tensor, other: Tensor) -> Tensor:
    """Compute log(share) from the smaller of `share` and `other` = 1 - share."""
    return _core.where(_core.less(share, 0.5), _core.log(share), _core.log1p(-other))


class Distribution:
    """Implement the methods of a distribution with location and scale.

    The arguments of a method are the shape parameters, `loc` (default 0) and, for continuous
    distributions, `scale` (default 1). They broadcast; integers become the default floating dtype.

    A subclass implements the standard form (loc 0, scale 1) inside the support. This class shifts
    and scales. It defines the values outside the support, where gradients are 0, and the NaN of
    invalid parameters.
    """

    name: ClassVar[str]
    shapes: ClassVar[tuple[str, ...]] = ()
    low: ClassVar[float] = -INFINITY
    low_is_inside: ClassVar[bool] = True
    scales: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"pb.stats.{self.name}"

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
        return log_share(self._cdf(x, *shapes), self._sf(x, *shapes))

    def _logsf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return log_share(self._sf(x, *shapes), self._cdf(x, *shapes))

    def _valid(self, *shapes: Any, **_: Any) -> list[Tensor]:
        """Return masks that are true if the parameters are valid."""
        return positive(*shapes)

    def _high(self, *shapes: Any, **_: Any) -> Tensor | float:
        return INFINITY

    def _reduced(self, shapes: list[Tensor], scale: Any) -> tuple[list[Tensor], Any]:
        """Return the parameters of the standard form, for a family inside of another one."""
        return shapes, scale

    # --- arguments

    def _arguments(
        self, who: str, args: tuple[Any, ...], kwargs: dict[str, Any], x: tuple[Any, ...] = ()
    ) -> Arguments:
        who = f"{self.name}.{who}"
        names = [*self.shapes, "loc", *(["scale"] if self.scales else [])]
        if len(args) > len(names):
            raise TypeError(
                f"{who}: expected at most the parameters {', '.join(names)}, got {len(args)} values"
            )
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"{who}: expected the parameters {', '.join(names)}, got {key!r}")
            if key in given:
                raise TypeError(f"{who}: expected one value for {key}, got two")
            given[key] = value
        missing = [key for key in self.shapes if key not in given]
        if missing:
            raise TypeError(f"{who}: expected a value for {missing[0]}, got none")
        order = [key for key in names if key in given]
        all_given = [*x, *(given[key] for key in order)]
        values, dtype = floats(all_given, who) if all_given else ([], None)
        check_broadcast(values, [*(["x"] if x else []), *order], who)
        found = dict(zip(order, values[len(x) :], strict=True))
        shapes = [found[key] for key in self.shapes]
        return Arguments(
            values[0] if x else None, shapes, found.get("loc"), found.get("scale"), dtype
        )

    def _checked(self, value: Any, given: Arguments) -> Tensor:
        """Replace the value by NaN if a parameter is invalid or NaN, and cast it."""
        masks = [] if not given.shapes else self._valid(*given.shapes)
        if given.scale is not None:
            masks += positive(given.scale)
        value = _core.where(all_of(masks), value, NAN) if masks else _core.constant(value)
        return value if given.dtype is None else _core.cast(value, given.dtype)

    def _at(self, what: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Place:
        return _Place(self, self._arguments(what, args, kwargs, (x,)))

    def _share(
        self, what: str, x: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        ends: tuple[float, float],
    ) -> Tensor:  # fmt: skip
        """Evaluate a distribution function, with its values below and above the support."""
        at = self._at(what, x, args, kwargs)
        value = getattr(self, "_" + what)(at.z, *at.shapes)
        value = _core.where(at.below, ends[0], value)
        return at.checked(_core.where(at.above, ends[1], value))

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
        return self._share("cdf", x, args, kwargs, (0.0, 1.0))

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
        return self._share("sf", x, args, kwargs, (1.0, 0.0))

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
        return self._share("logcdf", x, args, kwargs, (-INFINITY, 0.0))

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
        return self._share("logsf", x, args, kwargs, (0.0, -INFINITY))

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
        given = self._arguments(what, args, kwargs, (q,))
        own, all_scale = self._reduced(given.shapes, given.scale)
        assert given.x is not None  # it is q
        value = getattr(self, "_" + what)(given.x, *own)
        inside = _core.logical_and(_core.greater_equal(given.x, 0), _core.less_equal(given.x, 1))
        value = _moved(_core.where(inside, value, NAN), given.loc, all_scale)
        return self._checked(value, given)

    def _summary(
        self, what: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Tensor, Any, Arguments]:
        """Return a property of the standard form, the scale and the arguments."""
        given = self._arguments(what, args, kwargs)
        own, scale = self._reduced(given.shapes, given.scale)
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
        return self._checked(_moved(value, given.loc, scale), given)

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
        return self._checked(value if scale is None else value * _core.square(scale), given)

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
        return self._checked(value if scale is None else value + _core.log(scale), given)


def _moved(value: Tensor, loc: Tensor | None, scale: Any) -> Tensor:
    if scale is not None:
        value = value * scale
    return value if loc is None else value + loc


class _Place:
    """Store a value in standard form, and its position relative to the support."""

    def __init__(self, family: Distribution, given: Arguments) -> None:
        self.family, self.given = family, given
        self.shapes, self.scale = family._reduced(given.shapes, given.scale)
        assert given.x is not None  # its methods have an argument x
        x = _core.constant(given.x)
        if given.loc is not None:
            x = x - given.loc
        if self.scale is not None:
            x = x / self.scale
        self.exact = x
        self.z = x if family.scales else _core.floor(x)
        before = _core.less if family.low_is_inside else _core.less_equal
        self.below = before(self.z, family.low)
        self.above = _core.greater(self.z, family._high(*self.shapes))

    def checked(self, value: Tensor) -> Tensor:
        return self.family._checked(value, self.given)

    def density(self, value: Tensor, outside: float) -> Tensor:
        """Return a density, with its value outside the support."""
        ends = _core.logical_or(_core.logical_or(self.below, self.above), _core.isinf(self.z))
        return self.checked(_core.where(ends, outside, value))


class Continuous(Distribution):
    """Implement a distribution with a density."""

    def _logpdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _pdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return _core.exp(self._logpdf(x, *shapes))

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the probability density; 0 outside the support.

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
        at = self._at("pdf", x, args, kwargs)
        value = self._pdf(at.z, *at.shapes)
        return at.density(value if at.scale is None else value / at.scale, 0.0)

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Compute the logarithm of the density; -inf outside the support.

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
        at = self._at("logpdf", x, args, kwargs)
        value = self._logpdf(at.z, *at.shapes)
        return at.density(value if at.scale is None else value - _core.log(at.scale), -INFINITY)


class Symmetric(Continuous):
    """Implement a distribution with an even density: one tail determines the other."""

    def _sf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._cdf(-x, *shapes)

    def _logsf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._logcdf(-x, *shapes)

    def _isf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return -self._ppf(q, *shapes)

    def _mean(self, *shapes: Any, **_: Any) -> Tensor | float:
        return 0.0
