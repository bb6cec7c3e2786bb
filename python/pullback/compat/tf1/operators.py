"""What the operators of tensors and variables stand for; `==` stays identity in graphs."""

from __future__ import annotations

from typing import Any

from .math_ops import (
    abs,
    add,
    divide,
    equal,
    floordiv,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    matmul,
    mod,
    multiply,
    negative,
    not_equal,
    pow,
    subtract,
)
from .tensor import EagerTensor, Operators

__all__: list[str] = []  # it is imported for what it does


def _operators() -> None:
    def sides(function: Any, name: str) -> tuple[Any, Any]:
        return (
            lambda self, other: function(self, other, name),
            lambda self, other: function(other, self, name),
        )

    for method, function, name in (
        ("add", add, "add"), ("sub", subtract, "sub"), ("mul", multiply, "mul"),
        ("truediv", divide, "truediv"), ("floordiv", floordiv, "floordiv"), ("mod", mod, "mod"),
        ("pow", pow, "pow"), ("and", logical_and, "and"), ("or", logical_or, "or"),
        ("xor", logical_xor, "xor"),
    ):  # fmt: skip
        left, right = sides(function, name)
        setattr(Operators, f"__{method}__", left)
        setattr(Operators, f"__r{method}__", right)
    for method, function in (
        ("lt", less), ("le", less_equal), ("gt", greater), ("ge", greater_equal),
    ):  # fmt: skip
        setattr(Operators, f"__{method}__", lambda self, other, f=function: f(self, other))
    for method, function in (("neg", negative), ("abs", abs), ("invert", logical_not)):
        setattr(Operators, f"__{method}__", lambda self, f=function: f(self))
    setattr(Operators, "__matmul__", lambda a, b: matmul(a, b, name="matmul"))  # noqa: B010
    setattr(Operators, "__rmatmul__", lambda a, b: matmul(b, a, name="matmul"))  # noqa: B010


_operators()
for _method, _function in (("__eq__", equal), ("__ne__", not_equal)):  # eager tensors have values
    setattr(EagerTensor, _method, lambda self, other, f=_function: f(self, other))
