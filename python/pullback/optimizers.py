"""Optimizers and schedules of their learning rates: `pb.optimizers`."""

from typing import TYPE_CHECKING

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


if not TYPE_CHECKING:  # checkers know the names themselves

    def __getattr__(name):
        from ._runtime.hints import of_optimizers

        hint = "" if name.startswith("_") else of_optimizers(name)
        raise AttributeError(f"module 'pullback.optimizers' has no attribute {name!r}{hint}")


del TYPE_CHECKING
