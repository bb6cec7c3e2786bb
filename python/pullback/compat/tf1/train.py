"""`tf.train`: optimizers. What they share is in optimizer.py."""

from __future__ import annotations

from typing import Any

from .global_step import create_global_step, get_global_step, get_or_create_global_step
from .optimizer import Optimizer

__all__ = [
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "create_global_step",
    "get_global_step",
    "get_or_create_global_step",
]


class GradientDescentOptimizer(Optimizer):
    """v -= r g.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     v = tf.Variable(1.0)
    ...     step = tf.train.GradientDescentOptimizer(0.25).minimize(v * v)
    ...     session.run(v.initializer)
    ...     session.run(step)
    ...     session.run(v)
    np.float32(0.5)
    """

    def __init__(
        self, learning_rate: Any, use_locking: bool = False, name: str = "GradientDescent"
    ) -> None:
        super().__init__(use_locking, name, "GradientDescent", {"learning_rate": learning_rate})


class MomentumOptimizer(Optimizer):
    """m = momentum m + g, from m = 0; v -= r m. With `use_nesterov` v -= r (g + momentum m)."""

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        hyper = {"learning_rate": learning_rate, "momentum": momentum}
        super().__init__(use_locking, name, "Momentum", hyper, {"use_nesterov": bool(use_nesterov)})
        self._slots_wanted = {"momentum": ("Momentum", 0.0)}


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015) in its ε̂ form: ε is outside of the root and not corrected."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        hyper = {"learning_rate": learning_rate, "beta1": beta1, "beta2": beta2, "epsilon": epsilon}
        super().__init__(use_locking, name, "Adam", hyper)
        self._slots_wanted = {"m": ("Adam", 0.0), "v": ("Adam_1", 0.0)}
        self._powers_wanted = {"beta1_power": "beta1", "beta2_power": "beta2"}


class RMSPropOptimizer(Optimizer):
    """g divided by the root of a decaying mean of g², which starts at 1; ε is inside the root."""

    def __init__(
        self,
        learning_rate: Any,
        decay: Any = 0.9,
        momentum: Any = 0.0,
        epsilon: Any = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        name: str = "RMSProp",
    ) -> None:
        hyper = {
            "learning_rate": learning_rate,
            "decay": decay,
            "momentum": momentum,
            "epsilon": epsilon,
        }
        super().__init__(use_locking, name, "RMSProp", hyper)
        self._slots_wanted = {"rms": ("RMSProp", 1.0)}
        if centered:
            self._slots_wanted["mg"] = ("RMSProp_1", 0.0)
        last = "RMSProp_2" if centered else "RMSProp_1"
        self._slots_wanted["momentum"] = (last, 0.0)
