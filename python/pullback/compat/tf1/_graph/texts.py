"""Tensors of texts: in the core they are numbers, places in one table of all texts of the process.

So whatever moves elements, compares them or hands them on works for texts as well. Texts become
numbers where a program gives them, `encoded`, and bytes where it fetches them, `decoded`.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

_texts = [b""]  # of zeros
_places = {b"": 0}
_adding = threading.Lock()


def is_text(value: Any) -> bool:
    """Whether a nest or an array begins with a text."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[:1].tolist()
    while isinstance(value, (list, tuple)) and value:
        value = value[0]
    return isinstance(value, (str, bytes))


def encoded(value: Any) -> np.ndarray[Any, Any]:
    """A nest of texts as an array of places."""
    array = np.asarray(value, object)
    found = np.empty(array.shape, np.int64)
    for i, text in enumerate(array.reshape(-1)):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"expected texts, got {text!r:.60}")
        key = text.encode() if isinstance(text, str) else text
        with _adding:
            if key not in _places:
                _places[key] = len(_texts)
                _texts.append(key)
        found.flat[i] = _places[key]
    return found


def decoded(places: np.ndarray[Any, Any]) -> Any:
    """Bytes for a single place, an array of them for an array."""
    if places.ndim == 0:
        return _texts[int(places)]
    made = np.empty(places.shape, object)
    made.reshape(-1)[:] = [_texts[i] for i in places.reshape(-1)]
    return made
