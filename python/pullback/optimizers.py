"""Optimizers and schedules of their learning rates: `pb.optimizers`."""

from ._training.accumulated import Accumulated
from ._training.adam import Adam, AdamW, Lamb, Nadam
from ._training.adaptive import (
    Adadelta,
    Adafactor,
    Adagrad,
    AdagradDA,
    Ftrl,
    ProximalAdagrad,
    RMSProp,
)
from ._training.descent import GradientDescent, Lion, Momentum, ProximalGradientDescent
from ._training.optimizer import Optimizer
from ._training.schedules import (
    Constant,
    Cosine,
    Exponential,
    Linear,
    OneCycle,
    Piecewise,
    WarmUp,
)

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
