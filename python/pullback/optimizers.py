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
    constant,
    cosine,
    exponential,
    linear,
    one_cycle,
    piecewise,
    warm_up,
)

__all__ = [
    "Accumulated",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "AdagradDA",
    "Adam",
    "AdamW",
    "Ftrl",
    "GradientDescent",
    "Lamb",
    "Lion",
    "Momentum",
    "Nadam",
    "Optimizer",
    "ProximalAdagrad",
    "ProximalGradientDescent",
    "RMSProp",
    "constant",
    "cosine",
    "exponential",
    "linear",
    "one_cycle",
    "piecewise",
    "warm_up",
]
