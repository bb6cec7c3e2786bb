"""Switches of TensorFlow's later versions, for programs that say they are of the first one."""

from __future__ import annotations

import logging as _logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import SimpleNamespace
from typing import Any

from ..names import named, public_names
from . import mode
from .graph import get_default_graph

VERSION = __version__ = "1.15.0"


def _no_op(name: str, text: str) -> Callable[[], None]:
    def function() -> None:
        pass

    return named(function, name, text)


_SO = "Does nothing: it is so."
disable_v2_behavior = _no_op("disable_v2_behavior", _SO)
disable_v2_tensorshape = _no_op("disable_v2_tensorshape", _SO)
disable_control_flow_v2 = _no_op("disable_control_flow_v2", _SO)
disable_tensor_equality = _no_op("disable_tensor_equality", _SO)
enable_resource_variables = _no_op("enable_resource_variables", "Does nothing: all variables are.")
disable_resource_variables = _no_op(
    "disable_resource_variables", "Does nothing: variables are the same with and without."
)


def resource_variables_enabled() -> bool:
    """True."""
    return True


def disable_eager_execution() -> None:
    """Switches the process to graph mode, at the start of a program."""
    mode.enabled = False


def init_scope() -> AbstractContextManager[Any]:
    """Outside of all name scopes and control dependencies."""
    return get_default_graph().control_dependencies(None)


def get_logger() -> _logging.Logger:
    """The logger of this package."""
    return _logging.getLogger("pullback")


def no_regularizer(_: Any) -> None:
    """A regularizer that adds no loss."""


class RunOptions(SimpleNamespace):
    """Accepted by `Session.run`, and without effect."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)


class RunMetadata(SimpleNamespace):
    """Accepted by `Session.run`, which leaves it empty."""


__all__ = public_names(globals(), "VERSION")
