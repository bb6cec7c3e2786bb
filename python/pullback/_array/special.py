"""Special functions, elementwise."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


def erf(x: TensorLike, /) -> Tensor:
    """The error function, 2/sqrt(pi) times the integral of exp(-t^2) from 0 to x: DLMF 7.2.1.

    Elementwise, for floats; integers become the default float. The gradient is
    2/sqrt(pi) exp(-x^2).

    >>> pb.special.erf([0.0, 0.5, -10.0])
    Tensor([ 0.       ,  0.5204999, -1.       ], dtype=float32)
    """
    return _core.erf(x)
