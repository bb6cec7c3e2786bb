"""Discrete Fourier transforms, with NumPy's names and arguments.

Each transform is linear, and its derivative in both modes is a transform of the same kind and cost.
A transform of real numbers costs half of a complex one, and so does its gradient. Integers become
the default floating dtype; float16 and bfloat16 are computed in float32. float32 and complex64 give
results in single precision. The work on many rows, or on a long one, is divided among threads.
"""

from __future__ import annotations

from typing import SupportsIndex

from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from ._transform import Axes, Lengths, Norm, complex_to_complex, points_of_one


@composite
def fft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Compute the discrete Fourier transform along an axis.

    The transform ``y[k] = sum(x[j] * exp(-2j * pi * j * k / n))``. Linear and differentiable in
    `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
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
        Shape of `x` with size `n` along the axis; complex64, or complex128 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no points, or if `norm` is unknown.

    Examples
    --------
    >>> pb.fft.fft([1.0, 2.0, 3.0, 4.0])
    Tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j], dtype=complex64)
    """
    return complex_to_complex(x, points_of_one(n, "fft"), [axis], norm, "fft", False)


@composite
def ifft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """Compute the inverse discrete Fourier transform along an axis.

    The inverse of `fft`, ``x[j] = sum(y[k] * exp(2j * pi * j * k / n)) / n``. Linear and
    differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
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
        Shape of `x` with size `n` along the axis; complex64, or complex128 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no points, or if `norm` is unknown.

    Examples
    --------
    >>> pb.fft.ifft([10.0, -2.0 + 2.0j, -2.0, -2.0 - 2.0j])
    Tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j], dtype=complex64)
    """
    return complex_to_complex(x, points_of_one(n, "ifft"), [axis], norm, "ifft", True)


@composite
def fftn(x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward") -> Tensor:
    """Compute the discrete Fourier transform along several axes.

    Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
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
        Shape of `x` with the sizes of `s` along `axes`; complex64, or complex128 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If an axis is out of range, if the lengths of `s` and `axes` differ, if an axis has no
        points, or if `norm` is unknown.
    TypeError
        If `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.fftn([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return complex_to_complex(x, s, axes, norm, "fftn", False)


@composite
def ifftn(
    x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward"
) -> Tensor:
    """Compute the inverse discrete Fourier transform along several axes.

    The inverse of `fftn`. Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.
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
        Shape of `x` with the sizes of `s` along `axes`; complex64, or complex128 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If an axis is out of range, if the lengths of `s` and `axes` differ, if an axis has no
        points, or if `norm` is unknown.
    TypeError
        If `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]])
    Tensor([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]], dtype=complex64)
    """
    return complex_to_complex(x, s, axes, norm, "ifftn", True)


@composite
def fft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Compute the discrete Fourier transform along two axes.

    As `fftn` with another default of `axes`. Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
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
        Shape of `x` with the sizes of `s` along `axes`; complex64, or complex128 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If an axis is out of range, if the lengths of `s` and `axes` differ, if an axis has no
        points, or if `norm` is unknown.
    TypeError
        If `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.fft2([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return complex_to_complex(x, s, axes, norm, "fft2", False)


@composite
def ifft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """Compute the inverse discrete Fourier transform along two axes.

    The inverse of `fft2`. Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 2 or higher, of any dtype.
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
        Shape of `x` with the sizes of `s` along `axes`; complex64, or complex128 for float64 and
        complex128.

    Raises
    ------
    ValueError
        If an axis is out of range, if the lengths of `s` and `axes` differ, if an axis has no
        points, or if `norm` is unknown.
    TypeError
        If `s` is not a sequence of integers.

    Examples
    --------
    >>> pb.fft.ifft2([[10.0, -2.0], [-4.0, 0.0]])
    Tensor([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]], dtype=complex64)
    """
    return complex_to_complex(x, s, axes, norm, "ifft2", True)
