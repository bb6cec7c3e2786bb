"""Tensors of strings: in the core they are numbers, indices into one table of the process.

Every operation that moves elements, compares them or returns them unchanged works for strings too.
`encoded` converts strings to numbers at input, `decoded` converts numbers to bytes at a fetch.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

_strings = [b""]  # of zeros
_places = {b"": 0}
_adding = threading.Lock()


def is_string(value: Any) -> bool:
    """Test whether the first leaf of a pytree or array is a string."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[:1].tolist()
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (str, bytes))


def encoded(value: Any, who: str = "convert_to_tensor") -> np.ndarray[Any, Any]:
    """Convert strings in nested lists to an array of table indices."""
    array = np.asarray(value, object)
    found = np.empty(array.shape, np.int64)
    for i, text in enumerate(array.reshape(-1)):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"{who}: expected strings, got {text!r:.60}")
        key = text.encode() if isinstance(text, str) else text
        with _adding:
            if key not in _places:
                _places[key] = len(_strings)
                _strings.append(key)
        found.flat[i] = _places[key]
    return found


def decoded(places: np.ndarray[Any, Any]) -> Any:
    """Return bytes for a scalar index, an array of bytes for an array."""
    if places.ndim == 0:
        return _strings[int(places)]
    made = np.empty(places.shape, object)
    made.reshape(-1)[:] = [_strings[i] for i in places.reshape(-1)]
    return made
