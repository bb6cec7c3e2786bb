"""`tf.distributions`: batches of distributions, on `pullback.stats` and `pullback.random`.

A continuous family is a class with an entry in `_FAMILIES`: one row of the operation table computes
its functions, another one draws. Categorical and Bernoulli are formulas of their logits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from ... import _core, random, stats
from ._graph import shape_functions
from ._graph.create import apply, cast, convert_to_tensor, dtype_of, known_dims, scope_of
from ._graph.opdef import define
from ._graph.shapes import TensorShape, as_dims
from ._ops import math_ops
from ._ops.array_ops import expand_dims, identity, ones_like, zeros_like
from ._ops.array_ops import shape as shape_of
from ._ops.array_ops import stop_gradient as _constant
from ._ops.check_ops import Assert, assert_less_equal, assert_non_negative, assert_positive
from ._ops.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ._ops.grouping import control_dependencies
from ._ops.indexing_ops import concat
from ._ops.order_ops import where
from ._ops.random_ops import _seeded, random_uniform
from .dtypes import as_dtype, float32, int32
from .names import bind, signature_of
from .nn import log_softmax, softmax

__all__ = [
    "Bernoulli", "Beta", "Categorical", "Distribution", "Exponential", "Gamma", "Laplace",
    "Normal", "StudentT", "Uniform", "kl_divergence",
]  # fmt: skip

# By class: the family of stats, the conversion of arguments, and the sampler.
_FAMILIES: dict[str, tuple[Any, Callable[..., dict[str, Any]], Callable[..., Any]]] = {
    "Normal": (stats.norm, lambda m, s: {"loc": m, "scale": s},
               lambda n, d, m, s: random.normal(n, d, loc=m, scale=s)),
    "Uniform": (stats.uniform, lambda a, b: {"loc": a, "scale": b - a},
                lambda n, d, a, b: random.uniform(n, d, low=a, high=b)),
    "Laplace": (stats.laplace, lambda m, s: {"loc": m, "scale": s},
                lambda n, d, m, s: random.laplace(n, d, loc=m, scale=s)),
    "Exponential": (stats.expon, lambda r: {"scale": 1 / r},
                    lambda n, d, r: random.exponential(n, d, scale=1 / r)),
    "Gamma": (stats.gamma, lambda a, r: {"a": a, "scale": 1 / r},
              lambda n, d, a, r: random.gamma(a, n, d, scale=1 / r)),
    "Beta": (stats.beta, lambda a, b: {"a": a, "b": b}, lambda n, d, a, b: random.beta(a, b, n, d)),
    "StudentT": (stats.t, lambda df, m, s: {"df": df, "loc": m, "scale": s},
                 lambda n, d, df, m, s: random.student_t(df, n, d, loc=m, scale=s)),
}  # fmt: skip


# By name of a parameter, the assertions of `validate_args`.
_RANGES: dict[str, tuple[Callable[[Any], Any], ...]] = {
    "probs": (assert_non_negative, lambda x: assert_less_equal(x, 1.0)),
    **dict.fromkeys(("scale", "rate", "df", "concentration", "concentration1", "concentration0"),
                    (assert_positive,)),
}  # fmt: skip


def _statistic(*inputs: Any, kind: str, what: str, values: int) -> Any:
    family, named, _ = _FAMILIES[kind]
    given = named(*inputs[values:])
    if "loc" in given:  # without a path from parameters that only give the shape
        only_shape = {
            "mean": ("scale", "df"),
            "entropy": ("loc",),
            "std": ("loc",),
            "var": ("loc",),
        }
        if (kind, what) != ("Uniform", "mean"):
            for key in given.keys() & only_shape.get(what, ()):
                given[key] = _core.stop_gradient(given[key])
    out = getattr(family, what)(*inputs[:values], **given)
    if kind == "Uniform" and what in ("pdf", "logpdf"):  # TensorFlow excludes `high`
        x, high = inputs[0], inputs[-1]
        out = _core.where(x >= high, 0.0 if what == "pdf" else -np.inf, out)
    return out


def _draw(shape: Any, *params: Any, kind: str) -> Any:
    return _FAMILIES[kind][2](tuple(shape), params[0].dtype, *params)


define("Statistic", _statistic, domain="float", same=True, shape=shape_functions.broadcast,
       public="Distribution")  # fmt: skip
define("Draw", _draw, static=(0,), dtype=1, shape=shape_functions.of_value, random=True,
       public="Distribution.sample")  # fmt: skip
define(
    "DrawClass", lambda shape, x, dtype: _core.cast(random.categorical(x, shape), dtype.dtype),
    static=(0,), flows=False, dtype="dtype", shape=shape_functions.of_value, random=True,
    public="Categorical.sample",
)  # fmt: skip


class Distribution:
    """Base class: a batch of distributions, named like an operation."""

    arguments = ""
    __signature__ = signature_of("")
    _params: list[Any]
    _dtype: Any = None

    def __init_subclass__(cls) -> None:
        rest = f"validate_args=False allow_nan_stats=True name='{cls.__name__}'"
        cls.__signature__ = signature_of(f"{cls.arguments} {rest}")

    def __init__(self, *args: Any, **keywords: Any) -> None:
        given = bind(self.__signature__, type(self).__name__, args, keywords)
        self.parameters, self.allow_nan_stats = dict(given), given["allow_nan_stats"]
        with scope_of(given["name"]) as scope:
            self.name = f"{scope.rstrip('/')}/"
            own = signature_of(self.arguments).parameters
            self._begin({k: v for k, v in given.items() if k in own})

    def _begin(self, given: dict[str, Any]) -> None:
        """Convert the parameters to tensors of one dtype and store them as attributes."""
        wish = dtype_of(*given.values())
        for key, value in given.items():
            x = convert_to_tensor(value, wish, key)
            x = x if as_dtype(x.dtype).is_floating else cast(x, float32)
            wish = as_dtype(x.dtype)
            setattr(self, key, self._validated(key, x))
        self._params = [getattr(self, key) for key in given]

    def _validated(self, key: str, x: Any) -> Any:
        """Return the parameter; with `validate_args` a run raises if it is out of range."""
        if not self.parameters["validate_args"] or key not in _RANGES:
            return x
        with control_dependencies([check(x) for check in _RANGES[key]]):
            return identity(x)

    dtype: Any = property(lambda self: self._dtype or as_dtype(self._params[0].dtype))
    event_shape: Any = property(lambda self: TensorShape([]))

    @property
    def batch_shape(self) -> TensorShape:
        return TensorShape(
            shape_functions.broadcast_dims(*(as_dims(x.shape) for x in self._params))
        )

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Any:
        """Return the shape of the batch in a run."""
        return shape_of(self._each())

    def _each(self) -> Any:
        """Return a tensor of the shape of the batch."""
        return reduce(add, self._params)

    def _defined(self, value: Any, holds: Any) -> Any:
        """Replace undefined values by NaN; InvalidArgumentError if NaN is not allowed."""
        if self.allow_nan_stats:
            return where(holds, value, convert_to_tensor(np.nan, self.dtype))
        message = (
            f"{type(self).__name__}: the parameters do not define it; allow_nan_stats is False"
        )
        with control_dependencies([Assert(holds, [message])]):
            return identity(value)

    def sample(self, sample_shape: Any = (), seed: int | None = None, name: str = "sample") -> Any:
        """Draw numbers of shape `sample_shape` + `batch_shape`."""
        with scope_of(self.name + name):
            _seeded(seed)
            own = as_dims(self.batch_shape)
            first = [sample_shape] if known_dims(sample_shape) == () else sample_shape
            listed = isinstance(first, (list, tuple, TensorShape))
            if listed and own is not None and None not in own:
                return self._sample([*first, *own])
            batch = self.batch_shape_tensor()
            none = listed and not first
            return self._sample(batch if none else concat([cast(first, int32), batch], 0))

    def prob(self, value: Any, name: str = "prob") -> Any:
        """Compute the density, or the probability, of a value."""
        return math_ops.exp(self.log_prob(value))

    def stddev(self, name: str = "stddev") -> Any:
        """Compute the standard deviation."""
        return math_ops.sqrt(self.variance())

    def kl_divergence(self, other: Distribution, name: str = "kl_divergence") -> Any:
        """Compute the KL divergence from this distribution to another."""
        return kl_divergence(self, other)

    def cross_entropy(self, other: Distribution, name: str = "cross_entropy") -> Any:
        """Compute the entropy plus the KL divergence."""
        return self.entropy() + kl_divergence(self, other)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _METHODS:
            raise AttributeError(f"{type(self).__name__}: no attribute {name}")
        raise NotImplementedError(f"{name}: not implemented for {type(self).__name__}")

    def __repr__(self) -> str:
        return (
            f"<tf.distributions.{type(self).__name__} '{self.name}' batch_shape={self.batch_shape} "
            f"event_shape=() dtype={self.dtype.name}>"
        )


_OF_VALUES = {
    "log_prob": "logpdf", "prob": "pdf", "cdf": "cdf", "log_cdf": "logcdf", "quantile": "ppf",
    "survival_function": "sf", "log_survival_function": "logsf",
}  # fmt: skip
_OF_NONE = {"entropy": "entropy", "mean": "mean", "stddev": "std", "variance": "var"}
_METHODS = {*_OF_VALUES, *_OF_NONE, "mode"}


class Family(Distribution):
    """A continuous distribution with the functions of `pullback.stats`."""

    def _sample(self, shape: Any) -> Any:
        return apply("Draw", shape, *self._params, kind=type(self).__name__)

    def _statistic(self, what: str, name: str, *values: Any) -> Any:
        with scope_of(self.name + name):
            given = [convert_to_tensor(x, self.dtype, "value") for x in values]
            attrs: Any = {"kind": type(self).__name__, "what": what, "values": len(given)}
            return apply("Statistic", *given, *self._params, **attrs)


def _of_value(public: str, what: str) -> Any:
    def method(self: Family, value: Any, name: str = public) -> Any:
        return self._statistic(what, name, value)

    return method


def _of_none(public: str, what: str) -> Any:
    def method(self: Family, name: str = public) -> Any:
        return self._statistic(what, name)

    return method


for _names, _make in ((_OF_VALUES, _of_value), (_OF_NONE, _of_none)):
    for _public, _what in _names.items():
        _method = _make(_public, _what)
        _method.__name__, _method.__doc__ = _public, f"`{_what}` of the family in `pullback.stats`."
        setattr(Family, _public, _method)


class Normal(Family):
    """The normal distribution.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     pi = tf.distributions.Normal([0.0, 1.0], 2.0)
    ...     session.run([pi.log_prob(0.0), pi.entropy()])
    [array([-1.6120857, -1.7370857], dtype=float32), array([2.1120858, 2.1120858], dtype=float32)]
    """

    arguments = "loc scale"
    mode = Family.mean  # type: ignore[attr-defined]


class Laplace(Family):
    """The double exponential distribution."""

    arguments = "loc scale"
    mode = Family.mean  # type: ignore[attr-defined]


class StudentT(Family):
    """Student's t distribution with `df` degrees of freedom."""

    arguments = "df loc scale"
    stddev = Distribution.stddev

    def mean(self, name: str = "mean") -> Any:
        """Return `loc`, for df > 1."""
        return self._defined(self._statistic("mean", name), self.df > 1.0)

    def variance(self, name: str = "variance") -> Any:
        """Compute the variance, for df > 1; infinite up to 2."""
        return self._defined(self._statistic("var", name), self.df > 1.0)

    def mode(self, name: str = "mode") -> Any:
        """Return `loc`."""
        return identity(self.loc)


