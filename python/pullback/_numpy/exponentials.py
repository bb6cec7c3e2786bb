"""Exponentials and logarithms, elementwise, and logarithms of sums of exponentials."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "exp",
    "exp2",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "xlog1py",
    "xlogy",
]


def exp(x: TensorLike, /) -> Tensor:
    """Compute e to the power `x`.

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
    >>> pb.exp([0.0, float("-inf")])
    Tensor([1., 0.], dtype=float32)
    """
    return _core.exp(x)


def expm1(x: TensorLike, /) -> Tensor:
    """Compute `exp(x) - 1` without cancellation near 0.

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
    >>> float(pb.expm1(pb.constant(1e-30, "float64")))
    1e-30
    """
    return _core.expm1(x)


def log(x: TensorLike, /) -> Tensor:
    """Compute the natural logarithm.

    The result and its gradient are NaN for a negative real `x`. The result is -inf at 0.

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
    log1p, log2, log10

    Examples
    --------
    >>> pb.log([1.0, 0.0])
    Tensor([  0., -inf], dtype=float32)
    """
    return _core.log(x)


def log1p(x: TensorLike, /) -> Tensor:
    """Compute `log(1 + x)` without cancellation near 0.

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
    >>> float(pb.log1p(pb.constant(1e-30, "float64")))
    1e-30
    """
    return _core.log1p(x)


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
