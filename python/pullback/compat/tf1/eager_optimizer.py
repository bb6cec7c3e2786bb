"""Applying update rules at once, in eager mode."""

from __future__ import annotations

from typing import Any

from ... import _core
from .update_rules import RULES

__all__ = ["EagerOptimizer"]


class EagerOptimizer:
    """The part of an optimizer that eager mode uses."""

    _rule: str
    _hyper: dict[str, Any]
    _flags: dict[str, Any]
    _slots_wanted: dict[str, tuple[str, float]]
    _powers_wanted: dict[str, str]
    _slots: dict[str, dict[Any, Any]]
    _powers: dict[tuple[Any, str], Any]

    def _make_state(self, v: Any) -> None:
        raise NotImplementedError("an optimizer makes its slots")

    def _apply_eagerly(self, pairs: list[tuple[Any, Any]], global_step: Any) -> None:
        numbers = {
            name: value() if callable(value) and not isinstance(value, _core.Variable) else value
            for name, value in self._hyper.items()
        }
        for _, v in pairs:
            self._make_state(v)
        powers = {name: self._powers[None, name] for name in self._powers_wanted}
        for g, v in pairs:
            hyper = {name: _core.cast(value, v.dtype) for name, value in (numbers | powers).items()}
            slots = {name: self._slots[name][v] for name in self._slots_wanted}
            state = {name: slot.read() for name, slot in slots.items()}
            value, state = RULES[self._rule](v.read(), g, state, hyper | self._flags)
            for name, new in state.items():
                slots[name].assign(new)
            constraint = getattr(v, "constraint", None)
            v.assign(value if constraint is None else constraint(value))
        for name, base in self._powers_wanted.items():
            powers[name].assign(powers[name] * _core.cast(numbers[base], powers[name].dtype))
        if global_step is not None:
            global_step.assign_add(1)
