# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.train`: optimizers, the global step, and `Coordinator`.

The global step is an integer variable that counts the updates of a graph. A `Coordinator` stops
threads together. optimizer.py has the base class of optimizers.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from types import MappingProxyType
from typing import Any

from ... import _core
from ...optimizers import _update_rules as rules
from ...optimizers._row_updates import adam_by_rows
from ._graph import mode
from ._graph.graph import Graph, GraphKeys, get_default_graph
from ._ops.array_ops import zeros
from ._training import decay, saver
from ._training.decay import *
from ._training.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from ._training.optimizer import Optimizer
from ._training.optimizer_hooks import check_rows, slots_of
from ._training.saver import *
from ._variables.variable_scope import get_variable
from .dtypes import as_dtype, int64
from .errors import OutOfRangeError
from .names import public_names


class GradientDescentOptimizer(Optimizer):
    """Gradient descent: v -= r g.

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
    """Momentum: m = momentum m + g from m = 0; v -= r m.

    With `use_nesterov` the update is v -= r (g + momentum m).
    """

    rule = staticmethod(rules.momentum)
    arguments = "learning_rate momentum use_locking=False name='Momentum' use_nesterov=False"
    slots = slots_of("momentum")


class AdamOptimizer(Optimizer):
    """Adam (Kingma and Ba, 2015) in its ε̂ form: ε is outside the root and not corrected."""

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
    """RMSProp: divide g by the root of a decaying mean of g².

    The mean starts at 1, and ε is inside the root.
    """

    rule = staticmethod(rules.rms_prop)
    arguments = (
        "learning_rate decay=0.9 momentum=0.0 epsilon=1e-10 use_locking=False centered=False "
        "name='RMSProp'"
    )

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.slots = slots_of(f"rms=1 {'mg:mean ' * self._hyper['centered']}momentum")


class AdagradOptimizer(Optimizer):
    """Adagrad: a = a + g², from `initial_accumulator_value`; v -= r g / √a."""

    rule = staticmethod(rules.adagrad)
    arguments = "learning_rate initial_accumulator_value=0.1 use_locking=False name='Adagrad'"
    slots = slots_of("accumulator=initial_accumulator_value")
    positive = "initial_accumulator_value"


class AdadeltaOptimizer(Optimizer):
    """Adadelta (Zeiler, 2012): steps scaled by the size of earlier steps."""

    rule = staticmethod(rules.adadelta)
    arguments = "learning_rate=0.001 rho=0.95 epsilon=1e-08 use_locking=False name='Adadelta'"
    slots = slots_of("accum:accumulator accum_update:updates")


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader (McMahan et al., 2013).

    The initial value of a variable is lost in the first step.
    """

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
    """Return the global step of the graph, or None.

    It is in the collection GLOBAL_STEP, or the variable `global_step`.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    found += [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
              if v.op.name == "global_step"]  # fmt: skip
    return found[0] if found else None


def create_global_step(graph: Graph | None = None) -> Any:
    """Create an int64 variable that is not trainable; ValueError if the graph has one."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError(
            "create_global_step: expected a graph without a global step, got one that has it; use "
            "get_or_create_global_step"
        )
    context = nullcontext() if mode.executing_eagerly() else graph.as_default()
    where = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
    with context, graph.name_scope(None), graph.control_dependencies(None):
        return get_variable("global_step", initializer=zeros([], int64), trainable=False,
                            collections=where)  # fmt: skip


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Return the graph's global step, created if there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Return the value of a global step in a session."""
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """Raise TypeError unless the tensor is a scalar integer."""
    if not as_dtype(global_step_tensor.dtype).is_integer or global_step_tensor.shape.ndims != 0:
        raise TypeError(f"global_step: expected a scalar of integers, got {global_step_tensor!r}")


class Coordinator:
    """Stop several threads together.

    `join` raises the first error that a thread reports by `request_stop`, or inside
    `stop_on_exception`. Errors of `clean_stop_exception_types` (OutOfRangeError) only stop the
    threads.

    >>> import threading
    >>> from pullback.compat import tf1 as tf
    >>> coord, done = tf.train.Coordinator(), []
    >>> def work():
    ...     while not coord.should_stop():
    ...         done.append(1)
    ...         if len(done) >= 10:
    ...             coord.request_stop()
    >>> threads = [threading.Thread(target=work) for _ in range(2)]
    >>> for thread in threads:
    ...     thread.start()
    >>> coord.join(threads)
    >>> coord.should_stop(), coord.joined, len(done) >= 10
    (True, True, True)
    """

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        given = clean_stop_exception_types
        self._clean = (OutOfRangeError,) if given is None else tuple(given)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._threads: set[threading.Thread] = set()
        self._joined = False

    @property
    def joined(self) -> bool:
        """Test whether `join` has returned."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Request that the threads stop; `ex` is an error or a triple of `sys.exc_info`."""
        error = ex[1] if isinstance(ex, tuple) else ex
        if error is not None and not isinstance(error, BaseException):
            raise TypeError(f"request_stop: expected an exception for ex, got {ex!r:.60}")
        error = None if isinstance(error, self._clean) else error
        with self._lock:
            if error is not None and self._joined:
                raise error
            if not self._stop.is_set():
                self._error = error
            self._stop.set()

    def should_stop(self) -> bool:
        """Return whether a stop was requested."""
        return self._stop.is_set()

    def clear_stop(self) -> None:
        """Reset the request to stop."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested; return False after `timeout` seconds."""
        return self._stop.wait(timeout)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Request a stop if the block raises; `join` raises the error."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def register_thread(self, thread: threading.Thread) -> None:
        """Add a thread that `join` waits for."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self, threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120, ignore_live_threads: bool = False,
    ) -> None:  # fmt: skip
        """Wait for the threads, at most the grace period after a request to stop.

        Then the first reported error is raised; RuntimeError if a thread has not stopped.
        """
        with self._lock:
            waiting = self._threads.union(threads or ())
        while any(t.is_alive() for t in waiting) and not self.wait_for_stop(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, end - time.monotonic()))
        alive = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined, self._threads = True, set()
        self.raise_requested_exception()
        if alive and not ignore_live_threads:
            raise RuntimeError(
                f"join: Coordinator stopped with threads still running: {' '.join(alive)}; let "
                "them return when should_stop() is True"
            )

    def raise_requested_exception(self) -> None:
        """Raise the error that a thread has reported, if there is one."""
        if self._error is not None:
            raise self._error


def start_queue_runners(
    sess: Any = None, coord: Any = None, daemon: bool = True, start: bool = True,
    collection: str = "queue_runners",
) -> list[threading.Thread]:  # fmt: skip
    """Return an empty list: there are no queues, and so no threads that fill them."""
    return []


__all__ = public_names(
    globals(),
    "ExponentialMovingAverage",
    "Optimizer",
    *decay.__all__,
    *saver.__all__,
)
