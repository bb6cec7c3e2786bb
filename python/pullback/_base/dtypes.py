"""The dtype objects: NumPy's, and bfloat16, which NumPy does not have."""

from __future__ import annotations

from typing import Any

import numpy

__all__ = [
    "bfloat16",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]


class BFloat16:
    """The dtype bfloat16: the sign, the exponent and the first seven mantissa bits of a float32.

    It compares equal to the dtype of the package ml_dtypes, which NumPy needs for such arrays:
    `numpy()` requires it. Everything else works without it.
    """

    name = "bfloat16"
    kind = "f"
    itemsize = 2
    byteorder = "="

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """Return the NumPy dtype of ml_dtypes; AttributeError if that is not installed."""
        try:
            import ml_dtypes
        except ImportError as error:
            raise AttributeError(
                "dtype: NumPy requires the package ml_dtypes for bfloat16; install it"
            ) from error
        found: numpy.dtype[Any] = numpy.dtype(ml_dtypes.bfloat16)
        return found

    def __eq__(self, other: object) -> bool:
        name = other if isinstance(other, str) else getattr(other, "name", None)
        return (name or getattr(other, "__name__", None)) == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return "dtype('bfloat16')"

    def __reduce__(self) -> str:
        return "bfloat16"


bool_ = numpy.dtype("bool")
int8 = numpy.dtype("int8")
int16 = numpy.dtype("int16")
int32 = numpy.dtype("int32")
int64 = numpy.dtype("int64")
uint8 = numpy.dtype("uint8")
uint16 = numpy.dtype("uint16")
uint32 = numpy.dtype("uint32")
uint64 = numpy.dtype("uint64")
float16 = numpy.dtype("float16")
bfloat16: Any = BFloat16()
float32 = numpy.dtype("float32")
float64 = numpy.dtype("float64")
complex64 = numpy.dtype("complex64")
complex128 = numpy.dtype("complex128")
