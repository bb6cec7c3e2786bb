"""Activations and losses: `pb.nn`."""

from ._array.activations import log_softmax, relu, sigmoid, softmax, softplus
from ._array.losses import softmax_cross_entropy, sparse_softmax_cross_entropy

__all__ = [
    "log_softmax",
    "relu",
    "sigmoid",
    "softmax",
    "softmax_cross_entropy",
    "softplus",
    "sparse_softmax_cross_entropy",
]
