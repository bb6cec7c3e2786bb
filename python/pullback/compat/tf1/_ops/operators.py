"""What the operators of tensors and variables stand for; `==` stays identity in graphs."""

from __future__ import annotations

from typing import Any

from .._graph.tensor import EagerTensor, Operators
from . import math_ops

__all__: list[str] = []  # it is imported for what it does


def _method(function: str, *given: Any, turned: bool = False) -> Any:
    def method(self: Any, *other: Any) -> Any:
        sides = (*other, self) if turned else (self, *other)
        return getattr(math_ops, function)(*sides, *given)

    return method


for _name, _function in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("mod", "mod"),
    ("floordiv", "floordiv"), ("pow", "pow"), ("and", "logical_and"), ("or", "logical_or"),
    ("xor", "logical_xor"),
):  # fmt: skip
    setattr(Operators, f"__{_name}__", _method(_function, _name))
    setattr(Operators, f"__r{_name}__", _method(_function, _name, turned=True))
for _name, _function in (
    ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
    ("neg", "negative"), ("abs", "abs"), ("invert", "logical_not"),
):  # fmt: skip
    setattr(Operators, f"__{_name}__", _method(_function))
for _name, _turned in (("matmul", False), ("rmatmul", True)):
    setattr(Operators, f"__{_name}__", _method("matmul", *(False,) * 6, "matmul", turned=_turned))
for _name, _function in (("eq", "equal"), ("ne", "not_equal")):  # eager tensors have values
    setattr(EagerTensor, f"__{_name}__", _method(_function))
