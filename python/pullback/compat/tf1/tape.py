"""GradientTape: in eager mode the main namespace's, in a graph a view of `gradients`.

A tape in a graph counts what was made inside its block from what it watches: the operations of an
interval of numbers. Rules and connectivity are those of `gradients`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pullback

from ..._core import flatten, unflatten
from . import mode
from .backprop import ReversePass, UnconnectedGradients, _seeds, unconnected
from .convert import convert_to_tensor, graph_of
from .create import apply
from .graph import Graph, get_default_graph
from .operation import Operation
from .tensor import Tensor
from .variables import Variable

__all__ = ["GradientTape"]


class GradientTape:
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
        kind: Any = EagerTape if mode.executing_eagerly() else GraphTape
        return super().__new__(kind)

    # What both kinds have; annotated for readers and checkers.

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, *error: Any) -> None:
        raise NotImplementedError

    def watch(self, tensor: Any) -> None:
        """Counts what is made from these tensors or variables from now on."""
        raise NotImplementedError

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradient of the sum of the targets, in the structure of the sources."""
        choice = unconnected(unconnected_gradients)
        return self._gradient(target, sources, output_gradients, choice)

    def _gradient(
        self, target: Any, sources: Any, output_gradients: Any, choice: UnconnectedGradients
    ) -> Any:
        raise NotImplementedError

    def stop_recording(self) -> Any:
        """Context manager: this tape does not see what is made inside."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forgets everything and goes on recording."""
        raise NotImplementedError

    def watched_variables(self) -> tuple[Any, ...]:
        """The watched variables, in the order in which they were made."""
        raise NotImplementedError


class EagerTape(pullback.GradientTape, GradientTape):
    """The main namespace's tape; takes TensorFlow's enum too."""

    gradient = GradientTape.gradient

    def _gradient(
        self, target: Any, sources: Any, output_gradients: Any, choice: UnconnectedGradients
    ) -> Any:
        return super().gradient(target, sources, output_gradients, choice.value)


class GraphTape(GradientTape):
    """A tape in a graph: intervals of operation numbers, and what was watched."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._accessed = watch_accessed_variables
        self._graph: Graph | None = None
        self._recording = False
        self._used = False
        self._intervals: list[list[int]] = []
        self._watched: dict[Tensor, Any] = {}  # tensor or handle -> what was watched

    def __enter__(self) -> GraphTape:
        if self._recording:
            raise ValueError("GradientTape: it is still recording; leave its block first")
        if self._used:
            self._intervals, self._watched, self._used = [], {}, False
        self._graph = get_default_graph()
        self._start()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        self._recording = True
        self._intervals.append([self._length(), -1])

    def _stop(self) -> None:
        self._recording = False
        self._intervals[-1][1] = self._length()

    def _length(self) -> int:
        assert self._graph is not None
        return len(self._graph._operations)

    def _recorded(self, op: Operation) -> bool:
        if op.type == "ReadVariableOp":  # the read that everybody shares was made before
            return True
        return any(a <= op.number and (b < 0 or op.number < b) for a, b in self._intervals)

    def watch(self, tensor: Any) -> None:
        if self._graph is None:
            raise RuntimeError("watch: enter the tape first: `with GradientTape() as tape:`")
        for x in flatten(tensor)[0]:
            handle = getattr(x, "handle", x)
            if not isinstance(handle, Tensor):
                raise ValueError(f"watch: expected a tensor or a variable, got {x!r:.60}")
            self._watched[handle] = x

    def _gradient(
        self, target: Any, sources: Any, output_gradients: Any, choice: UnconnectedGradients
    ) -> Any:
        targets = [_checked(t, "target") for t in flatten(target)[0]]
        wanted = [_checked(x, "source") for x in flatten(sources)[0]]
        if self._graph is None or self._used:
            raise RuntimeError(
                "a tape that is not persistent answers one set of gradients, after it has "
                "recorded; make it with GradientTape(persistent=True), or ask for all sources "
                "at once"
            )
        ys = [convert_to_tensor(t) for t in targets]
        handles = [getattr(x, "handle", x) for x in wanted]
        graph = graph_of(ys)
        if not self._persistent:
            self._used = True
            if self._recording:
                self._stop()
        with graph.as_default(), graph.name_scope("gradient_tape"):
            weights = None if output_gradients is None else flatten(output_gradients)[0]
            seeds = _seeds(ys, weights)
            answers = ReversePass(ys, seeds, handles, [], self._recorded).run()
            out = [
                answer if self._counts(x, handle, targets) else None
                for answer, x, handle in zip(answers, wanted, handles, strict=True)
            ]
            if choice is UnconnectedGradients.ZERO:
                out = [
                    apply("ZerosLike", [convert_to_tensor(x)]) if g is None else g
                    for g, x in zip(out, wanted, strict=True)
                ]
        return unflatten(flatten(sources)[1], out)

    def _counts(self, x: Any, handle: Tensor, targets: list[Any]) -> bool:
        """Whether a source was watched, or is made from what was, or is itself a target."""
        if handle in self._watched or any(x is target for target in targets):
            return True
        if isinstance(x, Variable):
            return bool(self._accessed and x.trainable)
        return self._recorded(handle.op) and bool(handle.op.inputs)

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        self._check("stop_recording")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        self._check("reset")
        self._intervals, self._watched = [], {}
        self._start()

    def watched_variables(self) -> tuple[Any, ...]:
        if self._graph is None:
            return ()
        found = {v.handle: v for v in self._watched.values() if isinstance(v, Variable)}
        if self._accessed:
            for op in self._graph._operations:
                if op.type == "ReadVariableOp" or not self._recorded(op):
                    continue
                for x in op.inputs:
                    if x.op.type == "ReadVariableOp" and x.op.attrs["variable"].trainable:
                        found[x.op.inputs[0]] = x.op.attrs["variable"]
        return tuple(sorted(found.values(), key=lambda v: int(v.op.number)))

    def _check(self, who: str) -> None:
        if self._graph is None:
            raise RuntimeError(f"{who}: this tape was never entered")
        if not self._recording:
            raise ValueError(f"{who}: this tape is not recording")


def _checked(x: Any, what: str) -> Any:
    if not isinstance(getattr(x, "handle", x), Tensor):
        raise TypeError(
            f"gradient: a {what} is a {type(x).__name__}; expected a tensor or a variable"
        )
    return x
