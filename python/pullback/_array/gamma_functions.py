"""The gamma function and its relatives, elementwise: `pb.special`, with SciPy's names."""

from __future__ import annotations

import math

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import integer, made_floating

_LARGEST_DIMENSION = 1_000_000  # of multigammaln, which computes as many terms for each entry


def gammaln(x: TensorLike, /) -> Tensor:
    """The logarithm of the absolute value of the gamma function: DLMF 5.2.1.

    Elementwise, for floats; integers become the default float. Infinite at the poles 0, -1, -2, ...
    The gradient is digamma(x).

    >>> pb.special.gammaln([0.5, 3.0, 100.0])
    Tensor([  0.5723649,   0.6931472, 359.13422  ], dtype=float32)
    """
    return _core.gammaln(x)


def gamma(x: TensorLike, /) -> Tensor:
    """The gamma function: DLMF 5.2.1.

    Elementwise, for floats; integers become the default float. NaN at -1, -2, ..., infinite at 0
    with the sign of the zero. The gradient is gamma(x) digamma(x).

    >>> pb.special.gamma([0.5, 3.0, 5.0])
    Tensor([ 1.7724539,  2.       , 24.       ], dtype=float32)
    """
    return _core.gamma(x)


def rgamma(x: TensorLike, /) -> Tensor:
    """1 / gamma(x), which is 0 at the poles of gamma and has slopes there: DLMF 5.2.

    Elementwise, for floats; integers become the default float.

    >>> pb.special.rgamma([-1.0, 1.0, 3.0])
    Tensor([0. , 1. , 0.5], dtype=float32)
    """
    return _core.rgamma(x)


def gammasgn(x: TensorLike, /) -> Tensor:
    """The sign of gamma(x); NaN at its poles, but 1 at 0 and -1 at -0.

    Elementwise, for floats; integers become the default float. The gradient is 0.

    >>> pb.special.gammasgn([-1.5, -0.5, 2.0])
    Tensor([ 1., -1.,  1.], dtype=float32)
    """
    return _core.gammasgn(x)


def digamma(x: TensorLike, /) -> Tensor:
    """The derivative of gammaln: DLMF 5.2.2.

    Elementwise, for floats; integers become the default float. NaN at -1, -2, ..., infinite at 0
    with the sign of -x. The gradient is polygamma(1, x).

    >>> pb.special.digamma([0.5, 1.0, 10.0])
    Tensor([-1.96351  , -0.5772157,  2.2517526], dtype=float32)
    """
    return _core.digamma(x)


def psi(x: TensorLike, /) -> Tensor:
    """The same as `digamma`.

    >>> pb.special.psi([1.0])
    Tensor([-0.5772157], dtype=float32)
    """
    return _core.digamma(x)


def polygamma(n: TensorLike, x: TensorLike, /) -> Tensor:
    """The derivative of digamma of order n, a whole number from 0 on: DLMF 5.15.

    Elementwise and broadcasting, for floats; integers become the default float. NaN for other n,
    through which no gradient passes; that of x is polygamma(n + 1, x). Infinite at 0, -1, -2, ...

    >>> pb.special.polygamma(1, [0.5, 1.0, 10.0])
    Tensor([4.934802  , 1.644934  , 0.10516634], dtype=float32)
    """
    return _core.polygamma(n, x)


def beta(a: TensorLike, b: TensorLike, /) -> Tensor:
    """gamma(a) gamma(b) / gamma(a + b), without overflow between: DLMF 5.12.1.

    Elementwise and broadcasting, for floats; integers become the default float. Where a or b is
    infinite and the other positive it is 0 (SciPy has NaN where both are).

    >>> pb.special.beta([0.5, 2.0], [0.5, 3.0])
    Tensor([3.1415927 , 0.08333334], dtype=float32)
    """
    return _core.beta(a, b)


def betaln(a: TensorLike, b: TensorLike, /) -> Tensor:
    """The logarithm of the absolute value of `beta`, also where beta leaves the range of floats.

    Elementwise and broadcasting, for floats; integers become the default float.

    >>> pb.special.betaln([0.5, 10.0], [0.5, 10.0])
    Tensor([  1.1447299, -13.736229 ], dtype=float32)
    """
    return _core.betaln(a, b)


