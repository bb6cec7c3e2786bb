"""The Voigt profile with the values of SciPy."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import Any

import numpy as np

from .. import _core
from .._autodiff.callback import callback_operation
from .._autodiff.custom import custom_gradient
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._scipy_values import ScipyFunction, scipy_special

# Beyond this |z|, so many terms of an asymptotic series are as exact as float64.
_FAR = 7.0
_TERMS = 25


def _faddeeva(n: int, z: Any) -> Any:
    """Compute a derivative of the Faddeeva function for arrays with Im z >= 0."""
    before, near = np.zeros_like(z), scipy_special("voigt_profile").wofz(z)
    wave = np.exp(-z.real * z.real)
    earlier = np.zeros_like(wave)
    slope = 2j / math.sqrt(math.pi)
    for k in range(n):  # DLMF, 7.10.3, and of the normal function
        before, near = near, (slope if k == 0 else 0) - 2 * z * near - 2 * k * before
        wave, earlier = -2 * z.real * wave - 2 * k * earlier, wave
    far = np.where(np.abs(z) > _FAR, z, 2 * _FAR)
    ratio, total = 0.5 / (far * far), np.zeros_like(far)
    for k in range(_TERMS, -1, -1):
        # The coefficient of order k is (2k - 1)!! (2k + 1) (2k + 2) ... (2k + n).
        total = math.perm(2 * k + n, n) + (2 * k + 1) * ratio * total
    # The normal function is a part of the function at the real axis only.
    series = 1j / math.sqrt(math.pi) * (-1) ** n * total / far ** (n + 1)
    return np.where(np.abs(z) > _FAR, series + np.where(z.imag == 0, wave, 0.0), near)


def _part(n: int, x: Any, sigma: Any, gamma: Any) -> Any:
    """Compute a derivative by x of the function whose real part is the profile."""
    with np.errstate(all="ignore"):
        scale = np.where(sigma == 0, 1.0, sigma * math.sqrt(2))
        z = (x + 1j * gamma) / scale
        smooth = _faddeeva(n, z) / (math.sqrt(math.pi) * scale ** (n + 1))
        sharp = 1j / math.pi * (-1) ** n * math.factorial(n) / (x + 1j * gamma) ** (n + 1)
        made = np.where(sigma == 0, sharp, smooth)
        return np.where((sigma < 0) | (gamma < 0), complex(math.nan, math.nan), made)


@cache
def _derivative(n: int) -> Any:
    def value(*xs: Any) -> Any:
        dtype = np.dtype("complex128")
        return callback_operation(partial(_part, n), xs, dtype, xs[0].shape, takes_batches=True)

    def tangent(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
        # The profile satisfies the heat equation in x and sigma^2 / 2.
        slope, bend = (_derivative(k)(*primals) for k in (n + 1, n + 2))
        by_x, by_sigma, by_gamma = tangents
        return slope * by_x + primals[1] * bend * by_sigma + 1j * slope * by_gamma

    return custom_gradient(value, jvp=tangent, verify="never")


def _slopes(x: Any, sigma: Any, gamma: Any) -> list[Any]:
    slope, bend = (_derivative(k)(x, sigma, gamma) for k in (1, 2))
    return [_core.real(slope), sigma * _core.real(bend), -_core.imag(slope)]


_voigt = ScipyFunction("voigt_profile", _slopes)


@composite
def voigt_profile(x: TensorLike, sigma: TensorLike, gamma: TensorLike, /) -> Tensor:
    """Compute the Voigt profile, the convolution of a normal and a Cauchy density.

    Values are those of SciPy. Derivatives by all arguments are those of the Faddeeva function.

    Parameters
    ----------
    x : array_like, real
        Argument.
    sigma : array_like, real
        Standard deviation of the normal density, at least 0. For a negative one, and for a negative
        `gamma`, the derivatives are NaN.
    gamma : array_like, real
        Half width of the Cauchy density, at least 0. Shapes broadcast; integers and bool become the
        default floating dtype.

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

    See Also
    --------
    wofz

    References
    ----------
    .. [1] NIST Digital Library of Mathematical Functions (DLMF), 7.19.

    Examples
    --------
    >>> pb.special.voigt_profile([0.0, 1.0, 5.0], 1.0, 0.5)
    Tensor([0.27895546, 0.20017964, 0.00724562], dtype=float32)
    """
    return _voigt(x, sigma, gamma, takes_complex=False)
