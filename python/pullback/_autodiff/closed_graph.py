"""Operations as a function of the tensors that they were computed from.

They are recorded once, on placeholders, and `_core.ClosedGraph` copies them for other values
(cpp/transform/recorded_graph.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._core import Tape, Tensor

__all__ = ["node_number", "placeholder", "recorded_from"]


def node_number(x: Tensor) -> int:
    """Return the number of the node that computed a tensor."""
    number: int = _core.identity_of(x, None)[0]
    return number


@contextmanager
def placeholder(dtype: Any, shape: tuple[int, ...], name: str) -> Iterator[Tensor]:
    """Yield a tensor without a value, for the block that records the function `name`.

    A value that the function reads would be the same in all copies. So a read is an error.
    """
    trace = _core.Trace(name)
    yield trace.argument(dtype, shape, False)


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
