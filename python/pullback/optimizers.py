"""Optimizers: `pb.optimizers`."""

from ._training.optimizers import Adam, GradientDescent, Momentum, Optimizer, RMSProp

__all__ = [
    "Adam",
    "GradientDescent",
    "Momentum",
    "Optimizer",
    "RMSProp",
]
