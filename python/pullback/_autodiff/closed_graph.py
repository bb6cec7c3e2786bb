"""Operations as a function of the tensors that they were computed from.

They are recorded once, on placeholders, and `_core.ClosedGraph` copies them for other values
(cpp/transform/recorded_graph.h).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .. import _core
from .._base.checks import is_python_numbers
from .._core import Tape, Tensor
from .function import inlined_functions

__all__ = ["in_result_dtype", "node_number", "placeholder", "recorded_from"]


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


def in_result_dtype(start: Any, given: Any, f: Callable[[Tensor], Any], who: str) -> Any:
    """Return the start of a solver; Python numbers take the dtype that `f` returns for them.

    `start` is the tensor of the argument `given`. If that consists of Python numbers, `f` is called
    once more, as by loops.
    """
    if not is_python_numbers(given):
        return start
    start = _core.constant(start)
    with placeholder(start.dtype, start.shape, who) as at, inlined_functions():
        results = _core.flatten(f(at))[0]
    wide = any(getattr(x, "dtype", None) == "float64" for x in results)
    return _core.cast(start, "float64") if wide else start


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
