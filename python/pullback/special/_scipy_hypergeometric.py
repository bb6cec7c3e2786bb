"""Hypergeometric, elliptic, Lambert's W and loggamma functions with the values of SciPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import integer_orders
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction

_hyp0f1: ScipyFunction = ScipyFunction(
    "hyp0f1", lambda v, z: [_hyp0f1.of_float64(v + 1, z) / v], ("v",)
)


def _times(factor: Any, function: ScipyFunction, *arguments: Any) -> Any:
    """Return a product that is 0 if the factor is, where the function may be infinite."""
    return _core.where(factor == 0, 0, factor * function.of_float64(*arguments))


def _not_too_far(a: Any, b: Any, z: Any) -> tuple[Any, Any, Any]:
    """Return arguments with the same result for which SciPy's series ends.

    It does not at some z above 1e10, where all but polynomials overflow.
    """
    if z.dtype.kind == "f":
        z = np.where((z > 1e10) & ((a > 0) | (a != np.floor(a))), 1e10, z)
    return a, b, z


_hyp1f1: ScipyFunction = ScipyFunction(
    "hyp1f1",
    lambda a, b, z: [_times(a / b, _hyp1f1, a + 1, b + 1, z)],
    ("a", "b"),
    arranged=_not_too_far,
)
_hyp2f1: ScipyFunction = ScipyFunction(
    "hyp2f1",
    lambda a, b, c, z: [_times(a * b / c, _hyp2f1, a + 1, b + 1, c + 1, z)],
    ("a", "b", "c"),
)


def _gauss(a: float, b: float, c: float, m: Any) -> Any:
    orders = (_core.constant(order, "float64") for order in (a, b, c))
    return _hyp2f1.of_float64(*orders, m)


def _ellipk_slopes(m: Any) -> list[Any]:
    # K is pi/2 2F1(1/2, 1/2; 1; m), whose slope has no cancellation at 0 (DLMF, 19.5.1).
    far = _core.abs(m) > 0.5
    inside = _core.where(far, m, 0.75)
    rest = _core.where(inside == 1, 0, (1 - inside) * _ellipk.of_float64(inside))
    difference = _ellipe.of_float64(inside) - rest
    slope = difference / (2 * inside * (1 - inside))
    other = _core.where(far, 0.25, m)
    return [_core.where(far, slope, math.pi / 8 * _gauss(1.5, 1.5, 2.0, other))]


def _ellipe_slopes(m: Any) -> list[Any]:
    far = _core.abs(m) > 0.5
    inside = _core.where(far, m, 0.75)
    slope = (_ellipe.of_float64(inside) - _ellipk.of_float64(inside)) / (2 * inside)
    other = _core.where(far, 0.25, m)
    return [_core.where(far, slope, -math.pi / 8 * _gauss(0.5, 1.5, 2.0, other))]


_ellipk: ScipyFunction = ScipyFunction("ellipk", _ellipk_slopes)
_ellipe: ScipyFunction = ScipyFunction("ellipe", _ellipe_slopes)


def _lambert_slopes(k: Any, z: Any) -> list[Any]:
    w = _lambertw.of_float64(k, z)
    return [_core.exp(-w) / (1 + w)]


_lambertw: ScipyFunction = ScipyFunction(
    "lambertw", _lambert_slopes, ("k",), is_complex=True, arranged=lambda k, z: (z, k)
)


def _no_slopes(z: Any) -> list[Any]:
    raise NotImplementedError(
        "loggamma: the second derivative for a complex argument is not implemented"
    )


_complex_digamma: ScipyFunction = ScipyFunction("psi", _no_slopes)


def _loggamma_slopes(z: Any) -> list[Any]:
    return [_complex_digamma.of_float64(z) if z.dtype.kind == "c" else _core.digamma(z)]


_loggamma: ScipyFunction = ScipyFunction("loggamma", _loggamma_slopes)


@composite
def hyp0f1(v: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the confluent hypergeometric limit function 0F1.

    Values are those of SciPy. The derivative is hyp0f1(v + 1, z) / v.

    Parameters
    ----------
    v : array_like, real
        Parameter. It has no derivative.
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
        If a derivative with respect to a parameter is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 16.2.1.

    Examples
    --------
    >>> pb.special.hyp0f1(1.5, [0.5, 1.0, -2.0])
    Tensor([1.3682989 , 1.8134302 , 0.10891981], dtype=float32)
    """
    return _hyp0f1(v, z)


