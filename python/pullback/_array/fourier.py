"""Discrete Fourier transforms, with NumPy's names and arguments: those that the Array API standard
lists, and the ones over two axes.

Each is linear, and so is its derivative in both directions: a transform of the same kind, which
costs as much. That of real numbers costs half of a complex one, and its gradient as well. Integers
become the default float, float16 and bfloat16 are computed in float32; of float32 and complex64 the
results are single. The work on many rows or on a long one is spread over threads.
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
# Complex numbers that 64 bits count in bytes.
_MOST = 1 << 56


def fft(
    x: TensorLike,
    /,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = "backward",
) -> Tensor:
    """The discrete Fourier transform along an axis: y_k = sum_j x_j exp(-2πi j k / n).

    n: how many points; more than there are are zeros, fewer are the first ones. At least 1.
    norm: which direction is divided by n, or "ortho": both by its root.
    Returns complex numbers of as many points.

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
    """The inverse of `fft`: x_j = (1/n) sum_k y_k exp(2πi j k / n).

    >>> pb.fft.ifft([10.0, -2.0 + 2.0j, -2.0, -2.0 - 2.0j])
    Tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j], dtype=complex64)
    """
    return _whole(x, _one(n, "ifft"), [axis], norm, "ifft", True)


def fftn(x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward") -> Tensor:
    """The discrete Fourier transform along several axes.

    s: how many points along each; `axes`: all, or the last ones if only `s` is given.

    >>> pb.fft.fftn([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _whole(x, s, axes, norm, "fftn", False)


def ifftn(
    x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward"
) -> Tensor:
    """The inverse of `fftn`.

    >>> pb.fft.ifftn([[10.0, -2.0], [-4.0, 0.0]])
    Tensor([[1.+0.j, 2.+0.j],
           [3.+0.j, 4.+0.j]], dtype=complex64)
    """
    return _whole(x, s, axes, norm, "ifftn", True)


def fft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """`fftn` along two axes, the last ones.

    >>> pb.fft.fft2([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _whole(x, s, axes, norm, "fft2", False)


def ifft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """The inverse of `fft2`.

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
    """The first n // 2 + 1 entries of the transform of real numbers; the others are their mirror
    image.

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
    """The inverse of `rfft`: real numbers from n // 2 + 1 entries of their transform.

    n: how many real numbers; 2 (m - 1) of m entries if not given. The imaginary part of the first
        entry, and of the last where n is even, counts for nothing.

    >>> pb.fft.irfft([10.0, -2.0 + 2.0j, -2.0])
    Tensor([1., 2., 3., 4.], dtype=float32)
    """
    return _real(x, _one(n, "irfft"), [axis], norm, "irfft", "backward")


def rfftn(
    x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward"
) -> Tensor:
    """The transform of real numbers along several axes, of the last one the first half: `rfft`
    along that, then `fft` along the others.

    >>> pb.fft.rfftn([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _half(x, s, axes, norm, "rfftn", "backward")


def irfftn(
    x: TensorLike, /, s: Lengths = None, axes: Axes = None, norm: Norm = "backward"
) -> Tensor:
    """The inverse of `rfftn`.

    s: how many real numbers along each axis; of the last 2 (m - 1) of m entries if not given.

    >>> pb.fft.irfftn([[10.0, -2.0], [-4.0, 0.0]])
    Tensor([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    return _real(x, s, axes, norm, "irfftn", "backward")


def rfft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """`rfftn` along two axes, the last ones.

    >>> pb.fft.rfft2([[1.0, 2.0], [3.0, 4.0]])
    Tensor([[10.+0.j, -2.+0.j],
           [-4.+0.j,  0.+0.j]], dtype=complex64)
    """
    return _half(x, s, axes, norm, "rfft2", "backward")


def irfft2(
    x: TensorLike, /, s: Lengths = None, axes: Axes = (-2, -1), norm: Norm = "backward"
) -> Tensor:
    """The inverse of `rfft2`.

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
    """The transform of what is hermitian, of which the first n // 2 + 1 entries are given: real.

    n: how many real numbers; 2 (m - 1) of m entries if not given.

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
    """The inverse of `hfft`: the first n // 2 + 1 entries of what is hermitian.

    >>> pb.fft.ihfft([8.0, -2.0, 0.0, -2.0])
    Tensor([1.-0.j, 2.-0.j, 3.-0.j], dtype=complex64)
    """
    return _core.conj(_half(x, _one(n, "ihfft"), [axis], norm, "ihfft", "forward"))


def _one(n: Any, who: str) -> Any:
    return None if n is None else [points_of(n, who)]


def points_of(n: Any, who: str) -> int:
    count = integer(n, who)
    if count < 1:
        raise ValueError(f"{who}: expected at least 1 point, got {count}")
    return count


def real_or_complex(x: Any, who: str) -> Tensor:
    """Numbers that are transformed as they are."""
    x = _core.constant(x, who=who)
    if x.dtype.kind not in "fc":
        return _core.cast(x, _core.default_float())
    # bfloat16 is of kind "f" here as well.
    return _core.cast(x, "float32") if x.dtype.itemsize == 2 else x


def _complex(x: Tensor) -> Tensor:
    if x.dtype.kind == "c":
        return x
    x = real_or_complex(x, "fft")
    return _core.cast(x, "complex128" if x.dtype.itemsize == 8 else "complex64")


def _plan(
    x: Tensor, s: Any, axes: Any, who: str, from_half: bool = False
) -> tuple[list[int], list[int]]:
    """The axes, and how many points along each."""
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
    # An axis may come twice, as NumPy has it.
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
    """The first n entries, with zeros where there are fewer."""
    length = x.shape[axis]
    if n == length:
        return x
    if n < length:
        return x[(slice(None),) * axis + (slice(0, n),)]
    gap = (*x.shape[:axis], n - length, *x.shape[axis + 1 :])
    return _core.concat([x, zeros(gap, x.dtype)], axis)


def factor_of(norm: Any, n: int, inverse: bool, who: str) -> float:
    """What makes a transform of n points one of this norm."""
    norm = "backward" if norm is None else norm
    choice(norm, ("backward", "ortho", "forward"), who, "norm")
    if norm == "ortho":
        return 1 / sqrt(n)
    return 1 / n if (norm == "backward") == inverse else 1.0


def _made(x: Tensor, axis: int, kind: str, n: int, inverse: bool, norm: Any, who: str) -> Tensor:
    """Of kind "c" complex numbers, of "r" the half of real ones, of "i" real ones of a half."""
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
