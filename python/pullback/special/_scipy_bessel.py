"""Bessel functions of real order, Struve and Airy functions, with the values of SciPy."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.checks import integer_orders
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction, all_results


def _half(first: Any, second: Any, sign: float) -> list[Any]:
    """Return half of the sum (sign 1) or difference (sign -1) of two neighbours in order."""
    return [(first + second) * 0.5 if sign > 0 else (first - second) * 0.5]


_jv: ScipyFunction = ScipyFunction(
    "jv", lambda v, z: _half(_jv.of_float64(v - 1, z), _jv.of_float64(v + 1, z), -1), ("v",)
)
_yv: ScipyFunction = ScipyFunction(
    "yv", lambda v, z: _half(_yv.of_float64(v - 1, z), _yv.of_float64(v + 1, z), -1), ("v",)
)
_kv: ScipyFunction = ScipyFunction(
    "kv", lambda v, z: _half(-_kv.of_float64(v - 1, z), -_kv.of_float64(v + 1, z), 1), ("v",)
)
_kn = ScipyFunction(
    "kn",
    lambda n, x: _half(-_kv.of_float64(n - 1, x), -_kv.of_float64(n + 1, x), 1),
    ("n",),
    arranged=lambda n, x: (n.astype("int64"), x),
)
_k0: ScipyFunction = ScipyFunction("k0", lambda x: [-_k1.of_float64(x)])
_k1: ScipyFunction = ScipyFunction("k1", lambda x: [-_k0.of_float64(x) - _k1.of_float64(x) / x])


def _struve_term(v: Any, x: Any) -> Any:
    return _core.pow(x * 0.5, v) * _core.rgamma(v + 1.5) / math.sqrt(math.pi)


def _struve_slopes(v: Any, x: Any) -> list[Any]:
    around = _struve.of_float64(v - 1, x) + _struve_term(v, x)
    near = _half(around, _struve.of_float64(v + 1, x), -1)[0]
    # For a large argument, the two functions and the term cancel in higher derivatives.
    is_far = _core.abs(x) > 1
    far = _struve.of_float64(v - 1, x) - v / _core.where(is_far, x, 1) * _struve.of_float64(v, x)
    return [_core.where(is_far, far, near)]


def _modstruve_slopes(v: Any, x: Any) -> list[Any]:
    around = _modstruve.of_float64(v - 1, x) + _struve_term(v, x)
    return _half(around, _modstruve.of_float64(v + 1, x), 1)


_struve: ScipyFunction = ScipyFunction("struve", _struve_slopes, ("v",))
_modstruve: ScipyFunction = ScipyFunction("modstruve", _modstruve_slopes, ("v",))


_ai = ScipyFunction("airy", lambda z: [_ai_slope.of_float64(z)], result=0)
_ai_slope: ScipyFunction = ScipyFunction("airy", lambda z: [z * _ai.of_float64(z)], result=1)
_bi = ScipyFunction("airy", lambda z: [_bi_slope.of_float64(z)], result=2)
_bi_slope: ScipyFunction = ScipyFunction("airy", lambda z: [z * _bi.of_float64(z)], result=3)


@composite
def jv(v: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of real order.

    Values are those of SciPy. The derivative is (jv(v - 1, z) - jv(v + 1, z)) / 2.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.2.

    Examples
    --------
    >>> pb.special.jv(0.5, [1.0, 2.0, 5.0])
    Tensor([ 0.67139673,  0.51301616, -0.34216797], dtype=float32)
    """
    return _jv(v, z)


@composite
def yv(v: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of real order.

    Values are those of SciPy. The derivative is (yv(v - 1, z) - yv(v + 1, z)) / 2.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.3.

    Examples
    --------
    >>> pb.special.yv(0.5, [1.0, 2.0, 5.0])
    Tensor([-0.43109888,  0.2347857 , -0.10121771], dtype=float32)
    """
    return _yv(v, z)


@composite
def kv(v: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the second kind of real order.

    Values are those of SciPy. The derivative is -(kv(v - 1, z) + kv(v + 1, z)) / 2.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.3.

    Examples
    --------
    >>> pb.special.kv(1.5, [0.5, 1.0, 5.0])
    Tensor([3.2251427 , 0.922137  , 0.00453194], dtype=float32)
    """
    return _kv(v, z)


@composite
def kn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the second kind of integer order.

    Values are those of SciPy. The derivative is -(kv(n - 1, x) + kv(n + 1, x)) / 2.

    Parameters
    ----------
    n : array_like of int
        Order.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer, or `x` is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    See Also
    --------
    kv

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.3.

    Examples
    --------
    >>> pb.special.kn(2, [0.5, 1.0, 5.0])
    Tensor([7.550184e+00, 1.624839e+00, 5.308944e-03], dtype=float32)
    """
    return _kn(integer_orders(n, "kn"), x, takes_complex=False)


@composite
def struve(v: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the Struve function.

    Values are those of SciPy. The derivative is (struve(v - 1, x) - struve(v + 1, x) + c) / 2,
    where c is (x / 2)^v / (sqrt(pi) gamma(v + 3/2)), and for |x| > 1 the equal
    struve(v - 1, x) - v struve(v, x) / x.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

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
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 11.2.1.

    Examples
    --------
    >>> pb.special.struve(0, [0.5, 1.0, 5.0])
    Tensor([ 0.30955592,  0.5686566 , -0.18521681], dtype=float32)
    """
    return _struve(v, x, takes_complex=False)


@composite
def modstruve(v: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the modified Struve function.

    Values are those of SciPy. The derivative is (modstruve(v - 1, x) + modstruve(v + 1, x) +
    c) / 2, where c is (x / 2)^v / (sqrt(pi) gamma(v + 3/2)).

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    x : array_like, real
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

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
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 11.2.2.

    Examples
    --------
    >>> pb.special.modstruve(0, [0.5, 1.0, 5.0])
    Tensor([ 0.3272407 ,  0.71024317, 27.105917  ], dtype=float32)
    """
    return _modstruve(v, x, takes_complex=False)


@composite
def k0(x: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the second kind of order 0.

    Values are those of SciPy. The derivative is -k1(x).

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

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.3.

    Examples
    --------
    >>> pb.special.k0([0.5, 1.0, 5.0])
    Tensor([0.92441905, 0.42102444, 0.0036911 ], dtype=float32)
    """
    return _k0(x, takes_complex=False)


@composite
def k1(x: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the second kind of order 1.

    Values are those of SciPy. The derivative is -k0(x) - k1(x) / x.

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

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.3.

    Examples
    --------
    >>> pb.special.k1([0.5, 1.0, 5.0])
    Tensor([1.6564411 , 0.60190725, 0.00404461], dtype=float32)
    """
    return _k1(x, takes_complex=False)


@composite
def airy(z: TensorLike, /) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the Airy functions and their derivatives.

    Values are those of SciPy. The second derivatives are z Ai(z) and z Bi(z).

    Parameters
    ----------
    z : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    tuple of Tensor
        Ai, Ai', Bi and Bi', of the shape of `z` and its dtype, or the default floating one.

    Raises
    ------
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 9.2.

    Examples
    --------
    >>> pb.special.airy([0.0, 1.0])[0]
    Tensor([0.35502806, 0.13529241], dtype=float32)
    """
    ai, ai_slope, bi, bi_slope = all_results((_ai, _ai_slope, _bi, _bi_slope), z)
    return ai, ai_slope, bi, bi_slope
