"""RegisterGradient, NotDifferentiable, and how the rule of an operation is found and checked.

One table has the registered rules. The names of built-in types belong to it, so registering one of
them again is a KeyError, as in TensorFlow. `gradients` finds a rule when it runs, in this order:
the rule of custom_gradient, the override stored in the operation, the row of the type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ...._base.hints import did_you_mean
from ...._base.locations import location
from ..errors import RuleResultError
from .opdef import ALIASES, OPS, OpDef
from .shapes import TensorShape
from .tensor import SymbolicTensor as Tensor

__all__ = ["NoGradient", "NotDifferentiable", "RegisterGradient", "no_gradient"]

F = TypeVar("F")


class Rule:
    """A user-defined gradient rule with its source line, for messages."""

    __slots__ = ("function", "name", "own", "where")

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function = function
        self.name = name
        self.own = getattr(function, "__qualname__", type(function).__name__)
        code = getattr(function, "__code__", None)
        self.where = location(code.co_filename, code.co_firstlineno) if code else repr(function)

    def __str__(self) -> str:
        return f"rule {self.name and repr(self.name) + ' '}({self.own} at {self.where})"


_rules: dict[str, Rule | None] = {}  # None: not differentiable


def _checked_name(name: Any, who: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{who}: expected a str for op_type, got {name!r}")
    return name


def _add(name: str, rule: Rule | None, who: str) -> None:
    row = OPS.get(ALIASES.get(_checked_name(name, who), name))
    if name in _rules or (row is not None and row.registered):
        earlier = _rules.get(name)
        where = earlier.where if earlier else "this library" if name not in _rules else "as none"
        raise KeyError(
            f"{who}: registering two gradients with the name '{name}': there is one already "
            f"({where})"
        )
    _rules[name] = rule


class RegisterGradient:
    """Register the rule `f(op, *output_gradients) -> one gradient per input` under a name.

    `Graph.gradient_override_map` maps operation types to such names. A KeyError for a name that is
    taken, also by a built-in type; an empty name stands for the function's own.
    """

    def __init__(self, op_type: str) -> None:
        self._name = _checked_name(op_type, "RegisterGradient")

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise TypeError(
                f"RegisterGradient: expected a function for '{self._name}', got {function!r}"
            )
        name = self._name or getattr(function, "__name__", "")
        _add(name, Rule(function, name), "RegisterGradient")
        return function


def NotDifferentiable(op_type: str) -> None:
    """Register a name whose gradients are all None."""
    _add(op_type, None, "NotDifferentiable")


NoGradient = NotDifferentiable
no_gradient = NotDifferentiable


def is_registered(name: str) -> bool:
    """Test whether a program has registered a rule, or NotDifferentiable, under this name."""
    return name in _rules


def missing(op_type: str, op_name: str) -> LookupError:
    """Return the error for an operation of a type that has no gradient."""
    return LookupError(
        f"gradients: the gradient registry has no entry for '{op_type}' (operation '{op_name}'); "
        "apply tf.stop_gradient to its result, or register a rule with tf.RegisterGradient"
    )


def find_rule(op_type: str, op_name: str, override: str | None) -> Rule | OpDef | None:
    """Return the rule of an operation under its override.

    It is user-defined, a built-in row, or None for no gradient. LookupError if no rule exists.
    """
    if override is None and op_type not in _rules:
        raise missing(op_type, op_name)
    override = op_type if override is None else override
    if override in _rules:
        return _rules[override]
    row = OPS.get(ALIASES.get(override, override))
    if row is None or not row.registered:
        hint = did_you_mean(override, [*_rules, *OPS])
        raise LookupError(
            f"gradients: operation '{op_name}' ({op_type}) was made under a gradient_override_map "
            f"to '{override}', which is not in the gradient registry{hint}"
        )
    return row if row.flows else None


def checked_results(
    answer: Any, inputs: Sequence[Tensor], rule: Rule, op_type: str, op_name: str
) -> list[Tensor | None]:
    """Check count, type, dtype and shape of a rule's results; return a tensor or None each."""
    who = f"gradients: {op_type} '{op_name}': the gradient {rule}"
    results = list(answer) if isinstance(answer, (list, tuple)) else [answer]
    if len(results) != len(inputs):
        raise ValueError(
            f"{who} returned {len(results)} gradients, num gradients must be the number of inputs, "
            f"{len(inputs)}"
        )
    for i, (result, x) in enumerate(zip(results, inputs, strict=True)):
        if hasattr(result, "_as_tensor"):
            result = results[i] = result._as_tensor()
        if result is None:
            continue
        if not isinstance(result, Tensor):
            kind = type(result).__name__
            raise RuleResultError(
                f"{who} returned {result!r:.60} for input {i}: '{kind}' object has no attribute "
                "'name'; expected a tensor or None. tf.zeros_like(grad) is a tensor of zeros"
            )
        if result.dtype != x.dtype:
            raise TypeError(
                f"{who} returned {result.dtype.name} for input {i}, '{x.name}', which is "
                f"{x.dtype.name}; use tf.cast"
            )
        if not TensorShape(result.dims).is_compatible_with(x.dims):
            raise ValueError(
                f"{who} returned incompatible shapes: {result.shape} for input {i}, '{x.name}', "
                f"of shape {x.shape}"
            )
    return results
