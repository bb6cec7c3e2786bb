"""Eager mode: the same rows, computed on lazy tensors.

Gradients are the core's own, with two exceptions that depend on the type of an operation. An
operation with an overridden rule is wrapped with that rule, and one that TensorFlow does not
differentiate has the gradient None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .... import _core
from ..errors import InvalidArgumentError
from .graph import get_default_graph
from .opdef import OpDef, build, pull_through
from .registry import find_rule, is_registered, missing
from .tensor import as_core, as_eager


def apply(row: OpDef, inputs: list[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """Compute the outputs of a row; static inputs are Python values."""
    # The rule of the core applies.
    args = [as_core(x) for x in inputs]
    outs = build(row, args, attrs)
    override = get_default_graph().override_of(row.type)
    if override is None and row.registered:
        return outs if row.flows else [_core.stop_gradient(out) for out in outs]
    known = override is not None or is_registered(row.type)
    rule = find_rule(row.type, row.type, override) if known else None
    if known and rule is None:
        return [_core.stop_gradient(out) for out in outs]

    def call(op: str, ins: list[Any], results: list[Any], cotangents: list[Any]) -> list[Any]:
        if rule is None:
            raise missing(row.type, row.type)
        if isinstance(rule, OpDef):
            shared = attrs if rule.from_output is None else {}
            return pull_through(rule, shared, row.with_tensors(args, ins), results, cotangents)
        seen = [[as_eager(x) for x in group] for group in (ins, results, cotangents)]
        answer = rule.function(EagerOperation(row, seen[0], seen[1], attrs), *seen[2])
        return list(answer) if isinstance(answer, (list, tuple)) else [answer]

    return _core.custom(outs, row.tensors(args), _core.Rule(call, str(rule)))


class EagerOperation:
    """Argument of a gradient rule in eager mode, in place of an Operation; it has no name."""

    def __init__(
        self, row: OpDef, inputs: list[Any], outputs: list[Any], attrs: Mapping[str, Any]
    ) -> None:
        self.type = row.type
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._attrs = attrs

    def get_attr(self, name: str) -> Any:
        if name not in self._attrs:
            known = ", ".join(sorted(self._attrs)) or "none"
            raise InvalidArgumentError(
                None, f"get_attr: operation {self.type} has no attribute '{name}'; it has: {known}"
            )
        return self._attrs[name]
