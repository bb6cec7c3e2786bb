"""Conversion of a program's values to arrays of a dtype, without lossy casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .... import _core
from ..dtypes import DType, as_dtype, float32, int32, string
from ..dtypes import bool as tf_bool
from .shapes import Dimension, TensorShape
from .strings import encoded, is_string


def as_array(
    value: Any, wish: DType | None, who: str = "convert_to_tensor"
) -> tuple[np.ndarray[Any, Any], DType]:
    """Convert a value to an array of a supported dtype.

    NumPy's floats become integers if they are whole numbers.
    """
    if value is None:
        raise ValueError(f"{who}: expected a number, a list or an array, got None")
    value = _plain(value)
    if wish in (None, string) and is_string(value):
        return encoded(value, who), string
    try:
        array = np.asarray(value)
    except ValueError:
        raise ValueError(
            f"{who}: expected nested lists with one length on each level, got {value!r:.60}"
        ) from None
    if array.dtype.kind not in "biufc" or wish == string:
        wanted = "strings" if wish == string else "numbers"
        raise TypeError(f"{who}: expected {wanted}, got {_described(value, array)}")
    natural = _natural_dtype(value, array)
    dtype = natural if wish is None else wish
    loses = (
        natural.is_bool != dtype.is_bool
        or (natural.is_inexact and dtype.is_integer)
        or (natural.is_complex and not dtype.is_complex)
    )
    numpy = isinstance(value, (np.ndarray, np.generic)) and array.dtype.kind == "f"
    if numpy and dtype.is_integer:
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        if (whole == array).all():  # of np.floor and its like; TensorFlow drops fractions too
            array, loses = whole, False
    if loses and array.size:  # an empty list has no dtype of its own
        raise TypeError(f"{who}: expected {dtype.name}, got {_described(value, array)}")
    if dtype.is_integer and array.size and array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if low < dtype.min or high > dtype.max:
            number = low if low < dtype.min else high
            raise ValueError(
                f"{who}: expected {dtype.name}, from {dtype.min} to {dtype.max}, got {number}"
            )
    return array.astype(dtype.dtype), dtype


def _natural_dtype(value: Any, array: np.ndarray[Any, Any]) -> DType:
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "b":
        return tf_bool
    if kind == "f":
        return as_dtype(array.dtype) if _is_numpy(value) else float32
    if kind == "c":
        return as_dtype("complex64" if size == 8 else "complex128")
    if _is_numpy(value):
        return as_dtype(array.dtype)
    fits = not array.size or (abs(int(array.min())) < 2**31 and abs(int(array.max())) < 2**31)
    return int32 if fits else as_dtype("int64")


def _is_numpy(value: Any) -> bool:
    """Test whether a value is an array or NumPy scalar, whose dtype the program chose."""
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return hasattr(value, "dtype") and not isinstance(value, (list, tuple))


def _described(value: Any, array: np.ndarray[Any, Any]) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of dtype {array.dtype}"
    if array.ndim == 0:
        return f"{value!r} of type '{type(value).__name__}'"
    return f"{value!r:.60}"


def as_static(value: Any, who: str = "convert_to_tensor", argument: str = "") -> Any:
    """Convert axes, a shape or sizes to Python integers and lists of them."""
    if isinstance(value, (_core.Tensor, _core.Variable)):
        return value.numpy().tolist()
    if isinstance(value, np.ndarray):
        return value.tolist()
    value = _plain(value)
    array = np.asarray(value)
    if array.dtype.kind not in "iu" and array.size:
        role = f" for {argument}" if argument else ""
        raise TypeError(f"{who}: expected integers{role}, got {value!r:.80}")
    return array.tolist()


def _plain(value: Any) -> Any:
    """Replace shapes and dimensions in a pytree by integers."""
    if isinstance(value, Dimension):
        return int(value)
    if isinstance(value, (list, tuple, TensorShape)):
        return [_plain(entry) for entry in value]
    return value


def on_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of arrays as the function of a `host` row."""

    def row(*inputs: Any, **attrs: Any) -> list[Any]:
        made = function(*(x.numpy() for x in inputs), **attrs)
        arrays = [np.asarray(a) for a in (made if isinstance(made, list) else [made])]
        return [_core.constant(a, a.dtype) for a in arrays]

    return row
