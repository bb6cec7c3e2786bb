"""Spherical Bessel functions and spherical harmonics with the values of SciPy."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.checks import integer_orders
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction


def _spherical(name: str, before: float, after: float) -> ScipyFunction:
    """Return a spherical Bessel function; the signs are those of its neighbours in the slope."""

    def slopes(n: Any, z: Any) -> list[Any]:
        # The function of order -1 has the factor 0, and is NaN in SciPy.
        lower = made.of_float64(_core.maximum(n - 1, 0), z)
        upper = made.of_float64(n + 1, z)
        return [(before * n * lower + after * (n + 1) * upper) / (2 * n + 1)]

    made: ScipyFunction = ScipyFunction(name, slopes, ("n",))
    return made


_spherical_jn = _spherical("spherical_jn", 1.0, -1.0)
_spherical_yn = _spherical("spherical_yn", 1.0, -1.0)
_spherical_in = _spherical("spherical_in", 1.0, 1.0)
_spherical_kn = _spherical("spherical_kn", -1.0, -1.0)


def _harmonic_slopes(n: Any, m: Any, theta: Any, phi: Any) -> list[Any]:
    turn = _core.make_complex(_core.cos(phi), _core.sin(phi))
    # Orders beyond n have the factor 0.
    above = _sph_harm_y.of_float64(n, _core.minimum(m + 1, n), theta, phi)
    below = _sph_harm_y.of_float64(n, _core.maximum(m - 1, -n), theta, phi)
    rise = _core.sqrt(_core.maximum((n - m) * (n + m + 1), 0))
    fall = _core.sqrt(_core.maximum((n + m) * (n - m + 1), 0))
    by_theta = (rise * _core.conj(turn) * above - fall * turn * below) * 0.5
    # SciPy's function depends on theta by its cosine.
    by_theta = _core.where(_core.sin(theta) < 0, -by_theta, by_theta)
    return [by_theta, m * 1j * _sph_harm_y.of_float64(n, m, theta, phi)]


_sph_harm_y: ScipyFunction = ScipyFunction(
    "sph_harm_y",
    _harmonic_slopes,
    ("n", "m"),
    is_complex=True,
    arranged=lambda n, m, theta, phi: (n.astype("int64"), m.astype("int64"), theta, phi),
)


@composite
def spherical_jn(n: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the spherical Bessel function of the first kind.

    Values are those of SciPy. The derivative is (n spherical_jn(n - 1, z) - (n + 1)
    spherical_jn(n + 1, z)) / (2n + 1).

    Parameters
    ----------
    n : array_like of int, >= 0
        Order.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

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
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.47.3.

    Examples
    --------
    >>> pb.special.spherical_jn(1, [0.5, 1.0, 5.0])
    Tensor([ 0.16253702,  0.30116868, -0.09508941], dtype=float32)
    """
    return _spherical_jn(integer_orders(n, "spherical_jn"), z)


@composite
def spherical_yn(n: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the spherical Bessel function of the second kind.

    Values are those of SciPy. The derivative is (n spherical_yn(n - 1, z) - (n + 1)
    spherical_yn(n + 1, z)) / (2n + 1).

    Parameters
    ----------
    n : array_like of int, >= 0
        Order.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

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
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.47.4.

    Examples
    --------
    >>> pb.special.spherical_yn(1, [0.5, 1.0, 5.0])
    Tensor([-4.4691815 , -1.3817732 ,  0.18043837], dtype=float32)
    """
    return _spherical_yn(integer_orders(n, "spherical_yn"), z)


@composite
def spherical_in(n: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the modified spherical Bessel function of the first kind.

    Values are those of SciPy. The derivative is (n spherical_in(n - 1, z) + (n + 1)
    spherical_in(n + 1, z)) / (2n + 1).

    Parameters
    ----------
    n : array_like of int, >= 0
        Order.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

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
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.47.7.

    Examples
    --------
    >>> pb.special.spherical_in(1, [0.5, 1.0, 5.0])
    Tensor([ 0.1708707 ,  0.36787945, 11.873861  ], dtype=float32)
    """
    return _spherical_in(integer_orders(n, "spherical_in"), z)


@composite
def spherical_kn(n: TensorLike, z: TensorLike, /) -> Tensor:
    """Compute the modified spherical Bessel function of the second kind.

    Values are those of SciPy. The derivative is -(n spherical_kn(n - 1, z) + (n + 1)
    spherical_kn(n + 1, z)) / (2n + 1).

    Parameters
    ----------
    n : array_like of int, >= 0
        Order.
    z : array_like
        Argument. Shapes broadcast; integers and bool become the default floating dtype.

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
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 10.47.9.

    Examples
    --------
    >>> pb.special.spherical_kn(1, [0.5, 1.0, 5.0])
    Tensor([5.7164168e+00, 1.1557274e+00, 2.5401462e-03], dtype=float32)
    """
    return _spherical_kn(integer_orders(n, "spherical_kn"), z)


@composite
def sph_harm_y(n: TensorLike, m: TensorLike, theta: TensorLike, phi: TensorLike, /) -> Tensor:
    """Compute the spherical harmonics.

    Values are those of SciPy 1.15 and later, with the Condon-Shortley phase. Derivatives are
    combinations of harmonics of the orders m - 1 and m + 1, so they are finite at the poles.

    Parameters
    ----------
    n : array_like of int, >= 0
        Degree.
    m : array_like of int
        Order.
    theta : array_like, real
        Polar angle, in radians. As in SciPy, only its cosine counts outside of [0, pi].
    phi : array_like, real
        Azimuthal angle, in radians. Shapes broadcast; integers and bool become the default
        floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the complex dtype of the precision of the operands.

    Raises
    ------
    TypeError
        If `n` or `m` is not an integer, or an angle is complex.
    ValueError
        If the shapes do not broadcast.
    ImportError
        If SciPy is not installed.

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 14.30.1.

    Examples
    --------
    >>> pb.special.sph_harm_y(1, 0, [0.0, 1.0], 0.5)
    Tensor([0.48860252+0.j, 0.26399305+0.j], dtype=complex64)
    """
    return _sph_harm_y(
        integer_orders(n, "sph_harm_y"),
        integer_orders(m, "sph_harm_y"),
        theta,
        phi,
        takes_complex=False,
    )
