"""Arithmetic, elementwise: sums, products, quotients, remainders, powers, signs.

The functions accept tensors, variables, NumPy arrays, nested lists and numbers, and broadcast like
NumPy; shapes that do not broadcast raise a ValueError that names them. Dtypes are promoted as in
NumPy, with two rules of this library: a Python number takes the dtype of the array beside it, and
an integer array beside a floating one takes the floating dtype. Functions that need floating-point
numbers convert integers to the default dtype. A dtype that an operation does not support raises a
TypeError. Evaluation is lazy: a result is computed when its value is read.

Formulas and derivatives are in cpp/graph/elementwise.def, one row each. At a kink the gradient is
the subgradient of least norm: `abs`, `relu` and `sign` have the gradient 0 at 0, and ties of
`maximum` and `minimum` share it equally.
"""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "abs",
    "add",
    "divide",
    "floor_divide",
    "multiply",
    "negative",
    "positive",
    "pow",
    "remainder",
    "sign",
    "square",
    "subtract",
]


def add(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the sum `x + y`.

    Differentiable in both operands.

    Parameters
    ----------
    x, y : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.add([1.0, 2.0], 3)
    Tensor([4., 5.], dtype=float32)
    """
    return _core.add(x, y)


def subtract(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the difference `x - y`.

    Differentiable in both operands.

    Parameters
    ----------
    x, y : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.subtract([1.0, 2.0], 3)
    Tensor([-2., -1.], dtype=float32)
    """
    return _core.subtract(x, y)


def multiply(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the product `x * y`.

    Differentiable in both operands.

    Parameters
    ----------
    x, y : array_like
        Operands of numeric dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.multiply([1.0, 2.0], [[1.0], [10.0]])
    Tensor([[ 1.,  2.],
            [10., 20.]], dtype=float32)
    """
    return _core.multiply(x, y)


def divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the quotient `x / y` as floating or complex numbers.

    Differentiable in both operands. Integers are divided as floating-point numbers.

    Parameters
    ----------
    x, y : array_like
        Operands whose shapes broadcast. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        The broadcast shape; the promoted floating or complex dtype of the operands, or the default
        floating dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.divide([7, 8], 2)
    Tensor([3.5, 4. ], dtype=float32)
    """
    return _core.divide(x, y)


def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the quotient `x // y`, rounded towards minus infinity.

    The gradient is 0 in both operands.

    Parameters
    ----------
    x, y : array_like, real
        Operands of integer or floating dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.
    ZeroDivisionError
        If an integer is divided by 0. It is raised when the result is computed.

    See Also
    --------
    remainder, divmod

    Examples
    --------
    >>> pb.floor_divide([-7, 7], 2)
    Tensor([-4,  3], dtype=int64)
    """
    return _core.floor_divide(x, y)


def remainder(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the remainder `x - y * floor(x / y)`, which has the sign of `y`.

    Differentiable in both operands: the slopes are 1 and `-floor(x / y)`.

    Parameters
    ----------
    x, y : array_like, real
        Operands of integer or floating dtypes. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.
    ZeroDivisionError
        If an integer is divided by 0. It is raised when the result is computed.

    See Also
    --------
    fmod, floor_divide

    Examples
    --------
    >>> pb.remainder([-7.0, 7.0], 3)
    Tensor([2., 1.], dtype=float32)
    """
    return _core.remainder(x, y)


def pow(x: TensorLike, y: TensorLike) -> Tensor:
    """Raise `x` to the power `y`.

    Differentiable in both operands. The derivative with respect to `y` is 0 where `x` is 0.

    Parameters
    ----------
    x : array_like
        Base of a numeric dtype.
    y : array_like
        Exponent of a numeric dtype. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast, or if an integer is raised to a negative integer power. The
        latter is raised when the result is computed.

    See Also
    --------
    float_power

    Examples
    --------
    >>> pb.pow([1.0, 2.0, 3.0], 2)
    Tensor([1., 4., 9.], dtype=float32)
    """
    return _core.pow(x, y)


def negative(x: TensorLike, /) -> Tensor:
    """Return `-x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.negative([1.0, -2.0])
    Tensor([-1.,  2.], dtype=float32)
    """
    return _core.negative(x)


def positive(x: TensorLike, /) -> Tensor:
    """Return `+x`, a new tensor with the values of `x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Examples
    --------
    >>> pb.positive([1.0, -2.0])
    Tensor([ 1., -2.], dtype=float32)
    """
    return _core.identity(x)


def square(x: TensorLike, /) -> Tensor:
    """Return `x * x`.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.square([1.0, -2.0])
    Tensor([1., 4.], dtype=float32)
    """
    return _core.square(x)


def abs(x: TensorLike, /) -> Tensor:
    """Compute the absolute value.

    The gradient at 0 is 0.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype of `x`, or the dtype of its parts if `x` is complex.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.abs([1.0, -2.0])
    Tensor([1., 2.], dtype=float32)
    """
    return _core.abs(x)


def sign(x: TensorLike, /) -> Tensor:
    """Return the sign of `x`: -1, 0 or 1.

    The gradient is 0. For a complex `x` the result is `x / abs(x)`, and 0 at 0; it has a gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and a numeric dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is of dtype bool.

    Examples
    --------
    >>> pb.sign([-3.0, 0.0, 5.0])
    Tensor([-1.,  0.,  1.], dtype=float32)
    """
    return _core.sign(x)
