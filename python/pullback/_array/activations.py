"""Activations. All are stable: no large argument overflows on the way."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


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
