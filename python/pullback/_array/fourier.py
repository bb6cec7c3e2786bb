"""Discrete Fourier transforms, with NumPy's names and arguments.

Each transform is linear, and its derivative in both modes is a transform of the same kind and cost.
A transform of real numbers costs half of a complex one, and so does its gradient. Integers become
the default floating dtype; float16 and bfloat16 are computed in float32. float32 and complex64 give
results in single precision. The work on many rows, or on a long one, is divided among threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import axes_of, choice, integer, integers
from .creation import zeros

Norm = Literal["backward", "ortho", "forward"] | None
Axes = Sequence[SupportsIndex] | None
Lengths = Sequence[SupportsIndex] | None
# Complex numbers whose size in bytes fits in 64 bits.
_MOST = 1 << 56


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
    return _whole(x, _one(n, "fft"), [axis], norm, "fft", False)


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
    return _whole(x, _one(n, "ifft"), [axis], norm, "ifft", True)


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
    return _whole(x, s, axes, norm, "fftn", False)


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
    return _whole(x, s, axes, norm, "ifftn", True)


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
    return _whole(x, s, axes, norm, "fft2", False)


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
    return _whole(x, s, axes, norm, "ifft2", True)


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
    return _half(x, _one(n, "rfft"), [axis], norm, "rfft", "backward")


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
    return _real(x, _one(n, "irfft"), [axis], norm, "irfft", "backward")


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
    return _half(x, s, axes, norm, "rfftn", "backward")


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
    return _real(x, s, axes, norm, "irfftn", "backward")


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
    return _half(x, s, axes, norm, "rfft2", "backward")


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
    return _real(x, s, axes, norm, "irfft2", "backward")


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
    x = _core.conj(_complex(_core.constant(x, who="hfft")))
    return _real(x, _one(n, "hfft"), [axis], norm, "hfft", "forward")


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
    return _core.conj(_half(x, _one(n, "ihfft"), [axis], norm, "ihfft", "forward"))


def _one(n: Any, who: str) -> Any:
    return None if n is None else [points_of(n, who)]


def points_of(n: Any, who: str) -> int:
    count = integer(n, who, "n")
    if count < 1:
        raise ValueError(f"{who}: expected n of at least 1, got {count}")
    return count


def real_or_complex(x: Any, who: str) -> Tensor:
    """Return `x` in a dtype that is transformed directly."""
    x = _core.constant(x, who=who)
    if x.dtype.kind not in "fc":
        return _core.cast(x, _core.default_float())
    # bfloat16 has kind "f" too.
    return _core.cast(x, "float32") if x.dtype.itemsize == 2 else x


def _complex(x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return x
    x = real_or_complex(x, "fft")
    return _core.cast(x, "complex128" if x.dtype.itemsize == 8 else "complex64")


def _plan(
    x: Tensor, s: Any, axes: Any, who: str, from_half: bool = False
) -> tuple[list[int], list[int]]:
    """Return the axes and the number of points along each."""
    rank = len(x.shape)
    points: list[int | None] | None = None
    if s is not None:
        if isinstance(s, (str, bytes)) or not hasattr(s, "__iter__"):
            raise TypeError(f"{who}: s: expected a sequence of integers, got {_core.shown(s)}")
        points = [None if n is None or integer(n, who) == -1 else points_of(n, who) for n in s]
    if axes is None:
        along = list(range(rank if points is None else len(points)))
        if points is not None:
            along = [k - len(along) for k in along]
    else:
        along = integers(axes, who)
    # An axis can be repeated, as in NumPy.
    found = [axes_of(k, rank, who)[0] for k in along]
    if points is None:
        points = [None] * len(found)
    if len(points) != len(found):
        raise ValueError(f"{who}: {len(points)} lengths in s do not go with {len(found)} axes")
    shown = [x.shape[k] if n is None else n for k, n in zip(found, points, strict=True)]
    if from_half and points and points[-1] is None:
        shown[-1] = 2 * (shown[-1] - 1)
    return found, shown


def resized(x: Tensor, axis: int, n: int) -> Tensor:
    """Return the first n elements along an axis, extended by zeros."""
    length = x.shape[axis]
    if n == length:
        return x
    if n < length:
        return x[(slice(None),) * axis + (slice(0, n),)]
    gap = (*x.shape[:axis], n - length, *x.shape[axis + 1 :])
    return _core.concat([x, zeros(gap, x.dtype)], axis)


def factor_of(norm: Any, n: int, inverse: bool, who: str) -> float:
    """Return the factor that gives a transform of n points the norm `norm`."""
    norm = "backward" if norm is None else norm
    choice(norm, ("backward", "ortho", "forward"), who, "norm")
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "backward") == inverse else 1.0


def _made(x: Tensor, axis: int, kind: str, n: int, inverse: bool, norm: Any, who: str) -> Tensor:
    """Transform one axis: kind "c" is complex, "r" real to the first half, "i" the half to real."""
    if n < 1:
        raise ValueError(f"{who}: axis {axis} of shape {x.shape} has no points to transform")
    if n * prod((*x.shape[:axis], *x.shape[axis + 1 :])) > _MOST:
        raise ValueError(f"{who}: {n} points along axis {axis} of shape {x.shape} are too many")
    x = resized(x, axis, n // 2 + 1 if kind == "i" else n)
    backward = kind == "i" or (kind == "c" and inverse)
    out: Tensor = _core.fourier(x, axis, kind, n, backward, factor_of(norm, n, inverse, who), who)
    return out


def _whole(x: Any, s: Any, axes: Any, norm: Any, who: str, inverse: bool) -> Tensor:
    z = _complex(_core.constant(x, who=who))
    along, points = _plan(z, s, axes, who)
    for axis, n in reversed(list(zip(along, points, strict=True))):
        z = _made(z, axis, "c", n, inverse, norm, who)
    return z


def _half(x: Any, s: Any, axes: Any, norm: Any, who: str, divided: str) -> Tensor:
    real = real_or_complex(x, who)
    if real.dtype.kind == "c":
        raise TypeError(
            f"{who}: expected real numbers, got {real.dtype}; take real(x), or {who[1:]}"
        )
    along, points = _plan(real, s, axes, who)
    if not along:
        raise ValueError(f"{who}: at least one axis is needed")
    inverse = divided == "forward"
    z = _made(real, along[-1], "r", points[-1], inverse, norm, who)
    for axis, n in reversed(list(zip(along[:-1], points[:-1], strict=True))):
        z = _made(z, axis, "c", n, inverse, norm, who)
    return z


def _real(x: Any, s: Any, axes: Any, norm: Any, who: str, divided: str) -> Tensor:
    z = _complex(_core.constant(x, who=who))
    along, points = _plan(z, s, axes, who, from_half=True)
    if not along:
        raise ValueError(f"{who}: at least one axis is needed")
    inverse = divided == "backward"
    for axis, n in zip(along[:-1], points[:-1], strict=True):
        z = _made(z, axis, "c", n, inverse, norm, who)
    return _made(z, along[-1], "i", points[-1], inverse, norm, who)
