"""Operations without a result: grouping and ordering others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .._graph import mode
from .._graph.create import apply
from .._graph.graph import get_default_graph
from .._graph.opdef import define
from .._graph.operation import Operation, operation_of
from .indexed_slices import mapped, on_values

__all__ = ["colocate_with", "control_dependencies", "device", "group", "no_op", "tuple"]

_PART = r"job:\w+|(replica|task):\d+|(device:)?(cpu|gpu|tpu|xla_cpu|xla_gpu)(:(\d+|\*))?"
_DEVICE = re.compile(rf"(/*({_PART}))*/*", re.IGNORECASE)

define("NoOp", execute=lambda run, op, inputs: [], flows=False)


def control_dependencies(control_inputs: Sequence[Any] | None) -> AbstractContextManager[Any]:
    """Order later operations after these, as `Graph.control_dependencies`.

    Eager mode runs everything in order, so the context has no effect there.
    """
    if not mode.executing_eagerly():
        return get_default_graph().control_dependencies(control_inputs)
    if callable(control_inputs):
        control_inputs()
    return nullcontext()


def device(device_name_or_function: Any) -> AbstractContextManager[Any]:
    """Accept a device, a function of operations or None, and compute on the CPU."""
    given = device_name_or_function
    if not (given is None or callable(given) or isinstance(given, str)):
        raise TypeError(f"device: expected a str, a function or None, got {given!r:.60}")
    if isinstance(given, str) and not _DEVICE.fullmatch(given):
        raise ValueError(f"device: expected a name such as '/cpu:0' or '/gpu:0', got {given!r}")
    return nullcontext()


def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[Any]:
    """Accept an operation; everything is computed on the CPU."""
    return nullcontext()


def group(*inputs: Any, name: str | None = None) -> Any:
    """Create an operation that runs all of these; its value is None."""
    if mode.executing_eagerly():
        return None
    ops: list[Operation] = []
    mapped(lambda entry: ops.append(operation_of(entry, "group")), list(inputs))
    if len({op.graph for op in ops}) > 1:
        raise ValueError("group: expected operations of the same graph, got operations of several")
    graph = ops[0].graph if ops else get_default_graph()
    default = "group_deps" if ops else "NoOp"
    return graph.record("NoOp", (), {}, name or default, controls=ops)


def no_op(name: str | None = None) -> Any:
    """Create an operation that does nothing."""
    return group(name=name or "NoOp")


def tuple(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Sequence[Any] | None = None
) -> list[Any]:
    """Return the tensors so that none is available before all are computed.

    They also wait for `control_inputs`. None stays None. ValueError if there is no tensor.
    """
    if mode.executing_eagerly():
        return list(tensors)
    present = [operation_of(t, "tuple") for t in tensors if t is not None]
    held = present + [operation_of(c, "tuple") for c in control_inputs or ()]
    if not held:
        raise ValueError(f"tuple: expected at least one tensor, got {tensors!r}")
    graph = held[0].graph
    with graph.as_default(), graph.name_scope(name or "tuple"):
        gate = group(*held)
        with graph.control_dependencies([gate]):
            return [None if t is None else on_values(_gated, t) for t in tensors]


def _gated(t: Any) -> Any:
    return apply("Identity", t, name="control_dependency")
