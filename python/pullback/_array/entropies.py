"""Logistic functions and entropies, under SciPy's names; integers become the default float."""

from __future__ import annotations

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import made_floating


def expit(x: TensorLike, /) -> Tensor:
    """1 / (1 + exp(-x)), the same as `sigmoid`.

    >>> pb.special.expit([0.0, 1000.0])
    Tensor([0.5, 1. ], dtype=float32)
    """
    return _core.sigmoid(x)


def log_expit(x: TensorLike, /) -> Tensor:
    """log(expit(x)), which no large argument loses; its slope is expit(-x).

    >>> pb.special.log_expit([-1000.0, 0.0])
    Tensor([-1.000000e+03, -6.931472e-01], dtype=float32)
    """
    return _core.negative(_core.softplus(_core.negative(made_floating(x, "log_expit"))))


def logit(p: TensorLike, /) -> Tensor:
    """log(p / (1 - p)), the inverse of `expit`, with all digits near 1/2 too; NaN outside [0, 1].

    >>> pb.special.logit([0.0, 0.5, 0.75])
    Tensor([     -inf, 0.       , 1.0986123], dtype=float32)
    """
    return _core.logit(p)


def entr(x: TensorLike, /) -> Tensor:
    """-x log(x); 0 at 0, -inf below.

    >>> pb.special.entr([0.0, 0.5, -1.0])
    Tensor([0.       , 0.3465736,      -inf], dtype=float32)
    """
    return _core.entr(x)


def rel_entr(x: TensorLike, y: TensorLike, /) -> Tensor:
    """x log(x / y) for positive x and y; 0 where x = 0 and y >= 0; else inf.

    Where both are 0 the gradients are 0.

    >>> pb.special.rel_entr([0.0, 0.5], [0.5, 0.25])
    Tensor([0.       , 0.3465736], dtype=float32)
    """
    return _core.rel_entr(x, y)


def kl_div(x: TensorLike, y: TensorLike, /) -> Tensor:
    """x log(x / y) - x + y for positive x and y; y where x = 0 and y >= 0; else inf.

    No digits are lost where x is near y. Where both are 0 the gradients are 0.

    >>> pb.special.kl_div([0.0, 0.5], [0.5, 0.25])
    Tensor([0.5       , 0.09657359], dtype=float32)
    """
    return _core.kl_div(x, y)
