"""Optimizers and schedules of their learning rates: `pb.optimizers`."""

from ._accumulated import Accumulated
from ._adam import Adam, AdamW, Lamb, Nadam
from ._adaptive import Adadelta, Adafactor, Adagrad, AdagradDA, Ftrl, ProximalAdagrad, RMSProp
from ._descent import GradientDescent, Lion, Momentum, ProximalGradientDescent
from ._optimizer import Optimizer
from ._schedules import Constant, Cosine, Exponential, Linear, OneCycle, Piecewise, WarmUp

__all__ = [
    "Accumulated",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "AdagradDA",
    "Adam",
    "AdamW",
    "Constant",
    "Cosine",
    "Exponential",
    "Ftrl",
    "GradientDescent",
    "Lamb",
    "Linear",
    "Lion",
    "Momentum",
    "Nadam",
    "OneCycle",
    "Optimizer",
    "Piecewise",
    "ProximalAdagrad",
    "ProximalGradientDescent",
    "RMSProp",
    "WarmUp",
]
