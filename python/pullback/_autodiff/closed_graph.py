"""`ClosedGraph`: operations as a function of the tensors that they were computed from.

They are recorded once, on placeholders, and copied for other values (cpp/transform/recompute.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from .. import _core
from .._core import Tape, Tensor

__all__ = ["ClosedGraph", "node_number", "recorded_from"]


def node_number(x: Tensor) -> int:
    """Return the number of the node that computed a tensor."""
    number: int = _core.identity_of(x, None)[0]
    return number


@contextmanager
def recorded_from(watched: Sequence[Tensor], who: str = "") -> Iterator[int]:
    """Record the operations of a block on some tensors; yields the number of the first."""
    tape = Tape(False, who)
    tape.start()
    try:
        for x in watched:
            tape.watch(x)
        yield _core.next_number()
    finally:
        tape.stop()


class ClosedGraph:
    """The operations from number `first` on, as a function of `at` and of their other inputs.

    The other inputs, `others`, are the tracked tensors that the operations use from outside.
    """

    def __init__(self, y: Tensor, at: Sequence[Tensor], first: int) -> None:
        self.graph = _core.RecordedSubgraph([y], first)
        numbers = [node_number(x) for x in at]
        self.others = [x for x in self.graph.inputs() if node_number(x) not in numbers]
        self.inputs = [*at, *self.others]

    def copy(self, at: Sequence[Tensor], others: Sequence[Tensor]) -> Tensor:
        """Return the result of the operations on other inputs."""
        result: Tensor = self.graph.copy(self.inputs, [*at, *others], False)[0]
        return result
