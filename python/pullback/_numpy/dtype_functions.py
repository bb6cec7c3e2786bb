"""Dtypes: promotion, kinds, and the limits of their numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy

from .. import _core
from .._core import Tensor, Variable

__all__ = ["can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float16", "bfloat16", "float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]
# Dtypes that convert to bfloat16 without loss, and those to which it converts without loss.
_INTO_BFLOAT16 = ("bool", "int8", "uint8", "bfloat16")
_OUT_OF_BFLOAT16 = ("bfloat16", "float32", "float64", "complex64", "complex128")


def result_type(*arrays_and_dtypes: Any) -> Any:
    """Return the dtype of the result of an operation on the arguments.

    The rules are those of NumPy 2, except that an integer array next to a floating one takes the
    floating dtype. float16 next to bfloat16 gives float32; uint64 next to a signed integer dtype
    gives float64. A Python number takes the dtype of its neighbours if their kind can represent it.

    Parameters
    ----------
    *arrays_and_dtypes : array, dtype_like or Python number
        At least one argument.

    Returns
    -------
    dtype
        The promoted dtype.

    Raises
    ------
    TypeError
        If an argument is neither an array of a supported dtype, a dtype nor a number.
    ValueError
        If no argument is given.

    Examples
    --------
    >>> pb.result_type(pb.int8, pb.uint8), pb.result_type(pb.int64, pb.float16)
    (dtype('int16'), dtype('float16'))
    >>> pb.result_type(pb.constant([1, 2]), 2.5)
    dtype('float32')
    """
    if not arrays_and_dtypes:
        raise ValueError("result_type: expected at least one array or dtype, got none")
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


def can_cast(from_: Any, to: Any) -> bool:
    """Test whether a cast preserves every value, like NumPy's safe casts.

    Parameters
    ----------
    from_ : array or dtype_like
        Source.
    to : dtype_like
        Target.

    Returns
    -------
    bool
        True if every value of the source dtype exists in the target dtype.

    Raises
    ------
    TypeError
        If a dtype is unknown.

    Examples
    --------
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
    """Test whether a dtype equals another one or belongs to a kind.

    Parameters
    ----------
    dtype : dtype_like
        Dtype to test.
    kind : str, dtype_like or tuple
        "bool", "signed integer", "unsigned integer", "integral", "real floating", "complex
        floating", "numeric", a dtype, or a tuple of these, of which one has to match.

    Returns
    -------
    bool
        True if `dtype` matches `kind`.

    Raises
    ------
    TypeError
        If a dtype is unknown.
    ValueError
        If a kind is unknown.

    Examples
    --------
    >>> pb.isdtype(pb.uint8, "integral"), pb.isdtype(pb.bfloat16, (pb.float16, "bool"))
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, one) for one in kind)
    name = str(_core.dtype(dtype))
    if isinstance(kind, str):
        if kind not in _KINDS:
            words = ", ".join(map(repr, _KINDS))
            raise ValueError(f"isdtype: kind must be one of {words}; got {kind!r}")
        return name in _KINDS[kind]
    return name == str(_core.dtype(kind))


class FloatInfo(NamedTuple):
    """Store the limits of a floating dtype, or of the parts of a complex one.

    Attributes
    ----------
    bits : int
        Number of bits.
    eps : float
        Difference between 1 and the next larger number.
    max, min : float
        Largest and smallest finite number.
    smallest_normal : float
        Smallest positive normal number.
    dtype : dtype
        The floating dtype.
    """

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: Any


class IntegerInfo(NamedTuple):
    """Store the limits of an integer dtype.

    Attributes
    ----------
    bits : int
        Number of bits.
    max, min : int
        Largest and smallest number.
    dtype : dtype
        The integer dtype.
    """

    bits: int
    max: int
    min: int
    dtype: Any


def finfo(type: Any, /) -> FloatInfo:
    """Return the limits of a floating or complex dtype.

    Parameters
    ----------
    type : array or dtype_like
        Floating or complex dtype, or an array of one.

    Returns
    -------
    FloatInfo
        Named tuple with the fields `bits`, `eps`, `max`, `min`, `smallest_normal` and `dtype`; for
        a complex dtype the limits of its parts.

    Raises
    ------
    TypeError
        If the dtype is unknown, or neither floating nor complex.

    See Also
    --------
    iinfo

    Examples
    --------
    >>> pb.finfo(pb.float16).max, pb.finfo(pb.bfloat16).eps
    (65504.0, 0.0078125)
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "fc":
        raise TypeError(f"finfo: expected a floating dtype, got {dtype}; use iinfo")
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
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : array or dtype_like
        Integer dtype, or an array of one.

    Returns
    -------
    IntegerInfo
        Named tuple with the fields `bits`, `max`, `min` and `dtype`.

    Raises
    ------
    TypeError
        If the dtype is unknown or not an integer dtype.

    See Also
    --------
    finfo

    Examples
    --------
    >>> pb.iinfo(pb.uint8).max, pb.iinfo(pb.int8).min
    (255, -128)
    """
    dtype = _dtype_of(type)
    if dtype.kind not in "iu":
        raise TypeError(f"iinfo: expected an integer dtype, got {dtype}; use finfo")
    info = numpy.iinfo(dtype)
    return IntegerInfo(int(info.bits), int(info.max), int(info.min), dtype)


def _dtype_of(x: Any) -> Any:
    if isinstance(x, (Tensor, Variable)):
        return x.dtype
    is_array = isinstance(x, (numpy.ndarray, numpy.generic))
    return _core.dtype(x.dtype if is_array else x)
