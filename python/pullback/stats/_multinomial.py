"""The multinomial distribution of vectors of counts along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._base.checks import known_values
from .._base.domains import nan_unless
from .._core import Tensor
from ._absent import Family
from ._arguments import floats
from ._discrete import binom
from ._distribution import INFINITY, all_of


class Multinomial(Family):
    """Represent the multinomial distribution of the counts of `n` trials with several results.

    Vectors are along the last axis; the axes before it are a batch. The result is NaN if `n` is not
    an integer of at least 0, or the entries of `p` are not probabilities whose sum is 1, within
    half of the digits. Derivatives by `p` are those of independent entries.

    Examples
    --------
    >>> pb.stats.multinomial.pmf([1, 2, 0], 3, [0.25, 0.5, 0.25])
    Tensor(0.1875, dtype=float32)
    """

    name = "multinomial"

    def pmf(self, x: Any, n: Any, p: Any) -> Tensor:
        """Compute the probability of the counts `x`.

        It is 0 if an entry of `x` is negative or no integer, or their sum is not `n`.

        Parameters
        ----------
        x : array_like, real
            Counts of shape (…, k), whose sum is `n`.
        n : array_like of int
            Number of trials, at least 0.
        p : array_like, real
            Probabilities of shape (…, k), whose sum is 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If the last axes of `x` and `p` differ, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        """
        value, dtype = self._log(x, n, p, "pmf")
        return _core.cast(_core.exp(value), dtype)

    def logpmf(self, x: Any, n: Any, p: Any) -> Tensor:
        """Compute the logarithm of `pmf`.

        It is -inf if an entry of `x` is negative or no integer, or their sum is not `n`.

        Parameters
        ----------
        x : array_like, real
            Counts of shape (…, k), whose sum is `n`.
        n : array_like of int
            Number of trials, at least 0.
        p : array_like, real
            Probabilities of shape (…, k), whose sum is 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If the last axes of `x` and `p` differ, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        """
        return _core.cast(*self._log(x, n, p, "logpmf"))

    def _log(self, x: Any, n: Any, p: Any, what: str) -> tuple[Tensor, Any]:
        """Return the logarithm of the probability in float64, and the dtype of the result."""
        who = f"multinomial.{what}"
        (x, n, p), dtype = floats([x, n, p], who)
        if not x.shape or not p.shape or x.shape[-1] != p.shape[-1]:
            raise ValueError(
                f"{who}: expected one size of the last axis for x and p, got shapes {x.shape} and "
                f"{p.shape}"
            )
        counts = _core.logical_and(_core.greater_equal(x, 0), _core.equal(x, _core.floor(x)))
        inside = _core.logical_and(_core.all(counts, -1), _core.equal(_core.sum(x, -1), n))
        x = _core.where(counts, x, 0.0)
        terms = _core.sum(_core.xlogy(x, p) - _core.gammaln(x + 1), -1)
        value = _core.where(inside, _core.gammaln(n + 1) + terms, -INFINITY)
        return _valid_where(n, p, dtype, value), dtype

    def entropy(self, n: Any, p: Any) -> Tensor:
        """Compute the entropy in nats.

        It is a sum of as many terms as the largest `n`.

        Parameters
        ----------
        n : array_like of int
            Number of trials, at least 0.
        p : array_like, real
            Probabilities of shape (…, k), whose sum is 1.

        Returns
        -------
        Tensor
            The broadcast shape without the last axis; their promoted dtype, or the default floating
            dtype.

        Raises
        ------
        ValueError
            If `p` is a scalar, or the shapes do not broadcast.
        TypeError
            If an argument is complex.
        RuntimeError
            If `n` has no value while a function is traced.
        """
        who = "multinomial.entropy"
        (n, p), dtype = floats([n, p], who)
        if not p.shape:
            raise ValueError(f"{who}: expected a vector for p, got a scalar")
        largest = np.max(np.asarray(known_values(n, who)), initial=0.0)
        k = _core.arange(0, int(largest) + 1 if np.isfinite(largest) else 1, 1, p.dtype)
        trials = _core.expand_dims(_core.expand_dims(n, -1), -1)
        one = _core.expand_dims(p, -1)
        chance = binom._pmf(_core.minimum(k, trials), trials, one)
        weights = _core.where(_core.less_equal(k, trials), _core.gammaln(k + 1), 0.0)
        ways = _core.sum(chance * weights, (-2, -1))
        value = n * _core.sum(_core.entr(p), -1) - _core.gammaln(n + 1) + ways
        return _core.cast(_valid_where(n, p, dtype, value), dtype)


def _valid_where(n: Tensor, p: Tensor, dtype: Any, value: Tensor) -> Tensor:
    tolerance = 1e-7 if dtype.itemsize == 8 else 1e-3
    valid = [
        _core.greater_equal(n, 0),
        _core.equal(n, _core.floor(n)),
        _core.all(_core.greater_equal(p, 0), -1),
        _core.less(_core.abs(_core.sum(p, -1) - 1), tolerance),
    ]
    return nan_unless(all_of(valid), value)


multinomial = Multinomial()
