"""Discrete cosine and sine transforms of types 1 to 4, with SciPy's names.

Each uses one Fourier transform, of real numbers except in type 4. Sources: J. Makhoul, "A fast
cosine transform in one and two dimensions" (1980), for types 2 and 3; G. Strang, "The discrete
cosine transform" (1999), for the symmetry of each type.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any, Literal, SupportsIndex

from .. import _core
from .._base.checks import axes_of, integer
from .._base.composite import composite
from .._core import Tensor
from .._numpy.arranging import moveaxis
from .._numpy.creation import zeros
from .._numpy.flipping import flip
from .._typing import TensorLike
from ._fourier import fft
from ._real_transforms import irfft, rfft
from ._transform import Norm, factor_of, real_or_complex, resized

Type = Literal[1, 2, 3, 4]
_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


@composite
def dct(
    x: TensorLike,
    /,
    type: Type = 2,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = None,
) -> Tensor:
    """Compute the discrete cosine transform along an axis, as ``scipy.fft.dct``.

    Type 2 is ``y[k] = 2 * sum(x[j] * cos(pi * k * (2 * j + 1) / (2 * n)))``; type 3 is its inverse
    up to a factor. Real and imaginary parts are transformed separately. Linear and differentiable
    in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    type : {1, 2, 3, 4}, default 2
        Type of the transform. Type 1 requires at least 2 points.
    n : int, optional
        Number of points, at least 1: the input is cut off or extended by zeros. Default: the size
        of the axis.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" (default) scales `idct` alone, "forward" scales `dct` alone, and "ortho" makes
        both orthogonal.

    Returns
    -------
    Tensor
        Shape of `x` with size `n` along the axis; the floating or complex dtype of `x`, float32 for
        16-bit floats.

    Raises
    ------
    ValueError
        If `type` or `norm` is unknown, if there are too few points, or if `axis` is out of range.

    Examples
    --------
    >>> pb.fft.dct([1.0, 2.0], norm="forward")
    Tensor([ 1.5       , -0.35355338], dtype=float32)
    """
    return _transform(x, type, n, axis, norm, "dct", False)


@composite
def idct(
    x: TensorLike,
    /,
    type: Type = 2,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = None,
) -> Tensor:
    """Compute the inverse of `dct` of the same type along an axis.

    Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    type : {1, 2, 3, 4}, default 2
        Type of the transform to invert. Type 1 requires at least 2 points.
    n : int, optional
        Number of points, at least 1: the input is cut off or extended by zeros. Default: the size
        of the axis.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" (default) scales `idct` alone, "forward" scales `dct` alone, and "ortho" makes
        both orthogonal.

    Returns
    -------
    Tensor
        Shape of `x` with size `n` along the axis; the floating or complex dtype of `x`, float32 for
        16-bit floats.

    Raises
    ------
    ValueError
        If `type` or `norm` is unknown, if there are too few points, or if `axis` is out of range.

    Examples
    --------
    >>> pb.round(pb.fft.idct(pb.fft.dct([1.0, 2.0, 4.0])), 3)
    Tensor([1., 2., 4.], dtype=float32)
    """
    return _transform(x, type, n, axis, norm, "idct", True)


@composite
def dst(
    x: TensorLike,
    /,
    type: Type = 2,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = None,
) -> Tensor:
    """Compute the discrete sine transform along an axis, as ``scipy.fft.dst``.

    Type 2 is ``y[k] = 2 * sum(x[j] * sin(pi * (k + 1) * (2 * j + 1) / (2 * n)))``; type 3 is its
    inverse up to a factor. Real and imaginary parts are transformed separately. Linear and
    differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    type : {1, 2, 3, 4}, default 2
        Type of the transform.
    n : int, optional
        Number of points, at least 1: the input is cut off or extended by zeros. Default: the size
        of the axis.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" (default) scales `idst` alone, "forward" scales `dst` alone, and "ortho" makes
        both orthogonal.

    Returns
    -------
    Tensor
        Shape of `x` with size `n` along the axis; the floating or complex dtype of `x`, float32 for
        16-bit floats.

    Raises
    ------
    ValueError
        If `type` or `norm` is unknown, if there are too few points, or if `axis` is out of range.

    Examples
    --------
    >>> pb.fft.dst([1.0, 2.0], type=1)
    Tensor([ 5.1961527, -1.7320509], dtype=float32)
    """
    return _transform(x, type, n, axis, norm, "dst", False)


@composite
def idst(
    x: TensorLike,
    /,
    type: Type = 2,
    n: SupportsIndex | None = None,
    axis: SupportsIndex = -1,
    norm: Norm = None,
) -> Tensor:
    """Compute the inverse of `dst` of the same type along an axis.

    Linear and differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.
    type : {1, 2, 3, 4}, default 2
        Type of the transform to invert.
    n : int, optional
        Number of points, at least 1: the input is cut off or extended by zeros. Default: the size
        of the axis.
    axis : int, default -1
        Axis to transform; negative values count from the last axis.
    norm : {"backward", "ortho", "forward"}, optional
        "backward" (default) scales `idst` alone, "forward" scales `dst` alone, and "ortho" makes
        both orthogonal.

    Returns
    -------
    Tensor
        Shape of `x` with size `n` along the axis; the floating or complex dtype of `x`, float32 for
        16-bit floats.

    Raises
    ------
    ValueError
        If `type` or `norm` is unknown, if there are too few points, or if `axis` is out of range.

    Examples
    --------
    >>> pb.round(pb.fft.idst(pb.fft.dst([1.0, 2.0, 4.0])), 3)
    Tensor([1., 2., 4.], dtype=float32)
    """
    return _transform(x, type, n, axis, norm, "idst", True)


def _transform(x: Any, kind: Any, n: Any, axis: Any, norm: Any, who: str, inverse: bool) -> Tensor:
    x = real_or_complex(x, who)
    if not isinstance(kind, int) or kind not in _INVERSE:
        raise ValueError(f"{who}: type must be one of 1, 2, 3, 4; got {_core.shown(kind)}")
    k = axes_of(integer(axis, who, "axis"), len(x.shape), who)[0]
    n = x.shape[k] if n is None else integer(n, who, "n")
    sine = who.endswith("dst")
    least = 2 if kind == 1 and not sine else 1
    if n < least:
        raise ValueError(f"{who}: expected at least {least} points for type={kind}, got {n}")
    x = moveaxis(resized(x, k, n), k, -1)
    kind = _INVERSE[kind] if inverse else kind
    whole = 2 * (n + (0 if kind != 1 else 1 if sine else -1))  # the period
    factor = factor_of(norm, whole, inverse, who)
    if x.dtype.kind == "c":
        parts = (_core.real(x), _core.imag(x))
        x = _core.make_complex(
            *(_of_reals(p, kind, n, sine, norm == "ortho", factor) for p in parts)
        )
    else:
        x = _of_reals(x, kind, n, sine, norm == "ortho", factor)
    return moveaxis(x, -1, k)


def _of_reals(x: Tensor, kind: int, n: int, sine: bool, ortho: bool, factor: float) -> Tensor:
    # In an orthogonal transform the elements at the points of symmetry have a factor of their own.
    ends = [0, n - 1] if kind == 1 else [n - 1] if sine else [0]
    ends = ends if kind != 4 and ortho and not (sine and kind == 1) else []
    if kind in (1, 3):
        x = _scaled(x, ends, sqrt(2), 1.0)
    if kind == 1:
        out = _odd(x) if sine else _even(x)
    elif sine and kind == 2:
        out = flip(_cosine(_alternating(x, n), kind, n), axis=-1)
    elif sine:
        out = _alternating(_cosine(flip(x, axis=-1), kind, n), n)
    else:
        out = _cosine(x, kind, n)
    return _scaled(out, [] if kind == 3 else ends, factor * sqrt(0.5), factor)


def _scaled(x: Tensor, ends: list[int], at_ends: float, elsewhere: float) -> Tensor:
    if not ends:
        return x if elsewhere == 1 else _core.multiply(x, elsewhere)
    k = _core.arange(0, x.shape[-1], 1, "int64")
    is_end = _core.logical_or(_core.equal(k, ends[0]), _core.equal(k, ends[-1]))
    wide = [_core.cast(number, "float64") for number in (at_ends, elsewhere)]
    return _core.multiply(x, _core.cast(_core.where(is_end, *wide), x.dtype))


def _alternating(x: Tensor, n: int) -> Tensor:
    sign = _core.subtract(1, _core.multiply(2, _core.remainder(_core.arange(0, n, 1, "int64"), 2)))
    return _core.multiply(x, _core.cast(sign, x.dtype))


def _even(x: Tensor) -> Tensor:
    return _core.real(rfft(_core.concat([x, flip(x[..., 1:-1], axis=-1)], -1)))


def _odd(x: Tensor) -> Tensor:
    gap = zeros((*x.shape[:-1], 1), x.dtype)
    folded = _core.concat([gap, x, gap, _core.negative(flip(x, axis=-1))], -1)
    return _core.negative(_core.imag(rfft(folded))[..., 1:-1])


def _turns(count: int, step: float, start: float, like: Tensor) -> Tensor:
    """Return exp(i (start + k step)) for k = 0, 1, …, in the precision of `like`."""
    k = _core.cast(_core.arange(0, count, 1, "int64"), "float64")
    angle = _core.add(_core.multiply(k, step), start)
    return _core.make_complex(
        _core.cast(_core.cos(angle), like.dtype), _core.cast(_core.sin(angle), like.dtype)
    )


def _woven(first: Tensor, second: Tensor) -> Tensor:
    """Interleave the elements of both; the first one can have one element more."""
    count = second.shape[-1]
    both = _core.stack([first[..., :count], second], -1)
    out = _core.reshape(both, (*second.shape[:-1], 2 * count))
    return out if first.shape[-1] == count else _core.concat([out, first[..., count:]], -1)


def _cosine(x: Tensor, kind: int, n: int) -> Tensor:
    h = n // 2
    if kind == 2:
        folded = _core.concat([x[..., ::2], flip(x[..., 1::2], axis=-1)], -1)
        made = _core.multiply(rfft(folded), _turns(h + 1, -pi / (2 * n), 0, x))
        rest = _core.imag(made)[..., 1 : (n + 1) // 2]
        cosines = [_core.real(made), _core.negative(flip(rest, axis=-1))]
        return _core.multiply(_core.concat(cosines, -1), 2.0)
    if kind == 3:
        behind = _core.concat([zeros((*x.shape[:-1], 1), x.dtype), flip(x[..., 1:], axis=-1)], -1)
        pairs = _core.make_complex(x[..., : h + 1], _core.negative(behind[..., : h + 1]))
        turned = _core.multiply(pairs, _turns(h + 1, pi / (2 * n), 0, x))
        made = irfft(turned, n, norm="forward")
        middle = (n + 1) // 2
        return _woven(made[..., :middle], flip(made[..., middle:], axis=-1))
    if n % 2:
        turned = _core.multiply(x, _turns(n, -pi / (2 * n), 0, x))
        made = fft(turned, 2 * n)[..., :n]
        turned = _core.multiply(made, _turns(n, -pi / (2 * n), -pi / (4 * n), x))
        return _core.multiply(_core.real(turned), 2.0)
    pairs = _core.make_complex(x[..., ::2], flip(x, axis=-1)[..., ::2])
    made = fft(_core.multiply(pairs, _turns(h, -pi / n, -pi / (4 * n), x)))
    made = _core.multiply(made, _turns(h, -pi / n, 0, x))
    ends = _core.negative(flip(_core.imag(made), axis=-1))
    return _core.multiply(_woven(_core.real(made), ends), 2.0)
