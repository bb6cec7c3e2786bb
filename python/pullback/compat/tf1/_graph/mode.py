"""Graph mode or eager mode: a switch of the process, as in TensorFlow 1.

In eager mode the functions of this package work on lazy tensors: an operation is built at once and
computed when somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import graph

__all__ = ["enable_eager_execution", "executing_eagerly"]

enabled = False


def executing_eagerly() -> bool:
    """Whether operations are built on values now, and not recorded in a graph."""
    return (enabled or graph._stack.eager) and not graph._stack.graphs


@contextmanager
def eagerly() -> Iterator[None]:
    """Eager mode on this thread, whatever is around: for Python functions that a graph calls."""
    stack = graph._stack
    outer = stack.graphs, stack.eager
    stack.graphs, stack.eager = [], True
    try:
        yield
    finally:
        stack.graphs, stack.eager = outer


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """Switches the process to eager mode; at the start of a program, before any graph is built."""
    global enabled
    if not enabled and graph.get_default_graph().get_operations():
        raise ValueError("enable_eager_execution must be called before any operation is made")
    enabled = True
