"""GradientTape: in eager mode the main namespace's, in a graph a view of `gradients`; Jacobians.

A tape in a graph records the operations created inside its block from watched tensors: the
operations of an interval of numbers. Rules and connectivity are those of `gradients`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import pullback

from .... import _core
from ...._autodiff.jacobian import check_batches, entry_first, units, unknown_unit
from ...._base import last_query
from ...._base.pytree import flatten_with_none as flatten
from ...._core import unflatten
from .._graph import mode
from .._graph.create import apply, convert_to_tensor, graph_of
from .._graph.graph import get_default_graph
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.tensor import SymbolicTensor as Tensor
from .._graph.tensor import ancestors, argument, as_core, as_eager, mapped, opaque
from .._ops.array_ops import constant, fill, ones_like, reshape, shape, zeros_like
from .._ops.indexed_slices import IndexedSlices, eager_slices
from .._ops.indexing_ops import concat, one_hot, stack
from .._variables.variables import Variable
from ..dtypes import as_dtype
from . import backprop
from .backprop import UnconnectedGradients, gradients, pull_back


def hessians(
    ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: int | None = None,
) -> list[Any]:  # fmt: skip
    """Compute the second derivatives of the sum of ys by each x, of shape x.shape + x.shape.

    Pairs of different xs have no entry. For a function that is linear in an x, or does not depend
    on it, the entry is zero.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([1.0, 2.0])
    ...     session.run(tf.hessians(x[0] ** 2 * x[1], x))
    [array([[4., 2.],
           [2., 0.]], dtype=float32)]
    """
    slopes = gradients(ys, xs, name=f"{name}_gradients", aggregation_method=aggregation_method)
    slopes = [None if g is None else convert_to_tensor(g) for g in slopes]
    sources = [backprop._source(x, "xs", i) for i, x in enumerate(backprop.as_list(xs))]
    with graph_of(sources).as_default() as graph, graph.name_scope(name):
        blocks = [
            None if g is None else jacobians(g, [x], [])[0]
            for g, x in zip(slopes, sources, strict=True)
        ]
        return [
            zero_block(x, x) if block is None else block
            for block, x in zip(blocks, sources, strict=True)
        ]


def zero_block(y: Any, x: Any, batched: bool = False) -> Any:
    """Return the zeros of a jacobian without a differentiable path."""
    y, x = convert_to_tensor(y), convert_to_tensor(x)
    dims = _dims(y, x, batched)
    if dims is not None and None not in dims:
        return fill(list(dims), constant(0, x.dtype))
    return fill(concat([shape(y), shape(x)[int(batched) :]], 0), constant(0, x.dtype))


def jacobians(
    y: Tensor, xs: Sequence[Tensor], stops: Sequence[Tensor], batched: bool = False
) -> list[Any]:
    """Compute the derivative of y by each x, of shape y.shape + x.shape; `stops` are constants.

    If batched, differentiate each entry of the first axis by the same entry of x. An entry is None
    without a differentiable path.
    """
    unit = y.graph.record(
        "UnitCotangent", [y], {}, None,
        (y.dtype, y.dims, argument(y.dtype, y.abstract.shape)),
        (as_dtype("bool"), y.dims, argument("bool", y.abstract.shape)),
    )  # fmt: skip
    answers = pull_back([y], [unit.outputs[0]], list(xs), stops)
    found: list[Any] = []
    for x, g in zip(xs, answers, strict=True):
        if g is None:
            found.append(None)
            continue
        g = convert_to_tensor(g)
        if backprop._rules_between(ancestors([g]), [unit.outputs[0]], []):
            found.append(_one_by_one(y, x, stops, batched))
            continue
        dims = _dims(y, x, batched)
        made = (x.dtype, dims, opaque([g.abstract], x.dtype, dims))
        inputs, attrs = [g, unit.outputs[1]], {"batched": batched}
        found.append(y.graph.record("Jacobian", inputs, attrs, None, made).outputs[0])
    return found


def _one_by_one(y: Tensor, x: Tensor, stops: Sequence[Tensor], batched: bool) -> Any:
    """Compute a jacobian row by row, for a rule of the program that reads the cotangents."""
    entry = [n for n in y.dims[batched:] if n is not None] if y.dims is not None else None
    if entry is None or y.dims is None or len(entry) < len(y.dims[batched:]):
        raise ValueError(f"jacobian: expected a known shape after user-defined rules, got {y!r}")
    size, rows = prod(entry), []
    for i in range(size):
        weight = reshape(one_hot(i, size, dtype=y.dtype), entry)
        (row,) = pull_back([y], [weight * ones_like(y)], [x], stops)
        rows.append(zeros_like(x) if row is None else convert_to_tensor(row))
    if not rows:
        return zero_block(y, x, batched)
    block = stack(rows, 1 if batched else 0)
    ending = shape(x)[1:] if batched else shape(x)
    return reshape(block, concat([shape(y), ending], 0))


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    g, where = inputs
    batched = op.attrs["batched"]
    chosen = units(where.shape, batched)
    found = _core.batched_or_each([g], [where], [chosen], chosen.shape[0])
    if found is None:
        raise NotImplementedError(
            "jacobian: expected a path without user-defined rules that use the cotangents, got one "
            "with such a rule"
        )
    batch = entry_first(found[0], batched)
    return [_core.reshape(batch, (*where.shape, *g.shape[int(batched) :]))]


define("UnitCotangent", execute=lambda run, op, inputs: list(unknown_unit(inputs[0])),
       public="GradientTape.jacobian")  # fmt: skip
define("Jacobian", execute=_execute, public="GradientTape.jacobian")


def _dims(y: Tensor, x: Tensor, batched: bool) -> Any:
    return None if y.dims is None or x.dims is None else (*y.dims, *x.dims[batched:])


class GradientTape(pullback.GradientTape):
    """Record the operations in its block on trainable variables and watched tensors.

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
        """Compute the gradient of the sum of the targets, in the structure of the sources."""
        choice = backprop.unconnected(unconnected_gradients)
        return self._answer(target, sources, output_gradients, choice)

    def jacobian(
        self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Compute the derivative of each element of one target tensor by each source.

        The result has the structure of the sources, with shapes target.shape + source.shape. All
        rows are computed at once; the last two arguments have no effect. The tape need not be
        persistent.
        """
        choice = backprop.unconnected(unconnected_gradients)
        return self._jacobians(target, sources, choice is UnconnectedGradients.ZERO, False)

    def batch_jacobian(
        self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None, experimental_use_pfor: bool = True,
    ) -> Any:  # fmt: skip
        """Compute the jacobian of each row of the target by the same row of the source.

        Its shape is target.shape + source.shape[1:]; it is zero without a differentiable path.

        Raises
        ------
        ValueError
            If a rank is below 2 or the first axes differ.
        """
        backprop.unconnected(unconnected_gradients)
        return self._jacobians(target, source, True, True)

    def _answer(self, target: Any, sources: Any, weights: Any, choice: UnconnectedGradients) -> Any:
        raise NotImplementedError

    def _jacobians(self, target: Any, sources: Any, zeros: bool, batched: bool) -> Any:
        raise NotImplementedError


class EagerTape(GradientTape):
    """The main namespace's tape with TensorFlow's enum and eager tensors as results."""

    _rows = True

    def watch(self, tensors: Any) -> None:
        super().watch(core_tree(tensors))

    def _answer(self, target: Any, sources: Any, weights: Any, choice: UnconnectedGradients) -> Any:
        given, wanted = core_tree(target), core_tree(sources)
        ask = pullback.GradientTape.gradient
        return mapped(
            eager_slices, ask(self, given, wanted, core_tree(weights), choice.value), wanted
        )

    def _jacobians(self, target: Any, sources: Any, zeros: bool, batched: bool) -> Any:
        ask = pullback.GradientTape.batch_jacobian if batched else pullback.GradientTape.jacobian
        answer = ask(self, core_tree(target), core_tree(sources), "zero" if zeros else "none")
        return mapped(as_eager, answer)


def core_tree(tree: Any) -> Any:
    """Convert the eager tensors in a pytree to the main namespace's."""
    return mapped(
        lambda x: as_core(convert_to_tensor(x) if isinstance(x, IndexedSlices) else x), tree
    )


@dataclass(eq=False)
class _Intervals:
    """The operations created while a graph's tape recorded, and the watched tensors."""

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
        # The shared read was created before.
        inside = any(a <= op.number < b for a, b in self.intervals)
        return inside or op.type == "ReadVariableOp"

    def counts(self, x: Any, handle: Tensor) -> bool:
        """Test whether a source was watched or depends on a watched tensor."""
        if isinstance(x, Variable) and self.accessed and x.trainable:
            return True
        made = bool(handle.op.inputs) and self.recorded(handle.op) and not isinstance(x, Variable)
        return handle in self.watched or made

    def edge(self, ys: list[Tensor], sources: set[Tensor]) -> list[Tensor]:
        """Return the constant inputs of recorded operations, without the sources."""
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
    """Map handles to the tensors or variables of the caller."""
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
            raise RuntimeError(
                "watch: expected an active tape, got one that was not entered; use `with "
                "GradientTape() as tape:`"
            )
        self._seen.watched.update(_by_handle(flatten(tensors)[0], "watch", ValueError))

    def _asked(self, targets: list[Any], xs: list[Any], who: str) -> tuple[list[Any], list[Any]]:
        """Return targets and handles of sources, after checking that the tape may be used."""
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
            seeds = backprop.checked_seeds(ys, None if weights is None else flatten(weights)[0])
            answers = pull_back(ys, seeds, handles, self._seen.edge(ys, set(handles)))
            for i, (x, handle) in enumerate(zip(xs, handles, strict=True)):
                if not (self._seen.counts(x, handle) or any(x is t for t in targets)):
                    answers[i] = None
                if answers[i] is None and choice is UnconnectedGradients.ZERO:
                    answers[i] = apply("ZerosLike", x)
        found = unflatten(structure, answers)
        if last_query.noted:
            last_query.note((self, found), ys, xs, seeds, self._tape, answers=answers)
        return found


__all__ = ["GradientTape", "hessians"]