class Uniform(Family):
    """The uniform distribution from `low` to `high`."""

    arguments = "low=0.0 high=1.0"


class Exponential(Family):
    """The exponential distribution with a rate."""

    arguments = "rate"

    def mode(self, name: str = "mode") -> Any:
        """Return NaN, as TensorFlow: the mode of a Gamma of concentration 1."""
        zero = zeros_like(self.rate)
        return self._defined(zero, zero > 0.0)


class Gamma(Family):
    """The gamma distribution with a shape, `concentration`, and a rate."""

    arguments = "concentration rate"

    def mode(self, name: str = "mode") -> Any:
        """Compute the most likely number, for concentration > 1."""
        mode = (self.concentration - 1.0) / self.rate
        return self._defined(mode, self.concentration > 1.0)


class Beta(Family):
    """The beta distribution on [0, 1]."""

    arguments = "concentration1 concentration0"

    def mode(self, name: str = "mode") -> Any:
        """Compute the most likely number, for concentrations > 1."""
        a, b = self.concentration1 - 1.0, self.concentration0 - 1.0
        return self._defined(a / (a + b), (a > 0.0) & (b > 0.0))


class Discrete(Distribution):
    """A discrete distribution, defined by logits or probabilities."""

    arguments = "logits=None probs=None dtype='int32'"
    logits: Any
    probs: Any

    def _begin(self, given: dict[str, Any]) -> None:
        logits, probs = given["logits"], given["probs"]
        if (logits is None) == (probs is None):
            raise ValueError(
                f"{type(self).__name__}: Must pass probs or logits, but not both; got "
                f"{'none' if logits is None else 'both'}"
            )
        self._dtype = as_dtype(given["dtype"])
        super()._begin({"logits": logits} if probs is None else {"probs": probs})
        self._complete()


