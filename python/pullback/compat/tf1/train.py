# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.train`: optimizers, and the global step, an integer variable that counts the updates of a
graph. What optimizers share is in optimizer.py."""

from __future__ import annotations

from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from ... import _core
from ..._training import update_rules as rules
from ..._training.rows import adam_by_rows
from ._graph import mode
from ._graph.graph import Graph, GraphKeys, get_default_graph
from ._ops.array_ops import zeros
from ._training import decay, saver
from ._training.coordinator import Coordinator as Coordinator
from ._training.coordinator import start_queue_runners as start_queue_runners
from ._training.decay import *
from ._training.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from ._training.optimizer import Optimizer
from ._training.optimizer_hooks import check_rows, slots_of
from ._training.saver import *
from ._variables.variable_scope import get_variable
from .dtypes import as_dtype, int64
from .names import absent, public_names


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
    slots = slots_of("momentum")


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015) in its ε̂ form: ε is outside of the root and not corrected."""

    rule = staticmethod(rules.adam)
    arguments = (
        "learning_rate=0.001 beta1=0.9 beta2=0.999 epsilon=1e-08 use_locking=False name='Adam'"
    )
    slots = slots_of("m v:s")
    powers = MappingProxyType({"beta1_power": "beta1", "beta2_power": "beta2"})

    def _derived(self, hyper: dict[str, Any]) -> dict[str, Any]:
        root = _core.sqrt(1 - hyper["beta2_power"])
        rate = hyper["learning_rate"] * root / (1 - hyper["beta1_power"])
        return hyper | {"learning_rate": rate}

    def _update_rows(self, v: Any, values: Any, indices: Any, state: Any, hyper: Any) -> Any:
        check_rows(v, values, indices)
        return adam_by_rows(v, values, indices, state, hyper)


class RMSPropOptimizer(Optimizer):
    """g divided by the root of a decaying mean of g², which starts at 1; ε is inside the root."""

    rule = staticmethod(rules.rms_prop)
    arguments = (
        "learning_rate decay=0.9 momentum=0.0 epsilon=1e-10 use_locking=False centered=False "
        "name='RMSProp'"
    )

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.slots = slots_of(f"rms=1 {'mg:mean ' * self._hyper['centered']}momentum")


class AdagradOptimizer(Optimizer):
    """a = a + g², from `initial_accumulator_value`; v -= r g / √a."""

    rule = staticmethod(rules.adagrad)
    arguments = "learning_rate initial_accumulator_value=0.1 use_locking=False name='Adagrad'"
    slots = slots_of("accumulator=initial_accumulator_value")
    positive = "initial_accumulator_value"


class AdadeltaOptimizer(Optimizer):
    """Steps as long as the steps before them (Zeiler, 2012)."""

    rule = staticmethod(rules.adadelta)
    arguments = "learning_rate=0.001 rho=0.95 epsilon=1e-08 use_locking=False name='Adadelta'"
    slots = slots_of("accum:accumulator accum_update:updates")


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013); the variable's first value is lost in
    the first step."""

    rule = staticmethod(rules.ftrl)
    arguments = (
        "learning_rate learning_rate_power=-0.5 initial_accumulator_value=0.1 "
        "l1_regularization_strength=0.0 l2_regularization_strength=0.0 use_locking=False "
        "name='Ftrl' accum_name=None linear_name=None l2_shrinkage_regularization_strength=0.0 "
        "beta=None"
    )
    slots = slots_of("accum:accumulator=initial_accumulator_value linear")

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._names = {slot: self._hyper.pop(f"{slot}_name") for slot in self.slots}
        if self._hyper["beta"] is None:
            self._hyper["beta"] = 0.0
        for name in self._hyper:
            if name.endswith("_strength") or name == "initial_accumulator_value":
                self._check(name, "at least 0", lambda x: x >= 0)
        self._check("learning_rate_power", "at most 0", lambda x: x <= 0)

    def _slot_name(self, slot: str) -> str:
        return str(self._names[slot] or self._name)

    def _derived(self, hyper: dict[str, Any]) -> dict[str, Any]:
        kinds = ("l1", "l2", "l2_shrinkage")
        return hyper | {kind: hyper[f"{kind}_regularization_strength"] for kind in kinds}


def get_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, that of the collection or the variable `global_step`; or None."""
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    found += [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
              if v.op.name == "global_step"]  # fmt: skip
    return found[0] if found else None


def create_global_step(graph: Graph | None = None) -> Any:
    """A new int64 variable that is not trainable; ValueError if the graph has one already."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("create_global_step: the graph has a global step already")
    context = nullcontext() if mode.executing_eagerly() else graph.as_default()
    where = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
    with context, graph.name_scope(None), graph.control_dependencies(None):
        return get_variable("global_step", initializer=zeros([], int64), trainable=False,
                            collections=where)  # fmt: skip


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, made if there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The value of a global step in a session."""
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """TypeError unless it is a scalar of integers."""
    if not as_dtype(global_step_tensor.dtype).is_integer or global_step_tensor.shape.ndims != 0:
        raise TypeError(f"global_step: expected a scalar of integers, got {global_step_tensor!r}")


__all__ = public_names(
    globals(),
    "Coordinator",
    "ExponentialMovingAverage",
    "Optimizer",
    "start_queue_runners",
    *decay.__all__,
    *saver.__all__,
)
__getattr__ = absent(__name__)
