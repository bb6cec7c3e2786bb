"""Greatest common divisor and least common multiple of integers, elementwise.

NumPy computes the values when they are needed. Integers have no gradient.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .broadcasting import common_shape

__all__ = ["gcd", "lcm"]


def _of_integers(compute: Any, x: TensorLike, y: TensorLike, who: str) -> Tensor:
    operands = _core.operands([x, y], who)
    dtype = _core.promote(*(operand.dtype for operand in operands))
    for kind in (*(operand.dtype for operand in operands), dtype):
        if kind.kind not in "iu":
            raise TypeError(f"{who}: expected integers of a common dtype, got {kind}")
    shape = common_shape([operand.shape for operand in operands], who)
    wide = [_core.broadcast_to(_core.cast(operand, dtype), shape) for operand in operands]
    return _core.callback(lambda a, b: np.asarray(compute(a, b)), wide, dtype, shape, True)


def gcd(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the greatest common divisor.

    Parameters
    ----------
    x, y : array_like, integer
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands. It is not negative; the divisor
        of 0 and y is abs(y).

    Raises
    ------
    TypeError
        If an operand is not made of integers.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    lcm

    Examples
    --------
    >>> pb.gcd([12, 20, 0], 8)
    Tensor([4, 4, 8], dtype=int64)
    """
    return _of_integers(np.gcd, x, y, "gcd")


def lcm(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute the least common multiple.

    Parameters
    ----------
    x, y : array_like, integer
        Operands whose shapes broadcast.

    Returns
    -------
    Tensor
        The broadcast shape and the promoted dtype of the operands. It is not negative, and 0 if an
        operand is 0. A multiple beyond the dtype wraps around.

    Raises
    ------
    TypeError
        If an operand is not made of integers.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    gcd

    Examples
    --------
    >>> pb.lcm([12, 20, 0], 8)
    Tensor([24, 40,  0], dtype=int64)
    """
    return _of_integers(np.lcm, x, y, "lcm")
