"""Elementwise questions, and the choice by an answer: comparison, logic, NaN and infinity, `where`.

Arguments, broadcasting and dtypes are as in elementwise.py, and the formulas too are in
cpp/ops/elementwise.def. An answer is bool and has no gradient; `where` has one for the two tensors
that it chooses from.
"""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike

# --- comparison


def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """x == y.

    >>> pb.equal([1, 2], 2)
    Tensor([False,  True], dtype=bool)
    """
    return _core.equal(x, y)


def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """x != y.

    >>> pb.not_equal([1, 2], 2)
    Tensor([ True, False], dtype=bool)
    """
    return _core.not_equal(x, y)


def less(x: TensorLike, y: TensorLike) -> Tensor:
    """x < y.

    >>> pb.less([1, 2], 2)
    Tensor([ True, False], dtype=bool)
    """
    return _core.less(x, y)


def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """x <= y.

    >>> pb.less_equal([1, 2], 2)
    Tensor([ True,  True], dtype=bool)
    """
    return _core.less_equal(x, y)


def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """x > y.

    >>> pb.greater([1, 2], 1)
    Tensor([False,  True], dtype=bool)
    """
    return _core.greater(x, y)


def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """x >= y.

    >>> pb.greater_equal([1, 2], 2)
    Tensor([False,  True], dtype=bool)
    """
    return _core.greater_equal(x, y)


# --- logic


def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether both hold; numbers count as whether they are not 0.

    >>> pb.logical_and([True, True], [True, False])
    Tensor([ True, False], dtype=bool)
    """
    return _core.logical_and(x, y)


def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether one of them holds.

    >>> pb.logical_or([True, False], [False, False])
    Tensor([ True, False], dtype=bool)
    """
    return _core.logical_or(x, y)


def logical_xor(x: TensorLike, y: TensorLike) -> Tensor:
    """Whether exactly one of them holds.

    >>> pb.logical_xor([True, True], [True, False])
    Tensor([False,  True], dtype=bool)
    """
    return _core.logical_xor(x, y)


def logical_not(x: TensorLike, /) -> Tensor:
    """Whether it does not hold.

    >>> pb.logical_not([True, False])
    Tensor([False,  True], dtype=bool)
    """
    return _core.logical_not(x)


# --- what kind of number


def isnan(x: TensorLike, /) -> Tensor:
    """Whether it is NaN.

    >>> pb.isnan([1.0, float("nan")])
    Tensor([False,  True], dtype=bool)
    """
    return _core.isnan(x)


def isinf(x: TensorLike, /) -> Tensor:
    """Whether it is plus or minus infinity.

    >>> pb.isinf([1.0, float("-inf")])
    Tensor([False,  True], dtype=bool)
    """
    return _core.isinf(x)


def isfinite(x: TensorLike, /) -> Tensor:
    """Whether it is neither infinite nor NaN.

    >>> pb.isfinite([1.0, float("inf")])
    Tensor([ True, False], dtype=bool)
    """
    return _core.isfinite(x)


# --- choice


def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor:
    """x where the condition holds, y elsewhere; the three broadcast.

    The gradient of the branch that was not taken is 0 even where its own slope is infinite or NaN.
    In front of a matrix product whose data have rows of NaN, that takes a condition with one entry
    for each row (`keep[:, None]`): entry by entry, a product would have to be looked through.

    >>> x = pb.Variable([0.0, 1.0])
    >>> pb.gradients(pb.where(x > 0, x * pb.log(x), 0), x)
    [Tensor([0., 1.], dtype=float32)]
    """
    return _core.where(condition, x, y)
