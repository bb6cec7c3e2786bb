"""Bessel functions, elementwise, of floating-point numbers.

Integers become the default floating dtype. There is no derivative with respect to the order: a
gradient that needs it raises NotImplementedError. Orders may be arrays, which broadcast.
"""

from __future__ import annotations

from .. import _core
from .._base.checks import integer_orders
from .._core import Tensor
from .._typing import TensorLike


def i0(x: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 0.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.2.

    Examples
    --------
    >>> pb.special.i0([0.0, 1.0, -5.0])
    Tensor([ 1.       ,  1.2660658, 27.239872 ], dtype=float32)
    """
    return _core.i0(x)


def i0e(x: TensorLike, /) -> Tensor:
    """Compute exp(-|x|) i0(x).

    The slope is computed directly, since i1e - i0e cancels. The slope at 0 is 0.

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
    >>> pb.special.i0e([0.0, 1.0, 1e10])
    Tensor([1.000000e+00, 4.657596e-01, 3.989423e-06], dtype=float32)
    """
    return _core.i0e(x)


def i1(x: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the first kind of order 1.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.2.

    Examples
    --------
    >>> pb.special.i1([0.0, 1.0, -5.0])
    Tensor([  0.       ,   0.5651591, -24.335642 ], dtype=float32)
    """
    return _core.i1(x)


def i1e(x: TensorLike, /) -> Tensor:
    """Compute exp(-|x|) i1(x).

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
    >>> pb.special.i1e([0.0, 1.0, 1e10])
    Tensor([0.0000000e+00, 2.0791042e-01, 3.9894230e-06], dtype=float32)
    """
    return _core.i1e(x)


def iv(v: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the modified Bessel function of the first kind of real order `v`.

    The value is NaN if x < 0 and `v` is not an integer. Differentiable in `x`, not in
    `v`. If `v` is below -1 and not an integer, the function may change its sign;
    accuracy is lost near the zero.

    Parameters
    ----------
    v : array_like, real
        Order, also fractional. Shapes broadcast; integers and bool become the default floating
        dtype.
    x : array_like, real
        Argument.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.25.2.

    Examples
    --------
    >>> pb.special.iv(0.5, [1.0, 5.0])
    Tensor([ 0.9376749, 26.477547 ], dtype=float32)
    """
    return _core.iv(v, x)


def ive(v: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute exp(-|x|) iv(v, x).

    Differentiable in `x`, not in `v`. Second derivatives lose
    accuracy if `v` is 30 or more and `x` is between v and v^2 / 2.

    Parameters
    ----------
    v : array_like, real
        Order, also fractional. Shapes broadcast; integers and bool become the default floating
        dtype.
    x : array_like, real
        Argument.

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
    >>> pb.special.ive(0.5, [1.0, 1e10])
    Tensor([3.449513e-01, 3.989423e-06], dtype=float32)
    """
    return _core.ive(v, x)


def j0(x: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of order 0.

    The value at infinity is 0.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.2.

    Examples
    --------
    >>> pb.special.j0([0.0, 1.0, -5.0])
    Tensor([ 1.        ,  0.7651977 , -0.17759678], dtype=float32)
    """
    return _core.j0(x)


def j1(x: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of order 1.

    The value at infinity is 0.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.2.

    Examples
    --------
    >>> pb.special.j1([0.0, 1.0, -5.0])
    Tensor([0.        , 0.44005057, 0.32757914], dtype=float32)
    """
    return _core.j1(x)


def y0(x: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of order 0.

    The value is -inf at 0 and NaN for a negative `x`.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.3.

    Examples
    --------
    >>> pb.special.y0([0.0, 1.0, 5.0])
    Tensor([       -inf,  0.08825696, -0.30851763], dtype=float32)
    """
    return _core.y0(x)


def y1(x: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of order 1.

    The value is -inf at 0 and NaN for a negative `x`.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.3.

    Examples
    --------
    >>> pb.special.y1([0.0, 1.0, 5.0])
    Tensor([       -inf, -0.7812128 ,  0.14786315], dtype=float32)
    """
    return _core.y1(x)


def jn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the first kind of integer order `n`.

    The gradient with respect to `x` is (jn(n - 1, x) - jn(n + 1, x)) / 2.

    Parameters
    ----------
    n : int or array_like of int
        Order, at most 2^20 in absolute value; beyond, the result is NaN.
    x : array_like, real
        Argument. Its shape broadcasts with that of `n`. Integers and bool become the default
        floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer or an array of integers, or `x` is complex.
    ValueError
        If the shapes do not broadcast.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.2.

    Examples
    --------
    >>> pb.special.jn(2, [0.0, 1.0, 5.0])
    Tensor([0.        , 0.11490349, 0.04656512], dtype=float32)
    """
    return _core.jn(integer_orders(n, "jn"), x)


def yn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the Bessel function of the second kind of integer order `n`.

    The value is -inf at 0 and NaN for a negative `x`.

    Parameters
    ----------
    n : int or array_like of int
        Order, at most 2^20 in absolute value; beyond, the result is NaN.
    x : array_like, real
        Argument. Its shape broadcasts with that of `n`. Integers and bool become the default
        floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `n` is not an integer or an array of integers, or `x` is complex.
    ValueError
        If the shapes do not broadcast.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.2.3.

    Examples
    --------
    >>> pb.special.yn(2, [0.0, 1.0, 5.0])
    Tensor([       -inf, -1.6506826 ,  0.36766288], dtype=float32)
    """
    return _core.yn(integer_orders(n, "yn"), x)
