"""Whole numbers, and choices among things. None of them has a gradient."""

from __future__ import annotations

import math
from operator import index
from typing import Any, SupportsIndex, cast

import numpy as np

from .. import _core
from .._base.checks import axes_of, integer, is_integer
from .._core import Tensor, Variable
from .._typing import DType, Shape, TensorLike
from ._parameters import (
    Sequential,
    at_least,
    drawn_shape,
    float_dtype,
    probability,
    real,
    shape_of,
    valid,
)


class Discrete(Sequential):
    def integers(
        self,
        low: TensorLike,
        high: TensorLike | None = None,
        shape: Shape | None = None,
        dtype: DType = None,
        *,
        endpoint: bool = False,
    ) -> Tensor:
        """Integers from `low` (included) to `high` (excluded, or included with `endpoint`), all
        exactly equally likely; from 0 to `low` where high is None. int64 unless a dtype is given.

        Raises:
            ValueError: there are none between low and high (in a tensor such an entry gives low).

        >>> x = pb.random.integers(1, 7, 1000)
        >>> int(pb.min(x)), int(pb.max(x))
        (1, 6)
        """
        first, end = (0, low) if high is None else (low, high)
        given = [_integral(p, "integers") for p in (first, end)]
        if not any(isinstance(p, (Tensor, Variable)) for p in (first, end)):
            _check_range(first, end, endpoint, "int64" if dtype is None else dtype)
        size = drawn_shape(shape, "integers", *given)
        a, b = given
        if not any(p.dtype == "uint64" for p in given):
            last = b if endpoint else _core.subtract(b, 1)
            drawn = _core.random_integers(a, last, size, self._source)
            return drawn if dtype is None else _core.cast(drawn, dtype)
        # Drawn as int64 numbers that are less by 2⁶³: the difference wraps to the same order.
        a, b = (_core.bitwise_xor(_core.cast(p, "uint64"), 1 << 63) for p in given)
        last = _core.cast(b, "int64")
        last = last if endpoint else _core.subtract(last, 1)
        drawn = _core.random_integers(_core.cast(a, "int64"), last, size, self._source)
        drawn = _core.bitwise_xor(_core.cast(drawn, "uint64"), 1 << 63)
        return _core.cast(drawn, "int64" if dtype is None else dtype)

    def bernoulli(self, p: TensorLike, shape: Shape | None = None, dtype: DType = bool) -> Tensor:
        """True with probability p; in a float dtype 1 with probability p, and 0.

        >>> x = pb.random.bernoulli(0.25, 1000)
        >>> bool(pb.any(x)), bool(pb.all(x))
        (True, False)
        """
        share = probability(p, "bernoulli")
        u = self._uniform(drawn_shape(shape, "bernoulli", share), "float64")
        drawn = _core.cast(_core.less(u, share), dtype)
        if isinstance(share, Tensor) and drawn.dtype.kind == "f":
            return _core.where(_core.isnan(share), math.nan, drawn)
        return drawn

    def rademacher(self, shape: Shape | None = None, dtype: DType = None) -> Tensor:
        """1 and -1, equally likely.

        >>> pb.unique(pb.random.rademacher(100))
        Tensor([-1.,  1.], dtype=float32)
        """
        u = self._uniform(() if shape is None else shape, None)
        return _core.cast(_core.where(_core.less(u, 0.5), -1, 1), float_dtype("rademacher", dtype))

    def poisson(self, lam: TensorLike, shape: Shape | None = None, dtype: DType = None) -> Tensor:
        """Draws from the Poisson distribution of mean `lam`. int64, in which a mean without meaning
        gives -1, unless a dtype is given. Source: Hoermann, 1993.

        >>> pb.random.poisson([0.0, 4.0, 1e9]).shape
        (3,)
        """
        mean = at_least(lam, 0, "poisson", "lam")
        if not isinstance(mean, Tensor) and mean > 9.2e18:
            raise ValueError(f"poisson: lam: expected at most 9.2e18, got {mean!r}")
        size = drawn_shape(shape, "poisson", mean)
        return _counts(_core.random_poisson(mean, size, self._source), dtype)

    def binomial(
        self,
        n: TensorLike,
        p: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
    ) -> Tensor:
        """How many of n tries succeed, each with probability p. int64, in which parameters without
        meaning give -1, unless a dtype is given. Source: Hoermann, 1993.

        >>> pb.random.binomial(10, [0.0, 1.0])
        Tensor([ 0, 10], dtype=int64)
        """
        count, share = at_least(n, 0, "binomial", "n"), probability(p, "binomial")
        if isinstance(count, float) and not count.is_integer():
            raise ValueError(f"binomial: n: expected a whole number, got {count!r}")
        size = drawn_shape(shape, "binomial", count, share)
        return _counts(_core.random_binomial(count, share, size, self._source), dtype)

    def categorical(
        self, logits: TensorLike, shape: Shape | None = None, *, axis: SupportsIndex = -1
    ) -> Tensor:
        """Classes (int64), drawn with the probabilities softmax(logits) along `axis`. The other
        axes of logits broadcast to `shape`. Logits with a NaN, an infinity or nothing but -inf are
        a ValueError; those of a tensor give -1.

        >>> pb.random.categorical([0.0, -pb.inf, 5.0], (2, 3)).shape
        (2, 3)
        """
        who = "categorical"
        x = _core.constant(logits, who=who)
        x = x if x.dtype.kind == "f" else _core.cast(x, _core.default_float())
        axis = integer(axis, f"{who}: axis")
        if x.ndim == 0 or x.shape[axes_of(axis, x.ndim, who)[0]] == 0:
            raise ValueError(f"{who}: expected logits of at least one class, got shape {x.shape}")
        (along,) = axes_of(axis, x.ndim, who)
        order = [k for k in range(x.ndim) if k != along] + [along]
        x = x if along == x.ndim - 1 else _core.transpose(x, order)
        size = shape_of(shape, who, [x.shape[:-1]])
        most = _core.max(x, -1, False)  # NaN if one is
        usable = _core.logical_and(_core.greater(most, -math.inf), _core.less(most, math.inf))
        if not isinstance(logits, (Tensor, Variable)) and not usable.numpy().all():
            raise ValueError(
                f"{who}: expected logits of which the largest is finite, got {_core.shown(logits)}"
            )
        if x.ndim == 1:
            drawn = self._classes(_core.softmax(x, 0), size)
        else:  # The largest of logits with Gumbel noise has these probabilities.
            noise = _core.log(self._exponential((*size, x.shape[-1]), x.dtype))
            drawn = _core.argmax(_core.subtract(x, noise), -1)
        return _core.where(usable, drawn, -1)

    def choice(
        self,
        a: TensorLike,
        shape: Shape | None = None,
        *,
        replace: bool = True,
        p: TensorLike | None = None,
        axis: SupportsIndex = 0,
    ) -> Tensor:
        """Entries of a along an axis, or of 0 ... a - 1 where it is an integer; with probabilities
        p, or equally likely. Without `replace` none is drawn twice, one after the other.

        Raises:
            ValueError: more entries are wanted than there are; p is not of their length, or its
                numbers are negative or do not add up to 1 (those of a tensor are divided by their
                sum).

        >>> pb.random.choice([5, 7, 9], 2, replace=False).shape
        (2,)
        """
        who = "choice"
        things = None if is_integer(a) else _core.constant(a, who=who)
        if things is not None and things.ndim == 0:
            raise ValueError(f"{who}: a: expected an integer or an array, got {_core.shown(a)}")
        (along,) = (0,) if things is None else axes_of(axis, things.ndim, who)
        count = index(cast(SupportsIndex, a)) if things is None else things.shape[along]
        size = shape_of(shape, who, [])
        wanted = math.prod(size)
        if count < 1 and wanted:
            raise ValueError(f"{who}: expected something to choose from, got {count} entries")
        share = None if p is None else _probabilities(p, count)
        if not replace and wanted > count:
            raise ValueError(f"{who}: {wanted} of {count} entries, and none twice")
        if not replace and share is not None and not isinstance(p, Tensor):
            possible = int(np.count_nonzero(np.asarray(p)))
            if wanted > possible:
                raise ValueError(
                    f"{who}: {wanted} entries, none twice, but only {possible} have a probability"
                )
        if replace:
            if share is None:
                last = max(count - 1, 0)
                places = _core.random_integers(0, last, size, self._source)
            else:
                places = self._classes(share, size)
        else:
            order = _core.permutation(count, self._source) if share is None else self._order(share)
            places = _core.reshape(order[:wanted], size)
        return places if things is None else _core.take(things, places, along)

    def permutation(self, x: SupportsIndex | TensorLike, *, axis: SupportsIndex = 0) -> Tensor:
        """The integers 0 ... x - 1 (int64) in random order, or the entries of x along an axis.

        >>> sorted(pb.random.permutation(4).numpy().tolist())
        [0, 1, 2, 3]
        """
        if is_integer(x):
            return _core.permutation(cast(SupportsIndex, x), self._source)
        return self.shuffle(cast(TensorLike, x), axis=axis)

    def shuffle(self, x: TensorLike, /, *, axis: SupportsIndex = 0) -> Tensor:
        """A new tensor with the entries of x along an axis in random order. Each gradient finds its
        way back to the entry that it belongs to.

        >>> sorted(pb.random.shuffle([3, 1, 2]).numpy().tolist())
        [1, 2, 3]
        """
        x = _core.identity(x)
        if x.ndim == 0:
            raise ValueError("shuffle: a tensor of rank 0 has nothing to shuffle")
        (along,) = axes_of(axis, x.ndim, "shuffle")
        return _core.take(x, _core.permutation(x.shape[along], self._source), along)

    def _classes(self, share: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Positions with these probabilities: where a uniform number lies among their sums."""
        sums = _core.cumulative_sum(_core.cast(share, "float64"), 0)
        u = _core.multiply(self._uniform(shape, "float64"), sums[-1])
        places = _core.searchsorted(sums, u, True)
        return _core.minimum(places, share.shape[0] - 1)

    def _order(self, share: Tensor) -> Tensor:
        """All positions, drawn one after the other: by the times at which clocks of these rates
        ring (Efraimidis and Spirakis, 2006)."""
        clocks = self._exponential(share.shape, "float64")
        return _core.argsort(_core.divide(clocks, share), 0, False)


def _integral(value: Any, who: str) -> Tensor:
    tensor = _core.constant(value, who=who)
    if tensor.dtype.kind not in "iu":
        raise TypeError(f"{who}: expected integers, got {_core.shown(value)}")
    return tensor


def _check_range(low: Any, high: Any, endpoint: bool, dtype: Any) -> None:
    first, end = np.asarray(low), np.asarray(high)
    if np.any(first > end if endpoint else first >= end):
        word = "<=" if endpoint else "<"
        raise ValueError(f"integers: expected low {word} high, got {low!r} and {high!r}")
    if dtype is not None and (kind := np.dtype(_core.dtype(dtype))).kind in "iu" and first.size:
        limits, last = np.iinfo(kind), int(end.max(initial=0)) - (not endpoint)
        if int(first.min()) < limits.min or last > limits.max:
            raise ValueError(f"integers: {low!r} to {high!r} do not fit in {kind}")


def _counts(drawn: Tensor, dtype: DType) -> Tensor:
    kind = _core.dtype("int64" if dtype is None else dtype)
    if kind.kind == "f":
        return _core.cast(drawn, kind)
    return _core.cast(_core.where(_core.isnan(drawn), -1.0, drawn), kind)


def _probabilities(p: Any, count: int) -> Tensor:
    known = not isinstance(p, (Tensor, Variable))
    share = real(np.asarray(p, np.float64) if known else p, "choice")
    if not isinstance(share, Tensor) or share.shape != (count,):
        raise ValueError(f"choice: p: expected {count} probabilities, got {_core.shown(p)}")
    if known:
        values = share.numpy()
        if not (values >= 0).all() or not math.isclose(values.sum(), 1, rel_tol=1e-6):
            raise ValueError("choice: p: expected probabilities that add up to 1, got a sum of "
                             f"{values.sum():g}, the least one {values.min():g}")  # fmt: skip
    share = _core.cast(share, "float64")
    return valid(share, _core.greater_equal(share, 0))