def gammainc(a: TensorLike, x: TensorLike, /) -> Tensor:
    """The regularized lower incomplete gamma function, the share of gamma(a) below x: DLMF 8.2.4.

    Elementwise and broadcasting, for floats; integers become the default float. It is defined for
    a, x >= 0 but not where both are 0 or infinite: NaN elsewhere. It has gradients by both: that of
    x is the density of the gamma distribution, of any order; those of a exist up to the second.

    Raises:
        NotImplementedError: a third derivative by a is asked for.

    >>> pb.special.gammainc([0.5, 1.0, 50.0], [0.5, 1.0, 60.0])
    Tensor([0.6826895 , 0.63212055, 0.9155933 ], dtype=float32)
    """
    return _core.gammainc(a, x)


def gammaincc(a: TensorLike, x: TensorLike, /) -> Tensor:
    """1 - gammainc(a, x), the upper incomplete gamma function, with all its digits: DLMF 8.2.4.

    Elementwise and broadcasting, for floats; integers become the default float. Domain and
    gradients as those of `gammainc`.

    Raises:
        NotImplementedError: a third derivative by a is asked for.

    >>> pb.special.gammaincc([0.5, 1.0, 2.0], [0.5, 1.0, 60.0])
    Tensor([3.1731051e-01, 3.6787945e-01, 5.3414714e-25], dtype=float32)
    """
    return _core.gammaincc(a, x)


def betainc(a: TensorLike, b: TensorLike, x: TensorLike, /) -> Tensor:
    """The regularized incomplete beta function, the share of beta(a, b) below x: DLMF 8.17.2.

    Elementwise and broadcasting, for floats; integers become the default float. It is defined for
    a, b >= 0, not both 0 or infinite, and 0 <= x <= 1: NaN elsewhere. It has gradients by all
    three: that of x is the density of the beta distribution, of any order; those of a and b exist
    up to the second.

    Raises:
        NotImplementedError: a third derivative by a and b is asked for.

    >>> pb.special.betainc([0.5, 2.0], [0.5, 3.0], [0.25, 0.5])
    Tensor([0.33333334, 0.6875    ], dtype=float32)
    """
    return _core.betainc(a, b, x)


def betaincc(a: TensorLike, b: TensorLike, x: TensorLike, /) -> Tensor:
    """1 - betainc(a, b, x), with all its digits: DLMF 8.17.4.

    Elementwise and broadcasting, for floats; integers become the default float. Domain and
    gradients as those of `betainc`.

    Raises:
        NotImplementedError: a third derivative by a and b is asked for.

    >>> pb.special.betaincc([0.5, 2.0], [0.5, 30.0], [0.25, 0.5])
    Tensor([6.6666669e-01, 1.4901161e-08], dtype=float32)
    """
    return _core.betaincc(a, b, x)


def gammaincinv(a: TensorLike, p: TensorLike, /) -> Tensor:
    """x with gammainc(a, x) = p.

    Elementwise and broadcasting, for floats; integers become the default float. It is 0 at p = 0
    and infinite at 1, NaN for p outside of [0, 1], for a < 0 and for an infinite a. It has
    gradients by both.

    >>> pb.special.gammaincinv([0.5, 1.0, 50.0], [0.5, 0.5, 1e-5])
    Tensor([ 0.22746821,  0.6931472 , 25.355469  ], dtype=float32)
    """
    return _core.gammaincinv(a, p)


def gammainccinv(a: TensorLike, q: TensorLike, /) -> Tensor:
    """x with gammaincc(a, x) = q, with all its digits for a small q.

    Elementwise and broadcasting, for floats; integers become the default float. It is infinite at
    q = 0 and 0 at 1, else as `gammaincinv`.

    >>> pb.special.gammainccinv([0.5, 1.0, 50.0], [0.5, 1e-30, 1e-5])
    Tensor([ 0.22746821, 69.07755   , 86.04947   ], dtype=float32)
    """
    return _core.gammainccinv(a, q)


