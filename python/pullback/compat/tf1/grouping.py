"""Operations that compute nothing: grouping and ordering others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import mode
from .create import apply
from .graph import get_default_graph
from .opdef import define
from .operation import Operation, operation_of

__all__ = ["group", "no_op", "tuple"]

define("NoOp", execute=lambda run, op, inputs: [], flows=False)


def group(*inputs: Any, name: str | None = None) -> Any:
    """An operation that runs all of these; run, it gives None."""
    if mode.executing_eagerly():
        return None
    ops: list[Operation] = []
    for item in inputs:
        entries = item if isinstance(item, Sequence) else [item]
        ops.extend(operation_of(entry) for entry in entries if entry is not None)
    graph = ops[0].graph if ops else get_default_graph()
    return graph.record("NoOp", (), {}, name or "group_deps", controls=ops)


def no_op(name: str | None = None) -> Any:
    """An operation that does nothing."""
    return group(name=name or "NoOp")


def tuple(tensors: Sequence[Any], name: str | None = None) -> list[Any]:
    """The tensors, none of which is available before all are computed; None stays None."""
    if mode.executing_eagerly():
        return list(tensors)
    graph = get_default_graph()
    with graph.name_scope(name or "tuple"):
        gate = group(*(t for t in tensors if t is not None))
        with graph.control_dependencies([gate]):
            return [
                None if t is None else apply("Identity", t, name="control_dependency")
                for t in tensors
            ]
