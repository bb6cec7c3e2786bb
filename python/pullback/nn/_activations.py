"""Smooth activation functions. All are stable: large arguments cause no intermediate overflow."""

from __future__ import annotations

from typing import Literal, SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "gelu",
    "glu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
]


def sigmoid(x: TensorLike, /) -> Tensor:
    """Compute the logistic function 1 / (1 + exp(-x)).

    The slope is accurate also where the value has rounded to 1.

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
    >>> pb.sigmoid([0.0, 1000.0])
    Tensor([0.5, 1. ], dtype=float32)
    """
    return _core.sigmoid(x)


def softplus(x: TensorLike, /) -> Tensor:
    """Compute log(1 + exp(x)) without overflow.

    The derivative is `sigmoid`.

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
    >>> pb.softplus([-1000.0, 1000.0])
    Tensor([   0., 1000.], dtype=float32)
    """
    return _core.softplus(x)


def softmax(x: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """Compute exp(x) / sum(exp(x)) along an axis.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    axis : int, optional
        Axis of the sum. Default: the last one.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex or `axis` is not an integer.
    AxisError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.softmax([0.0, 0.0])
    Tensor([0.5, 0.5], dtype=float32)
    """
    return _core.softmax(x, axis)


def log_softmax(x: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """Compute the logarithm of `softmax` along an axis.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    axis : int, optional
        Axis of the sum. Default: the last one.

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex or `axis` is not an integer.
    AxisError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.log_softmax([0.0, 1000.0])
    Tensor([-1000.,     0.], dtype=float32)
    """
    return _core.log_softmax(x, axis)


@composite
def silu(x: TensorLike, /) -> Tensor:
    """Compute x sigmoid(x).

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
    >>> pb.nn.silu([-1.0, 2.0])
    Tensor([-0.26894143,  1.7615942 ], dtype=float32)
    """
    x = made_floating(x, "silu")
    return _core.multiply(x, _core.sigmoid(x))


@composite
def mish(x: TensorLike, /) -> Tensor:
    """Compute x tanh(softplus(x)).

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
    .. [1] Misra, "Mish: a self regularized non-monotonic activation function", 2019.

    Examples
    --------
    >>> pb.nn.mish([-1.0, 2.0])
    Tensor([-0.30340147,  1.943959  ], dtype=float32)
    """
    x = made_floating(x, "mish")
    return _core.multiply(x, _core.tanh(_core.softplus(x)))


def softsign(x: TensorLike, /) -> Tensor:
    """Compute x / (1 + |x|).

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
    >>> pb.nn.softsign([-1.0, 3.0])
    Tensor([-0.5 ,  0.75], dtype=float32)
    """
    return _core.softsign(x)


@composite
def log_sigmoid(x: TensorLike, /) -> Tensor:
    """Compute log(sigmoid(x)) without loss for large arguments.

    The derivative is sigmoid(-x).

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
    >>> pb.nn.log_sigmoid([-1000.0, 0.0])
    Tensor([-1.000000e+03, -6.931472e-01], dtype=float32)
    """
    return _core.negative(_core.softplus(_core.negative(made_floating(x, "log_sigmoid"))))


@composite
def glu(x: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """Multiply the first half of `x` by the sigmoid of the second half, along an axis.

    Parameters
    ----------
    x : array_like, real
        Input with at least one axis. Integers and bool become the default floating dtype.
    axis : int, optional
        Axis of even size that is halved. Default: the last one.

    Returns
    -------
    Tensor
        Shape of `x` with half the size along `axis`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex.
    ValueError
        If the size of the axis is odd.
    AxisError
        If `axis` is out of range.

    References
    ----------
    .. [1] Dauphin et al., "Language modeling with gated convolutional networks", 2016.

    Examples
    --------
    >>> pb.nn.glu([2.0, 3.0, 0.0, 1000.0])
    Tensor([1., 3.], dtype=float32)
    """
    x = made_floating(x, "glu")
    (k,) = axes_of([axis], len(x.shape), "glu")
    half, odd = divmod(x.shape[k], 2)
    if odd:
        raise ValueError(f"glu: expected an even size for axis {k}, got shape {x.shape}")
    value, gate = x[along(k, slice(half))], x[along(k, slice(half, None))]
    return _core.multiply(value, _core.sigmoid(gate))


@composite
def gelu(x: TensorLike, /, *, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """Compute `x` times the standard normal distribution function at `x`.

    The result is accurate in the tail.

    Parameters
    ----------
    x : array_like, real
        Input of any shape. Integers and bool become the default floating dtype.
    approximate : {"none", "tanh"}, optional
        "none" computes the exact function, "tanh" the formula x (1 + tanh(√(2/π) (x + 0.044715
        x³))) / 2. Default: "none".

    Returns
    -------
    Tensor
        Shape of `x`; the floating dtype of `x`, or the default one.

    Raises
    ------
    TypeError
        If `x` is complex.
    ValueError
        If `approximate` is neither "none" nor "tanh".

    References
    ----------
    .. [1] Hendrycks and Gimpel, "Gaussian error linear units", 2016.

    Examples
    --------
    >>> pb.gelu([-1.0, 0.0, 1.0], approximate="tanh")
    Tensor([-0.158808,  0.      ,  0.841192], dtype=float32)
    """
    x = made_floating(x, "gelu")
    if approximate == "none":
        return _core.multiply(x, _core.ndtr(x))
    if approximate != "tanh":
        raise ValueError(
            f"gelu: approximate must be one of 'none', 'tanh'; got {_core.shown(approximate)}"
        )
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which is accurate where tanh rounds to -1.
    cubic = _core.multiply(_core.multiply(x, x), 0.044715 * 1.5957691216057308)
    inside = _core.multiply(x, _core.add(cubic, 1.5957691216057308))
    return _core.multiply(x, _core.sigmoid(inside))
