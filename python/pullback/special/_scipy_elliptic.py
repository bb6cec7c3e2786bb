"""Incomplete elliptic integrals and Jacobi's elliptic functions with the values of SciPy."""

from __future__ import annotations

import math
from typing import Any

from .. import _core
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction, all_results

# Each step of the duplication reduces the relative distance of the arguments to a quarter or less.
_STEPS = 12


def _carlson(roots: tuple[Any, Any, Any]) -> Any:
    """Compute Carlson's integral R_D of the squares of three numbers, by duplication.

    The first step takes the roots themselves, so that derivatives at a root of 0 are finite. All
    terms are positive (B. C. Carlson, Numer. Algorithms 10, 1995).
    """
    x, y, z = (root * root for root in roots)
    total: Any = 0.0
    for k in range(_STEPS):
        a, b, c = roots if k == 0 else (_core.sqrt(t) for t in (x, y, z))
        shift = a * b + b * c + c * a
        total = total + 0.25**k / (c * (z + shift))
        x, y, z = ((t + shift) * 0.25 for t in (x, y, z))
    # The series around the mean, of the differences that are left.
    mean = (x + y + 3 * z) * 0.2
    a, b = 1 - x / mean, 1 - y / mean
    c = -(a + b) / 3
    second, third = a * b - 6 * c * c, (3 * a * b - 8 * c * c) * c
    series = 1 - 3 / 14 * second + third / 6
    return 3 * total + 0.25**_STEPS * series / (mean * _core.sqrt(mean))


def _parts(phi: Any, m: Any, first: bool) -> Any:
    """Integrate sin(t)^2 / (1 - m sin(t)^2)^p from 0 to phi, with p = 3/2 if `first`, else 1/2."""
    sine, cosine = _core.sin(phi), _core.cos(phi)
    return _turned(phi, m, sine, cosine, _delta(sine, cosine, m), first)


def _turned(phi: Any, m: Any, sine: Any, cosine: Any, delta: Any, first: bool) -> Any:
    """Add the integral over whole half turns to that over the rest of the amplitude."""
    turns = _core.stop_gradient(_core.round(phi / math.pi))
    sign = _core.cos(math.pi * turns)
    near = _integral(sign * sine, sign * cosine, delta, first)
    is_turned = turns != 0
    one, zero = (_core.full(m.shape, value, m.dtype) for value in (1.0, 0.0))
    is_regular = _core.logical_and(is_turned, m != 1)
    whole = _integral(one, zero, _core.sqrt(1 - _core.where(is_regular, m, 0)), first)
    whole = _core.where(_core.logical_and(is_turned, m == 1), math.inf, whole)
    return near + _core.where(is_turned, 2 * turns * whole, 0)


def _integral(sine: Any, cosine: Any, delta: Any, first: bool) -> Any:
    one = _core.full(sine.shape, 1.0, sine.dtype)
    roots = (cosine, one, delta) if first else (cosine, delta, one)
    return sine * sine * sine / 3 * _carlson(roots)


def _delta(sine: Any, cosine: Any, m: Any) -> Any:
    """Compute sqrt(1 - m sin^2), next to m = 1 from the cosine."""
    square = sine * sine
    near = _core.where(m > 0.5, cosine * cosine + (1 - m) * square, 1 - m * square)
    return _core.sqrt(near)


def _first_slopes(phi: Any, m: Any) -> list[Any]:
    by_phi = 1 / _delta(_core.sin(phi), _core.cos(phi), m)
    # For m = 1, the integral is infinite from a quarter turn on.
    is_infinite = _core.logical_and(m == 1, _core.abs(phi) > 0.5 * math.pi)
    by_phi = _core.where(is_infinite, math.nan, by_phi)
    return _inside(m, by_phi, 0.5 * _parts(phi, m, True))


def _second_slopes(phi: Any, m: Any) -> list[Any]:
    by_phi = _delta(_core.sin(phi), _core.cos(phi), m)
    return _inside(m, by_phi, -0.5 * _parts(phi, m, False))


def _inside(m: Any, *slopes: Any) -> list[Any]:
    """Return slopes that are NaN beyond m = 1, where the values of SciPy are NaN."""
    return [_core.where(m > 1, math.nan, slope) for slope in slopes]


