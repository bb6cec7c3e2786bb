"""Element types under TensorFlow's names: `tf.float32` and its kin.

A DType wraps one `numpy.dtype` and compares equal to whatever NumPy takes for it.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

__all__ = ["DType", "as_dtype", "bool", "float32", "float64", "int32", "int64"]


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

    @property
    def name(self) -> str:
        return str(self.dtype.name)

    @property
    def as_numpy_dtype(self) -> type:
        return self.dtype.type

    @property
    def base_dtype(self) -> DType:
        return self

    @property
    def is_floating(self) -> builtins.bool:
        return self.dtype.kind == "f"

    @property
    def is_integer(self) -> builtins.bool:
        return self.dtype.kind == "i"

    @property
    def is_bool(self) -> builtins.bool:
        return self.dtype.kind == "b"

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def min(self) -> Any:
        return np.finfo(self.dtype).min if self.is_floating else np.iinfo(self.dtype).min

    @property
    def max(self) -> Any:
        return np.finfo(self.dtype).max if self.is_floating else np.iinfo(self.dtype).max

    def __eq__(self, other: object) -> builtins.bool:
        if isinstance(other, DType):
            return self.dtype is other.dtype or self.dtype == other.dtype
        if other is None:
            return False
        try:
            return self.dtype == np.dtype(other)  # type: ignore[call-overload, no-any-return]
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"


_SUPPORTED = {name: DType(name) for name in ("bool", "int32", "int64", "float32", "float64")}

int32 = _SUPPORTED["int32"]
int64 = _SUPPORTED["int64"]
float32 = _SUPPORTED["float32"]
float64 = _SUPPORTED["float64"]


def as_dtype(value: Any) -> DType:
    """The DType for a DType, NumPy dtype, Python type or name; TypeError if it is not supported.

    >>> as_dtype("int64"), as_dtype(np.float32), as_dtype(float)
    (tf.int64, tf.float32, tf.float32)
    """
    if isinstance(value, DType):
        return value
    if value is float or (
        isinstance(value, str) and value == "float"
    ):  # float32 here, as in TensorFlow
        return float32
    if value is int:
        raise TypeError("int does not say which dtype; use tf.int32 or tf.int64")
    try:
        name = None if value is None else np.dtype(value).name
    except TypeError:
        name = None
    if name in _SUPPORTED:
        return _SUPPORTED[name]
    raise TypeError(f"unknown dtype {value!r}; expected one of {', '.join(_SUPPORTED)}")


bool = _SUPPORTED["bool"]  # last: it hides the builtin