def _expected(probs: Any, logs: Any) -> Any:
    none = zeros_like(logs)
    p = probs + none
    return math_ops.reduce_sum(where(p > 0, p * logs, none), -1)


class Categorical(Discrete):
    """A distribution of classes, 0 to n - 1, with probabilities along the last axis."""

    def _complete(self) -> None:
        if "probs" in vars(self):
            self.logits = math_ops.log(self.probs)
        else:
            self.probs = softmax(self.logits)
        self.event_size = shape_of(self.logits)[-1]

    def _each(self) -> Any:
        return self.logits[..., 0]

    @property
    def batch_shape(self) -> TensorShape:
        dims = as_dims(self.logits.shape)
        return TensorShape(dims and dims[:-1])

    def _sample(self, shape: Any) -> Any:
        return apply("DrawClass", shape, self.logits, dtype=self._dtype)

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """Compute the log probability of a class; InvalidArgumentError for an invalid one."""
        with scope_of(self.name + name):
            own = self.logits
            k = cast(value, int32) + zeros_like(cast(own[..., 0], int32))
            logits = own + expand_dims(zeros_like(cast(k, as_dtype(own.dtype))), -1)
            return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def entropy(self, name: str = "entropy") -> Any:
        """Compute the entropy; a class of probability 0 adds 0."""
        logs = log_softmax(self.logits)
        return -_expected(self.probs, logs)

    def mode(self, name: str = "mode") -> Any:
        """Return the most likely class."""
        return cast(math_ops.argmax(self.logits, -1), self._dtype)