@composite
def hyp1f1(a: TensorLike, b: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute Kummer's confluent hypergeometric function 1F1.

    Values are those of SciPy. The derivative is a / b hyp1f1(a + 1, b + 1, z).

    Parameters
    ----------
    a : array_like, real
        Parameter. It has no derivative.
    b : array_like, real
        Parameter. It has no derivative.
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
        If a derivative with respect to a parameter is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 13.2.2.

    Examples
    --------
    >>> pb.special.hyp1f1(0.5, 1.5, [0.5, 1.0, -2.0])
    Tensor([1.1949576, 1.4626517, 0.598144 ], dtype=float32)
    """
    return _hyp1f1(a, b, z)


@composite
def hyp2f1(a: TensorLike, b: TensorLike, c: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute Gauss's hypergeometric function 2F1.

    Values are those of SciPy. The derivative is a b / c hyp2f1(a + 1, b + 1, c + 1, z).

    Parameters
    ----------
    a : array_like, real
        Parameter. It has no derivative.
    b : array_like, real
        Parameter. It has no derivative.
    c : array_like, real
        Parameter. It has no derivative.
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
        If a derivative with respect to a parameter is requested.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 15.2.1.

    Examples
    --------
    >>> pb.special.hyp2f1(0.5, 1.0, 1.5, [0.5, 0.9, -2.0])
    Tensor([1.2464504, 1.9168108, 0.6755109], dtype=float32)
    """
    return _hyp2f1(a, b, c, z)


@composite
def ellipk(m: TensorLike, /) -> Tensor:
    """Compute the complete elliptic integral of the first kind.

    The argument is the parameter m = k^2, at most 1. Values are those of SciPy. The derivative
    is (E - (1 - m) K) / (2 m (1 - m)), computed without cancellation at 0.

    Parameters
    ----------
    m : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `m`; the floating dtype of `m`, or the default one.

    Raises
    ------
    TypeError
        If an argument is complex.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 19.2.8.

    Examples
    --------
    >>> pb.special.ellipk([0.0, 0.5, -1.0])
    Tensor([1.5707964, 1.8540747, 1.3110287], dtype=float32)
    """
    return _ellipk(m, takes_complex=False)


@composite
def ellipe(m: TensorLike, /) -> Tensor:
    """Compute the complete elliptic integral of the second kind.

    The argument is the parameter m = k^2, at most 1. Values are those of SciPy. The derivative
    is (E - K) / (2 m), computed without cancellation at 0.

    Parameters
    ----------
    m : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `m`; the floating dtype of `m`, or the default one.

    Raises
    ------
    TypeError
        If an argument is complex.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 19.2.8.

    Examples
    --------
    >>> pb.special.ellipe([0.0, 0.5, -1.0])
    Tensor([1.5707964, 1.3506439, 1.9100989], dtype=float32)
    """
    return _ellipe(m, takes_complex=False)


@composite
def lambertw(z: TensorLike, /, k: TensorLike = 0) -> Tensor:
    """Compute the Lambert W function, a solution w of w exp(w) = z.

    Values are those of SciPy; they are complex, also for a real z. The derivative is exp(-w) /
    (1 + w).

    Parameters
    ----------
    z : array_like
        Argument.
    k : array_like of int, optional
        Branch. Default: 0, the principal one.

    Returns
    -------
    Tensor
        The broadcast shape; the complex dtype of the precision of the operands.

    Raises
    ------
    TypeError
        If `k` is not an integer.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 4.13.1.

    Examples
    --------
    >>> pb.special.lambertw([0.0, 1.0, 10.0]).real
    Tensor([0.        , 0.56714326, 1.745528  ], dtype=float32)
    """
    return _lambertw(integer_orders(k, "lambertw"), z)


@composite
def loggamma(z: TensorLike, /) -> Tensor:
    """Compute the principal branch of the logarithm of the gamma function.

    Values are those of SciPy; they are NaN for a negative real z, where the logarithm is
    complex. `gammaln` is the logarithm of the absolute value. A complex z has one derivative,
    a real z all.

    Parameters
    ----------
    z : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `z`; the dtype of `z`, or the default floating one.

    Raises
    ------
    NotImplementedError
        If a second derivative is requested for a complex z.
    ImportError
        If SciPy is not installed.

    See Also
    --------
    gammaln

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 5.4.

    Examples
    --------
    >>> pb.special.loggamma([0.5, 3.0, 100.0])
    Tensor([  0.5723649,   0.6931472, 359.13422  ], dtype=float32)
    """
    return _loggamma(z)
