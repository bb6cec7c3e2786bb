"""Discrete Fourier transforms of real and of Hermitian-symmetric input, with NumPy's names.

See _fourier.py for dtypes, derivatives and cost.
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._transform import Axes, Lengths, Norm, as_complex, half_to_real, points_of_one, real_to_half


@composite
def rfft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Compute the discrete Fourier transform of real numbers along an axis.

    The first n // 2 + 1 elements of `fft`; the others are their mirror image, conjugated. Linear
    and differentiable in `x`.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    n : int, optional
        Number of points, at least 1: the input is cut off or extended by zeros. Default: the size
        of the axis.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by n: the inverse transform, or the forward one; "ortho" divides
        both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with size n // 2 + 1 along the axis; complex64, or complex128 for float64.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no points, or if `norm` is unknown.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.fft.rfft([1.0, 2.0, 3.0, 4.0])
    Tensor([10.+0.j, -2.+2.j, -2.+0.j], dtype=complex64)
    """
    return real_to_half(x, points_of_one(n, "rfft"), [axis], norm, "rfft", "backward")


@composite
def irfft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Compute the inverse of `rfft` along an axis.

    Real numbers from n // 2 + 1 elements of their transform. The imaginary part of the first
    element, and of the last one if n is even, is ignored. Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    n : int, optional
        Number of real points of the result; the input is cut off or extended by zeros to n // 2 + 1
        elements. Default: 2 (m - 1) for m elements.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by n: the inverse transform, or the forward one; "ortho" divides
        both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with size `n` along the axis; float32, or float64 for float64 and complex128.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no points, or if `norm` is unknown.

    Examples
    --------
    >>> pb.fft.irfft([10.0, -2.0 + 2.0j, -2.0])
    Tensor([1., 2., 3., 4.], dtype=float32)
    """
    return half_to_real(x, points_of_one(n, "irfft"), [axis], norm, "irfft", "backward")


@composite
def rfftn(
    x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward"
) -> Tensor:
    """Compute the discrete Fourier transform of real numbers along several axes.

    `rfft` along the last of the axes, then `fft` along the others. Linear and differentiable in
    `x`.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    s : sequence of int, optional
        Number of points along each axis of `axes`: the input is cut off or extended by zeros. -1
        stands for the size of the axis. Default: the sizes of the axes.
    axes : sequence of int, optional
        Axes to transform; negative values count from the last axis, and an axis can be repeated.
        Default: all axes, or the last len(s) if `s` is given.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by the number of points n: the inverse transform, or the forward
        one; "ortho" divides both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes of `s` along `axes`, and n // 2 + 1 along the last of them;
        complex64, or complex128 for float64.

    Raises
    ------
    ValueError
        If there is no axis, if an axis is out of range, if the lengths of `s` and `axes` differ, if
        an axis has no points, or if `norm` is unknown.
    TypeError
        If `x` is complex or `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.rfftn([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return real_to_half(x, s, axes, norm, "rfftn", "backward")


@composite
def irfftn(
    x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward"
) -> Tensor:
    """Compute the inverse of `rfftn` along several axes.

    Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    s : sequence of int, optional
        Number of points of the result along each axis of `axes`. -1 stands for the default: the
        size m of the axis, along the last one 2 (m - 1).
    axes : sequence of int, optional
        Axes to transform; negative values count from the last axis, and an axis can be repeated.
        Default: all axes, or the last len(s) if `s` is given.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by the number of points n: the inverse transform, or the forward
        one; "ortho" divides both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes of `s` along `axes`; float32, or float64 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If there is no axis, if an axis is out of range, if the lengths of `s` and `axes` differ, if
        an axis has no points, or if `norm` is unknown.
    TypeError
        If `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]])
    Tensor([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return half_to_real(x, s, axes, norm, "irfftn", "backward")


@composite
def rfft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Compute the discrete Fourier transform of real numbers along two axes.

    As `rfftn` with another default of `axes`. Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like, real
        Input of rank 2 or higher.
    s : sequence of int, optional
        Number of points along each axis of `axes`: the input is cut off or extended by zeros. -1
        stands for the size of the axis. Default: the sizes of the axes.
    axes : sequence of int, default (-2, -1)
        Axes to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by the number of points n: the inverse transform, or the forward
        one; "ortho" divides both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes of `s` along `axes`, and n // 2 + 1 along the last of them;
        complex64, or complex128 for float64.

    Raises
    ------
    ValueError
        If there is no axis, if an axis is out of range, if the lengths of `s` and `axes` differ, if
        an axis has no points, or if `norm` is unknown.
    TypeError
        If `x` is complex or `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return real_to_half(x, s, axes, norm, "rfft2", "backward")


@composite
def irfft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Compute the inverse of `rfft2` along two axes.

    Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
    s : sequence of int, optional
        Number of points of the result along each axis of `axes`. -1 stands for the default: the
        size m of the axis, along the last one 2 (m - 1).
    axes : sequence of int, default (-2, -1)
        Axes to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by the number of points n: the inverse transform, or the forward
        one; "ortho" divides both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with the sizes of `s` along `axes`; float32, or float64 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If there is no axis, if an axis is out of range, if the lengths of `s` and `axes` differ, if
        an axis has no points, or if `norm` is unknown.
    TypeError
        If `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.irfft2([[10.0, -2.0], [-4.0, 0.0]])
    Tensor([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return half_to_real(x, s, axes, norm, "irfft2", "backward")


@composite
def hfft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Compute the real Fourier transform of hermitian input along an axis.

    The input is hermitian, and its first n // 2 + 1 elements are given. Linear and differentiable
    in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    n : int, optional
        Number of real points of the result; the input is cut off or extended by zeros to n // 2 + 1
        elements. Default: 2 (m - 1) for m elements.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by n: the inverse transform, or the forward one; "ortho" divides
        both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with size `n` along the axis; float32, or float64 for float64 and complex128.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no points, or if `norm` is unknown.

    Examples
    --------
    >>> pb.fft.hfft([1.0, 2.0, 3.0])
    Tensor([ 8., -2.,  0., -2.], dtype=float32)
    """
    x = _core.conj(as_complex(_core.constant(x, who="hfft")))
    return half_to_real(x, points_of_one(n, "hfft"), [axis], norm, "hfft", "forward")


@composite
def ihfft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Compute the inverse of `hfft` along an axis.

    The first n // 2 + 1 elements of the hermitian result. Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like, real
        Input of rank 1 or higher.
    n : int, optional
        Number of points, at least 1: the input is cut off or extended by zeros. Default: the size
        of the axis.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, default "backward"
        Direction that is divided by n: the inverse transform, or the forward one; "ortho" divides
        both by √n.

    Returns
    -------
    Tensor
        Shape of `x` with size n // 2 + 1 along the axis; complex64, or complex128 for float64.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no points, or if `norm` is unknown.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.fft.ihfft([8.0, -2.0, 0.0, -2.0])
    Tensor([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    return _core.conj(real_to_half(x, points_of_one(n, "ihfft"), [axis], norm, "ihfft", "forward"))
