"""Eager mode: the same rows, computed on lazy tensors.

Gradients are the core's own, with two differences that come from the names: an operation whose rule
a program has overridden is wrapped with that rule, and one that TensorFlow does not differentiate
answers None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import _core
from .errors import InvalidArgumentError
from .graph import get_default_graph
from .opdef import OpDef, build, pulled_back
from .registry import Rule, find_rule, missing
from .tensor import as_core, as_eager

__all__ = ["apply"]


def apply(row: OpDef, inputs: list[Any], attrs: Mapping[str, Any]) -> list[Any]:
    """The outputs of a row; static inputs are Python values."""
    # The row computes in the main namespace's way.
    inputs = [as_core(x) for x in inputs]
    outs = build(row, inputs, attrs)
    tensors = [x for i, x in enumerate(inputs) if not row.is_static(i, len(inputs))]
    name = get_default_graph().override_of(row.type)
    if name is not None:
        return _overridden(row, name, outs, tensors, attrs)
    if not row.registered:
        return _core.custom(outs, tensors, _core.Rule(_refuse(row), row.type))
    return outs if row.flows else [_core.stop_gradient(out) for out in outs]


def _refuse(row: OpDef) -> Any:
    def rule(*_: Any) -> Any:
        raise missing(row.type, row.type, row.type, False)

    return rule


def _overridden(
    row: OpDef, name: str, outs: list[Any], inputs: list[Any], attrs: Mapping[str, Any]
) -> list[Any]:
    try:
        rule = find_rule(name)
    except LookupError:
        raise missing(name, row.type, row.type, True) from None
    if rule is None:
        return [_core.stop_gradient(out) for out in outs]
    function = rule.function if isinstance(rule, Rule) else None

    def call(op: str, ins: list[Any], results: list[Any], cotangents: list[Any]) -> list[Any]:
        if function is None:
            assert isinstance(rule, OpDef)
            return built_in(rule, attrs, ins, results, cotangents)
        seen = [[as_eager(x) for x in group] for group in (ins, results, cotangents)]
        answer = function(EagerOperation(row, seen[0], seen[1], attrs), *seen[2])
        return list(answer) if isinstance(answer, (list, tuple)) else [answer]

    return _core.custom(outs, inputs, _core.Rule(call, str(rule)))


def built_in(
    row: OpDef, attrs: Mapping[str, Any], ins: list[Any], outs: list[Any], cotangents: list[Any]
) -> list[Any]:
    """What the rule of a type answers, perhaps for an operation of another type."""
    if row.from_output is not None:
        return [row.from_output(cotangents[0], outs[0])]
    if row.execute is not None:
        return list(cotangents)  # what hands a value on, hands its gradient back
    return pulled_back(lambda *xs: build(row, list(xs), attrs), ins, cotangents)


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
