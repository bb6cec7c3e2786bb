"""Session: the values of variables, and running fetches.

`run` searches its programs (instantiate.py) for the fetches and the feed signature; only a new
combination is traced and planned.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from .... import _core
from ...._base import settings
from .._graph.graph import Graph, get_default_graph
from .._graph.mode import executing_eagerly
from .._graph.operation import Operation, stack
from .._graph.operation import get_default_session as get_default_session
from .._graph.tensor import SymbolicTensor as Tensor
from .._ops.indexed_slices import mapped
from ..errors import InvalidArgumentError
from .fetches import as_value, fed_tensor, feed_array, feed_pairs, flat_fetches, note_run
from .host_run import HostProgram, Steps
from .instantiate import Feed, Program, Run, Slot, make_program, needed_operations, static_feeds

__all__ = ["ConfigProto", "GPUOptions", "InteractiveSession", "Session", "get_default_session"]

_MOST_PROGRAMS = 512
_tracing = threading.RLock()
_counting = threading.Lock()


@dataclass
class GPUOptions:
    """Options that are accepted and stored; computation is on the CPU."""

    allow_growth: bool = False
    per_process_gpu_memory_fraction: float = 0.0
    visible_device_list: str = ""


@dataclass
class ConfigProto:
    """Options of a session, accepted and stored without effect.

    `pullback.set_num_threads` sets the number of threads.
    """

    allow_soft_placement: bool = False
    log_device_placement: bool = False
    gpu_options: GPUOptions = field(default_factory=GPUOptions)
    intra_op_parallelism_threads: int = 0
    inter_op_parallelism_threads: int = 0
    device_count: Mapping[str, int] = field(default_factory=dict)


@contextmanager
def _draws_from(seed: int, counter: int) -> Iterator[None]:
    """Draw this thread's random numbers from a place of a sequence inside."""
    outside = _core.exchange_thread_draws((seed, counter))
    try:
        yield
    finally:
        _core.exchange_thread_draws(outside)


# Programs refer to these functions, not to the session's methods: that would be a cycle.
def _slot_of(slots: dict[Any, Slot], variable: Any) -> Slot:
    return slots.setdefault(variable, Slot())


def _traced_by(session: Callable[[], Any], *args: Any) -> Program | None:
    program: Program | None = session()._traced(*args)
    return program


