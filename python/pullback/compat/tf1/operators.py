"""What + - * / and the other operators mean on symbolic tensors and variables.

They call the functions of create.py, which imports this file's users; so it hands them over in
`builders` when it is loaded.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Operators"]


class Builders:
    """The functions of create.py that operators stand for."""

    unary: Any
    binary: Any
    true_divide: Any
    matrix_product: Any
    strided_slice: Any


builders = Builders()


class Operators:
    """Both sides of every operator; `==` stays identity, as in TensorFlow 1."""

    __slots__ = ()
    # NumPy arrays on the left leave operators to us.
    __array_ufunc__ = None
    __array_priority__ = 100

    def __add__(self, other: Any) -> Any:
        return builders.binary("AddV2", self, other, "add")

    def __radd__(self, other: Any) -> Any:
        return builders.binary("AddV2", other, self, "add")

    def __sub__(self, other: Any) -> Any:
        return builders.binary("Sub", self, other, "sub")

    def __rsub__(self, other: Any) -> Any:
        return builders.binary("Sub", other, self, "sub")

    def __mul__(self, other: Any) -> Any:
        return builders.binary("Mul", self, other, "mul")

    def __rmul__(self, other: Any) -> Any:
        return builders.binary("Mul", other, self, "mul")

    def __truediv__(self, other: Any) -> Any:
        return builders.true_divide(self, other, "truediv")

    def __rtruediv__(self, other: Any) -> Any:
        return builders.true_divide(other, self, "truediv")

    def __floordiv__(self, other: Any) -> Any:
        return builders.binary("FloorDiv", self, other, "floordiv")

    def __rfloordiv__(self, other: Any) -> Any:
        return builders.binary("FloorDiv", other, self, "floordiv")

    def __mod__(self, other: Any) -> Any:
        return builders.binary("FloorMod", self, other, "mod")

    def __rmod__(self, other: Any) -> Any:
        return builders.binary("FloorMod", other, self, "mod")

    def __pow__(self, other: Any) -> Any:
        return builders.binary("Pow", self, other, "pow")

    def __rpow__(self, other: Any) -> Any:
        return builders.binary("Pow", other, self, "pow")

    def __matmul__(self, other: Any) -> Any:
        return builders.matrix_product(self, other, "matmul")

    def __rmatmul__(self, other: Any) -> Any:
        return builders.matrix_product(other, self, "matmul")

    def __neg__(self) -> Any:
        return builders.unary("Neg", self)

    def __abs__(self) -> Any:
        return builders.unary("Abs", self)

    def __invert__(self) -> Any:
        return builders.unary("LogicalNot", self)

    def __and__(self, other: Any) -> Any:
        return builders.binary("LogicalAnd", self, other, "and")

    def __rand__(self, other: Any) -> Any:
        return builders.binary("LogicalAnd", other, self, "and")

    def __or__(self, other: Any) -> Any:
        return builders.binary("LogicalOr", self, other, "or")

    def __ror__(self, other: Any) -> Any:
        return builders.binary("LogicalOr", other, self, "or")

    def __xor__(self, other: Any) -> Any:
        return builders.binary("LogicalXor", self, other, "xor")

    def __rxor__(self, other: Any) -> Any:
        return builders.binary("LogicalXor", other, self, "xor")

    def __lt__(self, other: Any) -> Any:
        return builders.binary("Less", self, other)

    def __le__(self, other: Any) -> Any:
        return builders.binary("LessEqual", self, other)

    def __gt__(self, other: Any) -> Any:
        return builders.binary("Greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return builders.binary("GreaterEqual", self, other)

    def __getitem__(self, key: Any) -> Any:
        return builders.strided_slice(self, key)
