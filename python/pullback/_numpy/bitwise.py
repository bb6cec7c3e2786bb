"""Bitwise operations and shifts of integers, elementwise. They have no gradient."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
]


def bitwise_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the bitwise conjunction `x & y`.

    Parameters
    ----------
    x, y : array_like, integer or bool
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.bitwise_and([6, 5], 3)
    Tensor([2, 1], dtype=int64)
    """
    return _core.bitwise_and(x, y)


def bitwise_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the bitwise disjunction `x | y`.

    Parameters
    ----------
    x, y : array_like, integer or bool
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.bitwise_or([6, 5], 3)
    Tensor([7, 7], dtype=int64)
    """
    return _core.bitwise_or(x, y)


def bitwise_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the bitwise exclusive disjunction `x ^ y`.

    Parameters
    ----------
    x, y : array_like, integer or bool
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.bitwise_xor([6, 5], 3)
    Tensor([5, 6], dtype=int64)
    """
    return _core.bitwise_xor(x, y)


def bitwise_invert(x: TensorLike, /) -> Tensor:
    """Invert every bit: `~x`.

    For dtype bool it is the logical negation.

    Parameters
    ----------
    x : array_like, integer or bool
        Input of any shape.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is floating or complex.

    Examples
    --------
    >>> pb.bitwise_invert([0, 5])
    Tensor([-1, -6], dtype=int64)
    """
    return _core.bitwise_invert(x)


def bitwise_left_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Shift the bits of `x` to the left: `x << y`.

    The result is 0 if `y` is negative or at least the number of bits of the dtype.

    Parameters
    ----------
    x : array_like, integer
        Numbers to shift.
    y : array_like, integer
        Number of bits. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.bitwise_left_shift([1, 3], 2)
    Tensor([ 4, 12], dtype=int64)
    """
    return _core.bitwise_left_shift(x, y)


def bitwise_right_shift(x: TensorLike, y: TensorLike) -> Tensor:
    """Shift the bits of `x` to the right: `x >> y`.

    The sign is kept. If `y` is negative or at least the number of bits of the dtype, the result is
    0, or -1 for a negative `x`.

    Parameters
    ----------
    x : array_like, integer
        Numbers to shift.
    y : array_like, integer
        Number of bits. Its shape broadcasts with that of `x`.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands.

    Raises
    ------
    TypeError
        If an operand is floating or complex, or both are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.bitwise_right_shift([16, -3], 1)
    Tensor([ 8, -2], dtype=int64)
    """
    return _core.bitwise_right_shift(x, y)
