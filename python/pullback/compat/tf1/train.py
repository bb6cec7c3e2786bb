"""`tf.train`: optimizers, and the global step, an integer variable that counts the updates of a
graph. What optimizers share is in optimizer.py."""

from __future__ import annotations

from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from ... import _core
from ..._training import update_rules as rules
from . import mode
from .array_ops import zeros
from .dtypes import int64
from .graph import Graph, GraphKeys, get_default_graph
from .names import absent, public_names
from .optimizer import Optimizer
from .variables import Variable


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

    rule = staticmethod(rules.gradient_descent)
    arguments = "learning_rate use_locking=False name='GradientDescent'"


class MomentumOptimizer(Optimizer):
    """m = momentum m + g, from m = 0; v -= r m. With `use_nesterov` v -= r (g + momentum m)."""

    rule = staticmethod(rules.momentum)
    arguments = "learning_rate momentum use_locking=False name='Momentum' use_nesterov=False"
    slots = MappingProxyType({"momentum": ("momentum", "Momentum", 0.0)})


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015) in its ε̂ form: ε is outside of the root and not corrected."""

    rule = staticmethod(rules.adam)
    arguments = (
        "learning_rate=0.001 beta1=0.9 beta2=0.999 epsilon=1e-08 use_locking=False name='Adam'"
    )
    slots = MappingProxyType({"m": ("m", "Adam", 0.0), "v": ("s", "Adam_1", 0.0)})
    powers = MappingProxyType({"beta1_power": "beta1", "beta2_power": "beta2"})

    def _prepare(self, hyper: dict[str, Any]) -> dict[str, Any]:
        root = _core.sqrt(1 - hyper["beta2_power"])
        rate = hyper["learning_rate"] * root / (1 - hyper["beta1_power"])
        return hyper | {"learning_rate": rate}


class RMSPropOptimizer(Optimizer):
    """g divided by the root of a decaying mean of g², which starts at 1; ε is inside the root."""

    rule = staticmethod(rules.rms_prop)
    arguments = (
        "learning_rate decay=0.9 momentum=0.0 epsilon=1e-10 use_locking=False centered=False "
        "name='RMSProp'"
    )

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        centered = self._hyper["centered"]
        self.slots = {
            "rms": ("rms", "RMSProp", 1.0),
            **({"mg": ("mean", "RMSProp_1", 0.0)} if centered else {}),
            "momentum": ("momentum", "RMSProp_2" if centered else "RMSProp_1", 0.0),
        }


def get_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, or None."""
    found = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return found[0] if found else None


def create_global_step(graph: Graph | None = None) -> Any:
    """A new int64 variable that is not trainable; ValueError if the graph has one already."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("create_global_step: the graph has a global step already")
    context = nullcontext() if mode.executing_eagerly() else graph.as_default()
    with context, graph.name_scope(None):
        step = Variable(zeros([], int64), trainable=False, name="global_step")
    graph.add_to_collection(GraphKeys.GLOBAL_STEP, step)
    return step


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, made if there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


__all__ = public_names(globals(), "Optimizer")
__getattr__ = absent(__name__)
