"""Eager mode: the same rows, built on pullback's lazy tensors at once.

Gradients are the core's own, with two differences that come from the names: an operation whose rule
a program has overridden is wrapped with that rule, and one that TensorFlow does not differentiate
answers None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import _core
from .errors import InvalidArgumentError
from .opdef import OpDef, build_outputs

__all__ = ["apply"]


def apply(row: OpDef, inputs: list[Any], attrs: Mapping[str, Any]) -> Any:
    """The outputs of a row on core tensors."""
    from .create import check_dtypes

    check_dtypes(row, inputs, None)
    outs = build_outputs(row, attrs, inputs)
    if not row.registered:
        outs = [_without_rule(row, out, inputs) for out in outs]
    elif row.flows == () and any(out.dtype.kind == "f" for out in outs):
        outs = [_core.stop_gradient(out) for out in outs]
    outs = _overridden(row, outs, inputs, attrs)
    return outs[0] if len(outs) == 1 else outs


def _without_rule(row: OpDef, out: Any, inputs: list[Any]) -> Any:
    from .registry import missing

    def fail(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> Any:
        raise missing(row.type, row.type, row.type, False)

    return _core.custom([out], inputs, _core.Rule(fail, row.type))[0]


def _overridden(row: OpDef, outs: list[Any], inputs: list[Any], attrs: Mapping[str, Any]) -> Any:
    from .graph import get_default_graph
    from .registry import Rule, find_rule, missing

    name = get_default_graph().override_of(row.type)
    if name is None:
        return outs
    try:
        rule = find_rule(name)
    except LookupError:
        raise missing(name, row.type, row.type, True) from None
    if not isinstance(rule, Rule):
        raise NotImplementedError(
            f"gradient_override_map to the built-in '{name}' works in graphs only"
        )
    function = rule.function

    def call(op: str, ins: list[Any], results: list[Any], cotangents: list[Any]) -> list[Any]:
        answer = function(EagerOperation(row, ins, results, attrs), *cotangents)
        return list(answer) if isinstance(answer, (list, tuple)) else [answer]

    return _core.custom(outs, inputs, _core.Rule(call, str(rule)))


class EagerOperation:
    """What a rule gets in eager mode in place of an Operation; it has no name."""

    def __init__(
        self, row: OpDef, inputs: list[Any], outputs: list[Any], attrs: Mapping[str, Any]
    ) -> None:
        self.type = row.type
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._attrs = attrs

    def get_attr(self, name: str) -> Any:
        if name not in self._attrs:
            raise InvalidArgumentError(
                None, f"operation {self.type}: the attribute '{name}' does not exist"
            )
        return self._attrs[name]
