"""The gamma function and related functions, elementwise, with SciPy's names."""

from __future__ import annotations

import math

from .. import _core
from .._base.checks import integer, made_floating
from .._base.composite import composite
from .._base.domains import nan_unless
from .._core import Tensor
from .._typing import TensorLike

_LARGEST_DIMENSION = 1_000_000  # multigammaln computes this many terms for each element


def gammaln(x: TensorLike, /) -> Tensor:
    """Compute the logarithm of the absolute value of the gamma function.

    The value is infinite at the poles 0, -1, -2, ... The gradient is digamma(x).

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
        If `x` is complex.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.2.1.

    Examples
    --------
    >>> pb.special.gammaln([0.5, 3.0, 100.0])
    Tensor([  0.5723649,   0.6931472, 359.13422  ], dtype=float32)
    """
    return _core.gammaln(x)


def gamma(x: TensorLike, /) -> Tensor:
    """Compute the gamma function.

    The value is NaN at -1, -2, ..., and infinite at 0 with the sign of the zero. The gradient is
    gamma(x) digamma(x).

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
        If `x` is complex.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.2.1.

    Examples
    --------
    >>> pb.special.gamma([0.5, 3.0, 5.0])
    Tensor([ 1.7724539,  2.       , 24.       ], dtype=float32)
    """
    return _core.gamma(x)


def rgamma(x: TensorLike, /) -> Tensor:
    """Compute 1 / gamma(x).

    The value is 0 at the poles of the gamma function, and the gradient exists there.

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
        If `x` is complex.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.2.

    Examples
    --------
    >>> pb.special.rgamma([-1.0, 1.0, 3.0])
    Tensor([0. , 1. , 0.5], dtype=float32)
    """
    return _core.rgamma(x)


def gammasgn(x: TensorLike, /) -> Tensor:
    """Compute the sign of gamma(x).

    The value is NaN at the poles of the gamma function, except for 1 at 0 and -1 at -0. The
    gradient is 0.

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
        If `x` is complex.

    Examples
    --------
    >>> pb.special.gammasgn([-1.5, -0.5, 2.0])
    Tensor([ 1., -1.,  1.], dtype=float32)
    """
    return _core.gammasgn(x)


def digamma(x: TensorLike, /) -> Tensor:
    """Compute the derivative of `gammaln`.

    The value is NaN at -1, -2, ..., and infinite at 0 with the sign of -x. The gradient is
    polygamma(1, x).

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
        If `x` is complex.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.2.2.

    Examples
    --------
    >>> pb.special.digamma([0.5, 1.0, 10.0])
    Tensor([-1.96351  , -0.5772157,  2.2517526], dtype=float32)
    """
    return _core.digamma(x)


@composite
def psi(x: TensorLike, /) -> Tensor:
    """Alias of `digamma`.

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
        If `x` is complex.

    Examples
    --------
    >>> pb.special.psi([1.0])
    Tensor([-0.5772157], dtype=float32)
    """
    return _core.digamma(x)


def polygamma(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the derivative of order `n` of `digamma`.

    The value is infinite at 0, -1, -2, ... The gradient with respect to `x` is polygamma(n + 1, x);
    one with respect to `n` raises NotImplementedError.

    Parameters
    ----------
    n : array_like, real
        Order, an integer from 0 on; for any other number the result is NaN.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.15.

    Examples
    --------
    >>> pb.special.polygamma(1, [0.5, 1.0, 10.0])
    Tensor([4.934802  , 1.644934  , 0.10516634], dtype=float32)
    """
    return _core.polygamma(n, x)


def beta(a: TensorLike, b: TensorLike, /) -> Tensor:
    """Compute gamma(a) gamma(b) / gamma(a + b) without intermediate overflow.

    The value is 0 if one argument is infinite and the other positive. SciPy returns NaN if both are
    infinite. Differentiable in both arguments.

    Parameters
    ----------
    a, b : array_like, real
        Arguments. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Notes
    -----
    The second derivative by both arguments is a difference that loses digits if one argument is
    much smaller than 1 and than the other one: in float64 about 4 digits are right for 1e-12, and
    none from 1e-16 on.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.12.1.

    Examples
    --------
    >>> pb.special.beta([0.5, 2.0], [0.5, 3.0])
    Tensor([3.1415927 , 0.08333334], dtype=float32)
    """
    return _core.beta(a, b)


def betaln(a: TensorLike, b: TensorLike, /) -> Tensor:
    """Compute the logarithm of the absolute value of `beta`.

    The value is finite also where `beta` overflows or underflows. Differentiable in both arguments.

    Parameters
    ----------
    a, b : array_like, real
        Arguments. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.special.betaln([0.5, 10.0], [0.5, 10.0])
    Tensor([  1.1447299, -13.736229 ], dtype=float32)
    """
    return _core.betaln(a, b)


def zeta(x: TensorLike, q: TensorLike | None = None, /) -> Tensor:
    """Compute the Hurwitz zeta function, the sum of (k + q)^-x for k = 0, 1, ...

    With q = 1 it is the Riemann zeta function, which is continued analytically to x < 1. For any
    other `q` the value is NaN if x < 1. The value is infinite at x = 1. For q < 0 it requires an
    integer `x`, and at q = 0, -1, ... the value is infinite.

    Differentiable in both arguments. The derivatives with respect to `x` exist for q > 0 and up to
    the second order.

    Parameters
    ----------
    x : array_like, real
        Exponent. Shapes broadcast; integers and bool become the default floating dtype.
    q : array_like, real, optional
        Offset. Default: 1, the Riemann zeta function.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a third derivative with respect to `x` is requested.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 25.11.1.

    Examples
    --------
    >>> pb.special.zeta([2.0, 4.0, -1.0])
    Tensor([ 1.644934  ,  1.0823232 , -0.08333334], dtype=float32)
    >>> pb.special.zeta(2.0, [0.5, 1.0, 10.0])
    Tensor([4.934802  , 1.644934  , 0.10516634], dtype=float32)
    """
    return _core.zeta(x, 1.0 if q is None else q)


@composite
def multigammaln(a: TensorLike, d: int, /) -> Tensor:
    """Compute the logarithm of the multivariate gamma function of dimension `d`.

    The value is NaN unless a > (d - 1) / 2, where SciPy raises an error. Differentiable in `a`.

    Parameters
    ----------
    a : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    d : int
        Dimension, from 1 to 1,000,000.

    Returns
    -------
    Tensor
        Shape of `a`; the floating dtype of `a`, or the default one.

    Raises
    ------
    TypeError
        If `d` is not an integer, or `a` is complex.
    ValueError
        If `d` is less than 1 or more than 1,000,000.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 35.3.

    Examples
    --------
    >>> pb.special.multigammaln([2.0, 3.5], 2)
    Tensor([0.45158267, 2.4664857 ], dtype=float32)
    """
    count = integer(d, "multigammaln", "d")
    if count < 1:
        raise ValueError(f"multigammaln: expected an integer >= 1 for d, got {count}")
    if count > _LARGEST_DIMENSION:
        raise ValueError(f"multigammaln: expected at most {_LARGEST_DIMENSION} for d, got {count}")
    a = made_floating(a, "multigammaln")
    halves = _core.multiply(_core.arange(0, count, 1, a.dtype), 0.5)
    total = _core.sum(_core.gammaln(_core.subtract(_core.expand_dims(a, -1), halves)), -1)
    value = total + count * (count - 1) / 4 * math.log(math.pi)
    return nan_unless(_core.greater(a, (count - 1) / 2), value)
