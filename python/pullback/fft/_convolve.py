"""Convolutions: NumPy's `convolve` and `correlate` of two vectors, and SciPy's `fftconvolve`.

A short vector, or one of integers, is convolved by a loop over its elements; integers are exact.
Otherwise the product of two Fourier transforms is used, with errors relative to the largest
elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._base.checks import axes_of, choice
from .._base.composite import composite
from .._core import Tensor
from .._numpy.creation import zeros
from .._numpy.flipping import flip
from .._typing import TensorLike
from ._fourier import fftn, ifftn
from ._real_transforms import irfftn, rfftn
from ._transform import real_or_complex

Mode = Literal["full", "same", "valid"]
_MODES = ("full", "same", "valid")
# Elements of the shorter vector up to which a loop is faster than transforms.
_FEW = 64


@composite
def convolve(a: TensorLike, v: TensorLike, mode: Mode = "full") -> Tensor:
    """Compute the convolution of two vectors.

    The result is ``y[k] = sum(a[j] * v[k - j])``, as in ``numpy.convolve``. Differentiable in `a`
    and `v`. Integers stay integers and are exact. If both vectors have more than 64 elements,
    floats are convolved by Fourier transforms (`pb.fft.fftconvolve`), with errors relative to the
    largest elements.

    Parameters
    ----------
    a, v : array_like
        Vectors of m and n elements, not empty; a scalar counts as one element.
    mode : {"full", "same", "valid"}, default "full"
        Part of the result: all m + n - 1 elements, the middle max(m, n), or those where the vectors
        overlap completely.

    Returns
    -------
    Tensor
        Vector; the dtype to which `a` and `v` promote, but float32 for 16-bit floats that are
        convolved by Fourier transforms.

    Raises
    ------
    ValueError
        If an input is empty or not a vector, or if `mode` is unknown.

    Examples
    --------
    >>> pb.convolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5])
    Tensor([0. , 1. , 2.5, 4. , 1.5], dtype=float32)
    """
    return _of_vectors(*_vectors(a, v, "convolve"), mode, "convolve")


@composite
def correlate(a: TensorLike, v: TensorLike, mode: Mode = "valid") -> Tensor:
    """Compute the cross-correlation of two vectors.

    The result is ``y[k] = sum(a[j + k] * conj(v[j]))``, as in ``numpy.correlate``. Differentiable
    in `a` and `v`. Precision as for `convolve`.

    Parameters
    ----------
    a, v : array_like
        Vectors of m and n elements, not empty; a scalar counts as one element.
    mode : {"valid", "same", "full"}, default "valid"
        Part of the result: the elements where the vectors overlap completely, the middle max(m, n),
        or all m + n - 1.

    Returns
    -------
    Tensor
        Vector; the dtype to which `a` and `v` promote, but float32 for 16-bit floats that are
        convolved by Fourier transforms.

    Raises
    ------
    ValueError
        If an input is empty or not a vector, or if `mode` is unknown.

    Examples
    --------
    >>> pb.correlate([1.0, 2.0, 3.0], [0.0, 1.0, 0.5], mode="same")
    Tensor([2. , 3.5, 3. ], dtype=float32)
    """
    a, v = _vectors(a, v, "correlate")
    if v.dtype.kind == "c":
        v = _core.conj(v)
    return _of_vectors(a, flip(v), mode, "correlate")


@composite
def fftconvolve(
    in1: TensorLike,
    in2: TensorLike,
    /,
    mode: Mode = "full",
    axes: SupportsIndex | Sequence[SupportsIndex] | None = None,
) -> Tensor:
    """Compute a convolution along axes by Fourier transforms.

    As ``scipy.signal.fftconvolve``. Differentiable in both inputs. Errors are relative to the
    largest elements; NaN and infinity spread to all elements that are computed together with them.

    Parameters
    ----------
    in1, in2 : array_like
        Inputs of one rank; axes that are not in `axes` broadcast. Integers become the default
        floating dtype, and 16-bit floats float32.
    mode : {"full", "same", "valid"}, default "full"
        Part of the result along an axis of m and n elements: all m + n - 1, the middle m, or those
        where one input lies inside the other.
    axes : int or sequence of int, optional
        Axes to convolve along; negative values count from the last axis. Default: all axes.

    Returns
    -------
    Tensor
        The sizes of `mode` along `axes`, the broadcast sizes along other axes; the dtype to which
        the inputs promote.

    Raises
    ------
    ValueError
        If the ranks differ, if an input is empty, if other axes do not broadcast, if neither input
        lies inside the other in mode "valid", or if `mode` or `axes` is invalid.

    Examples
    --------
    >>> pb.fft.fftconvolve([1.0, 2.0, 3.0], [0.0, 1.0, 0.5]).round(3)
    Tensor([0. , 1. , 2.5, 4. , 1.5], dtype=float32)
    """
    who = "fftconvolve"
    a, b = real_or_complex(in1, who), real_or_complex(in2, who)
    choice(mode, _MODES, who, "mode")
    rank = len(a.shape)
    if len(b.shape) != rank:
        raise ValueError(
            f"{who}: expected one rank for in1 and in2, got shapes {a.shape} and {b.shape}"
        )
    along = list(range(rank)) if axes is None else axes_of(axes, rank, who)
    for k in set(range(rank)) - set(along):
        if a.shape[k] != b.shape[k] and 1 not in (a.shape[k], b.shape[k]):
            raise ValueError(
                f"{who}: expected sizes that broadcast for axis {k}, which is not convolved, got "
                f"shapes {a.shape} and {b.shape}"
            )
    sizes = [(a.shape[k], b.shape[k]) for k in along]
    if mode == "valid" and any(m < n for m, n in sizes) and any(m > n for m, n in sizes):
        raise ValueError(
            f"{who}: expected in1 or in2 to be the larger one along each axis for mode='valid', "
            f"got shapes {a.shape} and {b.shape}"
        )
    if not along:
        return _core.multiply(a, b)
    if 0 in a.shape or 0 in b.shape:
        raise ValueError(
            f"{who}: expected at least one element in in1 and in2, got shapes {a.shape} and "
            f"{b.shape}"
        )
    out = _product(a, b, along)
    for k, (m, n) in zip(along, sizes, strict=True):
        start = 0 if mode == "full" else (n - 1) // 2 if mode == "same" else min(m, n) - 1
        length = m + n - 1 if mode == "full" else m if mode == "same" else abs(m - n) + 1
        out = out[(slice(None),) * k + (slice(start, start + length),)]
    return out


def _product(a: Tensor, b: Tensor, along: list[int]) -> Tensor:
    """Return the full convolution, followed by zeros."""
    real = a.dtype.kind == b.dtype.kind == "f"
    lengths = [_good_length(a.shape[k] + b.shape[k] - 1) for k in along]
    there, back = (rfftn, irfftn) if real else (fftn, ifftn)
    made = _core.multiply(there(a, lengths, along), there(b, lengths, along))
    return back(made, lengths, along)


def _good_length(n: int) -> int:
    """Return the smallest number of factors 2, 3 and 5 that is not less than `n`."""
    best = 1 << (n - 1).bit_length()
    five = 1
    while five < best:
        three = five
        while three < best:
            rest = -(-n // three)
            best = min(best, three << (rest - 1).bit_length())
            three *= 3
        five *= 5
    return best


def _vectors(a: Any, v: Any, who: str) -> tuple[Tensor, Tensor]:
    out = []
    for name, given in (("a", a), ("v", v)):
        x = _core.constant(given, who=who)
        x = _core.reshape(x, (1,)) if not x.shape else x
        if len(x.shape) != 1:
            raise ValueError(
                f"{who}: expected a vector for {name}, got shape {x.shape}; use fft.fftconvolve"
            )
        if not x.shape[0]:
            raise ValueError(f"{who}: expected at least one element in {name}, got none")
        out.append(x)
    return out[0], out[1]


def _of_vectors(a: Tensor, v: Tensor, mode: Any, who: str) -> Tensor:
    choice(mode, _MODES, who, "mode")
    m, n = a.shape[0], v.shape[0]
    few = min(m, n)
    total = m + n - 1
    # If v is longer, NumPy reverses a correlation.
    turned = who == "correlate" and n > m
    same = few // 2 if turned else (few - 1) // 2
    start, length = {
        "full": (0, total),
        "same": (same, max(m, n)),
        "valid": (few - 1, max(m, n) - few + 1),
    }[mode]
    if few > _FEW and (a.dtype.kind in "fc" or v.dtype.kind in "fc"):
        return _product(real_or_complex(a, who), real_or_complex(v, who), [0])[
            start : start + length
        ]
    return _by_entries(*((a, v) if n <= m else (v, a)), start, length)


def _by_entries(long: Tensor, short: Tensor, start: int, length: int) -> Tensor:
    count = short.shape[0]
    if long.dtype.kind == short.dtype.kind == "b":
        wide = _by_entries(_core.cast(long, "int64"), _core.cast(short, "int64"), start, length)
        return _core.not_equal(wide, 0)
    before, behind = count - 1 - start, start + length - long.shape[0]
    parts = [long]
    if before > 0:
        parts.insert(0, zeros((before,), long.dtype))
    if behind > 0:
        parts.append(zeros((behind,), long.dtype))
    padded = _core.concat(parts, 0) if len(parts) > 1 else long
    first = max(-before, 0)
    out: Any = None
    for j in range(count):
        at = first + count - 1 - j
        term = _core.multiply(padded[at : at + length], short[j])
        out = term if out is None else _core.add(out, term)
    made: Tensor = out
    return made