class Session:
    """Run a graph and store the values of its variables.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     x = tf.placeholder(tf.float32)
    ...     with tf.Session() as session:
    ...         session.run({"twice": 2 * x}, feed_dict={x: [1, 2]})
    {'twice': array([2., 4.], dtype=float32)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if target not in ("", "local"):
            raise InvalidArgumentError(
                None,
                f"Session: expected '' for target, got {target!r}; a session runs in this process",
            )
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"Session: expected a tf.Graph for graph, got {graph!r:.60}")
        if config is not None and not isinstance(config, ConfigProto):
            raise TypeError(f"Session: expected a tf.ConfigProto for config, got {config!r:.60}")
        self.graph = get_default_graph() if graph is None else graph
        self._closed = False
        self._slots: dict[Any, Slot] = {}
        self._slot: Callable[[Any], Slot] = partial(_slot_of, self._slots)
        self._programs: dict[Any, Program | HostProgram] = {}
        self._statics: dict[Any, tuple[set[Tensor], str, list[Operation]]] = {}
        self._random: tuple[int, int] = (-1, 0)  # the seed, and the number of runs that have drawn
        self._samples = 0
        self._context: Any = None

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Compute the values of the fetches, in their structure.

        A fetch is a tensor, a variable, an operation (its value is None) or a name. A fed tensor
        has the fed value for every use. The session is unchanged after an error.

        Raises
        ------
        TypeError, ValueError
            If a fetch or a feed is invalid.
        InvalidArgumentError
            If a placeholder is not fed, or shapes are incompatible.
        FailedPreconditionError
            If a variable has no value.
        """
        if self._closed:
            raise RuntimeError("run: this session is closed")
        if executing_eagerly() or not self.graph._operations:
            raise RuntimeError(
                "run: the session's graph is empty; add operations to it first (in eager mode "
                "operations have values at once and are in no graph)"
            )
        elements = flat_fetches(self.graph, fetches)
        pairs = feed_pairs(self.graph, feed_dict)
        answers = self._values(elements, pairs)
        if settings.debugging:
            note_run(self.graph, pairs, elements, answers)
        values = iter(answers)
        return mapped(lambda _: next(values), fetches)

    def _values(self, elements: list[Tensor | Operation], pairs: list[Any]) -> list[Any]:
        results = self._results(elements, pairs)
        return [as_value(e, r) for e, r in zip(elements, results, strict=True)]

    def _results(self, elements: list[Tensor | Operation], pairs: list[Any]) -> list[Any]:
        which = (*elements, None, *(tensor for tensor, _ in pairs))
        found = self._statics.get(which)
        if found is None:
            fed = {tensor for tensor, _ in pairs}
            ops = needed_operations(elements, fed)[0]
            drawn = [op for op in ops if op.definition.sampled and not fed.issuperset(op.outputs)]
            fed.update(out for op in drawn for out in op.outputs)
            kind = "host" if any(op.definition.host for op in ops) else "traced"
            found = self._statics[which] = static_feeds(ops, fed), kind, drawn
        static, kind, drawn = found
        if drawn:
            pairs = pairs + self._sampled(drawn, pairs)
        signature = tuple(
            (array.shape, array.tobytes()) if tensor in static else array.shape
            for tensor, array in pairs
        )
        program = self._programs.get((which, signature))
        if program is None or not program.is_valid():
            feeds = [
                Feed(tensor, array.shape, array if tensor in static else None)
                for tensor, array in pairs
            ]
            program = self._traced(elements, feeds) if kind == "traced" else None
            if program is None:
                if kind == "traced":
                    self._statics[which] = static, "computed", drawn
                make = partial(_traced_by, ref(self), elements, feeds) if kind == "host" else None
                program = HostProgram(elements, feeds, self._slot, make)
            if len(self._programs) >= _MOST_PROGRAMS:
                del self._programs[next(iter(self._programs))]
            self._programs[which, signature] = program
        values = [_core.constant(array) for _, array in pairs]
        return self._drawn(lambda: program.run(values))

    def _traced(
        self, elements: list[Tensor | Operation], feeds: list[Feed], kinds: Any = None
    ) -> Program | None:
        make = Run if kinds is None else partial(Steps, kinds=dict(kinds))
        with _tracing, _draws_from(0, 0):  # draws of the trace are discarded
            return make_program(elements, feeds, partial(make, self._slot))

    def _sampled(self, ops: list[Operation], feeds: list[Any]) -> list[tuple[Tensor, Any]]:
        """Return the values fed before a run: NumPy draws and elements of datasets."""
        seed = self.graph._random_seed()
        self._samples += 1
        generator = np.random.default_rng(None if seed is None else [seed, self._samples])
        pairs: list[tuple[Tensor, Any]] = []
        for op in ops:
            values = op.definition.sampled(self, feeds, generator, **op.attrs)  # type: ignore[misc]
            arrays = (np.asarray(value) for value in values)
            pairs.extend(zip(op.outputs, arrays, strict=True))
        fed = {tensor for tensor, _ in feeds}
        return [(out, array) for out, array in pairs if out not in fed]

    def _drawn(self, function: Callable[[], list[Any]]) -> list[Any]:
        """Call a function; with a seed of the graph each run has its own sequence of numbers."""
        seed = self.graph._random_seed()
        if seed is None:
            return function()
        with _counting:
            count = self._random[1] if self._random[0] == seed else 0
            self._random = (seed, count + 1)
        with _draws_from(_core.seed_of_child(seed, count), 0):
            return function()

    def _rehearsed(self, fetches: list[Any], feeds: Mapping[Tensor, Any]) -> list[Any]:
        """Return the result that `run` would have; the session stays unchanged."""
        copy = Session(graph=self.graph)
        with _draws_from(*_core.random_state()):
            copy._random, copy._samples = self._random, self._samples
            for variable, slot in self._slots.items():
                if slot.initialized:
                    value = slot.core.read()
                    copy._slots[variable] = Slot(
                        _core.slot_variable(value, variable.op.name), initialized=True
                    )
            return copy._values(fetches, list(feeds.items()))

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """Return a function that runs the fetches, with the values of `feed_list` as arguments.

        Fetches and feeds are checked here, once.
        """
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f"make_callable: expected a list for feed_list, got {feed_list!r:.60}")
        keys = [fed_tensor(self.graph, key) for key in feed_list or ()]
        elements = flat_fetches(self.graph, fetches)

        def call(*values: Any) -> Any:
            if len(values) != len(keys):
                raise ValueError(
                    f"make_callable: expected {len(keys)} values as in feed_list, got {len(values)}"
                )
            if self._closed:
                raise RuntimeError("run: this session is closed")
            pairs = [(x, feed_array(x, value)) for x, value in zip(keys, values, strict=True)]
            results = self._results(elements, list(dict(pairs).items()))
            made = (as_value(e, r) for e, r in zip(elements, results, strict=True))
            return mapped(lambda _: next(made), fetches)

        return call

    @property
    def graph_def(self) -> Any:
        """`as_graph_def` of the graph."""
        return self.graph.as_graph_def()

    def close(self) -> None:
        """Release all values; the session cannot run any more."""
        self._closed = True
        self._slots.clear()
        self._programs.clear()
        self._statics.clear()

    @contextmanager
    def as_default(self) -> Iterator[Session]:
        """Make this the session of `.eval()` and `.run()`, and leave it open at exit."""
        stack.sessions.append(self)
        try:
            yield self
        finally:
            stack.sessions.remove(self)

    def __enter__(self) -> Session:
        if self._context is not None:
            raise RuntimeError("Session: already entered; a session is not re-entrant")
        self._context = ExitStack()
        self._context.enter_context(self.graph.as_default())
        self._context.enter_context(self.as_default())
        return self

    def __exit__(self, *error: Any) -> None:
        context, self._context = self._context, None
        context.close()
        self.close()


class InteractiveSession(Session):
    """A session that is the default one from its creation until it is closed."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._default = ExitStack()
        self._default.enter_context(self.as_default())

    def close(self) -> None:
        self._default.close()
        super().close()
