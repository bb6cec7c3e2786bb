"""Further powers, roots and logarithms, and logarithms of sums; elementwise.py has the others."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "cbrt",
    "exp2",
    "float_power",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "reciprocal",
    "rsqrt",
    "xlog1py",
    "xlogy",
]


def exp2(x: TensorLike, /) -> Tensor:
    """Compute 2 to the power `x`.

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
    >>> pb.exp2([3.0, -1.0])
    Tensor([8. , 0.5], dtype=float32)
    """
    return _core.exp2(x)


def log2(x: TensorLike, /) -> Tensor:
    """Compute the logarithm to base 2.

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
    >>> pb.log2([8.0, 0.5])
    Tensor([ 3., -1.], dtype=float32)
    """
    return _core.log2(x)


def log10(x: TensorLike, /) -> Tensor:
    """Compute the logarithm to base 10.

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
    >>> pb.log10([1000.0, 0.1])
    Tensor([ 3., -1.], dtype=float32)
    """
    return _core.log10(x)


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


def logaddexp(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute log(exp(x) + exp(y)) without overflow.

    Differentiable in both operands. The gradient is 0 where both are -inf, and each receives half
    of it where both are inf.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.logaddexp([0.0, 1000.0], [0.0, 0.0])
    Tensor([6.931472e-01, 1.000000e+03], dtype=float32)
    """
    return _core.logaddexp(x, y)


def logaddexp2(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute log2(2**x + 2**y) without overflow.

    Differentiable in both operands. The gradient is 0 where both are -inf, and each receives half
    of it where both are inf.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.logaddexp2([0.0, 1000.0], [0.0, 0.0])
    Tensor([   1., 1000.], dtype=float32)
    """
    return _core.logaddexp2(x, y)


def xlogy(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute x log(y), with the value 0 where `x` is 0 unless `y` is NaN.

    Differentiable in both operands. Where `x` is 0 the gradient with respect to `y` is 0; where `y`
    is also 0 or negative, both gradients are 0.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.xlogy([0.0, 2.0], [0.0, 1.0])
    Tensor([0., 0.], dtype=float32)
    """
    return _core.xlogy(x, y)


def xlog1py(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute x log(1 + y), with the value 0 where `x` is 0 unless `y` is NaN.

    Differentiable in both operands. Where `x` is 0 the gradient with respect to `y` is 0; where `y`
    is also -1 or less, both gradients are 0.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating dtype of the operands, or the default one.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.xlog1py([0.0, 2.0], [-1.0, 0.0])
    Tensor([0., 0.], dtype=float32)
    """
    return _core.xlog1py(x, y)
