"""Powers, roots and logarithms beside those of elementwise.py, and their sums and products."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


def exp2(x: TensorLike, /) -> Tensor:
    """2 to the power x.

    >>> pb.exp2([3.0, -1.0])
    Tensor([8. , 0.5], dtype=float32)
    """
    return _core.exp2(x)


def log2(x: TensorLike, /) -> Tensor:
    """The logarithm to base 2; NaN below 0.

    >>> pb.log2([8.0, 0.5])
    Tensor([ 3., -1.], dtype=float32)
    """
    return _core.log2(x)


def log10(x: TensorLike, /) -> Tensor:
    """The logarithm to base 10; NaN below 0.

    >>> pb.log10([1000.0, 0.1])
    Tensor([ 3., -1.], dtype=float32)
    """
    return _core.log10(x)


def cbrt(x: TensorLike, /) -> Tensor:
    """The cube root, that of a negative number too. The slope at 0 is infinite.

    >>> pb.cbrt([-8.0, 27.0])
    Tensor([-2.,  3.], dtype=float32)
    """
    return _core.cbrt(x)


def rsqrt(x: TensorLike, /) -> Tensor:
    """1 / sqrt(x); NaN below 0.

    >>> pb.rsqrt([4.0, 0.25])
    Tensor([0.5, 2. ], dtype=float32)
    """
    return _core.rsqrt(x)


def reciprocal(x: TensorLike, /) -> Tensor:
    """1 / x, always floating.

    >>> pb.reciprocal([4.0, 0.5])
    Tensor([0.25, 2.  ], dtype=float32)
    """
    return _core.divide(1, x)


def float_power(x: TensorLike, y: TensorLike) -> Tensor:
    """`pow` in float64 or complex128, whatever the dtypes: negative powers of integers have a
    value, and large ones their digits.

    >>> pb.float_power([2, 4], -1)
    Tensor([0.5 , 0.25], dtype=float64)
    """
    base, power = (
        _core.cast(v, "complex128" if v.dtype.kind == "c" else "float64")
        for v in _core.operands([x, y], "float_power")
    )
    return _core.pow(base, power)


def logaddexp(x: TensorLike, y: TensorLike) -> Tensor:
    """log(exp(x) + exp(y)), without overflow. Where both are -inf the gradient is 0, where both are
    inf it is shared.

    >>> pb.logaddexp([0.0, 1000.0], [0.0, 0.0])
    Tensor([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    return _core.logaddexp(x, y)


def logaddexp2(x: TensorLike, y: TensorLike) -> Tensor:
    """log2(2**x + 2**y), without overflow.

    >>> pb.logaddexp2([0.0, 1000.0], [0.0, 0.0])
    Tensor([   1., 1000.], dtype=float32)
    """
    return _core.logaddexp2(x, y)


def xlogy(x: TensorLike, y: TensorLike) -> Tensor:
    """x log(y), and 0 where x is 0 unless y is NaN.

    >>> pb.xlogy([0.0, 2.0], [0.0, 1.0])
    Tensor([0., 0.], dtype=float32)
    """
    return _core.xlogy(x, y)


def xlog1py(x: TensorLike, y: TensorLike) -> Tensor:
    """x log(1 + y), and 0 where x is 0 unless y is NaN.

    >>> pb.xlog1py([0.0, 2.0], [-1.0, 0.0])
    Tensor([0., 0.], dtype=float32)
    """
    return _core.xlog1py(x, y)
