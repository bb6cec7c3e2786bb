"""Optimizers and schedules of their learning rates: `pb.optimizers`."""

from typing import TYPE_CHECKING

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


if not TYPE_CHECKING:  # checkers know the names themselves

    def __getattr__(name):
        from .._base.hints import of_optimizers

        hint = "" if name.startswith("_") else of_optimizers(name, __all__)
        raise AttributeError(f"module 'pullback.optimizers' has no attribute {name!r}{hint}")


del TYPE_CHECKING
