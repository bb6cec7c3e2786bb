"""Element types under TensorFlow's names, such as `tf.float32`.

A DType wraps one `numpy.dtype` and compares equal to every value that NumPy converts to it.
"""

from __future__ import annotations

import builtins
from operator import attrgetter
from typing import Any

import numpy as np

__all__ = [
    "DType", "as_dtype", "bool", "complex64", "complex128", "double", "float16", "float32",
    "float64", "half", "int8", "int16", "int32", "int64", "string", "uint8", "uint16", "uint32",
    "uint64",
]  # fmt: skip


class DType:
    """One element type.

    >>> float32.name, float32 == np.float32, float32.is_floating
    ('float32', True, True)
    >>> float32
    tf.float32
    """

    __slots__ = ("dtype",)

    def __init__(self, name: str) -> None:
        self.dtype: np.dtype[Any] = np.dtype(name)

    name: Any = property(attrgetter("dtype.name"))
    as_numpy_dtype: Any = property(attrgetter("dtype.type"))
    size: Any = property(attrgetter("dtype.itemsize"))  # bytes of an element
    base_dtype: Any = property(lambda self: self)
    is_floating: Any = property(lambda self: self.dtype.kind == "f")
    is_integer: Any = property(lambda self: self.dtype.kind in "iu")
    is_unsigned: Any = property(lambda self: self.dtype.kind == "u")
    is_bool: Any = property(lambda self: self.dtype.kind == "b")
    is_complex: Any = property(lambda self: self.dtype.kind == "c")
    is_inexact: Any = property(lambda self: self.dtype.kind in "fc")  # has gradients
    real_dtype: Any = property(lambda self: _REAL.get(self, self))  # of its real part
    min: Any = property(lambda self: self._limits.min)
    max: Any = property(lambda self: self._limits.max)
    limits: Any = property(lambda self: (self.min, self.max))

    @property
    def _limits(self) -> Any:
        if self.is_complex:
            raise TypeError(
                f"{self.name}: expected real numbers for min and max, got a complex dtype"
            )
        return np.finfo(self.dtype) if self.is_floating else np.iinfo(self.dtype)

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Test whether another dtype is the same."""
        return self == as_dtype(other)

    def __eq__(self, other: object) -> builtins.bool:
        other = other.dtype if isinstance(other, DType) else other
        try:
            return not (other is None or isinstance(other, tuple)) and self.dtype == other
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


class _String(DType):
    """The dtype of strings, which are numbers in the core; see strings.py."""

    __slots__ = ()
    name, as_numpy_dtype, size = "string", object, 1
    is_floating = is_integer = is_unsigned = is_bool = is_complex = is_inexact = False
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> builtins.bool:
        return other is self or (isinstance(other, str) and other == "string")


int8, int16, int32, int64 = map(DType, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(DType, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(DType, ("float16", "float32", "float64"))
complex64, complex128 = DType("complex64"), DType("complex128")
string = _String("int64")
_SUPPORTED = {
    d.name: d
    for d in (
        DType("bool"), int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, float32,
        float64, complex64, complex128, string,
    )
}  # fmt: skip
_REAL: dict[DType, DType] = {complex64: float32, complex128: float64}


def as_dtype(type_value: Any) -> DType:
    """Convert a DType, NumPy dtype, Python type or name to a DType; TypeError if unsupported.

    >>> as_dtype("int64"), as_dtype(np.float32), as_dtype(float)
    (tf.int64, tf.float32, tf.float32)
    """
    value = type_value
    if isinstance(value, DType):
        return value
    if value is float or (isinstance(value, str) and value == "float"):
        return float32  # as in TensorFlow
    if (
        value is object
        or value is np.object_
        or (isinstance(value, np.dtype) and value.kind in "OSU")
    ):
        return string
    if isinstance(value, str) and value in ("string", "half"):
        return string if value == "string" else float16
    if value is int:
        raise TypeError(
            "as_dtype: expected a dtype, got int, of unknown size; use tf.int32 or tf.int64"
        )
    try:
        name = None if value is None else np.dtype(value).name
    except TypeError:
        name = None
    if name in _SUPPORTED:
        return _SUPPORTED[name]
    raise TypeError(f"as_dtype: dtype must be one of {', '.join(_SUPPORTED)}; got {value!r}")


double, half = float64, float16
bool = _SUPPORTED["bool"]  # last: it hides the builtin
