"""GradientTape: in eager mode the main namespace's, in a graph a view of `gradients`.

A tape in a graph counts what was made inside its block from what it watches: the operations of an
interval of numbers. Rules and connectivity are those of `gradients`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pullback

from ...._autodiff.jacobian import check_batches
from ...._core import flatten, unflatten
from ...._runtime import questions, settings
from .._graph import mode
from .._graph.ancestry import ancestors
from .._graph.create import apply, convert_to_tensor, graph_of
from .._graph.graph import get_default_graph
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import as_core, as_eager
from .._ops.indexed_slices import IndexedSlices, eager_slices
from .._variables.variables import Variable
from .backprop import UnconnectedGradients, checked_seeds, pull_back, unconnected
from .jacobians import jacobians, zero_block

__all__ = ["GradientTape"]


class GradientTape(pullback.GradientTape):
    """Records what is made in its block from trainable variables and watched tensors.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(3.0)
    ...     with tf.GradientTape() as tape:
    ...         tape.watch(x)
    ...         y = x * x
    ...     session.run(tape.gradient(y, x))
    np.float32(6.0)
    """

    def __new__(cls, persistent: bool = False, watch_accessed_variables: bool = True) -> Any:
        return super().__new__(EagerTape if mode.executing_eagerly() else GraphTape)

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:  # fmt: skip
        """The gradient of the sum of the targets, in the structure of the sources."""
        choice = unconnected(unconnected_gradients)
        return self._answer(target, sources, output_gradients, choice)

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """The derivative of each element of the target, which is one tensor, by each of the
        sources, in their structure, of shape target.shape + source.shape.

        All rows are computed at once, whatever the last two arguments say; it takes no persistent
        tape.
        """
        choice = unconnected(unconnected_gradients)
        return self._jacobians(target, sources, choice is UnconnectedGradients.ZERO, False)

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """The jacobian of each row of the target by the same row of the source, of shape
        target.shape + source.shape[1:]; zeros where there is no path.

        ValueError where a rank is below 2 or the first axes differ.
        """
        unconnected(unconnected_gradients)
        return self._jacobians(target, source, True, True)

    def _answer(self, target: Any, sources: Any, weights: Any, choice: UnconnectedGradients) -> Any:
        raise NotImplementedError

    def _jacobians(self, target: Any, sources: Any, zeros: bool, batched: bool) -> Any:
        raise NotImplementedError


class EagerTape(GradientTape):
    """The main namespace's tape; takes TensorFlow's enum too, and gives eager tensors."""

    _rows = True

    def watch(self, tensors: Any) -> None:
        super().watch(_plain(tensors))

    def _answer(self, target: Any, sources: Any, weights: Any, choice: UnconnectedGradients) -> Any:
        given, wanted = _plain(target), _plain(sources)
        answer = pullback.GradientTape.gradient(self, given, wanted, _plain(weights), choice.value)
        (answers, structure), xs = flatten(answer), flatten(wanted)[0]
        return unflatten(structure, [eager_slices(g, x) for g, x in zip(answers, xs, strict=True)])

    def _jacobians(self, target: Any, sources: Any, zeros: bool, batched: bool) -> Any:
        ask = pullback.GradientTape.batch_jacobian if batched else pullback.GradientTape.jacobian
        answer = ask(self, _plain(target), _plain(sources), "zero" if zeros else "none")
        answers, structure = flatten(answer)
        return unflatten(structure, [as_eager(g) for g in answers])


def _plain(nest: Any) -> Any:
    """Eager tensors in a nest as the main namespace's."""
    leaves, structure = flatten(nest)
    dense = (convert_to_tensor(x) if isinstance(x, IndexedSlices) else x for x in leaves)
    return unflatten(structure, [as_core(x) for x in dense])


