"""Activation functions. All are stable: large arguments cause no intermediate overflow."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import along, axes_of, made_floating
from .._core import Tensor
from .._typing import TensorLike

__all__ = [
    "celu",
    "elu",
    "gelu",
    "glu",
    "hard_sigmoid",
    "hard_silu",
    "hard_tanh",
    "leaky_relu",
    "log_sigmoid",
    "log_softmax",
    "mish",
    "relu",
    "relu6",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
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
    >>> pb.relu6([-1.0, 2.0, 9.0])
    Tensor([0., 2., 6.], dtype=float32)
    """
    x = made_floating(x, "relu6")
    return _core.where(_core.greater_equal(x, 6), 6, _core.relu(x))


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
    >>> pb.leaky_relu([-1.0, 2.0])
    Tensor([-0.01,  2.  ], dtype=float32)
    """
    x = made_floating(x, "leaky_relu")
    return _core.where(_core.greater(x, 0), x, _core.multiply(x, slope))


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
    >>> pb.elu([-1.0, 2.0])
    Tensor([-0.63212055,  2.        ], dtype=float32)
    """
    x = made_floating(x, "elu")
    return _core.where(_core.less(x, 0), _core.multiply(_core.expm1(x), alpha), x)


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
    >>> pb.selu([-1.0, 2.0])
    Tensor([-1.1113307,  2.101402 ], dtype=float32)
    """
    return _core.multiply(1.0507009873554805, elu(made_floating(x, "selu"), 1.6732632423543772))


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
    >>> pb.silu([-1.0, 2.0])
    Tensor([-0.26894143,  1.7615942 ], dtype=float32)
    """
    x = made_floating(x, "silu")
    return _core.multiply(x, _core.sigmoid(x))


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
    >>> pb.mish([-1.0, 2.0])
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
    >>> pb.softsign([-1.0, 3.0])
    Tensor([-0.5 ,  0.75], dtype=float32)
    """
    return _core.softsign(x)


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
    >>> pb.log_sigmoid([-1000.0, 0.0])
    Tensor([-1.000000e+03, -6.931472e-01], dtype=float32)
    """
    return _core.negative(_core.softplus(_core.negative(made_floating(x, "log_sigmoid"))))


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
    >>> pb.hard_sigmoid([-4.0, 0.0, 1.5])
    Tensor([0.  , 0.5 , 0.75], dtype=float32)
    """
    return _core.divide(relu6(_core.add(made_floating(x, "hard_sigmoid"), 3)), 6)


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
    >>> pb.hard_silu([-4.0, 0.0, 3.0])
    Tensor([-0.,  0.,  3.], dtype=float32)
    """
    x = made_floating(x, "hard_silu")
    return _core.multiply(x, hard_sigmoid(x))


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
    >>> pb.celu([-1.0, 2.0])
    Tensor([-0.63212055,  2.        ], dtype=float32)
    """
    x = made_floating(x, "celu")
    below = _core.expm1(_core.divide(x, alpha))
    return _core.where(_core.less(x, 0), _core.multiply(below, alpha), x)


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
    >>> pb.glu([2.0, 3.0, 0.0, 1000.0])
    Tensor([1., 3.], dtype=float32)
    """
    x = made_floating(x, "glu")
    (k,) = axes_of([axis], len(x.shape), "glu")
    half, odd = divmod(x.shape[k], 2)
    if odd:
        raise ValueError(f"glu: expected an axis of even length, got shape {x.shape}, axis {k}")
    value, gate = x[along(k, slice(half))], x[along(k, slice(half, None))]
    return _core.multiply(value, _core.sigmoid(gate))


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
    >>> pb.hard_tanh([-3.0, 0.5, 2.0])
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    return _core.clip(made_floating(x, "hard_tanh"), -1, 1)


def gelu(x: TensorLike, /, *, approximate: str = "none") -> Tensor:
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
            f"gelu: approximate must be 'none' or 'tanh', got {_core.shown(approximate)}"
        )
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which is accurate where tanh rounds to -1.
    cubic = _core.multiply(_core.multiply(x, x), 0.044715 * 1.5957691216057308)
    inside = _core.multiply(x, _core.add(cubic, 1.5957691216057308))
    return _core.multiply(x, _core.sigmoid(inside))
