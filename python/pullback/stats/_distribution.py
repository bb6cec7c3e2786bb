"""What the distributions of one variable share: parameters, location and scale, the support."""

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
    """float64 tensors, and the dtype of what is made of them: that of the operands together, the
    default float for integers. Densities are small differences of large terms: in float32 no digit
    of them would be right where parameters are some millions."""
    tensors = _core.operands(values, who)
    dtype = reduce(_core.promote, [tensor.dtype for tensor in tensors])
    if dtype.kind == "c":
        raise TypeError(f"{who}: expected real numbers, got {dtype}")
    if dtype.kind != "f":
        dtype = _core.default_float()
    return [_core.cast(tensor, "float64") for tensor in tensors], dtype


def check_broadcast(tensors: list[Tensor], names: list[str], who: str) -> None:
    """A ValueError that says which arguments have shapes that do not go together."""
    try:
        numpy.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except ValueError:
        shapes = zip(names, tensors, strict=False)
        each = ", ".join(f"{name} {tensor.shape}" for name, tensor in shapes)
        raise ValueError(f"{who}: shapes that do not broadcast: {each}") from None


class Arguments(NamedTuple):
    """x (or a share), shapes, loc and scale; what is not given of the last two is None."""

    x: Tensor | None
    shapes: list[Tensor]
    loc: Tensor | None
    scale: Tensor | None
    dtype: Any  # of the result; None where nothing is given


def all_of(masks: list[Tensor]) -> Tensor:
    return reduce(_core.logical_and, masks)


def positive(*values: Tensor) -> list[Tensor]:
    return [_core.greater(value, 0) for value in values]


def log_share(share: Tensor, other: Tensor) -> Tensor:
    """log(share) from the smaller one of it and other = 1 - share."""
    return _core.where(_core.less(share, 0.5), _core.log(share), _core.log1p(-other))


