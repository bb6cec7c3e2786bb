"""Binomial coefficients and powers of ten with the values of SciPy."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.checks import flag
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction


def _binom_slopes(n: Any, k: Any) -> list[Any]:
    y, rest = _binom.of_float64(n, k), n - k
    is_regular = _core.logical_and(n > -1, _core.logical_and(k > -1, rest > -1))
    n_in, k_in = _core.where(is_regular, n, 1.0), _core.where(is_regular, k, 0.5)
    rest_in = n_in - k_in
    by_n = y * -_core.polygamma_gap(0.0, rest_in + 1, k_in)
    by_k = y * (_core.digamma(rest_in + 1) - _core.digamma(k_in + 1))
    # Elsewhere, the reciprocals of the gamma functions in the denominator have zeros.
    n_out = _core.where(is_regular, 0.5, n)
    k_out, rest_out = (_core.where(is_regular, 0.25, t) for t in (k, rest))
    one, two = _core.rgamma(k_out + 1), _core.rgamma(rest_out + 1)
    one_slope, two_slope = (_core.rgamma_nth(1.0, t + 1) for t in (k_out, rest_out))
    top = _core.gamma(n_out + 1)
    other_n = top * one * (_core.digamma(n_out + 1) * two + two_slope)
    other_k = top * (one_slope * two - one * two_slope)
    return [_core.where(is_regular, by_n, other_n), _core.where(is_regular, by_k, other_k)]


def _comb_slopes(n: Any, k: Any) -> list[Any]:
    negative = _core.logical_or(n < 0, k < 0)
    return [_core.where(_core.logical_or(negative, k > n), 0, s) for s in _binom_slopes(n, k)]


_binom: ScipyFunction = ScipyFunction("binom", _binom_slopes)
_comb = ScipyFunction("comb", _comb_slopes)
_exp10: ScipyFunction = ScipyFunction("exp10", lambda x: [math.log(10) * _exp10.of_float64(x)])


@composite
def binom(n: TensorLike, k: TensorLike, /) -> Tensor:
    """Compute the binomial coefficient of real numbers.

    It is gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)). Values are those of SciPy. Derivatives by
    `n` and `k` are products with digamma functions. They are NaN for a negative integer `n`.

    Parameters
    ----------
    n, k : array_like, real
        Arguments. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an argument is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    See Also
    --------
    comb

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 1.2.6.

    Examples
    --------
    >>> pb.special.binom(5, [1.0, 2.0, 2.5])
    Tensor([ 5.      , 10.      , 10.864978], dtype=float32)
    """
    return _binom(n, k, takes_complex=False)


@composite
def comb(n: TensorLike, k: TensorLike, /, *, repetition: bool = False) -> Tensor:
    """Compute the number of combinations of `n` things taken `k` at a time.

    It is `binom`, and 0 if `k` is negative or greater than `n`, or `n` is negative. Values are
    floating numbers, as those of SciPy with exact=False.

    Parameters
    ----------
    n, k : array_like, real
        Numbers of things. Shapes broadcast; integers and bool become the default floating dtype.
    repetition : bool, optional
        If True, count combinations with repetition: `comb(n + k - 1, k)`. Default: False.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an argument is complex, or `repetition` is not a bool.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    See Also
    --------
    binom

    Examples
    --------
    >>> pb.special.comb(5, [1, 2, 6])
    Tensor([ 5., 10.,  0.], dtype=float32)
    """
    if flag(repetition, "comb", "repetition"):
        n, k = _core.operands([n, k], "comb")
        empty = _core.logical_and(_core.equal(n, 0), _core.equal(k, 0))
        return comb(_core.where(empty, 0, n + k - 1), k)
    return _comb(n, k, takes_complex=False)


@composite
def exp10(x: TensorLike, /) -> Tensor:
    """Compute 10 to the power of `x`.

    Values are those of SciPy. The derivative is log(10) 10^x.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If an argument is complex.
    ImportError
        If SciPy is not installed.

    Examples
    --------
    >>> pb.special.exp10([-1.0, 0.5, 2.0])
    Tensor([  0.1      ,   3.1622777, 100.       ], dtype=float32)
    """
    return _exp10(x, takes_complex=False)