def betaincinv(a: TensorLike, b: TensorLike, p: TensorLike, /) -> Tensor:
    """x with betainc(a, b, x) = p.

    Elementwise and broadcasting, for floats; integers become the default float. NaN for p outside
    of [0, 1] and for a and b that are not positive or infinite. It has gradients by all three.

    >>> pb.special.betaincinv([0.5, 2.0], [0.5, 3.0], [0.5, 1e-10])
    Tensor([5.000000e-01, 4.082494e-06], dtype=float32)
    """
    return _core.betaincinv(a, b, p)


def betainccinv(a: TensorLike, b: TensorLike, q: TensorLike, /) -> Tensor:
    """x with betaincc(a, b, x) = q, with all its digits for a small q; else as `betaincinv`.

    >>> pb.special.betainccinv([0.5, 2.0], [0.5, 30.0], [0.5, 1e-10])
    Tensor([0.5       , 0.57875425], dtype=float32)
    """
    return _core.betainccinv(a, b, q)


def stdtr(df: TensorLike, t: TensorLike, /) -> Tensor:
    """The distribution function of Student's distribution of `df` degrees of freedom.

    Elementwise and broadcasting, for floats; integers become the default float. NaN where df is not
    positive; an infinite df is the normal distribution. It has gradients by both: that of t is the
    density, of any order; those of df exist up to the second.

    Raises:
        NotImplementedError: a third derivative by df is asked for.

    >>> pb.special.stdtr([1.0, 3.0], [1.0, -30.0])
    Tensor([7.50000e-01, 4.06764e-05], dtype=float32)
    """
    return _core.stdtr(df, t)


def stdtrit(df: TensorLike, p: TensorLike, /) -> Tensor:
    """t with stdtr(df, t) = p, with gradients by both; NaN for p outside of [0, 1].

    >>> pb.special.stdtrit([1.0, 3.0], [0.75, 0.5])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.stdtrit(df, p)


def zeta(x: TensorLike, q: TensorLike | None = None, /) -> Tensor:
    """Riemann's zeta function of x, or Hurwitz's of x and q, the sum of (k + q)^-x: DLMF 25.11.1.

    Elementwise and broadcasting, for floats; integers become the default float. Infinite at x = 1.
    Without q, and where it is 1, it continues to x < 1; other q are NaN there. For q < 0 it needs a
    whole x, and at q = 0, -1, ... it is infinite. It has gradients by both, those of x where q > 0
    and up to the second order.

    Raises:
        NotImplementedError: a third derivative by x is asked for.

    >>> pb.special.zeta([2.0, 4.0, -1.0])
    Tensor([ 1.644934  ,  1.0823232 , -0.08333334], dtype=float32)
    >>> pb.special.zeta(2.0, [0.5, 1.0, 10.0])
    Tensor([4.934802  , 1.644934  , 0.10516634], dtype=float32)
    """
    return _core.zeta(x, 1.0 if q is None else q)


def multigammaln(a: TensorLike, d: int, /) -> Tensor:
    """The logarithm of the gamma function of dimension d >= 1: DLMF 35.3.

    Elementwise, for floats; integers become the default float. It is defined for a > (d - 1) / 2
    and NaN below, where SciPy raises.

    Raises:
        TypeError: d is no integer.
        ValueError: d is less than 1 or more than 1,000,000.

    >>> pb.special.multigammaln([2.0, 3.5], 2)
    Tensor([0.45158267, 2.4664857 ], dtype=float32)
    """
    count = integer(d, "multigammaln")
    if count < 1:
        raise ValueError(f"multigammaln: d: expected at least 1, got {count}")
    if count > _LARGEST_DIMENSION:
        raise ValueError(f"multigammaln: d: expected at most {_LARGEST_DIMENSION}, got {count}")
    a = made_floating(a, "multigammaln")
    halves = _core.multiply(_core.arange(0, count, 1, a.dtype), 0.5)
    total = _core.sum(_core.gammaln(_core.subtract(_core.expand_dims(a, -1), halves)), -1)
    value = total + count * (count - 1) / 4 * math.log(math.pi)
    return _core.where(_core.greater(a, (count - 1) / 2), value, math.nan)
