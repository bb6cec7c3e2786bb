"""Frequencies of the elements of `pb.fft` transforms, and their order."""

from __future__ import annotations

from typing import Any, SupportsIndex

from .. import _core
from .._base.checks import axes_of, number
from .._base.composite import composite
from .._core import Tensor
from .._numpy.array_api import placed
from .._numpy.flipping import roll
from .._typing import Device, DType, TensorLike
from ._transform import Axes, points_of


def fftfreq(
    n: SupportsIndex,
    /,
    d: float = 1.0,
    *,
    dtype: DType = None,
    device: Device | None = None,
) -> Tensor:
    """Return the frequencies of the elements of `fft`.

    The frequencies 0, 1, …, -2, -1, divided by ``n * d``.

    Parameters
    ----------
    n : int
        Number of points, at least 1.
    d : float, default 1
        Distance between samples.
    dtype : dtype, optional
        Floating dtype of the result. Default: the default floating dtype.
    device : {"cpu"}, optional
        Accepted for compatibility with the Array API.

    Returns
    -------
    Tensor
        Shape (n,).

    Raises
    ------
    ValueError
        If `n` is below 1, `d` is 0 or `device` is not "cpu".
    TypeError
        If `n` is not an integer, `d` is not a number or `dtype` is not floating.

    Examples
    --------
    >>> pb.fft.fftfreq(4)
    Tensor([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    n = points_of(n, "fftfreq")
    k = _core.arange(0, n, 1, "int64")
    signed = _core.where(_core.less(k, (n + 1) // 2), k, _core.subtract(k, n))
    return _frequencies(signed, n, d, dtype, device, "fftfreq")


def rfftfreq(
    n: SupportsIndex,
    /,
    d: float = 1.0,
    *,
    dtype: DType = None,
    device: Device | None = None,
) -> Tensor:
    """Return the frequencies of the elements of `rfft`.

    The frequencies 0, 1, …, n // 2, divided by ``n * d``.

    Parameters
    ----------
    n : int
        Number of points of the real input, at least 1.
    d : float, default 1
        Distance between samples.
    dtype : dtype, optional
        Floating dtype of the result. Default: the default floating dtype.
    device : {"cpu"}, optional
        Accepted for compatibility with the Array API.

    Returns
    -------
    Tensor
        Shape (n // 2 + 1,).

    Raises
    ------
    ValueError
        If `n` is below 1, `d` is 0 or `device` is not "cpu".
    TypeError
        If `n` is not an integer, `d` is not a number or `dtype` is not floating.

    Examples
    --------
    >>> pb.fft.rfftfreq(4)
    Tensor([0.  , 0.25, 0.5 ], dtype=float32)
    """
    n = points_of(n, "rfftfreq")
    return _frequencies(_core.arange(0, n // 2 + 1, 1, "int64"), n, d, dtype, device, "rfftfreq")


@composite
def fftshift(x: TensorLike, /, axes: SupportsIndex | Axes = None) -> Tensor:
    """Move frequency 0 of a transform to the middle.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axes : int or sequence of int, optional
        Axes to shift; negative values count from the last axis. Default: all axes.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is out of range or given twice.

    Examples
    --------
    >>> pb.fft.fftshift(pb.fft.fftfreq(4))
    Tensor([-0.5 , -0.25,  0.  ,  0.25], dtype=float32)
    """
    return _shifted(x, axes, "fftshift", lambda n: n // 2)


@composite
def ifftshift(x: TensorLike, /, axes: SupportsIndex | Axes = None) -> Tensor:
    """Undo `fftshift`.

    The two functions differ if a size is odd. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
    axes : int or sequence of int, optional
        Axes to shift; negative values count from the last axis. Default: all axes.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    ValueError
        If an axis is out of range or given twice.

    Examples
    --------
    >>> pb.fft.ifftshift([-0.5, -0.25, 0.0, 0.25])
    Tensor([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _shifted(x, axes, "ifftshift", lambda n: -(n // 2))


def _frequencies(k: Tensor, n: int, d: Any, dtype: Any, device: Any, who: str) -> Tensor:
    dtype = _core.default_float() if dtype is None else dtype
    spacing = number(d, who, "d")
    if spacing == 0:
        raise ValueError(f"{who}: expected a number other than 0 for d, got {_core.shown(d)}")
    wide = _core.divide(_core.cast(k, "float64"), n * spacing)
    out = _core.cast(wide, dtype)
    if out.dtype.kind != "f":
        raise TypeError(f"{who}: expected a floating dtype for dtype, got {out.dtype}")
    return placed(out, device, who)


def _shifted(x: Any, axes: Any, who: str, by: Any) -> Tensor:
    x = _core.constant(x, who=who)
    along = list(range(len(x.shape))) if axes is None else axes_of(axes, len(x.shape), who)
    return roll(x, [by(x.shape[k]) for k in along], axis=along) if along else x
