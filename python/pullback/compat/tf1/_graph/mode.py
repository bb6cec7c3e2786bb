"""The switch between graph mode and eager mode, one for the process as in TensorFlow 1.

In eager mode the functions of this package work on lazy tensors: an operation is built at once and
computed when its value is read.
"""

from __future__ import annotations

import logging as _logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import Any

from ..names import named, public_names
from . import graph
from .graph import get_default_graph

enabled = False


def executing_eagerly() -> bool:
    """Test whether operations are built on values and not recorded in a graph."""
    return (enabled or graph._stack.eager) and not graph._stack.graphs


@contextmanager
def eagerly() -> Iterator[None]:
    """Switch this thread to eager mode, for Python functions that a graph calls."""
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
    """Switch the process to eager mode, at the start of a program, before any graph is built."""
    global enabled
    if not enabled and graph.get_default_graph().get_operations():
        raise ValueError(
            "enable_eager_execution: must be called before any operation is made; call it at the "
            "start"
        )
    enabled = True


VERSION = __version__ = "1.15.0"


def _no_op(name: str, text: str) -> Callable[[], None]:
    def function() -> None:
        pass

    return named(function, name, text)


_NOTHING = "Do nothing: this package behaves like TensorFlow 1 always."
disable_v2_behavior = _no_op("disable_v2_behavior", _NOTHING)
disable_v2_tensorshape = _no_op("disable_v2_tensorshape", _NOTHING)
disable_control_flow_v2 = _no_op("disable_control_flow_v2", _NOTHING)
disable_tensor_equality = _no_op("disable_tensor_equality", _NOTHING)
_RESOURCES = "Do nothing: all variables are resource variables."
enable_resource_variables = _no_op("enable_resource_variables", _RESOURCES)
disable_resource_variables = _no_op("disable_resource_variables", _RESOURCES)


def resource_variables_enabled() -> bool:
    """Return True."""
    return True


def disable_eager_execution() -> None:
    """Switch the process to graph mode, at the start of a program."""
    global enabled
    enabled = False


def init_scope() -> AbstractContextManager[Any]:
    """Leave all name scopes and control dependencies inside."""
    return get_default_graph().control_dependencies(None)


def get_logger() -> _logging.Logger:
    """Return the logger of this package."""
    return _logging.getLogger("pullback")


def no_regularizer(_: Any) -> None:
    """Return None: a regularizer that adds no loss."""


class RunOptions(SimpleNamespace):
    """Options of `Session.run`, accepted without effect."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)


class RunMetadata(SimpleNamespace):
    """Metadata of `Session.run`, which stays empty."""


__all__ = [n for n in public_names(globals(), "VERSION") if n != "eagerly"]