class Bernoulli(Discrete):
    """The distribution of 1 with a probability, else 0."""

    def _complete(self) -> None:
        if "probs" in vars(self):
            self.logits = math_ops.log(self.probs) - math_ops.log(1 - self.probs)
        else:
            self.probs = math_ops.sigmoid(self.logits)

    def _sample(self, shape: Any) -> Any:
        draws = random_uniform(shape, dtype=self.probs.dtype)
        return cast(math_ops.less(draws, _constant(self.probs)), self._dtype)

    def log_prob(self, value: Any, name: str = "log_prob") -> Any:
        """Compute the log probability of 0 or 1."""
        v, own = cast(value, as_dtype(self.logits.dtype)), self.logits
        return -sigmoid_cross_entropy_with_logits(
            labels=v + zeros_like(own), logits=own + zeros_like(v)
        )

    def entropy(self, name: str = "entropy") -> Any:
        """Compute the entropy."""
        return self.logits * (1 - math_ops.sigmoid(self.logits)) + math_ops.softplus(-self.logits)

    def mean(self, name: str = "mean") -> Any:
        """Return the probability of 1."""
        return self.probs * ones_like(self.probs)

    def variance(self, name: str = "variance") -> Any:
        """Compute the variance."""
        return self.probs * (1 - self.probs)

    def mode(self, name: str = "mode") -> Any:
        """Return the more likely number."""
        return cast(math_ops.greater(self.probs, 0.5), self._dtype)


def _between_normals(a: Any, b: Any) -> Any:
    ratio = math_ops.square(a.scale / b.scale)
    return math_ops.square((a.loc - b.loc) / b.scale) / 2 + (ratio - 1 - math_ops.log(ratio)) / 2


def _between_classes(a: Any, b: Any) -> Any:
    return _expected(a.probs, log_softmax(a.logits) - log_softmax(b.logits))


def _between_bits(a: Any, b: Any) -> Any:
    one = math_ops.sigmoid(a.logits) * (math_ops.softplus(-b.logits) - math_ops.softplus(-a.logits))
    return one + math_ops.sigmoid(-a.logits) * (
        math_ops.softplus(b.logits) - math_ops.softplus(a.logits)
    )


_DIVERGENCES = {
    Normal: _between_normals, Categorical: _between_classes, Bernoulli: _between_bits
}  # fmt: skip


def kl_divergence(
    distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Compute the KL divergence from a to b: two of Normal, Categorical or Bernoulli."""
    kinds = type(distribution_a), type(distribution_b)
    if kinds[0] is not kinds[1] or kinds[0] not in _DIVERGENCES:
        raise NotImplementedError(
            "kl_divergence: expected two of Normal, Categorical or Bernoulli, got "
            f"{kinds[0].__name__} and {kinds[1].__name__}"
        )
    with scope_of(name or "KullbackLeibler"):
        return _DIVERGENCES[kinds[0]](distribution_a, distribution_b)
