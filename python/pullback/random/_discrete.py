"""Discrete distributions: integers, counts and choices. Draws have no gradient by parameters."""

from __future__ import annotations

import math
from operator import index
from typing import Any, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from .. import _core
from .._base.checks import axes_of, counted, flag, integer, is_integer
from .._base.composite import composite
from .._base.domains import NON_NEGATIVE, PROBABILITY
from .._core import Tensor, Variable
from .._typing import DType, Shape, TensorLike
from ._parameters import (
    Sequential,
    drawn_shape,
    float_dtype,
    in_domain,
    real,
    shape_of,
    valid,
)


class Discrete(Sequential):
    """Draw from discrete distributions."""

    def integers(
        self,
        low: TensorLike,
        high: TensorLike | None = None,
        shape: Shape | None = None,
        dtype: DType = None,
        *,
        endpoint: bool = False,
    ) -> Tensor:
        """Draw integers from an interval, with exactly equal probabilities.

        The interval starts at `low` and ends before `high`. If `high` is None it starts at 0 and
        ends before `low`. The result has no gradient.

        Parameters
        ----------
        low : array_like, integer
            Lower end, included; or the upper end if `high` is None.
        high : array_like, integer, optional
            Upper end, excluded unless `endpoint` is True. Default: None.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, optional
            Dtype of the result. Default: int64.
        endpoint : bool, optional
            Include `high`. Default: False.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If the interval is empty, if `dtype` cannot represent its ends, or the shapes do not
            broadcast. An empty interval of tensors gives `low`.
        TypeError
            If `low` or `high` is not an integer, or `endpoint` is not a bool.

        Examples
        --------
        >>> x = pb.random.integers(1, 7, 1000)
        >>> int(pb.min(x)), int(pb.max(x))
        (1, 6)
        """
        endpoint = flag(endpoint, "integers", "endpoint")
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
        # Drawn as int64 numbers minus 2⁶³: the subtraction keeps the order modulo 2⁶⁴.
        a, b = (_core.bitwise_xor(_core.cast(p, "uint64"), 1 << 63) for p in given)
        last = _core.cast(b, "int64")
        last = last if endpoint else _core.subtract(last, 1)
        drawn = _core.random_integers(_core.cast(a, "int64"), last, size, self._source)
        drawn = _core.bitwise_xor(_core.cast(drawn, "uint64"), 1 << 63)
        return _core.cast(drawn, "int64" if dtype is None else dtype)

    def bernoulli(
        self, p: TensorLike, shape: Shape | None = None, dtype: npt.DTypeLike = bool
    ) -> Tensor:
        """Draw True with probability `p`, else False.

        The result has no gradient.

        Parameters
        ----------
        p : array_like, real
            Probability in [0, 1]. An invalid entry of an array gives NaN in a floating dtype, else
            False.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, optional
            Dtype of the result, with 1 for True. Default: bool.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `p` is a number outside [0, 1], or the shapes do not broadcast.
        TypeError
            If `p` is complex.

        Examples
        --------
        >>> x = pb.random.bernoulli(0.25, 1000)
        >>> bool(pb.any(x)), bool(pb.all(x))
        (True, False)
        """
        share = in_domain(p, PROBABILITY, "bernoulli", "p")
        u = self._uniform(drawn_shape(shape, "bernoulli", share), "float64")
        drawn = _core.cast(_core.less(u, share), dtype)
        if isinstance(share, Tensor) and drawn.dtype.kind == "f":
            return _core.where(_core.isnan(share), math.nan, drawn)
        return drawn

    def rademacher(self, shape: Shape | None = None, dtype: DType = None) -> Tensor:
        """Draw 1 or -1 with equal probabilities.

        The result has no gradient.

        Parameters
        ----------
        shape : int or tuple of int, optional
            Shape of the result. Default: ().
        dtype : dtype_like, optional
            Dtype of the result. Default: the default floating dtype.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If an axis of `shape` is negative.
        TypeError
            If `dtype` is a number, or `shape` is not an integer or a tuple of integers.

        Examples
        --------
        >>> pb.unique(pb.random.rademacher(100))
        Tensor([-1.,  1.], dtype=float32)
        """
        u = self._uniform(() if shape is None else shape, None)
        return _core.cast(_core.where(_core.less(u, 0.5), -1, 1), float_dtype("rademacher", dtype))

    def poisson(self, lam: TensorLike, shape: Shape | None = None, dtype: DType = None) -> Tensor:
        """Draw from the Poisson distribution.

        The result has no gradient.

        Parameters
        ----------
        lam : array_like, real
            Mean, at least 0.
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, optional
            Dtype of the result. Default: int64. An invalid entry of an array gives NaN in a
            floating dtype, else -1.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `lam` is a number that is negative or above 9.2e18, or the shapes do not broadcast.
        TypeError
            If `lam` is complex.

        References
        ----------
        .. [1] W. Hörmann, "The transformed rejection method for generating Poisson random
           variables", Insur. Math. Econ. 12, 1993.

        Examples
        --------
        >>> pb.random.poisson([0.0, 4.0, 1e9]).shape
        (3,)
        """
        mean = in_domain(lam, NON_NEGATIVE, "poisson", "lam")
        if not isinstance(mean, Tensor) and mean > 9.2e18:
            raise ValueError(f"poisson: expected a number <= 9.2e18 for lam, got {mean!r}")
        size = drawn_shape(shape, "poisson", mean)
        return _counts(_core.random_poisson(mean, size, self._source), dtype)

    def binomial(
        self,
        n: TensorLike,
        p: TensorLike,
        shape: Shape | None = None,
        dtype: DType = None,
    ) -> Tensor:
        """Draw the number of successes in `n` trials.

        The result has no gradient.

        Parameters
        ----------
        n : array_like, real
            Number of trials, an integer of at least 0.
        p : array_like, real
            Probability of success in a trial, in [0, 1].
        shape : int or tuple of int, optional
            Shape of the result; the shapes of the parameters broadcast to it. Default: the
            broadcast shape of the parameters.
        dtype : dtype_like, optional
            Dtype of the result. Default: int64. An invalid entry of an array gives NaN in a
            floating dtype, else -1.

        Returns
        -------
        Tensor
            Random numbers of the given shape and dtype.

        Raises
        ------
        ValueError
            If `n` is a number that is negative or not an integer, `p` is a number outside [0, 1],
            or the shapes do not broadcast.
        TypeError
            If a parameter is complex.

        References
        ----------
        .. [1] W. Hörmann, "The generation of binomial random variates", J. Stat. Comput. Simul. 46,
           1993.

        Examples
        --------
        >>> pb.random.binomial(10, [0.0, 1.0])
        Tensor([ 0, 10], dtype=int64)
        """
        count, share = (
            in_domain(n, NON_NEGATIVE, "binomial", "n"),
            in_domain(p, PROBABILITY, "binomial", "p"),
        )
        if isinstance(count, float) and not count.is_integer():
            raise ValueError(f"binomial: expected an integer for n, got {count!r}")
        size = drawn_shape(shape, "binomial", count, share)
        return _counts(_core.random_binomial(count, share, size, self._source), dtype)

    def categorical(
        self, logits: TensorLike, shape: Shape | None = None, *, axis: SupportsIndex = -1
    ) -> Tensor:
        """Draw classes with the probabilities softmax(logits).

        The result has no gradient.

        Parameters
        ----------
        logits : array_like, real
            Logarithms of the probabilities, up to a constant, along `axis`. The other axes
            broadcast to `shape`.
        shape : int or tuple of int, optional
            Shape of the result. Default: the shape of `logits` without `axis`.
        axis : int, optional
            Axis of the classes. Default: -1.

        Returns
        -------
        Tensor
            Class indices of the given shape; dtype int64. Invalid logits of a tensor give -1.

        Raises
        ------
        ValueError
            If there is no class, `axis` is out of range, or the shapes do not broadcast. Also if
            `logits` is not a tensor and contains NaN or inf, or all logits of a draw are -inf.

        Examples
        --------
        >>> pb.random.categorical([0.0, -pb.inf, 5.0], (2, 3)).shape
        (2, 3)
        """
        who = "categorical"
        x = _core.constant(logits, who=who)
        x = x if x.dtype.kind == "f" else _core.cast(x, _core.default_float())
        axis = integer(axis, who, "axis")
        if x.ndim == 0 or x.shape[axes_of(axis, x.ndim, who)[0]] == 0:
            raise ValueError(f"{who}: expected at least one class in logits, got shape {x.shape}")
        (along,) = axes_of(axis, x.ndim, who)
        order = [k for k in range(x.ndim) if k != along] + [along]
        x = x if along == x.ndim - 1 else _core.transpose(x, order)
        size = shape_of(shape, who, [x.shape[:-1]])
        most = _core.max(x, -1, False)  # NaN if a logit is NaN
        usable = _core.logical_and(_core.greater(most, -math.inf), _core.less(most, math.inf))
        if not isinstance(logits, (Tensor, Variable)) and not usable.numpy().all():
            raise ValueError(
                f"{who}: expected logits with a finite maximum, got {_core.shown(logits)}"
            )
        if x.ndim == 1:
            drawn = self._classes(_core.softmax(x, 0), size)
        else:  # The argmax of logits with Gumbel noise has these probabilities.
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
        """Draw entries of an array along an axis, or integers below `a`.

        Without `replace` no entry is drawn twice; the entries are drawn one after the other. The
        drawn entries are differentiable in `a`.

        Parameters
        ----------
        a : array_like or int
            Entries to choose from, or an integer for the integers 0, …, a - 1.
        shape : int or tuple of int, optional
            Shape of the draws. Default: ().
        replace : bool, optional
            Permit an entry to be drawn again. Default: True.
        p : array_like, real, optional
            Probabilities of the entries, a vector. They sum to 1; those of a tensor are divided by
            their sum. Default: equal probabilities.
        axis : int, optional
            Axis of the entries. Default: 0.

        Returns
        -------
        Tensor
            The shape of `a`, in which `shape` replaces `axis`, with the dtype of `a`; or int64
            numbers of the given shape if `a` is an integer.

        Raises
        ------
        ValueError
            If `a` is a scalar that is not an integer, or has no entry to draw. If there are fewer
            entries (or entries with a probability) than draws and `replace` is False. If `p` has
            another length than the axis, is negative or does not sum to 1. If `axis` is out of
            range.
        TypeError
            If `p` is complex or `replace` is not a bool.

        References
        ----------
        .. [1] P. S. Efraimidis, P. G. Spirakis, "Weighted random sampling with a reservoir", Inf.
           Process. Lett. 97, 2006.

        Examples
        --------
        >>> pb.random.choice([5, 7, 9], 2, replace=False).shape
        (2,)
        """
        who = "choice"
        replace = flag(replace, who, "replace")
        things = None if is_integer(a) else _core.constant(a, who=who)
        if things is not None and things.ndim == 0:
            raise ValueError(f"{who}: expected an integer or an array for a, got {_core.shown(a)}")
        (along,) = (0,) if things is None else axes_of(axis, things.ndim, who)
        count = index(cast(SupportsIndex, a)) if things is None else things.shape[along]
        size = shape_of(shape, who, [])
        wanted = math.prod(size)
        if count < 1 and wanted:
            raise ValueError(f"{who}: expected at least one entry in a, got {count}")
        share = None if p is None else _probabilities(p, count)
        if not replace and wanted > count:
            raise ValueError(
                f"{who}: expected at most {counted(count, 'draw')} without replacement, got "
                f"{wanted}"
            )
        if not replace and share is not None and not isinstance(p, Tensor):
            possible = int(np.count_nonzero(np.asarray(p)))
            if wanted > possible:
                raise ValueError(
                    f"{who}: expected at most {counted(possible, 'draw')} without replacement, the "
                    f"entries with a probability, got {wanted}"
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
        """Draw a permutation of integers, or of the entries of an array.

        Differentiable in an array `x`.

        Parameters
        ----------
        x : int or array_like
            An integer n for a permutation of 0, …, n - 1, or an array of rank 1 or more.
        axis : int, optional
            Axis of the entries to permute. Default: 0.

        Returns
        -------
        Tensor
            Integers of shape (n,) and dtype int64, or the shape and dtype of `x`.

        Raises
        ------
        ValueError
            If `x` is negative or a scalar that is not an integer, or `axis` is out of range.

        See Also
        --------
        shuffle

        Examples
        --------
        >>> sorted(pb.random.permutation(4).numpy().tolist())
        [0, 1, 2, 3]
        """
        if is_integer(x):
            return _core.permutation(cast(SupportsIndex, x), self._source)
        return self.shuffle(cast(TensorLike, x), axis=axis)

    @composite
    def shuffle(self, x: TensorLike, /, *, axis: SupportsIndex = 0) -> Tensor:
        """Return the entries of an array along an axis in random order.

        Differentiable in `x`: the gradient of each entry has its original position. The argument is
        not modified.

        Parameters
        ----------
        x : array_like
            Array of rank 1 or more.
        axis : int, optional
            Axis of the entries to permute. Default: 0.

        Returns
        -------
        Tensor
            Shape and dtype of `x`.

        Raises
        ------
        ValueError
            If `x` is a scalar or `axis` is out of range.

        See Also
        --------
        permutation

        Examples
        --------
        >>> sorted(pb.random.shuffle([3, 1, 2]).numpy().tolist())
        [1, 2, 3]
        """
        x = _core.identity(x)
        if x.ndim == 0:
            raise ValueError("shuffle: expected an array of rank 1 or more for x, got a scalar")
        (along,) = axes_of(axis, x.ndim, "shuffle")
        return _core.take(x, _core.permutation(x.shape[along], self._source), along)

    def _classes(self, share: Tensor, shape: tuple[int, ...]) -> Tensor:
        """Draw indices with these probabilities, by a search in their cumulative sums."""
        sums = _core.cumulative_sum(_core.cast(share, "float64"), 0)
        u = _core.multiply(self._uniform(shape, "float64"), sums[-1])
        places = _core.searchsorted(sums, u, True)
        return _core.minimum(places, share.shape[0] - 1)

    def _order(self, share: Tensor) -> Tensor:
        """Draw a permutation, one index after the other with the given probabilities.

        The order is that of exponential waiting times with these rates (Efraimidis and Spirakis,
        2006).
        """
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
            raise ValueError(
                f"integers: expected low and high in the range of {kind}, got {low!r} and {high!r}"
            )


def _counts(drawn: Tensor, dtype: DType) -> Tensor:
    kind = _core.dtype("int64" if dtype is None else dtype)
    if kind.kind == "f":
        return _core.cast(drawn, kind)
    return _core.cast(_core.where(_core.isnan(drawn), -1.0, drawn), kind)


def _probabilities(p: Any, count: int) -> Tensor:
    known = not isinstance(p, (Tensor, Variable))
    share = real(np.asarray(p, np.float64) if known else p, "choice")
    if not isinstance(share, Tensor) or share.shape != (count,):
        raise ValueError(f"choice: expected {count} probabilities for p, got {_core.shown(p)}")
    if known:
        values = share.numpy()
        if not (values >= 0).all() or not math.isclose(values.sum(), 1, rel_tol=1e-6):
            raise ValueError(
                "choice: expected probabilities >= 0 that sum to 1 for p, got a sum of "
                f"{values.sum():g} and a minimum of {values.min():g}"
            )
    share = _core.cast(share, "float64")
    return valid(share, _core.greater_equal(share, 0))
