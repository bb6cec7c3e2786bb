"""The error function and its relatives, elementwise: floats; integers become the default float."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


def erf(x: TensorLike, /) -> Tensor:
    """The error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x: DLMF 7.2.1.

    Elementwise, for floats; integers become the default float. The gradient is
    2/sqrt(pi) exp(-x^2).

    >>> pb.special.erf([0.0, 0.5, -10.0])
    Tensor([ 0.       ,  0.5204999, -1.       ], dtype=float32)
    """
    return _core.erf(x)


def erfc(x: TensorLike, /) -> Tensor:
    """1 - erf(x), with all its digits where erf(x) is near 1: DLMF 7.2.2.

    >>> pb.special.erfc([0.0, 5.0, -10.0])
    Tensor([1.0000000e+00, 1.5374598e-12, 2.0000000e+00], dtype=float32)
    """
    return _core.erfc(x)


def erfcx(x: TensorLike, /) -> Tensor:
    """exp(x^2) erfc(x), which neither overflows nor vanishes as its factors do: DLMF 7.6.

    Each derivative has a form of its own (DLMF 7.18.3), where 2 x erfcx(x) - 2/sqrt(pi) cancels.

    >>> pb.special.erfcx([0.0, 5.0, 1e10])
    Tensor([1.0000000e+00, 1.1070464e-01, 5.6418960e-11], dtype=float32)
    """
    return _core.erfcx(x)


def erfinv(x: TensorLike, /) -> Tensor:
    """The inverse of `erf`; infinite at -1 and 1, NaN outside.

    The gradient is sqrt(pi)/2 exp(erfinv(x)^2).

    >>> pb.special.erfinv([0.0, 0.5, -1.0])
    Tensor([0.        , 0.47693628,       -inf], dtype=float32)
    """
    return _core.erfinv(x)


def erfcinv(x: TensorLike, /) -> Tensor:
    """The inverse of `erfc`; infinite at 0 and 2, NaN outside.

    The gradient is -sqrt(pi)/2 exp(erfcinv(x)^2).

    >>> pb.special.erfcinv([1.0, 1e-30, 2.0])
    Tensor([0.      , 8.148616,     -inf], dtype=float32)
    """
    return _core.erfcinv(x)


def ndtr(x: TensorLike, /) -> Tensor:
    """The normal distribution function, erfc(-x / sqrt(2)) / 2. Its gradient is the density.

    >>> pb.special.ndtr([0.0, 1.0, -10.0])
    Tensor([5.000000e-01, 8.413448e-01, 7.619853e-24], dtype=float32)
    """
    return _core.ndtr(x)


def ndtri(p: TensorLike, /) -> Tensor:
    """The inverse of `ndtr`; infinite at 0 and 1, NaN outside.

    >>> pb.special.ndtri([0.5, 1e-30, 1.0])
    Tensor([  0.      , -11.464025,        inf], dtype=float32)
    """
    return _core.ndtri(p)


def log_ndtr(x: TensorLike, /) -> Tensor:
    """log(ndtr(x)), as far out as x^2 / 2 is a number.

    The gradient is the density divided by `ndtr`, which is near -x far below 0.

    >>> pb.special.log_ndtr([0.0, -10.0, 10.0])
    Tensor([-6.9314718e-01, -5.3231285e+01, -7.6198528e-24], dtype=float32)
    """
    return _core.log_ndtr(x)
