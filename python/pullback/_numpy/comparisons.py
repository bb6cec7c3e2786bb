"""Elementwise comparisons. A result of dtype bool has no gradient.

Arguments, broadcasting and dtypes are as in arithmetic.py; the formulas are in
cpp/graph/elementwise.def too.
"""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
]


def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Compare elementwise: `x == y`.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like
        Operands of any dtype. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.equal([1, 2], 2)
    Tensor([False,  True], dtype=bool)
    """
    return _core.equal(x, y)


def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Compare elementwise: `x != y`.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like
        Operands of any dtype. Their shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.not_equal([1, 2], 2)
    Tensor([ True, False], dtype=bool)
    """
    return _core.not_equal(x, y)


def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Compare elementwise: `x < y`.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.less([1, 2], 2)
    Tensor([ True, False], dtype=bool)
    """
    return _core.less(x, y)


def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Compare elementwise: `x <= y`.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.less_equal([1, 2], 2)
    Tensor([ True,  True], dtype=bool)
    """
    return _core.less_equal(x, y)


def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Compare elementwise: `x > y`.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.greater([1, 2], 1)
    Tensor([False,  True], dtype=bool)
    """
    return _core.greater(x, y)


def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Compare elementwise: `x >= y`.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like, real
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    TypeError
        If an operand is complex.
    ValueError
        If the shapes do not broadcast.

    Examples
    --------
    >>> pb.greater_equal([1, 2], 2)
    Tensor([False,  True], dtype=bool)
    """
    return _core.greater_equal(x, y)
