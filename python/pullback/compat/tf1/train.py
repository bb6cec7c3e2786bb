"""`tf.train`: optimizers, and the global step, an integer variable that counts the updates of a
graph. What optimizers share is in optimizer.py."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from ... import _core
from ..._training import update_rules as rules
from . import mode
from .absent import absent
from .array_ops import zeros
from .dtypes import int64
from .graph import Graph, GraphKeys, get_default_graph
from .optimizer import Optimizer
from .variables import Variable

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
        super().__init__(use_locking, name, rules.gradient_descent, learning_rate=learning_rate)


class MomentumOptimizer(Optimizer):
    """m = momentum m + g, from m = 0; v -= r m. With `use_nesterov` v -= r (g + momentum m)."""

    slots = MappingProxyType({"momentum": ("momentum", "Momentum", 0.0)})

    def __init__(
        self,
        learning_rate: Any,
        momentum: Any,
        use_locking: bool = False,
        name: str = "Momentum",
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(
            use_locking, name, rules.momentum,
            learning_rate=learning_rate, momentum=momentum, use_nesterov=bool(use_nesterov),
        )  # fmt: skip


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015) in its ε̂ form: ε is outside of the root and not corrected."""

    slots = MappingProxyType({"m": ("m", "Adam", 0.0), "v": ("s", "Adam_1", 0.0)})
    powers = MappingProxyType({"beta1_power": "beta1", "beta2_power": "beta2"})

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
    ) -> None:
        super().__init__(
            use_locking, name, rules.adam,
            learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
        )  # fmt: skip

    def _prepare(self, hyper: dict[str, Any]) -> dict[str, Any]:
        root = _core.sqrt(1 - hyper["beta2_power"])
        rate = hyper["learning_rate"] * root / (1 - hyper["beta1_power"])
        return hyper | {"learning_rate": rate}


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
        super().__init__(
            use_locking, name, rules.rms_prop,
            learning_rate=learning_rate, decay=decay, momentum=momentum, epsilon=epsilon,
        )  # fmt: skip
        slots = {"rms": ("rms", "RMSProp", 1.0)}
        if centered:
            slots["mg"] = ("mean", "RMSProp_1", 0.0)
        slots["momentum"] = ("momentum", "RMSProp_2" if centered else "RMSProp_1", 0.0)
        self.slots = slots


def get_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, or None."""
    found = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return found[0] if found else None


def create_global_step(graph: Graph | None = None) -> Any:
    """A new int64 variable that is not trainable; ValueError if the graph has one already."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("create_global_step: the graph has a global step already")
    if mode.executing_eagerly():
        step = Variable(zeros([], int64), trainable=False, name="global_step")
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)
        return step
    with graph.as_default(), graph.name_scope(None):
        return Variable(
            zeros([], int64),
            trainable=False,
            name="global_step",
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, made if there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


__getattr__ = absent(__name__)
