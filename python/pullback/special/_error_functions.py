"""The error function and related functions, elementwise, of floating-point numbers.

Integers become the default floating dtype.
"""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


def erf(x: TensorLike, /) -> Tensor:
    """Compute the error function.

    The value is 2/sqrt(pi) times the integral of exp(-t^2) from 0 to `x`. The gradient is
    2/sqrt(pi) exp(-x^2).

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.2.1.

    Examples
    --------
    >>> pb.special.erf([0.0, 0.5, -10.0])
    Tensor([ 0.       ,  0.5204999, -1.       ], dtype=float32)
    """
    return _core.erf(x)


def erfc(x: TensorLike, /) -> Tensor:
    """Compute the complementary error function, 1 - erf(x).

    The value is accurate where erf(x) is near 1.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.2.2.

    Examples
    --------
    >>> pb.special.erfc([0.0, 5.0, -10.0])
    Tensor([1.0000000e+00, 1.5374598e-12, 2.0000000e+00], dtype=float32)
    """
    return _core.erfc(x)


def erfcx(x: TensorLike, /) -> Tensor:
    """Compute the scaled complementary error function, exp(x^2) erfc(x).

    The value does not overflow or underflow where its factors do. Each derivative is computed
    directly [2]_, since the formula 2 x erfcx(x) - 2/sqrt(pi) cancels.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.6.
    .. [2] NIST Digital Library of Mathematical Functions (DLMF), 7.18.3.

    Examples
    --------
    >>> pb.special.erfcx([0.0, 5.0, 1e10])
    Tensor([1.0000000e+00, 1.1070464e-01, 5.6418960e-11], dtype=float32)
    """
    return _core.erfcx(x)


def erfinv(x: TensorLike, /) -> Tensor:
    """Compute the inverse of `erf`.

    The value is infinite at -1 and 1, and NaN outside. The gradient is sqrt(pi)/2 exp(erfinv(x)^2).

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
    >>> pb.special.erfinv([0.0, 0.5, -1.0])
    Tensor([0.        , 0.47693628,       -inf], dtype=float32)
    """
    return _core.erfinv(x)


def erfcinv(x: TensorLike, /) -> Tensor:
    """Compute the inverse of `erfc`.

    The value is infinite at 0 and 2, and NaN outside. The gradient is -sqrt(pi)/2
    exp(erfcinv(x)^2).

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
    >>> pb.special.erfcinv([1.0, 1e-30, 2.0])
    Tensor([0.      , 8.148616,     -inf], dtype=float32)
    """
    return _core.erfcinv(x)


def ndtr(x: TensorLike, /) -> Tensor:
    """Compute the standard normal distribution function, erfc(-x / sqrt(2)) / 2.

    The gradient is the density.

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
    >>> pb.special.ndtr([0.0, 1.0, -10.0])
    Tensor([5.000000e-01, 8.413448e-01, 7.619853e-24], dtype=float32)
    """
    return _core.ndtr(x)


def ndtri(p: TensorLike, /) -> Tensor:
    """Compute the inverse of `ndtr`.

    The value is infinite at 0 and 1, and NaN outside.

    Parameters
    ----------
    p : array_like, real
        Probability in [0, 1]. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `p`; the floating dtype of `p`, or the default one.

    Raises
    ------
    TypeError
        If `p` is complex.

    Examples
    --------
    >>> pb.special.ndtri([0.5, 1e-30, 1.0])
    Tensor([  0.      , -11.464025,        inf], dtype=float32)
    """
    return _core.ndtri(p)


def log_ndtr(x: TensorLike, /) -> Tensor:
    """Compute the logarithm of `ndtr`.

    The value is finite if x^2 / 2 does not overflow. The gradient is the density divided by `ndtr`,
    which is near -x far below 0.

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
    >>> pb.special.log_ndtr([0.0, -10.0, 10.0])
    Tensor([-6.9314718e-01, -5.3231285e+01, -7.6198528e-24], dtype=float32)
    """
    return _core.log_ndtr(x)