class Distribution:
    """A family of distributions: methods take the shape parameters, then `loc` and `scale`.

    A subclass says what holds for loc 0 and scale 1, inside of the support; this one shifts and
    scales, and says what is outside of the support, where gradients are 0, and where parameters
    are not valid, where values are NaN. Arguments broadcast; integers become the default float.
    """

    name: ClassVar[str]
    shapes: ClassVar[tuple[str, ...]] = ()
    low: ClassVar[float] = -INFINITY
    low_is_inside: ClassVar[bool] = True
    scales: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"pb.stats.{self.name}"

    # --- what a subclass defines, of standardised values

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
        """Masks that hold where the parameters are those of a distribution."""
        return positive(*shapes)

    def _high(self, *shapes: Any, **_: Any) -> Tensor | float:
        return INFINITY

    def _reduced(self, shapes: list[Tensor], scale: Any) -> tuple[list[Tensor], Any]:
        """The parameters that the standard form has, for a family inside of another one."""
        return shapes, scale

    # --- arguments

    def _arguments(
        self, who: str, args: tuple[Any, ...], kwargs: dict[str, Any], x: tuple[Any, ...] = ()
    ) -> Arguments:
        who = f"{self.name}.{who}"
        names = [*self.shapes, "loc", *(["scale"] if self.scales else [])]
        if len(args) > len(names):
            raise TypeError(f"{who}: expected at most {', '.join(names)}, got {len(args)} values")
        given = dict(zip(names, args, strict=False))
        for key, value in kwargs.items():
            if key not in names:
                raise TypeError(f"{who}: unknown parameter {key!r}, it has {', '.join(names)}")
            if key in given:
                raise TypeError(f"{who}: {key} is given twice")
            given[key] = value
        missing = [key for key in self.shapes if key not in given]
        if missing:
            raise TypeError(f"{who}: parameter {missing[0]} is missing")
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
        """NaN where a parameter is not valid, or NaN; of the dtype that users see."""
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
        """A distribution function of x, with what it is below and above the support."""
        at = self._at(what, x, args, kwargs)
        value = getattr(self, "_" + what)(at.z, *at.shapes)
        value = _core.where(at.below, ends[0], value)
        return at.checked(_core.where(at.above, ends[1], value))

    # --- what users call

    def cdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of values up to x."""
        return self._share("cdf", x, args, kwargs, (0.0, 1.0))

    def sf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of values above x, with all its digits in the tail."""
        return self._share("sf", x, args, kwargs, (1.0, 0.0))

    def logcdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """log(cdf), with its digits in both tails."""
        return self._share("logcdf", x, args, kwargs, (-INFINITY, 0.0))

    def logsf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """log(sf), with its digits in both tails."""
        return self._share("logsf", x, args, kwargs, (0.0, -INFINITY))

    def ppf(self, q: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The inverse of cdf; NaN for q outside of [0, 1]."""
        return self._inverse("ppf", q, args, kwargs)

    def isf(self, q: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The inverse of sf; NaN for q outside of [0, 1]."""
        return self._inverse("isf", q, args, kwargs)

    def _inverse(self, what: str, q: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
        given = self._arguments(what, args, kwargs, (q,))
        own, all_scale = self._reduced(given.shapes, given.scale)
        value = getattr(self, "_" + what)(given.x, *own)
        inside = _core.logical_and(_core.greater_equal(given.x, 0), _core.less_equal(given.x, 1))
        value = _moved(_core.where(inside, value, NAN), given.loc, all_scale)
        return self._checked(value, given)

    def _summary(
        self, what: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Tensor, Any, Arguments]:
        """What it is for loc 0 and scale 1, and the scale."""
        given = self._arguments(what, args, kwargs)
        own, scale = self._reduced(given.shapes, given.scale)
        value = getattr(self, "_" + what)(*own)
        if not isinstance(value, Tensor):
            value = _core.constant(value, None if given.dtype is None else "float64")
        for parameter in (given.loc, given.scale):
            if parameter is not None:  # it broadcasts, and a NaN passes
                value = value + _core.multiply(parameter, 0)
        return value, scale, given

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """The mean."""
        value, scale, given = self._summary("mean", args, kwargs)
        return self._checked(_moved(value, given.loc, scale), given)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """The variance."""
        value, scale, given = self._summary("var", args, kwargs)
        return self._checked(value if scale is None else value * _core.square(scale), given)

    def std(self, *args: Any, **kwargs: Any) -> Tensor:
        """The standard deviation."""
        return _core.sqrt(self.var(*args, **kwargs))

    def median(self, *args: Any, **kwargs: Any) -> Tensor:
        """The median."""
        return self.ppf(0.5, *args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """The entropy in nats, differential where the distribution is continuous."""
        value, scale, given = self._summary("entropy", args, kwargs)
        return self._checked(value if scale is None else value + _core.log(scale), given)


def _moved(value: Tensor, loc: Tensor | None, scale: Any) -> Tensor:
    if scale is not None:
        value = value * scale
    return value if loc is None else value + loc


class _Place:
    """A value in standard form, and on which side of the support it is."""

    def __init__(self, family: Distribution, given: Arguments) -> None:
        self.family, self.given = family, given
        self.shapes, self.scale = family._reduced(given.shapes, given.scale)
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
        """A density, with what it is where there are no values."""
        ends = _core.logical_or(_core.logical_or(self.below, self.above), _core.isinf(self.z))
        return self.checked(_core.where(ends, outside, value))


class Continuous(Distribution):
    """A distribution with a density."""

    def _logpdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        raise NotImplementedError

    def _pdf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return _core.exp(self._logpdf(x, *shapes))

    def pdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """The density at x; 0 outside of the support."""
        at = self._at("pdf", x, args, kwargs)
        value = self._pdf(at.z, *at.shapes)
        return at.density(value if at.scale is None else value / at.scale, 0.0)

    def logpdf(self, x: Any, *args: Any, **kwargs: Any) -> Tensor:
        """log(pdf); -inf outside of the support."""
        at = self._at("logpdf", x, args, kwargs)
        value = self._logpdf(at.z, *at.shapes)
        return at.density(value if at.scale is None else value - _core.log(at.scale), -INFINITY)


class Symmetric(Continuous):
    """A density that is even, so that one tail says what the other one is."""

    def _sf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._cdf(-x, *shapes)

    def _logsf(self, x: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return self._logcdf(-x, *shapes)

    def _isf(self, q: Tensor, *shapes: Any, **_: Any) -> Tensor:
        return -self._ppf(q, *shapes)

    def _mean(self, *shapes: Any, **_: Any) -> Tensor | float:
        return 0.0
