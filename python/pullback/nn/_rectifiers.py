"""Activation functions that are piecewise linear or exponential, and hard variants of others."""

from __future__ import annotations

from .. import _core
from .._base.checks import made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "celu",
    "elu",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "leaky_relu",
    "relu",
    "relu6",
    "selu",
]


def relu(x: TensorLike, /) -> Tensor:
    """Compute max(x, 0).

    The gradient at 0 is 0.

    Parameters
    ----------
    x : array_like, real
        Input of any shape and an integer or floating dtype.

    Returns
    -------
    Tensor
        Shape and dtype of `x`.

    Raises
    ------
    TypeError
        If `x` is complex or of dtype bool.

    Examples
    --------
    >>> pb.relu([-1.0, 2.0])
    Tensor([0., 2.], dtype=float32)
    """
    return _core.relu(x)


@composite
def relu6(x: TensorLike, /) -> Tensor:
    """Compute min(max(x, 0), 6).

    The gradient is 0 at 0 and at 6.

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
    >>> pb.nn.relu6([-1.0, 2.0, 9.0])
    Tensor([0., 2., 6.], dtype=float32)
    """
    x = made_floating(x, "relu6")
    return _core.where(_core.greater_equal(x, 6), 6, _core.relu(x))


@composite
def leaky_relu(x: TensorLike, /, slope: float = 0.01) -> Tensor:
    """Return `x` where it is positive, else `slope * x`.

    The derivative at 0 is `slope`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    slope : float, optional
        Slope for a negative `x`. Default: 0.01.

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
    >>> pb.nn.leaky_relu([-1.0, 2.0])
    Tensor([-0.01,  2.  ], dtype=float32)
    """
    x = made_floating(x, "leaky_relu")
    return _core.where(_core.greater(x, 0), x, _core.multiply(x, slope))


@composite
def elu(x: TensorLike, /, alpha: float = 1.0) -> Tensor:
    """Compute the exponential linear unit: `x` above 0, alpha (exp(x) - 1) below.

    The derivative at 0 is 1.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    alpha : float, optional
        Negated limit at minus infinity. Default: 1.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex.

    References
    ----------
    .. [1] Clevert et al., "Fast and accurate deep network learning by exponential linear
       units", 2015.

    Examples
    --------
    >>> pb.nn.elu([-1.0, 2.0])
    Tensor([-0.63212055,  2.        ], dtype=float32)
    """
    x = made_floating(x, "elu")
    return _core.where(_core.less(x, 0), _core.multiply(_core.expm1(x), alpha), x)


@composite
def selu(x: TensorLike, /) -> Tensor:
    """Compute the scaled exponential linear unit, scale * elu(x, alpha).

    The constants `scale` and `alpha` keep mean 0 and variance 1.

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

    References
    ----------
    .. [1] Klambauer et al., "Self-normalizing neural networks", 2017.

    Examples
    --------
    >>> pb.nn.selu([-1.0, 2.0])
    Tensor([-1.1113307,  2.101402 ], dtype=float32)
    """
    return _core.multiply(1.0507009873554805, elu(made_floating(x, "selu"), 1.6732632423543772))


@composite
def celu(x: TensorLike, /, alpha: float = 1.0) -> Tensor:
    """Return `x` where it is positive, else alpha (exp(x / alpha) - 1).

    It is `elu` with a continuous derivative for every `alpha`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    alpha : float, optional
        Negated limit at minus infinity. Default: 1.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex.

    References
    ----------
    .. [1] Barron, "Continuously differentiable exponential linear units", 2017.

    Examples
    --------
    >>> pb.nn.celu([-1.0, 2.0])
    Tensor([-0.63212055,  2.        ], dtype=float32)
    """
    x = made_floating(x, "celu")
    below = _core.expm1(_core.divide(x, alpha))
    return _core.where(_core.less(x, 0), _core.multiply(below, alpha), x)


@composite
def hard_sigmoid(x: TensorLike, /) -> Tensor:
    """Compute relu6(x + 3) / 6.

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
    >>> pb.nn.hard_sigmoid([-4.0, 0.0, 1.5])
    Tensor([0.  , 0.5 , 0.75], dtype=float32)
    """
    return _core.divide(relu6(_core.add(made_floating(x, "hard_sigmoid"), 3)), 6)


@composite
def hard_silu(x: TensorLike, /) -> Tensor:
    """Compute x hard_sigmoid(x).

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

    References
    ----------
    .. [1] Howard et al., "Searching for MobileNetV3", 2019.

    Examples
    --------
    >>> pb.nn.hard_silu([-4.0, 0.0, 3.0])
    Tensor([-0.,  0.,  3.], dtype=float32)
    """
    x = made_floating(x, "hard_silu")
    return _core.multiply(x, hard_sigmoid(x))


@composite
def hard_tanh(x: TensorLike, /) -> Tensor:
    """Compute min(max(x, -1), 1).

    The derivative is 1 from -1 to 1, both included, and 0 outside.

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
    >>> pb.nn.hard_tanh([-3.0, 0.5, 2.0])
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    return _core.clip(made_floating(x, "hard_tanh"), -1, 1)
