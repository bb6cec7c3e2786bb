"""`ClosedGraph`: operations as a function of the tensors that they were computed from.

It is recorded once, on a placeholder, and copied for other values (cpp/transform/recompute.h).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _core
from .._core import Tape, Tensor


def node_number(x: Tensor) -> int:
    """Return the number of the node that computed a tensor."""
    number: int = _core.identity_of(x, None)[0]
    return number


class ClosedGraph:
    """The operations created inside its block, as a function of `at` and of their other inputs."""

    def __init__(self, at: Tensor, watched: Sequence[Tensor], who: str = "") -> None:
        self.at = at
        self.tape = Tape(False, who)
        self.watched = watched

    def __enter__(self) -> None:
        self.tape.start()
        for x in self.watched:
            self.tape.watch(x)
        self.first = _core.next_number()

    def __exit__(self, *_: Any) -> None:
        self.tape.stop()

    def close(self, y: Tensor) -> None:
        """Close the graph of the result `y`."""
        self.graph = _core.RecordedSubgraph([y], self.first)
        self.inputs = self.graph.inputs()
        self.is_at = [node_number(x) == node_number(self.at) for x in self.inputs]
        self.others = [x for x, is_at in zip(self.inputs, self.is_at, strict=True) if not is_at]

    def copy(self, x: Tensor, others: Sequence[Tensor]) -> Tensor:
        """Return the result of the operations on `x` in place of `at`, and on other inputs."""
        remaining = iter(others)
        made = [x if is_at else next(remaining) for is_at in self.is_at]
        result: Tensor = self.graph.copy(self.inputs, made, False)[0]
        return result
