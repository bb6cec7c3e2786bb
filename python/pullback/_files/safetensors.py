"""The safetensors format: a JSON header with names, dtypes, shapes and offsets, then the numbers.

A file is the size of the header as 8 bytes, the header and the data, all little-endian [1]_.
Reading runs no code. `written` makes a file and `read` checks one. Both have arrays of NumPy,
bfloat16 as float32.

.. [1] https://github.com/huggingface/safetensors#format
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

_DTYPES = {
    "BOOL": "bool",
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_METADATA = "__metadata__"


def written(
    arrays: dict[str, tuple[Any, str]], metadata: dict[str, str], who: str
) -> Iterator[bytes]:
    """Yield the parts of a file for arrays and their dtypes by name, and for texts."""
    header: dict[str, Any] = {_METADATA: metadata}
    parts, end = [], 0
    for name, (array, dtype) in arrays.items():
        if dtype not in _NAMES:
            raise TypeError(f"{who}: the safetensors format has no dtype {dtype}; use .npz")
        if dtype == "bfloat16":
            array = (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16)
        data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {
            "dtype": _NAMES[dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + len(data)],
        }
        parts.append(data)
        end += len(data)
    text = json.dumps(header, allow_nan=False).encode()
    text += b" " * (-len(text) % 8)  # the numbers start at a multiple of 8 bytes
    yield len(text).to_bytes(8, "little")
    yield text
    yield from parts


def read(data: bytes, where: str) -> tuple[dict[str, tuple[Any, str]], dict[str, str]]:
    """Return the arrays and their dtypes by name, and the texts.

    Other data raise a ValueError, whose message begins with `where`.
    """
    where = f"{where}: expected a file of the safetensors format"
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or size > len(data) - 8:
        raise ValueError(f"{where}, got a truncated header")
    try:
        header = json.loads(data[8 : 8 + size])
        metadata = dict(header.pop(_METADATA, None) or {})
        entries = [
            (name, one["dtype"], tuple(one["shape"]), tuple(one["data_offsets"]))
            for name, one in header.items()
        ]
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise ValueError(f"{where}, got a damaged header") from None
    body = memoryview(data)[8 + size :]
    arrays = {
        name: _array(body, dtype, shape, offsets, f"{where}, got {name!r} of")
        for name, dtype, shape, offsets in entries
    }
    return arrays, metadata


def _array(body: memoryview, dtype: Any, shape: Any, offsets: Any, where: str) -> tuple[Any, str]:
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise ValueError(f"{where} the unknown dtype {dtype!r}")
    own = _DTYPES[dtype]
    kind = np.dtype("uint16" if own == "bfloat16" else own).newbyteorder("<")
    if (
        len(offsets) != 2
        or not all(type(n) is int and n >= 0 for n in (*shape, *offsets))
        or offsets[1] > len(body)
        or offsets[1] - offsets[0] != prod(shape) * kind.itemsize
    ):
        raise ValueError(f"{where} shape {shape} at offsets {offsets} of {len(body)} bytes")
    found = np.frombuffer(body[offsets[0] : offsets[1]], kind).reshape(shape)
    if own == "bfloat16":
        found = (found.astype(np.uint32) << 16).view(np.float32)
    return found.astype(found.dtype.newbyteorder("="), copy=False), own
