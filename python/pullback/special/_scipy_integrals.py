"""Exponential, trigonometric and error integrals with the values of SciPy."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.checks import integer_orders
from .._base.composite import composite
from .._base.domains import nan_unless
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction, all_results

# Beyond this |z|, 25 terms of an asymptotic series are as exact as float64.
_FAR = 7.0
_TERMS = 25
# Below this |z|, the power series of sin(z) / z has no large terms; the next term is 2e-22.
_NEAR = 3.0
_NEAR_TERMS = 15


def _asymptotic(z: Any) -> Any:
    """Return the sum of (2k - 1)!! / (2 z^2)^k for k >= 1, for a large z."""
    ratio = 0.5 / (z * z)
    total = _core.full(z.shape, 1.0, z.dtype)
    for k in range(_TERMS, 1, -1):
        total = 1 + (2 * k - 1) * ratio * total
    return ratio * total


def _far(z: Any) -> tuple[Any, Any]:
    """Return the condition for the series, and arguments at which its terms are finite."""
    is_far = _core.abs(z) > _FAR
    return is_far, _core.where(is_far, z, 2 * _FAR)


def _dawson_slopes(z: Any) -> list[Any]:
    near = 1 - 2 * z * _dawsn.of_float64(z)
    is_far, large = _far(z)
    if z.dtype.kind != "c":
        return [_core.where(is_far, -_asymptotic(large), near)]
    # Nearer to the imaginary axis, exp(-z^2) is large, and nothing cancels. Else it is a small part
    # of the function, with a sign that changes at the real axis (DLMF, 7.12).
    is_far = _core.logical_and(is_far, _core.abs(_core.imag(z)) < _core.abs(_core.real(z)))
    large = _core.where(is_far, z, 2 * _FAR)
    waves = _core.sign(_core.imag(large)) * math.sqrt(math.pi) * large * _core.exp(-large * large)
    return [_core.where(is_far, -_asymptotic(large) - 1j * waves, near)]


def _faddeeva_slopes(z: Any) -> list[Any]:
    z = _core.cast(z, "complex128")
    factor = 2j / math.sqrt(math.pi)
    near = factor - 2 * z * _wofz.of_float64(z)
    is_far, large = _far(z)
    # exp(-z^2) is not a part of the series; its factor changes at the real axis (DLMF, 7.12).
    below = _core.imag(large) <= 0  # above, its factor is 0 and it may be infinite
    inside = _core.where(below, large, 0)
    factors = _core.where(below, 1 - _core.sign(_core.imag(large)), 0)
    waves = factors * _core.exp(-inside * inside)
    return [_core.where(is_far, -factor * _asymptotic(large) - 2 * large * waves, near)]


def _owen_slopes(h: Any, a: Any) -> list[Any]:
    density = _core.exp(-0.5 * h * h)
    by_h = -density * _core.erf(a * h / math.sqrt(2)) / (2 * math.sqrt(2 * math.pi))
    by_a = _core.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a))
    return [by_h, by_a]


def _expn_slopes(n: Any, x: Any) -> list[Any]:
    # SciPy's function of order -1 is NaN: exp(-x) (1 + x) / x^2.
    lowest = _core.exp(-x) * (1 + x) / (x * x)
    return [-_core.where(n < 1, lowest, _expn.of_float64(_core.maximum(n - 1, 0), x))]


def _over(z: Any, function: Any, sign: int) -> Any:
    """Return sin(z) / z for sign -1 and sinh(z) / z for sign 1, with derivatives of every order.

    Near 0 it is the power series, whose derivatives do not cancel; at the real infinities, the sine
    gives 0.
    """
    is_near = _core.abs(z) < _NEAR
    square = _core.where(is_near, z, 0) ** 2
    near = _core.full(z.shape, 1.0, z.dtype)
    for k in range(_NEAR_TERMS, 0, -1):
        near = 1 + sign * square * near / (2 * k * (2 * k + 1))
    ends = sign < 0 and z.dtype.kind != "c"
    regular = _core.logical_not(_core.logical_or(is_near, _core.isinf(z) if ends else False))
    divisor = _core.where(regular, z, _NEAR)
    far = _core.where(regular, function(divisor) / divisor, 0)
    return _core.where(is_near, near, far)


def _sine_over(z: Any) -> Any:
    return _over(z, _core.sin, -1)


def _hyperbolic_sine_over(z: Any) -> Any:
    return _over(z, _core.sinh, 1)


def _exp1_slope(z: Any) -> Any:
    slope = -_core.exp(-z) / z
    # On the real line, the function is defined for z >= 0.
    return slope if z.dtype.kind == "c" else nan_unless(_core.greater_equal(z, 0), slope)


_expi: ScipyFunction = ScipyFunction("expi", lambda z: [_core.exp(z) / z])
_exp1: ScipyFunction = ScipyFunction("exp1", lambda z: [_exp1_slope(z)])
_expn: ScipyFunction = ScipyFunction("expn", _expn_slopes, ("n",))
_si = ScipyFunction("sici", lambda z: [_sine_over(z)], result=0)
_ci = ScipyFunction("sici", lambda z: [_core.cos(z) / z], result=1)
_shi = ScipyFunction("shichi", lambda z: [_hyperbolic_sine_over(z)], result=0)
_chi = ScipyFunction("shichi", lambda z: [_core.cosh(z) / z], result=1)
_fresnel_s = ScipyFunction("fresnel", lambda z: [_core.sin(0.5 * math.pi * (z * z))], result=0)
_fresnel_c = ScipyFunction("fresnel", lambda z: [_core.cos(0.5 * math.pi * (z * z))], result=1)
_dawsn: ScipyFunction = ScipyFunction("dawsn", _dawson_slopes)
_erfi: ScipyFunction = ScipyFunction("erfi", lambda z: [2 / math.sqrt(math.pi) * _core.exp(z * z)])
_wofz: ScipyFunction = ScipyFunction("wofz", _faddeeva_slopes, is_complex=True)
_owens_t: ScipyFunction = ScipyFunction("owens_t", _owen_slopes)


@composite
def expi(z: TensorLike, /) -> Tensor:
    """Compute the exponential integral Ei.

    Values are those of SciPy. The derivative is exp(z) / z.

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
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 6.2.5.

    Examples
    --------
    >>> pb.special.expi([-1.0, 0.5, 2.0])
    Tensor([-0.21938394,  0.4542199 ,  4.954234  ], dtype=float32)
    """
    return _expi(z)


@composite
def exp1(z: TensorLike, /) -> Tensor:
    """Compute the exponential integral E1.

    Values are those of SciPy. The derivative is -exp(-z) / z.

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
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 6.2.1.

    Examples
    --------
    >>> pb.special.exp1([0.5, 1.0, 2.0])
    Tensor([0.5597736 , 0.21938394, 0.04890051], dtype=float32)
    """
    return _exp1(z)


@composite
def expn(n: TensorLike, x: TensorLike, /) -> Tensor:
    """Compute the generalized exponential integral.

    Values are those of SciPy. The derivative is -expn(n - 1, x).

    Parameters
    ----------
    n : array_like of int, >= 0
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
        If `n` is not an integer or `x` is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 8.19.3.

    Examples
    --------
    >>> pb.special.expn(2, [0.0, 1.0, 2.0])
    Tensor([1.        , 0.14849551, 0.03753426], dtype=float32)
    """
    return _expn(integer_orders(n, "expn"), x, takes_complex=False)


@composite
def sici(z: TensorLike, /) -> tuple[Tensor, Tensor]:
    """Compute the sine and cosine integrals.

    Values are those of SciPy. The derivatives are sin(z) / z and cos(z) / z.

    Parameters
    ----------
    z : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    tuple of Tensor
        Both integrals. Shape of `z`; the dtype of `z`, or the default floating one.

    Raises
    ------
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 6.2.

    Examples
    --------
    >>> pb.special.sici([0.5, 1.0])[0]
    Tensor([0.4931074 , 0.94608307], dtype=float32)
    """
    sine, cosine = all_results((_si, _ci), z)
    return sine, cosine


@composite
def shichi(z: TensorLike, /) -> tuple[Tensor, Tensor]:
    """Compute the hyperbolic sine and cosine integrals.

    Values are those of SciPy. The derivatives are sinh(z) / z and cosh(z) / z.

    Parameters
    ----------
    z : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    tuple of Tensor
        Both integrals. Shape of `z`; the dtype of `z`, or the default floating one.

    Raises
    ------
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 6.2.

    Examples
    --------
    >>> pb.special.shichi([0.5, 1.0])[0]
    Tensor([0.50699675, 1.0572509 ], dtype=float32)
    """
    sine, cosine = all_results((_shi, _chi), z)
    return sine, cosine


@composite
def fresnel(z: TensorLike, /) -> tuple[Tensor, Tensor]:
    """Compute the Fresnel integrals.

    Values are those of SciPy. The derivatives are sin(pi z^2 / 2) and cos(pi z^2 / 2).

    Parameters
    ----------
    z : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    tuple of Tensor
        S and C. Shape of `z`; the dtype of `z`, or the default floating one.

    Raises
    ------
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.2.

    Examples
    --------
    >>> pb.special.fresnel([0.5, 1.0])[0]
    Tensor([0.06473243, 0.43825915], dtype=float32)
    """
    sine, cosine = all_results((_fresnel_s, _fresnel_c), z)
    return sine, cosine


@composite
def dawsn(z: TensorLike, /) -> Tensor:
    """Compute Dawson's integral.

    Values are those of SciPy. The derivative is 1 - 2 z dawsn(z), and for large real z its
    asymptotic series, since the difference cancels.

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
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.2.5.

    Examples
    --------
    >>> pb.special.dawsn([0.5, 1.0, 1e10])
    Tensor([4.244364e-01, 5.380795e-01, 5.000000e-11], dtype=float32)
    """
    return _dawsn(z)


@composite
def erfi(z: TensorLike, /) -> Tensor:
    """Compute the imaginary error function, -i erf(i z).

    Values are those of SciPy. The derivative is 2 exp(z^2) / sqrt(pi).

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
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.2.1.

    Examples
    --------
    >>> pb.special.erfi([0.0, 0.5, 1.0])
    Tensor([0.       , 0.6149521, 1.6504258], dtype=float32)
    """
    return _erfi(z)


@composite
def wofz(z: TensorLike, /) -> Tensor:
    """Compute the Faddeeva function, exp(-z^2) erfc(-i z).

    Values are those of SciPy. The derivative is 2i / sqrt(pi) - 2 z wofz(z), and for large |z|
    its asymptotic series, since the difference cancels.

    Parameters
    ----------
    z : array_like
        Input of any shape.

    Returns
    -------
    Tensor
        Shape of `z`; the complex dtype of the precision of `z`.

    Raises
    ------
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.2.3.

    Examples
    --------
    >>> pb.special.wofz([0.0, 1.0])
    Tensor([1.        +0.j       , 0.36787945+0.6071577j], dtype=complex64)
    """
    return _wofz(z)


@composite
def owens_t(h: TensorLike, a: TensorLike, /) -> Tensor:
    """Compute Owen's T function.

    It is the probability of X > h and 0 < Y < a X for independent standard normal X and Y.
    Values are those of SciPy; both derivatives are elementary.

    Parameters
    ----------
    h : array_like, real
        First argument.
    a : array_like, real
        Second argument. Shapes broadcast; integers and bool become the default floating dtype.

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

    References
    ----------
    .. [1] D. B. Owen, Tables for computing bivariate normal probabilities, 1956.

    Examples
    --------
    >>> pb.special.owens_t(1.0, [0.5, 1.0])
    Tensor([0.04306469, 0.06674188], dtype=float32)
    """
    return _owens_t(h, a, takes_complex=False)
