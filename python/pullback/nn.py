"""Activations and losses: `pb.nn`."""

from ._array.activations import (
    elu,
    hard_sigmoid,
    hard_silu,
    leaky_relu,
    log_sigmoid,
    log_softmax,
    mish,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softmax,
    softplus,
    softsign,
)
from ._array.losses import softmax_cross_entropy, sparse_softmax_cross_entropy

__all__ = [
    "elu",
    "hard_sigmoid",
    "hard_silu",
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
    "softmax_cross_entropy",
    "softplus",
    "softsign",
    "sparse_softmax_cross_entropy",
]
