"""Elementwise logic, tests for NaN and infinity, and selection by `where`.

Arguments, broadcasting and dtypes are as in arithmetic.py; the formulas are in
cpp/graph/elementwise.def too. A result of dtype bool has no gradient. `where` is differentiable in
the two tensors that it selects from.
"""

from __future__ import annotations

from typing import Any, overload

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .selection import indices_of_nonzero

__all__ = [
    "isfinite",
    "isinf",
    "isnan",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "where",
]


# --- logic


def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Test whether `x` and `y` are both true.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like
        Operands whose shapes broadcast. A number counts as True if it is not 0.

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
    >>> pb.logical_and([True, True], [True, False])
    Tensor([ True, False], dtype=bool)
    """
    return _core.logical_and(x, y)


def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Test whether `x` or `y` is true.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like
        Operands whose shapes broadcast. A number counts as True if it is not 0.

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
    >>> pb.logical_or([True, False], [False, False])
    Tensor([ True, False], dtype=bool)
    """
    return _core.logical_or(x, y)


def logical_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Test whether exactly one of `x` and `y` is true.

    The result has no gradient.

    Parameters
    ----------
    x, y : array_like
        Operands whose shapes broadcast. A number counts as True if it is not 0.

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
    >>> pb.logical_xor([True, True], [True, False])
    Tensor([False,  True], dtype=bool)
    """
    return _core.logical_xor(x, y)


def logical_not(x: TensorLike, /) -> Tensor:
    """Test whether `x` is false.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape. A number counts as True if it is not 0.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Examples
    --------
    >>> pb.logical_not([True, False])
    Tensor([False,  True], dtype=bool)
    """
    return _core.logical_not(x)


# --- tests for NaN and infinity


def isnan(x: TensorLike, /) -> Tensor:
    """Test whether `x` is NaN.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Examples
    --------
    >>> pb.isnan([1.0, float("nan")])
    Tensor([False,  True], dtype=bool)
    """
    return _core.isnan(x)


def isinf(x: TensorLike, /) -> Tensor:
    """Test whether `x` is plus or minus infinity.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Examples
    --------
    >>> pb.isinf([1.0, float("-inf")])
    Tensor([False,  True], dtype=bool)
    """
    return _core.isinf(x)


def isfinite(x: TensorLike, /) -> Tensor:
    """Test whether `x` is neither infinite nor NaN.

    The result has no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Examples
    --------
    >>> pb.isfinite([1.0, float("inf")])
    Tensor([ True, False], dtype=bool)
    """
    return _core.isfinite(x)


# --- selection


@overload
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor: ...
@overload
def where(condition: TensorLike) -> tuple[Tensor, ...]: ...
def where(condition: TensorLike, x: Any = None, y: Any = None) -> Any:
    """Select entries of `x` where the condition is true, else entries of `y`.

    Differentiable in `x` and `y`. An entry that is not selected has the gradient 0, even if the
    slope of the expression that computed it is infinite or NaN. With the condition alone, the
    result is ``nonzero(condition)``.

    Before a matrix product whose data have rows of NaN, this requires a condition with one entry
    for each row (`keep[:, None]`). With an entrywise condition the product itself would have to be
    analysed.

    Parameters
    ----------
    condition : array_like
        Condition of any dtype. A number counts as True if it is not 0.
    x, y : array_like, optional
        Values to select from, both or none. The shapes of the three arguments broadcast.

    Returns
    -------
    Tensor or tuple of Tensor
        The broadcast shape; the promoted dtype of `x` and `y`. With the condition alone, the
        indices of its true entries, one vector for each axis.

    Raises
    ------
    TypeError
        If only one of `x` and `y` is given.
    ValueError
        If the shapes do not broadcast.
    RuntimeError
        If only the condition is given and a function is being traced.

    Examples
    --------
    >>> x = pb.Variable([0.0, 1.0])
    >>> pb.gradients(pb.where(x > 0, x * pb.log(x), 0), x)
    [Tensor([0., 1.], dtype=float32)]
    >>> pb.where([False, True, True])
    (Tensor([1, 2], dtype=int64),)
    """
    if x is None and y is None:
        return indices_of_nonzero(condition, "where")
    if x is None or y is None:
        raise TypeError("where: expected both x and y, or only the condition, got one of them")
    return _core.where(condition, x, y)
