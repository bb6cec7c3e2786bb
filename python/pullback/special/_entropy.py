"""Logistic functions and entropies, with SciPy's names.

Integers become the default floating dtype.
"""

from __future__ import annotations

from .. import _core
from .._base.checks import made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike


@composite
def expit(x: TensorLike, /) -> Tensor:
    """Compute the logistic function 1 / (1 + exp(-x)), the same as `sigmoid`.

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
    >>> pb.special.expit([0.0, 1000.0])
    Tensor([0.5, 1. ], dtype=float32)
    """
    return _core.sigmoid(x)


@composite
def log_expit(x: TensorLike, /) -> Tensor:
    """Compute log(expit(x)) without loss for large arguments.

    The derivative is expit(-x).

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
    >>> pb.special.log_expit([-1000.0, 0.0])
    Tensor([-1.000000e+03, -6.931472e-01], dtype=float32)
    """
    return _core.negative(_core.softplus(_core.negative(made_floating(x, "log_expit"))))


def logit(p: TensorLike, /) -> Tensor:
    """Compute log(p / (1 - p)), the inverse of `expit`.

    The value is accurate also near p = 1/2. It is NaN outside [0, 1].

    Parameters
    ----------
    p : array_like, real
        Probability in [0, 1]. Integers and bool become the default floating dtype.

    Returns
    -------
    Tensor
        Shape of `p`; the floating dtype of `p`, or the default one.

    Raises
    ------
    TypeError
        If `p` is complex.

    Examples
    --------
    >>> pb.special.logit([0.0, 0.5, 0.75])
    Tensor([     -inf, 0.       , 1.0986123], dtype=float32)
    """
    return _core.logit(p)


def entr(x: TensorLike, /) -> Tensor:
    """Compute the entropy term -x log(x).

    The value is 0 at 0 and -inf for a negative `x`.

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
    >>> pb.special.entr([0.0, 0.5, -1.0])
    Tensor([0.       , 0.3465736,      -inf], dtype=float32)
    """
    return _core.entr(x)


def rel_entr(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Compute the relative entropy term x log(x / y).

    The value is 0 where x = 0 and y >= 0, and inf elsewhere unless both operands are positive.
    Differentiable in both operands; where both are 0 the gradients are 0.

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
    >>> pb.special.rel_entr([0.0, 0.5], [0.5, 0.25])
    Tensor([0.       , 0.3465736], dtype=float32)
    """
    return _core.rel_entr(x, y)


def kl_div(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Compute the Kullback-Leibler term x log(x / y) - x + y.

    The value is `y` where x = 0 and y >= 0, and inf elsewhere unless both operands are positive. It
    is accurate where `x` is near `y`. Differentiable in both operands; where both are 0 the
    gradients are 0.

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
    >>> pb.special.kl_div([0.0, 0.5], [0.5, 0.25])
    Tensor([0.5       , 0.09657359], dtype=float32)
    """
    return _core.kl_div(x, y)
