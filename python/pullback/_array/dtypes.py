"""What is known of dtypes: promotion, kinds, and the limits of numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import Tensor, Variable

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float16", "bfloat16", "float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
# bfloat16 holds these without loss, and these hold it.
_INTO_BFLOAT16 = ("bool", "int8", "uint8", "bfloat16")
_OUT_OF_BFLOAT16 = ("bfloat16", "float32", "float64", "complex64", "complex128")


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype that an operation on these has: arrays, dtypes and Python numbers.

    As NumPy 2, but for an integer array next to a floating one, which takes the floating dtype.
    float16 next to bfloat16 is float32, uint64 next to signed integers float64. Python numbers take
    the dtype of what is next to them where its kind holds them.

    >>> pb.result_type(pb.int8, pb.uint8), pb.result_type(pb.int64, pb.float16)
    (dtype('int16'), dtype('float16'))
    >>> pb.result_type(pb.constant([1, 2]), 2.5)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: expected at least one array or dtype")
    numbers = [x for x in arrays_and_dtypes if type(x) in (bool, int, float, complex)]
    dtypes = [_dtype_of(x) for x in arrays_and_dtypes if type(x) not in (bool, int, float, complex)]
    out = dtypes[0] if dtypes else _core.dtype("bool")
    for dtype in dtypes[1:]:
        out = _core.promote(out, dtype)
    order = "biufc"
    for number in numbers:
        kind = "bifc"[(bool, int, float, complex).index(type(number))]
        if order.index(kind) <= order.index("i" if out.kind == "u" else out.kind):
            continue
        if kind == "c":
            wide = str(out if out.kind == "f" else _core.default_float()) == "float64"
            out = _core.dtype("complex128" if wide else "complex64")
        else:
            out = _core.default_float() if kind == "f" else _core.dtype("int64")
    return out


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether every value of an array or dtype exists in another dtype, as NumPy's safe casts.

    >>> pb.can_cast(pb.int16, pb.float32), pb.can_cast(pb.float32, pb.bfloat16)
    (True, False)
    """
    source, target = _dtype_of(from_), _core.dtype(to)
    if "bfloat16" not in (str(source), str(target)):
        return bool(numpy.can_cast(source, target))
    return (str(target) if str(source) == "bfloat16" else str(source)) in (
        _OUT_OF_BFLOAT16 if str(source) == "bfloat16" else _INTO_BFLOAT16
    )


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is another one, or of a kind: "bool", "signed integer", "unsigned integer",
    "integral", "real floating", "complex floating", "numeric", or a tuple of these and of dtypes.

    >>> pb.isdtype(pb.uint8, "integral"), pb.isdtype(pb.bfloat16, (pb.float16, "bool"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    name = str(_core.dtype(dtype))
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: expected a kind of {', '.join(_KINDS)}, got {kind!r}")
        return name in _KINDS[kind]
    return name == str(_core.dtype(kind))


class FloatInfo(NamedTuple):
    """Limits of a floating dtype, as Python floats; of a complex one those of its parts."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntegerInfo(NamedTuple):
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: Any


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a floating or complex dtype, or of that of an array.

    >>> pb.finfo(pb.float16).max, pb.finfo(pb.bfloat16).eps
    (65504.0, 0.0078125)
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "fc":
        raise TypeError(f"finfo: expected a floating dtype, got {dtype}; see iinfo")
    if str(dtype) == "bfloat16":
        largest = (2.0 - 2.0**-7) * 2.0**127
        return FloatInfo(16, 2.0**-7, largest, -largest, 2.0**-126, dtype)
    info = numpy.finfo(dtype)
    return FloatInfo(
        int(info.bits),
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        _core.dtype(info.dtype),
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype, or of that of an array.

    >>> pb.iinfo(pb.uint8).max, pb.iinfo(pb.int8).min
    (255, -128)
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: expected an integer dtype, got {dtype}; see finfo")
    info = numpy.iinfo(dtype)
    return IntegerInfo(int(info.bits), int(info.max), int(info.min), dtype)


def _dtype_of(x: Any) -> Any:
    if isinstance(x, (Tensor, Variable)):
        return x.dtype
    is_array = isinstance(x, (numpy.ndarray, numpy.generic))
    return _core.dtype(x.dtype if is_array else x)
