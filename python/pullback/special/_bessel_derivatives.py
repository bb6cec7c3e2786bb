"""Derivatives of Bessel functions by the argument, with the values of SciPy."""

from __future__ import annotations

from functools import cache
from typing import Any

from .._base.checks import integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction


def _order(name: str, n: Any) -> ScipyFunction:
    n = integer(n, name, "n")
    if n < 0:
        raise ValueError(f"{name}: expected n >= 0, got {n}")
    return _function(name, n)


@cache
def _function(name: str, n: int) -> ScipyFunction:
    return ScipyFunction(
        name,
        lambda v, z: [_function(name, n + 1).of_float64(v, z)],
        ("v",),
        arranged=lambda v, z: (v, z, n),
    )


@composite
def jvp(v: TensorLike, z: TensorLike, n: int = 1) -> Tensor:
    """Compute a derivative of the Bessel function of the first kind.

    Values are those of SciPy: sums of `jv` of neighbouring orders.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.
    n : int, optional
        Order of the derivative, at least 0. Default: 1.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is negative, or the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.6.7.

    Examples
    --------
    >>> pb.special.jvp(1, [0.5, 2.0])
    Tensor([ 0.45393288, -0.06447162], dtype=float32)
    """
    return _order("jvp", n)(v, z)


@composite
def yvp(v: TensorLike, z: TensorLike, n: int = 1) -> Tensor:
    """Compute a derivative of the Bessel function of the second kind.

    Values are those of SciPy: sums of `yv` of neighbouring orders.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.
    n : int, optional
        Order of the derivative, at least 0. Default: 1.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is negative, or the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.6.7.

    Examples
    --------
    >>> pb.special.yvp(1, [0.5, 2.0])
    Tensor([2.498426 , 0.5638919], dtype=float32)
    """
    return _order("yvp", n)(v, z)


@composite
def ivp(v: TensorLike, z: TensorLike, n: int = 1) -> Tensor:
    """Compute a derivative of the modified Bessel function of the first kind.

    Values are those of SciPy: sums of `iv` of neighbouring orders.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.
    n : int, optional
        Order of the derivative, at least 0. Default: 1.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is negative, or the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.29.5.

    Examples
    --------
    >>> pb.special.ivp(1, [0.5, 2.0])
    Tensor([0.54769474, 1.4842669 ], dtype=float32)
    """
    return _order("ivp", n)(v, z)


@composite
def kvp(v: TensorLike, z: TensorLike, n: int = 1) -> Tensor:
    """Compute a derivative of the modified Bessel function of the second kind.

    Values are those of SciPy: sums of `kv` of neighbouring orders.

    Parameters
    ----------
    v : array_like, real
        Order. It has no derivative.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.
    n : int, optional
        Order of the derivative, at least 0. Default: 1.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.
        Complex for complex arguments.

    Raises
    ------
    TypeError
        If `n` is not an integer.
    ValueError
        If `n` is negative, or the shapes do not broadcast.
    NotImplementedError
        If a derivative with respect to v is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.29.5.

    Examples
    --------
    >>> pb.special.kvp(1, [0.5, 2.0])
    Tensor([-4.2373013 , -0.18382682], dtype=float32)
    """
    return _order("kvp", n)(v, z)