@dataclass(eq=False)
class _Intervals:
    """What _core.Tape is for values: which operations were made while it recorded, and what is
    watched."""

    accessed: bool
    recording: bool = False
    graph: Any = None
    intervals: list[list[float]] = field(default_factory=list)
    watched: dict[Tensor, Any] = field(default_factory=dict)  # by tensor or handle

    def start(self) -> None:
        self.graph = get_default_graph()
        self.recording = True
        self.intervals.append([len(self.graph._operations), float("inf")])

    def stop(self) -> None:
        self.recording = False
        self.intervals[-1][1] = len(self.graph._operations)

    pause = stop

    def resume(self) -> None:
        if not self.recording:
            self.start()

    def reset(self) -> None:
        self.intervals, self.watched = [], {}
        if self.recording:
            self.start()

    def recorded(self, op: Operation) -> bool:
        # The read that everybody shares was made before.
        inside = any(a <= op.number < b for a, b in self.intervals)
        return inside or op.type == "ReadVariableOp"

    def counts(self, x: Any, handle: Tensor) -> bool:
        """Whether a source was watched, or is made from what was."""
        if isinstance(x, Variable) and self.accessed and x.trainable:
            return True
        made = bool(handle.op.inputs) and self.recorded(handle.op) and not isinstance(x, Variable)
        return handle in self.watched or made

    def edge(self, ys: list[Tensor], sources: set[Tensor]) -> list[Tensor]:
        """What recorded operations use of others, which is constant, but for the sources."""
        recorded = self.recorded
        used = [x for op in ancestors(ys) if recorded(op) for x in op.inputs]
        return [x for x in dict.fromkeys([*used, *ys]) if not recorded(x.op) and x not in sources]

    def watched_variables(self) -> list[Any]:
        found = {v for v in self.watched.values() if isinstance(v, Variable)}
        for op in self.graph._operations if self.accessed and self.graph else ():
            if self.recorded(op) and op.type != "ReadVariableOp":
                read = (x.op.attrs["variable"] for x in op.inputs if x.op.type == "ReadVariableOp")
                found.update(v for v in read if v.trainable)
        return sorted(found, key=lambda v: int(v.op.number))


def _by_handle(xs: list[Any], who: str, error: type[Exception]) -> list[tuple[Tensor, Any]]:
    """Each tensor or variable behind the tensor that stands for it."""
    pairs = [(getattr(x, "handle", x), x) for x in xs]
    for handle, x in pairs:
        if not isinstance(handle, Tensor):
            raise error(f"{who}: expected tensors and variables, got {x!r:.60}")
    return pairs


class GraphTape(GradientTape):
    """A tape in a graph."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        super().__init__(persistent, watch_accessed_variables)
        self._seen = self._tape = _Intervals(watch_accessed_variables)  # type: ignore[assignment]

    def watch(self, tensors: Any) -> None:
        if not self._entered:
            raise RuntimeError("watch: enter the tape first: `with GradientTape() as tape:`")
        self._seen.watched.update(_by_handle(flatten(tensors)[0], "watch", ValueError))

    def _asked(self, targets: list[Any], xs: list[Any], who: str) -> tuple[list[Any], list[Any]]:
        """The targets as tensors and the handles of the sources, when the tape may be asked."""
        _by_handle(targets, who, TypeError)
        handles = [handle for handle, _ in _by_handle(xs, who, TypeError)]
        self._check_unused(who)
        ys = [convert_to_tensor(t) for t in targets]
        self._used = not self._persistent
        return ys, handles

    def _jacobians(self, target: Any, sources: Any, zeros: bool, batched: bool) -> Any:
        who = "batch_jacobian" if batched else "jacobian"
        if isinstance(target, (list, tuple, dict)):
            raise TypeError(f"{who}: expected one tensor as target, got a {type(target).__name__}")
        xs, structure = flatten(sources)
        if batched:
            for x in (target, *xs):
                _by_handle([x], who, TypeError)
            if xs != [sources]:
                raise TypeError(f"{who}: expected one source, got a {type(sources).__name__}")
            check_batches(convert_to_tensor(target).dims, convert_to_tensor(sources).dims)
        (y,), handles = self._asked([target], xs, who)
        with graph_of([y]).as_default() as graph, graph.name_scope("gradient_tape"):
            answers = jacobians(y, handles, self._seen.edge([y], set(handles)), batched)
            for i, (x, handle) in enumerate(zip(xs, handles, strict=True)):
                if not (self._seen.counts(x, handle) or x is target):
                    answers[i] = None
                if answers[i] is None and zeros:
                    answers[i] = zero_block(y, x, batched)
        return unflatten(structure, answers)

    def _answer(self, target: Any, sources: Any, weights: Any, choice: UnconnectedGradients) -> Any:
        targets, (xs, structure) = flatten(target)[0], flatten(sources)
        ys, handles = self._asked(targets, xs, "gradient")
        with graph_of(ys).as_default() as graph, graph.name_scope("gradient_tape"):
            seeds = checked_seeds(ys, None if weights is None else flatten(weights)[0])
            answers = pull_back(ys, seeds, handles, self._seen.edge(ys, set(handles)))
            for i, (x, handle) in enumerate(zip(xs, handles, strict=True)):
                if not (self._seen.counts(x, handle) or any(x is t for t in targets)):
                    answers[i] = None
                if answers[i] is None and choice is UnconnectedGradients.ZERO:
                    answers[i] = apply("ZerosLike", x)
        found = unflatten(structure, answers)
        if settings.debugging:
            questions.note((self, found), ys, xs, seeds, self._tape)
        return found