_ellipkinc: ScipyFunction = ScipyFunction("ellipkinc", _first_slopes)
_ellipeinc: ScipyFunction = ScipyFunction("ellipeinc", _second_slopes)


def _amplitude(u: Any, m: Any) -> tuple[Any, Any, Any, list[Any]]:
    """Return the three elliptic functions and the slopes of the amplitude by u and m."""
    sn, cn, dn, phi = (f.of_float64(u, m) for f in (_sn, _cn, _dn, _phi))
    return sn, cn, dn, [dn, -0.5 * dn * _turned(phi, m, sn, cn, dn, True)]


def _sn_slopes(u: Any, m: Any) -> list[Any]:
    _, cn, _, turn = _amplitude(u, m)
    return [cn * slope for slope in turn]


def _cn_slopes(u: Any, m: Any) -> list[Any]:
    sn, _, _, turn = _amplitude(u, m)
    return [-sn * slope for slope in turn]


def _dn_slopes(u: Any, m: Any) -> list[Any]:
    sn, cn, dn, (_, by_m) = _amplitude(u, m)
    return [-m * sn * cn, -sn * (0.5 * sn + m * cn * by_m) / dn]


_sn: ScipyFunction = ScipyFunction("ellipj", _sn_slopes, result=0)
_cn: ScipyFunction = ScipyFunction("ellipj", _cn_slopes, result=1)
_dn: ScipyFunction = ScipyFunction("ellipj", _dn_slopes, result=2)
_phi: ScipyFunction = ScipyFunction("ellipj", lambda u, m: _amplitude(u, m)[3], result=3)


@composite
def ellipkinc(phi: TensorLike, m: TensorLike, /) -> Tensor:
    """Compute the incomplete elliptic integral of the first kind.

    It is the integral of (1 - m sin(t)^2)^(-1/2) over t from 0 to `phi`. Values are those of SciPy.
    Derivatives of every order, by `phi` and `m`, are those of Carlson's integral R_D.

    Parameters
    ----------
    phi : array_like, real
        Amplitude, in radians.
    m : array_like, real
        Parameter m = k^2, at most 1. Shapes broadcast; integers and bool become the default
        floating dtype.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 19.2.4.

    Examples
    --------
    >>> pb.special.ellipkinc([0.5, 1.0], 0.5)
    Tensor([0.5104671, 1.0832168], dtype=float32)
    """
    return _ellipkinc(phi, m, takes_complex=False)


@composite
def ellipeinc(phi: TensorLike, m: TensorLike, /) -> Tensor:
    """Compute the incomplete elliptic integral of the second kind.

    It is the integral of (1 - m sin(t)^2)^(1/2) over t from 0 to `phi`. Values are those of SciPy.
    Derivatives of every order, by `phi` and `m`, are those of Carlson's integral R_D.

    Parameters
    ----------
    phi : array_like, real
        Amplitude, in radians.
    m : array_like, real
        Parameter m = k^2, at most 1. Shapes broadcast; integers and bool become the default
        floating dtype.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 19.2.5.

    Examples
    --------
    >>> pb.special.ellipeinc([0.5, 1.0], 0.5)
    Tensor([0.48991096, 0.9273299 ], dtype=float32)
    """
    return _ellipeinc(phi, m, takes_complex=False)


@composite
def ellipj(u: TensorLike, m: TensorLike, /) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Compute the Jacobi elliptic functions.

    Values are those of SciPy. The derivative of the amplitude is dn by `u`, and -dn times the
    derivative of `ellipkinc` by `m`.

    Parameters
    ----------
    u : array_like, real
        Argument.
    m : array_like, real
        Parameter, in [0, 1]. Shapes broadcast; integers and bool become the default floating dtype.

    Returns
    -------
    tuple of Tensor
        The functions sn, cn, dn and the amplitude, of the broadcast shape and the promoted floating
        dtype of the operands, or the default one.

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
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 22.2 and 22.16.

    Examples
    --------
    >>> pb.special.ellipj([0.5, 1.0], 0.5)[0]
    Tensor([0.47075048, 0.8030018 ], dtype=float32)
    """
    sn, cn, dn, phi = all_results((_sn, _cn, _dn, _phi), u, m, takes_complex=False)
    return sn, cn, dn, phi
