"""Operation: one record of a graph."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple


class _Stack(threading.local):
    def __init__(self) -> None:
        self.sessions: list[Any] = []


stack = _Stack()


def get_default_session() -> Any:
    """Return the session of the innermost `with`, or None."""
    return stack.sessions[-1] if stack.sessions else None


def session_for(graph: Any, session: Any, what: str) -> Any:
    """Return the session that `.eval()` and `.run()` use."""
    chosen = session or get_default_session()
    if chosen is None:
        raise ValueError(
            f"{what}: expected a session, got none and there is no default session; use "
            "`with tf.Session() as sess:`, or session="
        )
    if chosen.graph is not graph:
        raise ValueError(
            f"{what}: expected a session of the tensor's graph, got one of a different graph"
        )
    return chosen


if TYPE_CHECKING:
    from .graph import Graph
    from .opdef import OpDef
    from .tensor import SymbolicTensor


class NodeDef(NamedTuple):
    """An operation as plain data; `attr` has this package's values, not protocol buffers."""

    name: str
    op: str
    input: list[str]
    device: str
    attr: Mapping[str, Any]


@dataclass(eq=False, repr=False)
class Operation:
    """One record of a graph, created by the functions of this package only."""

    graph: Graph
    definition: OpDef
    type: str
    name: str
    inputs: tuple[SymbolicTensor, ...]
    attrs: dict[str, Any]
    control_inputs: tuple[Operation, ...]
    override: str | None  # name of a registered rule, set at creation
    number: int = -1
    outputs: tuple[SymbolicTensor, ...] = ()
    rule: Any = None  # custom_gradient's own rule
    place: tuple[str, int, str] | None = None  # while debugging: file, line, function of the user's

    device = ""  # the CPU; there is no other

    @property
    def node_def(self) -> NodeDef:
        """The fields of TensorFlow's NodeDef."""
        inputs = [x.name.removesuffix(":0") for x in self.inputs]
        controls = [f"^{op.name}" for op in self.control_inputs]
        return NodeDef(self.name, self.type, [*inputs, *controls], self.device, self.attrs)

    @property
    def has_own_rule(self) -> bool:
        """Test whether its gradient is user-defined, or undefined."""
        return bool(self.rule or self.override or not self.definition.registered)

    def get_attr(self, name: str) -> Any:
        """Return an attribute; `T` is the dtype of the first input. ValueError if unknown."""
        if name == "T" and (self.inputs or self.outputs):
            return (self.inputs or self.outputs)[0].dtype
        if name == "_gradient_op_type" and self.override is not None:
            return self.override
        if name not in self.attrs:
            known = ", ".join(sorted(self.attrs)) or "none"
            raise ValueError(
                f"get_attr: operation '{self.name}' ({self.type}) has no attribute '{name}'; it "
                f"has: {known}"
            )
        return self.attrs[name]

    def run(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> None:
        """Run this operation in `session`, or in the default session."""
        session_for(self.graph, session, "run").run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


def operation_of(item: Any, who: str = "control_dependencies") -> Operation:
    """Return the operation of a tensor, or the operation itself."""
    if isinstance(item, Operation):
        return item
    op = getattr(getattr(item, "_graph_element", item), "op", None)
    if isinstance(op, Operation):
        return op
    raise TypeError(f"{who}: expected operations and tensors, got {item!r:.60}")


__all__ = ["Operation"]
