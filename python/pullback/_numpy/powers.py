"""Powers and roots, elementwise; `pow` and `square` are in arithmetic.py."""

from __future__ import annotations

from .. import _core
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["cbrt", "float_power", "reciprocal", "rsqrt", "sqrt"]


def cbrt(x: TensorLike, /) -> Tensor:
    """Compute the real cube root, also of a negative number.

    The slope at 0 is infinite.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.cbrt([-8.0, 27.0])
    Tensor([-2.,  3.], dtype=float32)
    """
    return _core.cbrt(x)


def rsqrt(x: TensorLike, /) -> Tensor:
    """Compute the reciprocal square root, 1 / sqrt(x).

    The result is NaN for a negative real `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.rsqrt([4.0, 0.25])
    Tensor([0.5, 2. ], dtype=float32)
    """
    return _core.rsqrt(x)


@composite
def reciprocal(x: TensorLike, /) -> Tensor:
    """Compute 1 / x as a floating or complex number.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    Examples
    --------
    >>> pb.reciprocal([4.0, 0.5])
    Tensor([0.25, 2.  ], dtype=float32)
    """
    return _core.divide(1, x)


@composite
def float_power(x: TensorLike, y: TensorLike) -> Tensor:
    """Raise `x` to the power `y` in float64 or complex128.

    The operands are cast before the power is computed. So integers may have negative exponents, and
    large integer powers keep their digits. Differentiable in both operands, like `pow`.

    Parameters
    ----------
    x : array_like
        Base of any dtype.
    y : array_like
        Exponent of any dtype. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape; complex128 if an operand is complex, else float64.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    pow

    Examples
    --------
    >>> pb.float_power([2, 4], -1)
    Tensor([0.5 , 0.25], dtype=float64)
    """
    base, power = (
        _core.cast(v, "complex128" if v.dtype.kind == "c" else "float64")
        for v in _core.operands([x, y], "float_power")
    )
    return _core.pow(base, power)


def sqrt(x: TensorLike, /) -> Tensor:
    """Compute the square root.

    The result is NaN for a negative real `x`. The gradient at 0 is infinite.

    Parameters
    ----------
    x : array_like
        Input of any shape. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `x`; the floating or complex dtype of `x`, or the default floating dtype.

    See Also
    --------
    rsqrt, cbrt

    Examples
    --------
    >>> pb.sqrt([4.0, 9.0])
    Tensor([2., 3.], dtype=float32)
    """
    return _core.sqrt(x)
