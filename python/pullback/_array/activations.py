"""Activations. All are stable: no large argument overflows on the way."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import along, axes_of, made_floating


def relu(x: TensorLike, /) -> Tensor:
    """max(x, 0); its gradient at 0 is 0.

    >>> pb.relu([-1.0, 2.0])
    Tensor([0., 2.], dtype=float32)
    """
    return _core.relu(x)


def sigmoid(x: TensorLike, /) -> Tensor:
    """1 / (1 + exp(-x)). Its slope is accurate where the value has already rounded to 1.

    >>> pb.sigmoid([0.0, 1000.0])
    Tensor([0.5, 1. ], dtype=float32)
    """
    return _core.sigmoid(x)


def softplus(x: TensorLike, /) -> Tensor:
    """log(1 + exp(x)), whose gradient is `sigmoid`.

    >>> pb.softplus([-1000.0, 1000.0])
    Tensor([   0., 1000.], dtype=float32)
    """
    return _core.softplus(x)


def softmax(x: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis.

    >>> pb.softmax([0.0, 0.0])
    Tensor([0.5, 0.5], dtype=float32)
    """
    return _core.softmax(x, axis)


def log_softmax(x: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """The logarithm of `softmax` along an axis.

    >>> pb.log_softmax([0.0, 1000.0])
    Tensor([-1000.,     0.], dtype=float32)
    """
    return _core.log_softmax(x, axis)


def relu6(x: TensorLike, /) -> Tensor:
    """min(max(x, 0), 6).

    >>> pb.relu6([-1.0, 2.0, 9.0])
    Tensor([0., 2., 6.], dtype=float32)
    """
    x = made_floating(x, "relu6")
    return _core.where(_core.greater_equal(x, 6), 6, _core.relu(x))


def leaky_relu(x: TensorLike, /, slope: float = 0.01) -> Tensor:
    """x above 0, `slope` times x below. The slope at 0 is that below.

    >>> pb.leaky_relu([-1.0, 2.0])
    Tensor([-0.01,  2.  ], dtype=float32)
    """
    x = made_floating(x, "leaky_relu")
    return _core.where(_core.greater(x, 0), x, _core.multiply(x, slope))


def elu(x: TensorLike, /, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha (exp(x) - 1) below (Clevert et al., 2015). The slope at 0 is 1.

    >>> pb.elu([-1.0, 2.0])
    Tensor([-0.63212055,  2.        ], dtype=float32)
    """
    x = made_floating(x, "elu")
    return _core.where(_core.less(x, 0), _core.multiply(_core.expm1(x), alpha), x)


def selu(x: TensorLike, /) -> Tensor:
    """scale · elu(x, alpha) with the constants that keep mean 0 and variance 1 (Klambauer et al.,
    2017).

    >>> pb.selu([-1.0, 2.0])
    Tensor([-1.1113307,  2.101402 ], dtype=float32)
    """
    return _core.multiply(1.0507009873554805, elu(made_floating(x, "selu"), 1.6732632423543772))


def silu(x: TensorLike, /) -> Tensor:
    """x sigmoid(x).

    >>> pb.silu([-1.0, 2.0])
    Tensor([-0.26894143,  1.7615942 ], dtype=float32)
    """
    x = made_floating(x, "silu")
    return _core.multiply(x, _core.sigmoid(x))


def mish(x: TensorLike, /) -> Tensor:
    """x tanh(softplus(x)) (Misra, 2019).

    >>> pb.mish([-1.0, 2.0])
    Tensor([-0.30340147,  1.943959  ], dtype=float32)
    """
    x = made_floating(x, "mish")
    return _core.multiply(x, _core.tanh(_core.softplus(x)))


def softsign(x: TensorLike, /) -> Tensor:
    """x / (1 + |x|).

    >>> pb.softsign([-1.0, 3.0])
    Tensor([-0.5 ,  0.75], dtype=float32)
    """
    return _core.softsign(x)


def log_sigmoid(x: TensorLike, /) -> Tensor:
    """log(sigmoid(x)), which no large argument loses; its slope is sigmoid(-x).

    >>> pb.log_sigmoid([-1000.0, 0.0])
    Tensor([-1.000000e+03, -6.931472e-01], dtype=float32)
    """
    return _core.negative(_core.softplus(_core.negative(made_floating(x, "log_sigmoid"))))


def hard_sigmoid(x: TensorLike, /) -> Tensor:
    """relu6(x + 3) / 6.

    >>> pb.hard_sigmoid([-4.0, 0.0, 1.5])
    Tensor([0.  , 0.5 , 0.75], dtype=float32)
    """
    return _core.divide(relu6(_core.add(made_floating(x, "hard_sigmoid"), 3)), 6)


def hard_silu(x: TensorLike, /) -> Tensor:
    """x hard_sigmoid(x) (Howard et al., 2019).

    >>> pb.hard_silu([-4.0, 0.0, 3.0])
    Tensor([-0.,  0.,  3.], dtype=float32)
    """
    x = made_floating(x, "hard_silu")
    return _core.multiply(x, hard_sigmoid(x))


def celu(x: TensorLike, /, alpha: float = 1.0) -> Tensor:
    """x above 0, alpha (exp(x / alpha) - 1) below: `elu` with a continuous slope for every alpha
    (Barron, 2017).

    >>> pb.celu([-1.0, 2.0])
    Tensor([-0.63212055,  2.        ], dtype=float32)
    """
    x = made_floating(x, "celu")
    below = _core.expm1(_core.divide(x, alpha))
    return _core.where(_core.less(x, 0), _core.multiply(below, alpha), x)


def glu(x: TensorLike, /, axis: SupportsIndex = -1) -> Tensor:
    """The first half of x along an axis, times the sigmoid of the second (Dauphin et al., 2016).
    An axis of odd length is a ValueError.

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
    """min(max(x, -1), 1), whose slope is 1 from -1 to 1.

    >>> pb.hard_tanh([-3.0, 0.5, 2.0])
    Tensor([-1. ,  0.5,  1. ], dtype=float32)
    """
    return _core.clip(made_floating(x, "hard_tanh"), -1, 1)


def gelu(x: TensorLike, /, *, approximate: str = "none") -> Tensor:
    """x times the normal distribution's share below x (Hendrycks and Gimpel, 2016), accurate in the
    tail, too; with `approximate="tanh"` x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2.

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
    # (1 + tanh(u)) / 2 is sigmoid(2 u), which keeps its digits where tanh is -1.
    cubic = _core.multiply(_core.multiply(x, x), 0.044715 * 1.5957691216057308)
    inside = _core.multiply(x, _core.add(cubic, 1.5957691216057308))
    return _core.multiply(x, _core.sigmoid(inside))
